/* SPDX-License-Identifier: Apache-2.0 */
/* What tests in virtual nodes share: results as TAP lines, meeting the other node, waiting with an end. */
#ifndef TESTS_KERNEL_NODE_H
#define TESTS_KERNEL_NODE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "ggas/device.h"

enum { DOMAIN = 7, OTHER_DOMAIN = 8, WINDOW_BYTES = 1 << 20, PATIENCE_MS = 60000, BOARD = 4096, BOARD_WORDS = 16 };

typedef struct node {
  ggas_device dev;
  int domain;
  ggas_window window;
  ggas_context context; /* sleeps */
  unsigned me, other;
  uint64_t met; /* barriers so far */
} node;

static int tests_run, tests_failed, checks_failed;

static inline void check(int holds, const char* what, int line, long long value) {
  if (holds) return;
  ++checks_failed;
  printf("# line %d: %s (%lld)\n", line, what, value);
}
#define CHECK(x) check(!!(x), #x, __LINE__, 0)
#define CHECK_IS(x, want)                                                  \
  do {                                                                     \
    const long long got_ = (long long)(x);                                 \
    check(got_ == (long long)(want), #x " is not " #want, __LINE__, got_); \
  } while (0)

static inline double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Turns until `condition` holds; ends the program when it does not in time: the other node waits, too. */
#define WAIT(condition)                                               \
  do {                                                                \
    const double end_ = now_ms() + PATIENCE_MS;                       \
    while (!(condition)) {                                            \
      if (now_ms() < end_) continue;                                  \
      printf("Bail out! line %d: never: %s\n", __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

static inline uint64_t own_word(node* n, unsigned at) { return *(volatile uint64_t*)(n->window.own + at); }
static inline volatile uint64_t* remote_word(node* n, unsigned at) {
  return (volatile uint64_t*)(n->window.remote + n->other * n->window.bytes + at);
}

/* Both nodes have come here. Words of the board that were told before are visible. */
static inline void meet(node* n) {
  *remote_word(n, 0) = ++n->met;
  WAIT(own_word(n, 0) >= n->met);
}
/* Words on the other node's board. */
static inline void tell(node* n, unsigned word, uint64_t value) { *remote_word(n, BOARD + 8 * word) = value; }
static inline uint64_t told(node* n, unsigned word) { return own_word(n, BOARD + 8 * word); }

static inline ggas_rma_note next_note(node* n) {
  ggas_rma_note note;
  WAIT(ggas_rma_next_note(&n->context.rma, &note));
  return note;
}

static inline void post(node* n, ggas_rma_desc d) { WAIT(ggas_rma_post(&n->context.rma, &d)); }

/* Runs a test on both nodes, one beside the other. */
static inline void run(node* n, const char* name, void (*test)(node*)) {
  const double begun = now_ms();
  checks_failed = 0;
  meet(n);
  test(n);
  meet(n);
  ++tests_run;
  tests_failed += checks_failed != 0;
  printf("%s %d - %s # %.0f ms\n", checks_failed ? "not ok" : "ok", tests_run, name, now_ms() - begun);
  fflush(stdout);
}

#endif
