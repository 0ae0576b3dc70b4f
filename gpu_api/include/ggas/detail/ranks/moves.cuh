// SPDX-License-Identifier: Apache-2.0
// Collectives of ranks that move data: sources are stored directly into destinations, whose addresses every rank can
// compute, or into buffers of the receivers, which copy them from there (buffered.cuh). Included by ranks.cuh.
#pragma once

#include "ggas/detail/ranks/call.cuh"

namespace ggas::detail {

// The data of a rank: `bytes` for each rank, or each pair of ranks, from `src`, in which the parts for several ranks
// are `stride` bytes apart. Other ranks store to `dst`, in which parts are adjacent.
struct direct_move {
  static constexpr bool buffered = false;
  rank_place dst, from;  // of every rank; `src` is the own one of `from`
  const char* src;
  size_t bytes, stride;
  GGAS_DEVICE char* destination(const rank_call& c) const { return c.memory(dst, c.me); }
};
// The rank's own destination is another one.
struct buffered_move {
  static constexpr bool buffered = true;
  rank_place dst;
  const char* src;
  size_t bytes, stride;
  char* own;
  GGAS_DEVICE char* destination(const rank_call&) const { return own; }
};

GGAS_DEVICE size_t behind(size_t bytes, int part) { return static_cast<size_t>(part) * bytes; }
GGAS_DEVICE void copy_own(char* to, const char* from, size_t bytes) {
  copy_bytes(to, from, bytes, {thread_rank(), thread_count()});
}

// Where data lie that others have stored.
template <class M>
GGAS_DEVICE char* received_at(const rank_call& c, const M& m) {
  return c.memory(m.dst, c.me);
}
// Copies the data to the rank's destination. `s`: the status of the thread's wait for them.
template <class M>
GGAS_DEVICE ggas_status take_received(const rank_call& c, const M& m, size_t bytes, ggas_status s) {
  if constexpr (M::buffered) {
    s = status_of_ranks(c, s);
    if (s != ggas_ok) return s;
    copy_own(m.own, received_at(c, m), bytes);
    count_in(c, rank_layout::copies, 1);
    __syncthreads();
  }
  return s;
}

// ------------------------------------------------------------------------------------------------ within a GPU

// Ranks of one GPU read the data of one of them all at once, from its L2 cache; they wait at the begin and at the end
// anyway. With mode none the rank that has the data stores them instead: then no rank waits for it, and its source is
// free on return.
template <class M>
GGAS_DEVICE bool pulls(const rank_call& c) {
  return !M::buffered && !c.enters(ggas_in_none) && !c.leaves(ggas_out_none);
}

// By the block of the rank that has the data, when it has them.
GGAS_DEVICE void offer_here(const rank_call& c) {
  __syncthreads();
  if (!is_first_thread()) return;
  fence_acq_rel_gpu();
  store_relaxed(c.own_count(rank_layout::offered), c.number);
}
// Between ranks of one node: this rank copies the data of `giver` at `from` to its own destination. `giver` is notified
// that the data were read, if it waits for that.
GGAS_DEVICE ggas_status pull_here(const rank_call& c, int giver, bool offered, char* to, const char* from, size_t bytes,
                                  poll_deadline& end) {
  ggas_status s = ggas_ok;
  if (offered) {
    uint64_t seen;
    const uint64_t* const word = own_word(c.part(giver) + rank_layout::offered);
    if (is_first_thread() && !await_word<meeting::barrier>(word, c.number, seen, end)) s = timed_out_for(giver);
    s = status_of_ranks(c, s);
    if (s != ggas_ok) return s;
  }
  copy_own(to, from, bytes);
  if (!c.tells()) return s;
  __syncthreads();
  if (is_first_thread()) tell_rank(c, giver, rank_layout::arrived, c.number);
  return s;
}
// By the giver: all have read.
GGAS_DEVICE ggas_status await_readers(const rank_call& c, poll_deadline& end) {
  if (!c.tells()) return ggas_ok;
  return await_ranks(
      c, rank_layout::arrived, [&](int rank) { return c.is_here(rank); }, c.number, end);
}

// ------------------------------------------------------------------------------------------------ calls

// Along a tree of all ranks, or of one of each GPU, which gives to the others there: `giver` of the own one.
struct broadcast_tree {
  int root, blocks, node;  // ranks of a member of the tree, and which member the own rank is of
  bool pull;
  GGAS_DEVICE int rank_of(int member) const {
    return member == no_rank ? no_rank : member == root / blocks ? root : member * blocks;
  }
  GGAS_DEVICE int giver() const { return rank_of(node); }
};
template <class M>
GGAS_DEVICE broadcast_tree tree_of(const rank_call& c, const M& m, int root) {
  const bool pull = pulls<M>(c), together = pull || (!M::buffered && m.bytes <= most_of_warp);
  const int blocks = together ? static_cast<int>(c.ranks.blocks) : 1;
  return {root, blocks, c.me / blocks, pull};
}
// Where the giver of the own node has the data.
template <class M>
GGAS_DEVICE const char* given_at(const rank_call& c, const M& m, const broadcast_tree& t) {
  if constexpr (M::buffered)
    return m.src;  // each is its own giver
  else
    return c.memory(t.giver() == t.root ? m.from : m.dst, t.giver());
}

// A rank that sends on must have the data, whatever the mode.
template <class M>
GGAS_DEVICE ggas_status broadcast_to_ranks(const rank_call& c, const M& m, int root, poll_deadline& end) {
  const broadcast_tree t = tree_of(c, m, root);
  const binomial_plan plan{c.count / t.blocks, root / t.blocks};
  const int received = plan.receives_in(t.node), own_giver = t.giver(), children = plan.steps() - received - 1;
  const bool offered = !(c.enters(ggas_in_all) && own_giver == root);
  if (t.pull && c.me != own_giver)
    return pull_here(c, own_giver, offered, m.destination(c), given_at(c, m, t), m.bytes, end);
  // The ranks of the node follow the children.
  const int others = t.pull ? 0 : t.blocks - 1;
  const char* from = m.src;
  if (c.me != root) {
    const int parent = c.me == own_giver ? t.rank_of(plan.at(t.node, received).from) : own_giver;
    enter_for(c, [=](int rank) { return rank == parent; });
    const bool gives = c.me == own_giver && (children != 0 || t.blocks > 1);
    if (!gives && !c.tells()) return ggas_ok;
    ggas_status s = is_first_thread() ? await_rank(c, rank_layout::arrived, parent, c.number, end) : ggas_ok;
    s = status_of_ranks(c, s);
    if (s != ggas_ok || c.me != own_giver) return s;
    from = received_at(c, m);
  }
  if (t.pull && t.blocks > 1 && offered) offer_here(c);
  const auto target = [&](int i) {
    if (i < children) return t.rank_of(plan.at(t.node, received + 1 + i).to);
    const int rank = t.node * t.blocks + i - children;
    return rank < own_giver ? rank : rank + 1;
  };
  const ggas_status s = store_to_ranks(
      c, children + others, m.bytes, true, target, [&](int rank) { return c.memory(m.dst, rank); },
      [&](int) { return from; }, end);
  if (M::buffered && c.me != root) return take_received(c, m, m.bytes, s);
  copy_own(m.destination(c), from, m.bytes);
  return s == ggas_ok && t.pull ? await_readers(c, end) : s;
}

template <class M>
GGAS_DEVICE ggas_status scatter_to_ranks(const rank_call& c, const M& m, int root, poll_deadline& end) {
  const bool tells = c.tells(), pull = pulls<M>(c);
  if constexpr (!M::buffered) {
    if (pull && c.me != root && c.is_here(root))
      return pull_here(c, root, !c.enters(ggas_in_all), m.destination(c),
                       c.memory(m.from, root) + behind(m.stride, c.me), m.bytes, end);
  }
  if (c.me != root) {
    enter_for(c, [=](int rank) { return rank == root; });
    if (!tells) return ggas_ok;
    const ggas_status s = await_ranks(
        c, rank_layout::arrived, [=](int rank) { return rank == root; }, c.number, end);
    return take_received(c, m, m.bytes, s);
  }
  if (pull && !c.enters(ggas_in_all)) offer_here(c);
  const linear_plan plan{c.count, root};
  const auto target = [&](int i) {
    const int rank = plan.partner(i);
    return pull && c.is_here(rank) ? no_rank : rank;
  };
  const ggas_status s = store_to_ranks(
      c, pull && c.ranks.nodes.size == 1 ? 0 : plan.steps(), m.bytes, tells, target,
      [&](int rank) { return c.memory(m.dst, rank); }, [&](int rank) { return m.src + behind(m.stride, rank); }, end);
  copy_own(m.destination(c), m.src + behind(m.stride, c.me), m.bytes);
  return s == ggas_ok && pull ? await_readers(c, end) : s;
}

template <class M>
GGAS_DEVICE ggas_status gather_from_ranks(const rank_call& c, const M& m, int root, poll_deadline& end) {
  const bool tells = c.tells();
  char* const part = c.memory(m.dst, root) + behind(m.bytes, c.me);
  if (c.me != root)
    return store_to_ranks(
        c, 1, m.bytes, tells, [=](int) { return root; }, [=](int) { return part; }, [&](int) { return m.src; }, end);
  enter_for(c, [](int) { return true; });
  copy_own(part, m.src, m.bytes);
  if (!tells) return ggas_ok;
  const ggas_status s = await_ranks(
      c, rank_layout::arrived, [](int) { return true; }, c.number, end);
  return take_received(c, m, behind(m.bytes, c.count), s);
}

// A part for every rank: the same one, or in an alltoall another one for each.
template <class M>
GGAS_DEVICE ggas_status spread_to_ranks(const rank_call& c, const M& m, bool alike, poll_deadline& end) {
  const xor_plan plan{c.count};
  const bool tells = c.tells();
  const auto source = [&](int rank) { return alike ? m.src : m.src + behind(m.stride, rank); };
  enter_for(c, [](int) { return true; });
  const ggas_status s = store_to_ranks(
      c, plan.steps(), m.bytes, tells, [&](int i) { return plan.partner(c.me, i); },
      [&](int rank) { return c.memory(m.dst, rank) + behind(m.bytes, c.me); }, source, end);
  copy_own(received_at(c, m) + behind(m.bytes, c.me), source(c.me), m.bytes);
  if (s != ggas_ok || !tells) return s;
  const ggas_status all = await_ranks(
      c, rank_layout::arrived, [](int) { return true; }, c.number, end);
  return take_received(c, m, behind(m.bytes, c.count), all);
}

// ------------------------------------------------------------------------------------------------ permute

// A rank does not know which rank sends to it, so the word that reports the data must identify the permute: there are
// `turns` words, used in turn. A rank may write a word again when its target has left the permute `turns` ago. It
// learns this in the present permute, or, if ranks do not report their entry, by a report of each rank to all others in
// every eighth permute.
constexpr uint64_t permutes_between = rank_layout::turns / 2;

GGAS_DEVICE bool is_admitted(const rank_call& c, int to) {
  if (c.enters(ggas_in_all)) return true;
  const uint64_t last = rank_layout::turns - 1, before = c.permute > last ? c.permute - last : 0;
  const uint64_t least = c.enters(ggas_in_mine) ? c.permute : before;
  if (least != 0 && load_spin(c.own(rank_layout::admitted, to)) < least) return false;
  acquire_after_spin(c.own(rank_layout::admitted, to));
  return true;
}

// By the first warp, for the block: until one of the ranks has reported.
GGAS_DEVICE ggas_status await_source(const rank_call& c, poll_deadline& end) {
  const auto turn = rank_layout::came + static_cast<unsigned>(c.permute % rank_layout::turns);
  if (thread_rank() >= 32) return ggas_ok;
  for (;;) {
    bool found = false;
    for (int rank = static_cast<int>(lane_rank()); rank < c.count; rank += static_cast<int>(lane_count())) {
      if (load_spin(c.own(turn, rank)) != c.permute) continue;
      acquire_after_spin(c.own(turn, rank));
      found = true;
    }
    if (__any_sync(lane_mask(), found)) return ggas_ok;
    if (__any_sync(lane_mask(), lane_rank() == 0 && end.over())) return ggas_timed_out;
  }
}

template <class M>
GGAS_DEVICE ggas_status permute_ranks(const rank_call& c, const M& m, int to, poll_deadline& end) {
  const bool tells = c.tells();
  if (c.enters(ggas_in_mine) || c.permute % permutes_between == 0)
    tell_ranks(c, rank_layout::admitted, c.permute, [](int) { return true; });
  if (to == c.me) {
    copy_own(m.destination(c), m.src, m.bytes);
    return ggas_ok;
  }
  const ggas_status s = serve_ranks(
      c, 1, m.bytes, [=](int) { return to; }, [&](int rank) { return is_admitted(c, rank); },
      [&](int rank, const movers& by) { copy_bytes(c.memory(m.dst, rank), m.src, m.bytes, by); },
      [&](int rank) {
        const auto turn = rank_layout::came + static_cast<unsigned>(c.permute % rank_layout::turns);
        if (tells) tell_rank(c, rank, turn, c.permute);
      },
      end);
  return s == ggas_ok && tells ? take_received(c, m, m.bytes, await_source(c, end)) : s;
}

// ------------------------------------------------------------------------------------------------ calls

// Places of a call: dst and src of every rank.
struct rank_places {
  rank_place dst, src;
};
template <class T>
GGAS_DEVICE rank_places places_of(const ranked<T>& dst, const ranked<const T>& src) {
  static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0, "elements have 1, 2, 4, 8 or 16 bytes");
  static_assert(__is_trivially_copyable(T), "collectives move plain data");
  return {{dst.offset, dst.step}, {src.offset, src.step}};
}

