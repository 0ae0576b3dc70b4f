// SPDX-License-Identifier: Apache-2.0
// Random collectives: the parameters of a call, how they are drawn, and the actions of its threads: fill the source,
// call, check every element. For the host engine, the simulator and GPUs.
#pragma once

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "ggas/ggas.cuh"

namespace ggas::test {

enum class kind : int {
  allreduce,
  reduce,
  broadcast,
  allgather,
  alltoall,
  barrier,
  reducescatter,
  gather,
  scatter,
  barrier_of_index,
  arrive_and_wait,
};
constexpr unsigned kinds = 11;
// Elements of 4 bytes alone: with all sizes in one kernel nvcc takes minutes where nothing comes from libggas_device.
#if defined(__CUDACC__) && !defined(GGAS_LINKED)
constexpr bool only_words = true;
#else
constexpr bool only_words = false;
#endif
// Calls without a form for grids.
constexpr bool only_of_blocks(kind k) { return k == kind::barrier_of_index || k == kind::arrive_and_wait; }

struct collective_call {
  uint32_t number;
  kind what;
  ggas_method method;
  ggas_op op;
  ggas_team team;
  int root;
  unsigned bytes;  // of an element
  size_t n;
  bool grid, in_place;
  unsigned blocks, threads;
  uint64_t src, dst;  // offsets in the segment

