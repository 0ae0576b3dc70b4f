// SPDX-License-Identifier: Apache-2.0
// A FIFO whose entries come out at a time: the delay elements of the PCIe models.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <systemc>
#include <utility>

#include "sim/pcie/port.hpp"
#include "sim/pcie/timer.hpp"

namespace ggas::pcie {

template <class T>
class timed_queue : public sc_core::sc_module {
 public:
  // `out` is called for each entry when its time has come, in order of entry.
  timed_queue(sc_core::sc_module_name name, std::function<void(T&&)> out) : sc_module(name), out_(std::move(out)) {}

  // Never before an entry that is already inside.
  void push_at(uint64_t at_ps, T&& value) {
    if (!entries_.empty()) at_ps = std::max(at_ps, entries_.back().first);
    entries_.emplace_back(at_ps, std::move(value));
    if (entries_.size() == 1) schedule();
  }
  size_t size() const { return entries_.size(); }

 private:
  void schedule() {
    const uint64_t now = now_ps(), at = entries_.front().first;
    event_.notify(sc_core::sc_time::from_value(at > now ? at - now : 0));
  }
  void drain() {
    while (!entries_.empty() && entries_.front().first <= now_ps()) {
      T value = std::move(entries_.front().second);
      entries_.pop_front();
      out_(std::move(value));
    }
    if (!entries_.empty()) schedule();
  }

  std::function<void(T&&)> out_;
  std::deque<std::pair<uint64_t, T>> entries_;
  timer event_{[this] { drain(); }};
};

}  // namespace ggas::pcie
