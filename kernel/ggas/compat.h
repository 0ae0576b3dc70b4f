/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What differs among the kernels that the driver is built for: each call has its newest form here. */
#ifndef GGAS_COMPAT_H
#define GGAS_COMPAT_H

#include <linux/device.h>
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/eventfd.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/version.h>

/* Waits until the exporter has moved the memory; > 0: it has. */
static inline long ggas_resv_wait(struct dma_resv *resv, unsigned long jiffies_)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 14, 0)
	return dma_resv_wait_timeout_rcu(resv, false, false, jiffies_);
#elif LINUX_VERSION_CODE < KERNEL_VERSION(5, 19, 0)
	return dma_resv_wait_timeout(resv, false, false, jiffies_);
#else
	return dma_resv_wait_timeout(resv, DMA_RESV_USAGE_KERNEL, false, jiffies_);
#endif
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
#define GGAS_MOVE_NOTIFY move_notify
#define ggas_move_notify dma_buf_move_notify
#else
#define GGAS_MOVE_NOTIFY invalidate_mappings
#define ggas_move_notify dma_buf_invalidate_mappings
#endif

/* Since 5.16 a module says that it uses dma-bufs; the name is a string since 6.13. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define GGAS_IMPORT_DMA_BUF MODULE_IMPORT_NS(DMA_BUF)
#else
#define GGAS_IMPORT_DMA_BUF MODULE_IMPORT_NS("DMA_BUF")
#endif

/*
 * Pins a run of the caller's pages for long; how many, or a negative errno. Of memory that is pinned for reading alone
 * its owner's later stores must be seen, too: pages that a store would replace by copies (never written, or of a
 * private file) are replaced before. Linux does so by itself since 6.2; before, a pin for writing does, also where the
 * mapping is for reading alone. Memory that others share is never replaced, and may be mapped for reading alone.
 */
static inline long ggas_pin_pages(unsigned long at, unsigned long count, bool write, struct page **page)
{
	unsigned int flags = FOLL_LONGTERM | (write ? FOLL_WRITE : 0);
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
	struct vm_area_struct *vma;
	bool shared;
	long rc;

	if (!write) {
		rc = pin_user_pages_fast(at, count, flags | FOLL_WRITE | FOLL_FORCE, page);
		if (rc != -EFAULT)
			return rc;
		mmap_read_lock(current->mm);
		vma = find_vma(current->mm, at);
		shared = vma && vma->vm_start <= at && vma->vm_flags & VM_SHARED;
		mmap_read_unlock(current->mm);
		if (!shared)
			return rc;
		count = 1;
	}
#endif
	return pin_user_pages_fast(at, count, flags, page);
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags &= ~flags;
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define ggas_class_create(name) class_create(THIS_MODULE, name)
#else
#define ggas_class_create(name) class_create(name)
#endif

static inline void ggas_eventfd_signal(struct eventfd_ctx *ctx)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
	eventfd_signal(ctx, 1);
#else
	eventfd_signal(ctx);
#endif
}

#endif
