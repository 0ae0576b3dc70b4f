// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Regions of dma-bufs: memory of another device, as of a GPU. The exporter may move the memory: it says so before
 * (move_notify), with the buffer's lock, and the NIC has let go of the old place when that returns; the new one comes
 * after the exporter's fences, with the same addresses on the network. Who accesses meanwhile gets an error.
 *
 * Locks: the buffer's reservation is outside of ours. An exporter may move memory because the machine has none left, so
 * a move takes `atu` alone, under which nothing is allocated.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/module.h>

#include "compat.h"
#include "ggas.h"

#define FENCE_LIMIT	(5 * HZ)

static void lock(struct ggas_region *r)
{
	dma_resv_lock(r->dmabuf->resv, NULL);
}

static void unlock(struct ggas_region *r)
{
	dma_resv_unlock(r->dmabuf->resv);
}

static void unmap(struct ggas_region *r)
{
	if (r->sgt)
		dma_buf_unmap_attachment(r->attach, r->sgt, DMA_BIDIRECTIONAL);
	r->sgt = NULL;
}

/* Bus addresses of a dma-buf that has none. Under the buffer's lock. */
int ggas_dmabuf_map(struct ggas_region *r)
{
	struct sg_table *sgt;

	if (!r->dmabuf || r->sgt)
		return 0;
	if (ggas_resv_wait(r->dmabuf->resv, FENCE_LIMIT) <= 0)
		return -ETIMEDOUT;
	sgt = dma_buf_map_attachment(r->attach, DMA_BIDIRECTIONAL);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	r->sgt = sgt;
	return 0;
}

static void on_move(struct dma_buf_attachment *attach)
{
	struct ggas_region *r = attach->importer_priv;

	ggas_table_move_out(r);
	unmap(r);
	schedule_work(&r->moved);
}

/* The memory has its new place, or soon will. If it has none the region stays without memory. */
static void on_moved(struct work_struct *work)
{
	struct ggas_region *r = container_of(work, struct ggas_region, moved);

	lock(r);
	if (!r->closed && !ggas_dmabuf_map(r))
		ggas_table_move_in(r);
	unlock(r);
}

static const struct dma_buf_attach_ops attach_ops = {
	.allow_peer2peer = true,
	.GGAS_MOVE_NOTIFY = on_move,
};

GGAS_IMPORT_DMA_BUF;

/* A reference to the buffer. */
int ggas_dmabuf_get(struct ggas_region *r, int fd)
{
	struct dma_buf *buffer = dma_buf_get(fd);

	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	if (r->first_page + r->pages > buffer->size >> PAGE_SHIFT) {
		dma_buf_put(buffer);
		return -EINVAL;
	}
	INIT_WORK(&r->moved, on_moved);
	r->dmabuf = buffer;
	return 0;
}

/* The NIC has to do with the buffer from now on. */
int ggas_dmabuf_attach(struct ggas_region *r)
{
	struct dma_buf_attachment *attach = dma_buf_dynamic_attach(r->dmabuf, &r->dev->pci->dev, &attach_ops, r);

	if (IS_ERR(attach))
		return PTR_ERR(attach);
	r->attach = attach;
	return 0;
}

/* After the region's end. */
void ggas_dmabuf_put(struct ggas_region *r)
{
	if (r->attach) {
		lock(r);
		r->closed = true;	/* a move that was announced finds nothing to do */
		unmap(r);
		unlock(r);
		dma_buf_detach(r->dmabuf, r->attach);
		cancel_work_sync(&r->moved);
	}
	dma_buf_put(r->dmabuf);
}

void ggas_dmabuf_lock(struct ggas_region *r)
{
	if (r->dmabuf)
		lock(r);
}

void ggas_dmabuf_unlock(struct ggas_region *r)
{
	if (r->dmabuf)
		unlock(r);
}
