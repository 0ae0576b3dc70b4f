// SPDX-License-Identifier: Apache-2.0
// Random sequences of barriers and similar calls in which blocks arrive late, do not arrive, leave or repeat a failed
// call: the sequences, and the actions of their blocks. For the host engine and GPUs. All members draw the same calls
// from the sequence's seed; each block draws its behaviour.
//
// The checked rule: ok means that every member has arrived. Before its j-th barrier with a team a block stores j at all
// members; after ok it finds j, or more, of every block of every member. After an allreduce the sum shows it. After a
// failure a block finds the node broken, in every call.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::test {

struct barrier_script {
  uint64_t seed, number;  // number: of the sequence, from 1, below 2^32
  uint64_t stamps;        // offsets of the places below, in every segment
  uint64_t vectors;
  uint64_t found;
  uint64_t timeout_ns, enough_ns;
  uint32_t calm;   // calls that every member makes, at first: all ok
  uint32_t calls;  // after these
};

// What a block found in all sequences so far.
struct barrier_findings {
  uint64_t passed, failed;  // calls that may fail
  uint64_t early;           // ok before every member had come
  uint64_t revived;         // ok after a failure
  uint64_t strange;         // a status that cannot be; a calm call that failed; a wrong sum
};

constexpr unsigned plan_teams = 3, plan_blocks = 64, plan_elements = 32;  // the last: that a block sums up, of 4 bytes
constexpr uint64_t stamp_bytes(uint64_t nodes) { return plan_teams * nodes * plan_blocks * 8; }
constexpr uint64_t vector_bytes = plan_teams * 2 * plan_blocks * plan_elements * 4;

enum class meeting_kind : uint64_t { barrier, sync, allreduce };

struct barrier_call {
  meeting_kind what;
  ggas_team team;
};

// What a block makes of a call.
struct barrier_act {
  bool stays_away, leaves;
  uint64_t late_ns;
  unsigned repeats;
};

class barrier_player {
 public:
  GGAS_DEVICE explicit barrier_player(const barrier_script& s) : s_(s) {}

  GGAS_DEVICE void play() {
    for (unsigned i = 0; i < s_.calm + s_.calls; ++i) {
      const barrier_call c = call(i);
      if (ggas_team_rank(c.team) < 0) continue;
      if (i < s_.calm) {
        found_.strange += make(c, s_.enough_ns) != ggas_ok;
        continue;
      }
      const barrier_act a = act(i);
      if (a.leaves) break;
      if (a.stays_away) continue;
      if (a.late_ns != 0) __nanosleep(static_cast<unsigned>(a.late_ns));
      for (unsigned k = 0; k <= a.repeats; ++k) {
        const ggas_status status = make(c, s_.timeout_ns);
        judge(status);
        if (status == ggas_ok) break;
      }
    }
    report();
  }

 private:
  GGAS_DEVICE uint64_t drawn(uint64_t what, uint64_t i) const {
    return bench::pattern(s_.seed, s_.number << 8 | i, what);
  }

  // A block that stays away from a call makes its next one instead: so all are of one team in such a sequence.
  GGAS_DEVICE bool may_stay_away() const { return (drawn(0, 255) >> 10 & 1) != 0; }
  // Team 1: all nodes as well; team 2: the node alone.
  GGAS_DEVICE barrier_call call(unsigned i) const {
    const uint64_t r = drawn(0, may_stay_away() && i >= s_.calm ? 254 : i) >> 8;
    const unsigned id = static_cast<unsigned>(r % 8 < 5 ? 0 : r % 8 < 7 ? 1 : 2);
    const ggas_team team = id == 0   ? ggas_world()
                           : id == 1 ? ggas_team_strided(1, 0, 1, ggas_nodes())
                                     : ggas_team_strided(2, ggas_node(), 1, 1);
    return {static_cast<meeting_kind>((drawn(0, i) >> 16) % 3), team};
  }
  GGAS_DEVICE barrier_act act(unsigned i) const {
    const auto who = static_cast<uint64_t>(ggas_node()) * plan_blocks + detail::block_rank();
    const uint64_t r = drawn(1 + who, i) >> 8, wild = drawn(0, 255) >> 8 & 3;  // some sequences are worse than others
    const bool misbehaves = (r & 31) < 2 * wild;
    const uint64_t how = misbehaves ? r >> 5 & 7 : 7;
    return {how == 0 && may_stay_away(), how == 1, how >= 2 && how < 7 ? (r >> 16) % (4 * s_.timeout_ns) : 0,
            static_cast<unsigned>(r >> 8 & 3)};
  }

