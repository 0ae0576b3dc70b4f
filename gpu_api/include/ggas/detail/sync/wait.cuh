// SPDX-License-Identifier: Apache-2.0
// Waiting with a time-out, alone and as a group. Included by ggas.cuh.
#pragma once

#include "ggas/detail/sync/failed_wait.cuh"

namespace ggas::detail {

// A point in time on the device's timer. "Now" and "never" do not read the timer, which costs more than a poll.
struct deadline {
  enum known { is_known };
  uint64_t at;
  GGAS_DEVICE deadline(uint64_t at_ns, known) : at(at_ns) {}
  GGAS_DEVICE explicit deadline(uint64_t timeout_ns) : at(timeout_ns) {
    if (timeout_ns == 0 || timeout_ns == ~0ull) return;
    const uint64_t now = clock_ns();
    at = timeout_ns > ~0ull - now ? ~0ull : now + timeout_ns;
  }
  GGAS_DEVICE bool passed() const { return at == 0 || (at != ~0ull && clock_ns() >= at); }
  // Asked by loops after every miss: the same, or the host ends them; end_of_wait() reports which.
  GGAS_DEVICE bool over() const { return passed() || (++misses_ % 16 == 0 && aborted()); }

 private:
  mutable unsigned misses_ = 0;
};

// The new end of a wait after reading the timer: `at` unchanged, or a time counted from now if `at` is 0; long_ago once
// it has passed; ended_by_host if the host ended the wait first. Not inline, because wait loops call it once in many
// polls. The host's word is loaded while the timer is read, which takes longer.
constexpr uint64_t long_ago = 1, ended_by_host = 2;
GGAS_DEVICE_FUNCTION uint64_t end_after_look(uint64_t at, uint64_t timeout_ns) {
  if (at == 0 && timeout_ns == 0) return 0;
  const bool stop = aborted();
  const deadline known{at, deadline::is_known};
  const uint64_t end = at == 0 ? deadline(timeout_ns).at : known.passed() ? long_ago : at;
  return stop && end > long_ago ? ended_by_host : end;
}

// The deadline of wait loops. It is checked after every miss, but reads the timer only from time to time. It is made
// from a time-out; the time counts from the first reading.
class poll_deadline {
 public:
  GGAS_DEVICE explicit poll_deadline(const deadline& end) : end_(end.at) {}
  GGAS_DEVICE explicit poll_deadline(uint64_t timeout_ns) : timeout_ns_(timeout_ns) {}
  GGAS_DEVICE bool over() { return (++misses_ % misses_between_looks == 0 || only_once()) && look(); }
  // After a turn of so many misses.
  GGAS_DEVICE bool over(size_t misses) { return misses < misses_between_looks ? over() : look(); }
  // For loops that poll several times between two looks.
  GGAS_DEVICE unsigned polls() const { return only_once() ? 1 : misses_between_looks; }
  GGAS_DEVICE bool look() {
    end_ = end_after_look(end_, timeout_ns_);
    return end_ <= ended_by_host;
  }
  // The status of a wait that has ended.
  GGAS_DEVICE ggas_status status() const { return end_ == ended_by_host ? ggas_aborted : ggas_timed_out; }

 private:
  GGAS_DEVICE bool only_once() const { return end_ == 0 && timeout_ns_ == 0; }
  static constexpr unsigned misses_between_looks = 16;
  uint64_t end_ = 0;  // 0: not looked yet, or no time at all
  uint64_t timeout_ns_ = 0;
  unsigned misses_ = 0;
};

// A comparison as the set of outcomes that satisfy it, so that a poll has no branches for it.
enum outcome_bits : unsigned { is_less = 1, is_equal = 2, is_greater = 4, is_unordered = 8 };
GGAS_DEVICE unsigned outcomes_of(ggas_cmp cmp) {
  switch (cmp) {
    case ggas_eq:
      return is_equal;
    case ggas_ne:
      return is_less | is_greater | is_unordered;
    case ggas_lt:
      return is_less;
    case ggas_le:
      return is_less | is_equal;
    case ggas_gt:
      return is_greater;
    case ggas_ge:
      return is_greater | is_equal;
  }
  return 0;
}
template <class T>
GGAS_DEVICE bool is_outcome(unsigned set, T v, T value) {
  return set & (v == value ? is_equal : v < value ? is_less : v > value ? is_greater : is_unordered);
}

// `seen` is the value that ended the wait: accesses that its writer ordered before it are visible. Nothing is known of
// a later value of the flag.
template <class T>
GGAS_DEVICE ggas_status wait_until(const T* flag, ggas_cmp cmp, T value, T& seen, poll_deadline&& time) {
  const unsigned good = outcomes_of(cmp);
  unsigned left = time.polls();
  while (!is_outcome(good, seen = load_poll(flag), value)) {
    if (--left != 0) continue;
    if (time.look()) return time.status();
    left = time.polls();
  }
  acquire_after_poll();
  return ggas_ok;
}
template <class T>
GGAS_DEVICE ggas_status wait_until(const T* flag, ggas_cmp cmp, T value, poll_deadline&& time) {
  T seen;
  return wait_until(flag, cmp, value, seen, static_cast<poll_deadline&&>(time));
}
template <class T>
GGAS_DEVICE ggas_status wait_until(const T* flag, ggas_cmp cmp, T value, const deadline& end) {
  return wait_until(flag, cmp, value, poll_deadline(end));
}

template <class T>
GGAS_DEVICE bool wait_arguments_good(const T* flag, ggas_cmp cmp) {
  static_assert(sizeof(T) <= 8, "a flag has at most 8 bytes");
  return flag && reinterpret_cast<uintptr_t>(flag) % sizeof(T) == 0 && static_cast<unsigned>(cmp) <= ggas_ge;
}

}  // namespace ggas::detail
