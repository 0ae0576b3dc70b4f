/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of processes, state vector, texts, time. */
#include <sys/wait.h>
#include <unistd.h>

#include "conformance.h"

CASE_FROM_BEGIN(nothing_works_before_init, 1) {
  gaspi_rank_t rank;
  gaspi_number_t n;
  gaspi_pointer_t at;
  gaspi_queue_id_t queue;
  REFUSED(gaspi_proc_rank(&rank));
  REFUSED(gaspi_proc_num(&rank));
  REFUSED(gaspi_barrier(GASPI_GROUP_ALL, GASPI_TEST));
  REFUSED(gaspi_segment_create(0, 64, GASPI_GROUP_ALL, GASPI_TEST, GASPI_ALLOC_DEFAULT));
  REFUSED(gaspi_segment_ptr(0, &at));
  REFUSED(gaspi_write(0, 0, 0, 0, 0, 8, 0, GASPI_TEST));
  REFUSED(gaspi_queue_create(&queue, GASPI_TEST));
  REFUSED(gaspi_queue_num(&n));
  REFUSED(gaspi_group_commit(GASPI_GROUP_ALL, GASPI_TEST));
  REFUSED(gaspi_connect(0, GASPI_TEST));
  REFUSED(gaspi_disconnect(0, GASPI_TEST));
  REFUSED(gaspi_proc_term(GASPI_TEST));
}

CASE_FROM_BEGIN(initialized_follows_init_and_term, 1) {
  gaspi_number_t there = 7;
  CHECK(gaspi_initialized(&there));
  HOLDS(there == 0);
  CHECK(gaspi_proc_init(TIMEOUT_MS));
  CHECK(gaspi_initialized(&there));
  HOLDS(there == 1);
  CHECK(gaspi_proc_term(TIMEOUT_MS));
  CHECK(gaspi_initialized(&there));
  HOLDS(there == 0);
}

CASE(ranks_are_numbered_from_0, 5) {
  int mine = me, sum = 0;
  HOLDS(me < all);
  CHECK(gaspi_allreduce(&mine, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_INT, GASPI_GROUP_ALL, TIMEOUT_MS));
  HOLDS(sum == all * (all - 1) / 2);
  REFUSED(gaspi_proc_rank(NULL));
}

CASE(all_ranks_are_local, 2) {
  gaspi_rank_t n;
  CHECK(gaspi_proc_local_rank(&n));
  HOLDS(n == me);
  CHECK(gaspi_proc_local_num(&n));
  HOLDS(n == all);
}

CASE(connect_is_allowed_and_asks_for_a_rank, 2) {
  CHECK(gaspi_connect(right(), TIMEOUT_MS));
  CHECK(gaspi_disconnect(right(), TIMEOUT_MS));
  REFUSED(gaspi_connect(all, TIMEOUT_MS));
  REFUSED(gaspi_disconnect(all, TIMEOUT_MS));
  barrier();
}

CASE_FROM_BEGIN(who_has_left_is_healthy_and_can_be_disconnected, 2) {
  gaspi_state_t states[2];
  begin();
  if (me == 0) {
    until_ended(1);
    CHECK(gaspi_disconnect(1, TIMEOUT_MS));
    REFUSED(gaspi_connect(1, TIMEOUT_MS));
    CHECK(gaspi_state_vec_get(states));
    HOLDS(states[0] == GASPI_STATE_HEALTHY && states[1] == GASPI_STATE_HEALTHY);
    REFUSED(gaspi_barrier(GASPI_GROUP_ALL, TIMEOUT_MS));
  }
  CHECK(gaspi_proc_term(TIMEOUT_MS));
}

CASE(ping_answers_for_living_ranks, 3) {
  CHECK(gaspi_proc_ping(right(), TIMEOUT_MS));
  CHECK(gaspi_proc_ping(me, TIMEOUT_MS));
  REFUSED(gaspi_proc_ping(all, TIMEOUT_MS));
  barrier();
}

