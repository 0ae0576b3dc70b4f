/* SPDX-License-Identifier: Apache-2.0 */
/* Runs on each of two virtual nodes at once: a program of user space on the driver, through ggas/device.h. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/kernel/node.h"

enum { BYTES = 65536 };

static int child_says[2]; /* pipe */

static unsigned char* pages(size_t bytes) {
  void* const p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (p == MAP_FAILED) exit(1);
  return p;
}

static unsigned char pattern(unsigned seed, size_t i) { return (unsigned char)(seed * 31 + i * 7 + (i >> 8)); }

static void fill(unsigned char* p, size_t bytes, unsigned seed) {
  size_t i;
  for (i = 0; i < bytes; ++i) p[i] = pattern(seed, i);
}

static size_t wrong(const unsigned char* p, size_t bytes, unsigned seed) {
  size_t i, n = 0;
  for (i = 0; i < bytes; ++i) n += p[i] != pattern(seed, i);
  return n;
}

/* Registers memory and tells the other node of it, as word 0; its context, as word 1. */
static ggas_region share(node* n, void* at, size_t bytes, unsigned rights) {
  ggas_region r;
  CHECK_IS(ggas_region_begin(&r, &n->dev, n->domain, at, bytes, rights), 0);
  tell(n, 0, r.nla);
  tell(n, 1, n->context.self.vpid);
  meet(n);
  return r;
}

static ggas_rma_peer peer(node* n) {
  const ggas_rma_peer p = {(uint16_t)n->other, (uint8_t)told(n, 1)};
  return p;
}

static void window_stores_and_loads(node* n) {
  unsigned i;
  for (i = 0; i < 32; ++i) *remote_word(n, 0x8000 + 8 * i) = (uint64_t)(n->me + 1) << 32 | i;
  for (i = 0; i < 32; ++i) CHECK_IS(*remote_word(n, 0x8000 + 8 * i), (uint64_t)(n->me + 1) << 32 | i);
  *(volatile uint16_t*)(n->window.remote + n->other * n->window.bytes + 0x9002) = 0xabcd;
  *(volatile uint8_t*)(n->window.remote + n->other * n->window.bytes + 0x9001) = 0x77;
  meet(n);
  for (i = 0; i < 32; ++i) CHECK_IS(own_word(n, 0x8000 + 8 * i), (uint64_t)(n->other + 1) << 32 | i);
  CHECK_IS(own_word(n, 0x9000), 0xabcd7700);
  /* Quiet: everything stored has arrived, without error. */
  CHECK_IS(*(const volatile uint32_t*)n->context.rma.page, 0);
}

static void barriers(node* n) {
  unsigned i;
  for (i = 0; i < 50; ++i) {
    tell(n, 3, i);
    meet(n);
    CHECK_IS(told(n, 3), i);
    meet(n);
  }
}

static void put_with_notification(node* n) {
  unsigned char *const from = pages(BYTES), *const to = pages(BYTES);
  ggas_region source, target = share(n, to, BYTES, GGAS_WRITE);
  ggas_rma_note a, b;
  CHECK_IS(ggas_region_begin(&source, &n->dev, n->domain, from, BYTES, GGAS_READ), 0);
  fill(from, BYTES, n->me);
  post(n, ggas_rma_put(peer(n), source.nla + 3, told(n, 0) + 5, BYTES - 8,
                       GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER | GGAS_RMA_NOTIFY_COMPLETER, 0x1000 + n->me));
  a = next_note(n);
  b = next_note(n);
  if (a.kind != GGAS_RMA_NOTE_COMPLETER) {
    const ggas_rma_note swap = a;
    a = b;
    b = swap;
  }
  CHECK_IS(a.kind, GGAS_RMA_NOTE_COMPLETER);
  CHECK_IS(a.cookie, 0x1000 + n->other);
  CHECK_IS(a.status, 0);
  CHECK_IS(b.kind, GGAS_RMA_NOTE_REQUESTER);
  CHECK_IS(b.cookie, 0x1000 + n->me);
  {
    size_t i, bad = 0;
    for (i = 0; i < BYTES - 8; ++i) bad += to[i + 5] != pattern(n->other, i + 3);
    CHECK_IS(bad, 0);
    CHECK_IS(to[4], 0);
    CHECK_IS(to[BYTES - 3], 0);
  }
  meet(n);
  ggas_region_end(&source);
  ggas_region_end(&target);
  munmap(from, BYTES);
  munmap(to, BYTES);
}

