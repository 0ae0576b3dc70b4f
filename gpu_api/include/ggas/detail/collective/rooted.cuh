// SPDX-License-Identifier: Apache-2.0
// gather and scatter: every member has a part for the root, or the root one for every member. Methods:
// docs/collectives.md. Included by collective.cuh.
#pragma once

#include "ggas/detail/collective/exchange.cuh"

namespace ggas::detail {

enum class direction { to_root, from_root };

// In units: a part has n of them. Parts of all members lie at the root in sequence.
template <direction D, class U>
struct rooted {
  U* dst;
  const U* src;
  size_t n;
  int root;
  uint64_t place;  // of dst in the own segment, bytes

  GGAS_DEVICE bool carries(int from, int to) const { return (D == direction::to_root ? to : from) == root; }
  // What a member sends to another one, and where that one finds it from the start of its destination.
  GGAS_DEVICE const U* source(int to) const { return D == direction::to_root ? src : src + behind(to); }
  GGAS_DEVICE size_t behind(int member) const { return static_cast<uint32_t>(member) * n; }
  GGAS_DEVICE U* target(U* start, int from) const { return D == direction::to_root ? start + behind(from) : start; }
};

// On the channel of the calling block, to the end of the call.
template <direction D, class U>
GGAS_LONG ggas_status run_rooted(channel c, rooted<D, U> p, channel_call<U> call, uint64_t timeout_ns);

template <direction D, class T>
GGAS_DEVICE ggas_status move_rooted(T* dst, const T* src, size_t n, int root, const ggas_team& team, unsigned block,
                                    unsigned blocks, uint64_t timeout_ns) {
  if (!ggas_team_good(team) || root < 0 || root >= team.size) return ggas_bad_argument;
  if (n == 0) return ggas_ok;
  using U = unit_of<T>;
  rooted<D, U> p{reinterpret_cast<U*>(dst), reinterpret_cast<const U*>(src), n * (sizeof(T) / sizeof(U)), root, 0};
  const bool is_root = ggas_team_rank(team) == root, to_root = D == direction::to_root;
  const size_t one = n * sizeof(T), all = one * static_cast<size_t>(team.size);
  const auto place_good = [](const T* v, size_t bytes, uint64_t& offset) {
    return elements_good(v) && own_place(v, bytes, offset);
  };
  uint64_t source;
  const bool good = n <= ggas_segment_bytes() / sizeof(T) &&
                    (!(to_root || is_root) || place_good(src, to_root ? one : all, source)) &&
                    (!(!to_root || is_root) || place_good(dst, to_root ? all : one, p.place));
  if (!good) return ggas_bad_argument;
  const channel_call<U> call(block, blocks, p.n);
  if (call.mine.units() == 0) return ggas_ok;
  return run_rooted(find_channel(team, call.block), p, call, timeout_ns);
}

}  // namespace ggas::detail
