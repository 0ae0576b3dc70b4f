/* SPDX-License-Identifier: Apache-2.0 */
/* GASPI_Threads.h, and where a process runs. */
#include <GASPI_Threads.h>
#include <pthread.h>
#include <sched.h>

#include "conformance.h"

enum { THREADS = 4, ROUNDS = 200 };
static int counts[THREADS], numbers[THREADS], finished;

static void* member(void* rounds) {
  gaspi_int tid, total;
  CHECK(gaspi_threads_register(&tid));
  CHECK(gaspi_threads_get_total(&total));
  HOLDS(total == THREADS && tid >= 0 && tid < THREADS);
  __atomic_add_fetch(&numbers[tid], 1, __ATOMIC_RELAXED);
  for (int round = 1; round <= *(int*)rounds; ++round) {
    __atomic_store_n(&counts[tid], round, __ATOMIC_RELAXED);
    gaspi_threads_sync();
    for (int other = 0; other < THREADS; ++other) HOLDS(__atomic_load_n(&counts[other], __ATOMIC_RELAXED) >= round);
    gaspi_threads_sync();
  }
  __atomic_add_fetch(&finished, 1, __ATOMIC_RELEASE);
  return NULL;
}

CASE(threads_have_numbers_and_meet, 1) {
  int rounds = ROUNDS;
  CHECK(gaspi_threads_init_user(THREADS));
  for (int i = 1; i < THREADS; ++i) CHECK(gaspi_threads_run(member, &rounds));
  member(&rounds);
  while (__atomic_load_n(&finished, __ATOMIC_ACQUIRE) < THREADS) sched_yield();
  for (int i = 0; i < THREADS; ++i) HOLDS(numbers[i] == 1);
  CHECK(gaspi_threads_term());
}

/* Barriers of a group by threads that know nothing of each other; one that times out is called again. */
static void* meets(void* timeout) {
  for (int round = 0; round < 50; ++round) {
    gaspi_return_t rc;
    do rc = gaspi_barrier(GASPI_GROUP_ALL, *(gaspi_timeout_t*)timeout);
    while (rc == GASPI_TIMEOUT);
    CHECK(rc);
  }
  return NULL;
}

CASE(threads_take_turns_at_a_barrier, 2) {
  gaspi_timeout_t timeout[] = {TIMEOUT_MS, GASPI_BLOCK, 1};
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) HOLDS(pthread_create(&threads[i], NULL, meets, &timeout[i]) == 0);
  for (int i = 0; i < 3; ++i) HOLDS(pthread_join(threads[i], NULL) == 0);
  barrier();
}

CASE(a_team_has_limits, 1) {
  gaspi_int tid, n;
  REFUSED(gaspi_threads_register(&tid));
  REFUSED(gaspi_threads_get_tid(&tid));
  REFUSED(gaspi_threads_get_total(&n));
  REFUSED(gaspi_threads_run(member, NULL));
  REFUSED(gaspi_threads_init_user(0));
  REFUSED(gaspi_threads_init_user(1025));
  CHECK(gaspi_threads_get_num_cores(&n));
  HOLDS(n >= 1);
  CHECK(gaspi_threads_init(&n));
  REFUSED(gaspi_threads_init(&n));
  CHECK(gaspi_threads_get_tid(&tid));
  HOLDS(tid == -1);
  gaspi_threads_sync(); /* not a member */
  REFUSED(gaspi_threads_sync_all(GASPI_GROUP_ALL, GASPI_TEST));
  CHECK(gaspi_threads_term());
  CHECK(gaspi_threads_init_user(1));
  CHECK(gaspi_threads_register(&tid));
  HOLDS(tid == 0);
  CHECK(gaspi_threads_register(&tid)); /* again: the same number */
  HOLDS(tid == 0);
  CHECK(gaspi_threads_term());
}

static int stage;
static void* meets_all(void* unused) {
  gaspi_int tid;
  (void)unused;
  CHECK(gaspi_threads_register(&tid));
  __atomic_store_n(&stage, 1, __ATOMIC_RELEASE);
  while (__atomic_load_n(&stage, __ATOMIC_ACQUIRE) < 2) sched_yield();
  CHECK(gaspi_threads_sync_all(GASPI_GROUP_ALL, TIMEOUT_MS));
  __atomic_store_n(&stage, 3, __ATOMIC_RELEASE);
  return NULL;
}

CASE(threads_of_all_ranks_meet, 3) {
  gaspi_int tid;
  CHECK(gaspi_threads_init_user(2));
  CHECK(gaspi_threads_register(&tid));
  CHECK(gaspi_threads_run(meets_all, NULL));
  while (__atomic_load_n(&stage, __ATOMIC_ACQUIRE) < 1) sched_yield();
  GIVES(gaspi_threads_sync_all(GASPI_GROUP_ALL, GASPI_TEST), GASPI_TIMEOUT); /* the other one is not here */
  GIVES(gaspi_threads_sync_all(GASPI_GROUP_ALL, 20), GASPI_TIMEOUT);
  __atomic_store_n(&stage, 2, __ATOMIC_RELEASE);
  CHECK(gaspi_threads_sync_all(GASPI_GROUP_ALL, TIMEOUT_MS));
  while (__atomic_load_n(&stage, __ATOMIC_ACQUIRE) < 3) sched_yield();
  CHECK(gaspi_threads_term());
}

CASE(a_process_runs_on_a_numa_node, 1) {
  gaspi_uchar node = 255;
  CHECK(gaspi_numa_socket(&node));
  HOLDS(node < 255);
  REFUSED(gaspi_set_socket_affinity(254));
  REFUSED(gaspi_numa_socket(NULL));
  gaspi_print_affinity_mask();
  gaspi_delay();
}

CASE(ids_fit_their_types, 1) {
  gaspi_number_t most, seen = 0;
  CHECK(gaspi_segment_max(&most));
  for (gaspi_segment_id_t id = 0; id < most && seen < 100000; ++id) ++seen;
  HOLDS(seen == most);
  CHECK(gaspi_notification_num(&most));
  seen = 0;
  for (gaspi_notification_id_t id = 0; id < most && seen < 100000; ++id) ++seen;
  HOLDS(seen == most);
  CHECK(gaspi_queue_max(&most));
  seen = 0;
  for (gaspi_queue_id_t id = 0; id < most && seen < 100000; ++id) ++seen;
  HOLDS(seen == most);
}

CASE(every_code_has_a_text, 1) {
  for (int code = GASPI_ERR_EMFILE; code <= GASPI_ERR_MEMALLOC; ++code)
    HOLDS(strcmp(gaspi_error_str((gaspi_return_t)code), "unknown return code") != 0);
  HOLDS(strcmp(gaspi_error_str((gaspi_return_t)99), "unknown return code") == 0);
}
