// SPDX-License-Identifier: Apache-2.0
// UPC's reductions, by one block of every node (docs/upc.md): of shared [block] T[n], whose first element `src` points
// to with phase 0; block 0: all lie on its thread. Elements are combined in the order of their index, the same bits
// every time. `func`, which any CUDA
// thread can call, is for UPC_FUNC and UPC_NONCOMM_FUNC; else nullptr.
#pragma once

#include "ggas/upc_collective.cuh"

namespace ggas::upc::detail {

// What a reduction is of.
template <class T, class F>
struct reduced {
  shared_void dst;
  shared_const_void src;
  upc_op_t op;
  uint64_t n, block;
  F func;

  GGAS_DEVICE uint64_t side() const { return block == 0 ? n : block; }
  GGAS_DEVICE uint64_t blocks() const { return (n + side() - 1) / side(); }
  GGAS_DEVICE uint64_t end_of(uint64_t k) const { return (k + 1) * side() < n ? (k + 1) * side() : n; }
  GGAS_DEVICE T* place(const shared_const_void& first, uint64_t i) const {
    const shared_void p = element_place(first, block, i, sizeof(T), THREADS);
    return ggas_pointer_of_node<T>(static_cast<int>(p.thread()), p.offset());
  }
  GGAS_DEVICE T source(uint64_t i) const { return ggas_load(static_cast<const T*>(place(src, i))); }
  GGAS_DEVICE T with(T a, T b) const { return apply(op, a, b, func); }
  // Combines elements first ... last - 1, at least one.
  GGAS_DEVICE T fold(uint64_t first, uint64_t last) const {
    T sum = source(first);
    for (uint64_t i = first + 1; i < last; ++i) sum = with(sum, source(i));
    return sum;
  }
  // f(k) for the caller's blocks, by turns of the CUDA threads.
  template <class Each>
  GGAS_DEVICE void each_own(Each f) const {
    const uint64_t threads = block == 0 ? 1 : THREADS;
    const uint64_t first = (MYTHREAD + THREADS - src.thread()) % THREADS;
    if (block == 0 && first != 0) return;
    for (uint64_t k = first + turn() * threads; k < blocks(); k += turns() * threads) f(k);
  }
  GGAS_DEVICE bool good(bool same_thread, ggas_sync_mode mode) const {
    const auto lies = [&](const shared_const_void& p) { return p.thread() < THREADS && p.offset() % alignof(T) == 0; };
    constexpr unsigned not_in_all = ggas_in_mine | ggas_in_none, not_out_all = ggas_out_mine | ggas_out_none;
    if (n == 0 || !takes<T>(op) || mode > (not_in_all | not_out_all) || !lies(dst) || !lies(src)) return false;
    if ((op == UPC_FUNC || op == UPC_NONCOMM_FUNC) && ggas::detail::is_same<F, decltype(nullptr)>) return false;
    const uint64_t most = ggas_segment_bytes() / sizeof(T);  // of a thread
    if (side() > most || n > most * THREADS) return false;
    const uint64_t rounds = block == 0 ? 1 : (blocks() + src.thread() + THREADS - 1) / THREADS;
    if (rounds > most / side()) return false;
    const auto fits = [&](const shared_const_void& p) {
      return ggas::detail::fits_segment(p.offset(), rounds * side() * sizeof(T));
    };
    if (src.phase() != 0 || (same_thread && dst.phase() != 0)) return false;
    return fits(src) && (same_thread ? dst.thread() == src.thread() && fits(dst)
                                     : ggas::detail::fits_segment(dst.offset(), sizeof(T)));
  }
};

GGAS_DEVICE ggas_status enter_sync(ggas_sync_mode mode, uint64_t timeout_ns) {
  return (mode & (ggas_in_mine | ggas_in_none)) == ggas_in_none ? ggas_ok : ggas_barrier_block(timeout_ns);
}
GGAS_DEVICE ggas_status leave_sync(ggas_sync_mode mode, uint64_t timeout_ns) {
  return (mode & (ggas_out_mine | ggas_out_none)) == ggas_out_none ? ggas_ok : ggas_barrier_block(timeout_ns);
}

// The thread that has dst: each CUDA thread folds a row of elements, and the first one these sums.
template <class T, class F>
GGAS_DEVICE ggas_status reduce(const reduced<T, F>& r, uint64_t timeout_ns, ggas_sync_mode mode) {
  constexpr unsigned most = 256;
  GGAS_SHARED_ARRAY(T, sums, most);
  if (!r.good(false, mode)) return ggas_bad_argument;
  if (const ggas_status s = enter_sync(mode, timeout_ns); s != ggas_ok) return s;
  if (r.dst.thread() == MYTHREAD) {
    const uint64_t all = ggas::detail::thread_count() < most ? ggas::detail::thread_count() : most;
    const uint64_t each = (r.n + all - 1) / all, first = ggas::detail::thread_rank() * each;
    __syncthreads();
    if (ggas::detail::thread_rank() < all && first < r.n)
      sums[ggas::detail::thread_rank()] = r.fold(first, first + each < r.n ? first + each : r.n);
    __syncthreads();
    if (ggas::detail::thread_rank() == 0) {
      T sum = sums[0];
      for (uint64_t i = 1; i * each < r.n; ++i) sum = r.with(sum, sums[i]);
      ggas_store(ggas_pointer_of_node<T>(static_cast<int>(MYTHREAD), r.dst.offset()), sum);
    }
    __syncthreads();
  }
  return leave_sync(mode, timeout_ns);
}

// Each block of elements is combined into its last element of dst. Then one CUDA thread adds the sum of the preceding
// blocks to each of these elements, and at last the blocks are completed.
template <class T, class F>
GGAS_DEVICE ggas_status prefix_reduce(const reduced<T, F>& r, uint64_t timeout_ns, ggas_sync_mode mode) {
  if (!r.good(true, mode)) return ggas_bad_argument;
  ggas_status s = enter_sync(mode, timeout_ns);
  if (s != ggas_ok) return s;
  const auto last = [&](uint64_t k) { return r.place(r.dst, r.end_of(k) - 1); };
  r.each_own([&](uint64_t k) { ggas_store(last(k), r.fold(k * r.side(), r.end_of(k))); });
  if (s = ggas_barrier_block(timeout_ns); s != ggas_ok) return s;
  if (r.src.thread() == MYTHREAD && turn() == 0) {
    T sum = ggas_load(static_cast<const T*>(last(0)));
    for (uint64_t k = 1; k < r.blocks(); ++k) {
      sum = r.with(sum, ggas_load(static_cast<const T*>(last(k))));
      ggas_store(last(k), sum);
    }
  }
  if (s = ggas_barrier_block(timeout_ns); s != ggas_ok) return s;
  r.each_own([&](uint64_t k) {
    const uint64_t first = k * r.side(), end = r.end_of(k) - 1;
    if (first == end) return;
    T sum = r.source(first);
    if (k != 0) sum = r.with(ggas_load(static_cast<const T*>(last(k - 1))), sum);
    ggas_store(r.place(r.dst, first), sum);
    for (uint64_t i = first + 1; i < end; ++i) {
      sum = r.with(sum, r.source(i));
      ggas_store(r.place(r.dst, i), sum);
    }
  });
  return leave_sync(mode, timeout_ns);
}

}  // namespace ggas::upc::detail

