/* SPDX-License-Identifier: Apache-2.0 */
/* Random histories of writes, waits, purges, leaving, dying and connecting by 4 ranks, against a model of the standard.
 * `histories FIRST COUNT` forks the ranks of each history; `histories SEED FILE` is a rank of one that a launcher
 * starts, and FILE is shared by all. The steps of a history are done one after the other, so each knows what has
 * happened. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "conformance.h"

enum { ranks = 4, queues = 3, steps = 40, patience_s = 50 };
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

typedef struct shared {
  atomic_uint done; /* steps */
  atomic_int pids[ranks];
} shared;

static unsigned long seed;
static unsigned now; /* the step */
static step history[steps];
static enum state states[ranks];
static queue posted[ranks][queues];
static unsigned complete[ranks][steps]; /* of the words of a rank: 1 is there, 2 may be there */
static shared* common;

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
  atomic_store(&common->done, ~0u); /* the others end, too */
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
      return gaspi_write(0, 8 * (steps + now), target, 0, 8 * now, 8, q, PATIENCE);
    case notify:
      return gaspi_notify(0, target, now, 1, q, PATIENCE);
    case wait_for:
      return gaspi_wait(q, PATIENCE);
    case purge:
      return gaspi_queue_purge(q, PATIENCE);
    case leave:
      return gaspi_proc_term(PATIENCE);
    case connect_to:
      return gaspi_connect(target, PATIENCE);
    case disconnect_from:
      return gaspi_disconnect(target, PATIENCE);
    default:
      check_states();
      return GASPI_SUCCESS;
  }
}

/* Until a step is done, or the rank that died in it has ended: a wait may take 10 ms to notice that. */
static void until(unsigned steps_done) {
  const struct timespec nap = {0, 50000}, unnoticed = {0, 12000000};
  while (atomic_load(&common->done) < steps_done) {
    const step* const before = &history[steps_done - 1];
    unsigned done = steps_done - 1;
    if (before->what == die && kill(atomic_load(&common->pids[before->rank]), 0) != 0 && errno == ESRCH) {
      nanosleep(&unnoticed, NULL);
      atomic_compare_exchange_strong(&common->done, &done, steps_done);
    }
    nanosleep(&nap, NULL);
  }
  if (atomic_load(&common->done) == ~0u) _exit(0); /* another rank has failed and said so */
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
  if (rc == GASPI_SUCCESS) rc = gaspi_group_commit(g, PATIENCE);
  if (rc == GASPI_SUCCESS) rc = gaspi_barrier(g, PATIENCE);
  if (rc != GASPI_SUCCESS) fail("the survivors do not meet", rc);
}

/* A rank, from the beginning to the end. by_signal: it dies by one. */
static int run_rank(int by_signal) {
  unsigned long* words;
  alarm(patience_s);
  begin();
  words = segment(0, 8 * 2 * steps);
  atomic_store(&common->pids[me], getpid());
  barrier();
  for (now = 0; now < steps; ++now) {
    const step* const s = &history[now];
    const int answer = expected(s);
    int succeeded = answer != 0;
    until(now);
    if (s->rank == me && s->what == die) {
      if (by_signal) raise(SIGKILL);
      _exit(0);
    }
    if (s->rank == me) {
      const gaspi_return_t rc = perform(s, words);
      succeeded = rc == GASPI_SUCCESS;
      if (answer != 2 && succeeded != answer) fail("not the standard's answer", rc);
      if (s->what == leave) return atomic_store(&common->done, now + 1), 0;
    }
    follow(s, succeeded);
    if (s->rank == me) atomic_store(&common->done, now + 1);
  }
  now = steps - 1;
  until(steps);
  meet();
  check_states();
  check_memory(words);
  return gaspi_proc_term(PATIENCE) == GASPI_SUCCESS ? 0 : 1;
}

static int one_history(void) {
  int well = 1, status;
  unsigned r;
  pid_t pid[ranks];
  char text[64];
  memset(common, 0, sizeof *common);
  invent();
  snprintf(text, sizeof text, "histories-%d-%lu", (int)getpid(), seed);
  setenv("GGAS_JOB", text, 1);
  fflush(NULL);
  for (r = 0; r < ranks; ++r) {
    snprintf(text, sizeof text, "%u", r);
    setenv("GGAS_RANK", text, 1);
    if ((pid[r] = fork()) == 0) _exit(run_rank(1));
  }
  for (r = 0; r < ranks; ++r) {
    pid_t ended = wait(&status);
    unsigned its = 0;
    while (its < ranks && pid[its] != ended) ++its;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) continue; /* it died, as it was to: others look at that */
    fprintf(stderr, "history %lu: rank %u ended with status %d\n", seed, its, status);
    well = 0;
  }
  return well;
}

static shared* map(int file) {
  const int kind = file < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
  void* const at = mmap(NULL, sizeof(shared), PROT_READ | PROT_WRITE, kind, file, 0);
  if (at == MAP_FAILED) perror("histories"), exit(1);
  return (shared*)at;
}

int main(int argc, char** argv) {
  unsigned long count, i;
  char* end;
  if (argc != 3) return fprintf(stderr, "histories FIRST COUNT, or histories SEED FILE of a rank\n"), 2;
  seed = strtoul(argv[1], NULL, 10);
  count = strtoul(argv[2], &end, 10);
  if (*end) {
    const int file = open(argv[2], O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, sizeof(shared)) != 0) return perror(argv[2]), 1;
    common = map(file);
    invent();
    return run_rank(0);
  }
  common = map(-1);
  setenv("GGAS_SIZE", "4", 1);
  for (i = 0; i < count; ++i, ++seed)
    if (!one_history()) return 1;
  printf("%lu histories\n", count);
  return 0;
}
