// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/harness/rma_traffic.hpp"

#include <algorithm>

namespace ggas::test {

using nic::desc_op;
using nic::descriptor;
using nic::net_status;
using nic::note_kind;

namespace {

constexpr unsigned areas = 8, pages_per_area = 2, classes = 4, max_users = 32;
constexpr unsigned shared_words = 4, private_words = 24, result_records = 200;
constexpr uint64_t error_address = uint64_t{1} << 48;  // no such network logical address
constexpr uint16_t no_node = 40;
constexpr uint64_t free_gets_at = 4096;
constexpr unsigned free_get_bytes = 64, free_gets = 512;

// Pages that follow each other in the address space lie apart in memory.
uint64_t bus_page(unsigned cls, uint64_t index) {
  const uint64_t scattered = (index * 37 + 11) % rma_traffic::table_entries;
  return (uint64_t{1} << (41 + cls)) + (scattered << page_shifts[cls]);
}

}  // namespace

rma_traffic::rma_traffic(rig& r, rma_driver& driver, std::vector<rma_user*> users, const rma_mix& mix, uint64_t seed)
    : rig_(r), users_(std::move(users)), mix_(mix), made_(users_.size()), results_made_(users_.size()) {
  static_assert(max_users * areas * pages_per_area <= table_entries);
  for (unsigned u = 0; u < users_.size(); ++u) {
    rng_.emplace_back(seed * 131 + u);
    for (unsigned side = 0; side < 2; ++side)
      for (unsigned cls = 0; cls < classes; ++cls)
        for (unsigned i = 0; i < areas * pages_per_area; ++i) {
          const uint64_t index = u * areas * pages_per_area + i;
          driver.map(side, nla(cls, index), bus_page(cls, index), users_[u]->cfg.pd,
                     {.read = true, .write = i / pages_per_area != source});
        }
  }
}

// `offset` counts from the border between the two pages of an area.
uint64_t rma_traffic::address(unsigned user, area a, unsigned cls, uint64_t offset) const {
  return nla(cls, user * areas * pages_per_area + a * pages_per_area + 1, offset);
}

uint64_t rma_traffic::bus(uint64_t address) const {
  const unsigned cls = address >> 46 & 3;
  const uint64_t offset = address & ((uint64_t{1} << 46) - 1), page = uint64_t{1} << page_shifts[cls];
  return bus_page(cls, offset / page) + offset % page;
}

// Somewhere around the border of the pages.
uint64_t rma_traffic::place(unsigned user, area a, unsigned bytes) {
  rng& g = rng_[user];
  const unsigned cls = unsigned(g.below(classes));
  const uint64_t room = 3000;
  const uint64_t before = g.chance(0.5) ? g.below(bytes + 1) : g.below(room);
  return address(user, a, cls, 0 - before);
}

unsigned rma_traffic::peer(unsigned user, unsigned target) {
  std::vector<unsigned> fit;
  for (unsigned u = 0; u < users_.size(); ++u)
    if (users_[u]->cfg.side == target && users_[u]->cfg.pd == users_[user]->cfg.pd) fit.push_back(u);
  return fit.empty() ? user : fit[rng_[user].below(fit.size())];
}

void rma_traffic::make(unsigned descriptors) {
  for (unsigned u = 0; u < users_.size(); ++u)
    for (unsigned i = 0; i < descriptors; ++i) users_[u]->post(draw(u));
}

descriptor rma_traffic::draw(unsigned user) {
  rng& g = rng_[user];
  const rma_user& me = *users_[user];
  const unsigned target = g.chance(mix_.own_node) ? me.cfg.side : 1 - me.cfg.side;
  descriptor d;
  d.node = rig_.cfg.id[target];
  d.cookie = uint64_t{user} << 56 | uint64_t{made_[user]++} << 8 | g.below(256);
  const unsigned weights[] = {mix_.put,    mix_.imm,        mix_.inline_put, mix_.get, mix_.notify,
                              mix_.atomic, mix_.shared_add, mix_.send,       mix_.nop, mix_.bad};
  unsigned all = 0, kind = 0;
  for (unsigned w : weights) all += w;
  for (uint64_t x = g.below(all); x >= weights[kind]; ++kind) x -= weights[kind];
  static constexpr desc_op ops[] = {desc_op::put,    desc_op::imm,    desc_op::inline_put, desc_op::get,
                                    desc_op::notify, desc_op::atomic, desc_op::atomic,     desc_op::send,
                                    desc_op::nop,    desc_op::put};
  d.op = ops[kind];
  if (kind == 9) {
    spoil(user, d);
    return d;
  }
  if (d.puts()) draw_put(user, d, target);
  if (d.op == desc_op::get) draw_get(user, d, target);
  if (d.op == desc_op::atomic) draw_atomic(user, d, target, kind == 6);
  if (d.op == desc_op::send) {
    d.size = uint32_t(g.below(nic::message_bytes + 1));
    for (unsigned i = 0; i < d.size; ++i) d.data.push_back(uint8_t(g.next()));
  }
  draw_flags(user, d, target);
  expect_notes(user, d, target, old_);
  return d;
}

void rma_traffic::draw_put(unsigned user, descriptor& d, unsigned target) {
  rng& g = rng_[user];
  const unsigned side = users_[user]->cfg.side;
  const unsigned limit = d.op == desc_op::imm ? 8 : d.op == desc_op::inline_put ? nic::message_bytes : mix_.max_bytes;
  d.size = uint32_t(g.chance(0.3) ? g.range(1, std::min(limit, 40u)) : g.range(1, limit));
  d.w2 = place(user, puts, d.size);
  if (d.op == desc_op::put) d.w1 = place(user, source, d.size);
  if (d.op == desc_op::imm) d.w1 = g.next();
  if (d.op == desc_op::inline_put)
    for (unsigned i = 0; i < d.size; ++i) d.data.push_back(uint8_t(g.next()));
  for (unsigned i = 0; i < d.size; ++i) {
    const uint8_t byte = d.op == desc_op::put          ? shadow_[side].load8(bus(d.w1 + i))
                         : d.op == desc_op::inline_put ? d.data[i]
                                                       : uint8_t(d.w1 >> 8 * i);
    shadow_[target].store8(bus(d.w2 + i), byte);
  }
}

// Gets that do not hold their context overtake each other, so each of them has a place of its own.
void rma_traffic::draw_get(unsigned user, descriptor& d, unsigned target) {
  rng& g = rng_[user];
  const unsigned side = users_[user]->cfg.side;
  const area to = target == side ? gets_own : gets_other;
  d.notify_requester = g.chance(0.5);
  d.size = uint32_t(g.range(1, d.notify_requester ? mix_.max_bytes : free_get_bytes));
  d.w1 = place(user, source, d.size);
  d.w2 = d.notify_requester
             ? place(user, to, d.size)
             : address(user, to, 1 + unsigned(g.below(3)), free_gets_at + free_get_bytes * (made_[user] % free_gets));
  for (unsigned i = 0; i < d.size; ++i) shadow_[side].store8(bus(d.w2 + i), shadow_[target].load8(bus(d.w1 + i)));
}

// Words of a context's own, where each old value is known; or additions to words of a whole domain, where the sum is.
void rma_traffic::draw_atomic(unsigned user, descriptor& d, unsigned target, bool add) {
  rng& g = rng_[user];
  const unsigned side = users_[user]->cfg.side;
  d.size = g.chance(0.5) ? 4 : 8;
  d.w1 = g.next();
  if (add) {
    unsigned first = 0;
    while (users_[first]->cfg.pd != users_[user]->cfg.pd) ++first;
    d.w2 = address(first, shared, 0, 8 * g.below(shared_words));
    d.size = 8;
    d.second[2] = uint64_t(nic::amo::add);
  } else {
    d.w2 = address(user, words, unsigned(g.below(classes)),
                   8 * g.below(private_words) + (d.size == 4 ? 4 * g.below(2) : 0));
    d.second[2] = g.below(8) | (g.chance(0.5) ? nic::amo_signed : 0);
  }
  memory& m = shadow_[target];
  old_ = d.size == 4 ? m.load32(bus(d.w2)) : m.load64(bus(d.w2));
  d.second[0] = g.chance(0.7) ? old_ : g.next();
  const uint64_t next = nic::amo_result(d.second[2], d.size, old_, d.w1, d.second[0]);
  m.store32(bus(d.w2), uint32_t(next), 15);
  if (d.size == 8) m.store32(bus(d.w2) + 4, uint32_t(next >> 32), 15);
  if (add || g.chance(0.3)) return;
  d.second[1] =
      address(user, target == side ? results_own : results_other, 0, 16 * (results_made_[user]++ % result_records));
  for (unsigned i = 0; i < 2; ++i) {
    const uint64_t word = i == 0 ? old_ : d.cookie;
    shadow_[side].store32(bus(d.second[1]) + 8 * i, uint32_t(word), 15);
    shadow_[side].store32(bus(d.second[1]) + 8 * i + 4, uint32_t(word >> 32), 15);
  }
}

void rma_traffic::draw_flags(unsigned user, descriptor& d, unsigned target) {
  rng& g = rng_[user];
  const bool arrival = d.puts() || d.op == desc_op::get || d.op == desc_op::notify;
  const bool is_shared = d.op == desc_op::atomic && d.second[1] == 0 && d.second[2] == 0;
  d.dvpid = users_[peer(user, target)]->cfg.vpid;
  d.notify_requester |= d.op != desc_op::get && !is_shared && g.chance(mix_.notes);
  d.notify_completer = d.op == desc_op::notify || (arrival && g.chance(mix_.notes));
  d.notify_responder = d.op == desc_op::get && g.chance(mix_.notes);
  d.ack = g.chance(mix_.ack);
  d.strong = d.puts() && d.notify_completer && g.chance(mix_.strong);
}

// A descriptor that must fail, in one of a few ways.
void rma_traffic::spoil(unsigned user, descriptor& d) {
  rng& g = rng_[user];
  d.size = 8;
  d.w1 = address(user, source, 0, 0);
  d.w2 = address(user, puts, 0, 0);
  switch (g.below(4)) {
    case 0:
      d.reserved = uint8_t(1u << g.below(7));
      errors_[user].push_back({d.cookie, d.size, uint8_t(net_status::bad)});
      return;
    case 1:
      d.node = no_node;
      errors_[user].push_back({d.cookie, d.size, uint8_t(net_status::unreachable)});
      return;
    case 2:
      d.w1 = error_address + d.cookie % 4096;
      errors_[user].push_back({d.cookie, d.size, uint8_t(net_status::protection)});
      return;
    default:
      d.w2 = error_address + 8 * (d.cookie % 512);
      errors_[user].push_back({d.w2, 0, uint8_t(net_status::protection)});
  }
}

void rma_traffic::expect_notes(unsigned user, const descriptor& d, unsigned target, uint64_t old) {
  const auto& me = users_[user]->cfg;
  const unsigned other = [&] {
    for (unsigned u = 0; u < users_.size(); ++u)
      if (users_[u]->cfg.side == target && users_[u]->cfg.vpid == d.dvpid) return u;
    return user;
  }();
  const uint16_t node = rig_.cfg.id[me.side];
  if (d.notify_requester)
    notes_[{user, note_kind::requester, false, 0, 0}].push_back({d.op == desc_op::atomic ? old : d.cookie, d.size, 0});
  if (d.notify_completer && d.op == desc_op::get)
    notes_[{user, note_kind::completer, true, 0, 0}].push_back({d.cookie, d.size, 0});
  else if (d.notify_completer)
    notes_[{other, note_kind::completer, false, node, me.vpid}].push_back({d.cookie, d.size, 0});
  if (d.notify_responder) notes_[{other, note_kind::responder, true, node, me.vpid}].push_back({d.cookie, d.size, 0});
  if (d.op != desc_op::send) return;
  user_message m{.data = d.data, .cookie = d.cookie, .n = {}};
  m.n.size = d.size;
  m.data.resize(nic::message_bytes);
  messages_[{other, node, me.vpid}].push_back(std::move(m));
}

// ---------------------------------------------------------------------------------------------- checks

bool rma_traffic::done() const {
  std::vector<uint64_t> notes(users_.size()), messages(users_.size());
  for (const auto& [key, list] : notes_) notes[std::get<0>(key)] += list.size();
  for (const auto& [user, list] : errors_) notes[user] += list.size();
  for (const auto& [key, list] : messages_) messages[std::get<0>(key)] += list.size();
  for (unsigned u = 0; u < users_.size(); ++u)
    if (!users_[u]->done() || users_[u]->notes.size() < notes[u] || users_[u]->messages.size() < messages[u])
      return false;
  return true;
}

void rma_traffic::check() {
  check_memory();
  for (unsigned u = 0; u < users_.size(); ++u) {
    check_notes(u);
    check_messages(u);
    const rma_user& x = *users_[u];
    const auto errors = errors_.contains(u) ? errors_[u].size() : 0;
    if (x.local() != x.posted() || x.remote() != x.posted() || x.errors() != errors)
      rig_.fail.add("context {} of side {}: {} posted, {} local, {} remote, {} errors (expected {})", x.cfg.vpid,
                    x.cfg.side, x.posted(), x.local(), x.remote(), x.errors(), errors);
  }
}

void rma_traffic::check_memory() {
  for (unsigned side = 0; side < 2; ++side) {
    const memory& got = rig_.s[side].host->mem;
    const auto compare = [&](uint64_t page) {
      if (page < uint64_t{1} << 41 || rig::own_page(page)) return;
      for (uint64_t a = page; a < page + 4096; ++a)
        if (got.load8(a) != shadow_[side].load8(a))
          return rig_.fail.add("memory of side {} at {:#x}: {:02x}, expected {:02x}", side, a, got.load8(a),
                               shadow_[side].load8(a));
    };
    shadow_[side].for_each_page(compare);
    got.for_each_page(compare);
  }
}

void rma_traffic::check_notes(unsigned user) {
  std::map<note_key, std::vector<expected_note>> got;
  std::vector<expected_note> errors;
  for (const auto& x : users_[user]->notes) {
    const bool get = x.n.op == uint8_t(desc_op::get);
    const bool own = x.n.kind == note_kind::requester || (get && x.n.kind == note_kind::completer);
    const expected_note e{x.w0, x.n.size, x.n.status};
    if (x.n.kind == note_kind::error)
      errors.push_back(e);
    else
      got[{user, x.n.kind, get && x.n.kind != note_kind::requester, own ? 0 : x.n.node, own ? 0 : x.n.vpid}].push_back(
          e);
  }
  const auto& u = users_[user]->cfg;
  for (const auto& [key, list] : notes_) {
    if (std::get<0>(key) != user) continue;
    if (got[key] == list) continue;
    const auto [a, b] = std::ranges::mismatch(got[key], list);
    rig_.fail.add("context {} of side {}: notifications of kind {} from {}/{} differ at {} ({} read, {} expected)",
                  u.vpid, u.side, unsigned(std::get<1>(key)), std::get<3>(key), std::get<4>(key), b - list.begin(),
                  got[key].size(), list.size());
  }
  for (const auto& [key, list] : got)
    if (!list.empty() && !notes_.contains(key))
      rig_.fail.add("context {} of side {}: {} notifications of kind {} that nobody sent", u.vpid, u.side, list.size(),
                    unsigned(std::get<1>(key)));
  std::ranges::sort(errors);
  std::ranges::sort(errors_[user]);
  if (errors != errors_[user])
    rig_.fail.add("context {} of side {}: {} error notifications, {} expected, or they differ", u.vpid, u.side,
                  errors.size(), errors_[user].size());
}

void rma_traffic::check_messages(unsigned user) {
  std::map<std::tuple<unsigned, uint16_t, uint8_t>, size_t> next;
  const auto& u = users_[user]->cfg;
  for (const auto& x : users_[user]->messages) {
    const std::tuple key{user, x.n.node, x.n.vpid};
    const size_t i = next[key]++;
    const auto& list = messages_[key];
    if (i < list.size() && list[i].cookie == x.cookie && list[i].data == x.data && list[i].n.size == x.n.size) continue;
    return rig_.fail.add("context {} of side {}: message {} of {}/{} is not the expected one", u.vpid, u.side, i,
                         x.n.node, x.n.vpid);
  }
  for (const auto& [key, list] : messages_)
    if (std::get<0>(key) == user && next[key] != list.size())
      rig_.fail.add("context {} of side {}: {} of {} messages", u.vpid, u.side, next[key], list.size());
}

// ---------------------------------------------------------------------------------------------- trace

rma_trace::rma_trace(rig& r) {
  r.on_packet = [this](unsigned from, const nic::packet& p) {
    if (p.one_sided()) see(from, p);
  };
}

void rma_trace::see(unsigned from, const nic::packet& p) {
  const bool response = p.vc == uint8_t(nic::vc::rsp);
  if (response && p.status == uint8_t(net_status::full)) return;
  const unsigned sequence = !response                       ? requests
                            : p.is(nic::op::rma_ack)        ? acks
                            : p.is(nic::op::rma_atomic_rsp) ? atomics
                                                            : gets;
  entry e{nic::to_text(p) + " be " + std::to_string(p.first_be) + "/" + std::to_string(p.last_be), 0};
  const bool any_value = p.is(nic::op::rma_atomic_rsp) && !(p.flags() & nic::rma_result);
  for (uint32_t d : p.data) e.data = any_value ? 0 : (e.data ^ d) * 0x100000001b3ull;
  auto& list = seen_[{from, p.svpid(), sequence}];
  const bool repeats = p.is(nic::op::rma_notify) || p.is(nic::op::velo_msg);
  if (repeats && !list.empty() && list.back() == e) return;
  list.push_back(std::move(e));
}

uint64_t rma_trace::packets() const {
  uint64_t n = 0;
  for (const auto& [k, list] : seen_) n += list.size();
  return n;
}

std::string rma_trace::compare(const rma_trace& a, const rma_trace& b) {
  for (const auto& [k, of_a] : a.seen_) {
    const auto it = b.seen_.find(k);
    if (it == b.seen_.end()) return of_a.front().text + " and on: not at all in the other run";
    auto list = of_a, other = it->second;
    if (std::get<2>(k) >= gets) {  // several gets, and atomics on different words, overtake each other
      std::ranges::sort(list);
      std::ranges::sort(other);
    }
    const auto [x, y] = std::ranges::mismatch(list, other);
    if (x == list.end() && y == other.end()) continue;
    return "packet " + std::to_string(x - list.begin()) + " from side " + std::to_string(std::get<0>(k)) + ": " +
           (x == list.end() ? "none" : x->text) + ", in the other run " + (y == other.end() ? "none" : y->text) +
           (x != list.end() && y != other.end() && x->text == y->text ? " (payload differs)" : "");
  }
  for (const auto& [k, list] : b.seen_)
    if (!a.seen_.contains(k)) return list.front().text + " and on: only in the other run";
  return "";
}

}  // namespace ggas::test
