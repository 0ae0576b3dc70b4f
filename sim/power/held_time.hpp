// SPDX-License-Identifier: Apache-2.0
// How long a state lasted that several may be in at once: a count over simulated time.
#pragma once

#include <cstdint>

namespace ggas::power {

class held_time {
 public:
  // So many more, or fewer, are in the state from `now_ps` on.
  void change(int by, uint64_t now_ps) {
    settle(now_ps);
    count_ = unsigned(int(count_) + by);
  }
  void clear(uint64_t now_ps) { change(-int(count_), now_ps); }
  unsigned count() const { return count_; }
  // Until `now_ps`, summed over all that were in it; and how long anyone was.
  uint64_t sum_ps(uint64_t now_ps) const { return sum_ps_ + (now_ps - since_ps_) * count_; }
  uint64_t any_ps(uint64_t now_ps) const { return any_ps_ + (count_ ? now_ps - since_ps_ : 0); }

 private:
  void settle(uint64_t now_ps) {
    sum_ps_ = sum_ps(now_ps);
    any_ps_ = any_ps(now_ps);
    since_ps_ = now_ps;
  }
  unsigned count_ = 0;
  uint64_t since_ps_ = 0, sum_ps_ = 0, any_ps_ = 0;
};

}  // namespace ggas::power
