/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance.h"

CASE(a_barrier_lets_nobody_through_early, 4) {
  unsigned long round, *m = segment(0, 64);
  gaspi_atomic_value_t old;
  for (round = 1; round <= 20; ++round) {
    CHECK(gaspi_atomic_fetch_add(0, 0, 0, 1, &old, TIMEOUT_MS));
    barrier();
    if (me == 0) HOLDS(m[0] == round * all);
    barrier();
  }
}

CASE(a_barrier_is_resumed_after_a_test, 3) {
  gaspi_return_t rc;
  int round;
  for (round = 0; round < 20; ++round) {
    do rc = gaspi_barrier(GASPI_GROUP_ALL, GASPI_TEST);
    while (rc == GASPI_TIMEOUT);
    CHECK(rc);
  }
}

CASE(a_barrier_waits_for_its_time, 2) {
  gaspi_notification_id_t id;
  segment(0, 64);
  if (me == 0) {
    GIVES(gaspi_barrier(GASPI_GROUP_ALL, 5), GASPI_TIMEOUT);
    CHECK(gaspi_notify(0, 1, 0, 1, 0, TIMEOUT_MS));
  } else {
    taken(0, 1, &id); /* the other has timed out */
  }
  barrier();
}

CASE(a_reduction_is_resumed_after_a_test, 3) {
  gaspi_return_t rc;
  long mine, sum;
  int round;
  for (round = 0; round < 20; ++round) {
    mine = round + me;
    sum = 0;
    do rc = gaspi_allreduce(&mine, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_LONG, GASPI_GROUP_ALL, GASPI_TEST);
    while (rc == GASPI_TIMEOUT);
    CHECK(rc);
    HOLDS(sum == 3l * round + 3);
  }
}

/* Rank r has 10 r + i + 1. */
#define REDUCES(T, TYPE)                                                                    \
  do {                                                                                      \
    T v[255], r[255];                                                                       \
    int i;                                                                                  \
    for (i = 0; i < 255; ++i) v[i] = (T)(10 * me + i + 1);                                  \
    CHECK(gaspi_allreduce(v, r, 255, GASPI_OP_SUM, TYPE, GASPI_GROUP_ALL, TIMEOUT_MS));     \
    for (i = 0; i < 255; ++i) HOLDS(r[i] == (T)(all * (i + 1) + 10 * all * (all - 1) / 2)); \
    CHECK(gaspi_allreduce(v, r, 255, GASPI_OP_MIN, TYPE, GASPI_GROUP_ALL, TIMEOUT_MS));     \
    for (i = 0; i < 255; ++i) HOLDS(r[i] == (T)(i + 1));                                    \
    CHECK(gaspi_allreduce(v, r, 255, GASPI_OP_MAX, TYPE, GASPI_GROUP_ALL, TIMEOUT_MS));     \
    for (i = 0; i < 255; ++i) HOLDS(r[i] == (T)(10 * (all - 1) + i + 1));                   \
  } while (0)

CASE(reductions_of_int, 3) { REDUCES(int, GASPI_TYPE_INT); }
CASE(reductions_of_unsigned_int, 3) { REDUCES(unsigned int, GASPI_TYPE_UINT); }
CASE(reductions_of_long, 3) { REDUCES(long, GASPI_TYPE_LONG); }
CASE(reductions_of_unsigned_long, 3) { REDUCES(unsigned long, GASPI_TYPE_ULONG); }
CASE(reductions_of_float, 3) { REDUCES(float, GASPI_TYPE_FLOAT); }
CASE(reductions_of_double, 3) { REDUCES(double, GASPI_TYPE_DOUBLE); }

