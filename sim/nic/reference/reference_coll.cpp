// SPDX-License-Identifier: Apache-2.0
#include "sim/nic/reference/reference_coll.hpp"

#include <algorithm>

#include "ggas_regs.h"
#include "sim/nic/rma_format.hpp"

namespace ggas::nic {

using coll::most_words;
using pcie::tlp;

namespace {

unsigned field(uint64_t r, unsigned shift, unsigned bits) { return unsigned(r >> shift & ((1u << bits) - 1)); }
unsigned context_of(const tlp& t) { return unsigned(t.addr / rma_context_bytes); }
unsigned block_of(const tlp& t) { return unsigned(t.addr / coll::block_bytes % coll::blocks); }
unsigned first_word(const tlp& t) { return unsigned(t.addr % coll::block_bytes / 8); }

}  // namespace

bool coll_model::takes(const tlp& t) {
  const uint64_t at = t.addr % rma_context_bytes, end = at + 4u * t.len_dw;
  return at >= coll::blocks_offset && end <= coll::blocks_offset + coll::blocks * coll::block_bytes &&
         t.first_be == 15 && (t.len_dw == 1 || t.last_be == 15);
}

coll_model::wiring coll_model::of(unsigned group) const {
  const uint64_t r = nic_.reg(uint16_t(GGAS_REG_COLL_CTRL(group)));
  return {.root = bool(r & GGAS_COLL_CTRL_ROOT_MASK),
          .children = field(r, GGAS_COLL_CTRL_CHILDREN_SHIFT, 3),
          .block = field(r, GGAS_COLL_CTRL_BLOCK_SHIFT, 2),
          .owner = field(r, GGAS_COLL_CTRL_OWNER_SHIFT, 8),
          .epoch = field(r, GGAS_COLL_CTRL_EPOCH_SHIFT, 8),
          .domain = field(r, GGAS_COLL_CTRL_DOMAIN_SHIFT, 16)};
}

uint16_t coll_model::node_of(unsigned group, unsigned child) const {
  if (child == 0) return uint16_t(nic_.reg(uint16_t(GGAS_REG_COLL_PARENT(group))));
  return uint16_t(nic_.reg(uint16_t(GGAS_REG_COLL_CHILDREN(group))) >> 16 * (child - 1));
}

// A group that is off is as new.
void coll_model::written(unsigned group) {
  const bool enable = nic_.reg(uint16_t(GGAS_REG_COLL_CTRL(group))) & GGAS_COLL_CTRL_ENABLE_MASK;
  if (!enable) groups_[group] = {};
  groups_[group].enabled = enable;
}

uint64_t coll_model::state(unsigned group) const {
  const group_state& g = groups_[group];
  const bool open = g.waits || g.fence || std::ranges::any_of(g.from, &contribution::here);
  return g.count | uint64_t{open} << GGAS_COLL_STATE_OPEN_SHIFT |
         uint64_t{!g.enabled} << GGAS_COLL_STATE_STOPPED_SHIFT | uint64_t{g.status} << GGAS_COLL_STATE_STATUS_SHIFT;
}

// ---------------------------------------------------------------------------------------------- what comes in

bool coll_model::owner_may_write(unsigned group, const tlp& t) const {
  const bool whole = t.addr % 8 == 0 && t.len_dw % 2 == 0;
  const bool fits = first_word(t) + t.len_dw / 2u <= 1 + most_words;
  const group_state& g = groups_[group];
  return !nic_.stopped() && whole && fits && !g.from[0].here && !g.waits && !g.fence;
}

void coll_model::page_write(const tlp& t) {
  std::optional<unsigned> found;
  for (unsigned i = 0; i < coll::groups; ++i) {
    const wiring w = of(i);
    if (groups_[i].enabled && w.owner == context_of(t) && w.block == block_of(t)) found = i;
  }
  if (!found || !owner_may_write(*found, t)) return nic_.event(GGAS_EV_PAGE_ACCESS, 0, t.addr);
  group_state& g = groups_[*found];
  for (unsigned i = 0; i < t.len_dw / 2u; ++i) {
    const uint64_t word = t.data[2 * i] | uint64_t{t.data[2 * i + 1]} << 32;
    const unsigned at = first_word(t) + i;
    if (at == 0) {
      g.own = coll::ask::from_command(word);
      g.asked = true;
    } else {
      g.from[0].words[at - 1] = word;
      g.came |= 1u << (at - 1);
    }
  }
  const bool good = g.own.status == net_status::ok;
  const uint64_t wanted = good && g.own.contributes ? (uint64_t{1} << g.own.words) - 1 : 0;
  if (!g.asked || (wanted & ~uint64_t{g.came})) return;
  g.asked = false;
  g.came = 0;
  g.wants = g.own.wants;
  if (!g.own.fenced || !good) return arrive(*found, 0, g.own);
  g.fence = ++fences_;
  nic_.fence(of(*found).owner, [this, group = *found, fence = g.fence](net_status s) { fenced(group, fence, s); });
}

// The group may have been switched off meanwhile.
void coll_model::fenced(unsigned group, uint64_t fence, net_status s) {
  group_state& g = groups_[group];
  if (g.fence != fence) return;
  g.fence = 0;
  g.own.status = s;
  arrive(group, 0, g.own);
}

// Its parent (0) or one of its children may have sent it, once each operation.
bool coll_model::comes_from(unsigned group, const packet& p, unsigned& from) const {
  const wiring w = of(group);
  const group_state& g = groups_[group];
  if (nic_.stopped() || !g.enabled || w.domain != p.domain || w.epoch != p.tag >> 8) return false;
  const coll::ask a = coll::ask::from_packet(p);
  const bool bad = a.status != net_status::ok;
  const bool fits = a.words <= most_words && p.len_dw == 2 * a.words;
  const bool breaks = p.addr & coll::broken_bit, sane = bad && p.len_dw == 0;
  from = 0;
  if (!w.root && node_of(group, 0) == p.src)
    return p.is(op::coll_down) && (breaks ? sane : (g.waits || g.broken) && (bad ? p.len_dw == 0 : fits));
  for (unsigned c = w.children; c >= 1; --c)
    if (node_of(group, c) == p.src) from = c;
  if (from == 0 || p.is(op::coll_down)) return false;
  if (breaks) return sane;
  if (g.from[from].here) return false;
  return a.contributes && !bad ? fits && a.words != 0 : p.len_dw == 0;
}

void coll_model::packet_in(const packet& p) {
  const unsigned group = p.tag % coll::groups;
  unsigned from = 0;
  if (!comes_from(group, p, from)) return nic_.event(GGAS_EV_BAD_PACKET, p.src, p.op);
  if (p.addr & coll::broken_bit) return break_off(group);
  if (groups_[group].broken && p.is(op::coll_down)) return;  // it was under way when the operation failed
  auto& words = groups_[group].from[from].words;
  for (unsigned i = 0; i < p.len_dw / 2u; ++i) words[i] = p.data[2 * i] | uint64_t{p.data[2 * i + 1]} << 32;
  arrive(group, from, coll::ask::from_packet(p));
}

void coll_model::arrive(unsigned group, unsigned from, const coll::ask& a) {
  group_state& g = groups_[group];
  if (!g.waits) {
    g.from[from].here = true;
    g.from[from].ask = a;
    return work(group);
  }
  g.total_ask = a;
  g.any = a.contributes;
  g.found = a.status;
  finish(group);
}

// ---------------------------------------------------------------------------------------------- what becomes of it

// Own first, then child by child. Without a route contributions stay where they are.
void coll_model::work(unsigned group) {
  group_state& g = groups_[group];
  const wiring w = of(group);
  if (g.broken) return fail(group);
  if (!nic_.has_route() && !(w.root && w.children == 0)) return;
  while (g.from[g.next].here) {
    look(g);
    if (g.next++ < w.children) continue;
    g.next = 0;
    for (contribution& c : g.from) c.here = false;
    if (w.root) return finish(group);
    g.waits = true;
    return send(group, op::coll_up, 0);
  }
}

void coll_model::look(group_state& g) {
  const contribution& c = g.from[g.next];
  const auto fail = [&g](net_status s) { g.found = g.found == net_status::ok ? s : g.found; };
  fail(c.ask.status);
  if (!c.ask.contributes || c.ask.status != net_status::ok) return;
  if (!g.any) {
    g.any = true;
    g.total_ask = c.ask;
    g.from[0].words = c.words;
  } else if (!c.ask.alike(g.total_ask)) {
    fail(net_status::bad);
  } else {
    for (unsigned i = 0; i < c.ask.words; ++i)
      g.from[0].words[i] = coll::combine(c.ask.op, c.ask.kind, g.from[0].words[i], c.words[i]);
  }
}

// Its contribution left, or may have, and the result is not here.
void coll_model::way_lost() {
  for (unsigned i = 0; i < coll::groups; ++i) {
    groups_[i].tell = groups_[i].broken;
    if (groups_[i].waits) break_off(i);
  }
}

void coll_model::way_found() {
  for (unsigned i = 0; i < coll::groups; ++i)
    if (groups_[i].enabled) work(i);
}

void coll_model::break_off(unsigned group) {
  group_state& g = groups_[group];
  if (g.broken) return;
  g.broken = g.tell = true;
  fail(group);
}

// Breaks a group: neighbours are informed as soon as there is a route, and its own operations end.
void coll_model::fail(unsigned group) {
  group_state& g = groups_[group];
  const wiring w = of(group);
  g.any = false;
  g.found = net_status::link_down;
  if (g.tell && nic_.has_route()) {
    g.tell = false;
    if (!w.root) send(group, op::coll_up, 0);
    for (unsigned c = w.children; c >= 1; --c) send(group, op::coll_down, c);
  }
  if (g.from[0].here || g.waits) write_flag(group);
  g.from[0].here = false;
}

void coll_model::send(unsigned group, op what, unsigned child) {
  const group_state& g = groups_[group];
  const wiring w = of(group);
  coll::ask reported;
  if (g.any && g.found == net_status::ok) reported = g.total_ask, reported.wants = false;
  packet p{.dst = node_of(group, child)};
  p.op = uint8_t(what);
  p.vc = uint8_t(vc::rma);
  p.status = uint8_t(g.found);
  p.tag = uint16_t(w.epoch << 8 | group);
  p.domain = uint16_t(w.domain);
  p.addr = reported.bits() | (g.broken ? coll::broken_bit : 0);
  p.len_dw = uint16_t(2 * reported.words);
  for (unsigned i = 0; i < reported.words; ++i) {
    p.data.push_back(uint32_t(g.from[0].words[i]));
    p.data.push_back(uint32_t(g.from[0].words[i] >> 32));
  }
  nic_.send(std::move(p));
}

// The sum goes to the children, the last one first, and to the host, the flag last.
void coll_model::finish(unsigned group) {
  for (unsigned c = of(group).children; c >= 1; --c) send(group, op::coll_down, c);
  write_flag(group);
}

void coll_model::write_flag(unsigned group) {
  group_state& g = groups_[group];
  const uint64_t base = nic_.reg(uint16_t(GGAS_REG_COLL_RESULT(group)));
  g.status = unsigned(g.found);
  ++g.count;
  const bool any = g.any && g.found == net_status::ok;
  const unsigned words = any && g.wants ? g.total_ask.words : 0, most = mps_ < 256 ? 16 : 32;
  const uint64_t to = base + (g.count % 2 ? 0 : coll::result_bytes);
  for (unsigned at = 0; at < words; at += most) {
    std::vector<uint32_t> dws;
    for (unsigned i = at; i < std::min(words, at + most); ++i) {
      dws.push_back(uint32_t(g.from[0].words[i]));
      dws.push_back(uint32_t(g.from[0].words[i] >> 32));
    }
    write(to + 8 * at, std::move(dws));
  }
  write(base + coll::flag_offset, {g.count, g.status});
  g.waits = g.any = false;
  g.found = net_status::ok;
}

void coll_model::write(uint64_t addr, std::vector<uint32_t> dws) {
  if (nic_.stopped()) return;
  tlp t{.kind = pcie::tlp_kind::mwr, .addr = addr, .len_dw = uint16_t(dws.size())};
  t.first_be = t.last_be = 0xf;
  t.data.assign(dws.begin(), dws.end());
  nic_.write(std::move(t));
}

}  // namespace ggas::nic
