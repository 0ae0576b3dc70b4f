// SPDX-License-Identifier: Apache-2.0
// A program that hangs: node 1 of two does not come to a barrier without a time-out. For tests of ./ggas run.
#include <cstdio>

#include "ggas/cluster.hpp"
#include "ggas/ggas.cuh"

int main() {
  ggas::cluster_config two_nodes;
  two_nodes.provider = "shm";
  auto made = ggas::cluster::create(two_nodes);
  if (!made) return 2;
  const auto barrier = [] { static_cast<void>(ggas_barrier_block(GGAS_FOREVER)); };
  if (!(*made)->launch(0, 1, 32, barrier)) return 2;
  std::puts("ready");
  std::fflush(stdout);
  static_cast<void>((*made)->run(~0ull));
  for (;;) {
  }
}
