/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What differs among the kernels that the driver is built for: each call has its newest form here. */
#ifndef GGAS_COMPAT_H
#define GGAS_COMPAT_H

#include <linux/device.h>
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/eventfd.h>
#include <linux/mm.h>
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

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
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
