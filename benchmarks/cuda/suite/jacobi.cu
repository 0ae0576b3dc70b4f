// SPDX-License-Identifier: Apache-2.0
// jacobi: a grid of 1024 x 1024 points in one persistent kernel, the slices of the GPUs kept in step at each step. The
// grid after some steps must be that of one processor, bit for bit.
#include "benchmarks/kernels/jacobi.cuh"

#include "benchmarks/cuda/rigs/rig.cuh"
#include "benchmarks/plans/jacobi_reference.hpp"

namespace ggas::bench {

namespace {

struct jacobi_args {
  jacobi_slice slice;
  uint32_t rows_above;  // of the slice above
  uint32_t steps;
  uint64_t copies[2];               // where the slice lies: read and written in turn
  uint64_t from_above, from_below;  // words of signals: steps whose halo is here
  uint64_t outcomes;                // of each block
  uint64_t timeout_ns;

  GGAS_DEVICE uint64_t row_of(uint32_t step, uint32_t row) const {
    return copies[step % 2] + uint64_t{row} * slice.n * sizeof(float);
  }
};

__global__ void jacobi_fill(jacobi_args a) {
  jacobi_fill_slice(a.slice, own<float>(a.copies[0]), own<float>(a.copies[1]));
  if (global_thread() == 0) *own<uint64_t>(a.from_above) = *own<uint64_t>(a.from_below) = 0;
}

// What a row of this block is to a neighbour, and whose halo the block needs.
struct jacobi_edge {
  bool here;
  int node;
  uint32_t row, halo;        // the block's row, and its place at the neighbour
  uint64_t arrived, signal;  // words: here, and at the neighbour
};
GGAS_DEVICE jacobi_edge upper_edge(const jacobi_args& a, const jacobi_strip& strip) {
  return {strip.top() && ggas_node() > 0, ggas_node() - 1, 1, a.rows_above + 1, a.from_above, a.from_below};
}
GGAS_DEVICE jacobi_edge lower_edge(const jacobi_args& a, const jacobi_strip& strip) {
  const bool here = strip.bottom(a.slice) && ggas_node() + 1 < ggas_nodes();
  return {here, ggas_node() + 1, a.slice.rows, 0, a.from_below, a.from_above};
}

// The GPUs meet at each step, all blocks of all of them.
struct by_barrier {
  GGAS_DEVICE static ggas_status before(const jacobi_args&, const jacobi_edge&, uint32_t) { return ggas_ok; }
  GGAS_DEVICE static ggas_status behind(const jacobi_args& a, const jacobi_edge& e, uint32_t step) {
    return ggas_put_nbi_block(global_ptr<float>(e.node, a.row_of(step, e.halo)), own<float>(a.row_of(step, e.row)),
                              a.slice.n, a.timeout_ns);
  }
  GGAS_DEVICE static ggas_team team() { return ggas_world(); }
};
// The blocks of a GPU meet at each step; blocks at an edge inform the neighbour, and wait for it. A halo is written
// again two steps later, after the signal of the block that has read it.
struct by_signals {
  GGAS_DEVICE static ggas_status before(const jacobi_args& a, const jacobi_edge& e, uint32_t step) {
    return ggas_wait_until_block(own<uint64_t>(e.arrived), ggas_ge, uint64_t{step} - 1, a.timeout_ns);
  }
  GGAS_DEVICE static ggas_status behind(const jacobi_args& a, const jacobi_edge& e, uint32_t step) {
    return ggas_put_signal_nbi_block(global_ptr<float>(e.node, a.row_of(step, e.halo)),
                                     own<float>(a.row_of(step, e.row)), a.slice.n,
                                     global_ptr<uint64_t>(e.node, e.signal), step, ggas_signal_set, a.timeout_ns);
  }
  GGAS_DEVICE static ggas_team team() { return ggas_team_strided(3, ggas_node(), 1, 1); }
};

template <class Way>
__global__ void __launch_bounds__(1024) jacobi_persistent(jacobi_args a) {
  const jacobi_strip strip(a.slice);
  const jacobi_edge edges[] = {upper_edge(a, strip), lower_edge(a, strip)};
  const ggas_team team = Way::team();
  ggas_status s = ggas_barrier_grid(a.timeout_ns);
  const uint64_t begin = time_ns();
  for (uint32_t step = 1; step <= a.steps && s == ggas_ok; ++step) {
    GGAS_UNROLL
    for (int i = 0; i < 2; ++i)
      if (edges[i].here && s == ggas_ok) s = Way::before(a, edges[i], step);
    jacobi_step(a.slice, strip, own<float>(a.row_of(step - 1, 0)), own<float>(a.row_of(step, 0)));
    __syncthreads();
    GGAS_UNROLL
    for (int i = 0; i < 2; ++i)
      if (edges[i].here && s == ggas_ok) s = Way::behind(a, edges[i], step);
    if (s == ggas_ok) s = ggas_barrier_grid(a.timeout_ns, team);
  }
  const uint64_t end = time_ns();
  if (threadIdx.x == 0) own<outcome>(a.outcomes)[blockIdx.x] = {begin, end, 0, static_cast<uint64_t>(s)};
}

struct jacobi_way {
  const char* name;
  void (*kernel)(jacobi_args);
};
constexpr jacobi_way ways[] = {{"barrier", jacobi_persistent<by_barrier>}, {"signals", jacobi_persistent<by_signals>}};
constexpr unsigned jacobi_threads[] = {256, 512, 1024};

class jacobi_job {
 public:
  jacobi_job(gpu_session& s, uint32_t n) : s_(s), n_(n) {
    layout_plan room(s.data_offset());
    const uint64_t most = jacobi_slice_of(n, 0, s.nodes()).floats();
    a_.copies[0] = room.place<float>(most);
    a_.copies[1] = room.place<float>(most);
    a_.from_above = room.place<uint64_t>(1);
    a_.from_below = room.place<uint64_t>(1);
    a_.outcomes = room.place<outcome>(1024);
    a_.timeout_ns = s.wait_ns();
  }

