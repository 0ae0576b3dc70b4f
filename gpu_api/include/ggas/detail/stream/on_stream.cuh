// SPDX-License-Identifier: Apache-2.0
// The on-stream calls and their kernels. All have internal linkage, because each translation unit has its own device
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

// Of a team, or guarded where the kernels of the translation unit are not: what a call of all nodes need not know.
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

// ---- shapes of launches. On the host engine a thread is a fiber: few of them.
#ifdef __CUDACC__
constexpr unsigned most_stream_blocks = 128, most_stream_threads = 512;
#else
constexpr unsigned most_stream_blocks = 2, most_stream_threads = 64;
#endif
// Puts by a kernel: 8 multiprocessors use the full bandwidth of the links. Beyond `largest_kernel_put` the copy engine
// is as fast, although a graph takes 9 us longer where a copy and a kernel follow each other (4 MB: 24.6 us by the
// engine, 15 by the kernel).
inline constexpr size_t largest_kernel_put = 16 * 1024 * 1024;
constexpr unsigned put_blocks(size_t bytes) { return bytes < 8192 ? 1 : bytes < 32768 ? 4 : 8; }
static constexpr unsigned put_threads(size_t bytes) { return bytes < 1024 ? 32 : most_stream_threads; }

// What a collective is launched with: what the caller wants, else what is usual.
[[maybe_unused]] static stream_shape filled(const stream_shape& wanted, const stream_shape& usual) {
  const auto some = [](unsigned mine, unsigned other, unsigned most) {
    const unsigned n = mine != 0 ? mine : other;
    return n < most ? n : most;
  };
  return {some(wanted.blocks, usual.blocks, most_stream_blocks),
          some(wanted.threads, usual.threads, most_stream_threads),
          wanted.method == ggas_auto ? usual.method : wanted.method, wanted.path};
}
// Usual for a collective of so many bytes: as measured. What needs peers' memory is nothing through a NIC.
[[maybe_unused]] static stream_shape tuned_shape(cluster& in, const stream& s, tuning::launches tuning::*kind,
                                                 size_t bytes) {
  if (!in.local(s.node)) return {};
  const context& c = in.device_context(s.node);
  const tuning::launch& l = (c.tuned.*kind).of(bytes);
  const bool possible = l.method != 0 && (c.quiet == nullptr || (l.method != ggas_direct && l.method != ggas_push));
  return {l.blocks, l.threads, possible ? static_cast<ggas_method>(l.method) : ggas_auto, typed_path::automatic};
}

// Nothing: a call of all nodes that goes the shortest way.
[[maybe_unused]] static std::optional<stream_members> members_of(cluster& in, const stream& s,
                                                                 const stream_team& team) {
  const bool guarded = !calls_are_guarded && in.local(s.node) && in.device_context(s.node).checked;
  if (!team && !guarded) return std::nullopt;
  return stream_members{team.value_or(ggas_team{0, 1, in.nodes(), 0}), guarded};
}
// The members for a call that always names its team.
[[maybe_unused]] static stream_members all_or(cluster& in, const stream& s, const stream_team& team) {
  return members_of(in, s, team).value_or(stream_members{{0, 1, in.nodes(), 0}, false});
}
// The caller's rank; -1: no member.
[[maybe_unused]] static int rank_on_stream(const stream& s, const stream_team& team) {
  if (!team) return s.node;
  const int distance = s.node - team->first;
  const bool member =
      team->stride > 0 && distance >= 0 && distance % team->stride == 0 && distance / team->stride < team->size;
  return member ? distance / team->stride : -1;
}
[[maybe_unused]] static size_t size_on_stream(const cluster& in, const stream_team& team) {
  return static_cast<size_t>(team ? team->size : in.nodes());
}

// `read` and `written` elements; `in_place`: as the rules let them overlap.
template <class T>
static result<> apart_on_stream(const char* call, const stream& s, const T* dst, size_t written, const T* src,
                                size_t read, bool in_place) {
  const auto to = reinterpret_cast<uintptr_t>(dst), from = reinterpret_cast<uintptr_t>(src);
  const bool apart = to >= from ? (to - from) / sizeof(T) >= read : (from - to) / sizeof(T) >= written;
  if (apart || in_place || read == 0 || written == 0) return {};
  return error{errc::bad_argument, std::string(call) + " on node " + std::to_string(s.node) +
                                       ": src and dst overlap; see the rules of the call"};
}

// All blocks at once: they may wait for each other.
template <class... P>
static result<> launch_collective(cluster& c, const stream& s, const stream_shape& how, void (*kernel)(P...),
                                  std::type_identity_t<P>... args) {
#ifdef __CUDACC__
  return launch_dependent(c, s, how.blocks, how.threads, kernel, args...);
#else
  return launch_grid(c, s, how.blocks, how.threads, kernel, args...);
#endif
}

// Where n elements of a node lie for copy engines and kernels; null if they do not lie in its segment.
template <class T>
static T* host_address(cluster& in, const stream& s, global_ptr<T> p, size_t n) {
  if (!in.local(s.node)) return nullptr;
  const context& c = in.device_context(s.node);
  const bool good = p.node() >= 0 && p.node() < c.nodes && p.offset() <= c.segment_bytes &&
                    n <= (c.segment_bytes - p.offset()) / sizeof(T);
  return good ? reinterpret_cast<T*>(c.window + static_cast<uint64_t>(p.node()) * c.stride + p.offset()) : nullptr;
}

// Whether n elements lie in the own segment; none lie everywhere.
template <class T>
static bool lie_here(cluster& in, const stream& s, const T* p, size_t n) {
  if (!in.local(s.node)) return false;
  const context& c = in.device_context(s.node);
  const uint64_t offset = reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(c.local);
  return n == 0 || (offset <= c.segment_bytes && n <= (c.segment_bytes - offset) / sizeof(T));
}

[[maybe_unused]] static error out_of_segments(const char* call, const stream& s) {
  return {errc::bad_argument, std::string(call) + " on node " + std::to_string(s.node) +
                                  ": elements that lie in no segment, or not in the node's own"};
}

#ifdef __CUDACC__
[[maybe_unused]] static result<> copy_by_engine(cluster& c, const stream& s, void* to, const void* from, size_t bytes) {
  if (auto ok = prepare(c, s); !ok) return ok;
  return queued(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, c.cuda_stream(s)), "copy", s);
}
#endif

}  // namespace ggas::detail

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
