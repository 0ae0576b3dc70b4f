// SPDX-License-Identifier: Apache-2.0
// UPC in kernels: THREADS, accesses, upc_forall, copies, the split barrier (docs/upc.md). A UPC thread is a node. All
// CUDA threads of its kernel together are that thread: they make group calls together and share the iterations of an
// upc_forall. Unlike in UPC, waits have a time-out in ns and return a status.
#pragma once

#include "ggas/ggas.cuh"
#include "ggas/upc.hpp"

#define THREADS (static_cast<uint64_t>(ggas_nodes()))
#define MYTHREAD (static_cast<uint64_t>(ggas_node()))

namespace ggas::upc {

// The address of *p on the calling node, through the window if it belongs to another thread; null if it is in no
// segment.
template <class T, uint64_t B>
GGAS_DEVICE T* address_of(const shared_ptr<T, B>& p) {
  return ggas_pointer_of_node<T>(static_cast<int>(p.thread()), p.offset());
}
// (T*)p, if *p has affinity to the caller; otherwise null.
template <class T, uint64_t B>
GGAS_DEVICE T* local(const shared_ptr<T, B>& p) {
  return p.thread() == MYTHREAD ? address_of(p) : nullptr;
}

template <class T, uint64_t B>
GGAS_DEVICE shared_ptr<T, B> operator+(const shared_ptr<T, B>& p, int64_t n) {
  return p.advance(n, THREADS);
}
template <class T, uint64_t B>
GGAS_DEVICE shared_ptr<T, B> operator-(const shared_ptr<T, B>& p, int64_t n) {
  return p.advance(-n, THREADS);
}
template <class T, uint64_t B>
GGAS_DEVICE int64_t operator-(const shared_ptr<T, B>& p, const shared_ptr<T, B>& q) {
  return p.distance(q, THREADS);
}
template <class T, uint64_t B>
GGAS_DEVICE shared_ptr<T, B>& operator++(shared_ptr<T, B>& p) {
  return p = p + 1;
}
template <class T, uint64_t B>
GGAS_DEVICE shared_ptr<T, B>& operator+=(shared_ptr<T, B>& p, int64_t n) {
  return p = p + n;
}

// *p: a relaxed access. `strict` accesses: docs/upc.md.
template <class T, uint64_t B>
class shared_ref {
 public:
  GGAS_LAYOUT_FN explicit shared_ref(const shared_ptr<T, B>& p) : p_(p) {}
  GGAS_DEVICE operator T() const { return ggas_load(static_cast<const T*>(address_of(p_))); }
  GGAS_DEVICE T operator=(const T& v) const {
    ggas_store(address_of(p_), v);
    return v;
  }
  GGAS_DEVICE T operator=(const shared_ref& other) const { return *this = static_cast<T>(other); }
  GGAS_DEVICE T operator+=(const T& v) const { return *this = static_cast<T>(*this) + v; }
  shared_ref(const shared_ref&) = default;

