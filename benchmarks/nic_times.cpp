// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/nic_times.hpp"

#include <algorithm>
#include <cmath>

#include "benchmarks/nic_cycles.hpp"
#include "ggas_regs.h"

namespace ggas::bench {

using nic::cause;
using nic::desc_op;
using nic::descriptor;
using nic::effect;
using pcie::tlp;

nic_times::nic_times(unsigned width, unsigned links) : width_(width), links_(links), rig_(width, 1, {}, links) {
  for (auto& s : sides_) s = std::make_unique<side>(width, links > 1);
  for (const auto& [n, t] : rig_.set_up()) sides_[n]->model.from_host(t);
  settle();
  rig_.on_request = [this](unsigned n, const tlp& t) { request(n, t); };
  rig_.on_completion = [this](unsigned n, const tlp& t) { completion(n, t); };
  rig_.on_tlp = [this](unsigned n, const tlp& t) { left(n, t); };
  rig_.on_flit = [this](unsigned n, const nic::flit& f) { flit(n, f); };
}

unsigned nic_times::beats(const tlp& t) const {
  return t.has_data() ? (32u * t.len_dw + width_ - 1) / width_ : 0;
}

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
    r.what = nic::effect_of(q->tlp, wrote);
    wrote |= q->tlp.posted();
    (q->tlp.posted() ? s.writes : s.reads).push_back(r);
  }
  r.what = effect::completion;
  while (s.model.pop_completion()) s.completions.push_back(r);
  r.what = effect::packet;
  while (const auto p = s.model.pop_packet()) s.packets[p->vc % s.packets.size()].push_back(r);
  while (s.model.pop_event()) {
  }
}

// ---------------------------------------------------------------------------------------------- what leaves

nic_times::reason nic_times::note(std::deque<reason>& expected, uint64_t at, unsigned beats_out) {
  if (expected.empty()) {
    ++unexplained_;
    return {};
  }
  const reason r = expected.front();
  expected.pop_front();
  const double cycles = double(at) - double(r.at) - double(std::max(beats_out, 1u) - 1);
  samples_[{r.why, r.answer, r.what}].push_back({r.beats, cycles});
  return r;
}

void nic_times::left(unsigned n, const tlp& t) {
  side& s = *sides_[n];
  const reason r = note(t.completion() ? s.completions : t.posted() ? s.writes : s.reads, rig_.now(), beats(t));
  if (t.non_posted()) s.reading[t.tag] = r;
}

void nic_times::flit(unsigned n, const nic::flit& f) {
  side& s = *sides_[n];
  if (f.kind == nic::flit_kind::sop) s.first_flit = rig_.now();
  const auto p = s.decoder.push(f);
  if (!p) return;
  note(s.packets[p->vc % s.packets.size()], s.first_flit, 1);
  side& other = *sides_[1 - n];
  other.model.from_link(*p);
  collect(1 - n, {nic::cause_of(*p), false, (32u * p->len_dw + width_ - 1) / width_, rig_.now() + nic_cycles_wire});
}

// ---------------------------------------------------------------------------------------------- operations

// Everything ends; what the RTL has joined or left out is forgotten.
void nic_times::settle() {
  rig_.drain();
  rig_.run(600);
  for (auto& s : sides_) {
    while (s->model.pop_request() || s->model.pop_completion() || s->model.pop_packet() || s->model.pop_event()) {
    }
    for (auto* q : {&s->writes, &s->reads, &s->completions}) q->clear();
    for (auto& q : s->packets) q.clear();
  }
}

// A context after the other, so that none waits for what it did before.
void nic_times::post(const descriptor& d) {
  rig_.post(0, posted_++ % nic_rig::contexts, d);
  settle();
}

void nic_times::window_operations(bool own) {
  for (unsigned i = 0; i < 4; ++i) {
    for (const unsigned bytes : {4u, 8u, 16u, 32u, 64u, 128u, 256u}) {
      rig_.store(0, 256 * i, bytes / 4, own);
      settle();
      rig_.load(0, 256 * i, bytes / 4, own);
      settle();
    }
    rig_.quiet(0);  // behind stores
    settle();
    rig_.quiet(0);  // behind nothing
    settle();
    rig_.read_register(0, GGAS_REG_NODE);
    settle();
  }
}

