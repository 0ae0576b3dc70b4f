// SPDX-License-Identifier: Apache-2.0
// The calls on a stream. Included by on_stream.cuh.
#pragma once

#include "ggas/detail/stream/on_stream_shapes.cuh"

namespace ggas {

template <class T>
static result<> put_on_stream(cluster& c, const stream& s, global_ptr<T> to, const T* from, size_t n,
                              const stream_report& report) {
  T* const there = detail::host_address(c, s, to, n);
  if (!there || !detail::lie_here(c, s, from, n)) return detail::out_of_segments("put_on_stream", s);
#ifdef __CUDACC__
  static_cast<void>(report);
  return n == 0 ? result<>() : detail::copy_by_engine(c, s, there, from, n * sizeof(T));
#else
  return launch_dependent(c, s, 1, detail::most_stream_threads, detail::put_kernel, detail::as_bytes(to),
                          detail::as_bytes(from), n * sizeof(T), report);
#endif
}

template <class T>
static result<> get_on_stream(cluster& c, const stream& s, T* to, global_ptr<T> from, size_t n,
                              const stream_report& report) {
  const T* const there = detail::host_address(c, s, from, n);
  if (!there || !detail::lie_here(c, s, to, n)) return detail::out_of_segments("get_on_stream", s);
#ifdef __CUDACC__
  static_cast<void>(report);
  return n == 0 ? result<>() : detail::copy_by_engine(c, s, to, there, n * sizeof(T));
#else
  return launch_dependent(c, s, 1, detail::most_stream_threads, detail::get_kernel, reinterpret_cast<char*>(to),
                          detail::as_bytes(from), n * sizeof(T), report);
#endif
}

template <class T>
static result<> put_signal_on_stream(cluster& c, const stream& s, global_ptr<T> to, const T* from, size_t n,
                                     global_ptr<uint64_t> signal, uint64_t value, ggas_signal_op op,
                                     const stream_report& report) {
  T* const there = detail::host_address(c, s, to, n);
  uint64_t* const word = detail::host_address(c, s, signal, 1);
  if (!there || !word || to.node() != signal.node() || signal.offset() % sizeof(uint64_t) != 0 ||
      !detail::lie_here(c, s, from, n) || static_cast<unsigned>(op) > ggas_signal_add)
    return detail::out_of_segments("put_signal_on_stream", s);
  size_t bytes = n * sizeof(T);
#ifdef __CUDACC__
  if (bytes > detail::largest_kernel_put) {
    if (auto ok = put_on_stream(c, s, to, from, n, report); !ok) return ok;
    bytes = 0;
  }
  const unsigned blocks = detail::cluster_of(c.device(s.node), detail::put_blocks(bytes));
  return detail::launch_clusters(c, s, blocks, detail::put_threads(bytes), blocks, detail::put_signal_kernel,
                                 reinterpret_cast<char*>(there), detail::as_bytes(from), bytes, word, value, op);
#else
  return launch_dependent(c, s, 1, detail::put_threads(bytes), detail::put_signal_kernel, detail::as_bytes(to),
                          detail::as_bytes(from), bytes, signal, value, op, report);
#endif
}

static result<> signal_wait_on_stream(cluster& c, const stream& s, const uint64_t* signal, ggas_cmp cmp, uint64_t value,
                                      const stream_report& report) {
  return launch_dependent(c, s, 1, 1, detail::signal_wait_kernel, signal, cmp, value, report);
}

static result<> signal_take_on_stream(cluster& c, const stream& s, const uint64_t* signal, uint64_t* taken, uint64_t n,
                                      const stream_report& report) {
  return launch_dependent(c, s, 1, 1, detail::signal_take_kernel, signal, taken, n, report);
}

static result<> barrier_on_stream(cluster& c, const stream& s, const stream_report& report, const stream_team& team) {
  return team ? launch_dependent(c, s, 1, 32, detail::barrier_of_team_kernel, report, *team)
              : launch_dependent(c, s, 1, 32, detail::barrier_kernel, report);
}

static result<> sync_on_stream(cluster& c, const stream& s, const stream_report& report, const stream_team& team) {
  return team ? launch_dependent(c, s, 1, 32, detail::sync_of_team_kernel, report, *team)
              : launch_dependent(c, s, 1, 32, detail::sync_kernel, report);
}

template <class T>
static result<> allreduce_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n, ggas_op op,
                                    const stream_report& report, const stream_shape& shape, const stream_team& team) {
  if (auto ok = detail::apart_on_stream("allreduce_on_stream", s, dst, n, src, n, src == dst); !ok) return ok;
  const stream_shape how = detail::filled(shape, detail::tuned_shape(c, s, &tuning::allreduce, n * sizeof(T)));
  if (const auto with = detail::members_of(c, s, team))
    return detail::launch_collective(c, s, how, detail::allreduce_of_team_kernel<T>, dst, src, n, op, how.method,
                                     report, *with);
  return detail::launch_collective(c, s, how, detail::allreduce_kernel_for<T>(how.method), dst, src, n, op, how.method,
                                   report);
}