// Parts of a place; at the root alone, or at every rank.
struct parts_there {
  int parts;
  bool everywhere;
};
// `in_place`: the rank's source may be its part of the destination, or the other way round.
GGAS_DEVICE bool call_places_good(const ggas_ranks& r, const rank_places& m, size_t n, unsigned element,
                                  parts_there dst, parts_there src, bool in_place) {
  const uint64_t one = bytes_of_parts(n, element, 1), to = bytes_of_parts(n, element, dst.parts),
                 from = bytes_of_parts(n, element, src.parts);
  const auto good = [&](const rank_place& p, uint64_t bytes, bool everywhere) {
    return everywhere ? rank_places_good(r, p, bytes, element) : rank_place_good(r, p, bytes, element);
  };
  if (n == 0 || !good(m.dst, to, dst.everywhere) || !good(m.src, from, src.everywhere)) return false;
  const auto block = static_cast<uint64_t>(block_rank() - r.first);
  const uint64_t written = m.dst.offset + block * m.dst.step, read = m.src.offset + block * m.src.step;
  const auto part = static_cast<uint64_t>(own_rank(r)) * one;
  const bool same = in_place && (dst.parts == src.parts ? written == read
                                 : dst.parts > 1        ? read == written + part
                                                        : written == read + part);
  return same || read + from <= written || written + to <= read;
}

}  // namespace ggas::detail