 private:
  shared_ptr<T, B> p_;
};
template <class T, uint64_t B>
GGAS_DEVICE shared_ref<T, B> operator*(const shared_ptr<T, B>& p) {
  return shared_ref<T, B>(p);
}
template <class T, uint64_t B>
GGAS_LAYOUT_FN shared_ref<T, B> shared_array<T, B>::operator[](uint64_t i) const {
  return shared_ref<T, B>(*this + i);
}

namespace detail {

// A CUDA thread's share of the node's iterations: from its rank on, with a stride.
GGAS_DEVICE uint64_t turn() {
  return uint64_t{ggas::detail::block_rank()} * ggas::detail::thread_count() + ggas::detail::thread_rank();
}
GGAS_DEVICE uint64_t turns() { return uint64_t{ggas::detail::block_count()} * ggas::detail::thread_count(); }

template <class T, uint64_t B>
GGAS_DEVICE bool is_mine(const shared_ptr<T, B>& p) {
  return p.thread() == MYTHREAD;
}
GGAS_DEVICE bool is_mine(uint64_t i) { return i % THREADS == MYTHREAD; }

}  // namespace detail

// upc_forall (i = begin; i < end; ++i; affinity) body(i). The affinity is that of the number i, of an element of an
// array, or of the result of affinity(i), which is a number or a pointer to shared. The first two visit the caller's
// own iterations only.
template <class F>
GGAS_DEVICE void forall(uint64_t begin, uint64_t end, F body) {
  const uint64_t threads = THREADS, first = begin + (MYTHREAD + threads - begin % threads) % threads;
  for (uint64_t i = first + detail::turn() * threads; i < end; i += detail::turns() * threads) body(i);
}
template <class T, uint64_t B, class F>
GGAS_DEVICE void forall(uint64_t begin, uint64_t end, const shared_array<T, B>& a, F body) {
  if constexpr (B == 0) {
    for (uint64_t i = begin + detail::turn(); MYTHREAD == 0 && i < end; i += detail::turns()) body(i);
  } else {
    const uint64_t round = B * a.threads;  // of which this thread has one block
    for (uint64_t n = begin / round * B + detail::turn();; n += detail::turns()) {
      const uint64_t i = n / B * round + MYTHREAD * B + n % B;
      if (n / B * round >= end) break;
      if (i >= begin && i < end) body(i);
    }
  }
}
template <class A, class F>
requires requires(A affinity) { detail::is_mine(affinity(uint64_t{})); }
GGAS_DEVICE void forall(uint64_t begin, uint64_t end, A affinity, F body) {
  uint64_t mine = 0;
  for (uint64_t i = begin; i < end; ++i)
    if (detail::is_mine(affinity(i)) && mine++ % detail::turns() == detail::turn()) body(i);
}

namespace detail {

GGAS_DEVICE char* bytes_at(const shared_const_void& p) {
  return ggas_pointer_of_node<char>(static_cast<int>(p.thread()), p.offset());
}

// Both belong to other threads: loaded words are stored at once.
template <class G>
GGAS_DEVICE ggas_status copy_through(const G& g, char* to, const char* from, uint64_t n) {
  if (!to || !from || ggas::detail::locate(to, n).node < 0 || ggas::detail::locate(from, n).node < 0)
    return ggas_bad_argument;
  g.sync();
  const bool whole = (reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | n) % 8 == 0;
  if (whole) {
    for (uint64_t i = 8 * g.rank(); i < n; i += 8 * g.size())
      ggas_store(reinterpret_cast<uint64_t*>(to + i), ggas_load(reinterpret_cast<const uint64_t*>(from + i)));
  } else {
    for (uint64_t i = g.rank(); i < n; i += g.size()) ggas_store(to + i, ggas_load(from + i));
  }
  g.sync();
  return ggas_ok;
}

template <class G>
GGAS_DEVICE ggas_status set_bytes(const G& g, char* to, int value, uint64_t n) {
  if (!to || ggas::detail::locate(to, n).node < 0) return ggas_bad_argument;
  g.sync();
  for (uint64_t i = g.rank(); i < n; i += g.size()) ggas_store(to + i, static_cast<char>(value));
  g.sync();
  return ggas_ok;
}

}  // namespace detail
}  // namespace ggas::upc

// Copies of n bytes between shared memory and private memory. With a NIC private memory lies in the own segment. With 0
// bytes nothing is done.

/// Copies `n` bytes of private memory, `src`, to shared memory.
/// Order: complete on return, as ggas_put().
/// Cost: as ggas_put().
/// Errors: ggas_bad_argument: memory that does not lie in one segment; ggas_timed_out, ggas_peer_error,
/// ggas_no_queue.
template <ggas::detail::a_group G>
GGAS_DEVICE ggas_status upc_memput(const G& group, const ggas::upc::shared_void& dst, const void* src, uint64_t n,
                                   uint64_t timeout_ns) {
  if (n == 0) return ggas_ok;
  return ggas_put(group, ggas::upc::detail::bytes_at(dst), static_cast<const char*>(src), n, timeout_ns);
}
/// upc_memput() by one CUDA thread.
GGAS_DEVICE ggas_status upc_memput(const ggas::upc::shared_void& dst, const void* src, uint64_t n,
                                   uint64_t timeout_ns) {
  return upc_memput(ggas::thread{}, dst, src, n, timeout_ns);
}

