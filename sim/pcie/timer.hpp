// SPDX-License-Identifier: Apache-2.0
// Timers of the parts of a system. All timers of a kernel share one heap and one SystemC event. SystemC runs events of
// the same time in an order that depends on all other waiting events; here they run in the order of their requests. So
// the order of a node's parts does not depend on other nodes, nor on the rank that simulates those (sim/ranks).
#pragma once

#include <cstdint>
#include <functional>
#include <systemc>
#include <vector>

namespace ggas::pcie {

class timers;

class timer {
 public:
  // At equal times; a clock comes last: its edge sees all that has arrived.
  enum class turn : uint8_t { usual, last };
  // Made and destroyed while its kernel is entered. `body` runs at the time that was asked for, once.
  explicit timer(std::function<void()> body, turn when = turn::usual);
  ~timer();
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  // So much later than now; of several times the earliest counts, and the others are forgotten.
  void notify(const sc_core::sc_time& delay);
  void cancel() { at_ps_ = never; }

 private:
  friend class timers;
  static constexpr uint64_t never = ~uint64_t{0};

  timers& all_;
  std::function<void()> body_;
  turn turn_;
  uint64_t at_ps_ = never, seq_ = 0;
  unsigned entries_ = 0;  // in the heap; one of them counts
};

class timers {
 public:
  timers();
  // The timers of the kernel that runs now.
  static timers& current() { return *current_; }
  void enter() { current_ = this; }

 private:
  friend class timer;
  struct entry {
    uint64_t at_ps;
    timer::turn turn;
    uint64_t seq;
    timer* what;
  };
  static bool later(const entry& a, const entry& b);
  void add(timer& t, uint64_t at_ps);
  void forget(timer& t);
  void drain();
  void schedule();

  static inline timers* current_ = nullptr;
  std::vector<entry> heap_;
  uint64_t seq_ = 0;
  bool draining_ = false;
  sc_core::sc_event event_;
};

}  // namespace ggas::pcie
