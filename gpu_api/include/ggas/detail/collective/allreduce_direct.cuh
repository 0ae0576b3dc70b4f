// SPDX-License-Identifier: Apache-2.0
// reduce and allreduce over memory of peers: members exchange the addresses of their vectors, each loads its part of
// every member's vector, stores the result to every member (or the root), and all report the end to all. There are no
// intermediate copies: long vectors cost the time of their bytes. Included by collective.cuh.
#pragma once

#include "ggas/detail/collective/allreduce.cuh"

namespace ggas::detail {

// Where the vectors of the members are, as this node addresses them; shared by the block.
struct vector_table {
  uint64_t src[direct_members], dst[direct_members];
};

// The line that reports an offset has free bits above the offset. They hold a hash of the call's n, operation and root:
// where calls are guarded, this detects a member whose call differs (0.4 % more instructions in kernels of nvcc).
constexpr uint64_t offset_bits = 48;
template <class T>
GGAS_DEVICE uint64_t mark_of_call(const piece<T>& p) {
  const auto who = static_cast<uint32_t>(p.root + 1), what = static_cast<uint32_t>(p.op);
  return ((p.n << 8 ^ who << 4 ^ what) * 0x9e3779b97f4a7c15u) & ~uint64_t{0} << offset_bits;
}
template <class T>
GGAS_DEVICE call_id name_of_call(const piece<T>& p) {
  if (p.step != 0) return call_id::ggas_reducescatter;
  return p.root == everybody ? call_id::ggas_allreduce : call_id::ggas_reduce;
}
GGAS_DEVICE_FUNCTION ggas_status called_otherwise(call_id call, int node) {
  if (wait_record* const at = begin_refusal(waited_for::other_call, call, node)) end_record(at);
  return ggas_bad_argument;
}

// First exchange: every member reports the addresses of its vectors. After it, earlier stores of the block's threads
// are visible to the same block of every member.
template <class T>
GGAS_DEVICE ggas_status exchange_places(const channel& c, const piece<T>& p, vector_table& at, poll_deadline& end) {
  const context& own = device_context();
  const uint64_t mark = mark_of_call(p), of_offset = ~(~uint64_t{0} << offset_bits);
  const auto offset = [&](const T* v) {
    const uint64_t off = reinterpret_cast<uint64_t>(v) - reinterpret_cast<uint64_t>(own.local);
    return calls_are_guarded ? (off & of_offset) | mark : off;
  };
  const unsigned items = static_cast<unsigned>(c.team.size - 1) * 2, me = thread_rank(), threads = thread_count();
  const auto member = [&](unsigned item) { return member_behind(c, static_cast<int>(item / 2) + 1); };
  __syncthreads();
  if (me < items) release_stores();
  for (unsigned i = me; i < items; i += threads)
    send_line(c, c.outbox(member(i)) + i % 2, offset(i % 2 == 0 ? p.src : p.dst));
  refresh_slots(c, [](int) { return 2u; });
  if (me == 0) {
    at.src[c.rank] = reinterpret_cast<uint64_t>(p.src);
    at.dst[c.rank] = reinterpret_cast<uint64_t>(p.dst);
  }
  for (unsigned i = me; i < items; i += threads) {
    const channel_line* const line = c.inbox(member(i)) + i % 2;
    uint64_t off;
    if (!take_line(c, line, off, end)) return no_line(c, line);
    acquire_line(line);
    const auto node = static_cast<uint64_t>(ggas_team_node(c.team, member(i)));
    if (calls_are_guarded) {
      if (((off ^ mark) & ~of_offset) != 0) return called_otherwise(name_of_call(p), static_cast<int>(node));
      off &= of_offset;
    }
    (i % 2 == 0 ? at.src : at.dst)[member(i)] = reinterpret_cast<uint64_t>(own.window + node * own.stride + off);
  }
  return ggas_ok;
}

// Count elements that are moved at once.
template <class T, unsigned Count>
struct alignas(Count * sizeof(T)) unit {
  T v[Count];
};

// What the units of a call have in common.
struct unit_moves {
  const vector_table* at;
  int rank, members;
  ggas_op op;
  int root;  // rank of who gets the result, or every member

