/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance.h"

static gaspi_group_t group_of(gaspi_rank_t first, gaspi_rank_t step, gaspi_rank_t end) {
  gaspi_group_t g;
  gaspi_rank_t r;
  CHECK(gaspi_group_create(&g));
  for (r = first; r < end; r = (gaspi_rank_t)(r + step)) CHECK(gaspi_group_add(g, r));
  return g;
}

CASE(group_all_has_all_ranks, 3) {
  gaspi_number_t n;
  gaspi_rank_t ranks[8], r;
  CHECK(gaspi_group_size(GASPI_GROUP_ALL, &n));
  HOLDS(n == all);
  CHECK(gaspi_group_ranks(GASPI_GROUP_ALL, ranks));
  for (r = 0; r < all; ++r) HOLDS(ranks[r] == r);
}

CASE(group_all_may_be_committed, 2) {
  CHECK(gaspi_group_commit(GASPI_GROUP_ALL, TIMEOUT_MS));
  barrier();
  CHECK(gaspi_group_commit(GASPI_GROUP_ALL, GASPI_TEST));
  REFUSED(gaspi_group_add(GASPI_GROUP_ALL, me));
}

CASE(a_subset_commits_without_the_others, 5) {
  gaspi_group_t g;
  gaspi_number_t n;
  int one = 1, sum = 0;
  if (me % 2 != 0) return;
  g = group_of(0, 2, all);
  CHECK(gaspi_group_commit(g, TIMEOUT_MS));
  CHECK(gaspi_group_size(g, &n));
  CHECK(gaspi_allreduce(&one, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_INT, g, TIMEOUT_MS));
  HOLDS(n == (all + 1u) / 2 && sum == (int)n);
  CHECK(gaspi_group_delete(g));
}

CASE(groups_overlap, 3) {
  gaspi_group_t g = 0, h = 0;
  if (me < 2) g = group_of(0, 1, 2);
  if (me > 0) h = group_of(1, 1, 3);
  if (g) CHECK(gaspi_group_commit(g, TIMEOUT_MS));
  if (h) CHECK(gaspi_group_commit(h, TIMEOUT_MS));
  if (g) CHECK(gaspi_barrier(g, TIMEOUT_MS));
  if (h) CHECK(gaspi_barrier(h, TIMEOUT_MS));
}

CASE(two_groups_of_the_same_ranks_are_two, 2) {
  const gaspi_group_t g = group_of(0, 1, 2), h = group_of(0, 1, 2);
  int mine = me, of_g = 0, of_h = 0;
  HOLDS(g != h);
  CHECK(gaspi_group_commit(g, TIMEOUT_MS));
  CHECK(gaspi_group_commit(h, TIMEOUT_MS));
  CHECK(gaspi_allreduce(&mine, &of_h, 1, GASPI_OP_MAX, GASPI_TYPE_INT, h, TIMEOUT_MS));
  CHECK(gaspi_allreduce(&mine, &of_g, 1, GASPI_OP_MIN, GASPI_TYPE_INT, g, TIMEOUT_MS));
  HOLDS(of_h == 1 && of_g == 0);
}

CASE(ranks_are_added_in_any_order, 3) {
  gaspi_group_t g;
  gaspi_rank_t i, ranks[3];
  CHECK(gaspi_group_create(&g));
  for (i = 0; i < 3; ++i) CHECK(gaspi_group_add(g, (gaspi_rank_t)((me + i) % 3)));
  CHECK(gaspi_group_commit(g, TIMEOUT_MS));
  CHECK(gaspi_group_ranks(g, ranks));
  for (i = 0; i < 3; ++i) HOLDS(ranks[i] == i);
  CHECK(gaspi_barrier(g, TIMEOUT_MS));
}

CASE(a_commit_is_resumed, 2) {
  const gaspi_group_t g = group_of(0, 1, 2);
  gaspi_return_t rc = GASPI_TIMEOUT;
  while (rc == GASPI_TIMEOUT) rc = gaspi_group_commit(g, GASPI_TEST);
  CHECK(rc);
  CHECK(gaspi_barrier(g, TIMEOUT_MS));
}

CASE(a_group_that_is_not_committed_has_no_collectives, 2) {
  const gaspi_group_t g = group_of(0, 1, 2);
  int one = 1, sum;
  REFUSED(gaspi_barrier(g, TIMEOUT_MS));
  REFUSED(gaspi_allreduce(&one, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_INT, g, TIMEOUT_MS));
  REFUSED(gaspi_segment_create(3, 64, g, TIMEOUT_MS, GASPI_ALLOC_DEFAULT));
}

CASE(groups_are_counted, 1) {
  gaspi_number_t n, most, i;
  gaspi_group_t g[64];
  CHECK(gaspi_group_num(&n));
  CHECK(gaspi_group_max(&most));
  HOLDS(n == 1);
  for (i = 1; i < most; ++i) CHECK(gaspi_group_create(&g[i]));
  CHECK(gaspi_group_num(&n));
  HOLDS(n == most);
  REFUSED(gaspi_group_create(&g[0]));
  CHECK(gaspi_group_delete(g[5]));
  CHECK(gaspi_group_create(&g[0]));
  HOLDS(g[0] == g[5]);
}

CASE(bad_groups_are_refused, 1) {
  gaspi_group_t g;
  gaspi_number_t n;
  REFUSED(gaspi_group_create(NULL));
  REFUSED(gaspi_group_delete(9));
  REFUSED(gaspi_group_add(9, 0));
  REFUSED(gaspi_group_size(9, &n));
  CHECK(gaspi_group_create(&g));
  REFUSED(gaspi_group_add(g, all));
  REFUSED(gaspi_group_ranks(g, NULL));
}
