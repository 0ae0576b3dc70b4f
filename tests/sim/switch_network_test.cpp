// SPDX-License-Identifier: Apache-2.0
// Packets through switches: times by hand, throughput next to its bounds, order, and no deadlock.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "sim/fabric/graph/describe.hpp"
#include "sim/fabric/switch_network.hpp"
#include "tests/sim/graphs.hpp"
#include "tests/sim/network_rig.hpp"

namespace ggas::test {
namespace {

using fabric::graph;
using fabric::switch_network_config;

// 64 bits in 5 ns, 100 ns of cable.
constexpr switch_network_config wires{
    .bits_per_second = 12.8e9, .latency_ps = 100'000, .nic_flit_ps = 0, .flit_bits = 64, .nic_units = 256};
constexpr uint64_t flit = 5'000, cable = 100'000, forward = 100'000;

struct switch_rig {
  explicit switch_rig(graph g, const switch_network_config& cfg = wires) : nodes(g.nics()) {
    k.enter();
    net = std::make_unique<fabric::switch_network>("network", fabric::topology::over(std::move(g), "test"), cfg);
    for (unsigned i = 0; i < nodes.size(); ++i) net->attach(i, nodes[i]);
  }
  explicit switch_rig(const char* text) : switch_rig(std::move(**fabric::describe_switches(text))) {}
  ~switch_rig() {
    k.enter();
    net.reset();
  }
  void run(uint64_t ps) {
    k.run_until([] { return false; }, ps);
  }
  size_t arrived() const {
    size_t sum = 0;
    for (const node& n : nodes) sum += n.got.size();
    return sum;
  }
  uint64_t last_ps() const {
    uint64_t last = 0;
    for (const node& n : nodes)
      if (!n.got.empty()) last = std::max(last, n.got.back().first);
    return last;
  }
  sim::kernel k;
  std::vector<node> nodes;
  std::unique_ptr<fabric::switch_network> net;
};

// ---------------------------------------------------------------------------------------------- times

uint64_t time_of(const char* text, unsigned to, unsigned dws) {
  switch_rig r(text);
  r.net->send(0, make(0, to, vc::p, dws), 0);
  r.run(10'000'000);
  EXPECT_EQ(r.nodes[to].got.size(), 1u);
  return r.nodes[to].got.at(0).first;
}

// 7 words of header, 1 of CRC: 5 flits with 2 words, 36 with 64.
TEST(switch_network, latencies_of_two_levels_by_hand) {
  const char* const whole = "leaf-spine:2x2x2,cut_through=false";
  for (const auto& [dws, flits] : {std::pair{2u, 5u}, std::pair{64u, 36u}}) {
    const uint64_t packet = flits * flit;
    EXPECT_EQ(time_of("leaf-spine:2x2x2", 1, dws), flit + cable + forward + packet + cable);
    EXPECT_EQ(time_of("leaf-spine:2x2x2", 2, dws), 3 * (flit + cable + forward) + packet + cable);
    EXPECT_EQ(time_of(whole, 1, dws), 2 * (packet + cable) + forward);
    EXPECT_EQ(time_of(whole, 3, dws), 4 * (packet + cable) + 3 * forward);
  }
}

// A slow cable in the middle lets the next one wait for the last flit; a quick one begins late.
TEST(switch_network, cables_of_two_rates) {
  for (const double trunk : {6.4e9, 25.6e9}) {
    graph g(2, 2);
    g.connect(2, 0);
    g.connect(2, 3, {.bits_per_second = trunk, .latency_ps = 20'000}, {.bits_per_second = trunk});
    g.connect(3, 1);
    ASSERT_TRUE(g.find_routes(fabric::routing::automatic));
    switch_rig r(std::move(g));
    r.net->send(0, make(0, 1, vc::p, 64), 0);
    r.run(10'000'000);
    const auto slow = uint64_t(64e12 / trunk);
    uint64_t at = flit + cable;                                      // first flit at the first switch
    uint64_t last = 36 * flit + cable;                               // last one
    at = forward + (trunk > 12.8e9 ? last + slow - 36 * slow : at);  // the trunk begins
    last = at + 36 * slow + 20'000;
    at = forward + std::max(at + slow + 20'000, last + flit - 36 * flit);
    ASSERT_EQ(r.nodes[1].got.size(), 1u);
    EXPECT_EQ(r.nodes[1].got[0].first, at + 36 * flit + cable) << trunk;
  }
}

// ---------------------------------------------------------------------------------------------- throughput

// Fraction of the bound that a shift reaches. The bound is the time that the busiest cable needs. It is divided by the
// time until the last packet has arrived, without the latency of the farthest packet.
double shift_of_bound(const char* text, unsigned shift, unsigned flows_of_busiest) {
  constexpr unsigned packets = 60, flits = 36;
  switch_rig r(text);
  const auto nics = unsigned(r.nodes.size());
  for (unsigned n = 0; n < nics; ++n)
    for (unsigned i = 0; i < packets; ++i) r.net->send(n, make(n, (n + shift) % nics, vc::p, 64, uint16_t(i)), 0);
  r.run(1'000'000'000);
  EXPECT_EQ(r.arrived(), size_t{nics} * packets);
  const uint64_t first = time_of(text, nics - 1, 64) - flits * flit;
  return double(flows_of_busiest * packets * flits * flit) / double(r.last_ps() - first);
}

TEST(switch_network, shifts_take_the_time_of_the_busiest_cable) {
  for (const unsigned shift : {1u, 4u, 5u, 7u}) {
    EXPECT_GT(shift_of_bound("fat-tree:4x2", shift, 1), 0.99) << shift;
    EXPECT_LE(shift_of_bound("fat-tree:4x2", shift, 1), 1.0) << shift;
    EXPECT_GT(shift_of_bound("leaf-spine:4x4x4", shift, 1), 0.99) << shift;
  }
  EXPECT_GT(shift_of_bound("leaf-spine:4x2x4", 4, 2), 0.99);
  EXPECT_GT(shift_of_bound("leaf-spine:4x1x4", 4, 4), 0.99);
  EXPECT_LE(shift_of_bound("leaf-spine:4x1x4", 4, 4), 1.0);
}

// Fraction of the rate of their cables at which NICs get packets. The first `sources` NICs always have packets for
// random other NICs from number `least` on.
double uniform(const char* text, unsigned sources, unsigned least) {
  constexpr uint64_t span = 400'000'000, warm = 50'000'000, packet = 36 * flit;
  switch_rig r(text);
  std::mt19937_64 random(5);
  const auto nics = unsigned(r.nodes.size());
  for (unsigned n = 0; n < sources; ++n)
    for (uint64_t i = 0; i < span / packet;) {
      const unsigned to = least + unsigned(random() % (nics - least));
      if (to != n) r.net->send(n, make(n, to, vc::p, 64, uint16_t(i++)), 0);
    }
  r.run(span);
  size_t packets = 0;
  for (const node& n : r.nodes)
    packets += size_t(std::ranges::count_if(n.got, [](const auto& p) { return p.first > warm; }));
  return double(packets * packet) / double((nics - least) * (span - warm));
}

// With an in-order queue at each input a switch carries 0.6553, 0.6184 and 0.5858 of its rate with 4, 8 and infinitely
// many inputs and outputs: M. Karol, M. Hluchyj, S. Morgan, Input versus output queueing on a space-division packet
// switch, 1987.
TEST(switch_network, uniform_traffic_saturates_as_queues_in_order_do) {
  EXPECT_NEAR(uniform("fat-tree:8x1", 4, 4), 0.6553, 0.03);
  EXPECT_NEAR(uniform("fat-tree:16x1", 8, 8), 0.6184, 0.03);
}

// One spine: twelve of fifteen packets of the four NICs of a leaf take its only cable up.
TEST(switch_network, uniform_traffic_next_to_the_bound_of_cables) {
  constexpr double bound = 1 / (4 * 12.0 / 15), queues = 0.5858;
  const double one = uniform("leaf-spine:4x1x4", 16, 0), four = uniform("leaf-spine:4x4x4", 16, 0);
  EXPECT_LT(one, bound);
  EXPECT_GT(one, queues * bound);
  EXPECT_GT(four, queues * queues);
  EXPECT_LT(four, 1);
  RecordProperty("one_spine", std::to_string(one));
  RecordProperty("four_spines", std::to_string(four));
}

// ---------------------------------------------------------------------------------------------- order and deadlocks

// Every NIC sends to all others in all virtual channels; buffers hold one packet, and NICs refuse many.
void all_to_all(graph g, uint64_t seed) {
  constexpr unsigned rounds = 6;
  g.settings.buffer_packets = 1;
  switch_network_config narrow = wires;
  narrow.nic_units = 33;
  switch_rig r(std::move(g), narrow);
  std::mt19937_64 random(seed);
  for (node& n : r.nodes) n.refuse = &random;
  const auto nics = unsigned(r.nodes.size());
  size_t sent = 0;
  for (unsigned i = 0; i < rounds; ++i)
    for (unsigned from = 0; from < nics; ++from)
      for (unsigned to = 0; to < nics; ++to) {
        if (from == to) continue;
        const auto channel = vc(random() % 4);
        r.net->send(from, make(from, to, channel, unsigned(random() % 65), uint16_t(i)), 0);
        ++sent;
      }
  for (unsigned turn = 0; turn < 4000 && r.arrived() < sent; ++turn) {
    r.run(1'000'000);
    for (unsigned n = 0; n < nics; ++n)
      if (std::exchange(r.nodes[n].refused, false)) r.net->resume(n);
  }
  ASSERT_EQ(r.arrived(), sent) << "packets do not move any more";
  for (const node& n : r.nodes) {
    std::map<std::pair<unsigned, unsigned>, unsigned> last;  // by source and channel
    for (const auto& [at, p] : n.got) {
      unsigned& before = last[{p.src, p.vc}];
      EXPECT_LE(before, p.tag) << "order of a channel";
      before = p.tag;
    }
  }
}

TEST(switch_network, no_deadlock_in_random_networks) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    graph g = random_graph(seed);
    ASSERT_TRUE(g.find_routes(fabric::routing::automatic));
    all_to_all(std::move(g), seed);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

TEST(switch_network, no_deadlock_in_generated_networks) {
  for (const char* text : {"torus:3x3x2x2", "dragonfly:3x1x2", "torus:6:2", "fat-tree:2x3"}) {
    all_to_all(std::move(**fabric::describe_switches(text)), 3);
    if (HasFatalFailure()) FAIL() << text;
  }
}

// What the tests above would see: a ring of switches whose routes go round in one lane.
TEST(switch_network, a_cycle_stops) {
  constexpr unsigned n = 5;
  graph g(n, n);
  g.settings.buffer_packets = 1;
  for (unsigned s = 0; s < n; ++s) g.connect(n + s, s);
  for (unsigned s = 0; s < n; ++s) g.connect(n + s, n + (s + 1) % n);
  for (unsigned to = 0; to < n; ++to)
    for (unsigned at = 0; at < n; ++at) {
      g.set_next(at, to, {0, 0});
      unsigned clockwise = 0;
      while (g.across(n + at, clockwise).node != n + (at + 1) % n) ++clockwise;
      g.set_next(n + at, to, {at == to ? 0 : clockwise, 0});
    }
  switch_rig r(std::move(g));
  for (unsigned i = 0; i < 20; ++i)
    for (unsigned from = 0; from < n; ++from) r.net->send(from, make(from, (from + 3) % n, vc::p, 64), 0);
  r.run(1'000'000'000);
  EXPECT_LT(r.arrived(), 20u * n);
}

// A store before a quiet, at every switch: the quiet never arrives first, whatever holds the store back.
TEST(switch_network, requests_do_not_pass_stores) {
  switch_rig r("leaf-spine:2x1x3,buffer_packets=1");
  std::mt19937_64 random(11);
  r.nodes[3].refuse = &random;
  std::vector<unsigned> seen;
  r.nodes[3].on_packet = [&](const packet& p) {
    if (p.src == 0) seen.push_back(p.tag);
  };
  for (unsigned i = 0; i < 200; ++i) {
    r.net->send(0, make(0, 3, i % 2 ? vc::np : vc::p, i % 2 ? 0 : 64, uint16_t(i)), 0);
    r.net->send(1 + i % 2, make(1 + i % 2, 3, vc::p, 64), 0);
  }
  for (unsigned turn = 0; turn < 2000 && seen.size() < 200; ++turn) {
    r.run(1'000'000);
    r.net->resume(3);
  }
  ASSERT_EQ(seen.size(), 200u);
  for (unsigned i = 0; i < 200; i += 2) {
    const auto store = std::ranges::find(seen, i), request = std::ranges::find(seen, i + 1);
    EXPECT_LT(store - seen.begin(), request - seen.begin());
  }
}

}  // namespace
}  // namespace ggas::test
