// SPDX-License-Identifier: Apache-2.0
// The host SIMT engine as a kernel sees it: the CUDA names, implemented by calls of the engine. Included by ggas.cuh
// when the compiler is not nvcc.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "gpu_api/simt/engine.hpp"

namespace ggas::simt {

// ---- engine calls of the running lane. Undefined outside a kernel.
bool in_kernel();
bool is_own_variable(const void* p);  // it lies on the stack of the running lane
access& begin_access(op kind);        // fill in the rest, then perform()
void perform();                       // waits until the owner has completed the access; the result is in it
unsigned sync_block(bool vote);       // block barrier; returns how many threads voted true
// Barrier 1 ... 15 of the block, of as many threads as say so; another number is an exception of the kernel.
unsigned sync_some(unsigned id, unsigned threads, bool vote);
void sync_warp(uint32_t mask);
uint64_t shuffle(uint32_t mask, uint64_t value, unsigned source_lane);
uint32_t ballot(uint32_t mask, bool predicate);
void* shared_memory(const void* key, size_t bytes, size_t align);  // same key, same block: same memory
void* dynamic_shared_memory();                                     // of the launch, at a multiple of 16
bool is_shared_memory(const void* p);                              // it lies in that of the running block
// Reserves a range of memory for a block until the block releases it or ends: another block with an overlapping range
// is refused. Called by all threads of the block, which get the same result; if it is true, all must release it. It is
// no operation of the kernel: it takes no simulated time.
bool take_place(const void* place, size_t bytes);
void give_place(const void* place);
dim3 thread_index();
dim3 block_index();
dim3 block_shape();
dim3 grid_shape();
unsigned block_threads();
unsigned lane_number();
unsigned thread_linear();
uint32_t warp_mask();  // lanes the warp began with
uint64_t now_ns();
const void* device_context();

template <class T>
T load(const T* p, bool poll = false, scope sc = scope::sys) {
  access& a = begin_access(op::load);
  a.addr = const_cast<std::remove_cv_t<T>*>(p);
  a.size = sizeof(T);
  a.sc = sc;
  a.is_volatile = true;
  a.poll = poll;
  perform();
  std::remove_cv_t<T> v;
  std::memcpy(static_cast<void*>(&v), a.data.data(), sizeof(T));
  return v;
}

template <class T>
void store(T* p, const std::type_identity_t<T>& v, scope sc = scope::sys) {
  access& a = begin_access(op::store);
  a.addr = p;
  a.size = sizeof(T);
  a.sc = sc;
  a.is_volatile = true;
  std::memcpy(a.data.data(), static_cast<const void*>(&v), sizeof(T));
  perform();
}

// `expected` is used by cas alone. Returns the old value.
template <class T>
T atomic(T* p, rmw fn, T v, T expected, scope sc) {
  static_assert(std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8), "atomics are on 4- and 8-byte integers");
  access& a = begin_access(op::atomic);
  a.addr = p;
  a.size = sizeof(T);
  a.sc = sc;
  a.fn = fn;
  a.is_volatile = true;
  std::memcpy(a.data.data(), &v, sizeof(T));
  a.a = static_cast<std::make_unsigned_t<T>>(expected);
  perform();
  std::memcpy(&v, a.data.data(), sizeof(T));
  return v;
}

inline void fence(scope sc) {
  begin_access(op::fence).sc = sc;
  perform();
}
inline void compute(uint64_t flops, uint64_t bytes) {
  access& a = begin_access(op::compute);
  a.a = flops;
  a.b = bytes;
  perform();
}
inline void sleep(uint64_t ns) {
  begin_access(op::sleep).a = ns;
  perform();
}

template <class T>
T shuffle_value(uint32_t mask, T v, unsigned source) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>, "shuffles carry at most 8 bytes");
  uint64_t bits = 0;
  std::memcpy(&bits, &v, sizeof(T));
  bits = shuffle(mask, bits, source);
  std::memcpy(&v, &bits, sizeof(T));
  return v;
}
// Lane that a shuffle within segments of `width` reads; out of the segment: the lane itself.
inline unsigned shuffle_source(int lane, int target, int width) {
  const int base = lane / width * width;
  return static_cast<unsigned>(target >= base && target < base + width ? target : lane);
}

}  // namespace ggas::simt

// ---------------------------------------------------------------------------------------------- CUDA names

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define threadIdx (::ggas::simt::thread_index())
#define blockIdx (::ggas::simt::block_index())
#define blockDim (::ggas::simt::block_shape())
#define gridDim (::ggas::simt::grid_shape())

