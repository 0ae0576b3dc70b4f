// SPDX-License-Identifier: Apache-2.0
// Teams made by the host: many that overlap, split, freed and made again, after failures.
#include "ggas/teams.hpp"

#include <algorithm>
#include <random>

#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

constexpr uint64_t by_hand = 64 * 1024;

class TeamSpace : public api_test {
 public:
  void SetUp() override {
    cluster_config cfg = GetParam().config();
    cfg.segment_bytes = 4u << 20;
    make(cfg);
    std::string why;
    heap_ = heap::create(heap_of(*cluster_, by_hand), why);
    ASSERT_TRUE(heap_) << why;
    teams_ = std::make_unique<team_space>(*cluster_, *heap_);
  }
  void TearDown() override { teams_.reset(); }

  ggas_team made(int first, int stride, int size) {
    std::string why;
    const ggas_team t = teams_->make(first, stride, size, why);
    EXPECT_EQ(why, "");
    return t;
  }
  // Any members.
  ggas_team any(std::mt19937& dice) {
    const int first = static_cast<int>(dice() % static_cast<unsigned>(nodes()));
    const int stride = 1 + static_cast<int>(dice() % 3);
    const int most = (nodes() - 1 - first) / stride + 1;
    return made(first, stride, 1 + static_cast<int>(dice() % static_cast<unsigned>(most)));
  }
  // Every member of each team in turn: what all have stored is there, and their sum.
  void use(const std::vector<ggas_team>& teams, uint32_t rounds) {
    on_all(1, 40, [this, &teams, rounds] {
      const int me = ggas_node();
      auto* const mine = ggas_pointer_of_node<uint32_t>(me, base());
      for (uint32_t round = 1; round <= rounds; ++round) {
        for (const ggas_team& t : teams) {
          if (ggas_team_rank(t) < 0) continue;
          const uint32_t value = round * 1000 + t.id + static_cast<uint32_t>(t.first);
          for (int k = static_cast<int>(threadIdx.x); k < t.size; k += static_cast<int>(blockDim.x))
            ggas_store(ggas_pointer_of_node<uint32_t>(ggas_team_node(t, k), base()) + me, value);
          ASSERT_EQ(round % 2 ? ggas_barrier_block(enough(), t) : ggas_barrier_grid(enough(), t), ggas_ok);
          for (int k = static_cast<int>(threadIdx.x); k < t.size; k += static_cast<int>(blockDim.x))
            ASSERT_EQ(ggas_load(mine + ggas_team_node(t, k)), value);
          constexpr size_t n = 100;
          uint32_t* const vector = mine + 1024;
          for (size_t i = threadIdx.x; i < n; i += blockDim.x)
            ggas_store(vector + i, value + static_cast<uint32_t>(me));
          __syncthreads();
          ASSERT_EQ(ggas_allreduce_block(vector, vector, n, ggas_sum, ggas_auto, enough(), t), ggas_ok);
          uint32_t sum = 0;
          for (int k = 0; k < t.size; ++k) sum += value + static_cast<uint32_t>(ggas_team_node(t, k));
          for (size_t i = threadIdx.x; i < n; i += blockDim.x) ASSERT_EQ(ggas_load(vector + i), sum);
          ASSERT_EQ(ggas_sync_block(enough(), t), ggas_ok);
        }
      }
    });
    run();
  }

