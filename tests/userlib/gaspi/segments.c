/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance.h"

CASE(a_created_segment_is_there_and_0, 3) {
  const unsigned long* m = segment(0, 4096);
  gaspi_size_t size;
  int i;
  for (i = 0; i < 512; ++i) HOLDS(m[i] == 0);
  CHECK(gaspi_segment_size(0, right(), &size)); /* the other's is there too */
  HOLDS(size == 4096);
}

CASE(sizes_differ_between_ranks, 3) {
  gaspi_size_t size;
  segment(0, 64u * (me + 1u));
  CHECK(gaspi_segment_size(0, right(), &size));
  HOLDS(size == 64u * (right() + 1u));
  if (me != all - 1) CHECK(gaspi_write(0, 0, right(), 0, 64u * (me + 1u), 64, 0, TIMEOUT_MS));
  REFUSED(gaspi_write(0, 0, 0, 0, 64, 8, 0, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
}

CASE(alloc_and_register_let_one_rank_in, 2) {
  gaspi_pointer_t at;
  if (me == 0) CHECK(gaspi_segment_alloc(4, 64, GASPI_MEM_INITIALIZED));
  if (me == 0) CHECK(gaspi_segment_register(4, 1, TIMEOUT_MS));
  CHECK(gaspi_segment_alloc(5, 64, GASPI_MEM_INITIALIZED));
  CHECK(gaspi_segment_ptr(5, &at));
  *(unsigned long*)at = 99;
  barrier();
  if (me == 1) CHECK(gaspi_write(5, 0, 0, 4, 8, 8, 0, TIMEOUT_MS));
  if (me == 1) CHECK(gaspi_wait(0, TIMEOUT_MS));
  barrier();
  if (me == 0) CHECK(gaspi_segment_ptr(4, &at));
  if (me == 0) HOLDS(((unsigned long*)at)[1] == 99);
}

CASE(who_is_not_registered_is_kept_out, 2) {
  CHECK(gaspi_segment_alloc(4, 64, GASPI_ALLOC_DEFAULT));
  barrier();
  REFUSED(gaspi_write(4, 0, right(), 4, 0, 8, 0, TIMEOUT_MS));
  REFUSED(gaspi_notify(4, right(), 0, 1, 0, TIMEOUT_MS));
  barrier();
}

CASE(bound_memory_is_written_to, 2) {
  static unsigned long memory[16];
  unsigned long* m = segment(0, 64);
  memset(memory, 0, sizeof memory);
  m[0] = 1000u + me;
  CHECK(gaspi_segment_bind(9, memory, sizeof memory, 0));
  CHECK(gaspi_segment_register(9, left(), TIMEOUT_MS));
  barrier();
  CHECK(gaspi_write(0, 0, right(), 9, 8, 8, 0, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  barrier();
  HOLDS(memory[1] == 1000u + left());
  CHECK(gaspi_segment_delete(9));
}

CASE(used_memory_is_read_from, 3) {
  static unsigned long memory[16];
  gaspi_pointer_t at;
  unsigned long* m = segment(0, 64);
  memory[3] = 7000u + me;
  CHECK(gaspi_segment_use(9, memory, sizeof memory, GASPI_GROUP_ALL, TIMEOUT_MS, 0));
  CHECK(gaspi_segment_ptr(9, &at));
  HOLDS(at == (gaspi_pointer_t)memory);
  CHECK(gaspi_read(0, 8, right(), 9, 24, 8, 0, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  HOLDS(m[1] == 7000u + right());
  barrier();
  CHECK(gaspi_segment_delete(9));
}

CASE(memory_of_a_gpu_is_refused, 1) {
  unsigned long word = 0;
  REFUSED(gaspi_segment_bind(1, &word, 8, 1));
  REFUSED(gaspi_segment_use(1, &word, 8, GASPI_GROUP_ALL, TIMEOUT_MS, 1));
}

CASE(a_deleted_segment_is_gone, 2) {
  gaspi_pointer_t at;
  unsigned long* m = segment(0, 4096);
  m[100] = 5;
  barrier();
  CHECK(gaspi_segment_delete(0));
  REFUSED(gaspi_segment_ptr(0, &at));
  barrier();
  REFUSED(gaspi_read(0, 0, right(), 0, 0, 8, 0, TIMEOUT_MS));
  barrier();
  m = segment(0, 8192);
  HOLDS(m[100] == 0);
}

CASE(segments_are_listed_and_counted, 1) {
  gaspi_segment_id_t ids[3], next;
  gaspi_number_t n;
  segment(0, 64);
  segment(200, 64);
  segment(255, 64);
  CHECK(gaspi_segment_num(&n));
  CHECK(gaspi_segment_list(3, ids));
  HOLDS(n == 3 && ids[0] == 0 && ids[1] == 200 && ids[2] == 255);
  REFUSED(gaspi_segment_list(4, ids));
  CHECK(gaspi_segment_avail_local(&next));
  HOLDS(next == 1);
}

CASE(bad_segments_are_refused, 1) {
  gaspi_size_t size;
  segment(0, 64);
  REFUSED(gaspi_segment_alloc(0, 64, GASPI_ALLOC_DEFAULT));
  REFUSED(gaspi_segment_alloc(1, 0, GASPI_ALLOC_DEFAULT));
  REFUSED(gaspi_segment_bind(1, NULL, 64, 0));
  REFUSED(gaspi_segment_delete(1));
  REFUSED(gaspi_segment_register(1, 0, TIMEOUT_MS));
  REFUSED(gaspi_segment_register(0, all, TIMEOUT_MS));
  REFUSED(gaspi_segment_size(1, 0, &size));
  REFUSED(gaspi_segment_ptr(0, NULL));
}

CASE(a_segment_of_a_group_is_the_groups, 3) {
  gaspi_group_t g;
  gaspi_size_t size;
  segment(0, 64);
  if (me < 2) {
    CHECK(gaspi_group_create(&g));
    CHECK(gaspi_group_add(g, 0));
    CHECK(gaspi_group_add(g, 1));
    CHECK(gaspi_group_commit(g, TIMEOUT_MS));
    CHECK(gaspi_segment_create(7, 128, g, TIMEOUT_MS, GASPI_ALLOC_DEFAULT));
    CHECK(gaspi_segment_size(7, (gaspi_rank_t)(1 - me), &size));
    HOLDS(size == 128);
  }
  barrier();
  if (me == 2) REFUSED(gaspi_write(0, 0, 0, 7, 0, 8, 0, TIMEOUT_MS));
}
