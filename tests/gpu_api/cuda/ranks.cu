// SPDX-License-Identifier: Apache-2.0
// Ranks on real GPUs: blocks of one GPU, and of all of them; every byte as the serial model says.
#include "rig.hpp"
#include "tests/gpu_api/ranks_calls.cuh"

namespace ggas::gpu_test {
namespace {

using namespace ggas::test;

constexpr unsigned threads = 128, kinds = static_cast<unsigned>(rank_kind::prescan) + 1;
constexpr size_t most_bytes = 64 * 1024, guard = 64;
constexpr uint64_t step = 2 << 20;  // of a rank, for 16 parts and the guard

template <class T>
__global__ void call_and_look(places at, ggas_ranks ranks, size_t n, ggas_op op) {
  outcome out{0, 0, 0, ggas_ok};
  const int me = ggas_rank(ranks), count = ggas_rank_count(ranks);
  const ranked<T> dst{at.data, step}, src{at.data + 16 * step, step};
  T* const to = ggas_pointer_of_rank(ranks, me, dst);
  T* const from = ggas_pointer_of_rank(ranks, me, src);
  const T untouched = static_cast<T>(90);
  for (unsigned i = 0; i < kinds * 9 && out.status == ggas_ok; ++i) {
    const rank_plan<T> p{
        static_cast<rank_kind>(i / 9), n, static_cast<int>(i * 5 % static_cast<unsigned>(count)), i, op, mode_of(i)};
    const size_t written = target_elements(p, count);
    for (size_t k = threadIdx.x; k < source_elements(p, count); k += blockDim.x) from[k] = element<T>(i, me, k);
    for (size_t k = threadIdx.x; k < written + guard; k += blockDim.x) to[k] = untouched;
    const auto keep = [&](ggas_status s) {
      if (out.status == ggas_ok) out.status = s;
    };
    keep(ggas_barrier(ranks, timeout_ns));
    keep(call_of_rank(ranks, p, dst, src, timeout_ns));
    if ((p.mode & ggas_out_none) != 0) keep(ggas_barrier(ranks, timeout_ns));
    for (size_t k = threadIdx.x; k < written + guard; k += blockDim.x) {
      T v = untouched;
      if (k < written) expected(p, count, i, me, k, v);
      out.errors += ggas_load(to + k) != v;
    }
    keep(ggas_barrier(ranks, timeout_ns));  // what is written next is not looked at any more
  }
  own<outcome>(at.outcomes)[detail::block_rank() * blockDim.x + threadIdx.x] = out;
}

struct ranks_rig : rig {
  // Zero at first, as all segments of a test; with the words after the places of data.
  ggas_ranks ranks_of(int of_nodes, unsigned blocks) const {
    return {{0, 1, of_nodes, 0}, blocks, 0, at.data + 32 * step, 4096, 2};
  }
  template <class T>
  void look(int of_nodes, unsigned blocks, ggas_op op) {
    for (const size_t n : {size_t{1}, size_t{7}, size_t{129}, size_t{1024}, size_t{4097}, most_bytes / sizeof(T)}) {
      SetUp();
      const std::string what =
          std::to_string(of_nodes) + " x " + std::to_string(blocks) + " ranks, n " + std::to_string(n);
      for (int node = 0; node < of_nodes; ++node) {
        spoil(node, blocks);
        ok(launch_grid(machine(), node, blocks, threads, call_and_look<T>, at, ranks_of(of_nodes, blocks), n, op),
           "launch");
      }
      run(what);
      for (int node = 0; node < of_nodes; ++node) check_outcomes(node, size_t{blocks} * threads, what);
    }
  }

 private:
  void spoil(int node, unsigned blocks) {
    write(node, at.outcomes, std::vector<uint8_t>(sizeof(outcome) * blocks * threads, 0xff));
  }
};

TEST_F(ranks_rig, blocks_of_a_gpu) {
  look<uint8_t>(1, 16, ggas_max);
  look<float>(1, 5, ggas_sum);
}
TEST_F(ranks_rig, blocks_of_all_gpus) {
  GGAS_NEEDS_NODES(2);
  look<uint8_t>(nodes(), 16u / static_cast<unsigned>(nodes()), ggas_max);
  look<float>(nodes(), 3, ggas_sum);
}
TEST_F(ranks_rig, one_rank_a_gpu) { look<uint32_t>(nodes(), 1, ggas_sum); }

}  // namespace
}  // namespace ggas::gpu_test