  std::unique_ptr<heap> heap_;
  std::unique_ptr<team_space> teams_;
};
INSTANTIATE_TEST_SUITE_P(Provider, TeamSpace, testing::ValuesIn(targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(TeamSpace, ManyThatOverlapTakeTurns) {
  std::mt19937 dice(7);
  std::vector<ggas_team> teams = {ggas_team{0, 1, nodes(), 0}};
  for (int i = 0; i < 8; ++i) teams.push_back(any(dice));
  EXPECT_EQ(teams_->teams(), 8u);
  use(teams, simulated() ? 1 : 6);
}

TEST_P(TeamSpace, WhatWasFreedIsUsedAgain) {
  std::mt19937 dice(8);
  const uint64_t before = heap_->statistics().used;
  for (int round = 0; round < (simulated() ? 1 : 4); ++round) {
    std::vector<ggas_team> teams;
    for (int i = 0; i < 3; ++i) teams.push_back(any(dice));
    use(teams, 1);
    std::ranges::shuffle(teams, dice);
    for (const ggas_team& t : teams) EXPECT_EQ(teams_->free(t), "");
    EXPECT_EQ(teams_->teams(), 0u);
    EXPECT_EQ(heap_->statistics().used, before);
    // What the next teams find in their place.
    const std::vector<std::byte> rubbish(static_cast<size_t>(heap_->statistics().largest_free), std::byte{0x5a});
    for (int node = 0; node < nodes(); ++node)
      ASSERT_TRUE(cluster_->write(node, base() + by_hand, rubbish.data(), rubbish.size()));
  }
  EXPECT_NE(teams_->free(ggas_team{0, 1, nodes(), 0}).find("not made here"), std::string::npos);
}

TEST_P(TeamSpace, IsSplit) {
  std::string why;
  std::vector<int> parity, first_alone;
  for (int rank = 0; rank < nodes(); ++rank) {
    parity.push_back(rank % 2);
    first_alone.push_back(rank == 0 ? 5 : -1);
  }
  const ggas_team world{0, 1, nodes(), 0};
  const std::vector<ggas_team> halves = teams_->split(world, parity, why);
  ASSERT_EQ(why, "");
  ASSERT_EQ(halves.size(), nodes() > 1 ? 2u : 1u);
  EXPECT_EQ(halves[0].size, (nodes() + 1) / 2);
  EXPECT_EQ(halves.back().first, nodes() > 1 ? 1 : 0);
  const std::vector<int> one_color(static_cast<size_t>(halves.back().size), 3);
  const std::vector<ggas_team> one = teams_->split(halves.back(), one_color, why);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].size, halves.back().size);
  const std::vector<ggas_team> alone = teams_->split(world, first_alone, why);
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone[0].size, 1);
  std::vector<ggas_team> all = halves;
  all.insert(all.end(), {one[0], alone[0]});
  use(all, simulated() ? 1 : 3);
  const uint64_t used = heap_->statistics().used;
  EXPECT_EQ(teams_->free(halves[0]), "");
  if (halves.size() == 2) {
    EXPECT_EQ(heap_->statistics().used, used) << "the other half has the place still";
    EXPECT_EQ(teams_->free(halves[1]), "");
  }
  EXPECT_LT(heap_->statistics().used, used);
  EXPECT_NE(teams_->free(halves[0]).find("freed before"), std::string::npos);
}

TEST_P(TeamSpace, WrongArgumentsAreNamed) {
  std::string why;
  const auto refuses = [&](int first, int stride, int size, const char* rule) {
    EXPECT_EQ(teams_->make(first, stride, size, why).size, 0);
    EXPECT_NE(why.find(rule), std::string::npos) << why;
  };
  refuses(0, 0, 1, "stride must be");
  refuses(0, 1, 0, "size must be");
  refuses(0, 1, nodes() + 1, "members must be nodes");
  refuses(-1, 1, 1, "members must be nodes");
  refuses(nodes(), 1, 1, "members must be nodes");
  const ggas_team world{0, 1, nodes(), 0};
  EXPECT_TRUE(teams_->split(world, {}, why).empty());
  EXPECT_NE(why.find("one for each member"), std::string::npos) << why;
  EXPECT_TRUE(teams_->split(world, std::vector<int>(static_cast<size_t>(nodes()), -1), why).empty());
  EXPECT_NE(why.find("no member has a color"), std::string::npos) << why;
  if (nodes() >= 4) {
    std::vector<int> uneven(static_cast<size_t>(nodes()), 0);
    uneven[1] = 1;
    EXPECT_TRUE(teams_->split(world, uneven, why).empty());
    EXPECT_NE(why.find("color 0: node 3"), std::string::npos) << why;
  }
  uint64_t made_until_full = 0;
  while (teams_->make(0, 1, 1, why).size == 1) ++made_until_full;
  EXPECT_GT(made_until_full, 3u);
  EXPECT_NE(why.find(std::to_string(teams_->bytes())), std::string::npos) << why;
  EXPECT_EQ(teams_->teams(), made_until_full);
}

