// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The NIC's registers: nothing outside this file knows one. Offsets and fields come from the generated ggas_regs.h.
 *
 * Every wait ends. A NIC that does not stop in time is cut off from the bus (no more Bus Master), after which it can
 * reach no memory either: so the one that calls may free what the NIC knew. From then on no one accesses its registers
 * or waits for it, so however much ends, the time is lost once.
 */
#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/module.h>

#include "compat.h"
#include "ggas.h"
#include "ggas_regs.h"

#define STOP_SLEEP_US	200
#define SILENT_LOOKS	3	/* a second each */
#define MAGIC		0x53414747
#define GONE		(~0ULL)

static unsigned int stop_ms = 500;
module_param(stop_ms, uint, 0644);
MODULE_PARM_DESC(stop_ms, "how long a NIC may take to stop until it is cut off from the bus, in ms");

static u64 get(struct ggas_device *dev, u32 offset)
{
	return ggas_hw_dead(dev) ? GONE : readq(dev->regs + offset);
}

static void set(struct ggas_device *dev, u32 offset, u64 value)
{
	if (!ggas_hw_dead(dev))
		writeq(value, dev->regs + offset);
}

/* No one accesses it any more, and its users are informed. False: that was so before. */
static bool give_up(struct ggas_device *dev)
{
	if (test_and_set_bit(0, &dev->dead))
		return false;
	mod_delayed_work(system_wq, &dev->look_work, 0);
	return true;
}

/* Who finds the NIC given up may free memory at once, so it has been cut off by then. */
static void cut_off(struct ggas_device *dev)
{
	pci_clear_master(dev->pci);
	if (give_up(dev))
		dev_err(&dev->pci->dev, "does not stop: cut off from the bus until it is reset\n");
}

/*
 * Waits until a register has a value under a mask, or the NIC is cut off, and returns the last value that was read.
 * All ones may be a single lost read, so they prove nothing by themselves.
 */
static u64 wait_for(struct ggas_device *dev, u32 offset, u64 mask, u64 wanted)
{
	ktime_t end = ktime_add_ms(ktime_get(), READ_ONCE(stop_ms));
	u64 value;

	lockdep_assert_not_held(&dev->lock);
	for (;;) {
		value = get(dev, offset);
		if ((value != GONE && (value & mask) == wanted) || ggas_hw_dead(dev))
			return value;
		if (value == GONE && !pci_device_is_present(dev->pci))
			give_up(dev);
		else if (ktime_after(ktime_get(), end))
			cut_off(dev);
		else
			usleep_range(STOP_SLEEP_US / 2, STOP_SLEEP_US);
	}
}

int ggas_hw_identify(struct ggas_device *dev)
{
	u64 id = get(dev, GGAS_REG_ID), build = get(dev, GGAS_REG_BUILD);

	if (FIELD_GET(GGAS_ID_MAGIC_MASK, id) != MAGIC || FIELD_GET(GGAS_ID_VERSION_MASK, id) != 1) {
		dev_err(&dev->pci->dev, "identity %#llx is not known\n", id);
		return -ENODEV;
	}
	dev->clock_khz = FIELD_GET(GGAS_CLOCK_KHZ_MASK, get(dev, GGAS_REG_CLOCK));
	dev->page_shift = FIELD_GET(GGAS_BUILD_PAGE_LOG2_MASK, build);
	dev->contexts = min_t(u32, FIELD_GET(GGAS_BUILD_CONTEXTS_MASK, build), GGAS_CONTEXTS) - 1;
	if (dev->page_shift < PAGE_SHIFT) {
		dev_err(&dev->pci->dev, "pages of contexts are 2^%u bytes apart, and this kernel has larger ones\n",
			dev->page_shift);
		return -EINVAL;
	}
	if (dev->number >= FIELD_GET(GGAS_BUILD_NODES_MASK, build)) {
		dev_err(&dev->pci->dev, "node %u: this NIC reaches %llu nodes\n", dev->number,
			FIELD_GET(GGAS_BUILD_NODES_MASK, build));
		return -EINVAL;
	}
	return 0;
}

/*
 * Sets up everything that does not belong to one object, from reset or after ggas_hw_stop(). The NIC may work only
 * afterwards: the rings and the table that it still knows from before may by now be memory of another owner.
 */
