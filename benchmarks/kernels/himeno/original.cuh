// SPDX-License-Identifier: Apache-2.0
// Himeno's slices kept in step as the original study did it (docs/benchmarks.md#himeno): kernels, and their queueing.
#pragma once

#include <optional>
#include <vector>

#include "benchmarks/kernels/himeno/ways.cuh"

namespace ggas::bench {

// ---------------------------------------------------------------------------------------------- kernels

// The lower or the upper half of a node's planes, each with the plane that the neighbour on that side waits for.
struct himeno_half {
  himeno_plan plan;
  bool upper;
  GGAS_HOST_DEVICE constexpr uint32_t inside_below() const {
    const uint32_t planes = (plan.tiles() - plan.faces()) / plan.per_plane;
    return planes / 2 * plan.per_plane;
  }
  GGAS_HOST_DEVICE constexpr uint32_t faces() const { return upper ? plan.highest : plan.lowest; }
  GGAS_HOST_DEVICE constexpr uint32_t tiles() const {
    return faces() + (upper ? plan.tiles() - plan.faces() - inside_below() : inside_below());
  }
  // The number of its tile i in the plan.
  GGAS_HOST_DEVICE constexpr uint32_t tile(uint32_t i) const {
    if (i < faces()) return upper ? plan.lowest + i : i;
    return plan.faces() + (upper ? inside_below() : 0) + i - faces();
  }
};

[[maybe_unused]] static __global__ void GGAS_HIMENO_BOUNDS himeno_half_step(himeno_args a, himeno_half half,
                                                                            uint32_t step) {
  const uint32_t i = half.tile(detail::block_rank());
  himeno_work work(a, a.plan.tile(i));
  work.compute(a, i, step);
}

GGAS_DEVICE bool himeno_has(const himeno_args& a, bool up) { return (up ? a.plan.highest : a.plan.lowest) != 0; }

// The plane that a neighbour waits for, by all threads of a block, then the word that reports it.
GGAS_DEVICE void himeno_store_plane(const himeno_args& a, bool up, uint32_t step) {
  const int neighbour = ggas_node() + (up ? 1 : -1);
  const uint64_t ghost = (up ? a.ghost_above : a.ghost_below) + a.copy_of(step);
  const uint32_t plane = up ? a.plan.slice.last : a.plan.slice.first;
  ggas_store_block(ggas_pointer_of_node<float>(neighbour, ghost) + himeno_pad,
                   own<float>(a.pressure + a.copy_of(step)) + a.grid.index(0, 0, plane), a.grid.plane());
  if (detail::thread_rank() != 0) return;
  ggas_fence();
  const uint64_t theirs = up ? himeno_from_below : himeno_from_above;
  ggas_store(ggas_pointer_of_node<uint64_t>(neighbour, a.words + theirs * sizeof(uint64_t)), uint64_t{step});
}

// A step whose last block, found by an atomic counter, sends both planes and waits for those of the neighbours.
[[maybe_unused]] static __global__ void GGAS_HIMENO_BOUNDS himeno_step_last(himeno_args a, uint32_t step) {
  const uint32_t i = detail::block_rank();
  himeno_work work(a, a.plan.tile(i));
  work.compute(a, i, step);
  __syncthreads();
  bool last = false;
  if (detail::thread_rank() == 0) {
    ggas_fence_gpu();
    last = (detail::add_gpu(himeno_own_word(a, himeno_at_barrier), 1) + 1) % detail::block_count() == 0;
    ggas_fence_gpu();
  }
  if (!__syncthreads_or(last)) return;
  for (const bool up : {false, true})
    if (himeno_has(a, up)) himeno_store_plane(a, up, step);
  for (const bool up : {false, true}) {
    if (!himeno_has(a, up)) continue;
    const ggas_status s = himeno_wait(a, up ? himeno_part::highest : himeno_part::lowest, step + 1);
    if (detail::thread_rank() == 0) himeno_tell(a, s);
  }
}

// A step that stores its planes at the neighbours, too. No signal: a barrier follows.
[[maybe_unused]] static __global__ void GGAS_HIMENO_BOUNDS himeno_step_stores(himeno_args a, uint32_t step) {
  const uint32_t i = detail::block_rank();
  const himeno_tile t = a.plan.tile(i);
  himeno_work work(a, t);
  work.compute(a, i, step);
  if (t.part == himeno_part::inside) return;
  const bool low = t.part == himeno_part::lowest;
  const uint64_t ghost = (low ? a.ghost_below : a.ghost_above) + a.copy_of(step);
  work.send(a, t, ggas_pointer_of_node<float>(ggas_node() + (low ? -1 : 1), ghost) + himeno_pad);
}

// A step whose planes go by a put of the NIC: the last block of a plane posts it, with a signal after the data.
[[maybe_unused]] static __global__ void GGAS_HIMENO_BOUNDS himeno_step_put(himeno_args a, uint32_t step) {
  const uint32_t i = detail::block_rank();
  const himeno_tile t = a.plan.tile(i);
  himeno_work work(a, t);
  const bool face = t.part != himeno_part::inside, low = t.part == himeno_part::lowest;
  if (face) {
    const ggas_status s = himeno_wait(a, t.part, step);
    if (detail::thread_rank() == 0) himeno_tell(a, s);
  }
  work.compute(a, i, step);
  if (!face) return;
  __syncthreads();
  if (detail::thread_rank() != 0) return;
  ggas_fence_gpu();
  uint64_t* const counter = himeno_own_word(a, low ? himeno_sent_below : himeno_sent_above);
  if ((detail::add_gpu(counter, 1) + 1) % a.plan.per_plane != 0) return;
  ggas_fence();
  const int neighbour = ggas_node() + (low ? -1 : 1);
  const uint64_t ghost = (low ? a.ghost_below : a.ghost_above) + a.copy_of(step);
  const uint64_t theirs = low ? himeno_from_above : himeno_from_below;
  const float* const plane = own<float>(a.pressure + a.copy_of(step)) + a.grid.index(0, 0, t.plane);
  himeno_tell(a, ggas_put_signal_nbi(ggas_pointer_of_node<float>(neighbour, ghost) + himeno_pad, plane, a.grid.plane(),
                                     ggas_pointer_of_node<uint64_t>(neighbour, a.words + theirs * sizeof(uint64_t)),
                                     uint64_t{step}, ggas_signal_set, a.timeout_ns));
}

// ---------------------------------------------------------------------------------------------- in the streams

namespace {
class himeno_original : public himeno_node {
 public:
  himeno_original(cluster& c, int node, const himeno_args& args) : himeno_node(c, node, args) {}

