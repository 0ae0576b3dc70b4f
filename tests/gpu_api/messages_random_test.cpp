// SPDX-License-Identifier: Apache-2.0
// Random messages among ranks that are threads, warps and blocks; on GPUs: cuda/messages.cu. GGAS_TEST_MESSAGES: the
// number of messages that all ranks of the large tests send.

#include "tests/gpu_api/messages_rig.hpp"
#include "tests/support/number_of.hpp"

namespace ggas::test {
namespace {

struct message_target {
  target on;
  message_config shape;
  uint32_t count;  // messages of a rank
  std::string name() const {
    static constexpr const char* kinds[] = {"threads", "warps", "blocks"};
    return on.name() + kinds[shape.kind] + std::to_string(shape.blocks) + "x" + std::to_string(shape.threads) +
           (shape.short_bytes > 64 ? "records" : "");
  }
  friend void PrintTo(const message_target& t, std::ostream* os) { *os << t.name(); }
};

std::vector<message_target> message_targets() {
  constexpr auto threads = ggas_rank_is_thread, warps = ggas_rank_is_warp, blocks = ggas_rank_is_block;
  const target alone{.nodes = 1}, two{.nodes = 2}, three{.nodes = 3};
  std::vector<message_target> all{
      {alone, {.kind = threads, .blocks = 2, .threads = 32}, 60},
      {alone, {.kind = threads, .blocks = 3, .threads = 5}, 100},
      {alone, {.kind = warps, .blocks = 2, .threads = 96}, 60},
      {alone, {.kind = blocks, .blocks = 4, .threads = 64}, 60},
      {alone, {.kind = blocks, .blocks = 1, .threads = 1}, 20},
      {two, {.kind = threads, .blocks = 1, .threads = 40}, 60},
      {three, {.kind = warps, .blocks = 2, .threads = 64}, 60},
      {three, {.kind = blocks, .blocks = 2, .threads = 33}, 60},
      {{.nodes = 3, .threads = true}, {.kind = blocks, .blocks = 2, .threads = 32}, 60},
      {{.nodes = 2, .threads = true}, {.kind = threads, .blocks = 2, .threads = 8, .lines = 32}, 100},
  };
  // All are one record; of a block all threads move the long ones.
  const message_config records{.kind = blocks, .blocks = 3, .threads = 64, .lines = 512, .short_bytes = 640};
  for (const target& on : {alone, three, target{.nodes = 3, .threads = true}}) all.push_back({on, records, 60});
  all.push_back({alone, {.kind = blocks, .blocks = 2, .threads = 1, .lines = 512, .short_bytes = 640}, 20});
  all.push_back({two, {.kind = warps, .blocks = 2, .threads = 64, .lines = 512, .short_bytes = 640}, 60});
#ifdef GGAS_TEST_SIM
  all.push_back({{.provider = "sim", .nodes = 2, .label = "model", .nic = "model"}, records, 10});
  for (const auto kind : {threads, warps, blocks}) {
    all.push_back({{.provider = "sim", .nodes = 2, .label = "model", .nic = "model"},
                   {.kind = kind, .blocks = kind == threads ? 1u : 8u, .threads = 32},
                   10});
  }
  all.push_back({{.provider = "sim", .nodes = 2}, {.kind = blocks, .blocks = 8, .threads = 32}, 10});
#endif
  return all;
}

class MessagesRandom : public testing::TestWithParam<message_target> {};
INSTANTIATE_TEST_SUITE_P(On, MessagesRandom, testing::ValuesIn(message_targets()),
                         [](const auto& i) { return i.param.name(); });

constexpr uint32_t most = 600;

TEST_P(MessagesRandom, EachComesOnceWholeAndInOrder) {
  const message_target& t = GetParam();
  const uint64_t ranks = uint64_t{t.shape.blocks} * t.shape.threads * static_cast<unsigned>(t.on.nodes);
  message_machine m(t.on, t.shape, calls::scratch_for(most, ranks));
  calls::run_messages_random(m, m.world, t.count, most, 1);
  calls::run_messages_random(m, m.world, t.count, most, 2);  // another launch with the same rings
}

#ifdef GGAS_TEST_SIM
// The NICs' links lose and change packets, and send them again.
TEST(MessagesRandomSim, EachComesOnceOverLinksWithFaults) {
  const message_config shape{.kind = ggas_rank_is_block, .blocks = 8, .threads = 32};
  message_machine m({.provider = "sim", .nodes = 2}, shape, calls::scratch_for(most, 16),
                    {"* drop rate 0.01", "* corrupt rate 0.01"});
  calls::run_messages_random(m, m.world, 10, most, 1);
  EXPECT_GT(m.on().counters(0).at("LINK_TX_REPLAYS"), 0u);
}
#endif

// 10^5 messages, or as many as the environment says.
TEST(MessagesMany, AmongManyThreads) {
  const uint64_t all = number_of("GGAS_TEST_MESSAGES", 100'000);
  for (const unsigned blocks : {2u, 16u}) {
    const message_config shape{.blocks = blocks, .threads = 64};
    const uint64_t ranks = uint64_t{blocks} * 64;
    message_machine m({.nodes = 1}, shape, calls::scratch_for(most, ranks));
    m.timeout_factor = 1 + all / 100'000;
    calls::run_messages_random(m, m.world, static_cast<uint32_t>(all / 2 / ranks), most, blocks);
  }
}

}  // namespace
}  // namespace ggas::test
