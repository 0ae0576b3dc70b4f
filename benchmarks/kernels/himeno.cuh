// SPDX-License-Identifier: Apache-2.0
// Himeno's benchmark: Jacobi's method for Poisson's equation, 19 points, coefficients in arrays, on a grid in slices
// along z. Every node keeps its planes and one more on either side, which its neighbours write after each step. The
// pressure is kept twice: a step reads one copy and writes the other.
//
// A plane that arrives may overwrite what the step before last has read there: a neighbour sends plane s + 1 after it
// got plane s of this node, which was sent when everything that reads its plane s - 1 had been computed.
#pragma once

#include "benchmarks/kernels/block_sum.cuh"
#include "benchmarks/kernels/himeno_point.cuh"
#include "ggas/on_stream.cuh"

// Registers for two blocks on a multiprocessor: enough loads under way.
#ifdef __CUDACC__
#define GGAS_HIMENO_BOUNDS __launch_bounds__(256, 2)
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

inline constexpr uint32_t himeno_lanes = 32, himeno_rows = 8;  // shape of a block
inline constexpr uint32_t himeno_width = himeno_lanes * himeno_quad;

enum class himeno_part { lowest, highest, inside };

// What a block computes at a time: some rows of one plane or of several.
struct himeno_tile {
  himeno_part part;
  uint32_t x, y;          // of its first point
  uint32_t first, count;  // planes
};

// How the planes of a node are cut into tiles. Tiles of planes that neighbours wait for come first.
struct himeno_plan {
  himeno_slice slice;
  uint32_t across = 1, per_plane = 1, depth = 1;
  uint32_t lowest = 0, highest = 0;  // tiles of the planes that are sent; 0: none

  constexpr himeno_plan() = default;
  GGAS_HOST_DEVICE constexpr himeno_plan(const himeno_grid& g, uint32_t depth, int node, int nodes)
      : slice(g, node, nodes),
        across((g.nx + himeno_width - 1) / himeno_width),
        per_plane(across * ((g.ny - 2 + himeno_rows - 1) / himeno_rows)),
        depth(depth),
        lowest(node > 0 ? per_plane : 0),
        highest(node + 1 < nodes ? per_plane : 0) {}

  GGAS_HOST_DEVICE constexpr uint32_t first_inside() const { return slice.first + (lowest ? 1 : 0); }
  GGAS_HOST_DEVICE constexpr uint32_t planes_inside() const { return slice.last + (highest ? 0 : 1) - first_inside(); }
  GGAS_HOST_DEVICE constexpr uint32_t faces() const { return lowest + highest; }
  GGAS_HOST_DEVICE constexpr uint32_t tiles() const {
    return faces() + (planes_inside() + depth - 1) / depth * per_plane;
  }

