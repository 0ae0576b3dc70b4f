// SPDX-License-Identifier: Apache-2.0
#include "sim/nic/model/model_interrupts.hpp"

#include <algorithm>

#include "sim/nic/nic_core.hpp"
#include "sim/nic/tlp_rules.hpp"

namespace ggas::nic {

namespace {

constexpr unsigned record_bytes = 16, least_log2 = 4, most_log2 = 16;

// The share that an event uses, as in event_share: contexts from 0, intervals from 256, codes from 320, nodes (modulo
// 64) from 384 on.
unsigned share_of(const event& e) {
  switch (e.code) {
    case GGAS_EV_BAD_DESCRIPTOR:
    case GGAS_EV_RMA_PROTECTION:
    case GGAS_EV_RMA_TIMEOUT:
    case GGAS_EV_NOTIFY_LOST:
    case GGAS_EV_RMA_UNREACHABLE:
    case GGAS_EV_RMA_RETRY_LIMIT:
      return e.info & 0xff;
    case GGAS_EV_PAGE_ACCESS:
      return e.info / rma_context_bytes & 0xff;
    case GGAS_EV_TARGET_RANGE:
    case GGAS_EV_TARGET_HOST_ERROR:
    case GGAS_EV_TARGET_TIMEOUT:
    case GGAS_EV_BAD_PACKET:
    case GGAS_EV_TARGET_PROTECTION:
    case GGAS_EV_CONTEXT_OFF:
      return 384 + e.node % 64u;
    default:
      return e.interval < event::no_interval ? 256u + e.interval : 320u + e.code;
  }
}

}  // namespace

pcie::tlp model_interrupts::write(uint64_t addr, std::vector<uint32_t> dws) const {
  pcie::tlp t{.kind = pcie::tlp_kind::mwr, .addr = addr, .len_dw = uint16_t(dws.size()), .requester = bus_id_};
  t.last_be = dws.size() > 1 ? 0xf : 0;
  t.data.assign(dws.begin(), dws.end());
  return t;
}

bool model_interrupts::on(uint16_t ctrl, uint64_t enable) const {
  return read_(ctrl) & enable && !(read_(GGAS_REG_STOP) & GGAS_STOP_NIC_MASK);
}

// ---------------------------------------------------------------------------------------------- ring of events

bool model_interrupts::within_share(const event& e, uint64_t cycle) {
  const uint64_t limit = read_(GGAS_REG_EVQ_LIMIT), most = limit & GGAS_EVQ_LIMIT_COUNT_MASK;
  if (most == 0) return true;
  const uint64_t log2 = (limit & GGAS_EVQ_LIMIT_LOG2_TICKS_MASK) >> GGAS_EVQ_LIMIT_LOG2_TICKS_SHIFT;
  const uint64_t period = log2 << 60 | cycle / nic_core::tick_cycles >> log2;
  auto& [stamp, used] = shares_[share_of(e)];
  if (std::exchange(stamp, period) != period) used = 0;
  if (used == most) return false;
  ++used;
  return true;
}

void model_interrupts::record(const event& e, uint64_t cycle, writes& out) {
  const uint64_t ctrl = read_(GGAS_REG_EVQ_CTRL);
  const unsigned wanted = ctrl >> GGAS_EVQ_CTRL_LOG2_SIZE_SHIFT & 31, log2 = std::clamp(wanted, least_log2, most_log2);
  const uint64_t word = uint64_t{e.code} << 56 | uint64_t{e.node} << 40 | e.info;
  const uint64_t tail = uint64_t{head_} << 1 | !(head_ >> log2 & 1);
  const uint64_t base = read_(GGAS_REG_EVQ_BASE) & ~(page_bytes - 1);
  out.push_back(write(base + uint64_t{head_ & ((1u << log2) - 1)} * record_bytes,
                      {uint32_t(word), uint32_t(word >> 32), uint32_t(tail), uint32_t(tail >> 32)}));
  ++head_;
  raise_vector(unsigned(ctrl >> GGAS_EVQ_CTRL_VECTOR_SHIFT & 0xff), cycle, out);
}

std::vector<pcie::tlp> model_interrupts::raise(const event& e, uint64_t cycle) {
  writes out;
  if (!on(GGAS_REG_EVQ_CTRL, GGAS_EVQ_CTRL_ENABLE_MASK) || read_(GGAS_REG_EVQ_MASK) >> e.code & 1) return out;
  const unsigned log2 = unsigned(read_(GGAS_REG_EVQ_CTRL) >> GGAS_EVQ_CTRL_LOG2_SIZE_SHIFT & 31);
  const uint32_t size = 1u << std::clamp(log2, least_log2, most_log2);
  const auto room = [&] { return head_ - uint32_t(read_(GGAS_REG_EVQ_TAIL)) < size; };
  if (dropped_ && room()) record({.code = GGAS_EV_EVENT_OVERFLOW, .info = std::exchange(dropped_, 0)}, cycle, out);
  if (!room()) {
    ++dropped_;
    count_(GGAS_EV_EVENT_OVERFLOW);
  } else if (within_share(e, cycle)) {
    record(e, cycle, out);
  } else {
    count_(GGAS_EV_EVENT_LIMITED);
  }
  return out;
}

// ---------------------------------------------------------------------------------------------- ring of contexts

std::vector<pcie::tlp> model_interrupts::fire(const fired& f, uint64_t cycle) {
  writes out;
  context_state& c = contexts_[f.vpid];
  if (!f.list || !fired_on_) {
    raise_vector(f.vector, cycle, out);
  } else if (c.listed) {
    c.again = true;
    c.vector = f.vector;
  } else {
    enter(f.vpid, f.vector, cycle, out);
  }
  return out;
}

void model_interrupts::enter(uint8_t vpid, uint8_t vector, uint64_t cycle, writes& out) {
  const uint32_t slot = fired_head_ % rma_contexts;
  const uint64_t tail = uint64_t{fired_head_} << 1 | !(fired_head_ / rma_contexts & 1);
  const uint64_t base = read_(GGAS_REG_FIRED_BASE) & ~(page_bytes - 1);
  out.push_back(write(base + uint64_t{slot} * record_bytes, {vpid, 0, uint32_t(tail), uint32_t(tail >> 32)}));
  contexts_[vpid] = {.listed = true};
  ring_[slot] = vpid;
  ++fired_head_;
  raise_vector(vector, cycle, out);
}

// Software has read entries: their contexts may be entered again.
void model_interrupts::take_back_entries(uint64_t cycle, writes& out) {
  while (fired_on_ && fired_read_ != fired_head_ && fired_read_ != uint32_t(read_(GGAS_REG_FIRED_TAIL))) {
    const uint8_t vpid = ring_[fired_read_++ % rma_contexts];
    const context_state was = std::exchange(contexts_[vpid], {});
    if (was.again) enter(vpid, was.vector, cycle, out);
  }
}

// ---------------------------------------------------------------------------------------------- MSI-X

void model_interrupts::raise_vector(unsigned vector, uint64_t cycle, writes& out) {
  if (vector >= GGAS_MSIX_NUM) return;
  vectors_[vector].pending = true;
  ++vectors_[vector].raises;
  send_if_able(vector, cycle, out);
}

// A vector waits while it is masked or held; several raises become one.
void model_interrupts::send_if_able(unsigned vector, uint64_t cycle, writes& out) {
  vector_state& v = vectors_[vector];
  const uint64_t moderation = read_(uint16_t(GGAS_REG_MODERATION(vector)));
  const uint64_t cycles = moderation & 0xffffffff, count = moderation >> 32 & 0xff;
  if (cycle - v.sent_at >= cycles || (count && v.raises >= count)) v.held = false;
  const uint64_t ctrl = read_(uint16_t(GGAS_REG_MSIX_CTRL(vector)));
  const bool able = !(ctrl & GGAS_MSIX_CTRL_MASK_MASK) && !(read_(GGAS_REG_STOP) & GGAS_STOP_NIC_MASK);
  if (!v.pending || v.held || !able) return;
  v = {.held = true, .sent_at = cycle};
  out.push_back(write(read_(uint16_t(GGAS_REG_MSIX_ADDR(vector))), {uint32_t(ctrl)}));
}

std::vector<pcie::tlp> model_interrupts::tick(uint64_t cycle) {
  writes out;
  for (unsigned v = 0; v < vectors_.size(); ++v)
    if (vectors_[v].held) send_if_able(v, cycle, out);
  return out;
}

bool model_interrupts::waits() const {
  return std::ranges::any_of(vectors_, [](const vector_state& v) { return v.pending && v.held; });
}

uint16_t model_interrupts::pending() const {
  uint16_t bits = 0;
  for (unsigned v = 0; v < vectors_.size(); ++v) bits |= uint16_t(vectors_[v].pending << v);
  return bits;
}

// ---------------------------------------------------------------------------------------------- registers

// A ring that is switched on starts from zero.
void model_interrupts::start_rings() {
  const bool events = on(GGAS_REG_EVQ_CTRL, GGAS_EVQ_CTRL_ENABLE_MASK);
  if (events && !events_on_) head_ = 0, dropped_ = 0;
  events_on_ = events;
  const bool contexts = on(GGAS_REG_FIRED_CTRL, GGAS_FIRED_CTRL_ENABLE_MASK);
  if (contexts && !fired_on_) {
    fired_head_ = fired_read_ = 0;
    contexts_ = {};
  }
  fired_on_ = contexts;
}

std::vector<pcie::tlp> model_interrupts::registers_written(uint64_t cycle) {
  writes out;
  start_rings();
  take_back_entries(cycle, out);
  for (unsigned v = 0; v < vectors_.size(); ++v) send_if_able(v, cycle, out);
  return out;
}

}  // namespace ggas::nic
