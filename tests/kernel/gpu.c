/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of other devices: dma-bufs of the test GPU (kernel/testgpu), which move and are revoked, and of udmabuf. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "kernel/include/uapi/testgpu.h"
#include "tests/kernel/tests.h"

#define GPU_SETTINGS "/sys/module/testgpu/parameters/"
#define RESERVE "/proc/sys/vm/min_free_kbytes"

typedef struct buffer {
  int fd;
  unsigned char* at;
} buffer;

static int gpu(void) {
  static int fd = -1;
  if (fd < 0) fd = open("/dev/testgpu", O_RDWR | O_CLOEXEC);
  return fd;
}

static int act(unsigned long what, const buffer* b) {
  struct testgpu_buffer p = {.fd = b->fd};
  return ioctl(gpu(), what, &p) ? -errno : 0;
}

static buffer gpu_memory(size_t bytes) {
  struct testgpu_alloc p = {.bytes = bytes};
  buffer b = {-1, NULL};
  CHECK_IS(ioctl(gpu(), TESTGPU_IOC_ALLOC, &p), 0);
  b.fd = p.fd;
  b.at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b.fd, 0);
  CHECK(b.at != MAP_FAILED);
  return b;
}

static void drop(buffer* b, size_t bytes) {
  munmap(b->at, bytes);
  close(b->fd);
}

/* Informs the other node of a region as word 0, and of the own context as word 1. */
static ggas_region share_buffer(node* n, const buffer* b, size_t offset, size_t bytes, unsigned rights) {
  ggas_region r;
  CHECK_IS(ggas_region_begin_dmabuf(&r, &n->dev, n->domain, b->fd, offset, bytes, rights), 0);
  tell(n, 0, r.nla);
  tell(n, 1, n->context.self.vpid);
  meet(n);
  return r;
}

/* From the GPU of a node to that of the other and back, misaligned; nothing lies in host memory. */
void gpu_to_gpu(node* n) {
  enum { SHIFT = 4096 + 24, MOVED = BYTES - 8192 };
  buffer from = gpu_memory(BYTES), to = gpu_memory(BYTES);
  ggas_region source, back, target = share_buffer(n, &to, 4096, BYTES - 4096, GGAS_READ | GGAS_WRITE);
  ggas_rma_note note;
  size_t i, bad = 0;
  CHECK_IS(ggas_region_begin_dmabuf(&source, &n->dev, n->domain, from.fd, 0, BYTES, GGAS_READ), 0);
  fill(from.at, BYTES, n->me);
  post(n, ggas_rma_put(peer(n), source.nla + 3, reported(n, 0) + 24, MOVED, GGAS_RMA_NOTIFY_COMPLETER | GGAS_RMA_STRONG,
                       5));
  note = next_note(n);
  CHECK_IS(note.kind, GGAS_RMA_NOTE_COMPLETER);
  for (i = 0; i < MOVED; ++i) bad += to.at[SHIFT + i] != pattern(n->other, i + 3);
  CHECK_IS(bad, 0);
  CHECK_IS(to.at[SHIFT - 1], 0);
  CHECK_IS(to.at[SHIFT + MOVED], 0);
  meet(n);
  memset(from.at, 0, BYTES);
  CHECK_IS(ggas_region_begin_dmabuf(&back, &n->dev, n->domain, from.fd, 0, BYTES, GGAS_WRITE), 0);
  post(n, ggas_rma_get(peer(n), reported(n, 0) + 24, back.nla + 3, MOVED, GGAS_RMA_NOTIFY_COMPLETER, 6));
  note = next_note(n);
  CHECK_IS(note.kind, GGAS_RMA_NOTE_COMPLETER);
  for (bad = 0, i = 0; i < MOVED; ++i) bad += from.at[i + 3] != pattern(n->me, i + 3);
  CHECK_IS(bad, 0);
  CHECK_IS(ggas_region_begin_dmabuf(&back, &n->dev, n->domain, from.fd, 4096, BYTES, GGAS_WRITE), -EINVAL);
  meet(n);
  ggas_region_end(&source);
  ggas_region_end(&target);
  drop(&to, BYTES);
  drop(&from, BYTES);
}

