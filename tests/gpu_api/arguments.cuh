// SPDX-License-Identifier: Apache-2.0
// Every call with invalid arguments, in sizes around each threshold of the library: all of them must return
// ggas_bad_argument and not change memory. One block on every node. One source for the host engine and GPUs.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::arguments {

struct args {
  uint64_t src, dst;  // offsets of vectors that would do, in every segment
  uint64_t outcomes;  // of a bench::outcome for each thread: errors: calls that did not refuse; begin_ns: number of the
                      // first one (from 1), end_ns: its size
  uint64_t timeout_ns;
};

// Sizes: words, lines, lines of a block, of a bundle, of a channel; where methods change; elements.
#define GGAS_TEST_SIZES \
  { 1, 2, 3, 4, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097 }

enum class fault { null, odd, over_the_end, before_the_start, far_too_long };
constexpr int faults = 5;

// Whether a fault leaves something wrong: bytes are never odd.
template <class T>
GGAS_DEVICE bool counts(fault f) {
  return f != fault::odd || alignof(T) > 1;
}
template <class T>
GGAS_DEVICE size_t length(fault f, size_t n) {
  return f == fault::far_too_long ? ~size_t{0} / sizeof(T) : n;
}
// n elements of a node that are not where they may be.
template <class T>
GGAS_DEVICE T* spoilt(fault f, int node, uint64_t good, size_t n) {
  char* const start = ggas_pointer_of_node<char>(node);
  switch (f) {
    case fault::null:
      return nullptr;
    case fault::odd:
      return reinterpret_cast<T*>(start + good + 1);
    case fault::over_the_end:
      return reinterpret_cast<T*>(start + ggas_segment_bytes() - (n - 1) * sizeof(T));
    case fault::before_the_start:
      return reinterpret_cast<T*>(start - sizeof(T));
    case fault::far_too_long:
      return reinterpret_cast<T*>(start + good);
  }
  return nullptr;
}

class witness {
 public:
  GGAS_DEVICE void refuses(ggas_status s, size_t n) {
    ++calls_;
    if (s == ggas_bad_argument) return;
    if (out_.errors++ == 0) out_.begin_ns = calls_, out_.end_ns = n;
  }
  GGAS_DEVICE void write(uint64_t outcomes) const {
    bench::own<bench::outcome>(outcomes)[detail::thread_rank()] = out_;
  }

 private:
  uint64_t calls_ = 0;
  bench::outcome out_{0, 0, 0, ggas_ok};
};

// Collectives of a block: vectors outside the own segment, a peer's among them.
template <class T>
GGAS_DEVICE void spoil_reductions(witness& w, T* dst, const T* src, size_t n, uint64_t t) {
  for (unsigned m = ggas_by_gather; m <= ggas_auto; ++m)
    w.refuses(ggas_allreduce_block(dst, src, n, ggas_sum, static_cast<ggas_method>(m), t), n);
  for (ggas_method m : {ggas_by_gather, ggas_one_shot, ggas_direct, ggas_read, ggas_tree, ggas_auto})
    w.refuses(ggas_reduce_block(dst, src, n, ggas_sum, ggas_node(), m, t), n);
}
template <class T>
GGAS_DEVICE void spoil_exchanges(witness& w, T* dst, const T* src, size_t n, uint64_t t) {
  w.refuses(ggas_broadcast_block(dst, src, n, ggas_node(), t), n);
  w.refuses(ggas_allgather_block(dst, src, n, t), n);
  w.refuses(ggas_alltoall_block(dst, src, n, t), n);
}
template <class T>
GGAS_DEVICE void spoil_collectives(witness& w, T* dst, const T* src, size_t n, uint64_t t) {
  spoil_reductions(w, dst, src, n, t);
  if constexpr (sizeof(T) >= 4) spoil_exchanges(w, dst, src, n, t);
}

template <class T>
GGAS_DEVICE void spoil_vectors(witness& w, const args& a, size_t n) {
  const int me = ggas_node();
  T* const src = bench::own<T>(a.src);
  T* const dst = bench::own<T>(a.dst);
  for (int i = 0; i < faults; ++i) {
    const auto f = static_cast<fault>(i);
    if (!counts<T>(f)) continue;
    const size_t many = length<T>(f, n);
    spoil_collectives(w, spoilt<T>(f, me, a.dst, n), static_cast<const T*>(src), many, a.timeout_ns);
    spoil_collectives(w, dst, static_cast<const T*>(spoilt<T>(f, me, a.src, n)), many, a.timeout_ns);
  }
  if (ggas_nodes() == 1) return;
  const int peer = (me + 1) % ggas_nodes();
  spoil_collectives(w, ggas_pointer_of_node<T>(peer, a.dst), static_cast<const T*>(src), n, a.timeout_ns);
  spoil_collectives(w, dst, static_cast<const T*>(ggas_pointer_of_node<T>(peer, a.src)), n, a.timeout_ns);
}

