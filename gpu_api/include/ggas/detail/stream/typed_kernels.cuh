// SPDX-License-Identifier: Apache-2.0
// Kernels of the calls with datatypes on a stream. Included by typed_on_stream.cuh.
#pragma once

#include "ggas/detail/stream/on_stream.cuh"
#include "ggas/detail/type/move_alike.cuh"
#include "ggas/detail/type/move_items.cuh"
#include "ggas/detail/type/move_mapped.cuh"

// A parameter of a kernel that is read where it lies, by numbers that the kernel works out, too.
#ifdef __CUDACC__
#define GGAS_GRID_CONSTANT __grid_constant__
#else
#define GGAS_GRID_CONSTANT
#endif

namespace ggas::detail {

// A kernel loads all lines of its parameters while the one before still runs. The loaded values have no effect: at most
// a sleep of zero time.
template <class Parameters>
GGAS_DEVICE void ask_for(const Parameters& p) {
#ifdef __CUDACC__
  constexpr unsigned line = 64;
  const char* const bytes = reinterpret_cast<const char*>(&p);
  unsigned all = 0;
  GGAS_UNROLL
  for (unsigned at = 0; at + sizeof(unsigned) <= sizeof(Parameters); at += line)
    all ^= *reinterpret_cast<const unsigned*>(bytes + at);
  asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x9e3779b9; @p nanosleep.u32 0; }" ::"r"(all));
#else
  static_cast<void>(p);
#endif
}

// By thread 0 of the first block; after data of other kernels of the stream, too.
GGAS_DEVICE void signal_from(const signal_target& to) {
  if (to.word && block_rank() == 0 && thread_rank() == 0) send_signal(to);
}

// After what all blocks of a cluster have moved. Called by all of their threads.
GGAS_DEVICE void signal_together(const signal_target& to) {
  if (!to.word) return;
#ifdef __CUDACC__
  if (block_count() > 1) {
    cluster_barrier();
  } else {
    __syncthreads();
  }
#else
  __syncthreads();
#endif
  signal_from(to);
}

template <unsigned Digits>
GGAS_DEVICE void tell_of_lists(const place_move_of<listed_side_of<Digits>>& m, bool good, const stream_report& report) {
  if (m.to.list.at || m.from.list.at) tell(report.status, block_group{}.join(moved(good)));
}
GGAS_DEVICE void tell_of_lists(const few_place_move&, bool, const stream_report&) {}

// Boxes and lists of equal runs. A signal needs blocks of one cluster.
template <class T, class Move>
static __global__ void GGAS_LAUNCH_BOUNDS(512)
    place_kernel(const GGAS_GRID_CONSTANT Move m, signal_target behind, stream_report report) {
  ask_for(m);
  ggas_after_stream();
  const unsigned rank = block_rank() * thread_count() + thread_rank(), count = block_count() * thread_count();
  const bool good = move_places<T>(m, movers{rank, count});
  tell_of_lists(m, good, report);
  signal_together(behind);
}

// All of a block, or none: they wait for each other.
GGAS_DEVICE bool is_current_for_all(const image_stamp& of, const stream_report& report) {
  if (!of.header || block_group{}.join(moved(is_current(of))) == ggas_ok) return true;
  tell(report.status, ggas_bad_argument);
  return false;
}

// Runs of any length, and dense data: of words T, or of bytes.
template <class T>
static __global__ void GGAS_LAUNCH_BOUNDS(512) run_kernel(const GGAS_GRID_CONSTANT run_move m, stream_report report) {
  ask_for(m);
  ggas_after_stream();
  GGAS_SHARED_ARRAY(word_pair, staged, staged_bytes / sizeof(word_pair));
  if (!is_current_for_all(m.items.of, report)) return;
  void* const shared = static_cast<word_pair*>(staged);
  bool good;
  if constexpr (sizeof(T) == 1) {
    good = m.alike ? move_alike(m) : move_runs(m, static_cast<char*>(shared));
  } else {
    good = move_mapped<T>(m, static_cast<int64_t*>(shared));
  }
  if (m.items.sums) tell(report.status, block_group{}.join(moved(good)));
}

