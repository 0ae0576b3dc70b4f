// SPDX-License-Identifier: Apache-2.0
// Collectives at random: what a call is, how one is drawn, and what its threads do: fill the source, call, look at
// every element. For the host engine, the simulator and GPUs.
#pragma once

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "ggas/ggas.cuh"

namespace ggas::test {

enum class kind : int { allreduce, reduce, broadcast, allgather, alltoall, barrier };

struct collective_call {
  uint32_t number;
  kind what;
  ggas_method method;
  ggas_op op;
  ggas_team team;
  int root;
  size_t n;
  bool grid, in_place;
  unsigned blocks, threads;
  uint64_t src, dst;  // offsets in the segment

  GGAS_HOST_DEVICE size_t parts_in() const { return what == kind::alltoall ? static_cast<size_t>(team.size) : 1; }
  GGAS_HOST_DEVICE size_t parts_out() const {
    return what == kind::alltoall || what == kind::allgather ? static_cast<size_t>(team.size) : 1;
  }
  // -1: no member.
  GGAS_HOST_DEVICE int rank_of(int node) const {
    const int i = node - team.first;
    return i >= 0 && i % team.stride == 0 && i / team.stride < team.size ? i / team.stride : -1;
  }
  std::string text() const {
    const auto s = [](auto v) { return std::string(1, ' ').append(std::to_string(v)); };
    return "call" + s(number) + ": kind" + s(int(what)) + " method" + s(int(method)) + " op" + s(int(op)) + " team" +
           s(team.id) + " root" + s(root) + " n" + s(n) + (grid ? " grid of" : " block,") + s(blocks) + " x" +
           s(threads) + (in_place ? " in place" : "");
  }
};

// ------------------------------------------------------------------------------------------------ in a kernel

constexpr uint32_t untouched = 0xdeadbeef;

GGAS_DEVICE uint32_t* place_of(uint64_t offset) { return ggas_pointer_of_node<uint32_t>(ggas_node(), offset); }
GGAS_DEVICE unsigned threads_of(const collective_call& c) { return detail::thread_count() * (c.grid ? gridDim.x : 1); }
GGAS_DEVICE unsigned thread_of(const collective_call& c) {
  return detail::thread_rank() + (c.grid ? detail::thread_count() * blockIdx.x : 0);
}

GGAS_DEVICE uint32_t element(const collective_call& c, int rank, size_t i) {
  const auto node = static_cast<uint64_t>(c.team.first + rank * c.team.stride);
  uint64_t x = (uint64_t{c.number} << 40 | node << 32 | i) * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9;
  return static_cast<uint32_t>(x >> 32);
}
GGAS_DEVICE uint32_t combined(ggas_op op, uint32_t a, uint32_t b) {
  return op == ggas_sum ? a + b : op == ggas_prod ? a * b : (op == ggas_min) == (a < b) ? a : b;
}
// What element i is at a member behind the call.
GGAS_DEVICE uint32_t wanted(const collective_call& c, int rank, size_t i) {
  const int from = static_cast<int>(i / c.n);
  if (c.what == kind::broadcast) return element(c, c.root, i);
  if (c.what == kind::allgather) return element(c, from, i % c.n);
  if (c.what == kind::alltoall) return element(c, from, static_cast<size_t>(rank) * c.n + i % c.n);
  uint32_t v = element(c, 0, i);
  for (int member = 1; member < c.team.size; ++member) v = combined(c.op, v, element(c, member, i));
  return v;
}

// No barrier in these two: they are the caller's. In place the source comes last.
GGAS_DEVICE void fill(const collective_call& c) {
  const size_t in = c.n * c.parts_in(), out = c.in_place ? 0 : c.n * c.parts_out() + 1;
  for (size_t i = thread_of(c); i < out; i += threads_of(c)) ggas_store(place_of(c.dst) + i, untouched);
  for (size_t i = thread_of(c); i < in; i += threads_of(c))
    ggas_store(place_of(c.src) + i, element(c, c.rank_of(ggas_node()), i));
}
// Elements that this thread finds wrong.
GGAS_DEVICE uint64_t count_wrong(const collective_call& c) {
  const int rank = c.rank_of(ggas_node());
  const bool written = c.what != kind::barrier && (c.what != kind::reduce || rank == c.root);
  const size_t n = written ? c.n * c.parts_out() : 0;
  uint64_t wrong = 0;
  for (size_t i = thread_of(c); i < n; i += threads_of(c))
    if (ggas_load(place_of(c.dst) + i) != wanted(c, rank, i)) ++wrong;
  if (!c.in_place && thread_of(c) == 0 && ggas_load(place_of(c.dst) + n) != untouched) ++wrong;
  return wrong;
}

template <bool Grid>
GGAS_DEVICE ggas_status make_call(const collective_call& c, uint64_t t) {
  uint32_t *const src = place_of(c.src), *const dst = place_of(c.dst);
  switch (c.what) {
    case kind::allreduce:
      return Grid ? ggas_allreduce(dst, src, c.n, c.op, c.method, t, c.team)
                  : ggas_allreduce_block(dst, src, c.n, c.op, c.method, t, c.team);
    case kind::reduce:
      return Grid ? ggas_reduce(dst, src, c.n, c.op, c.root, c.method, t, c.team)
                  : ggas_reduce_block(dst, src, c.n, c.op, c.root, c.method, t, c.team);
    case kind::broadcast:
      return Grid ? ggas_broadcast(dst, src, c.n, c.root, t, c.team)
                  : ggas_broadcast_block(dst, src, c.n, c.root, t, c.team);
    case kind::allgather:
      return Grid ? ggas_allgather(dst, src, c.n, t, c.team) : ggas_allgather_block(dst, src, c.n, t, c.team);
    case kind::alltoall:
      return Grid ? ggas_alltoall(dst, src, c.n, t, c.team) : ggas_alltoall_block(dst, src, c.n, t, c.team);
    case kind::barrier:
      return Grid ? ggas_barrier(t, c.team) : ggas_barrier_block(t, c.team);
  }
  return ggas_bad_argument;
}

// ------------------------------------------------------------------------------------------------ on the host

class collective_draw {
 public:
  // `simulated`: few elements, and no memory of peers.
  collective_draw(int nodes, uint64_t base, bool simulated, unsigned seed)
      : nodes_(nodes), base_(base), simulated_(simulated), random_(seed) {}

