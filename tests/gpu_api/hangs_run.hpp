// SPDX-License-Identifier: Apache-2.0
// Seeded hangs, and what the report must say of each: the call, and the member that did not do its part.
#pragma once

#include <algorithm>
#include <string>

#include "ggas/report.hpp"
#include "tests/gpu_api/hangs.cuh"

namespace ggas::hangs {

constexpr unsigned seeds = 100;

// Hang number `seed`: all kinds and variants in turn, culprit and block by chance.
inline plan plan_of(unsigned seed, int nodes, uint64_t base, uint64_t timeout_ns) {
  const uint64_t chance = bench::pattern(11, 0, seed);
  return {static_cast<kind>(seed % kinds),
          static_cast<int>(seed / kinds % variants),
          static_cast<int>(chance % static_cast<uint64_t>(nodes)),
          1 + static_cast<unsigned>(chance >> 32) % (blocks - 1),
          base,
          timeout_ns};
}

inline call_id call_of(const plan& p) {
  static constexpr call_id calls[kinds][variants] = {
      {call_id::ggas_signal_wait_until, call_id::ggas_wait_until, call_id::ggas_take_tagged,
       call_id::ggas_notification_wait},
      {call_id::ggas_barrier, call_id::ggas_sync, call_id::ggas_allreduce, call_id::ggas_barrier},
      {call_id::ggas_allreduce, call_id::ggas_allgather, call_id::ggas_barrier, call_id::ggas_broadcast},
      {call_id::ggas_barrier, call_id::ggas_allreduce, call_id::ggas_gather, call_id::ggas_reducescatter}};
  return calls[static_cast<int>(p.what)][p.variant];
}

inline bool lists(const wait_record& r, int which) {
  const auto n = std::min(r.missing_count, wait_record::most_missing);
  return std::find(r.missing, r.missing + n, which) != r.missing + n;
}

// Whose signal a word waits for only the program knows: the report names who waits, and for which word.
inline bool names(const wait_in_vain& w, const plan& p, int nodes) {
  if (w.record.call != static_cast<uint32_t>(call_of(p)) || w.text.find(name_of(call_of(p))) == std::string::npos)
    return false;
  const auto kind_of_wait = static_cast<waited_for>(w.record.kind);
  if (p.what == kind::dropped_signal)
    return w.node == (p.culprit + 1) % nodes &&
           (kind_of_wait == waited_for::word || kind_of_wait == waited_for::record);
  const bool by_node = kind_of_wait == waited_for::members || kind_of_wait == waited_for::lines;
  return by_node && w.node != p.culprit && lists(w.record, p.culprit) &&
         w.text.find(" " + std::to_string(p.culprit)) != std::string::npos;
}

// Why a report is not what it should be; empty: it is.
inline std::string fault_of(const hang_report& r, const plan& p, int nodes) {
  const std::string what = "kind " + std::to_string(static_cast<int>(p.what)) + ", variant " +
                           std::to_string(p.variant) + ", culprit " + std::to_string(p.culprit) + ", block " +
                           std::to_string(p.block) + "\n" + r.text();
  if (std::none_of(r.waits.begin(), r.waits.end(), [&](const auto& w) { return names(w, p, nodes); }))
    return "no wait names call and member: " + what;
  const bool own_blocks = p.what == kind::absent_block && p.variant < 2;
  const auto names_block = [&](const wait_in_vain& w) {
    return w.node == p.culprit && static_cast<waited_for>(w.record.kind) == waited_for::blocks &&
           lists(w.record, static_cast<int>(p.block));
  };
  if (own_blocks && std::none_of(r.waits.begin(), r.waits.end(), names_block)) return "the block is not named: " + what;
  if (p.what == kind::dead_process && r.missing != std::vector<int>{p.culprit})
    return "the node to look at is not named: " + what;
  return {};
}

}  // namespace ggas::hangs
