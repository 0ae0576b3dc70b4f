// SPDX-License-Identifier: Apache-2.0
// Whole systems in which links and nodes die: the informed members, in bounded time; the network manager routes packets
// around the fault, and all survivors reach each other; every store arrives or is reported as lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "ggas_regs.h"
#include "tests/sim/system_fixture.hpp"

namespace ggas::test {
namespace {

constexpr uint64_t us = 1'000'000;  // ps
constexpr uint64_t cut_us = 4'000, reroute_limit_us = 6'000;

struct shape {
  const char* nic;
  int nodes;
  const char* topology;
  bool all_pairs;  // else some: a NIC of RTL takes its time
  friend void PrintTo(const shape& s, std::ostream* os) { *os << s.nic << " " << s.nodes << " " << s.topology; }
};

class survivors : public testing::TestWithParam<shape> {
 protected:
  void make(const std::string& faults) {
    auto c = config("galibier-k20", true, {"nic.load_timeout_ticks=40"});
    c.model_nics = std::string(GetParam().nic) == "model";
    c.nodes = GetParam().nodes;
    c.topology = GetParam().topology;
    c.faults = faults;
    auto made = sim::system::create(std::move(c));
    ASSERT_TRUE(made) << made.error();
    s = std::move(*made);
    n = s->nodes();
  }
  // The link between node 0 and the one after its first port, both ways.
  std::string cut_link(const char* when) const {
    const auto t = *fabric::topology::parse(GetParam().topology, unsigned(GetParam().nodes));
    const unsigned there = t.across(0, 0)->node;
    return fabric::wire_name(0, there) + when + "\n" + fabric::wire_name(there, 0) + when;
  }
  void run_until_us(uint64_t at) {
    if (s->now_ps() < at * us) s->run_for(at * us - s->now_ps());
  }
  void wait_for_changes(uint64_t changes) {
    const auto done = [&] { return s->manager()->changes() >= changes && s->manager()->idle(); };
    ASSERT_TRUE(s->run_until(done, reroute_limit_us * us)) << s->manager()->changes() << " changes";
    RecordProperty("us_since_cut", int(s->now_ps() / us - cut_us));
  }
  void store(unsigned from, unsigned to, uint64_t offset, uint64_t value) {
    s->sim().enter();
    gpu(*s, from).store(gpu(*s, from).window(to, offset), std::as_bytes(std::span(&value, 1)));
  }
  uint64_t quiet(unsigned from) {
    const auto r = read(*s, from, gpu(*s, from).slot.pages_address, 8);
    return r.ok() ? r.dws.at(0) : ~0ull;
  }
  // Every member stores to those others, learns that it has arrived, and reads it back.
  void expect_ways(uint64_t round, const std::function<bool(unsigned, unsigned)>& joined) {
    const auto picked = [&](unsigned from, unsigned to) {
      return from != to && joined(from, to) && (GetParam().all_pairs || (to + n - from) % n <= 3);
    };
    const auto value = [&](unsigned from, unsigned to) { return round << 32 | from << 8 | to; };
    for (unsigned from = 0; from < n; ++from)
      for (unsigned to = 0; to < n; ++to)
        if (picked(from, to)) store(from, to, 8 * from, value(from, to));
    for (unsigned from = 0; from < n; ++from)
      if (joined(from, from)) {
        EXPECT_EQ(quiet(from), 0u) << "node " << from;
      }
    for (unsigned from = 0; from < n; ++from)
      for (unsigned to = 0; to < n; ++to) {
        if (!picked(from, to)) continue;
        ASSERT_EQ(gpu(*s, to).memory.load<uint64_t>(8 * from), value(from, to)) << from << " to " << to;
        const auto r = read(*s, from, gpu(*s, from).window(to, 8 * from), 8);
        ASSERT_TRUE(r.ok());
        ASSERT_EQ(r.dws[0] | uint64_t{r.dws[1]} << 32, value(from, to)) << from << " from " << to;
      }
  }
  uint64_t counted(const char* counter) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < n; ++i) sum += s->counters(i)[counter];
    return sum;
  }
  // Every loss is counted, and has a record in the ring of its node. In the RTL a record covers those of its kind that
  // occurred while it waited for its turn.
  void expect_events_as_counted() {
    s->run_for(100 * us);
    for (unsigned i = 0; i < n; ++i) {
      const auto counters = s->counters(i);
      const auto events = s->events(i);
      for (const std::string name : {"LINK_DEAD", "PACKET_LOST", "STORE_LOST", "STORE_UNREACHABLE"}) {
        const auto reported = std::ranges::count_if(
            events, [&](const std::string& e) { return e.find(": " + name + " ") != std::string::npos; });
        const uint64_t count = counters.at("EVENT_" + name);
        EXPECT_LE(uint64_t(reported), count) << "node " << i << " " << name;
        EXPECT_GE(uint64_t(reported), s->network() ? count : uint64_t{count != 0}) << "node " << i << " " << name;
      }
      EXPECT_EQ(counters.at("EVENT_EVENT_OVERFLOW"), 0u);
    }
  }

  std::unique_ptr<sim::system> s;
  unsigned n = 0;
};
INSTANTIATE_TEST_SUITE_P(rtl, survivors,
                         testing::Values(shape{"rtl", 4, "ring", true}, shape{"rtl", 8, "torus:2x2x2", false}));
INSTANTIATE_TEST_SUITE_P(model, survivors,
                         testing::Values(shape{"model", 4, "ring", true}, shape{"model", 8, "torus:2x2x2", true},
                                         shape{"model", 27, "torus:3x3x3", true}));

const auto everybody = [](unsigned, unsigned) { return true; };