static void get(node* n) {
  unsigned char *const from = pages(BYTES), *const to = pages(BYTES);
  ggas_region target, source;
  ggas_rma_note note;
  fill(from, BYTES, 5 + n->me);
  source = share(n, from, BYTES, GGAS_READ);
  CHECK_IS(ggas_region_begin(&target, &n->dev, n->domain, to, BYTES, GGAS_WRITE), 0);
  post(n, ggas_rma_get(peer(n), told(n, 0), target.nla, BYTES, GGAS_RMA_NOTIFY_COMPLETER, 77));
  note = next_note(n);
  CHECK_IS(note.kind, GGAS_RMA_NOTE_COMPLETER);
  CHECK_IS(note.cookie, 77);
  CHECK_IS(wrong(to, BYTES, 5 + n->other), 0);
  meet(n);
  ggas_region_end(&source);
  ggas_region_end(&target);
  munmap(from, BYTES);
  munmap(to, BYTES);
}

/* Both add to one word of node 0. */
static void atomics(node* n) {
  enum { ROUNDS = 50 };
  volatile uint64_t* const word = (volatile uint64_t*)pages(4096);
  volatile uint64_t* const result = (volatile uint64_t*)pages(4096);
  ggas_region own, old;
  ggas_rma_peer at = {0, 0};
  uint64_t sum = 0, nla;
  unsigned i;
  own = share(n, (void*)word, 4096, GGAS_READ | GGAS_WRITE);
  nla = n->me == 0 ? own.nla : told(n, 0);
  CHECK_IS(ggas_region_begin(&old, &n->dev, n->domain, (void*)result, 4096, GGAS_WRITE), 0);
  for (i = 1; i <= ROUNDS; ++i) {
    post(n, ggas_rma_atomic(at, GGAS_RMA_ADD, nla, 8, n->me == 0 ? 1 : 1000, 0, old.nla, 0, i));
    WAIT(result[1] == i);
    CHECK(result[0] >= sum);
    sum = result[0];
  }
  meet(n);
  if (n->me == 0) CHECK_IS(*word, ROUNDS * 1001);
  meet(n);
  /* Of two compare-and-swaps one finds the sum. */
  post(n, ggas_rma_atomic(at, GGAS_RMA_CAS, nla, 8, 1, ROUNDS * 1001, old.nla, 0, 0x999));
  WAIT(result[1] == 0x999);
  meet(n);
  if (n->me == 0) CHECK_IS(*word, 1);
  ggas_region_end(&own);
  ggas_region_end(&old);
}

/* Each wakes the other in turn, and nobody polls. */
static void sleep_on_an_interrupt(node* n) {
  unsigned i;
  tell(n, 1, n->context.self.vpid);
  meet(n);
  for (i = 0; i < 20; ++i) {
    ggas_rma_note note;
    if (i % 2 == n->me) {
      usleep(2000); /* the other sleeps by now, most times */
      post(n, ggas_rma_notify(peer(n), 0, 0, 0x5000 + i));
    } else {
      CHECK_IS(ggas_context_sleep(&n->context, 0, PATIENCE_MS), 1);
      note = next_note(n);
      CHECK_IS(note.cookie, 0x5000 + i);
    }
  }
  meet(n);
  CHECK_IS(ggas_context_sleep(&n->context, 0, 50), 0); /* nothing comes */
}

