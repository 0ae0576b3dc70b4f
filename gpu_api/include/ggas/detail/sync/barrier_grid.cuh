// SPDX-License-Identifier: Apache-2.0
// Barrier and sync of all blocks of a grid, of one node or of a team. Included by collective.cuh.
#pragma once

#include "ggas/detail/sync/barrier.cuh"

namespace ggas::detail {

// The blocks of the grid check in at block 0, which takes part for all of them and passes on the result, so that all
// blocks get the same result. The release word has the number and the result of the last decided attempt. The next
// attempt has the next number, because no thread can be in a later attempt while a block has not checked in. A failed
// attempt is the last: a block that comes late, or again, refuses instead of checking in.
GGAS_DEVICE uint64_t next_attempt(const progress_here& g) { return (g.count >> 8) + 1; }
GGAS_DEVICE ggas_status status_of_attempt(uint64_t release) { return static_cast<ggas_status>(release & 0xff); }
GGAS_DEVICE bool has_failed(const progress_here& g) {
  return (g.broken != 0) | (status_of_attempt(g.count) != ggas_ok);
}
constexpr uint64_t refused = ~uint64_t{0};

template <meeting M>
GGAS_DEVICE ggas_status await_block(unsigned block, uint64_t attempt, poll_deadline& end) {
  uint64_t seen;
  if (!await_word<M>(own_word(own_layout().arrived(block)), attempt, seen, end))
    return timed_out_for(static_cast<int>(block));
  return seen == refused ? ggas_broken : ggas_ok;
}

template <meeting M>
GGAS_DEVICE ggas_status lead_grid(const ggas_team& t, poll_deadline& end) {
  __syncthreads();
  const progress_here before = load_own(own_progress(layout::grid_release));
  const uint64_t attempt = next_attempt(before);
  ggas_status s = has_failed(before) ? ggas_broken : ggas_ok;  // first: blocks that failed may never come again
  for (unsigned b = thread_rank() + 1; b < block_count() && s == ggas_ok; b += thread_count())
    s = await_block<M>(b, attempt, end);
  s = end_of_meeting(block_status(s, waited_for::blocks, own_word(layout::grid_release), attempt));
  if (s == ggas_ok) s = meet_block<M>(t, end);
  if (thread_rank() == 0) {
    if (M == meeting::barrier) fence_acq_rel_gpu();
    store_relaxed(own_word(layout::grid_release), attempt << 8 | static_cast<uint64_t>(s));
  }
  return s;
}

// Stores of this block come before the report of block 0 to other nodes. On peer memory an order of GPU scope suffices,
// because block 0's fence of system scope is cumulative. Through a NIC the stores must have left the GPU.
GGAS_DEVICE void release_to_lead() {
  if (nic_page())
    fence_acq_rel_system();
  else
    fence_acq_rel_gpu();
}

template <meeting M>
GGAS_DEVICE ggas_status check_in(poll_deadline& end) {
  uint64_t* const arrived = own_word(own_layout().arrived(block_rank()));
  progress_here before = load_relaxed(own_progress(layout::grid_release));
  if (M == meeting::barrier) release_to_lead();
  if (!device_context().local) return ggas_bad_argument;  // a branch after the fence, as in meet_member
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
  return decided ? status_of_attempt(release) : failed_alone(waited_for::leader, attempt, 0);
}

template <meeting M>
GGAS_DEVICE ggas_status follow_grid(poll_deadline& end) {
  ggas_status s = ggas_ok;
  __syncthreads();
  if (thread_rank() == 0) {
    s = check_in<M>(end);
    if (s != ggas_ok) break_node();
  }
  return block_status(s);
}

// ------------------------------------------------------------------------------------------------ of one node

// Without other nodes the blocks count their arrivals in one word, and the last one releases all. This takes an atomic
// and a poll instead of two flags. Bits 11:0 of the word count the blocks of this barrier, the bits above count
// barriers: block 0 adds the number that is missing to the next barrier. Bit 63: a block timed out. Bit 62: a block
// refused, because the node is broken. Both bits stay set.
struct block_meeting {
  static constexpr uint64_t next = 1u << 12, failed = uint64_t{1} << 63, refused = uint64_t{1} << 62;
  static_assert(layout::max_blocks < next);

  uint64_t* word;
  unsigned blocks;
  uint64_t before, now;

