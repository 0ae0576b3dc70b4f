/* SPDX-License-Identifier: Apache-2.0 */
/* A rank of libggas on a virtual node, one of two: what it does is the argument. It says what was wrong, and ends
 * with 0 if nothing was. tests/kernel/library.c starts it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <ggas/ggas.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "kernel/include/uapi/testgpu.h"

#define MS 1000000ull
#define TIMEOUT_MS (60000 * MS)

static int failed;
static uint32_t me, other;
static ggas_process* p;

static void check(int holds, const char* what, int line) {
  if (holds) return;
  ++failed;
  printf("# rank %u, on_nodes.c:%d: %s (%s)\n", me, line, what, ggas_error_text());
}
#define CHECK(x) check((x) != 0, #x, __LINE__)
#define IS(call, want) check((call) == (want), #call " is not " #want, __LINE__)
/* What the other rank waits for, too. */
#define MUST(call)                               \
  do {                                           \
    if ((call) == GGAS_OK) break;                \
    check(0, #call " is not GGAS_OK", __LINE__); \
    exit(1);                                     \
  } while (0)

static double seconds_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void* segment(uint32_t id, uint64_t bytes) {
  void* at = NULL;
  MUST(ggas_segment_create(p, id, bytes, GGAS_GROUP_ALL, TIMEOUT_MS));
  MUST(ggas_segment_pointer(p, id, &at));
  return at;
}

static uint32_t await(uint32_t segment_id, uint32_t slot) {
  uint32_t found, value = 0;
  MUST(ggas_notification_waitsome(p, segment_id, slot, 1, &found, TIMEOUT_MS));
  MUST(ggas_notification_reset(p, segment_id, found, &value));
  return value;
}

static void put(uint32_t id, uint64_t from, uint64_t to, uint64_t bytes, uint32_t value) {
  const ggas_part part = {id, id, from, to, bytes};
  MUST(ggas_queue_write(p, &part, other, 0, TIMEOUT_MS));
  MUST(ggas_queue_notify(p, id, other, 1, value, 0, TIMEOUT_MS));
}

static unsigned char pattern(unsigned rank, size_t i) { return (unsigned char)(rank * 31 + i * 7 + (i >> 8)); }

static size_t wrong(const unsigned char* at, size_t bytes, unsigned rank) {
  size_t i, n = 0;
  for (i = 0; i < bytes; ++i) n += at[i] != pattern(rank, i);
  return n;
}

/* ---------------------------------------------------------------------------------------------- what works */

enum { BYTES = 3 << 15 }; /* of a segment for transfers() */

/* Writes of one and of many packets with a notification after them, and a read of what is there. */
static void transfers(uint32_t id, unsigned char* at) {
  enum { HALF = 1 << 15 };
  static const uint64_t sizes[] = {1, 8, 64, 65, 5000, HALF - 3};
  for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
    const uint64_t bytes = sizes[k];
    const ggas_part back = {id, id, 2 * HALF, HALF + 3, bytes};
    for (size_t i = 0; i < bytes; ++i) at[i] = pattern(me, i + k);
    memset(at + HALF, 0, HALF);
    MUST(ggas_group_barrier(p, GGAS_GROUP_ALL, TIMEOUT_MS));
    put(id, 0, HALF + 3, bytes, k + 1);
    IS(await(id, 1), k + 1);
    for (size_t i = 0; i < bytes; ++i)
      if (at[HALF + 3 + i] != pattern(other, i + k))
        check(0, "the bytes are there with their notification", __LINE__), i = bytes;
    MUST(ggas_queue_wait(p, 0, TIMEOUT_MS));
    memset(at + 2 * HALF, 0, bytes);
    MUST(ggas_group_barrier(p, GGAS_GROUP_ALL, TIMEOUT_MS));
    MUST(ggas_queue_read(p, &back, other, 1, TIMEOUT_MS));
    MUST(ggas_queue_wait(p, 1, TIMEOUT_MS));
    for (size_t i = 0; i < bytes; ++i)
      if (at[2 * HALF + i] != pattern(me, i + k)) check(0, "a read finds what was written", __LINE__), i = bytes;
    MUST(ggas_group_barrier(p, GGAS_GROUP_ALL, TIMEOUT_MS));
  }
}

