/* SPDX-License-Identifier: Apache-2.0 */
/* Many of everything: what is made and ended leaves nothing, much memory, many sleepers. */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/kernel/tests.h"

enum { MB = 1 << 20 };

static long available_kb(void) {
  char line[128];
  long kb = -1;
  FILE* const f = fopen("/proc/meminfo", "r");
  while (f && fgets(line, sizeof line, f))
    if (sscanf(line, "MemAvailable: %ld", &kb) == 1) break;
  if (f) fclose(f);
  return kb;
}

static void rounds_of_everything(node* n, unsigned rounds) {
  static unsigned char* memory;
  unsigned i;
  if (!memory) memory = pages(BYTES);
  for (i = 0; i < rounds; ++i) {
    ggas_device dev;
    ggas_region r;
    CHECK_IS(ggas_region_begin(&r, &n->dev, n->domain, memory, 1 + i % BYTES, GGAS_READ | GGAS_WRITE), 0);
    CHECK_IS(ggas_device_open(&dev, "/dev/ggas0"), 0);
    if (i % 16 == 0) {
      const int domain = ggas_domain_join(&dev, DOMAIN);
      ggas_context c;
      ggas_window w;
      CHECK_IS(ggas_context_begin(&c, &dev, domain, NULL), 0);
      CHECK_IS(ggas_window_begin(&w, &dev, domain, 50, 4096), 0);
      munmap((void*)w.own, 4096);
      munmap((void*)w.remote, 4096 * w.nodes);
      munmap((void*)c.rma.page, 4096);
      munmap((void*)c.rma.descriptors, 4096);
      munmap(c.rings, c.rings_bytes);
    }
    ggas_region_end(&r);
    ggas_device_close(&dev);
  }
}

void nothing_is_left(node* n) {
  const unsigned rounds = n->soak ? 10000 : 1000;
  long kb, pages_used;
  rounds_of_everything(n, 300); /* what the kernel keeps for itself */
  kb = available_kb();
  pages_used = read_number("/sys/class/ggas/ggas0/pages");
  rounds_of_everything(n, rounds);
  CHECK_IS(read_number("/sys/class/ggas/ggas0/pages"), pages_used);
  CHECK_IS(read_number("/sys/class/ggas/ggas0/contexts"), 1);
  CHECK_IS(read_number("/sys/class/ggas/ggas0/windows"), 1);
  kb -= available_kb();
  printf("# %u rounds: %ld KB less memory\n", rounds, kb);
  /* A kernel with kmemleak looks itself, and KASAN keeps freed memory for a while. */
  CHECK(kb < (n->soak ? 1024 : 512) || access("/sys/kernel/debug/kmemleak", F_OK) == 0);
}

/* A user who may lock one region and a half of another. When one region ends there is room for the next, whichever
 * user ends regions.
 */
static void lives_on_little(int rounds) {
  const struct rlimit limit = {3 * MB / 2, 3 * MB / 2};
  ggas_device dev;
  ggas_region r;
  int domain, i;
  unsigned char* const memory = pages(MB);
  if (setrlimit(RLIMIT_MEMLOCK, &limit) || setgid(1000) || setuid(1000)) _exit(1);
  if (ggas_device_open(&dev, "/dev/ggas0")) _exit(2);
  domain = ggas_domain_join(&dev, OTHER_DOMAIN);
  if (domain < 0) _exit(3);
  for (i = 0; i < rounds; ++i) {
    if (ggas_region_begin(&r, &dev, domain, memory, MB, GGAS_READ | GGAS_WRITE)) _exit(4);
    ggas_region_end(&r);
  }
  _exit(0);
}

