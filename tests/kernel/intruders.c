/* SPDX-License-Identifier: Apache-2.0 */
/* Two users without rights and root share a node: ways of one of them to what is another's, and none leads there. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "kernel/include/uapi/ggas.h"
#include "tests/kernel/tests.h"

enum { PAGE = 4096, VICTIM = 1001, ATTACKER = 1000, VICTIM_DOMAIN = 10, ATTACKER_DOMAIN = 9 };
enum { DOORBELLS = 1, SLOTS, RINGS, SEGMENT, WINDOW, KINDS }; /* what an offset for mmap names */

/* In memory that the processes share. */
static struct tally {
  unsigned tried, held;
  uint64_t victim_nla; /* of this node's victim; the rest likewise */
  uint32_t victim_vpid, victim_number;
  int ready, over;
}* tally;

static void way(int held, const char* what, int line) {
  ++tally->tried;
  tally->held += held;
  if (!held) printf("# intruders.c:%d: succeeded: %s\n", line, what);
}
/* A way that must be refused as the condition says. */
#define HELD(condition) way(!!(condition), #condition, __LINE__)

static uint64_t offset_of(unsigned what, unsigned number) { return (uint64_t)what << 44 | (uint64_t)number << 32; }
static int maps(int fd, size_t bytes, int flags, uint64_t offset) {
  void* const at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);
  if (at == MAP_FAILED) return 0;
  munmap(at, bytes);
  return 1;
}

static int ends_in_error(ggas_context* c, ggas_rma_desc d) {
  ggas_rma_note note;
  WAIT(ggas_rma_post(&c->rma, &d));
  WAIT(ggas_rma_next_note(&c->rma, &note));
  return note.kind == GGAS_RMA_NOTE_ERROR;
}

static void become(unsigned user) {
  fflush(stdout);
  if (setgid(user) || setuid(user)) _exit(90);
}

/* ---------------------------------------------------------------------------------------------- the victim */

/* Has a context, memory and a window; leaves when it is over, and says whether anything of it was touched. */
static int victim(unsigned number) {
  ggas_device dev;
  ggas_context c;
  ggas_region r;
  ggas_window w;
  ggas_rma_note note;
  ggas_rma_message message;
  const ggas_context_options options = {.mailbox_log2 = 4};
  unsigned char* const memory = pages(2 * PAGE);
  int domain, bad;
  become(VICTIM);
  if (ggas_device_open(&dev, "/dev/ggas0")) return 91;
  domain = ggas_domain_join(&dev, VICTIM_DOMAIN);
  if (ggas_context_begin(&c, &dev, domain, &options)) return 92;
  if (ggas_region_begin(&r, &dev, domain, memory, PAGE, GGAS_READ | GGAS_WRITE)) return 93;
  if (ggas_window_begin(&w, &dev, domain, number, PAGE)) return 94;
  fill(memory, 2 * PAGE, 42);
  tally->victim_nla = r.nla;
  tally->victim_vpid = c.self.vpid;
  tally->victim_number = number;
  __atomic_store_n(&tally->ready, 1, __ATOMIC_RELEASE);
  WAIT(__atomic_load_n(&tally->over, __ATOMIC_ACQUIRE));
  bad = wrong(memory, 2 * PAGE, 42) != 0;
  bad |= ggas_rma_next_note(&c.rma, &note) << 1;
  bad |= ggas_rma_next_message(&c.rma, &message) << 2;
  bad |= (*(volatile uint64_t*)w.own != 0) << 3;
  /* And it still works. */
  bad |= ends_in_error(&c, ggas_rma_imm(c.self, 7, r.nla, 8, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 1)) << 4;
  return bad;
}

/* ---------------------------------------------------------------------------------------------- the attacker */

