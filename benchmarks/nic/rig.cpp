// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/nic/rig.hpp"
#include "sim/driver/set_up.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "benchmarks/nic/cycles.hpp"
#include "ggas_regs.h"
#include "sim/nic/packet.hpp"
#include "sim/nic/rtl/nic_rtl.hpp"

namespace ggas::bench {

namespace {

using pcie::tlp;
using pcie::tlp_kind;

constexpr uint64_t segment_base = 0x1'0000'0000;  // 2 MB aligned
constexpr uint64_t table_base = 0x2'0000'0000;    // translations of 2 MB pages
constexpr uint64_t status_base = 0x3'0000'0000;   // 16 bytes a context
constexpr uint64_t rings_base = 0x4'0000'0000;    // 4 MB a context: notifications, 1 MB after them the mailbox
constexpr uint64_t queue_base = 0x5'0000'0000;    // a work queue, the same slot everywhere
constexpr uint64_t mailbox_log2 = 12, queue_log2 = 16;
constexpr uint16_t domain = 1;
constexpr uint8_t bar_registers = 0, bar_window = 2, bar_pages = 4;
constexpr uint64_t timeout = 1'000'000;  // cycles a measurement may take

tlp request(tlp_kind kind, uint8_t bar, uint64_t addr, unsigned dws, uint32_t fill = 0) {
  tlp t;
  t.kind = kind;
  t.bar = bar;
  t.addr = addr;
  t.len_dw = static_cast<uint16_t>(dws);
  t.last_be = dws > 1 ? 0xf : 0;
  if (kind == tlp_kind::mwr)
    for (unsigned i = 0; i < dws; ++i) t.data.push_back(fill + i);
  return t;
}

driver::context context_of(unsigned vpid, unsigned log2) {
  const uint64_t rings = rings_base + (uint64_t{vpid} << 22);
  return {.notifications = rings,
          .status = status_base + 16 * vpid,
          .mailbox = rings + (1 << 20),
          .queue = queue_base,
          .notify_log2 = log2,
          .mailbox_log2 = mailbox_log2,
          .queue_log2 = queue_log2,
          .domain = domain,
          .queued = vpid >= nic_rig::first_queue};
}

}  // namespace

double packet_flits(unsigned width, unsigned payload) { return nic::flit_count((payload + 3) / 4, width); }

nic_rig::nic_rig(unsigned width, uint64_t seed, std::function<bool()> cancelled, unsigned links)
    : fill_(static_cast<uint32_t>(seed)), cancelled_(std::move(cancelled)) {
  for (auto& n : nics_) {
    auto made = nic::make_nic_rtl(width, {.mps = 256, .mrrs = 512, .bus_id = 1, .links = links}, "nic");
    if (!made) {
      wrong_ = made.error();
      return;
    }
    n = std::move(*made);
    n->link_up(0, true);
    n->link_ready(0, true);
    n->gate(true, true, true);
  }
  for (unsigned n = 0; n < 2; ++n) {
    set_up_window(n);
    set_up_contexts(n);
    if (links > 1) set_up_group(n);
  }
  on_request = [this](unsigned n, const tlp& t) { set_up_.emplace_back(n, t); };
  drain();
  if (!bring_up()) wrong_ = fmt::format("the link of the {}-bit NIC does not come up", width);
  on_request = nullptr;
}

void nic_rig::store(unsigned n, uint64_t offset, unsigned dws, bool own) {
  const unsigned to = own ? n : 1 - n;
  queue(n, request(tlp_kind::mwr, bar_window, to * segment_bytes + offset, dws, ++fill_));
}
void nic_rig::load(unsigned n, uint64_t offset, unsigned dws, bool own) {
  const unsigned to = own ? n : 1 - n;
  tlp t = request(tlp_kind::mrd, bar_window, to * segment_bytes + offset, dws);
  t.tag = next_tag_[n]++ & 0x3ff;
  queue(n, std::move(t));
}
void nic_rig::read_register(unsigned n, unsigned offset) { queue(n, request(tlp_kind::mrd, bar_registers, offset, 2)); }
void nic_rig::quiet(unsigned n) { queue(n, request(tlp_kind::mrd, bar_pages, 0, 1)); }

// A warp writes a slot at once, a processor in words.
void nic_rig::post(unsigned n, unsigned vpid, const nic::descriptor& d, unsigned dws) {
  for (const auto& slot : d.encode()) {
    const uint64_t at = produced_[n][vpid]++ % nic::rma_slots * nic::rma_slot_bytes;
    for (unsigned i = 0; i < slot.size(); i += dws) {
      tlp t =
          request(tlp_kind::mwr, bar_pages, vpid * nic::rma_context_bytes + nic::rma_slots_offset + at + 4 * i, dws);
      t.data.assign(slot.begin() + i, slot.begin() + i + dws);
      queue(n, std::move(t));
    }
  }
}
// Command and words as a warp stores them: 256 bytes at once.
void nic_rig::collective(unsigned n, const nic::coll::ask& a) {
  const unsigned words = 1 + (a.contributes ? a.words : 0);
  for (unsigned at = 0; at < words; at += 32) {
    const unsigned part = std::min(words - at, 32u);
    tlp t = request(tlp_kind::mwr, bar_pages, nic::coll::blocks_offset + 8 * at, 2 * part, ++fill_);
    if (at == 0) t.data[0] = static_cast<uint32_t>(a.command()), t.data[1] = 0;
    queue(n, std::move(t));
  }
}
void nic_rig::ring_queue(unsigned n, unsigned vpid, unsigned slots) {
  const uint64_t at = vpid * nic::rma_context_bytes + nic::rma_doorbell_queue;
  queue(n, request(tlp_kind::mwr, bar_pages, at, 1, produced_[n][vpid] += slots));
}
void nic_rig::restart(unsigned n, unsigned vpid, unsigned log2, bool backpressure) {
  produced_[n][vpid] = consumed_[n][vpid] = 0;
  write_register(n, GGAS_REG_CONTEXT_CTRL(vpid), 0);
  driver::context c = context_of(vpid, log2);
  c.backpressure = backpressure;
  write_register(n, GGAS_REG_CONTEXT_CTRL(vpid), c.ctrl());
}
void nic_rig::ring_notes(unsigned n, unsigned vpid, unsigned read) {
  queue(n, request(tlp_kind::mwr, bar_pages, vpid * nic::rma_context_bytes + nic::rma_doorbell_notes, 1, read));
}
unsigned nic_rig::free_slots(unsigned n, unsigned vpid) const {
  return nic::rma_slots - (produced_[n][vpid] - consumed_[n][vpid]);
}

void nic_rig::step() {
  for (unsigned n = 0; n < 2; ++n) {
    feed(n);
    auto& in = wire_[1 - n];
    if (!in.empty() && in.front().first <= now_) {
      nics_[n]->link_in(0, in.front().second);
      in.pop_front();
    }
    nics_[n]->step(now_);
  }
  for (unsigned n = 0; n < 2; ++n) leave(n);
  ++now_;
}

// What NIC n gave out in this cycle.
void nic_rig::leave(unsigned n) {
  if (const auto f = nics_[n]->link_out(0)) {
    if (on_flit) on_flit(n, *f);
    wire_[n].emplace_back(now_ + nic_cycles_wire, *f);
  }
  while (auto t = nics_[n]->pop()) {
    if (on_tlp) on_tlp(n, *t);
    if (t->kind == tlp_kind::mrd && !silent_[n]) answer(n, *t);
    if (t->kind == tlp_kind::mwr) note_status(n, *t);
    if (t->completion()) {
      --waiting_[n];
      last_value_ = t->data.empty() ? ~0u : t->data[0];
      if (t->byte_count > 4u * t->len_dw && t->status == pcie::cpl_status::sc) ++waiting_[n];
    }
  }
}

// Asked every so many cycles: a question costs as much as some of them.
bool nic_rig::ended() {
  constexpr uint64_t between = 1024;
  if (!ended_ && cancelled_ && now_ % between == 0) ended_ = cancelled_();
  return ended_;
}
void nic_rig::run(uint64_t cycles) {
  for (uint64_t i = 0; i < cycles && !ended(); ++i) step();
}
bool nic_rig::until(const std::function<bool()>& done) {
  for (uint64_t i = 0; i < timeout && !ended() && !done(); ++i) step();
  return done();
}
void nic_rig::drain() {
  until([&] { return queued() == 0 && waiting_[0] + waiting_[1] == 0; });
  run(400);
}

void nic_rig::feed(unsigned n) {
  auto& q = queue_[n];
  while (!q.empty()) {
    const bool np = q.front().non_posted();
    if (np ? nics_[n]->non_posted_pending() >= nics_[n]->np_credits() : nics_[n]->posted_pending() >= 2) return;
    waiting_[n] += np;
    if (on_request) on_request(n, q.front());
    nics_[n]->push(q.front());
    q.pop_front();
  }
}

void nic_rig::answer(unsigned n, const tlp& t) {
  const unsigned bytes = 4u * t.len_dw;
  for (unsigned at = 0; at < bytes;) {
    const unsigned part = std::min<unsigned>(mtu_bytes - (t.addr + at) % mtu_bytes, bytes - at);
    tlp c;
    c.kind = tlp_kind::cpld;
    c.tag = t.tag;
    c.len_dw = static_cast<uint16_t>(part / 4);
    c.byte_count = static_cast<uint16_t>(t.first_be ? bytes - at : 1);
    c.lower_addr = static_cast<uint8_t>((t.addr + at) & 0x7f);
    for (unsigned i = 0; i < part / 4; ++i) c.data.push_back(memory(t.addr + at + 4 * i));
    if (on_completion) on_completion(n, c);
    nics_[n]->push(c);
    at += part;
  }
}

// The translation tables, and something for every other address.
uint32_t nic_rig::memory(uint64_t addr) const {
  if (addr >= queue_base) return queued_slots[addr / 4 % queued_slots.size()];
  if (addr < table_base || addr >= table_base + 16) return fill_ + static_cast<uint32_t>(addr);
  const uint64_t entry[2] = {segment_base | 7, domain};  // valid, readable, writable
  return static_cast<uint32_t>(entry[(addr - table_base) / 8] >> 8 * (addr & 4));
}

void nic_rig::note_status(unsigned n, const tlp& t) {
  const uint64_t index = (t.addr - status_base) / 16;
  if (t.addr >= status_base && index < end_of_queues) consumed_[n][index] = t.data[0];
}

void nic_rig::write_register(unsigned n, unsigned offset, uint64_t value) {
  tlp t = request(tlp_kind::mwr, bar_registers, offset, 2);
  t.data = {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
  queue(n, std::move(t));
}

void nic_rig::set_up_window(unsigned n) {
  write_register(n, GGAS_REG_NODE, n);
  write_register(n, GGAS_REG_LINK_PEER, (1 - n) | GGAS_LINK_PEER_VALID_MASK);
  const auto set = [&](unsigned offset, uint64_t value) { write_register(n, offset, value); };
  driver::set_export(set, 0, {.base = segment_base, .bytes = segment_bytes, .domain = domain});
  for (unsigned i = 0; i < 2; ++i)
    driver::set_interval(set, i,
                         {.start = i * segment_bytes, .end = (i + 1) * segment_bytes, .node = i, .domain = domain});
  write_register(n, GGAS_REG_SMFU_CTRL, GGAS_SMFU_CTRL_EGRESS_MASK | GGAS_SMFU_CTRL_INGRESS_MASK);
}

// Node 0 is the root of a group of both. All numbers but the own one lead to the other NIC.
void nic_rig::set_up_group(unsigned n) {
  constexpr unsigned numbers = 3;
  for (unsigned to = 0; to < numbers; ++to)
    write_register(n, GGAS_REG_ROUTE, to | GGAS_ROUTE_VALID_MASK | GGAS_ROUTE_SET_MASK);
  write_register(n, GGAS_REG_LINK_PEER, (numbers - 1) | GGAS_LINK_PEER_VALID_MASK);
  write_register(n, GGAS_REG_COLL_RESULT(0), rings_base);
  place_in_group(n, n == 0 ? place{.child = 1} : place{.parent = 0});
}

void nic_rig::place_in_group(unsigned n, const place& p) {
  const uint64_t children = uint64_t{p.child.has_value()} << GGAS_COLL_CTRL_CHILDREN_SHIFT;
  const uint64_t place = children | (p.parent ? 0 : GGAS_COLL_CTRL_ROOT_MASK);
  write_register(n, GGAS_REG_COLL_CTRL(0), 0);
  write_register(n, GGAS_REG_COLL_PARENT(0), p.parent.value_or(0));
  write_register(n, GGAS_REG_COLL_CHILDREN(0), p.child.value_or(0));
  write_register(n, GGAS_REG_COLL_CTRL(0),
                 place | GGAS_COLL_CTRL_ENABLE_MASK | uint64_t{domain} << GGAS_COLL_CTRL_DOMAIN_SHIFT);
}

void nic_rig::set_up_contexts(unsigned n) {
  write_register(n, GGAS_REG_ATU_PIECE(0), table_base);
  write_register(n, GGAS_REG_ATU_TABLE2, 1);
  for (unsigned v = 0; v < end_of_queues; ++v) {
    driver::set_context([&](unsigned offset, uint64_t value) { write_register(n, offset, value); }, v,
                        context_of(v, notify_log2));
  }
  write_register(n, GGAS_REG_RMA_CTRL,
                 GGAS_RMA_CTRL_REQUESTER_MASK | GGAS_RMA_CTRL_TARGET_MASK | 2ull << GGAS_RMA_CTRL_MTU_SHIFT);
}

bool nic_rig::bring_up() {
  for (unsigned attempt = 0; attempt < 100; ++attempt) {
    unsigned up = 0;
    for (unsigned n = 0; n < 2; ++n) {
      queue(n, request(tlp_kind::mrd, bar_registers, GGAS_REG_LINK_STATUS, 1));
      drain();
      up += (last_value_ & GGAS_LINK_STATUS_STATE_MASK) == GGAS_LINK_STATE_UP;
    }
    if (up == 2) return true;
  }
  return false;
}

}  // namespace ggas::bench
