// SPDX-License-Identifier: Apache-2.0
// Reductions on real GPUs.
#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

// Every node adds up; the inputs of a round are pattern-like small integers, so that sums are exact.
__global__ void GGAS_LAUNCH_BOUNDS(512) sum_up(places at, uint64_t elements, int method, unsigned rounds) {
  outcome out{0, 0, 0, ggas_ok};
  float* const in = own<float>(at.data);
  float* const sum = own<float>(at.copy);
  ggas_status s = ggas_ok;
  for (unsigned round = 0; round < rounds && s == ggas_ok; ++round) {
    const auto value = [&](int node, uint64_t i) {
      return static_cast<float>((i * 7 + round + static_cast<unsigned>(node) * 3) % 19);
    };
    for (uint64_t i = ggas::detail::thread_rank(); i < elements; i += ggas::detail::thread_count())
      in[i] = value(ggas_node(), i);
    __syncthreads();
    s = ggas_allreduce_block(sum, in, elements, ggas_sum, static_cast<ggas_method>(method), timeout_ns);
    for (uint64_t i = ggas::detail::thread_rank(); i < elements; i += ggas::detail::thread_count()) {
      float want = 0;
      for (int n = 0; n < ggas_nodes(); ++n) want += value(n, i);
      if (sum[i] != want) ++out.errors;
    }
    __syncthreads();
  }
  out.status = s;
  own<outcome>(at.outcomes)[ggas::detail::thread_rank()] = out;
}

TEST_F(rig, allreduce_in_a_block) {
  for (uint64_t elements : {1u, 64u, 1024u, 16384u}) {
    for (int method : {ggas_gather, ggas_all_gather}) {
      start_all(1, 512, sum_up, at, elements, method, 20u);
      run("sum_up");
      check_all_outcomes(512, std::to_string(elements) + " floats, method " + std::to_string(method));
    }
  }
}

}  // namespace
}  // namespace ggas::gpu_test
