// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The NIC's registers: nothing outside this file knows one. Offsets and fields come from the generated ggas_regs.h.
 *
 * Every wait ends. A NIC that does not stop in time is cut off from the bus (no more Bus Master), after which it can
 * reach no memory either: so the one that calls may free what the NIC knew.
 */
#include <linux/bitfield.h>
#include <linux/iopoll.h>

#include "ggas.h"
#include "ggas_regs.h"

#define STOP_SLEEP_US	200
#define STOP_LIMIT_US	5000000
#define MAGIC		0x53414747
#define GONE		(~0ULL)

static u64 get(struct ggas_device *dev, u32 offset)
{
	return readq(dev->regs + offset);
}

static void set(struct ggas_device *dev, u32 offset, u64 value)
{
	writeq(value, dev->regs + offset);
}

/* Waits until bits of a register are set. A NIC that is not there any more reads as all ones: it has stopped, too. */
static int wait_for(struct ggas_device *dev, u32 offset, u64 bits)
{
	u64 value;

	return read_poll_timeout(get, value, (value & bits) == bits, STOP_SLEEP_US, STOP_LIMIT_US, false, dev, offset);
}

void ggas_hw_cut_off(struct ggas_device *dev)
{
	dev_err(&dev->pci->dev, "does not stop: cut off from the bus until it is reset\n");
	pci_clear_master(dev->pci);
}

u32 ggas_hw_clock_khz(struct ggas_device *dev)
{
	return FIELD_GET(GGAS_CLOCK_KHZ_MASK, get(dev, GGAS_REG_CLOCK));
}

int ggas_hw_identify(struct ggas_device *dev)
{
	u64 id = get(dev, GGAS_REG_ID), build = get(dev, GGAS_REG_BUILD);

	if (FIELD_GET(GGAS_ID_MAGIC_MASK, id) != MAGIC || FIELD_GET(GGAS_ID_VERSION_MASK, id) != 1) {
		dev_err(&dev->pci->dev, "identity %#llx is not known\n", id);
		return -ENODEV;
	}
	dev->page_shift = FIELD_GET(GGAS_BUILD_PAGE_LOG2_MASK, build);
	dev->contexts = min_t(u32, FIELD_GET(GGAS_BUILD_CONTEXTS_MASK, build), GGAS_CONTEXTS) - 1;
	if (dev->number >= FIELD_GET(GGAS_BUILD_NODES_MASK, build)) {
		dev_err(&dev->pci->dev, "node %u: this NIC reaches %llu nodes\n", dev->number,
			FIELD_GET(GGAS_BUILD_NODES_MASK, build));
		return -EINVAL;
	}
	return 0;
}

