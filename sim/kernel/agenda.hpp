// SPDX-License-Identifier: Apache-2.0
// Actions of a part and their times: one heap and one SystemC event for all of them, so a spinning warp or host program
// costs the simulator's kernel only a heap entry. Equal times run in the order in which they were entered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <systemc>
#include <vector>

#include "sim/pcie/port.hpp"
#include "sim/pcie/timer.hpp"

namespace ggas::sim {

class task {
 public:
  virtual void run() = 0;

 protected:
  ~task() = default;
};

class agenda : public sc_core::sc_module {
 public:
  explicit agenda(sc_core::sc_module_name name) : sc_module(name) {}
  // `t` must live until it has run or clear() was called.
  void at(uint64_t ps, task& t) {
    const uint64_t when = std::max(ps, pcie::now_ps());
    heap_.push_back({when, seq_++, &t});
    std::push_heap(heap_.begin(), heap_.end(), later);
    if (!draining_ && heap_.front().seq + 1 == seq_) notify();
  }
  // Forgets everything.
  void clear() {
    heap_.clear();
    event_.cancel();
  }
  uint64_t executed() const { return executed_; }

 private:
  struct entry {
    uint64_t when, seq;
    task* what;
  };
  static bool later(const entry& a, const entry& b) { return a.when != b.when ? a.when > b.when : a.seq > b.seq; }
  void notify() { event_.notify(sc_core::sc_time::from_value(heap_.front().when - pcie::now_ps())); }
  void drain() {
    draining_ = true;
    while (!heap_.empty() && heap_.front().when <= pcie::now_ps()) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      task& t = *heap_.back().what;
      heap_.pop_back();
      ++executed_;
      t.run();
    }
    draining_ = false;
    if (!heap_.empty()) notify();
  }

  std::vector<entry> heap_;
  uint64_t seq_ = 0, executed_ = 0;
  bool draining_ = false;
  pcie::timer event_{[this] { drain(); }};
};

}  // namespace ggas::sim
