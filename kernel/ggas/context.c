// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Contexts: a number on the network, two pages of the NIC, and rings in host memory that the NIC writes.
 */
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/slab.h>

#include "ggas.h"

#define NOTE_BYTES	16
#define SLOT_BYTES	32
#define MESSAGE_BYTES	128

static int check(const struct ggas_context_create *p)
{
	if (p->notify_log2 < 4 || p->notify_log2 > 16)
		return -EINVAL;
	if (p->mailbox_log2 && (p->mailbox_log2 < 2 || p->mailbox_log2 > 12))
		return -EINVAL;
	if (p->queue_log2 && (p->queue_log2 < 4 || p->queue_log2 > 16))
		return -EINVAL;
	return 0;
}

/* Every part begins on a page. */
static void layout(struct ggas_context *c, const struct ggas_context_create *p)
{
	size_t at = PAGE_SIZE;	/* status block */

	c->notify_at = at;
	at += PAGE_ALIGN((size_t)NOTE_BYTES << p->notify_log2);
	if (p->mailbox_log2) {
		c->mailbox_at = at;
		at += PAGE_ALIGN((size_t)MESSAGE_BYTES << p->mailbox_log2);
	}
	if (p->queue_log2) {
		c->queue_at = at;
		at += PAGE_ALIGN((size_t)SLOT_BYTES << p->queue_log2);
	}
	c->rings_bytes = at;
}

static int take_vpid(struct ggas_device *dev)
{
	u32 v;

	for (v = 0; v < dev->contexts; v++)
		if (!dev->by_vpid[v])
			return v;
	return -ENOSPC;
}

static void publish(struct ggas_device *dev, u32 vpid, struct ggas_context *c)
{
	unsigned long flags;

	spin_lock_irqsave(&dev->by_vpid_lock, flags);
	dev->by_vpid[vpid] = c;
	spin_unlock_irqrestore(&dev->by_vpid_lock, flags);
}

/* What window stores of the page's former owner met is not reported to the next. */
static int forget_errors(struct ggas_device *dev, u32 vpid)
{
	void __iomem *doorbells = ioremap(ggas_page_phys(dev, vpid, false), PAGE_SIZE);

	if (!doorbells)
		return -ENOMEM;
	readl(doorbells);
	iounmap(doorbells);
	return 0;
}

/* Takes the reference to `eventfd` (or NULL), also when it fails. */
struct ggas_context *ggas_context_create(struct ggas_device *dev, struct ggas_domain *domain,
					 struct ggas_context_create *p, struct eventfd_ctx *eventfd)
{
	struct ggas_context *c;
	int rc = check(p), vpid;

	if (rc)
		goto put_eventfd;
	rc = -ENOMEM;
	c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	if (!c)
		goto put_eventfd;
	c->object.kind = GGAS_CONTEXT;
	c->object.domain = domain;
	c->eventfd = eventfd;
	layout(c, p);
	c->rings = dma_alloc_coherent(&dev->pci->dev, c->rings_bytes, &c->rings_bus, GFP_KERNEL_ACCOUNT);
	if (!c->rings)
		goto free_context;
	vpid = take_vpid(dev);
	rc = vpid;
	if (vpid < 0)
		goto free_rings;
	c->vpid = vpid;
	rc = forget_errors(dev, vpid);
	if (rc)
		goto free_rings;
	/* On x86 the memory type goes by the address. Without it slots are uncached, which is slow but right. */
	arch_io_reserve_memtype_wc(ggas_page_phys(dev, vpid, true), PAGE_SIZE);
	publish(dev, vpid, c);
	ggas_hw_context_start(dev, c, p);
	domain->users++;

	p->vpid = vpid;
	p->rings_bytes = c->rings_bytes;
	p->notify_at = c->notify_at;
	p->mailbox_at = c->mailbox_at;
	p->queue_at = c->queue_at;
	p->doorbells = GGAS_MAP_OFFSET(GGAS_MAP_DOORBELLS, vpid);
	p->slots = GGAS_MAP_OFFSET(GGAS_MAP_SLOTS, vpid);
	p->rings = GGAS_MAP_OFFSET(GGAS_MAP_RINGS, vpid);
	return c;

free_rings:
	dma_free_coherent(&dev->pci->dev, c->rings_bytes, c->rings, c->rings_bus);
free_context:
	kfree(c);
put_eventfd:
	if (eventfd)
		eventfd_ctx_put(eventfd);
	return ERR_PTR(rc);
}

/* In the order of docs/memory-map.md, "Stops": the user's page first, then the NIC, then memory. */
void ggas_context_destroy(struct ggas_device *dev, struct ggas_context *c)
{
	ggas_unmap(dev, GGAS_MAP_OFFSET(GGAS_MAP_DOORBELLS, c->vpid), PAGE_SIZE);
	ggas_unmap(dev, GGAS_MAP_OFFSET(GGAS_MAP_SLOTS, c->vpid), PAGE_SIZE);
	if (dev->live && ggas_hw_context_stop(dev, c->vpid))
		ggas_hw_cut_off(dev);
	ggas_unmap(dev, GGAS_MAP_OFFSET(GGAS_MAP_RINGS, c->vpid), c->rings_bytes);
	arch_io_free_memtype_wc(ggas_page_phys(dev, c->vpid, true), PAGE_SIZE);
	publish(dev, c->vpid, NULL);
	if (c->eventfd)
		eventfd_ctx_put(c->eventfd);
	dma_free_coherent(&dev->pci->dev, c->rings_bytes, c->rings, c->rings_bus);
	c->object.domain->users--;
	kfree(c);
}