void nic_times::one_sided_operations(uint16_t node) {
  const uint64_t at = nic_rig::segment_nla;
  for (unsigned i = 0; i < 4; ++i) {
    const uint64_t here = at + 4096 * i;
    for (const unsigned bytes : {8u, 64u, 128u, 256u})
      for (const bool notify : {false, true}) {
        post({.op = desc_op::put, .notify_completer = notify, .node = node, .size = bytes, .w1 = here, .w2 = here});
        post({.op = desc_op::get, .notify_completer = notify, .node = node, .size = bytes, .w1 = here, .w2 = here});
      }
    post({.op = desc_op::imm, .node = node, .size = 8, .w1 = 7, .w2 = here});
    post({.op = desc_op::imm, .ack = true, .node = node, .size = 8, .w1 = 7, .w2 = here});
    post({.op = desc_op::imm, .notify_requester = true, .ack = true, .node = node, .size = 8, .w1 = 7, .w2 = here});
    for (const unsigned bytes : {16u, 64u})
      post({.op = desc_op::inline_put, .node = node, .size = bytes, .w2 = here, .data = std::vector<uint8_t>(bytes)});
    post({.op = desc_op::notify, .notify_completer = true, .node = node});
    post({.op = desc_op::notify, .notify_completer = true, .strong = true, .node = node, .w2 = here});
    post({.op = desc_op::atomic, .node = node, .size = 8, .w1 = 1, .w2 = here});
    post({.op = desc_op::atomic, .notify_requester = true, .node = node, .size = 8, .w1 = 1, .w2 = here,
          .second = {0, here}});
    for (const unsigned bytes : {8u, 64u})
      post({.op = desc_op::send, .node = node, .size = bytes, .data = std::vector<uint8_t>(bytes)});
    const auto slot = descriptor{.op = desc_op::imm, .node = node, .size = 8, .w1 = 7, .w2 = here}.encode().front();
    std::ranges::copy(slot, rig_.queued_slot.begin());
    rig_.ring_queue(0);
    settle();
  }
}

// The rest of a NIC with several links is that of one link.
bool nic_times::of_collectives(const key& k) {
  const auto& [from, answer, to] = k;
  if (from == cause::quiet_rsp) return to != effect::completion;
  return from == cause::block || from == cause::fenced || from == cause::coll_up || from == cause::coll_down;
}

// The child's contribution comes first or last, so each of the causes is the last one of an operation.
void nic_times::collectives() {
  for (unsigned i = 0; i < 4; ++i)
    for (const unsigned words : {0u, 1u, 2u, 4u, 8u, 16u, 31u})
      for (const unsigned first : {0u, 1u})
        for (const unsigned node : {first, 1 - first}) {
          rig_.collective(node, {.words = words, .kind = nic::coll::float32, .contributes = words > 0, .wants = true});
          settle();
        }
  // Barriers behind fences, which find stores or none.
  for (unsigned i = 0; i < 4; ++i)
    for (const bool stores : {false, true})
      for (const unsigned first : {0u, 1u})
        for (const unsigned node : {first, 1 - first}) {
          if (stores) rig_.store(node, 256 * i, 2, false);
          rig_.collective(node, {.fenced = true});
          settle();
        }
}

// What goes to the other node counts. Where that has no row, what goes to the own one does, and the first operations,
// which wait for translations.
std::vector<nic::time_row> nic_times::measure() {
  if (links_ > 1) {
    collectives();
    std::erase_if(samples_, [](const auto& s) { return !of_collectives(s.first); });
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

std::vector<nic::time_row> nic_times::rows() {
  std::vector<nic::time_row> rows;
  double error = 0, count = 0;
  for (const auto& [k, all] : samples_) {
    const auto [cycles, per_beat] = fit(all);
    rows.push_back({std::get<0>(k), std::get<1>(k), std::get<2>(k), cycles, per_beat});
    for (const sample& s : all) error += std::abs(cycles + per_beat * further_beats(s) - s.cycles);
    count += double(all.size());
  }
  mean_error_ = count > 0 ? error / count : 0;
  return rows;
}

double nic_times::further_beats(const sample& s) { return s.beats ? s.beats - 1 : 0; }

// With payload the straight line through the samples with the least squares. Without, the quickest: the others waited
// for what left before them, and the model lets them wait for that itself.
std::pair<float, float> nic_times::fit(const std::vector<sample>& all) {
  const auto rounded = [](double v) { return float(std::round(v * 100) / 100); };
  if (std::ranges::all_of(all, [](const sample& s) { return s.beats == 0; }))
    return {rounded(std::ranges::min(all, {}, &sample::cycles).cycles), 0.0f};
  double x = 0, y = 0, xx = 0, xy = 0;
  const auto n = double(all.size());
  for (const sample& s : all) {
    const double b = further_beats(s);
    x += b, y += s.cycles, xx += b * b, xy += b * s.cycles;
  }
  const double spread = xx - x * x / n;
  const double slope = spread > 0 ? (xy - x * y / n) / spread : 0;
  return {rounded((y - slope * x) / n), rounded(slope)};
}

}  // namespace ggas::bench
