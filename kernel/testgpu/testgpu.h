/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A GPU for tests: QEMU's device ivshmem-plain, whose BAR2 is memory. It does what a GPU's driver does to others: gives
 * out memory of its BAR as dma-bufs, moves it, takes it away.
 */
#ifndef TESTGPU_H
#define TESTGPU_H

#include <linux/dma-buf.h>
#include <linux/genalloc.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/pci.h>

struct testgpu {
	struct kref users;		/* the PCI driver, and every buffer */
	struct pci_dev *pci;
	void __iomem *bar;		/* NULL: the device is gone; under `lock` */
	phys_addr_t phys;
	struct mutex lock;		/* of `bar`; inside of a buffer's reservation */
	struct gen_pool *pool;		/* bus addresses of free memory */
};

/* memory.c: pieces of the BAR. `at` is a physical address, 0 none. */
int testgpu_memory_init(struct testgpu *gpu);
void testgpu_memory_exit(struct testgpu *gpu);
phys_addr_t testgpu_take(struct testgpu *gpu, size_t bytes, int align);	/* zeros */
void testgpu_give(struct testgpu *gpu, phys_addr_t at, size_t bytes);
int testgpu_copy(struct testgpu *gpu, phys_addr_t to, phys_addr_t from, size_t bytes);

/* buffer.c */
struct dma_buf *testgpu_buffer_new(struct testgpu *gpu, size_t bytes);
int testgpu_buffer_move(struct dma_buf *buffer);
unsigned long testgpu_buffers_move(void);
int testgpu_buffer_revoke(struct dma_buf *buffer);
bool testgpu_buffer_is(const struct dma_buf *buffer);

/* shrinker.c */
int testgpu_shrinker_init(void);
void testgpu_shrinker_exit(void);

/* device_memory.c: by addresses of the GPU */
int testgpu_device_alloc(struct testgpu *gpu, u64 bytes, u64 *address);
int testgpu_device_free(u64 address);
void testgpu_device_free_all(void);
phys_addr_t testgpu_device_memory(u64 address, u64 bytes);

/* p2p.c */
#ifdef TESTGPU_P2P
void testgpu_tell_freed(u64 address, u64 bytes);
#else
static inline void testgpu_tell_freed(u64 address, u64 bytes)
{
}
#endif

/* pci.c */
void testgpu_put(struct testgpu *gpu);

#endif