/* Mappings of what is another's, no one's, or beyond one's own. */
static void by_mappings(int fd, ggas_window* w, ggas_context* c, uint32_t contexts) {
  const uint32_t v = tally->victim_vpid, mine = c->self.vpid;
  unsigned kind, number;
  uint64_t at, hits = 0;
  HELD(!maps(fd, PAGE, MAP_SHARED, offset_of(DOORBELLS, v)));
  HELD(!maps(fd, PAGE, MAP_SHARED, offset_of(SLOTS, v)));
  HELD(!maps(fd, PAGE, MAP_SHARED, offset_of(RINGS, v)));
  HELD(!maps(fd, PAGE, MAP_SHARED, offset_of(SEGMENT, tally->victim_number)));
  HELD(!maps(fd, PAGE, MAP_SHARED, offset_of(SEGMENT, 0)));                 /* root's */
  HELD(!maps(fd, PAGE, MAP_SHARED, offset_of(DOORBELLS, contexts)));        /* the driver's own */
  HELD(!maps(fd, PAGE, MAP_SHARED, offset_of(DOORBELLS, contexts - 1)));    /* free */
  HELD(!maps(fd, PAGE, MAP_SHARED, offset_of(DOORBELLS, 256)));             /* none */
  HELD(!maps(fd, 2 * PAGE, MAP_SHARED, offset_of(DOORBELLS, mine)));        /* the page after */
  HELD(!maps(fd, 2 * PAGE, MAP_SHARED, offset_of(SLOTS, mine)));            /* the next context's */
  HELD(!maps(fd, PAGE, MAP_SHARED, offset_of(DOORBELLS, mine) + PAGE));
  HELD(!maps(fd, c->rings_bytes + PAGE, MAP_SHARED, offset_of(RINGS, mine)));
  HELD(!maps(fd, 2 * PAGE, MAP_SHARED, offset_of(SEGMENT, tally->victim_number ^ 1)));
  HELD(!maps(fd, PAGE, MAP_PRIVATE, offset_of(DOORBELLS, mine)));
  HELD(mremap((void*)c->rma.page, PAGE, 2 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED);
  for (at = 0; at < 4 * WINDOW_BYTES; at += PAGE) hits += maps(fd, PAGE, MAP_SHARED, offset_of(WINDOW, 0) + at);
  HELD(hits == w->bytes * w->nodes / PAGE); /* of the whole of BAR2 the own pieces alone */
  for (hits = 0, kind = KINDS; kind < 64; ++kind)
    for (number = 0; number < 2; ++number) hits += maps(fd, PAGE, MAP_SHARED, offset_of(kind, number));
  HELD(hits == 0);
}

static int call(int fd, unsigned long command, void* p) { return ioctl(fd, command, p) ? -errno : 0; }

/* Handles of others, of the wrong kind; numbers, sizes and descriptors that do not fit. */
static void by_calls(const ggas_device* d, int domain, ggas_context* c, int roots) {
  unsigned char* const memory = pages(2 * PAGE);
  struct ggas_destroy handle = {.size = sizeof handle, .handle = 60000};
  struct ggas_context_create p = {.size = sizeof p, .domain = (uint32_t)domain, .notify_log2 = 8, .eventfd = 0};
  const struct rlimit none = {4 * PAGE, 4 * PAGE};
  ggas_context other;
  ggas_region r;
  ggas_window w;
  struct {
    struct ggas_destroy known;
    uint64_t unknown;
  } longer = {{.size = sizeof longer, .handle = 1}, 1};
  HELD(call(d->fd, GGAS_IOC_DESTROY, &handle) == -ENOENT);
  HELD(ggas_context_begin(&other, d, 60000, NULL) == -ENOENT);
  HELD(ggas_context_begin(&other, d, (int)c->handle, NULL) == -ENOENT); /* a handle of a context */
  HELD(ggas_region_begin(&r, d, (int)c->handle, memory, PAGE, GGAS_READ) == -ENOENT);
  HELD(ggas_window_begin(&w, d, (int)c->handle, 30, PAGE) == -ENOENT);
  HELD(ggas_domain_join(d, VICTIM_DOMAIN) == -EPERM);
  HELD(ggas_domain_join(d, DOMAIN) == -EPERM); /* root's */
  HELD(ggas_domain_join(d, 0) < 0);
  HELD(ggas_domain_join(d, 0x10000 + VICTIM_DOMAIN) < 0);
  {
    const ggas_device passed = {.fd = roots}; /* opened by root, passed on: rights are those of who asks */
    HELD(ggas_domain_join(&passed, DOMAIN) == -EPERM);
  }
  HELD(ggas_window_begin(&w, d, domain, tally->victim_number, PAGE) == -EBUSY);
  HELD(ggas_window_begin(&w, d, domain, 0, PAGE) == -EBUSY);
  HELD(ggas_region_begin(&r, d, domain, (void*)0xffff888000000000, PAGE, GGAS_READ) < 0); /* of the kernel */
  HELD(ggas_region_begin(&r, d, domain, (void*)PAGE, PAGE, GGAS_READ) == -EFAULT);
  HELD(ggas_region_begin(&r, d, domain, memory, ~(size_t)0, GGAS_READ) == -EINVAL);
  HELD(ggas_region_begin(&r, d, domain, memory, 0, GGAS_READ) == -EINVAL);
  HELD(ggas_region_begin(&r, d, domain, memory, 64, 4) == -EINVAL);
  HELD(ggas_region_begin(&r, d, domain, (void*)c->rma.page, PAGE, GGAS_WRITE) == -EFAULT); /* registers */
  HELD(ggas_region_begin(&r, d, domain, c->rings, PAGE, GGAS_WRITE) == -EFAULT);
  mprotect(memory, PAGE, PROT_READ);
  HELD(ggas_region_begin(&r, d, domain, memory, 64, GGAS_WRITE) == -EFAULT);
  HELD(ggas_region_begin_dmabuf(&r, d, domain, d->fd, 0, PAGE, GGAS_READ) == -EINVAL); /* no dma-buf */
  HELD(ggas_region_begin_dmabuf(&r, d, domain, -1, 0, PAGE, GGAS_READ) == -EBADF);
  HELD(call(d->fd, GGAS_IOC_CONTEXT_CREATE, &p) == -EINVAL); /* no eventfd */
  HELD(call(d->fd, GGAS_IOC_DESTROY, &longer) == -E2BIG);
  HELD(call(d->fd, GGAS_IOC_DESTROY, NULL) == -EFAULT);
  handle.size = 4;
  HELD(call(d->fd, GGAS_IOC_DESTROY, &handle) == -EINVAL);
  HELD(call(d->fd, _IOWR(GGAS_IOC_TYPE, 0x7f, struct ggas_destroy), &handle) == -ENOTTY);
  setrlimit(RLIMIT_MEMLOCK, &none);
  HELD(ggas_region_begin(&r, d, domain, pages(8 * PAGE), 8 * PAGE, GGAS_READ) == -ENOMEM);
  munmap(memory, 2 * PAGE);
}

/* What only the administrator may say. */
static void by_files(void) {
  HELD(write_file("/sys/class/ggas/ggas0/grant", "10 1000") == -EACCES);
  HELD(write_file("/sys/class/ggas/ggas0/revoke", "10 1001") == -EACCES);
  HELD(write_file("/sys/class/ggas/ggas0/device/reset", "1") == -EACCES);
  HELD(write_file("/sys/bus/pci/drivers/ggas/unbind", "0000:01:00.0") == -EACCES);
  HELD(open("/sys/class/ggas/ggas0/device/resource0", O_RDWR) < 0);
  HELD(open("/dev/mem", O_RDWR) < 0);
}

/* Addresses on the network: of others here and there, of no one, one's own former ones. */
static void by_addresses(node* n, const ggas_device* d, int domain, ggas_context* c, uint64_t theirs) {
  enum { SAY = GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER };
  const ggas_rma_peer here = c->self, there = {(uint16_t)n->other, c->self.vpid};
  const uint64_t victims = tally->victim_nla;
  unsigned char* const memory = pages(PAGE);
  ggas_region own, former;
  unsigned class;
  ggas_region_begin(&own, d, domain, memory, PAGE, GGAS_READ | GGAS_WRITE);
  HELD(ends_in_error(c, ggas_rma_imm(here, 1, victims, 8, SAY, 1)));
  HELD(ends_in_error(c, ggas_rma_put(here, own.nla, victims, 64, SAY, 1)));
  HELD(ends_in_error(c, ggas_rma_get(here, victims, own.nla, 64, GGAS_RMA_NOTIFY_COMPLETER, 1)));
  HELD(ends_in_error(c, ggas_rma_put(here, victims, own.nla, 64, SAY, 1))); /* as the source */
  HELD(ends_in_error(c, ggas_rma_get(here, own.nla, victims, 64, GGAS_RMA_NOTIFY_COMPLETER, 1)));
  HELD(ends_in_error(c, ggas_rma_atomic(here, GGAS_RMA_ADD, victims, 8, 1, 0, own.nla, SAY, 1)));
  HELD(ends_in_error(c, ggas_rma_atomic(here, GGAS_RMA_ADD, own.nla, 8, 1, 0, victims, SAY, 1))); /* the result */
  HELD(ends_in_error(c, ggas_rma_imm(there, 1, theirs, 8, SAY, 1)));
  HELD(ends_in_error(c, ggas_rma_get(there, theirs, own.nla, 64, GGAS_RMA_NOTIFY_COMPLETER, 1)));
  HELD(ends_in_error(c, ggas_rma_atomic(there, GGAS_RMA_SWAP, theirs, 8, 1, 0, own.nla, SAY, 1)));
  HELD(ends_in_error(c, ggas_rma_imm(here, 1, 0, 8, SAY, 1)));
  HELD(ends_in_error(c, ggas_rma_imm(here, 1, own.nla + PAGE, 8, SAY, 1)));
  HELD(ends_in_error(c, ggas_rma_put(here, own.nla, own.nla + 8, PAGE, SAY, 1)));
  for (class = 1; class < 4; ++class)
    HELD(ends_in_error(c, ggas_rma_imm(here, 1, (uint64_t)class << 46, 8, SAY, 1)));
  HELD(ends_in_error(c, ggas_rma_imm(here, 1, own.nla | 1ull << 50, 8, SAY, 1)));
  ggas_region_begin(&former, d, domain, memory, PAGE, GGAS_READ | GGAS_WRITE);
  ggas_region_end(&former);
  HELD(ends_in_error(c, ggas_rma_imm(here, 1, former.nla, 8, SAY, 1)));
  {
    /* A notification and a message to the victim; it looks whether they came. */
    const ggas_rma_peer victim = {here.node, (uint8_t)tally->victim_vpid};
    HELD(ends_in_error(c, ggas_rma_notify(victim, 0, SAY, 1)));
    HELD(ends_in_error(c, ggas_rma_send(victim, "x", 1, SAY, 1)));
  }
  ggas_region_end(&own);
  munmap(memory, PAGE);
}

/* The window: stores and loads to a number that is the victim's on the other node. */
static void by_the_window(node* n, ggas_context* c, ggas_window* w) {
  volatile uint64_t* const at = (volatile uint64_t*)(w->remote + n->other * w->bytes);
  const volatile uint32_t* const quiet = (const volatile uint32_t*)c->rma.page;
  (void)*quiet;
  *at = 0xbad;
  HELD(*quiet != 0);
  HELD(*at == ~(uint64_t)0);
}

/* What was one's own: after its end, and in a child. */
static void by_leftovers(const ggas_device* d, int domain, ggas_context* c, ggas_window* w) {
  struct ggas_destroy handle = {.size = sizeof handle};
  ggas_context dead;
  int status = 0;
  pid_t child;
  ggas_context_begin(&dead, d, domain, NULL);
  handle.handle = dead.handle;
  *(volatile uint32_t*)(dead.rma.page + GGAS_RMA_AT_NOTES_READ) = 0;
  HELD(call(d->fd, GGAS_IOC_DESTROY, &handle) == 0 && fault_of(dead.rma.page) == SIGBUS);
  HELD(fault_of(dead.rma.descriptors) == SIGBUS);
  HELD(fault_of(dead.rings) == SIGBUS);
  child = fork();
  if (child == 0) {
    HELD(fault_of(c->rma.page) == SIGSEGV);
    HELD(fault_of(c->rings) == SIGSEGV);
    HELD(fault_of(w->own) == SIGSEGV);
    HELD(fault_of(w->remote) == SIGSEGV);
    _exit(0);
  }
  waitpid(child, &status, 0);
  handle.handle = w->handle;
  (void)*w->own;
  HELD(call(d->fd, GGAS_IOC_DESTROY, &handle) == 0 && fault_of(w->own) == SIGBUS);
  HELD(fault_of(w->remote) == SIGBUS);
}

static int attacker(node* n, uint64_t theirs, int roots) {
  ggas_device d;
  ggas_context c;
  ggas_window w;
  int domain;
  become(ATTACKER);
  if (ggas_device_open(&d, "/dev/ggas0")) return 81;
  domain = ggas_domain_join(&d, ATTACKER_DOMAIN);
  if (ggas_context_begin(&c, &d, domain, NULL)) return 82;
  /* The number that the victim of the other node has. */
  if (ggas_window_begin(&w, &d, domain, tally->victim_number ^ 1, PAGE)) return 83;
  by_mappings(d.fd, &w, &c, d.contexts);
  by_addresses(n, &d, domain, &c, theirs);
  by_the_window(n, &c, &w);
  by_files();
  by_leftovers(&d, domain, &c, &w);
  by_calls(&d, domain, &c, roots);
  return 0;
}

static int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

void intruders(node* n) {
  unsigned char* const memory = pages(PAGE);
  ggas_region r;
  pid_t child;
  tally = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK_IS(write_file("/sys/class/ggas/ggas0/grant", "9 1000"), 0);
  CHECK_IS(write_file("/sys/class/ggas/ggas0/grant", "10 1001"), 0);
  CHECK(write_file("/sys/class/ggas/ggas0/grant", "0 1000") < 0);
  CHECK_IS(ggas_region_begin(&r, &n->dev, n->domain, memory, PAGE, GGAS_READ | GGAS_WRITE), 0);
  fflush(stdout);
  child = fork();
  if (child == 0) _exit(victim(20 + n->me));
  WAIT(tally->ready || waitpid(child, NULL, WNOHANG) != 0);
  tell(n, 0, tally->victim_nla);
  meet(n);
  {
    const uint64_t theirs = reported(n, 0);
    const pid_t other = fork();
    if (other == 0) _exit(attacker(n, theirs, n->dev.fd));
    CHECK_IS(status_of(other), 0);
  }
  meet(n);
  __atomic_store_n(&tally->over, 1, __ATOMIC_RELEASE);
  CHECK_IS(status_of(child), 0);
  CHECK_IS(tally->held, tally->tried);
  CHECK(tally->tried >= 30);
  printf("# %u of %u ways led nowhere\n", tally->held, tally->tried);
  CHECK_IS(write_file("/sys/class/ggas/ggas0/revoke", "9 1000"), 0);
  CHECK_IS(write_file("/sys/class/ggas/ggas0/revoke", "10 1001"), 0);
  CHECK_IS(write_file("/sys/class/ggas/ggas0/revoke", "10 1001"), -ENOENT);
  ggas_region_end(&r);
  munmap(memory, PAGE);
  munmap(tally, PAGE);
}
