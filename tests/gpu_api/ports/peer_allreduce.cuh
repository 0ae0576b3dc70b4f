// SPDX-License-Identifier: Apache-2.0
// Allreduce by loads from the peers, like the custom allreduces of vLLM and TensorRT-LLM: blocks of the same number
// synchronise by flags, then each reads everything (one-shot), or each sums a part and reads the others' sums
// (two-shot).
#pragma once

#include <vector>

#include "tests/gpu_api/ports/ring_allreduce.cuh"

namespace ggas::ports {

struct alignas(16) quad {
  uint32_t x, y, z, w;
  GGAS_DEVICE friend quad operator+(quad a, quad b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }
};
constexpr unsigned peer_blocks = 2, peer_quads = 32;  // of a block

struct peer_group {
  const args& a;
  const int me = ggas_node(), nodes = ggas_nodes();
  room places{a.memory};
  const uint64_t inputs = places.take<quad>(peer_blocks * peer_quads),
                 sums = places.take<quad>(peer_blocks * peer_quads),
                 flags = places.take<uint64_t>(peer_blocks * static_cast<uint64_t>(nodes));
  const unsigned first = blockIdx.x * peer_quads;
  uint64_t epoch = 0;

  GGAS_DEVICE explicit peer_group(const args& given) : a(given) {}

  // What the block wrote before is there for the peers' blocks of this number, and what it read may be overwritten.
  GGAS_DEVICE bool meet() {
    ++epoch;
    __syncthreads();
    ggas_status s = ggas_ok;
    if (threadIdx.x < static_cast<unsigned>(nodes)) {
      const uint64_t row = flags + blockIdx.x * static_cast<uint64_t>(nodes) * sizeof(uint64_t);
      ggas_store(ggas_pointer_of_node<uint64_t>(static_cast<int>(threadIdx.x), row) + me, epoch, ggas_release);
      s = ggas_wait_until(bench::own<uint64_t>(row) + threadIdx.x, ggas_ge, epoch, a.timeout_ns);
    }
    return block_agrees(s == ggas_ok);
  }
  GGAS_DEVICE void fill(uint64_t round) const {
    uint32_t* const words = bench::own<uint32_t>(inputs);
    for (unsigned i = 4 * first + threadIdx.x; i < 4 * (first + peer_quads); i += blockDim.x)
      words[i] = value(me, round, i);
  }
  GGAS_DEVICE quad sum_of_all(unsigned i) const {
    quad sum{0, 0, 0, 0};
    for (int n = 0; n < nodes; ++n)
      sum = sum + (n == me ? bench::own<quad>(inputs)[i] : ggas_load(ggas_pointer_of_node<quad>(n, inputs) + i));
    return sum;
  }
  GGAS_DEVICE void add_to_result(unsigned i, quad v) const {
    quad& r = bench::own<quad>(a.result)[i];
    r = r + v;
  }
};

static __global__ void one_shot_allreduce(args a) {
  peer_group peers(a);
  bool ok = true;
  for (uint64_t round = 0; round < a.rounds && ok; ++round) {
    peers.fill(round);
    ok = peers.meet();
    for (unsigned i = threadIdx.x; i < peer_quads && ok; i += blockDim.x)
      peers.add_to_result(peers.first + i, peers.sum_of_all(peers.first + i));
    ok = peers.meet() && ok;
  }
  report(a, ok ? ggas_ok : ggas_timed_out);
}

static __global__ void two_shot_allreduce(args a) {
  peer_group peers(a);
  bool ok = true;
  for (uint64_t round = 0; round < a.rounds && ok; ++round) {
    peers.fill(round);
    ok = peers.meet();
    quad* const sums = bench::own<quad>(peers.sums);
    for (unsigned i = threadIdx.x; i < peer_quads && ok; i += blockDim.x)
      if (static_cast<int>(i) % peers.nodes == peers.me) sums[peers.first + i] = peers.sum_of_all(peers.first + i);
    ok = ok && peers.meet();
    for (unsigned i = threadIdx.x; i < peer_quads && ok; i += blockDim.x) {
      const int owner = static_cast<int>(i) % peers.nodes;
      const quad* const theirs = ggas_pointer_of_node<quad>(owner, peers.sums) + peers.first + i;
      peers.add_to_result(peers.first + i, owner == peers.me ? *theirs : ggas_load(theirs));
    }
  }
  report(a, ok ? ggas_ok : ggas_timed_out);
}

inline std::vector<uint32_t> want_peer_allreduce(int nodes, int, uint64_t rounds) {
  return sums(nodes, rounds, 4 * peer_blocks * peer_quads);
}

}  // namespace ggas::ports
