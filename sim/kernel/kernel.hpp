// SPDX-License-Identifier: Apache-2.0
// The SystemC kernel as an object: a simulation context of its own, so several systems may live in one process one
// after another (or side by side, run in turn). Everything SystemC that belongs to a system is made and destroyed while
// its kernel is entered.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace sc_core {
class sc_simcontext;
}

namespace ggas::pcie {
class timers;
}

namespace ggas::sim {

class kernel {
 public:
  kernel();
  ~kernel();
  kernel(const kernel&) = delete;
  kernel& operator=(const kernel&) = delete;

  // Makes this the current context.
  void enter();
  uint64_t now_ps();
  // Runs until done() holds; false: not within that much simulated time. done() is looked at after every stop() and
  // otherwise at least once per active microsecond, so idle time costs nothing. Whatever else happens at the time at
  // which it held has happened: it is the same whichever process shares the kernel.
  bool run_until(const std::function<bool()>& done, uint64_t timeout_ps);
  // Runs what is to happen now.
  void finish_instant();
  // So much later than now, or the longest time there is.
  uint64_t end_of(uint64_t timeout_ps);
  // How long after now something happens next; a very long time if nothing will.
  uint64_t next_activity_ps();
  // From inside a process: done() may hold now.
  void stop();

 private:
  std::unique_ptr<sc_core::sc_simcontext> context_;
  std::unique_ptr<pcie::timers> timers_;
};

}  // namespace ggas::sim
