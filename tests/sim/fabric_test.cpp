// SPDX-License-Identifier: Apache-2.0
// The wire: rate, latency, and every fault, by index and by seed; scripts of faults.
#include <gtest/gtest.h>

#include <vector>

#include "sim/fabric/wire.hpp"
#include "tests/support/mangled.hpp"

namespace ggas::test {
namespace {

struct sink : fabric::flit_sink {
  void deliver(const nic::flit& f, uint64_t at) override { got.emplace_back(f, at); }
  void carrier(bool up, uint64_t at) override { carriers.emplace_back(up, at); }
  std::vector<std::pair<nic::flit, uint64_t>> got;
  std::vector<std::pair<bool, uint64_t>> carriers;
};

nic::flit numbered(uint64_t n) {
  nic::flit f;
  f.data[0] = n;
  return f;
}

// Sends at every edge of a 175 MHz clock that the wire allows.
void send(fabric::wire& w, unsigned flits, uint64_t from_ps = 0) {
  uint64_t n = 0;
  for (uint64_t edge = from_ps; n < flits; edge += 5714)
    if (w.ready(edge)) w.send(numbered(n++), edge);
}

TEST(wire, line_rate_below_the_core_throttles) {
  sink s;
  fabric::wire w("0->1", {.latency_ps = 100'000, .bits_per_second = 9.8e9, .flit_bits = 64}, s);
  send(w, 10000);
  ASSERT_EQ(s.got.size(), 10000u);
  EXPECT_EQ(s.got[0].second, 6531u + 100'000u);
  const double rate = 64.0 * 9999 / (double(s.got.back().second - s.got.front().second) * 1e-12);
  EXPECT_NEAR(rate / 9.8e9, 1.0, 1e-3);
}

std::unique_ptr<fabric::fault_injector> faults(const char* script, uint64_t seed = 1, const char* wire = "0->1") {
  const auto rules = fabric::parse_faults(script, "test");
  EXPECT_TRUE(rules) << rules.error();
  return std::make_unique<fabric::fault_injector>(*rules, wire, seed);
}

TEST(wire, faults_by_index) {
  sink s;
  fabric::wire w("0->1", {.latency_ps = 0, .bits_per_second = 64e9, .flit_bits = 64}, s);
  w.faults(faults("0->1 drop at 3 count 2  # comment\n\n0->1 corrupt at 7\n* duplicate at 9\n1->0 drop at 0\n"));
  send(w, 12);
  std::vector<uint64_t> seen;
  for (const auto& [f, at] : s.got) seen.push_back(f.data[0]);
  ASSERT_EQ(seen.size(), 11u);
  EXPECT_EQ(std::vector<uint64_t>(seen.begin(), seen.begin() + 5), (std::vector<uint64_t>{0, 1, 2, 5, 6}));
  EXPECT_EQ(std::popcount(seen[5] ^ 7), 1);
  EXPECT_EQ(seen[6], 8u);
  EXPECT_EQ(seen[7], 9u);
  EXPECT_EQ(seen[8], 9u);
  EXPECT_EQ(w.stats().dropped, 2u);
  EXPECT_EQ(w.stats().corrupted, 1u);
  EXPECT_EQ(w.stats().duplicated, 1u);
}

TEST(wire, rate_is_met_and_depends_on_seed_and_wire_only) {
  const auto run = [](uint64_t seed, const char* name) {
    sink s;
    fabric::wire w(name, {.latency_ps = 0, .bits_per_second = 64e9, .flit_bits = 64}, s);
    w.faults(faults("* drop rate 0.01", seed, name));
    send(w, 100000);
    std::vector<uint64_t> seen;
    for (const auto& [f, at] : s.got) seen.push_back(f.data[0]);
    return seen;
  };
  const auto a = run(5, "0->1");
  EXPECT_NEAR(100000 - double(a.size()), 1000, 150);
  EXPECT_EQ(a, run(5, "0->1"));
  EXPECT_NE(a, run(6, "0->1"));
  EXPECT_NE(a, run(5, "1->0"));
}

TEST(wire, cut_takes_the_carrier_and_gives_it_back) {
  sink s;
  fabric::wire w("0->1", {.latency_ps = 1000, .bits_per_second = 64e9, .flit_bits = 64}, s);
  w.faults(faults("* cut from 1 to 2"));
  send(w, 500);
  ASSERT_EQ(s.carriers.size(), 2u);
  EXPECT_EQ(s.carriers[0], std::make_pair(false, uint64_t(1'001'000)));
  EXPECT_EQ(s.carriers[1], std::make_pair(true, uint64_t(2'001'000)));
  EXPECT_EQ(s.got.size() + w.stats().dropped, 500u);
  EXPECT_NEAR(double(w.stats().dropped), 175, 2);
}

struct bad_script {
  const char* text;
  const char* says;
};
class fault_script : public testing::TestWithParam<bad_script> {};
TEST_P(fault_script, names_line_and_rule) {
  const auto r = fabric::parse_faults(GetParam().text, "f.txt");
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().find(GetParam().says), std::string::npos) << r.error();
}
INSTANTIATE_TEST_SUITE_P(
    errors, fault_script,
    testing::Values(bad_script{"*", "f.txt:1: expected"}, bad_script{"\n* burn at 1", "f.txt:2: unknown fault 'burn'"},
                    bad_script{"* drop at -1", "f.txt:1"}, bad_script{"* drop at 1 count 0", "count at least 1"},
                    bad_script{"* drop rate 1.5", "between 0 and 1"}, bad_script{"* drop rate x", "between 0 and 1"},
                    bad_script{"* drop sometimes", "expected: at"}, bad_script{"* cut at 3", "expected: cut"},
                    bad_script{"* cut from 3 to 2", "to > from"}, bad_script{"* cut from nan", "numbers of"},
                    bad_script{"* cut from 1e300", "numbers of"}, bad_script{"* drop at 1 2 3", "expected: at"},
                    bad_script{"node", "f.txt:1: expected: node <number> dead from <us>"},
                    bad_script{"\nnode 1 dead", "f.txt:2: expected: node <number> dead from <us>"},
                    bad_script{"node 1 cut from 3", "expected: node"}, bad_script{"node x dead from 3", "node 'x'"},
                    bad_script{"node -1 dead from 3", "node '-1': must be a whole number"},
                    bad_script{"node 1 dead from never", "must be a number of microseconds"},
                    bad_script{"node 1 dead from 3 to 4", "expected: node"}));

// All of its wires are cut for good; others keep what they had.
TEST(fault_scripts, a_dead_node_cuts_its_wires) {
  const auto shape = *fabric::topology::parse("ring", 4);
  const auto rules = fabric::parse_faults("0->1 drop at 3\nnode 2 dead from 7.5\n", "f.txt");
  ASSERT_TRUE(rules) << rules.error();
  const auto wires = fabric::faults_of_wires(*rules, shape, "f.txt");
  ASSERT_TRUE(wires) << wires.error();
  const auto cut_at = [&](const char* wire) {
    const auto cuts = fabric::fault_injector(*wires, wire, 1).cuts();
    return cuts.size() == 1 && cuts[0].to_ps == fabric::fault_rule::never ? cuts[0].from_ps : 0;
  };
  for (const char* wire : {"1->2", "2->1", "2->3", "3->2"}) EXPECT_EQ(cut_at(wire), 7'500'000u) << wire;
  for (const char* wire : {"0->1", "1->0", "3->0"}) EXPECT_EQ(cut_at(wire), 0u) << wire;
  EXPECT_TRUE(fabric::fault_injector(*rules, "1->2", 1).empty()) << "a node is no wire";
}

TEST(fault_scripts, what_is_not_there_is_named) {
  const auto shape = *fabric::topology::parse("ring", 4);
  const auto error = [&](const char* script) {
    const auto wires = fabric::faults_of_wires(*fabric::parse_faults(script, "f.txt"), shape, "f.txt");
    return wires ? "none" : wires.error();
  };
  EXPECT_EQ(error("* drop at 3"), "none");
  EXPECT_EQ(error("\nnode 4 dead from 3"), "f.txt:2: there is no node 4: 0 to 3");
  EXPECT_EQ(error("0->2 drop at 3"),
            "f.txt: there is no wire '0->2': *, 0->1, 0->3, 1->0, 1->2, 2->1, 2->3, 3->0, 3->2");
}

// Mangled scripts load or name file and line; rules that load keep what the injector counts on.
TEST(fault_scripts, survive_being_mangled) {
  const std::string good =
      "# a comment\n0->1 drop at 3 count 2\n* corrupt rate 0.25\n1->0 cut from 5.5 to 17\n* duplicate at 9\n2->1 cut "
      "from 3\nnode 1 dead from 9.5\n";
  std::mt19937 random(20143);
  unsigned loaded = 0, refused = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto rules = fabric::parse_faults(mangled(good, random, 4), "fuzz");
    ++(rules ? loaded : refused);
    if (!rules) {
      ASSERT_TRUE(rules.error().starts_with("fuzz:")) << rules.error();
      continue;
    }
    for (const fabric::fault_rule& r : *rules) {
      ASSERT_TRUE(r.rate >= 0 && r.rate <= 1) << r.rate;
      ASSERT_LE(r.from_ps, r.to_ps);
    }
    fabric::fault_injector(*rules, "0->1", 1).next(3, 6'000'000);
  }
  EXPECT_GT(loaded, 100u);
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace ggas::test
