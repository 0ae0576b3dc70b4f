// SPDX-License-Identifier: Apache-2.0
// The GPU of a rank: its memory, which the NIC of the computer reads and writes where it lies.
#pragma once

#include <memory>

#include "userlib/libggas/core/room.hpp"
#include "userlib/libggas/gpu/device.hpp"
#include "userlib/libggas/hw/device.hpp"

namespace ggas::library::hw {

class rank_gpu {
 public:
  explicit rank_gpu(device& nic) : nic_(nic) {}
  rank_gpu(const rank_gpu&) = delete;
  ~rank_gpu();

  struct who {
    unsigned rank, size;
  };
  ggas_rc open(who w, const char* module, int number, uint64_t bytes, uint64_t kept, nic::access::gpu_memory& m);
  ggas_rc take(uint64_t bytes, nic::memory& m);  // zeros
  bool give(const nic::memory& m);               // false: it is not of the GPU
  bool holds(const void* at) const;
  ggas_rc copy(void* to, const void* from, uint64_t bytes);

 private:
  static ggas_rc reported(const std::string& text);

  device& nic_;
  std::unique_ptr<gpu::device> gpu_;  // null: it is not open
  nic::memory all_;
  room room_{64 << 10};  // offsets in all_
};

}  // namespace ggas::library::hw