// Block-shared variable, as CUDA's __shared__: undefined at first.
#define GGAS_SHARED(type, name)       \
  static char ggas_shared_key_##name; \
  type& name = *static_cast<type*>(::ggas::simt::shared_memory(&ggas_shared_key_##name, sizeof(type), alignof(type)))
#define GGAS_SHARED_ARRAY(type, name, count) \
  static char ggas_shared_key_##name;        \
  type* const name =                         \
      static_cast<type*>(::ggas::simt::shared_memory(&ggas_shared_key_##name, sizeof(type) * (count), alignof(type)))
// What the launch gave to each block (ggas::with_shared), undefined at first: `type* name`. Once in a kernel.
#define GGAS_DYNAMIC_SHARED(type, name) type* const name = static_cast<type*>(::ggas::simt::dynamic_shared_memory())
// Declares work to the simulator's roofline model.
#define GGAS_COMPUTE(flops, bytes) ::ggas::simt::compute(flops, bytes)

inline void __syncthreads() { ggas::simt::sync_block(false); }
inline int __syncthreads_count(int p) { return static_cast<int>(ggas::simt::sync_block(p != 0)); }
inline int __syncthreads_or(int p) { return ggas::simt::sync_block(p != 0) != 0; }
inline int __syncthreads_and(int p) { return ggas::simt::sync_block(p == 0) == 0; }
inline void __syncwarp(unsigned mask = 0xffffffffu) { ggas::simt::sync_warp(mask); }

template <class T>
T __shfl_sync(unsigned mask, T v, int source, int width = 32) {
  const int lane = static_cast<int>(ggas::simt::lane_number());
  return ggas::simt::shuffle_value(mask, v, lane / width * width + (source & (width - 1)));
}
template <class T>
T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32) {
  const int lane = static_cast<int>(ggas::simt::lane_number());
  return ggas::simt::shuffle_value(mask, v, ggas::simt::shuffle_source(lane, lane - static_cast<int>(delta), width));
}
template <class T>
T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32) {
  const int lane = static_cast<int>(ggas::simt::lane_number());
  return ggas::simt::shuffle_value(mask, v, ggas::simt::shuffle_source(lane, lane + static_cast<int>(delta), width));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T v, int bits, int width = 32) {
  const int lane = static_cast<int>(ggas::simt::lane_number());
  return ggas::simt::shuffle_value(mask, v, ggas::simt::shuffle_source(lane, lane ^ bits, width));
}
inline unsigned __ballot_sync(unsigned mask, int p) { return ggas::simt::ballot(mask, p != 0); }
inline int __any_sync(unsigned mask, int p) { return ggas::simt::ballot(mask, p != 0) != 0; }
inline int __all_sync(unsigned mask, int p) { return ggas::simt::ballot(mask, p == 0) == 0; }

inline int __popc(unsigned v) { return std::popcount(v); }
inline int __ffs(unsigned v) { return v == 0 ? 0 : std::countr_zero(v) + 1; }

inline void __threadfence_block() { ggas::simt::fence(ggas::simt::scope::block); }
inline void __threadfence() { ggas::simt::fence(ggas::simt::scope::gpu); }
inline void __threadfence_system() { ggas::simt::fence(ggas::simt::scope::sys); }
inline void __nanosleep(unsigned ns) { ggas::simt::sleep(ns); }

// Atomics at GPU scope, as CUDA's; min and max on unsigned integers.
#define GGAS_SIMT_ATOMIC(name, fn)                                                        \
  template <class T>                                                                      \
  T name(T* p, std::type_identity_t<T> v) {                                               \
    return ggas::simt::atomic<T>(p, ggas::simt::rmw::fn, v, T{}, ggas::simt::scope::gpu); \
  }
GGAS_SIMT_ATOMIC(atomicAdd, add)
GGAS_SIMT_ATOMIC(atomicExch, exch)
GGAS_SIMT_ATOMIC(atomicAnd, bit_and)
GGAS_SIMT_ATOMIC(atomicOr, bit_or)
GGAS_SIMT_ATOMIC(atomicXor, bit_xor)
#undef GGAS_SIMT_ATOMIC
template <class T>
T atomicCAS(T* p, std::type_identity_t<T> expected, std::type_identity_t<T> v) {
  return ggas::simt::atomic<T>(p, ggas::simt::rmw::cas, v, expected, ggas::simt::scope::gpu);
}
template <class T>
T atomicMin(T* p, std::type_identity_t<T> v) {
  static_assert(std::is_unsigned_v<T>, "atomicMin is on unsigned integers");
  return ggas::simt::atomic<T>(p, ggas::simt::rmw::min, v, T{}, ggas::simt::scope::gpu);
}
template <class T>
T atomicMax(T* p, std::type_identity_t<T> v) {
  static_assert(std::is_unsigned_v<T>, "atomicMax is on unsigned integers");
  return ggas::simt::atomic<T>(p, ggas::simt::rmw::max, v, T{}, ggas::simt::scope::gpu);
}
