/* SPDX-License-Identifier: Apache-2.0 */
#include "ggas/device.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/include/uapi/ggas.h"

enum { PAGE = 4096 };

static int call(int fd, unsigned long command, void* argument) { return ioctl(fd, command, argument) ? -errno : 0; }

static void* map(int fd, size_t bytes, uint64_t offset) {
  void* const at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
  return at == MAP_FAILED ? NULL : at;
}

static void unmap(volatile void* at, size_t bytes) {
  if (at) munmap((void*)at, bytes);
}

static void destroy(int fd, uint32_t handle) {
  struct ggas_destroy d = {.size = sizeof d, .handle = handle};
  if (handle) call(fd, GGAS_IOC_DESTROY, &d);
}

int ggas_device_open(ggas_device* d, const char* path) {
  struct ggas_info info = {.size = sizeof info};
  int rc;
  d->fd = open(path, O_RDWR | O_CLOEXEC);
  if (d->fd < 0) return -errno;
  rc = call(d->fd, GGAS_IOC_INFO, &info);
  if (rc == 0 && info.version < GGAS_ABI_VERSION) rc = -EPROTO;
  if (rc) {
    ggas_device_close(d);
    return rc;
  }
  d->node = info.node;
  d->nodes = info.nodes;
  d->contexts = info.contexts;
  d->clock_khz = info.clock_khz;
  d->window_bytes = info.window_bytes;
  return 0;
}

void ggas_device_close(ggas_device* d) {
  if (d->fd >= 0) close(d->fd);
  d->fd = -1;
}

int ggas_device_link(const ggas_device* d) {
  struct ggas_info info = {.size = sizeof info};
  const int rc = call(d->fd, GGAS_IOC_INFO, &info);
  return rc ? rc : (int)info.link_up;
}

int ggas_domain_join(const ggas_device* d, uint32_t number) {
  struct ggas_domain_create p = {.size = sizeof p, .number = number};
  const int rc = call(d->fd, GGAS_IOC_DOMAIN_CREATE, &p);
  return rc ? rc : (int)p.handle;
}

/* ---------------------------------------------------------------------------------------------- contexts */

static int map_context(ggas_context* c, const struct ggas_context_create* p) {
  ggas_rma_context* const r = &c->rma;
  unsigned char* rings;
  c->rings_bytes = p->rings_bytes;
  c->rings = rings = map(c->fd, p->rings_bytes, p->rings);
  r->page = map(c->fd, PAGE, p->doorbells);
  r->descriptors = map(c->fd, PAGE, p->slots);
  if (!rings || !r->page || !r->descriptors) return -ENOMEM;
  c->io = ggas_rma_direct();
  r->io = &c->io;
  r->status = rings;
  r->notifications = rings + p->notify_at;
  r->mailbox = p->mailbox_at ? rings + p->mailbox_at : NULL;
  r->work_queue = p->queue_at ? rings + p->queue_at : NULL;
  r->notify_log2 = p->notify_log2;
  r->mailbox_log2 = p->mailbox_log2;
  r->queue_log2 = p->queue_log2;
  return ggas_rma_start(r) ? 0 : -EIO;
}

int ggas_context_begin(ggas_context* c, const ggas_device* d, int domain, const ggas_context_options* options) {
  static const ggas_context_options usual = {0};
  const ggas_context_options* const o = options ? options : &usual;
  struct ggas_context_create p = {.size = sizeof p,
                                  .domain = (uint32_t)domain,
                                  .notify_log2 = o->notify_log2 ? o->notify_log2 : 8,
                                  .mailbox_log2 = o->mailbox_log2,
                                  .queue_log2 = o->queue_log2,
                                  .eventfd = -1};
  int rc;
  memset(c, 0, sizeof *c);
  c->fd = d->fd;
  c->eventfd = -1;
  if (o->sleeps) {
    p.eventfd = c->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (c->eventfd < 0) return -errno;
  }
  rc = call(d->fd, GGAS_IOC_CONTEXT_CREATE, &p);
  if (rc == 0) {
    c->handle = p.handle;
    c->self.node = (uint16_t)d->node;
    c->self.vpid = (uint8_t)p.vpid;
    rc = map_context(c, &p);
  }
  if (rc) ggas_context_end(c);
  return rc;
}

void ggas_context_end(ggas_context* c) {
  unmap(c->rma.page, PAGE);
  unmap(c->rma.descriptors, PAGE);
  destroy(c->fd, c->handle);
  unmap(c->rings, c->rings_bytes);
  if (c->eventfd >= 0) close(c->eventfd);
  memset(c, 0, sizeof *c);
  c->fd = c->eventfd = -1;
}

int ggas_context_sleep(ggas_context* c, int messages, int timeout_ms) {
  struct pollfd p = {.fd = c->eventfd, .events = POLLIN};
  uint64_t signals;
  int rc;
  if (c->eventfd < 0) return -EINVAL;
  if (messages)
    ggas_rma_arm_messages(&c->rma);
  else
    ggas_rma_arm_notes(&c->rma);
  rc = poll(&p, 1, timeout_ms);
  if (rc < 0) return -errno;
  if (rc > 0 && read(c->eventfd, &signals, sizeof signals) < 0 && errno != EAGAIN) return -errno;
  return rc;
}

/* ---------------------------------------------------------------------------------------------- memory */

static int begin_region(ggas_region* r, const ggas_device* d, struct ggas_region_create* p) {
  const int rc = call(d->fd, GGAS_IOC_REGION_CREATE, p);
  r->fd = d->fd;
  r->handle = rc ? 0 : p->handle;
  r->nla = rc ? 0 : p->nla;
  return rc;
}

int ggas_region_begin(ggas_region* r, const ggas_device* d, int domain, void* address, size_t bytes, unsigned rights) {
  struct ggas_region_create p = {
      .size = sizeof p, .domain = (uint32_t)domain, .rights = rights, .address = (uintptr_t)address, .bytes = bytes};
  return begin_region(r, d, &p);
}

int ggas_region_begin_dmabuf(ggas_region* r, const ggas_device* d, int domain, int fd, uint64_t offset, uint64_t bytes,
                             unsigned rights) {
  struct ggas_region_create p = {.size = sizeof p,
                                 .domain = (uint32_t)domain,
                                 .rights = rights,
                                 .address = offset,
                                 .bytes = bytes,
                                 .flags = GGAS_REGION_DMABUF,
                                 .fd = fd};
  return begin_region(r, d, &p);
}

void ggas_region_end(ggas_region* r) {
  destroy(r->fd, r->handle);
  r->handle = 0;
}

int ggas_window_begin(ggas_window* w, const ggas_device* d, int domain, unsigned number, uint64_t bytes) {
  struct ggas_window_create p = {.size = sizeof p, .domain = (uint32_t)domain, .bytes = bytes, .number = number};
  const int rc = call(d->fd, GGAS_IOC_WINDOW_CREATE, &p);
  memset(w, 0, sizeof *w);
  if (rc) return rc;
  w->fd = d->fd;
  w->handle = p.handle;
  w->bytes = bytes;
  w->nodes = d->nodes;
  w->own = map(d->fd, bytes, p.segment);
  w->remote = map(d->fd, bytes * d->nodes, p.window);
  if (w->own && w->remote) return 0;
  ggas_window_end(w);
  return -ENOMEM;
}

void ggas_window_end(ggas_window* w) {
  unmap(w->remote, w->bytes * w->nodes);
  unmap(w->own, w->bytes);
  destroy(w->fd, w->handle);
  memset(w, 0, sizeof *w);
}
