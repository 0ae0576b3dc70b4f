// SPDX-License-Identifier: Apache-2.0
// Ports of switches that speak the link's protocol, one next to the other: sessions, order, credits, what is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "sim/fabric/switch_network.hpp"
#include "sim/fabric/switch_port.hpp"
#include "tests/sim/network_rig.hpp"

namespace ggas::test {
namespace {

using fabric::graph;

constexpr unsigned width = 64, buffer = 2;  // packets
constexpr uint64_t flit_ps = 5'000, cable_ps = 100'000;

// A switch with two NICs.
struct half {
  half(const char* name, unsigned elsewhere) {
    graph g(2, 1);
    g.connect(2, 0);
    g.connect(2, 1);
    g.settings.buffer_packets = buffer;
    EXPECT_TRUE(g.find_routes(fabric::routing::automatic));
    net = std::make_unique<fabric::switch_network>(
        name, fabric::topology::over(std::move(g), name),
        fabric::switch_network_config{.bits_per_second = width * 1e12 / flit_ps, .latency_ps = cable_ps});
    for (unsigned n = 0; n < 2; ++n) net->attach(n, nodes[n]);
    port = std::make_unique<fabric::switch_port>(std::string(name) + "_port", *net, elsewhere, 0, width,
                                                 buffer * (1 + nic::mtu_bytes * 8 / width));
    net->attach(elsewhere, 0, *port);
  }
  node nodes[2];
  std::unique_ptr<fabric::switch_network> net;
  std::unique_ptr<fabric::switch_port> port;
};

// What NIC 0 on the left sends to NIC 1 leaves by a port, arrives at a port on the right in the place of its NIC 0, and
// goes to its NIC 1.
struct pair_of_switches {
  explicit pair_of_switches(const char* faults = "") {
    k.enter();
    left = std::make_unique<half>("left", 1);
    right = std::make_unique<half>("right", 0);
    const fabric::wire_config cfg{.latency_ps = cable_ps, .bits_per_second = width * 1e12 / flit_ps};
    there = std::make_unique<fabric::wire>("there", cfg, *right->port);
    back = std::make_unique<fabric::wire>("back", cfg, *left->port);
    there->faults(std::make_unique<fabric::fault_injector>(*fabric::parse_faults(faults, "faults"), "there", 1));
    left->port->connect(*there, flit_ps);
    right->port->connect(*back, flit_ps);
    for (half* h : {left.get(), right.get()}) h->port->carrier(true, 0);
  }
  ~pair_of_switches() {
    k.enter();
    left.reset();
    right.reset();
  }
  void run(uint64_t ps) {
    k.run_until([] { return false; }, ps);
  }
  sim::kernel k;
  std::unique_ptr<half> left, right;
  std::unique_ptr<fabric::wire> there, back;
};

TEST(switch_port, packets_of_all_sizes_arrive_in_order_and_whole) {
  pair_of_switches p;
  std::mt19937_64 random(3);
  constexpr unsigned packets = 600;  // more than there are sequence numbers
  for (unsigned i = 0; i < packets; ++i)
    p.left->net->send(0, make(0, 1, vc(i % 4), unsigned(random() % 65), uint16_t(i)), 0);
  p.right->nodes[1].refuse = &random;
  for (unsigned turn = 0; turn < 4000 && p.right->nodes[1].got.size() < packets; ++turn) {
    p.run(1'000'000);
    p.right->net->resume(1);
  }
  EXPECT_EQ(p.left->port->fault() + p.right->port->fault(), "");
  ASSERT_EQ(p.right->nodes[1].got.size(), packets);
  std::array<uint16_t, 4> next{0, 1, 2, 3};
  for (const auto& [at, packet] : p.right->nodes[1].got) {
    EXPECT_EQ(packet.tag, next[packet.vc % 4]);
    next[packet.vc % 4] = uint16_t(next[packet.vc % 4] + 4);
    EXPECT_EQ(packet.data.size(), packet.len_dw);
    for (const uint32_t word : packet.data) EXPECT_EQ(word, packet.tag);
    EXPECT_EQ(packet.seq + packet.session + packet.version, 0) << "fields of the link";
  }
}

// The right switch takes no more than its buffer; the rest waits on the left.
TEST(switch_port, a_full_buffer_holds_the_sender_back) {
  pair_of_switches p;
  struct refusing : node {
    bool deliver(packet&) override { return false; }
  } closed;
  p.right->net->attach(1, closed);
  for (unsigned i = 0; i < 100; ++i) p.left->net->send(0, make(0, 1, vc::p, 64, uint16_t(i)), 0);
  p.run(1'000'000'000);
  EXPECT_EQ(p.right->port->fault() + p.left->port->fault(), "");
  const uint64_t held = p.right->net->stats().packets;
  EXPECT_LE(held, buffer + 256 / 33u + 1) << "buffers of the switch and of its NIC";
  EXPECT_GE(held, buffer);
  p.right->net->attach(1, p.right->nodes[1]);
  p.right->net->resume(1);
  p.run(1'000'000'000);
  EXPECT_EQ(p.right->nodes[1].got.size(), 100u);
}

TEST(switch_port, what_is_against_the_protocol_is_named) {
  const auto fault = [](const char* faults) {
    pair_of_switches p(faults);
    for (unsigned i = 0; i < 10; ++i) p.left->net->send(0, make(0, 1, vc::p, 8, uint16_t(i)), 0);
    p.run(100'000'000);
    return p.right->port->fault();
  };
  EXPECT_EQ(fault(""), "");
  std::set<std::string> lost;  // eight flits: one of these ranges is a whole packet
  for (unsigned at = 16; at < 24; ++at) lost.insert(fault(fmt::format("there drop at {} count 8", at).c_str()));
  EXPECT_EQ(lost,
            (std::set<std::string>{"right_port: a packet out of sequence", "right_port: flits that make no packet"}));
  EXPECT_EQ(fault("there corrupt at 20"), "right_port: flits that make no packet");
  EXPECT_EQ(fault("there cut from 2"), "right_port: the NIC's signal was lost");
}

}  // namespace
}  // namespace ggas::test
