// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Memory regions: memory, its bus addresses, and a run of entries of the translation table. The memory is pages of a
 * process (here), or a dma-buf (dmabuf.c).
 *
 * Pages are pinned before the NIC is entered, and its lock is not held while they fault or are mapped. What a caller
 * ends is free when his call returns.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "ggas.h"

#define REGION_PAGES	(GGAS_PIECES * GGAS_PIECE_ENTRIES / 2 / GGAS_PAGE_ENTRIES)

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

/* Owner and NIC use a region at the same time, so there is no moment at which caches could be synchronised. The same
 * memory may also be in several regions.
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

/* Pages of the caller, pinned. */
static int get_pages(struct ggas_region *r, u64 address)
{
	int rc;

	r->page = kvmalloc_array(r->pages, sizeof(*r->page), GFP_KERNEL_ACCOUNT);
	if (!r->page)
		return -ENOMEM;
	rc = pin(r, address);
	if (rc) {
		kvfree(r->page);
		r->page = NULL;
	}
	return rc;
}

static void put_pages(struct ggas_region *r)
{
	if (!r->page)
		return;
	if (r->sgt) {
		dma_unmap_sgtable(&r->dev->pci->dev, &r->sg, DMA_BIDIRECTIONAL, MAP_ATTRS);
		sg_free_table(&r->sg);
	}
	unpin_user_pages_dirty_lock(r->page, r->pages, r->rights & GGAS_REGION_WRITE);
	kvfree(r->page);
}

static struct ggas_region *region_of(struct ggas_object *o)
{
	return container_of(o, struct ggas_region, object);
}

static void region_free(struct ggas_object *o)
{
	struct ggas_region *r = region_of(o);

	if (r->dmabuf)
		ggas_dmabuf_put(r);
	else
		put_pages(r);
	if (r->mm) {
		account_locked_vm(r->mm, r->pages, false);
		mmdrop(r->mm);
	}
	atomic_dec(&r->dev->regions);
	kfree(r);
}

static struct ggas_region *region_alloc(struct ggas_device *dev, unsigned long pages, u32 rights)
{
	struct ggas_region *r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);

	if (!r)
		return NULL;
	r->object.kind = GGAS_REGION;
	r->object.amount = pages;
	r->dev = dev;
	r->rights = rights;
	r->pages = pages;
	atomic_inc(&dev->regions);
	return r;
}

/* The maker keeps its memory. Of a dma-buf it is not this process' pages, but the table that all share has entries. */
static int get_memory(struct ggas_region *r, const struct ggas_region_create *p)
{
	int rc = account_locked_vm(current->mm, r->pages, true);

	if (rc)
		return rc;
	mmgrab(current->mm);
	r->mm = current->mm;
	return p->flags & GGAS_REGION_DMABUF ? ggas_dmabuf_get(r, p->fd) : get_pages(r, p->address);
}

/* A region with its memory. The NIC is not needed for it, and its removal does not wait for the user's pages. */
static struct ggas_region *region_new(struct ggas_device *dev, const struct ggas_region_create *p)
{
	struct ggas_region *r;
	int rc = check(p);

	if (rc)
		return ERR_PTR(rc);
	r = region_alloc(dev, DIV_ROUND_UP(offset_in_page(p->address) + p->bytes, PAGE_SIZE), p->rights);
	if (!r)
		return ERR_PTR(-ENOMEM);
	r->first_page = p->address >> PAGE_SHIFT;
	rc = get_memory(r, p);
	if (!rc)
		return r;
	region_free(&r->object);
	return ERR_PTR(rc);
}

/* Bus addresses, and room in the table. */
static int prepare(struct ggas_region *r)
{
	int rc = 0;

	if (r->dmabuf)
		rc = ggas_dmabuf_attach(r);
	else if (r->page)
		rc = map(r);
	if (rc)
		return rc;
	rc = ggas_table_take(r->dev, r->pages * GGAS_PAGE_ENTRIES);
	if (rc < 0)
		return rc;
	r->first = rc;
	return 0;
}

/* Takes the region, also when it fails. */
static int add(struct ggas_file *f, struct ggas_region *r, struct ggas_region_create *p)
{
	LIST_HEAD(ended);
	int rc = ggas_enter(f->dev);

	if (rc) {
		region_free(&r->object);
		return rc;
	}
	rc = prepare(r);
	if (!rc) {
		rc = ggas_object_add(f, &r->object, p->domain, p, &p->handle);
	} else {
		list_add(&r->object.ended, &ended);
		ggas_objects_end(f->dev, &ended);
	}
	ggas_leave(f->dev);
	return rc;
}

/* Pins what the caller names and makes a region of it. */
int ggas_region_add(struct ggas_file *f, struct ggas_region_create *p)
{
	struct ggas_region *r = region_new(f->dev, p);

	return IS_ERR(r) ? PTR_ERR(r) : add(f, r, p);
}

/* A region of memory that the caller has pinned and mapped, and keeps so until the region has ended. */
int ggas_region_add_lent(struct ggas_file *f, struct sg_table *sgt, unsigned long pages, struct ggas_region_create *p)
{
	struct ggas_region *r;
	int rc = check(p);

	if (rc)
		return rc;
	r = region_alloc(f->dev, pages, p->rights);
	if (!r)
		return -ENOMEM;
	r->sgt = sgt;
	return add(f, r, p);
}

static int region_start(struct ggas_object *o)
{
	struct ggas_region *r = region_of(o);
	int rc;

	ggas_dmabuf_lock(r);
	rc = ggas_dmabuf_map(r);
	if (!rc)
		ggas_table_begin(r);
	ggas_dmabuf_unlock(r);
	return rc;
}

static void region_tell(const struct ggas_object *o, void *call)
{
	const struct ggas_region *r = container_of(o, struct ggas_region, object);
	struct ggas_region_create *p = call;

	p->nla = (u64)r->first * GGAS_ENTRY_BYTES + offset_in_page(p->address);
}

static void region_stop(struct ggas_object *o)
{
	ggas_table_end(region_of(o));
}

static void give_entries(struct ggas_object *o)
{
	struct ggas_region *r = region_of(o);

	if (r->first)
		ggas_table_give(r->dev, r->first, r->pages * GGAS_PAGE_ENTRIES);
}

const struct ggas_kind_ops ggas_region_ops = {
	.start = region_start,
	.tell = region_tell,
	.stop = region_stop,
	.give = give_entries,
	.free = region_free,
};
