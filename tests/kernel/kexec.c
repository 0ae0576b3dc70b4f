/* SPDX-License-Identifier: Apache-2.0 */
/* Node 0 begins another kernel by kexec while node 1 stores into a window of the first one: the memory that it was in
 * is other programs' in the next kernel, and no one's store lands there. Two kernels, so the program runs twice on node
 * 0. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/reboot.h>
#include <sys/syscall.h>

#include "tests/kernel/tests.h"

enum { NUMBER = 1, SEGMENT = 4 << 20, STRIDE = 4096, SPARE_KB = 40 << 10, PACKETS = 3000 };
static const uint64_t own = 0x5a5a5a5a5a5a5a5a, foreign = 0xf0e1d2c3b4a59687;

static void give_up(const char* why) {
  printf("Bail out! %s: %s\n", why, strerror(errno));
  exit(1);
}

static void words_of(const char* path, char* text, size_t bytes) {
  const int fd = open(path, O_RDONLY);
  const ssize_t n = fd < 0 ? -1 : read(fd, text, bytes - 1);
  if (n < 0) give_up(path);
  text[n] = 0;
  close(fd);
}

/* The number after a word in a file. */
static long number_in(const char* path, const char* word) {
  static char text[8192];
  const char* at;
  words_of(path, text, sizeof text);
  at = strstr(text, word);
  return at ? atol(at + strlen(word)) : -1;
}

/* `next` is the run of the next kernel, on the command line of this one, of which `left` follow. */
static void begin_kernel(const char* next, long left) {
  static char line[4096], run[64];
  const int kernel = open("/vmlinuz", O_RDONLY), files = open("/tmp/next", O_RDONLY);
  words_of("/proc/cmdline", line, sizeof line - 64);
  line[strcspn(line, "\n")] = 0;
  snprintf(run, sizeof run, " ggas.run=%s ggas.left=%ld", next, left);
  strcat(line, run); /* the last one counts */
  fflush(stdout);
  if (syscall(SYS_kexec_file_load, kernel, files, strlen(line) + 1, line, 0)) give_up("kexec_file_load");
  syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, NULL);
  give_up("kexec");
}

static void store_until_reported(node* n, const ggas_window* w, long kernels) {
  volatile unsigned char* const there = w->remote + n->other * w->bytes;
  const double end = now_ms() + 10 * (double)kernels * timeout_ms();
  unsigned long sweeps = 0;
  for (; own_word(n, 8) != n->greeted + 1 && now_ms() < end; ++sweeps) {
    unsigned at;
    for (at = 0; at < SEGMENT; at += STRIDE) {
      *(volatile uint64_t*)(there + at) = foreign;
      if (at % (16 * STRIDE) == 0) (void)*(const volatile uint32_t*)n->context.rma.page; /* others have their turns */
    }
  }
  printf("# %lu times %u stores\n", sweeps, SEGMENT / STRIDE);
  CHECK_IS(own_word(n, 8), n->greeted + 1);
}

/* The part of both nodes in their first kernel; node 0 does not return from it. */
void into_next_kernel(node* n, long kernels) {
  ggas_window w;
  CHECK_IS(ggas_window_begin(&w, &n->dev, n->domain, NUMBER, SEGMENT), 0);
  meet(n);
  if (n->me == 0) {
    usleep(200000); /* of the other node's stores */
    begin_kernel("next", kernels - 1);
  }
  store_until_reported(n, &w, kernels);
  greet(n, ++n->greeted);
  ggas_window_end(&w);
}

static void load_driver(const char* parameters) {
  const int module = open("/ggas.ko", O_RDONLY);
  if (module < 0 || syscall(SYS_finit_module, module, parameters, 0)) give_up("the driver does not load");
  close(module);
  WAIT(access("/dev/ggas0", F_OK) == 0);
}

/* Words of the program's memory that are not its own any more, when the NIC has had many packets of the other node. */
static unsigned long foreign_words(void) {
  const char* const counters = "/sys/kernel/debug/ggas/ggas0/counters";
  const size_t bytes = (size_t)(number_in("/proc/meminfo", "MemAvailable:") - SPARE_KB) << 10;
  uint64_t* const memory = (uint64_t*)pages(bytes);
  unsigned long i, changed = 0;
  for (i = 0; i < bytes / 8; ++i) memory[i] = own;
  load_driver("node=0 nodes=2 stop_ms=5000");
  WAIT(number_in(counters, "link_packets_in") > PACKETS);
  for (i = 0; i < bytes / 8; ++i) changed += memory[i] != own;
  printf("# %lu of %zu words of a program were overwritten\n", changed, bytes / 8);
  munmap(memory, bytes);
  return changed;
}

/* The part of node 0 in a later kernel, in which nothing was loaded yet. */
void next_kernel(node* n, long left) {
  CHECK_IS(foreign_words(), 0);
  if (left > 0) begin_kernel("next", left - 1);
  n->met = 1; /* in the kernel before */
  begin(n);
  n->greeted = 1;
  greet(n, ++n->greeted);
}
