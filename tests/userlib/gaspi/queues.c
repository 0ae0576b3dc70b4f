/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance.h"

CASE(a_queue_keeps_its_order, 2) {
  unsigned long i, *m = segment(0, 8 * 2048);
  gaspi_notification_id_t id;
  for (i = 0; i < 1000; ++i) {
    m[i] = i + 1;
    CHECK(gaspi_write(0, 8 * i, right(), 0, 8 * 1024, 8, 1, TIMEOUT_MS)); /* all to one place */
  }
  CHECK(gaspi_notify(0, right(), 0, 1, 1, TIMEOUT_MS));
  taken(0, 1, &id);
  HOLDS(m[1024] == 1000);
  CHECK(gaspi_wait(1, TIMEOUT_MS));
  barrier();
}

CASE(queues_are_waited_for_one_by_one, 2) {
  unsigned long* m = segment(0, 128);
  gaspi_queue_id_t q;
  gaspi_number_t n;
  m[0] = 6;
  for (q = 0; q < 8; ++q) CHECK(gaspi_write(0, 0, right(), 0, 64u + 8u * q, 8, q, TIMEOUT_MS));
  for (q = 0; q < 8; ++q) {
    CHECK(gaspi_queue_size(q, &n));
    HOLDS(n == 1);
    CHECK(gaspi_wait(q, TIMEOUT_MS));
    CHECK(gaspi_queue_size(q, &n));
    HOLDS(n == 0);
  }
  barrier();
  for (q = 0; q < 8; ++q) HOLDS(m[8 + q] == 6);
}

CASE(queues_are_created_and_deleted, 1) {
  gaspi_number_t before, n, most;
  gaspi_queue_id_t q[64];
  segment(0, 64);
  CHECK(gaspi_queue_num(&before));
  CHECK(gaspi_queue_max(&most));
  for (n = before; n < most; ++n) CHECK(gaspi_queue_create(&q[n], TIMEOUT_MS));
  REFUSED(gaspi_queue_create(&q[0], TIMEOUT_MS));
  CHECK(gaspi_queue_num(&n));
  HOLDS(n == most);
  CHECK(gaspi_write(0, 0, me, 0, 8, 8, q[most - 1], TIMEOUT_MS));
  CHECK(gaspi_wait(q[most - 1], TIMEOUT_MS));
  for (n = before; n < most; ++n) CHECK(gaspi_queue_delete(q[n]));
  CHECK(gaspi_queue_num(&n));
  HOLDS(n == before);
  REFUSED(gaspi_write(0, 0, me, 0, 8, 8, q[most - 1], TIMEOUT_MS));
}

CASE(a_queue_holds_as_many_as_it_says, 1) {
  gaspi_number_t most, n, i;
  segment(0, 64);
  CHECK(gaspi_queue_size_max(&most));
  for (i = 0; i < most; ++i) CHECK(gaspi_notify(0, me, 0, 1, 2, GASPI_TEST));
  CHECK(gaspi_queue_size(2, &n));
  HOLDS(n == most);
  GIVES(gaspi_notify(0, me, 0, 1, 2, GASPI_TEST), GASPI_QUEUE_FULL);
  CHECK(gaspi_wait(2, TIMEOUT_MS));
  CHECK(gaspi_notify(0, me, 0, 1, 2, GASPI_TEST));
}

CASE(a_purge_forgets_what_was_posted, 1) {
  gaspi_number_t n;
  segment(0, 64);
  CHECK(gaspi_write(0, 0, me, 0, 8, 8, 0, TIMEOUT_MS));
  CHECK(gaspi_queue_purge(0, TIMEOUT_MS));
  CHECK(gaspi_queue_size(0, &n));
  HOLDS(n == 0);
  CHECK(gaspi_wait(0, GASPI_TEST));
}

CASE(an_empty_queue_has_nothing_to_wait_for, 1) {
  CHECK(gaspi_wait(0, GASPI_TEST));
  CHECK(gaspi_wait(7, GASPI_BLOCK));
}

/* Queue 0 was waited for before rank 1 leaves, queue 1 was not: what it had is there all the same. */
CASE_FROM_BEGIN(who_has_left_is_no_error_for_what_it_got, 2) {
  gaspi_notification_id_t id;
  begin();
  segment(0, 64);
  if (me == 0) {
    CHECK(gaspi_write(0, 0, 1, 0, 8, 8, 0, TIMEOUT_MS));
    CHECK(gaspi_wait(0, TIMEOUT_MS));
    CHECK(gaspi_write(0, 0, 1, 0, 16, 8, 1, TIMEOUT_MS));
    CHECK(gaspi_notify(0, 1, 0, 1, 1, TIMEOUT_MS));
  } else {
    taken(0, 1, &id);
  }
  barrier();
  if (me == 0) {
    until_ended(1);
    CHECK(gaspi_wait(0, TIMEOUT_MS));
    CHECK(gaspi_wait(1, TIMEOUT_MS));
    CHECK(gaspi_write(0, 0, 0, 0, 8, 8, 0, TIMEOUT_MS));
    CHECK(gaspi_wait(0, TIMEOUT_MS));
  }
  CHECK(gaspi_proc_term(TIMEOUT_MS));
}

CASE_FROM_BEGIN(nothing_goes_to_who_has_left, 2) {
  gaspi_atomic_value_t old;
  gaspi_notification_id_t id;
  begin();
  segment(0, 64);
  if (me == 0) {
    until_ended(1);
    REFUSED(gaspi_write(0, 0, 1, 0, 8, 8, 0, TIMEOUT_MS));
    REFUSED(gaspi_read(0, 0, 1, 0, 8, 8, 0, TIMEOUT_MS));
    REFUSED(gaspi_notify(0, 1, 0, 1, 0, TIMEOUT_MS));
    REFUSED(gaspi_write_notify(0, 0, 1, 0, 8, 8, 0, 1, 0, TIMEOUT_MS));
    REFUSED(gaspi_atomic_fetch_add(0, 0, 1, 1, &old, TIMEOUT_MS));
    REFUSED(gaspi_passive_send(0, 0, 1, 8, TIMEOUT_MS));
    CHECK(gaspi_wait(0, TIMEOUT_MS)); /* nothing was posted */
    GIVES(gaspi_notify_waitsome(0, 0, 1, &id, GASPI_TEST), GASPI_TIMEOUT);
  }
  CHECK(gaspi_proc_term(TIMEOUT_MS));
}

CASE(a_queue_begins_empty, 1) {
  gaspi_queue_id_t q, again;
  gaspi_number_t n;
  segment(0, 64);
  CHECK(gaspi_queue_create(&q, TIMEOUT_MS));
  CHECK(gaspi_write(0, 0, me, 0, 8, 8, q, TIMEOUT_MS));
  CHECK(gaspi_queue_delete(q));
  CHECK(gaspi_queue_create(&again, TIMEOUT_MS));
  CHECK(gaspi_queue_size(again, &n));
  HOLDS(again == q && n == 0);
}

CASE(bad_queues_are_refused, 1) {
  gaspi_number_t n;
  REFUSED(gaspi_wait(8, TIMEOUT_MS));
  REFUSED(gaspi_wait(255, TIMEOUT_MS));
  REFUSED(gaspi_queue_size(8, &n));
  REFUSED(gaspi_queue_size(0, NULL));
  REFUSED(gaspi_queue_purge(8, TIMEOUT_MS));
  REFUSED(gaspi_queue_delete(8));
  REFUSED(gaspi_queue_create(NULL, TIMEOUT_MS));
}
