// SPDX-License-Identifier: Apache-2.0
// barrier and sync of a team. Only pushes: no remote loads, no atomics, one writer for each word. Flags hold the number
// of the barrier, so only a reset of the cluster clears them. A number is used for one call of a member, because a call
// that fails is its last (docs/failures.md). Two methods:
//
// * Where the window is plain memory every member stores a flag to every other one: one hop, and stores cost next to
//   nothing.
// * Through a NIC check-in flags lie on the master (member 0), where one thread polls one flag for each other member,
//   and a check-out flag lies on every member: 2 (n - 1) packets. If the NIC has a unit for collectives, it makes
//   barriers of all nodes.
//
// Included by collective.cuh.
#pragma once

#include "ggas/detail/sync/group.cuh"
#include "ggas/detail/sync/nic_unit.cuh"
#include "ggas/detail/sync/wait.cuh"
#include "ggas/team.cuh"

namespace ggas::detail {

GGAS_DEVICE uint64_t* word_of(int node, uint64_t offset) { return ggas_pointer_of_node<uint64_t>(node, offset); }

// Called by one thread before a block returns a failure of a barrier or collective: later ones of the node return
// ggas_broken.
GGAS_DEVICE_FUNCTION void break_node() {
  for (uint64_t team = 0; team < layout::teams; ++team)
    store_relaxed(own_word(layout::barrier_broken(team)), uint64_t{1});
  store_relaxed(own_word(layout::broken), uint64_t{1});
}

// State of a team's barriers, or of those of the node's grids: a count, and whether a call failed on the node.
struct alignas(16) progress_here {
  uint64_t count, broken;
};
GGAS_DEVICE progress_here* own_progress(uint64_t offset) { return reinterpret_cast<progress_here*>(own_word(offset)); }
// break_node() marks no placed team: it does not know them.
GGAS_DEVICE void see_failures(const ggas_team& t, progress_here& p) {
  if (layout::is_placed(t.id)) p.broken = load_relaxed(own_word(layout::broken));
}

// Barrier: what was stored before is visible after it. Sync: arrival only.
enum class meeting { barrier, sync };

// Waits until a word is at least `least`; `seen` is what was found. False: time is up.
template <meeting M>
GGAS_DEVICE bool await_word(const uint64_t* word, uint64_t least, uint64_t& seen, poll_deadline& end) {
  while ((seen = load_spin(word)) < least) {
    if (end.over()) return false;
  }
  if (M == meeting::barrier) acquire_after_spin(word);
  return true;
}
// The value that `writer` has written.
template <meeting M>
GGAS_DEVICE ggas_status await_word(const uint64_t* word, uint64_t least, int writer, poll_deadline& end) {
  uint64_t seen;
  return await_word<M>(word, least, seen, end) ? ggas_ok : timed_out_for(writer);
}

// ------------------------------------------------------------------------------------------------ through a NIC

// Stores are ordered only between one pair of nodes. If a third node (the master) takes part, stores must be complete.
// So through a NIC, with more than two nodes, the barrier first waits until the stores have arrived. Puts are not
// ordered with the barrier's stores at all, so the barrier always waits for puts.
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
// What the threads of the block found in the barrier of that number.
GGAS_DEVICE ggas_status status_of_meeting(const ggas_team& t, uint64_t number, ggas_status mine) {
  return block_status(mine, waited_for::members, own_word(layout::barrier_epoch(t.id)), number);
}
// Only a barrier that ended well counts.
GGAS_DEVICE ggas_status end_of_meeting(const ggas_team& t, uint64_t number, ggas_status s) {
  if (s == ggas_ok && thread_rank() == 0) store_own(own_word(layout::barrier_epoch(t.id)), number);
  return end_of_meeting(s);
}

template <meeting M>
GGAS_DEVICE ggas_status meet_as_master(const layout& l, const ggas_team& t, uint64_t number, poll_deadline& end) {
  const int threads = static_cast<int>(thread_count()), first = static_cast<int>(thread_rank()) + 1;
  ggas_status s = ggas_ok;
  for (int i = first; i < t.size && s == ggas_ok; i += threads) {
    const int node = ggas_team_node(t, i);
    s = await_word<M>(own_word(l.check_in(t.id, static_cast<uint64_t>(node))), number, node, end);
  }
  s = status_of_meeting(t, number, s);
  if (s != ggas_ok) return s;
  for (int i = first; i < t.size; i += threads)
    store_relaxed(word_of(ggas_team_node(t, i), layout::check_out(t.id)), number);
  return ggas_ok;
}

template <meeting M>
GGAS_DEVICE ggas_status meet_as_follower(const layout& l, const ggas_team& t, uint64_t number, poll_deadline& end) {
  ggas_status s = ggas_ok;
  if (thread_rank() == 0) {
    store_relaxed(word_of(t.first, l.check_in(t.id, static_cast<uint64_t>(ggas_node()))), number);
    s = await_word<M>(own_word(layout::check_out(t.id)), number, t.first, end);
  }
  return status_of_meeting(t, number, s);
}

template <meeting M>
GGAS_DEVICE ggas_status meet_at_master(const layout& l, const ggas_team& t, poll_deadline& end) {
  GGAS_SHARED(uint64_t, number);
  __syncthreads();  // every thread's stores are before the fence of thread 0
  ggas_status s = ggas_ok;
  if (thread_rank() == 0) {
    progress_here before = load_relaxed(own_progress(layout::barrier_epoch(t.id)));
    see_failures(t, before);
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

// The unit waits for the stores itself, because its command follows them on the way to the NIC. So the GPU waits
// neither for the stores nor for the NIC's answer. A NIC with the unit serves one GPU: there are no neighbours to push
// stores to.
template <meeting M>
GGAS_DEVICE ggas_status meet_by_unit(const ggas_team& t, poll_deadline& end) {
  GGAS_SHARED_ARRAY(uint64_t, known, unit_facts);
  __syncthreads();  // every thread's stores are before the fence of thread 0
  learn_facts<M == meeting::barrier>(known);
  ggas_status s = ggas_ok;
  if (thread_rank() == 0) {
    if (known[node_broken] != 0)
      s = ggas_broken;
    else if (M == meeting::barrier && known[queues_used] != 0)
      s = quiet_puts();
    if (s == ggas_ok) {
      start_unit(M == meeting::barrier ? unit_fenced : 0);
      s = await_unit(static_cast<uint32_t>(known[ops_ended]), end);
    }
  }
  s = block_status(s, waited_for::unit, nic_unit().flag, known[ops_ended] + 1);
  return end_of_meeting(t, known[meetings_ended] + 1, s);
}

// ------------------------------------------------------------------------------------------------ on peer memory

// Where a member is informed of this node and where it reports of itself; nowhere for this node.
struct meeting_point {
  int node;
  uint64_t* there;
  const uint64_t* here;
  GGAS_DEVICE meeting_point(const layout& l, const ggas_team& t, int member) : node(ggas_team_node(t, member)) {
    const context& c = device_context();
    const uint64_t target = static_cast<uint64_t>(node) * c.stride + l.check_in(t.id, static_cast<uint64_t>(c.node));
    there = node == c.node ? nullptr : reinterpret_cast<uint64_t*>(c.window + target);
    here = own_word(l.check_in(t.id, static_cast<uint64_t>(node)));
  }
};

// A team of this node only: nothing to send, and no node to wait for. The mark is checked after the branch, where the
// compiler does not move its load before the fence. Otherwise the fence would wait for the load, which takes 0.15 us.
template <meeting M>
GGAS_DEVICE ggas_status meet_member(const meeting_point& p, progress_here before, poll_deadline& end) {
  if (!p.there) return ggas_ok;
  keep_here(before.broken);
  if (before.broken != 0) return ggas_broken;
  store_relaxed(p.there, before.count + 1);
  return await_word<M>(p.here, before.count + 1, p.node, end);
}

// Every thread that polls reads the number itself, by a plain load, from L1 if it is there. The word is written only by
// thread 0 of the node's own block, after the barrier's last block barrier, and read after the first block barrier of
// the next one. So a block barrier lies between a write and the reads of the other threads; if another block makes the
// next call, the caller must synchronise the two. The load overlaps with the fence, and addresses are computed before
// the block barrier.
//
// Each thread that stores a flag makes the fence, which is cumulative: it covers stores of the block before the block
// barrier. Acquire and release suffice, because no member reads a word here whose order with its own flag would matter.
template <meeting M>
GGAS_DEVICE ggas_status meet_directly(const layout& l, const ggas_team& t, poll_deadline& end) {
  const int rank = static_cast<int>(thread_rank()), threads = static_cast<int>(thread_count());
  const progress_here* const mine = own_progress(layout::barrier_epoch(t.id));
  const meeting_point first(l, t, rank);
  progress_here before{};
  ggas_status s = ggas_ok;
  __syncthreads();
  if (rank < t.size) {
    before = load_own(mine);
    see_failures(t, before);
    if (M == meeting::barrier && t.size > 1) fence_acq_rel_system();  // a node alone informs none
    s = meet_member<M>(first, before, end);
    for (int i = rank + threads; i < t.size && s == ggas_ok; i += threads)
      s = meet_member<M>(meeting_point(l, t, i), before, end);
    if (t.size == 1 && before.broken != 0) s = ggas_broken;
  }
  return end_of_meeting(t, before.count + 1, status_of_meeting(t, before.count + 1, s));
}

template <meeting M>
GGAS_DEVICE ggas_status meet_block(const ggas_team& t, poll_deadline& end) {
  if (unit_serves(t)) return meet_by_unit<M>(t, end);
  const layout l = own_layout();
  return nic_page() ? meet_at_master<M>(l, t, end) : meet_directly<M>(l, t, end);
}

}  // namespace ggas::detail
