/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance.h"

CASE(fetch_add_counts_every_one, 5) {
  unsigned long *m = segment(0, 64), last = 0;
  gaspi_atomic_value_t old = 0;
  int i;
  for (i = 0; i < 200; ++i) {
    CHECK(gaspi_atomic_fetch_add(0, 8, 0, 1, &old, TIMEOUT_MS));
    HOLDS(i == 0 || old > last);
    last = old;
  }
  barrier();
  if (me == 0) HOLDS(m[1] == 200ul * all);
}

CASE(fetch_add_wraps, 1) {
  unsigned long* m = segment(0, 64);
  gaspi_atomic_value_t old;
  m[0] = ~0ul;
  CHECK(gaspi_atomic_fetch_add(0, 0, me, 2, &old, TIMEOUT_MS));
  HOLDS(old == ~0ul && m[0] == 1);
}

CASE(compare_swap_swaps_what_it_expects, 1) {
  unsigned long* m = segment(0, 64);
  gaspi_atomic_value_t old;
  CHECK(gaspi_atomic_compare_swap(0, 0, me, 1, 5, &old, TIMEOUT_MS));
  HOLDS(old == 0 && m[0] == 0);
  CHECK(gaspi_atomic_compare_swap(0, 0, me, 0, 5, &old, TIMEOUT_MS));
  HOLDS(old == 0 && m[0] == 5);
}

/* A lock of compare-and-swap; what it protects is read and written. */
CASE(compare_swap_makes_a_lock, 4) {
  unsigned long* m = segment(0, 64);
  gaspi_atomic_value_t old;
  int i;
  for (i = 0; i < 20; ++i) {
    do CHECK(gaspi_atomic_compare_swap(0, 0, 0, 0, me + 1ul, &old, TIMEOUT_MS));
    while (old != 0);
    CHECK(gaspi_read(0, 32, 0, 0, 8, 8, 0, TIMEOUT_MS));
    CHECK(gaspi_wait(0, TIMEOUT_MS));
    m[4] += 1;
    CHECK(gaspi_write(0, 32, 0, 0, 8, 8, 0, TIMEOUT_MS));
    CHECK(gaspi_wait(0, TIMEOUT_MS));
    CHECK(gaspi_atomic_compare_swap(0, 0, 0, me + 1ul, 0, &old, TIMEOUT_MS));
    HOLDS(old == me + 1ul);
  }
  barrier();
  if (me == 0) HOLDS(m[1] == 20ul * all);
}

CASE(bad_atomics_are_refused, 1) {
  gaspi_atomic_value_t old;
  segment(0, 64);
  REFUSED(gaspi_atomic_fetch_add(0, 4, me, 1, &old, TIMEOUT_MS));
  REFUSED(gaspi_atomic_fetch_add(0, 64, me, 1, &old, TIMEOUT_MS));
  REFUSED(gaspi_atomic_fetch_add(0, 0, all, 1, &old, TIMEOUT_MS));
  REFUSED(gaspi_atomic_fetch_add(9, 0, me, 1, &old, TIMEOUT_MS));
  REFUSED(gaspi_atomic_fetch_add(0, 0, me, 1, NULL, TIMEOUT_MS));
  REFUSED(gaspi_atomic_compare_swap(0, 4, me, 1, 1, &old, TIMEOUT_MS));
  REFUSED(gaspi_atomic_compare_swap(0, 0, me, 1, 1, NULL, TIMEOUT_MS));
}
