// SPDX-License-Identifier: Apache-2.0
// RandomAccess by the rules of the HPC Challenge: code shared by its variants, the variant with atomics, and the
// kernels that fill and check a table.
#pragma once

#include "benchmarks/kernels/common.cuh"
#include "benchmarks/kernels/random_access/hpcc_stream.cuh"

namespace ggas::bench {

inline constexpr uint64_t look_ahead = 1024;  // updates that a process may have made and not yet applied
inline constexpr uint64_t updates_per_word = 4;

// Which node holds a word: node n has the words from nodes * n / 2^k on.
struct table_split {
  uint64_t log2_size, nodes;
  GGAS_HOST_DEVICE constexpr uint64_t size() const { return uint64_t{1} << log2_size; }
  GGAS_HOST_DEVICE constexpr uint64_t first(uint64_t node) const { return (node * size() + nodes - 1) / nodes; }
  GGAS_HOST_DEVICE constexpr uint64_t words(uint64_t node) const { return first(node + 1) - first(node); }
  GGAS_HOST_DEVICE constexpr uint64_t owner(uint64_t index) const { return index * nodes >> log2_size; }
  GGAS_HOST_DEVICE constexpr uint64_t index(uint64_t number) const { return number & (size() - 1); }
  GGAS_HOST_DEVICE constexpr uint64_t owner_of(uint64_t number) const { return owner(index(number)); }
  // A number that the owner cannot own, if there are others.
  GGAS_HOST_DEVICE constexpr uint64_t foreign(uint64_t node) const { return node == 0 ? first(1) : first(0) + size(); }
};

struct update_args {
  table_split split;
  uint64_t table;     // offset of the node's words
  uint64_t origin;    // place in the stream where node 0 begins
  uint64_t outcomes;  // offset of an outcome for each thread
  uint64_t timeout_ns;
};

// A part of the stream: `count` numbers, the first of them next(number).
struct stream_part {
  uint64_t number, count;
  // Part `which` of `parts` equal ones of `total` numbers from place `from` on.
  GGAS_DEVICE stream_part(uint64_t from, uint64_t total, uint64_t which, uint64_t parts) {
    const uint64_t begin = total * which / parts;
    number = hpcc_stream::at(from + begin);
    count = total * (which + 1) / parts - begin;
  }
  GGAS_DEVICE uint64_t take() {
    --count;
    return number = hpcc_stream::next(number);
  }
};
// What a part of the own node's updates is.
GGAS_DEVICE stream_part own_part(const update_args& a, uint64_t which, uint64_t parts) {
  const uint64_t me = static_cast<uint64_t>(ggas_node());
  return {a.origin + updates_per_word * a.split.first(me), updates_per_word * a.split.words(me), which, parts};
}

// Atomic on the own GPU: threads meet in the table.
GGAS_DEVICE void apply_update(const update_args& a, uint64_t number) {
  const uint64_t place = a.split.index(number) - a.split.first(static_cast<uint64_t>(ggas_node()));
  detail::red_xor_gpu(own<uint64_t>(a.table) + place, number);
}

// Every update is an atomic on the word, wherever it is.
__global__ void atomic_updates(update_args a) {
  outcome out{time_ns(), 0, 0, ggas_ok};
  const ggas_queue queue = ggas_default_queue();
  ggas_status s = ggas_ok;
  for (stream_part part = own_part(a, global_thread(), global_threads()); part.count != 0 && s == ggas_ok;) {
    const uint64_t number = part.take(), index = a.split.index(number), owner = a.split.owner(index);
    uint64_t* const word =
        ggas_pointer_of_node<uint64_t>(static_cast<int>(owner), a.table) + (index - a.split.first(owner));
    s = ggas_atomic_post(ggas_atomic_xor, word, number, 0, a.timeout_ns, queue);
  }
  const ggas_status q = ggas_quiet();
  out.status = s == ggas_ok ? q : s;
  out.end_ns = time_ns();
  own<outcome>(a.outcomes)[global_thread()] = out;
}

// The node's number of updates, all of them on its own words: what memory takes, and no run of RandomAccess.
__global__ void local_updates(update_args a) {
  outcome out{time_ns(), 0, 0, ggas_ok};
  const uint64_t words = a.split.words(static_cast<uint64_t>(ggas_node()));
  uint64_t* const table = own<uint64_t>(a.table);
  for (stream_part part = own_part(a, global_thread(), global_threads()); part.count != 0;) {
    const uint64_t number = part.take();
    detail::red_xor_gpu(table + (a.split.index(number) * words >> a.split.log2_size), number);
  }
  ggas_fence();
  out.end_ns = time_ns();
  own<outcome>(a.outcomes)[global_thread()] = out;
}

// ---- filling and checking

__global__ void fill_table(update_args a) {
  const uint64_t me = static_cast<uint64_t>(ggas_node()), first = a.split.first(me);
  for (uint64_t i = global_thread(); i < a.split.words(me); i += global_threads())
    own<uint64_t>(a.table)[i] = first + i;
}

// Generates the numbers of all nodes a second time and applies those for own words. This reverts the updates (xor).
// Nothing is communicated.
__global__ void take_updates_back(update_args a) {
  const uint64_t me = static_cast<uint64_t>(ggas_node());
  stream_part part(a.origin, updates_per_word * a.split.size(), global_thread(), global_threads());
  while (part.count != 0) {
    const uint64_t number = part.take();
    if (a.split.owner_of(number) == me) apply_update(a, number);
  }
}

// Counts the words that are not as fill_table left them, as errors of an outcome.
__global__ void count_wrong_words(update_args a) {
  outcome out{time_ns(), 0, 0, ggas_ok};
  const uint64_t me = static_cast<uint64_t>(ggas_node()), first = a.split.first(me);
  for (uint64_t i = global_thread(); i < a.split.words(me); i += global_threads())
    out.errors += own<uint64_t>(a.table)[i] != first + i ? 1 : 0;
  out.end_ns = time_ns();
  own<outcome>(a.outcomes)[global_thread()] = out;
}

}  // namespace ggas::bench
