// SPDX-License-Identifier: Apache-2.0
// A kernel that two files have in common, as templates are, and what the other file does.
#pragma once

#include "ggas/cluster.hpp"
#include "ggas/ggas.cuh"
#include "ggas/launch.hpp"

// The launch bounds of docs/device-api.md; all methods are in it.
template <class T>
__global__ void GGAS_LAUNCH_BOUNDS(512) sum_over_nodes(uint64_t dst, uint64_t src, size_t n, uint64_t* status) {
  T* const to = ggas_pointer_of_node<T>(ggas_node(), dst);
  const T* const from = ggas_pointer_of_node<T>(ggas_node(), src);
  const ggas_status s = ggas_allreduce_grid(to, from, n, ggas_sum, ggas_auto, 5'000'000'000);
  if (s != ggas_ok && threadIdx.x == 0) *status = s;
}

ggas::result<> prepare_in_other_file(ggas::cluster& c, int node);
ggas::result<> sum_in_other_file(ggas::cluster& c, int node, uint64_t dst, uint64_t src, size_t n, uint64_t* status);
