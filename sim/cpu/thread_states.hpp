// SPDX-License-Identifier: Apache-2.0
// What the threads of a processor do, over time: what its power depends on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "sim/pcie/port.hpp"
#include "sim/power/held_time.hpp"

namespace ggas::cpu {

enum class doing : uint8_t { working, polling, asleep };

class thread_states {
 public:
  // A thread goes from one state to another; nothing: it is not there.
  void change(std::optional<doing> from, std::optional<doing> to) {
    if (from) count(*from, -1);
    if (to) count(*to, 1);
  }
  // So much of the time that a thread spent asleep or polling was work.
  void was_work(doing from, uint64_t ps) {
    taken_ps_[size_t(from)] += ps;
    work_ps_ += ps;
  }

  // Until now, summed over threads.
  uint64_t ps(doing what) const {
    const uint64_t sum = of_[size_t(what)].sum_ps(pcie::now_ps());
    return what == doing::working ? sum + work_ps_ : sum - taken_ps_[size_t(what)];
  }
  // Some thread is not asleep.
  uint64_t awake_ps() const { return awake_.any_ps(pcie::now_ps()) + taken_ps_[size_t(doing::asleep)]; }

 private:
  void count(doing what, int by) {
    of_[size_t(what)].change(by, pcie::now_ps());
    if (what != doing::asleep) awake_.change(by, pcie::now_ps());
  }
  std::array<power::held_time, 3> of_;
  power::held_time awake_;
  std::array<uint64_t, 3> taken_ps_{};
  uint64_t work_ps_ = 0;
};

// A thread is in a state until the end of a scope, and then in its former one again.
class in_state {
 public:
  in_state(thread_states& all, std::optional<doing>& thread, doing what)
      : all_(all), thread_(thread), before_(std::exchange(thread, what)) {
    all_.change(before_, what);
  }
  ~in_state() {
    all_.change(thread_, before_);
    thread_ = before_;
  }
  in_state(const in_state&) = delete;
  in_state& operator=(const in_state&) = delete;

 private:
  thread_states& all_;
  std::optional<doing>& thread_;
  std::optional<doing> before_;
};

}  // namespace ggas::cpu