int ggas_hw_start(struct ggas_device *dev)
{
	u64 link = dev->number ^ 1;	/* the NIC has one link: two nodes */
	u64 rma = get(dev, GGAS_REG_RMA_CTRL);

	set(dev, GGAS_REG_ATU_TABLE0, 0);
	set(dev, GGAS_REG_NODE, dev->number);
	if (dev->nodes > 1)
		set(dev, GGAS_REG_LINK_PEER, link | GGAS_LINK_PEER_VALID_MASK);

	dev->events.read = 0;
	memset(dev->events.at, 0, dev->events.bytes);
	set(dev, GGAS_REG_EVQ_TAIL, 0);
	set(dev, GGAS_REG_EVQ_BASE, dev->events.bus);
	set(dev, GGAS_REG_EVQ_CTRL, GGAS_EVQ_CTRL_ENABLE_MASK |
	    FIELD_PREP(GGAS_EVQ_CTRL_LOG2_SIZE_MASK, GGAS_EVENT_LOG2) |
	    FIELD_PREP(GGAS_EVQ_CTRL_VECTOR_MASK, GGAS_VECTOR_EVENTS));
	/* 16 records of one user in 2^10 ticks: no one fills the ring for others. */
	set(dev, GGAS_REG_EVQ_LIMIT, FIELD_PREP(GGAS_EVQ_LIMIT_COUNT_MASK, 16) |
	    FIELD_PREP(GGAS_EVQ_LIMIT_LOG2_TICKS_MASK, 10));

	dev->fired.read = 0;
	memset(dev->fired.at, 0, dev->fired.bytes);
	set(dev, GGAS_REG_FIRED_TAIL, 0);
	set(dev, GGAS_REG_FIRED_BASE, dev->fired.bus);
	set(dev, GGAS_REG_FIRED_CTRL, GGAS_FIRED_CTRL_ENABLE_MASK);

	set(dev, GGAS_REG_SMFU_CTRL, GGAS_SMFU_CTRL_EGRESS_MASK | GGAS_SMFU_CTRL_INGRESS_MASK);
	rma |= GGAS_RMA_CTRL_REQUESTER_MASK | GGAS_RMA_CTRL_TARGET_MASK;
	set(dev, GGAS_REG_RMA_CTRL, rma);
	set(dev, GGAS_REG_STOP, 0);
	return ggas_hw_there(dev) ? 0 : -EIO;
}

/* Nothing reaches memory any more when this returns. */
void ggas_hw_stop(struct ggas_device *dev)
{
	set(dev, GGAS_REG_STOP, GGAS_STOP_NIC_MASK);
	wait_for(dev, GGAS_REG_STOPPED, GGAS_STOPPED_NIC_MASK, GGAS_STOPPED_NIC_MASK);
}

/*
 * Whether the NIC can be used. One that was pulled out, or has lost power, reads as all ones. So does a read that
 * was answered too late: such a NIC is still found on the bus, and is cut off only if it stays silent.
 */
bool ggas_hw_there(struct ggas_device *dev)
{
	if (FIELD_GET(GGAS_ID_MAGIC_MASK, get(dev, GGAS_REG_ID)) == MAGIC) {
		dev->silent = 0;
		return true;
	}
	if (!pci_device_is_present(dev->pci))
		give_up(dev);
	if (ggas_hw_dead(dev))
		return false;
	if (++dev->silent < SILENT_LOOKS)
		return true;
	cut_off(dev);
	return false;
}

static u64 link_state(struct ggas_device *dev)
{
	return FIELD_GET(GGAS_LINK_STATUS_STATE_MASK, get(dev, GGAS_REG_LINK_STATUS));
}

bool ggas_hw_link_up(struct ggas_device *dev)
{
	return link_state(dev) == GGAS_LINK_STATE_UP;
}

/* A dead link begins a new session; one that is not dead is left alone. */
void ggas_hw_link_retrain(struct ggas_device *dev)
{
	if (link_state(dev) == GGAS_LINK_STATE_DEAD)
		set(dev, GGAS_REG_LINK_CTRL, get(dev, GGAS_REG_LINK_CTRL) | GGAS_LINK_CTRL_RETRAIN_MASK);
}

