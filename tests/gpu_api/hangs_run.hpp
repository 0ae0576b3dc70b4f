// SPDX-License-Identifier: Apache-2.0
// Seeded hangs, and what the report must say of each: the call, and whose fault it is, or why that cannot be known.
#pragma once

#include <algorithm>
#include <string>

#include "ggas/report.hpp"
#include "tests/gpu_api/hangs.cuh"

namespace ggas::hangs {

constexpr unsigned seeds = 100;

// Hang number `seed`: all kinds in turn, culprit and block at random.
inline plan plan_of(unsigned seed, int nodes, uint64_t base, uint64_t timeout_ns) {
  const uint64_t chance = bench::pattern(11, 0, seed);
  return {static_cast<kind>(seed % unsigned{kinds}), static_cast<int>(chance % static_cast<uint64_t>(nodes)),
          1 + static_cast<unsigned>(chance >> 32) % (blocks - 1), base, timeout_ns};
}

// With two nodes a third one cannot be the root. If one did not arrive and the other arrived once too often, the
// first is named.
inline bool happens_with(kind k, int nodes) {
  return nodes > 2 || ((k < kind::other_root_broadcast || k > kind::other_root_scatter) && k != kind::more_meetings);
}

inline call_id call_of(kind k) {
  static constexpr call_id calls[] = {call_id::ggas_signal_wait_until,
                                      call_id::ggas_wait_until,
                                      call_id::ggas_take_tagged,
                                      call_id::ggas_notification_wait,
                                      call_id::ggas_barrier,
                                      call_id::ggas_sync,
                                      call_id::ggas_allreduce,
                                      call_id::ggas_barrier,
                                      call_id::ggas_barrier,
                                      call_id::ggas_allreduce,
                                      call_id::ggas_gather,
                                      call_id::ggas_reducescatter,
                                      call_id::ggas_allreduce,
                                      call_id::ggas_barrier,
                                      call_id::ggas_allgather,
                                      call_id::ggas_barrier,
                                      call_id::ggas_allreduce,
                                      call_id::ggas_allreduce,
                                      call_id::ggas_allgather,
                                      call_id::ggas_alltoall,
                                      call_id::ggas_broadcast,
                                      call_id::ggas_broadcast,
                                      call_id::ggas_allreduce,
                                      call_id::ggas_broadcast,
                                      call_id::ggas_reduce,
                                      call_id::ggas_gather,
                                      call_id::ggas_scatter,
                                      call_id::ggas_barrier,
                                      call_id::ggas_barrier,
                                      call_id::ggas_allreduce,
                                      call_id::ggas_barrier};
  static_assert(std::size(calls) == kinds);
  return calls[static_cast<int>(k)];
}

// Only the program knows which node should store to a word that is waited for. If two calls differ, nothing shows which
// one is right, or whether one member made a call too many or all others one too few.
inline bool can_be_known(kind k, int nodes) {
  if (k <= kind::no_notification || k == kind::more_meetings) return false;
  const bool calls_differ = k >= kind::fewer_allreduce && k != kind::fewer_meetings;
  return nodes > 2 || !calls_differ;
}

// The wait of the call, by someone who waits because of the culprit or by the culprit itself.
inline bool names(const failed_wait& w, const plan& p, int nodes) {
  const auto call = call_of(p.what);
  if (w.record.call != static_cast<uint32_t>(call) || w.text.find(name_of(call)) == std::string::npos) return false;
  return p.what > kind::no_notification || w.node == (p.culprit + 1) % nodes;
}
// Every record of a barrier or collective has its team.
inline bool has_team(const failed_wait& w, int nodes) {
  const auto kind = static_cast<waited_for>(w.record.kind);
  const bool alone = kind == waited_for::word || kind == waited_for::record || kind == waited_for::ring;
  return w.record.size == (alone ? 0 : nodes);
}

// Why a report is not what it should be; empty: it is.
inline std::string fault_of(const hang_report& r, const plan& p, int nodes) {
  const std::string what = "kind " + std::to_string(static_cast<int>(p.what)) + ", culprit " +
                           std::to_string(p.culprit) + ", block " + std::to_string(p.block) + "\n" + r.text();
  if (std::none_of(r.waits.begin(), r.waits.end(), [&](const auto& w) { return names(w, p, nodes); }))
    return "no wait names the call: " + what;
  if (!std::all_of(r.waits.begin(), r.waits.end(), [&](const auto& w) { return has_team(w, nodes); }))
    return "a wait without its team: " + what;
  if (r.text().find("4294967295") != std::string::npos) return "a number that is none: " + what;
  if (r.why.empty()) return "no reason: " + what;
  if (r.suspects.empty()) return can_be_known(p.what, nodes) ? "nobody is named: " + what : "";
  if (!can_be_known(p.what, nodes)) return "somebody is named: " + what;
  if (r.suspects != std::vector<int>{p.culprit}) return "somebody else is named: " + what;
  const bool own_blocks = p.what == kind::no_block_barrier || p.what == kind::no_block_sync;
  if (own_blocks && r.why.find(": " + std::to_string(p.block) + " of node ") == std::string::npos)
    return "the block is not named: " + what;
  return {};
}

}  // namespace ggas::hangs
