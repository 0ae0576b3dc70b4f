// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Windows: stores and loads of a mapping reach the segments of the same export of the other nodes, and theirs the own
 * one. A window is a piece of BAR2, and an interval there for each node, which names node, export, domain.
 *
 * An export is one run of bus addresses, and larger runs than the page allocator's cannot be had where no IOMMU joins
 * pages. So a large segment is several blocks, each an export. How many goes by its size alone: all nodes must agree.
 */
#include <linux/bitmap.h>
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "ggas.h"

#define SEGMENT_MAX	BIT_ULL(32)	/* what an offset for mmap has room for */
#define BLOCK_BYTES	(4ULL << 20)	/* what the page allocator has in one piece */

static struct ggas_window *window_of(struct ggas_object *o)
{
	return container_of(o, struct ggas_window, object);
}

static u32 blocks_of(u64 bytes)
{
	return clamp_t(u64, bytes / BLOCK_BYTES, 1, GGAS_BLOCKS);
}

static int check(struct ggas_device *dev, const struct ggas_window_create *p)
{
	if (!is_power_of_2(p->bytes) || p->bytes < PAGE_SIZE || p->bytes >= SEGMENT_MAX)
		return -EINVAL;
	if (p->bytes * dev->nodes > dev->window_bytes || p->number >= GGAS_EXPORTS ||
	    p->number + blocks_of(p->bytes) > GGAS_EXPORTS)
		return -EINVAL;
	return p->rights & ~(u32)(GGAS_REGION_READ | GGAS_REGION_WRITE) ? -EINVAL : 0;
}

static void window_free(struct ggas_object *o)
{
	struct ggas_window *w = window_of(o);
	u32 b;

	for (b = 0; b < w->blocks; b++)
		if (w->segment[b])
			dma_free_coherent(&w->dev->pci->dev, ggas_block_bytes(w), w->segment[b], w->segment_bus[b]);
	kfree(w);
}

struct ggas_window *ggas_window_new(struct ggas_device *dev, const struct ggas_window_create *p)
{
	struct ggas_window *w;
	int rc = check(dev, p);
	u32 b;

	if (rc)
		return ERR_PTR(rc);
	w = kzalloc(sizeof(*w), GFP_KERNEL_ACCOUNT);
	if (!w)
		return ERR_PTR(-ENOMEM);
	w->object.kind = GGAS_WINDOW;
	w->object.amount = 1;
	w->dev = dev;
	w->bytes = p->bytes;
	w->blocks = blocks_of(p->bytes);
	w->export = p->number;
	w->rights = p->rights ? p->rights : GGAS_REGION_READ | GGAS_REGION_WRITE;
	w->first_interval = GGAS_INTERVALS;
	w->space.name = "ggas window";
	for (b = 0; b < w->blocks; b++) {
		w->segment[b] = dma_alloc_coherent(&dev->pci->dev, ggas_block_bytes(w), &w->segment_bus[b],
						   GGAS_USER_MEMORY);
		if (!w->segment[b]) {
			window_free(&w->object);
			return ERR_PTR(-ENOMEM);
		}
	}
	return w;
}

/* Exports, a piece of BAR2, and intervals. */
static int take_space(struct ggas_object *o)
{
	struct ggas_window *w = window_of(o);
	struct ggas_device *dev = w->dev;
	u32 intervals = w->blocks * dev->nodes, b;
	unsigned long first = bitmap_find_next_zero_area(dev->intervals_used, GGAS_INTERVALS, 0, intervals, 0);

	for (b = 0; b < w->blocks; b++)
		if (dev->by_export[w->export + b])
			return -EBUSY;
	if (first >= GGAS_INTERVALS)
		return -ENOSPC;
	if (allocate_resource(&dev->window_space, &w->space, w->bytes * dev->nodes, 0, dev->window_space.end, PAGE_SIZE,
			      NULL, NULL))
		return -ENOSPC;
	bitmap_set(dev->intervals_used, first, intervals);
	w->first_interval = first;
	for (b = 0; b < w->blocks; b++)
		dev->by_export[w->export + b] = w;
	return 0;
}

static int window_start(struct ggas_object *o)
{
	struct ggas_window *w = window_of(o);

	ggas_hw_window_start(w->dev, w);
	w->started = true;
	return 0;
}

static void window_tell(const struct ggas_object *o, void *call)
{
	const struct ggas_window *w = container_of(o, struct ggas_window, object);
	struct ggas_window_create *p = call;

	p->segment = GGAS_MAP_OFFSET(GGAS_MAP_SEGMENT, w->export);
	p->window = GGAS_MAP_WINDOW_AT(w->space.start);
}

static void window_hide(struct ggas_object *o)
{
	struct ggas_window *w = window_of(o);

	ggas_unmap(w->dev, GGAS_MAP_WINDOW_AT(w->space.start), resource_size(&w->space));
	ggas_unmap(w->dev, GGAS_MAP_OFFSET(GGAS_MAP_SEGMENT, w->export), w->bytes);
}

/* In the order of docs/memory-map.md, "Stops": the user's mapping (it is hidden), way out, way in, then memory. */
static void window_stop(struct ggas_object *o)
{
	struct ggas_window *w = window_of(o);

	if (w->started)
		ggas_hw_window_stop(w->dev, w);
}

static void give_space(struct ggas_object *o)
{
	struct ggas_window *w = window_of(o);
	struct ggas_device *dev = w->dev;
	u32 b;

	if (w->first_interval == GGAS_INTERVALS)
		return;
	for (b = 0; b < w->blocks; b++)
		dev->by_export[w->export + b] = NULL;
	bitmap_clear(dev->intervals_used, w->first_interval, w->blocks * dev->nodes);
	release_resource(&w->space);
}

const struct ggas_kind_ops ggas_window_ops = {
	.take = take_space,
	.start = window_start,
	.tell = window_tell,
	.hide = window_hide,
	.stop = window_stop,
	.give = give_space,
	.free = window_free,
};
