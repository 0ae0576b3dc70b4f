// SPDX-License-Identifier: Apache-2.0
// Shares of links in the model of the network: those of the RTL (tests/rtl/net/shifts_test.cpp,
// docs/network.md#shares).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "sim/fabric/shares.hpp"
#include "tests/rtl/net/fair_share.hpp"
#include "tests/sim/network_rig.hpp"

namespace ggas::test {
namespace {

struct shift_result {
  double of_bound, spread;
};

// Every node sends a message to the node `shift` further on, one node after the other or all at once.
shift_result run(const char* text, unsigned nodes, unsigned shift, uint64_t apart_ps = 0) {
  constexpr unsigned packets = 60, packet_dws = 64, flits = 36;
  auto cfg = usual;
  cfg.control_gap = 17;
  cfg.flits_ahead = 3;  // as the RTL's narrow links
  rig r(text, nodes, cfg);
  std::vector<flow_of> flows;
  for (unsigned n = 0; n < nodes; ++n) flows.push_back({n, (n + shift) % nodes});
  for (unsigned i = 0; i < packets; ++i)
    for (const flow_of& f : flows) r.net->send(f.from, make(f.from, f.to, vc::rsp, packet_dws), f.from * apart_ps);
  r.run(1'000'000'000);
  const fabric::topology& shape = r.net->shape();
  const fair_share fair(shape, flows);
  const auto due = fair.arrivals();
  const double message = packets * flits * double(cfg.flit_ps);
  double last = 0, early = 1e9, late = 0;
  for (size_t f = 0; f < flows.size(); ++f) {
    const auto& got = r.nodes[flows[f].to].got;
    EXPECT_EQ(got.size(), packets);
    const unsigned hops = shape.hops(flows[f].from, flows[f].to);
    const double way = hops * double(flits * cfg.flit_ps + cfg.latency_ps + cfg.hop_ps);
    const double took = double(got.back().first) - way;
    last = std::max(last, took);
    early = std::min(early, took / message / due[f]);
    late = std::max(late, took / message / due[f]);
  }
  return {fair.bound() * message / last, late / early};
}

class shifts : public testing::TestWithParam<std::pair<const char*, unsigned>> {};
INSTANTIATE_TEST_SUITE_P(network, shifts,
                         testing::Values(std::pair("ring", 8u), std::pair("torus:4x4", 16u),
                                         std::pair("torus:2x2x2", 8u), std::pair("mesh:4x4", 16u)));
TEST_P(shifts, are_fast_and_fair) {
  const auto [text, nodes] = GetParam();
  for (unsigned shift = 1; shift < nodes; ++shift) {
    const auto [of_bound, spread] = run(text, nodes, shift);
    EXPECT_GE(of_bound, 0.94) << shift;
    EXPECT_LE(of_bound, 1.03) << shift;
    EXPECT_LE(spread, 1.03) << shift;
  }
}

// Full buffers do not stay full, even if they fill before all nodes send. ShiftsHoweverTheyBegin compares with the RTL.
// The goal is 0.85. Where nodes begin later the model has less, as the RTL has, and may not lose more.
TEST(shares, are_kept_however_nodes_begin) {
  for (const unsigned shift : {3u, 4u})
    for (const uint64_t apart : {100'000u, 200'000u, 400'000u})
      EXPECT_GE(run("ring", 8, shift, apart).of_bound, apart == 100'000                 ? 0.85
                                                       : shift == 4 && apart == 400'000 ? 0.74
                                                                                        : 0.81);
}

// The own units have one flow of four on a link, with packets of any length.
TEST(shares, a_flow_has_its_share_whatever_its_input) {
  fabric::shares link;
  std::array<unsigned, 7> began{};
  uint8_t of_others = 0;  // the link before carries three flows: three packets for each step
  for (unsigned i = 0, step = 0; i < 4'000; ++i) {
    const unsigned from = link.next(1u << 0 | 1u << fabric::shares::own, [&](unsigned) { return of_others; });
    ++began[from];
    link.begin(from, of_others, 16);
    if (from == 0 && ++step % 3 == 0) of_others = uint8_t(of_others + 2);
  }
  EXPECT_NEAR(began[fabric::shares::own], 1'000u, 20);
}

// Neither a pause of a flow nor wrong times of the preceding link have a lasting effect: virtual times have one byte
// and wrap.
TEST(shares, times_that_are_off_cost_some_packets) {
  for (const unsigned off : {0u, 40u, 100u, 128u, 200u, 250u}) {
    fabric::shares link;
    std::array<uint8_t, 7> time{};
    for (unsigned i = 0; i < 500; ++i, ++time[1]) link.begin(1, time[1], 0);
    time[0] = uint8_t(time[1] + off);
    std::array<unsigned, 7> began{};
    for (unsigned i = 0; i < 600; ++i) {
      const unsigned from = link.next(3, [&](unsigned n) { return time[n]; });
      link.begin(from, time[from]++, 0);
      ++began[from];
    }
    EXPECT_NEAR(began[0], 300u, 64) << off;
  }
}

}  // namespace
}  // namespace ggas::test
