// SPDX-License-Identifier: Apache-2.0
// Host SIMT engine behind platform.cuh.
#pragma once

#include <atomic>

#include "gpu_api/simt/device.hpp"

#define GGAS_DEVICE inline
#define GGAS_HOST_DEVICE

namespace ggas {
using simt::dim3;

namespace detail {

inline const context& device_context() { return *static_cast<const context*>(simt::device_context()); }
inline layout own_layout() {
  const context& c = device_context();
  return layout::of(static_cast<uint64_t>(c.nodes), c.reserved);
}
inline uint64_t clock_ns() { return simt::now_ns(); }

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
void store_relaxed(T* p, const T& v) {
  simt::store(p, v);
}
template <class T>
T load_own(const T* p) {
  return simt::load(p);
}
template <class T>
void store_own(T* p, const T& v) {
  simt::store(p, v);
}
// Read-modify-writes on 4- and 8-byte integers. The unnamed scope is the GPU's; `system` reaches peers.
inline uint64_t cas_gpu(uint64_t* p, uint64_t expected, uint64_t v) {
  return simt::atomic(p, simt::rmw::cas, v, expected, simt::scope::gpu);
}
inline uint64_t add_gpu(uint64_t* p, uint64_t v) {
  return simt::atomic(p, simt::rmw::add, v, uint64_t{0}, simt::scope::gpu);
}
inline uint64_t or_gpu(uint64_t* p, uint64_t v) {
  return simt::atomic(p, simt::rmw::bit_or, v, uint64_t{0}, simt::scope::gpu);
}
inline uint64_t and_gpu(uint64_t* p, uint64_t v) {
  return simt::atomic(p, simt::rmw::bit_and, v, uint64_t{0}, simt::scope::gpu);
}
template <class U>
U cas_system(U* p, U expected, U v) {
  return simt::atomic(p, simt::rmw::cas, v, expected, simt::scope::sys);
}
inline void fence_acq_rel_system() { __threadfence_system(); }
inline void fence_acq_rel_gpu() { __threadfence(); }
// Orders what follows behind the load that ended a wait. The engine completes one access of a lane after the other, so
// only the host processor must be told.
inline void acquire_after_poll() {
#ifndef GGAS_TSAN
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
}

}  // namespace detail
}  // namespace ggas
