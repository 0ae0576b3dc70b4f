// SPDX-License-Identifier: Apache-2.0
// Kernels of the calls with datatypes on a stream. Included by typed_on_stream.cuh.
#pragma once

#include "ggas/detail/stream/on_stream.cuh"
#include "ggas/detail/type/move_runs.cuh"

// A parameter of a kernel that is read where it lies, by numbers that the kernel works out, too.
#ifdef __CUDACC__
#define GGAS_GRID_CONSTANT __grid_constant__
#else
#define GGAS_GRID_CONSTANT
#endif

namespace ggas::detail {

// By thread 0 of the first block; behind data of other kernels of the stream, too.
GGAS_DEVICE void signal_from(const signal_target& to) {
  if (to.word && block_rank() == 0 && thread_rank() == 0) send_signal(to);
}

GGAS_DEVICE void tell_of_lists(const place_move& m, bool good, const stream_report& report) {
  if (m.to.list.at || m.from.list.at) tell(report.status, block_group{}.join(moved(good)));
}
GGAS_DEVICE void tell_of_lists(const few_place_move&, bool, const stream_report&) {}

// Boxes and lists of equal runs. A signal needs blocks of one cluster.
template <class T, class Move>
static __global__ void GGAS_LAUNCH_BOUNDS(512)
    place_kernel(const GGAS_GRID_CONSTANT Move m, signal_target behind, stream_report report) {
  ggas_after_stream();
  const unsigned rank = block_rank() * thread_count() + thread_rank(), count = block_count() * thread_count();
  const bool good = move_places<T>(m, rank, count);
  tell_of_lists(m, good, report);
  if (!behind.word) return;
#ifdef __CUDACC__
  if (block_count() > 1) {
    cluster_barrier();
  } else {
    __syncthreads();
  }
#else
  __syncthreads();
#endif
  signal_from(behind);
}

// Runs of any length, and dense data.
[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(512)
    run_kernel(const GGAS_GRID_CONSTANT run_move m, stream_report report) {
  ggas_after_stream();
  GGAS_SHARED_ARRAY(word_pair, staged, staged_bytes / sizeof(word_pair));
  const bool current = is_current(m.items.of);
  // All of a block, or none: they wait for each other.
  if (m.items.of.header && block_group{}.join(moved(current)) != ggas_ok) {
    tell(report.status, ggas_bad_argument);
    return;
  }
  const bool good = move_runs(m, reinterpret_cast<char*>(static_cast<word_pair*>(staged)));
  if (m.items.sums) tell(report.status, block_group{}.join(moved(good)));
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
    walk_kernel(const GGAS_GRID_CONSTANT walk_move m, stream_report report) {
  ggas_after_stream();
  const bool known = (m.to.packed || m.to.type.records == 0 || is_committed(m.to.type)) &&
                     (m.from.packed || m.from.type.records == 0 || is_committed(m.from.type));
  if (!known) return tell(report.status, ggas_bad_argument);
  const type_side to = side_of(m.to, m.first, m.bytes), from = side_of(m.from, m.first, m.bytes);
  const unsigned rank = block_rank() * thread_count() + thread_rank(), count = block_count() * thread_count();
  const uint64_t bits = bits_of(to, m.to.count) | bits_of(from, m.from.count);
  const bool good = move_sides<origin::own>(to, from, m.first, m.bytes, bits, rank, count);
  tell(report.status, block_group{}.join(moved(good)));
}

// Behind what an earlier kernel of the stream has moved, unless that was told a failure.
[[maybe_unused]] static __global__ void signal_kernel(signal_target to, stream_report report) {
  ggas_after_stream();
  if (!report.status || load_relaxed(report.status) == ggas_ok) signal_from(to);
}

// Behind a NIC, by descriptors.
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
