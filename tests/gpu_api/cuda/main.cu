// SPDX-License-Identifier: Apache-2.0
// Exit status 77 without a GPU or a driver: the tests are skipped.
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "rig.hpp"

namespace ggas::gpu_test {

namespace {
std::unique_ptr<cluster> all_gpus;

int run_all() {
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::printf("no GPU here: skipped\n");
    return 77;
  }
  auto made = cluster::create({.provider = "cuda", .nodes = 0, .segment_bytes = segment_bytes});
  if (!made) {
    std::printf("FAILED: %s\n", made.error().text.c_str());
    return 1;
  }
  all_gpus = std::move(*made);
  const int failed = RUN_ALL_TESTS();
  all_gpus.reset();
  return failed;
}
}  // namespace

cluster& machine() { return *all_gpus; }

void rig::SetUp() {
  for (int n = 0; n < nodes(); ++n) {
    ok(cudaSetDevice(machine().device(n)), "cudaSetDevice");
    ok(cudaMemsetAsync(segment(n), 0, segment_bytes, machine().cuda_stream(n)), "cudaMemsetAsync");
  }
  run("SetUp");
}

void rig::run(const std::string& what) {
  const std::string wrong = text_of(machine().run(30 * second));
  if (wrong.empty()) return;
  std::printf("FAILED: %s: %s\n", what.c_str(), wrong.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}

void rig::spoil_outcomes(int node, size_t count) {
  ok(cudaSetDevice(machine().device(node)), "cudaSetDevice");
  ok(cudaMemsetAsync(segment(node) + at.outcomes, 0xff, count * sizeof(outcome), machine().cuda_stream(node)),
     "cudaMemsetAsync");
}

void rig::check_outcomes(int node, size_t count, const std::string& what) {
  for (const outcome& o : read<outcome>(node, at.outcomes, count)) {
    ASSERT_TRUE(o.status == ggas_ok && o.errors == 0)
        << what << " on node " << node << ": status " << o.status << ", " << o.errors << " wrong values";
  }
}

void rig::check_all_outcomes(size_t count, const std::string& what) {
  for (int n = 0; n < nodes(); ++n) check_outcomes(n, count, what);
}

}  // namespace ggas::gpu_test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return ggas::gpu_test::run_all();
}