CASE(state_vector_is_healthy, 3) {
  gaspi_state_t states[8];
  const gaspi_state_vector_t vector = states;
  gaspi_rank_t r;
  memset(states, 0xff, sizeof states);
  CHECK(gaspi_state_vec_get(vector));
  for (r = 0; r < all; ++r) HOLDS(states[r] == GASPI_STATE_HEALTHY);
  for (r = all; r < 8; ++r) HOLDS(states[r] != GASPI_STATE_HEALTHY && states[r] != GASPI_STATE_CORRUPT);
  REFUSED(gaspi_state_vec_get(NULL));
  barrier();
}

/* A child acts as the rank, so that the killed process is not the one that the launcher waits for. Rank 0 kills when
 * all others have reported that they are ready: a rank that is still in a barrier may have to forward a message for
 * which a third rank waits. Rank 2 waits in a call: on simulated nodes no time passes for the others while a rank
 * waits elsewhere. */
static void play_a_killing(void) {
  gaspi_state_t states[8] = {GASPI_STATE_HEALTHY};
  gaspi_notification_id_t id;
  begin();
  segment(0, 64);
  barrier();
  if (me != 0) CHECK(gaspi_notify(0, 0, me, 1, 0, TIMEOUT_MS));
  if (me == 2)
    for (;;) gaspi_notify_waitsome(0, 0, 1, &id, GASPI_BLOCK);
  if (me == 0) {
    HOLDS(taken(1, 1, &id) == 1 && taken(2, 1, &id) == 1);
    CHECK(gaspi_proc_kill(2, TIMEOUT_MS));
  }
  while (states[2] == GASPI_STATE_HEALTHY) {
    CHECK(gaspi_state_vec_get(states));
    usleep(1000);
  }
  HOLDS(states[0] == GASPI_STATE_HEALTHY && states[1] == GASPI_STATE_HEALTHY);
  REFUSED(gaspi_proc_ping(2, TIMEOUT_MS));
  REFUSED(gaspi_disconnect(2, TIMEOUT_MS));
  REFUSED(gaspi_barrier(GASPI_GROUP_ALL, TIMEOUT_MS));
  CHECK(gaspi_proc_term(TIMEOUT_MS));
  exit(EXIT_SUCCESS);
}