template <class T>
static result<> reduce_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n, ggas_op op, int root,
                                 const stream_report& report, const stream_shape& shape, const stream_team& team) {
  const size_t written = detail::rank_on_stream(s, team) == root ? n : 0;
  if (auto ok = detail::apart_on_stream("reduce_on_stream", s, dst, written, src, n, src == dst); !ok) return ok;
  const stream_shape how = detail::filled(shape, detail::tuned_shape(c, s, &tuning::reduce, n * sizeof(T)));
  if (const auto with = detail::members_of(c, s, team))
    return detail::launch_collective(c, s, how, detail::reduce_of_team_kernel<T>, dst, src, n, op, root, how.method,
                                     report, *with);
  return detail::launch_collective(c, s, how, detail::reduce_kernel_for<T>(how.method), dst, src, n, op, root,
                                   how.method, report);
}

template <class T>
static result<> broadcast_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n, int root,
                                    const stream_report& report, const stream_shape& shape, const stream_team& team) {
  const size_t read = detail::rank_on_stream(s, team) == root ? n : 0;
  if (auto ok = detail::apart_on_stream("broadcast_on_stream", s, dst, n, src, read, src == dst); !ok) return ok;
  const stream_shape how = detail::filled(shape, detail::tuned_shape(c, s, &tuning::broadcast, n * sizeof(T)));
  if (const auto with = detail::members_of(c, s, team))
    return detail::launch_collective(c, s, how, detail::broadcast_of_team_kernel<T>, dst, src, n, root, report, *with);
  return detail::launch_collective(c, s, how, detail::broadcast_kernel<T>, dst, src, n, root, report);
}

template <class T>
static result<> allgather_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n,
                                    const stream_report& report, const stream_shape& shape, const stream_team& team) {
  const int rank = detail::rank_on_stream(s, team);
  const bool own_part = rank >= 0 && src == dst + static_cast<size_t>(rank) * n;
  const size_t all = detail::size_on_stream(c, team) * n;
  if (auto ok = detail::apart_on_stream("allgather_on_stream", s, dst, all, src, n, own_part); !ok) return ok;
  const stream_shape how = detail::filled(shape, detail::tuned_shape(c, s, &tuning::spread, n * sizeof(T)));
  if (const auto with = detail::members_of(c, s, team))
    return detail::launch_collective(c, s, how, detail::allgather_of_team_kernel<T>, dst, src, n, report, *with);
  return detail::launch_collective(c, s, how, detail::allgather_kernel<T>, dst, src, n, report);
}

