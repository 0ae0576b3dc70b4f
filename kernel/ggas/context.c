// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Contexts: a number on the network, two pages of the NIC, and rings in host memory that the NIC writes.
 */
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/slab.h>

#include "compat.h"
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

static struct ggas_context *context_of(struct ggas_object *o)
{
	return container_of(o, struct ggas_context, object);
}

/* Every part begins on a page. */
static int get_parts(struct ggas_context *c)
{
	const size_t bytes[GGAS_PARTS] = {
		[GGAS_STATUS_BLOCK] = PAGE_SIZE,
		[GGAS_NOTIFY_RING] = (size_t)NOTE_BYTES << c->notify_log2,
		[GGAS_MAILBOX] = c->mailbox_log2 ? (size_t)MESSAGE_BYTES << c->mailbox_log2 : 0,
		[GGAS_WORK_QUEUE] = c->queue_log2 ? (size_t)SLOT_BYTES << c->queue_log2 : 0,
	};
	int i;

	for (i = 0; i < GGAS_PARTS; i++) {
		struct ggas_part *part = &c->part[i];

		if (!bytes[i])
			continue;
		part->bytes = PAGE_ALIGN(bytes[i]);
		part->offset = c->rings_bytes;
		part->at = dma_alloc_coherent(&c->dev->pci->dev, part->bytes, &part->bus, GGAS_USER_MEMORY);
		if (!part->at)
			return -ENOMEM;
		c->rings_bytes += part->bytes;
	}
	return 0;
}

static void put_parts(struct ggas_context *c)
{
	int i;

	for (i = 0; i < GGAS_PARTS; i++)
		if (c->part[i].at)
			dma_free_coherent(&c->dev->pci->dev, c->part[i].bytes, c->part[i].at, c->part[i].bus);
}

static void context_free(struct ggas_object *o)
{
	struct ggas_context *c = context_of(o);

	if (c->eventfd)
		eventfd_ctx_put(c->eventfd);
	put_parts(c);
	kfree(c);
}

struct ggas_context *ggas_context_new(struct ggas_device *dev, const struct ggas_context_create *p)
{
	struct ggas_context *c;
	int rc = check(p);

	if (rc)
		return ERR_PTR(rc);
	c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	if (!c)
		return ERR_PTR(-ENOMEM);
	c->object.kind = GGAS_CONTEXT;
	c->object.amount = 1;
	c->dev = dev;
	c->vpid = GGAS_CONTEXTS;
	c->notify_log2 = p->notify_log2;
	c->mailbox_log2 = p->mailbox_log2;
	c->queue_log2 = p->queue_log2;
	if (p->eventfd >= 0) {
		c->eventfd = eventfd_ctx_fdget(p->eventfd);
		rc = PTR_ERR_OR_ZERO(c->eventfd);
		if (rc)
			c->eventfd = NULL;
	}
	if (!rc)
		rc = get_parts(c);
	if (!rc)
		return c;
	context_free(&c->object);
	return ERR_PTR(rc);
}

static void publish(struct ggas_device *dev, u32 vpid, struct ggas_context *c)
{
	unsigned long flags;

	spin_lock_irqsave(&dev->by_vpid_lock, flags);
	dev->by_vpid[vpid] = c;
	spin_unlock_irqrestore(&dev->by_vpid_lock, flags);
}

static int take_vpid(struct ggas_object *o)
{
	struct ggas_context *c = context_of(o);
	u32 v;

	for (v = 0; v < c->dev->contexts; v++) {
		if (c->dev->by_vpid[v])
			continue;
		c->vpid = v;
		publish(c->dev, v, c);
		return 0;
	}
	return -ENOSPC;
}

/* What window stores of the page's former owner met is not reported to the next. */
static int forget_errors(struct ggas_device *dev, u32 vpid)
{
	void __iomem *doorbells = ioremap(ggas_page_phys(dev, vpid, false), PAGE_SIZE);

	if (!doorbells)
		return -ENOMEM;
	if (!ggas_hw_dead(dev))
		readl(doorbells);
	iounmap(doorbells);
	return 0;
}

static int context_start(struct ggas_object *o)
{
	struct ggas_context *c = context_of(o);
	int rc = forget_errors(c->dev, c->vpid);

	if (rc)
		return rc;
	/* On x86 the memory type goes by the address. Without it slots are uncached, which is slow but right. */
	c->combined = !arch_io_reserve_memtype_wc(ggas_page_phys(c->dev, c->vpid, true), PAGE_SIZE);
	ggas_hw_context_start(c->dev, c);
	c->started = true;
	return 0;
}

static void context_tell(const struct ggas_object *o, void *call)
{
	const struct ggas_context *c = container_of(o, struct ggas_context, object);
	struct ggas_context_create *p = call;

	p->vpid = c->vpid;
	p->rings_bytes = c->rings_bytes;
	p->notify_at = c->part[GGAS_NOTIFY_RING].offset;
	p->mailbox_at = c->part[GGAS_MAILBOX].offset;
	p->queue_at = c->part[GGAS_WORK_QUEUE].offset;
	p->doorbells = GGAS_MAP_OFFSET(GGAS_MAP_DOORBELLS, c->vpid);
	p->slots = GGAS_MAP_OFFSET(GGAS_MAP_SLOTS, c->vpid);
	p->rings = GGAS_MAP_OFFSET(GGAS_MAP_RINGS, c->vpid);
}

static void context_hide(struct ggas_object *o)
{
	struct ggas_context *c = context_of(o);

	ggas_unmap(c->dev, GGAS_MAP_OFFSET(GGAS_MAP_DOORBELLS, c->vpid), PAGE_SIZE);
	ggas_unmap(c->dev, GGAS_MAP_OFFSET(GGAS_MAP_SLOTS, c->vpid), PAGE_SIZE);
	ggas_unmap(c->dev, GGAS_MAP_OFFSET(GGAS_MAP_RINGS, c->vpid), c->rings_bytes);
}

/* In the order of docs/memory-map.md, "Stops": the user's page first (it is hidden), then the NIC, then memory. */
static void context_stop(struct ggas_object *o)
{
	struct ggas_context *c = context_of(o);

	if (c->started)
		ggas_hw_context_stop(c->dev, c->vpid);
	if (c->combined)
		arch_io_free_memtype_wc(ggas_page_phys(c->dev, c->vpid, true), PAGE_SIZE);
}

static void give_vpid(struct ggas_object *o)
{
	struct ggas_context *c = context_of(o);

	if (c->vpid < GGAS_CONTEXTS)
		publish(c->dev, c->vpid, NULL);
}

/* Who sleeps on it looks, and finds the context gone. */
void ggas_context_wake(struct ggas_context *c)
{
	if (c->eventfd)
		ggas_eventfd_signal(c->eventfd);
}

const struct ggas_kind_ops ggas_context_ops = {
	.take = take_vpid,
	.start = context_start,
	.tell = context_tell,
	.hide = context_hide,
	.stop = context_stop,
	.give = give_vpid,
	.free = context_free,
};
