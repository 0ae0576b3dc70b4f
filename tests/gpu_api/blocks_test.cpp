// SPDX-License-Identifier: Apache-2.0
// Groups of some blocks of a grid: the grid is divided into random groups. Each of them puts, synchronises and checks
// the data against the expected ones.
#include <array>
#include <atomic>
#include <random>
#include <vector>

#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

constexpr uint64_t enough = 60'000'000'000;
constexpr unsigned most_groups = 8, rounds = 6, room = 4096;  // bytes of a group's data

struct drawn {
  unsigned threads = 0;
  std::vector<unsigned> first;  // block of each group, and after the last
  std::vector<std::array<size_t, rounds>> bytes;
};
drawn draw(unsigned seed) {
  std::mt19937 rng(seed);
  const auto one_of = [&rng](unsigned from, unsigned to) {
    return from + static_cast<unsigned>(rng() % (to - from + 1));
  };
  drawn d;
  d.threads = one_of(1, 70);
  d.first = {0};
  d.bytes.resize(one_of(1, most_groups));
  for (auto& lengths : d.bytes) {
    d.first.push_back(d.first.back() + one_of(1, 4));
    for (size_t& n : lengths) n = one_of(0, 9) == 0 ? one_of(0, 40) : one_of(0, room);
  }
  return d;
}

unsigned char value_of(unsigned group, unsigned round, int node, size_t i) {
  return static_cast<unsigned char>(31 * group + 7 * round + 3 * static_cast<unsigned>(node) + i);
}

// The part of a thread. Data go to the next node; all of the group see them after its barrier with all nodes.
unsigned play(const drawn& d, bool gets) {
  unsigned mine = 0;
  while (detail::block_rank() >= d.first[mine + 1]) ++mine;
  const uint64_t base = ggas_reserved_bytes();
  const blocks group{d.first[mine], d.first[mine + 1] - d.first[mine],
                     ggas_pointer_of_node<uint64_t>(ggas_node(), base) + mine, mine};
  const uint64_t from = base + 64 + mine * 2 * room, to = from + room;
  const int next = (ggas_node() + 1) % ggas_nodes(), last = (ggas_node() + ggas_nodes() - 1) % ggas_nodes();
  auto* const own = ggas_pointer_of_node<unsigned char>(ggas_node(), from);
  auto* const got = ggas_pointer_of_node<unsigned char>(ggas_node(), to);
  const ggas_team here = ggas_team_strided(1, ggas_node(), 1, 1);
  unsigned wrong = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    const size_t n = d.bytes[mine][round];
    for (size_t i = group.rank(); i < n; i += group.size()) own[i] = value_of(mine, round, ggas_node(), i);
    wrong += ggas_barrier(group, enough, gets ? ggas_world() : here) != ggas_ok;  // who reads what the others wrote
    if (gets)
      wrong += ggas_get_nbi(group, got, global_ptr<unsigned char>(last, from), n, enough) != ggas_ok;
    else
      wrong += ggas_put_nbi(group, global_ptr<unsigned char>(next, to), own, n, enough) != ggas_ok;
    wrong += ggas_barrier(group, enough) != ggas_ok;
    for (size_t i = group.rank(); i < n; i += group.size()) wrong += got[i] != value_of(mine, round, last, i);
    wrong += ggas_sync(group, enough) != ggas_ok;
  }
  return wrong;
}

class Blocks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Nodes, Blocks, testing::Values(1, 2, 3, 8));

TEST_P(Blocks, GroupsByChance) {
  const auto c = make_cluster({.nodes = GetParam()}, target{.nodes = GetParam()}.config());
  ASSERT_TRUE(c);
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const drawn d = draw(seed);
    std::atomic<unsigned> wrong = 0;
    for (int node = 0; node < GetParam(); ++node) {
      const std::vector<char> zero(64);
      ASSERT_TRUE((*c)->write(node, (*c)->device_context(node).reserved, zero.data(), zero.size()));
      ASSERT_TRUE((*c)->launch(node, d.first.back(), d.threads, [&, seed] { wrong += play(d, seed % 2 == 0); }));
    }
    const auto ran = (*c)->run(enough);
    ASSERT_TRUE(ran) << "seed " << seed << ": " << ran.error().text;
    EXPECT_EQ(wrong, 0u) << "seed " << seed;
  }
}

// A block stays away: all that came say so, and the node's barriers are broken.
TEST_P(Blocks, AnAbsentBlockIsATimeOut) {
  const auto c = make_cluster({.nodes = GetParam()}, target{.nodes = GetParam()}.config());
  ASSERT_TRUE(c);
  std::atomic<unsigned> late = 0, broken = 0, refused = 0;
  for (int node = 0; node < GetParam(); ++node)
    ASSERT_TRUE((*c)->launch(node, 4, 3, [&] {
      const blocks group{1, 3, ggas_pointer_of_node<uint64_t>(ggas_node(), ggas_reserved_bytes())};
      if (detail::block_rank() == 3) return;
      const ggas_status s = ggas_barrier(group, 20'000'000, ggas_team_strided(1, ggas_node(), 1, 1));
      if (detail::block_rank() == 0) return void(refused += s == ggas_bad_argument);
      late += s == ggas_timed_out;
      broken += ggas_barrier(group, enough) == ggas_broken;
    }));
  const auto ran = (*c)->run(enough);
  ASSERT_TRUE(ran) << ran.error().text;
  const auto nodes = static_cast<unsigned>(GetParam());
  EXPECT_EQ(late, nodes * 2 * 3);
  EXPECT_EQ(broken, nodes * 2 * 3);
  EXPECT_EQ(refused, nodes * 3) << "not of the group";
}

}  // namespace
}  // namespace ggas::test