/* A put to the region that the other node informed of, again until it is not refused; how often it was. */
static unsigned put_until_done(node* n, const ggas_region* source) {
  unsigned refused = 0;
  for (;; ++refused) {
    post(n, ggas_rma_put(peer(n), source->nla, reported(n, 0), BYTES, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 1));
    if (next_note(n).kind == GGAS_RMA_NOTE_REQUESTER) return refused;
  }
}

/* Puts until `word` of the board changes; how many were refused. */
static unsigned put_until_reported(node* n, const ggas_region* source, unsigned word) {
  unsigned refused = 0, last = 0;
  while (!last) {
    last = reported(n, word) != 0;
    refused += put_until_done(n, source);
  }
  return refused;
}

/* The exporter moves a buffer while the other node puts data there. The buffer's former place then holds other
 * memory, which no put may reach; the data arrive at the new place, under the same address. */
void gpu_memory_moves(node* n) {
  enum { MOVES = 20 };
  if (n->me == 1) {
    buffer b = gpu_memory(BYTES), old;
    ggas_region r = share_buffer(n, &b, 0, BYTES, GGAS_WRITE);
    unsigned i;
    for (i = 0; i < MOVES; ++i) {
      CHECK_IS(act(TESTGPU_IOC_MOVE, &b), 0);
      old = gpu_memory(BYTES); /* the lowest free place: where the buffer was, every second time */
      fill(old.at, BYTES, i);
      usleep(2000);
      CHECK_IS(wrong(old.at, BYTES, i), 0);
      drop(&old, BYTES);
    }
    meet(n);
    tell(n, 2, 1);
    meet(n);
    CHECK_IS(wrong(b.at, BYTES, 9), 0);
    ggas_region_end(&r);
    drop(&b, BYTES);
  } else {
    unsigned char* const from = pages(BYTES);
    ggas_region source, dummy = share(n, from, BYTES, GGAS_READ);
    unsigned refused;
    fill(from, BYTES, 9);
    CHECK_IS(ggas_region_begin(&source, &n->dev, n->domain, from, BYTES, GGAS_READ), 0);
    *remote_word(n, 0) = ++n->met; /* the other waits for no one while it moves */
    refused = put_until_reported(n, &source, 2);
    printf("# %u puts met a move and were refused\n", refused);
    WAIT(own_word(n, 0) >= n->met);
    meet(n);
    ggas_region_end(&source);
    ggas_region_end(&dummy);
    munmap(from, BYTES);
  }
  tell(n, 2, 0);
}

/* How much memory the kernel must keep free, in KB, so that its largest zone has room for only so many pages more. */
static long reserve_all_but(long pages) {
  long free_pages = 0, managed, of_zone = 0, of_largest = 0, largest = 1, all = 0;
  char line[128];
  FILE* const f = fopen("/proc/zoneinfo", "r");
  while (f && fgets(line, sizeof line, f)) {
    if (sscanf(line, " pages free %ld", &free_pages) == 1) of_zone = free_pages;
    if (sscanf(line, " managed %ld", &managed) != 1) continue;
    all += managed;
    if (managed <= largest) continue;
    largest = managed;
    of_largest = of_zone;
  }
  if (f) fclose(f);
  return (of_largest - pages) * all / largest * 4; /* each zone keeps its share */
}

/* The GPU's driver moves a buffer that the NIC uses because memory is short, in the midst of a call of the NIC's own
 * driver that finds no memory for its rings: the call ends, and the buffer is reached at its new place. */
static void call_without_memory(node* n) {
  enum { MOVES = 8, LIMIT = 32 };
  static const ggas_context_options large = {.notify_log2 = 4, .queue_log2 = 16};
  static ggas_context c[LIMIT];
  const long before = read_number(GPU_SETTINGS "shrunk"), reserve = read_number(RESERVE);
  unsigned got = 0, i;
  write_number(GPU_SETTINGS "shrink", MOVES);
  write_number(RESERVE, reserve_all_but(has_iommu() ? 1024 : 256)); /* an IOMMU has tables, too */
  while (got < LIMIT && ggas_context_begin(&c[got], &n->dev, n->domain, &large) == 0) ++got;
  write_number(RESERVE, reserve);
  CHECK(got < LIMIT);
  CHECK(read_number(GPU_SETTINGS "shrunk") - before >= MOVES);
  for (i = 0; i < got; ++i) ggas_context_end(&c[i]);
}

