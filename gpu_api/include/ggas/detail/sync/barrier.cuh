// SPDX-License-Identifier: Apache-2.0
// barrier and sync of a team. Push only, no remote loads, no atomics, one writer to a word; flags hold the number of
// the barrier, so nothing is cleared but by a reset of the cluster. A number is used for one call of a member: one that
// fails is its last (docs/failures.md). Two ways: where the window is plain memory every member tells every other one:
// one hop, and stores cost next to nothing. Behind a NIC check-in flags lie on the master (member 0), where one thread
// polls one flag for each other member, and a check-out flag lies on every member: 2 (n - 1) packets. If the NIC has a unit
// for collectives, it does the one of all nodes. Included by collective.cuh.
#pragma once

#include "ggas/detail/sync/group.cuh"
#include "ggas/detail/sync/nic_unit.cuh"
#include "ggas/detail/sync/wait.cuh"
#include "ggas/team.cuh"

namespace ggas::detail {

GGAS_DEVICE uint64_t* word_of(int node, uint64_t offset) { return ggas_pointer_of_node<uint64_t>(node, offset); }

// Before a block returns a failure of a barrier or collective: the next ones of the node return ggas_broken. By one
// thread.
GGAS_DEVICE_FUNCTION void break_node() {
  for (uint64_t team = 0; team < layout::teams; ++team)
    store_relaxed(own_word(layout::barrier_broken(team)), uint64_t{1});
  store_relaxed(own_word(layout::broken), uint64_t{1});
}

// Of a team's barriers, or of those of the node's grids: a count, and whether anything failed on the node.
struct alignas(16) progress_here {
  uint64_t count, broken;
};
GGAS_DEVICE progress_here* own_progress(uint64_t offset) { return reinterpret_cast<progress_here*>(own_word(offset)); }

// Barrier: what was stored before is visible behind it. Sync: arrival only.
enum class meeting { barrier, sync };

// Waits until a word is at least `least`; `seen` is what was found. False: time is up.
template <meeting M>
GGAS_DEVICE bool await_word(const uint64_t* word, uint64_t least, uint64_t& seen, patience& end) {
  while ((seen = load_spin(word)) < least) {
    if (end.over()) return false;
  }
  if (M == meeting::barrier) acquire_after_spin(word);
  return true;
}
template <meeting M>
GGAS_DEVICE ggas_status await_word(const uint64_t* word, uint64_t least, patience& end) {
  uint64_t seen;
  return await_word<M>(word, least, seen, end) ? ggas_ok : ggas_timed_out;
}

// ------------------------------------------------------------------------------------------------ behind a NIC

// Stores order along one pair of nodes; over a third node (the master) only completion tells. So with more than two
// nodes behind a NIC the barrier first waits until the stores have arrived. Puts are not ordered with the barrier's
// stores at all: it waits for them.
GGAS_DEVICE ggas_status settle_stores() {
  if (ggas_nodes() > 2) return ggas_quiet();
  if (const ggas_status puts = quiet_puts(); puts != ggas_ok) return puts;
  ggas_fence();
  return ggas_ok;
}

// By the whole block, with the status of all. What any thread calls next finds the mark.
GGAS_DEVICE ggas_status end_of_meeting(ggas_status s) {
  if (s == ggas_ok) return s;
  if (thread_rank() == 0) break_node();
  __syncthreads();
  return s;
}
// Whom a meeting of that number was waited for in vain: members that have not said it. Behind a NIC only the master
// hears them.
GGAS_DEVICE_FUNCTION void record_meeting(ggas_team t, uint64_t number, ggas_status s) {
  record_writer r(waited_for::members, s);
  uint64_t said = load_relaxed(own_word(layout::check_out(t.id)));
  const bool by_master = nic_page() && ggas_node() != t.first && !unit_serves(t);  // the unit tells of nobody
  if (by_master) r.add_missing(t.first);
  GGAS_NO_UNROLL
  for (int i = 0; i < t.size && !by_master && !unit_serves(t); ++i) {
    const int node = ggas_team_node(t, i);
    const uint64_t of_node = load_relaxed(own_word(own_layout().check_in(t.id, static_cast<uint64_t>(node))));
    if (node == ggas_node() || of_node >= number) continue;
    if (r.missing() == 0) said = of_node;
    r.add_missing(node);
  }
  r.wanted(number, said);
  r.end();
}

// Only a meeting that ended well counts.
GGAS_DEVICE ggas_status end_of_meeting(const ggas_team& t, uint64_t number, ggas_status s) {
  if (s == ggas_ok && thread_rank() == 0) store_own(own_word(layout::barrier_epoch(t.id)), number);
  if (is_in_vain(s) && thread_rank() == 0) record_meeting(t, number, s);
  return end_of_meeting(s);
}

template <meeting M>
GGAS_DEVICE ggas_status meet_as_master(const layout& l, const ggas_team& t, uint64_t number, patience& end) {
  const int threads = static_cast<int>(thread_count()), first = static_cast<int>(thread_rank()) + 1;
  ggas_status s = ggas_ok;
  for (int i = first; i < t.size && s == ggas_ok; i += threads) {
    const auto node = static_cast<uint64_t>(ggas_team_node(t, i));
    s = await_word<M>(own_word(l.check_in(t.id, node)), number, end);
  }
  s = block_status(s);
  if (s != ggas_ok) return s;
  for (int i = first; i < t.size; i += threads)
    store_relaxed(word_of(ggas_team_node(t, i), layout::check_out(t.id)), number);
  return ggas_ok;
}

template <meeting M>
GGAS_DEVICE ggas_status meet_as_follower(const layout& l, const ggas_team& t, uint64_t number, patience& end) {
  ggas_status s = ggas_ok;
  if (thread_rank() == 0) {
    store_relaxed(word_of(t.first, l.check_in(t.id, static_cast<uint64_t>(ggas_node()))), number);
    s = await_word<M>(own_word(layout::check_out(t.id)), number, end);
  }
  return block_status(s);
}

template <meeting M>
GGAS_DEVICE ggas_status meet_at_master(const layout& l, const ggas_team& t, patience& end) {
  GGAS_SHARED(uint64_t, number);
  __syncthreads();  // every thread's stores are before the fence of thread 0
  ggas_status s = ggas_ok;
  if (thread_rank() == 0) {
    const progress_here before = load_relaxed(own_progress(layout::barrier_epoch(t.id)));
    number = before.count + 1;
    if (before.broken != 0)
      s = ggas_broken;
    else if (M == meeting::barrier)
      s = settle_stores();
  }
  s = block_status(s);
  if (s == ggas_ok)
    s = ggas_node() == t.first ? meet_as_master<M>(l, t, number, end) : meet_as_follower<M>(l, t, number, end);
  return end_of_meeting(t, number, s);
}

template <meeting M>
GGAS_DEVICE ggas_status meet_by_unit(const ggas_team& t, patience& end) {
  uint64_t number = 0;
  ggas_status s = ggas_ok;
  __syncthreads();  // every thread's stores are before the fence of thread 0
  if (thread_rank() == 0) {
    const progress_here before = load_relaxed(own_progress(layout::barrier_epoch(t.id)));
    number = before.count + 1;
    if (before.broken != 0)
      s = ggas_broken;
    else if (M == meeting::barrier)
      s = settle_stores();
    if (s == ggas_ok) {
      const uint32_t done = unit_count();
      start_unit(0);
      s = await_unit(done, end);
    }
  }
  return end_of_meeting(t, number, block_status(s));
}

// ------------------------------------------------------------------------------------------------ on peer memory

// Where a member is told of this node and where it tells of itself; nowhere for this node.
struct meeting_point {
  uint64_t* there;
  const uint64_t* here;
  GGAS_DEVICE meeting_point(const layout& l, const ggas_team& t, int member) {
    const context& c = device_context();
    const int node = ggas_team_node(t, member);
    const uint64_t target = static_cast<uint64_t>(node) * c.stride + l.check_in(t.id, static_cast<uint64_t>(c.node));
    there = node == c.node ? nullptr : reinterpret_cast<uint64_t*>(c.window + target);
    here = own_word(l.check_in(t.id, static_cast<uint64_t>(node)));
  }
};

// This node's own point: nothing to say, and nobody to wait for. The mark is looked at behind the branch, where the
// compiler leaves it: before the fence the fence would wait for its load, which takes 0.15 us.
template <meeting M>
GGAS_DEVICE ggas_status meet_member(const meeting_point& p, progress_here before, patience& end) {
  if (!p.there) return ggas_ok;
  keep_here(before.broken);
  if (before.broken != 0) return ggas_broken;
  store_relaxed(p.there, before.count + 1);
  return await_word<M>(p.here, before.count + 1, end);
}

// Every thread that polls reads the number itself. A plain load, from L1 if it is there: the word is written only by
// thread 0 of the node's own block, behind the barrier's last block barrier, and read behind the first of the next one.
// So between a write and the reads of the others lies a block barrier; if another block makes the next call, the
// synchronisation that the caller owes between the two. The load takes its time beside the fence, not before it, and
// addresses are ready before the block meets.
// Each thread that stores a flag makes the fence, which is cumulative: it covers what the block stored before the block
// barrier. Acquire and release suffice: no member reads a word here whose order with its own flag would matter.
template <meeting M>
GGAS_DEVICE ggas_status meet_directly(const layout& l, const ggas_team& t, patience& end) {
  const int rank = static_cast<int>(thread_rank()), threads = static_cast<int>(thread_count());
  const progress_here* const mine = own_progress(layout::barrier_epoch(t.id));
  const meeting_point first(l, t, rank);
  progress_here before{};
  ggas_status s = ggas_ok;
  __syncthreads();
  if (rank < t.size) {
    before = load_own(mine);
    if (M == meeting::barrier) fence_acq_rel_system();
    s = meet_member<M>(first, before, end);
    for (int i = rank + threads; i < t.size && s == ggas_ok; i += threads)
      s = meet_member<M>(meeting_point(l, t, i), before, end);
    if (t.size == 1 && before.broken != 0) s = ggas_broken;
  }
  return end_of_meeting(t, before.count + 1, block_status(s));
}

template <meeting M>
GGAS_DEVICE ggas_status meet_block(const ggas_team& t, patience& end) {
  if (unit_serves(t)) return meet_by_unit<M>(t, end);
  const layout l = own_layout();
  return nic_page() ? meet_at_master<M>(l, t, end) : meet_directly<M>(l, t, end);
}

// ------------------------------------------------------------------------------------------------ of a grid

// The blocks of the grid check in at block 0, which takes part for all of them and hands the result on, so that all
// have the same. The release word holds the number of the last attempt that was decided, and how: that of the next one
// follows from it, as nobody can be further while a block has not checked in. One that failed is the last: a block that
// comes late, or again, refuses instead of checking in.
GGAS_DEVICE uint64_t next_attempt(const progress_here& g) { return (g.count >> 8) + 1; }
GGAS_DEVICE ggas_status status_of_attempt(uint64_t release) { return static_cast<ggas_status>(release & 0xff); }
GGAS_DEVICE bool has_failed(const progress_here& g) {
  return (g.broken != 0) | (status_of_attempt(g.count) != ggas_ok);
}
constexpr uint64_t refused = ~uint64_t{0};

template <meeting M>
GGAS_DEVICE ggas_status await_block(unsigned block, uint64_t attempt, patience& end) {
  uint64_t seen;
  if (!await_word<M>(own_word(own_layout().arrived(block)), attempt, seen, end)) return ggas_timed_out;
  return seen == refused ? ggas_broken : ggas_ok;
}

GGAS_DEVICE_FUNCTION void record_blocks(uint64_t attempt, ggas_status s) {
  record_writer r(waited_for::blocks, s);
  r.wanted(attempt, attempt - 1);
  GGAS_NO_UNROLL
  for (unsigned b = 1; b < block_count(); ++b) {
    if (load_relaxed(own_word(own_layout().arrived(b))) < attempt) r.add_missing(static_cast<int>(b));
  }
  r.end();
}

template <meeting M>
GGAS_DEVICE ggas_status lead_grid(const ggas_team& t, patience& end) {
  __syncthreads();
  const progress_here before = load_own(own_progress(layout::grid_release));
  const uint64_t attempt = next_attempt(before);
  ggas_status s = has_failed(before) ? ggas_broken : ggas_ok;  // first: blocks that failed may never come again
  for (unsigned b = thread_rank() + 1; b < block_count() && s == ggas_ok; b += thread_count())
    s = await_block<M>(b, attempt, end);
  s = block_status(s);
  if (is_in_vain(s) && thread_rank() == 0) record_blocks(attempt, s);
  s = end_of_meeting(s);
  if (s == ggas_ok) s = meet_block<M>(t, end);
  if (thread_rank() == 0) {
    if (M == meeting::barrier) fence_acq_rel_gpu();
    store_relaxed(own_word(layout::grid_release), attempt << 8 | static_cast<uint64_t>(s));
  }
  return s;
}

// What this block stored is before what block 0 tells other nodes. On peer memory the order of the GPU suffices: block
// 0's fence of system scope is cumulative. Behind a NIC it is the stores that must have left.
GGAS_DEVICE void release_to_lead() {
  if (nic_page())
    fence_acq_rel_system();
  else
    fence_acq_rel_gpu();
}

template <meeting M>
GGAS_DEVICE ggas_status check_in(patience& end) {
  uint64_t* const arrived = own_word(own_layout().arrived(block_rank()));
  progress_here before = load_relaxed(own_progress(layout::grid_release));
  if (M == meeting::barrier) release_to_lead();
  if (!device_context().local) return ggas_bad_argument;  // a branch behind the fence, as in meet_member
  keep_here(before.broken);
  keep_here(before.count);
  if (has_failed(before)) {
    store_relaxed(arrived, uint64_t{refused});
    return ggas_broken;
  }
  const uint64_t attempt = next_attempt(before);
  store_relaxed(arrived, attempt);
  uint64_t release;
  const bool decided = await_word<M>(own_word(layout::grid_release), attempt << 8, release, end);
  return decided ? status_of_attempt(release) : in_vain_for(waited_for::leader, in_vain(), attempt, 0);
}

template <meeting M>
GGAS_DEVICE ggas_status follow_grid(patience& end) {
  ggas_status s = ggas_ok;
  __syncthreads();
  if (thread_rank() == 0) {
    s = check_in<M>(end);
    if (s != ggas_ok) break_node();
  }
  return block_status(s);
}

template <meeting M>
GGAS_DEVICE ggas_status meet_grid(const ggas_team& t, uint64_t timeout_ns) {
  if (!ggas_team_good(t) || block_count() > layout::max_blocks) return ggas_bad_argument;
  patience end(timeout_ns);
  if (block_count() == 1) return meet_block<M>(t, end);
  if (block_rank() == 0) return lead_grid<M>(t, end);
  // Block 0 decides whether time is up; the others wait longer, for its word.
  patience longer(timeout_ns > ~0ull / 2 ? ~0ull : 2 * timeout_ns);
  return follow_grid<M>(longer);
}

template <meeting M>
GGAS_DEVICE ggas_status meet_block(const ggas_team& t, uint64_t timeout_ns) {
  if (!ggas_team_good(t)) return ggas_bad_argument;
  patience end(timeout_ns);
  return meet_block<M>(t, end);
}

template <meeting M>
GGAS_DEVICE ggas_status meet(const block_group&, const ggas_team& t, uint64_t timeout_ns) {
  return meet_block<M>(t, timeout_ns);
}
template <meeting M>
GGAS_DEVICE ggas_status meet(const grid_group&, const ggas_team& t, uint64_t timeout_ns) {
  return meet_grid<M>(t, timeout_ns);
}

}  // namespace ggas::detail
