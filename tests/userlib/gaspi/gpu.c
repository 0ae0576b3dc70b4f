/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU extension, with the host SIMT engine as GPU (GGAS_GPU=simt): in shared memory, and on simulated nodes; and on
 * virtual nodes with their test GPU (tests/kernel/library.c). */
#include <GASPI_GPU.h>

#include "conformance.h"

/* Segment 0 on the GPU, segment 1 in memory of the host. */
static unsigned long* segments(gaspi_size_t bytes) {
  CHECK(gaspi_gpu_init());
  CHECK(gaspi_segment_create(0, bytes, GASPI_GROUP_ALL, TIMEOUT_MS, GASPI_MEM_GPU | GASPI_MEM_INITIALIZED));
  return segment(1, bytes);
}

/* Each of these is simulated, so less is enough. */
static int by_nics(void) {
  const char* const transport = getenv("GGAS_TRANSPORT");
  return transport && (!strcmp(transport, "sim") || !strcmp(transport, "hw"));
}

/* Between segments 0 and 1 of this rank. */
static void up(gaspi_size_t bytes) { CHECK(gaspi_write(1, 0, me, 0, 0, bytes, 0, TIMEOUT_MS)); }
static void down(gaspi_offset_t at, gaspi_size_t bytes) {
  CHECK(gaspi_read(1, 0, me, 0, at, bytes, 0, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
}

CASE(a_rank_has_a_gpu_behind_gpu_init, 2) {
  gaspi_number_t number = 9;
  gaspi_gpu_id_t id = 99;
  CHECK(gaspi_gpu_number(&number));
  HOLDS(number == 0);
  REFUSED(gaspi_gpu_ids(&id));
  REFUSED(gaspi_segment_alloc(0, 64, GASPI_MEM_GPU));
  CHECK(gaspi_gpu_init());
  CHECK(gaspi_gpu_number(&number));
  HOLDS(number == 1);
  CHECK(gaspi_gpu_ids(&id));
  HOLDS(id == 0);
  REFUSED(gaspi_gpu_init());
  REFUSED(gaspi_gpu_number(NULL));
}

CASE(gpus_by_the_names_of_earlier_releases, 2) {
  gaspi_gpu_num gpus = 9;
  gaspi_gpu_t id = 99;
  unsigned long* m;
  REFUSED(gaspi_number_of_GPUs(&gpus));
  REFUSED(gaspi_GPU_ids(&id));
  CHECK(gaspi_init_GPUs());
  CHECK(gaspi_number_of_GPUs(&gpus));
  CHECK(gaspi_GPU_ids(&id));
  HOLDS(gpus == 1 && id == 0);
  REFUSED(gaspi_number_of_GPUs(NULL));
  CHECK(gaspi_segment_create(0, GASPI_GPU_MAX_SEG, GASPI_GROUP_ALL, TIMEOUT_MS, GASPI_MEM_INITIALIZED | GASPI_MEM_GPU));
  m = segment(1, 64);
  m[0] = 80u + me;
  up(8);
  CHECK(gaspi_gpu_write(0, 0, right(), 0, 1024, 8, 0, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  barrier();
  down(1024, 8);
  HOLDS(m[0] == 80u + left());
}

CASE(a_gpu_segment_is_created_written_and_read, 3) {
  unsigned long* m = segments(4096);
  gaspi_size_t size;
  m[0] = 70u + me;
  up(8);
  CHECK(gaspi_segment_size(0, right(), &size));
  HOLDS(size == 4096);
  CHECK(gaspi_write(0, 0, right(), 0, 512, 8, 0, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  barrier();
  down(512, 8);
  HOLDS(m[0] == 70u + left());
  CHECK(gaspi_read(0, 1024, right(), 0, 512, 8, 0, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  down(1024, 8);
  HOLDS(m[0] == 70u + me);
}

CASE(gpu_write_notify_brings_the_data_first, 2) {
  const unsigned long n = by_nics() ? 20000 : 100000;
  unsigned long* m = segments(2 * n * sizeof(unsigned long));
  gaspi_notification_id_t id;
  const int rounds = by_nics() ? 2 : 20;
  unsigned long i;
  int round;
  for (round = 1; round <= rounds; ++round) {
    for (i = 0; i < n; ++i) m[i] = (unsigned long)round * 1000u + i + me;
    up(n * sizeof *m);
    CHECK(gaspi_gpu_write_notify(0, 0, right(), 0, n * sizeof *m, n * sizeof *m, 5, (gaspi_notification_t)round, 0,
                                 TIMEOUT_MS));
    HOLDS(taken(5, 1, &id) == (gaspi_notification_t)round);
    down(n * sizeof *m, n * sizeof *m);
    for (i = 0; i < n; ++i) HOLDS(m[i] == (unsigned long)round * 1000u + i + left());
    barrier();
  }
  REFUSED(gaspi_gpu_write_notify(0, 0, right(), 0, 0, 8, 5, 0, 0, TIMEOUT_MS));
  REFUSED(gaspi_gpu_write(0, 0, right(), 0, 2 * n * sizeof *m, 8, 0, TIMEOUT_MS));
  REFUSED(gaspi_gpu_write(0, 0, all, 0, 0, 8, 0, TIMEOUT_MS));
}

CASE(memory_of_the_user_on_the_gpu_is_used, 2) {
  static unsigned long zeros[64]; /* what the SIMT engine takes for memory of a GPU */
  enum { bytes = sizeof zeros };
  unsigned long* m = segments(4096);
  gaspi_pointer_t memory = zeros;
  m[0] = 5u + me;
  up(8);
  REFUSED(gaspi_segment_bind(7, memory, bytes, 2));
  if (by_nics()) { /* memory of the program is not the GPU's there, but a part of a segment is */
    REFUSED(gaspi_segment_bind(7, memory, bytes, GASPI_MEMORY_GPU));
    CHECK(gaspi_segment_ptr(0, &memory));
    memory = (char*)memory + 2048;
  }
  CHECK(gaspi_segment_use(7, memory, bytes, GASPI_GROUP_ALL, TIMEOUT_MS, GASPI_MEMORY_GPU));
  CHECK(gaspi_write(0, 0, right(), 7, 16, 8, 0, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  barrier();
  CHECK(gaspi_read(1, 8, me, 7, 16, 8, 0, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  HOLDS(m[1] == 5u + left());
  CHECK(gaspi_segment_delete(7));
  CHECK(gaspi_segment_bind(7, memory, bytes, GASPI_MEMORY_GPU));
  CHECK(gaspi_segment_register(7, right(), TIMEOUT_MS));
  barrier();
  REFUSED(gaspi_notify(8, left(), 0, 1, 0, TIMEOUT_MS));
  CHECK(gaspi_notify(7, left(), 0, 1, 0, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  barrier();
}

CASE(atomics_and_allreduce_on_gpu_segments, 3) {
  unsigned long* m = segments(4096);
  gaspi_atomic_value_t old;
  gaspi_pointer_t at;
  CHECK(gaspi_atomic_fetch_add(0, 8, 0, me + 1u, &old, TIMEOUT_MS));
  barrier();
  CHECK(gaspi_atomic_compare_swap(0, 8, 0, 6, 60, &old, TIMEOUT_MS));
  HOLDS(old == 6 || old == 60);
  barrier();
  CHECK(gaspi_atomic_fetch_add(0, 8, 0, 0, &old, TIMEOUT_MS));
  HOLDS(old == 60);
  barrier();
  m[0] = me;
  m[1] = 2ul * me;
  up(16);
  CHECK(gaspi_segment_ptr(0, &at));
  CHECK(gaspi_allreduce(at, (unsigned long*)at + 2, 2, GASPI_OP_SUM, GASPI_TYPE_ULONG, GASPI_GROUP_ALL, TIMEOUT_MS));
  down(16, 16);
  HOLDS(m[0] == 3 && m[1] == 6);
}