void gpu_memory_moves_when_short(node* n) {
  buffer b = gpu_memory(BYTES);
  unsigned char* const from = pages(BYTES);
  ggas_region source, target = share_buffer(n, &b, 0, BYTES, GGAS_WRITE);
  call_without_memory(n);
  fill(from, BYTES, 4 + n->me);
  CHECK_IS(ggas_region_begin(&source, &n->dev, n->domain, from, BYTES, GGAS_READ), 0);
  meet(n);
  put_until_done(n, &source);
  meet(n);
  CHECK_IS(wrong(b.at, BYTES, 4 + n->other), 0);
  meet(n);
  ggas_region_end(&source);
  ggas_region_end(&target);
  drop(&b, BYTES);
  munmap(from, BYTES);
}

/* Memory is revoked for good while the other node puts there. The sender gets an error; the memory has another owner at
 * once. */
void gpu_memory_is_revoked(node* n) {
  if (n->me == 1) {
    buffer b = gpu_memory(BYTES), next;
    ggas_region r = share_buffer(n, &b, 0, BYTES, GGAS_WRITE), late;
    while (b.at[0] != pattern(3, 0)) usleep(100);
    CHECK_IS(act(TESTGPU_IOC_REVOKE, &b), 0);
    next = gpu_memory(BYTES);
    CHECK_IS(fault_of(b.at), SIGBUS);
    CHECK_IS(act(TESTGPU_IOC_MOVE, &b), -ENODEV);
    CHECK_IS(ggas_region_begin_dmabuf(&late, &n->dev, n->domain, b.fd, 0, BYTES, GGAS_WRITE), -ENODEV);
    meet(n);
    CHECK_IS(next.at[0], 0);
    ggas_region_end(&r);
    drop(&b, BYTES);
    drop(&next, BYTES);
  } else {
    unsigned char* const from = pages(BYTES);
    ggas_region source = share(n, from, BYTES, GGAS_READ);
    fill(from, BYTES, 3);
    do post(n, ggas_rma_put(peer(n), source.nla, reported(n, 0), BYTES, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 1));
    while (next_note(n).kind == GGAS_RMA_NOTE_REQUESTER);
    meet(n);
    ggas_region_end(&source);
    munmap(from, BYTES);
  }
}

/* A file's memory as dma-buf; -1: this kernel makes none. */
static int udmabuf(int file) {
  struct udmabuf_create p = {.memfd = (unsigned)file, .flags = UDMABUF_FLAGS_CLOEXEC, .size = BYTES};
  const int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
  const int fd = device < 0 ? -1 : ioctl(device, UDMABUF_CREATE, &p);
  if (device >= 0) close(device);
  return fd;
}

void memory_of_another_exporter(node* n) {
  const int file = memfd_create("memory", MFD_ALLOW_SEALING);
  buffer b = {-1, NULL};
  ggas_region r;
  ggas_rma_note note;
  CHECK_IS(ftruncate(file, BYTES), 0);
  CHECK_IS(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  b.fd = udmabuf(file);
  if (b.fd < 0) {
    printf("# no /dev/udmabuf in this kernel\n");
    close(file);
    return;
  }
  b.at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  r = share_buffer(n, &b, 0, BYTES, GGAS_READ | GGAS_WRITE);
  fill(b.at, BYTES / 2, n->me);
  post(n, ggas_rma_put(peer(n), r.nla, reported(n, 0) + BYTES / 2, BYTES / 2, GGAS_RMA_NOTIFY_COMPLETER, 1));
  note = next_note(n);
  CHECK_IS(note.kind, GGAS_RMA_NOTE_COMPLETER);
  CHECK_IS(wrong(b.at + BYTES / 2, BYTES / 2, n->other), 0);
  meet(n);
  ggas_region_end(&r);
  drop(&b, BYTES);
  close(file);
}
