// SPDX-License-Identifier: Apache-2.0
// The relocalization collectives of UPC by ranks in a loop, compared with barriers around plain stores (push) or loads
// (pull), as in the reference implementation of UPC.
#pragma once

#include "benchmarks/kernels/common.cuh"
#include "ggas/ranks.cuh"

namespace ggas::bench {

enum class relocated { broadcast, scatter, gather, gather_all, exchange, permute };
// Way of moving: calls of ranks, direct or through buffers, or UPC's references, by a block or element by element.
enum class relocated_by { ranks, buffers, push, pull, naive_push, naive_pull };

struct upc_args {
  relocated what;
  relocated_by how;
  ggas_sync_mode mode;
  ggas_ranks ranks;
  ranked<float> input, output;
  uint64_t elements;  // of a part
  uint64_t samples;   // offset of `rounds` durations in ns of each rank of the node
  uint64_t rounds;    // measured ones; one more goes before
  uint64_t outcomes;  // offset of one outcome a thread
  uint64_t seed;
  uint64_t timeout_ns;
  uint64_t batch = 1;  // calls of a round, where one is short compared with the resolution of the clock
};

// Root is the first rank; a permute sends to the next one.
GGAS_HOST_DEVICE constexpr bool upc_many_in(relocated w) { return w == relocated::scatter || w == relocated::exchange; }
GGAS_HOST_DEVICE constexpr bool upc_many_out(relocated w) {
  return w == relocated::gather || w == relocated::gather_all || w == relocated::exchange;
}
GGAS_DEVICE float upc_value(const upc_args& a, int rank, uint64_t round, uint64_t i) {
  return static_cast<float>(pattern(a.seed + round, static_cast<uint64_t>(rank), i) % 65536);
}

// What rank `from` has for rank `to`, and where it goes there; false: nothing.
GGAS_DEVICE bool upc_part(const upc_args& a, int from, int to, uint64_t& source, uint64_t& target) {
  source = upc_many_in(a.what) ? static_cast<uint64_t>(to) * a.elements : 0;
  target = upc_many_out(a.what) ? static_cast<uint64_t>(from) * a.elements : 0;
  switch (a.what) {
    case relocated::broadcast:
    case relocated::scatter:
      return from == 0;
    case relocated::gather:
      return to == 0;
    case relocated::permute:
      return to == (from + 1) % ggas_rank_count(a.ranks);
    case relocated::gather_all:
    case relocated::exchange:
      break;
  }
  return true;
}

// An operation for each element, as shared assignments in a loop are.
GGAS_DEVICE void upc_assign(float* to, const float* from, uint64_t elements) {
  if (detail::is_first_thread())
    for (uint64_t i = 0; i < elements; ++i) ggas_store(to + i, ggas_load(from + i));
}

// The reference: a barrier, all that this rank stores to others, or loads from them, and a barrier.
GGAS_DEVICE ggas_status upc_by_reference(const upc_args& a) {
  const int me = ggas_rank(a.ranks), count = ggas_rank_count(a.ranks);
  if (const ggas_status s = ggas_barrier(a.ranks, a.timeout_ns); s != ggas_ok) return s;
  for (int hop = 0; hop < count; ++hop) {
    const int other = (me + hop) % count;
    const bool push = a.how == relocated_by::push || a.how == relocated_by::naive_push;
    const bool naive = a.how == relocated_by::naive_push || a.how == relocated_by::naive_pull;
    const int from = push ? me : other, to = push ? other : me;
    uint64_t source, target;
    if (!upc_part(a, from, to, source, target)) continue;
    float* const there = ggas_pointer_of_rank(a.ranks, to, a.output) + target;
    const float* const here = ggas_pointer_of_rank(a.ranks, from, a.input) + source;
    if (naive) {
      upc_assign(there, here, a.elements);
    } else {
      detail::move_bytes<detail::origin::remote>(there, here, a.elements * sizeof(float),
                                                 detail::movers{detail::thread_rank(), detail::thread_count()});
    }
  }
  return ggas_barrier(a.ranks, a.timeout_ns);
}

// Places are ggas::ranked, or pointers.
template <class Dst, class Src>
GGAS_DEVICE ggas_status upc_by_ranks(const upc_args& a, Dst dst, Src src) {
  const ggas_ranks& r = a.ranks;
  switch (a.what) {
    case relocated::broadcast:
      return ggas_broadcast(r, dst, src, a.elements, 0, a.timeout_ns, a.mode);
    case relocated::scatter:
      return ggas_scatter(r, dst, src, a.elements, 0, a.timeout_ns, a.mode);
    case relocated::gather:
      return ggas_gather(r, dst, src, a.elements, 0, a.timeout_ns, a.mode);
    case relocated::gather_all:
      return ggas_allgather(r, dst, src, a.elements, a.timeout_ns, a.mode);
    case relocated::exchange:
      return ggas_alltoall(r, dst, src, a.elements, a.timeout_ns, a.mode);
    case relocated::permute:
      break;
  }
  return ggas_permute(r, dst, src, a.elements, (ggas_rank(r) + 1) % ggas_rank_count(r), a.timeout_ns, a.mode);
}

GGAS_DEVICE ggas_status upc_once(const upc_args& a) {
  if (a.how == relocated_by::ranks) return upc_by_ranks(a, a.output, a.input);
  if (a.how != relocated_by::buffers) return upc_by_reference(a);
  const int me = ggas_rank(a.ranks);
  return upc_by_ranks(a, ggas_pointer_of_rank(a.ranks, me, a.output), ggas_pointer_of_rank(a.ranks, me, a.input));
}

GGAS_DEVICE uint64_t upc_count_wrong(const upc_args& a, uint64_t round) {
  const int me = ggas_rank(a.ranks);
  const float* const got = ggas_pointer_of_rank(a.ranks, me, a.output);
  uint64_t wrong = 0;
  for (int from = 0; from < ggas_rank_count(a.ranks); ++from) {
    uint64_t source, target;
    if (!upc_part(a, from, me, source, target)) continue;
    for (uint64_t i = detail::thread_rank(); i < a.elements; i += detail::thread_count())
      wrong += ggas_load(got + target + i) != upc_value(a, from, round, source + i);
  }
  return wrong;
}

// Every round has other data and is checked. Barriers before the call and after it are not measured.
[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(512) upc_loop(upc_args a) {
  outcome out{0, 0, 0, ggas_ok};
  const int me = ggas_rank(a.ranks), count = ggas_rank_count(a.ranks);
  float* const in = ggas_pointer_of_rank(a.ranks, me, a.input);
  const uint64_t inputs = a.elements * (upc_many_in(a.what) ? static_cast<uint64_t>(count) : 1);
  ggas_status s = ggas_ok;
  for (uint64_t round = 0; round <= a.rounds && s == ggas_ok; ++round) {
    for (uint64_t i = detail::thread_rank(); i < inputs; i += detail::thread_count())
      in[i] = upc_value(a, me, round, i);
    s = ggas_barrier(a.ranks, a.timeout_ns);
    const uint64_t before = time_ns();
    if (round == 0) out.begin_ns = before;
    GGAS_NO_UNROLL
    for (uint64_t i = 0; i < a.batch && s == ggas_ok; ++i) s = upc_once(a);
    const uint64_t now = time_ns();
    if (round > 0 && detail::is_first_thread())
      own<uint64_t>(a.samples)[detail::block_rank() * a.rounds + round - 1] = now - before;
    if (s == ggas_ok) s = ggas_barrier(a.ranks, a.timeout_ns);  // what a call of ggas_out_none leaves is here then
    if (s == ggas_ok) out.errors += upc_count_wrong(a, round);
    out.end_ns = now;
  }
  out.status = s;
  own<outcome>(a.outcomes)[global_thread()] = out;
}

}  // namespace ggas::bench
