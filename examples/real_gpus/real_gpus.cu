// SPDX-License-Identifier: Apache-2.0
// The same program with one process for all GPUs, or one process for each node. Guide: docs/how-to/real-gpus.md.
#include <cstdio>

#include "ggas/cuda_cluster.hpp"
#include "ggas/launch.hpp"

constexpr uint64_t second = 1'000'000'000;

// Every node stores its number at its right neighbour, and all meet.
__global__ void greet(uint64_t place, int* found, ggas_status* status) {
  const int right = (ggas_node() + 1) % ggas_nodes();
  if (threadIdx.x == 0) ggas_store(ggas_pointer_of_node<int>(right, place), 100 + ggas_node());
  const ggas_status s = ggas_barrier_block(10 * second);
  if (threadIdx.x == 0) {
    *found = ggas_load(ggas_pointer_of_node<int>(ggas_node(), place));
    *status = s;
  }
}

int failed(const std::string& why) {
  std::fprintf(stderr, "real_gpus: %s\n", why.c_str());
  return 1;
}

int main() {
  std::string why;
  ggas::cuda_config cfg{.segment_bytes = 64 << 20, .processes = ggas::job::from_environment(why)};
  if (!why.empty()) return failed(why);
  const auto cluster = ggas::cuda_cluster::create(cfg, why);  // waits for the other processes, if there are some
  if (!cluster) return failed(why);

  const uint64_t place = cluster->device_context(0).reserved;  // behind what the library keeps
  for (int node : cluster->local_nodes()) {                    // all nodes, or the one of this process
    cudaSetDevice(cluster->device(node));
    if (cudaError_t e = ggas::set_device_context(cluster->device_context(node), cluster->stream(node));
        e != cudaSuccess)
      return failed(cudaGetErrorString(e));
  }
  for (int node : cluster->local_nodes()) {
    auto* const results = reinterpret_cast<int*>(cluster->segment(node) + place) + 1;
    if (cudaError_t e =
            ggas::launch(*cluster, node, 1, 32, greet, place, results, reinterpret_cast<ggas_status*>(results + 1));
        e != cudaSuccess)
      return failed(cudaGetErrorString(e));
  }
  if (why = cluster->run(20 * second); !why.empty()) return failed(why);

  for (int node : cluster->local_nodes()) {
    int result[2];
    cudaMemcpy(result, cluster->segment(node) + place + 4, sizeof result, cudaMemcpyDeviceToHost);
    if (result[1] != ggas_ok) return failed("the barrier of node " + std::to_string(node) + " timed out");
    std::printf("node %d of %d heard from node %d\n", node, cluster->nodes(), result[0] - 100);
  }
}