void ggas_hw_context_start(struct ggas_device *dev, const struct ggas_context *c)
{
	const struct ggas_part *mailbox = &c->part[GGAS_MAILBOX], *queue = &c->part[GGAS_WORK_QUEUE];
	u32 v = c->vpid;
	u64 ctrl = GGAS_CONTEXT_CTRL_ENABLE_MASK | GGAS_CONTEXT_CTRL_BACKPRESSURE_MASK |
		   FIELD_PREP(GGAS_CONTEXT_CTRL_NOTIFY_LOG2_MASK, c->notify_log2) |
		   FIELD_PREP(GGAS_CONTEXT_CTRL_PD_MASK, c->object.domain->number);

	if (c->eventfd)
		ctrl |= GGAS_CONTEXT_CTRL_IRQ_MASK | GGAS_CONTEXT_CTRL_LIST_MASK |
			FIELD_PREP(GGAS_CONTEXT_CTRL_VECTOR_MASK, GGAS_VECTOR_FIRED);
	if (queue->at)
		ctrl |= GGAS_CONTEXT_CTRL_QUEUE_MASK | FIELD_PREP(GGAS_CONTEXT_CTRL_QUEUE_LOG2_MASK, c->queue_log2);
	if (mailbox->at)
		ctrl |= FIELD_PREP(GGAS_CONTEXT_CTRL_MAILBOX_LOG2_MASK, c->mailbox_log2);
	set(dev, GGAS_REG_CONTEXT_STATUS(v), c->part[GGAS_STATUS_BLOCK].bus);
	set(dev, GGAS_REG_CONTEXT_NOTIFY(v), c->part[GGAS_NOTIFY_RING].bus);
	set(dev, GGAS_REG_CONTEXT_MAILBOX(v), mailbox->bus);
	set(dev, GGAS_REG_CONTEXT_QUEUE(v), queue->bus);
	set(dev, GGAS_REG_CONTEXT_CTRL(v), ctrl);
}

/* After it the NIC writes nothing of the context. Its pages must have been unmapped. */
void ggas_hw_context_stop(struct ggas_device *dev, u32 vpid)
{
	set(dev, GGAS_REG_CONTEXT_CTRL(vpid), 0);
	wait_for(dev, GGAS_REG_CONTEXT_STATE(vpid), GGAS_CONTEXT_STATE_STOPPED_MASK, GGAS_CONTEXT_STATE_STOPPED_MASK);
}

/* Informs the NIC of a piece of the table; pieces come in turn. */
void ggas_hw_piece(struct ggas_device *dev, u32 piece)
{
	set(dev, GGAS_REG_ATU_PIECE(piece), dev->piece_bus[piece]);
	set(dev, GGAS_REG_ATU_TABLE0, FIELD_PREP(GGAS_ATU_TABLE0_ENTRIES_MASK, (piece + 1) * GGAS_PIECE_ENTRIES));
}

/* Translations of these pages are used no more when this returns. One at a time: under `atu`. */
void ggas_hw_invalidate(struct ggas_device *dev, u32 first, u32 count)
{
	u64 before = wait_for(dev, GGAS_REG_ATU_STATUS, GGAS_ATU_STATUS_BUSY_MASK, 0);
	u32 done = FIELD_GET(GGAS_ATU_STATUS_DONE_MASK, before) + 1;

	set(dev, GGAS_REG_ATU_LAST, (u64)(first + count - 1) << 12);
	set(dev, GGAS_REG_ATU_INVALIDATE, GGAS_ATU_INVALIDATE_START_MASK | GGAS_ATU_INVALIDATE_RANGE_MASK |
	    (u64)first << 12);
	wait_for(dev, GGAS_REG_ATU_STATUS, GGAS_ATU_STATUS_BUSY_MASK | GGAS_ATU_STATUS_DONE_MASK,
		 FIELD_PREP(GGAS_ATU_STATUS_DONE_MASK, (u64)done));
}

static void interval(struct ggas_device *dev, u32 i, u64 start, u64 bytes, u64 target)
{
	set(dev, GGAS_REG_INTERVAL_START(i), start);
	set(dev, GGAS_REG_INTERVAL_END(i), start + bytes);
	set(dev, GGAS_REG_INTERVAL_TARGET(i), target | GGAS_INTERVAL_TARGET_VALID_MASK);
}