TEST_P(survivors, a_whole_network_is_left_alone) {
  make("");
  expect_ways(1, everybody);
  if (s->manager()) {
    EXPECT_EQ(s->manager()->changes(), 0u);
  }
  EXPECT_EQ(counted("EVENT_LINK_DEAD"), 0u);
}

// Stores run over the link as it is cut. Each arrives or is reported as lost, and its source's next quiet says so.
TEST_P(survivors, a_link_is_cut_under_way) {
  make(cut_link(" cut from 4000"));
  ASSERT_LT(s->now_ps(), cut_us * us);
  expect_ways(1, everybody);
  run_until_us(cut_us - 10);
  const unsigned there = s->topology().across(0, 0)->node;
  const uint64_t before = gpu(*s, there).writes;
  constexpr unsigned stores = 400;
  for (unsigned i = 0; i < stores; ++i) {
    store(0, there, 4096 + 8 * i, i + 1);
    s->run_for(us / 10);
  }
  wait_for_changes(1);
  EXPECT_EQ(counted("EVENT_LINK_DEAD"), 2u);
  const uint64_t arrived = gpu(*s, there).writes - before;
  const uint64_t lost = counted("EVENT_STORE_LOST") + counted("EVENT_STORE_UNREACHABLE");
  EXPECT_LT(arrived, stores);
  EXPECT_GE(arrived + lost, stores);
  EXPECT_NE(quiet(0), 0u) << "some were lost";
  expect_ways(2, everybody);
  EXPECT_EQ(s->manager()->changes(), 1u);
  expect_events_as_counted();
}

TEST_P(survivors, a_link_that_comes_back_is_used_again) {
  make(cut_link(" cut from 4000 to 4010"));
  wait_for_changes(2);
  EXPECT_EQ(counted("EVENT_LINK_DEAD"), 2u);
  static_cast<void>(quiet(0));  // no matter what was reported before
  expect_ways(1, everybody);
  EXPECT_EQ(counted("EVENT_PACKET_LOST"), 0u);
}

TEST_P(survivors, a_link_that_was_never_up) {
  make(cut_link(" cut from 0"));
  EXPECT_EQ(s->manager()->changes(), 1u);
  expect_ways(1, everybody);
}

TEST_P(survivors, a_node_dies) {
  const unsigned dead = unsigned(GetParam().nodes) - 1;
  make("node " + std::to_string(dead) + " dead from 4000");
  expect_ways(1, everybody);
  run_until_us(cut_us - 1);
  EXPECT_TRUE(s->alive(dead));
  wait_for_changes(1);
  EXPECT_FALSE(s->alive(dead));
  for (unsigned i = 0; i + 1 < n; ++i) static_cast<void>(quiet(i));
  const auto alive = [&](unsigned from, unsigned to) { return from != dead && to != dead; };
  expect_ways(2, alive);
  // Operations towards it end with an error.
  const uint64_t begin = s->now_ps();
  const auto r = read(*s, 0, gpu(*s, 0).window(dead, 0), 8);
  EXPECT_FALSE(r.timed_out) << "the NIC answers before the host gives up";
  EXPECT_EQ(r.dws.at(0), ~0u);
  store(0, dead, 0, 1);
  EXPECT_NE(quiet(0), 0u);
  EXPECT_LT(s->now_ps() - begin, 1'000 * us) << "40 ticks each";
  EXPECT_GE(counted("EVENT_PACKET_LOST"), 2u);
  expect_ways(3, alive);
  expect_events_as_counted();
}

// Two parts: inside of each everything works, and what is for the other one is reported where it begins.
TEST(survivors_of, a_ring_in_two_parts) {
  for (const bool model : {true, false}) {
    auto c = config("galibier-k20", true, {"nic.load_timeout_ticks=40"});
    c.model_nics = model;
    c.nodes = 4;
    c.topology = "ring";
    c.faults = "0->1 cut from 200\n2->3 cut from 250";
    auto made = sim::system::create(std::move(c));
    ASSERT_TRUE(made) << made.error();
    auto& s = **made;
    s.run_for(3'000 * us);
    ASSERT_TRUE(s.manager()->idle());
    constexpr unsigned ways[][3] = {{0, 3, 1}, {3, 0, 2}, {1, 2, 0}, {2, 1, 3}};  // from, to, in the other part
    for (const auto& [from, to, away] : ways) {
      EXPECT_EQ(read(s, from, gpu(s, from).window(to, 0), 8).dws.at(0), 0u) << from << " to " << to;
      EXPECT_EQ(read(s, from, gpu(s, from).window(away, 0), 8).dws.at(0), ~0u) << from << " to " << away;
    }
    const auto events = s.events(0);
    EXPECT_TRUE(std::ranges::any_of(events, [](const std::string& e) { return e.find("PACKET_LOST") != e.npos; }));
  }
}

// The failure of a second link while the tables are written for the first one.
TEST(survivors_of, two_failures_at_once) {
  for (const uint64_t later : {0, 50, 100, 150, 200, 250, 300, 350, 400}) {
    auto c = config("galibier-k20", true);
    c.model_nics = true;
    c.nodes = 9;
    c.topology = "torus:3x3";
    c.faults = "0->1 cut from 200\n4->5 cut from " + std::to_string(200 + later);
    auto made = sim::system::create(std::move(c));
    ASSERT_TRUE(made) << made.error();
    auto& s = **made;
    s.run_for(4'000 * us);
    ASSERT_TRUE(s.manager()->idle());
    EXPECT_LE(s.manager()->changes(), 2u);
    for (unsigned from = 0; from < 9; ++from)
      for (unsigned to = 0; to < 9; ++to)
        if (from != to) {
          EXPECT_NE(read(s, from, gpu(s, from).window(to, 0), 8).dws.at(0), ~0u) << from << " to " << to;
        }
  }
}

}  // namespace
}  // namespace ggas::test
