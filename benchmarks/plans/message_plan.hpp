// SPDX-License-Identifier: Apache-2.0
// Points of the benchmark message, and where their ranks and data lie. Included after kernels/message.cuh.
#pragma once

#include <algorithm>

#include "benchmarks/kernels/message.cuh"
#include "benchmarks/plans/message_world.hpp"

namespace ggas::bench {

inline constexpr const char* rank_kind_names[] = {"thread", "warp", "block"};

// All but seed and time-out.
inline message_loop place_message_loop(layout_plan& room, const ggas_messages& world, uint64_t bytes, uint64_t rounds,
                                       uint64_t batch) {
  message_loop a{};
  a.world = world;
  a.room = std::max<uint64_t>((bytes + 63) / 64 * 64, 64);
  a.buffers = room.place<char>(2 * a.room * static_cast<uint64_t>(detail::ranks_of_node(world)));
  a.bytes = bytes;
  a.rounds = rounds;
  a.batch = batch;
  a.samples = room.place<uint64_t>(rounds);
  a.outcomes = room.place<outcome>(size_t{world.blocks.blocks} * world.threads);
  return a;
}

}  // namespace ggas::bench
