// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The window: stores and loads of a mapping reach the segments of the domain on other nodes, and theirs the own one. The
 * driver gives out one export of the NIC, so there is one window at a time.
 */
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "ggas.h"

struct ggas_window *ggas_window_create(struct ggas_device *dev, struct ggas_domain *domain,
				       struct ggas_window_create *p)
{
	struct ggas_window *w;

	if (!is_power_of_2(p->bytes) || p->bytes < PAGE_SIZE || p->bytes * dev->nodes > dev->window_bytes)
		return ERR_PTR(-EINVAL);
	if (dev->window)
		return ERR_PTR(-EBUSY);
	w = kzalloc(sizeof(*w), GFP_KERNEL_ACCOUNT);
	if (!w)
		return ERR_PTR(-ENOMEM);
	w->object.kind = GGAS_WINDOW;
	w->object.domain = domain;
	w->bytes = p->bytes;
	w->segment = dma_alloc_coherent(&dev->pci->dev, w->bytes, &w->segment_bus, GFP_KERNEL_ACCOUNT);
	if (!w->segment) {
		kfree(w);
		return ERR_PTR(-ENOMEM);
	}
	domain->users++;
	dev->window = w;
	ggas_hw_window_start(dev, w);
	p->segment = GGAS_MAP_OFFSET(GGAS_MAP_SEGMENT, 0);
	p->window = GGAS_MAP_OFFSET(GGAS_MAP_WINDOW, 0);
	return w;
}

void ggas_window_destroy(struct ggas_device *dev, struct ggas_window *w)
{
	ggas_unmap(dev, GGAS_MAP_OFFSET(GGAS_MAP_WINDOW, 0), w->bytes * dev->nodes);
	if (dev->live && ggas_hw_window_stop(dev))
		ggas_hw_cut_off(dev);
	ggas_unmap(dev, GGAS_MAP_OFFSET(GGAS_MAP_SEGMENT, 0), w->bytes);
	dma_free_coherent(&dev->pci->dev, w->bytes, w->segment, w->segment_bus);
	w->object.domain->users--;
	dev->window = NULL;
	kfree(w);
}
