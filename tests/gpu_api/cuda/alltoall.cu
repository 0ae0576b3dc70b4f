// SPDX-License-Identifier: Apache-2.0
// Collectives that move data, and scan, on real GPUs, by a block and by a grid; broadcast, allgather and alltoall of
// all nodes and of teams, many in a row.
#include "benchmarks/kernels/exchange.cuh"
#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

using bench::exchange_args;
using bench::moved;

TEST_F(rig, data_at_every_length) {
  for (const moved what : {moved::broadcast, moved::allgather, moved::alltoall, moved::gather, moved::scatter,
                           moved::permute, moved::scan, moved::reducescatter}) {
    for (const uint64_t elements : {1u, 3u, 255u, 256u, 511u, 513u, 1024u, 4095u, 4096u, 4097u, 8192u, 8193u, 16'384u,
                                    24'579u, 70'001u, 1'000'003u}) {
      for (const unsigned blocks : {1u, 5u}) {
        if (elements > 100'000 && blocks == 1) continue;
        exchange_args a{what, elements, at.data, at.copy, at.outcomes, 3, elements, timeout_ns};
        start_all(8, 256, bench::exchange_fill, a);
        run("exchange_fill");
        start_all(blocks, 256, blocks > 1 ? bench::exchange_loop_of<true>(what) : bench::exchange_loop_of<false>(what),
                  a);
        run("exchange_loop");
        const std::string text = "collective " + std::to_string(static_cast<int>(what)) + " of " +
                                 std::to_string(elements) + " elements, " + std::to_string(blocks) + " blocks";
        check_all_outcomes(size_t{blocks} * 256, text);
        start_all(8, 256, bench::exchange_check, a);
        run("exchange_check");
        check_all_outcomes(8 * 256, text + ": what arrived");
      }
    }
  }
}

__device__ uint32_t word_of_round(uint64_t round, int from, int to, uint64_t i) {
  return static_cast<uint32_t>(pattern(round, static_cast<uint64_t>(from * 64 + to), i));
}

// Kinds, lengths, roots and teams that differ from call to call, the same on every member; nodes are late in turn.
// Source and destination lie at odd places.
__global__ void GGAS_LAUNCH_BOUNDS(256) mixed_calls(places at, uint64_t rounds) {
  outcome out{0, 0, 0, ggas_ok};
  const int me = ggas_node();
  const uint64_t i0 = ggas::detail::thread_rank(), threads = ggas::detail::thread_count();
  uint32_t* const from = own<uint32_t>(at.data) + me;
  uint32_t* const to = own<uint32_t>(at.copy) + 2 * me + 1;
  ggas_status s = ggas_ok;
  for (uint64_t r = 1; r <= rounds && s == ggas_ok; ++r) {
    const uint64_t dice = pattern(77, 0, r);
    const int odd = me % 2;
    const ggas_team team = dice % 5 ? ggas_world() : ggas_team_strided(1, odd, 2, (ggas_nodes() - odd + 1) / 2);
    const uint64_t n = 1 + (dice >> 8) % ((dice >> 40) % 3 ? 300 : 30000);
    const int kind = static_cast<int>(dice >> 32 & 3) % 3, root = static_cast<int>((dice >> 24) % 64) % team.size;
    for (int k = 0; k < team.size; ++k) {
      for (uint64_t i = i0; i < n; i += threads) {
        if (k == 0 || kind == 2)
          from[static_cast<uint64_t>(k) * n + i] = word_of_round(r, me, kind == 2 ? ggas_team_node(team, k) : 0, i);
      }
    }
    __syncthreads();
    if ((dice >> 48) % 8 == static_cast<uint64_t>(me)) __nanosleep(5000);
    if (kind == 0) s = ggas_broadcast_block(to, from, n, root, timeout_ns, team);
    if (kind == 1) s = ggas_allgather_block(to, from, n, timeout_ns, team);
    if (kind == 2) s = ggas_alltoall_block(to, from, n, timeout_ns, team);
    for (int k = 0; k < (kind == 0 ? 1 : team.size); ++k) {
      const int source = ggas_team_node(team, kind == 0 ? root : k);
      for (uint64_t i = i0; i < n; i += threads)
        if (to[static_cast<uint64_t>(k) * n + i] != word_of_round(r, source, kind == 2 ? me : 0, i)) ++out.errors;
    }
    __syncthreads();
  }
  out.status = s;
  own<outcome>(at.outcomes)[i0] = out;
}

TEST_F(rig, collectives_of_all_kinds_in_a_row) {
  for (const unsigned threads : {1u, 33u, 128u, 256u}) {
    start_all(1, threads, mixed_calls, at, threads == 1 ? 40 : 400);
    run("mixed_calls");
    check_all_outcomes(threads, "mixed collectives");
  }
}

}  // namespace
}  // namespace ggas::gpu_test
