/* SPDX-License-Identifier: Apache-2.0 */
/* What tests in virtual nodes share: results as TAP lines, synchronising with the other node, waiting with an end. */
#ifndef TESTS_KERNEL_NODE_H
#define TESTS_KERNEL_NODE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ggas/device.h"

enum { DOMAIN = 7, OTHER_DOMAIN = 8, WINDOW_BYTES = 1 << 20, BYTES = 65536 };
enum { BOARD = 4096, BOARD_WORDS = 16 };

typedef struct node {
  ggas_device dev;
  int domain;
  ggas_window window;   /* number 0 */
  ggas_context context; /* sleeps */
  unsigned me, other;
  uint64_t met; /* barriers so far */
  uint64_t greeted;
  int soak; /* 1: as often as the soak wants it, which takes hours */
} node;

void check(int holds, const char* what, const char* file, int line, long long value);
#define CHECK(x) check(!!(x), #x, __FILE__, __LINE__, 0)
#define CHECK_IS(x, want)                                                            \
  do {                                                                               \
    const long long got_ = (long long)(x);                                           \
    check(got_ == (long long)(want), #x " is not " #want, __FILE__, __LINE__, got_); \
  } while (0)

double now_ms(void);
/* How long anything may take: a minute, more on kernels with Linux' own checkers. */
double timeout_ms(void);

/* Asks the program that runs the nodes (programs/vm/nodes.py) for an action that a node cannot do itself. The action
 * is done when all nodes have asked.
 */
void ask_the_rig(const char* what);

/* Turns until `condition` holds; ends the program when it does not in time: the other node waits, too. */
#define WAIT(condition)                                                       \
  do {                                                                        \
    const double end_ = now_ms() + timeout_ms();                              \
    while (!(condition)) {                                                    \
      if (now_ms() < end_) continue;                                          \
      printf("Bail out! %s:%d: never: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

static inline uint64_t own_word(node* n, unsigned at) { return *(volatile uint64_t*)(n->window.own + at); }
static inline volatile uint64_t* remote_word(node* n, unsigned at) {
  return (volatile uint64_t*)(n->window.remote + n->other * n->window.bytes + at);
}

/* Both nodes have come here. Words of the board that were reported before are visible. */
static inline void meet(node* n) {
  *remote_word(n, 0) = ++n->met;
  WAIT(own_word(n, 0) >= n->met);
}
/* Words on the other node's board. */
static inline void tell(node* n, unsigned word, uint64_t value) { *remote_word(n, BOARD + 8 * word) = value; }
static inline uint64_t reported(node* n, unsigned word) { return own_word(n, BOARD + 8 * word); }

static inline ggas_rma_note next_note(node* n) {
  ggas_rma_note note;
  WAIT(ggas_rma_next_note(&n->context.rma, &note));
  return note;
}

static inline void post(node* n, ggas_rma_desc d) { WAIT(ggas_rma_post(&n->context.rma, &d)); }

/* Opens the device and makes what every test uses; `end` gives it back. */
void begin(node* n);
void end(node* n);
/* The other node may not have its window yet: words are reported until they are received. */
void greet(node* n, uint64_t word);
/* Runs a test on both nodes, one next to the other. */
void run(node* n, const char* name, void (*test)(node*));

unsigned char* pages(size_t bytes); /* memory of its own, zeros */
unsigned char pattern(unsigned seed, size_t i);
void fill(unsigned char* p, size_t bytes, unsigned seed);
size_t wrong(const unsigned char* p, size_t bytes, unsigned seed); /* bytes that are not as filled */
/* Registers memory and informs the other node of it, as word 0; its context, as word 1. */
ggas_region share(node* n, void* at, size_t bytes, unsigned rights);
ggas_rma_peer peer(node* n);

/* The signal that an access ends with; 0: none. */
int fault_of(volatile void* at);
/* An IOMMU of QEMU reports each page to the server, by a message: then less will do. */
int has_iommu(void);
/* The number in a file, or a negative errno. */
long read_number(const char* path);
/* 0, or a negative errno. */
int write_file(const char* path, const char* text);
void write_number(const char* path, long number);

#endif
