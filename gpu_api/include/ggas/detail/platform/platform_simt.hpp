// SPDX-License-Identifier: Apache-2.0
// Host SIMT engine after platform.cuh.
#pragma once

#include <atomic>
#include <bit>
#include <cmath>
#include <type_traits>

#include "gpu_api/simt/device.hpp"

#define GGAS_DEVICE inline
#define GGAS_DEVICE_FUNCTION [[gnu::noinline]] inline
#define GGAS_APART [[gnu::noinline]]  // of templates
#define GGAS_LONG GGAS_DEVICE
#define GGAS_UNROLL
#define GGAS_INLINED
#define GGAS_LAUNCH_BOUNDS(threads)
#define GGAS_HOST_DEVICE
#define GGAS_NO_UNROLL

namespace ggas {
using simt::dim3;

namespace detail {

inline const context& device_context() { return *static_cast<const context*>(simt::device_context()); }
inline layout own_layout() {
  const context& c = device_context();
  return layout::of(static_cast<uint64_t>(c.nodes), c.reserved);
}
inline uint64_t window_bytes() { return static_cast<uint64_t>(device_context().nodes) * device_context().stride; }
constexpr bool own_segment_in_window = false;  // through a NIC it is not
constexpr bool nic_possible = true;
constexpr bool trace_possible = true;
// Which segment lies `offset` bytes after the window's start, and how far into it that is.
inline uint32_t segment_at(uint64_t offset) { return static_cast<uint32_t>(offset / device_context().stride); }
inline uint64_t offset_in_segment(uint64_t offset) { return offset % device_context().stride; }
// Whether only the calling thread may access it: a variable of its own.
inline bool is_private(const void* p) { return simt::is_own_variable(p); }
inline bool is_in_shared(const void* p) { return simt::is_shared_memory(p); }
inline int leading_zeros(unsigned v) { return __builtin_clz(v); }
inline uint64_t clock_ns() { return simt::now_ns(); }
inline unsigned lane_rank() { return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32; }

inline unsigned bit_count(unsigned v) { return static_cast<unsigned>(__builtin_popcount(v)); }
// The lanes that are here with the same key: on the engine each goes alone.
inline unsigned lanes_alike(uint64_t) { return 1u << lane_rank(); }

// Barrier 1 ... 15 of the block, of `threads` threads; whether one of them says so.
inline bool sync_some(unsigned id, unsigned threads, bool vote) { return simt::sync_some(id, threads, vote) != 0; }

// A resource that one block uses at a time (simt::take_place). On the host engine every call takes its resources and
// checks its arguments, because that takes no simulated time.
constexpr bool calls_are_guarded = true;
inline bool take_place(const void* p, size_t bytes) {
  if (simt::take_place(p, bytes)) return true;
  simt::sync_block(false);  // all threads have the same answer before one asks again
  return false;
}
inline void give_place(const void* p) { simt::give_place(p); }

template <class T>
T load_relaxed(const T* p) {
  return simt::load(p);
}
template <class T>
T load_poll(const T* p) {
  return simt::load(p, true);
}
template <class T>
T load_spin(const T* p) {
  return simt::load(p, true);
}
template <class T>
T load_own(const T* p) {
  return simt::load(p);
}
inline void keep_here(uint64_t&) {}  // a matter of nvcc's order
// Reads a word that rarely changes, next to a loop that polls another one. It does not count as an operation of the
// kernel, because the simulator would then not recognise the loop (sim/gpu/convergence.cpp). It takes no simulated
// time.
inline uint64_t glance(const uint64_t* p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
template <class T>
T load_own_now(const T* p) {
  return simt::load(p);
}
template <class T>
void store_relaxed(T* p, const T& v) {
  simt::store(p, v);
}
template <class T>
void store_own(T* p, const T& v) {
  simt::store(p, v);
}

// Orders later accesses after the load that ended a wait. The engine completes one access of a lane after the other, so
// only the host processor needs a fence.
inline void acquire_after_poll() {
#ifndef GGAS_TSAN
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
}

template <class T>
void acquire_after_spin(const T*) {
  acquire_after_poll();
}
inline void acquire_after_spins() { acquire_after_poll(); }

template <class T>
T load_acquire(const T* p) {
  const T v = simt::load(p);
  acquire_after_poll();
  return v;
}
template <class T>
T* one_by_one(T* p) {
  return p;
}
inline void fence_acq_rel_system() { simt::fence(simt::scope::sys); }
inline void fence_acq_rel_gpu() { simt::fence(simt::scope::gpu); }
inline void fence_release_system() { fence_acq_rel_system(); }
inline void fence_release_gpu() { fence_acq_rel_gpu(); }
template <class T>
void store_release(T* p, const T& v) {
  fence_acq_rel_system();
  store_relaxed(p, v);
}

// The smaller or the larger of two numbers, minimumNumber and maximumNumber of IEEE 754-2019: a NaN counts as missing,
// and -0 is less than 0.
template <class T>
T extreme(bool least, T a, T b) {
  if constexpr (!std::is_integral_v<T> && requires { static_cast<double>(a); }) {
    if (a != a) return b;
    if (a == b) return std::signbit(static_cast<double>(a)) == least ? a : b;
  }
  return (least ? b < a : a < b) ? b : a;
}

// Read-modify-writes on 4- and 8-byte integers. `gpu` is the scope of own memory; `system` reaches peers.
#define GGAS_SIMT_RMW(name, function, where)                                 \
  template <class T>                                                         \
  T name(T* p, same_t<T> v) {                                                \
    return simt::atomic(p, simt::rmw::function, v, T{}, simt::scope::where); \
  }
GGAS_SIMT_RMW(add_gpu, add, gpu)
GGAS_SIMT_RMW(or_gpu, bit_or, gpu)
GGAS_SIMT_RMW(and_gpu, bit_and, gpu)
GGAS_SIMT_RMW(add_system, add, sys)
GGAS_SIMT_RMW(swap_system, exch, sys)
GGAS_SIMT_RMW(and_system, bit_and, sys)
GGAS_SIMT_RMW(or_system, bit_or, sys)
GGAS_SIMT_RMW(xor_system, bit_xor, sys)
#undef GGAS_SIMT_RMW
// The engine has no addition of floating point numbers, so this repeats a cas until it succeeds.
template <class T>
requires(is_floating<T>) T add_system(T* p, same_t<T> v) {
  using bits = either_t<sizeof(T) == 4, uint32_t, uint64_t>;
  auto* const word = reinterpret_cast<bits*>(p);
  for (bits old = simt::load(word);;) {
    const bits next = std::bit_cast<bits>(std::bit_cast<T>(old) + v);
    const bits found = simt::atomic(word, simt::rmw::cas, next, old, simt::scope::sys);
    if (found == old) return std::bit_cast<T>(old);
    old = found;
  }
}
// Without result.
#define GGAS_SIMT_RED(name, function, where)                          \
  template <class T>                                                  \
  void name(T* p, same_t<T> v) {                                      \
    simt::atomic(p, simt::rmw::function, v, T{}, simt::scope::where); \
  }
GGAS_SIMT_RED(red_xor_gpu, bit_xor, gpu)
GGAS_SIMT_RED(red_add_system, add, sys)
GGAS_SIMT_RED(red_add_system_together, add, sys)
GGAS_SIMT_RED(red_and_system, bit_and, sys)
GGAS_SIMT_RED(red_or_system, bit_or, sys)
GGAS_SIMT_RED(red_xor_system, bit_xor, sys)
#undef GGAS_SIMT_RED
template <class T>
requires(is_floating<T>) void red_add_system(T* p, same_t<T> v) { add_system(p, v); }
template <class T>
T cas_gpu(T* p, same_t<T> expected, same_t<T> v) {
  return simt::atomic(p, simt::rmw::cas, v, expected, simt::scope::gpu);
}
template <class T>
T cas_system(T* p, same_t<T> expected, same_t<T> v) {
  return simt::atomic(p, simt::rmw::cas, v, expected, simt::scope::sys);
}
// The engine has minimum and maximum for unsigned integers only.
template <class T, class Better>
T replace_if(T* p, T v, Better better) {
  T old = load_relaxed(p);
  while (better(v, old)) {
    const T found = cas_system(p, old, v);
    if (found == old) break;
    old = found;
  }
  return old;
}
template <class T>
T min_system(T* p, same_t<T> v) {
  return replace_if(p, v, [](T a, T b) { return a < b; });
}
template <class T>
T max_system(T* p, same_t<T> v) {
  return replace_if(p, v, [](T a, T b) { return b < a; });
}

}  // namespace detail
}  // namespace ggas