static void atomics(void) {
  enum { ROUNDS = 20 };
  uint64_t* const words = segment(1, 4096);
  uint64_t old, sum = 0, k;
  for (k = 0; k < ROUNDS; ++k) {
    MUST(ggas_segment_fetch_add(p, 1, 8, 0, 1 + me, &old, TIMEOUT_MS));
    sum += old;
  }
  MUST(ggas_segment_compare_swap(p, 1, 16, 1, 0, 100 + me, &old, TIMEOUT_MS));
  CHECK(old == 0 || old == 100 + other);
  MUST(ggas_group_barrier(p, GGAS_GROUP_ALL, TIMEOUT_MS));
  if (me == 0) IS(words[1], 3 * ROUNDS);
  if (me == 1) CHECK(words[2] == 100 || words[2] == 101);
  MUST(ggas_segment_delete(p, 1));
  IS(ggas_segment_fetch_add(p, 1, 8, me, 1, &old, TIMEOUT_MS), GGAS_ERR_SEGMENT);
}

static void collectives(void) {
  enum { MANY = 1000 };
  static double one[MANY], all[MANY];
  size_t k, n;
  for (k = 0; k < 10; ++k) MUST(ggas_group_barrier(p, GGAS_GROUP_ALL, TIMEOUT_MS));
  for (n = 1; n <= MANY; n *= MANY) {
    for (k = 0; k < n; ++k) one[k] = (double)(k + 1) * (me + 1);
    MUST(ggas_group_allreduce(p, one, all, n, GGAS_ELEMENT_DOUBLE, GGAS_OP_SUM, GGAS_GROUP_ALL, TIMEOUT_MS));
    for (k = 0; k < n; ++k)
      if (all[k] != (double)(k + 1) * 3) check(0, "a sum over both ranks", __LINE__), k = n;
  }
}

static void messages(uint32_t id, unsigned char* at) {
  static const uint64_t sizes[] = {1, 64, 65, 20000};
  for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
    uint32_t from = 99;
    if (me == k % 2) {
      for (size_t i = 0; i < sizes[k]; ++i) at[i] = pattern(me, i);
      MUST(ggas_passive_send(p, id, 0, other, sizes[k], TIMEOUT_MS));
    } else {
      MUST(ggas_passive_receive(p, id, 0, &from, 20000, TIMEOUT_MS));
      IS(from, other);
      IS(wrong(at, sizes[k], other), 0);
    }
    MUST(ggas_group_barrier(p, GGAS_GROUP_ALL, TIMEOUT_MS));
  }
}

/* Interrupts of the NIC so far. */
static unsigned long interrupts(void) {
  char line[256];
  unsigned long sum = 0, n;
  FILE* const f = fopen("/proc/interrupts", "r");
  while (f && fgets(line, sizeof line, f))
    if (strstr(line, " ggas") && sscanf(line, "%*[^:]: %lu", &n) == 1) sum += n;
  if (f) fclose(f);
  return sum;
}

/* How often this process went to sleep. Processor time would not do: on a loaded machine it counts what others had. */
static long sleeps(void) {
  struct rusage used;
  return getrusage(RUSAGE_SELF, &used) ? 0 : used.ru_nvcsw;
}

