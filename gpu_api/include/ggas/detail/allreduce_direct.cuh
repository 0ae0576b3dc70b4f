// SPDX-License-Identifier: Apache-2.0
// reduce and allreduce of long vectors: in rounds each member stores its share of everybody's part to the stage of the
// member that combines the part, which stores the sum straight to everybody's vector (or the root's). Only stores, each
// byte once: what long vectors cost is their bytes. Included by collective.cuh.
#pragma once

#include "ggas/detail/reduction.cuh"

namespace ggas::detail {

constexpr int direct_members = 64;

// An exchange behind data: what the block's threads stored before is visible to the same block of every member after it
// and a block barrier. `data` goes to everybody, `take(member, data)` gets what they sent.
template <class Take>
GGAS_DEVICE ggas_status release_exchange(const channel& c, uint64_t data, Take take, patience& end) {
  const int me = static_cast<int>(thread_rank()), threads = static_cast<int>(thread_count());
  __syncthreads();
  if (me + 1 < c.team.size) fence_acq_rel_system();
  for (int hop = me + 1; hop < c.team.size; hop += threads) send_line(c, c.outbox(member_behind(c, hop)), data);
  refresh_slots(c, [](int) { return 1; });
  for (int hop = me + 1; hop < c.team.size; hop += threads) {
    const int member = member_behind(c, hop);
    uint64_t got;
    if (!take_line(c, c.inbox(member), got, end)) return ggas_timed_out;
    acquire_line(c.inbox(member));
    take(member, got);
  }
  return ggas_ok;
}

// 16 bytes of a vector.
template <class T>
struct alignas(16) unit {
  static constexpr unsigned count = 16 / sizeof(T);
  T v[count];
};

template <class T>
GGAS_DEVICE bool unit_at_once(const T* p, uint64_t u, size_t n) {
  return (u + 1) * unit<T>::count <= n && reinterpret_cast<uintptr_t>(p) % 16 == 0;
}
// Unit u of a vector of n: at once if it is aligned and whole.
template <class T>
GGAS_DEVICE unit<T> load_unit(const T* src, uint64_t u, size_t n) {
  if (unit_at_once(src, u, n)) return load_own(reinterpret_cast<const unit<T>*>(src) + u);
  unit<T> all{};
  GGAS_UNROLL
  for (unsigned e = 0; e < unit<T>::count; ++e) {
    if (u * unit<T>::count + e < n) all.v[e] = load_own(src + u * unit<T>::count + e);
  }
  return all;
}
template <class T>
GGAS_DEVICE void store_unit(T* dst, uint64_t u, size_t n, const unit<T>& all) {
  if (unit_at_once(dst, u, n)) return store_relaxed(reinterpret_cast<unit<T>*>(dst) + u, all);
  GGAS_UNROLL
  for (unsigned e = 0; e < unit<T>::count; ++e) {
    if (u * unit<T>::count + e < n) store_relaxed(dst + u * unit<T>::count + e, all.v[e]);
  }
}

// How the units of a vector are dealt out: each member combines `each` of them, a block of it `most` in a round, and
// the blocks of a member are side by side.
struct unit_shares {
  uint64_t units, each;
  unsigned most, block, blocks, rounds;

  GGAS_DEVICE unit_shares(uint64_t units, unsigned members, unsigned block, unsigned blocks, unsigned stage_units)
      : units(units), each((units + members - 1) / members), block(block), blocks(blocks) {
    constexpr unsigned grain = 8;  // 128 bytes
    const uint64_t fair = ((each + blocks - 1) / blocks + grain - 1) / grain * grain;
    most = fair < stage_units ? static_cast<unsigned>(fair) : stage_units;
    rounds = static_cast<unsigned>((each + uint64_t{most} * blocks - 1) / (uint64_t{most} * blocks));
  }
  GGAS_DEVICE bool none() const { return uint64_t{most} * block >= each; }  // for this block, in any round
  GGAS_DEVICE uint64_t first(int member, unsigned round) const {
    return static_cast<uint64_t>(member) * each + (uint64_t{round} * blocks + block) * most;
  }
  GGAS_DEVICE unsigned count(int member, unsigned round) const {
    const uint64_t part_end = static_cast<uint64_t>(member + 1) * each, end = part_end < units ? part_end : units;
    const uint64_t from = first(member, round), here = from < end ? end - from : 0;
    return here < most ? static_cast<unsigned>(here) : most;
  }
};

// What the rounds of a call have in common.
template <class T>
struct staged {
  const channel& c;
  const piece<T>& p;
  const unit_shares& shares;
  const uint64_t* dst;  // addresses of everybody's vector

  // Where this node writes for another member, and where that has written for it.
  GGAS_DEVICE unit<T>* outbox(int member, unsigned round) const {
    const context& own = device_context();
    const auto node = static_cast<uint64_t>(ggas_team_node(c.team, member));
    return reinterpret_cast<unit<T>*>(own.window + node * own.stride + stage(own.node, round));
  }
  GGAS_DEVICE const unit<T>* inbox(int member, unsigned round) const {
    return reinterpret_cast<const unit<T>*>(device_context().local + stage(ggas_team_node(c.team, member), round));
  }

