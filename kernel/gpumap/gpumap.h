/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Memory of an NVIDIA GPU as dma-bufs, by nvidia_p2p_get_pages(). kernel/ggas knows dma-bufs alone: those of this
 * module, and those that newer drivers of the GPU give themselves.
 */
#ifndef GPUMAP_H
#define GPUMAP_H

#include <linux/dma-buf.h>
#include <linux/types.h>

#include "nv-p2p.h"

#define GPUMAP_ALIGN	65536	/* of what the interface pins */

/* p2p.c: the vendor's functions, found when they are needed: this module loads without his driver. */
struct gpumap_p2p {
	typeof(&nvidia_p2p_get_pages) get_pages;
	typeof(&nvidia_p2p_put_pages) put_pages;
	typeof(&nvidia_p2p_free_page_table) free_page_table;
};

int gpumap_p2p_find(struct gpumap_p2p *p2p);	/* the vendor's driver stays loaded until gpumap_p2p_leave() */
void gpumap_p2p_leave(struct gpumap_p2p *p2p);

/* buffer.c */
struct dma_buf *gpumap_buffer_new(u64 address, u64 bytes);

#endif