/* No one comes for a while: who waits gives the processor away, and an interrupt wakes it. */
static void sleeping(uint32_t id) {
  uint32_t found;
  double cpu, real;
  unsigned long before;
  long slept;
  IS(ggas_notification_waitsome(p, id, 9, 1, &found, 20 * MS), GGAS_TIMEOUT);
  MUST(ggas_group_barrier(p, GGAS_GROUP_ALL, TIMEOUT_MS));
  if (me == 0) {
    cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID), real = seconds_of(CLOCK_MONOTONIC);
    before = interrupts();
    slept = sleeps();
    IS(await(id, 1), 77);
    slept = sleeps() - slept;
    CHECK(interrupts() > before);
    cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu, real = seconds_of(CLOCK_MONOTONIC) - real;
    printf("# a wait of %.2f s slept %ld times and took %.1f ms of the processor\n", real, slept, 1e3 * cpu);
    CHECK(slept >= 3);
  } else {
    usleep(1000000);
    MUST(ggas_queue_notify(p, id, other, 1, 77, 0, TIMEOUT_MS));
    MUST(ggas_queue_wait(p, 0, TIMEOUT_MS));
  }
}

/* Memory of the test GPU, where the NICs read and write it; and a file of memory. */
static void buffers(void) {
  struct testgpu_alloc gpu_memory = {.bytes = BYTES};
  const int gpu = open("/dev/testgpu", O_RDWR | O_CLOEXEC), file = memfd_create("segment", MFD_CLOEXEC);
  void* at = NULL;
  CHECK(gpu >= 0 && ioctl(gpu, TESTGPU_IOC_ALLOC, &gpu_memory) == 0);
  CHECK(ftruncate(file, BYTES) == 0);
  const int of[] = {gpu_memory.fd, file};
  for (unsigned k = 0; k < sizeof of / sizeof *of; ++k) {
    MUST(ggas_segment_use_dmabuf(p, 3, of[k], 0, BYTES, GGAS_GROUP_ALL, TIMEOUT_MS));
    close(of[k]); /* the segment keeps its memory */
    MUST(ggas_segment_pointer(p, 3, &at));
    transfers(3, at);
    messages(3, at);
    MUST(ggas_segment_delete(p, 3));
    MUST(ggas_group_barrier(p, GGAS_GROUP_ALL, TIMEOUT_MS));
  }
  close(gpu);
}

/* Segments on the GPUs of both nodes; segment 4 lies at a different place on each. In memory of the host there are
 * only words of barriers and slots. The data that a slot announces are on the GPU, and both ranks find the right
 * place on the other. */
static void on_gpus(const char* module) {
  enum { GPU_BYTES = 2 << 20 };
  unsigned char* at = NULL;
  uint64_t mine = 0, place = 0, old = 0, expected;
  int32_t number = -1;
  IS(ggas_gpu_segment_allocate(p, 3, BYTES), GGAS_ERR_STATE);
  IS(ggas_gpu_open(p, "no", -1, GPU_BYTES, TIMEOUT_MS), GGAS_ERR_SYSTEM);
  MUST(ggas_gpu_open(p, module, -1, GPU_BYTES, TIMEOUT_MS));
  IS(ggas_gpu_open(p, module, -1, GPU_BYTES, TIMEOUT_MS), GGAS_ERR_STATE);
  IS(ggas_gpu_number(p, &number), GGAS_OK);
  if (me == 1) MUST(ggas_gpu_segment_allocate(p, 5, 100000)); /* the places of the next one differ */
  for (unsigned round = 0; round < 2; ++round) {              /* the second time in the memory of the first */
    MUST(ggas_gpu_segment_create(p, 3, BYTES, GGAS_GROUP_ALL, TIMEOUT_MS));
    MUST(ggas_gpu_segment_place(p, 3, me, &mine));
    MUST(ggas_gpu_segment_place(p, 3, other, &place));
    expected = me == 1 ? mine - (2 << 16) : mine + (2 << 16);
    IS(place, expected);
    MUST(ggas_segment_pointer(p, 3, (void**)&at));
    for (size_t i = 0; i < BYTES; ++i)
      if (at[i]) check(0, "new memory of a GPU is 0", __LINE__), i = BYTES;
    transfers(3, at);
    messages(3, at);
    MUST(ggas_segment_fetch_add(p, 3, 8, other, 1 + me, &old, TIMEOUT_MS));
    MUST(ggas_group_barrier(p, GGAS_GROUP_ALL, TIMEOUT_MS));
    MUST(ggas_segment_delete(p, 3));
    MUST(ggas_group_barrier(p, GGAS_GROUP_ALL, TIMEOUT_MS));
  }
  IS(ggas_gpu_segment_allocate(p, 3, GPU_BYTES), GGAS_ERR_MEMORY);
}

