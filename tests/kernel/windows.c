/* SPDX-License-Identifier: Apache-2.0 */
/* Several windows of a node: exports with owners. */
#include "tests/kernel/tests.h"

enum { NUMBER = 5, SMALL = 4096 };

static volatile uint64_t* at_other(node* n, const ggas_window* w, unsigned at) {
  return (volatile uint64_t*)(w->remote + n->other * w->bytes + at);
}

static uint32_t quiet_of(const ggas_context* c) { return *(const volatile uint32_t*)c->rma.page; }
static uint32_t quiet(node* n) { return quiet_of(&n->context); }

/* A second window of another domain: stores go where their window says, and nowhere when domains differ. */
void windows_of_two_domains(node* n) {
  ggas_device dev;
  ggas_window w;
  ggas_context c;
  int domain;
  CHECK_IS(ggas_device_open(&dev, "/dev/ggas0"), 0);
  domain = ggas_domain_join(&dev, OTHER_DOMAIN);
  CHECK_IS(ggas_window_begin(&w, &dev, domain, NUMBER, SMALL), 0);
  CHECK_IS(ggas_context_begin(&c, &dev, domain, NULL), 0);
  meet(n);
  *at_other(n, &w, 8) = 0x1000 + n->me;
  *remote_word(n, 0x8008) = 0x2000 + n->me;
  CHECK_IS(quiet(n), 0);
  meet(n);
  CHECK_IS(*(volatile uint64_t*)(w.own + 8), 0x1000 + n->other);
  CHECK_IS(own_word(n, 0x8008), 0x2000 + n->other);
  CHECK_IS(*at_other(n, &w, 8), 0x1000 + n->me);
  /* Node 1 releases its window, and gives the export to the first domain. Stores of node 0 are for the former owner,
   * and are refused. */
  meet(n);
  if (n->me == 1) {
    ggas_window_end(&w);
    CHECK_IS(ggas_window_begin(&w, &n->dev, n->domain, NUMBER, SMALL), 0);
  }
  meet(n);
  *at_other(n, &w, 16) = 0x3000 + n->me;
  /* Each node's store was refused: a quiet of its domain says so once, and one of the other domain does not. */
  CHECK_IS(quiet_of(n->me == 1 ? &c : &n->context), 0);
  CHECK(quiet_of(n->me == 1 ? &n->context : &c) != 0);
  CHECK_IS(quiet_of(n->me == 1 ? &n->context : &c), 0);
  CHECK(*at_other(n, &w, 8) == ~(uint64_t)0);
  meet(n);
  CHECK_IS(*(volatile uint64_t*)(w.own + 16), 0);
  ggas_context_end(&c);
  ggas_window_end(&w);
  ggas_device_close(&dev);
}

/* Numbers, intervals and BAR2 are shared by all: who comes late learns so, and what ends is free again. */
void windows_run_out(node* n) {
  enum { LIMIT = 64 };
  static ggas_window w[LIMIT];
  unsigned i, got = 0;
  ggas_window more;
  CHECK_IS(ggas_window_begin(&more, &n->dev, n->domain, 0, SMALL), -EBUSY);
  CHECK_IS(ggas_window_begin(&more, &n->dev, n->domain, LIMIT, SMALL), -EINVAL);
  CHECK_IS(ggas_window_begin(&more, &n->dev, n->domain, 1, SMALL / 2), -EINVAL);
  CHECK_IS(ggas_window_begin(&more, &n->dev, n->domain, 1, 3 * SMALL), -EINVAL);
  CHECK_IS(ggas_window_begin(&more, &n->dev, n->domain, 1, n->dev.window_bytes), -EINVAL);
  while (got + 1 < LIMIT && ggas_window_begin(&w[got], &n->dev, n->domain, got + 1, SMALL) == 0) ++got;
  CHECK_IS(got, 64 / n->dev.nodes - 1); /* an interval for each node, and the board's window has some */
  CHECK_IS(ggas_window_begin(&more, &n->dev, n->domain, 40, SMALL), -ENOSPC);
  meet(n);
  /* Each is a window of its own. */
  for (i = 0; i < got; ++i) *at_other(n, &w[i], 0) = 0x77000 + i;
  CHECK_IS(quiet(n), 0);
  meet(n);
  for (i = 0; i < got; ++i) CHECK_IS(*(volatile uint64_t*)w[i].own, 0x77000 + i);
  for (i = 0; i < got; ++i) ggas_window_end(&w[i]);
  CHECK_IS(ggas_window_begin(&more, &n->dev, n->domain, 40, SMALL), 0);
  ggas_window_end(&more);
}

/* What was stored before a window ends arrives, however soon it ends. */
void stores_before_the_end(node* n) {
  enum { ROUNDS = 50, WORDS = 64 };
  ggas_window whole, brief;
  unsigned round, i, lost = 0;
  CHECK_IS(ggas_window_begin(&whole, &n->dev, n->domain, NUMBER + n->me, SMALL), 0);
  meet(n);
  for (round = 1; round <= ROUNDS; ++round) {
    CHECK_IS(ggas_window_begin(&brief, &n->dev, n->domain, NUMBER + n->other, SMALL), 0);
    for (i = 0; i < WORDS; ++i) *at_other(n, &brief, 8 * i) = round;
    ggas_window_end(&brief);
    meet(n);
    for (i = 0; i < WORDS; ++i) lost += *(volatile uint64_t*)(whole.own + 8 * i) != round;
    meet(n);
  }
  CHECK_IS(lost, 0);
  ggas_window_end(&whole);
}
