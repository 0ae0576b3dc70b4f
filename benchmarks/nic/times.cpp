// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/nic/times.hpp"

#include <algorithm>
#include <cmath>

#include "benchmarks/nic/cycles.hpp"
#include "ggas_regs.h"

namespace ggas::bench {

using nic::cause;
using nic::desc_op;
using nic::descriptor;
using nic::effect;
using nic::op;
using pcie::tlp;

nic_times::nic_times(unsigned width, const nic::nic_limits& limits, unsigned links)
    : width_(width), links_(links), rig_(width, 1, {}, links) {
  if (!wrong().empty()) return;
  nic::nic_surroundings around;
  around.fetches = limits.fetches;
  around.get_fetches = limits.get_fetches;
  around.atomics = limits.atomics;
  around.collectives = links > 1;
  if (links > 1) around.route = [](uint16_t) { return nic::net_status::ok; };
  for (auto& s : sides_) s = std::make_unique<side>(width, around);
  for (const auto& [n, t] : rig_.set_up()) sides_[n]->model.from_host(t);
  settle();
  rig_.on_request = [this](unsigned n, const tlp& t) { request(n, t); };
  rig_.on_completion = [this](unsigned n, const tlp& t) { completion(n, t); };
  rig_.on_tlp = [this](unsigned n, const tlp& t) { left(n, t); };
  rig_.on_flit = [this](unsigned n, const nic::flit& f) { flit(n, f); };
}

unsigned nic_times::beats(const tlp& t) const { return t.has_data() ? (32u * t.len_dw + width_ - 1) / width_ : 0; }

// ---------------------------------------------------------------------------------------------- what enters

void nic_times::request(unsigned n, const tlp& t) {
  side& s = *sides_[n];
  const uint64_t at = std::max(rig_.now(), s.requests_free);
  s.requests_free = at + std::max(beats(t), 1u);
  s.model.from_host(t);
  collect(n, {nic::cause_of(t), false, beats(t), at});
}

void nic_times::completion(unsigned n, const tlp& t) {
  side& s = *sides_[n];
  const uint64_t at = std::max(rig_.now() + 1, s.completions_free);
  s.completions_free = at + std::max(beats(t), 1u);
  const auto read = s.reading.find(t.tag);
  if (read == s.reading.end()) return;
  tlp same = t;
  same.tag = read->second.tag;
  s.model.from_host(same);
  collect(n, {read->second.why, true, beats(t), at});
}

// What the model puts out at once is what the RTL will, because of `r`.
void nic_times::collect(unsigned n, reason r) {
  side& s = *sides_[n];
  bool wrote = false;
  while (auto q = s.model.pop_request()) {
    r.tag = q->tlp.tag;
    r.addr = q->tlp.addr;
    r.dws = q->tlp.len_dw;
    r.what = nic::effect_of(q->tlp, wrote);
    wrote |= q->tlp.posted();
    (q->tlp.posted() ? s.writes : s.reads).push_back(r);
  }
  r.what = effect::completion;
  while (s.model.pop_completion()) s.completions.push_back(r);
  bool data = false;
  while (const auto p = s.model.pop_packet()) {
    r.what = nic::effect_of(*p, std::exchange(data, nic::has_data(*p)));
    r.tag = p->tag;
    s.packets[p->vc % s.packets.size()].push_back(r);
  }
  while (s.model.pop_event()) {
  }
}

// ---------------------------------------------------------------------------------------------- what leaves

// Reads and writes are known by what they are of, as those of several units pass each other, and some are joined.
std::optional<nic_times::reason> nic_times::note(unsigned n, std::deque<reason>& expected, const output& o) {
  const auto it = std::ranges::find_if(expected, [&](const reason& r) {
    return !o.request || (r.addr == o.request->addr && r.dws == o.request->len_dw);
  });
  if (it == expected.end()) {
    ++unexplained_;
    return std::nullopt;
  }
  const reason r = *it;
  expected.erase(it);
  const key k{r.why, r.answer, r.what};
  const double cycles = double(o.at) - double(r.at) - double(o.last);
  if (cycles <= 0)
    ++unexplained_;  // because of something before
  else if (!flowing_)
    samples_[k].push_back({r.beats, cycles});
  else if (const auto time = least_.find(k); time != least_.end())
    passed_[{r.why, r.answer, nic::stage_of(r.what)}].push_back({n, o.at, o.dws, cycles - time->second[r.beats]});
  return r;
}

void nic_times::left(unsigned n, const tlp& t) {
  side& s = *sides_[n];
  left_ = true;
  auto& expected = t.completion() ? s.completions : t.posted() ? s.writes : s.reads;
  auto r = note(n, expected, {rig_.now(), std::max(beats(t), 1u) - 1, t.len_dw, t.completion() ? nullptr : &t});
  if (!r || !t.non_posted()) return;
  r->why = nic::cause_of_read(r->why, s.model.reads_queue(r->tag));
  s.reading[t.tag] = *r;
}

void nic_times::flit(unsigned n, const nic::flit& f) {
  side& s = *sides_[n];
  if (f.kind == nic::flit_kind::sop) s.first_flit = rig_.now();
  auto p = s.decoder.push(f);
  if (!p) return;
  const auto r = note(n, s.packets[p->vc % s.packets.size()], {s.first_flit, 0, p->len_dw});
  side& other = *sides_[1 - n];
  if (p->vc == uint8_t(nic::vc::np)) s.asking[p->tag] = r ? r->tag : uint16_t{0};
  if (p->is(op::load_rsp) || p->is(op::quiet_rsp)) p->tag = other.asking[p->tag];
  other.model.from_link(*p);
  collect(1 - n, {nic::cause_of(*p), false, (32u * p->len_dw + width_ - 1) / width_, rig_.now() + nic_cycles_wire});
}

// ---------------------------------------------------------------------------------------------- rows

// Rows are taken from operations to the other node. Where that gives no row, they come from operations to the own node,
// and from the first operations, which wait for translations.
std::vector<nic::time_row> nic_times::measure() {
  if (links_ > 1) {
    collectives();
    return rows();
  }
  one_sided_operations(1);
  const auto cold = std::exchange(samples_, {});
  window_operations(true);
  one_sided_operations(0);
  const auto own = std::exchange(samples_, {});
  unexplained_ = 0;
  window_operations(false);
  one_sided_operations(1);
  samples_.insert(own.begin(), own.end());
  samples_.insert(cold.begin(), cold.end());
  return rows();
}

std::vector<nic::time_row> nic_times::measure_seldom() {
  if (links_ > 1) {
    asking_fences();
    inner_node();
    return rows();
  }
  constexpr uint64_t somewhere = 0x6'0000'0000;
  for (unsigned n = 0; n < 2; ++n) rig_.write_register(n, GGAS_REG_ATU_ACK, somewhere);
  further_quiets();
  cold_ = true;
  one_sided_operations(1);
  cold_ = false;
  queued_operations();
  for (const uint16_t node : {uint16_t{1}, uint16_t{0}}) every_notification(node);
  for (const uint16_t node : {uint16_t{1}, uint16_t{0}}) what_waits_for_answers(node);
  full_ring();
  what_is_refused();
  return rows();
}

std::vector<nic::time_row> nic_times::measure_acknowledged() {
  constexpr uint64_t at = nic_rig::segment_nla;
  for (const unsigned bytes : {8u, 64u, 128u, 256u})
    for (unsigned i = 0; i < 4; ++i)
      post({.op = desc_op::put, .ack = true, .node = 1, .size = bytes, .w1 = at, .w2 = at});
  return rows();
}

// The middle one of the samples, whatever the answer's beats: it is a walk's.
std::vector<nic::time_row> nic_times::measure_waiting(unsigned first, uint16_t node) {
  what_waits_for_walks(first, node);
  std::vector<nic::time_row> rows;
  for (auto& [k, all] : samples_) {
    const auto middle = all.begin() + ptrdiff_t(all.size() / 2);
    std::ranges::nth_element(all, middle, {}, &sample::cycles);
    rows.push_back({std::get<0>(k), std::get<1>(k), std::get<2>(k), middle->beats, float(middle->cycles)});
  }
  return rows;
}

// The fastest sample of each size: the others waited for earlier outputs, and the model adds that wait itself.
std::vector<nic::time_row> nic_times::rows() {
  std::vector<nic::time_row> rows;
  double waited = 0, count = 0;
  for (const auto& [k, all] : samples_) {
    auto& least = least_[k];
    for (const sample& s : all) {
      const auto it = least.try_emplace(s.beats, s.cycles).first;
      it->second = std::min(it->second, s.cycles);
    }
    for (const auto& [beats, cycles] : least)
      rows.push_back({std::get<0>(k), std::get<1>(k), std::get<2>(k), beats, float(cycles)});
    for (const sample& s : all) waited += s.cycles - least[s.beats];
    count += double(all.size());
  }
  mean_wait_ = count > 0 ? waited / count : 0;
  return rows;
}

}  // namespace ggas::bench
