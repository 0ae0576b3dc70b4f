// SPDX-License-Identifier: Apache-2.0
// Waiting for flags of an array. Included by wait.cuh.
#pragma once

#include "ggas/detail/sync/group.cuh"

namespace ggas::detail {

template <class T>
GGAS_DEVICE bool flags_good(const T* flags, size_t n, ggas_cmp cmp) {
  return n > 0 && wait_arguments_good(flags, cmp);
}

// Which flags of an array count: an array of int says it, or all do.
struct no_mask {
  GGAS_DEVICE int operator[](size_t) const { return 0; }
};
struct flag_mask {
  const int* ignore;  // null: all count
  GGAS_DEVICE int operator[](size_t i) const { return ignore ? ignore[i] : 0; }
};
// No thread has to be waited for.
template <class Mask>
GGAS_DEVICE bool all_ignored(const Mask& ignore, size_t n) {
  size_t counted = is_same<Mask, no_mask> ? 1 : 0;
  for (size_t i = 0; i < n && counted == 0; ++i) counted += ignore[i] == 0;
  return counted == 0;
}

template <class T, class Mask>
GGAS_DEVICE ggas_status wait_any(const T* flags, size_t n, const Mask& ignore, ggas_cmp cmp, T value, size_t* index,
                                 uint64_t timeout_ns) {
  if (!flags_good(flags, n, cmp) || !index) return ggas_bad_argument;
  if (all_ignored(ignore, n)) return *index = n, ggas_ok;
  const unsigned good = outcomes_of(cmp);
  poll_deadline time(timeout_ns);
  do {
    for (size_t i = 0; i < n; ++i) {
      if (ignore[i] || !is_outcome(good, load_poll(flags + i), value)) continue;
      *index = i;
      acquire_after_poll();
      return ggas_ok;
    }
  } while (!time.over(n));
  return time.status();
}

template <class T, class Mask>
GGAS_DEVICE ggas_status wait_some(const T* flags, size_t n, const Mask& ignore, ggas_cmp cmp, T value, size_t* indices,
                                  size_t* count, uint64_t timeout_ns) {
  if (!flags_good(flags, n, cmp) || !indices || !count) return ggas_bad_argument;
  if (all_ignored(ignore, n)) return *count = 0, ggas_ok;
  const unsigned good = outcomes_of(cmp);
  poll_deadline time(timeout_ns);
  size_t found = 0;
  do {
    for (size_t i = 0; i < n; ++i) {
      if (!ignore[i] && is_outcome(good, load_poll(flags + i), value)) indices[found++] = i;
    }
  } while (found == 0 && !time.over(n));
  *count = found;
  acquire_after_poll();
  return found != 0 ? ggas_ok : time.status();
}

// Every thread of the group watches its share.
template <class T, class Mask>
GGAS_DEVICE ggas_status wait_share(const T* flags, size_t n, const Mask& ignore, ggas_cmp cmp, T value,
                                   const deadline& end, unsigned rank, unsigned size) {
  if (!flags_good(flags, n, cmp)) return ggas_bad_argument;
  for (size_t i = rank; i < n; i += size) {
    if (ignore[i]) continue;
    const ggas_status s = wait_until(flags + i, cmp, value, end);
    if (s != ggas_ok) return s;
  }
  return ggas_ok;
}
template <class G, class T, class Mask>
GGAS_DEVICE ggas_status wait_all(const G& g, const T* flags, size_t n, const Mask& ignore, ggas_cmp cmp, T value,
                                 uint64_t timeout_ns) {
  return g.join(wait_share(flags, n, ignore, cmp, value, deadline(timeout_ns), g.rank(), g.size()));
}

// The record of a call that waited for flags: the first that counts and does not hold; the last, if all hold by now.
template <class T, class Mask>
GGAS_DEVICE void record_open(call_id call, ggas_status s, uint64_t timeout_ns, const T* flags, size_t n,
                             const Mask& ignore, ggas_cmp cmp, T value) {
  const unsigned good = outcomes_of(cmp);
  size_t i = 0;
  while (i + 1 < n && (ignore[i] != 0 || is_outcome(good, load_relaxed(flags + i), value))) ++i;
  record_flag(call, s, timeout_ns, flags + i, cmp, value);
}

}  // namespace ggas::detail
