// SPDX-License-Identifier: Apache-2.0
// pi on one GPU or all: by MPI in a kernel, by two kernels, the same in a graph, by one kernel with grid.sync(); and an
// allreduce of one float of each thread, by MPI and by hand.
#include <cooperative_groups.h>

#include <cmath>
#include <cub/block/block_reduce.cuh>
#include <numbers>

#include "benchmarks/cuda/rigs/graphs.cuh"
#include "benchmarks/kernels/pi.cuh"
#include "benchmarks/plans/pi_plan.hpp"

namespace ggas::bench {

namespace {

constexpr unsigned pi_threads = 128;

// Sums of blocks, which all of them see after the first sync; every thread has the sum of all.
GGAS_DEVICE float sum_of_grid(float mine, float* of_blocks) {
  using reduce = cub::BlockReduce<float, pi_threads>;
  __shared__ typename reduce::TempStorage room;
  __shared__ float all;
  const float sum = reduce(room).Sum(mine);
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = sum;
  cooperative_groups::this_grid().sync();
  float others = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += pi_threads) others += of_blocks[b];
  const float total = reduce(room).Sum(others);
  if (threadIdx.x == 0) all = total;
  __syncthreads();
  return all;
}
__global__ void __launch_bounds__(pi_threads) pi_grid_sync(pi_args a) {
  const float sum = sum_of_grid(pi_part(static_cast<int>(global_thread()), a.ranks, a.intervals), own<float>(a.sums));
  if (global_thread() == 0) *own<float>(a.result) = sum;
}

// Calls in one kernel, one after the other.
struct allreduce_loop {
  pi_args pi;
  uint64_t rounds;
};
template <bool ByHand>
__global__ void __launch_bounds__(pi_threads) allreduce_of_threads(allreduce_loop a) {
  int error = MPI_Init(nullptr);
  const float mine = 1;
  float all = 0;
  const uint64_t begin = time_ns();
  GGAS_NO_UNROLL
  for (uint64_t i = 0; i < a.rounds && error == MPI_SUCCESS; ++i) {
    if constexpr (ByHand) {
      all = sum_of_grid(mine, own<float>(a.pi.sums) + (i & 1) * gridDim.x);
    } else {
      error = MPI_Allreduce(&mine, &all, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
  }
  pi_end(a.pi, begin, error);
  own<outcome>(a.pi.outcomes)[global_thread()].errors = all != static_cast<float>(a.pi.ranks);
}

class pi_job {
 public:
  pi_job(gpu_session& s, node_graphs& timer, const pi_shape& shape) : s_(s), timer_(timer), shape_(shape) {}

  fault make(int intervals) {
    layout_plan room(s_.data_offset());
    p_ = place_pi(room, s_.nodes(), shape_, intervals);
    for (int node = 0; node < s_.nodes(); ++node) {
      s_.fill(node, p_.begin, room.place<char>(0) - p_.begin, 0);
      s_.write(node, p_.handle, std::vector<ggas_messages>{p_.world});
      s_.write(node, layout::messages, std::vector<uint64_t>{p_.handle});
    }
    return s_.run("pi");
  }
  const pi_args& args() const { return p_.args; }
  unsigned blocks_of_all() const { return static_cast<unsigned>(args().ranks) / shape_.threads; }

  // queue(node) queues a program; some of them are timed, from the first one's start to the last one's end.
  template <class F>
  fault time(const char* variant, F queue) {
    constexpr int calls = 20;
    const auto several = [&](int node) -> result<> {
      for (int i = 0; i < calls; ++i)
        if (auto ok = queue(node); !ok) return ok;
      return {};
    };
    return sample(variant, calls, [&](double& ns) { return timer_.timed(variant, several, ns); });
  }
  // The same programs as nodes of a graph.
  template <class F>
  fault time_graph(const char* variant, F queue) {
    constexpr int calls = 20;
    node_graphs graphs(s_);
    graphs.capture([&](int node) -> result<> {
      for (int i = 0; i < calls; ++i)
        if (auto ok = queue(node); !ok) return ok;
      return {};
    });
    return sample(variant, calls, [&](double& ns) { return graphs.run(variant, ns); });
  }
  template <bool ByHand>
  fault allreduce(const char* variant) {
    const allreduce_loop loop{p_.args, 100};
    std::vector<double> samples;
    for (int i = 0; i <= s_.runs(); ++i) {
      const size_t count = size_t{shape_.blocks} * shape_.threads;
      clear_outcomes(s_, p_.args.outcomes, count);
      for (int node = 0; node < s_.nodes(); ++node)
        s_.keep(launch_whole(node, allreduce_of_threads<ByHand>, loop), "launch");
      GGAS_GPU_TRY(run_loops(s_, p_.args.outcomes, count, loop.rounds, variant, samples));
      if (i == 0) samples.clear();
    }
    emit(variant, samples);
    return {};
  }
  // Cooperative: grid.sync() needs it.
  template <class... P>
  result<> launch_whole(int node, void (*kernel)(P...), std::type_identity_t<P>... args) {
    cudaLaunchAttribute whole{};
    whole.id = cudaLaunchAttributeCooperative;
    whole.val.cooperative = 1;
    return ggas::detail::launch_with(s_.machine(), node, shape_.blocks, shape_.threads, &whole, 1, kernel, args...);
  }

 private:
  template <class F>
  fault sample(const char* variant, int calls, F run) {
    std::vector<double> samples;
    for (int i = 0; i <= s_.runs(); ++i) {
      double ns = 0;
      s_.write(0, p_.args.result, std::vector<float>{0});
      GGAS_GPU_TRY(run(ns));
      if (i > 0) samples.push_back(ns / calls);
      const float pi = s_.read<float>(0, p_.args.result, 1)[0];
      if (std::abs(pi - std::numbers::pi_v<float>) > 1e-4f)
        return {std::string(variant) + ": the sum is " + std::to_string(pi)};
    }
    emit(variant, samples);
    return {};
  }
  void emit(const char* variant, const std::vector<double>& samples) {
    s_.emit({.variant = variant,
             .params = {{"ranks", args().ranks}, {"threads", shape_.threads}, {"intervals", args().intervals}},
             .metric = "time",
             .unit = "ns",
             .samples = samples});
  }

  gpu_session& s_;
  node_graphs& timer_;
  pi_shape shape_;
  pi_places p_{};
};

fault pi_points(gpu_session& s, node_graphs& timer, const pi_shape& shape, int intervals) {
  pi_job job(s, timer, shape);
  GGAS_GPU_TRY(job.make(intervals));
  const pi_args a = job.args();
  const unsigned blocks = job.blocks_of_all();
  const auto mpi = [&](void (*kernel)(pi_args)) {
    return [&s, shape, kernel, a](int node) {
      return ggas::launch_grid(s.machine(), node, shape.blocks, shape.threads, kernel, a);
    };
  };
  const auto two_in_order = [&](int node) -> result<> {
    if (node != 0) return {};
    if (auto ok = ggas::launch(s.machine(), 0, blocks, shape.threads, pi_parts, a); !ok) return ok;
    return ggas::launch(s.machine(), 0, 1, 1, pi_sum_in_order, a);
  };
  const auto two = [&](int node) -> result<> {
    if (node != 0) return {};
    if (auto ok = ggas::launch(s.machine(), 0, blocks, shape.threads, pi_block_parts, a); !ok) return ok;
    return ggas::launch(s.machine(), 0, 1, 256, pi_sum_blocks, a, blocks);
  };
  if (a.ranks <= static_cast<int>(most_pi_senders)) {
    GGAS_GPU_TRY(job.time("send", mpi(pi_send)));
    GGAS_GPU_TRY(job.time("two_kernels_in_order", two_in_order));
  }
  GGAS_GPU_TRY(job.time("reduce", mpi(pi_reduce)));
  GGAS_GPU_TRY(job.time("two_kernels", two));
  GGAS_GPU_TRY(job.time_graph("graph", two));
  if (s.nodes() == 1)
    GGAS_GPU_TRY(job.time("grid_sync", [&](int node) { return job.launch_whole(node, pi_grid_sync, a); }));
  return {};
}

}  // namespace

fault run_pi(gpu_session& s) {
  GGAS_GPU_TRY(start(s, 1u << 30));
  node_graphs timer(s);
  const auto multiprocessors = static_cast<unsigned>(s.limits().multiprocessors);
  const std::vector<int> all = {2, 8, 32, 64, 128}, few = {2, 128};
  for (const unsigned blocks : {8u, multiprocessors})
    for (const int intervals : s.opts().quick ? few : all)
      GGAS_GPU_TRY(pi_points(s, timer, {blocks, pi_threads}, intervals));
  pi_job threads_32ki(s, timer, {256u / static_cast<unsigned>(s.nodes()), pi_threads});
  GGAS_GPU_TRY(threads_32ki.make(0));
  GGAS_GPU_TRY(threads_32ki.allreduce<false>("allreduce"));
  return s.nodes() == 1 ? threads_32ki.allreduce<true>("allreduce_by_hand") : fault{};
}

}  // namespace ggas::bench