// Transfers: the remote side lies in no segment, or one of both is null or odd.
template <class T>
GGAS_DEVICE void spoil_transfers(witness& w, T* remote, T* local, uint64_t* signal, size_t n, uint64_t t) {
  const unsigned me = detail::thread_rank();
  if (me == 0) {
    w.refuses(ggas_put(remote, local, n, t), n);
    w.refuses(ggas_put_nbi(remote, local, n, t), n);
    w.refuses(ggas_get(local, remote, n, t), n);
    w.refuses(ggas_get_nbi(local, remote, n, t), n);
    w.refuses(ggas_put_signal(remote, local, n, signal, 1, ggas_signal_add, t), n);
    w.refuses(ggas_put_signal_nbi(remote, local, n, signal, 1, ggas_signal_set, t), n);
    w.refuses(ggas_put_notify(remote, local, n, 1, 0, t), n);
  }
  if (me < 32) {
    w.refuses(ggas_put_warp(remote, local, n, t), n);
    w.refuses(ggas_put_nbi_warp(remote, local, n, t), n);
    w.refuses(ggas_get_warp(local, remote, n, t), n);
    w.refuses(ggas_get_nbi_warp(local, remote, n, t), n);
    w.refuses(ggas_put_signal_nbi_warp(remote, local, n, signal, 1, ggas_signal_add, t), n);
    w.refuses(ggas_put_notify_warp(remote, local, n, 1, 0, t), n);
  }
  w.refuses(ggas_put_block(remote, local, n, t), n);
  w.refuses(ggas_put_nbi_block(remote, local, n, t), n);
  w.refuses(ggas_get_block(local, remote, n, t), n);
  w.refuses(ggas_get_nbi_block(local, remote, n, t), n);
  w.refuses(ggas_put_nbi_grid(remote, local, n, t), n);
  w.refuses(ggas_get_nbi_grid(local, remote, n, t), n);
  w.refuses(ggas_put_signal_nbi_block(remote, local, n, signal, 1, ggas_signal_set, t), n);
}
// Tagged puts, elements at a stride and words that are moved one by one.
template <class T>
GGAS_DEVICE void spoil_lines(witness& w, ggas_tagged* lines, T* local, size_t n, uint64_t t) {
  const unsigned me = detail::thread_rank();
  if (me == 0) w.refuses(ggas_put_tagged(lines, local, n, 5), n);
  if (me < 32) w.refuses(ggas_put_tagged_warp(lines, local, n, 5), n);
  w.refuses(ggas_put_tagged_block(lines, local, n, 5), n);
}
template <class T>
GGAS_DEVICE void spoil_strides(witness& w, T* remote, T* local, size_t n, uint64_t t) {
  if (detail::thread_rank() == 0) {
    w.refuses(ggas_iput_nbi(remote, local, 1, 1, n, t), n);
    w.refuses(ggas_iget_nbi(local, remote, 1, 1, n, t), n);
  }
  if (detail::thread_rank() < 32) {
    w.refuses(ggas_iput_nbi_warp(remote, local, 1, 1, n, t), n);
    w.refuses(ggas_iget_nbi_warp(local, remote, 1, 1, n, t), n);
  }
}
template <class T>
GGAS_DEVICE void spoil_words(witness& w, T* remote, uint64_t t) {
  T old{};
  w.refuses(ggas_put_value(remote, T{1}, t), 1);
  w.refuses(ggas_put_value_nbi(remote, T{1}, t), 1);
  w.refuses(ggas_put_value_notify(remote, T{1}, 1, 0, t), 1);
  if constexpr (sizeof(T) >= 4 && static_cast<T>(1) / 2 == 0) {
    w.refuses(ggas_fetch_add(remote, T{1}, &old, t), 1);
    w.refuses(ggas_fetch_swap(remote, T{1}, &old, t), 1);
    w.refuses(ggas_compare_swap(remote, T{0}, T{1}, &old, t), 1);
    w.refuses(ggas_atomic_fetch(ggas_atomic_or, remote, T{1}, T{}, &old, t), 1);
    w.refuses(ggas_atomic_post(ggas_atomic_xor, remote, T{1}, T{}, t), 1);
    w.refuses(ggas_add(remote, T{1}, t), 1);
  }
}

// Where no segment lies before or after: at the first node and the last.
template <class T>
GGAS_DEVICE T* spoilt_far(fault f, uint64_t good, size_t n) {
  const int node = f == fault::over_the_end ? ggas_nodes() - 1 : 0;
  if (f == fault::null) return nullptr;
  const char* const near = reinterpret_cast<const char*>(spoilt<T>(f, node, good, n));
  return reinterpret_cast<T*>(ggas_global_pointer<char>(node) + (near - ggas_pointer_of_node<char>(node)));
}

template <class T>
GGAS_DEVICE void spoil_pointers(witness& w, const args& a, size_t n) {
  T* const remote = ggas_global_pointer<T>(0, a.dst);
  T* const local = bench::own<T>(a.src);
  uint64_t* const signal = ggas_pointer_of_node<uint64_t>(0, a.dst);
  for (int i = 0; i < faults; ++i) {
    const auto f = static_cast<fault>(i);
    if (!counts<T>(f)) continue;
    T* const there = spoilt_far<T>(f, a.dst, n);
    spoil_transfers(w, there, local, signal, length<T>(f, n), a.timeout_ns);
    if (f != fault::far_too_long) spoil_strides(w, there, local, n, a.timeout_ns);
    if (f != fault::far_too_long && n == 1 && detail::thread_rank() == 0) spoil_words(w, there, a.timeout_ns);
    if (f != fault::null && f != fault::odd) continue;
    T* const here = spoilt<T>(f, ggas_node(), a.src, n);
    spoil_transfers(w, remote, here, signal, n, a.timeout_ns);
    spoil_strides(w, remote, here, n, a.timeout_ns);
    spoil_lines(w, ggas_global_pointer<ggas_tagged>(0, a.dst), here, n, a.timeout_ns);
  }
}

template <class T>
static __global__ void GGAS_LAUNCH_BOUNDS(256) refuse_vectors(args a) {
  witness w;
  for (size_t n : GGAS_TEST_SIZES) spoil_vectors<T>(w, a, n);
  w.write(a.outcomes);
}
template <class T>
static __global__ void GGAS_LAUNCH_BOUNDS(256) refuse_pointers(args a) {
  witness w;
  for (size_t n : GGAS_TEST_SIZES) spoil_pointers<T>(w, a, n);
  w.write(a.outcomes);
}

}  // namespace ggas::arguments
