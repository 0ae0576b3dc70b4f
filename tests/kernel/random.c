/* SPDX-License-Identifier: Apache-2.0 */
/* A user without rights who calls, maps, moves mappings, stores, loads and forks at random, with a thread that calls
 * next to that and signals that come in between; while root's traffic goes on. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "kernel/include/uapi/ggas.h"
#include "kernel/include/uapi/testgpu.h"
#include "tests/kernel/tests.h"

enum { PAGE = 4096, USER = 1000, HIS_DOMAIN = 9, MAPPINGS = 16, MEMORY = 16 * PAGE };

static struct state {
  int fd, gpu, buffer;
  unsigned char* memory;
  struct mapping {
    volatile unsigned char* at;
    size_t bytes;
  } map[MAPPINGS];
} s;

static __thread uint64_t seed; /* of this thread */

static uint64_t any(uint64_t below) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed % below;
}

/* Most often something that could be meant, sometimes anything. */
static uint64_t value(void) {
  switch (any(8)) {
    case 0:
      return any(24); /* a handle, a logarithm, a number */
    case 1:
      return HIS_DOMAIN;
    case 2:
      return (uintptr_t)s.memory + any(MEMORY);
    case 3:
      return PAGE << any(8);
    case 4:
      return (uint64_t)(any(2) ? s.buffer : s.fd);
    case 5:
      return any(4) << 32 | any(4);
    case 6:
      return 0;
    default:
      return any(~0ull) << any(64);
  }
}

static void random_call(void) {
  static const unsigned sizes[] = {sizeof(struct ggas_info),           sizeof(struct ggas_domain_create),
                                   sizeof(struct ggas_context_create), sizeof(struct ggas_region_create),
                                   sizeof(struct ggas_window_create),  sizeof(struct ggas_destroy)};
  uint64_t words[32] = {0};
  const unsigned nr = (unsigned)any(7);
  uint32_t* const fields = (uint32_t*)words;
  unsigned i;
  const unsigned size = nr < 6 && any(16) ? sizes[nr] : (unsigned)any(sizeof words);
  for (i = 0; i < size / 4; ++i) fields[i] = (uint32_t)value();
  for (i = 2; i < size / 8; ++i)
    if (any(2)) words[i] = value();
  fields[0] = any(32) ? size : (uint32_t)value();
  if ((nr == 1 || nr == 4) && any(4)) fields[nr == 1 ? 3 : 11] = 0; /* reserved */
  ioctl(s.fd, _IOWR(GGAS_IOC_TYPE, nr, struct ggas_info), any(64) ? (void*)words : (void*)value());
}

static void random_mapping(void) {
  struct mapping* const m = &s.map[any(MAPPINGS)];
  const uint64_t offset = any(7) << 44 | any(8) << 32 | (any(4) ? 0 : any(64) * PAGE);
  if (m->at) munmap((void*)m->at, m->bytes);
  m->bytes = PAGE * (1 + any(3));
  m->at = mmap(NULL, m->bytes, any(4) ? PROT_READ | PROT_WRITE : (int)any(8), any(16) ? MAP_SHARED : MAP_PRIVATE, s.fd,
               (off_t)offset);
  if (m->at == MAP_FAILED) m->at = NULL;
}

/* Changes an existing mapping: longer, shorter, elsewhere, with other rights, or without its pages. */
static void random_change(void) {
  struct mapping* const m = &s.map[any(MAPPINGS)];
  const size_t bytes = PAGE * (1 + any(4));
  void* moved;
  if (!m->at) return;
  switch (any(4)) {
    case 0:
      mprotect((void*)m->at, m->bytes, (int)any(8));
      break;
    case 1:
      madvise((void*)m->at, m->bytes, any(2) ? MADV_DONTNEED : MADV_DOFORK);
      break;
    default:
      moved = mremap((void*)m->at, m->bytes, bytes, any(2) ? MREMAP_MAYMOVE : 0);
      if (moved == MAP_FAILED) return;
      m->at = moved;
      m->bytes = bytes;
  }
}

static sigjmp_buf faulted;
static void on_fault(int number) { siglongjmp(faulted, number); }

static void random_access(void) {
  struct mapping* const m = &s.map[any(MAPPINGS)];
  volatile unsigned char* at;
  if (!m->at || sigsetjmp(faulted, 1)) return;
  at = m->at + any(m->bytes / 8) * 8;
  switch (any(8)) {
    case 0:
      (void)*(volatile uint64_t*)at;
      break;
    case 1:
      (void)*(volatile uint32_t*)at;
      break;
    case 2:
      *(volatile unsigned char*)(at + any(8)) = (unsigned char)value();
      break;
    case 3:
      *(volatile uint32_t*)(at + 4 * any(2)) = (uint32_t)value();
      break;
    default:
      *(volatile uint64_t*)at = value();
  }
}

