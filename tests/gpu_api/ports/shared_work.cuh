// SPDX-License-Identifier: Apache-2.0
// Remote atomics as dynamic schedulers and distributed tables use them: tickets drawn from a counter at node 0, and a
// hash table with open addressing over all nodes, whose keys are claimed by compare-and-swap.
#pragma once

#include <vector>

#include "tests/gpu_api/ports/common.cuh"

namespace ggas::ports {

// ---- tickets: a warp draws one and does its piece of work, until all are drawn

constexpr uint32_t tickets_of_node = 16;

static __global__ void ticket_queue(args a) {
  const int nodes = ggas_nodes();
  const uint64_t tickets = tickets_of_node * static_cast<uint64_t>(nodes);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  room places{a.memory};
  const uint64_t counter = places.take<uint64_t>(1);
  uint32_t* const done = bench::own<uint32_t>(places.take<uint32_t>(blockDim.x / 32));
  uint32_t* const mine = bench::own<uint32_t>(places.take<uint32_t>(1));
  uint32_t* const everybodys = bench::own<uint32_t>(places.take<uint32_t>(1));
  ggas_status s = ggas_ok;
  while (true) {
    uint64_t ticket = tickets;
    if (lane == 0) {
      s = ggas_fetch_add(ggas_pointer_of_node<uint64_t>(0, counter), uint64_t{1}, &ticket, a.timeout_ns);
      if (s != ggas_ok) ticket = tickets;
    }
    ticket = __shfl_sync(0xffffffffu, ticket, 0);
    if (ticket >= tickets) break;
    const auto owner = static_cast<int>(ticket % static_cast<uint64_t>(nodes));
    const uint64_t place = ticket / static_cast<uint64_t>(nodes) * 32 + lane;
    ggas_store(ggas_pointer_of_node<uint32_t>(owner, a.result) + place, value(owner, 0, place));
    if (lane == 0) ++done[warp];
  }
  bool ok = block_agrees(s == ggas_ok);
  if (threadIdx.x == 0) {
    *mine = 0;
    for (unsigned w = 0; w < blockDim.x / 32; ++w) *mine += done[w];
  }
  __syncthreads();
  if (ok) ok = ggas_allreduce_block(everybodys, mine, 1, ggas_sum, ggas_auto, a.timeout_ns) == ggas_ok;
  if (ok) ok = ggas_barrier_block(a.timeout_ns) == ggas_ok;
  if (threadIdx.x == 32) bench::own<uint32_t>(a.result)[tickets_of_node * 32] = *everybodys;
  report(a, ok ? ggas_ok : s != ggas_ok ? s : ggas_timed_out);
}

inline std::vector<uint32_t> want_tickets(int nodes, int node, uint64_t) {
  std::vector<uint32_t> all;
  for (uint64_t i = 0; i < tickets_of_node * 32; ++i) all.push_back(value(node, 0, i));
  all.push_back(tickets_of_node * static_cast<uint32_t>(nodes));
  return all;
}

// ---- a hash table: insertion, a plain scan of the own part, look-ups in the others'

constexpr uint32_t table_slots = 256, keys_of_node = 64;

struct entry {
  uint64_t key, value;
};
GGAS_HOST_DEVICE constexpr uint64_t key_of(int node, uint64_t i) {
  return bench::pattern(static_cast<uint64_t>(node) + 100, 0, i);
}
GGAS_HOST_DEVICE constexpr int owner_of(uint64_t key, int nodes) {
  return static_cast<int>((key >> 40) % static_cast<uint64_t>(nodes));
}
GGAS_HOST_DEVICE constexpr uint32_t content_of(uint64_t key) { return static_cast<uint32_t>(key * 7); }

GGAS_DEVICE ggas_status insert(uint64_t table, uint64_t key, uint64_t timeout_ns) {
  for (uint64_t probe = 0; probe < table_slots; ++probe) {
    entry* const e =
        ggas_pointer_of_node<entry>(owner_of(key, ggas_nodes()), table) + ((key >> 8) + probe) % table_slots;
    uint64_t old = 0;
    const ggas_status s = ggas_compare_swap(&e->key, uint64_t{0}, key, &old, timeout_ns);
    if (s != ggas_ok) return s;
    if (old != 0) continue;
    ggas_store(&e->value, content_of(key));
    return ggas_ok;
  }
  return ggas_bad_argument;
}
GGAS_DEVICE uint32_t find(uint64_t table, uint64_t key) {
  const entry* const part = ggas_pointer_of_node<entry>(owner_of(key, ggas_nodes()), table);
  for (uint64_t probe = 0; probe < table_slots; ++probe) {
    const entry* const e = part + ((key >> 8) + probe) % table_slots;
    if (ggas_load(&e->key) == key) return static_cast<uint32_t>(ggas_load(&e->value));
  }
  return 0;
}

static __global__ void hash_table(args a) {
  const int me = ggas_node(), right = (me + 1) % ggas_nodes();
  room places{a.memory};
  const uint64_t table = places.take<entry>(table_slots);
  uint32_t* const result = bench::own<uint32_t>(a.result);
  ggas_status s = ggas_ok;
  for (uint64_t i = threadIdx.x; i < keys_of_node && s == ggas_ok; i += blockDim.x)
    s = insert(table, key_of(me, i), a.timeout_ns);
  bool ok = block_agrees(s == ggas_ok);
  if (ok) ok = ggas_barrier_block(a.timeout_ns) == ggas_ok;
  const entry* const part = bench::own<entry>(table);
  for (unsigned i = threadIdx.x; i < table_slots; i += blockDim.x) {
    if (!part[i].key) continue;
    atomicAdd(result, 1u);
    atomicAdd(result + 1, static_cast<uint32_t>(part[i].key) ^ static_cast<uint32_t>(part[i].value));
  }
  for (uint64_t i = threadIdx.x; i < keys_of_node && ok; i += blockDim.x) result[2 + i] = find(table, key_of(right, i));
  report(a, ok ? ggas_ok : s != ggas_ok ? s : ggas_timed_out);
}

inline std::vector<uint32_t> want_table(int nodes, int node, uint64_t) {
  std::vector<uint32_t> all(2 + keys_of_node);
  for (int n = 0; n < nodes; ++n)
    for (uint64_t i = 0; i < keys_of_node; ++i) {
      const uint64_t key = key_of(n, i);
      if (owner_of(key, nodes) != node) continue;
      ++all[0];
      all[1] += static_cast<uint32_t>(key) ^ content_of(key);
    }
  for (uint64_t i = 0; i < keys_of_node; ++i) all[2 + i] = content_of(key_of((node + 1) % nodes, i));
  return all;
}

}  // namespace ggas::ports
