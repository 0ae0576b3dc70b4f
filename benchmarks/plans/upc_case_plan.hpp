// SPDX-License-Identifier: Apache-2.0
// The thirteen cases of the testbed of UPC's collectives: which calls by which scheme, in which mode, with how much
// computing between two of them; and one whose last rank starts late. For simulated nodes and GPUs.
#pragma once

#include "benchmarks/kernels/upc_case.cuh"
#include "benchmarks/plans/upc_plan.hpp"

namespace ggas::bench {

struct upc_case {
  const char* name;
  bool two;  // broadcast and exchange alone
  relocated_by how;
  ggas_scheme scheme;  // of buffers
  ggas_sync_mode mode;
  double computing;
  bool skewed, late;
};
inline constexpr ggas_sync_mode upc_all = ggas_in_all | ggas_out_all, upc_mine = ggas_in_mine | ggas_out_mine,
                                upc_none = ggas_in_none | ggas_out_none;
inline constexpr upc_case upc_cases[] = {
    {"case_0", true, relocated_by::ranks, ggas_dynamic, upc_all, 0.1, false, false},
    {"case_1", false, relocated_by::ranks, ggas_dynamic, upc_all, 2, false, false},
    {"case_2", false, relocated_by::buffers, ggas_dynamic, upc_all, 2, false, false},
    {"case_3", true, relocated_by::ranks, ggas_dynamic, upc_all, 2, true, false},
    {"case_4", true, relocated_by::naive_pull, ggas_dynamic, upc_all, 2, false, false},
    {"case_5", true, relocated_by::naive_push, ggas_dynamic, upc_all, 2, false, false},
    {"case_6", false, relocated_by::buffers, ggas_static, upc_all, 2, false, false},
    {"case_7", true, relocated_by::ranks, ggas_dynamic, upc_mine, 2, false, false},
    {"case_8", true, relocated_by::ranks, ggas_dynamic, upc_none, 2, false, false},
    {"case_9", true, relocated_by::buffers, ggas_dynamic, upc_mine, 2, false, false},
    {"case_10", true, relocated_by::buffers, ggas_dynamic, upc_none, 2, false, false},
    {"case_11", true, relocated_by::buffers, ggas_static, upc_mine, 2, false, false},
    {"case_12", true, relocated_by::buffers, ggas_static, upc_none, 2, false, false},
    {"late_start", true, relocated_by::ranks, ggas_dynamic, upc_all, 0, false, true},
};

inline const char* scheme_of(const upc_case& c) {
  if (c.how == relocated_by::naive_pull) return "naive_pull";
  if (c.how == relocated_by::naive_push) return "naive_push";
  return c.how == relocated_by::ranks ? "direct" : c.scheme == ggas_static ? "static" : "dynamic";
}

// Schemes that move one element at a time are slow, so they get few elements. Quick: broadcasts only.
inline bool runs(const upc_case& c, const upc_kind& k, uint64_t elements, bool quick) {
  constexpr uint64_t most_naive = 32;
  const bool naive = c.how == relocated_by::naive_push || c.how == relocated_by::naive_pull;
  if (naive && elements > most_naive) return false;
  if (quick) return k.what == relocated::broadcast && !c.late;
  return !c.two || k.what == relocated::broadcast || k.what == relocated::exchange;
}

inline constexpr uint64_t static_buffer_bytes = 8192;

// All but seed and time-out. The words of the ranks are to be zero.
inline upc_case_args plan_case(layout_plan& room, int nodes, unsigned blocks, unsigned threads, const upc_case& c,
                               const upc_kind& k, uint64_t elements, uint64_t rounds) {
  const int count = nodes * static_cast<int>(blocks);
  const uint64_t whole = static_cast<uint64_t>(count) * elements * sizeof(float);
  const uint64_t buffer = c.how != relocated_by::buffers ? 0 : c.scheme == ggas_static ? static_buffer_bytes : whole;
  const ggas_ranks ranks = place_ranks(room, nodes, blocks, c.scheme, buffer);
  upc_case_args a{};
  a.call = place_upc(room, ranks, k, {c.how, c.mode, c.name}, elements, rounds, threads);
  a.call.samples = room.place<uint64_t>(blocks * upc_times);
  a.warm_ups = 3;
  a.computing = c.computing;
  a.skewed = c.skewed ? 1 : -1;  // not the source
  a.late = c.late ? count - 1 : -1;
  a.late_ns = 5'000'000;
  return a;
}

// Bytes of a segment that plan_case takes at most.
inline size_t upc_case_bytes(int nodes, unsigned blocks, uint64_t elements) {
  const size_t ranks = static_cast<size_t>(nodes) * blocks;
  return upc_bytes(nodes, blocks, elements) + blocks * (static_buffer_bytes + 64 + ranks * elements * sizeof(float));
}

// The rank with the longest time.
inline size_t slowest_of(const std::vector<double>& of_ranks) {
  size_t slowest = 0;
  for (size_t i = 1; i < of_ranks.size(); ++i)
    if (of_ranks[i] > of_ranks[slowest]) slowest = i;
  return slowest;
}
inline constexpr const char* upc_time_names[] = {"collective", "computing", "overall"};

}  // namespace ggas::bench
