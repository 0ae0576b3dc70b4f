// SPDX-License-Identifier: Apache-2.0
// The RMA of the reference model: contexts, rings and accesses to the local host.
#include "sim/nic/reference_rma.hpp"

#include <algorithm>
#include <cstring>

#include "ggas_regs.h"
#include "sim/nic/tlp_rules.hpp"

namespace ggas::nic {

using pcie::cpl_status;
using pcie::tlp;
using pcie::tlp_kind;

namespace {

constexpr unsigned word_ctrl = 0, word_notify = 1, word_queue = 2, word_status = 3, word_mailbox = 4;
constexpr uint64_t tick_cycles = 1024;
constexpr unsigned note_bytes = 16, entry_bytes = 16;
constexpr unsigned least_ring_log2 = 4, most_ring_log2 = 16, least_mailbox_log2 = 2, most_mailbox_log2 = 12;
constexpr uint8_t bad_op = 15;

uint64_t page_address(uint64_t base) { return base & ~(page_bytes - 1); }

// Offset in its class and size of the page of an address.
constexpr unsigned page_shifts[4] = {12, 16, 21, 30};
unsigned class_of(uint64_t nla) { return unsigned(nla >> 46 & 3); }
uint64_t offset_of(uint64_t nla) { return nla & ((uint64_t{1} << 46) - 1); }
uint64_t page_of(uint64_t nla) { return nla >> page_shifts[class_of(nla)] << page_shifts[class_of(nla)]; }

}  // namespace

bool rma_model::context::queue_mode() const { return words[word_ctrl] & GGAS_CONTEXT_CTRL_QUEUE_MASK; }
bool rma_model::context::backpressure() const { return words[word_ctrl] & GGAS_CONTEXT_CTRL_BACKPRESSURE_MASK; }
uint16_t rma_model::context::pd() const { return uint16_t(words[word_ctrl] >> GGAS_CONTEXT_CTRL_PD_SHIFT); }

rma_model::rma_model(rma_services& nic, const host_config& cfg) : nic_(nic), cfg_(cfg) {
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
  for (const unsigned v : std::exchange(status_due_, {})) write_status(v);
}

void rma_model::advance(uint64_t time) {
  const bool tick = time / tick_cycles != time_ / tick_cycles;
  time_ = time;
  if (!tick) return;
  tick_.notify();
  const uint64_t answer = reg(GGAS_REG_RMA_TIMEOUT) & GGAS_RMA_TIMEOUT_ANSWER_MASK;
  for (unsigned v = 0; v < rma_contexts; ++v) {
    const context& c = *contexts_[v];
    if (!c.expected.empty() && time / tick_cycles - c.waiting_since > answer) give_up(v, net_status::timeout);
  }
}

void rma_model::link_died() {
  for (unsigned v = 0; v < rma_contexts; ++v) {
    const auto away = [&](const expectation& e) { return nic_.rma_route(e.node) != net_status::ok; };
    if (std::ranges::any_of(contexts_[v]->expected, away)) give_up(v, net_status::link_down);
  }
}

bool rma_model::waits() const {
  if (!reads_.empty() || sleeping_) return true;
  return std::ranges::any_of(contexts_, [](const auto& c) { return !c->expected.empty(); });
}

bool rma_model::context_busy(unsigned v) const {
  const context& c = *contexts_[v];
  return c.executing || !c.expected.empty();
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

void rma_model::start_context(unsigned v) {
  context& c = *contexts_[v];
  c.slots = {};
  c.consumed = c.local = c.remote = c.errors = c.last_error = 0;
  c.produced = c.fetched = 0;
  c.notes = c.notes_read = c.notes_lost = 0;
  c.mails = c.mails_read = 0;
  c.expected.clear();
  if (std::exchange(c.started, true)) return;
  scheduler_.start(requester(v));
  scheduler_.start(fill_from_queue(v));
}

bool rma_model::takes(const tlp& t) {
  const uint64_t at = t.addr % page_bytes;
  const bool whole = t.first_be == 15 && (t.len_dw == 1 || t.last_be == 15);
  return whole && at >= rma_doorbell_queue && at + 4u * t.len_dw <= rma_slots_offset + rma_slots * rma_slot_bytes;
}

// DWs that fit nothing are dropped and reported, once a write.
void rma_model::page_write(const tlp& t) {
  const auto v = unsigned(t.addr / page_bytes);
  bool refused = !contexts_[v]->enabled;
  for (unsigned i = 0; i < t.len_dw && contexts_[v]->enabled; ++i) {
    const unsigned offset = unsigned(t.addr % page_bytes) + 4 * i;
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
  c.changed.notify();
}

void rma_model::doorbell(unsigned v, unsigned offset, uint32_t value, bool& refused) {
  context& c = *contexts_[v];
  if (offset == rma_doorbell_queue && c.queue_mode())
    c.produced = value;
  else if (offset == rma_doorbell_notes)
    c.notes_read = value;
  else if (offset == rma_doorbell_messages)
    c.mails_read = value;
  else if (offset != rma_doorbell_queue + 4 && offset != rma_doorbell_notes + 4 && offset != rma_doorbell_messages + 4)
    refused = true;  // the upper half of a doorbell is ignored
  else
    return;
  c.changed.notify();
}

// The ring of the work queue into the slots, as far as they are free.
task<> rma_model::fill_from_queue(unsigned v) {
  context& c = *contexts_[v];
  for (;;) {
    while (!c.enabled || !c.queue_mode() || c.fetched == c.produced || c.fetched - c.consumed >= rma_slots)
      co_await c.changed;
    const unsigned ring = 1u << c.log2(GGAS_CONTEXT_CTRL_QUEUE_LOG2_SHIFT);
    const uint64_t at = page_address(c.words[word_queue]) + c.fetched % ring * uint64_t{rma_slot_bytes};
    nic_.rma_count(GGAS_REG_RMA_QUEUE_READS);
    const read_result r = co_await host_read_dws(at, rma_slot_bytes / 4);
    if (!c.enabled) continue;
    slot& s = c.slots[c.fetched++ % rma_slots];
    s.written = 0xff;
    s.dws = {};
    if (r.status == net_status::ok)
      std::ranges::copy(r.dws, s.dws.begin());
    else
      s.dws[0] = bad_op;
    c.changed.notify();
  }
}

void rma_model::status_changed(unsigned v) {
  if (std::ranges::find(status_due_, v) == status_due_.end()) status_due_.push_back(v);
}

void rma_model::write_status(unsigned v) {
  context& c = *contexts_[v];
  if (!c.enabled || c.words[word_status] == 0) return;
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
}

net_status rma_model::notify(unsigned v, std::optional<uint16_t> pd, bool drop, uint64_t w0, note n) {
  context& c = *contexts_[v];
  const unsigned log2 = c.log2(GGAS_CONTEXT_CTRL_NOTIFY_LOG2_SHIFT);
  const bool ring = c.words[word_notify] != 0 && log2 >= least_ring_log2 && log2 <= most_ring_log2;
  if (!c.enabled || !ring || (pd && *pd != c.pd())) return net_status::disabled;
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
  if (!c.enabled || !box || pd != c.pd()) return net_status::disabled;
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
  return net_status::ok;
}

// ---------------------------------------------------------------------------------------------- the local host

void rma_model::host_write(uint64_t addr, std::span<const uint32_t> dws, unsigned first_be, unsigned last_be) {
  for (size_t i = 0; i < dws.size();) {
    const uint64_t at = addr + 4 * i;
    const auto n = size_t(std::min<uint64_t>({cfg_.mps / 4u, dws.size() - i, (page_bytes - at % page_bytes) / 4}));
    const auto be = [&](size_t k) { return k == 0 ? first_be : k + 1 == dws.size() ? last_be : 15u; };
    tlp w{.kind = tlp_kind::mwr, .addr = at, .len_dw = uint16_t(n), .requester = cfg_.bus_id};
    w.first_be = uint8_t(be(i));
    w.last_be = n > 1 ? uint8_t(be(i + n - 1)) : 0;
    w.data.assign(dws.begin() + long(i), dws.begin() + long(i + n));
    nic_.rma_request(std::move(w));
    i += n;
  }
}

// One read TLP.
task<rma_model::read_result> rma_model::host_read_piece(uint64_t addr, unsigned dws, unsigned first_be,
                                                        unsigned last_be) {
  constexpr unsigned tags = last_tag - first_tag + 1;
  while (reads_.size() >= tags) co_await tag_free_;
  while (reads_.contains(next_tag_)) next_tag_ = next_tag_ == last_tag ? first_tag : next_tag_ + 1;
  const uint16_t tag = next_tag_;
  next_tag_ = next_tag_ == last_tag ? first_tag : next_tag_ + 1;
  tlp m{.kind = tlp_kind::mrd, .addr = addr, .len_dw = uint16_t(dws), .requester = cfg_.bus_id};
  m.first_be = uint8_t(first_be);
  m.last_be = dws > 1 ? uint8_t(last_be) : 0;
  m.tag = tag;
  reads_[tag] = std::make_unique<host_read>(std::vector<uint32_t>(dws), 0, false, net_status::ok, signal(scheduler_));
  host_read& r = *reads_[tag];
  nic_.rma_request(std::move(m));
  while (!r.done) co_await r.finished;
  read_result result{r.status, std::move(r.dws)};
  reads_.erase(tag);
  tag_free_.notify();
  co_return result;
}

// Cut at 4 KB and at multiples of MRRS.
task<rma_model::read_result> rma_model::host_read_dws(uint64_t addr, unsigned dws, unsigned first_be,
                                                      unsigned last_be) {
  read_result all;
  const unsigned unit = std::min<unsigned>(cfg_.mrrs, page_bytes);
  for (unsigned i = 0; i < dws;) {
    const uint64_t at = addr + 4 * i;
    const unsigned n = std::min(unsigned(unit - at % unit) / 4, dws - i);
    const auto be = [&](unsigned k) { return k == 0 ? first_be : k + 1 == dws ? last_be : 15u; };
    const unsigned first = be(i), last = be(i + n - 1);
    read_result r = co_await host_read_piece(at, n, first, last);
    if (r.status != net_status::ok) {
      all.status = r.status;
      co_return all;
    }
    all.dws.insert(all.dws.end(), r.dws.begin(), r.dws.end());
    i += n;
  }
  co_return all;
}

bool rma_model::host_completion(const tlp& t) {
  const auto it = reads_.find(t.tag);
  if (it == reads_.end() || it->second->done) return false;
  host_read& r = *it->second;
  if (t.status != cpl_status::sc || t.poisoned) {
    r.status = net_status::host_error;
    nic_.rma_event(GGAS_EV_RMA_HOST_ERROR, 0, t.tag);
  }
  for (unsigned i = 0; i < t.len_dw && i < t.data.size() && r.received < r.dws.size(); ++i)
    r.dws[r.received++] = t.data[i];
  r.done = r.status != net_status::ok || r.received == r.dws.size() || t.kind == tlp_kind::cpl;
  if (r.done) r.finished.notify();
  return true;
}

void rma_model::host_timeout(uint16_t tag) {
  const auto it = reads_.find(tag);
  if (it == reads_.end() || it->second->done) return;
  it->second->status = net_status::timeout;
  it->second->done = true;
  nic_.rma_event(GGAS_EV_RMA_HOST_ERROR, 0, tag);
  it->second->finished.notify();
}

// ---------------------------------------------------------------------------------------------- translation

void rma_model::invalidate(uint64_t request) {
  if (!(request & GGAS_ATU_INVALIDATE_START_MASK)) return;
  if (request & GGAS_ATU_INVALIDATE_EVERYTHING_MASK)
    tlb_.clear();
  else
    tlb_.erase(page_of(request & GGAS_ATU_INVALIDATE_PAGE_MASK));
  ++invalidation_round_;
  ++invalidations_;
}

task<rma_model::translation> rma_model::translate(uint64_t nla, uint16_t pd, bool read, bool write) {
  const unsigned cls = class_of(nla), shift = page_shifts[cls];
  const uint64_t page = page_of(nla);
  if (nla >> 48) co_return translation{net_status::protection, 0, shift};
  const auto it = tlb_.find(page);
  tlb_entry e{};
  if (it != tlb_.end()) {
    nic_.rma_count(GGAS_REG_ATU_HITS);
    e = it->second;
  } else {
    nic_.rma_count(GGAS_REG_ATU_MISSES);
    const uint64_t index = offset_of(nla) >> shift;
    const uint64_t base = reg(uint16_t(GGAS_REG_ATU_BASE0 + 16 * cls));
    if (index >= reg(uint16_t(GGAS_REG_ATU_COUNT0 + 16 * cls))) {
      nic_.rma_event(GGAS_EV_ATU_WALK, 0, nla);
      co_return translation{net_status::protection, 0, shift};
    }
    const uint64_t round = invalidation_round_;
    const read_result r = co_await host_read_dws(page_address(base) + index * entry_bytes, entry_bytes / 4);
    if (r.status != net_status::ok) {
      nic_.rma_event(GGAS_EV_ATU_WALK, 0, nla);
      co_return translation{net_status::protection, 0, shift};
    }
    e = {r.dws[0] | uint64_t{r.dws[1]} << 32, r.dws[2] | uint64_t{r.dws[3]} << 32};
    if (e.word0 & 1 && round == invalidation_round_) tlb_[page] = e;
  }
  const bool good = e.word0 & 1 && (!read || e.word0 & 2) && (!write || e.word0 & 4) && uint16_t(e.word1) == pd;
  if (!good) co_return translation{net_status::protection, 0, shift};
  const uint64_t mask = (uint64_t{1} << shift) - 1;
  co_return translation{net_status::ok, (e.word0 & ~mask) | (nla & mask), shift};
}

// `bytes` bytes from `nla` on, which may lie in two pages.
task<rma_model::fetched> rma_model::fetch(uint64_t nla, uint16_t pd, unsigned bytes) {
  fetched out;
  while (out.bytes.size() < bytes) {
    const uint64_t at = nla + out.bytes.size();
    const translation t = co_await translate(at, pd, true, false);
    out.status = t.status;
    if (t.status != net_status::ok) co_return out;
    const uint64_t page = uint64_t{1} << t.shift;
    const auto n = unsigned(std::min<uint64_t>(bytes - out.bytes.size(), page - at % page));
    const unsigned skip = t.addr % 4, dws = (skip + n + 3) / 4, tail = (skip + n) % 4;
    const unsigned first = 15u << skip & 15, last = tail ? (1u << tail) - 1 : 15;
    const unsigned only = first & last, first_be = dws == 1 ? only : first;
    const read_result r = co_await host_read_dws(t.addr & ~uint64_t{3}, dws, first_be, last);
    out.status = r.status;
    if (r.status != net_status::ok) co_return out;
    for (unsigned i = skip; i < skip + n; ++i) out.bytes.push_back(uint8_t(r.dws[i / 4] >> 8 * (i % 4)));
  }
  co_return out;
}

// The payload of a PUT or GET_DATA packet to its place.
task<net_status> rma_model::store(uint64_t nla, uint16_t pd, const packet& p) {
  const std::vector<uint32_t> dws(p.data.begin(), p.data.end());
  const unsigned first = p.first_be, last = p.last_be;
  const translation t = co_await translate(nla, pd, false, true);
  if (t.status == net_status::ok) host_write(t.addr & ~uint64_t{3}, dws, first, last);
  co_return t.status;
}

}  // namespace ggas::nic
