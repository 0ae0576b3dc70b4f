// SPDX-License-Identifier: Apache-2.0
// The same program with one process for all GPUs, or one process for each node. Guide: docs/how-to/real-gpus.md.
#include <cstdio>

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
  const ggas::job processes = ggas::job::from_environment(why);
  if (!why.empty()) return failed(why);
  // All GPUs, or one for each process; waits for the other processes, if there are some.
  auto made =
      ggas::cluster::create({.provider = "cuda", .nodes = 0, .segment_bytes = 64 << 20, .processes = processes});
  if (!made) return failed(made.error().text);
  ggas::cluster& cluster = **made;

  const uint64_t place = cluster.device_context(cluster.local_nodes()[0]).reserved;  // after what the library keeps
  for (int node : cluster.local_nodes()) {  // all nodes, or the one of this process
    auto* const results = reinterpret_cast<int*>(cluster.segment(node) + place) + 1;
    if (auto ok =
            ggas::launch(cluster, node, 1, 32, greet, place, results, reinterpret_cast<ggas_status*>(results + 1));
        !ok)
      return failed(ok.error().text);
  }
  if (auto ran = cluster.run(20 * second); !ran) return failed(ran.error().text);

  for (int node : cluster.local_nodes()) {
    int result[2];
    if (auto ok = cluster.read(node, place + 4, result, sizeof result); !ok) return failed(ok.error().text);
    if (result[1] != ggas_ok) return failed("the barrier of node " + std::to_string(node) + " timed out");
    std::printf("node %d of %d heard from node %d\n", node, cluster.nodes(), result[0] - 100);
  }
}