  collective_call next(bool grid) {
    collective_call c{};
    c.number = number_++;
    c.what = static_cast<kind>(random_() % 6);
    c.op = static_cast<ggas_op>(random_() % (ggas_prod + 1));
    c.team = team(random_() % 2 ? 0 : random_() % 4);
    c.root = static_cast<int>(random_() % static_cast<unsigned>(c.team.size));
    c.n = length();
    // Long enough that links count: leaves forward, the root of a reduce combines nothing.
    if (!simulated_ && (c.what == kind::broadcast || c.what == kind::reduce) && random_() % 8 == 0)
      c.n = 30000 + random_() % 60000;
    c.grid = grid;
    c.blocks = grid ? 1 + random_() % 4 : 1;
    c.threads = random_() % 2 ? 1u << random_() % 8 : 1 + random_() % 200;
    c.in_place = random_() % 4 == 0 && c.what != kind::allgather && c.what != kind::alltoall;
    c.src = base_ + 4 * (random_() % 8);
    c.dst = c.in_place ? c.src : base_ + (1 << 20) + 4 * (random_() % 8);
    do {
      c.method = static_cast<ggas_method>(random_() % (ggas_auto + 1));
    } while (!possible(c));
    return c;
  }
  collective_call next() { return next(random_() % 3 == 0); }

 private:
  // An id stands for the same members in every call.
  ggas_team team(unsigned id) const {
    const std::array<ggas_team, 4> teams{ggas_team{0, 1, nodes_, 0},
                                         ggas_team{nodes_ > 1, 1, std::max(nodes_ - 1, 1), 1},
                                         ggas_team{0, 2, (nodes_ + 1) / 2, 2}, ggas_team{nodes_ - 1, 1, 1, 3}};
    return teams[id];
  }
  bool possible(const collective_call& c) const {
    const bool block_of_all = c.team.id == 0 && !c.grid, all = c.what == kind::allreduce;
    switch (c.method) {
      case ggas_gather:
        return block_of_all;
      case ggas_all_gather:
        return block_of_all && all;
      case ggas_two_shot:
        return all;
      case ggas_push:
        return all && !simulated_;
      case ggas_direct:
        return !simulated_;
      default:
        return true;
    }
  }
  size_t length() {
    constexpr std::array<size_t, 24> edges{1,   2,   3,   5,   31,   32,   33,   64,   129,  255,  256,  257,
                                           511, 512, 600, 1023, 1024, 1025, 2049, 3000, 4096, 5000, 8191, 12001};
    if (simulated_ || random_() % 2) return 1 + random_() % 300;
    return edges[random_() % edges.size()];
  }

  const int nodes_;
  const uint64_t base_;
  const bool simulated_;
  std::mt19937 random_;
  uint32_t number_ = 0;
};

}  // namespace ggas::test
