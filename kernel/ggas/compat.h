/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What differs among the kernels that the driver is built for: each call has its newest form here. GGAS_HAS_...: what
 * the headers have (include/features.mk).
 */
#ifndef GGAS_COMPAT_H
#define GGAS_COMPAT_H

#include <linux/device.h>
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/eventfd.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/version.h>

/* Waits until the exporter has moved the memory; > 0: it has. */
static inline long ggas_resv_wait(struct dma_resv *resv, unsigned long jiffies_)
{
#if defined(GGAS_HAS_RESV_WAIT_RCU)
	return dma_resv_wait_timeout_rcu(resv, false, false, jiffies_);
#elif !defined(GGAS_HAS_RESV_USAGE)
	return dma_resv_wait_timeout(resv, false, false, jiffies_);
#else
	return dma_resv_wait_timeout(resv, DMA_RESV_USAGE_KERNEL, false, jiffies_);
#endif
}

#ifndef GGAS_HAS_INVALIDATE_MAPPINGS
#define GGAS_MOVE_NOTIFY move_notify
#define ggas_move_notify dma_buf_move_notify
#else
#define GGAS_MOVE_NOTIFY invalidate_mappings
#define ggas_move_notify dma_buf_invalidate_mappings
#endif

/* Since 5.16 a module says that it uses dma-bufs. */
#ifndef GGAS_HAS_NAMESPACE_STRINGS
#define GGAS_IMPORT_DMA_BUF MODULE_IMPORT_NS(DMA_BUF)
#else
#define GGAS_IMPORT_DMA_BUF MODULE_IMPORT_NS("DMA_BUF")
#endif

/*
 * Pins a run of the caller's pages for a long time. Returns the number of pages, or a negative errno. Memory that is
 * pinned for reading only must also show later stores of its owner. So pages that a store would replace by copies
 * (never written, or of a private file) are replaced before. Linux does this itself since 6.2, but no header shows
 * whether it does. Before 6.2, a pin for writing does it, also where the mapping is for reading only. That does no
 * harm on an older version into which the change was carried back. Memory that is shared is never replaced, and may
 * be mapped for reading only.
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

#ifndef GGAS_HAS_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags &= ~flags;
}
#endif

#ifdef GGAS_HAS_CLASS_OWNER
#define ggas_class_create(name) class_create(THIS_MODULE, name)
#else
#define ggas_class_create(name) class_create(name)
#endif

/* Since 5.13. */
#ifndef lockdep_assert_not_held
#define lockdep_assert_not_held(l) ((void)(l))
#endif

static inline void ggas_eventfd_signal(struct eventfd_ctx *ctx)
{
#ifdef GGAS_HAS_EVENTFD_SIGNAL_ONE
	eventfd_signal(ctx);
#else
	eventfd_signal(ctx, 1);
#endif
}

#endif
