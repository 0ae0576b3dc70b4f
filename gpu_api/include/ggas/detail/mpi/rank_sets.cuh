// SPDX-License-Identifier: Apache-2.0
// Which ranks a communicator or group has, and how those of communicators are numbered in messages. Each rank keeps
// its own table of communicators; a message carries the communicator in its tag. Included by world.cuh.
#pragma once

#include "ggas/detail/mpi/names.cuh"

#ifndef __CUDACC__
#include <cstdlib>
#endif

namespace ggas::mpi {

using rank_group = GGAS_MPI_RANK;

// What MPI_Init has found, of the block.
GGAS_DEVICE ggas_messages& world() {
  GGAS_SHARED_ARRAY(uint64_t, words, (sizeof(ggas_messages) + 7) / 8);
  return *reinterpret_cast<ggas_messages*>(words);
}
// What collectives need of it, counted once by MPI_Init: divisions and trips to the second-level cache take longer.
struct stage_facts {
  uint64_t first, distance;  // stage of a node's first rank, and from rank to rank: bytes in the segment
  uint64_t half_bytes;
  uint64_t numbers;          // of reductions: bytes in the segment
  uint64_t row_bytes, rows;  // a number of every unit; rows of a half
  int ranks, of_node;        // of all, of a node
  int unit_ranks;            // ranks that put a number on a stage together
  int units, units_of_node;
  int own_unit;             // of all; the first one of the block
  int units_each, folding;  // units whose numbers a thread of a block folds, and how many threads do
  uint32_t meetings;        // barriers of collectives that the block has made
};
GGAS_DEVICE stage_facts& stages() {
  GGAS_SHARED(stage_facts, facts);
  return facts;
}
GGAS_DEVICE stage_facts facts_of(const ggas_messages& w) {
  if (w.threads == 0 || w.blocks.blocks == 0) return {};  // refused when the launch begins
  const message_layout l = detail::layout_of(w);
  const int of_node = detail::ranks_of_node(w), units = detail::units_of_node(w), nodes = w.blocks.nodes.size,
            block = static_cast<int>(detail::block_rank() - w.blocks.first), blocks = static_cast<int>(w.blocks.blocks),
            threads = static_cast<int>(w.threads), each = (units * nodes + threads - 1) / threads;
  return {w.place + message_layout::first() + l.stage(),
          l.bytes(),
          w.stage_bytes / 2,
          detail::numbers_of(w),
          static_cast<unsigned>(units * nodes) * message_layout::number_bytes,
          detail::number_rows(w),
          of_node * nodes,
          of_node,
          detail::ranks_of_unit(w),
          units * nodes,
          units,
          ggas_node() * units + block * (units / blocks),
          each,
          (units * nodes + each - 1) / each,
          0};
}
// The rank's part of the memory for collectives and windows.
GGAS_DEVICE detail::message_rank self() { return detail::message_rank(world()); }

// Ranks of MPI_COMM_WORLD in an order.
struct rank_set {
  int size, me;       // me: the place of this rank, or MPI_UNDEFINED
  int first, stride;  // rank i is first + i * stride, if there is no list
  int* list;          // memory of this rank
  GGAS_DEVICE int world_rank(int i) const { return list ? list[i] : first + i * stride; }
  GGAS_DEVICE int place_of(int world_rank) const {
    if (!list) {
      const int i = (world_rank - first) / stride;
      return i >= 0 && i < size && first + i * stride == world_rank ? i : MPI_UNDEFINED;
    }
    for (int i = 0; i < size; ++i)
      if (list[i] == world_rank) return i;
    return MPI_UNDEFINED;
  }
};
}  // namespace ggas::mpi

// A group is memory of the rank that made it.
using MPI_Group = ggas::mpi::rank_set*;

namespace ggas::mpi {

// The communicators of a rank but MPI_COMM_WORLD. Those of the same number have other members, or are the same.
constexpr int most_comms = 63, first_comm = MPI_COMM_WORLD + 1;
struct comm_table {
  uint64_t used;  // a bit each
  rank_set sets[most_comms];
  uint32_t collectives[most_comms];  // that the rank has made
};
GGAS_DEVICE comm_table* comms() {
  return reinterpret_cast<comm_table*>(static_cast<uintptr_t>(self().matching().communicators));
}

// Whether it is one of the table.
GGAS_DEVICE bool is_other(MPI_Comm comm) {
  const int i = static_cast<int>(comm) - first_comm;
  return i >= 0 && i < most_comms && comms() && (comms()->used >> i & 1) != 0;
}
GGAS_DEVICE const rank_set& set_of(MPI_Comm comm) { return comms()->sets[static_cast<int>(comm) - first_comm]; }
GGAS_DEVICE rank_set set_of_world() { return {ggas_message_ranks(world()), ggas_message_rank(world()), 0, 1, nullptr}; }

GGAS_DEVICE bool comm_good(MPI_Comm comm) { return comm == MPI_COMM_WORLD || is_other(comm); }
// Of a good one.
GGAS_DEVICE int size_of(MPI_Comm comm) {
  return comm == MPI_COMM_WORLD ? ggas_message_ranks(world()) : set_of(comm).size;
}
GGAS_DEVICE int rank_in(MPI_Comm comm) { return comm == MPI_COMM_WORLD ? ggas_message_rank(world()) : set_of(comm).me; }

// ---- ranks and tags of messages: special ones stay

GGAS_DEVICE int peer_in(MPI_Comm comm, int rank) {
  return comm == MPI_COMM_WORLD || rank < 0 ? rank : set_of(comm).world_rank(rank);
}
// `context`: 0 for messages of the program, 1 for those of collectives.
GGAS_DEVICE int tag_in(MPI_Comm comm, int tag, int context = 0) {
  if (comm == MPI_COMM_WORLD) return tag;
  return detail::tag_of_context(2 * (static_cast<int>(comm) - first_comm) + context, tag);
}
// Source and tag of a message as its communicator counts.
GGAS_DEVICE_FUNCTION ggas_message in_its_comm(ggas_message m) {
  const auto comm = static_cast<MPI_Comm>(first_comm + detail::context_of_tag(m.tag) / 2);
  m.tag = detail::tag_without_context(m.tag);
  m.source = set_of(comm).place_of(m.source);
  return m;
}

}  // namespace ggas::mpi
