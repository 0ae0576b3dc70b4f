// SPDX-License-Identifier: Apache-2.0
// Exit status 77 without a GPU or a driver: the tests are skipped.
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "rig.hpp"

namespace ggas::gpu_test {

namespace {
std::unique_ptr<cuda_cluster> cluster;

// Kernels see the contexts of the cluster.
std::string bind() {
  for (int n = 0; n < cluster->nodes(); ++n) {
    if (cudaError_t e = cudaSetDevice(cluster->device(n)); e != cudaSuccess) return cudaGetErrorString(e);
    for (auto set : unit::all()) {
      if (cudaError_t e = set(cluster->device_context(n), cluster->stream(n)); e != cudaSuccess)
        return cudaGetErrorString(e);
    }
  }
  return cluster->run(30 * second);
}

int run_all() {
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::printf("no GPU here: skipped\n");
    return 77;
  }
  std::string why;
  cluster = cuda_cluster::create({.nodes = 0, .segment_bytes = segment_bytes}, why);
  if (cluster) why = bind();
  if (!why.empty()) {
    std::printf("FAILED: %s\n", why.c_str());
    return 1;
  }
  const int failed = RUN_ALL_TESTS();
  cluster.reset();
  return failed;
}
}  // namespace

std::vector<unit::setter>& unit::all() {
  static std::vector<setter> setters;
  return setters;
}

cuda_cluster& machine() { return *cluster; }

void rig::SetUp() {
  for (int n = 0; n < nodes(); ++n) {
    ok(cudaSetDevice(machine().device(n)), "cudaSetDevice");
    ok(cudaMemsetAsync(machine().segment(n), 0, segment_bytes, machine().stream(n)), "cudaMemsetAsync");
  }
  run("SetUp");
}

void rig::run(const std::string& what) {
  const std::string wrong = machine().run(30 * second);
  if (wrong.empty()) return;
  std::printf("FAILED: %s: %s\n", what.c_str(), wrong.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}

void rig::spoil_outcomes(int node, size_t count) {
  ok(cudaSetDevice(machine().device(node)), "cudaSetDevice");
  ok(cudaMemsetAsync(machine().segment(node) + at.outcomes, 0xff, count * sizeof(outcome), machine().stream(node)),
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
