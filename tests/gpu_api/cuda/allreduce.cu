// SPDX-License-Identifier: Apache-2.0
// Reductions on real GPUs: every method, in a block and in grids, at odd lengths and places, with members that are
// late.
#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

struct vectors {
  uint64_t elements;
  int method;
  unsigned shift;  // elements that the vectors of node n begin late: n times so many
  bool in_place;
  int root;  // -1: every member
};

__device__ float* input(const places& at, const vectors& v, int node) {
  return own<float>(at.data) + static_cast<unsigned>(node) * v.shift;
}
__device__ float* output(const places& at, const vectors& v, int node) {
  return v.in_place ? input(at, v, node) : own<float>(at.copy) + static_cast<unsigned>(node) * v.shift;
}
// Sums of such numbers are exact.
__device__ float value(int node, uint64_t i, unsigned round) {
  return static_cast<float>((i * 7 + round + static_cast<unsigned>(node) * 3) % 19);
}
__device__ uint64_t wrong_sums(const places& at, const vectors& v, unsigned round) {
  uint64_t wrong = 0;
  if (v.root >= 0 && v.root != ggas_node()) return 0;
  for (uint64_t i = ggas::bench::global_thread(); i < v.elements; i += ggas::bench::global_threads()) {
    float want = 0;
    for (int n = 0; n < ggas_nodes(); ++n) want += value(n, i, round);
    if (output(at, v, ggas_node())[i] != want) ++wrong;
  }
  return wrong;
}
__device__ void fill(const places& at, const vectors& v, unsigned round) {
  for (uint64_t i = ggas::bench::global_thread(); i < v.elements; i += ggas::bench::global_threads())
    input(at, v, ggas_node())[i] = value(ggas_node(), i, round);
}
// Now and then a block is late.
__device__ void be_late(unsigned round) {
  const uint64_t dice = pattern(round, blockIdx.x, static_cast<uint64_t>(ggas_node()));
  if (dice % 4 == 0) __nanosleep(static_cast<unsigned>(dice >> 32) % 20000);
}

// Not inline: every call in a kernel is half a minute of the compiler.
__device__ __noinline__ ggas_status reduce_in_block(float* to, const float* from, uint64_t n, ggas_op op,
                                                    ggas_method method, int root) {
  return root < 0 ? ggas_allreduce_block(to, from, n, op, method, timeout_ns)
                  : ggas_reduce_block(to, from, n, op, root, method, timeout_ns);
}

// Round after round in one kernel.
__global__ void GGAS_LAUNCH_BOUNDS(512) block_rounds(places at, vectors v, unsigned rounds) {
  outcome out{0, 0, 0, ggas_ok};
  const auto method = static_cast<ggas_method>(v.method);
  ggas_status s = ggas_ok;
  for (unsigned round = 0; round < rounds && s == ggas_ok; ++round) {
    fill(at, v, round);
    __syncthreads();
    be_late(round);
    float* const from = input(at, v, ggas_node());
    float* const to = output(at, v, ggas_node());
    s = reduce_in_block(to, from, v.elements, ggas_sum, method, v.root);
    out.errors += wrong_sums(at, v, round);
    __syncthreads();
  }
  out.status = s;
  own<outcome>(at.outcomes)[ggas::detail::thread_rank()] = out;
}

// What a grid reduces is filled and checked by kernels before and after.
__global__ void grid_fill(places at, vectors v, unsigned round) {
  fill(at, v, round);
  if (ggas::bench::global_thread() == 0 && round == 0) own<outcome>(at.outcomes)[0] = {0, 0, 0, ggas_ok};
}
__global__ void GGAS_LAUNCH_BOUNDS(512) grid_reduce(places at, vectors v, unsigned round) {
  be_late(round);
  const auto method = static_cast<ggas_method>(v.method);
  const float* const from = input(at, v, ggas_node());
  float* const to = output(at, v, ggas_node());
  const ggas_status s = v.root < 0 ? ggas_allreduce_grid(to, from, v.elements, ggas_sum, method, timeout_ns)
                                   : ggas_reduce_grid(to, from, v.elements, ggas_sum, v.root, method, timeout_ns);
  if (threadIdx.x == 0 && s != ggas_ok) own<outcome>(at.outcomes)[0].status = s;
}
__global__ void grid_check(places at, vectors v, unsigned round) {
  const uint64_t wrong = wrong_sums(at, v, round);
  if (wrong) ggas::detail::add_gpu(&own<outcome>(at.outcomes)[0].errors, wrong);
}

std::string reported(const vectors& v, unsigned blocks) {
  return std::to_string(v.elements) + " floats, method " + std::to_string(v.method) + ", shift " +
         std::to_string(v.shift) + ", root " + std::to_string(v.root) + ", " + std::to_string(blocks) + " blocks" +
         (v.in_place ? ", in place" : "");
}

class allreduce : public rig {
 protected:
  void in_a_block(const vectors& v, unsigned threads, unsigned rounds) {
    start_all(1, threads, block_rounds, at, v, rounds_of(rounds));
    run("block_rounds");
    check_all_outcomes(threads, reported(v, 1));
  }
  void in_a_grid(const vectors& v, unsigned blocks, unsigned threads, unsigned rounds) {
    for (unsigned round = 0; round < rounds_of(rounds); ++round) {
      for (int n = 0; n < nodes(); ++n) {
        ok(ggas::launch(machine(), n, 32, 256, grid_fill, at, v, round), "grid_fill");
        ok(ggas::launch(machine(), n, blocks, threads, grid_reduce, at, v, round), "grid_reduce");
        ok(ggas::launch(machine(), n, 32, 256, grid_check, at, v, round), "grid_check");
      }
    }
    run("grid rounds");
    check_all_outcomes(1, reported(v, blocks));
  }
};

