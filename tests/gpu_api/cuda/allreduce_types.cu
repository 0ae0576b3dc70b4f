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

// Elements in turns: a NaN at one node, at all of them, a zero that has a sign at every other node.
__device__ float odd_number(int node, uint64_t i) {
  if (i % 3 == 2) return node % 2 ? -0.0f : 0.0f;
  const bool none = i % 3 == 1 || static_cast<int>(i / 3 % static_cast<unsigned>(ggas_nodes())) == node;
  return none ? __int_as_float(0x7fc00000) : static_cast<float>(small(node, i, ggas_min));
}
__device__ float least_or_greatest(ggas_op op, float a, float b) {
  if (isnan(a) || isnan(b)) return isnan(a) ? b : a;
  if (a == b) return signbit(a) == (op == ggas_min) ? a : b;
  return (op == ggas_min) == (a < b) ? a : b;
}

template <class T>
__global__ void GGAS_LAUNCH_BOUNDS(512) odd_rounds(places at, int method) {
  constexpr uint64_t elements = 300;
  outcome out{0, 0, 0, ggas_ok};
  T* const from = own<T>(at.data);
  T* const to = own<T>(at.copy);
  for (ggas_op op : {ggas_min, ggas_max}) {
    for (uint64_t i = threadIdx.x; i < elements; i += blockDim.x) from[i] = static_cast<T>(odd_number(ggas_node(), i));
    __syncthreads();
    if (out.status == ggas_ok)
      out.status = ggas_allreduce_block(to, from, elements, op, static_cast<ggas_method>(method), timeout_ns);
    for (uint64_t i = threadIdx.x; i < elements; i += blockDim.x) {
      float want = odd_number(0, i);
      for (int n = 1; n < ggas_nodes(); ++n) want = least_or_greatest(op, want, odd_number(n, i));
      const auto got = static_cast<float>(to[i]);
      out.errors += !(isnan(want) && isnan(got)) && !(want == got && signbit(want) == signbit(got));
    }
    __syncthreads();
  }
  own<outcome>(at.outcomes)[threadIdx.x] = out;
}

TEST_F(rig, a_nan_counts_as_missing_and_zeros_have_a_sign) {
  const auto all = [&](auto kernel, const std::string& type) {
    for (int method : all_methods) {
      start_all(1, 256, kernel, at, method);
      run(type);
      check_all_outcomes(256, type + ", method " + std::to_string(method));
    }
  };
  all(odd_rounds<float>, "float");
  all(odd_rounds<double>, "double");
  all(odd_rounds<__half>, "half");
  all(odd_rounds<__nv_bfloat16>, "bfloat16");
}

}  // namespace
}  // namespace ggas::gpu_test
