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

// ---------------------------------------------------------------------------------------------- operations

void nic_times::drain() {
  constexpr unsigned most = 1'000;  // rounds; an operation takes some
  for (unsigned i = 0; i < most && wrong_.empty(); ++i) {
    left_ = false;
    rig_.drain();
    rig_.run(600);
    if (!left_) return;
  }
  wrong_ = "the NICs do not come to rest";
}

// Everything ends; what the RTL has joined or left out is forgotten.
void nic_times::settle() {
  drain();
  for (auto& s : sides_) {
    while (s->model.pop_request() || s->model.pop_completion() || s->model.pop_packet() || s->model.pop_event()) {
    }
    for (auto* q : {&s->writes, &s->reads, &s->completions}) q->clear();
    for (auto& q : s->packets) q.clear();
  }
}

void nic_times::forget_translations() {
  for (unsigned n = 0; n < 2; ++n)
    rig_.write_register(n, GGAS_REG_ATU_INVALIDATE,
                        GGAS_ATU_INVALIDATE_START_MASK | GGAS_ATU_INVALIDATE_EVERYTHING_MASK);
  settle();
}

// A context after the other, so that none waits for what it did before.
void nic_times::post(const descriptor& d) {
  if (cold_) forget_translations();
  rig_.post(0, posted_++ % nic_rig::contexts, d, post_dws_);
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
    rig_.quiet(0);  // after stores
    settle();
    rig_.quiet(0);  // after nothing
    settle();
    rig_.read_register(0, GGAS_REG_NODE);
    settle();
  }
}

// Back to back; one that finds nothing of what it asks about; one that asks both nodes.
void nic_times::further_quiets() {
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned twice = 0; twice < 2; ++twice) {
      rig_.store(0, 0, 1);
      rig_.quiet(0);
    }
    settle();
    rig_.store(0, 0, 1);
    rig_.store(1, 0, 1, true);
    settle();
    rig_.quiet(1);
    settle();
    rig_.quiet(0);
    settle();
    for (const unsigned n : {0u, 1u}) {  // its own node first, or last
      for (const bool own : {false, true}) rig_.store(n, 0, 1, own);
      settle();
      rig_.quiet(n);
      settle();
    }
  }
}

void nic_times::one_sided_operations(uint16_t node) {
  const uint64_t at = nic_rig::segment_nla;
  constexpr unsigned word_dws = 2, slot_dws = 8;
  for (unsigned i = 0; i < 4; ++i) {
    post_dws_ = i % 2 ? word_dws : slot_dws;
    const uint64_t here = at + 4096 * i;
    for (const unsigned bytes : {8u, 64u, 128u, 256u})
      for (const bool notify : {false, true}) {
        post({.op = desc_op::put, .notify_completer = notify, .node = node, .size = bytes, .w1 = here, .w2 = here});
        post({.op = desc_op::get, .notify_completer = notify, .node = node, .size = bytes, .w1 = here, .w2 = here});
      }
    for (const bool notify : {false, true})
      post({.op = desc_op::imm, .notify_completer = notify, .node = node, .size = 8, .w1 = 7, .w2 = here});
    post({.op = desc_op::imm, .ack = true, .node = node, .size = 8, .w1 = 7, .w2 = here});
    post({.op = desc_op::imm, .notify_requester = true, .ack = true, .node = node, .size = 8, .w1 = 7, .w2 = here});
    for (const unsigned bytes : {16u, 64u})
      for (const bool notify : {false, true})
        post({.op = desc_op::inline_put,
              .notify_completer = notify,
              .node = node,
              .size = bytes,
              .w2 = here,
              .data = std::vector<uint8_t>(bytes)});
    post({.op = desc_op::notify, .notify_completer = true, .node = node});
    post({.op = desc_op::notify, .notify_completer = true, .strong = true, .node = node, .w2 = here});
    post({.op = desc_op::atomic, .node = node, .size = 8, .w1 = 1, .w2 = here});
    post({.op = desc_op::atomic,
          .notify_requester = true,
          .node = node,
          .size = 8,
          .w1 = 1,
          .w2 = here,
          .second = {0, here}});
    for (const unsigned bytes : {8u, 64u})
      post({.op = desc_op::send, .node = node, .size = bytes, .data = std::vector<uint8_t>(bytes)});
    for (const bool notify : {false, true}) {
      fill_queues({.op = desc_op::imm, .notify_completer = notify, .node = node, .size = 8, .w1 = 7, .w2 = here});
      rig_.ring_queue(0, nic_rig::first_queue, 1);
      settle();
    }
  }
  post_dws_ = slot_dws;
}

