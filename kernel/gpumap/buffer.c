// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Buffers: pinned memory of the GPU. When it is freed under us the vendor's driver calls on_free(); when that returns
 * no one reaches the memory any more, neither a device that imported the dma-buf nor a processor that mapped it.
 *
 * The page table belongs to the one that takes it out of the buffer, under the reservation: the end of the dma-buf, which
 * gives it back, or on_free(), after which it may only be freed.
 */
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

/* What an importer has. */
struct mapping {
	struct sg_table sgt;
	struct nvidia_p2p_dma_mapping *dma;
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

static void fill(struct sg_table *sgt, const struct nvidia_p2p_dma_mapping *dma, u64 bytes)
{
	struct scatterlist *sg;
	int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		sg_set_page(sg, NULL, bytes, 0);
		sg_dma_address(sg) = dma->dma_addresses[i];
		sg_dma_len(sg) = bytes;
	}
}

static struct sg_table *map(struct dma_buf_attachment *attachment, enum dma_data_direction direction)
{
	struct buffer *b = attachment->dmabuf->priv;
	struct mapping *m;
	int rc;

	if (!b->pages)
		return ERR_PTR(-ENODEV);
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return ERR_PTR(-ENOMEM);
	rc = b->p2p.dma_map_pages(to_pci_dev(attachment->dev), b->pages, &m->dma);
	if (rc)
		goto free;
	rc = -EIO;
	if (m->dma->entries != b->pages->entries)
		goto unmap;
	rc = sg_alloc_table(&m->sgt, m->dma->entries, GFP_KERNEL);
	if (rc)
		goto unmap;
	fill(&m->sgt, m->dma, page_bytes(b->pages));
	return &m->sgt;

unmap:
	b->p2p.dma_unmap_pages(to_pci_dev(attachment->dev), b->pages, m->dma);
free:
	kfree(m);
	return ERR_PTR(rc);
}

static void unmap(struct dma_buf_attachment *attachment, struct sg_table *sgt, enum dma_data_direction direction)
{
	struct buffer *b = attachment->dmabuf->priv;
	struct mapping *m = container_of(sgt, struct mapping, sgt);

	if (b->freed)
		b->p2p.free_dma_mapping(m->dma);
	else
		b->p2p.dma_unmap_pages(to_pci_dev(attachment->dev), b->pages, m->dma);
	sg_free_table(sgt);
	kfree(m);
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
	struct nvidia_p2p_page_table *pages;

	dma_resv_lock(b->dmabuf->resv, NULL);
	pages = b->pages;
	b->freed = true;
	if (pages)
		exporter_tell_users(b->dmabuf);
	b->pages = NULL;
	dma_resv_unlock(b->dmabuf->resv);
	if (pages)
		b->p2p.free_page_table(pages);
}

static void release(struct dma_buf *dmabuf)
{
	struct nvidia_p2p_page_table *pages;
	struct buffer *b = dmabuf->priv;

	dma_resv_lock(dmabuf->resv, NULL);
	pages = b->pages;
	b->pages = NULL;
	dma_resv_unlock(dmabuf->resv);
	/* It fails when on_free() has just been called, which then found nothing to do. */
	if (pages && b->p2p.put_pages(0, 0, b->address, pages))
		b->p2p.free_page_table(pages);
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

static int pin_pages(struct buffer *b, u64 bytes)
{
	struct nvidia_p2p_page_table *pages;
	int rc = b->p2p.get_pages(0, 0, b->address, bytes, &pages, on_free, b);
	bool freed, fits;

	if (rc)
		return rc;
	fits = NVIDIA_P2P_PAGE_TABLE_VERSION_COMPATIBLE(pages) && pages->entries * page_bytes(pages) >= bytes;
	dma_resv_lock(b->dmabuf->resv, NULL);
	freed = b->freed;
	if (!freed && fits)
		b->pages = pages;
	dma_resv_unlock(b->dmabuf->resv);
	if (freed) {
		b->p2p.free_page_table(pages);
		return -ENODEV;
	}
	if (fits)
		return 0;
	b->p2p.put_pages(0, 0, b->address, pages);
	return -EIO;
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
	dma_buf_put(b->dmabuf);	/* frees the buffer */
	return ERR_PTR(rc);

leave:
	gpumap_p2p_leave(&b->p2p);
free:
	kfree(b);
	return ERR_PTR(rc);
}