static void errors_are_told(node* n) {
  unsigned char* const memory = pages(8192);
  ggas_region r = share(n, memory, 4096, GGAS_READ | GGAS_WRITE), readable;
  ggas_rma_note note;
  ggas_context stranger;
  const uint64_t theirs = told(n, 0);
  /* Behind the region's end; own memory that may not be read; a context of another domain. */
  post(n, ggas_rma_imm(peer(n), 1, theirs + 4096, 8, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 1));
  note = next_note(n);
  CHECK_IS(note.kind, GGAS_RMA_NOTE_ERROR);
  CHECK_IS(ggas_region_begin(&readable, &n->dev, n->domain, memory + 4096, 4096, GGAS_READ), 0);
  post(n, ggas_rma_get(peer(n), theirs, readable.nla, 64, GGAS_RMA_NOTIFY_COMPLETER, 2));
  note = next_note(n);
  CHECK_IS(note.kind, GGAS_RMA_NOTE_ERROR);
  {
    const int other = ggas_domain_join(&n->dev, OTHER_DOMAIN);
    ggas_rma_desc d = ggas_rma_imm(peer(n), 1, theirs, 8, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 3);
    CHECK_IS(ggas_context_begin(&stranger, &n->dev, other, NULL), 0);
    WAIT(ggas_rma_post(&stranger.rma, &d));
    WAIT(ggas_rma_next_note(&stranger.rma, &note));
    CHECK_IS(note.kind, GGAS_RMA_NOTE_ERROR);
    ggas_context_end(&stranger);
  }
  meet(n);
  CHECK_IS(*(volatile uint64_t*)memory, 0);
  /* Memory that was taken back is not reached any more. */
  ggas_region_end(&r);
  meet(n);
  post(n, ggas_rma_imm(peer(n), 1, theirs, 8, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 4));
  note = next_note(n);
  CHECK_IS(note.kind, GGAS_RMA_NOTE_ERROR);
  meet(n);
  CHECK_IS(*(volatile uint64_t*)memory, 0);
  ggas_region_end(&readable);
  munmap(memory, 8192);
}

/* The owner of a region and a context is killed while the other node puts there: nothing strays (the server checks
 * every access), the sender hears of it, the node goes on. */
static void owners_are_killed(node* n) {
  enum { ROUNDS = 10 };
  unsigned i;
  for (i = 0; i < ROUNDS; ++i) {
    if (n->me == 1) {
      const pid_t child = fork();
      if (child == 0) {
        ggas_device dev;
        ggas_region r;
        ggas_context c;
        int domain;
        unsigned char* const at = pages(BYTES);
        if (ggas_device_open(&dev, "/dev/ggas0")) _exit(1);
        domain = ggas_domain_join(&dev, DOMAIN);
        if (ggas_region_begin(&r, &dev, domain, at, BYTES, GGAS_READ | GGAS_WRITE)) _exit(1);
        if (ggas_context_begin(&c, &dev, domain, NULL)) _exit(1);
        /* The window is its parent's, so the parent tells. */
        if (write(child_says[1], &r.nla, sizeof r.nla) != sizeof r.nla) _exit(1);
        for (;;) pause();
      } else {
        uint64_t nla = 0;
        CHECK_IS(read(child_says[0], &nla, sizeof nla), sizeof nla);
        tell(n, 0, nla);
        meet(n);
        usleep(i * 1500);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        tell(n, 2, i + 1);
        meet(n);
      }
    } else {
      unsigned char* const from = pages(BYTES);
      ggas_region source;
      unsigned errors = 0, sent;
      CHECK_IS(ggas_region_begin(&source, &n->dev, n->domain, from, BYTES, GGAS_READ), 0);
      meet(n);
      for (sent = 0; errors == 0 && sent < 100000; ++sent) {
        const ggas_rma_peer to = {1, 0};
        post(n, ggas_rma_put(to, source.nla, told(n, 0), 4096, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, sent));
        errors += next_note(n).kind == GGAS_RMA_NOTE_ERROR;
      }
      CHECK_IS(errors, 1);
      meet(n);
      ggas_region_end(&source);
      munmap(from, BYTES);
    }
  }
}

static sigjmp_buf faulted;
static void on_fault(int number) { siglongjmp(faulted, number); }

