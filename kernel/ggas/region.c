// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Memory regions: pages of a process, pinned for as long as the NIC may reach them, and their translations. Pages count
 * as locked memory of the process that registers them (RLIMIT_MEMLOCK).
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "ggas.h"

#define REGION_PAGES	(GGAS_PIECES * GGAS_PIECE_ENTRIES / 2)

/* Pins what is asked for. Without the device's lock: it may fault. */
struct ggas_region *ggas_region_pin(const struct ggas_region_create *p)
{
	u64 offset = offset_in_page(p->address), pages = DIV_ROUND_UP(offset + p->bytes, PAGE_SIZE);
	unsigned int flags = FOLL_LONGTERM;
	struct ggas_region *r;
	unsigned long done = 0;
	int rc;

	if (!p->bytes || p->address + p->bytes < p->address || pages > REGION_PAGES)
		return ERR_PTR(-EINVAL);
	if (!p->rights || p->rights & ~(u32)(GGAS_REGION_READ | GGAS_REGION_WRITE))
		return ERR_PTR(-EINVAL);
	r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	if (!r)
		return ERR_PTR(-ENOMEM);
	r->object.kind = GGAS_REGION;
	r->writable = p->rights & GGAS_REGION_WRITE;
	r->page = kvmalloc_array(pages, sizeof(*r->page), GFP_KERNEL_ACCOUNT);
	rc = r->page ? account_locked_vm(current->mm, pages, true) : -ENOMEM;
	if (rc)
		goto free;
	if (r->writable)
		flags |= FOLL_WRITE;
	while (done < pages) {
		rc = pin_user_pages_fast((p->address & PAGE_MASK) + done * PAGE_SIZE,
					 min_t(unsigned long, pages - done, 65536), flags, r->page + done);
		if (rc <= 0) {
			rc = rc ? rc : -EFAULT;
			goto unpin;
		}
		done += rc;
		cond_resched();
	}
	r->pages = pages;
	mmgrab(current->mm);
	r->mm = current->mm;
	return r;

unpin:
	unpin_user_pages(r->page, done);
	account_locked_vm(current->mm, pages, false);
free:
	kvfree(r->page);
	kfree(r);
	return ERR_PTR(rc);
}

static void set_entries(struct ggas_device *dev, struct ggas_region *r, u32 rights)
{
	struct sg_dma_page_iter it;
	u32 entry = r->first;

	for_each_sgtable_dma_page(&r->sg, &it, 0)
		ggas_table_set(dev, entry++, sg_page_iter_dma_address(&it), rights, r->object.domain->number);
}

/* Maps pinned pages for the NIC. When it fails the region is as before. */
int ggas_region_create(struct ggas_device *dev, struct ggas_region *r, struct ggas_domain *domain,
		       struct ggas_region_create *p)
{
	int rc;

	rc = sg_alloc_table_from_pages(&r->sg, r->page, r->pages, 0, r->pages << PAGE_SHIFT, GFP_KERNEL_ACCOUNT);
	if (rc)
		return rc;
	rc = dma_map_sgtable(&dev->pci->dev, &r->sg, DMA_BIDIRECTIONAL, 0);
	if (rc)
		goto free_sg;
	rc = ggas_table_take(dev, r->pages);
	if (rc < 0)
		goto unmap;
	r->first = rc;
	r->mapped = true;
	r->object.domain = domain;
	domain->users++;
	set_entries(dev, r, p->rights);
	p->nla = (u64)r->first * PAGE_SIZE + offset_in_page(p->address);
	return 0;

unmap:
	dma_unmap_sgtable(&dev->pci->dev, &r->sg, DMA_BIDIRECTIONAL, 0);
free_sg:
	sg_free_table(&r->sg);
	return rc;
}

/* The NIC reaches the pages no more: they may be unpinned. */
void ggas_region_withdraw(struct ggas_device *dev, struct ggas_region *r)
{
	if (!r->mapped)
		return;
	if (dev->live) {
		if (ggas_table_clear(dev, r->first, r->pages))
			ggas_hw_cut_off(dev);
		ggas_table_give(dev, r->first, r->pages);
	}
	dma_unmap_sgtable(&dev->pci->dev, &r->sg, DMA_BIDIRECTIONAL, 0);
	sg_free_table(&r->sg);
	r->object.domain->users--;
	r->mapped = false;
}

/* Behind ggas_region_withdraw(), without the device's lock. */
void ggas_region_unpin(struct ggas_region *r)
{
	unpin_user_pages_dirty_lock(r->page, r->pages, r->writable);
	account_locked_vm(r->mm, r->pages, false);
	mmdrop(r->mm);
	kvfree(r->page);
	kfree(r);
}
