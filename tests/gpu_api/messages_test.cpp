// SPDX-License-Identifier: Apache-2.0
// Rules of messages, what a launch leaves, what the host refuses, and the report of a hang; on GPUs: cuda/messages.cu.
#include "ggas/report.hpp"
#include "tests/gpu_api/messages_rig.hpp"

namespace ggas::test {
namespace {

struct rules_target {
  target on;
  message_config shape;
  std::string name() const {
    static constexpr const char* kinds[] = {"threads", "warps", "blocks"};
    return on.name() + kinds[shape.kind];
  }
  friend void PrintTo(const rules_target& t, std::ostream* os) { *os << t.name(); }
};
std::vector<rules_target> rules_targets() {
  const message_config threads{.kind = ggas_rank_is_thread, .blocks = 2, .threads = 8},
      warps{.kind = ggas_rank_is_warp, .blocks = 2, .threads = 64},
      blocks{.kind = ggas_rank_is_block, .blocks = 2, .threads = 40};
  std::vector<rules_target> all;
  for (const message_config& shape : {threads, warps, blocks}) {
    all.push_back({{.nodes = 1}, shape});
    all.push_back({{.nodes = 3}, shape});
    all.push_back({{.nodes = 2, .threads = true}, shape});
#ifdef GGAS_TEST_SIM
    all.push_back({{.provider = "sim", .nodes = 2, .label = "model", .nic = "model"}, shape});
#endif
  }
  return all;
}
class Messages : public testing::TestWithParam<rules_target> {};
INSTANTIATE_TEST_SUITE_P(On, Messages, testing::ValuesIn(rules_targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(Messages, KeepEachRule) {
  message_machine m(GetParam().on, GetParam().shape, calls::rules_scratch);
  calls::run_messages_by_rule(m, m.world);
}

TEST_P(Messages, ALaunchBeginsClean) {
  const bool simulated = GetParam().on.simulated();
  message_machine m(GetParam().on, GetParam().shape, calls::scratch_for(600, 64));
  calls::run_messages_after_others(m, m.world, simulated ? 1 : 5, simulated ? 2 : 20);
}

TEST(MessagesReport, NamesRankSourceAndTag) {
  message_machine m({.nodes = 2}, {.kind = ggas_rank_is_warp, .blocks = 1, .threads = 64}, 64);
  m.run([&] {
    EXPECT_EQ(ggas_messages_begin(m.world, m.timeout_ns()), ggas_ok);
    if (ggas_message_rank(m.world) != 3) return;
    uint64_t v = 0;
    const ggas::warp g;
    EXPECT_EQ(ggas_recv(g, m.world, &v, 1, 1, 42, static_cast<ggas_message*>(nullptr), m.brief_ns()), ggas_timed_out);
  });
  const std::string text = m.on().report()->text();
  EXPECT_NE(
      text.find("node 1, block 0, thread 32: ggas_recv timed out: rank 3 waits for a message from rank 1 with tag 42"),
      std::string::npos)
      << text;
}

// The sender dies within a record that all threads of the receiver would move: its receives end in time, and the buffer
// is as before.
TEST(MessagesThatDoNotEnd, LeaveTheBuffer) {
  constexpr uint64_t bytes = 512;
  message_machine m({.nodes = 2},
                    {.kind = ggas_rank_is_block, .blocks = 1, .threads = 64, .lines = 256, .short_bytes = bytes},
                    bytes);
  m.run([&] {
    EXPECT_EQ(ggas_messages_begin(m.world, m.timeout_ns()), ggas_ok);
    const ggas::block g;
    const detail::message_rank r(m.world);
    if (r.me() == 0) {
      if (!detail::is_first_thread()) return;
      detail::line_claim c(detail::rank_view(r), 1);
      ASSERT_EQ(c.claim(detail::lines_of_record(bytes), 1), 1u);
      const detail::claimed_lines at(r.ring_of(1), 1, c.end - detail::lines_of_record(bytes));
      at.put_head(detail::record_short, 0, bytes, detail::envelope(7, 0));
      at.put(2, 1);
      return;
    }
    auto* const buffer = ggas_pointer_of_node<uint8_t>(1, m.message_scratch());
    for (int turn = 0; turn < 2; ++turn) {
      EXPECT_EQ(ggas_recv(g, m.world, buffer, bytes, 0, 7, static_cast<ggas_message*>(nullptr), m.brief_ns()),
                ggas_timed_out);
      for (uint64_t i = g.rank(); i < bytes; i += g.size()) ASSERT_EQ(buffer[i], 0);
    }
  });
}

// The ranks of node 1 end at once, as those of a process that was killed: calls for them end in time, also where their
// rings are full, and the other ranks go on.
TEST(MessagesToTheGone, EndInTimeAndOthersGoOn) {
  message_machine m({.nodes = 2}, {.kind = ggas_rank_is_warp, .blocks = 1, .threads = 64, .lines = 16}, 64);
  m.run([&] {
    EXPECT_EQ(ggas_messages_begin(m.world, m.timeout_ns()), ggas_ok);
    const int me = ggas_message_rank(m.world), near = me ^ 1, gone = me + 2;
    if (me >= 2) return;
    const ggas::warp g;
    uint64_t v[40]{}, w = 0;
    ggas_status s = ggas_ok;
    for (int sent = 0; sent < 100 && s == ggas_ok; ++sent) s = ggas_send(g, m.world, v, 1, gone, 1, m.brief_ns());
    EXPECT_EQ(s, ggas_timed_out);
    EXPECT_EQ(ggas_send(g, m.world, v, 40, gone, 1, m.brief_ns()), ggas_timed_out);
    EXPECT_EQ(ggas_recv(g, m.world, &w, 1, gone, 1, static_cast<ggas_message*>(nullptr), m.brief_ns()), ggas_timed_out);
    v[0] = static_cast<uint64_t>(me) + 1;
    EXPECT_EQ(
        ggas_sendrecv(g, m.world, v, 1, near, 2, &w, 1, near, 2, static_cast<ggas_message*>(nullptr), m.timeout_ns()),
        ggas_ok);
    EXPECT_TRUE(!g.leads() || w == static_cast<uint64_t>(near) + 1);
  });
}

TEST(MessageSpace, RefusesWhatCannotBe) {
  message_machine m({.nodes = 2}, {.blocks = 2, .threads = 32}, 64);
  const message_config good{.kind = ggas_rank_is_warp, .blocks = 2, .threads = 64};
  const auto refused = [&](message_config c, const std::string& part) {
    std::string why;
    const auto used = m.memory().statistics().used;
    EXPECT_EQ(m.space().make(c, why).threads, 0u);
    EXPECT_NE(why.find(part), std::string::npos) << why;
    EXPECT_EQ(m.memory().statistics().used, used);
  };
  const auto with = [&](auto change) {
    message_config c = good;
    change(c);
    return c;
  };
  refused(with([](auto& c) { c.blocks = 0; }), "0 blocks of a node: must be 1 ... 1024");
  refused(with([](auto& c) { c.threads = 1025; }), "1025 threads of a block: must be 1 ... 1024");
  refused(with([](auto& c) { c.threads = 48; }), "48 threads of a block: must be a multiple of 32");
  refused(with([](auto& c) { c.lines = 48; }), "48 lines of a ring: must be a power of two, 4 ... 1048576");
  refused(with([](auto& c) { c.waiting = 2; }), "2 waiting messages: must be a power of two, 4 ... 32768");
  refused(with([](auto& c) { c.requests = 65; }), "65 requests: must be 1 ... 64");
  refused(with([](auto& c) { c.short_bytes = 384; }),
          "384 bytes of a short message: must be a multiple of 16, at most 368");
  refused(with([](auto& c) { c.kind = ggas_rank_is_thread, c.blocks = 1024, c.threads = 32; }),
          "65536 ranks: there are at most 32768");
  refused(with([](auto& c) { c.waiting = 32768, c.short_bytes = 368; }), "messages: ");
  EXPECT_NE(m.space().free({}), "");
  EXPECT_EQ(m.space().free(m.world), "");
  EXPECT_NE(m.space().free(m.world), "");
}

// The beginning of a launch resets a rank's state by pieces of 16 bytes.
TEST(MessageState, LiesWhereTheBeginningPutsIt) {
  matching_lists state{};
  state.launch = 1;
  state.sent_to = -1;
  state.me = 2;
  state.requests = 3;
  uint64_t words[sizeof state / 8] = {};
  words[offset_of_launch / 8] = 1;
  words[offset_of_me / 8] = sent_to_none | uint64_t{2} << 32;
  words[offset_of_requests / 8 + 1] = 3;
  EXPECT_EQ(std::memcmp(words, &state, sizeof state), 0);
}

// What the page says, in numbers.
TEST(MessageSpace, TakesWhatTheFormulaSays) {
  message_machine m({.nodes = 3}, {.blocks = 2, .threads = 32}, 64);
  const message_config c{.kind = ggas_rank_is_warp,
                         .blocks = 2,
                         .threads = 64,
                         .lines = 16,
                         .short_bytes = 48,
                         .waiting = 8,
                         .requests = 3};
  const uint64_t rank = 192 + 3 * (64 + 16 * 16) + (3 * 8 + 1 + 7) / 8 * 64 + 8 * (64 + 48) + 128 * 3 + 64 + 128;
  const uint64_t blocks = 256 + 2 * (((64 + 248 * 6 + 63) / 64 * 64 + 6 * 1 * 16 + 63) / 64 * 64);
  const uint64_t numbers = 2 * 64 * 3 * 4;
  EXPECT_EQ(m.space().bytes(c), 256 + 128 + 4 * rank + numbers + blocks);
}

}  // namespace
}  // namespace ggas::test
