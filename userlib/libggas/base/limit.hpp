// SPDX-License-Identifier: Apache-2.0
// Until when a call may wait.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

namespace ggas::library {

inline uint64_t computer_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

inline const uint64_t program_began_ns = computer_ns();

// The clock that time-outs are measured with; a transport whose ranks live in simulated time puts its own here.
inline std::atomic<uint64_t (*)()> clock_of_limits{computer_ns};

inline uint64_t now_ns() { return clock_of_limits.load(std::memory_order_relaxed)(); }

// The same to a few milliseconds, for a tenth of the time.
inline uint64_t about_now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

// Its time starts with the first reading of the clock, which most calls never need, because their condition is already
// true. A caller that waits several times with copies of it calls begin() before the first wait.
class limit {
 public:
  // 0: do not wait, UINT64_MAX: for ever.
  static limit after(uint64_t ns) { return limit(ns); }
  const limit& begin() const {
    if (!begun_) end_ = end_of(ns_);
    begun_ = true;
    return *this;
  }
  bool no_wait() const { return ns_ == 0; }
  uint64_t left() const {
    if (ns_ == UINT64_MAX || ns_ == 0) return ns_;
    const uint64_t end = begin().end_, now = now_ns();
    return end > now ? end - now : 0;
  }
  bool passed() const { return left() == 0; }

 private:
  explicit limit(uint64_t ns) : ns_(ns) {}
  static uint64_t end_of(uint64_t ns) {
    const uint64_t now = now_ns();
    return ns > UINT64_MAX - now ? UINT64_MAX : now + ns;
  }
  uint64_t ns_;
  mutable uint64_t end_ = 0;
  mutable bool begun_ = false;
};

// Raises a word to at least this value.
inline void raise(std::atomic<uint64_t>& word, uint64_t value) {
  for (uint64_t was = word.load(); was < value && !word.compare_exchange_weak(was, value);) {
  }
}

}  // namespace ggas::library