  // The second stream, and events, of the ways with halves, and events for so many copies. While nothing runs.
  result<> prepare(size_t copies) {
    auto s = cluster_.make_stream(node_);
    if (!s) return s.error();
    sending_ = *s;
    while (events_.size() < 2 + copies) {
      const auto made = cluster_.make_event(node_);
      if (!made) return made.error();
      events_.push_back(*made);
    }
    return {};
  }

  // The lower half, then the upper one; the plane of a half travels while the other half is computed.
  result<> stream_halves(uint32_t steps) {
    for (uint32_t step = 1; step <= steps; ++step) {
      for (const bool up : {false, true}) {
        if (face(up) && step > 1) GGAS_QUEUE(take(up));
        GGAS_QUEUE(half(up, step));
        if (!face(up)) continue;
        GGAS_QUEUE(cluster_.wait(*sending_, done(up)));
        GGAS_QUEUE(send(*sending_, up, step));
      }
    }
    return {};
  }
  result<> in_kernel_last(uint32_t steps) {
    for (uint32_t step = 1; step <= steps; ++step)
      GGAS_QUEUE(launch(cluster_, node_, plan_.tiles(), threads, himeno_step_last, a_, step));
    return {};
  }
  result<> store_barrier(uint32_t steps) {
    for (uint32_t step = 1; step <= steps; ++step) {
      GGAS_QUEUE(launch(cluster_, node_, plan_.tiles(), threads, himeno_step_stores, a_, step));
      if (face(false) || face(true)) GGAS_QUEUE(barrier_on_stream(cluster_, node_, report()));
    }
    return {};
  }
  result<> put(uint32_t steps) {
    for (uint32_t step = 1; step <= steps; ++step)
      GGAS_QUEUE(launch(cluster_, node_, plan_.tiles(), threads, himeno_step_put, a_, step));
    return {};
  }

  // ---- for programs of the processor
  // Begins half a step; done(up) completes it.
  result<> half(bool up, uint32_t step) {
    const himeno_half which{plan_, up};
    if (which.tiles() > 0)
      GGAS_QUEUE(launch(cluster_, node_, which.tiles(), threads, himeno_half_step, a_, which, step));
    return cluster_.record(done(up), node_);
  }
  const event& done(bool up) const { return events_[up]; }
  const event& copied(size_t i) const { return events_[2 + i]; }
  const stream& sending() const { return *sending_; }
  using himeno_node::face;
  using himeno_node::floats;
  using himeno_node::neighbour;
  using himeno_node::plane;
  // Where this node keeps a neighbour's plane, and where the neighbour keeps this one's: offset in its segment.
  float* own_ghost(bool up, uint32_t step) const {
    const uint64_t first = a_.grid.index(0, 0, up ? plan_.slice.planes + 1 : 0);
    return reinterpret_cast<float*>(segment() + a_.pressure + a_.copy_of(step)) + first;
  }
  uint64_t far_ghost(bool up, uint32_t step) const {
    return (up ? a_.ghost_above : a_.ghost_below) + a_.copy_of(step) + himeno_pad * sizeof(float);
  }
  uint64_t own_plane(bool up, uint32_t step) const {
    return static_cast<uint64_t>(reinterpret_cast<const char*>(plane(up, step)) - segment());
  }

 private:
  std::optional<stream> sending_;
  std::vector<event> events_;
};
}  // namespace

}  // namespace ggas::bench
