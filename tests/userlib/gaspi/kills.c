/* SPDX-License-Identifier: Apache-2.0 */
/* A rank is killed at a random moment, in whatever call it is: `gaspi_run -n 4 kills FIRST COUNT`. All ranks use all
 * kinds of communication until they see that one is lost; then the others make a group and go on. Each process that the
 * launcher starts forks a rank for each job. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "conformance.h"

enum { ranks = 4, timeout_s = 300, latest_us = 4000, short_ms = 2 };

static unsigned long seed;

/* SIGKILL to this process, within 4 ms. */
static void be_killed(void) {
  struct sigevent how;
  timer_t timer;
  const struct itimerspec when = {{0, 0}, {0, 1 + 1000l * (long)(seed * 2654435761u % latest_us)}};
  memset(&how, 0, sizeof how);
  how.sigev_notify = SIGEV_SIGNAL;
  how.sigev_signo = SIGKILL;
  HOLDS(timer_create(CLOCK_MONOTONIC, &how, &timer) == 0 && timer_settime(timer, 0, &when, NULL) == 0);
}

/* Whatever the calls return: what is asked afterwards is who lives. */
static void communicate(void) {
  int one = 1, sum;
  gaspi_notification_id_t id;
  gaspi_notification_t value;
  gaspi_atomic_value_t old;
  gaspi_rank_t from;
  gaspi_group_t g;
  gaspi_write_notify(0, 0, right(), 0, 4096, 4096, 0, 1, 0, short_ms);
  gaspi_read(0, 8192, left(), 0, 0, 4096, 1, short_ms);
  if (gaspi_notify_waitsome(0, 0, 1, &id, short_ms) == GASPI_SUCCESS) gaspi_notify_reset(0, id, &value);
  gaspi_allreduce(&one, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_INT, GASPI_GROUP_ALL, short_ms);
  gaspi_passive_send(0, 0, right(), 64, short_ms);
  gaspi_passive_receive(0, 12288, &from, 64, short_ms);
  gaspi_atomic_fetch_add(0, 16000, right(), 1, &old, short_ms);
  gaspi_wait(0, short_ms);
  gaspi_wait(1, short_ms);
  if (gaspi_segment_alloc(1, 65536, GASPI_ALLOC_DEFAULT) == GASPI_SUCCESS) gaspi_segment_delete(1);
  if (gaspi_group_create(&g) == GASPI_SUCCESS) gaspi_group_delete(g);
}

static int all_live(gaspi_rank_t victim) {
  gaspi_state_t states[ranks];
  CHECK(gaspi_state_vec_get(states));
  return states[victim] != GASPI_STATE_CORRUPT;
}

static void go_on(gaspi_rank_t victim) {
  gaspi_group_t g;
  gaspi_rank_t r;
  int mine = me, sum = 0;
  CHECK(gaspi_queue_purge(0, TIMEOUT_MS));
  CHECK(gaspi_queue_purge(1, TIMEOUT_MS));
  CHECK(gaspi_group_create(&g));
  for (r = 0; r < ranks; ++r)
    if (r != victim) CHECK(gaspi_group_add(g, r));
  CHECK(gaspi_group_commit(g, TIMEOUT_MS));
  CHECK(gaspi_allreduce(&mine, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_INT, g, TIMEOUT_MS));
  HOLDS(sum == 0 + 1 + 2 + 3 - victim);
  CHECK(gaspi_write(0, 0, me, 0, 4096, 8, 0, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
}

static int run_rank(gaspi_rank_t victim) {
  alarm(timeout_s);
  begin();
  HOLDS(all == ranks);
  segment(0, 16384);
  barrier();
  if (me == victim) be_killed();
  while (all_live(victim)) communicate();
  go_on(victim);
  return gaspi_proc_term(TIMEOUT_MS) == GASPI_SUCCESS ? 0 : 1;
}

static int one_job(void) {
  int status;
  pid_t pid;
  fflush(NULL);
  if ((pid = fork()) == 0) _exit(run_rank((gaspi_rank_t)(seed % ranks)));
  if (pid < 0 || waitpid(pid, &status, 0) != pid) return perror("kills"), 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 1;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return 1;
  return fprintf(stderr, "job %lu: a rank ended with status %d\n", seed, status), 0;
}

int main(int argc, char** argv) {
  unsigned long end;
  if (argc != 3) return fprintf(stderr, "kills FIRST COUNT, by a launcher with %d ranks\n", ranks), 2;
  seed = strtoul(argv[1], NULL, 10);
  for (end = seed + strtoul(argv[2], NULL, 10); seed < end; ++seed)
    if (!one_job()) return 1;
  return 0;
}
