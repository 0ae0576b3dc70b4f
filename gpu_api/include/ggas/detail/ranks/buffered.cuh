// SPDX-License-Identifier: Apache-2.0
// Relocalization of data that lie anywhere: others store to a buffer of the rank, which copies from there to its
// destination. A dynamic buffer holds all data of a call, a static one a packet. A rank lets others store to its buffer
// after it has taken the data that were there, so modes of none cost as much as those of mine. docs/ranks.md#schemes.
// Included by ranks.cuh.
#pragma once

#include "ggas/detail/ranks/moves.cuh"

namespace ggas::detail {

// The data that a rank has and gets in a call: `bytes` for each rank, or for each pair of ranks.
struct own_data {
  char* dst;
  const char* src;
  size_t bytes;
};

GGAS_DEVICE rank_place buffers_of(const rank_call& c) { return {c.ranks.place + c.at.buffer(0), c.at.buffer_step()}; }
// Packet `at` ... `at + bytes - 1` of each part.
GGAS_DEVICE buffered_move packet_of(const rank_call& c, const own_data& d, size_t at, size_t bytes) {
  return {buffers_of(c), d.src + at, bytes, d.bytes, d.dst + at};
}
GGAS_DEVICE buffered_move all_of(const rank_call& c, const own_data& d) { return packet_of(c, d, 0, d.bytes); }

// f(at, bytes) for the packets of a part, each with numbers of its own.
template <class F>
GGAS_DEVICE ggas_status by_packets(rank_call& c, const own_data& d, F f) {
  const size_t most = c.ranks.buffer_bytes;
  ggas_status s = ggas_ok;
  GGAS_NO_UNROLL
  for (size_t at = 0; at < d.bytes && s == ggas_ok; at += most) {
    if (at != 0) {
      ++c.number;
      ++c.permute;
    }
    s = f(at, d.bytes - at < most ? d.bytes - at : most);
  }
  return s;
}

// One packet to a rank, and one from a rank, of which each may be none.
GGAS_DEVICE ggas_status step_by_buffers(rank_call& c, const plan_step& step, char* dst, const char* src, size_t bytes,
                                        poll_deadline& end) {
  ++c.number;
  if (step.to == no_rank && step.from == no_rank) return ggas_ok;
  const buffered_move m{buffers_of(c), src, bytes, bytes, dst};
  ggas_status s = ggas_ok;
  if (step.from != no_rank) enter_for(c, [&](int rank) { return rank == step.from; });
  if (step.to != no_rank)
    s = store_to_ranks(
        c, 1, bytes, true, [&](int) { return step.to; }, [&](int rank) { return c.memory(m.dst, rank); },
        [&](int) { return src; }, end);
  if (step.from == no_rank) return status_of_ranks(c, s);
  if (s == ggas_ok && is_first_thread()) s = await_rank(c, rank_layout::arrived, step.from, c.number, end);
  return take_received(c, m, bytes, s);
}

// Halving: a message carries all parts of the ranks below its receiver, in the order from the root.
GGAS_DEVICE ggas_status scatter_along_tree(const rank_call& c, const buffered_move& m, int root, poll_deadline& end) {
  const binomial_plan plan{c.count, root};
  const int received = plan.receives_in(c.me), children = plan.steps() - received - 1;
  if (c.me != root) {
    const int parent = plan.at(c.me, received).from;
    enter_for(c, [=](int rank) { return rank == parent; });
    ggas_status s = is_first_thread() ? await_rank(c, rank_layout::arrived, parent, c.number, end) : ggas_ok;
    s = status_of_ranks(c, s);
    if (s != ggas_ok) return s;
  }
  // The part of the rank that is `after_me` places after the own one, in the order from the root.
  const auto part = [&](int after_me) {
    return c.me == root ? m.src + behind(m.stride, rank_after(root, after_me - c.count, c.count))
                        : received_at(c, m) + behind(m.bytes, after_me);
  };
  const ggas_status s = serve_ranks(
      c, children, behind(m.bytes, (c.count + 1) / 2), [&](int i) { return plan.at(c.me, received + 1 + i).to; },
      [&](int rank) { return has_entered(c, rank); },
      [&](int rank, const movers& by) {
        const int first = rank_after(rank, -c.me, c.count), parts = plan.parts_below(rank).count;
        for (int i = 0; i < parts; ++i)
          copy_bytes(c.memory(m.dst, rank) + behind(m.bytes, i), part(first + i), m.bytes, by);
      },
      [&](int rank) { tell_rank(c, rank, rank_layout::arrived, c.number); }, end);
  copy_own(m.own, part(0), m.bytes);
  if (c.me != root) count_in(c, rank_layout::copies, 1);
  return status_of_ranks(c, s);
}

// ------------------------------------------------------------------------------------------------ packets

// The root lets one rank after the other store.
GGAS_DEVICE ggas_status gather_by_token(rank_call& c, const own_data& d, int root, poll_deadline& end) {
  const linear_plan plan{c.count, root};
  if (c.me == root) copy_own(d.dst + behind(d.bytes, c.me), d.src, d.bytes);
  return by_packets(c, d, [&](size_t at, size_t bytes) {
    ggas_status s = ggas_ok;
    for (int i = 0; i < plan.steps() && s == ggas_ok; ++i) {
      const plan_step step = plan.to_root(c.me, i);
      const int from = step.from == no_rank ? 0 : step.from;
      s = step_by_buffers(c, step, d.dst + behind(d.bytes, from) + at, d.src + at, bytes, end);
    }
    return s;
  });
}

// Each part goes once around: a rank sends on what it took last.
GGAS_DEVICE ggas_status allgather_around(rank_call& c, const own_data& d, poll_deadline& end) {
  const ring_plan plan{c.count};
  copy_own(d.dst + behind(d.bytes, c.me), d.src, d.bytes);
  __syncthreads();
  return by_packets(c, d, [&](size_t at, size_t bytes) {
    ggas_status s = ggas_ok;
    for (int i = 0; i < plan.steps() && s == ggas_ok; ++i)
      s = step_by_buffers(c, plan.at(c.me, i), d.dst + behind(d.bytes, plan.part(c.me, i + 1)) + at,
                          d.dst + behind(d.bytes, plan.part(c.me, i)) + at, bytes, end);
    return s;
  });
}

GGAS_DEVICE ggas_status alltoall_by_pairs(rank_call& c, const own_data& d, poll_deadline& end) {
  const xor_plan plan{c.count};
  copy_own(d.dst + behind(d.bytes, c.me), d.src + behind(d.bytes, c.me), d.bytes);
  return by_packets(c, d, [&](size_t at, size_t bytes) {
    ggas_status s = ggas_ok;
    for (int i = 0; i < plan.steps() && s == ggas_ok; ++i) {
      const plan_step step = plan.at(c.me, i);
      const size_t there = behind(d.bytes, step.to == no_rank ? 0 : step.to) + at;
      s = step_by_buffers(c, step, d.dst + there, d.src + there, bytes, end);
    }
    return s;
  });
}

}  // namespace ggas::detail
