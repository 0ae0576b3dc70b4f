// SPDX-License-Identifier: Apache-2.0
// Reductions on real GPUs of the types that only GPUs have, by every operation. A file of its own: these take the
// compiler long.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

constexpr int all_methods[] = {ggas_one_shot, ggas_two_shot, ggas_direct, ggas_push, ggas_read, ggas_tree, ggas_auto};

// Small whole numbers, so that results are exact in every type and order.
__device__ int small(int node, uint64_t i, ggas_op op) {
  return op == ggas_prod ? 1 + static_cast<int>((i + static_cast<unsigned>(node)) % 2)
                         : static_cast<int>((i * 5 + static_cast<unsigned>(node) * 3) % 7) - 3;
}
__device__ int combined(int a, int b, ggas_op op) {
  return op == ggas_sum ? a + b : op == ggas_prod ? a * b : op == ggas_min ? min(a, b) : max(a, b);
}

template <class T>
__global__ void GGAS_LAUNCH_BOUNDS(512) typed_rounds(places at, uint64_t elements, int method) {
  outcome out{0, 0, 0, ggas_ok};
  T* const from = own<T>(at.data);
  T* const to = own<T>(at.copy) + 1;
  for (ggas_op op : {ggas_sum, ggas_min, ggas_max, ggas_prod}) {
    for (uint64_t i = threadIdx.x; i < elements; i += blockDim.x)
      from[i] = static_cast<T>(float(small(ggas_node(), i, op)));
    __syncthreads();
    if (out.status == ggas_ok)
      out.status = ggas_allreduce_block(to, from, elements, op, static_cast<ggas_method>(method), timeout_ns);
    for (uint64_t i = threadIdx.x; i < elements; i += blockDim.x) {
      int want = small(0, i, op);
      for (int n = 1; n < ggas_nodes(); ++n) want = combined(want, small(n, i, op), op);
      if (static_cast<float>(to[i]) != static_cast<float>(static_cast<T>(float(want)))) ++out.errors;
    }
    __syncthreads();
  }
  own<outcome>(at.outcomes)[threadIdx.x] = out;
}

TEST_F(rig, reductions_of_half_precision_by_every_operation) {
  const auto all = [&](auto kernel, const char* type) {
    for (uint64_t elements : {1u, 7u, 300u, 5003u}) {
      for (int method : all_methods) {
        start_all(1, 256, kernel, at, elements, method);
        run(type);
        check_all_outcomes(256,
                           std::string(type) + ", " + std::to_string(elements) + ", method " + std::to_string(method));
      }
    }
  };
  all(typed_rounds<__half>, "half");
  all(typed_rounds<__nv_bfloat16>, "bfloat16");
}

}  // namespace
}  // namespace ggas::gpu_test