  fault run(const jacobi_way& way, uint32_t steps, kernel_shape shape, std::vector<double>& ns) {
    const std::string what = std::string("jacobi, ") + way.name;
    a_.steps = steps;
    clear_outcomes(s_, a_.outcomes, shape.blocks);
    for (int node = 0; node < s_.nodes(); ++node) launch_one(s_, node, 256, 256, jacobi_fill, args(node));
    GGAS_GPU_TRY(s_.run(what));
    for (int node = 0; node < s_.nodes(); ++node)
      launch_one(s_, node, shape.blocks, shape.threads, way.kernel, args(node));
    return run_loops(s_, a_.outcomes, shape.blocks, steps, what, ns);
  }

  fault compare(const std::vector<float>& want, uint32_t steps, const char* way) {
    for (int node = 0; node < s_.nodes(); ++node) {
      const jacobi_slice mine = jacobi_slice_of(n_, node, s_.nodes());
      const auto got = s_.read<float>(node, a_.copies[steps % 2] + n_ * sizeof(float), uint64_t{mine.rows} * n_);
      if (!std::equal(got.begin(), got.end(), want.begin() + ptrdiff_t(mine.first) * n_))
        return {std::string("jacobi, ") + way + ": node " + std::to_string(node) + " differs from one processor"};
    }
    return {};
  }

 private:
  jacobi_args args(int node) const {
    jacobi_args a = a_;
    a.slice = jacobi_slice_of(n_, node, s_.nodes());
    a.rows_above = node > 0 ? jacobi_slice_of(n_, node - 1, s_.nodes()).rows : 0;
    return a;
  }

  gpu_session& s_;
  uint32_t n_;
  jacobi_args a_{};
};

fault jacobi_point_of(gpu_session& s, jacobi_job& job, const jacobi_way& way, kernel_shape shape, uint32_t n) {
  std::vector<double> samples;
  for (int i = 0; i <= s.runs(); ++i) {
    GGAS_GPU_TRY(job.run(way, s.opts().quick ? 200 : 1000, shape, samples));
    if (i == 0) samples.clear();  // the first one warms up
  }
  s.emit({.variant = way.name,
          .params = {{"grid", "1024x1024"}, {"blocks", shape.blocks}, {"threads", shape.threads}},
          .metric = "time",
          .unit = "ns",
          .samples = samples,
          .limit = s.limits().link_floor(1, n * sizeof(float))});
  return {};
}

}  // namespace

fault run_jacobi(gpu_session& s) {
  constexpr uint32_t n = 1024, checked = 21;
  GGAS_GPU_TRY(start(s, 4 * n * (n + 4) * sizeof(float)));
  jacobi_job job(s, n);
  const std::vector<float> want = jacobi_reference(n, checked);
  const auto all = static_cast<unsigned>(s.limits().multiprocessors);
  for (const jacobi_way& way : ways) {
    std::vector<double> untimed;
    GGAS_GPU_TRY(job.run(way, checked, {64, 256}, untimed));
    GGAS_GPU_TRY(job.compare(want, checked, way.name));
    for (const unsigned blocks : {64u, 128u, all})
      for (const unsigned threads : jacobi_threads) GGAS_GPU_TRY(jacobi_point_of(s, job, way, {blocks, threads}, n));
  }
  return {};
}

}  // namespace ggas::bench
