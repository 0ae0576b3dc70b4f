// SPDX-License-Identifier: Apache-2.0
// Himeno's benchmark: Jacobi's method for Poisson's equation, 19 points, coefficients in arrays, on a grid in slices
// along z. Every node keeps its planes and one more on either side, which its neighbours write after each step. The
// pressure is kept twice: a step reads one copy and writes the other.
//
// A plane that arrives may overwrite data that the step before last has read: a neighbour sends plane s + 1 after it
// got plane s of this node, which was sent when all points that depend on plane s - 1 had been computed.
#pragma once

#include "benchmarks/kernels/block_sum.cuh"
#include "benchmarks/kernels/himeno/point.cuh"
#include "ggas/on_stream.cuh"

// Registers for four blocks on a multiprocessor: enough loads under way.
#ifdef __CUDACC__
#define GGAS_HIMENO_BOUNDS __launch_bounds__(128, 4)
#else
#define GGAS_HIMENO_BOUNDS
#endif

namespace ggas::bench {

// What the words at himeno_args::words mean.
enum himeno_word : uint64_t {
  himeno_from_below,  // steps whose plane has come from the node below (written by it), and from above
  himeno_from_above,
  himeno_taken_below,  // of these, taken by signal_take_on_stream
  himeno_taken_above,
  himeno_sent_below,  // tiles of the lowest plane computed so far, and of the highest
  himeno_sent_above,
  himeno_at_barrier,  // blocks that came to the barrier of the persistent kernel
  himeno_status,      // the first ggas_status that was not ok
  himeno_words
};

// ---------------------------------------------------------------------------------------------- tiles

inline constexpr uint32_t himeno_warps = 4;  // of a block
inline constexpr uint32_t himeno_points = himeno_warps * 32 * himeno_quad;

enum class himeno_part { lowest, highest, inside };

// The points that a block computes at a time: himeno_points consecutive points of one plane. Larger tiles would read
// less of the pressure, which comes from the caches in any case, and would be less balanced at the end.
struct himeno_tile {
  himeno_part part;
  uint32_t plane;
  uint32_t first;  // of its points, counted from the begin of row 1: rows 0 and ny - 1 are not computed
};

// How the planes of a node are cut into tiles. Tiles of planes that neighbours wait for come first.
struct himeno_plan {
  himeno_slice slice;
  uint32_t line = 0, per_plane = 1;  // points and tiles of a plane
  uint32_t lowest = 0, highest = 0;  // tiles of the planes that are sent; 0: none

  constexpr himeno_plan() = default;
  GGAS_HOST_DEVICE constexpr himeno_plan(const himeno_grid& g, int node, int nodes)
      : slice(g, node, nodes),
        line(g.nx * (g.ny - 2)),
        per_plane((line + himeno_points - 1) / himeno_points),
        lowest(node > 0 ? per_plane : 0),
        highest(node + 1 < nodes ? per_plane : 0) {}

  GGAS_HOST_DEVICE constexpr uint32_t faces() const { return lowest + highest; }
  GGAS_HOST_DEVICE constexpr uint32_t tiles() const { return (slice.last + 1 - slice.first) * per_plane; }

  GGAS_HOST_DEVICE constexpr himeno_tile tile(uint32_t i) const {
    const uint32_t first = i % per_plane * himeno_points;
    if (i < lowest) return {himeno_part::lowest, slice.first, first};
    if (i < faces()) return {himeno_part::highest, slice.last, first};
    const uint32_t first_inside = slice.first + (lowest ? 1 : 0);
    return {himeno_part::inside, first_inside + (i - faces()) / per_plane, first};
  }
};

struct himeno_args {
  himeno_grid grid;
  himeno_plan plan;                   // of the node
  uint64_t copy;                      // bytes of a copy of the pressure, and of an array of coefficients
  uint64_t pressure;                  // offset of the first copy
  uint64_t arrays;                    // offset of the coefficients
  uint64_t words;                     // offset of himeno_words words
  uint64_t gosa;                      // offset of a double for each tile, then one for the sum
  uint64_t ghost_below, ghost_above;  // offsets at the neighbours: where they keep the plane from here, in copy 0
  uint64_t seed;                      // 0: the official values
  uint64_t timeout_ns;
  uint32_t streamed;  // arrays of coefficients that need not stay in the second-level cache

