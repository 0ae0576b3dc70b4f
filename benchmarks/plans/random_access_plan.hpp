// SPDX-License-Identifier: Apache-2.0
// Where the tables and mailboxes of random_access lie in the segments, and its verification on the host.
#pragma once

#include <functional>

#include "benchmarks/kernels/layout_plan.hpp"
#include "benchmarks/kernels/random_access/bucket.cuh"
#include "benchmarks/kernels/random_access/mailbox.cuh"
#include "benchmarks/kernels/random_access/many.cuh"

namespace ggas::bench {

// Elements 64, 1000 and 2^40 of the published stream.
static_assert(hpcc_stream::at(64) == 7 && hpcc_stream::at(1000) == 0xb6b6db0000000103 &&
              hpcc_stream::at(1ull << 40) == 0x100000116);

// Bytes of a node's segment that the host must set to zero before a run.
struct zero_area {
  uint64_t offset = 0, bytes = 0;
};

// Seed 1 is the stream as published; others begin far away from it.
inline uint64_t stream_origin(uint64_t seed) { return seed == 1 ? 0 : pattern(0, 0, seed) % hpcc_stream::period; }

// What every variant needs; outcomes for the largest number of threads that will run.
inline update_args plan_updates(layout_plan& room, unsigned log2_size, int nodes, size_t threads, uint64_t seed,
                                uint64_t timeout_ns) {
  update_args a{};
  a.split = {log2_size, static_cast<uint64_t>(nodes)};
  a.origin = stream_origin(seed);
  a.timeout_ns = timeout_ns;
  a.table = room.place<uint64_t>(a.split.size() / a.split.nodes + 1);
  a.outcomes = room.place<outcome>(threads);
  return a;
}

// For 2 ... most_mailbox_nodes nodes.
inline mailbox_args plan_mailboxes(layout_plan room, const update_args& a, zero_area& zero) {
  mailbox_args m{};
  static_cast<update_args&>(m) = a;
  m.depth = look_ahead / (mailbox_threads * (a.split.nodes - 1));
  zero.offset = m.mailboxes = room.place<uint64_t>(a.split.nodes * m.depth * mailbox_threads);
  m.credits = room.place<uint64_t>(a.split.nodes * mailbox_threads);
  zero.bytes = m.credits + a.split.nodes * mailbox_threads * sizeof(uint64_t) - zero.offset;
  return m;
}

// For 1 ... most_bucket_nodes nodes. `blocks` of bucket_threads on every node.
inline bucket_args plan_buckets(layout_plan room, const update_args& a, size_t blocks, uint32_t depth,
                                zero_area& zero) {
  bucket_args b{};
  static_cast<update_args&>(b) = a;
  const size_t pairs = blocks * (bucket_threads / 32) * a.split.nodes;
  b.depth = depth;
  b.ahead = 1;
  zero.offset = b.mailboxes = room.place<uint64_t>(pairs * depth * bucket_words);
  b.credits = room.place<uint64_t>(pairs);
  zero.bytes = b.credits + pairs * sizeof(uint64_t) - zero.offset;
  b.outboxes = zero.offset + zero.bytes;
  return b;
}

// For 2 ... most_many_nodes nodes. `blocks` of many_threads on every node.
inline many_args plan_many_buckets(layout_plan room, const update_args& a, size_t blocks, zero_area& zero) {
  many_args b{};
  static_cast<update_args&>(b) = a;
  const size_t pairs = blocks * (many_threads / 32) * a.split.nodes;
  b.words = words_of_bucket(a.split.nodes);
  zero.offset = b.mailboxes = room.place<uint64_t>(pairs * b.words);
  b.credits = room.place<uint64_t>(pairs);
  zero.bytes = b.credits + pairs * sizeof(uint64_t) - zero.offset;
  return b;
}

// ---- on the host: `table(node)` is where a node's words lie.

using tables = std::function<uint64_t*(int node)>;

inline void fill_tables(const table_split& split, const tables& table) {
  for (uint64_t node = 0; node < split.nodes; ++node)
    for (uint64_t i = 0; i < split.words(node); ++i) table(static_cast<int>(node))[i] = split.first(node) + i;
}

// Runs the updates again, one after the other: xor takes them back. Returns the words that are not as at the start.
inline uint64_t wrong_words(const update_args& a, const tables& table) {
  const table_split& split = a.split;
  uint64_t number = hpcc_stream::at(a.origin);
  for (uint64_t i = 0; i < updates_per_word * split.size(); ++i) {
    number = hpcc_stream::next(number);
    const uint64_t node = split.owner_of(number);
    table(static_cast<int>(node))[split.index(number) - split.first(node)] ^= number;
  }
  uint64_t wrong = 0;
  for (uint64_t node = 0; node < split.nodes; ++node)
    for (uint64_t i = 0; i < split.words(node); ++i)
      wrong += table(static_cast<int>(node))[i] != split.first(node) + i ? 1 : 0;
  return wrong;
}

}  // namespace ggas::bench
