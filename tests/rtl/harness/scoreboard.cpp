// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/harness/scoreboard.hpp"

#include <algorithm>

#include "ggas_regs.h"
#include "sim/nic/tlp_rules.hpp"

namespace ggas::test {

using nic::op;
using nic::packet;
using pcie::cpl_status;
using pcie::tlp;
using pcie::tlp_kind;

namespace {

constexpr uint8_t bar_registers = 0, bar_pages = 4;

// The model must not cut reads: where the NIC does is its own choice within the rules.
nic::host_config without_read_cuts(nic::host_config cfg) {
  cfg.mrrs = 4096;
  return cfg;
}

uint32_t byte_mask(unsigned be) {
  uint32_t m = 0;
  for (unsigned i = 0; i < 4; ++i)
    if (be >> i & 1) m |= 0xffu << 8 * i;
  return m;
}

bool is_counter(uint64_t offset) { return offset >= GGAS_REG_SMFU_STORES_IN && offset < GGAS_REG_INTERVAL_START(0); }

unsigned enables(const packet& p, unsigned i, unsigned n) {
  return i == 0 ? p.first_be : i + 1 == n ? p.last_be : 0xfu;
}

}  // namespace

scoreboard::scoreboard(unsigned width, nic::host_config cfg, failures& f)
    : fail_(f), model_(width, without_read_cuts(cfg)) {
  model_.link_up(true);
}

// Page writes, reads with tags of the RMA, and writes beyond the exports.
bool scoreboard::not_mine(const tlp& t) const {
  const bool tagged = t.tag >= nic::rma_model::first_tag && t.tag <= nic::rma_model::last_tag;
  if (t.completion() || (t.kind == tlp_kind::mrd && t.bar == pcie::bar_none)) return one_sided && tagged;
  if (t.kind != tlp_kind::mwr) return false;
  if (t.bar != pcie::bar_none) return one_sided && t.bar == bar_pages;
  return one_sided && !export_at(t.addr);
}

void scoreboard::host_push(const tlp& t) {
  if (!enabled || not_mine(t)) return;
  if (t.completion()) return completion_in(t);
  const bool quiet = t.bar == bar_pages && nic::asks_quiet(t) && !nic::broken_rule(t);
  if (quiet) {
    host_quiets_[t.tag] = {stores_expected_, flows_[own_node()].writes_expected};
    ++seen_.quiets;
    return;
  }
  if (t.non_posted()) completions_[t.tag] = {};
  if (t.kind == tlp_kind::mrd && t.bar == bar_registers) {
    const auto offset = uint16_t(t.addr & 0xfff8);
    if (is_counter(offset) || !model_.read_register(offset)) volatile_reads_[t.tag] = offset;
  }
  model_.from_host(t);
  drain();
}

void scoreboard::drain() {
  while (auto r = model_.pop_request()) expect_request(*r);
  while (auto p = model_.pop_packet()) {
    if (p->is(op::store)) {
      ++stores_expected_;
      stores_.push_back(std::move(*p));
    } else if (p->is(op::load)) {
      loads_.push_back({std::move(*p), stores_expected_});
    } else {
      answers_[{p->dst, p->tag}].push_back(std::move(*p));
    }
  }
  while (auto c = model_.pop_completion()) {
    expected_answer& a = completions_[c->tag];
    a.status = c->status;
    a.data.insert(a.data.end(), c->data.begin(), c->data.end());
  }
  while (model_.pop_event()) {
  }
}

// ---------------------------------------------------------------------------------------------- host side

void scoreboard::expect_request(const nic::target_request& r) {
  flow& f = flows_[r.source];
  const tlp& t = r.tlp;
  if (t.kind == tlp_kind::mwr) {
    for (unsigned i = 0; i < t.len_dw; ++i)
      f.writes.push_back({t.addr + 4 * i, uint8_t(nic::byte_enables(t, i)), t.data[i]});
    f.writes_expected += t.len_dw;
    return;
  }
  if (r.flush) {  // ends at once in the model: its answer is checked when it leaves
    tlp c{.kind = tlp_kind::cpld, .len_dw = 1, .tag = t.tag, .data = {0}};
    return model_.from_host(c);
  }
  const uint64_t key = next_read_++;
  reads_[key] = {t, f.writes_expected, 0, 0, std::vector<uint32_t>(t.len_dw)};
  f.reads.push_back(key);
}

void scoreboard::host_pop(const tlp& t) {
  if (!enabled || t.completion() || not_mine(t)) return;
  if (t.kind == tlp_kind::mrd) return read_out(t);
  if (own_write && own_write(t.addr)) return;
  write_out(t);
}

void scoreboard::write_out(const tlp& t) {
  for (auto& [source, f] : flows_) {
    if (f.writes.size() < t.len_dw || f.writes.front().addr != t.addr) continue;
    for (unsigned i = 0; i < t.len_dw; ++i) {
      const dword d = f.writes.front();
      f.writes.pop_front();
      ++f.writes_seen;
      const unsigned be = nic::byte_enables(t, i);
      if (d.addr != t.addr + 4 * i || d.be != be || (d.data ^ t.data[i]) & byte_mask(be))
        return fail_.add("write {:#x} DW {}: {:08x}/{:x}, expected {:#x} {:08x}/{:x} of node {}", t.addr, i, t.data[i],
                         be, d.addr, d.data, d.be, source);
    }
    f.unflushed.emplace_back(t.addr, f.writes_seen);
    return;
  }
  fail_.add("write of {} DW at {:#x} that nobody stored", t.len_dw, t.addr);
}

bool scoreboard::bind_read(const tlp& t, flow& f) {
  if (f.reads.empty()) return false;
  const uint64_t key = f.reads.front();
  expected_read& r = reads_[key];
  if (t.addr != r.request.addr + 4 * r.issued) return false;
  if (r.issued + t.len_dw > r.request.len_dw) return false;
  for (unsigned i = 0; i < t.len_dw; ++i)
    if (nic::byte_enables(t, i) != nic::byte_enables(r.request, r.issued + i)) return false;
  if (f.writes_seen < r.after_writes)
    fail_.add("read at {:#x} passed {} DW of writes", t.addr, r.after_writes - f.writes_seen);
  parts_[t.tag] = {key, r.issued, t.len_dw};
  r.issued += t.len_dw;
  if (r.issued == r.request.len_dw) f.reads.pop_front();
  return true;
}

void scoreboard::read_out(const tlp& t) {
  if (parts_.contains(t.tag) || flushes_.contains(t.tag)) return fail_.add("read with tag {} that is in use", t.tag);
  for (auto& [source, f] : flows_)
    if (bind_read(t, f)) return;
  const bool empty = t.len_dw == 1 && t.first_be == 0;
  if (!empty) return fail_.add("read of {} DW at {:#x} that nobody asked for", t.len_dw, t.addr);
  flush_out(t);
}

void scoreboard::completion_in(const tlp& t) {
  if (flushed(t)) return;
  const auto it = parts_.find(t.tag);
  if (it == parts_.end()) {
    model_.from_host(t);
    return drain();
  }
  part& p = it->second;
  const uint64_t key = p.read;
  const unsigned first = p.dw;
  p.dw += t.len_dw;
  p.left -= t.len_dw;
  const bool error = t.status != cpl_status::sc || t.poisoned;
  if (p.left == 0 || error) parts_.erase(it);
  if (key == 0 || !reads_.contains(key)) return;
  expected_read& r = reads_[key];
  tlp whole = t;
  whole.tag = r.request.tag;
  if (!error) {
    for (unsigned i = 0; i < t.len_dw; ++i) r.data[first + i] = t.data[i];
    r.received += t.len_dw;
    if (r.received < r.request.len_dw) return;
    whole.len_dw = r.request.len_dw;
    whole.data.assign(r.data.begin(), r.data.end());
  }
  reads_.erase(key);
  model_.from_host(whole);
  drain();
}

void scoreboard::host_completion(const tlp& t, unsigned dw) {
  if (!enabled) return;
  if (const auto it = host_quiets_.find(t.tag); it != host_quiets_.end()) {
    if (t.data.at(0) == 0) check_visible(own_node(), it->second.own_writes);
    host_quiets_.erase(it);
    return;
  }
  const auto it = completions_.find(t.tag);
  if (it == completions_.end()) return fail_.add("completion with tag {} that the model does not know", t.tag);
  expected_answer& a = it->second;
  const bool ignore = volatile_reads_.contains(t.tag);
  for (unsigned i = 0; i < t.len_dw && !ignore; ++i) {
    if (dw + i >= a.data.size()) return fail_.add("tag {}: data of DW {} came before it could be known", t.tag, dw + i);
    if (a.data[dw + i] != t.data[i])
      return fail_.add("tag {}: DW {} is {:08x}, expected {:08x}", t.tag, dw + i, t.data[i], a.data[dw + i]);
  }
  a.used = dw + t.len_dw;
  const bool last = t.status != cpl_status::sc || t.byte_count <= 4u * t.len_dw - (t.lower_addr & 3);
  if (t.status != cpl_status::sc && t.status != a.status)
    fail_.add("tag {}: status {}, expected {}", t.tag, unsigned(t.status), unsigned(a.status));
  if (!last) return;
  if (t.status == cpl_status::sc && a.status != cpl_status::sc)
    fail_.add("tag {}: no error, expected {}", t.tag, unsigned(a.status));
  completions_.erase(it);
  volatile_reads_.erase(t.tag);
}

// ---------------------------------------------------------------------------------------------- link side

void scoreboard::link_out(const packet& p) {
  if (!enabled) return;
  if (one_sided && p.one_sided()) {
    ++seen_.packets_out;
    return;
  }
  ++seen_.packets_out;
  const bool reported = p.is(op::load) || p.is(op::load_rsp);  // whether it is whole
  if (p.reserved || (p.detail && !(reported && p.whole())))
    fail_.add("packet with reserved bits {:#x}, {:#x}", p.reserved, p.detail);
  const uint8_t vc = p.is(op::store) ? 0 : p.is(op::load) || p.is(op::quiet) ? 1 : 2;
  if (p.vc != vc) fail_.add("op {} in VC {}", p.op, p.vc);
  if (p.is(op::store)) return store_out(p);
  if (p.is(op::load)) return load_out(p);
  if (!p.is(op::quiet)) return answer_out(p);
  quiet_tags_.insert(p.tag);
  uint64_t before = ~uint64_t{0};  // stores in front of the oldest quiet
  for (const auto& [tag, q] : host_quiets_) before = std::min(before, q.stores);
  if (host_quiets_.empty())
    fail_.add("a quiet the host did not ask for");
  else if (stores_seen_ < before)
    fail_.add("quiet passed {} stores on the link", before - stores_seen_);
}

void scoreboard::store_out(const packet& p) {
  if (stores_.empty()) return fail_.add("store to {:#x} that the host did not make", p.addr);
  const packet e = std::move(stores_.front());
  stores_.pop_front();
  ++stores_seen_;
  if (p.export_no != e.export_no || p.domain != e.domain)
    return fail_.add("store to export {} for domain {}, expected {}, {}", p.export_no, p.domain, e.export_no, e.domain);
  if (p.dst != e.dst || p.src != e.src || p.addr != e.addr || p.len_dw != e.len_dw || p.first_be != e.first_be ||
      p.last_be != e.last_be)
    return fail_.add("store {}->{} {:#x} {} DW be {:x}/{:x}, expected {}->{} {:#x} {} DW {:x}/{:x}", p.src, p.dst,
                     p.addr, p.len_dw, p.first_be, p.last_be, e.src, e.dst, e.addr, e.len_dw, e.first_be, e.last_be);
  for (unsigned i = 0; i < p.len_dw; ++i)
    if ((p.data[i] ^ e.data[i]) & byte_mask(enables(p, i, p.len_dw)))
      return fail_.add("store {:#x} DW {}: {:08x}, expected {:08x}", p.addr, i, p.data[i], e.data[i]);
}

void scoreboard::load_out(const packet& p) {
  if (loads_.empty()) return fail_.add("load from {:#x} that the host did not ask for", p.addr);
  const expected_load e = std::move(loads_.front());
  loads_.pop_front();
  if (p.export_no != e.p.export_no || p.domain != e.p.domain)
    return fail_.add("load of export {} for domain {}, expected {}, {}", p.export_no, p.domain, e.p.export_no,
                     e.p.domain);
  if (p.dst != e.p.dst || p.src != e.p.src || p.addr != e.p.addr || p.req_dw != e.p.req_dw ||
      p.first_be != e.p.first_be || p.last_be != e.p.last_be || p.len_dw != 0 || p.detail != e.p.detail)
    return fail_.add("load {}->{} {:#x} {} DW be {:x}/{:x}, expected {}->{} {:#x} {} DW {:x}/{:x}", p.src, p.dst,
                     p.addr, p.req_dw, p.first_be, p.last_be, e.p.src, e.p.dst, e.p.addr, e.p.req_dw, e.p.first_be,
                     e.p.last_be);
  if (stores_seen_ < e.after_stores)
    fail_.add("load {:#x} passed {} stores on the link", p.addr, e.after_stores - stores_seen_);
  net_tags_[p.tag] = e.p.tag;
}

void scoreboard::answer_out(const packet& p) {
  const auto it = answers_.find({p.dst, p.tag});
  if (it == answers_.end()) return fail_.add("answer to {} tag {} too early or not asked for", p.dst, p.tag);
  const packet e = std::move(it->second.front());
  it->second.pop_front();
  if (it->second.empty()) answers_.erase(it);
  if (auto& quiets = flows_[p.dst].quiets; p.is(op::quiet_rsp) && !quiets.empty()) {
    if (p.status == 0) check_visible(p.dst, quiets.front());
    quiets.pop_front();
  }
  if (p.op != e.op || p.status != e.status || p.len_dw != e.len_dw || p.piece() != e.piece() || p.detail != e.detail)
    return fail_.add("answer to tag {}: op {} status {} {} DW, expected {} {} {}", p.tag, p.op, p.status, p.len_dw,
                     e.op, e.status, e.len_dw);
  for (unsigned i = 0; i < p.len_dw; ++i)
    if (p.data[i] != e.data[i])
      return fail_.add("answer to tag {} DW {}: {:08x}, expected {:08x}", p.tag, i, p.data[i], e.data[i]);
}

void scoreboard::link_in(const packet& p) {
  if (!enabled || (one_sided && p.one_sided())) return;
  packet q = p;
  if (p.is(op::quiet_rsp) && quiet_tags_.erase(p.tag)) return;
  if (p.is(op::load_rsp) && net_tags_.contains(p.tag)) q.tag = net_tags_[p.tag];
  if (p.is(op::quiet)) flows_[p.src].quiets.push_back(flows_[p.src].writes_expected);
  model_.from_link(q);
  drain();
}

// ---------------------------------------------------------------------------------------------- the end

bool scoreboard::quiet() const {
  bool writes = false;
  for (const auto& [source, f] : flows_) writes |= !f.writes.empty();
  return !writes && reads_.empty() && stores_.empty() && loads_.empty() && answers_.empty() && completions_.empty() &&
         host_quiets_.empty();
}

void scoreboard::check_finished(const std::function<uint64_t(uint16_t)>& read) {
  if (!enabled) return;
  for (const auto& [source, f] : flows_)
    if (!f.writes.empty()) fail_.add("{} DW stored by node {} never reached the host", f.writes.size(), source);
  if (!reads_.empty()) fail_.add("{} reads of the host never made or answered", reads_.size());
  if (!stores_.empty()) fail_.add("{} store packets never sent", stores_.size());
  if (!loads_.empty()) fail_.add("{} load packets never sent", loads_.size());
  if (!answers_.empty()) fail_.add("{} answers never sent", answers_.size());
  if (!completions_.empty()) fail_.add("{} requests never completed", completions_.size());
  if (!host_quiets_.empty()) fail_.add("{} quiets never completed", host_quiets_.size());
  for (unsigned i = GGAS_REG_SMFU_STORES_IN; i <= GGAS_REG_SMFU_TARGET_LOADS; i += 8) {
    const uint64_t want = i == GGAS_REG_SMFU_QUIETS ? seen_.quiets : model_.counter(uint16_t(i)),
                   got = read(uint16_t(i));
    if (want != got) fail_.add("counter {:#x} is {}, expected {}", i, got, want);
  }
  if (const uint64_t got = read(GGAS_REG_LINK_TX_PACKETS); got != seen_.packets_out)
    fail_.add("LINK_TX_PACKETS is {}, {} were seen", got, seen_.packets_out);
  for (unsigned i = 0; i < (one_sided ? unsigned{GGAS_EV_BAD_DESCRIPTOR} : GGAS_EVENT_COUNT_NUM); ++i) {
    const auto offset = uint16_t(GGAS_REG_EVENT_COUNT(i));
    if (const uint64_t want = model_.counter(offset), got = read(offset); want != got)
      fail_.add("event {} counted {} times, expected {}", i, got, want);
  }
}

}  // namespace ggas::test
