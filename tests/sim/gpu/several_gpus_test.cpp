// SPDX-License-Identifier: Apache-2.0
// Computers with several GPUs below a PCIe switch: every GPU reaches every other one by stores, loads, puts, atomics
// and notifications; those of the same computer without the network; computers of different kinds.
#include <gtest/gtest.h>

#include <vector>

#include "ggas/launch.hpp"

namespace ggas::several_gpus_test {
namespace {

constexpr uint64_t second = 1'000'000'000;

cluster_config config(std::vector<host_config> hosts) {
  cluster_config c;
  c.nic = "model";
  c.segment_bytes = 2 << 20;
  c.host_bytes = 1 << 20;
  c.hosts = std::move(hosts);
  c.nodes = 0;
  for (const host_config& h : c.hosts) c.nodes += h.gpus;
  return c;
}

std::unique_ptr<cluster> make(const cluster_config& cfg) {
  auto c = cluster::create(cfg);
  EXPECT_TRUE(c) << c.error().text;
  return c ? std::move(*c) : nullptr;
}

std::string refusal(const cluster_config& cfg) {
  auto c = cluster::create(cfg);
  return c ? "created" : c.error().text;
}

// Words of a segment, after what the library keeps: one for each node and kind.
enum kind : uint64_t { stored, put, added, from_put, loaded, reported, failed, kinds };
uint64_t word(uint64_t base, uint64_t k, int node) { return base + 8 * (k * 64 + uint64_t(node)); }

__global__ void everybody_to_everybody(uint64_t base) {
  const int me = ggas_node(), all = ggas_nodes();
  uint64_t wrong = 0;
  const auto expect = [&wrong](bool good, int bit) { wrong |= good ? 0 : uint64_t{1} << bit; };
  const auto at = [base](int node, uint64_t k, int by) {
    return ggas_pointer_of_node<uint64_t>(node, word(base, k, by));
  };
  const uint64_t mine = 1000 + uint64_t(me);
  ggas_store(at(me, from_put, me), mine);
  for (int to = 0; to < all; ++to) {
    ggas_store(at(to, stored, me), mine);
    expect(ggas_put_nbi(at(to, put, me), at(me, from_put, me), 1, second) == ggas_ok, 0);
    expect(ggas_add(at(to, added, 0), uint64_t{1}, second) == ggas_ok, 1);
  }
  expect(ggas_quiet() == ggas_ok, 2);
  expect(ggas_barrier_block(second) == ggas_ok, 3);
  for (int from = 0; from < all; ++from) {
    expect(ggas_load(at(me, stored, from)) == 1000 + uint64_t(from), 4);
    expect(ggas_load(at(me, put, from)) == 1000 + uint64_t(from), 5);
    ggas_store(at(me, loaded, from), ggas_load(at(from, stored, me)));
    uint64_t got = 0;
    expect(ggas_get(at(me, kinds, from), at(from, from_put, from), 1, second) == ggas_ok, 6);
    expect(ggas_fetch_add(at(from, added, 0), uint64_t{0}, &got, second) == ggas_ok && got == uint64_t(all), 7);
    expect(ggas_load(at(me, kinds, from)) == 1000 + uint64_t(from), 8);
    expect(ggas_notify(from, mine, 1, second, ggas_queue_of(0)) == ggas_ok, 9);
  }
  uint64_t seen = 0;
  for (int i = 0; i < all; ++i) {
    ggas_notification note{};
    expect(ggas_notification_wait(&note, second, ggas_queue_of(1)) == ggas_ok, 10);
    expect(note.cookie == 1000 + note.node && note.queue == 0, 11);
    seen |= uint64_t{1} << note.node;
  }
  expect(seen == (uint64_t{1} << all) - 1, 12);
  ggas_store(at(me, failed, 0), wrong);
}

void run_everybody(cluster& c) {
  const uint64_t base = c.device_context(0).reserved;
  for (int n = 0; n < c.nodes(); ++n) ASSERT_TRUE(launch(c, n, 1, 1, everybody_to_everybody, base));
  const auto ran = c.run(second);
  ASSERT_TRUE(ran) << ran.error().text;
  for (int n = 0; n < c.nodes(); ++n) {
    const auto read = [&](uint64_t k, int by) {
      return *reinterpret_cast<const uint64_t*>(c.segment(n) + word(base, k, by));
    };
    EXPECT_EQ(read(failed, 0), 0u) << "node " << n << ": a bit for each expectation of the kernel";
    EXPECT_EQ(read(added, 0), uint64_t(c.nodes()));
    for (int from = 0; from < c.nodes(); ++from) EXPECT_EQ(read(loaded, from), 1000u + unsigned(n));
    EXPECT_TRUE(c.events(n).empty());
  }
}

TEST(several_gpus, everybody_reaches_everybody) {
  auto c = make(config({{.gpus = 2}, {.gpus = 2}}));
  ASSERT_TRUE(c);
  ASSERT_EQ(c->nodes(), 4);
  run_everybody(*c);
}

TEST(several_gpus, everybody_reaches_everybody_over_the_rtl) {
  auto cfg = config({{.gpus = 2}, {.gpus = 2}});
  cfg.nic = "rtl";
  auto c = make(cfg);
  ASSERT_TRUE(c);
  run_everybody(*c);
}

TEST(several_gpus, computers_differ) {
  auto c = make(config({{.gpus = 3}, {.platform = "modern"}, {.gpus = 2, .overrides = {"gpu.sms=2"}}}));
  ASSERT_TRUE(c);
  ASSERT_EQ(c->nodes(), 6);
  run_everybody(*c);
}

// Rounds of a store to and an answer from node `peer`, by node 0.
__global__ void ping(uint64_t base, int peer, uint64_t rounds) {
  const int me = ggas_node();
  if (me != 0 && me != peer) return;
  const int other = me == 0 ? peer : 0;
  uint64_t* const here = ggas_pointer_of_node<uint64_t>(me, base);
  for (uint64_t i = 1; i <= rounds; ++i) {
    if (me == 0) ggas_store(ggas_pointer_of_node<uint64_t>(other, base), i);
    if (ggas_wait_until(here, ggas_ge, i, second) != ggas_ok) return;
    if (me != 0) ggas_store(ggas_pointer_of_node<uint64_t>(other, base), i);
  }
}

uint64_t rounds_take(cluster& c, int peer) {
  for (int n = 0; n < c.nodes(); ++n) {
    *reinterpret_cast<uint64_t*>(c.segment(n) + c.device_context(n).reserved) = 0;
    EXPECT_TRUE(launch(c, n, 1, 1, ping, c.device_context(n).reserved, peer, uint64_t{10}));
  }
  const auto ran = c.run(second);
  EXPECT_TRUE(ran) << ran.error().text;
  return ran ? ran->sim_ns : 0;
}

TEST(several_gpus, neighbours_are_near_and_leave_the_nic_alone) {
  auto c = make(config({{.gpus = 2}, {.gpus = 2}}));
  ASSERT_TRUE(c);
  const uint64_t stores = c->counters(0).at("SMFU_STORES_IN"), up = c->counters(0).at("switch.up_posted");
  const uint64_t near = rounds_take(*c, 1);
  EXPECT_EQ(c->counters(0).at("SMFU_STORES_IN"), stores);
  EXPECT_EQ(c->counters(0).at("switch.up_posted"), up);
  const uint64_t far = rounds_take(*c, 2);
  EXPECT_EQ(c->counters(0).at("SMFU_STORES_IN"), stores + 10);
  EXPECT_LT(near + 2000, far);  // ten rounds, each way a network less
}

TEST(several_gpus, the_switch_costs_time) {
  uint64_t usual = 0;
  for (const char* const forward : {"pcie.switch.forward_ns=140.0", "pcie.switch.forward_ns=1140.0"}) {
    auto cfg = config({{.gpus = 2}});
    cfg.overrides = {forward};
    auto c = make(cfg);
    ASSERT_TRUE(c);
    const uint64_t takes = rounds_take(*c, 1);
    if (usual == 0)
      usual = takes;
    else
      EXPECT_GE(takes, usual + 20 * 900);  // ten rounds, there and back; some of it between two polls
  }
}

TEST(several_gpus, what_is_wrong_is_named) {
  auto wrong = config({{.gpus = 2}, {.gpus = 17}});
  EXPECT_EQ(refusal(wrong), "computer 1: gpus = 17: must be 1 ... 16");
  wrong = config({{.gpus = 2}, {.gpus = 2}});
  wrong.nodes = 3;
  EXPECT_EQ(refusal(wrong), "nodes = 3: the computers have 4 GPUs together");
  wrong = config({{.gpus = 4}});
  wrong.queues.count = 100;
  EXPECT_EQ(refusal(wrong), "100 contexts a GPU: a NIC has 128 for 4 GPUs");
  wrong = config(std::vector<host_config>(9, {.gpus = 8}));
  EXPECT_NE(refusal(wrong).find("72 GPUs"), std::string::npos) << refusal(wrong);
  wrong = config({{.overrides = {"nic.clock_mhz=100"}}});
  EXPECT_EQ(refusal(wrong), "computer 0: override 'nic.clock_mhz=100': NIC and links are those of the cluster");
  wrong = config({{.platform = "nowhere", .gpus = 2}});
  EXPECT_NE(refusal(wrong).find("unknown platform 'nowhere'"), std::string::npos);
}

}  // namespace
}  // namespace ggas::several_gpus_test