// By work queues: what is read there may ask for more reads.
void nic_times::queued_operations() {
  const uint64_t at = nic_rig::segment_nla;
  for (const auto& [what, size] : {std::pair{desc_op::put, 64u}, {desc_op::put, 256u}, {desc_op::get, 64u}}) {
    fill_queues({.op = what, .node = 1, .size = size, .w1 = at, .w2 = at});
    for (unsigned i = 0; i < 4; ++i) {
      rig_.ring_queue(0, nic_rig::first_queue, 1);
      settle();
    }
  }
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
  // Barriers after fences that find no stores.
  for (unsigned i = 0; i < 4; ++i)
    for (const unsigned first : {0u, 1u})
      for (const unsigned node : {first, 1 - first}) {
        rig_.collective(node, {.fenced = true});
        settle();
      }
}

// After stores to the other node and to the own one.
void nic_times::asking_fences() {
  for (unsigned i = 0; i < 4; ++i)
    for (const bool own : {false, true})
      for (const unsigned first : {0u, 1u})
        for (const unsigned node : {first, 1 - first}) {
          rig_.store(node, 0, 1, own);
          rig_.collective(node, {.fenced = true});
          settle();
        }
}

void nic_times::every_notification(uint16_t node) {
  const uint64_t at = nic_rig::segment_nla;
  for (const auto& [what, size] : {std::pair{desc_op::put, 64u},
                                   {desc_op::imm, 8u},
                                   {desc_op::inline_put, 16u},
                                   {desc_op::get, 64u},
                                   {desc_op::notify, 0u},
                                   {desc_op::atomic, 8u},
                                   {desc_op::send, 8u}})
    for (unsigned flags = 0; flags < 16; ++flags) {
      const bool carries = what == desc_op::inline_put || what == desc_op::send;
      const descriptor d{.op = what,
                         .notify_requester = (flags & 1) != 0,
                         .notify_completer = (flags & 2) != 0,
                         .notify_responder = (flags & 4) != 0,
                         .ack = (flags & 8) != 0,
                         .node = node,
                         .size = size,
                         .w1 = at,
                         .w2 = at,
                         .data = std::vector<uint8_t>(carries ? size : 0)};
      if (d.good()) post(d);
    }
}

// The answer to a descriptor that holds its context lets the next one begin.
void nic_times::what_waits_for_answers(uint16_t node) {
  const uint64_t at = nic_rig::segment_nla;
  const auto make = [&](desc_op what, unsigned size) {
    const bool carries = what == desc_op::inline_put || what == desc_op::send;
    return descriptor{
        .op = what, .node = node, .size = size, .w1 = at, .w2 = at, .data = std::vector<uint8_t>(carries ? size : 0)};
  };
  for (const auto& [holds, its] : {std::pair{desc_op::imm, 8u}, {desc_op::get, 64u}, {desc_op::atomic, 8u}})
    for (const auto& [what, size] : {std::pair{desc_op::imm, 8u},
                                     {desc_op::inline_put, 16u},
                                     {desc_op::put, 64u},
                                     {desc_op::get, 64u},
                                     {desc_op::notify, 0u},
                                     {desc_op::atomic, 8u},
                                     {desc_op::send, 8u}}) {
      descriptor first = make(holds, its);
      (holds == desc_op::atomic ? first.notify_requester : first.notify_completer) = true;
      rig_.post(0, posted_ % nic_rig::contexts, first);
      post(make(what, size));
    }
}

// What waits for a unit that walks for a translation: of another context, or of the same one.
void nic_times::what_waits_for_walks(unsigned first, uint16_t node) {
  const uint64_t at = nic_rig::segment_nla;
  const std::vector<uint8_t> word(8);
  const std::array<descriptor, waiting_kinds> all{{
      {.op = desc_op::put, .ack = true, .node = node, .size = 64, .w1 = at, .w2 = at},
      {.op = desc_op::imm, .notify_completer = true, .node = node, .size = 8, .w1 = 7, .w2 = at},
      {.op = desc_op::imm, .ack = true, .node = node, .size = 8, .w1 = 7, .w2 = at},
      {.op = desc_op::get, .notify_responder = true, .node = node, .size = 512, .w1 = at, .w2 = at},
      {.op = desc_op::get, .notify_completer = true, .node = node, .size = 64, .w1 = at, .w2 = at},
      {.op = desc_op::notify, .notify_completer = true, .strong = true, .node = node, .w2 = at},
      {.op = desc_op::notify, .notify_completer = true, .node = node},
      {.op = desc_op::atomic, .node = node, .size = 8, .w1 = 1, .w2 = at},
      {.op = desc_op::atomic, .notify_requester = true, .node = node, .size = 8, .w1 = 1, .w2 = at, .second = {0, at}},
      {.op = desc_op::send, .node = node, .size = 8, .data = word},
  }};
  for (const descriptor& second : all)
    for (const unsigned next : {0u, 1u}) {
      forget_translations();
      rig_.post(0, posted_ % nic_rig::contexts, all[first]);
      posted_ += next;
      rig_.post(0, posted_++ % nic_rig::contexts, second);
      settle();
    }
}

