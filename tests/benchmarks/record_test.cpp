// SPDX-License-Identifier: Apache-2.0
// Numbers of records and how people read them.
#include "benchmarks/harness/record.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "benchmarks/harness/report_text.hpp"

namespace ggas::bench {
namespace {

TEST(record, percentiles_are_samples) {
  record r;
  std::vector<double> v;
  for (int i = 100; i > 0; --i) v.push_back(i);
  summarise(r, v);
  EXPECT_DOUBLE_EQ(r.value, 50.5);
  EXPECT_DOUBLE_EQ(*r.p50, 50);
  EXPECT_DOUBLE_EQ(*r.p99, 99);
  EXPECT_EQ(r.n, 100u);
  EXPECT_DOUBLE_EQ(percentile({3}, 0.99), 3);
}

TEST(record, units_take_the_prefix_that_reads_best) {
  EXPECT_EQ(human(630, "ns"), "630 ns");
  EXPECT_EQ(human(105'300, "ns"), "105 µs");
  EXPECT_EQ(human(395.6e9, "B/s"), "396 GB/s");
  EXPECT_EQ(human(72.04e9, "1/s"), "72.0 G/s");
  EXPECT_EQ(human(10.2e12, "1/s"), "10.2 T/s");
  EXPECT_EQ(human(3.73e9, "1/J"), "3.73 G/J");
  EXPECT_EQ(human(4.2e-8, "J"), "42.0 nJ");
  EXPECT_EQ(human(1.5, "J"), "1.50 J");
  EXPECT_EQ(human(0.25, "W"), "0.250 W");  // below one only energies have prefixes
  EXPECT_EQ(human(0, "J"), "0.00 nJ");
}

TEST(record, a_table_shows_the_share_of_a_bound) {
  const description d{.name = "put_bandwidth", .text = "puts", .params = "bytes", .variants = {}};
  record r;
  r.benchmark = "put_bandwidth";
  r.variant = "kernel";
  r.provider = "cuda";
  r.platform = "NVIDIA H200";
  r.nodes = 2;
  r.params["bytes"] = 1 << 30;
  r.metric = "bandwidth";
  r.unit = "B/s";
  r.value = 360e9;
  r.limit = limit{400e9, true, "links"};
  const std::string text = table(d, {r});
  for (const char* word : {"provider cuda, NVIDIA H200", "360 GB/s", "≤ 400 GB/s", "90.0 %", "bound: links"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
}

record bounded(const char* variant, double value, limit bound, int bytes) {
  record r;
  r.benchmark = "b";
  r.variant = variant;
  r.params["bytes"] = bytes;
  r.metric = "m";
  r.unit = bound.at_most ? "B/s" : "ns";
  r.value = value;
  r.limit = std::move(bound);
  return r;
}

TEST(record, a_time_is_so_many_times_its_floor) {
  const description d{.name = "b", .text = "", .params = "bytes", .variants = {}};
  EXPECT_NE(table(d, {bounded("down", 900, {600, false, "hops"}, 8)}).find("1.50 ×"), std::string::npos);
}

TEST(record, a_goal_is_met_or_missed) {
  const description d{.name = "b", .text = "", .params = "bytes", .variants = {}};
  record met = bounded("met", 0.95, {0.9, false, "ours", true}, 8),
         missed = bounded("missed", 13, {10, true, "ours", true}, 8);
  const std::string text = table(d, {met, missed});
  for (const char* word : {"goal", "met", "missed by 30.0 %", "goal: ours"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
  EXPECT_EQ(text.find("bound"), std::string::npos) << text;
  EXPECT_EQ(overview({met}), "") << "a goal is nothing that is possible";
}

// Two runs with other conditions are distinguished by every record and every table.
TEST(record, names_what_was_overridden_and_the_build) {
  const description d{.name = "b", .text = "", .params = "bytes", .variants = {}};
  record r = bounded("v", 900, {600, false, "hops"}, 8);
  r.provider = "sim";
  r.run = {.command = "ggas-bench barrier --set link.latency_ns=500",
           .topology = "ring",
           .set = {"link.latency_ns=500"},
           .faults = {"0->1 drop at 30"},
           .hosts = {"modern, 2 GPUs"},
           .environment = {{"GGAS_TUNING", "mine.toml"}},
           .files = {{"mine.toml", "0123456789abcdef"}}};
  const auto run = to_json(r, false)["run"];
  EXPECT_EQ(run["command"], r.run.command);
  EXPECT_EQ(run["topology"], "ring");
  EXPECT_EQ(run["set"][0], "link.latency_ns=500");
  EXPECT_EQ(run["faults"][0], "0->1 drop at 30");
  EXPECT_EQ(run["environment"]["GGAS_TUNING"], "mine.toml");
  EXPECT_EQ(run["files"]["mine.toml"], "0123456789abcdef");
  EXPECT_EQ(run["commit"], commit);
  EXPECT_NE(run["compiler"].get<std::string>().find("GNU"), std::string::npos);
  const std::string text = table(d, {r});
  for (const std::string word :
       {"overridden: --topology ring, --set link.latency_ns=500, --fault '0->1 drop at 30', [[node]] modern, 2 GPUs, "
        "GGAS_TUNING=mine.toml\n",
        "run: ggas-bench barrier --set link.latency_ns=500; mine.toml 0123456789abcdef; "})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
  EXPECT_NE(text.find(commit), std::string::npos);
  EXPECT_FALSE(r.run.nothing_overridden());
  EXPECT_TRUE((run_facts{.command = "c", .topology = "auto", .files = {{"s.toml", "0"}}}).nothing_overridden());
  EXPECT_EQ(table(d, {bounded("v", 900, {600, false, "hops"}, 8)}).find("overridden"), std::string::npos);
}

TEST(record, a_secret_is_no_condition_of_a_run) {
  setenv("GGAS_SECRET", "00", 1);
  setenv("GGAS_NEW_SWITCH", "on", 1);
  const auto found = switches_of_environment();
  EXPECT_NE(std::ranges::find(found, std::pair<std::string, std::string>("GGAS_NEW_SWITCH", "on")), found.end());
  EXPECT_TRUE(std::ranges::none_of(found, [](const auto& v) { return v.first == "GGAS_SECRET"; }));
  setenv("CUDA_HOME", "/usr/local/cuda", 1);
  setenv("NCCL_ALGO", "Ring", 1);
  EXPECT_EQ(switches_of_environment().size(), found.size()) << "only GPUs look at these";
  EXPECT_EQ(switches_of_environment(measures::gpus).back(), (std::pair<std::string, std::string>("NCCL_ALGO", "Ring")));
}

TEST(record, the_overview_shows_the_best_point_of_each_way) {
  const std::string text =
      overview({bounded("up", 100e9, {400e9, true, "links"}, 8), bounded("up", 300e9, {400e9, true, "links"}, 16),
                bounded("down", 1000, {600, false, "hops"}, 8)});
  EXPECT_EQ(text.find("bytes 8,"), std::string::npos) << text;
  for (const char* word : {"bytes 16", "75 %", "300 GB/s", "60 %", "███████████████░░░░░"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
  record without;
  without.value = 1;
  EXPECT_EQ(overview({without}), "");
}

}  // namespace
}  // namespace ggas::bench