  GGAS_HOST_DEVICE constexpr himeno_tile tile(uint32_t i) const {
    const uint32_t place = i % per_plane;
    const uint32_t x = place % across * himeno_width, y = 1 + place / across * himeno_rows;
    if (i < lowest) return {himeno_part::lowest, x, y, slice.first, 1};
    if (i < faces()) return {himeno_part::highest, x, y, slice.last, 1};
    const uint32_t skipped = (i - faces()) / per_plane * depth, left = planes_inside() - skipped;
    return {himeno_part::inside, x, y, first_inside() + skipped, left < depth ? left : depth};
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

// What a thread has of a tile.
struct himeno_share {
  uint32_t x, y;
  uint64_t at;  // of its first points in the arrays
  bool any;
  GGAS_DEVICE himeno_share(const himeno_grid& g, const himeno_tile& t)
      : x(t.x + threadIdx.x * himeno_quad),
        y(t.y + threadIdx.y),
        at(g.index(x, y, t.first)),
        any(x < g.nx && y < g.ny - 1) {}
};

GGAS_DEVICE himeno_arrays himeno_coefficients_of(const himeno_args& a) {
  return {own<float>(a.arrays), a.copy / sizeof(float), a.streamed};
}

// Step `step` on tile number `index`.
GGAS_DEVICE void himeno_compute(const himeno_args& a, const himeno_tile& t, uint32_t index, uint32_t step) {
  const himeno_grid& g = a.grid;
  const himeno_share mine(g, t);
  double gosa = 0;
  if (mine.any) {
    const float* const from = own<float>(a.pressure + a.copy_of(step + 1));
    float* const to = own<float>(a.pressure + a.copy_of(step));
    const himeno_arrays coefficients = himeno_coefficients_of(a);
    uint64_t at = mine.at;
    himeno_column column(from, g, at);
    for (uint32_t i = 0; i < t.count; ++i, at += g.plane()) {
      column.load_above(from, g, at);
      const himeno_result r = himeno_update(column, coefficients, at, mine.x, g.nx);
      himeno_store(to + at, r.pressure);
      gosa += r.gosa;
      column.ascend();
    }
    GGAS_COMPUTE(himeno_flops * himeno_quad * t.count, himeno_bytes * himeno_quad * t.count);
  }
  const double sum = block_sum<himeno_rows>(gosa);
  if (detail::thread_rank() == 0) own<double>(a.gosa)[index] = sum;
}

// ---------------------------------------------------------------------------------------------- kernels

// The official start, or one in which every coefficient is different.
__global__ void himeno_fill(himeno_args a) {
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

// Tiles [first, first + count) of a step, one a block; no communication.
__global__ void GGAS_HIMENO_BOUNDS himeno_tiles(himeno_args a, uint32_t step, uint32_t first) {
  const uint32_t i = first + detail::block_rank();
  ggas_after_stream();
  himeno_compute(a, a.plan.tile(i), i, step);
}

// ---- a step in which blocks wait for neighbours and the last block of a plane tells the neighbour that it is there

GGAS_DEVICE ggas_status himeno_wait(const himeno_args& a, himeno_part part, uint32_t step) {
  const himeno_word arrived = part == himeno_part::lowest ? himeno_from_below : himeno_from_above;
  return ggas_wait_until_block<uint64_t>(himeno_own_word(a, arrived), ggas_ge, step - 1, a.timeout_ns);
}

// Stores the tile at the neighbour too; the last block of the plane, found by an atomic counter, tells it.
GGAS_DEVICE void himeno_send(const himeno_args& a, const himeno_tile& t, uint32_t step) {
  const bool low = t.part == himeno_part::lowest;
  const int neighbour = ggas_node() + (low ? -1 : 1);
  const himeno_share mine(a.grid, t);
  if (mine.any) {
    const float* const result = own<float>(a.pressure + a.copy_of(step)) + mine.at;
    const uint64_t ghost = (low ? a.ghost_below : a.ghost_above) + a.copy_of(step);
    ggas_store(
        reinterpret_cast<himeno_four*>(ggas_pointer_of_node<float>(neighbour, ghost) + a.grid.index(mine.x, mine.y, 0)),
        himeno_load(result));
  }
  __syncthreads();
  if (detail::thread_rank() != 0) return;
  ggas_fence();
  const uint32_t tiles = low ? a.plan.lowest : a.plan.highest;
  uint64_t* const counter = himeno_own_word(a, low ? himeno_sent_below : himeno_sent_above);
  if ((detail::add_gpu(counter, 1) + 1) % tiles != 0) return;
  ggas_fence();
  const uint64_t theirs = low ? himeno_from_above : himeno_from_below;
  ggas_store(ggas_pointer_of_node<uint64_t>(neighbour, a.words + theirs * sizeof(uint64_t)), uint64_t{step});
}

// Two copies of the computation: what waiting and sending keep in registers would be missing inside.
GGAS_DEVICE ggas_status himeno_tile_in_step(const himeno_args& a, uint32_t i, uint32_t step) {
  const himeno_tile t = a.plan.tile(i);
  if (t.part == himeno_part::inside) {
    himeno_compute(a, t, i, step);
    return ggas_ok;
  }
  const ggas_status s = himeno_wait(a, t.part, step);
  if (s != ggas_ok) return s;
  himeno_compute(a, t, i, step);
  himeno_send(a, t, step);
  return ggas_ok;
}

// A step, one tile a block.
__global__ void GGAS_HIMENO_BOUNDS himeno_step(himeno_args a, uint32_t step) {
  ggas_after_stream();
  const ggas_status s = himeno_tile_in_step(a, detail::block_rank(), step);
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
  return ggas_wait_until_block<uint64_t>(here, ggas_ge, uint64_t{step} * detail::block_count(), a.timeout_ns);
}

// All steps: the blocks stay, all of them resident at once.
__global__ void GGAS_HIMENO_BOUNDS himeno_persistent(himeno_args a, uint32_t steps) {
  ggas_status s = ggas_ok;
  for (uint32_t step = 1; step <= steps && s == ggas_ok; ++step) {
    for (uint32_t i = detail::block_rank(); i < a.plan.tiles() && s == ggas_ok; i += detail::block_count()) {
      s = himeno_tile_in_step(a, i, step);
    }
    if (s == ggas_ok) s = himeno_gpu_barrier(a, step);
  }
  if (detail::thread_rank() == 0) himeno_tell(a, s);
}

// The residual of the last step over all nodes. One block.
__global__ void himeno_gosa(himeno_args a) {
  double* const sum = own<double>(a.gosa) + a.plan.tiles();
  double mine = 0;
  for (uint32_t i = detail::thread_rank(); i < a.plan.tiles(); i += detail::thread_count())
    mine += own<double>(a.gosa)[i];
  mine = block_sum<himeno_rows>(mine);
  if (detail::thread_rank() == 0) ggas_store(sum, mine);
  __syncthreads();
  const ggas_status s = ggas_allreduce_block(sum, sum, 1, ggas_sum, ggas_all_gather, a.timeout_ns);
  if (detail::thread_rank() == 0) himeno_tell(a, s);
}

}  // namespace ggas::bench
