/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>

#include "conformance.h"

static void send(gaspi_notification_id_t slot, gaspi_notification_t value) {
  CHECK(gaspi_notify(0, right(), slot, value, 0, TIMEOUT_MS));
}

CASE(waitsome_looks_at_its_range, 1) {
  gaspi_notification_id_t id = 0;
  segment(0, 64);
  send(20, 1);
  GIVES(gaspi_notify_waitsome(0, 0, 20, &id, GASPI_TEST), GASPI_TIMEOUT);
  GIVES(gaspi_notify_waitsome(0, 21, 1000, &id, GASPI_TEST), GASPI_TIMEOUT);
  CHECK(gaspi_notify_waitsome(0, 15, 10, &id, GASPI_TEST));
  HOLDS(id == 20);
  CHECK(gaspi_notify_waitsome(0, 20, 1, &id, GASPI_TEST)); /* it stays until it is reset */
}

CASE(the_first_and_the_last_slot_work, 1) {
  gaspi_notification_id_t id = 7;
  segment(0, 64);
  send(0, 11);
  send(65535, 12);
  HOLDS(taken(0, 65535, &id) == 11 && id == 0);
  HOLDS(taken(1, 65535, &id) == 12 && id == 65535);
}

CASE(a_range_ends_with_the_slots, 1) {
  gaspi_notification_id_t id;
  segment(0, 64);
  REFUSED(gaspi_notify_waitsome(0, 65535, 2, &id, GASPI_TEST));
  REFUSED(gaspi_notify_waitsome(0, 1, 65536, &id, GASPI_TEST));
  GIVES(gaspi_notify_waitsome(0, 0, 65536, &id, GASPI_TEST), GASPI_TIMEOUT);
}

CASE(waitsome_of_no_slot_returns, 1) {
  gaspi_notification_id_t id;
  segment(0, 64);
  CHECK(gaspi_notify_waitsome(0, 0, 0, &id, GASPI_BLOCK));
}

CASE(every_value_but_0_is_carried, 1) {
  gaspi_notification_id_t id;
  segment(0, 64);
  REFUSED(gaspi_notify(0, me, 0, 0, 0, TIMEOUT_MS));
  send(0, 0xffffffffu);
  HOLDS(taken(0, 1, &id) == 0xffffffffu);
  send(0, 1);
  HOLDS(taken(0, 1, &id) == 1);
}

CASE(a_new_value_takes_the_place, 1) {
  gaspi_notification_id_t id;
  segment(0, 64);
  send(5, 1);
  send(5, 2);
  HOLDS(taken(5, 1, &id) == 2);
  GIVES(gaspi_notify_waitsome(0, 5, 1, &id, GASPI_TEST), GASPI_TIMEOUT);
}

CASE(a_reset_empties_its_slot_alone, 1) {
  gaspi_notification_id_t id;
  gaspi_notification_t value = 9;
  segment(0, 64);
  send(1, 101);
  send(2, 102);
  HOLDS(taken(1, 1, &id) == 101);
  CHECK(gaspi_notify_reset(0, 1, &value));
  HOLDS(value == 0);
  send(1, 103);
  CHECK(gaspi_notify_reset(0, 1, NULL)); /* as in GPI-2: the value is of no interest */
  CHECK(gaspi_notify_reset(0, 1, &value));
  HOLDS(value == 0);
  HOLDS(taken(1, 2, &id) == 102 && id == 2);
}

CASE(a_time_out_takes_its_time, 1) {
  gaspi_notification_id_t id;
  gaspi_time_t begin, end;
  segment(0, 64);
  CHECK(gaspi_time_get(&begin));
  GIVES(gaspi_notify_waitsome(0, 0, 65535, &id, 20), GASPI_TIMEOUT);
  CHECK(gaspi_time_get(&end));
  HOLDS(end - begin >= 19.9f);
}

CASE(notifications_of_many_come_all, 5) {
  unsigned long seen = 0;
  gaspi_notification_id_t id;
  gaspi_rank_t n;
  segment(0, 64);
  if (me != 0) CHECK(gaspi_notify(0, 0, me, 100u + me, 0, TIMEOUT_MS));
  for (n = 1; me == 0 && n < all; ++n) {
    HOLDS(taken(0, 64, &id) == 100u + id);
    seen |= 1ul << id;
  }
  if (me == 0) HOLDS(seen == (1ul << all) - 2);
  barrier();
}

CASE(segments_have_slots_of_their_own, 2) {
  gaspi_notification_id_t id;
  gaspi_notification_t value;
  segment(0, 64);
  segment(1, 64);
  CHECK(gaspi_notify(1, right(), 3, 8, 0, TIMEOUT_MS));
  CHECK(gaspi_notify_waitsome(1, 0, 10, &id, TIMEOUT_MS));
  GIVES(gaspi_notify_waitsome(0, 0, 10, &id, GASPI_TEST), GASPI_TIMEOUT);
  CHECK(gaspi_notify_reset(1, 3, &value));
  HOLDS(value == 8);
  barrier();
}

static void* take(void* sum) {
  gaspi_notification_t value;
  int i;
  for (i = 0; i < 20000; ++i) {
    CHECK(gaspi_notify_reset(0, 0, &value));
    *(unsigned long*)sum += value;
  }
  return NULL;
}

CASE(a_reset_gives_the_value_to_one_thread, 1) {
  pthread_t threads[2];
  unsigned long sums[3] = {0, 0, 0}, sent = 0;
  gaspi_notification_t value;
  gaspi_notification_id_t id;
  int i;
  segment(0, 64);
  for (i = 0; i < 2; ++i) HOLDS(pthread_create(&threads[i], NULL, take, &sums[i]) == 0);
  for (i = 1; i <= 5000; ++i) {
    /* The slot is empty: this thread alone fills it. */
    while (gaspi_notify_waitsome(0, 0, 1, &id, GASPI_TEST) == GASPI_SUCCESS) {
      CHECK(gaspi_notify_reset(0, 0, &value));
      sums[2] += value;
    }
    send(0, (gaspi_notification_t)i);
    sent += (unsigned long)i;
  }
  for (i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  CHECK(gaspi_notify_reset(0, 0, &value));
  HOLDS(sums[0] + sums[1] + sums[2] + value == sent);
}

CASE(bad_notifications_are_refused, 1) {
  gaspi_notification_id_t id;
  gaspi_notification_t value;
  segment(0, 64);
  REFUSED(gaspi_notify(0, all, 0, 1, 0, TIMEOUT_MS));
  REFUSED(gaspi_notify(9, me, 0, 1, 0, TIMEOUT_MS));
  REFUSED(gaspi_notify(0, me, 0, 1, 60, TIMEOUT_MS));
  REFUSED(gaspi_notify_waitsome(9, 0, 1, &id, GASPI_TEST));
  REFUSED(gaspi_notify_waitsome(0, 0, 1, NULL, GASPI_TEST));
  REFUSED(gaspi_notify_reset(9, 0, &value));
}
