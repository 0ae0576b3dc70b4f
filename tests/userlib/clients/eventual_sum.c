/* SPDX-License-Identifier: Apache-2.0 */
/* An eventually consistent reduction: a rank goes on with the contributions that have arrived as soon as these are half
 * of all, and takes the late ones in a later round. Nothing is lost, and nothing counts twice. */
#include "tests/userlib/gaspi/conformance.h"

enum { rounds = 50 };

/* What `rank` gives in a round. */
static unsigned long part(unsigned rank, unsigned round) { return (rank + 1ul) * (round + 1); }

static gaspi_notification_id_t slot(unsigned round, unsigned rank) { return round * all + rank; }

/* Takes what is there of the slots up to a round. wait_for_one: until there is one. */
static unsigned collect(unsigned round, const unsigned long* inbox, unsigned long* sum, int wait_for_one) {
  gaspi_notification_id_t id;
  gaspi_notification_t value;
  unsigned count = 0;
  while (gaspi_notify_waitsome(0, 0, (round + 1) * all, &id, wait_for_one && !count ? TIMEOUT_MS : GASPI_TEST) ==
         GASPI_SUCCESS) {
    CHECK(gaspi_notify_reset(0, id, &value));
    HOLDS(value == 1 && inbox[id] == part(id % all, id / all));
    *sum += inbox[id];
    ++count;
  }
  return count;
}

int main(void) {
  unsigned long *inbox, *mine, sum = 0, expected = 0;
  unsigned round, arrived = 0;
  gaspi_rank_t to;
  begin();
  inbox = segment(0, sizeof *inbox * (rounds * all + rounds));
  mine = inbox + rounds * all;
  for (round = 0; round < rounds; ++round) {
    mine[round] = part(me, round);
    for (to = 0; to < all; ++to)
      CHECK(gaspi_write_notify(0, sizeof *mine * (rounds * all + round), to, 0, sizeof *mine * slot(round, me),
                               sizeof *mine, slot(round, me), 1, 0, TIMEOUT_MS));
    while (arrived < (round * all + all / 2 + 1)) arrived += collect(round, inbox, &sum, 1);
  }
  while (arrived < rounds * all) arrived += collect(rounds - 1, inbox, &sum, 1);
  for (round = 0; round < rounds; ++round)
    for (to = 0; to < all; ++to) expected += part(to, round);
  HOLDS(sum == expected && arrived == rounds * all);
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  barrier();
  CHECK(gaspi_proc_term(TIMEOUT_MS));
  return 0;
}