// A notification that waits for room in its ring, until the host has read some.
void nic_times::full_ring() {
  constexpr unsigned context = 0, log2 = 4;
  const descriptor reported{
      .op = desc_op::imm, .notify_requester = true, .node = 1, .size = 8, .w1 = 7, .w2 = nic_rig::segment_nla};
  rig_.restart(0, context, log2, true);
  settle();
  for (unsigned i = 0; i < 1u << log2; ++i) {
    rig_.post(0, context, reported);
    settle();
  }
  for (unsigned i = 1; i <= 4; ++i) {
    rig_.post(0, context, reported);
    settle();
    rig_.ring_notes(0, context, i);
    settle();
  }
  rig_.restart(0, context, nic_rig::notify_log2);  // else what notifies it later is repeated for ever
  settle();
}

// Where nothing is mapped, then by node 1, which has closed its export and its RMA.
void nic_times::what_is_refused() {
  rig_.load(0, 4 * nic_rig::segment_bytes, 1);
  settle();
  rig_.write_register(1, GGAS_REG_EXPORT_ACCESS(0), 0);
  rig_.load(0, 0, 1);
  settle();
  rig_.write_register(1, GGAS_REG_RMA_CTRL, 0);
  every_notification(1);
}

// Node 1 with a parent and a child. Its child is NIC 0 under another number, which then is its parent.
void nic_times::inner_node() {
  constexpr unsigned child = 2;
  for (const unsigned words : {0u, 1u, 4u, 8u, 16u, 31u}) {
    const nic::coll::ask ask{.words = words, .kind = nic::coll::float32, .contributes = words > 0, .wants = true};
    rig_.place_in_group(1, {.parent = 0, .child = child});
    rig_.write_register(0, GGAS_REG_NODE, child);
    rig_.place_in_group(0, {.parent = 1});
    settle();
    rig_.collective(0, ask);
    settle();
    rig_.write_register(0, GGAS_REG_NODE, 0);
    rig_.place_in_group(0, {.child = 1});
    settle();
    rig_.collective(1, ask);
    rig_.collective(0, ask);
    settle();
  }
}

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

// ---------------------------------------------------------------------------------------------- paces

// The stage that limits a flow is the last cause whose outputs are late: outputs after it wait for nothing else, and
// those before it wait for it, so they may be late by some cycles more.
void nic_times::flow(const std::function<bool(unsigned n)>& operation) {
  constexpr unsigned operations = 1'200;
  constexpr double held_up = 20, as_late = 15;  // cycles that some stage, and the one that limits, are late at least
  passed_.clear();
  flowing_ = true;
  unsigned n = 0;
  rig_.until([&] {
    while (n < operations && rig_.queued() < 8 && operation(n)) ++n;
    return n == operations && rig_.queued() == 0;
  });
  drain();
  std::map<key, stage> late;
  for (const auto& [k, all] : passed_)
    if (const auto s = middle_of(all); s && s->late > as_late) late.emplace(k, *s);
  if (std::ranges::none_of(late, [](const auto& s) { return s.second.late > held_up; })) late.clear();
  const auto last = std::ranges::max_element(late, {}, [](const auto& s) { return s.second.first; });
  for (const auto& [k, s] : late)
    if (std::get<0>(k) == std::get<0>(last->first) && std::get<1>(k) == std::get<1>(last->first)) note_pace(k, s);
  flowing_ = false;
  settle();
}

// Whether outputs of that kind can be identified by their order. Two kinds cannot: writes of the NIC whose contexts
// post, because the RTL merges status blocks; and reads after an answer, which the model makes in another order.
bool nic_times::distinguished(const key& k, unsigned n) {
  const effect what = std::get<2>(k);
  if (what == effect::read) return !std::get<1>(k);
  return (what != effect::write && what != effect::write_behind) || n == 1;
}

void nic_times::note_pace(const key& k, const stage& s) {
  if (!distinguished(k, passed_[k].front().side)) return;
  constexpr double control = 17.0 / 16;  // flits of control between those of packets
  const bool packet = std::get<2>(k) == effect::packet;
  const double beats = std::max((32u * s.dws + width_ - 1) / width_, 1u);
  pace& slowest = paces_[k][s.dws];
  if (s.distance > slowest.distance) slowest = {s.distance, packet ? control * packet_flits(width_, 4 * s.dws) : beats};
}