  GGAS_HOST_DEVICE bool moves() const { return what != kind::barrier && what < kind::barrier_of_index; }
  GGAS_HOST_DEVICE size_t parts_in() const {
    const bool many = what == kind::alltoall || what == kind::reducescatter || what == kind::scatter;
    return many ? static_cast<size_t>(team.size) : 1;
  }
  GGAS_HOST_DEVICE size_t parts_out() const {
    const bool many = what == kind::alltoall || what == kind::allgather || what == kind::gather;
    return many ? static_cast<size_t>(team.size) : 1;
  }
  // -1: no member.
  GGAS_HOST_DEVICE int rank_of(int node) const {
    const int i = node - team.first;
    return i >= 0 && i % team.stride == 0 && i / team.stride < team.size ? i / team.stride : -1;
  }
  std::string text() const {
    const auto s = [](auto v) { return std::string(1, ' ').append(std::to_string(v)); };
    return "call" + s(number) + ": kind" + s(int(what)) + " method" + s(int(method)) + " op" + s(int(op)) + " team" +
           s(team.id) + " root" + s(root) + " n" + s(n) + " of" + s(bytes) + " bytes" +
           (grid ? " grid of" : " block,") + s(blocks) + " x" + s(threads) + (in_place ? " in place" : "");
  }
};

// ------------------------------------------------------------------------------------------------ in a kernel

template <class T>
constexpr T untouched = static_cast<T>(0xdeadbeef);

template <class T>
GGAS_DEVICE T* place_of(uint64_t offset) {
  return ggas_pointer_of_node<T>(ggas_node(), offset);
}
GGAS_DEVICE unsigned threads_of(const collective_call& c) { return detail::thread_count() * (c.grid ? gridDim.x : 1); }
GGAS_DEVICE unsigned thread_of(const collective_call& c) {
  return detail::thread_rank() + (c.grid ? detail::thread_count() * blockIdx.x : 0);
}

template <class T>
GGAS_DEVICE T element(const collective_call& c, int rank, size_t i) {
  const auto node = static_cast<uint64_t>(c.team.first + rank * c.team.stride);
  uint64_t x = (uint64_t{c.number} << 40 | node << 32 | i) * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9;
  return static_cast<T>(x >> 32);
}
template <class T>
GGAS_DEVICE T combined(ggas_op op, T a, T b) {
  if (op == ggas_and) return static_cast<T>(a & b);
  if (op == ggas_or) return static_cast<T>(a | b);
  if (op == ggas_xor) return static_cast<T>(a ^ b);
  return op == ggas_sum                ? static_cast<T>(a + b)
         : op == ggas_prod             ? static_cast<T>(a * b)
         : (op == ggas_min) == (a < b) ? a
                                       : b;
}
// What element i is at a member in the call.
template <class T>
GGAS_DEVICE T wanted(const collective_call& c, int rank, size_t i) {
  const int from = static_cast<int>(i / c.n);
  const size_t mine = static_cast<size_t>(rank) * c.n;
  if (c.what == kind::broadcast) return element<T>(c, c.root, i);
  if (c.what == kind::allgather || c.what == kind::gather) return element<T>(c, from, i % c.n);
  if (c.what == kind::alltoall) return element<T>(c, from, mine + i % c.n);
  if (c.what == kind::scatter) return element<T>(c, c.root, mine + i);
  const size_t at = c.what == kind::reducescatter ? mine + i : i;
  T v = element<T>(c, 0, at);
  for (int member = 1; member < c.team.size; ++member) v = combined(c.op, v, element<T>(c, member, at));
  return v;
}

// No barrier in these two: they are the caller's. In place the source comes last.
template <class T>
GGAS_DEVICE void fill_as(const collective_call& c) {
  const size_t in = c.n * c.parts_in(), out = c.in_place ? 0 : c.n * c.parts_out() + 1;
  for (size_t i = thread_of(c); i < out; i += threads_of(c)) ggas_store(place_of<T>(c.dst) + i, untouched<T>);
  for (size_t i = thread_of(c); i < in; i += threads_of(c))
    ggas_store(place_of<T>(c.src) + i, element<T>(c, c.rank_of(ggas_node()), i));
}
// Elements that this thread finds wrong.
template <class T>
GGAS_DEVICE uint64_t count_wrong_as(const collective_call& c) {
  const int rank = c.rank_of(ggas_node());
  const bool of_root = c.what == kind::reduce || c.what == kind::gather;
  const bool written = c.moves() && (!of_root || rank == c.root);
  const size_t n = written ? c.n * c.parts_out() : 0;
  uint64_t wrong = 0;
  for (size_t i = thread_of(c); i < n; i += threads_of(c))
    if (ggas_load(place_of<T>(c.dst) + i) != wanted<T>(c, rank, i)) ++wrong;
  if (!c.in_place && thread_of(c) == 0 && ggas_load(place_of<T>(c.dst) + n) != untouched<T>) ++wrong;
  return wrong;
}

// Reductions are on elements of 1 and 4 bytes.
template <bool Grid, class T>
GGAS_DEVICE ggas_status reduce_as(const collective_call& c, uint64_t t) {
  T *const src = place_of<T>(c.src), *const dst = place_of<T>(c.dst);
  switch (c.what) {
    case kind::reducescatter:
      return Grid ? ggas_reducescatter_grid(dst, src, c.n, c.op, t, c.team)
                  : ggas_reducescatter_block(dst, src, c.n, c.op, t, c.team);
    case kind::allreduce:
      return Grid ? ggas_allreduce_grid(dst, src, c.n, c.op, c.method, t, c.team)
                  : ggas_allreduce_block(dst, src, c.n, c.op, c.method, t, c.team);
    case kind::reduce:
      return Grid ? ggas_reduce_grid(dst, src, c.n, c.op, c.root, c.method, t, c.team)
                  : ggas_reduce_block(dst, src, c.n, c.op, c.root, c.method, t, c.team);
    default:
      return ggas_bad_argument;
  }
}
template <bool Grid, class T>
GGAS_DEVICE ggas_status move_as(const collective_call& c, uint64_t t) {
  T *const src = place_of<T>(c.src), *const dst = place_of<T>(c.dst);
  switch (c.what) {
    case kind::broadcast:
      return Grid ? ggas_broadcast_grid(dst, src, c.n, c.root, t, c.team)
                  : ggas_broadcast_block(dst, src, c.n, c.root, t, c.team);
    case kind::allgather:
      return Grid ? ggas_allgather_grid(dst, src, c.n, t, c.team) : ggas_allgather_block(dst, src, c.n, t, c.team);
    case kind::alltoall:
      return Grid ? ggas_alltoall_grid(dst, src, c.n, t, c.team) : ggas_alltoall_block(dst, src, c.n, t, c.team);
    case kind::gather:
      return Grid ? ggas_gather_grid(dst, src, c.n, c.root, t, c.team)
                  : ggas_gather_block(dst, src, c.n, c.root, t, c.team);
    case kind::scatter:
      return Grid ? ggas_scatter_grid(dst, src, c.n, c.root, t, c.team)
                  : ggas_scatter_block(dst, src, c.n, c.root, t, c.team);
    default:
      return ggas_bad_argument;
  }
}
template <bool Grid>
GGAS_DEVICE ggas_status make_call(const collective_call& c, uint64_t t) {
  const unsigned index = c.number % ggas_barrier_indices();
  if (c.what == kind::barrier) return Grid ? ggas_barrier_grid(t, c.team) : ggas_barrier_block(t, c.team);
  if (c.what == kind::barrier_of_index) return ggas_barrier_block(t, c.team, index);
  if (c.what == kind::arrive_and_wait) {
    ggas_arrival a = ggas_barrier_arrive_block(c.team, index);
    return ggas_barrier_wait_block(a, t);
  }
  const bool combines = c.what == kind::allreduce || c.what == kind::reduce || c.what == kind::reducescatter;
  if constexpr (only_words)
    return combines ? reduce_as<Grid, uint32_t>(c, t) : move_as<Grid, uint32_t>(c, t);
  else if (combines)
    return c.bytes == 1 ? reduce_as<Grid, uint8_t>(c, t) : reduce_as<Grid, uint32_t>(c, t);
  else
    return c.bytes == 1   ? move_as<Grid, uint8_t>(c, t)
           : c.bytes == 2 ? move_as<Grid, uint16_t>(c, t)
                          : move_as<Grid, uint32_t>(c, t);
}
GGAS_DEVICE void fill(const collective_call& c) {
  c.bytes == 1 ? fill_as<uint8_t>(c) : c.bytes == 2 ? fill_as<uint16_t>(c) : fill_as<uint32_t>(c);
}
GGAS_DEVICE uint64_t count_wrong(const collective_call& c) {
  return c.bytes == 1   ? count_wrong_as<uint8_t>(c)
         : c.bytes == 2 ? count_wrong_as<uint16_t>(c)
                        : count_wrong_as<uint32_t>(c);
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
    do {
      c.what = static_cast<kind>(random_() % kinds);
    } while (grid && only_of_blocks(c.what));
    const bool combines = c.what == kind::allreduce || c.what == kind::reduce || c.what == kind::reducescatter;
    c.bytes = only_words || random_() % 2 ? 4 : combines ? 1 : 1u << random_() % 3;
    c.op = static_cast<ggas_op>(random_() % (ggas_xor + 1));
    c.team = team(random_() % 2 ? 0 : random_() % 4);
    c.root = static_cast<int>(random_() % static_cast<unsigned>(c.team.size));
    c.n = length();
    // Long enough that links count: leaves forward, the root of a reduce combines nothing.
    if (!simulated_ && (c.what == kind::broadcast || c.what == kind::reduce) && random_() % 8 == 0)
      c.n = 30000 + random_() % 60000;
    c.grid = grid;
    c.blocks = grid ? 1 + random_() % 4 : 1;
    c.threads = random_() % 2 ? 1u << random_() % 8 : 1 + random_() % 200;
    c.in_place = random_() % 4 == 0 && c.parts_in() == 1 && c.parts_out() == 1;
    c.src = base_ + c.bytes * (random_() % 32);
    c.dst = c.in_place ? c.src : base_ + (1 << 20) + c.bytes * (random_() % 32);
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
      case ggas_by_gather:
        return block_of_all;
      case ggas_by_all_gather:
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
    constexpr std::array<size_t, 24> edges{1,   2,   3,   5,    31,   32,   33,   64,   129,  255,  256,  257,
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
