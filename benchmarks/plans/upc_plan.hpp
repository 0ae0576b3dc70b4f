// SPDX-License-Identifier: Apache-2.0
// Points of the benchmark upc, the one that runs it, and where their data lie. Included after kernels/upc.cuh.
#pragma once

#include <vector>

#include "benchmarks/kernels/layout_plan.hpp"
#include "benchmarks/kernels/upc.cuh"

namespace ggas::bench {

struct upc_kind {
  relocated what;
  const char* name;
};
inline constexpr upc_kind upc_kinds[] = {{relocated::broadcast, "broadcast"}, {relocated::scatter, "scatter"},
                                         {relocated::gather, "gather"},       {relocated::gather_all, "gather_all"},
                                         {relocated::exchange, "exchange"},   {relocated::permute, "permute"}};
struct upc_variant {
  relocated_by how;
  ggas_sync_mode mode;
  const char* name;
};
inline constexpr upc_variant upc_variants[] = {{relocated_by::ranks, ggas_in_all | ggas_out_all, "all"},
                                               {relocated_by::ranks, ggas_in_mine | ggas_out_mine, "mine"},
                                               {relocated_by::ranks, ggas_in_none | ggas_out_none, "none"},
                                               {relocated_by::push, ggas_in_all | ggas_out_all, "push"},
                                               {relocated_by::pull, ggas_in_all | ggas_out_all, "pull"}};

inline constexpr unsigned upc_blocks = 8, upc_threads = 64;  // ranks of a simulated node, threads of a rank
inline constexpr unsigned upc_slot_bytes = 64;               // of a message; relocalization needs none

// Ranks whose words begin at the next place of `room`; to be zero.
inline ggas_ranks place_ranks(layout_plan& room, int nodes, unsigned blocks, ggas_scheme scheme = ggas_dynamic,
                              uint64_t buffer_bytes = 0) {
  ggas_ranks r{{0, 1, nodes, 0}, blocks, 0, 0, upc_slot_bytes, 1, scheme, (buffer_bytes + 63) / 64 * 64};
  r.place = room.place<char>(detail::layout_of(r).bytes());
  return r;
}

// All but seed, rounds, batch and time-out, for `rounds` samples of blocks of `threads`.
inline upc_args place_upc(layout_plan& room, const ggas_ranks& ranks, const upc_kind& k, const upc_variant& v,
                          uint64_t elements, uint64_t rounds, unsigned threads) {
  const auto parts = static_cast<uint64_t>(detail::rank_count(ranks));
  const uint64_t step = parts * elements * sizeof(float);
  upc_args a{};
  a.what = k.what;
  a.how = v.how;
  a.mode = v.mode;
  a.ranks = ranks;
  a.input = {room.place<float>(parts * elements * ranks.blocks), step};
  a.output = {room.place<float>(parts * elements * ranks.blocks), step};
  a.elements = elements;
  a.rounds = rounds;
  a.samples = room.place<uint64_t>(ranks.blocks * rounds);
  a.outcomes = room.place<outcome>(size_t{ranks.blocks} * threads);
  return a;
}

// Bytes of a segment that place_ranks and place_upc take at most.
inline size_t upc_bytes(int nodes, unsigned blocks, uint64_t elements) {
  const size_t ranks = static_cast<size_t>(nodes) * blocks;
  return 2 * ranks * elements * sizeof(float) * blocks + blocks * ranks * 512 + (2u << 20);
}

// Makes one sample of each round: a round ends when the last rank has returned. `mine` has the times of the ranks of a
// node, rank after rank; `slowest` has one element for each round.
inline void join_ranks(const std::vector<double>& mine, std::vector<double>& slowest) {
  for (size_t i = 0; i < mine.size(); ++i) {
    double& s = slowest[i % slowest.size()];
    s = mine[i] > s ? mine[i] : s;
  }
}

}  // namespace ggas::bench
