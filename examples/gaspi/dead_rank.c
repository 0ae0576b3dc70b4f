/* SPDX-License-Identifier: Apache-2.0 */
/* A rank dies, and the others go on. After each step a rank writes its state into a mirror of its right neighbour,
 * which takes over the work of the dead one from there. */
#include <unistd.h>

#include "common.h"

enum { steps = 10, dies_in = 5 };

typedef struct state {
  unsigned long step, sum;
} state;

/* A rank's own state and that of its left neighbour: the last two, so that one is always whole. */
typedef struct memory {
  state own[2], mirror[2];
} memory;

static gaspi_group_t group = GASPI_GROUP_ALL;
static int adopted; /* this rank does the work of its left neighbour, too */
static state left;

static void advance(state* s, unsigned rank) {
  ++s->step;
  s->sum += rank + 1;
}

static unsigned left_of(unsigned rank) { return (rank + all - 1u) % all; }

/* A group of those that live. The left neighbour's work, if it is dead, goes on from its mirror. */
static void recover(const memory* m, unsigned long step) {
  gaspi_state_t states[256];
  MUST(gaspi_queue_purge(0, TIMEOUT_MS)); /* which of the data for the dead rank have arrived is not known */
  MUST(gaspi_state_vec_get(states));
  MUST(gaspi_group_create(&group));
  for (gaspi_rank_t rank = 0; rank < all; ++rank)
    if (states[rank] == GASPI_STATE_HEALTHY) MUST(gaspi_group_add(group, rank));
  MUST(gaspi_group_commit(group, TIMEOUT_MS));
  if (states[left_of(me)] == GASPI_STATE_HEALTHY) return;
  adopted = 1;
  left = m->mirror[m->mirror[1].step > m->mirror[0].step];
  printf("rank %u goes on for rank %u from step %lu\n", me, left_of(me), left.step);
  while (left.step < step) advance(&left, left_of(me));
}

int main(void) {
  start();
  CHECK(all >= 2 && all <= 256);
  memory* const m = segment(0, sizeof *m);
  const gaspi_rank_t right = (gaspi_rank_t)((me + 1) % all), victim = (gaspi_rank_t)(all - 1);
  state own = {0, 0};
  for (unsigned long step = 1; step <= steps; ++step) {
    advance(&own, me);
    if (adopted) advance(&left, left_of(me));
    if (me == victim && step == dies_in) _exit(0); /* as a crash, but for the exit status of the job */
    m->own[step % 2] = own;
    if (group == GASPI_GROUP_ALL || right != victim) {
      const gaspi_offset_t at = (step % 2) * sizeof(state);
      const gaspi_offset_t there = offsetof(memory, mirror) + at;
      const gaspi_return_t posted = gaspi_write(0, at, right, 0, there, sizeof(state), 0, TIMEOUT_MS);
      if (posted != GASPI_SUCCESS || gaspi_wait(0, TIMEOUT_MS) != GASPI_SUCCESS) CHECK(group == GASPI_GROUP_ALL);
    }
    if (gaspi_barrier(group, TIMEOUT_MS) != GASPI_SUCCESS) recover(m, step);
  }
  unsigned long mine = own.sum + (adopted ? left.sum : 0), sum;
  MUST(gaspi_allreduce(&mine, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_ULONG, group, TIMEOUT_MS));
  CHECK(sum == (unsigned long)steps * all * (all + 1ul) / 2);
  if (me == 0) printf("%d steps of %u ranks: %lu, as if none had died\n", steps, all, sum);
  MUST(gaspi_barrier(group, TIMEOUT_MS));
  MUST(gaspi_proc_term(TIMEOUT_MS));
  return 0;
}
