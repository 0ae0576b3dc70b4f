// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/kernel.hpp"

#include <algorithm>
#include <cstdlib>
#include <systemc>

#include "sim/pcie/timer.hpp"

// libsystemc asks for it; programs here have a main() of their own and call sc_start directly.
int sc_main(int, char**) { return 0; }

#ifdef __SANITIZE_ADDRESS__
// SystemC's pool of timed events forgets those that are pending when a context ends.
extern "C" const char* __lsan_default_suppressions() { return "leak:libsystemc\n"; }
#endif

namespace ggas::sim {

namespace {

std::unique_ptr<sc_core::sc_simcontext> make_context() {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  return std::make_unique<sc_core::sc_simcontext>();
}

}  // namespace

kernel::kernel() : context_(make_context()) {
  enter();
  timers_ = std::make_unique<pcie::timers>();
  timers_->enter();
}

kernel::~kernel() {
  enter();
  timers_.reset();
  // The destructor of a context still looks for itself; afterwards the next one starts from nothing.
  context_.reset();
  sc_core::sc_curr_simcontext = nullptr;
  sc_core::sc_default_global_context = nullptr;
}

void kernel::enter() {
  sc_core::sc_curr_simcontext = context_.get();
  sc_core::sc_default_global_context = context_.get();
  if (timers_) timers_->enter();
}

uint64_t kernel::now_ps() { return context_->time_stamp().value(); }

uint64_t kernel::next_activity_ps() {
  enter();
  return sc_core::sc_time_to_pending_activity(context_.get()).value();
}

void kernel::stop() {
  enter();
  sc_core::sc_pause();
}

bool kernel::run_until(const std::function<bool()>& done, uint64_t timeout_ps) {
  enter();
  constexpr uint64_t slice_ps = 1'000'000;
  const uint64_t end = end_of(timeout_ps);
  while (!done()) {
    const uint64_t now = now_ps();
    if (now >= end) return false;
    const uint64_t pending = sc_core::sc_time_to_pending_activity(context_.get()).value();
    sc_core::sc_start(sc_core::sc_time::from_value(std::min(end - now, std::max(slice_ps, pending))));
  }
  finish_instant();
  return true;
}

void kernel::finish_instant() {
  enter();
  while (sc_core::sc_time_to_pending_activity(context_.get()) == sc_core::SC_ZERO_TIME)
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
}

uint64_t kernel::end_of(uint64_t timeout_ps) {
  constexpr uint64_t longest = ~uint64_t(0) / 2;
  const uint64_t now = now_ps();
  return timeout_ps > longest - now ? longest : now + timeout_ps;
}

}  // namespace ggas::sim