TEST_P(TeamSpace, KernelsRefuseAPlaceThatIsNone) {
  const auto end = static_cast<unsigned>(cluster_->segment_bytes() / layout::team_unit);
  on_all(1, 32, [&] {
    for (const unsigned id : {4u, end - 1, end, ~0u}) {
      EXPECT_EQ(ggas_barrier_block(enough(), ggas_team{0, 1, ggas_nodes(), id}), ggas_bad_argument);
      EXPECT_EQ(ggas_sync_grid(enough(), ggas_team{0, 1, ggas_nodes(), id}), ggas_bad_argument);
    }
  });
  run();
}

TEST_P(TeamSpace, BreaksAndIsWholeBehindAReset) {
  if (nodes() == 1) GTEST_SKIP() << "one node never waits";
  const ggas_team pair = made(0, 1, 2), all = made(0, 1, nodes());
  on(0, 1, 32, [&] {
    EXPECT_EQ(ggas_barrier_block(brief(), pair), ggas_timed_out);
    EXPECT_EQ(ggas_barrier_block(enough(), all), ggas_broken);
    EXPECT_EQ(ggas_sync_block(enough()), ggas_broken);
  });
  run();
  reset();
  use({pair, all, ggas_team{0, 1, nodes(), 0}}, simulated() ? 1 : 3);
}

// What node 0 sent in a call that failed is not there any more for node 1, which was absent then.
TEST_P(TeamSpace, NothingOfAFailedCallIsLeftBehindAReset) {
  if (nodes() == 1) GTEST_SKIP() << "one node never waits";
  const ggas_team pair = made(0, 1, 2);
  const auto sum = [&] {
    float* const v = ggas_pointer_of_node<float>(ggas_node(), base());
    return ggas_allreduce_block(v, v, 8, ggas_sum, ggas_one_shot, brief(), pair);
  };
  on(0, 1, 32, [&] { EXPECT_EQ(sum(), ggas_timed_out); });
  run();
  reset();
  on(1, 1, 32, [&] { EXPECT_EQ(sum(), ggas_timed_out); });
  run();
  reset();
  use({pair}, 1);
}

}  // namespace

// What kernels find of a team lies in what was allocated for it.
TEST(LayoutOfTeams, PartsNeitherOverlapNorLeaveThePlace) {
  for (const uint64_t nodes : {1, 2, 7, 64, 1000}) {
    const layout l = layout::of(nodes, layout::reserved_bytes(nodes, uint64_t{1} << 30));
    const uint64_t team = 1000, begin = team * layout::team_unit;
    std::vector<std::pair<uint64_t, uint64_t>> parts = {{layout::barrier_epoch(team), 16},
                                                        {layout::check_out(team), 8}};
    for (uint64_t n = 0; n < nodes; ++n) parts.push_back({l.check_in(team, n), 8});
    for (uint64_t c = 0; c < layout::most_channels; ++c) parts.push_back({l.channel_seq(team, c), 8});
    for (uint64_t c = 0; c < l.channels; ++c)
      for (uint64_t turn = 0; turn < layout::channel_depth; ++turn)
        parts.push_back({l.channel_slot(team, c, turn, 0), nodes * l.channel_bytes});
    std::ranges::sort(parts);
    EXPECT_EQ(parts[0].first, begin);
    for (size_t i = 1; i < parts.size(); ++i) ASSERT_LE(parts[i - 1].first + parts[i - 1].second, parts[i].first);
    EXPECT_EQ(parts.back().first + parts.back().second, begin + l.placed_bytes());
    EXPECT_EQ(l.placed_bytes() % 8, 0u);
  }
}

}  // namespace ggas::test
