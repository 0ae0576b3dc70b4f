/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance.h"

CASE(messages_are_received_from_any, 5) {
  unsigned long seen = 0, *m = segment(0, 64);
  gaspi_rank_t from = 0, i;
  m[0] = 900u + me;
  if (me != 0) CHECK(gaspi_passive_send(0, 0, 0, 8, TIMEOUT_MS));
  for (i = 1; me == 0 && i < all; ++i) {
    CHECK(gaspi_passive_receive(0, 16, &from, 8, TIMEOUT_MS));
    HOLDS(m[2] == 900u + from);
    seen |= 1ul << from;
  }
  if (me == 0) HOLDS(seen == (1ul << all) - 2);
}

CASE(messages_of_one_rank_keep_their_order, 2) {
  unsigned long i, *m = segment(0, 64);
  gaspi_rank_t from;
  for (i = 1; i <= 200; ++i) {
    m[0] = i;
    if (me == 1) CHECK(gaspi_passive_send(0, 0, 0, 8, TIMEOUT_MS));
    if (me == 0) CHECK(gaspi_passive_receive(0, 8, &from, 8, TIMEOUT_MS));
    if (me == 0) HOLDS(from == 1 && m[1] == i);
  }
}

CASE(the_longest_message_arrives, 2) {
  gaspi_size_t most, i;
  unsigned long* m;
  gaspi_rank_t from;
  CHECK(gaspi_passive_transfer_size_max(&most));
  m = segment(0, most + 8);
  for (i = 0; me == 1 && i < most / 8; ++i) m[i] = i * 3;
  if (me == 1) CHECK(gaspi_passive_send(0, 0, 0, most, TIMEOUT_MS));
  if (me == 1) REFUSED(gaspi_passive_send(0, 0, 0, most + 8, TIMEOUT_MS));
  if (me == 0) CHECK(gaspi_passive_receive(0, 0, &from, most, TIMEOUT_MS));
  for (i = 0; i < most / 8; ++i) HOLDS(m[i] == i * 3);
}

CASE(a_message_that_is_too_long_stays, 2) {
  unsigned long* m = segment(0, 64);
  gaspi_rank_t from;
  m[0] = m[1] = 4;
  if (me == 1) CHECK(gaspi_passive_send(0, 0, 0, 16, TIMEOUT_MS));
  if (me == 1) return;
  REFUSED(gaspi_passive_receive(0, 32, &from, 8, TIMEOUT_MS));
  CHECK(gaspi_passive_receive(0, 32, &from, 16, TIMEOUT_MS));
  HOLDS(from == 1 && m[4] == 4 && m[5] == 4);
}

CASE(receiving_times_out_and_is_resumed, 2) {
  unsigned long* m = segment(0, 64);
  gaspi_rank_t from;
  gaspi_return_t rc = GASPI_TIMEOUT;
  if (me == 0) GIVES(gaspi_passive_receive(0, 8, &from, 8, GASPI_TEST), GASPI_TIMEOUT);
  barrier();
  m[0] = 12;
  if (me == 1) CHECK(gaspi_passive_send(0, 0, 0, 8, TIMEOUT_MS));
  while (me == 0 && rc == GASPI_TIMEOUT) rc = gaspi_passive_receive(0, 8, &from, 8, 1);
  if (me == 0) CHECK(rc);
  if (me == 0) HOLDS(m[1] == 12);
}

CASE(sending_is_resumed_and_counts_once, 2) {
  unsigned long i, *m = segment(0, 64);
  gaspi_rank_t from;
  gaspi_return_t rc;
  for (i = 1; i <= 50; ++i) {
    m[0] = i;
    if (me == 1) do
        rc = gaspi_passive_send(0, 0, 0, 8, GASPI_TEST);
      while (rc == GASPI_TIMEOUT);
    else
      rc = gaspi_passive_receive(0, 8, &from, 8, TIMEOUT_MS);
    CHECK(rc);
    if (me == 0) HOLDS(m[1] == i);
  }
  barrier();
  if (me == 0) GIVES(gaspi_passive_receive(0, 8, &from, 8, GASPI_TEST), GASPI_TIMEOUT);
}

CASE(bad_messages_are_refused, 2) {
  gaspi_rank_t from;
  segment(0, 64);
  REFUSED(gaspi_passive_send(0, 0, all, 8, TIMEOUT_MS));
  REFUSED(gaspi_passive_send(0, 60, right(), 8, TIMEOUT_MS));
  REFUSED(gaspi_passive_send(0, 0, right(), 0, TIMEOUT_MS));
  REFUSED(gaspi_passive_receive(0, 60, &from, 8, GASPI_TEST));
  REFUSED(gaspi_passive_receive(0, 0, NULL, 8, GASPI_TEST));
}

CASE(a_purge_leaves_messages_that_were_sent, 2) {
  unsigned long* m = segment(0, 64);
  gaspi_rank_t from;
  m[0] = 6;
  if (me == 1) {
    CHECK(gaspi_passive_send(0, 0, 0, 8, TIMEOUT_MS));
    GIVES(gaspi_passive_send(0, 0, 0, 16, GASPI_TEST), GASPI_TIMEOUT); /* one of a rank waits at its receiver */
    CHECK(gaspi_passive_queue_purge(TIMEOUT_MS));
  }
  barrier();
  if (me == 1) return;
  CHECK(gaspi_passive_receive(0, 8, &from, 8, TIMEOUT_MS));
  HOLDS(from == 1 && m[1] == 6);
  GIVES(gaspi_passive_receive(0, 8, &from, 8, GASPI_TEST), GASPI_TIMEOUT);
}

CASE_FROM_BEGIN(only_a_rank_purges, 1) { REFUSED(gaspi_passive_queue_purge(TIMEOUT_MS)); }