constexpr int line_methods[] = {ggas_one_shot, ggas_two_shot, ggas_direct, ggas_push, ggas_read, ggas_tree, ggas_auto};

TEST_F(allreduce, in_a_block) {
  for (uint64_t elements : {1u, 2u, 63u, 64u, 1023u, 1024u, 16385u}) {
    for (int method : {ggas_by_gather, ggas_by_all_gather}) in_a_block({elements, method, 0, false, -1}, 512, 20);
    for (int method : line_methods) in_a_block({elements, method, 0, false, -1}, 512, 20);
    for (int method : line_methods) in_a_block({elements, method, 1, false, -1}, 96, 20);
  }
}

// Over the slots of several channels: lengths around those of one, of rows and of a whole bundle.
TEST_F(allreduce, over_bundles_of_channels) {
  for (uint64_t elements : {513u, 769u, 3001u, 8191u, 8192u, 8193u}) {
    for (unsigned threads : {33u, 128u, 512u}) {
      in_a_block({elements, ggas_one_shot, 0, false, -1}, threads, 20);
      in_a_block({elements, ggas_one_shot, 1, true, -1}, threads, 20);
      in_a_block({elements, ggas_one_shot, 0, false, nodes() - 1}, threads, 20);
    }
  }
}

TEST_F(allreduce, in_place_in_a_block) {
  for (uint64_t elements : {1u, 65u, 4099u}) {
    for (int method : line_methods) in_a_block({elements, method, 3, true, -1}, 256, 20);
  }
}

TEST_F(allreduce, in_grids) {
  for (uint64_t elements : {1u, 1000u, 16384u, 262147u, 4194304u, 16000001u}) {
    for (int method : line_methods) {
      if (elements > 5000000 && method != ggas_push && method != ggas_auto) continue;
      in_a_grid({elements, method, 0, false, -1}, 128, 512, 5);
      in_a_grid({elements, method, 1, false, -1}, 7, 128, 5);
      in_a_grid({elements, method, 4, true, -1}, 32, 256, 5);
    }
  }
}

TEST_F(allreduce, reduce_to_every_root) {
  for (int root = 0; root < nodes(); ++root) {
    for (uint64_t elements : {1u, 777u, 20001u}) {
      for (int method : {ggas_by_gather, ggas_one_shot, ggas_direct, ggas_read, ggas_tree, ggas_auto})
        in_a_block({elements, method, 0, false, root}, 256, 10);
      for (int method : {ggas_one_shot, ggas_direct, ggas_read, ggas_tree})
        in_a_grid({elements, method, 1, false, root}, 5, 256, 5);
    }
  }
}

// Calls of one block after each other, each with another length, place, operation, method and root.
struct random_call {
  uint64_t elements, from;
  ggas_op op;
  ggas_method method;
  int root;  // -1: every member

  __device__ random_call(unsigned number, uint64_t most) {
    const uint64_t dice = pattern(4711, number, 0);
    elements = 1 + dice % (number % 8 == 0 ? most : 300);
    from = (dice >> 20) % most;
    op = static_cast<ggas_op>((dice >> 32) % 3);
    method = static_cast<ggas_method>((dice >> 36) % (ggas_auto + 1));
    const bool to_root =
        (dice >> 44) % 2 && method != ggas_by_all_gather && method != ggas_two_shot && method != ggas_push;
    root = to_root ? static_cast<int>((dice >> 48) % static_cast<unsigned>(ggas_nodes())) : -1;
  }
  __device__ float expected(uint64_t i) const {
    float sum = value(0, from + i, 0);
    for (int n = 1; n < ggas_nodes(); ++n) {
      const float v = value(n, from + i, 0);
      sum = op == ggas_sum ? sum + v : op == ggas_min ? fminf(sum, v) : fmaxf(sum, v);
    }
    return sum;
  }
};
__global__ void GGAS_LAUNCH_BOUNDS(512) many_calls(places at, unsigned calls) {
  constexpr uint64_t most = 20000;
  outcome out{0, 0, 0, ggas_ok};
  float* const in = own<float>(at.data);
  float* const to = own<float>(at.copy);
  for (uint64_t i = threadIdx.x; i < 2 * most; i += blockDim.x) in[i] = value(ggas_node(), i, 0);
  __syncthreads();
  for (unsigned k = 0; k < calls && out.status == ggas_ok; ++k) {
    const random_call c(k, most);
    be_late(k);
    out.status = reduce_in_block(to, in + c.from, c.elements, c.op, c.method, c.root);
    if (c.root < 0 || c.root == ggas_node()) {
      for (uint64_t i = threadIdx.x; i < c.elements; i += blockDim.x) out.errors += to[i] != c.expected(i);
    }
    __syncthreads();
  }
  own<outcome>(at.outcomes)[threadIdx.x] = out;
}

TEST_F(allreduce, many_calls_of_all_kinds_behind_each_other) {
  for (unsigned threads : {96u, 256u}) {
    start_all(1, threads, many_calls, at, rounds_of(500));
    run("many_calls");
    check_all_outcomes(threads, "many calls");
  }
}

}  // namespace
}  // namespace ggas::gpu_test