  GGAS_HOST_DEVICE constexpr uint64_t copy_of(uint32_t step) const { return step % 2 * copy; }
};

GGAS_DEVICE uint64_t* himeno_own_word(const himeno_args& a, himeno_word w) { return own<uint64_t>(a.words) + w; }

GGAS_DEVICE void himeno_tell(const himeno_args& a, ggas_status s) {
  if (s != ggas_ok) ggas_store(himeno_own_word(a, himeno_status), static_cast<uint64_t>(s));
}

// Four points of a tile, a thread's.
class himeno_work {
 public:
  // Loads the coefficients. They never change: what the step before computes need not be here yet.
  GGAS_DEVICE himeno_work(const himeno_args& a, const himeno_tile& t) {
    const uint32_t first = t.first + detail::thread_rank() * himeno_quad;
    any_ = first < a.plan.line;
    x_ = first % a.grid.nx;
    at_ = a.grid.index(0, 1, t.plane) + first;
    if (!any_) return;
    const himeno_arrays arrays(own<float>(a.arrays), a.copy / sizeof(float), a.streamed);
    for (uint32_t i = 0; i < himeno_coefficients; ++i) k_[i] = arrays.at(i, at_);
  }

  // Step `step` on tile number `index`. By all threads of the block.
  GGAS_DEVICE void compute(const himeno_args& a, uint32_t index, uint32_t step) {
    himeno_result r{};
    if (any_) {
      const float* const from = own<float>(a.pressure + a.copy_of(step + 1)) + at_;
      r = himeno_update(himeno_around(from, a.grid, x_), k_, x_, a.grid.nx);
      himeno_store(own<float>(a.pressure + a.copy_of(step)) + at_, r.pressure);
      GGAS_COMPUTE(himeno_flops * himeno_quad, himeno_bytes * himeno_quad);
    }
    pressure_ = r.pressure;
    const double sum = block_sum<himeno_warps>(r.gosa);
    if (detail::thread_rank() == 0) own<double>(a.gosa)[index] = sum;
  }

  // Stores the result in another place, too: `plane` is where it keeps point (0, 0) of the plane.
  GGAS_DEVICE void send(const himeno_args& a, const himeno_tile& t, float* plane) const {
    if (any_) ggas_store(reinterpret_cast<himeno_four*>(plane + (at_ - a.grid.index(0, 0, t.plane))), pressure_);
  }

