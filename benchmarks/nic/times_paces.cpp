// SPDX-License-Identifier: Apache-2.0
// Paces: how far outputs of many operations are apart, where a stage of the NIC limits their flow.
#include "benchmarks/nic/times.hpp"

#include <algorithm>
#include <cmath>

namespace ggas::bench {

using nic::cause;
using nic::desc_op;
using nic::descriptor;
using nic::effect;
using nic::op;

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