void ggas_hw_window_start(struct ggas_device *dev, const struct ggas_window *w)
{
	u64 domain = w->object.domain->number, bytes = ggas_block_bytes(w);
	u64 access = FIELD_PREP(GGAS_EXPORT_ACCESS_DOMAIN_MASK, domain) | GGAS_EXPORT_ACCESS_VALID_MASK;
	u32 n, b, i = w->first_interval;

	if (w->rights & GGAS_REGION_READ)
		access |= GGAS_EXPORT_ACCESS_READ_MASK;
	if (w->rights & GGAS_REGION_WRITE)
		access |= GGAS_EXPORT_ACCESS_WRITE_MASK;
	for (b = 0; b < w->blocks; b++) {
		set(dev, GGAS_REG_EXPORT_BASE(w->export + b), w->segment_bus[b]);
		set(dev, GGAS_REG_EXPORT_SIZE(w->export + b), bytes);
		set(dev, GGAS_REG_EXPORT_ACCESS(w->export + b), access);
	}
	for (n = 0; n < dev->nodes; n++)
		for (b = 0; b < w->blocks; b++, i++)
			interval(dev, i, w->space.start + n * w->bytes + b * bytes, bytes,
				 n | FIELD_PREP(GGAS_INTERVAL_TARGET_EXPORT_NO_MASK, w->export + b) |
				 FIELD_PREP(GGAS_INTERVAL_TARGET_DOMAIN_MASK, domain));
}

/*
 * After this call every store of this node has reached its target, and no access of another node reaches the
 * segment. So a packet of the former domain does not reach the next owner of its number. The window must have been
 * unmapped. Quiet comes before the intervals are removed: a register may be written before the NIC has looked up a
 * store that precedes the write.
 */
void ggas_hw_window_stop(struct ggas_device *dev, const struct ggas_window *w)
{
	u32 i, b;

	if (!ggas_hw_dead(dev))
		readl(dev->own_page);	/* quiet: ends when the NIC's time-out of loads does, if not before */
	for (i = 0; i < w->blocks * dev->nodes; i++)
		set(dev, GGAS_REG_INTERVAL_TARGET(w->first_interval + i), 0);
	for (b = 0; b < w->blocks; b++)
		set(dev, GGAS_REG_EXPORT_ACCESS(w->export + b), 0);
	for (b = 0; b < w->blocks; b++)
		wait_for(dev, GGAS_REG_EXPORT_STATE(w->export + b), GGAS_EXPORT_STATE_STOPPED_MASK,
			 GGAS_EXPORT_STATE_STOPPED_MASK);
}

void ggas_hw_events_read(struct ggas_device *dev, u32 count)
{
	set(dev, GGAS_REG_EVQ_TAIL, count);
}

void ggas_hw_fired_read(struct ggas_device *dev, u32 count)
{
	set(dev, GGAS_REG_FIRED_TAIL, count);
}

void ggas_hw_counters(struct ggas_device *dev, struct seq_file *to)
{
	static const struct {
		const char *name;
		u32 offset;
	} counters[] = {
		{ "host_requests", GGAS_REG_HOST_RX_REQS },
		{ "host_completions", GGAS_REG_HOST_TX_CPLS },
		{ "nic_requests", GGAS_REG_HOST_TX_REQS },
		{ "messages", GGAS_REG_HOST_MSIX },
		{ "link_packets_in", GGAS_REG_LINK_RX_PACKETS },
		{ "link_packets_out", GGAS_REG_LINK_TX_PACKETS },
		{ "link_crc_errors", GGAS_REG_LINK_RX_CRC_ERRORS },
		{ "link_sequence_errors", GGAS_REG_LINK_RX_SEQ_ERRORS },
		{ "link_replays", GGAS_REG_LINK_TX_REPLAYS },
		{ "window_stores", GGAS_REG_SMFU_STORES_IN },
		{ "window_loads", GGAS_REG_SMFU_LOADS_IN },
		{ "window_load_errors", GGAS_REG_SMFU_LOAD_ERRORS },
		{ "window_stores_served", GGAS_REG_SMFU_TARGET_STORES },
		{ "window_loads_served", GGAS_REG_SMFU_TARGET_LOADS },
		{ "descriptors", GGAS_REG_RMA_DESCRIPTORS },
		{ "notifications", GGAS_REG_RMA_NOTIFICATIONS },
		{ "notifications_full", GGAS_REG_RMA_NOTIFY_FULL },
		{ "retries", GGAS_REG_RMA_RETRIES },
		{ "puts_served", GGAS_REG_RMA_TARGET_PUTS },
		{ "gets_served", GGAS_REG_RMA_TARGET_GETS },
		{ "atomics_served", GGAS_REG_RMA_TARGET_ATOMICS },
		{ "translation_hits", GGAS_REG_ATU_HITS },
		{ "translation_misses", GGAS_REG_ATU_MISSES },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(counters); i++)
		seq_printf(to, "%-22s %llu\n", counters[i].name, get(dev, counters[i].offset));
}
