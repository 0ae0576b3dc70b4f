/* SPDX-License-Identifier: Apache-2.0 */
/* Waits that end, and users who do not wait for each other: a NIC that is silent, a page that does not come, a user who
 * floods the NIC, a node that sleeps. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/kernel/tests.h"

#define PCI_DEVICE "0000:01:00.0"
#define CONFIG "/sys/bus/pci/devices/" PCI_DEVICE "/config"
#define STOP_MS "/sys/module/ggas/parameters/stop_ms"

enum { COMMAND = 4, MEMORY_SPACE = 2, BUS_MASTER = 4, MANY = 32 };

/* The command register of the NIC, with a bit set or cleared before. */
static unsigned command(unsigned bit, int on) {
  uint16_t value = 0;
  const int fd = open(CONFIG, O_RDWR);
  CHECK(fd >= 0);
  CHECK_IS(pread(fd, &value, sizeof value, COMMAND), sizeof value);
  value = (uint16_t)(on ? value | bit : value & ~bit);
  if (bit) CHECK_IS(pwrite(fd, &value, sizeof value, COMMAND), sizeof value);
  close(fd);
  return value;
}

/* A file with many contexts; the descriptor, or a negative errno. */
static int many_contexts(void) {
  static ggas_context c[MANY];
  ggas_device dev;
  int domain, rc = ggas_device_open(&dev, "/dev/ggas0");
  unsigned i;
  if (rc) return rc;
  domain = ggas_domain_join(&dev, DOMAIN);
  for (i = 0; i < MANY && !rc; ++i) rc = ggas_context_begin(&c[i], &dev, domain, NULL);
  for (i = 0; i < MANY && !rc; ++i) { /* mappings keep a file open */
    munmap(c[i].rings, c[i].rings_bytes);
    munmap((void*)c[i].rma.page, 4096);
    munmap((void*)c[i].rma.descriptors, 4096);
  }
  return rc ? rc : dev.fd;
}

static int ready[2];

/* Another process, when it has come to is_ready(). */
static pid_t another(void (*act)(void)) {
  char byte;
  pid_t child;
  CHECK_IS(pipe(ready), 0);
  fflush(stdout);
  child = fork();
  if (child == 0) {
    act();
    _exit(0);
  }
  close(ready[1]);
  CHECK_IS(read(ready[0], &byte, 1), 1); /* 0: it has ended */
  close(ready[0]);
  return child;
}

static void is_ready(void) {
  if (write(ready[1], "", 1) != 1) _exit(1);
}

static void own_many(void) {
  if (many_contexts() < 0) _exit(1);
  is_ready();
  for (;;) pause();
}

/* No register of the NIC answers, but it still writes memory. It is cut off from the bus. Its owners do not wait for
 * it one after the other, and the next caller gets its error at once. */
static void silent_under_owners(node* n) {
  const int own = many_contexts();
  const pid_t child = another(own_many);
  const long stop_ms = read_number(STOP_MS);
  ggas_device dev;
  double begun;
  CHECK(own >= 0);
  CHECK_IS(write_file(STOP_MS, "500"), 0);
  CHECK_IS(write_file("/dev/kmsg", "the NIC is silenced by a test"), 0);
  begun = now_ms();
  command(MEMORY_SPACE, 0);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  close(own);
  CHECK(ggas_device_open(&dev, "/dev/ggas0") != 0);
  printf("# %d contexts of a silent NIC ended in %.0f ms\n", 2 * MANY, now_ms() - begun);
  CHECK(now_ms() - begun <= 1000);
  CHECK_IS(command(0, 0) & BUS_MASTER, 0);
  WAIT(ggas_device_link(&n->dev) == -ENODEV);
  CHECK_IS(fault_of(n->window.own), SIGBUS);
  write_number(STOP_MS, stop_ms);
  command(MEMORY_SPACE, 1);
}

static void put_until_an_error(node* n) {
  ggas_rma_note note;
  do {
    post(n, ggas_rma_imm(peer(n), 1, reported(n, 0), 8, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 9));
    note = next_note(n);
  } while (note.kind != GGAS_RMA_NOTE_ERROR);
}

/* On node 1, which loses its NIC, while node 0 puts; then both go on. */
static void losing_the_nic(node* n, void (*lose)(node*), void (*find)(void)) {
  unsigned char* const memory = pages(4096);
  ggas_region r = share(n, memory, 4096, GGAS_READ | GGAS_WRITE);
  if (n->me == 1) {
    lose(n);
    ggas_region_end(&r);
    end(n);
    find();
    begin(n);
  } else {
    put_until_an_error(n);
    ggas_region_end(&r);
  }
  munmap(memory, 4096);
  greet(n, ++n->greeted);
  if (n->me == 1) tell(n, 0, 0);
}

