/* SPDX-License-Identifier: Apache-2.0 */
/* Owners that end: what was theirs is not reached any more. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/kernel/tests.h"

/* The owner of a region and a context is killed while the other node puts data there. No access goes astray (the
 * server checks every access), the sender gets an error, and the node continues. */
void owners_are_killed(node* n) {
  int child_says[2];
  enum { ROUNDS = 10 };
  unsigned i;
  CHECK_IS(pipe(child_says), 0);
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
        /* The window is its parent's, so the parent reports. */
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
        post(n, ggas_rma_put(to, source.nla, reported(n, 0), 4096, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, sent));
        errors += next_note(n).kind == GGAS_RMA_NOTE_ERROR;
      }
      CHECK_IS(errors, 1);
      meet(n);
      ggas_region_end(&source);
      munmap(from, BYTES);
    }
  }
}

/* ---------------------------------------------------------------------------------------------- every step */

static uint64_t state;
static uint32_t put_bytes; /* the soak's are longer, and take the simulation eight times as long */
static unsigned any(unsigned below) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % below;
}

/* Mappings keep a file open. */
static void unmap_all(ggas_context* c, ggas_window* w) {
  if (w->own) munmap((void*)w->own, w->bytes);
  if (w->remote) munmap((void*)w->remote, w->bytes * w->nodes);
  if (!c->rings) return;
  munmap(c->rings, c->rings_bytes);
  munmap((void*)c->rma.page, 4096);
  munmap((void*)c->rma.descriptors, 4096);
}

/* Makes everything, uses it, and begins again, until it is killed. What fails does so because another one has it. */
static void live(unsigned number) {
  unsigned char* const at = pages(BYTES);
  for (;;) {
    ggas_device dev;
    ggas_region r;
    ggas_context c;
    ggas_window w;
    unsigned i;
    int domain;
    if (ggas_device_open(&dev, "/dev/ggas0")) _exit(1);
    domain = ggas_domain_join(&dev, DOMAIN);
    if (ggas_region_begin(&r, &dev, domain, at, BYTES, GGAS_READ | GGAS_WRITE)) _exit(2);
    if (ggas_context_begin(&c, &dev, domain, NULL)) _exit(3);
    if (ggas_window_begin(&w, &dev, domain, number, 8192)) _exit(4);
    for (i = 0; i < 4; ++i) {
      const ggas_rma_peer to = {(uint16_t)(i & 1), 0};
      const ggas_rma_desc d = ggas_rma_put(to, r.nla, r.nla + 4096, put_bytes, GGAS_RMA_ACK, i);
      ggas_rma_post(&c.rma, &d);
      *(volatile uint64_t*)(w.remote + i * 4096) = i;
    }
    if (any(2)) ggas_context_end(&c);
    if (any(2)) ggas_window_end(&w);
    unmap_all(&c, &w);
    close(dev.fd); /* what was not ended is now */
    munmap(at + 4096, 4096);
    mmap(at + 4096, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  }
}

/* Owners are killed at any point of their work, while the other node sends to any object that may be theirs. With an
 * IOMMU the server sees each access after an owner's end. */
void owners_die_at_every_step(node* n) {
  enum { BURST = 12 };
  const unsigned rounds = n->soak ? 10000 : has_iommu() ? 20 : 100;
  unsigned char* const from = pages(4096);
  ggas_region source = share(n, from, 4096, GGAS_READ);
  const uint64_t first = source.nla & ~(uint64_t)4095;
  const long regions = read_number("/sys/class/ggas/ggas0/regions");
  unsigned i, sent = 0;
  state = 77 + n->me;
  put_bytes = n->soak ? 4096 : 512;
  fflush(stdout);
  for (i = 0; i < rounds; ++i) {
    const pid_t child = fork();
    double until = now_ms() + any(12);
    int status;
    if (child == 0) live(40 + n->me);
    do {
      unsigned under_way;
      for (under_way = 0; under_way < BURST; ++under_way, ++sent) {
        const uint64_t to = first + any(32) * 4096;
        post(n, ggas_rma_put(peer(n), source.nla, to, put_bytes, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, sent));
      }
      while (under_way--) next_note(n); /* whether it met something or not */
    } while (now_ms() < until);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    CHECK_IS(status, SIGKILL);
    CHECK_IS(read_number("/sys/class/ggas/ggas0/contexts"), 1);
    CHECK_IS(read_number("/sys/class/ggas/ggas0/windows"), 1);
    /* The NIC has left the memory by now, but another thread of the kernel may be the one that unpins it. */
    until = now_ms() + 1000;
    while (read_number("/sys/class/ggas/ggas0/regions") != regions && now_ms() < until) usleep(1000);
    CHECK_IS(read_number("/sys/class/ggas/ggas0/regions"), regions);
    if ((i + 1) % 250 == 0) printf("# %u owners killed so far\n", i + 1);
  }
  printf("# %u owners killed under %u puts\n", rounds, sent);
  meet(n);
  ggas_region_end(&source);
  munmap(from, 4096);
}

/* ---------------------------------------------------------------------------------------------- two threads */

static ggas_device shared_device;
static volatile int mapping_over;
static volatile uint64_t mapped;

static void* map_doorbells(unsigned vpid) {
  return mmap(NULL, 4096, PROT_READ, MAP_SHARED, shared_device.fd, (off_t)(1ull << 44 | (uint64_t)vpid << 32));
}

/* Maps the doorbells of each context as long as there are any, and keeps the last mapping. */
static void* map_on(void* unused) {
  (void)unused;
  while (!mapping_over) {
    unsigned vpid;
    for (vpid = 1; vpid < 4; ++vpid) {
      void* const at = map_doorbells(vpid);
      if (at == MAP_FAILED) continue;
      ++mapped;
      munmap(at, 4096);
    }
  }
  return NULL;
}

/* mmap() in one thread while another one ends the context: whatever mapping comes of it reaches nothing afterwards. */
void mapping_next_to_the_end(node* n) {
  pthread_t thread;
  unsigned i, open = 0;
  int domain;
  (void)n;
  CHECK_IS(ggas_device_open(&shared_device, "/dev/ggas0"), 0);
  domain = ggas_domain_join(&shared_device, DOMAIN);
  mapping_over = 0;
  CHECK_IS(pthread_create(&thread, NULL, map_on, NULL), 0);
  for (i = 0; i < 200; ++i) {
    ggas_context c;
    volatile void* at;
    CHECK_IS(ggas_context_begin(&c, &shared_device, domain, NULL), 0);
    at = map_doorbells(c.self.vpid);
    ggas_context_end(&c);
    if (at != MAP_FAILED) {
      open += fault_of(at) != SIGBUS;
      munmap((void*)at, 4096);
    }
  }
  mapping_over = 1;
  pthread_join(thread, NULL);
  CHECK_IS(open, 0);
  printf("# %llu mappings during 200 ends\n", (unsigned long long)mapped);
  ggas_device_close(&shared_device);
}
