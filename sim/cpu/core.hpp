// SPDX-License-Identifier: Apache-2.0
// Operations of a host program and their cost: accesses by bus address, polling, sleeping. Pinned memory is cached;
// everything else is a device at the processor's port.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "sim/cpu/cache.hpp"
#include "sim/cpu/cpu.hpp"
#include "sim/cpu/thread.hpp"
#include "sim/mem/memory.hpp"

namespace ggas::cpu {

struct core_config {
  uint64_t poll_ps = 0;         // a cached access with the instructions around it, for each line
  uint64_t miss_ps = 0;         // more if a device wrote the line meanwhile
  uint64_t timer_slack_ps = 0;  // a sleep ends that much late
  uint64_t call_ps = 0;         // a call of a communication library, in addition to its accesses
  uint64_t store_ps = 0;        // the program goes on that much after a store to a device
  uint64_t sleep_ps = 0;        // a program that waits looks that often and sleeps between; 0: it polls
};

// A load that no device answered.
struct bus_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class core {
 public:
  core(processor& p, mem::sparse_memory& memory, cache& c, const core_config& cfg, std::function<void(core&)> program);

  thread& runner() { return thread_; }

  // ---- inside the program
  void read(uint64_t addr, std::span<std::byte> to);
  void write(uint64_t addr, std::span<const std::byte> from);
  void call() { thread_.wait(cfg_.call_ps); }
  // So long it works at something that the model does not look into.
  void work(uint64_t ps) { thread_.wait(ps); }
  void sleep(uint64_t ps);
  // Until runner().wake(), or that point in time.
  void await_wake(doing meanwhile, uint64_t until_ps);
  // See ggas::host::wait_until. An unsuccessful poll is repeated after memory has changed, at the time of the next poll
  // of a processor that polls continuously.
  bool wait_until(const std::function<bool()>& done, uint64_t timeout_ps);

 private:
  void read_device(uint64_t addr, std::span<std::byte> to);
  void pay(uint64_t addr, uint64_t bytes);
  void await_change(uint64_t seen, uint64_t end_ps);

  processor& cpu_;
  mem::sparse_memory& memory_;
  cache& cache_;
  core_config cfg_;
  bool at_device_ = false;  // this turn looked at a device
  std::optional<doing> state_;
  thread thread_;
};

}  // namespace ggas::cpu
