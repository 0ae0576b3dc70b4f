// SPDX-License-Identifier: Apache-2.0
// Where rings and state of ranks that exchange messages lie in a benchmark.
#pragma once

#include "benchmarks/kernels/layout_plan.hpp"
#include "ggas/detail/message/handle.hpp"

namespace ggas::bench {

// A grid of ranks on each node, whose messages may wait.
struct message_shape {
  ggas_rank_kind kind;
  unsigned blocks, threads;
  unsigned waiting = 64;
  unsigned stage_bytes = 64;
  unsigned lines_log2 = 6, short_bytes = 64;
};

// Ranks whose rings and state begin at the next place of `room`; `first` ... `room` is to be zero.
inline ggas_messages place_messages(layout_plan& room, int nodes, const message_shape& shape) {
  ggas_messages m{{{0, 1, nodes, 0}, shape.blocks, 0, 0, 16, 1},
                  shape.kind,
                  shape.threads,
                  0,
                  shape.lines_log2,
                  shape.short_bytes,
                  shape.waiting,
                  8,
                  shape.stage_bytes};
  m.blocks.place = room.place<char>(detail::layout_of(m.blocks).bytes());
  m.place = room.place<char>(detail::bytes_of(m));
  return m;
}

}  // namespace ggas::bench