template <class T>
static result<> alltoall_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n,
                                   const stream_report& report, const stream_shape& shape, const stream_team& team) {
  const size_t all = detail::size_on_stream(c, team) * n;
  if (auto ok = detail::apart_on_stream("alltoall_on_stream", s, dst, all, src, all, false); !ok) return ok;
  const stream_shape how = detail::filled(shape, detail::tuned_shape(c, s, &tuning::spread, n * sizeof(T)));
  if (const auto with = detail::members_of(c, s, team))
    return detail::launch_collective(c, s, how, detail::alltoall_of_team_kernel<T>, dst, src, n, report, *with);
  return detail::launch_collective(c, s, how, detail::alltoall_kernel<T>, dst, src, n, report);
}

template <class T>
static result<> gather_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n, int root,
                                 const stream_report& report, const stream_shape& shape, const stream_team& team) {
  const int rank = detail::rank_on_stream(s, team);
  const size_t written = rank == root ? detail::size_on_stream(c, team) * n : 0;
  const bool own_part = rank >= 0 && src == dst + static_cast<size_t>(rank) * n;
  if (auto ok = detail::apart_on_stream("gather_on_stream", s, dst, written, src, n, own_part); !ok) return ok;
  const stream_shape how = detail::filled(shape, detail::tuned_shape(c, s, &tuning::spread, n * sizeof(T)));
  return detail::launch_collective(c, s, how, detail::rooted_kernel<detail::direction::to_root, T>, dst, src, n, root,
                                   report, detail::all_or(c, s, team));
}

template <class T>
static result<> scatter_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n, int root,
                                  const stream_report& report, const stream_shape& shape, const stream_team& team) {
  const int rank = detail::rank_on_stream(s, team);
  const size_t read = rank == root ? detail::size_on_stream(c, team) * n : 0;
  const bool own_part = rank >= 0 && dst == src + static_cast<size_t>(rank) * n;
  if (auto ok = detail::apart_on_stream("scatter_on_stream", s, dst, n, src, read, own_part); !ok) return ok;
  const stream_shape how = detail::filled(shape, detail::tuned_shape(c, s, &tuning::spread, n * sizeof(T)));
  return detail::launch_collective(c, s, how, detail::rooted_kernel<detail::direction::from_root, T>, dst, src, n, root,
                                   report, detail::all_or(c, s, team));
}

template <class T>
static result<> permute_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n, int to,
                                  const stream_report& report, const stream_shape& shape, const stream_team& team) {
  if (auto ok = detail::apart_on_stream("permute_on_stream", s, dst, n, src, n, false); !ok) return ok;
  const stream_shape how = detail::filled(shape, detail::tuned_shape(c, s, &tuning::spread, n * sizeof(T)));
  return detail::launch_collective(c, s, how, detail::permute_kernel<T>, dst, src, n, to, report,
                                   detail::all_or(c, s, team));
}

template <class T>
static result<> reducescatter_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n, ggas_op op,
                                        const stream_report& report, const stream_shape& shape,
                                        const stream_team& team) {
  const int rank = detail::rank_on_stream(s, team);
  const bool own_part = rank >= 0 && dst == src + static_cast<size_t>(rank) * n;
  const size_t read = detail::size_on_stream(c, team) * n;
  if (auto ok = detail::apart_on_stream("reducescatter_on_stream", s, dst, n, src, read, own_part); !ok) return ok;
  const stream_shape how = detail::filled(shape, detail::tuned_shape(c, s, &tuning::spread, n * sizeof(T)));
  return detail::launch_collective(c, s, how, detail::reducescatter_kernel<T>, dst, src, n, op, report,
                                   detail::all_or(c, s, team));
}

template <class T>
static result<> scan_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n, ggas_op op,
                               ggas_scan_kind kind, const stream_report& report, const stream_shape& shape,
                               const stream_team& team) {
  if (auto ok = detail::apart_on_stream("scan_on_stream", s, dst, n, src, n, src == dst); !ok) return ok;
  const stream_shape how = detail::filled(shape, detail::tuned_shape(c, s, &tuning::spread, n * sizeof(T)));
  return detail::launch_collective(c, s, how, detail::scan_kernel<T>, dst, src, n, op, kind, report,
                                   detail::all_or(c, s, team));
}

}  // namespace ggas