static void open_again(void) {
  unsigned i;
  for (i = 0; i < MAPPINGS; ++i) {
    if (s.map[i].at) munmap((void*)s.map[i].at, s.map[i].bytes);
    s.map[i].at = NULL;
  }
  if (s.fd >= 0) close(s.fd);
  do s.fd = open("/dev/ggas0", O_RDWR | O_CLOEXEC);
  while (s.fd < 0 && errno == EINTR);
}

/* A child goes on with what it has of the parent's, and ends in one way or another. */
static void random_child(void) {
  const pid_t child = fork();
  unsigned i;
  if (child == 0) {
    for (i = 0; i < 8; ++i) any(2) ? random_access() : random_call();
    if (any(2)) kill(getpid(), SIGKILL);
    _exit(0);
  }
  if (child > 0 && any(2)) kill(child, SIGKILL);
  while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
}

static void* call_next_to_it(void* with) {
  seed = (uintptr_t)with;
  for (;;) {
    random_call();
    usleep((unsigned)any(2000));
  }
  return NULL;
}

/* Waits in the kernel end early now and then. */
static void interrupted(int number) { (void)number; }
static void begin_signals(void) {
  const struct sigaction without_restart = {.sa_handler = interrupted};
  const struct itimerval often = {{0, 3000}, {0, 3000}};
  sigaction(SIGALRM, &without_restart, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
}

static int at_random(uint64_t own_seed, unsigned rounds) {
  struct testgpu_alloc p = {.bytes = PAGE * 4};
  pthread_t caller;
  unsigned i;
  if (setgid(USER) || setuid(USER)) return 1;
  seed = own_seed;
  s = (struct state){.fd = -1, .memory = pages(MEMORY)};
  s.gpu = open("/dev/testgpu", O_RDWR);
  if (s.gpu < 0 || ioctl(s.gpu, TESTGPU_IOC_ALLOC, &p)) return 2;
  s.buffer = p.fd;
  signal(SIGBUS, on_fault);
  signal(SIGSEGV, on_fault);
  open_again();
  if (pthread_create(&caller, NULL, call_next_to_it, (void*)(own_seed | 1))) return 4;
  begin_signals();
  for (i = 0; i < rounds && s.fd >= 0; ++i) {
    const uint64_t what = any(256);
    if (what == 0) {
      open_again();
    } else if (what == 1) {
      struct testgpu_buffer b = {.fd = s.buffer};
      ioctl(s.gpu, TESTGPU_IOC_MOVE, &b);
    } else if (what == 2) {
      random_child();
    } else if (what < 12) {
      random_change();
    } else if (what < 80) {
      random_call();
    } else if (what < 110) {
      random_mapping();
    } else {
      random_access();
    }
  }
  return s.fd < 0 ? 3 : 0;
}

/* Next to him puts of root arrive whole, and nothing of them fails. */
void random_calls(node* n) {
  unsigned char *const from = pages(BYTES), *const to = pages(BYTES);
  const unsigned rounds = n->soak ? 1000000 : 10000;
  const uint64_t of_user = 0x9e3779b97f4a7c15ull * (n->me + 1) + n->soak;
  ggas_region source, target;
  unsigned sent = 0, i;
  int status = -1;
  pid_t child;
  CHECK_IS(write_file("/sys/class/ggas/ggas0/grant", "9 1000"), 0);
  CHECK_IS(ggas_region_begin(&source, &n->dev, n->domain, from, BYTES, GGAS_READ), 0);
  target = share(n, to, BYTES, GGAS_WRITE);
  fflush(stdout);
  child = fork();
  if (child == 0) _exit(at_random(of_user, rounds));
  for (i = 0; waitpid(child, &status, WNOHANG) == 0; ++i) {
    fill(from, 8192, i);
    post(n, ggas_rma_put(peer(n), source.nla, reported(n, 0), 8192, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, i));
    CHECK_IS(next_note(n).kind, GGAS_RMA_NOTE_REQUESTER);
    *remote_word(n, 0x8000) = i;
    ++sent;
  }
  CHECK_IS(status, 0);
  fill(from, BYTES, 5 + n->me);
  post(n, ggas_rma_put(peer(n), source.nla, reported(n, 0), BYTES, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 1));
  CHECK_IS(next_note(n).kind, GGAS_RMA_NOTE_REQUESTER);
  meet(n);
  CHECK_IS(wrong(to, BYTES, 5 + n->other), 0);
  printf("# %u random acts, seed %#llx, together with %u puts\n", rounds, (unsigned long long)of_user, sent);
  CHECK_IS(write_file("/sys/class/ggas/ggas0/revoke", "9 1000"), 0);
  ggas_region_end(&source);
  ggas_region_end(&target);
  munmap(from, BYTES);
  munmap(to, BYTES);
}