  GGAS_DEVICE uint64_t share(bool first) const { return first ? next - (blocks - 1) : 1; }
  GGAS_DEVICE bool ended() const { return ((now & (failed | refused)) != 0) | ((before ^ now) / next != 0); }
  GGAS_DEVICE ggas_status status() const {
    if ((now & refused) != 0) return ggas_broken;
    return (now & failed) != 0 ? end_of_wait() : ggas_ok;
  }
  // Blocks that have come.
  GGAS_DEVICE uint64_t come() const {
    const uint64_t counted = now % next, without_first = next - (blocks - 1);
    return counted < without_first ? counted : counted - without_first + 1;
  }
};

// Time is up, unless the last block comes first: all have the same status.
GGAS_DEVICE_FUNCTION ggas_status give_up(block_meeting m) {
  while (!m.ended()) {
    const uint64_t found = cas_gpu(m.word, m.now, m.now | block_meeting::failed);
    if (found == m.now) return failed_alone(waited_for::count, m.blocks, m.come());
    m.now = found;
  }
  return m.status();
}

template <meeting M>
GGAS_DEVICE ggas_status meet_blocks(block_meeting m, bool first, poll_deadline& end) {
  uint64_t broken = load_relaxed(own_word(layout::broken));
  if (M == meeting::barrier) fence_acq_rel_gpu();
  if (!device_context().local) return ggas_bad_argument;  // a branch after the fence, as in meet_member
  keep_here(broken);
  if (broken != 0) {
    or_gpu(m.word, uint64_t{block_meeting::refused});
    return ggas_broken;
  }
  m.before = add_gpu(m.word, m.share(first));
  m.now = m.before + m.share(first);
  while (!m.ended()) {
    if (end.over()) return give_up(m);
    m.now = load_spin(m.word);
  }
  const ggas_status s = m.status();
  if (M == meeting::barrier) acquire_after_spin(m.word);
  return s;
}

template <meeting M>
GGAS_DEVICE ggas_status meet_here(uint64_t* word, unsigned first, unsigned blocks, poll_deadline& end) {
  ggas_status s = ggas_ok;
  __syncthreads();
  if (thread_rank() == 0) {
    s = meet_blocks<M>({word, blocks, 0, 0}, block_rank() == first, end);
    if (s != ggas_ok) break_node();
  }
  return block_status(s);
}

// ------------------------------------------------------------------------------------------------ forms

// What a block has to itself while it meets: block 0, or one that is alone, the flags of the team, others their own.
class place_of_meeting {
 public:
  GGAS_DEVICE place_of_meeting(const ggas_team& t, unsigned block)
      : at_(block == 0 ? own_word(layout::barrier_epoch(t.id)) : own_word(own_layout().arrived(block)),
            block == 0 ? sizeof(progress_here) : sizeof(uint64_t)) {}
  GGAS_DEVICE bool refused() const { return at_.refused(); }

 private:
  taken_place at_;
};
template <meeting M>
GGAS_DEVICE ggas_status refuse_meeting(const ggas_team& t) {
  return refused_for(waited_for::free_place, M == meeting::barrier ? call_id::ggas_barrier : call_id::ggas_sync, t.id);
}

template <meeting M>
GGAS_DEVICE ggas_status meet_grid(const ggas_team& t, uint64_t timeout_ns) {
  if (!ggas_team_good(t) || block_count() > layout::max_blocks) return ggas_bad_argument;
  const place_of_meeting here(t, block_rank());
  if (here.refused()) return refuse_meeting<M>(t);
  poll_deadline end(timeout_ns);
  if (block_count() == 1) return meet_block<M>(t, end);
  if (t.size == 1 && !nic_page()) return meet_here<M>(own_word(layout::blocks_met), 0, block_count(), end);
  if (block_rank() == 0) return lead_grid<M>(t, end);
  // Block 0 decides whether time is up; the others wait longer, for its word.
  poll_deadline longer(timeout_ns > ~0ull / 2 ? ~0ull : 2 * timeout_ns);
  return follow_grid<M>(longer);
}

template <meeting M>
GGAS_DEVICE ggas_status meet_block(const ggas_team& t, uint64_t timeout_ns) {
  if (!ggas_team_good(t)) return ggas_bad_argument;
  const place_of_meeting here(t, 0);
  if (here.refused()) return refuse_meeting<M>(t);
  poll_deadline end(timeout_ns);
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
