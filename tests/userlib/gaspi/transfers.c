/* SPDX-License-Identifier: Apache-2.0 */
/* Writes, reads, lists, and notifications that come with them. */
#include "conformance.h"

CASE(a_write_arrives, 3) {
  unsigned long* m = segment(0, 4096);
  m[0] = 50u + me;
  CHECK(gaspi_write(0, 0, right(), 0, 8, 8, 0, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  barrier();
  HOLDS(m[1] == 50u + left() && m[2] == 0);
}

CASE(a_read_brings, 3) {
  unsigned long* m = segment(0, 4096);
  m[0] = 50u + me;
  barrier();
  CHECK(gaspi_read(0, 16, right(), 0, 0, 8, 3, TIMEOUT_MS));
  CHECK(gaspi_wait(3, TIMEOUT_MS));
  HOLDS(m[2] == 50u + right() && m[1] == 0);
}

CASE(a_rank_writes_to_itself, 1) {
  unsigned long* m = segment(0, 64);
  m[0] = 3;
  CHECK(gaspi_write(0, 0, me, 0, 32, 8, 0, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  HOLDS(m[4] == 3);
}

CASE(bytes_need_no_alignment, 2) {
  unsigned char* m = (unsigned char*)segment(0, 64);
  int i;
  for (i = 0; i < 7; ++i) m[3 + i] = (unsigned char)(100 + i + me);
  CHECK(gaspi_write(0, 3, right(), 0, 33, 7, 0, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  barrier();
  for (i = 0; i < 7; ++i) HOLDS(m[33 + i] == 100 + i + left());
  HOLDS(m[32] == 0 && m[40] == 0);
}

CASE(a_large_write_is_whole, 2) {
  const gaspi_size_t words = 1 << 19;
  unsigned long* m = segment(0, 16 * words);
  gaspi_notification_id_t id;
  gaspi_size_t i;
  for (i = 0; i < words; ++i) m[i] = i * 7 + me;
  CHECK(gaspi_write_notify(0, 0, right(), 0, 8 * words, 8 * words, 1, 1, 0, TIMEOUT_MS));
  taken(1, 1, &id);
  for (i = 0; i < words; ++i) HOLDS(m[words + i] == i * 7 + left());
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  barrier();
}

CASE(segments_of_both_sides_differ, 2) {
  unsigned long *m = segment(0, 64), *other = segment(1, 128);
  m[7] = 70u + me;
  CHECK(gaspi_write(0, 56, right(), 1, 120, 8, 0, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  barrier();
  HOLDS(other[15] == 70u + left());
}

typedef struct list {
  gaspi_segment_id_t here[255], there[255];
  gaspi_offset_t from[255], to[255];
  gaspi_size_t size[255];
} list;

/* Words 0 ... 254 here and every second word from 512 on there. */
static void fill(list* l) {
  int i;
  for (i = 0; i < 255; ++i) {
    l->here[i] = l->there[i] = 0;
    l->from[i] = 8ul * (gaspi_offset_t)i;
    l->to[i] = 8ul * (512 + 2 * (gaspi_offset_t)i);
    l->size[i] = 8;
  }
}

CASE(a_list_of_writes_moves_all, 2) {
  unsigned long i, *m = segment(0, 8192);
  list l;
  fill(&l);
  for (i = 0; i < 255; ++i) m[i] = i + 1000u * me;
  CHECK(gaspi_write_list(255, l.here, l.from, right(), l.there, l.to, l.size, 0, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  barrier();
  for (i = 0; i < 255; ++i) HOLDS(m[512 + 2 * i] == i + 1000u * left() && m[513 + 2 * i] == 0);
}

CASE(a_list_of_reads_moves_all, 2) {
  unsigned long i, *m = segment(0, 8192);
  list l;
  fill(&l);
  for (i = 0; i < 255; ++i) m[512 + 2 * i] = i + 1000u * me;
  barrier();
  CHECK(gaspi_read_list(255, l.here, l.from, right(), l.there, l.to, l.size, 0, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  for (i = 0; i < 255; ++i) HOLDS(m[i] == i + 1000u * right());
  barrier();
}

CASE(write_notify_tells_behind_its_data, 2) {
  unsigned long round, *m = segment(0, 4096);
  gaspi_notification_id_t id;
  for (round = 1; round <= 500; ++round) {
    m[0] = m[63] = round;
    CHECK(gaspi_write_notify(0, 0, right(), 0, 1024, 512, 7, (gaspi_notification_t)round, 0, TIMEOUT_MS));
    HOLDS(taken(7, 1, &id) == round && id == 7);
    HOLDS(m[128] == round && m[191] == round);
    CHECK(gaspi_wait(0, TIMEOUT_MS));
    barrier();
  }
}

CASE(write_list_notify_tells_behind_all_parts, 2) {
  unsigned long i, *m = segment(0, 8192);
  gaspi_notification_id_t id;
  list l;
  fill(&l);
  for (i = 0; i < 255; ++i) m[i] = i + 1;
  CHECK(gaspi_write_list_notify(255, l.here, l.from, right(), l.there, l.to, l.size, 0, 65535, 9, 0, TIMEOUT_MS));
  HOLDS(taken(65535, 1, &id) == 9);
  for (i = 0; i < 255; ++i) HOLDS(m[512 + 2 * i] == i + 1);
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  barrier();
}

CASE(read_notify_tells_the_reader, 2) {
  unsigned long* m = segment(0, 64);
  gaspi_notification_id_t id;
  m[0] = 5u + me;
  barrier();
  CHECK(gaspi_read_notify(0, 8, right(), 0, 0, 8, 4, 0, TIMEOUT_MS));
  HOLDS(taken(4, 1, &id) != 0);
  HOLDS(m[1] == 5u + right());
  GIVES(gaspi_notify_waitsome(0, 0, 65535, &id, GASPI_TEST), GASPI_TIMEOUT);
  barrier();
}

CASE(read_list_notify_tells_the_reader, 2) {
  unsigned long i, *m = segment(0, 8192);
  gaspi_notification_id_t id;
  list l;
  fill(&l);
  for (i = 0; i < 255; ++i) m[512 + 2 * i] = i + 3u + me;
  barrier();
  CHECK(gaspi_read_list_notify(255, l.here, l.from, right(), l.there, l.to, l.size, 0, 11, 2, TIMEOUT_MS));
  HOLDS(taken(11, 1, &id) != 0);
  for (i = 0; i < 255; ++i) HOLDS(m[i] == i + 3u + right());
  barrier();
}

CASE(transfers_of_no_bytes, 2) {
  unsigned long* m = segment(0, 64);
  gaspi_number_t posted;
  m[0] = 7;
  CHECK(gaspi_write(0, 0, right(), 0, 8, 0, 0, TIMEOUT_MS));
  CHECK(gaspi_write(0, 64, right(), 0, 64, 0, 0, TIMEOUT_MS));
  CHECK(gaspi_read(0, 8, right(), 0, 0, 0, 0, TIMEOUT_MS));
  CHECK(gaspi_queue_size(0, &posted));
  HOLDS(posted == 0);
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  barrier();
  HOLDS(m[1] == 0);
  REFUSED(gaspi_write(1, 0, right(), 0, 0, 0, 0, TIMEOUT_MS));
  REFUSED(gaspi_write(0, 0, right(), 1, 0, 0, 0, TIMEOUT_MS));
  REFUSED(gaspi_write(0, 65, right(), 0, 0, 0, 0, TIMEOUT_MS));
  REFUSED(gaspi_write(0, 0, all, 0, 0, 0, 0, TIMEOUT_MS));
  REFUSED(gaspi_read(0, 0, right(), 0, 65, 0, 0, TIMEOUT_MS));
  REFUSED(gaspi_write(0, 0, right(), 0, 0, 0, 60, TIMEOUT_MS));
}

CASE(notifications_come_with_no_bytes, 2) {
  unsigned long* m = segment(0, 64);
  gaspi_notification_id_t id;
  gaspi_segment_id_t s[3] = {0, 0, 0};
  gaspi_offset_t from[3] = {0, 0, 8}, to[3] = {16, 24, 32};
  gaspi_size_t none[3] = {0, 0, 0}, some[3] = {0, 8, 0};
  m[0] = 7;
  CHECK(gaspi_write_notify(0, 0, right(), 0, 16, 0, 3, 33, 0, TIMEOUT_MS));
  HOLDS(taken(3, 1, &id) == 33);
  CHECK(gaspi_write_list_notify(3, s, from, right(), s, to, none, 0, 4, 44, 0, TIMEOUT_MS));
  HOLDS(taken(4, 1, &id) == 44 && m[2] == 0 && m[3] == 0);
  barrier();
  CHECK(gaspi_write_list_notify(3, s, from, right(), s, to, some, 0, 5, 55, 0, TIMEOUT_MS));
  HOLDS(taken(5, 1, &id) == 55 && m[2] == 0 && m[3] == 7 && m[4] == 0);
  CHECK(gaspi_read_notify(0, 40, right(), 0, 0, 0, 6, 0, TIMEOUT_MS));
  HOLDS(taken(6, 1, &id) != 0 && m[5] == 0);
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  barrier();
}

CASE(bad_transfers_are_refused, 2) {
  gaspi_number_t posted;
  segment(0, 64);
  REFUSED(gaspi_write(0, 60, right(), 0, 0, 8, 0, TIMEOUT_MS));
  REFUSED(gaspi_write(0, 0, right(), 0, 60, 8, 0, TIMEOUT_MS));
  REFUSED(gaspi_read(0, 0, right(), 0, ~0ul - 3, 8, 0, TIMEOUT_MS));
  REFUSED(gaspi_write(0, 0, all, 0, 0, 8, 0, TIMEOUT_MS));
  REFUSED(gaspi_write(1, 0, right(), 0, 0, 8, 0, TIMEOUT_MS));
  REFUSED(gaspi_write(0, 0, right(), 1, 0, 8, 0, TIMEOUT_MS));
  REFUSED(gaspi_write(0, 0, right(), 0, 0, 8, 60, TIMEOUT_MS));
  REFUSED(gaspi_write_list(1, NULL, NULL, right(), NULL, NULL, NULL, 0, TIMEOUT_MS));
  REFUSED(gaspi_write_notify(0, 0, right(), 0, 0, 8, 0, 0, 0, TIMEOUT_MS));
  CHECK(gaspi_queue_size(0, &posted));
  HOLDS(posted == 0);
  barrier();
}

CASE(a_ring_carries_a_value_round, 5) {
  unsigned long* m = segment(0, 64);
  gaspi_notification_id_t id;
  if (me != 0) taken(0, 1, &id);
  m[0] = m[1] + me;
  CHECK(gaspi_write_notify(0, 0, right(), 0, 8, 8, 0, 1, 0, TIMEOUT_MS));
  if (me == 0) taken(0, 1, &id);
  if (me == 0) HOLDS(m[1] == all * (all - 1ul) / 2);
  CHECK(gaspi_wait(0, TIMEOUT_MS));
}
