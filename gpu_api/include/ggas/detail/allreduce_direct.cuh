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
  for (int hop = 1; hop < c.team.size; ++hop) refresh_slot(c, member_behind(c, hop), lines);
  for (unsigned i = me; i < items; i += threads) {
    uint64_t got;
    if (!take_line(c, c.inbox(member(i)) + i % lines, got, end)) return ggas_timed_out;
    take(member(i), i % lines, got);
  }
  if (me < items) fence_acq_rel_system();
  return ggas_ok;
}

// Count elements that are moved at once.
template <class T, unsigned Count>
struct alignas(Count * sizeof(T)) unit {
  T v[Count];
};

// What the units of a call have in common. Unit 0 begins `head` bytes behind the start of everybody's vector.
template <class T>
struct unit_moves {
  const channel& c;
  const vector_table& at;
  const piece<T>& p;
  uint64_t head;
};

// `Units` units of the own part, `step` apart from u on. The loads of up to `Members` members are issued before the
// first is used.
template <int Members, int Units, class T, unsigned Count>
GGAS_DEVICE void combine_units(const unit_moves<T>& m, size_t u, size_t step, unit<T, Count> (&sum)[Units]) {
  const int size = m.c.team.size;
  for (int first = 0; first < size; first += Members) {
    unit<T, Count> v[Members][Units];
    GGAS_UNROLL
    for (int k = 0; k < Members; ++k) {
      if (first + k < size) {
        const auto* const from = reinterpret_cast<const unit<T, Count>*>(m.at.src[first + k] + m.head) + u;
        GGAS_UNROLL
        for (int i = 0; i < Units; ++i) v[k][i] = load_relaxed(from + i * step);
      }
    }
    GGAS_UNROLL
    for (int k = 0; k < Members; ++k) {
      GGAS_UNROLL
      for (int i = 0; i < Units; ++i) {
        GGAS_UNROLL
        for (unsigned e = 0; e < Count; ++e) {
          if (first + k == 0)
            sum[i].v[e] = v[k][i].v[e];
          else if (first + k < size)
            sum[i].v[e] = combine(m.p.op, sum[i].v[e], v[k][i].v[e]);
        }
      }
    }
  }
}

template <int Members, int Units, unsigned Count, class T>
GGAS_DEVICE void move_units(const unit_moves<T>& m, size_t u, size_t step) {
  unit<T, Count> sum[Units]{};
  combine_units<Members, Units>(m, u, step, sum);
  for (int hop = 0; hop < m.c.team.size; ++hop) {
    const int to = member_behind(m.c, hop);
    if (!m.p.goes_to(to)) continue;
    auto* const there = reinterpret_cast<unit<T, Count>*>(m.at.dst[to] + m.head) + u;
    GGAS_UNROLL
    for (int i = 0; i < Units; ++i) store_relaxed(there + i * step, sum[i]);
  }
}

// Units first ... last - 1, as far as they fill groups; returns the first one left.
template <int Members, int Units, unsigned Count, class T>
GGAS_DEVICE size_t move_groups(const unit_moves<T>& m, size_t first, size_t last) {
  const size_t step = thread_count();
  for (; first + Units * step <= last; first += Units * step)
    move_units<Members, Units, Count>(m, first + thread_rank(), step);
  return first;
}

// Few members: more units at once, so that as many loads are under way.
template <unsigned Count, class T>
GGAS_DEVICE void move_range(const unit_moves<T>& m, size_t first, size_t last) {
  first = m.c.team.size <= 4 ? move_groups<4, 4, Count>(m, first, last) : move_groups<8, 2, Count>(m, first, last);
  const size_t step = thread_count();
  for (size_t u = first + thread_rank(); u < last; u += step) move_units<8, 1, Count>(m, u, step);
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

// Part `part` of `parts` of the vector: by 16 bytes where these are aligned alike at all members, else by elements.
template <class T>
GGAS_DEVICE void move_part(const channel& c, const vector_table& at, const piece<T>& p, size_t part, size_t parts) {
  constexpr unsigned wide = 16 / sizeof(T);
  const auto cut = [&](size_t units, size_t i) { return units / parts * i + units % parts * i / parts; };
  const unit_moves<T> by_element{c, at, p, 0};
  if (!congruent(c, at, p)) return move_range<1>(by_element, cut(p.n, part), cut(p.n, part + 1));
  // Elements before the first address that is a multiple of 16, units, elements behind.
  const size_t skew = (16 - at.src[0] % 16) % 16 / sizeof(T);
  const size_t head = skew < p.n ? skew : p.n;
  const size_t units = (p.n - head) / wide;
  move_range<wide>(unit_moves<T>{c, at, p, head * sizeof(T)}, cut(units, part), cut(units, part + 1));
  if (part == 0) move_range<1>(by_element, 0, head);
  if (part == parts - 1) move_range<1>(by_element, head + units * wide, p.n);
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
  const auto members = static_cast<size_t>(c.team.size);
  move_part(c, at, p, static_cast<size_t>(c.rank) * blocks + block, members * blocks);
  return release_exchange(
      c, 1, [](unsigned) { return uint64_t{0}; }, [](int, unsigned, uint64_t) {}, end);
}

}  // namespace ggas::detail
