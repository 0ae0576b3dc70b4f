// SPDX-License-Identifier: Apache-2.0
// reduce and allreduce over memory of peers: members tell each other where their vectors are, each loads its part of
// everybody's, stores the result to everybody (or the root), and all tell each other that they are done. No copies:
// what long vectors cost is their bytes. Included by collective.cuh.
#pragma once

#include "ggas/detail/reduction.cuh"

namespace ggas::detail {

constexpr int direct_members = 64;

// Where the vectors of the members are, as this node addresses them; shared by the block.
struct vector_table {
  uint64_t src[direct_members], dst[direct_members];
};

// Entry and exit: everything that the block's threads stored before is visible to the same block of every member after
// it. `data(line)` is sent in each of `lines` lines to everybody, `take(member, line, data)` gets what they sent.
template <class Data, class Take>
GGAS_DEVICE ggas_status release_exchange(const channel& c, unsigned lines, Data data, Take take, patience& end) {
  const unsigned items = static_cast<unsigned>(c.team.size - 1) * lines, me = thread_rank(), threads = thread_count();
  const auto member = [&](unsigned item) { return member_behind(c, static_cast<int>(item / lines) + 1); };
  __syncthreads();
  if (me < items) fence_acq_rel_system();
  for (unsigned i = me; i < items; i += threads) send_line(c, c.outbox(member(i)) + i % lines, data(i % lines));
  refresh_slots(c, [&](int) { return lines; });
  for (unsigned i = me; i < items; i += threads) {
    const channel_line* const line = c.inbox(member(i)) + i % lines;
    uint64_t got;
    if (!take_line(c, line, got, end)) return ggas_timed_out;
    acquire_line(line);
    take(member(i), i % lines, got);
  }
  return ggas_ok;
}

// Count elements that are moved at once.
template <class T, unsigned Count>
struct alignas(Count * sizeof(T)) unit {
  T v[Count];
};

// What the units of a call have in common.
template <class T>
struct unit_moves {
  const channel& c;
  const vector_table& at;
  const piece<T>& p;
};

// Units that a thread moves at once: those at the offsets `at + i * step` below `end`, bytes behind the start of
// everybody's vector.
struct unit_offsets {
  uint64_t at, step, end;
  GGAS_DEVICE bool has(int i) const { return at + static_cast<uint64_t>(i) * step < end; }
};
constexpr int units_at_once = 2;

// Combined in the order of ranks. The loads of up to 8 members are issued before the first is used.
template <unsigned Count, class T>
GGAS_DEVICE void combine_units(const unit_moves<T>& m, const unit_offsets& o, unit<T, Count> (&sum)[units_at_once]) {
  const int size = m.c.team.size;
  GGAS_NO_UNROLL
  for (int first = 0; first < size; first += members_at_once) {
    unit<T, Count> v[members_at_once][units_at_once];
    GGAS_UNROLL
    for (int k = 0; k < members_at_once; ++k) {
      if (first + k < size) {
        const uint64_t from = m.at.src[first + k] + o.at;
        GGAS_UNROLL
        for (int i = 0; i < units_at_once; ++i) {
          if (o.has(i)) v[k][i] = load_relaxed(reinterpret_cast<const unit<T, Count>*>(from + i * o.step));
        }
      }
    }
    GGAS_UNROLL
    for (int k = 0; k < members_at_once; ++k) {
      if (first + k < size) {
        GGAS_UNROLL
        for (int i = 0; i < units_at_once; ++i) {
          GGAS_UNROLL
          for (unsigned e = 0; e < Count; ++e)
            sum[i].v[e] = first + k == 0 ? v[k][i].v[e] : combine(m.p.op, sum[i].v[e], v[k][i].v[e]);
        }
      }
    }
  }
}

// A range of bytes of everybody's vector that a team's blocks move: block `block` the pieces block, block + blocks ...
// of it, so that all blocks together are at one place of the vector.
struct byte_range {
  uint64_t first, end;
  unsigned block, blocks;
};

template <unsigned Count, class T>
GGAS_DEVICE void move_range(const unit_moves<T>& m, const byte_range& r) {
  using one = unit<T, Count>;
  const uint64_t step = thread_count() * sizeof(one), all = units_at_once * step;
  GGAS_NO_UNROLL
  for (uint64_t at = r.first + r.block * all + thread_rank() * sizeof(one); at < r.end; at += r.blocks * all) {
    const unit_offsets o{at, step, r.end};
    one sum[units_at_once]{};
    combine_units<Count>(m, o, sum);
    GGAS_NO_UNROLL
    for (int hop = 0; hop < m.c.team.size; ++hop) {
      const int to = member_behind(m.c, hop);
      if (!m.p.goes_to(to)) continue;
      const uint64_t there = m.at.dst[to] + at;
      GGAS_UNROLL
      for (int i = 0; i < units_at_once; ++i) {
        if (o.has(i)) store_relaxed(reinterpret_cast<one*>(there + i * step), sum[i]);
      }
    }
  }
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

// The part of this member: by 16 bytes where these are aligned alike at all members, else by elements.
template <class T>
GGAS_DEVICE void move_part(const unit_moves<T>& m, unsigned block, unsigned blocks) {
  const auto rank = static_cast<uint64_t>(m.c.rank), members = static_cast<uint64_t>(m.c.team.size);
  const uint64_t bytes = m.p.n * sizeof(T), each = (bytes + 16 * members - 1) / (16 * members) * 16;
  const auto part = [&](uint64_t from, uint64_t to) {
    const uint64_t first = from + rank * each;
    return byte_range{first < to ? first : to, to < first + each ? to : first + each, block, blocks};
  };
  if (!congruent(m.c, m.at, m.p)) return move_range<1>(m, part(0, bytes));
  // Elements before the first address that is a multiple of 16, whole units, elements behind.
  const uint64_t skew = (16 - m.at.src[0] % 16) % 16, head = skew < bytes ? skew : bytes;
  const uint64_t tail = head + (bytes - head) / 16 * 16;
  move_range<16 / sizeof(T)>(m, part(head, tail));
  if (rank == 0) move_range<1>(m, byte_range{0, head, block, blocks});
  if (rank == members - 1) move_range<1>(m, byte_range{tail, bytes, block, blocks});
}

// Block `block` of `blocks` that share the vector.
template <class T>
GGAS_DEVICE ggas_status direct(channel& c, const piece<T>& p, unsigned block, unsigned blocks, patience& end) {
  GGAS_SHARED(vector_table, at);
  const context& own = device_context();
  const auto offset = [&](const T* v) { return reinterpret_cast<uint64_t>(v) - reinterpret_cast<uint64_t>(own.local); };
  const auto address = [&](int member, uint64_t off) {
    const int node = ggas_team_node(c.team, member);
    char* const segment = node == own.node ? own.local : own.window + static_cast<uint64_t>(node) * own.stride;
    return reinterpret_cast<uint64_t>(segment + off);
  };
  if (thread_rank() == 0) {
    at.src[c.rank] = reinterpret_cast<uint64_t>(p.src);
    at.dst[c.rank] = reinterpret_cast<uint64_t>(p.dst);
  }
  ggas_status mine = release_exchange(
      c, 2, [&](unsigned line) { return line == 0 ? offset(p.src) : offset(p.dst); },
      [&](int member, unsigned line, uint64_t off) { (line == 0 ? at.src : at.dst)[member] = address(member, off); },
      end);
  if (!next_exchange(c, mine)) return mine;
  move_part(unit_moves<T>{c, at, p}, block, blocks);
  return release_exchange(
      c, 1, [](unsigned) { return uint64_t{0}; }, [](int, unsigned, uint64_t) {}, end);
}

}  // namespace ggas::detail