 private:
  GGAS_DEVICE uint64_t stage(int source, unsigned round) const {
    return own_layout().stage(shares.block, round, static_cast<uint64_t>(source));
  }
};

// To every other member its units of the round; all threads store to all members at once.
template <class T>
GGAS_DEVICE void push_round(const staged<T>& s, unsigned round) {
  constexpr unsigned at_once = 4;
  const unsigned most = s.shares.most, all = static_cast<unsigned>(s.c.team.size - 1) * most;
  GGAS_NO_UNROLL
  for (unsigned base = thread_rank(); base < all; base += at_once * thread_count()) {
    unit<T> v[at_once];
    unit<T>* to[at_once];
    GGAS_UNROLL
    for (unsigned i = 0; i < at_once; ++i) {
      const unsigned at = base + i * thread_count(), u = at % most;
      const int member = at < all ? member_behind(s.c, static_cast<int>(at / most) + 1) : s.c.rank;
      to[i] = nullptr;
      if (at >= all || u >= s.shares.count(member, round)) continue;
      to[i] = s.outbox(member, round) + u;
      v[i] = load_unit(s.p.src, s.shares.first(member, round) + u, s.p.n);
    }
    GGAS_UNROLL
    for (unsigned i = 0; i < at_once; ++i) {
      if (to[i]) store_relaxed(to[i], v[i]);
    }
  }
}

// Unit u of the round's units of this member, combined in the order of ranks. The loads of up to 8 members are issued
// before the first is used.
template <class T>
GGAS_DEVICE unit<T> combine_unit(const staged<T>& s, unsigned round, unsigned u) {
  unit<T> sum{};
  GGAS_NO_UNROLL
  for (int first = 0; first < s.c.team.size; first += members_at_once) {
    unit<T> v[members_at_once];
    GGAS_UNROLL
    for (int k = 0; k < members_at_once; ++k) {
      if (first + k < s.c.team.size && first + k != s.c.rank) v[k] = load_relaxed(s.inbox(first + k, round) + u);
    }
    const int own = s.c.rank - first;
    unit<T> mine{};
    if (own >= 0 && own < members_at_once) mine = load_unit(s.p.src, s.shares.first(s.c.rank, round) + u, s.p.n);
    GGAS_UNROLL
    for (int k = 0; k < members_at_once; ++k) {
      if (first + k >= s.c.team.size) continue;
      const unit<T> a = k == own ? mine : v[k];
      GGAS_UNROLL
      for (unsigned e = 0; e < unit<T>::count; ++e)
        sum.v[e] = first + k == 0 ? a.v[e] : combine(s.p.op, sum.v[e], a.v[e]);
    }
  }
  return sum;
}

template <class T>
GGAS_DEVICE void combine_round(const staged<T>& s, unsigned round) {
  const unsigned count = s.shares.count(s.c.rank, round);
  const uint64_t first = s.shares.first(s.c.rank, round);
  GGAS_NO_UNROLL
  for (unsigned u = thread_rank(); u < count; u += thread_count()) {
    const unit<T> sum = combine_unit(s, round, u);
    GGAS_NO_UNROLL
    for (int hop = 0; hop < s.c.team.size; ++hop) {
      const int to = member_behind(s.c, hop);
      if (s.p.goes_to(to)) store_unit(reinterpret_cast<T*>(s.dst[to]), first + u, s.p.n, sum);
    }
  }
}

// Block `block` of `blocks` that share the vector. Two stages in turn: a member's exchange of round r + 1 says that it
// has combined round r, so its stage may be written in round r + 2; the last exchange says that all are done, with the
// vector and with all stages.
template <class T>
GGAS_DEVICE ggas_status direct(channel& c, const piece<T>& p, const unit_shares& shares, patience& end) {
  GGAS_SHARED_ARRAY(uint64_t, dst, direct_members);
  const context& own = device_context();
  const uint64_t offset = reinterpret_cast<uint64_t>(p.dst) - reinterpret_cast<uint64_t>(own.local);
  const auto learn = [&](int member, uint64_t off) {
    const auto node = static_cast<uint64_t>(ggas_team_node(c.team, member));
    dst[member] = reinterpret_cast<uint64_t>(own.window) + node * own.stride + off;
  };
  if (thread_rank() == 0) dst[c.rank] = reinterpret_cast<uint64_t>(p.dst);
  const staged<T> s{c, p, shares, dst};
  for (unsigned round = 0; round < shares.rounds; ++round) {
    push_round(s, round);
    const ggas_status mine = release_exchange(c, offset, learn, end);
    if (!next_exchange(c, mine)) return mine;
    combine_round(s, round);
  }
  return release_exchange(
      c, 0, [](int, uint64_t) {}, end);
}

}  // namespace ggas::detail
