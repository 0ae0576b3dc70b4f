// SPDX-License-Identifier: Apache-2.0
// Barriers on real GPUs when something goes wrong: random sequences with blocks that are late, missing or repeat, a
// reset after each; the end of waits by the host.
#include "rig.hpp"
#include "tests/gpu_api/barrier_plan.cuh"

namespace ggas::gpu_test {
namespace {

using test::barrier_findings;
using test::barrier_script;

__global__ void play(barrier_script s) { test::barrier_player(s).play(); }

class barrier_sequences : public rig {
 public:
  barrier_script script(uint64_t seed, uint64_t number) const {
    const uint64_t r = pattern(seed, number, 0) >> 8;
    return {.seed = seed,
            .number = number,
            .stamps = at.base,
            .vectors = at.data,
            .found = at.outcomes,
            .timeout_ns = uint64_t{3'000} << r % 6,
            .enough_ns = timeout_ns,
            .calm = 3,
            .calls = 1 + static_cast<uint32_t>(r >> 8 & 7)};
  }
  barrier_findings found() {
    barrier_findings all{};
    for (int n = 0; n < nodes(); ++n) {
      for (const barrier_findings& f : read<barrier_findings>(n, at.outcomes, test::plan_blocks)) {
        all.passed += f.passed;
        all.failed += f.failed;
        all.early += f.early;
        all.revived += f.revived;
        all.strange += f.strange;
      }
    }
    return all;
  }
};

TEST_F(barrier_sequences, ok_is_always_a_barrier) {
  const char* const chosen = std::getenv("GGAS_SEED");
  const uint64_t seed = chosen ? std::strtoull(chosen, nullptr, 10) : 1;
  const unsigned count = rounds_of(10'000);
  std::printf("seed %llu, %u sequences\n", static_cast<unsigned long long>(seed), count);
  for (unsigned number = 1; number <= count; ++number) {
    const uint64_t r = pattern(seed, number, 1) >> 8;
    const unsigned blocks = r % 3 == 0 ? 1 : 1 + static_cast<unsigned>(r >> 8) % test::plan_blocks;
    const unsigned threads = 1 + static_cast<unsigned>(r >> 16) % 128;
    for (int n = 0; n < nodes(); ++n)
      ok(ggas::launch(machine(), n, blocks, threads, play, script(seed, number)), "launch");
    run("play");
    ASSERT_EQ(text_of(machine().reset(30 * second)), "");
    if (number % 500 != 0 && number != count) continue;
    const barrier_findings f = found();
    ASSERT_TRUE(f.early == 0 && f.revived == 0 && f.strange == 0)
        << "GGAS_SEED " << seed << ", up to sequence " << number << ": " << f.early << " passed early, " << f.revived
        << " behind a failure, " << f.strange << " strange";
  }
  const barrier_findings f = found();
  std::printf("%llu calls passed, %llu failed\n", static_cast<unsigned long long>(f.passed),
              static_cast<unsigned long long>(f.failed));
  EXPECT_GT(f.passed, count);
  if (nodes() > 1 && count >= 100) EXPECT_GT(f.failed, count / 4);
}

// Fat blocks, so that all do not fit; the ones that come last begin when the first have given up.
__global__ void barrier_of_fat_blocks(places at) {
  extern __shared__ char fat[];
  fat[0] = 0;
  outcome out{0, 0, 0, ggas_ok};
  if (ggas_barrier_grid(20'000'000) == ggas_ok) ++out.errors;
  own<outcome>(at.outcomes)[bench::global_thread()] = out;
}
__global__ void barriers_behind(places at, ggas_status want) {
  outcome out{0, 0, 0, ggas_ok};
  for (int i = 0; i < 20; ++i) {
    if (detail::block_rank() % 7 == static_cast<unsigned>(i) % 7) __nanosleep(20'000);
    out.errors += ggas_barrier_grid(timeout_ns) != want;
  }
  own<outcome>(at.outcomes)[bench::global_thread()] = out;
}

TEST_F(rig, a_grid_that_does_not_fit_lets_none_pass_behind_it) {
  constexpr int fat = 200 * 1024;
  int multiprocessors = 0;
  for (int n = 0; n < nodes(); ++n) {
    ok(cudaSetDevice(machine().device(n)), "cudaSetDevice");
    ok(cudaFuncSetAttribute(barrier_of_fat_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, fat), "attribute");
    ok(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, machine().device(n)), "attribute");
  }
  const auto blocks = static_cast<unsigned>(multiprocessors) + 20;
  for (int n = 0; n < nodes(); ++n) {
    ok(prepare(machine(), n), "prepare");
    barrier_of_fat_blocks<<<blocks, 32, fat, machine().cuda_stream(n)>>>(at);
    ok(cudaGetLastError(), "launch");
  }
  run("barrier_of_fat_blocks");
  check_all_outcomes(size_t{blocks} * 32, "a grid that does not fit");
  for (const ggas_status want : {ggas_broken, ggas_ok}) {
    if (want == ggas_ok) ASSERT_EQ(text_of(machine().reset(30 * second)), "");
    start_all(blocks, 32, barriers_behind, at, want);
    run("barriers_behind");
    check_all_outcomes(size_t{blocks} * 32, want == ggas_ok ? "a grid behind a reset" : "a grid behind one");
  }
}

// Waits of each kind for ever.
__global__ void GGAS_LAUNCH_BOUNDS(1024) wait_for_ever(places at, int kind) {
  outcome out{0, 0, 0, ggas_ok};
  float* const v = own<float>(at.data);
  const uint64_t* const flag = own<uint64_t>(at.base);
  const ggas_status s = kind == 0   ? ggas_wait_until(flag, ggas_eq, uint64_t{7}, GGAS_FOREVER)
                        : kind == 1 ? ggas_barrier_grid(GGAS_FOREVER)
                        : kind == 2 ? ggas_allreduce_grid(v, v, 4096, ggas_sum, ggas_auto, GGAS_FOREVER)
                                    : ggas_take_tagged_block(v, own<ggas_tagged>(at.copy), 1000, 9, GGAS_FOREVER);
  if (s != ggas_aborted) ++out.errors;
  own<outcome>(at.outcomes)[bench::global_thread()] = out;
}

TEST_F(rig, the_host_ends_every_wait) {
  GGAS_NEEDS_NODES(2);
  for (int kind = 0; kind < 4; ++kind) {
    const unsigned blocks = 256;  // as many as the GPU holds, and more
    const unsigned waiting = kind == 1 || kind == 2 ? 32 : blocks;
    start(0, waiting, 1024, wait_for_ever, at, kind);
    EXPECT_NE(text_of(machine().run(20'000'000)), "") << "nobody ends it";
    EXPECT_EQ(text_of(machine().abort()), "");
    run("wait_for_ever");
    check_outcomes(0, size_t{waiting} * 1024, "wait " + std::to_string(kind));
    EXPECT_EQ(text_of(machine().reset(30 * second)), "");
    start_all(32, 64, barriers_behind, at, ggas_ok);
    run("barriers_behind");
    check_all_outcomes(size_t{32} * 64, "barriers behind a reset");
  }
}

}  // namespace
}  // namespace ggas::gpu_test
