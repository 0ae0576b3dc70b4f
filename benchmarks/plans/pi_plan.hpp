// SPDX-License-Identifier: Apache-2.0
// Where the data of the benchmark pi lie. Included after kernels/pi.cuh.
#pragma once

#include <algorithm>
#include <bit>
#include <functional>

#include "benchmarks/plans/message_world.hpp"

namespace ggas::bench {

struct pi_shape {
  unsigned blocks, threads;  // of each node
};
struct pi_launch {
  unsigned blocks, threads;
  std::function<void(const pi_args&)> run;
};
// Rank 0 takes messages in the order of ranks, so those of all other ranks may wait. With more ranks nothing is sent.
inline constexpr unsigned most_pi_senders = 4096;

// `handle` is where MPI_Init() finds the ranks; from `begin` on all is zero at first.
struct pi_places {
  uint64_t begin, handle;
  ggas_messages world;
  pi_args args;
};

inline pi_places place_pi(layout_plan& room, int nodes, const pi_shape& shape, int intervals) {
  pi_places p{};
  p.handle = p.begin = room.place<ggas_messages>(1);
  const unsigned ranks = static_cast<unsigned>(nodes) * shape.blocks * shape.threads;
  message_shape grid{.kind = ggas_rank_is_thread, .blocks = shape.blocks, .threads = shape.threads};
  if (ranks <= most_pi_senders) grid.waiting = std::max(grid.waiting, std::bit_ceil(ranks));
  p.world = place_messages(room, nodes, grid);
  p.args.ranks = detail::rank_count(p.world);
  p.args.intervals = intervals;
  p.args.sums = room.place<float>(static_cast<size_t>(p.args.ranks));
  p.args.result = room.place<float>(1);
  p.args.outcomes = room.place<outcome>(2 * static_cast<size_t>(p.args.ranks) + 256);
  return p;
}

}  // namespace ggas::bench