// Small items of a few fields, packed.
[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(512)
    item_kernel(const GGAS_GRID_CONSTANT item_move m, stream_report report) {
  ask_for(m);
  ggas_after_stream();
  GGAS_SHARED_ARRAY(word_pair, staged, staged_bytes / sizeof(word_pair));
  if (!is_current_for_all(m.of, report)) return;
  pack_items(m, reinterpret_cast<char*>(static_cast<word_pair*>(staged)));
}

// Small items of a few fields, to items. A signal needs blocks of one cluster.
[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(512)
    pair_kernel(const GGAS_GRID_CONSTANT pair_move m, signal_target behind, stream_report report) {
  ask_for(m);
  ggas_after_stream();
  // A datatype is freed for all blocks or for none, so none waits for a block that has ended.
  if (!is_current_for_all(m.from_of, report) || !is_current_for_all(m.to_of, report)) return;
  move_pairs(m, movers{block_rank() * thread_count() + thread_rank(), block_count() * thread_count()});
  signal_together(behind);
}

// A side as the walk of records needs it; of packed data `at` is byte 0.
struct walk_side {
  char* at;
  uint64_t count;
  bool packed;
  ggas_type type;
};
struct walk_move {
  walk_side to, from;
  uint64_t first, bytes;
};

GGAS_DEVICE type_side side_of(const walk_side& s, uint64_t first, uint64_t bytes) {
  return s.packed ? packed_at(s.at + first, first, bytes) : items_at(s.at, s.count, s.type);
}

[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(512)
    walk_kernel(const GGAS_GRID_CONSTANT walk_move given, stream_report report) {
  // Sides name their datatypes by address. From a parameter each word would come by way of memory.
  constexpr unsigned words = sizeof(walk_move) / sizeof(uint64_t);
  GGAS_SHARED_ARRAY(uint64_t, shared, words);
  for (unsigned i = thread_rank(); i < words; i += thread_count())
    shared[i] = reinterpret_cast<const uint64_t*>(&given)[i];
  __syncthreads();
  const walk_move& m = *reinterpret_cast<const walk_move*>(&shared[0]);
  ggas_after_stream();
  const bool known = (m.to.packed || m.to.type.records == 0 || is_committed(m.to.type)) &&
                     (m.from.packed || m.from.type.records == 0 || is_committed(m.from.type));
  if (!known) return tell(report.status, ggas_bad_argument);
  const type_side to = side_of(m.to, m.first, m.bytes), from = side_of(m.from, m.first, m.bytes);
  const unsigned rank = block_rank() * thread_count() + thread_rank(), count = block_count() * thread_count();
  const uint64_t bits = bits_of(to, m.to.count) | bits_of(from, m.from.count);
  const bool good = move_sides<origin::own>(to, from, m.first, m.bytes, bits, movers{rank, count});
  tell(report.status, block_group{}.join(moved(good)));
}

// After what an earlier kernel of the stream has moved, unless that was informed a failure.
[[maybe_unused]] static __global__ void signal_kernel(signal_target to, stream_report report) {
  ggas_after_stream();
  if (!report.status || load_relaxed(report.status) == ggas_ok) signal_from(to);
}

// Through a NIC, by descriptors.
[[maybe_unused]] static __global__ void put_typed_kernel(walk_side remote, walk_side local, stream_report report) {
  ggas_after_stream();
  tell(report.status, ggas_put_typed_block(remote.at, remote.count, remote.type, local.at, local.count, local.type,
                                           report.timeout_ns));
}
[[maybe_unused]] static __global__ void get_typed_kernel(walk_side local, walk_side remote, stream_report report) {
  ggas_after_stream();
  tell(report.status, ggas_get_typed_block(local.at, local.count, local.type, remote.at, remote.count, remote.type,
                                           report.timeout_ns));
}
[[maybe_unused]] static __global__ void put_signal_typed_kernel(walk_side remote, walk_side local, signal_target to,
                                                                stream_report report) {
  ggas_after_stream();
  tell(report.status, ggas_put_signal_typed_block(remote.at, remote.count, remote.type, local.at, local.count,
                                                  local.type, to.word, to.value, to.op, report.timeout_ns));
}

}  // namespace ggas::detail
