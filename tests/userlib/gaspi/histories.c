/* SPDX-License-Identifier: Apache-2.0 */
/* Random histories of writes, waits, purges, leaving, dying and connecting by 4 ranks, against a model of the standard:
 * `gaspi_run -n 4 histories FIRST COUNT`. A history is a job of its own: each process that the launcher starts forks a
 * rank for it. The steps of a history are done one after the other, so each knows what has happened. Ranks report to
 * each other by a segment of their own and wait by calls of GASPI only: on simulated nodes time stands still in other
 * waits.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance.h"

enum { ranks = 4, queues = 3, steps = 40, timeout_s = 600 };
/* A segment with slots of steps and of process ids. */
enum { reports = 1, report_queue = 7, unused_slot = steps + ranks };
enum state { healthy, left_job, lost };

typedef enum what { post, notify, wait_for, purge, leave, die, connect_to, disconnect_from, look } what;
typedef struct step {
  what what;
  unsigned rank, target, queue;
} step;

/* What a rank may know: the model has a copy in each rank, which goes through all steps. */
typedef struct request {
  unsigned target, at; /* step that posted it: word of the target's segment, value at + 1 */
  int to_the_lost;
} request;
typedef struct queue {
  request of[steps];
  unsigned size;
} queue;

static unsigned long seed;
static unsigned now; /* the step */
static step history[steps];
static enum state states[ranks];
static queue posted[ranks][queues];
static unsigned complete[ranks][steps]; /* of the words of a rank: 1 is there, 2 may be there */
static pid_t process[ranks];

