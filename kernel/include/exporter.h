/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What exporters of a GPU's memory as dma-bufs share. */
#ifndef GGAS_EXPORTER_H
#define GGAS_EXPORTER_H

#include <linux/dma-buf.h>
#include <linux/fcntl.h>
#include <linux/mm.h>

#include "compat.h"

/*
 * Kernels without CONFIG_DMABUF_MOVE_NOTIFY pin a mapped buffer, for importers that cannot handle a move. All
 * importers of this driver can. A pin would not keep the memory's owner from freeing it, nor a GPU's driver from
 * resetting it.
 */
static inline int exporter_pin(struct dma_buf_attachment *attachment)
{
	return 0;
}

static inline void exporter_unpin(struct dma_buf_attachment *attachment)
{
}

/* Pages come by faults of `ops`, which find the buffer in vm_private_data. */
static inline int exporter_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma,
				const struct vm_operations_struct *ops)
{
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	vm_flags_set(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_private_data = dmabuf;
	vma->vm_ops = ops;
	return 0;
}

static inline struct dma_buf *exporter_new(const struct dma_buf_ops *ops, size_t bytes, void *priv)
{
	struct dma_buf_export_info info = {
		.exp_name = KBUILD_MODNAME,
		.owner = THIS_MODULE,
		.ops = ops,
		.size = bytes,
		.flags = O_RDWR,
		.priv = priv,
	};

	return dma_buf_export(&info);
}

/* Neither a device nor a processor reaches the memory's old place after it. Under the buffer's reservation. */
static inline void exporter_tell_users(struct dma_buf *dmabuf)
{
	ggas_move_notify(dmabuf);
	unmap_mapping_range(dmabuf->file->f_mapping, 0, 0, 1);
}

#endif
