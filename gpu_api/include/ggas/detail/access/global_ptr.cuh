// SPDX-License-Identifier: Apache-2.0
// ggas::global_ptr<T>: an address in the global space that is the same value on every node. Included by ggas.cuh.
#pragma once

#include "ggas/detail/access/access.cuh"

namespace ggas {

template <class T>
class global_ptr {
 public:
  global_ptr() = default;
  GGAS_HOST_DEVICE constexpr global_ptr(int node, uint64_t offset) : node_(node), offset_(offset) {}

  GGAS_HOST_DEVICE constexpr int node() const { return node_; }
  GGAS_HOST_DEVICE constexpr uint64_t offset() const { return offset_; }  // bytes from the segment's start
  GGAS_HOST_DEVICE constexpr global_ptr operator+(ptrdiff_t n) const {
    return {node_, offset_ + static_cast<uint64_t>(n * static_cast<ptrdiff_t>(sizeof(T)))};
  }
  GGAS_HOST_DEVICE constexpr bool operator==(const global_ptr& o) const {
    return node_ == o.node_ && offset_ == o.offset_;
  }

  // Address on the calling node; null if out of range.
  GGAS_DEVICE T* get() const { return ggas_pointer_of_node<T>(node_, offset_); }
  GGAS_DEVICE T load() const { return ggas_load(static_cast<const T*>(get())); }
  GGAS_DEVICE void store(T v) const { ggas_store(get(), v); }

 private:
  int node_ = 0;
  uint64_t offset_ = 0;
};

}  // namespace ggas

template <class T, class Order = ggas_relaxed_order>
GGAS_DEVICE auto ggas_load(const ggas::global_ptr<T>& p, Order order = {}) -> decltype(ggas_load(p.get(), order)) {
  return ggas_load(static_cast<const T*>(p.get()), order);
}
template <class T, class Order = ggas_relaxed_order>
GGAS_DEVICE auto ggas_store(const ggas::global_ptr<T>& p, ggas::detail::same_t<T> v, Order order = {})
    -> decltype(ggas_store(p.get(), v, order)) {
  ggas_store(p.get(), v, order);
}
