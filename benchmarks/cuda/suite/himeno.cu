// SPDX-License-Identifier: Apache-2.0
// himeno on real GPUs: weak and strong scaling, every way of keeping the slices in step. Results are checked: a small
// grid against one processor, bit by bit; the large ones by the residual, which must be the same in every way.
#include <chrono>

#include "benchmarks/cuda/energy.hpp"
#include "benchmarks/cuda/rigs/graphs.cuh"
#include "benchmarks/kernels/himeno/ways.cuh"
#include "benchmarks/plans/himeno_reference.hpp"

namespace ggas::bench {

namespace {

// Arrays of coefficients that find no room in the second-level cache next to both copies of the pressure. Half of the
// cache: what passes through needs the rest.
uint32_t streamed_arrays(gpu_session& s, int node, uint64_t array_bytes) {
  int cache = 0;
  s.keep(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, s.machine().device(node)), "cache size");
  const uint64_t stay = static_cast<uint64_t>(cache) / 2 / array_bytes;
  return himeno_coefficients - static_cast<uint32_t>(std::clamp<uint64_t>(stay, 2, himeno_coefficients + 2) - 2);
}

class himeno_job {
 public:
  himeno_job(gpu_session& s, const himeno_grid& grid, uint64_t seed, uint32_t steps)
      : s_(s), grid_(grid), steps_(steps) {
    for (int n = 0; n < s.nodes(); ++n) {
      himeno_args a = plan_himeno(grid, seed, s.data_offset(), n, s.nodes(), s.wait_ns());
      a.streamed = streamed_arrays(s, n, a.copy);
      nodes_.emplace_back(s.machine(), n, a);
    }
  }

  // From the start to the residual; `ns` is the time of the steps.
  fault solve(himeno_way way, node_graphs& graphs, double& ns) {
    const std::string what = std::string(name_of(way)) + " " + text();
    GGAS_GPU_TRY(all(what, [](node& n) { return n.fill(1024); }));
    if (way == himeno_way::host) {
      GGAS_GPU_TRY(run_by_host(what, ns));
    } else if (way == himeno_way::device) {
      GGAS_GPU_TRY(graphs.timed(
          what, [&](int n) { return nodes_[at(n)].run(way, steps_, resident()); }, ns));
    } else {
      GGAS_GPU_TRY(graphs.run(what, ns));
    }
    GGAS_GPU_TRY(all(what, [](node& n) { return n.gosa(); }));
    return check_status(what);
  }

  void capture(himeno_way way, node_graphs& graphs) {
    if (way == himeno_way::host || way == himeno_way::device) return;
    graphs.capture([&](int n) { return nodes_[at(n)].run(way, steps_, 0); });
  }

  double gosa(int n) {
    const himeno_args& a = nodes_[at(n)].args();
    return s_.read<double>(n, a.gosa + a.plan.tiles() * sizeof(double), 1)[0];
  }

  fault compare(const himeno_solution& want, const std::string& what) {
    for (int n = 0; n < s_.nodes(); ++n) {
      const himeno_args& a = nodes_[at(n)].args();
      const himeno_slice& slice = a.plan.slice;
      const uint64_t first = a.pressure + a.copy_of(steps_) + grid_.index(0, 0, 1) * sizeof(float);
      const auto got = s_.read<float>(n, first, slice.planes * grid_.plane());
      if (!std::equal(got.begin(), got.end(), want.pressure.begin() + ptrdiff_t(slice.begin * grid_.plane())))
        return {what + ": node " + std::to_string(n) + " differs from the same on one processor"};
    }
    return {};
  }

  std::string text() const {
    return std::to_string(grid_.nx) + "x" + std::to_string(grid_.ny) + "x" + std::to_string(grid_.nz);
  }

 private:
  using node = himeno_node;
  static size_t at(int n) { return static_cast<size_t>(n); }

  // Queues work on all nodes and waits for it.
  template <class F>
  fault all(const std::string& what, F queue) {
    for (node& n : nodes_) s_.keep(queue(n), "queue");
    return s_.run(what);
  }

  fault run_by_host(const std::string& what, double& ns) {
    const auto begin = std::chrono::steady_clock::now();
    for (uint32_t step = 1; step <= steps_; ++step) {
      for (node& n : nodes_) s_.keep(n.compute(step), "compute");
      wait();
      for (node& n : nodes_) s_.keep(n.exchange(step), "exchange");
      wait();
    }
    ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
    return s_.run(what);
  }
  void wait() {
    for (int n = 0; n < s_.nodes(); ++n) s_.keep(cudaStreamSynchronize(s_.machine().cuda_stream(n)), "wait");
  }

