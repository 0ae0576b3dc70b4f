// SPDX-License-Identifier: Apache-2.0
// The RMA of the reference model: contexts, status blocks and rings.
#include "sim/nic/reference/reference_rma.hpp"

#include <algorithm>

#include "ggas_regs.h"
#include "sim/nic/tlp_rules.hpp"

namespace ggas::nic {

using pcie::tlp;

namespace {

constexpr unsigned word_ctrl = 0, word_notify = 1, word_queue = 2, word_status = 3, word_mailbox = 4;
constexpr unsigned note_bytes = 16;
constexpr unsigned least_ring_log2 = 4, most_ring_log2 = 16, least_mailbox_log2 = 2, most_mailbox_log2 = 12;
constexpr uint8_t bad_op = 15;

uint64_t page_address(uint64_t base) { return base & ~(page_bytes - 1); }

}  // namespace

bool rma_model::context::queue_mode() const { return words[word_ctrl] & GGAS_CONTEXT_CTRL_QUEUE_MASK; }
bool rma_model::context::backpressure() const { return words[word_ctrl] & GGAS_CONTEXT_CTRL_BACKPRESSURE_MASK; }
uint16_t rma_model::context::pd() const { return uint16_t(words[word_ctrl] >> GGAS_CONTEXT_CTRL_PD_SHIFT); }

rma_model::rma_model(rma_services& nic, const host_config& cfg, const rma_limits& limits)
    : nic_(nic), cfg_(cfg), limits_(limits), queue_slots_(limits.fetches == 1 ? 1 : 8) {
  for (auto& c : contexts_) c = std::make_unique<context>(scheduler_);
  scheduler_.start(requests());
  scheduler_.start(responder());
  scheduler_.start(atomics());
  scheduler_.start(answers());
}

unsigned rma_model::mtu() const {
  const unsigned code = reg(GGAS_REG_RMA_CTRL) >> GGAS_RMA_CTRL_MTU_SHIFT & 3;
  return std::min(64u << code, mtu_bytes);
}

void rma_model::run() {
  scheduler_.run();
  while (!status_due_.empty() && nic_.rma_takes_status()) {
    write_status(status_due_.front());
    status_due_.pop_front();
  }
}

void rma_model::advance(uint64_t time) {
  const bool tick = time / tick_cycles != time_ / tick_cycles;
  time_ = time;
  turn_.notify();
  if (!tick) return;
  tick_.notify();
  if (expected_ == 0) return;
  const uint64_t answer = reg(GGAS_REG_RMA_TIMEOUT) & GGAS_RMA_TIMEOUT_ANSWER_MASK;
  for (unsigned v = 0; v < rma_contexts; ++v) {
    const context& c = *contexts_[v];
    if (c.expected.empty() || c.writing) continue;
    if (cut_off(v))
      give_up(v, net_status::link_down);
    else if (time / tick_cycles - c.waiting_since > answer)
      give_up(v, net_status::timeout);
  }
}

void rma_model::room() { room_.notify(); }

void rma_model::link_died() {
  for (unsigned v = 0; v < rma_contexts; ++v)
    if (!contexts_[v]->writing && cut_off(v)) give_up(v, net_status::link_down);
}

bool rma_model::cut_off(unsigned v) const {
  const auto away = [&](const expectation& e) { return nic_.rma_route(e.node) != net_status::ok; };
  return std::ranges::any_of(contexts_[v]->expected, away);
}

bool rma_model::waits() const { return !reads_.empty() || sleeping_ || expected_ > 0; }

bool rma_model::context_stopped(unsigned v) const {
  const context& c = *contexts_[v];
  return !c.enabled && !c.executing && !c.writing && c.expected.empty();
}

// ---------------------------------------------------------------------------------------------- contexts

void rma_model::write_context(unsigned v, unsigned word, uint64_t value) {
  context& c = *contexts_[v];
  c.words[word] = value;
  if (word != word_ctrl) return;
  c.enabled = value & GGAS_CONTEXT_CTRL_ENABLE_MASK;
  if (c.enabled) start_context(v);
  c.changed.notify();
}

std::optional<uint16_t> rma_model::domain_of(uint64_t v) const {
  if (v >= contexts_.size() || !contexts_[v]->enabled) return {};
  return contexts_[v]->pd();
}

void rma_model::start_context(unsigned v) {
  context& c = *contexts_[v];
  c.slots = {};
  c.ahead.clear();
  c.freed.clear();
  c.consumed = c.local = c.remote = c.errors = c.last_error = 0;
  c.produced = c.fetched = 0;
  c.notes = c.notes_read = c.notes_lost = 0;
  c.mails = c.mails_read = 0;
  c.notes_armed = c.mails_armed = false;
  expected_ -= c.expected.size();
  c.expected.clear();
  c.epoch = (c.epoch + 1) & 31;
  c.owner = c.pd();
  if (std::exchange(c.started, true)) return;
  scheduler_.start(requester(v));
  scheduler_.start(fill_from_queue(v));
}

bool rma_model::takes(const tlp& t) {
  const uint64_t at = t.addr % rma_context_bytes, end = at + 4u * t.len_dw;
  const bool whole = t.first_be == 15 && (t.len_dw == 1 || t.last_be == 15);
  const bool doorbells = at >= rma_doorbell_queue && end <= rma_doorbells_end;
  const bool slots = at >= rma_slots_offset && end <= rma_slots_offset + rma_slots * rma_slot_bytes;
  return whole && (doorbells || slots);
}

// DWs that fit nothing are dropped and reported, once a write.
void rma_model::page_write(const tlp& t) {
  const auto v = unsigned(t.addr / rma_context_bytes);
  bool refused = !contexts_[v]->enabled;
  for (unsigned i = 0; i < t.len_dw && contexts_[v]->enabled; ++i) {
    const unsigned offset = unsigned(t.addr % rma_context_bytes) + 4 * i;
    if (offset >= rma_slots_offset)
      slot_write(v, (offset - rma_slots_offset) / 4, t.data[i], refused);
    else
      doorbell(v, offset, t.data[i], refused);
  }
  if (refused) nic_.rma_event(GGAS_EV_PAGE_ACCESS, 0, t.addr);
}

void rma_model::slot_write(unsigned v, unsigned dw, uint32_t value, bool& refused) {
  context& c = *contexts_[v];
  slot& s = c.slots[dw / 8];
  const auto bit = uint8_t(1u << dw % 8);
  if (c.queue_mode() || s.written & bit) {
    refused = true;
    return;
  }
  s.dws[dw % 8] = value;
  s.written |= bit;
  if (s.written == 0xff) read_puts_ahead(v);
  c.changed.notify();
}

void rma_model::doorbell(unsigned v, unsigned offset, uint32_t value, bool& refused) {
  context& c = *contexts_[v];
  if (offset == rma_doorbell_queue && c.queue_mode())
    c.produced = value;
  else if (offset == rma_doorbell_notes || offset == rma_arm_notes)
    c.notes_read = value;
  else if (offset == rma_doorbell_messages || offset == rma_arm_messages)
    c.mails_read = value;
  else if (offset % 8 == 0 || offset > rma_arm_messages + 4)
    refused = true;  // the upper half of a doorbell is ignored
  else
    return;
  if (offset == rma_arm_notes) arm(v, c.notes_armed, value, c.notes);
  if (offset == rma_arm_messages) arm(v, c.mails_armed, value, c.mails);
  c.changed.notify();
}

// The one that has seen all that was written waits for the next record; else there is something to read.
void rma_model::arm(unsigned v, bool& armed, uint32_t seen, uint32_t written) {
  armed = true;
  if (seen != written) recorded(v, armed);
}

void rma_model::recorded(unsigned v, bool& armed) {
  const uint64_t ctrl = contexts_[v]->words[word_ctrl];
  if (!(ctrl & GGAS_CONTEXT_CTRL_IRQ_MASK) || !std::exchange(armed, false)) return;
  nic_.rma_fire(uint8_t(v), uint8_t((ctrl & GGAS_CONTEXT_CTRL_VECTOR_MASK) >> GGAS_CONTEXT_CTRL_VECTOR_SHIFT),
                ctrl & GGAS_CONTEXT_CTRL_LIST_MASK);
}

// The ring of the work queue into the slots, as far as they are free.
task<> rma_model::fill_from_queue(unsigned v) {
  context& c = *contexts_[v];
  for (;;) {
    while (!c.enabled || !c.queue_mode() || c.fetched == c.produced || c.fetched - c.consumed >= rma_slots)
      co_await c.changed;
    if (queue_reading_ == limits_.queue_reads) {
      co_await queue_read_;
      continue;
    }
    const unsigned ring = 1u << c.log2(GGAS_CONTEXT_CTRL_QUEUE_LOG2_SHIFT), first = c.fetched % ring;
    const uint64_t at = page_address(c.words[word_queue]) + first * uint64_t{rma_slot_bytes};
    // Not beyond the ring's end, nor what one read can bring.
    const unsigned free = rma_slots - (c.fetched - c.consumed);
    const unsigned room = unsigned(cfg_.mrrs - at % cfg_.mrrs) / rma_slot_bytes;
    const unsigned n = std::min({queue_slots_, c.produced - c.fetched, free, ring - first, room});
    nic_.rma_count(GGAS_REG_RMA_QUEUE_READS);
    ++queue_reading_;
    host_reads all;
    co_await begin_reads(all, at, n * rma_slot_bytes / 4, 15, 15);
    for (const auto& one : all) one->of_queue = true;
    const read_result r = co_await end_reads(all);
    --queue_reading_;
    queue_read_.notify();
    if (!c.enabled) continue;
    for (unsigned i = 0; i < n; ++i) {
      slot& s = c.slots[c.fetched++ % rma_slots];
      s.written = 0xff;
      s.dws = {};
      if (r.status == net_status::ok)
        std::copy_n(r.dws.begin() + i * s.dws.size(), s.dws.size(), s.dws.begin());
      else
        s.dws[0] = bad_op;
    }
    read_puts_ahead(v);
    c.changed.notify();
  }
}

void rma_model::status_changed(unsigned v) {
  if (std::ranges::find(status_due_, v) == status_due_.end()) status_due_.push_back(v);
}

void rma_model::write_status(unsigned v) {
  context& c = *contexts_[v];
  if (!c.enabled || stopped() || c.words[word_status] == 0) return;
  const uint32_t dws[4] = {c.consumed, c.local, c.remote, (c.errors & 0xffffff) | c.last_error << 24};
  host_write(c.words[word_status] & ~uint64_t{15}, dws);
  nic_.rma_count(GGAS_REG_RMA_STATUS_WRITES);
}

// ---------------------------------------------------------------------------------------------- rings

note rma_model::note_of(const packet& p, note_kind kind, net_status s) const {
  return {.kind = kind, .status = uint8_t(s), .op = 0, .vpid = p.svpid(), .node = p.src, .size = 0};
}

void rma_model::write_note(unsigned v, uint64_t w0, note n) {
  context& c = *contexts_[v];
  const unsigned log2 = c.log2(GGAS_CONTEXT_CTRL_NOTIFY_LOG2_SHIFT);
  n.phase = !(c.notes >> log2 & 1);
  const uint64_t w1 = n.word();
  const uint32_t dws[4] = {uint32_t(w0), uint32_t(w0 >> 32), uint32_t(w1), uint32_t(w1 >> 32)};
  host_write(page_address(c.words[word_notify]) + (c.notes++ & ((1u << log2) - 1)) * uint64_t{note_bytes}, dws);
  nic_.rma_count(GGAS_REG_RMA_NOTIFICATIONS);
  recorded(v, c.notes_armed);
}

net_status rma_model::notify(unsigned v, std::optional<uint16_t> pd, bool drop, uint64_t w0, note n) {
  context& c = *contexts_[v];
  const unsigned log2 = c.log2(GGAS_CONTEXT_CTRL_NOTIFY_LOG2_SHIFT);
  const bool ring = c.words[word_notify] != 0 && log2 >= least_ring_log2 && log2 <= most_ring_log2;
  if (!c.enabled || stopped() || !ring || (pd && *pd != c.pd())) return net_status::disabled;
  const uint32_t room = (1u << log2) - (c.notes - c.notes_read);
  if (room >= (c.notes_lost ? 2u : 1u)) {
    if (c.notes_lost) write_note(v, std::exchange(c.notes_lost, 0), {.kind = note_kind::lost});
    write_note(v, w0, n);
    return net_status::ok;
  }
  nic_.rma_count(GGAS_REG_RMA_NOTIFY_FULL);
  if (c.backpressure() && !drop) return net_status::full;
  ++c.notes_lost;
  nic_.rma_event(GGAS_EV_NOTIFY_LOST, 0, v);
  return net_status::lost;
}

net_status rma_model::deliver_message(unsigned v, uint16_t pd, const packet& p) {
  context& c = *contexts_[v];
  const unsigned log2 = c.log2(GGAS_CONTEXT_CTRL_MAILBOX_LOG2_SHIFT);
  const bool box = c.words[word_mailbox] != 0 && log2 >= least_mailbox_log2 && log2 <= most_mailbox_log2;
  if (!c.enabled || stopped() || !box || pd != c.pd()) return net_status::disabled;
  if (c.mails - c.mails_read >= 1u << log2) {
    nic_.rma_count(GGAS_REG_VELO_FULL);
    return net_status::full;
  }
  std::array<uint32_t, 20> entry{};
  std::copy(p.data.begin() + 4, p.data.end(), entry.begin());
  entry[16] = p.data[0];
  entry[17] = p.data[1];
  note n = note_of(p, note_kind::completer, net_status::ok);
  n.op = uint8_t(desc_op::send);
  n.size = p.data[2];
  n.phase = !(c.mails >> log2 & 1);
  entry[18] = uint32_t(n.word());
  entry[19] = uint32_t(n.word() >> 32);
  host_write(page_address(c.words[word_mailbox]) + (c.mails++ & ((1u << log2) - 1)) * uint64_t{mailbox_entry_bytes},
             entry);
  nic_.rma_count(GGAS_REG_VELO_MESSAGES);
  recorded(v, c.mails_armed);
  return net_status::ok;
}

}  // namespace ggas::nic
