// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Memory regions: memory, its bus addresses, and a run of entries of the translation table. The memory is pages of a
 * process (here), or a dma-buf (dmabuf.c).
 *
 * A region is made and ended in two halves: what needs the device's lock (entries), and what must not have it (pages
 * may fault, a dma-buf has a lock outside ours, mapping takes long). What ends under the lock is put on a list of the
 * caller's, who releases what is there after the lock: so his memory is free when his call returns.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "ggas.h"

#define REGION_PAGES	(GGAS_PIECES * GGAS_PIECE_ENTRIES / 2)

static int check(const struct ggas_region_create *p)
{
	u64 offset = offset_in_page(p->address);

	if (!p->bytes || p->address + p->bytes < p->address || p->bytes > (u64)REGION_PAGES * PAGE_SIZE - offset)
		return -EINVAL;
	if (!p->rights || p->rights & ~(u32)(GGAS_REGION_READ | GGAS_REGION_WRITE))
		return -EINVAL;
	if (p->flags & ~(u32)GGAS_REGION_DMABUF)
		return -EINVAL;
	return 0;
}

static int pin(struct ggas_region *r, u64 address)
{
	unsigned long done = 0;
	long rc = 0;

	while (done < r->pages) {
		rc = ggas_pin_pages((address & PAGE_MASK) + done * PAGE_SIZE,
				    min_t(unsigned long, r->pages - done, 65536), r->rights & GGAS_REGION_WRITE,
				    r->page + done);
		if (rc <= 0)
			break;
		done += rc;
		cond_resched();
	}
	if (done == r->pages)
		return 0;
	unpin_user_pages(r->page, done);
	return rc ? rc : -EFAULT;
}

/* Owner and NIC use a region at the same time, so there is no moment to synchronise caches in, and the same memory may
 * be in several regions.
 */
#define MAP_ATTRS DMA_ATTR_SKIP_CPU_SYNC

static int map(struct ggas_region *r)
{
	int rc = sg_alloc_table_from_pages(&r->sg, r->page, r->pages, 0, r->pages << PAGE_SHIFT, GFP_KERNEL_ACCOUNT);

	if (rc)
		return rc;
	rc = dma_map_sgtable(&r->dev->pci->dev, &r->sg, DMA_BIDIRECTIONAL, MAP_ATTRS);
	if (rc)
		sg_free_table(&r->sg);
	else
		r->sgt = &r->sg;
	return rc;
}

/* Pages of the caller, pinned and mapped for the NIC. */
static int get_pages(struct ggas_region *r, u64 address)
{
	int rc;

	r->page = kvmalloc_array(r->pages, sizeof(*r->page), GFP_KERNEL_ACCOUNT);
	if (!r->page)
		return -ENOMEM;
	rc = pin(r, address);
	if (rc)
		goto free;
	rc = map(r);
	if (rc)
		goto unpin;
	return 0;

unpin:
	unpin_user_pages(r->page, r->pages);
free:
	kvfree(r->page);
	return rc;
}

static void put_pages(struct ggas_region *r)
{
	dma_unmap_sgtable(&r->dev->pci->dev, &r->sg, DMA_BIDIRECTIONAL, MAP_ATTRS);
	sg_free_table(&r->sg);
	unpin_user_pages_dirty_lock(r->page, r->pages, r->rights & GGAS_REGION_WRITE);
	kvfree(r->page);
}

/* Memory of a region, not yet known to the NIC. Without the device's lock. */
struct ggas_region *ggas_region_new(struct ggas_device *dev, const struct ggas_region_create *p)
{
	struct ggas_region *r;
	int rc = check(p);

	if (rc)
		return ERR_PTR(rc);
	r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	if (!r)
		return ERR_PTR(-ENOMEM);
	r->object.kind = GGAS_REGION;
	r->dev = dev;
	r->rights = p->rights;
	r->first_page = p->address >> PAGE_SHIFT;
	r->pages = DIV_ROUND_UP(offset_in_page(p->address) + p->bytes, PAGE_SIZE);
	/* Of a dma-buf they are not this process' pages, but the table that all share has an entry for each. */
	rc = account_locked_vm(current->mm, r->pages, true);
	if (rc)
		goto free;
	rc = p->flags & GGAS_REGION_DMABUF ? ggas_dmabuf_get(r, p->fd) : get_pages(r, p->address);
	if (rc)
		goto unaccount;
	mmgrab(current->mm);
	r->mm = current->mm;
	return r;

unaccount:
	account_locked_vm(current->mm, r->pages, false);
free:
	kfree(r);
	return ERR_PTR(rc);
}

/* Entries of the table with the region's bus addresses. Under the lock. */
void ggas_region_set_entries(struct ggas_region *r)
{
	unsigned long skip = r->dmabuf ? r->first_page : 0, left = r->pages;
	struct sg_dma_page_iter it;
	u32 entry = r->first;

	for_each_sgtable_dma_page(r->sgt, &it, skip) {
		ggas_table_set(r->dev, entry++, sg_page_iter_dma_address(&it), r->rights, r->object.domain->number);
		if (!--left)
			break;
	}
}

/* The NIC may use the memory when this returns 0. Under the lock, and of a mapped dma-buf under its own outside. */
int ggas_region_create(struct ggas_region *r, struct ggas_domain *domain, struct ggas_region_create *p)
{
	int rc = ggas_table_take(r->dev, r->pages);

	if (rc < 0)
		return rc;
	r->first = rc;
	r->mapped = true;
	r->object.domain = domain;
	domain->users++;
	ggas_region_set_entries(r);
	p->nla = (u64)r->first * PAGE_SIZE + offset_in_page(p->address);
	return 0;
}

/* The NIC reaches the memory no more; the rest is for ggas_region_release(). Under the lock. */
void ggas_region_withdraw(struct ggas_region *r, struct list_head *released)
{
	struct ggas_device *dev = r->dev;

	if (r->mapped) {
		if (dev->live) {
			if (ggas_table_clear(dev, r->first, r->pages))
				ggas_hw_cut_off(dev);
			ggas_table_give(dev, r->first, r->pages);
		}
		r->object.domain->users--;
		r->mapped = false;
	}
	list_add(&r->released, released);
}

static void release(struct ggas_region *r)
{
	if (r->dmabuf)
		ggas_dmabuf_put(r);
	else
		put_pages(r);
	account_locked_vm(r->mm, r->pages, false);
	mmdrop(r->mm);
	kfree(r);
}

void ggas_region_release(struct ggas_device *dev, struct list_head *released)
{
	struct ggas_region *r, *next;

	list_for_each_entry_safe(r, next, released, released) {
		release(r);
		ggas_region_gone(dev);
	}
}

/* One less that the removal of the NIC waits for. */
void ggas_region_gone(struct ggas_device *dev)
{
	if (atomic_dec_and_test(&dev->regions))
		wake_up(&dev->no_regions);
}
