// SPDX-License-Identifier: Apache-2.0
// Waiting with a time-out, alone and as a group. Included by ggas.cuh.
#pragma once

#include "ggas/detail/access.cuh"

namespace ggas::detail {

// A point in time on the device's timer.
struct deadline {
  uint64_t at;
  GGAS_DEVICE explicit deadline(uint64_t timeout_ns) {
    const uint64_t now = clock_ns();
    at = timeout_ns > ~0ull - now ? ~0ull : now + timeout_ns;
  }
  GGAS_DEVICE bool passed() const { return at != ~0ull && clock_ns() >= at; }
};

// Time for waits that are short as a rule: the clock, slower than a poll, is asked now and then, the first time only
// when a wait lasts; time counts from there.
struct patience {
  uint64_t timeout_ns;
  uint64_t at = 0;
  unsigned polls = 0;
  static constexpr unsigned polls_between_looks = 16;
  GGAS_DEVICE explicit patience(uint64_t ns) : timeout_ns(ns) {}
  GGAS_DEVICE bool over() {
    if (timeout_ns == 0) return true;
    if (++polls % polls_between_looks != 0) return false;
    const uint64_t now = clock_ns();
    if (at == 0) at = timeout_ns > ~0ull - now ? ~0ull : now + timeout_ns;
    return at != ~0ull && now >= at;
  }
};

template <class T>
GGAS_DEVICE bool holds(T v, ggas_cmp cmp, T value) {
  switch (cmp) {
    case ggas_eq:
      return v == value;
    case ggas_ne:
      return v != value;
    case ggas_lt:
      return v < value;
    case ggas_le:
      return v <= value;
    case ggas_gt:
      return v > value;
    case ggas_ge:
      return v >= value;
  }
  return false;
}

template <class T>
GGAS_DEVICE ggas_status wait_until(const T* flag, ggas_cmp cmp, T value, const deadline& end) {
  while (!holds(load_poll(flag), cmp, value)) {
    if (end.passed()) return ggas_timed_out;
  }
  acquire_after_poll();
  return ggas_ok;
}

// Combines what the threads of a block found: ok only if all did, else one of the failures, the same for all. A block
// barrier.
GGAS_DEVICE ggas_status block_status(ggas_status mine) {
  if (!__syncthreads_or(mine != ggas_ok)) return ggas_ok;
  GGAS_SHARED(unsigned, failed);
  if (thread_rank() == 0) failed = 0;
  __syncthreads();
  for (unsigned s = ggas_timed_out; s <= ggas_no_queue; ++s) {  // the gravest wins; one writer value at a time
    if (mine == static_cast<ggas_status>(s)) failed = s;
    __syncthreads();
  }
  const ggas_status all = static_cast<ggas_status>(failed);
  __syncthreads();
  return all;
}

template <class T>
GGAS_DEVICE bool wait_arguments_good(const T* flag, ggas_cmp cmp) {
  static_assert(sizeof(T) <= 8, "a flag has at most 8 bytes");
  return flag && reinterpret_cast<uintptr_t>(flag) % sizeof(T) == 0 && static_cast<unsigned>(cmp) <= ggas_ge;
}

}  // namespace ggas::detail

template <class T>
GGAS_DEVICE ggas_status ggas_wait_until(const T* flag, ggas_cmp cmp, T value, uint64_t timeout_ns) {
  if (!ggas::detail::wait_arguments_good(flag, cmp)) return ggas_bad_argument;
  return ggas::detail::wait_until(flag, cmp, value, ggas::detail::deadline(timeout_ns));
}

template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_warp(const T* flag, ggas_cmp cmp, T value, uint64_t timeout_ns) {
  int s = ggas_ok;
  if (ggas::detail::lane_rank() == 0) s = ggas_wait_until(flag, cmp, value, timeout_ns);
  return static_cast<ggas_status>(__shfl_sync(ggas::detail::lane_mask(), s, 0));
}

template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_block(const T* flag, ggas_cmp cmp, T value, uint64_t timeout_ns) {
  ggas_status s = ggas_ok;
  if (ggas::detail::thread_rank() == 0) s = ggas_wait_until(flag, cmp, value, timeout_ns);
  return ggas::detail::block_status(s);
}