CASE(signs_are_kept, 2) {
  int v = me == 0 ? -5 : 3, least = 0;
  unsigned int u = me == 0 ? 0x80000000u : 1u, most = 0;
  CHECK(gaspi_allreduce(&v, &least, 1, GASPI_OP_MIN, GASPI_TYPE_INT, GASPI_GROUP_ALL, TIMEOUT_MS));
  CHECK(gaspi_allreduce(&u, &most, 1, GASPI_OP_MAX, GASPI_TYPE_UINT, GASPI_GROUP_ALL, TIMEOUT_MS));
  HOLDS(least == -5 && most == 0x80000000u);
}

CASE(a_reduction_works_in_place, 2) {
  double v[3] = {1, 2, 4};
  CHECK(gaspi_allreduce(v, v, 3, GASPI_OP_SUM, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL, TIMEOUT_MS));
  HOLDS(v[0] == all && v[1] == 2 * all && v[2] == 4 * all);
}

typedef struct pair {
  long key, value;
} pair;

/* The pair with the larger key; counts its calls. */
static gaspi_return_t larger(gaspi_pointer_t const one, gaspi_pointer_t const two, gaspi_pointer_t const result,
                             gaspi_reduce_state_t const state, const gaspi_number_t num, const gaspi_size_t size,
                             const gaspi_timeout_t timeout_ms) {
  const pair *a = (const pair*)one, *b = (const pair*)two;
  pair* c = (pair*)result;
  gaspi_number_t i;
  (void)timeout_ms;
  if (size != sizeof(pair)) return GASPI_ERROR;
  for (i = 0; i < num; ++i) c[i] = a[i].key > b[i].key ? a[i] : b[i];
  ++*(int*)state;
  return GASPI_SUCCESS;
}

CASE(an_operation_of_the_user_reduces, 4) {
  pair mine[4], most[4];
  int i, calls = 0;
  for (i = 0; i < 4; ++i) {
    mine[i].key = (me + i) % all;
    mine[i].value = 100 * me + i;
  }
  CHECK(gaspi_allreduce_user(mine, most, 4, sizeof(pair), larger, &calls, GASPI_GROUP_ALL, TIMEOUT_MS));
  for (i = 0; i < 4; ++i) HOLDS(most[i].key == all - 1 && most[i].value == 100 * ((2 * all - 1 - i) % all) + i);
  HOLDS(calls > 0);
}

CASE(an_operation_of_the_user_fails, 2) {
  long mine = me, most;
  int calls = 0;
  gaspi_group_t g; /* is broken afterwards */
  CHECK(gaspi_group_create(&g));
  CHECK(gaspi_group_add(g, 0));
  CHECK(gaspi_group_add(g, 1));
  CHECK(gaspi_group_commit(g, TIMEOUT_MS));
  REFUSED(gaspi_allreduce_user(&mine, &most, 1, 8, larger, &calls, g, TIMEOUT_MS)); /* size is not a pair's */
  HOLDS(calls == 0);
}

CASE(bad_reductions_are_refused, 1) {
  int v = 1, r;
  REFUSED(gaspi_allreduce(NULL, &r, 1, GASPI_OP_SUM, GASPI_TYPE_INT, GASPI_GROUP_ALL, TIMEOUT_MS));
  REFUSED(gaspi_allreduce(&v, NULL, 1, GASPI_OP_SUM, GASPI_TYPE_INT, GASPI_GROUP_ALL, TIMEOUT_MS));
  REFUSED(gaspi_allreduce(&v, &r, 1, (gaspi_operation_t)3, GASPI_TYPE_INT, GASPI_GROUP_ALL, TIMEOUT_MS));
  REFUSED(gaspi_allreduce(&v, &r, 1, GASPI_OP_SUM, (gaspi_datatype_t)6, GASPI_GROUP_ALL, TIMEOUT_MS));
  REFUSED(gaspi_allreduce(&v, &r, 1, GASPI_OP_SUM, GASPI_TYPE_INT, 9, TIMEOUT_MS));
  REFUSED(gaspi_allreduce_user(&v, &r, 1, 4, NULL, NULL, GASPI_GROUP_ALL, TIMEOUT_MS));
}
