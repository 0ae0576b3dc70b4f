// SPDX-License-Identifier: Apache-2.0
// Launches on real GPUs: what they return.
#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

__global__ void touch(places at) { own<outcome>(at.outcomes)[detail::thread_rank()] = {}; }

// CUDA keeps an error until someone asks for it.
TEST_F(rig, a_launch_does_not_tell_of_an_error_before_it) {
  void* nothing = nullptr;
  EXPECT_EQ(cudaMalloc(&nothing, size_t{1} << 50), cudaErrorMemoryAllocation);
  start(0, 1, 32, touch, at);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  run("touch");
  check_outcomes(0, 32, "touch");
}

TEST_F(rig, a_launch_that_cannot_be_is_reported) {
  EXPECT_TRUE(refused(ggas::launch(machine(), 0, 1, 2048, touch, at)));
  EXPECT_TRUE(refused(ggas::launch(machine(), nodes(), 1, 1, touch, at)));
  cudaGetLastError();
}

__global__ void meet(places at, uint64_t round) {
  ggas_status s = ggas_ok;
  for (int i = 0; i < 1000 && s == ggas_ok; ++i) s = ggas_barrier_grid(timeout_ns);
  if (threadIdx.x == 0) own<uint64_t>(at.base)[blockIdx.x] = s == ggas_ok ? round : 0;
}

// Blocks that wait for each other: as many as a GPU holds meet 1,000 times, and one more is refused before anyone
// waits.
TEST_F(rig, a_grid_that_does_not_fit_is_refused_at_its_launch) {
  for (const unsigned threads : {512u, 1024u}) {
    const auto at_once = blocks_at_once(machine(), 0, threads, meet);
    ASSERT_TRUE(at_once) << at_once.error().text;
    const unsigned fit = *at_once;
    ASSERT_GE(fit, 1u);
    EXPECT_TRUE(refused(launch_grid(machine(), 0, fit + 1, threads, meet, at, 1)));
    for (int n = 0; n < nodes(); ++n) ok(launch_grid(machine(), n, fit, threads, meet, at, threads), "launch_grid");
    run("meet");
    for (int n = 0; n < nodes(); ++n)
      EXPECT_EQ(read<uint64_t>(n, at.base, fit), std::vector<uint64_t>(fit, threads)) << "node " << n;
  }
  const auto usual = recommended_grid(machine(), 0, meet);
  ASSERT_TRUE(usual) << usual.error().text;
  EXPECT_LE(usual->blocks, *blocks_at_once(machine(), 0, usual->threads, meet));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

__global__ void compare(places at, const uint32_t* from, size_t n, uint32_t value) {
  outcome out{0, 0, 0, ggas_ok};
  for (size_t i = detail::thread_rank(); i < n; i += blockDim.x) out.errors += from[i] != value;
  own<outcome>(at.outcomes)[detail::thread_rank()] = out;
}

// cudaMemcpy between places of a GPU returns before it has copied; the kernel sees the copy nevertheless.
TEST_F(rig, a_copy_before_a_launch_is_there_when_the_kernel_begins) {
  constexpr size_t bytes = 48 << 20;
  char* const from = segment(0) + at.copy;
  char* const to = segment(0) + at.data;
  for (unsigned round = 1; round <= rounds_of(50); ++round) {
    ok(cudaSetDevice(machine().device(0)), "cudaSetDevice");
    ok(cudaMemset(from, static_cast<int>(round), bytes), "cudaMemset");
    ok(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice), "cudaMemcpy");
    const auto* const end = reinterpret_cast<const uint32_t*>(to + bytes) - 4096;
    ok(ggas::launch(machine(), 0, 1, 1024, compare, at, end, 4096, 0x01010101 * round), "launch");
    run("compare");
    check_outcomes(0, 1024, "compare");
  }
}

__global__ void wait_for_the_host(places at) {
  const ggas_status s = ggas_wait_until_block(own<uint64_t>(at.base), ggas_eq, uint64_t{1}, timeout_ns);
  if (threadIdx.x == 0) own<uint64_t>(at.base)[1] = s == ggas_ok ? 2 : 3;
}

// A kernel that waits for what the program writes gets it: the copy does not wait for the kernel.
TEST_F(rig, a_write_beside_a_kernel_reaches_it) {
  for (int n = 0; n < nodes(); ++n) {
    ok(ggas::launch(machine(), n, 1, 32, wait_for_the_host, at), "launch");
    write(n, at.base, std::vector<uint64_t>{1});
  }
  run("wait_for_the_host");
  for (int n = 0; n < nodes(); ++n) EXPECT_EQ(read<uint64_t>(n, at.base, 2), (std::vector<uint64_t>{1, 2})) << n;
}

}  // namespace
}  // namespace ggas::gpu_test