/// Copies `n` bytes of shared memory to private memory, `dst`.
/// Order: complete on return, as ggas_get().
/// Cost: as ggas_get().
/// Errors: ggas_bad_argument: memory that does not lie in one segment; ggas_timed_out, ggas_peer_error,
/// ggas_no_queue.
template <ggas::detail::a_group G>
GGAS_DEVICE ggas_status upc_memget(const G& group, void* dst, const ggas::upc::shared_const_void& src, uint64_t n,
                                   uint64_t timeout_ns) {
  if (n == 0) return ggas_ok;
  return ggas_get(group, static_cast<char*>(dst), static_cast<const char*>(ggas::upc::detail::bytes_at(src)), n,
                  timeout_ns);
}
/// upc_memget() by one CUDA thread.
GGAS_DEVICE ggas_status upc_memget(void* dst, const ggas::upc::shared_const_void& src, uint64_t n,
                                   uint64_t timeout_ns) {
  return upc_memget(ggas::thread{}, dst, src, n, timeout_ns);
}

/// Copies `n` bytes between two places in shared memory.
/// Order: complete on return where one of them is the caller's; else stores, which are visible after a barrier or
/// ggas_quiet().
/// Cost: as ggas_put() or ggas_get(); between two other threads a load and a store for each word.
/// Errors: ggas_bad_argument: memory that does not lie in one segment; ggas_timed_out, ggas_peer_error,
/// ggas_no_queue.
template <ggas::detail::a_group G>
GGAS_DEVICE ggas_status upc_memcpy(const G& group, const ggas::upc::shared_void& dst,
                                   const ggas::upc::shared_const_void& src, uint64_t n, uint64_t timeout_ns) {
  if (src.thread() == MYTHREAD) return upc_memput(group, dst, ggas::upc::detail::bytes_at(src), n, timeout_ns);
  if (dst.thread() == MYTHREAD) return upc_memget(group, ggas::upc::detail::bytes_at(dst), src, n, timeout_ns);
  if (n == 0) return ggas_ok;
  return ggas::upc::detail::copy_through(group, ggas::upc::detail::bytes_at(dst), ggas::upc::detail::bytes_at(src), n);
}
/// upc_memcpy() by one CUDA thread.
GGAS_DEVICE ggas_status upc_memcpy(const ggas::upc::shared_void& dst, const ggas::upc::shared_const_void& src,
                                   uint64_t n, uint64_t timeout_ns) {
  return upc_memcpy(ggas::thread{}, dst, src, n, timeout_ns);
}

/// Sets `n` bytes of shared memory to `value`.
/// Order: these are stores; in another thread's memory they are visible after a barrier or ggas_quiet().
/// Cost: a store for each byte.
/// Errors: ggas_bad_argument: memory that does not lie in one segment.
template <ggas::detail::a_group G>
GGAS_DEVICE ggas_status upc_memset(const G& group, const ggas::upc::shared_void& dst, int value, uint64_t n) {
  if (n == 0) return ggas_ok;
  return ggas::upc::detail::set_bytes(group, ggas::upc::detail::bytes_at(dst), value, n);
}
/// upc_memset() by one CUDA thread.
GGAS_DEVICE ggas_status upc_memset(const ggas::upc::shared_void& dst, int value, uint64_t n) {
  return upc_memset(ggas::thread{}, dst, value, n);
}

/// upc_barrier, by the block that is the node's kernel.
/// Order: earlier stores and puts of any thread are visible to all after it.
/// Cost: as ggas_barrier().
/// Errors: as ggas_barrier().
GGAS_DEVICE ggas_status upc_barrier(uint64_t timeout_ns) { return ggas_barrier_block(timeout_ns); }
/// upc_barrier() by all blocks of the grid that is the node's kernel.
GGAS_DEVICE ggas_status upc_barrier_grid(uint64_t timeout_ns) { return ggas_barrier_grid(timeout_ns); }
/// The first half of upc_barrier(); its result is for upc_wait().
GGAS_DEVICE ggas_arrival upc_notify() { return ggas_barrier_arrive_block(); }
/// The second half of upc_barrier().
/// Order: as upc_barrier().
/// Cost: as ggas_barrier().
/// Errors: as ggas_barrier().
GGAS_DEVICE ggas_status upc_wait(ggas_arrival& notified, uint64_t timeout_ns) {
  return ggas_barrier_wait_block(notified, timeout_ns);
}
/// upc_fence: waits until the caller's accesses before it are complete.
/// Order: completion, as ggas_quiet().
/// Cost: as ggas_quiet().
/// Errors: as ggas_quiet().
GGAS_DEVICE ggas_status upc_fence() { return ggas_quiet(); }
