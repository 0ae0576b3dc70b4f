/* SPDX-License-Identifier: Apache-2.0 */
/* A GASPI program as there are many, in C and in C++: a ring of write_notify, a list, passive messages, reductions.
 */
#include <GASPI.h>
#include <GASPI_Ext.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    const gaspi_return_t rc = (call);                                                        \
    if (rc != GASPI_SUCCESS) {                                                               \
      fprintf(stderr, "%s:%d: %d (%s)\n", __FILE__, __LINE__, (int)rc, gaspi_error_str(rc)); \
      exit(EXIT_FAILURE);                                                                    \
    }                                                                                        \
  } while (0)
#define HOLDS(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition); \
      exit(EXIT_FAILURE);                                                 \
    }                                                                     \
  } while (0)

static gaspi_return_t larger(gaspi_const_pointer_t one, gaspi_const_pointer_t two, gaspi_pointer_t result,
                             gaspi_reduce_state_t state, const gaspi_number_t num, const gaspi_size_t size,
                             const gaspi_timeout_t timeout_ms) {
  const int *a = (const int*)one, *b = (const int*)two;
  int* c = (int*)result;
  gaspi_number_t i;
  (void)state;
  (void)timeout_ms;
  if (size != sizeof(int)) return GASPI_ERROR;
  for (i = 0; i < num; ++i) c[i] = a[i] > b[i] ? a[i] : b[i];
  return GASPI_SUCCESS;
}

