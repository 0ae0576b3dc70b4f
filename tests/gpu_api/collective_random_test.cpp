// SPDX-License-Identifier: Apache-2.0
// Device API: collectives at random, one behind the other and without anything between them: kind, form, method, team,
// length, places, shape and operation change from call to call, so every one meets what any other has left behind.
#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

enum class kind { allreduce, reduce, broadcast, allgather, alltoall, barrier };

struct call {
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

  bool combines() const { return what == kind::allreduce || what == kind::reduce; }
  size_t parts_in() const { return what == kind::alltoall ? static_cast<size_t>(team.size) : 1; }
  size_t parts_out() const { return what == kind::alltoall || what == kind::allgather ? size_t(team.size) : 1; }
  int rank_of(int node) const {
    const int i = node - team.first;
    return i >= 0 && i % team.stride == 0 && i / team.stride < team.size ? i / team.stride : -1;
  }
  std::string text() const {
    const auto s = [](auto v) { return " " + std::to_string(v); };
    return "call" + s(number) + ": kind" + s(int(what)) + " method" + s(int(method)) + " op" + s(int(op)) + " team" +
           s(team.id) + " root" + s(root) + " n" + s(n) + (grid ? " grid of" : " block,") + s(blocks) + " x" +
           s(threads) + (in_place ? " in place" : "");
  }
};

uint32_t mixed(uint64_t x) {
  x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9;
  return static_cast<uint32_t>(x >> 32);
}
uint32_t element(const call& c, int rank, size_t i) {
  const auto node = static_cast<uint64_t>(c.team.first + rank * c.team.stride);
  return mixed((uint64_t{c.number} << 40 | node << 32 | i) * 0x9e3779b97f4a7c15);
}
uint32_t combined(ggas_op op, uint32_t a, uint32_t b) {
  return op == ggas_sum ? a + b : op == ggas_prod ? a * b : op == ggas_min ? std::min(a, b) : std::max(a, b);
}
// What element i is at a member behind the call.
uint32_t wanted(const call& c, int rank, size_t i) {
  const int from = static_cast<int>(i / c.n);
  if (c.what == kind::broadcast) return element(c, c.root, i);
  if (c.what == kind::allgather) return element(c, from, i % c.n);
  if (c.what == kind::alltoall) return element(c, from, static_cast<size_t>(rank) * c.n + i % c.n);
  uint32_t v = element(c, 0, i);
  for (int member = 1; member < c.team.size; ++member) v = combined(c.op, v, element(c, member, i));
  return v;
}

class RandomCollectives : public api_test {
 public:
  void SetUp() override {
    cluster_config cfg = GetParam().config();
    cfg.segment_bytes = 4 << 20;  // several channels
    make(cfg);
  }

  // An id stands for the same members in every call.
  ggas_team team(unsigned id) const {
    const int all = nodes();
    const std::array<ggas_team, 4> teams{ggas_team{0, 1, all, 0}, ggas_team{all > 1, 1, std::max(all - 1, 1), 1},
                                         ggas_team{0, 2, (all + 1) / 2, 2}, ggas_team{all - 1, 1, 1, 3}};
    return teams[id];
  }
  bool possible(const call& c) const {
    const bool block_of_all = c.team.id == 0 && !c.grid, all = c.what == kind::allreduce;
    switch (c.method) {
      case ggas_gather:
        return block_of_all;
      case ggas_all_gather:
        return block_of_all && all;
      case ggas_two_shot:
        return all;
      case ggas_push:
        return all && !simulated();
      case ggas_direct:
        return !simulated();
      default:
        return true;
    }
  }
  size_t length() {
    constexpr std::array<size_t, 20> edges{1,   2,   3,   5,   31,  32,   33,   64,   129,  255,
                                           256, 257, 511, 512, 600, 1023, 1024, 1025, 3000, 5000};
    if (simulated() || random_() % 2) return 1 + random_() % 300;
    return edges[random_() % edges.size()];
  }
  unsigned threads() { return random_() % 2 ? 1u << random_() % 7 : 1 + random_() % 100; }
  call draw(uint32_t number) {
    call c{};
    c.number = number;
    c.what = static_cast<kind>(random_() % 6);
    c.op = static_cast<ggas_op>(random_() % (ggas_prod + 1));
    c.team = team(random_() % 2 ? 0 : random_() % 4);
    c.root = static_cast<int>(random_() % static_cast<unsigned>(c.team.size));
    c.n = length();
    c.grid = random_() % 3 == 0;
    c.blocks = c.grid ? 1 + random_() % 4 : 1;
    c.threads = threads();
    c.in_place = c.combines() && random_() % 4 == 0;
    c.src = base() + 4 * (random_() % 8);
    c.dst = c.in_place ? c.src : base() + (1 << 20) + 4 * (random_() % 8);
    do {
      c.method = static_cast<ggas_method>(random_() % (ggas_auto + 1));
    } while (!possible(c));
    return c;
  }