  template <class T>
  GGAS_DEVICE unit_moves(const channel& c, const vector_table& places, const piece<T>& p)
      : at(&places), rank(c.rank), members(c.team.size), op(p.op), root(p.root) {}
};

// Combines `Units` units of every member's vector, `step` bytes apart, in the order of ranks. If only the first `here`
// units are needed, the first unit is loaded in place of the others. All loads of `Members` members are issued before
// the first value is used. For members that do not exist the own vector is loaded: unused loads cost less than
// registers that are written conditionally.
template <int Members, int Units, unsigned Count, class T>
GGAS_DEVICE void combine_units(const unit_moves& m, uint64_t at, uint64_t step, int here,
                               unit<T, Count> (&sum)[Units]) {
  GGAS_NO_UNROLL
  for (int first = 0; first < m.members; first += Members) {
    uint64_t from[Members];
    GGAS_UNROLL
    for (int k = 0; k < Members; ++k) from[k] = m.at->src[first + k < m.members ? first + k : m.rank] + at;
    unit<T, Count> v[Members][Units];
    GGAS_UNROLL
    for (int k = 0; k < Members; ++k) {
      GGAS_UNROLL
      for (int i = 0; i < Units; ++i)
        v[k][i] = load_relaxed(reinterpret_cast<const unit<T, Count>*>(from[k] + (i < here ? i * step : 0)));
    }
    with_operation<T>(m.op, [&](operation<T> combined) GGAS_INLINED {
      GGAS_UNROLL
      for (int k = 0; k < Members; ++k) {
        if (first + k >= m.members) break;
        GGAS_UNROLL
        for (int i = 0; i < Units; ++i) {
          GGAS_UNROLL
          for (unsigned e = 0; e < Count; ++e)
            sum[i].v[e] = first + k == 0 ? v[k][i].v[e] : combined(sum[i].v[e], v[k][i].v[e]);
        }
      }
    });
  }
}
template <int Members, int Units, unsigned Count, class T>
GGAS_DEVICE void move_units(const unit_moves& m, uint64_t at, uint64_t step, int here) {
  unit<T, Count> sum[Units]{};
  combine_units<Members>(m, at, step, here, sum);
  GGAS_NO_UNROLL
  for (int hop = 0; hop < m.members; ++hop) {
    const int to = m.rank + hop < m.members ? m.rank + hop : m.rank + hop - m.members;
    if (m.root != everybody && m.root != to) continue;
    const uint64_t there = m.at->dst[to] + at;
    GGAS_UNROLL
    for (int i = 0; i < Units; ++i)
      if (i < here) store_relaxed(reinterpret_cast<unit<T, Count>*>(there + i * step), sum[i]);
  }
}

// A range of bytes of every member's vector that a team's blocks move: block `block` moves the pieces block, block +
// blocks ... of it, so that all blocks together work on adjacent pieces.
struct byte_range {
  uint64_t first, end;
  unsigned block, blocks;
};

template <int Members, int Units, unsigned Count, class T>
GGAS_DEVICE void move_range(const unit_moves& m, const byte_range& r) {
  const uint64_t step = thread_count() * sizeof(unit<T, Count>), all = Units * step;
  uint64_t at = r.first + r.block * all + thread_rank() * sizeof(unit<T, Count>);
  GGAS_NO_UNROLL
  for (; at + (Units - 1) * step < r.end; at += r.blocks * all)
    move_units<Members, Units, Count, T>(m, at, step, Units);
  // What is left is fewer units; in sequence each would take the time of a load.
  if (at < r.end) move_units<Members, Units, Count, T>(m, at, step, static_cast<int>((r.end - at - 1) / step) + 1);
}

constexpr unsigned wide = 16;  // bytes

// Moves 16 bytes at a time, and single elements at the ends and for vectors with different alignments. Not inline:
// there is one copy of each for all methods, with separate registers.
template <int Members, int Units, class T>
GGAS_DEVICE_FUNCTION void move_wide_units(unit_moves m, byte_range r) {
  move_range<Members, Units, wide / sizeof(T), T>(m, r);
}
// A thread has 16 loads in flight; in libggas_device, which must fit kernels of 72 registers, it has 8. That is the
// useful number for two members.
template <class T>
GGAS_DEVICE void move_widely(const unit_moves& m, const byte_range& r) {
#ifdef GGAS_MAKES_LIBRARY
  m.members <= 2 ? move_wide_units<2, 4, T>(m, r) : move_wide_units<4, 2, T>(m, r);
#else
  m.members <= 4 ? move_wide_units<4, 4, T>(m, r) : move_wide_units<members_at_once, 2, T>(m, r);
#endif
}
template <class T>
GGAS_DEVICE_FUNCTION void move_singly(unit_moves m, byte_range r) {
  move_range<members_at_once, 1, 1, T>(m, r);
}

template <class T>
GGAS_DEVICE bool congruent(const channel& c, const vector_table& at, const piece<T>& p) {
  uint64_t different = 0;
  for (int i = 0; i < c.team.size; ++i) {
    different |= at.src[i] ^ at.src[0];
    if (p.goes_to(i)) different |= at.dst[i] ^ at.src[0];
  }
  return different % 16 == 0;
}

// Elements before the first address of every member's vector that is a multiple of 16, whole units, elements after.
struct vector_cut {
  uint64_t head, tail, bytes;
  GGAS_DEVICE vector_cut(uint64_t address, uint64_t all) : bytes(all) {
    const uint64_t skew = (16 - address % 16) % 16;
    head = skew < bytes ? skew : bytes;
    tail = head + (bytes - head) / 16 * 16;
  }
};
// The part of the bytes [from, to) that a member combines. The root of a reduce combines nothing if there are two or
// more other members, because its links can carry only the results.
GGAS_DEVICE byte_range part_of_member(uint64_t from, uint64_t to, const channel& c, int root, unsigned block,
                                      unsigned blocks) {
  const bool spared = root != everybody && c.team.size > 2;
  const auto rank = static_cast<uint64_t>(spared ? (c.rank - root - 1 + c.team.size) % c.team.size : c.rank);
  const auto members = static_cast<uint64_t>(c.team.size - spared);
  const uint64_t each = (to - from + wide * members - 1) / (wide * members) * wide, first = from + rank * each;
  return {first < to ? first : to, to < first + each ? to : first + each, block, blocks};
}

// The part of this member: by 16 bytes where these are aligned alike at all members, else by elements.
template <class T>
GGAS_DEVICE void move_part(const channel& c, const vector_table& at, const piece<T>& p, unsigned block,
                           unsigned blocks) {
  const unit_moves m(c, at, p);
  const vector_cut cut(at.src[0], p.n * sizeof(T));
  if (!congruent(c, at, p)) return move_singly<T>(m, part_of_member(0, cut.bytes, c, p.root, block, blocks));
  move_widely<T>(m, part_of_member(cut.head, cut.tail, c, p.root, block, blocks));
  if (c.rank == 0 && cut.head > 0) move_singly<T>(m, byte_range{0, cut.head, block, blocks});
  if (c.rank == c.team.size - 1 && cut.tail < cut.bytes)
    move_singly<T>(m, byte_range{cut.tail, cut.bytes, block, blocks});
}

// The whole vector, to this member alone.
template <class T>
GGAS_DEVICE void move_all(const channel& c, const vector_table& at, const piece<T>& p, unsigned block,
                          unsigned blocks) {
  if (!p.goes_to(c.rank)) return;
  const piece<T> mine = p.to(c.rank);
  const unit_moves m(c, at, mine);
  const vector_cut cut(at.src[0], p.n * sizeof(T));
  if (!congruent(c, at, mine)) return move_singly<T>(m, byte_range{0, cut.bytes, block, blocks});
  move_widely<T>(m, byte_range{cut.head, cut.tail, block, blocks});
  move_singly<T>(m, byte_range{0, cut.head, block, blocks});
  move_singly<T>(m, byte_range{cut.tail, cut.bytes, block, blocks});
}

// Whether a member of an allreduce works in place: no other member may touch its vector then but to bring the result.
template <class T>
GGAS_DEVICE bool somebody_in_place(const channel& c, const vector_table& at, const piece<T>& p) {
  bool in_place = false;
  for (int i = 0; i < c.team.size; ++i) in_place = in_place || (p.root == everybody && at.src[i] == at.dst[i]);
  return in_place;
}

// Informs every member's places, then move(places) to the end of the last exchange.
template <class T, class Move>
GGAS_DEVICE ggas_status between_places(channel& c, const piece<T>& p, poll_deadline& end, Move move) {
  GGAS_SHARED(vector_table, at);
  const ggas_status mine = exchange_places(c, p, at, end);
  if (!next_exchange(c, mine)) return mine;
  return move(at);
}

template <class T>
GGAS_DEVICE ggas_status direct(channel& c, const piece<T>& p, unsigned block, unsigned blocks, poll_deadline& end) {
  return between_places(c, p, end, [&](vector_table& at) {
    move_part(c, at, p, block, blocks);
    __syncthreads();
    return finish_stores(
        c, [] {}, end);
  });
}

}  // namespace ggas::detail
