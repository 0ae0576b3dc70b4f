// SPDX-License-Identifier: Apache-2.0
// Loads, stores and waits on real GPUs.
#include <cstdio>

#include "benchmarks/kernels/latency.cuh"
#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

TEST_F(rig, ping_pong_of_stores) {
  GGAS_NEEDS_NODES(2);
  const bench::latency_args a{at.base, at.copy, at.outcomes, at.samples, 1000, 1, timeout_ns};
  for (unsigned threads : {1u, 32u, 512u}) {
    for (int n = 0; n < 2; ++n) start(n, 1, threads, bench::store_pingpong, a);
    run("store_pingpong");
    for (int n = 0; n < 2; ++n) check_outcomes(n, threads, "store_pingpong");
    std::printf("%4u threads: half a round trip %.0f ns\n", threads,
                0.5 * double(median(read<uint64_t>(0, at.samples, a.rounds))));
  }
}

TEST_F(rig, loads_of_remote_words) {
  GGAS_NEEDS_NODES(2);
  const bench::latency_args a{at.base, at.copy, at.outcomes, at.samples, 1000, 1, timeout_ns};
  for (unsigned threads : {1u, 32u, 512u}) {
    std::vector<uint64_t> words(threads);
    for (unsigned t = 0; t < threads; ++t) words[t] = pattern(a.seed, 0, t);
    write(1, a.slots, words);
    start(0, 1, threads, bench::load_rounds, a);
    run("load_rounds");
    check_outcomes(0, threads, "load_rounds");
    EXPECT_EQ(read<uint64_t>(0, a.copies, threads), words);
  }
}

__global__ void wait_without_success(places at) {
  outcome out{0, 0, 0, 0};
  out.begin_ns = bench::time_ns();
  const ggas_status s = ggas_wait_until_block(own<uint64_t>(at.base), ggas_eq, ~uint64_t{7}, 1'000'000);
  out.end_ns = bench::time_ns();
  if (s != ggas_timed_out) out.errors = 1;
  if (ggas_nodes() > 1 && ggas_barrier_block(1'000'000) != ggas_timed_out) out.errors = 2;
  own<outcome>(at.outcomes)[ggas::detail::thread_rank()] = out;
}

TEST_F(rig, waits_time_out) {
  start(0, 1, 64, wait_without_success, at);
  run("wait_without_success");
  check_outcomes(0, 64, "a wait that times out");
  for (const outcome& o : read<outcome>(0, at.outcomes, 64)) EXPECT_GE(o.end_ns - o.begin_ns, 1'000'000u);
}

// Addresses are found by shifts: strides are powers of two, and the own segment lies in the window.
TEST_F(rig, contexts_that_no_gpu_can_have_are_refused) {
  context c = machine().device_context(0);
  c.stride += c.stride / 2;
  EXPECT_EQ(set_device_context(c, machine().cuda_stream(0)), cudaErrorInvalidValue);
  c = machine().device_context(0);
  c.local += 4096;
  EXPECT_EQ(set_device_context(c, machine().cuda_stream(0)), cudaErrorInvalidValue);
}

// The copy is made now, of what a graph would look for without success each time it runs.
TEST_F(rig, contexts_are_not_set_by_graphs) {
  ok(cudaSetDevice(machine().device(0)), "cudaSetDevice");
  ok(cudaStreamBeginCapture(machine().cuda_stream(0), cudaStreamCaptureModeThreadLocal), "capture");
  EXPECT_EQ(set_device_context(machine().device_context(0), machine().cuda_stream(0)),
            cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph{};
  ok(cudaStreamEndCapture(machine().cuda_stream(0), &graph), "capture");
  size_t nodes = 1;
  ok(cudaGraphGetNodes(graph, nullptr, &nodes), "nodes");
  EXPECT_EQ(nodes, 0u);
  ok(cudaGraphDestroy(graph), "graph");
}

}  // namespace
}  // namespace ggas::gpu_test