CASE_FROM_BEGIN(a_killed_rank_is_corrupt, 3) {
  int how = 0;
  const pid_t child = fork();
  HOLDS(child >= 0);
  if (child == 0) play_a_killing();
  HOLDS(waitpid(child, &how, 0) == child);
  if (strcmp(getenv("GGAS_RANK"), "2") == 0)
    HOLDS(WIFSIGNALED(how) && WTERMSIG(how) == 9);
  else
    HOLDS(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}

CASE(nobody_kills_itself_or_nobody, 1) {
  REFUSED(gaspi_proc_kill(me, TIMEOUT_MS));
  REFUSED(gaspi_proc_kill(all, TIMEOUT_MS));
}

CASE_FROM_BEGIN(version_is_the_standards, 1) {
  float version = 0;
  CHECK(gaspi_version(&version));
  HOLDS(version > 17.05f && version < 17.15f);
  HOLDS(GASPI_MAJOR_VERSION == 17 && GASPI_MINOR_VERSION == 1);
  REFUSED(gaspi_version(NULL));
}

CASE(time_goes_on, 1) {
  gaspi_time_t begin, end;
  gaspi_cycles_t first, last;
  gaspi_float mhz;
  gaspi_notification_id_t id;
  segment(0, 64);
  CHECK(gaspi_time_ticks(&first));
  CHECK(gaspi_time_get(&begin));
  GIVES(gaspi_notify_waitsome(0, 0, 1, &id, 5), GASPI_TIMEOUT);
  CHECK(gaspi_time_get(&end));
  CHECK(gaspi_time_ticks(&last));
  CHECK(gaspi_cpu_frequency(&mhz));
  HOLDS(end - begin >= 4.9f);
  HOLDS((double)(last - first) / mhz >= 5000); /* microseconds */
}

CASE(errors_have_texts, 1) {
  gaspi_string_t text = NULL;
  REFUSED(gaspi_segment_delete(77));
  CHECK(gaspi_error_message(GASPI_ERROR, &text));
  HOLDS(strstr(text, "77") != NULL);
  CHECK(gaspi_error_message(GASPI_TIMEOUT, &text));
  HOLDS(strlen(text) > 0 && strlen(gaspi_error_str(GASPI_SUCCESS)) > 0);
  REFUSED(gaspi_error_message(GASPI_ERROR, NULL));
}

CASE(a_printed_error_is_freed_by_the_caller, 1) {
  gaspi_string_t text = NULL;
  CHECK(gaspi_print_error(GASPI_TIMEOUT, &text));
  HOLDS(strcmp(text, gaspi_error_str(GASPI_TIMEOUT)) == 0);
  free(text);
  REFUSED(gaspi_print_error(GASPI_TIMEOUT, NULL));
}

/* By the codes of GPI-2, which programs look for; the text has value and rule. */
CASE(errors_have_codes, 1) {
  gaspi_config_t c;
  gaspi_group_t g;
  gaspi_notification_id_t id;
  segment(0, 64);
  GIVES(gaspi_wait(60, TIMEOUT_MS), GASPI_ERR_INV_QUEUE);
  HOLDS(strstr(gaspi_error_str(GASPI_ERR_INV_QUEUE), "60") && strstr(gaspi_error_str(GASPI_ERROR), "60"));
  HOLDS(!strstr(gaspi_error_str(GASPI_ERR_INV_RANK), "60"));
  GIVES(gaspi_write(0, 0, 1, 0, 0, 8, 0, TIMEOUT_MS), GASPI_ERR_INV_RANK);
  GIVES(gaspi_write(3, 0, 0, 0, 0, 8, 0, TIMEOUT_MS), GASPI_ERR_INV_SEG);
  GIVES(gaspi_segment_create(0, 64, GASPI_GROUP_ALL, TIMEOUT_MS, GASPI_MEM_INITIALIZED), GASPI_ERR_INV_SEG);
  GIVES(gaspi_notify(0, 0, 65536, 1, 0, TIMEOUT_MS), GASPI_ERR_INV_NOTIF_ID);
  GIVES(gaspi_notify(0, 0, 0, 0, 0, TIMEOUT_MS), GASPI_ERR_INV_NOTIF_VAL);
  GIVES(gaspi_notify_waitsome(0, 65536, 1, &id, GASPI_TEST), GASPI_ERR_INV_NOTIF_ID);
  GIVES(gaspi_barrier(5, TIMEOUT_MS), GASPI_ERR_INV_GROUP);
  GIVES(gaspi_group_create(NULL), GASPI_ERR_NULLPTR);
  GIVES(gaspi_proc_kill(0, TIMEOUT_MS), GASPI_ERR_INV_RANK);
  CHECK(gaspi_config_get(&c));
  GIVES(gaspi_config_set(c), GASPI_ERR_INITED);
  CHECK(gaspi_group_create(&g));
}

CASE_FROM_BEGIN(who_is_no_rank_gets_a_code, 1) {
  gaspi_config_t c;
  gaspi_rank_t rank;
  GIVES(gaspi_proc_rank(&rank), GASPI_ERR_NOINIT);
  GIVES(gaspi_barrier(GASPI_GROUP_ALL, TIMEOUT_MS), GASPI_ERR_NOINIT);
  GIVES(gaspi_write(0, 0, 0, 0, 0, 8, 0, TIMEOUT_MS), GASPI_ERR_NOINIT);
  CHECK(gaspi_config_get(&c));
  c.segment_max = 256;
  GIVES(gaspi_config_set(c), GASPI_ERR_CONFIG);
}