// Rows of the kinds that are slower in some place than the packets that leave explain.
std::vector<nic::pace_row> nic_times::pace_rows() const {
  std::vector<nic::pace_row> rows;
  for (const auto& [k, by_dws] : paces_) {
    if (std::ranges::none_of(by_dws, [](const auto& p) { return p.second.distance > p.second.bound + 0.25; })) continue;
    for (const auto& [dws, p] : by_dws)
      rows.push_back({std::get<0>(k), std::get<1>(k), std::get<2>(k), dws, float(std::round(p.distance * 10) / 10)});
  }
  return rows;
}

// Its outputs in the middle of a flow.
std::optional<nic_times::stage> nic_times::middle_of(const std::vector<passing>& all) {
  const size_t begin = all.size() * 2 / 5, end = all.size() * 9 / 10;
  if (end - begin < 100) return std::nullopt;
  double late = 0, dws = 0;
  for (size_t i = begin; i < end; ++i) {
    late += all[i].late;
    dws += all[i].dws;
  }
  const auto n = double(end - begin);
  return stage{all.front().at, unsigned(std::lround(dws / n)), double(all[end].at - all[begin].at) / n, late / n};
}

// All contexts in turn, as far as they have room.
void nic_times::flow_of_contexts(const descriptor& d, bool queues) {
  const unsigned first = queues ? nic_rig::first_queue : 0;
  if (queues) fill_queues(d);
  unsigned next = 0;
  flow([&](unsigned) {
    for (unsigned tried = 0; tried < nic_rig::contexts; ++tried) {
      const unsigned v = first + next++ % nic_rig::contexts;
      if (rig_.free_slots(0, v) < d.slots()) continue;
      descriptor mine = d;
      if (d.op == desc_op::atomic) mine.w2 += 8 * v;  // the value of one word would be handed on
      queues ? rig_.ring_queue(0, v, d.slots()) : rig_.post(0, v, mine);
      return true;
    }
    return false;
  });
}

// With descriptors of one or two slots.
void nic_times::fill_queues(const descriptor& d) {
  const auto slots = d.encode();
  for (size_t i = 0; i < rig_.queued_slots.size(); ++i) rig_.queued_slots[i] = slots[i / 8 % slots.size()][i % 8];
}

std::vector<nic::pace_row> nic_times::paces() {
  const uint64_t at = nic_rig::segment_nla;
  const auto data = [](unsigned bytes) { return std::vector<uint8_t>(bytes); };
  for (const unsigned bytes : {4u, 8u, 32u, 64u, 128u, 256u}) {
    flow([&](unsigned n) { return rig_.store(0, 256 * (n % 4096), bytes / 4), true; });
    flow([&](unsigned n) { return rig_.load(0, 256 * (n % 4096), bytes / 4), true; });
    flow([&](unsigned n) { return rig_.store(1, 256 * (n % 4096), bytes / 4, true), true; });
  }
  flow([&](unsigned) { return rig_.quiet(0), true; });
  // What other nodes store goes the same way, and comes as close by several links. So do quiets that waited for one.
  paces_[{cause::store, false, effect::write}] = paces_[{cause::window_store, false, effect::write}];
  paces_[{cause::quiet_rsp, false, effect::completion}] = paces_[{cause::quiet_read, false, effect::completion}];
  for (const bool queues : {false, true})
    flow_of_contexts({.op = desc_op::imm, .node = 1, .size = 8, .w1 = 7, .w2 = at}, queues);
  for (const unsigned bytes : {16u, 32u, 64u})
    for (const bool notify : {false, true})
      for (const bool queues : {false, true})
        if (bytes <= 32 || !queues)
          flow_of_contexts({.op = desc_op::inline_put,
                            .notify_completer = notify,
                            .node = 1,
                            .size = bytes,
                            .w2 = at,
                            .data = data(bytes)},
                           queues);
  for (const unsigned bytes : {8u, 64u, 128u, 256u}) {
    flow_of_contexts({.op = desc_op::put, .node = 1, .size = bytes, .w1 = at, .w2 = at}, false);
    flow_of_contexts({.op = desc_op::get, .node = 1, .size = bytes, .w1 = at, .w2 = at}, false);
  }
  flow_of_contexts({.op = desc_op::notify, .notify_completer = true, .node = 1}, false);
  flow_of_contexts({.op = desc_op::atomic, .node = 1, .size = 8, .w1 = 1, .w2 = at}, false);
  for (const unsigned bytes : {8u, 64u})
    flow_of_contexts({.op = desc_op::send, .node = 1, .size = bytes, .data = data(bytes)}, false);
  return pace_rows();
}

}  // namespace ggas::bench