  GGAS_DEVICE uint64_t* stamp(int node, const ggas_team& t, int of_node, unsigned of_block) const {
    const uint64_t place = (t.id * static_cast<uint64_t>(ggas_nodes()) + static_cast<uint64_t>(of_node)) * plan_blocks;
    return ggas_pointer_of_node<uint64_t>(node, s_.stamps + (place + of_block) * 8);
  }
  GGAS_DEVICE uint32_t* vector(const ggas_team& t, unsigned which) const {
    const uint64_t place = (t.id * 2 + which) * plan_blocks * plan_elements * 4;
    return ggas_pointer_of_node<uint32_t>(ggas_node(), s_.vectors + place);
  }

  // Fences on both sides make a sync a barrier.
  GGAS_DEVICE ggas_status make(const barrier_call& c, uint64_t timeout_ns) {
    if (c.what == meeting_kind::allreduce) return sum_up(c.team, timeout_ns);
    const uint64_t mine = s_.number << 16 | ++calls_[c.team.id];
    __syncthreads();
    if (detail::thread_rank() == 0) {
      for (int k = 0; k < c.team.size; ++k)
        ggas_store(stamp(ggas_team_node(c.team, k), c.team, ggas_node(), detail::block_rank()), mine);
      ggas_fence();
    }
    const ggas_status s = meet(c, timeout_ns);
    ggas_fence();
    if (s == ggas_ok) look(c.team, mine);
    return s;
  }
  GGAS_DEVICE static ggas_status meet(const barrier_call& c, uint64_t t) {
    const bool grid = detail::block_count() > 1;
    if (c.what == meeting_kind::barrier) return grid ? ggas_barrier_grid(t, c.team) : ggas_barrier_block(t, c.team);
    return grid ? ggas_sync_grid(t, c.team) : ggas_sync_block(t, c.team);
  }
  // Block b is with block b of the other members only, and gives no order to other memory.
  GGAS_DEVICE ggas_status sum_up(const ggas_team& t, uint64_t timeout_ns) {
    const auto number = static_cast<uint32_t>(s_.number << 8 | ++sums_[t.id]);
    const unsigned first = detail::block_rank() * plan_elements;
    uint32_t *const src = vector(t, 0), *const dst = vector(t, 1);
    for (unsigned i = detail::thread_rank(); i < plan_elements; i += detail::thread_count()) src[first + i] = number;
    __syncthreads();
    const size_t n = size_t{plan_elements} * detail::block_count();
    const ggas_status s = detail::block_count() > 1
                              ? ggas_allreduce_grid(dst, src, n, ggas_sum, ggas_one_shot, timeout_ns, t)
                              : ggas_allreduce_block(dst, src, n, ggas_sum, ggas_one_shot, timeout_ns, t);
    if (s != ggas_ok) return s;
    bool wrong = false;
    for (unsigned i = detail::thread_rank(); i < plan_elements; i += detail::thread_count())
      wrong |= ggas_load(dst + first + i) != number * static_cast<uint32_t>(t.size);
    found_.strange += __syncthreads_or(wrong) != 0;
    return s;
  }
  GGAS_DEVICE void look(const ggas_team& t, uint64_t mine) {
    const unsigned blocks = detail::block_count(), all = static_cast<unsigned>(t.size) * blocks;
    bool missing = false;
    for (unsigned i = detail::thread_rank(); i < all; i += detail::thread_count()) {
      const int node = ggas_team_node(t, static_cast<int>(i / blocks));
      missing |= ggas_load(stamp(ggas_node(), t, node, i % blocks)) < mine;
    }
    found_.early += __syncthreads_or(missing) != 0;
  }
  GGAS_DEVICE void judge(ggas_status s) {
    const bool ok = s == ggas_ok;
    ok ? ++found_.passed : ++found_.failed;
    found_.revived += ok && has_failed_;
    found_.strange += !ok && s != ggas_broken && (s != ggas_timed_out || has_failed_);
    has_failed_ = has_failed_ || !ok;
  }
  GGAS_DEVICE void report() const {
    if (detail::thread_rank() != 0) return;
    auto& sum = ggas_pointer_of_node<barrier_findings>(ggas_node(), s_.found)[detail::block_rank()];
    sum.passed += found_.passed;
    sum.failed += found_.failed;
    sum.early += found_.early;
    sum.revived += found_.revived;
    sum.strange += found_.strange;
  }

  const barrier_script s_;
  uint64_t calls_[plan_teams] = {}, sums_[plan_teams] = {};
  bool has_failed_ = false;
  barrier_findings found_{};
};

}  // namespace ggas::test
