// SPDX-License-Identifier: Apache-2.0
// The GPUs as a machine that tables of calls run on.
#pragma once

#include "rig.hpp"
#include "tests/gpu_api/calls_run.hpp"

namespace ggas::gpu_test {

class calls_rig : public rig {
 public:
  using rig::nodes;
  uint64_t segment_bytes() const { return machine().device_context(0).segment_bytes; }
  uint64_t timeout_ns() const { return gpu_test::timeout_ns; }
  uint64_t brief_ns() const { return 1'000'000; }
  static bool has_nic() { return machine().device_context(0).queues != nullptr; }
  uint64_t reserved() const { return machine().device_context(0).reserved; }
  uint64_t tables() const { return at.base; }
  uint64_t outcomes() const { return at.outcomes; }
  uint64_t data() const { return at.data; }

  void write(int node, uint64_t offset, const std::vector<uint8_t>& v) { rig::write(node, offset, v); }
  std::vector<uint8_t> read(int node, uint64_t offset, size_t n) { return rig::read<uint8_t>(node, offset, n); }
  template <class Args>
  void run(unsigned blocks, unsigned threads, void (*kernel)(Args), const Args& a) {
    start_all(blocks, threads, kernel, a);
    wait();
  }
  cluster& target() { return machine(); }
  static bool queued(const result<>& r) { return r.has_value(); }
  void wait() { rig::run("calls"); }

  template <size_t N>
  void check(const calls::description (&all)[N], void (*kernel)(calls::args)) {
    calls::run_tables(*this, all, kernel, rounds_of(8), rounds_of(3000));
  }
};

}  // namespace ggas::gpu_test
