// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Windows: stores and loads of a mapping reach the segments of the same export of the other nodes, and theirs the own
 * one. A window is one export, a piece of BAR2, and an interval there for each node, which names node, export, domain.
 */
#include <linux/bitmap.h>
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "ggas.h"

#define SEGMENT_MAX	BIT_ULL(32)	/* what an offset for mmap has room for */

static int check(struct ggas_device *dev, const struct ggas_window_create *p)
{
	if (!is_power_of_2(p->bytes) || p->bytes < PAGE_SIZE || p->bytes >= SEGMENT_MAX)
		return -EINVAL;
	if (p->bytes * dev->nodes > dev->window_bytes || p->number >= GGAS_EXPORTS)
		return -EINVAL;
	if (p->rights & ~(u32)(GGAS_REGION_READ | GGAS_REGION_WRITE))
		return -EINVAL;
	return dev->by_export[p->number] ? -EBUSY : 0;
}

/* A piece of BAR2, and intervals. */
static int take_space(struct ggas_device *dev, struct ggas_window *w)
{
	unsigned long first = bitmap_find_next_zero_area(dev->intervals_used, GGAS_INTERVALS, 0, dev->nodes, 0);

	if (first >= GGAS_INTERVALS)
		return -ENOSPC;
	w->space.name = "ggas window";
	if (allocate_resource(&dev->window_space, &w->space, w->bytes * dev->nodes, 0, dev->window_space.end, PAGE_SIZE,
			      NULL, NULL))
		return -ENOSPC;
	bitmap_set(dev->intervals_used, first, dev->nodes);
	w->first_interval = first;
	return 0;
}

static void give_space(struct ggas_device *dev, struct ggas_window *w)
{
	bitmap_clear(dev->intervals_used, w->first_interval, dev->nodes);
	release_resource(&w->space);
}

struct ggas_window *ggas_window_create(struct ggas_device *dev, struct ggas_domain *domain,
				       struct ggas_window_create *p)
{
	struct ggas_window *w;
	int rc = check(dev, p);

	if (rc)
		return ERR_PTR(rc);
	w = kzalloc(sizeof(*w), GFP_KERNEL_ACCOUNT);
	if (!w)
		return ERR_PTR(-ENOMEM);
	w->object.kind = GGAS_WINDOW;
	w->object.domain = domain;
	w->bytes = p->bytes;
	w->export = p->number;
	w->rights = p->rights ? p->rights : GGAS_REGION_READ | GGAS_REGION_WRITE;
	w->segment = dma_alloc_coherent(&dev->pci->dev, w->bytes, &w->segment_bus, GFP_KERNEL_ACCOUNT);
	rc = w->segment ? take_space(dev, w) : -ENOMEM;
	if (rc)
		goto free;
	domain->users++;
	dev->by_export[w->export] = w;
	ggas_hw_window_start(dev, w);
	p->segment = GGAS_MAP_OFFSET(GGAS_MAP_SEGMENT, w->export);
	p->window = GGAS_MAP_WINDOW_AT(w->space.start);
	return w;

free:
	if (w->segment)
		dma_free_coherent(&dev->pci->dev, w->bytes, w->segment, w->segment_bus);
	kfree(w);
	return ERR_PTR(rc);
}

/* In the order of docs/memory-map.md, "Stops": the user's mapping, the way out, the way in, then memory. */
void ggas_window_destroy(struct ggas_device *dev, struct ggas_window *w)
{
	ggas_unmap(dev, GGAS_MAP_WINDOW_AT(w->space.start), resource_size(&w->space));
	if (dev->live && ggas_hw_window_stop(dev, w))
		ggas_hw_cut_off(dev);
	ggas_unmap(dev, GGAS_MAP_OFFSET(GGAS_MAP_SEGMENT, w->export), w->bytes);
	dev->by_export[w->export] = NULL;
	give_space(dev, w);
	dma_free_coherent(&dev->pci->dev, w->bytes, w->segment, w->segment_bus);
	w->object.domain->users--;
	kfree(w);
}
