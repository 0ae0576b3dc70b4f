// SPDX-License-Identifier: Apache-2.0
// Mixture of experts, as in DeepEP's low-latency kernels: tokens go to the nodes of their experts (dispatch), with a
// count after them; experts work in place; their results return to the token's node (combine).
#pragma once

#include <vector>

#include "tests/gpu_api/ports/common.cuh"

namespace ggas::ports {

constexpr uint32_t tokens = 16, hidden = 16, experts_of_node = 2, choices = 2, most_messages = tokens * choices;

struct alignas(16) message {
  uint32_t from, unused[3];  // which choice of which token
  uint32_t data[hidden];
};
constexpr size_t message_words = sizeof(message) / sizeof(uint32_t);

GGAS_HOST_DEVICE constexpr uint32_t expert_of(int node, uint32_t choice, int nodes) {
  return static_cast<uint32_t>((bench::pattern(static_cast<uint64_t>(node) + 50, 0, choice) >> 8) %
                               (experts_of_node * static_cast<uint64_t>(nodes)));
}
GGAS_HOST_DEVICE constexpr uint32_t apply_expert(uint32_t expert, uint32_t x) { return x * (2 * expert + 3) + expert; }
GGAS_HOST_DEVICE constexpr uint32_t combine(uint32_t first, uint32_t second) { return first + 2 * second; }

struct expert_exchange {
  const args& a;
  const int me = ggas_node(), nodes = ggas_nodes();
  const uint32_t experts = experts_of_node * static_cast<uint32_t>(nodes);
  room places{a.memory};
  const uint64_t numbers = places.take<uint32_t>(experts), outbox = places.take<message>(experts * most_messages),
                 inbox = places.take<message>(experts * most_messages), counts = places.take<uint64_t>(experts),
                 returned = places.take<uint32_t>(most_messages * hidden);

  GGAS_DEVICE explicit expert_exchange(const args& given) : a(given) {}

  // At the expert's node: from that node, for that expert.
  GGAS_DEVICE uint64_t part(uint32_t expert, int from) const {
    return expert % experts_of_node * static_cast<uint64_t>(nodes) + static_cast<uint64_t>(from);
  }
  GGAS_DEVICE static uint64_t messages_at(uint64_t box, uint64_t part) {
    return box + part * most_messages * sizeof(message);
  }
  GGAS_DEVICE static int node_of(uint32_t expert) { return static_cast<int>(expert / experts_of_node); }

  GGAS_DEVICE void sort(uint64_t round) const {
    uint32_t* const number = bench::own<uint32_t>(numbers);
    for (unsigned e = threadIdx.x; e < experts; e += blockDim.x) number[e] = 0;
    __syncthreads();
    for (unsigned c = threadIdx.x; c < most_messages; c += blockDim.x) {
      const uint32_t e = expert_of(me, c, nodes), place = atomicAdd(number + e, 1u);
      message& m = bench::own<message>(messages_at(outbox, e))[place];
      m.from = c;
      for (uint32_t i = 0; i < hidden; ++i) m.data[i] = value(me, round, c / choices * hidden + i);
    }
    __syncthreads();
  }

  GGAS_DEVICE bool dispatch(uint64_t round) const {
    const uint32_t* const number = bench::own<uint32_t>(numbers);
    ggas_status s = ggas_ok;
    for (uint32_t e = threadIdx.x / 32; e < experts && s == ggas_ok; e += blockDim.x / 32)
      if (number[e])
        s = ggas_put_nbi_warp(ggas_pointer_of_node<uint32_t>(node_of(e), messages_at(inbox, part(e, me))),
                              bench::own<uint32_t>(messages_at(outbox, e)), number[e] * message_words, a.timeout_ns);
    if (!block_agrees(s == ggas_ok)) return false;
    if (threadIdx.x == 0) s = ggas_fence(ggas_default_queue(), a.timeout_ns);
    if (threadIdx.x == 0 && s == ggas_ok)
      for (uint32_t e = 0; e < experts; ++e)
        ggas_store(ggas_pointer_of_node<uint64_t>(node_of(e), counts) + part(e, me), (round + 1) << 32 | number[e]);
    return block_agrees(s == ggas_ok);
  }

  GGAS_DEVICE bool work(uint64_t round) const {
    uint64_t* const count = bench::own<uint64_t>(counts);
    ggas_status s = ggas_ok;
    if (threadIdx.x < experts) s = ggas_wait_until(count + threadIdx.x, ggas_ge, (round + 1) << 32, a.timeout_ns);
    if (!block_agrees(s == ggas_ok)) return false;
    for (uint32_t p = 0; p < experts; ++p) {
      const uint32_t expert = static_cast<uint32_t>(me) * experts_of_node + p / static_cast<uint32_t>(nodes);
      const int from = static_cast<int>(p % static_cast<uint32_t>(nodes));
      message* const all = bench::own<message>(messages_at(inbox, p));
      const auto words = static_cast<uint32_t>(count[p]) * hidden;
      for (uint32_t i = threadIdx.x; i < words; i += blockDim.x) {
        uint32_t& x = all[i / hidden].data[i % hidden];
        x = apply_expert(expert, x);
      }
      __syncthreads();
      // Another thread than the one that worked on a word may send it.
      for (uint32_t i = blockDim.x - 1 - threadIdx.x; i < words; i += blockDim.x)
        ggas_store(ggas_pointer_of_node<uint32_t>(from, returned) + all[i / hidden].from * hidden + i % hidden,
                   all[i / hidden].data[i % hidden]);
    }
    return ggas_barrier_block(a.timeout_ns) == ggas_ok;
  }

  GGAS_DEVICE void add_up() const {
    const uint32_t* const made = bench::own<uint32_t>(returned);
    for (uint32_t i = threadIdx.x; i < tokens * hidden; i += blockDim.x) {
      const uint32_t* const first = made + i / hidden * choices * hidden + i % hidden;
      bench::own<uint32_t>(a.result)[i] += combine(first[0], first[hidden]);
    }
    __syncthreads();
  }
};

static __global__ void expert_dispatch(args a) {
  const expert_exchange exchange(a);
  bool ok = true;
  for (uint64_t round = 0; round < a.rounds && ok; ++round) {
    exchange.sort(round);
    ok = exchange.dispatch(round) && exchange.work(round);
    if (ok) exchange.add_up();
  }
  report(a, ok ? ggas_ok : ggas_timed_out);
}

inline std::vector<uint32_t> want_experts(int nodes, int node, uint64_t rounds) {
  std::vector<uint32_t> all(tokens * hidden);
  for (uint64_t round = 0; round < rounds; ++round)
    for (uint32_t i = 0; i < tokens * hidden; ++i) {
      const uint32_t x = value(node, round, i), first = i / hidden * choices;
      all[i] +=
          combine(apply_expert(expert_of(node, first, nodes), x), apply_expert(expert_of(node, first + 1, nodes), x));
    }
  return all;
}

}  // namespace ggas::ports
