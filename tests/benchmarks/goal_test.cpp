// SPDX-License-Identifier: Apache-2.0
// Schedules in GOAL: every rule of the grammar of LogGOPSim's reader (txt2bin), refused files, and the matching of
// messages and receives.
#include "benchmarks/trace/goal.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "benchmarks/trace/matcher.hpp"

namespace ggas::bench {
namespace {

using kind = schedule_op::kind;

schedule parsed(std::string_view text) {
  auto plan = parse_goal(text, "s.goal");
  EXPECT_TRUE(plan) << plan.error();
  return plan ? std::move(*plan) : schedule{};
}

std::string refused(std::string_view text) {
  const auto plan = parse_goal(text, "s.goal");
  return plan ? "" : plan.error();
}

TEST(goal, every_rule_of_the_grammar) {
  const schedule plan = parsed(R"(// a comment of a line
/* one of
   several */ num_ranks 3

rank 0 {	// tabs, and a label that is a word of the format with more
  sender: send 10b to 1 tag 5 cpu 1 nic 0
  l_2:send 10 b to 1
  send 0b to 2 tag 7 nic 3        /* no label, no bytes */
  calc 100
  l5: calc 200 cpu 2
  l5 requires sender
  l5 irequires l_2
}
rank 1 { a: recv 10b from 0 tag 5
  recv 16b from -1 tag -1
  self: send 4b to 1 tag 9
  recv 4b from 1 tag 9
  self requires a }
rank 2{
recv 0b from -1 tag 7
}
)");
  ASSERT_EQ(plan.ranks.size(), 3u);
  const auto& first = plan.ranks[0];
  ASSERT_EQ(first.size(), 5u);
  EXPECT_EQ(std::tuple(first[0].what, first[0].amount, first[0].peer, first[0].tag, first[0].cpu),
            std::tuple(kind::send, 10u, 1u, 5u, 1u));
  EXPECT_EQ(std::tuple(first[1].amount, first[1].tag), std::tuple(10u, 0u));
  EXPECT_EQ(std::tuple(first[2].what, first[2].amount, first[2].peer), std::tuple(kind::send, 0u, 2u));
  EXPECT_EQ(std::tuple(first[3].what, first[3].amount, first[3].cpu), std::tuple(kind::calc, 100u, 0u));
  EXPECT_EQ(std::tuple(first[4].amount, first[4].cpu, first[4].waits), std::tuple(200u, 2u, 2u));
  EXPECT_EQ(first[0].at_end, std::vector<uint32_t>{4});
  EXPECT_EQ(first[1].at_begin, std::vector<uint32_t>{4});
  const auto& second = plan.ranks[1];
  ASSERT_EQ(second.size(), 4u);
  EXPECT_EQ(std::tuple(second[1].peer, second[1].tag), std::tuple(any_rank, any_tag));
  EXPECT_EQ(second[2].peer, 1u);
  EXPECT_EQ(second[0].at_end, std::vector<uint32_t>{2});
  EXPECT_EQ(std::tuple(plan.ranks[2][0].peer, plan.ranks[2][0].tag), std::tuple(any_rank, 7u));
  EXPECT_EQ(std::tuple(plan.messages, plan.bytes, plan.largest, plan.computing_ns), std::tuple(4u, 24u, 10u, 300u));
}

TEST(goal, a_place_is_a_line_also_after_comments) {
  EXPECT_EQ(refused("num_ranks 1\n/* two\nlines */ rank 0 {\n/* */ a: jump 3\n}\n"),
            "s.goal:4: unknown operation 'jump': send, recv or calc");
  EXPECT_NE(refused("num_ranks 1\nrank 0 {\n/* no end").find("s.goal:3: the file ends inside rank 0"),
            std::string::npos);
}

TEST(goal, what_is_refused) {
  const std::pair<const char*, const char*> cases[] = {
      {"send -5b to 1\n", "'-5': expected a number"},
      {"send 5b to -1\n", "'-1': expected a number"},
      {"send 5b 1\n", "expected send BYTESb to RANK"},
      {"recv 5b to 1\n", "expected recv BYTESb from RANK"},
      {"calc 5 tag 3\n", "'tag': expected tag N, cpu N or nic N"},
      {"calc\n", "the line ends: expected a number"},
      {"calc 5 ; calc 6\n", "';': expected the end of the line"},
      {"a calc 5\n", "'a': expected LABEL: or LABEL requires LABEL"},
      {"a: calc 5\nb requires a\n", "no label 'b' in rank 0 above"},
      {"recv 5b from -1\n", "rank 0 gets 0 messages and receives 1"},
      {"send 5b to 1 tag -1\n", "rank 1 gets 1 messages and receives 0"},
      {"send 5b to 1\n", "rank 0 sends 1 messages of tag 0 to rank 1, which receives 0"},
      {"send 5b to 0\nrecv 4b from 0\n", "message 1 of tag 0 from rank 0 to rank 0 has 5 bytes, its receive 4"},
  };
  for (const auto& [text, says] : cases) {
    const std::string found = refused(fmt::format("num_ranks 2\nrank 0 {{\n{}}}\n", text));
    EXPECT_NE(found.find(says), std::string::npos) << text << found;
  }
  EXPECT_EQ(refused("num_ranks 2\nrank 0 {\nsend 4b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n"), "")
      << "a receive may have more room";
}

// No bytes do harm, and what is refused has a place.
TEST(goal, noise_is_refused_with_its_place) {
  std::mt19937 random(1);
  const std::string good =
      "num_ranks 2\nrank 0 {\na: send 64b to 1 tag 3\nb: calc 5\nb requires a\n}\nrank 1 {\nrecv 64b from -1\n}\n";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = good;
    for (unsigned changes = random() % 3 + 1; changes > 0; --changes) text[random() % text.size()] = char(random());
    const auto plan = parse_goal(text.substr(0, random() % 4 ? text.size() : random() % text.size()), "s.goal");
    EXPECT_TRUE(plan || plan.error().starts_with("s.goal:"));
  }
}

TEST(matcher, the_first_that_fits_in_both_directions) {
  matcher m;
  EXPECT_FALSE(m.arrive({.from = 3, .tag = 7, .bytes = 1}));
  EXPECT_FALSE(m.arrive({.from = 2, .tag = 7, .bytes = 2}));
  EXPECT_FALSE(m.arrive({.from = 3, .tag = any_tag, .bytes = 3}));
  EXPECT_EQ(m.receive(0, any_rank, 7)->bytes, 1u);
  EXPECT_EQ(m.receive(1, 3, 9)->bytes, 3u) << "a message of any tag";
  EXPECT_FALSE(m.receive(2, 3, 7));
  EXPECT_EQ(m.receive(3, any_rank, any_tag)->bytes, 2u);
  EXPECT_FALSE(m.receive(4, any_rank, any_tag));
  EXPECT_FALSE(m.receive(5, 3, 7));
  EXPECT_EQ(m.arrive({3, 7, 0}), 2u) << "the one that waits longest";
  EXPECT_EQ(m.arrive({3, 7, 0}), 4u);
  EXPECT_EQ(m.arrive({3, any_tag, 0}), 5u);
}

// As LogGOPSim has it: two lists that are searched from the front.
TEST(matcher, does_what_two_lists_do) {
  std::mt19937 random(2);
  matcher tried;
  std::vector<std::pair<uint32_t, message>> receives, messages;  // number, what it takes or is
  const auto fits = [](const message& a, const message& b) {
    return (a.from == b.from || a.from == any_rank || b.from == any_rank) &&
           (a.tag == b.tag || a.tag == any_tag || b.tag == any_tag);
  };
  const auto take = [&](auto& list, const message& what) -> std::optional<std::pair<uint32_t, message>> {
    for (auto at = list.begin(); at != list.end(); ++at)
      if (fits(at->second, what)) {
        const auto found = *at;
        list.erase(at);
        return found;
      }
    return {};
  };
  for (uint32_t i = 0; i < 50'000; ++i) {
    const bool receive = random() % 2;
    const message what{receive && random() % 8 == 0 ? any_rank : uint32_t(random() % 3),
                       random() % 8 == 0 ? any_tag : uint32_t(random() % 3), i};
    if (receive) {
      const auto expected = take(messages, what);
      const auto found = tried.receive(i, what.from, what.tag);
      ASSERT_EQ(found.has_value(), expected.has_value()) << i;
      ASSERT_TRUE(!found || found->bytes == expected->second.bytes) << i;
      if (!found) receives.emplace_back(i, what);
    } else {
      const auto expected = take(receives, what);
      const auto found = tried.arrive(what);
      ASSERT_EQ(found.has_value(), expected.has_value()) << i;
      ASSERT_TRUE(!found || *found == expected->first) << i;
      if (!found) messages.emplace_back(i, what);
    }
  }
}

}  // namespace
}  // namespace ggas::bench
