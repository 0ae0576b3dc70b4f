// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Buffers: dma-bufs of the GPU's memory. Their place changes under their reservation, after their users were informed;
 * users that cannot be informed (no dynamic importers) or reach no BAR are refused.
 */
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "exporter.h"
#include "testgpu.h"

struct buffer {
	struct testgpu *gpu;
	struct dma_buf *dmabuf;
	struct list_head list;
	size_t bytes;
	phys_addr_t at;		/* 0: taken away; under the reservation */
};

static LIST_HEAD(buffers);
static DEFINE_MUTEX(buffers_lock);	/* outside of a reservation */

GGAS_IMPORT_DMA_BUF;

static int attach(struct dma_buf *dmabuf, struct dma_buf_attachment *attachment)
{
	return attachment->peer2peer && attachment->importer_ops ? 0 : -EOPNOTSUPP;
}

static struct sg_table *map(struct dma_buf_attachment *attachment, enum dma_data_direction direction)
{
	struct buffer *b = attachment->dmabuf->priv;
	struct sg_table *sgt;
	dma_addr_t bus;

	if (!b->at)
		return ERR_PTR(-ENODEV);
	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	if (!sgt || sg_alloc_table(sgt, 1, GFP_KERNEL)) {
		kfree(sgt);
		return ERR_PTR(-ENOMEM);
	}
	bus = dma_map_resource(attachment->dev, b->at, b->bytes, direction, DMA_ATTR_SKIP_CPU_SYNC);
	if (dma_mapping_error(attachment->dev, bus)) {
		sg_free_table(sgt);
		kfree(sgt);
		return ERR_PTR(-EIO);
	}
	sg_set_page(sgt->sgl, NULL, b->bytes, 0);
	sg_dma_address(sgt->sgl) = bus;
	sg_dma_len(sgt->sgl) = b->bytes;
	return sgt;
}

static void unmap(struct dma_buf_attachment *attachment, struct sg_table *sgt, enum dma_data_direction direction)
{
	dma_unmap_resource(attachment->dev, sg_dma_address(sgt->sgl), sg_dma_len(sgt->sgl), direction,
			   DMA_ATTR_SKIP_CPU_SYNC);
	sg_free_table(sgt);
	kfree(sgt);
}

static vm_fault_t on_fault(struct vm_fault *vmf)
{
	struct dma_buf *dmabuf = vmf->vma->vm_private_data;
	struct buffer *b = dmabuf->priv;
	vm_fault_t result = VM_FAULT_SIGBUS;

	dma_resv_lock(dmabuf->resv, NULL);
	if (b->at && vmf->pgoff < b->bytes >> PAGE_SHIFT)
		result = vmf_insert_pfn(vmf->vma, vmf->address, (b->at >> PAGE_SHIFT) + vmf->pgoff);
	dma_resv_unlock(dmabuf->resv);
	return result;
}

static const struct vm_operations_struct vm_ops = { .fault = on_fault };

static int map_for_processor(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	return exporter_mmap(dmabuf, vma, &vm_ops);
}

static void release(struct dma_buf *dmabuf)
{
	struct buffer *b = dmabuf->priv;

	mutex_lock(&buffers_lock);
	list_del(&b->list);
	mutex_unlock(&buffers_lock);
	if (b->at)
		testgpu_give(b->gpu, b->at, b->bytes);
	testgpu_put(b->gpu);
	kfree(b);
}

static const struct dma_buf_ops ops = {
	.attach = attach,
	.pin = exporter_pin,
	.unpin = exporter_unpin,
	.map_dma_buf = map,
	.unmap_dma_buf = unmap,
	.mmap = map_for_processor,
	.release = release,
};

bool testgpu_buffer_is(const struct dma_buf *buffer)
{
	return buffer->ops == &ops;
}

struct dma_buf *testgpu_buffer_new(struct testgpu *gpu, size_t bytes)
{
	struct buffer *b = kzalloc(sizeof(*b), GFP_KERNEL);
	struct dma_buf *dmabuf;

	if (!b)
		return ERR_PTR(-ENOMEM);
	b->gpu = gpu;
	b->bytes = bytes;
	b->at = testgpu_take(gpu, bytes, PAGE_SIZE);
	if (!b->at) {
		kfree(b);
		return ERR_PTR(-ENOSPC);
	}
	dmabuf = exporter_new(&ops, bytes, b);
	if (IS_ERR(dmabuf)) {
		testgpu_give(gpu, b->at, bytes);
		kfree(b);
		return dmabuf;
	}
	kref_get(&gpu->users);
	b->dmabuf = dmabuf;
	mutex_lock(&buffers_lock);
	list_add(&b->list, &buffers);
	mutex_unlock(&buffers_lock);
	return dmabuf;
}

/* As a shrinker does when memory is short: lockdep finds a lock that an importer needs here, and allocates under. */
static void tell_in_reclaim(struct dma_buf *dmabuf)
{
	fs_reclaim_acquire(GFP_KERNEL);
	exporter_tell_users(dmabuf);
	fs_reclaim_release(GFP_KERNEL);
}

/* To another place. Under the reservation. */
static int move(struct buffer *b)
{
	phys_addr_t to;
	int rc;

	if (!b->at)
		return -ENODEV;
	to = testgpu_take(b->gpu, b->bytes, PAGE_SIZE);
	if (!to)
		return -ENOSPC;
	tell_in_reclaim(b->dmabuf);
	rc = testgpu_copy(b->gpu, to, b->at, b->bytes);
	if (!rc)
		swap(b->at, to);
	testgpu_give(b->gpu, to, b->bytes);
	return rc;
}

int testgpu_buffer_move(struct dma_buf *dmabuf)
{
	int rc;

	dma_resv_lock(dmabuf->resv, NULL);
	rc = move(dmabuf->priv);
	dma_resv_unlock(dmabuf->resv);
	return rc;
}

/* All that no one has locked; how many moved. Who has a lock may be waiting for memory, so it is not waited for. */
unsigned long testgpu_buffers_move(void)
{
	unsigned long moved = 0;
	struct buffer *b;

	if (!mutex_trylock(&buffers_lock))
		return 0;
	list_for_each_entry(b, &buffers, list) {
		if (!dma_resv_trylock(b->dmabuf->resv))
			continue;
		moved += !move(b);
		dma_resv_unlock(b->dmabuf->resv);
	}
	mutex_unlock(&buffers_lock);
	return moved;
}

int testgpu_buffer_revoke(struct dma_buf *dmabuf)
{
	struct buffer *b = dmabuf->priv;
	phys_addr_t from;

	dma_resv_lock(dmabuf->resv, NULL);
	from = b->at;
	b->at = 0;
	exporter_tell_users(dmabuf);
	dma_resv_unlock(dmabuf->resv);
	if (from)
		testgpu_give(b->gpu, from, b->bytes);
	return 0;
}