static void ring(gaspi_rank_t me, gaspi_rank_t all) {
  const gaspi_rank_t right = (gaspi_rank_t)((me + 1) % all), left = (gaspi_rank_t)((me + all - 1) % all);
  gaspi_pointer_t at;
  gaspi_notification_id_t id;
  gaspi_notification_t value;
  double* m;
  CHECK(gaspi_segment_create(0, 4096, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  CHECK(gaspi_segment_ptr(0, &at));
  m = (double*)at;
  m[0] = me + 0.5;
  CHECK(gaspi_write_notify(0, 0, right, 0, 8, 8, 17, 1000u + me, 0, GASPI_BLOCK));
  CHECK(gaspi_notify_waitsome(0, 0, 100, &id, GASPI_BLOCK));
  CHECK(gaspi_notify_reset(0, id, &value));
  HOLDS(id == 17 && value == 1000u + left && m[1] == left + 0.5);
  CHECK(gaspi_wait(0, GASPI_BLOCK));
  CHECK(gaspi_read_notify(0, 16, left, 0, 0, 8, 3, 1, GASPI_BLOCK));
  CHECK(gaspi_notify_waitsome(0, 3, 1, &id, GASPI_BLOCK));
  HOLDS(m[2] == left + 0.5);
  CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
}

static void list(gaspi_rank_t me, gaspi_rank_t all) {
  gaspi_segment_id_t here[2] = {0, 0}, there[2] = {0, 0};
  gaspi_offset_t from[2] = {0, 8}, to[2] = {800, 1600};
  gaspi_size_t size[2] = {8, 16};
  gaspi_notification_id_t id;
  gaspi_pointer_t at;
  CHECK(gaspi_write_list_notify(2, here, from, (gaspi_rank_t)((me + 1) % all), there, to, size, 0, 65535, 1, 2,
                                GASPI_BLOCK));
  CHECK(gaspi_notify_waitsome(0, 65535, 1, &id, GASPI_BLOCK));
  CHECK(gaspi_segment_ptr(0, &at));
  HOLDS(((double*)at)[100] == (me + all - 1) % all + 0.5);
  CHECK(gaspi_wait(2, GASPI_BLOCK));
  CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
}

static void passive(gaspi_rank_t me, gaspi_rank_t all) {
  gaspi_rank_t from, i;
  gaspi_pointer_t at;
  CHECK(gaspi_segment_ptr(0, &at));
  ((double*)at)[300] = me;
  if (me != 0) CHECK(gaspi_passive_send(0, 2400, 0, 8, GASPI_BLOCK));
  for (i = 1; me == 0 && i < all; ++i) {
    CHECK(gaspi_passive_receive(0, 3000, &from, 8, GASPI_BLOCK));
    HOLDS(((double*)at)[375] == from);
  }
  HOLDS(gaspi_passive_receive(0, 3000, &from, 8, GASPI_TEST) == GASPI_TIMEOUT);
}

static void collectives(gaspi_rank_t me, gaspi_rank_t all) {
  int mine = 3 + me, most = 0;
  double one = 1, sum = 0;
  unsigned long bit = 1ul << me, bits = 0;
  gaspi_atomic_value_t old;
  CHECK(gaspi_allreduce(&one, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL, GASPI_BLOCK));
  CHECK(gaspi_allreduce(&bit, &bits, 1, GASPI_OP_MAX, GASPI_TYPE_ULONG, GASPI_GROUP_ALL, GASPI_BLOCK));
  CHECK(gaspi_allreduce_user(&mine, &most, 1, sizeof mine, larger, NULL, GASPI_GROUP_ALL, GASPI_BLOCK));
  HOLDS(sum == all && bits == 1ul << (all - 1) && most == 2 + all);
  CHECK(gaspi_atomic_fetch_add(0, 4088, 0, 2, &old, GASPI_BLOCK));
  HOLDS(old % 2 == 0 && old < 2ul * all);
  CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  CHECK(gaspi_atomic_compare_swap(0, 4088, 0, 2ul * all, 2ul * all, &old, GASPI_BLOCK));
  HOLDS(old == 2ul * all);
}

static void groups(gaspi_rank_t me, gaspi_rank_t all) {
  gaspi_group_t g;
  gaspi_number_t size;
  gaspi_rank_t i, ranks[64];
  if (me % 2 != 0) return;
  CHECK(gaspi_group_create(&g));
  for (i = 0; i < all; i = (gaspi_rank_t)(i + 2)) CHECK(gaspi_group_add(g, i));
  HOLDS(gaspi_barrier(g, GASPI_BLOCK) == GASPI_ERR_INV_GROUP); /* not committed */
  CHECK(gaspi_group_commit(g, GASPI_BLOCK));
  CHECK(gaspi_group_size(g, &size));
  CHECK(gaspi_group_ranks(g, ranks));
  HOLDS(size == (all + 1u) / 2 && ranks[size - 1] == 2 * (size - 1));
  CHECK(gaspi_barrier(g, GASPI_BLOCK));
  CHECK(gaspi_group_delete(g));
}

static void limits(gaspi_rank_t all) {
  gaspi_number_t n;
  gaspi_queue_id_t q;
  gaspi_size_t size;
  gaspi_segment_id_t ids[1];
  gaspi_notification_id_t id;
  unsigned char* states = (unsigned char*)malloc(all);
  float version;
  gaspi_time_t begin, end;
  CHECK(gaspi_version(&version));
  CHECK(gaspi_notification_num(&n));
  HOLDS(n == 65536 && version > 17.0f);
  CHECK(gaspi_queue_num(&n));
  HOLDS(n == 8);
  CHECK(gaspi_queue_create(&q, GASPI_BLOCK));
  CHECK(gaspi_queue_size(q, &n));
  HOLDS(n == 0);
  CHECK(gaspi_queue_delete(q));
  CHECK(gaspi_segment_num(&n));
  CHECK(gaspi_segment_list(1, ids));
  CHECK(gaspi_segment_size(0, 0, &size));
  HOLDS(n == 1 && ids[0] == 0 && size == 4096);
  CHECK(gaspi_state_vec_get(states));
  HOLDS(states[0] == GASPI_STATE_HEALTHY);
  CHECK(gaspi_time_get(&begin));
  HOLDS(gaspi_notify_waitsome(0, 50, 1, &id, 5) == GASPI_TIMEOUT);
  CHECK(gaspi_time_get(&end));
  HOLDS(end - begin >= 5);
  free(states);
}

int main(void) {
  gaspi_rank_t me, all;
  gaspi_number_t there = 1;
  HOLDS(gaspi_proc_rank(&me) == GASPI_ERR_NOINIT); /* before the beginning */
  CHECK(gaspi_initialized(&there));
  HOLDS(!there);
  CHECK(gaspi_proc_init(20000));
  CHECK(gaspi_proc_rank(&me));
  CHECK(gaspi_proc_num(&all));
  ring(me, all);
  list(me, all);
  passive(me, all);
  collectives(me, all);
  groups(me, all);
  limits(all);
  HOLDS(gaspi_write(9, 0, 0, 0, 0, 8, 0, GASPI_BLOCK) == GASPI_ERR_INV_SEG);
  HOLDS(gaspi_write(0, 0, all, 0, 0, 8, 0, GASPI_BLOCK) == GASPI_ERR_INV_RANK);
  CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  gaspi_printf("%u of %u right\n", me, all);
  CHECK(gaspi_proc_term(GASPI_BLOCK));
  HOLDS(gaspi_proc_term(GASPI_BLOCK) == GASPI_ERR_NOINIT);
  return EXIT_SUCCESS;
}