static void reset(void) {
  ggas_device dev;
  CHECK_IS(write_file("/sys/bus/pci/devices/" PCI_DEVICE "/reset", "1"), 0);
  WAIT(ggas_device_open(&dev, "/dev/ggas0") == 0);
  ggas_device_close(&dev);
}

void nic_is_silent(node* n) { losing_the_nic(n, silent_under_owners, reset); }

/* ---------------------------------------------------------------------------------------------- a page that never
 * comes */

/* Memory whose pages come when this process brings them, which it never does. */
static unsigned char* memory_without_pages(size_t bytes) {
  struct uffdio_api api = {.api = UFFD_API};
  struct uffdio_register area = {.mode = UFFDIO_REGISTER_MODE_MISSING};
  unsigned char* const at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
  area.range.start = (uintptr_t)at;
  area.range.len = bytes;
  return fd >= 0 && !ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &area) ? at : NULL;
}

static void register_without_pages(void) {
  ggas_device dev;
  ggas_region r;
  int domain;
  unsigned char* const at = memory_without_pages(BYTES);
  if (!at || ggas_device_open(&dev, "/dev/ggas0")) _exit(1);
  domain = ggas_domain_join(&dev, DOMAIN);
  is_ready();
  _exit(ggas_region_begin(&r, &dev, domain, at, BYTES, GGAS_READ) ? 2 : 3);
}

/* The driver is unbound while a user registers memory whose page does not come: he is not waited for, and can be
 * killed. */
static void unbound_during_a_fault(node* n) {
  const pid_t child = another(register_without_pages);
  double begun;
  int status = 0;
  (void)n;
  usleep(200000); /* until he waits */
  begun = now_ms();
  CHECK_IS(write_file("/sys/bus/pci/drivers/ggas/unbind", PCI_DEVICE), 0);
  printf("# unbound in %.0f ms\n", now_ms() - begun);
  kill(child, SIGKILL);
  CHECK_IS(waitpid(child, &status, 0), child);
  if (status == 2 << 8) printf("# this kernel refuses memory whose page does not come\n");
  CHECK(status == SIGKILL || status == 2 << 8);
}

static void bind_again(void) {
  CHECK_IS(write_file("/sys/bus/pci/drivers/ggas/bind", PCI_DEVICE), 0);
  WAIT(access("/dev/ggas0", F_OK) == 0);
  chmod("/dev/ggas0", 0666);
}

void page_does_not_come(node* n) { losing_the_nic(n, unbound_during_a_fault, bind_again); }

/* ---------------------------------------------------------------------------------------------- a node that sleeps */

static void sleep_until_the_nic_is_lost(void) {
  static const ggas_context_options sleeps = {.sleeps = 1};
  ggas_device dev;
  ggas_context c;
  if (ggas_device_open(&dev, "/dev/ggas0")) _exit(1);
  if (ggas_context_begin(&c, &dev, ggas_domain_join(&dev, DOMAIN), &sleeps)) _exit(2);
  is_ready();
  ggas_context_sleep(&c, 0, -1);
  if (ggas_device_link(&dev) != -ENODEV) _exit(3);
}

/* Suspension as far as Linux' test of devices goes: who sleeps on a context wakes, and must open the NIC again. */
static void suspended_under_sleepers(node* n) {
  const pid_t child = another(sleep_until_the_nic_is_lost);
  int status = 0;
  usleep(100000); /* until it sleeps */
  CHECK_IS(write_file("/sys/module/suspend/parameters/pm_test_delay", "0"), 0);
  CHECK_IS(write_file("/sys/power/pm_test", "devices"), 0);
  CHECK_IS(write_file("/sys/power/state", "freeze"), 0);
  CHECK_IS(write_file("/sys/power/pm_test", "none"), 0);
  WAIT(waitpid(child, &status, WNOHANG) == child);
  CHECK(status == 0 || status == SIGBUS); /* it may not have slept yet, and met mappings that were taken back */
  CHECK_IS(ggas_device_link(&n->dev), -ENODEV);
}

static void nothing(void) {}

void node_sleeps(node* n) {
  if (access("/sys/power/pm_test", F_OK)) {
    printf("# this kernel cannot suspend\n");
    return;
  }
  losing_the_nic(n, suspended_under_sleepers, nothing);
}

/* ---------------------------------------------------------------------------------------------- a user who floods */