/* The signal that an access ends with; 0: none. */
static int fault_of(volatile void* at) {
  volatile int number;
  signal(SIGBUS, on_fault);
  signal(SIGSEGV, on_fault);
  number = sigsetjmp(faulted, 1);
  if (!number) (void)*(volatile unsigned char*)at;
  signal(SIGBUS, SIG_DFL);
  signal(SIGSEGV, SIG_DFL);
  return number;
}

/* The other node may not have its window yet: words are told until they are heard. */
static void greet(node* n, uint64_t word) {
  WAIT(ggas_device_link(&n->dev) == 1);
  WAIT((*remote_word(n, 8) = word, usleep(1000), own_word(n, 8) == word));
  *remote_word(n, 8) = word;
  (void)*(const volatile uint32_t*)n->context.rma.page; /* what the words before met is no failure */
}

/* Opens the device and makes what every test uses. */
static void begin(node* n) {
  static const ggas_context_options sleeps = {.sleeps = 1};
  int rc = ggas_device_open(&n->dev, "/dev/ggas0");
  if (!rc) {
    n->me = n->dev.node;
    n->other = 1 - n->me;
    n->domain = ggas_domain_join(&n->dev, DOMAIN);
    rc = ggas_window_begin(&n->window, &n->dev, n->domain, WINDOW_BYTES);
  }
  if (!rc) rc = ggas_context_begin(&n->context, &n->dev, n->domain, &sleeps);
  if (!rc && n->domain >= 0) return;
  printf("Bail out! set-up: domain %d, %d\n", n->domain, rc);
  exit(1);
}

static void end(node* n) {
  ggas_context_end(&n->context);
  ggas_window_end(&n->window);
  ggas_device_close(&n->dev);
}

static int write_file(const char* path, const char* text) {
  const int fd = open(path, O_WRONLY);
  const int rc = fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
  if (fd >= 0) close(fd);
  return rc;
}

/* A function-level reset of node 1 while everything is mapped: its program is told, node 0 is told, both go on. */
static void reset_under_use(node* n) {
  if (n->me == 1) {
    unsigned char* const memory = pages(4096);
    ggas_region r = share(n, memory, 4096, GGAS_READ | GGAS_WRITE);
    CHECK_IS(write_file("/sys/class/ggas/ggas0/device/reset", "1"), 0);
    CHECK_IS(ggas_device_link(&n->dev), -ENODEV);
    CHECK_IS(ggas_domain_join(&n->dev, DOMAIN), -ENODEV);
    CHECK_IS(fault_of(n->window.own), SIGBUS);
    CHECK_IS(fault_of(n->window.remote), SIGBUS);
    CHECK_IS(fault_of(n->context.rma.page), SIGBUS);
    CHECK_IS(fault_of(n->context.rings), SIGBUS);
    ggas_region_end(&r);
    end(n);
    begin(n);
    munmap(memory, 4096);
  } else {
    ggas_rma_note note;
    unsigned char* const memory = pages(4096);
    ggas_region r = share(n, memory, 4096, GGAS_READ | GGAS_WRITE);
    do { /* until the reset */
      post(n, ggas_rma_imm(peer(n), 1, told(n, 0), 8, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 9));
      note = next_note(n);
    } while (note.kind != GGAS_RMA_NOTE_ERROR);
    ggas_region_end(&r);
    munmap(memory, 4096);
  }
  greet(n, 2);
  if (n->me == 1) tell(n, 0, 0);
}