static uint64_t state_of_random;
static unsigned any(unsigned below) { /* splitmix64 */
  uint64_t z = (state_of_random += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (unsigned)((z ^ (z >> 31)) % below);
}

static void fail(const char* text, int code) {
  fprintf(stderr, "history %lu, step %u of rank %u (%u to %u, queue %u): %s, %d (%s)\n", seed, now, me,
          history[now].what, history[now].target, history[now].queue, text, code,
          gaspi_error_str((gaspi_return_t)code));
  _exit(1);
}

/* Ranks that go do so only while another one stays. */
static void invent(void) {
  unsigned living[ranks] = {0, 1, 2, 3}, count = ranks, i;
  state_of_random = seed;
  for (i = 0; i < steps; ++i) {
    static const what often[] = {post,     post,     post,  post,       notify,          wait_for,
                                 wait_for, wait_for, purge, connect_to, disconnect_from, look,
                                 leave,    die};
    const unsigned place = any(count);
    step s = {often[any(sizeof often / sizeof *often)], living[place], any(ranks), any(queues)};
    if ((s.what == leave || s.what == die) && (count == 1 || any(3))) s.what = post;
    if (s.what == leave || s.what == die) living[place] = living[--count];
    history[i] = s;
  }
}

static void forget(unsigned rank, unsigned q, unsigned is) {
  queue* const of = &posted[rank][q];
  unsigned i;
  for (i = 0; i < of->size; ++i)
    if (!of->of[i].to_the_lost) complete[of->of[i].target][of->of[i].at] = is;
  of->size = 0;
}

/* The standard's answer to a step: 1 success, 0 error, 2 either. */
static int expected(const step* s) {
  const queue* const q = &posted[s->rank][s->queue];
  unsigned i;
  switch (s->what) {
    case post:
    case notify:
      return states[s->target] == healthy ? 1 : states[s->target] == left_job ? 0 : 2;
    case wait_for:
      for (i = 0; i < q->size; ++i)
        if (states[q->of[i].target] == lost) return 0;
      return 1;
    case connect_to:
      return states[s->target] == healthy;
    case disconnect_from:
      return states[s->target] != lost;
    default:
      return 1;
  }
}

/* The model after a step; succeeded: of a request to a lost rank, which the other ranks do not know and need not. */
static void follow(const step* s, int succeeded) {
  queue* const q = &posted[s->rank][s->queue];
  if ((s->what == post || s->what == notify) && succeeded) {
    const request r = {s->target, now, states[s->target] == lost};
    q->of[q->size++] = r;
    if (!r.to_the_lost) complete[s->target][now] = 2;
  }
  if (s->what == wait_for && succeeded) forget(s->rank, s->queue, 1);
  if (s->what == purge) forget(s->rank, s->queue, 2);
  if (s->what == leave) states[s->rank] = left_job;
  if (s->what == die) states[s->rank] = lost;
}

static void check_states(void) {
  gaspi_state_t seen[ranks];
  gaspi_number_t size;
  unsigned r, q;
  if (gaspi_state_vec_get(seen) != GASPI_SUCCESS) fail("gaspi_state_vec_get", GASPI_ERROR);
  for (r = 0; r < ranks; ++r)
    if ((seen[r] == GASPI_STATE_CORRUPT) != (states[r] == lost)) fail("the state of a rank", (int)r);
  for (q = 0; q < queues; ++q)
    if (gaspi_queue_size((gaspi_queue_id_t)q, &size) != GASPI_SUCCESS || size != posted[me][q].size)
      fail("gaspi_queue_size", (int)size);
}

static gaspi_return_t perform(const step* s, unsigned long* words) {
  const gaspi_rank_t target = (gaspi_rank_t)s->target;
  const gaspi_queue_id_t q = (gaspi_queue_id_t)s->queue;
  switch (s->what) {
    case post:
      words[steps + now] = now + 1;
      return gaspi_write(0, 8 * (steps + now), target, 0, 8 * now, 8, q, TIMEOUT_MS);
    case notify:
      return gaspi_notify(0, target, now, 1, q, TIMEOUT_MS);
    case wait_for:
      return gaspi_wait(q, TIMEOUT_MS);
    case purge:
      return gaspi_queue_purge(q, TIMEOUT_MS);
    case leave:
      return gaspi_proc_term(TIMEOUT_MS);
    case connect_to:
      return gaspi_connect(target, TIMEOUT_MS);
    case disconnect_from:
      return gaspi_disconnect(target, TIMEOUT_MS);
    default:
      check_states();
      return GASPI_SUCCESS;
  }
}

/* Reports to the other ranks that live. That is no part of the history, so whether they get it is not asked. */
static void report(gaspi_notification_id_t slot, gaspi_notification_t value) {
  gaspi_rank_t r;
  for (r = 0; r < ranks; ++r)
    if (r != me && states[r] == healthy) gaspi_notify(reports, r, slot, value, report_queue, TIMEOUT_MS);
  gaspi_queue_purge(report_queue, TIMEOUT_MS);
}

static gaspi_notification_t reported(gaspi_notification_id_t slot) {
  gaspi_notification_t value = 0;
  gaspi_return_t rc = gaspi_notify_waitsome(reports, slot, 1, &slot, TIMEOUT_MS);
  if (rc == GASPI_SUCCESS) rc = gaspi_notify_reset(reports, slot, &value);
  if (rc != GASPI_SUCCESS) fail("a step cannot be reported", rc);
  return value;
}

static void nap(gaspi_timeout_t ms) {
  gaspi_notification_id_t id;
  gaspi_notify_waitsome(reports, unused_slot, 1, &id, ms);
}

/* Until another rank has done its step. A wait may take 10 ms to notice that a rank has died. */
static void until_done(const step* s) {
  if (s->rank == me) return;
  if (s->what != leave && s->what != die) {
    reported(now);
    return;
  }
  while (kill(process[s->rank], 0) == 0 || errno != ESRCH) nap(1);
  if (s->what == die) nap(12);
}

static void check_memory(const unsigned long* words) {
  gaspi_notification_t value;
  unsigned i;
  for (i = 0; i < steps; ++i) {
    const int notified = history[i].what == notify;
    if (gaspi_notify_reset(0, i, &value) != GASPI_SUCCESS) fail("gaspi_notify_reset", (int)i);
    if ((notified ? value : words[i]) == 0 ? complete[me][i] == 1 : complete[me][i] == 0)
      fail("what was to arrive, or was not", (int)i);
    if (words[i] != 0 && words[i] != i + 1u) fail("the word of a write", (int)i);
  }
}

/* Those that live make a group: nothing of the past keeps them. */
static void meet(void) {
  gaspi_group_t g;
  gaspi_rank_t r;
  gaspi_return_t rc = gaspi_group_create(&g);
  for (r = 0; rc == GASPI_SUCCESS && r < ranks; ++r)
    if (states[r] == healthy) rc = gaspi_group_add(g, r);
  if (rc == GASPI_SUCCESS) rc = gaspi_group_commit(g, TIMEOUT_MS);
  if (rc == GASPI_SUCCESS) rc = gaspi_barrier(g, TIMEOUT_MS);
  if (rc != GASPI_SUCCESS) fail("the survivors do not meet", rc);
}

static void begin_history(void) {
  gaspi_rank_t r;
  begin();
  if (all != ranks) fail("ranks of the job", all);
  segment(reports, 8);
  barrier();
  report(steps + me, (gaspi_notification_t)getpid());
  for (r = 0; r < ranks; ++r) process[r] = r == me ? getpid() : (pid_t)reported(steps + r);
}

/* A rank, from the beginning to the end. */
static int run_rank(void) {
  unsigned long* words;
  alarm(timeout_s);
  begin_history();
  words = segment(0, 8 * 2 * steps);
  barrier();
  for (now = 0; now < steps; ++now) {
    const step* const s = &history[now];
    const int answer = expected(s);
    int succeeded = answer != 0;
    until_done(s);
    if (s->rank == me && s->what == die) raise(SIGKILL);
    if (s->rank == me) {
      const gaspi_return_t rc = perform(s, words);
      succeeded = rc == GASPI_SUCCESS;
      if (answer != 2 && succeeded != answer) fail("not the standard's answer", rc);
      if (s->what == leave) return 0;
    }
    follow(s, succeeded);
    if (s->rank == me) report(now, 1);
  }
  now = steps - 1;
  meet();
  check_states();
  check_memory(words);
  return gaspi_proc_term(TIMEOUT_MS) == GASPI_SUCCESS ? 0 : 1;
}

/* A rank ends well, or dies as the history says, which the others look at. */
static int one_history(void) {
  int status;
  pid_t pid;
  invent();
  fflush(NULL);
  if ((pid = fork()) == 0) _exit(run_rank());
  if (pid < 0 || waitpid(pid, &status, 0) != pid) return perror("histories"), 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 1;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return 1;
  return fprintf(stderr, "history %lu: a rank ended with status %d\n", seed, status), 0;
}

int main(int argc, char** argv) {
  unsigned long count, i;
  if (argc != 3) return fprintf(stderr, "histories FIRST COUNT, by a launcher with %d ranks\n", ranks), 2;
  seed = strtoul(argv[1], NULL, 10);
  count = strtoul(argv[2], NULL, 10);
  for (i = 0; i < count; ++i, ++seed)
    if (!one_history()) return 1;
  return 0;
}