/* Stores on and on to his own window, and never asks whether they have arrived. */
static void flood(void) {
  ggas_device dev;
  ggas_window w;
  if (ggas_device_open(&dev, "/dev/ggas0")) _exit(1);
  if (ggas_window_begin(&w, &dev, ggas_domain_join(&dev, OTHER_DOMAIN), 45, BYTES)) _exit(2);
  for (;;) {
    unsigned at;
    for (at = 0; at < BYTES; at += 8) *(volatile uint64_t*)(w.remote + (1 - dev.node) * w.bytes + at) = at;
  }
}

static int by_value(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

/* The median, in microseconds, of a store that has arrived at the other node, and whether the NIC was there all along.
 */
static double store_us(node* n, unsigned stores, double* worst) {
  static double us[4096];
  unsigned i;
  for (i = 0; i < stores; ++i) {
    const double begun = now_ms();
    *remote_word(n, 0x8000) = i;
    CHECK_IS(*(const volatile uint32_t*)n->context.rma.page, 0);
    us[i] = (now_ms() - begun) * 1e3;
    if (i % 16 == 0) CHECK_IS(ggas_device_link(&n->dev), 1);
  }
  qsort(us, stores, sizeof us[0], by_value);
  *worst = us[stores - 1];
  return us[stores / 2];
}

/* Stores of another user arrive nearly as fast as before, and no user loses the NIC. Rounds with and without the
 * flood take turns, so that other work on the machine that emulates the nodes slows both in the same way. */
void one_user_floods(node* n) {
  enum { ROUNDS = 9 };
  const unsigned stores = n->soak ? 512 : 32;
  double alone[ROUNDS], flooded[ROUNDS], ratio[ROUNDS], worst = 0;
  unsigned i;
  pid_t child;
  (void)*(const volatile uint32_t*)n->context.rma.page; /* what stores of earlier tests met */
  fflush(stdout);
  child = fork();
  if (child == 0) flood();
  for (i = 0; i < ROUNDS; ++i) {
    kill(child, SIGSTOP);
    meet(n); /* the other node's flood concerns this one, too */
    alone[i] = store_us(n, stores, &worst);
    meet(n);
    kill(child, SIGCONT);
    usleep(20000);
    flooded[i] = store_us(n, stores, &worst);
    ratio[i] = flooded[i] / alone[i];
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  for (i = 0; i < 3; ++i) qsort((double*[]){alone, flooded, ratio}[i], ROUNDS, sizeof(double), by_value);
  printf(
      "# a store took %.0f us, and %.0f us during a flood (at most %.0f in the last round): %.2f times (%.2f to "
      "%.2f)\n",
      alone[ROUNDS / 2], flooded[ROUNDS / 2], worst, ratio[ROUNDS / 2], ratio[0], ratio[ROUNDS - 1]);
  if (n->soak) CHECK(ratio[ROUNDS / 2] <= 2); /* a time */
}

/* ---------------------------------------------------------------------------------------------- large windows */

/* More than the page allocator has in one piece, on nodes without an IOMMU: several blocks. */
void large_windows(node* n) {
  enum { LARGE = 8 << 20, STRIDE = 1 << 18, NUMBER = 20 };
  ggas_window w, more;
  unsigned at, bad = 0;
  CHECK_IS(ggas_window_begin(&w, &n->dev, n->domain, NUMBER, LARGE), 0);
  CHECK_IS(ggas_window_begin(&more, &n->dev, n->domain, NUMBER + 1, 4096), -EBUSY); /* of its second block */
  meet(n);
  for (at = 0; at < LARGE; at += STRIDE) *(volatile uint64_t*)(w.remote + n->other * w.bytes + at) = at + n->me;
  CHECK_IS(*(const volatile uint32_t*)n->context.rma.page, 0);
  meet(n);
  for (at = 0; at < LARGE; at += STRIDE) bad += *(volatile uint64_t*)(w.own + at) != at + n->other;
  CHECK_IS(bad, 0);
  meet(n);
  ggas_window_end(&w);
  CHECK_IS(ggas_window_begin(&more, &n->dev, n->domain, NUMBER + 1, 4096), 0);
  ggas_window_end(&more);
}

/* Contexts with the largest rings end in an error when memory does, and without a word of the kernel. */
void large_contexts(node* n) {
  enum { LIMIT = 32 };
  static const ggas_context_options large = {.notify_log2 = 16, .mailbox_log2 = 12, .queue_log2 = 16};
  static ggas_context c[LIMIT];
  unsigned got = 0, i;
  while (got < LIMIT && ggas_context_begin(&c[got], &n->dev, n->domain, &large) == 0) ++got;
  printf("# %u contexts with rings of %zu KB\n", got, c[0].rings_bytes >> 10);
  CHECK(got >= 8);
  for (i = 0; i < got; ++i) ggas_context_end(&c[i]);
}
