// SPDX-License-Identifier: Apache-2.0
// Collectives of ranks, and what a serial model says of them; one source for the host engine and GPUs.
#pragma once

#include "ggas/ranks.cuh"

namespace ggas::test {

enum class rank_kind { broadcast, scatter, gather, allgather, alltoall, permute, reducescatter, scan, prescan };
inline constexpr rank_kind rank_kinds[] = {rank_kind::broadcast, rank_kind::scatter,       rank_kind::gather,
                                           rank_kind::allgather, rank_kind::alltoall,      rank_kind::permute,
                                           rank_kind::scan,      rank_kind::reducescatter, rank_kind::prescan};

GGAS_LAYOUT_FN ggas_sync_mode mode_of(unsigned i) { return static_cast<ggas_sync_mode>(i % 3 + 4 * (i / 3 % 3)); }

// One call of all ranks: n elements, the root, a number that says who sends to whom, and the operation.
template <class T>
struct rank_plan {
  rank_kind kind;
  size_t n;
  int root;
  unsigned turn;
  ggas_op op = ggas_sum;
  ggas_sync_mode mode = ggas_in_all;

  // Rotations, and reflections with ranks that send to themselves or each other.
  GGAS_LAYOUT_FN int target(int rank, int ranks) const {
    const int by = static_cast<int>(turn / 2 % static_cast<unsigned>(ranks));
    return (turn % 2 == 0 ? rank + by : by + ranks - rank) % ranks;
  }
  GGAS_LAYOUT_FN int source(int rank, int ranks) const {
    const int by = static_cast<int>(turn / 2 % static_cast<unsigned>(ranks));
    return (turn % 2 == 0 ? rank + ranks - by : by + ranks - rank) % ranks;
  }
};

GGAS_LAYOUT_FN bool is_many(rank_kind k) {
  return k == rank_kind::alltoall || k == rank_kind::reducescatter || k == rank_kind::scatter;
}
// Elements of the source and of the destination of a rank.
template <class T>
GGAS_LAYOUT_FN size_t source_elements(const rank_plan<T>& p, int ranks) {
  return is_many(p.kind) ? p.n * static_cast<size_t>(ranks) : p.n;
}
template <class T>
GGAS_LAYOUT_FN size_t target_elements(const rank_plan<T>& p, int ranks) {
  const bool many = p.kind == rank_kind::alltoall || p.kind == rank_kind::allgather || p.kind == rank_kind::gather;
  return many ? p.n * static_cast<size_t>(ranks) : p.n;
}

template <class T>
GGAS_LAYOUT_FN T element(unsigned round, int rank, size_t i) {
  uint64_t v = (uint64_t{round} << 40) + (static_cast<uint64_t>(rank) << 32) + i + 1;
  v *= 0x9e3779b97f4a7c15;
  return static_cast<T>(v >> 40);
}

// What lies in a rank's destination afterwards; false: what was there before.
template <class T>
GGAS_LAYOUT_FN bool expected(const rank_plan<T>& p, int ranks, unsigned round, int me, size_t i, T& v) {
  const auto part = static_cast<int>(i / p.n);
  const size_t at = i % p.n, mine = static_cast<size_t>(me) * p.n;
  switch (p.kind) {
    case rank_kind::broadcast:
      v = element<T>(round, p.root, i);
      return true;
    case rank_kind::scatter:
      v = element<T>(round, p.root, mine + i);
      return true;
    case rank_kind::gather:
      if (me != p.root) return false;
      v = element<T>(round, part, at);
      return true;
    case rank_kind::allgather:
      v = element<T>(round, part, at);
      return true;
    case rank_kind::alltoall:
      v = element<T>(round, part, mine + at);
      return true;
    case rank_kind::permute:
      v = element<T>(round, p.source(me, ranks), i);
      return true;
    case rank_kind::reducescatter:
    case rank_kind::scan:
    case rank_kind::prescan:
      break;
  }
  const bool parts = p.kind == rank_kind::reducescatter;
  const int last = parts ? ranks : p.kind == rank_kind::scan ? me + 1 : me;
  for (int r = 0; r < last; ++r) {
    const T one = element<T>(round, r, parts ? mine + i : i);
    v = r == 0 ? one : p.op == ggas_sum ? static_cast<T>(v + one) : p.op == ggas_max ? v < one ? one : v : v;
  }
  return last > 0;
}

// By a block.
template <class T>
GGAS_DEVICE ggas_status call_of_rank(const ggas_ranks& r, const rank_plan<T>& p, ranked<T> dst, ranked<T> src,
                                     uint64_t timeout) {
  switch (p.kind) {
    case rank_kind::broadcast:
      return ggas_broadcast(r, dst, src, p.n, p.root, timeout, p.mode);
    case rank_kind::scatter:
      return ggas_scatter(r, dst, src, p.n, p.root, timeout, p.mode);
    case rank_kind::gather:
      return ggas_gather(r, dst, src, p.n, p.root, timeout, p.mode);
    case rank_kind::allgather:
      return ggas_allgather(r, dst, src, p.n, timeout, p.mode);
    case rank_kind::alltoall:
      return ggas_alltoall(r, dst, src, p.n, timeout, p.mode);
    case rank_kind::permute:
      return ggas_permute(r, dst, src, p.n, p.target(ggas_rank(r), ggas_rank_count(r)), timeout, p.mode);
    case rank_kind::reducescatter:
      return ggas_reducescatter(r, dst, src, p.n, p.op, timeout, p.mode);
    case rank_kind::scan:
      return ggas_scan(r, dst, src, p.n, p.op, ggas_scan_inclusive, timeout, p.mode);
    case rank_kind::prescan:
      return ggas_scan(r, dst, src, p.n, p.op, ggas_scan_exclusive, timeout, p.mode);
  }
  return ggas_bad_argument;
}

}  // namespace ggas::test
