// SPDX-License-Identifier: Apache-2.0
// Concepts for declarations of calls: the group that makes a call, and addresses, as pointers or global_ptr, with
// values that convert to the type at the address. They refuse a wrong type at the call. Included by headers of calls.
#pragma once

#include "ggas/detail/access/global_ptr.cuh"
#include "ggas/detail/sync/group.cuh"

namespace ggas {

// The groups that may make a call.
using thread = detail::thread_group;
template <unsigned Lanes>
using tile = detail::tile_group<Lanes>;
using warp = detail::warp_group;
using warps = detail::warps_group;
using block = detail::block_group;
using blocks = detail::blocks_group;
using grid = detail::grid_group;

namespace detail {

template <class P>
struct place_of_type {
  static constexpr bool is_one = false;
};
template <class T>
struct place_of_type<T*> {
  static constexpr bool is_one = true;
  using element = T;
  GGAS_DEVICE static T* address(T* p) { return p; }
};
template <class T>
struct place_of_type<const T*> {
  static constexpr bool is_one = true;
  using element = T;
  GGAS_DEVICE static const T* address(const T* p) { return p; }
};
template <class T>
struct place_of_type<global_ptr<T>> {
  static constexpr bool is_one = true;
  using element = T;
  GGAS_DEVICE static T* address(const global_ptr<T>& p) { return p.get(); }
};

template <class P>
concept a_place = place_of_type<P>::is_one && __is_trivially_copyable(typename place_of_type<P>::element);
// A place of what reductions combine.
template <class P>
concept a_number_place = a_place<P> && requires(typename place_of_type<P>::element v) {
  v + v;
  v* v;
  v < v;
};
template <class G>
concept a_group = requires(const G& g) {
  g.rank();
  g.sync();
};
template <class P>
GGAS_DEVICE auto address_of(const P& p) {
  return place_of_type<P>::address(p);
}

}  // namespace detail

namespace detail {
// Which block of those of a call this is.
struct call_part {
  unsigned block, blocks;
};
GGAS_DEVICE call_part part_of(const block_group&) { return {0, 1}; }
GGAS_DEVICE call_part part_of(const grid_group&) { return {block_rank(), block_count()}; }
template <class G>
concept a_collective_group = requires(const G& g) {
  part_of(g);
};
template <class G>
concept a_barrier_group = a_collective_group<G> || is_same<G, blocks_group>;
}  // namespace detail

// What lies at a place.
template <class P>
using element_at = typename detail::place_of_type<P>::element;

// A place whose type the call knows.
template <class T>
struct place_for {
  T* address;
  GGAS_DEVICE place_for(T* p) : address(p) {}
  GGAS_DEVICE place_for(const global_ptr<detail::without_const<T>>& p) : address(p.get()) {}
};

}  // namespace ggas
