// SPDX-License-Identifier: Apache-2.0
// upc: 16 ranks, blocks of all GPUs together, relocate data and meet; compared with plain stores or loads between
// barriers, and with the barrier of a grid that CUDA has.
#include <cooperative_groups.h>

#include "benchmarks/cuda/rigs/ranks_rig.cuh"

namespace ggas::bench {

namespace {

constexpr uint64_t batch = 20;  // a call is short compared with the resolution of the clock

// The time of a call by the slowest rank, for each round.
std::vector<double> slowest_rounds(gpu_session& s, const ggas_ranks& ranks, uint64_t samples, uint64_t rounds) {
  std::vector<double> slowest(rounds, 0);
  for (int node = 0; node < ranks.nodes.size; ++node)
    join_ranks(s.samples(node, samples, ranks.blocks * rounds, 1.0 / static_cast<double>(batch)), slowest);
  return slowest;
}

// ---------------------------------------------------------------- data

fault upc_point(gpu_session& s, const upc_kind& k, const upc_variant& v, uint64_t elements, unsigned threads) {
  const std::string text = std::string(k.name) + " " + v.name + ", " + std::to_string(elements) + " elements";
  layout_plan room(s.data_offset());
  const ggas_ranks ranks = place_ranks(room, s.nodes(), blocks_of_each(s.nodes()));
  upc_args a = place_upc(room, ranks, k, v, elements, s.opts().quick ? 10 : 50, threads);
  a.seed = s.seed();
  a.timeout_ns = s.wait_ns();
  a.batch = batch;
  const size_t total = size_t{ranks.blocks} * threads;
  clear_outcomes(s, a.outcomes, total);
  GGAS_GPU_TRY(clear_ranks(s, ranks, text));
  launch_ranks(s, ranks, threads, upc_loop, a);
  GGAS_GPU_TRY(s.run(text));
  GGAS_GPU_TRY(check_all_outcomes(s, a.outcomes, total, text));
  s.emit({.variant = v.name,
          .params = {{"elements", elements},
                     {"bytes", elements * sizeof(float)},
                     {"blocks", ranks.blocks},
                     {"threads", threads},
                     {"method", k.name}},
          .metric = "time",
          .unit = "ns",
          .samples = slowest_rounds(s, ranks, a.samples, a.rounds)});
  return {};
}

// ---------------------------------------------------------------- barrier

struct meeting_args {
  ggas_ranks ranks;
  uint64_t mark;      // offset of a word of each rank of the node
  uint64_t samples;   // of `rounds` durations of each rank of the node
  uint64_t outcomes;  // of each thread
  uint64_t rounds, timeout_ns;
};

enum class met_by { ranks, cuda };

template <met_by By>
GGAS_DEVICE ggas_status meet_once(const meeting_args& a) {
  if constexpr (By == met_by::ranks) return ggas_barrier(a.ranks, a.timeout_ns);
  cooperative_groups::this_grid().sync();
  return ggas_ok;
}

// Each round begins with a store that the next rank must see.
template <met_by By>
__global__ void __launch_bounds__(1024) meeting_loop(meeting_args a) {
  outcome out{0, 0, 0, ggas_ok};
  const int me = ggas_rank(a.ranks), count = ggas_rank_count(a.ranks), next = me + 1 < count ? me + 1 : 0;
  const ranked<uint64_t> mark{a.mark, sizeof(uint64_t)};
  ggas_status s = meet_once<By>(a);
  for (uint64_t round = 0; round <= a.rounds && s == ggas_ok; ++round) {
    if (detail::is_first_thread()) ggas_store(ggas_pointer_of_rank(a.ranks, next, mark), round + 1);
    s = meet_once<By>(a);
    if (s == ggas_ok) out.errors += ggas_load(ggas_pointer_of_rank(a.ranks, me, mark)) != round + 1;
    const uint64_t before = time_ns();
    GGAS_NO_UNROLL
    for (uint64_t i = 0; i < batch && s == ggas_ok; ++i) s = meet_once<By>(a);
    const uint64_t now = time_ns();
    if (round > 0 && detail::is_first_thread())
      own<uint64_t>(a.samples)[detail::block_rank() * a.rounds + round - 1] = now - before;
  }
  out.status = s;
  own<outcome>(a.outcomes)[global_thread()] = out;
}

void launch_cooperatively(gpu_session& s, const meeting_args& a, unsigned threads) {
  cudaLaunchAttribute whole{};
  whole.id = cudaLaunchAttributeCooperative;
  whole.val.cooperative = 1;
  s.keep(ggas::detail::launch_with(s.machine(), 0, a.ranks.blocks, threads, &whole, 1, meeting_loop<met_by::cuda>, a),
         "launch");
}

fault meeting_point(gpu_session& s, const char* variant, met_by by, int nodes, unsigned blocks, unsigned threads) {
  const std::string text = std::string("barrier, ") + variant + ", " + std::to_string(nodes) + " GPUs";
  layout_plan room(s.data_offset());
  meeting_args a{};
  a.ranks = place_ranks(room, nodes, blocks);
  a.mark = room.place<uint64_t>(a.ranks.blocks);
  a.rounds = s.opts().quick ? 10 : 50;
  a.samples = room.place<uint64_t>(a.ranks.blocks * a.rounds);
  const size_t total = size_t{a.ranks.blocks} * threads;
  a.outcomes = room.place<outcome>(total);
  a.timeout_ns = s.wait_ns();
  clear_outcomes(s, a.outcomes, total);
  GGAS_GPU_TRY(clear_ranks(s, a.ranks, text));
  if (by == met_by::ranks) {
    launch_ranks(s, a.ranks, threads, meeting_loop<met_by::ranks>, a);
  } else {
    launch_cooperatively(s, a, threads);
  }
  GGAS_GPU_TRY(s.run(text));
  for (int node = 0; node < nodes; ++node) GGAS_GPU_TRY(check_outcomes(s, node, a.outcomes, total, text));
  s.emit({.variant = variant,
          .params = {{"ranks", a.ranks.blocks * static_cast<unsigned>(nodes)},
                     {"blocks", a.ranks.blocks},
                     {"threads", threads},
                     {"method", "barrier"}},
          .metric = "latency",
          .unit = "ns",
          .samples = slowest_rounds(s, a.ranks, a.samples, a.rounds)});
  return {};
}

}  // namespace

fault run_upc(gpu_session& s) {
  const std::vector<uint64_t> all = {1, 16, 64, 256, 1024, 4096, 16384}, few = {1, 256};
  const std::vector<uint64_t>& sizes = s.opts().quick ? few : all;
  GGAS_GPU_TRY(start(s, upc_bytes(s.nodes(), blocks_of_each(s.nodes()), sizes.back())));
  for (const upc_kind& k : upc_kinds) {
    for (const uint64_t n : sizes) {
      for (const unsigned threads : {128u, 512u})
        for (const upc_variant& v : upc_variants) GGAS_GPU_TRY(upc_point(s, k, v, n, threads));
    }
  }
  return {};
}

// Barriers of the blocks of one GPU, and of all GPUs.
fault run_upc_barrier(gpu_session& s) {
  GGAS_GPU_TRY(start(s, 4u << 20));
  for (const unsigned threads : {32u, 128u, 512u}) {
    GGAS_GPU_TRY(meeting_point(s, "all", met_by::ranks, 1, all_ranks, threads));
    GGAS_GPU_TRY(meeting_point(s, "grid_sync", met_by::cuda, 1, all_ranks, threads));
    if (s.nodes() > 1)
      GGAS_GPU_TRY(meeting_point(s, "all", met_by::ranks, s.nodes(), blocks_of_each(s.nodes()), threads));
  }
  return {};
}

// Of more and more blocks.
fault run_barrier_of_blocks(gpu_session& s) {
  const auto multiprocessors = static_cast<unsigned>(s.limits().multiprocessors);
  GGAS_GPU_TRY(start(s, 64u << 20));
  for (const unsigned blocks : {16u, multiprocessors, 2 * multiprocessors}) {
    GGAS_GPU_TRY(meeting_point(s, "one_gpu", met_by::ranks, 1, blocks, 256));
    GGAS_GPU_TRY(meeting_point(s, "grid_sync", met_by::cuda, 1, blocks, 256));
    if (s.nodes() > 1) GGAS_GPU_TRY(meeting_point(s, "ranks", met_by::ranks, s.nodes(), blocks, 256));
  }
  return {};
}

}  // namespace ggas::bench