void memory_is_free_after_an_end(node* n) {
  enum { USERS = 4 };
  const int rounds = n->soak ? 400 : has_iommu() ? 30 : 150; /* it flushes its cache for every page */
  pid_t users[USERS];
  int i, status;
  CHECK_IS(write_file("/sys/class/ggas/ggas0/grant", "8 1000"), 0);
  fflush(stdout);
  for (i = 0; i < USERS; ++i)
    if ((users[i] = fork()) == 0) lives_on_little(rounds);
  for (i = 0; i < USERS; ++i) {
    waitpid(users[i], &status, 0);
    CHECK_IS(WEXITSTATUS(status), 0);
  }
  CHECK_IS(write_file("/sys/class/ggas/ggas0/revoke", "8 1000"), 0);
}

/* Pages of a file, mapped over and over. */
static unsigned char* repeated(size_t bytes, size_t file_bytes) {
  const int file = memfd_create("memory", 0);
  unsigned char* const at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  size_t i;
  CHECK(at != MAP_FAILED && ftruncate(file, (off_t)file_bytes) == 0);
  for (i = 0; i < bytes; i += file_bytes)
    mmap(at + i, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, file, 0);
  close(file);
  return at;
}

/* 1 GB of 4 KB pages, and eight such at once. */
void registering_much(node* n) {
  enum { REGIONS = 8, FILE_BYTES = 16 * MB };
  const size_t bytes = has_iommu() ? 16 * MB : 1024 * (size_t)MB;
  unsigned char* const at = repeated(bytes, FILE_BYTES);
  ggas_region r[REGIONS];
  double worst = 0;
  unsigned i;
  for (i = 0; i < REGIONS; ++i) {
    const double begun = now_ms();
    CHECK_IS(ggas_region_begin(&r[i], &n->dev, n->domain, at, bytes, GGAS_READ), 0);
    if (now_ms() - begun > worst) worst = now_ms() - begun;
  }
  CHECK_IS(read_number("/sys/class/ggas/ggas0/pages") / (REGIONS * bytes / 4096), 1);
  for (i = 0; i < REGIONS; ++i) ggas_region_end(&r[i]);
  printf("# %zu MB registered in %.0f ms at most, %u such at once\n", bytes / MB, worst, REGIONS);
  /* A time of an emulated processor, which others of the machine slow down: held to the bar where it is alone. */
  if (n->soak && !has_iommu()) CHECK(worst <= 1000);
  munmap(at, bytes);
}

/* Each of 64 contexts sleeps; the other node wakes one after the other, and no other wakes. */
void many_sleepers(node* n) {
  enum { SLEEPERS = 64 };
  static ggas_context c[SLEEPERS];
  static const ggas_context_options sleeps = {.notify_log2 = 4, .sleeps = 1};
  const unsigned rounds = n->soak ? 10000 : 500;
  struct pollfd p[SLEEPERS];
  unsigned i, wrong_ones = 0;
  for (i = 0; i < SLEEPERS; ++i) {
    CHECK_IS(ggas_context_begin(&c[i], &n->dev, n->domain, &sleeps), 0);
    p[i] = (struct pollfd){.fd = c[i].eventfd, .events = POLLIN};
    ggas_rma_arm_notes(&c[i].rma);
    tell(n, 16 + i, c[i].self.vpid);
  }
  meet(n);
  for (i = 0; i < rounds; ++i) {
    const unsigned who = i * 37 % SLEEPERS;
    const ggas_rma_peer to = {(uint16_t)n->other, (uint8_t)reported(n, 16 + who)};
    ggas_rma_note note;
    uint64_t signals;
    unsigned other;
    post(n, ggas_rma_notify(to, 0, 0, i));
    CHECK(poll(p, SLEEPERS, (int)timeout_ms()) == 1);
    for (other = 0; other < SLEEPERS; ++other) wrong_ones += (p[other].revents != 0) != (other == who);
    CHECK_IS(read(c[who].eventfd, &signals, sizeof signals), sizeof signals);
    CHECK(ggas_rma_next_note(&c[who].rma, &note) && note.cookie == i);
    ggas_rma_arm_notes(&c[who].rma);
    meet(n);
  }
  CHECK_IS(wrong_ones, 0);
  for (i = 0; i < SLEEPERS; ++i) ggas_context_end(&c[i]);
}
