/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What differs among the kernels that the driver is built for: each call has its newest form here. */
#ifndef GGAS_COMPAT_H
#define GGAS_COMPAT_H

#include <linux/device.h>
#include <linux/eventfd.h>
#include <linux/mm.h>
#include <linux/version.h>

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