 private:
  uint32_t x_;
  uint64_t at_;  // of the first point in the arrays
  bool any_;
  himeno_four k_[himeno_coefficients], pressure_;
};

// ---------------------------------------------------------------------------------------------- kernels

// Static, as all kernels of Himeno: more than one translation unit has them, each with a context of its own.

// The official start, or one in which every coefficient is different.
[[maybe_unused]] static __global__ void himeno_fill(himeno_args a) {
  const himeno_slice& slice = a.plan.slice;
  const himeno_grid& g = a.grid;
  const uint64_t points = (uint64_t{slice.planes} + 2) * g.plane();
  for (uint64_t i = global_thread(); i < points; i += global_threads()) {
    const uint64_t z = slice.global(static_cast<uint32_t>(i / g.plane())), place = z * g.plane() + i % g.plane();
    const float p = himeno_start(g, a.seed, static_cast<uint32_t>(z), place);
    for (uint64_t copy = 0; copy < 2; ++copy) own<float>(a.pressure + copy * a.copy)[himeno_pad + i] = p;
    for (uint32_t k = 0; k < himeno_coefficients; ++k) {
      own<float>(a.arrays + k * a.copy)[himeno_pad + i] = himeno_coefficient(a.seed, k, place);
    }
  }
  for (uint64_t i = global_thread(); i < himeno_words; i += global_threads()) own<uint64_t>(a.words)[i] = 0;
}

// A step, one tile a block; no communication.
[[maybe_unused]] static __global__ void GGAS_HIMENO_BOUNDS himeno_tiles(himeno_args a, uint32_t step) {
  const uint32_t i = detail::block_rank();
  himeno_work work(a, a.plan.tile(i));
  ggas_after_stream();
  work.compute(a, i, step);
}

// ---- a step in which blocks wait for neighbours and the last block of a plane informs the neighbour that it is there

GGAS_DEVICE ggas_status himeno_wait(const himeno_args& a, himeno_part part, uint32_t step) {
  const himeno_word arrived = part == himeno_part::lowest ? himeno_from_below : himeno_from_above;
  return ggas_wait_until_block(himeno_own_word(a, arrived), ggas_ge, step - 1, a.timeout_ns);
}

// Stores the tile at the neighbour too; the last block of the plane, found by an atomic counter, informs it.
GGAS_DEVICE void himeno_send(const himeno_args& a, const himeno_tile& t, const himeno_work& work, uint32_t step) {
  const bool low = t.part == himeno_part::lowest;
  const int neighbour = ggas_node() + (low ? -1 : 1);
  const uint64_t ghost = (low ? a.ghost_below : a.ghost_above) + a.copy_of(step);
  work.send(a, t, ggas_pointer_of_node<float>(neighbour, ghost) + himeno_pad);
  __syncthreads();
  if (detail::thread_rank() != 0) return;
  ggas_fence();
  uint64_t* const counter = himeno_own_word(a, low ? himeno_sent_below : himeno_sent_above);
  if ((detail::add_gpu(counter, 1) + 1) % a.plan.per_plane != 0) return;
  ggas_fence();
  const uint64_t theirs = low ? himeno_from_above : himeno_from_below;
  ggas_store(ggas_pointer_of_node<uint64_t>(neighbour, a.words + theirs * sizeof(uint64_t)), uint64_t{step});
}

GGAS_DEVICE ggas_status himeno_in_step(const himeno_args& a, himeno_work& work, uint32_t i, uint32_t step) {
  const himeno_tile t = a.plan.tile(i);
  const bool face = t.part != himeno_part::inside;
  if (face) {
    const ggas_status s = himeno_wait(a, t.part, step);
    if (s != ggas_ok) return s;
  }
  work.compute(a, i, step);
  if (face) himeno_send(a, t, work, step);
  return ggas_ok;
}

// A step, one tile a block.
[[maybe_unused]] static __global__ void GGAS_HIMENO_BOUNDS himeno_step(himeno_args a, uint32_t step) {
  himeno_work work(a, a.plan.tile(detail::block_rank()));
  ggas_after_stream();
  const ggas_status s = himeno_in_step(a, work, detail::block_rank(), step);
  if (detail::thread_rank() == 0) himeno_tell(a, s);
}

// All blocks of this GPU have ended a step.
GGAS_DEVICE ggas_status himeno_gpu_barrier(const himeno_args& a, uint32_t step) {
  uint64_t* const here = himeno_own_word(a, himeno_at_barrier);
  __syncthreads();
  if (detail::thread_rank() == 0) {
    ggas_fence_gpu();
    detail::add_gpu(here, 1);
  }
  return ggas_wait_until_block(here, ggas_ge, uint64_t{step} * detail::block_count(), a.timeout_ns);
}

// A kernel for all steps: its blocks stay, all resident at once. Rounds after the first go from the last block to the
// first. So in the incomplete last round no tile goes to the blocks that had to send one.
[[maybe_unused]] static __global__ void GGAS_HIMENO_BOUNDS himeno_persistent(himeno_args a, uint32_t steps) {
  const uint32_t block = detail::block_rank(), blocks = detail::block_count();
  ggas_status s = ggas_ok;
  for (uint32_t step = 1; step <= steps && s == ggas_ok; ++step) {
    for (uint32_t round = 0; round < a.plan.tiles() && s == ggas_ok; round += blocks) {
      const uint32_t i = round + (round ? blocks - 1 - block : block);
      if (i >= a.plan.tiles()) break;
      himeno_work work(a, a.plan.tile(i));
      s = himeno_in_step(a, work, i, step);
    }
    if (s == ggas_ok) s = himeno_gpu_barrier(a, step);
  }
  if (detail::thread_rank() == 0) himeno_tell(a, s);
}

// The residual of the last step over all nodes. One block.
[[maybe_unused]] static __global__ void himeno_gosa(himeno_args a) {
  double* const sum = own<double>(a.gosa) + a.plan.tiles();
  double mine = 0;
  for (uint32_t i = detail::thread_rank(); i < a.plan.tiles(); i += detail::thread_count())
    mine += own<double>(a.gosa)[i];
  mine = block_sum<himeno_warps>(mine);
  if (detail::thread_rank() == 0) ggas_store(sum, mine);
  __syncthreads();
  const ggas_status s = ggas_allreduce_block(sum, sum, 1, ggas_sum, ggas_by_all_gather, a.timeout_ns);
  if (detail::thread_rank() == 0) himeno_tell(a, s);
}

}  // namespace ggas::bench
