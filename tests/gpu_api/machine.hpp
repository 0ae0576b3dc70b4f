// SPDX-License-Identifier: Apache-2.0
// The providers of targets.hpp as a machine for tests with one source for all providers, with the same functions as on
// GPUs (cuda/calls.hpp).
#pragma once

#include <cstring>
#include <vector>

#include "tests/gpu_api/targets.hpp"

namespace ggas::test {

class machine_test : public api_test {
 public:
  uint64_t segment_bytes() const { return cluster_->config().segment_bytes; }
  uint64_t timeout_ns() const { return enough(); }
  uint64_t brief_ns() const { return brief() / 8; }
  bool has_nic() const { return simulated(); }
  uint64_t reserved() const { return base(); }
  uint64_t outcomes() const { return base(); }
  uint64_t tables() const { return base() + 8192; }
  uint64_t data() const { return base() + 65536; }

  void write(int node, uint64_t offset, const std::vector<uint8_t>& v) {
    std::memcpy(cluster_->segment(node) + offset, v.data(), v.size());
  }
  std::vector<uint8_t> read(int node, uint64_t offset, size_t n) {
    const auto* const at = reinterpret_cast<const uint8_t*>(cluster_->segment(node) + offset);
    return {at, at + n};
  }
  template <class Args>
  void run(unsigned blocks, unsigned threads, void (*kernel)(Args), const Args& a) {
    on_all(blocks, threads, [=] { kernel(a); });
    wait();
  }
  cluster& target() { return *cluster_; }
  static bool queued(const result<void>& r) { return static_cast<bool>(r); }
  void wait() { api_test::run(); }
};

}  // namespace ggas::test
