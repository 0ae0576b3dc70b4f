// SPDX-License-Identifier: Apache-2.0
// Groups that make a call: a thread for itself, or a warp or block together. The leader decides, all threads move data.
// sync(), not of_leader(), orders accesses of the leader before later ones of the others: a shuffle orders nothing.
// Included by rma_queue.cuh.
#pragma once

#include "ggas/detail/access/move.cuh"
#include "ggas/detail/sync/wait.cuh"

namespace ggas::detail {

struct thread_group {
  GGAS_DEVICE unsigned rank() const { return 0; }
  GGAS_DEVICE bool leads() const { return true; }
  GGAS_DEVICE unsigned size() const { return 1; }
  GGAS_DEVICE void sync() const {}
  template <class T>
  GGAS_DEVICE T of_leader(T v) const {
    return v;
  }
  GGAS_DEVICE ggas_status join(ggas_status s) const { return s; }
  GGAS_DEVICE bool all(bool mine) const { return mine; }
};

// ok if all lanes are, else the gravest. Orders what the lanes did before, as that of a block.
GGAS_DEVICE ggas_status gravest_of_lanes(unsigned mask, ggas_status mine) {
  __syncwarp(mask);  // a vote orders nothing
  if (!__any_sync(mask, mine != ggas_ok)) return ggas_ok;
  ggas_status all = ggas_ok;
  for (unsigned s = ggas_timed_out; s <= gravest; ++s) {
    if (__any_sync(mask, mine == static_cast<ggas_status>(s))) all = static_cast<ggas_status>(s);
  }
  return all;
}

struct warp_group {
  GGAS_DEVICE unsigned rank() const { return lane_rank(); }
  GGAS_DEVICE bool leads() const { return rank() == 0; }
  GGAS_DEVICE unsigned size() const { return lane_count(); }
  GGAS_DEVICE void sync() const { sync_lanes(); }
  template <class T>
  GGAS_DEVICE T of_leader(T v) const {
    return __shfl_sync(lane_mask(), v, 0);
  }
  GGAS_DEVICE ggas_status join(ggas_status mine) const { return gravest_of_lanes(lane_mask(), mine); }
  GGAS_DEVICE bool all(bool mine) const { return __all_sync(lane_mask(), mine) != 0; }  // orders nothing
};

// 2, 4, 8 or 16 neighbouring lanes of a warp, from a multiple of that number on; all of them exist.
template <unsigned Lanes>
struct tile_group {
  static_assert(Lanes == 2 || Lanes == 4 || Lanes == 8 || Lanes == 16, "a tile has 2, 4, 8 or 16 lanes");
  GGAS_DEVICE unsigned rank() const { return lane_rank() % Lanes; }
  GGAS_DEVICE bool leads() const { return rank() == 0; }
  GGAS_DEVICE unsigned size() const { return Lanes; }
  GGAS_DEVICE unsigned first_lane() const { return lane_rank() & ~(Lanes - 1); }
  GGAS_DEVICE unsigned mask() const { return ((1u << Lanes) - 1) << first_lane(); }
  GGAS_DEVICE void sync() const { __syncwarp(mask()); }
  template <class T>
  GGAS_DEVICE T of_leader(T v) const {
    return __shfl_sync(mask(), v, static_cast<int>(first_lane()));
  }
  GGAS_DEVICE ggas_status join(ggas_status mine) const { return gravest_of_lanes(mask(), mine); }
};

// Some neighbouring warps of a block, from number `first` on, which synchronise by barrier `id` of the block, 1 ... 15:
// groups that run at the same time need different ones. The warps are complete. Only the first warp posts.
struct warps_group {
  unsigned id, first, count;
  GGAS_DEVICE unsigned rank() const { return thread_rank() - first * 32; }
  GGAS_DEVICE bool leads() const { return rank() == 0; }
  GGAS_DEVICE unsigned size() const { return count * 32; }
  GGAS_DEVICE void sync() const { sync_some(id, size(), false); }
  GGAS_DEVICE ggas_status join(ggas_status mine) const {
    if (!sync_some(id, size(), mine != ggas_ok)) return ggas_ok;
    ggas_status all = ggas_ok;
    for (unsigned s = ggas_timed_out; s <= gravest; ++s) {
      if (sync_some(id, size(), mine == static_cast<ggas_status>(s))) all = static_cast<ggas_status>(s);
    }
    return all;
  }
};

// All threads of a block; it posts nothing itself: its first warp does.
struct block_group {
  static constexpr bool whole_blocks = true;  // it makes one call at a time
  GGAS_DEVICE unsigned rank() const { return thread_rank(); }
  GGAS_DEVICE bool leads() const { return is_first_thread(); }
  GGAS_DEVICE unsigned size() const { return thread_count(); }
  GGAS_DEVICE void sync() const { __syncthreads(); }
  GGAS_DEVICE ggas_status join(ggas_status s) const { return block_status(s); }
};

// All threads of `count` neighbouring blocks of a grid, from number `first` on. They synchronise by a word of the own
// segment, which is zero at first and after a reset. With blocks of other nodes they synchronise by the barrier of
// single blocks with `index`. Groups that run at the same time need different words.
struct blocks_group {
  static constexpr bool whole_blocks = true, several_blocks = true;
  unsigned first, count;
  uint64_t* word;
  unsigned index = first;
  GGAS_DEVICE unsigned block() const { return block_rank() - first; }  // of the group
  GGAS_DEVICE unsigned rank() const { return block() * thread_count() + thread_rank(); }
  GGAS_DEVICE bool leads() const { return is_first_thread(); }  // of each block
  GGAS_DEVICE unsigned size() const { return count * thread_count(); }
  GGAS_DEVICE void sync() const { __syncthreads(); }
  GGAS_DEVICE ggas_status join(ggas_status s) const { return block_group{}.join(s); }
};

// All threads of a grid; its blocks are not synchronised. In a grid with more blocks than `most_blocks` the rest have
// no work, so that numbers of threads, and small multiples of them, stay below 2^32.
struct grid_group {
  static constexpr bool whole_blocks = true, several_blocks = true;
  static constexpr unsigned most_blocks = 1u << 19;
  GGAS_DEVICE static constexpr unsigned working(unsigned blocks) { return blocks < most_blocks ? blocks : most_blocks; }
  GGAS_DEVICE static bool works() { return block_rank() < most_blocks; }
  GGAS_DEVICE unsigned rank() const { return block_rank() * thread_count() + thread_rank(); }
  GGAS_DEVICE bool leads() const { return is_first_thread(); }  // of each block: they are not held together
  GGAS_DEVICE unsigned size() const { return working(block_count()) * thread_count(); }
  GGAS_DEVICE void sync() const { __syncthreads(); }
  GGAS_DEVICE ggas_status join(ggas_status s) const { return block_group{}.join(s); }
};

// The threads that move data for a group.
template <class G>
GGAS_DEVICE movers movers_of(const G& g) {
  return {g.rank(), g.size()};
}
template <unsigned Lanes>
GGAS_DEVICE movers_of_warp movers_of(const tile_group<Lanes>& g) {
  return {g.rank(), Lanes, g.mask()};
}

// Threads of one warp: what the leader has the others can be given.
template <class G>
concept has_leader = requires(const G& g) {
  g.of_leader(0);
};

// A barrier of theirs is not __syncthreads(): what one thread does for all blocks needs more.
template <class G>
concept has_several_blocks = G::several_blocks;

// The leader waits for a flag, for all; of several blocks that of each.
template <class G, class T>
GGAS_DEVICE ggas_status wait_for_flag(const G& g, const T* flag, ggas_cmp cmp, T value, uint64_t timeout_ns) {
  ggas_status s = ggas_ok;
  if (g.leads())
    s = wait_arguments_good(flag, cmp) ? wait_until(flag, cmp, value, poll_deadline(timeout_ns)) : ggas_bad_argument;
  return g.join(s);
}

// A call of a block, or of some of its warps, that the first warp makes for all, after what they did before.
template <class G, class F>
GGAS_DEVICE ggas_status by_first_warp(const G& g, F call) {
  g.sync();
  ggas_status s = ggas_ok;
  if (g.rank() < 32) s = call(warp_group{});
  return g.join(s);
}

}  // namespace ggas::detail
