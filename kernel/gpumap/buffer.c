// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Buffers: pinned memory of the GPU. When it is freed under us the vendor's driver calls on_free(); when that returns
 * no one reaches the memory any more, neither a device that imported the dma-buf nor a processor that mapped it.
 *
 * Locks: the vendor's driver calls on_free() with a lock of its own, which its other functions take, too, and on_free()
 * needs the reservation. So none of them is called under the reservation: memory is mapped for importers by its bus
 * addresses, without the vendor. The page table is his again when on_free() returns, so it is read under the
 * reservation alone, after a look at `freed`.
 */
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "exporter.h"
#include "gpumap.h"

struct buffer {
	struct gpumap_p2p p2p;
	struct dma_buf *dmabuf;
	u64 address;
	struct nvidia_p2p_page_table *pages;	/* NULL: not pinned; under the reservation */
	bool freed;				/* by its owner; under the reservation */
};

GGAS_IMPORT_DMA_BUF;

static u64 page_bytes(const struct nvidia_p2p_page_table *pages)
{
	switch (pages->page_size) {
	case NVIDIA_P2P_PAGE_SIZE_4KB:
		return 4096;
	case NVIDIA_P2P_PAGE_SIZE_64KB:
		return 65536;
	}
	return 131072;
}

static int attach(struct dma_buf *dmabuf, struct dma_buf_attachment *attachment)
{
	return attachment->peer2peer && attachment->importer_ops && dev_is_pci(attachment->dev) ? 0 : -EOPNOTSUPP;
}

static void unmap(struct dma_buf_attachment *attachment, struct sg_table *sgt, enum dma_data_direction direction)
{
	struct scatterlist *sg;
	int i;

	for_each_sgtable_dma_sg(sgt, sg, i)
		if (sg_dma_len(sg))
			dma_unmap_resource(attachment->dev, sg_dma_address(sg), sg_dma_len(sg), direction,
					   DMA_ATTR_SKIP_CPU_SYNC);
	sg_free_table(sgt);
	kfree(sgt);
}

static int fill(struct sg_table *sgt, struct device *dev, const struct nvidia_p2p_page_table *pages,
		enum dma_data_direction direction)
{
	u64 bytes = page_bytes(pages);
	struct scatterlist *sg;
	dma_addr_t bus;
	int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		bus = dma_map_resource(dev, pages->pages[i]->physical_address, bytes, direction,
				       DMA_ATTR_SKIP_CPU_SYNC);
		if (dma_mapping_error(dev, bus))
			return -EIO;
		sg_set_page(sg, NULL, bytes, 0);
		sg_dma_address(sg) = bus;
		sg_dma_len(sg) = bytes;
	}
	return 0;
}

static struct sg_table *map(struct dma_buf_attachment *attachment, enum dma_data_direction direction)
{
	struct buffer *b = attachment->dmabuf->priv;
	struct sg_table *sgt;
	int rc;

	if (!b->pages)
		return ERR_PTR(-ENODEV);
	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	if (!sgt)
		return ERR_PTR(-ENOMEM);
	rc = sg_alloc_table(sgt, b->pages->entries, GFP_KERNEL);
	if (rc) {
		kfree(sgt);
		return ERR_PTR(rc);
	}
	rc = fill(sgt, attachment->dev, b->pages, direction);
	if (!rc)
		return sgt;
	unmap(attachment, sgt, direction);
	return ERR_PTR(rc);
}

static vm_fault_t on_fault(struct vm_fault *vmf)
{
	struct dma_buf *dmabuf = vmf->vma->vm_private_data;
	u64 at = (u64)vmf->pgoff << PAGE_SHIFT, bytes;
	struct buffer *b = dmabuf->priv;
	vm_fault_t result = VM_FAULT_SIGBUS;

	dma_resv_lock(dmabuf->resv, NULL);
	if (b->pages && at < dmabuf->size) {
		bytes = page_bytes(b->pages);
		result = vmf_insert_pfn(vmf->vma, vmf->address,
					(b->pages->pages[at / bytes]->physical_address + at % bytes) >> PAGE_SHIFT);
	}
	dma_resv_unlock(dmabuf->resv);
	return result;
}

static const struct vm_operations_struct vm_ops = { .fault = on_fault };

static int map_for_processor(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	return exporter_mmap(dmabuf, vma, &vm_ops);
}

static void on_free(void *data)
{
	struct buffer *b = data;
	typeof(b->p2p.free_page_table) free_page_table = b->p2p.free_page_table;
	struct nvidia_p2p_page_table *pages;

	dma_resv_lock(b->dmabuf->resv, NULL);
	pages = b->pages;
	b->freed = true;
	if (pages)
		exporter_tell_users(b->dmabuf);
	b->pages = NULL;
	dma_resv_unlock(b->dmabuf->resv);
	/* The buffer may be gone by now. Newer drivers free the table themselves, and do nothing here. */
	if (pages)
		free_page_table(pages);
}

static void release(struct dma_buf *dmabuf)
{
	struct nvidia_p2p_page_table *pages;
	struct buffer *b = dmabuf->priv;

	dma_resv_lock(dmabuf->resv, NULL);
	pages = b->pages;
	b->pages = NULL;
	dma_resv_unlock(dmabuf->resv);
	/* Waits for on_free(), if that has just been called. */
	if (pages)
		b->p2p.put_pages(0, 0, b->address, pages);
	gpumap_p2p_leave(&b->p2p);
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

static bool is_enough(const struct nvidia_p2p_page_table *pages, u64 bytes)
{
	return NVIDIA_P2P_PAGE_TABLE_VERSION_COMPATIBLE(pages) && pages->entries * page_bytes(pages) >= bytes;
}

static int pin_pages(struct buffer *b, u64 bytes)
{
	struct nvidia_p2p_page_table *pages;
	int rc = b->p2p.get_pages(0, 0, b->address, bytes, &pages, on_free, b);

	if (rc)
		return rc;
	dma_resv_lock(b->dmabuf->resv, NULL);
	rc = -ENODEV;
	if (!b->freed) {
		b->pages = pages;
		rc = is_enough(pages, bytes) ? 0 : -EIO;
	}
	dma_resv_unlock(b->dmabuf->resv);
	return rc;
}

struct dma_buf *gpumap_buffer_new(u64 address, u64 bytes)
{
	struct buffer *b = kzalloc(sizeof(*b), GFP_KERNEL);
	int rc;

	if (!b)
		return ERR_PTR(-ENOMEM);
	b->address = address;
	rc = gpumap_p2p_find(&b->p2p);
	if (rc)
		goto free;
	b->dmabuf = exporter_new(&ops, bytes, b);
	rc = PTR_ERR_OR_ZERO(b->dmabuf);
	if (rc)
		goto leave;
	rc = pin_pages(b, bytes);
	if (!rc)
		return b->dmabuf;
	dma_buf_put(b->dmabuf);	/* frees the buffer, and gives back its pages */
	return ERR_PTR(rc);

leave:
	gpumap_p2p_leave(&b->p2p);
free:
	kfree(b);
	return ERR_PTR(rc);
}
