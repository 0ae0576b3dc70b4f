// SPDX-License-Identifier: Apache-2.0
// The SystemC kernel as an object: a separate simulation context, so that one process may have several systems in
// sequence (or concurrently, run in turn). All SystemC objects of a system are made and destroyed while its kernel is
// entered.
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
  // Runs until done() is true. Returns false if it timed out in simulated time. done() is checked after every stop()
  // and otherwise at least once per active microsecond, so idle time costs nothing. All other events of the time at
  // which done() became true have also happened, so the result does not depend on the processes that share the kernel.
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