/// Combines `n` elements of `src` to one at `dst`: upc_all_reduceT by its type.
/// Order: by the mode; `mine` has the effect of `all`.
/// Cost: a barrier for each half of the mode that is not none; the thread that has `dst` loads all elements.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <class T, ggas::upc::detail::combines<T> F>
GGAS_DEVICE ggas_status upc_all_reduce(const ggas::upc::shared_void& dst, const ggas::upc::shared_const_void& src,
                                       upc_op_t op, uint64_t n, uint64_t block, F func, uint64_t timeout_ns,
                                       ggas_sync_mode mode = ggas_in_all) {
  return ggas::upc::detail::reduce(ggas::upc::detail::reduced<T, F>{dst, src, op, n, block, func}, timeout_ns, mode);
}
/// Combines elements 0 ... i of `src` to element i of `dst`, of the same layout: upc_all_prefix_reduceT by its type.
/// Order: by the mode; `mine` has the effect of `all`.
/// Cost: two barriers, and one for each half of the mode that is not none; one CUDA thread visits each block.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <class T, ggas::upc::detail::combines<T> F>
GGAS_DEVICE ggas_status upc_all_prefix_reduce(const ggas::upc::shared_void& dst,
                                              const ggas::upc::shared_const_void& src, upc_op_t op, uint64_t n,
                                              uint64_t block, F func, uint64_t timeout_ns,
                                              ggas_sync_mode mode = ggas_in_all) {
  return ggas::upc::detail::prefix_reduce(ggas::upc::detail::reduced<T, F>{dst, src, op, n, block, func}, timeout_ns,
                                          mode);
}

// UPC's names, for its types; GPUs have no long double.
#define GGAS_UPC_REDUCTIONS(suffix, type)                                                                  \
  template <ggas::upc::detail::combines<type> F>                                                           \
  GGAS_DEVICE ggas_status upc_all_reduce##suffix(                                                          \
      const ggas::upc::shared_void& dst, const ggas::upc::shared_const_void& src, upc_op_t op, uint64_t n, \
      uint64_t block, F func, uint64_t timeout_ns, ggas_sync_mode mode = ggas_in_all) {                    \
    return upc_all_reduce<type>(dst, src, op, n, block, func, timeout_ns, mode);                           \
  }                                                                                                        \
  template <ggas::upc::detail::combines<type> F>                                                           \
  GGAS_DEVICE ggas_status upc_all_prefix_reduce##suffix(                                                   \
      const ggas::upc::shared_void& dst, const ggas::upc::shared_const_void& src, upc_op_t op, uint64_t n, \
      uint64_t block, F func, uint64_t timeout_ns, ggas_sync_mode mode = ggas_in_all) {                    \
    return upc_all_prefix_reduce<type>(dst, src, op, n, block, func, timeout_ns, mode);                    \
  }
GGAS_UPC_REDUCTIONS(C, signed char)
GGAS_UPC_REDUCTIONS(UC, unsigned char)
GGAS_UPC_REDUCTIONS(S, short)
GGAS_UPC_REDUCTIONS(US, unsigned short)
GGAS_UPC_REDUCTIONS(I, int)
GGAS_UPC_REDUCTIONS(UI, unsigned)
GGAS_UPC_REDUCTIONS(L, long)
GGAS_UPC_REDUCTIONS(UL, unsigned long)
GGAS_UPC_REDUCTIONS(F, float)
GGAS_UPC_REDUCTIONS(D, double)
#undef GGAS_UPC_REDUCTIONS
