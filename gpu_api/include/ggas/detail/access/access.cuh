// SPDX-License-Identifier: Apache-2.0
// Queries, pointers, loads, stores and order. Included by ggas.cuh.
#pragma once

#include "ggas/memory.cuh"

GGAS_DEVICE int ggas_node() { return ggas::detail::device_context().node; }
GGAS_DEVICE int ggas_nodes() { return ggas::detail::device_context().nodes; }
GGAS_DEVICE uint64_t ggas_segment_bytes() { return ggas::detail::device_context().segment_bytes; }
GGAS_DEVICE uint64_t ggas_reserved_bytes() { return ggas::detail::device_context().reserved; }

namespace ggas::detail {

// The node's NIC: its contexts for this GPU, and the page whose loads wait for stores. Null where peers' memory is
// accessed directly.
GGAS_DEVICE const rma_queue* nic_queues() { return nic_possible ? device_context().queues : nullptr; }
GGAS_DEVICE const nic_place* nic_places() { return nic_possible ? device_context().places : nullptr; }
GGAS_DEVICE const volatile uint64_t* nic_page() { return nic_possible ? device_context().quiet : nullptr; }
GGAS_DEVICE char* window_of_others() { return nic_possible ? device_context().others : nullptr; }

GGAS_DEVICE bool fits_segment(uint64_t offset, uint64_t bytes) {
  const uint64_t size = device_context().segment_bytes;
  return (bytes <= size) & (offset <= size - bytes);
}
GGAS_DEVICE bool in_segment(const context& c, int node, uint64_t offset, size_t bytes) {
  return node >= 0 && node < c.nodes && fits_segment(offset, bytes);
}

template <class T>
GGAS_DEVICE constexpr void check_access_type() {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "GGAS loads and stores move 1, 2, 4, 8 or 16 bytes");
  static_assert(__is_trivially_copyable(T), "GGAS loads and stores move plain data");
}

}  // namespace ggas::detail

template <class T>
GGAS_DEVICE T* ggas_pointer_of_node(int node, uint64_t offset) {
  const ggas::context& c = ggas::detail::device_context();
  if (!ggas::detail::in_segment(c, node, offset, sizeof(T))) return nullptr;
  return reinterpret_cast<T*>((node == c.node ? c.local : c.window + node * c.stride) + offset);
}

template <class T>
GGAS_DEVICE T* ggas_global_pointer(int node, uint64_t offset) {
  const ggas::context& c = ggas::detail::device_context();
  if (!ggas::detail::in_segment(c, node, offset, sizeof(T))) return nullptr;
  return reinterpret_cast<T*>(c.window + node * c.stride + offset);
}

template <class T>
GGAS_DEVICE T* ggas_pointer_of_others(uint64_t offset) {
  char* const window = ggas::detail::window_of_others();
  return window && ggas::detail::fits_segment(offset, sizeof(T)) ? reinterpret_cast<T*>(window + offset) : nullptr;
}

template <class T>
GGAS_DEVICE T ggas_load(const T* p, ggas_relaxed_order) {
  ggas::detail::check_access_type<T>();
  return ggas::detail::load_relaxed(p);
}
template <class T>
GGAS_DEVICE T ggas_load(const T* p, ggas_acquire_order) {
  ggas::detail::check_access_type<T>();
  return ggas::detail::load_acquire(p);
}

template <class T>
GGAS_DEVICE void ggas_store(T* p, ggas::detail::same_t<T> v, ggas_relaxed_order) {
  ggas::detail::check_access_type<T>();
  ggas::detail::store_relaxed(p, v);
}
template <class T>
GGAS_DEVICE void ggas_store(T* p, ggas::detail::same_t<T> v, ggas_release_order) {
  ggas::detail::check_access_type<T>();
  ggas::detail::store_release(p, v);
}

GGAS_DEVICE void ggas_fence() { __threadfence_system(); }
GGAS_DEVICE void ggas_fence_gpu() { __threadfence(); }

namespace ggas::detail {

// Stores to GPUs of the same computer do not pass the NIC: a read of each of them pushes them there.
GGAS_DEVICE void quiet_neighbours() {
  const context& c = device_context();
  if (!c.places) return;
  const auto neighbour = [&](int node) { return node != c.node && c.places[node].nic == c.places[c.node].nic; };
  int first = c.node, end = c.node + 1;
  while (first > 0 && neighbour(first - 1)) --first;
  while (end < c.nodes && neighbour(end)) ++end;
  for (int node = first; node < end; ++node)
    if (node != c.node) (void)load_relaxed(reinterpret_cast<const uint64_t*>(c.window + node * c.stride));
}

// Waits until every earlier store of this node through the window is visible at its target.
GGAS_DEVICE ggas_status quiet_stores() {
  ggas_fence();
  const volatile uint64_t* page = nic_page();
  if (!page) return ggas_ok;  // the fence has waited for remote memory itself
  quiet_neighbours();
  // The read pushes the thread's stores before it; the NIC answers when the targets have confirmed.
  const uint64_t code = load_relaxed(const_cast<const uint64_t*>(page));
  return static_cast<uint32_t>(code) == 0 ? ggas_ok : ggas_peer_error;
}

GGAS_DEVICE ggas_status quiet_puts();  // rma_queue.cuh

}  // namespace ggas::detail