/* What belongs to others, or to nobody. */
static void others_things(node* n) {
  const uint64_t page = 4096, doorbells = (uint64_t)1 << 44, kinds = 6;
  ggas_device stranger;
  uint64_t kind, vpid;
  pid_t child;
  int status = 0;
  CHECK_IS(ggas_device_open(&stranger, "/dev/ggas0"), 0);
  /* No page, ring or window of another file; no handle; no window that is taken. */
  for (kind = 0; kind < kinds; ++kind)
    for (vpid = 0; vpid < 300; vpid += vpid == 8 ? 240 : 1)
      CHECK(mmap(NULL, page, PROT_READ, MAP_SHARED, stranger.fd, (off_t)(kind * doorbells + (vpid << 32))) ==
            MAP_FAILED);
  CHECK(mmap(NULL, page, PROT_READ, MAP_SHARED, stranger.fd, (off_t)(doorbells + page)) == MAP_FAILED);
  {
    ggas_context c;
    ggas_window w;
    ggas_region r = {0, stranger.fd, n->context.handle};
    unsigned char* const memory = pages(4096);
    int domain;
    CHECK(ggas_context_begin(&c, &stranger, n->domain, NULL) < 0);
    ggas_region_end(&r); /* a handle of another file: no such object there */
    CHECK_IS(ggas_region_begin(&r, &stranger, n->domain, memory, 4096, GGAS_READ), -ENOENT);
    domain = ggas_domain_join(&stranger, DOMAIN);
    CHECK(domain > 0);
    CHECK_IS(ggas_window_begin(&w, &stranger, domain, WINDOW_BYTES), -EBUSY);
    CHECK_IS(ggas_domain_join(&stranger, 0), -EINVAL);
    CHECK_IS(ggas_domain_join(&stranger, 65536), -EINVAL);
    CHECK_IS(ggas_region_begin(&r, &stranger, domain, (void*)page, 4096, GGAS_READ), -EFAULT);
    CHECK_IS(ggas_region_begin(&r, &stranger, domain, memory, ~(size_t)0, GGAS_READ), -EINVAL);
    CHECK_IS(ggas_region_begin(&r, &stranger, domain, memory, 0, GGAS_READ), -EINVAL);
    CHECK_IS(ggas_region_begin(&r, &stranger, domain, memory, 64, 4), -EINVAL);
    mprotect(memory, 4096, PROT_READ);
    CHECK_IS(ggas_region_begin(&r, &stranger, domain, memory, 64, GGAS_WRITE), -EFAULT);
    munmap(memory, 4096);
  }
  CHECK_IS(write_file("/sys/class/ggas/ggas0/grant", "9 1000"), 0);
  CHECK(write_file("/sys/class/ggas/ggas0/grant", "0 1000") < 0);
  fflush(stdout);
  child = fork();
  if (child == 0) {
    const struct rlimit none = {16384, 16384};
    /* A child has no mapping of its parent's, and without the right user no domain. */
    unsigned char* const memory = pages(65536);
    ggas_region r;
    int domain, bad = fault_of(n->context.rma.page) != SIGSEGV;
    bad |= (fault_of(n->window.remote) != SIGSEGV) << 1;
    bad |= (setrlimit(RLIMIT_MEMLOCK, &none) || setuid(1000)) << 2;
    bad |= (ggas_domain_join(&stranger, DOMAIN) != -EPERM) << 3;
    domain = ggas_domain_join(&stranger, 9); /* granted above */
    bad |= (domain < 0) << 4;
    bad |= (write_file("/sys/class/ggas/ggas0/grant", "7 1000") != -EACCES) << 5;
    bad |= (ggas_region_begin(&r, &stranger, domain, memory, 65536, GGAS_READ) != -ENOMEM) << 6;
    _exit(bad);
  }
  waitpid(child, &status, 0);
  CHECK_IS(status, 0);
  ggas_device_close(&stranger);
}

int main(void) {
  static node n;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (pipe(child_says)) return 1;
  begin(&n);
  greet(&n, 1);
  printf("# node %u of %u, core clock %u kHz\n", n.me, n.dev.nodes, n.dev.clock_khz);
  run(&n, "window: stores, loads, quiet", window_stores_and_loads);
  run(&n, "barriers by window stores", barriers);
  run(&n, "put with notifications", put_with_notification);
  run(&n, "get", get);
  run(&n, "atomics of both nodes", atomics);
  run(&n, "sleep until a notification interrupts", sleep_on_an_interrupt);
  run(&n, "errors and rights", errors_are_told);
  run(&n, "things of others", others_things);
  run(&n, "owners killed under puts", owners_are_killed);
  run(&n, "reset under use", reset_under_use);
  run(&n, "put with notifications, after the reset", put_with_notification);
  end(&n);
  printf("1..%d\n", tests_run);
  return tests_failed != 0;
}
