// SPDX-License-Identifier: Apache-2.0
// How calls on a stream are launched: shapes, members, places that were checked. Included by on_stream.cuh.
#pragma once

#include "ggas/detail/stream/on_stream_kernels.cuh"

namespace ggas::detail {

// ---- shapes of launches. On the host engine a thread is a fiber: few of them.
#ifdef __CUDACC__
constexpr unsigned most_stream_blocks = 128, most_stream_threads = 512;
#else
constexpr unsigned most_stream_blocks = 2, most_stream_threads = 64;
#endif
// Puts by a kernel: 8 multiprocessors use the full bandwidth of the links. In a graph a copy next to a kernel costs 9
// us more than two kernels (4 MB: 24.6 us by the copy engine, 15 by a kernel). Beyond `largest_kernel_put` this no
// longer matters, and the copy engine is used.
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