static void on_test_gpus(void) { on_gpus("testgpu"); }
static void on_engines(void) { on_gpus("simt"); }

static void all_of_it(void) {
  static unsigned char own[BYTES + 64];
  void* at = NULL;
  unsigned char* const new_memory = segment(0, BYTES);
  transfers(0, new_memory);
  MUST(ggas_segment_use(p, 2, own + 24, BYTES, GGAS_GROUP_ALL, TIMEOUT_MS)); /* memory of the program, at any address */
  MUST(ggas_segment_pointer(p, 2, &at));
  CHECK(at == own + 24);
  transfers(2, own + 24);
  atomics();
  collectives();
  messages(0, new_memory);
  buffers();
  sleeping(0);
  MUST(ggas_segment_delete(p, 2));
  MUST(ggas_segment_delete(p, 0));
  MUST(ggas_group_barrier(p, GGAS_GROUP_ALL, TIMEOUT_MS));
}

/* Any number of ranks. The threads of each take turns at its NIC. Each thread adds to counters of all ranks, sends a
 * value round the ring of ranks by slots of its own, and checks the values that it read. */
enum { THREADS = 3, LAPS = 8 };
static uint32_t ranks;
static uint64_t* words;

static void* laps(void* number) {
  const uint32_t mine = (uint32_t)(uintptr_t)number, right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
  const ggas_part back = {0, 0, 4096 + 64 * mine, 64 + 8 * mine, 8};
  for (uint32_t lap = 1; lap <= LAPS; ++lap) {
    const ggas_part part = {0, 0, 2048 + 64 * mine, 64 + 8 * mine, 8};
    for (uint32_t r = 0; r < ranks; ++r) MUST(ggas_segment_fetch_add(p, 0, 0, r, 1, NULL, TIMEOUT_MS));
    words[256 + 8 * mine] = 1000 * me + lap;
    MUST(ggas_queue_write(p, &part, right, mine, TIMEOUT_MS));
    MUST(ggas_queue_notify(p, 0, right, 1 + mine, lap, mine, TIMEOUT_MS));
    IS(await(0, 1 + mine), lap);
    IS(words[8 + mine], 1000ull * left + lap);
    MUST(ggas_queue_read(p, &back, right, mine, TIMEOUT_MS));
    MUST(ggas_queue_wait(p, mine, TIMEOUT_MS));
    IS(words[512 + 8 * mine], 1000ull * me + lap);
    /* The left one may write on: this one has read. */
    MUST(ggas_queue_notify(p, 0, left, 101 + mine, lap, mine, TIMEOUT_MS));
    IS(await(0, 101 + mine), lap);
  }
  return NULL;
}

