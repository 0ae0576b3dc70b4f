// SPDX-License-Identifier: Apache-2.0
// Until when a call may wait.
#pragma once

#include <time.h>

#include <cstdint>

namespace ggas::library {

inline uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

class limit {
 public:
  // From now; 0: do not wait, UINT64_MAX: for ever.
  static limit after(uint64_t ns) {
    if (ns == 0) return limit(0);
    const uint64_t now = now_ns();
    return limit(ns > UINT64_MAX - now ? UINT64_MAX : now + ns);
  }
  bool no_wait() const { return end_ == 0; }
  uint64_t left() const {
    if (end_ == UINT64_MAX) return UINT64_MAX;
    const uint64_t now = now_ns();
    return end_ > now ? end_ - now : 0;
  }
  bool passed() const { return left() == 0; }

 private:
  explicit limit(uint64_t end) : end_(end) {}
  uint64_t end_;
};

}  // namespace ggas::library
