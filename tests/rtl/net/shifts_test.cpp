// SPDX-License-Identifier: Apache-2.0
// Every node sends a message of the same length to the node `shift` further on, all at once. Compares the time with the
// bound of the busiest link and with the model of the network, and arrivals with those under fair shares
// (docs/network.md#shares).
#include <gtest/gtest.h>

#include <cstdio>

#include "Vlinks64.h"
#include "sim/fabric/network.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/pcie/port.hpp"
#include "tests/rtl/net/cluster.hpp"
#include "tests/rtl/net/fair_share.hpp"

namespace ggas::test {
namespace {

constexpr unsigned packets = 60, packet_dws = 64, packet_flits = 4 + packet_dws / 2;

struct shift_result {
  double of_bound, spread;
  uint64_t cycles;  // until the last packet has arrived
};

nic::packet packet_to(unsigned node) {
  nic::packet p;
  p.dst = uint16_t(node);
  p.vc = 3;
  p.len_dw = packet_dws;
  p.data.assign(packet_dws, 0x12345678);
  return p;
}

constexpr unsigned hop_cycles = 8;

// What the network did before, and how the nodes begin.
struct beginning {
  unsigned others = 0;  // packets of each node to random ones before
  unsigned apart = 0;   // cycles from one node's begin to that of the next one
};

shift_result run(const topology& shape, unsigned shift, beginning how = {}) {
  cluster<Vlinks64, 64> c(shape, 1);
  EXPECT_TRUE(c.wait_up());
  c.offers = c.takes = c.phy = 1;
  for (unsigned i = 0; i < how.others * shape.nodes(); ++i)
    c.send(i % shape.nodes(), packet_to(unsigned(i + 1 + c.rng()() % (shape.nodes() - 1)) % shape.nodes()));
  EXPECT_TRUE(c.drain());
  std::vector<flow_of> flows;
  for (unsigned n = 0; n < shape.nodes(); ++n) flows.push_back({n, (n + shift) % shape.nodes()});
  const uint64_t from = c.time();
  for (const flow_of& f : flows) {
    for (unsigned i = 0; i < packets; ++i) c.send(f.from, packet_to(f.to));
    for (unsigned i = 0; i < how.apart; ++i) c.step();
  }
  EXPECT_TRUE(c.drain());
  EXPECT_EQ(c.errors(), 0u) << c.first_error();
  const fair_share fair(shape, flows);
  const auto due = fair.arrivals();
  const double message = double(packets) * packet_flits;
  double last = 0, early = 1e9, late = 0;
  for (size_t f = 0; f < flows.size(); ++f) {
    // What the way takes, whichever other node sends: flits in, wire and hop of each link.
    const double way = shape.hops(flows[f].from, flows[f].to) * double(packet_flits + c.latency + hop_cycles);
    const double took = double(c.last_at(flows[f].to) - from) - way;
    last = std::max(last, took);
    early = std::min(early, took / message / due[f]);
    late = std::max(late, took / message / due[f]);
  }
  return {fair.bound() * message / last, late / early, c.time() - from};
}

// The same in the model of the network: cycles until the last packet has arrived.
uint64_t model(const topology& shape, unsigned shift, unsigned apart = 0) {
  struct sink : fabric::packet_sink {
    bool deliver(nic::packet&) override {
      last = pcie::now_ps();
      return true;
    }
    void left() override {}
    uint64_t last = 0;
  };
  constexpr uint64_t cycle_ps = 1000;
  sim::kernel k;
  k.enter();
  std::vector<sink> sinks(shape.nodes());
  fabric::network net("network", shape,
                      {.latency_ps = 20 * cycle_ps,
                       .flit_ps = cycle_ps,
                       .flit_bits = 64,
                       .flits_ahead = 3,
                       .hop_ps = hop_cycles * cycle_ps,
                       .beat_ps = cycle_ps,
                       .units = 256,
                       .control_gap = 16});
  for (unsigned n = 0; n < shape.nodes(); ++n) net.attach(n, sinks[n]);
  for (unsigned i = 0; i < packets; ++i)
    for (unsigned n = 0; n < shape.nodes(); ++n)
      net.send(n, packet_to((n + shift) % shape.nodes()), n * apart * cycle_ps);
  k.run_until([] { return false; }, 1'000'000 * cycle_ps);
  k.enter();
  return std::ranges::max(sinks, {}, &sink::last).last / cycle_ps;
}

class Shifts : public testing::TestWithParam<std::pair<const char*, unsigned>> {};

TEST_P(Shifts, AreFastAndFair) {
  const auto [text, nodes] = GetParam();
  const auto shape = topology::parse(text, nodes).value();
  for (unsigned shift = 1; shift < nodes; ++shift) {
    const auto [of_bound, spread, cycles] = run(shape, shift);
    const double modelled = double(model(shape, shift)) / double(cycles);
    std::printf("| %s, %u nodes | %u | %.2f | %.2f | %.3f |\n", text, nodes, shift, of_bound, spread, modelled);
    std::fflush(stdout);
    EXPECT_GE(of_bound, 0.9) << shift;
    EXPECT_LE(spread, 1.2) << shift;
    EXPECT_NEAR(modelled, 1, 0.05) << shift;
  }
}
// Fair shares must not depend on all nodes beginning at once with virtual times of zero: otherwise full buffers would
// stay full.
TEST(ShiftsHoweverTheyBegin, ring) {
  constexpr unsigned nodes = 8;
  const auto shape = topology::parse("ring", nodes).value();
  for (const unsigned shift : {3u, 4u})
    for (const unsigned apart : {20u, 40u, 80u}) {
      const auto [of_bound, spread, cycles] = run(shape, shift, {.apart = apart});
      const double modelled = double(model(shape, shift, apart)) / double(cycles);
      std::printf("shift %u, %u cycles apart: %.2f of bound, model %.3f\n", shift, apart, of_bound, modelled);
      EXPECT_GE(of_bound, apart <= 40 ? 0.8 : 0.75);
      EXPECT_NEAR(modelled, 1, 0.12);  // full rings: docs/nic-model.md#patterns
    }
  const double after = run(shape, nodes / 2, {.others = 100}).of_bound;
  std::printf("of bound: %.2f after other packets\n", after);
  EXPECT_GE(after, 0.75);
}

INSTANTIATE_TEST_SUITE_P(All, Shifts,
                         testing::Values(std::pair("ring", 8u), std::pair("torus:4x4", 16u),
                                         std::pair("torus:2x2x2", 8u), std::pair("mesh:4x4", 16u)),
                         [](const auto& info) {
                           std::string name = info.param.first;
                           std::ranges::replace(name, ':', '_');
                           return name;
                         });

}  // namespace
}  // namespace ggas::test