static void crowd(void) {
  pthread_t threads[THREADS];
  MUST(ggas_process_size(p, &ranks));
  words = segment(0, 8192);
  for (uintptr_t t = 0; t < THREADS; ++t) CHECK(pthread_create(threads + t, NULL, laps, (void*)t) == 0);
  for (unsigned t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
  MUST(ggas_group_barrier(p, GGAS_GROUP_ALL, TIMEOUT_MS));
  IS(words[0], (uint64_t)ranks * THREADS * LAPS);
  MUST(ggas_segment_delete(p, 0));
  MUST(ggas_group_barrier(p, GGAS_GROUP_ALL, TIMEOUT_MS));
}

/* ---------------------------------------------------------------------------------------------- what ends */

/* Rank 1 has gone, in whatever way: rank 0 learns of it, and goes on alone. */
static void alone(ggas_state how) {
  ggas_state states[2];
  const ggas_part part = {0, 0, 0, 0, 4096};
  uint32_t group;
  IS(ggas_group_barrier(p, GGAS_GROUP_ALL, TIMEOUT_MS), GGAS_ERR_PEER);
  IS(ggas_process_states(p, states, 2), GGAS_OK);
  IS(states[1], how);
  IS(states[0], GGAS_STATE_HEALTHY);
  if (ggas_queue_write(p, &part, 1, 0, TIMEOUT_MS) == GGAS_OK) {
    IS(ggas_queue_wait(p, 0, TIMEOUT_MS), GGAS_ERR_PEER);
    IS(ggas_queue_wait(p, 0, TIMEOUT_MS), GGAS_ERR_PEER);
    IS(ggas_queue_purge(p, 0), GGAS_OK);
  }
  IS(ggas_queue_wait(p, 0, TIMEOUT_MS), GGAS_OK);
  IS(ggas_passive_send(p, 0, 0, 1, 8, TIMEOUT_MS), GGAS_ERR_PEER);
  IS(ggas_process_kill(p, 1), GGAS_ERR_SYSTEM);
  MUST(ggas_group_create(p, &group));
  MUST(ggas_group_add(p, group, 0));
  MUST(ggas_group_commit(p, group, TIMEOUT_MS));
  MUST(ggas_group_barrier(p, group, TIMEOUT_MS));
  IS(ggas_segment_delete(p, 0), GGAS_OK);
}

static void killed(void) {
  segment(0, 4096);
  if (me == 1) raise(SIGKILL);
  alone(GGAS_STATE_LOST);
}

static void left(void) {
  segment(0, 4096);
  if (me == 0) alone(GGAS_STATE_LEFT);
}

/* Rank 1 resets the NIC that it uses. */
static void reset(void) {
  uint32_t found;
  segment(0, 4096);
  if (me == 0) return alone(GGAS_STATE_LOST);
  const int fd = open("/sys/class/ggas/ggas0/device/reset", O_WRONLY);
  CHECK(fd >= 0 && write(fd, "1", 1) == 1);
  IS(ggas_group_barrier(p, GGAS_GROUP_ALL, TIMEOUT_MS), GGAS_ERR_SYSTEM);
  CHECK(strstr(ggas_error_text(), "has gone: it was reset or removed"));
  IS(ggas_notification_waitsome(p, 0, 0, 1, &found, TIMEOUT_MS), GGAS_ERR_SYSTEM);
  IS(ggas_segment_create(p, 1, 4096, GGAS_GROUP_ALL, TIMEOUT_MS), GGAS_ERR_SYSTEM);
}

/* Who has not been granted the domain. */
static void refused(void) {
  if (setgid(4711) || setuid(4711)) exit(90);
  IS(ggas_process_start(&p, TIMEOUT_MS), GGAS_ERR_SYSTEM);
  CHECK(strstr(ggas_error_text(), "is not granted to this user"));
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*of)(void);
  } works[] = {{"all", all_of_it}, {"crowd", crowd},          {"killed", killed},  {"left", left},
               {"reset", reset},   {"testgpu", on_test_gpus}, {"simt", on_engines}};
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (argc == 2 && !strcmp(argv[1], "refused")) {
    refused();
    return failed != 0;
  }
  MUST(ggas_process_start(&p, TIMEOUT_MS));
  MUST(ggas_process_rank(p, &me));
  other = 1 - me;
  for (unsigned k = 0; k < sizeof works / sizeof *works; ++k)
    if (argc == 2 && !strcmp(argv[1], works[k].name)) works[k].of();
  ggas_process_stop(p);
  return failed != 0;
}
