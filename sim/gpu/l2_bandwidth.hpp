// SPDX-License-Identifier: Apache-2.0
// The bandwidth of the second-level cache, in the order in which accesses come: those of the multiprocessors, and those
// from PCIe through the aperture.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/gpu/config.hpp"
#include "sim/pcie/port.hpp"

namespace ggas::gpu {

class l2_bandwidth {
 public:
  explicit l2_bandwidth(const gpu_config& cfg)
      : bytes_per_second_(cfg.l2_bytes_per_second), sector_bytes_(cfg.sector_bytes) {}

  // An access of so many bytes, in whole sectors: when the last of them has passed.
  uint64_t reserve(uint64_t bytes) {
    const uint64_t moved = (bytes + sector_bytes_ - 1) / sector_bytes_ * sector_bytes_;
    bytes_ += moved;
    free_ps_ = std::max(free_ps_, pcie::now_ps()) + uint64_t(double(moved) * 1e12 / bytes_per_second_);
    return free_ps_;
  }
  uint64_t bytes() const { return bytes_; }  // so far

 private:
  double bytes_per_second_;
  unsigned sector_bytes_;
  uint64_t free_ps_ = 0, bytes_ = 0;
};

}  // namespace ggas::gpu
