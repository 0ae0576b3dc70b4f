// SPDX-License-Identifier: Apache-2.0
// Links of the network that are cut: the nodes that are informed, and when; every packet arrives once or is reported as
// lost; after new tables every node reaches every other one again; a link that returns carries as much as before.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "sim/fabric/network.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/pcie/port.hpp"

namespace ggas::test::network_faults_test {
namespace {

using fabric::link_state;
using fabric::network;
using nic::packet;
using nic::vc;

constexpr uint64_t flit_ps = 5'000, latency_ps = 100'000;
constexpr fabric::network_config usual{
    .latency_ps = latency_ps, .flit_ps = flit_ps, .flit_bits = 64, .hop_ps = 40'000, .units = 65, .control_gap = 16};

using name = std::tuple<unsigned, unsigned, unsigned>;  // source, destination, tag
name name_of(const packet& p) { return {p.src, p.dst, p.tag}; }

struct node : fabric::packet_sink {
  bool deliver(packet& p) override {
    got.push_back(name_of(p));
    return true;
  }
  void left() override {}
  void link_changed(unsigned port, bool up) override { changes.emplace_back(port, up, pcie::now_ps()); }
  void lost(const packet& p, bool no_way) override { (no_way ? discarded : broken).push_back(name_of(p)); }

  std::vector<name> got, discarded, broken;
  std::vector<std::tuple<unsigned, bool, uint64_t>> changes;
};

struct rig {
  rig(const char* shape, unsigned n, const std::vector<network::cut>& cuts) : nodes(n), random(n) {
    k.enter();
    net = std::make_unique<network>("network", *fabric::topology::parse(shape, n), usual);
    for (unsigned i = 0; i < n; ++i) net->attach(i, nodes[i]);
    net->cut_links(cuts);
  }
  ~rig() {
    k.enter();
    net.reset();
  }
  void run_until(uint64_t ps) {
    k.run_until([] { return false; }, ps - k.now_ps());
    k.enter();
  }
  void send(unsigned from, unsigned to, vc channel, unsigned dws, uint64_t at_ps) {
    packet p{.dst = uint16_t(to),
             .src = uint16_t(from),
             .len_dw = uint16_t(dws),
             .vc = uint8_t(channel),
             .tag = uint16_t(sent.size())};
    p.data.assign(dws, 0);
    p.set_unordered(channel == vc::rsp);
    sent.insert(name_of(p));
    net->send(from, std::move(p), at_ps);
  }
  void send_at_random(unsigned packets, uint64_t from_ps) {
    const auto any = [&](unsigned n) { return unsigned(random() % n); };
    for (unsigned i = 0; i < packets; ++i)
      send(any(unsigned(nodes.size())), any(unsigned(nodes.size())), vc(any(4)), any(65), from_ps + i * 1'000ull);
  }
  // Checks that each packet is in one of these lists once, and empties them. Returns the number of lost packets.
  size_t lost_of_all() {
    std::multiset<name> reported;
    size_t lost = 0;
    for (node& n : nodes) {
      for (auto* list : {&n.got, &n.discarded, &n.broken}) reported.insert(list->begin(), list->end());
      lost += n.discarded.size() + n.broken.size();
      n.got.clear(), n.discarded.clear(), n.broken.clear();
    }
    EXPECT_EQ(reported, std::multiset<name>(sent.begin(), sent.end()));
    sent.clear();
    return lost;
  }
  void write_routes(const fabric::damage& dead) {
    const fabric::routes r(net->shape(), dead);
    for (unsigned at = 0; at < nodes.size(); ++at)
      for (unsigned to = 0; to < nodes.size(); ++to) net->set_route(at, to, r.of(at, to));
  }

  sim::kernel k;
  std::vector<node> nodes;
  std::unique_ptr<network> net;
  std::mt19937_64 random;
  std::set<name> sent;
};

using change = std::tuple<unsigned, bool, uint64_t>;

// The end of the cut direction loses its signal; the other one is informed.
TEST(network_faults, both_ends_hear_of_a_cut) {
  rig r("ring", 4, {{0, 0, 1'000'000, 5'000'000}});
  r.run_until(900'000);
  EXPECT_EQ(r.net->state(0, 0), link_state::up);
  r.run_until(4'000'000);
  EXPECT_EQ(r.nodes[1].changes, (std::vector<change>{{1, false, 1'000'000 + latency_ps}}));
  EXPECT_EQ(r.nodes[0].changes, (std::vector<change>{{0, false, 1'000'000 + 2 * latency_ps + flit_ps}}));
  EXPECT_TRUE(r.nodes[2].changes.empty() && r.nodes[3].changes.empty());
  for (const auto& [n, port] : {std::pair(0u, 0u), std::pair(1u, 1u)})
    EXPECT_EQ(r.net->state(n, port), link_state::dead);
  EXPECT_EQ(r.net->state(0, 1), link_state::up);
  // It stays so until both are asked to start again, and there is a signal.
  r.net->retrain(1);
  r.run_until(6'000'000);
  EXPECT_EQ(r.net->state(1, 1), link_state::down);
  r.net->retrain(0);
  r.run_until(10'000'000);
  const uint64_t up = 6'000'000 + 3 * (latency_ps + flit_ps);
  EXPECT_EQ(r.nodes[0].changes.back(), change(0, true, up));
  EXPECT_EQ(r.nodes[1].changes.back(), change(1, true, up));
}

TEST(network_faults, a_packet_behind_a_dead_link_is_reported_where_it_is_discarded) {
  rig r("ring", 4, {{0, 0, 1'000'000, ~0ull}, {1, 1, 1'000'000, ~0ull}});
  r.send(3, 1, vc::p, 8, 2'000'000);  // by 0
  r.run_until(10'000'000);
  EXPECT_EQ(r.nodes[0].discarded.size(), 1u);
  EXPECT_EQ(r.lost_of_all(), 1u);
}

// A store to a group loses the copy of the dead branch, and no other one.
TEST(network_faults, a_copy_for_a_group_behind_a_dead_link_is_reported_where_it_is_discarded) {
  rig r("ring", 5, {{0, 0, 1'000'000, ~0ull}, {1, 1, 1'000'000, ~0ull}});
  constexpr unsigned all[] = {0, 1, 2, 3, 4};
  for (const auto& line : r.net->shape().tree(0, all)) r.net->set_group_line(0, line, true);
  packet p{.dst = 0, .src = 0, .len_dw = 2, .vc = uint8_t(vc::p), .op = uint8_t(nic::op::store) | nic::op_multicast};
  p.data.assign(2, 0);
  r.net->send(0, std::move(p), 2'000'000);
  r.run_until(10'000'000);
  EXPECT_EQ(r.nodes[0].discarded.size(), 1u);  // for 1, and for 2 after it
  for (const unsigned n : {1u, 2u}) EXPECT_TRUE(r.nodes[n].got.empty()) << n;
  for (const unsigned n : {3u, 4u}) EXPECT_EQ(r.nodes[n].got.size(), 1u) << n;
}

TEST(network_faults, a_packet_on_a_link_that_dies_is_reported_by_its_sender) {
  rig r("ring", 4, {{0, 0, 1'000'000, ~0ull}});
  r.send(0, 1, vc::p, 64, 990'000);
  r.run_until(10'000'000);
  EXPECT_EQ(r.nodes[0].broken.size(), 1u);
  EXPECT_EQ(r.lost_of_all(), 1u);
}

class faulty_crowd : public testing::TestWithParam<std::tuple<const char*, unsigned>> {};
INSTANTIATE_TEST_SUITE_P(shapes, faulty_crowd,
                         testing::Values(std::tuple("full", 4u), std::tuple("ring", 6u), std::tuple("mesh:3x3", 9u),
                                         std::tuple("torus:4x3", 12u), std::tuple("torus:2x2x2", 8u),
                                         std::tuple("torus:3x3x3", 27u)));
TEST_P(faulty_crowd, loses_nothing_silently_and_goes_on) {
  const auto [shape, nodes] = GetParam();
  constexpr uint64_t cut_ps = 10'000'000, settled_ps = 3'000'000'000, back_ps = 6'000'000'000;
  // A ring without two links would fall into parts.
  const auto t = *fabric::topology::parse(shape, nodes);
  unsigned port = 0;
  while (!t.across(nodes - 1, port)) ++port;
  std::vector<network::cut> cuts{{0, 0, cut_ps, settled_ps}};
  if (t.ports() > 2) cuts.push_back({nodes - 1, port, cut_ps / 2, settled_ps});
  rig r(shape, nodes, cuts);
  r.send_at_random(20'000, 0);
  r.run_until(settled_ps);
  EXPECT_GT(r.lost_of_all(), 0u);
  // New tables: every member reaches every member.
  fabric::damage dead(r.net->shape());
  for (const network::cut& c : cuts) dead.set_link(c.node, c.port, true);
  r.write_routes(dead);
  r.send_at_random(20'000, r.k.now_ps());
  r.run_until(back_ps);
  EXPECT_EQ(r.lost_of_all(), 0u);
  // The links come back, and with them their buffers.
  for (unsigned n = 0; n < nodes; ++n) r.net->retrain(n);
  r.run_until(back_ps + 10'000'000);
  for (const network::cut& c : cuts) EXPECT_EQ(r.net->state(c.node, c.port), link_state::up);
  r.write_routes(fabric::damage(r.net->shape()));
  r.send_at_random(20'000, r.k.now_ps());
  r.run_until(back_ps + 3'000'000'000);
  EXPECT_EQ(r.lost_of_all(), 0u);
}

}  // namespace
}  // namespace ggas::test::network_faults_test
