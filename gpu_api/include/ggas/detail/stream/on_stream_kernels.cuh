// SPDX-License-Identifier: Apache-2.0
// Kernels of the calls on a stream. All have internal linkage, because each translation unit has its own device
// context. Included by on_stream.cuh.
#pragma once

#include "ggas/detail/stream/on_stream_launch.cuh"

namespace ggas::detail {

// The first failure stays.
GGAS_DEVICE void tell(uint64_t* status, ggas_status s) {
  if (s == ggas_ok || !status || thread_rank() != 0) return;
  if (load_relaxed(status) == ggas_ok) store_relaxed(status, static_cast<uint64_t>(s));
}

// Tests once before it looks whether an earlier call has failed: a signal that is here costs one load.
GGAS_DEVICE ggas_status wait_unless_failed(const uint64_t* signal, ggas_cmp cmp, uint64_t value,
                                           const stream_report& report) {
  const ggas_status s = ggas_wait_until(signal, cmp, value, 0);
  if (s != ggas_timed_out) return s;
  if (report.status && load_relaxed(report.status) != ggas_ok) return ggas_timed_out;
  return ggas_wait_until(signal, cmp, value, report.timeout_ns);
}

[[maybe_unused]] static __global__ void put_kernel(global_ptr<char> to, const char* from, size_t bytes,
                                                   stream_report report) {
  ggas_after_stream();
  tell(report.status, ggas_put_block(to.get(), from, bytes, report.timeout_ns));
}

[[maybe_unused]] static __global__ void get_kernel(char* to, global_ptr<char> from, size_t bytes,
                                                   stream_report report) {
  ggas_after_stream();
  tell(report.status, ggas_get_block(to, from.get(), bytes, report.timeout_ns));
}

#ifdef __CUDACC__
// The blocks of a cluster copy together; the first one sends the signal. In the PTX model the barrier and the fence
// after it order the stores of all of them before the word.
struct cluster_group {
  GGAS_DEVICE unsigned rank() const { return block_rank() * thread_count() + thread_rank(); }
  GGAS_DEVICE unsigned size() const { return block_count() * thread_count(); }
  GGAS_DEVICE void sync() const { cluster_barrier(); }
};

// The host has checked the places: what a kernel of one block reads of its context takes it 0.7 us.
[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(512)
    put_signal_kernel(char* to, const char* from, size_t bytes, uint64_t* signal, uint64_t value, ggas_signal_op op) {
  ggas_after_stream();
  const signal_target target{signal, value, op};
  const auto good = [] { return ggas_ok; };
  if (block_count() > 1) {
    static_cast<void>(move_and_signal(cluster_group{}, to, from, bytes, target, good));  // the status is that of `good`
  } else {
    static_cast<void>(move_and_signal(block_group{}, to, from, bytes, target, good));
  }
}
#else
[[maybe_unused]] static __global__ void put_signal_kernel(global_ptr<char> to, const char* from, size_t bytes,
                                                          global_ptr<uint64_t> signal, uint64_t value,
                                                          ggas_signal_op op, stream_report report) {
  ggas_status s = ggas_put_signal_nbi_block(to.get(), from, bytes, signal.get(), value, op, report.timeout_ns);
  // The source may be overwritten by what follows in the stream.
  if (s == ggas_ok && thread_rank() == 0) s = ggas_quiet_local(ggas_default_queue(), report.timeout_ns);
  tell(report.status, s);
}
#endif

[[maybe_unused]] static __global__ void signal_wait_kernel(const uint64_t* signal, ggas_cmp cmp, uint64_t value,
                                                           stream_report report) {
  ggas_after_stream();
  tell(report.status, wait_unless_failed(signal, cmp, value, report));
}

[[maybe_unused]] static __global__ void signal_take_kernel(const uint64_t* signal, uint64_t* taken, uint64_t n,
                                                           stream_report report) {
  ggas_after_stream();
  if (!wait_arguments_good(taken, ggas_ge)) return tell(report.status, ggas_bad_argument);
  const uint64_t value = load_relaxed(taken) + n;
  const ggas_status s = wait_unless_failed(signal, ggas_ge, value, report);
  if (s == ggas_ok) store_relaxed(taken, value);
  tell(report.status, s);
}

[[maybe_unused]] static __global__ void barrier_kernel(stream_report report) {
  ggas_after_stream();
  tell(report.status, ggas_barrier_block(report.timeout_ns));
}
[[maybe_unused]] static __global__ void barrier_of_team_kernel(stream_report report, ggas_team team) {
  ggas_after_stream();
  tell(report.status, ggas_barrier_block(report.timeout_ns, team));
}

[[maybe_unused]] static __global__ void sync_kernel(stream_report report) {
  ggas_after_stream();
  tell(report.status, ggas_sync_block(report.timeout_ns));
}
[[maybe_unused]] static __global__ void sync_of_team_kernel(stream_report report, ggas_team team) {
  ggas_after_stream();
  tell(report.status, ggas_sync_block(report.timeout_ns, team));
}

// By that method alone, or, ggas_auto, by any: with others next to it a method takes up to 1 us longer.
template <ggas_method Only, class T>
static __global__ void GGAS_LAUNCH_BOUNDS(512)
    allreduce_kernel(T* dst, const T* src, size_t n, ggas_op op, ggas_method method, stream_report report) {
  ggas_after_stream();
  if constexpr (Only == ggas_auto) {
    tell(report.status, ggas_allreduce_grid(dst, src, n, op, method, report.timeout_ns));
  } else {
    tell(report.status, reduce_only_by<Only>(piece_of_numbers(dst, src, n, op, everybody), block_rank(), block_count(),
                                             ggas_world(), report.timeout_ns));
  }
}
template <class T>
static auto allreduce_kernel_for(ggas_method method) {
  switch (method) {
    case ggas_one_shot:
      return allreduce_kernel<ggas_one_shot, T>;
    case ggas_direct:
      return allreduce_kernel<ggas_direct, T>;
    case ggas_push:
      return allreduce_kernel<ggas_push, T>;
    default:
      return allreduce_kernel<ggas_auto, T>;
  }
}

template <ggas_method Only, class T>
static __global__ void GGAS_LAUNCH_BOUNDS(512)
    reduce_kernel(T* dst, const T* src, size_t n, ggas_op op, int root, ggas_method method, stream_report report) {
  ggas_after_stream();
  if constexpr (Only == ggas_auto) {
    tell(report.status, ggas_reduce_grid(dst, src, n, op, root, method, report.timeout_ns));
  } else {
    tell(report.status, root < 0 ? ggas_bad_argument
                                 : reduce_only_by<Only>(piece_of_numbers(dst, src, n, op, root), block_rank(),
                                                        block_count(), ggas_world(), report.timeout_ns));
  }
}
template <class T>
static auto reduce_kernel_for(ggas_method method) {
  switch (method) {
    case ggas_one_shot:
      return reduce_kernel<ggas_one_shot, T>;
    case ggas_direct:
      return reduce_kernel<ggas_direct, T>;
    default:
      return reduce_kernel<ggas_auto, T>;
  }
}

template <class T>
static __global__ void GGAS_LAUNCH_BOUNDS(512)
    broadcast_kernel(T* dst, const T* src, size_t n, int root, stream_report report) {
  ggas_after_stream();
  tell(report.status, ggas_broadcast_grid(dst, src, n, root, report.timeout_ns));
}

template <class T>
static __global__ void GGAS_LAUNCH_BOUNDS(512) allgather_kernel(T* dst, const T* src, size_t n, stream_report report) {
  ggas_after_stream();
  tell(report.status, ggas_allgather_grid(dst, src, n, report.timeout_ns));
}

template <class T>
static __global__ void GGAS_LAUNCH_BOUNDS(512) alltoall_kernel(T* dst, const T* src, size_t n, stream_report report) {
  ggas_after_stream();
  tell(report.status, ggas_alltoall_grid(dst, src, n, report.timeout_ns));
}

// Parameters that a call of all nodes does not need: the team, and whether the call is guarded although the kernels
// of the translation unit are not.
struct stream_members {
  ggas_team team;
  bool guarded;
};

template <class T>
static __global__ void GGAS_LAUNCH_BOUNDS(512)
    allreduce_of_team_kernel(T* dst, const T* src, size_t n, ggas_op op, ggas_method method, stream_report report,
                             stream_members with) {
  ggas_after_stream();
  const guarded_call guard(with.team, part_of(grid_group{}),
                           facts_of_reduction(call_id::ggas_allreduce, dst, src, n, op, everybody, method, with.team),
                           report.timeout_ns, with.guarded);
  ggas_status s = guard.status();
  if (s == ggas_ok) s = ggas_allreduce_grid(dst, src, n, op, method, report.timeout_ns, with.team);
  tell(report.status, s);
}

template <class T>
static __global__ void GGAS_LAUNCH_BOUNDS(512)
    reduce_of_team_kernel(T* dst, const T* src, size_t n, ggas_op op, int root, ggas_method method,
                          stream_report report, stream_members with) {
  ggas_after_stream();
  const guarded_call guard(with.team, part_of(grid_group{}),
                           facts_of_reduction(call_id::ggas_reduce, dst, src, n, op, root, method, with.team),
                           report.timeout_ns, with.guarded);
  ggas_status s = guard.status();
  if (s == ggas_ok) s = ggas_reduce_grid(dst, src, n, op, root, method, report.timeout_ns, with.team);
  tell(report.status, s);
}

template <class T>
static __global__ void GGAS_LAUNCH_BOUNDS(512)
    broadcast_of_team_kernel(T* dst, const T* src, size_t n, int root, stream_report report, stream_members with) {
  ggas_after_stream();
  const guarded_call guard(with.team, part_of(grid_group{}), facts_of_broadcast(dst, src, n, root, with.team),
                           report.timeout_ns, with.guarded);
  ggas_status s = guard.status();
  if (s == ggas_ok) s = ggas_broadcast_grid(dst, src, n, root, report.timeout_ns, with.team);
  tell(report.status, s);
}

template <class T>
static __global__ void GGAS_LAUNCH_BOUNDS(512)
    allgather_of_team_kernel(T* dst, const T* src, size_t n, stream_report report, stream_members with) {
  ggas_after_stream();
  const guarded_call guard(with.team, part_of(grid_group{}), facts_of_allgather(dst, src, n, with.team),
                           report.timeout_ns, with.guarded);
  ggas_status s = guard.status();
  if (s == ggas_ok) s = ggas_allgather_grid(dst, src, n, report.timeout_ns, with.team);
  tell(report.status, s);
}

template <class T>
static __global__ void GGAS_LAUNCH_BOUNDS(512)
    alltoall_of_team_kernel(T* dst, const T* src, size_t n, stream_report report, stream_members with) {
  ggas_after_stream();
  const guarded_call guard(with.team, part_of(grid_group{}), facts_of_alltoall(dst, src, n, with.team),
                           report.timeout_ns, with.guarded);
  ggas_status s = guard.status();
  if (s == ggas_ok) s = ggas_alltoall_grid(dst, src, n, report.timeout_ns, with.team);
  tell(report.status, s);
}

// Kernels of calls without a separate method for all nodes; `with` selects the call. A call's guard, then the call.
template <class Call>
GGAS_DEVICE void call_of_members(const stream_members& with, const call_facts_of_member& facts,
                                 const stream_report& report, Call call) {
  const guarded_call guard(with.team, part_of(grid_group{}), facts, report.timeout_ns, with.guarded);
  const ggas_status s = guard.status();
  tell(report.status, s == ggas_ok ? call() : s);
}

template <direction D, class T>
static __global__ void GGAS_LAUNCH_BOUNDS(512)
    rooted_kernel(T* dst, const T* src, size_t n, int root, stream_report report, stream_members with) {
  ggas_after_stream();
  if constexpr (D == direction::to_root)
    call_of_members(with, facts_of_gather(dst, src, n, root, with.team), report,
                    [&] { return ggas_gather_grid(dst, src, n, root, report.timeout_ns, with.team); });
  else
    call_of_members(with, facts_of_scatter(dst, src, n, root, with.team), report,
                    [&] { return ggas_scatter_grid(dst, src, n, root, report.timeout_ns, with.team); });
}
template <class T>
static __global__ void GGAS_LAUNCH_BOUNDS(512)
    permute_kernel(T* dst, const T* src, size_t n, int to, stream_report report, stream_members with) {
  ggas_after_stream();
  call_of_members(with, facts_of_permute(dst, src, n, with.team), report,
                  [&] { return ggas_permute_grid(dst, src, n, to, report.timeout_ns, with.team); });
}
template <class T>
static __global__ void GGAS_LAUNCH_BOUNDS(512)
    reducescatter_kernel(T* dst, const T* src, size_t n, ggas_op op, stream_report report, stream_members with) {
  ggas_after_stream();
  call_of_members(with,
                  facts_of_reduction(call_id::ggas_reducescatter, dst, src, n, op, everybody, ggas_auto, with.team),
                  report, [&] { return ggas_reducescatter_grid(dst, src, n, op, report.timeout_ns, with.team); });
}
template <class T>
static __global__ void GGAS_LAUNCH_BOUNDS(512)
    scan_kernel(T* dst, const T* src, size_t n, ggas_op op, ggas_scan_kind kind, stream_report report,
                stream_members with) {
  ggas_after_stream();
  call_of_members(with, facts_of_scan(dst, src, n, op, kind, with.team), report,
                  [&] { return ggas_scan_grid(dst, src, n, op, kind, report.timeout_ns, with.team); });
}

template <class T>
global_ptr<char> as_bytes(global_ptr<T> p) {
  return {p.node(), p.offset()};
}
template <class T>
const char* as_bytes(const T* p) {
  return reinterpret_cast<const char*>(p);
}

}  // namespace ggas::detail