  fault check_status(const std::string& what) {
    for (int n = 0; n < s_.nodes(); ++n) {
      const auto status =
          static_cast<ggas_status>(s_.read<uint64_t>(n, nodes_[at(n)].args().words + himeno_status * 8, 1)[0]);
      if (status != ggas_ok) return {what + ": node " + std::to_string(n) + ": " + ggas_status_text(status)};
    }
    return {};
  }

  // Blocks of the persistent kernel that fit on a GPU.
  unsigned resident() {
    int blocks = 0;
    s_.keep(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, himeno_persistent, himeno_warps * 32, 0),
            "occupancy");
    return static_cast<unsigned>(blocks * s_.limits().multiprocessors);
  }

  gpu_session& s_;
  himeno_grid grid_;
  uint32_t steps_;
  std::vector<node> nodes_;
};

// Every way on a small grid, against one processor.
fault verify(gpu_session& s) {
  const himeno_grid grid{72, 37, static_cast<uint32_t>(6 * s.nodes() + 1)};
  himeno_job job(s, grid, s.seed() + 1, 8);
  const himeno_solution want = himeno_reference(grid, s.seed() + 1, 8);
  for (const himeno_way way : all_himeno_ways) {
    node_graphs graphs(s);
    job.capture(way, graphs);
    double ns = 0;
    GGAS_GPU_TRY(job.solve(way, graphs, ns));
    GGAS_GPU_TRY(job.compare(want, std::string("himeno ") + name_of(way)));
  }
  return {};
}

// Each array once from memory; what stays in the second-level cache can be faster.
limit memory_ceiling(gpu_session& s) {
  return {s.nodes() * s.limits().memory_bytes_per_s / himeno_bytes * himeno_flops, true, "memory: 56 bytes a point"};
}

// So many that they take about the same time on every grid and number of GPUs; even: copies take turns.
uint32_t steps_for(gpu_session& s, const himeno_grid& grid) {
  const double bound_ns = double(himeno_flops * grid.points_inside()) * 1e9 / memory_ceiling(s).value;
  return 2 * static_cast<uint32_t>(std::clamp((s.opts().quick ? 3e6 : 12e6) / bound_ns, 10.0, 200.0));
}

fault himeno_point(gpu_session& s, const himeno_grid& grid) {
  const uint32_t steps = steps_for(s, grid);
  himeno_job job(s, grid, 0, steps);
  double residual = -1;
  for (const himeno_way way : all_himeno_ways) {
    node_graphs graphs(s);
    job.capture(way, graphs);
    std::vector<double> samples;
    for (int i = 0; i <= s.runs(); ++i) {
      double ns = 0;
      GGAS_GPU_TRY(job.solve(way, graphs, ns));
      if (i > 0) samples.push_back(double(himeno_flops * grid.points_inside() * steps) * 1e9 / ns);
      if (residual < 0) residual = job.gosa(0);
      for (int n = 0; n < s.nodes(); ++n) {
        if (job.gosa(n) != residual) return {job.text() + ", " + name_of(way) + ": the residual differs"};
      }
    }
    s.emit({.variant = name_of(way),
            .params = {{"elements", grid.plane() * grid.nz}, {"grid", job.text()}},
            .metric = "flops",
            .unit = "1/s",
            .samples = samples,
            .limit = memory_ceiling(s)});
  }
  return {};
}

// What energy is measured of: flops.
fault way_load(gpu_session& s, work_meter& m, himeno_way way) {
  constexpr uint32_t steps = 1000;
  const himeno_grid grid{256, 256, 512};
  GGAS_GPU_TRY(start(s, himeno_room(grid, s.nodes()) + (1u << 20)));
  himeno_job job(s, grid, 0, steps);
  node_graphs graphs(s);
  job.capture(way, graphs);
  while (m.more()) {
    double ns = 0;
    GGAS_GPU_TRY(job.solve(way, graphs, ns));
    m.add(double(himeno_flops * grid.points_inside() * steps));
  }
  return {};
}

}  // namespace

fault himeno_load(gpu_session& s, work_meter& m) { return way_load(s, m, himeno_way::in_kernel); }
fault himeno_host_load(gpu_session& s, work_meter& m) { return way_load(s, m, himeno_way::host); }
fault himeno_stream_load(gpu_session& s, work_meter& m) { return way_load(s, m, himeno_way::stream); }
fault himeno_device_load(gpu_session& s, work_meter& m) { return way_load(s, m, himeno_way::device); }

fault run_himeno(gpu_session& s) {
  const himeno_grid weak{128, 192, static_cast<uint32_t>(64 * s.nodes())}, strong{128, 128, 192}, large{256, 256, 512};
  GGAS_GPU_TRY(start(s, himeno_room(large, s.nodes()) + (64u << 20)));
  GGAS_GPU_TRY(verify(s));
  for (const himeno_grid& g : {weak, strong, large}) GGAS_GPU_TRY(himeno_point(s, g));
  return {};
}

}  // namespace ggas::bench