/*
 * From reset, or after ggas_hw_stop(): everything that is not of one object. Only then may the NIC work: what it still
 * knows from before, rings and table, is memory of another one by now.
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
	if (wait_for(dev, GGAS_REG_STOPPED, GGAS_STOPPED_NIC_MASK))
		ggas_hw_cut_off(dev);
}

/* Whether the NIC answers. One that was pulled out, or has lost power, reads as all ones. */
bool ggas_hw_there(struct ggas_device *dev)
{
	return get(dev, GGAS_REG_ID) != GONE;
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

void ggas_hw_context_start(struct ggas_device *dev, const struct ggas_context *c, const struct ggas_context_create *p)
{
	u32 v = c->vpid;
	u64 ctrl = GGAS_CONTEXT_CTRL_ENABLE_MASK | GGAS_CONTEXT_CTRL_BACKPRESSURE_MASK |
		   FIELD_PREP(GGAS_CONTEXT_CTRL_NOTIFY_LOG2_MASK, p->notify_log2) |
		   FIELD_PREP(GGAS_CONTEXT_CTRL_PD_MASK, c->object.domain->number);

	if (c->eventfd)
		ctrl |= GGAS_CONTEXT_CTRL_IRQ_MASK | GGAS_CONTEXT_CTRL_LIST_MASK |
			FIELD_PREP(GGAS_CONTEXT_CTRL_VECTOR_MASK, GGAS_VECTOR_FIRED);
	if (c->queue_at)
		ctrl |= GGAS_CONTEXT_CTRL_QUEUE_MASK | FIELD_PREP(GGAS_CONTEXT_CTRL_QUEUE_LOG2_MASK, p->queue_log2);
	if (c->mailbox_at)
		ctrl |= FIELD_PREP(GGAS_CONTEXT_CTRL_MAILBOX_LOG2_MASK, p->mailbox_log2);
	set(dev, GGAS_REG_CONTEXT_STATUS(v), c->rings_bus);
	set(dev, GGAS_REG_CONTEXT_NOTIFY(v), c->rings_bus + c->notify_at);
	set(dev, GGAS_REG_CONTEXT_MAILBOX(v), c->mailbox_at ? c->rings_bus + c->mailbox_at : 0);
	set(dev, GGAS_REG_CONTEXT_QUEUE(v), c->queue_at ? c->rings_bus + c->queue_at : 0);
	set(dev, GGAS_REG_CONTEXT_CTRL(v), ctrl);
}

/* After it the NIC writes nothing of the context. Its pages must have been unmapped. */
int ggas_hw_context_stop(struct ggas_device *dev, u32 vpid)
{
	set(dev, GGAS_REG_CONTEXT_CTRL(vpid), 0);
	return wait_for(dev, GGAS_REG_CONTEXT_STATE(vpid), GGAS_CONTEXT_STATE_STOPPED_MASK);
}

/* Informs the NIC of a piece of the table; pieces come in turn. */
void ggas_hw_piece(struct ggas_device *dev, u32 piece)
{
	set(dev, GGAS_REG_ATU_PIECE(piece), dev->piece_bus[piece]);
	set(dev, GGAS_REG_ATU_TABLE0, FIELD_PREP(GGAS_ATU_TABLE0_ENTRIES_MASK, (piece + 1) * GGAS_PIECE_ENTRIES));
}

/* Translations of these pages are used no more when this returns 0. */
int ggas_hw_invalidate(struct ggas_device *dev, u32 first, u32 count)
{
	u64 before = get(dev, GGAS_REG_ATU_STATUS), status;

	set(dev, GGAS_REG_ATU_LAST, (u64)(first + count - 1) << 12);
	set(dev, GGAS_REG_ATU_INVALIDATE, GGAS_ATU_INVALIDATE_START_MASK | GGAS_ATU_INVALIDATE_RANGE_MASK |
	    (u64)first << 12);
	return read_poll_timeout(get, status,
				 status == GONE || (!(status & GGAS_ATU_STATUS_BUSY_MASK) &&
						    FIELD_GET(GGAS_ATU_STATUS_DONE_MASK, status) !=
						    FIELD_GET(GGAS_ATU_STATUS_DONE_MASK, before)),
				 STOP_SLEEP_US, STOP_LIMIT_US, false, dev, GGAS_REG_ATU_STATUS);
}

void ggas_hw_window_start(struct ggas_device *dev, const struct ggas_window *w)
{
	u64 domain = w->object.domain->number;
	u64 access = FIELD_PREP(GGAS_EXPORT_ACCESS_DOMAIN_MASK, domain) | GGAS_EXPORT_ACCESS_VALID_MASK;
	u32 n;

	if (w->rights & GGAS_REGION_READ)
		access |= GGAS_EXPORT_ACCESS_READ_MASK;
	if (w->rights & GGAS_REGION_WRITE)
		access |= GGAS_EXPORT_ACCESS_WRITE_MASK;
	set(dev, GGAS_REG_EXPORT_BASE(w->export), w->segment_bus);
	set(dev, GGAS_REG_EXPORT_SIZE(w->export), w->bytes);
	set(dev, GGAS_REG_EXPORT_ACCESS(w->export), access);
	for (n = 0; n < dev->nodes; n++) {
		u32 i = w->first_interval + n;

		set(dev, GGAS_REG_INTERVAL_START(i), w->space.start + n * w->bytes);
		set(dev, GGAS_REG_INTERVAL_END(i), w->space.start + (n + 1) * w->bytes);
		set(dev, GGAS_REG_INTERVAL_TARGET(i), n | GGAS_INTERVAL_TARGET_VALID_MASK |
		    FIELD_PREP(GGAS_INTERVAL_TARGET_EXPORT_NO_MASK, w->export) |
		    FIELD_PREP(GGAS_INTERVAL_TARGET_DOMAIN_MASK, domain));
	}
}

/*
 * Every store of this node has reached its target, and no access of another one reaches the segment after it: a packet
 * of the former domain does not meet the next owner of its number. The window must have been unmapped. Quiet comes
 * before the intervals go: a register may be written before the NIC has looked at a store in front of it.
 */
int ggas_hw_window_stop(struct ggas_device *dev, const struct ggas_window *w)
{
	u32 n;

	readl(dev->own_page);	/* quiet: ends when the NIC's time-out of loads does, if not before */
	for (n = 0; n < dev->nodes; n++)
		set(dev, GGAS_REG_INTERVAL_TARGET(w->first_interval + n), 0);
	set(dev, GGAS_REG_EXPORT_ACCESS(w->export), 0);
	return wait_for(dev, GGAS_REG_EXPORT_STATE(w->export), GGAS_EXPORT_STATE_STOPPED_MASK);
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
