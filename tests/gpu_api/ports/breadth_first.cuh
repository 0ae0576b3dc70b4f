// SPDX-License-Identifier: Apache-2.0
// Breadth-first search level by level, as in Graph500 codes: the vertices that a frontier reaches are sorted by owner
// with the GPU's own atomics and sent with their number; the owners mark new ones.
#pragma once

#include <vector>

#include "tests/gpu_api/ports/common.cuh"

namespace ggas::ports {

constexpr uint32_t vertices = 64, degree = 2, most_found = vertices * degree, unseen = ~0u;  // of a node

GGAS_HOST_DEVICE constexpr uint32_t reached_from(uint32_t vertex, uint32_t edge, int nodes) {
  return static_cast<uint32_t>((bench::pattern(7, edge, vertex) >> 16) % (vertices * static_cast<uint64_t>(nodes)));
}

struct search {
  const args& a;
  const int me = ggas_node(), nodes = ggas_nodes();
  const uint64_t all = static_cast<uint64_t>(nodes);
  room places{a.memory};
  const uint64_t fronts = places.take<uint32_t>(2 * vertices), numbers = places.take<uint32_t>(all),
                 outbox = places.take<uint32_t>(all * most_found), inbox = places.take<uint32_t>(2 * all * most_found),
                 arrived = places.take<uint64_t>(all), mine = places.take<uint32_t>(1),
                 total = places.take<uint32_t>(1);
  uint32_t* const distance = bench::own<uint32_t>(a.result);

  GGAS_DEVICE explicit search(const args& given) : a(given) {}

  GGAS_DEVICE uint32_t* front(uint64_t level) const { return bench::own<uint32_t>(fronts) + level % 2 * vertices; }

  GGAS_DEVICE void begin() const {
    for (unsigned v = threadIdx.x; v < vertices; v += blockDim.x) distance[v] = unseen;
    __syncthreads();
    if (threadIdx.x == 0) {
      *bench::own<uint32_t>(mine) = me == 0;
      if (me == 0) distance[0] = front(0)[0] = 0;
    }
    __syncthreads();
  }
  GGAS_DEVICE void sort_by_owner(uint64_t level) const {
    uint32_t* const number = bench::own<uint32_t>(numbers);
    for (unsigned n = threadIdx.x; n < all; n += blockDim.x) number[n] = 0;
    __syncthreads();
    const uint32_t in_front = *bench::own<uint32_t>(mine);
    for (unsigned i = threadIdx.x; i < in_front * degree; i += blockDim.x) {
      const uint32_t from = static_cast<uint32_t>(me) * vertices + front(level)[i / degree];
      const uint32_t to = reached_from(from, i % degree, nodes), owner = to / vertices;
      bench::own<uint32_t>(outbox)[owner * most_found + atomicAdd(number + owner, 1u)] = to % vertices;
    }
    __syncthreads();
  }
  GGAS_DEVICE ggas_status exchange(uint64_t level) const {
    const uint32_t* const number = bench::own<uint32_t>(numbers);
    const uint64_t in = inbox + level % 2 * all * most_found * sizeof(uint32_t);
    ggas_status s = ggas_ok;
    for (int n = 0; n < nodes && s == ggas_ok; ++n)
      s = ggas_put_signal_nbi_block(ggas_pointer_of_node<uint32_t>(n, in) + me * most_found,
                                    bench::own<uint32_t>(outbox) + n * most_found, number[n],
                                    ggas_pointer_of_node<uint64_t>(n, arrived) + me, (level + 1) << 32 | number[n],
                                    ggas_signal_set, a.timeout_ns);
    if (s != ggas_ok) return s;
    return ggas_wait_until_all_block(bench::own<uint64_t>(arrived), all, ggas_ge, (level + 1) << 32, a.timeout_ns);
  }
  GGAS_DEVICE void mark(uint64_t level) const {
    uint32_t* const found = bench::own<uint32_t>(mine);
    if (threadIdx.x == 0) *found = 0;
    __syncthreads();
    for (uint64_t n = 0; n < all; ++n) {
      const uint32_t* const in = bench::own<uint32_t>(inbox) + (level % 2 * all + n) * most_found;
      const auto count = static_cast<uint32_t>(bench::own<uint64_t>(arrived)[n]);
      for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
        if (atomicCAS(distance + in[i], unseen, static_cast<uint32_t>(level) + 1) == unseen)
          front(level + 1)[atomicAdd(found, 1u)] = in[i];
    }
    __syncthreads();
  }
  GGAS_DEVICE ggas_status count() const {
    return ggas_allreduce_block(bench::own<uint32_t>(total), bench::own<uint32_t>(mine), 1, ggas_sum, ggas_auto,
                                a.timeout_ns);
  }
};

static __global__ void breadth_first_search(args a) {
  const search s(a);
  s.begin();
  ggas_status status = ggas_ok;
  for (uint64_t level = 0; status == ggas_ok; ++level) {
    s.sort_by_owner(level);
    status = s.exchange(level);
    if (status != ggas_ok) break;
    s.mark(level);
    status = s.count();
    if (*bench::own<uint32_t>(s.total) == 0) break;
  }
  report(a, status);
}

inline std::vector<uint32_t> want_distances(int nodes, int node, uint64_t) {
  std::vector<uint32_t> distance(vertices * static_cast<size_t>(nodes), unseen), front{0};
  distance[0] = 0;
  for (uint32_t level = 1; !front.empty(); ++level) {
    std::vector<uint32_t> next;
    for (uint32_t from : front)
      for (uint32_t e = 0; e < degree; ++e) {
        const uint32_t to = reached_from(from, e, nodes);
        if (distance[to] != unseen) continue;
        distance[to] = level;
        next.push_back(to);
      }
    front.swap(next);
  }
  const auto begin = distance.begin() + node * static_cast<ptrdiff_t>(vertices);
  return {begin, begin + vertices};
}

}  // namespace ggas::ports
