// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Two vectors: records of events, and contexts that fired. Rings are read as docs/interrupts.md says: a record is new
 * while its phase is that of the turn.
 */
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>

#include "compat.h"
#include "ggas.h"
#include "ggas_regs.h"

#define RECORD_WORDS	2
#define EVENT_CODE(w)	((w) >> 56)

static int ring_alloc(struct ggas_device *dev, struct ggas_ring *r, size_t bytes)
{
	r->bytes = bytes;
	r->at = dma_alloc_coherent(&dev->pci->dev, bytes, &r->bus, GFP_KERNEL);
	return r->at ? 0 : -ENOMEM;
}

static void ring_free(struct ggas_device *dev, struct ggas_ring *r)
{
	if (r->at)
		dma_free_coherent(&dev->pci->dev, r->bytes, r->at, r->bus);
	r->at = NULL;
}

/* The next record's words, or NULL. */
static const __le64 *ring_next(struct ggas_ring *r, u32 records, u32 phase_word, u32 phase_bit)
{
	const __le64 *at = r->at + (r->read & (records - 1)) * RECORD_WORDS;
	bool phase = le64_to_cpu(READ_ONCE(at[phase_word])) >> phase_bit & 1;

	if (phase == !!(r->read & records))
		return NULL;
	dma_rmb();	/* the other word was written with the phase, or before */
	r->read++;
	return at;
}

static irqreturn_t on_events(int irq, void *arg)
{
	struct ggas_device *dev = arg;
	const __le64 *at;
	bool any = false;

	while ((at = ring_next(&dev->events, 1 << GGAS_EVENT_LOG2, 1, 0))) {
		u64 record = le64_to_cpu(at[0]);

		any = true;
		if (EVENT_CODE(record) == GGAS_EV_LINK_DEAD)
			mod_delayed_work(system_wq, &dev->look_work, 0);
		if (EVENT_CODE(record) == GGAS_EV_UNITS_CUT)
			dev_warn_ratelimited(&dev->pci->dev,
					     "host took no writes for long: packets for this node are lost until WATCHDOG.resume\n");
		dev_dbg_ratelimited(&dev->pci->dev, "event %llu: %#llx\n", EVENT_CODE(record), record);
	}
	if (any)
		ggas_hw_events_read(dev, dev->events.read);
	return IRQ_HANDLED;
}

static irqreturn_t on_fired(int irq, void *arg)
{
	struct ggas_device *dev = arg;
	const __le64 *at;
	bool any = false;

	while ((at = ring_next(&dev->fired, GGAS_FIRED_ENTRIES, 1, 0))) {
		struct ggas_context *c;
		unsigned long flags;

		any = true;
		spin_lock_irqsave(&dev->by_vpid_lock, flags);
		c = dev->by_vpid[le64_to_cpu(at[0]) & (GGAS_CONTEXTS - 1)];
		if (c && c->eventfd)
			ggas_eventfd_signal(c->eventfd);
		spin_unlock_irqrestore(&dev->by_vpid_lock, flags);
	}
	if (any)
		ggas_hw_fired_read(dev, dev->fired.read);
	return IRQ_HANDLED;
}

int ggas_irq_init(struct ggas_device *dev)
{
	static irqreturn_t (*const handler[GGAS_VECTORS])(int, void *) = { on_events, on_fired };
	int rc, v;

	INIT_DELAYED_WORK(&dev->look_work, ggas_look);
	rc = ring_alloc(dev, &dev->events, 16 << GGAS_EVENT_LOG2);
	if (!rc)
		rc = ring_alloc(dev, &dev->fired, 16 * GGAS_FIRED_ENTRIES);
	if (rc)
		goto free_rings;
	rc = pci_alloc_irq_vectors(dev->pci, GGAS_VECTORS, GGAS_VECTORS, PCI_IRQ_MSIX);
	if (rc < 0)
		goto free_rings;
	for (v = 0; v < GGAS_VECTORS; v++) {
		rc = request_irq(pci_irq_vector(dev->pci, v), handler[v], 0, "ggas", dev);
		if (rc)
			goto free_irqs;
	}
	return 0;

free_irqs:
	while (v--)
		free_irq(pci_irq_vector(dev->pci, v), dev);
	pci_free_irq_vectors(dev->pci);
free_rings:
	ring_free(dev, &dev->fired);
	ring_free(dev, &dev->events);
	return rc;
}

/* After ggas_hw_stop(): no handler reads a ring any more, nor says so to the NIC when it has been set up again. */
void ggas_irq_wait(struct ggas_device *dev)
{
	int v;

	for (v = 0; v < GGAS_VECTORS; v++)
		synchronize_irq(pci_irq_vector(dev->pci, v));
}

/* After ggas_hw_stop(). */
void ggas_irq_exit(struct ggas_device *dev)
{
	int v;

	for (v = 0; v < GGAS_VECTORS; v++)
		free_irq(pci_irq_vector(dev->pci, v), dev);
	cancel_delayed_work_sync(&dev->look_work);
	pci_free_irq_vectors(dev->pci);
	ring_free(dev, &dev->fired);
	ring_free(dev, &dev->events);
}
