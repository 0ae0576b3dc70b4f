/* SPDX-License-Identifier: Apache-2.0 */
/* A program that uses everything and says what it found: a digest, which is that of every transport, and with `times`
 * how long it took on each rank, which is the same in every run on simulated nodes. `latency BYTES`: half a round trip
 * of write_notify. `bound` before that: the segment is memory of the program's own. */
#include <GASPI.h>
#include <GASPI_Ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                     \
  do {                                                                  \
    if ((call) != GASPI_SUCCESS) {                                      \
      fprintf(stderr, "%s: %s\n", #call, gaspi_error_str(GASPI_ERROR)); \
      exit(1);                                                          \
    }                                                                   \
  } while (0)
#define TIMEOUT_MS 20000ul

static gaspi_rank_t me, all;
static unsigned long* words;

enum { inbox = 1 << 17, bytes = 100000 };

static unsigned long digest_of(unsigned long d, const void* from, size_t n) {
  const unsigned char* at = (const unsigned char*)from;
  for (; n; --n) d = (d ^ *at++) * 0x100000001b3ul;
  return d;
}

static void await(gaspi_notification_id_t slot) {
  gaspi_notification_id_t id;
  gaspi_notification_t value;
  CHECK(gaspi_notify_waitsome(0, slot, 1, &id, TIMEOUT_MS));
  CHECK(gaspi_notify_reset(0, id, &value));
}

/* Each round: a write to the right, a read from the left, messages to rank 0, atomics, a reduction. */
static unsigned long work(void) {
  unsigned long d = 0xcbf29ce484222325ul;
  const gaspi_rank_t right = (gaspi_rank_t)((me + 1) % all), left = (gaspi_rank_t)((me + all - 1) % all);
  for (unsigned round = 1; round <= 5; ++round) {
    double mine[700], sum[700];
    gaspi_atomic_value_t old;
    for (size_t i = 0; i < bytes / 8; ++i) words[i] = i * round + me;
    CHECK(gaspi_write_notify(0, 0, right, 0, inbox, bytes / round, 1, round, 0, TIMEOUT_MS));
    await(1);
    d = digest_of(d, words + inbox / 8, bytes / round);
    CHECK(gaspi_wait(0, TIMEOUT_MS));
    CHECK(gaspi_barrier(GASPI_GROUP_ALL, TIMEOUT_MS));
    CHECK(gaspi_read(0, 2 * inbox, left, 0, 64, 5000, 1, TIMEOUT_MS));
    CHECK(gaspi_wait(1, TIMEOUT_MS));
    d = digest_of(d, words + 2 * inbox / 8, 5000);
    CHECK(gaspi_atomic_fetch_add(0, 3 * inbox, 0, round * (me + 1ul), &old, TIMEOUT_MS));
    for (int i = 0; i < 700; ++i) mine[i] = 1.0 / (i + 2 + me * round);
    CHECK(gaspi_allreduce(mine, sum, 200, GASPI_OP_SUM, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL, TIMEOUT_MS));
    d = digest_of(d, sum, 200 * sizeof *sum);
    for (gaspi_rank_t r = 1; me == 0 && r < all; ++r) {
      gaspi_rank_t from;
      CHECK(gaspi_passive_receive(0, 3 * inbox + 1024, &from, 3000, TIMEOUT_MS));
      d += digest_of(from, words + 3 * inbox / 8 + 128, round % 2 ? 3000 : 40); /* in any order */
    }
    if (me != 0) CHECK(gaspi_passive_send(0, 0, 0, round % 2 ? 3000 : 40, TIMEOUT_MS));
    CHECK(gaspi_barrier(GASPI_GROUP_ALL, TIMEOUT_MS));
  }
  if (me == 0) d = digest_of(d, words + 3 * inbox / 8, 8);
  return d;
}

static void latency(gaspi_size_t n) {
  enum { rounds = 20 };
  gaspi_cycles_t begin = 0, end;
  for (int i = 0; i <= rounds; ++i) {
    if (i == 1) CHECK(gaspi_time_ticks(&begin));
    if (me == 0) CHECK(gaspi_write_notify(0, 0, 1, 0, inbox, n, 1, 1, 0, TIMEOUT_MS));
    await(1);
    if (me == 1) CHECK(gaspi_write_notify(0, 0, 0, 0, inbox, n, 1, 1, 0, TIMEOUT_MS));
  }
  CHECK(gaspi_time_ticks(&end));
  if (me == 0) printf("%.1f\n", (double)(end - begin) / (2 * rounds));
}

int main(int argc, char** argv) {
  gaspi_pointer_t at;
  gaspi_cycles_t end;
  CHECK(gaspi_proc_init(TIMEOUT_MS));
  CHECK(gaspi_proc_rank(&me));
  CHECK(gaspi_proc_num(&all));
  if (argc > 1 && strcmp(argv[1], "bound") == 0) {
    static unsigned long memory[4 * inbox / 8 + 3];
    CHECK(gaspi_segment_use(0, memory + 3, 4 * inbox, GASPI_GROUP_ALL, TIMEOUT_MS, 0));
    --argc, ++argv;
  } else {
    CHECK(gaspi_segment_create(0, 4 * inbox, GASPI_GROUP_ALL, TIMEOUT_MS, GASPI_MEM_INITIALIZED));
  }
  CHECK(gaspi_segment_ptr(0, &at));
  words = (unsigned long*)at;
  if (argc == 3 && strcmp(argv[1], "latency") == 0) {
    latency((gaspi_size_t)atol(argv[2]));
  } else {
    const unsigned long d = work();
    printf("rank %u digest %016lx", me, d);
    CHECK(gaspi_time_ticks(&end));
    if (argc == 2) printf(" ns %lu", (unsigned long)end);
    printf("\n");
    fflush(stdout);
  }
  CHECK(gaspi_barrier(GASPI_GROUP_ALL, TIMEOUT_MS));
  CHECK(gaspi_proc_term(TIMEOUT_MS));
  return 0;
}
