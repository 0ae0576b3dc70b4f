// SPDX-License-Identifier: Apache-2.0
// Collectives of ranks that combine elements: reducescatter and scan. Data travel in messages, in slots that only their
// two ranks use; a sender waits while the receiver has taken too few of them. Only memory of the library and of the
// rank itself is accessed, so only ggas_in_all and ggas_out_all have to wait. Included by ranks.cuh.
#pragma once

#include "ggas/detail/ranks/relocations.cuh"

namespace ggas::detail {

GGAS_DEVICE bool has_credit(const rank_call& c, int to) {
  const uint64_t message = load_own(c.own(rank_layout::sent, to)), credits = c.ranks.credits;
  if (message >= credits && load_spin(c.own(rank_layout::taken, to)) < message + 1 - credits) return false;
  acquire_after_spin(c.own(rank_layout::taken, to));
  return true;
}
// The slot of the next message to, or from, a rank.
template <class T>
GGAS_DEVICE T* slot_at(const rank_call& c, int to) {
  return reinterpret_cast<T*>(c.slot(to, c.me, load_own(c.own(rank_layout::sent, to))));
}
template <class T>
GGAS_DEVICE const T* slot_from(const rank_call& c, int from) {
  return reinterpret_cast<const T*>(c.slot(c.me, from, load_own(c.own(rank_layout::received, from))));
}
// By one thread: the slot is filled.
GGAS_DEVICE void end_message(const rank_call& c, int to) {
  uint64_t* const sent = c.own(rank_layout::sent, to);
  const uint64_t message = load_own(sent) + 1;
  tell_rank(c, to, rank_layout::filled, message);
  store_own(sent, message);
}
// By one thread, after a block barrier: the slot was read.
GGAS_DEVICE void take_message(const rank_call& c, int from) {
  uint64_t* const received = c.own(rank_layout::received, from);
  const uint64_t message = load_own(received) + 1;
  tell_rank(c, from, rank_layout::taken, message);
  store_own(received, message);
}
GGAS_DEVICE ggas_status await_message(const rank_call& c, int from, poll_deadline& end) {
  return await_rank(c, rank_layout::filled, from, load_own(c.own(rank_layout::received, from)) + 1, end);
}

// f(first, count) for pieces of a vector that fit a slot, as long as it returns ggas_ok, the same in all threads.
template <class T, class F>
GGAS_DEVICE ggas_status by_messages(const rank_call& c, size_t n, F f) {
  const size_t most = c.ranks.slot_bytes / sizeof(T);
  ggas_status s = ggas_ok;
  for (size_t done = 0; done < n && s == ggas_ok; done += most) s = f(done, n - done < most ? n - done : most);
  return s;
}

// A vector of n elements of each rank.
template <class T>
struct rank_fold {
  T* dst;
  const T* src;
  size_t n;
  ggas_op op;
};

// One hop: each piece goes to all ranks that need it, and a rank combines its pieces in the order of ranks. A rank
// receives from ranks first ... last - 1. It sends to the ranks for which `to` is true; to rank r it sends source(r) of
// its own vector.
template <class T, class To, class Source>
GGAS_DEVICE ggas_status fold_at_once(const rank_call& c, const rank_fold<T>& p, int last, To to, Source source,
                                     poll_deadline& end) {
  const xor_plan plan{c.count};
  return by_messages<T>(c, p.n, [&](size_t first, size_t count) {
    const auto partner = [&](int i) {
      const int rank = plan.partner(c.me, i);
      return rank != no_rank && to(rank) ? rank : no_rank;
    };
    const size_t bytes = count * sizeof(T);
    ggas_status s = serve_ranks(
        c, plan.steps(), bytes, partner, [&](int rank) { return has_credit(c, rank); },
        [&](int rank, const movers& by) {
          copy_bytes(c.slot(rank, c.me, load_own(c.own(rank_layout::sent, rank))),
                     reinterpret_cast<const char*>(source(rank) + first), bytes, by);
        },
        [&](int rank) { end_message(c, rank); }, end);
    const auto step = static_cast<int>(thread_count());
    for (int rank = static_cast<int>(thread_rank()); rank < last && s == ggas_ok; rank += step)
      if (rank != c.me) s = await_message(c, rank, end);
    s = status_of_ranks(c, s);
    if (s != ggas_ok) return s;
    with_operation<T>(p.op, [&](operation<T> combined) GGAS_INLINED {
      for (size_t i = thread_rank(); i < count && last > 0; i += thread_count()) {
        T sum{};
        for (int rank = 0; rank < last; ++rank) {
          const T v = load_relaxed((rank == c.me ? source(rank) + first : slot_from<T>(c, rank)) + i);
          sum = rank == 0 ? v : combined(sum, v);
        }
        store_own(p.dst + first + i, sum);
      }
    });
    __syncthreads();
    for (int rank = static_cast<int>(thread_rank()); rank < last; rank += step)
      if (rank != c.me) take_message(c, rank);
    __syncthreads();
    return ggas_ok;
  });
}

// Vectors longer than a slot: each piece goes from rank to rank, which combine it on the way; pieces follow each other.
template <class T>
GGAS_DEVICE ggas_status scan_along(const rank_call& c, const rank_fold<T>& p, ggas_scan_kind kind, poll_deadline& end) {
  const int before = c.me - 1, next = c.me + 1 < c.count ? c.me + 1 : no_rank;
  return by_messages<T>(c, p.n, [&](size_t first, size_t count) {
    ggas_status s = ggas_ok;
    if (is_first_thread()) {
      if (before >= 0) s = await_message(c, before, end);
      while (s == ggas_ok && next != no_rank && !has_credit(c, next))
        if (end.over()) s = timed_out_for(next);
    }
    s = status_of_ranks(c, s);
    if (s != ggas_ok) return s;
    const T* const in = before >= 0 ? slot_from<T>(c, before) : nullptr;
    T* const out = next != no_rank ? slot_at<T>(c, next) : nullptr;
    with_operation<T>(p.op, [&](operation<T> combined) GGAS_INLINED {
      for (size_t i = thread_rank(); i < count; i += thread_count()) {
        const T own = load_relaxed(p.src + first + i), prefix = in ? load_relaxed(in + i) : own;
        const T all = in ? combined(prefix, own) : own;
        if (out) store_relaxed(out + i, all);
        if (kind == ggas_scan_inclusive)
          store_own(p.dst + first + i, all);
        else if (in)
          store_own(p.dst + first + i, prefix);
      }
    });
    __syncthreads();
    if (is_first_thread()) {
      if (out) end_message(c, next);
      if (in) take_message(c, before);
    }
    __syncthreads();
    return ggas_ok;
  });
}

template <class T>
GGAS_DEVICE_FUNCTION ggas_status scan_ranks(rank_call c, rank_fold<T> p, ggas_scan_kind kind, poll_deadline end) {
  if (p.n > c.ranks.slot_bytes / sizeof(T)) return scan_along(c, p, kind, end);
  return fold_at_once(
      c, p, kind == ggas_scan_inclusive ? c.me + 1 : c.me, [&](int rank) { return rank > c.me; },
      [&](int) { return p.src; }, end);
}
template <class T>
GGAS_DEVICE_FUNCTION ggas_status reducescatter_ranks(rank_call c, rank_fold<T> p, poll_deadline end) {
  return fold_at_once(
      c, p, c.count, [](int) { return true; }, [&](int rank) { return p.src + static_cast<size_t>(rank) * p.n; }, end);
}

template <class T>
GGAS_DEVICE rank_fold<number_of<T>> fold_of(const ggas_ranks& r, const ranked<T>& dst, const ranked<const T>& src,
                                            size_t n, ggas_op op) {
  using N = number_of<T>;
  const uint64_t block = block_rank() - r.first;
  return {reinterpret_cast<N*>(device_context().local + dst.offset + block * dst.step),
          reinterpret_cast<const N*>(device_context().local + src.offset + block * src.step), n, op};
}

}  // namespace ggas::detail
