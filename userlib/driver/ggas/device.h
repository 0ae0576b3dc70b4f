/* SPDX-License-Identifier: Apache-2.0 */
/* The NIC through its Linux driver (/dev/ggasN): domains, contexts, regions, windows, sleeping. C99.
 *
 * Calls return 0 or more, or a negative errno. What a call makes lives until its ..._end, or until the device is
 * closed; after a reset or the removal of the NIC every call says -ENODEV, mappings fault with SIGBUS, and the device
 * must be closed and opened again. One thread at a time uses an object; different objects are independent. Data move
 * without system calls: by `rma` of a context (ggas/rma.h) and by loads and stores of a window. */
#ifndef GGAS_DEVICE_H
#define GGAS_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "ggas/rma.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ggas_device {
  int fd;
  uint32_t node, nodes, contexts, clock_khz;
  uint64_t window_bytes; /* of all nodes together */
} ggas_device;

/* `path`: "/dev/ggas0" .... -ENOENT: no driver; -EPROTO: a driver with an interface older than this library's. */
int ggas_device_open(ggas_device* d, const char* path);
void ggas_device_close(ggas_device* d);
/* 1: packets reach the neighbour; 0: they do not. */
int ggas_device_link(const ggas_device* d);

/* A handle of the protection domain `number` (1 ... 65535, the same on all nodes). -EPERM: the administrator has not
 * granted it to this user. */
int ggas_domain_join(const ggas_device* d, uint32_t number);

typedef struct ggas_context_options {
  uint32_t notify_log2;  /* of notification records, 4 ... 16; 0: 8 */
  uint32_t mailbox_log2; /* of messages, 2 ... 12; 0: no mailbox */
  uint32_t queue_log2;   /* of work queue slots, 4 ... 16; 0: descriptors go to their page */
  int sleeps;            /* 1: ggas_context_sleep() may be called */
} ggas_context_options;

typedef struct ggas_context {
  ggas_rma_context rma; /* for ggas_rma_post(), ggas_rma_next_note() ... */
  ggas_rma_io io;
  ggas_rma_peer self; /* what others put as destination of notifications and messages */
  int fd, eventfd;
  uint32_t handle;
  void* rings;
  size_t rings_bytes;
} ggas_context;

/* `options` may be null. -ENOSPC: all contexts of the NIC are taken. Do not move `c` while it lives. */
int ggas_context_begin(ggas_context* c, const ggas_device* d, int domain, const ggas_context_options* options);
/* Nothing that the context began reaches memory of this node after it. */
void ggas_context_end(ggas_context* c);
/* Sleeps until a notification (or, with `messages` = 1, a message) is there that the reader has not taken, at most
 * `timeout_ms` (below 0: for ever). 1: look again; 0: time is over. Take all that is there before. */
int ggas_context_sleep(ggas_context* c, int messages, int timeout_ms);

typedef struct ggas_region {
  uint64_t nla; /* of the first byte: for descriptors */
  int fd;
  uint32_t handle;
} ggas_region;

enum { GGAS_READ = 1, GGAS_WRITE = 2 };

/* Memory of this process for put, get and atomics of the domain. Its pages are pinned and count as locked memory:
 * -ENOMEM beyond RLIMIT_MEMLOCK. */
int ggas_region_begin(ggas_region* r, const ggas_device* d, int domain, void* address, size_t bytes, unsigned rights);
/* Memory of another device, as of a GPU: `bytes` from `offset` of the dma-buf `fd`. While its driver moves the memory,
 * accesses to it end with an error; afterwards it is reached again, with the same `nla`. -EINVAL: beyond the end of
 * the dma-buf.
 */
int ggas_region_begin_dmabuf(ggas_region* r, const ggas_device* d, int domain, int fd, uint64_t offset, uint64_t bytes,
                             unsigned rights);
/* No process reaches the memory after it; who tries gets an error. */
void ggas_region_end(ggas_region* r);

typedef struct ggas_window {
  volatile unsigned char* own;    /* memory of this node that others reach */
  volatile unsigned char* remote; /* node n's at n * bytes; the own one too, by way of the NIC */
  uint64_t bytes;                 /* of one node */
  int fd;
  uint32_t handle, nodes;
} ggas_window;

/* The window reaches windows of the same number (0 ... 63) and domain; `bytes`: a power of two from 4096 on, the same
 * on all nodes. -EBUSY: the number is taken on this node; -ENOSPC: the NIC has no room for another window. */
int ggas_window_begin(ggas_window* w, const ggas_device* d, int domain, unsigned number, uint64_t bytes);
void ggas_window_end(ggas_window* w);

#ifdef __cplusplus
}
#endif

#endif