  static uint32_t* place(uint64_t offset) { return ggas_pointer_of_node<uint32_t>(ggas_node(), offset); }
  static constexpr uint32_t untouched = 0xdeadbeef;

  static void fill(const call& c) {
    for (size_t i = threadIdx.x; i < c.n * c.parts_out() + 1; i += blockDim.x) ggas_store(place(c.dst) + i, untouched);
    __syncthreads();
    for (size_t i = threadIdx.x; i < c.n * c.parts_in(); i += blockDim.x)
      ggas_store(place(c.src) + i, element(c, c.rank_of(ggas_node()), i));
    __syncthreads();
  }
  void make_call(const call& c) const {
    uint32_t *const src = place(c.src), *const dst = place(c.dst);
    const uint64_t t = enough();
    ggas_status s = ggas_ok;
    switch (c.what) {
      case kind::allreduce:
        s = c.grid ? ggas_allreduce(dst, src, c.n, c.op, c.method, t, c.team)
                   : ggas_allreduce_block(dst, src, c.n, c.op, c.method, t, c.team);
        break;
      case kind::reduce:
        s = c.grid ? ggas_reduce(dst, src, c.n, c.op, c.root, c.method, t, c.team)
                   : ggas_reduce_block(dst, src, c.n, c.op, c.root, c.method, t, c.team);
        break;
      case kind::broadcast:
        s = c.grid ? ggas_broadcast(dst, src, c.n, c.root, t, c.team)
                   : ggas_broadcast_block(dst, src, c.n, c.root, t, c.team);
        break;
      case kind::allgather:
        s = c.grid ? ggas_allgather(dst, src, c.n, t, c.team) : ggas_allgather_block(dst, src, c.n, t, c.team);
        break;
      case kind::alltoall:
        s = c.grid ? ggas_alltoall(dst, src, c.n, t, c.team) : ggas_alltoall_block(dst, src, c.n, t, c.team);
        break;
      case kind::barrier:
        s = c.grid ? ggas_barrier(t, c.team) : ggas_barrier_block(t, c.team);
    }
    EXPECT_EQ(s, ggas_ok) << c.text();
  }
  static void check(const call& c) {
    __syncthreads();
    const int rank = c.rank_of(ggas_node());
    const bool written = c.what != kind::barrier && (c.what != kind::reduce || rank == c.root);
    const size_t n = written ? c.n * c.parts_out() : 0;
    for (size_t i = threadIdx.x; i < n; i += blockDim.x)
      ASSERT_EQ(ggas_load(place(c.dst) + i), wanted(c, rank, i)) << c.text() << ", rank " << rank << " element " << i;
    if (!c.in_place && threadIdx.x == 0)
      EXPECT_EQ(ggas_load(place(c.dst) + n), untouched) << c.text() << ", behind the end";
    __syncthreads();
  }
  // A grid form finds its source complete and leaves its result to the next kernel.
  void queue(int node, const call& c) {
    if (!c.grid) {
      on(node, 1, c.threads, [=, this] { fill(c), make_call(c), check(c); });
      return;
    }
    on(node, 1, 32, [=] { fill(c); });
    on(node, c.blocks, c.threads, [=, this] { make_call(c); });
    on(node, 1, 32, [=] { check(c); });
  }

  std::mt19937 random_{1};
};
INSTANTIATE_TEST_SUITE_P(Provider, RandomCollectives, testing::ValuesIn(targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(RandomCollectives, AnyBehindAnyOther) {
  const uint32_t calls = simulated() ? 60 : 150;
  for (uint32_t number = 0; number < calls; ++number) {
    const call c = draw(number);
    for (int node = 0; node < nodes(); ++node)
      if (c.rank_of(node) >= 0) queue(node, c);
  }
  run();
}

}  // namespace
}  // namespace ggas::test
