// SPDX-License-Identifier: Apache-2.0
// The network between NICs: times of one packet and of a full link, order, credits, and the effect on others of a NIC
// that accepts nothing for a while.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "tests/sim/network_rig.hpp"

namespace ggas::test {
namespace {

// A beat into the queue of the link, its flits and its latency. A hop stores the packet, and sends it again.
TEST(network, time_of_one_packet) {
  rig r("ring", 5, usual);
  r.net->send(0, make(0, 1, vc::p, 2), 0);
  r.net->send(0, make(0, 3, vc::np, 2), 0);  // two hops the other way round
  r.run(10'000'000);
  ASSERT_EQ(r.nodes[1].got.size(), 1u);
  EXPECT_EQ(r.nodes[1].got[0].first, 6 * 5'000u + 100'000u);
  ASSERT_EQ(r.nodes[3].got.size(), 1u);
  const uint64_t behind = 5'000;  // its beat moves when that of the other one has
  EXPECT_EQ(r.nodes[3].got[0].first, behind + 6 * 5'000u + 5 * 5'000u + 2 * 100'000u + 40'000u);
  EXPECT_EQ(r.net->stats().hops, 1u);
  EXPECT_EQ(r.net->stats().flits, 15u);
}

TEST(network, a_link_is_never_idle_while_packets_wait) {
  rig r("full", 2, usual);
  constexpr unsigned packets = 400;
  for (unsigned i = 0; i < packets; ++i) r.net->send(0, make(0, 1, vc::p, 16, uint16_t(i)), 0);
  r.run(100'000'000);
  ASSERT_EQ(r.nodes[1].got.size(), packets);
  EXPECT_EQ(r.nodes[1].got.back().first, packets * 12 * 5'000u + 100'000u);
}

// A buffer that covers less than the way there and back holds the sender up by as much.
TEST(network, credits_bound_the_rate) {
  auto cfg = usual;
  cfg.units = 18;  // two packets of 64 bytes
  rig r("full", 2, cfg);
  for (unsigned i = 0; i < 100; ++i) r.net->send(0, make(0, 1, vc::p, 16), 0);
  r.run(100'000'000);
  ASSERT_EQ(r.nodes[1].got.size(), 100u);
  const uint64_t turn = 12 * 5'000 + 100'000 + 9 * 5'000 + 100'000 + 5'000;  // there, to the unit, and the credit back
  EXPECT_EQ(r.nodes[1].got[98].first - r.nodes[1].got[0].first, 49 * turn);
}

// Packets that go on wait until the own unit has the last beat of the packet before them: a cycle for the header of a
// store and one for each beat. On a wide link, where a short packet is one flit, that is longer than the flit.
TEST(network, a_packet_for_the_own_unit_delays_those_after_it) {
  auto cfg = usual;
  cfg.flit_bits = 512;
  rig r("ring", 6, cfg);
  constexpr unsigned pairs = 400;
  for (unsigned i = 0; i < pairs; ++i)
    for (const unsigned to : {1u, 2u}) r.net->send(0, make(0, to, vc::p, 2), 0);
  r.run(100'000'000);
  ASSERT_EQ(r.nodes[2].got.size(), pairs);
  EXPECT_EQ(r.nodes[2].got[380].first - r.nodes[2].got[180].first, 200 * 3 * 5'000u);  // once its buffer is full
}

// Two for a packet: it has come, and its place is free. Under load at most one in 16 flits; none is seen where the way
// back is idle.
TEST(network, acknowledgements_and_credits_take_from_a_busy_way_back) {
  auto cfg = usual;
  cfg.control_gap = 16;
  const std::pair<unsigned, double> flits_of[] = {{16, 12 * 17.0 / 16}, {64, 36 + 2}};  // by payload, DW
  for (const auto& [dws, flits] : flits_of) {
    rig r("full", 2, cfg);
    for (unsigned i = 0; i < 1000; ++i)
      for (unsigned n = 0; n < 2; ++n) r.net->send(n, make(n, 1 - n, vc::p, dws), 0);
    r.run(1'000'000'000);
    const auto each = [&](unsigned node) {
      return double(r.nodes[node].got[900].first - r.nodes[node].got[100].first) / 800 / 5'000;
    };
    EXPECT_NEAR(each(0), flits, 0.02) << dws;
    EXPECT_NEAR(each(1), flits, 0.02) << dws;
  }
  rig one_way("full", 2, cfg);
  for (unsigned i = 0; i < 1000; ++i) one_way.net->send(0, make(0, 1, vc::p, 16), 0);
  one_way.run(1'000'000'000);
  EXPECT_EQ(one_way.nodes[1].got[900].first - one_way.nodes[1].got[100].first, 800 * 12 * 5'000u);
}

// Packets in all channels between all nodes at once, through buffers of one packet, to NICs that often accept nothing.
// No packet is lost, doubled or, where order is guaranteed, out of order. No NP packet passes a P packet, and no cycle
// of full buffers blocks. Packets of "channel" 4 are answers that may pass others.
class crowd : public testing::TestWithParam<std::tuple<const char*, unsigned>> {};
INSTANTIATE_TEST_SUITE_P(shapes, crowd,
                         testing::Values(std::tuple("full", 4u), std::tuple("ring", 6u), std::tuple("mesh:3x3", 9u),
                                         std::tuple("torus:4x3", 12u), std::tuple("torus:2x2x2", 8u),
                                         std::tuple("torus:3x3x3", 27u)));
TEST_P(crowd, arrives_once_and_in_order) {
  const auto [shape, nodes] = GetParam();
  auto cfg = usual;
  cfg.units = 65;
  cfg.control_gap = 16;
  rig r(shape, nodes, cfg);
  std::mt19937_64 random(nodes);
  constexpr unsigned packets = 40'000;
  std::map<std::tuple<unsigned, unsigned, unsigned>, uint16_t> sent, seen;       // source, destination, channel
  std::map<std::pair<unsigned, unsigned>, std::vector<uint16_t>> posted_before;  // of each NP packet
  std::set<std::tuple<unsigned, unsigned, uint16_t>> unordered;                  // on their way
  unsigned overtaken = 0;
  for (unsigned n = 0; n < nodes; ++n) {
    r.nodes[n].refuse = &random;
    r.nodes[n].on_packet = [&, n](const packet& p) {
      if (p.unordered()) {
        EXPECT_EQ(unordered.erase({p.src, n, p.tag}), 1u) << p.src << " to " << n << " tag " << p.tag;
        const auto older = unordered.lower_bound({p.src, n, 0});
        overtaken += older != unordered.end() && *older < std::tuple{unsigned(p.src), n, p.tag};
        return;
      }
      uint16_t& next = seen[{p.src, n, p.vc}];
      EXPECT_EQ(p.tag, next++) << p.src << " to " << n << " channel " << unsigned(p.vc);
      if (p.vc == unsigned(vc::np)) {
        const uint16_t before = posted_before[{p.src, n}][p.tag];
        EXPECT_GE((seen[{p.src, n, unsigned(vc::p)}]), before) << "NP passed P";
      }
    };
  }
  for (unsigned i = 0; i < packets; ++i) {
    const unsigned from = unsigned(random() % nodes), to = unsigned(random() % nodes), channel = unsigned(random() % 5);
    uint16_t& tag = sent[{from, to, channel}];
    if (channel == unsigned(vc::np)) posted_before[{from, to}].push_back(sent[{from, to, unsigned(vc::p)}]);
    packet p = make(from, to, channel == 4 ? vc::rsp : vc(channel), unsigned(random() % 65), tag++);
    p.set_unordered(channel == 4);
    if (channel == 4) unordered.insert({from, to, p.tag});
    r.net->send(from, std::move(p), (i / 8) * 10'000);
  }
  for (unsigned turn = 0; turn < 20'000 && r.arrived() < packets; ++turn) {
    r.run(200'000);
    r.k.enter();
    for (unsigned n = 0; n < nodes; ++n)
      if (std::exchange(r.nodes[n].refused, false)) r.net->resume(n);
  }
  EXPECT_EQ(r.arrived(), packets);
  EXPECT_TRUE(unordered.empty());
  bool choice = false;
  for (unsigned from = 0; from < nodes; ++from)
    for (unsigned to = 0; to < nodes; ++to) choice |= from != to && r.net->shape().second(from, to);
  EXPECT_EQ(r.net->stats().second != 0, choice);
  EXPECT_EQ(overtaken != 0, choice);
}

packet for_group(unsigned from, unsigned dws, uint16_t tag = 0) {
  packet p = make(from, from, vc::p, dws, tag);
  p.op |= nic::op_multicast;
  return p;
}

// Packets for groups among others, through buffers of one packet, to NICs that often accept nothing: each member gets
// each of them once, between the same stores of their source, and no NP packet passes one.
TEST_P(crowd, gets_packets_for_groups_once_and_in_order) {
  const auto [shape, nodes] = GetParam();
  auto cfg = usual;
  cfg.units = 65;
  rig r(shape, nodes, cfg);
  std::mt19937_64 random(nodes);
  std::vector<uint16_t> posted(nodes);                                         // P packets of a source, its tags
  std::map<std::pair<unsigned, unsigned>, std::vector<uint16_t>> sent;         // tags, by source and destination
  std::map<std::pair<unsigned, unsigned>, size_t> seen;                        // how many of them
  std::map<std::pair<unsigned, unsigned>, std::vector<size_t>> posted_before;  // of each NP packet
  size_t packets = 0;
  for (unsigned n = 0; n < nodes; ++n) {
    r.group(n);
    r.nodes[n].refuse = &random;
    r.nodes[n].on_packet = [&, n](const packet& p) {
      size_t& count = seen[{p.src, n}];
      if (p.vc % 4 == unsigned(vc::np)) {
        EXPECT_GE(count, (posted_before[{p.src, n}][p.tag])) << "NP passed P";
        return;
      }
      const auto& expected = sent[{p.src, n}];
      ASSERT_LT(count, expected.size()) << p.src << " to " << n;
      EXPECT_EQ(p.tag, expected[count++]) << p.src << " to " << n;
    };
  }
  for (unsigned i = 0; i < 6'000; ++i) {
    const unsigned from = unsigned(random() % nodes), to = (from + 1 + unsigned(random() % (nodes - 1))) % nodes;
    const auto what = random() % 4;
    const unsigned dws = unsigned(random() % 65);
    if (what == 0) {
      auto& before = posted_before[{from, to}];
      r.net->send(from, make(from, to, vc::np, 0, uint16_t(before.size())), (i / 8) * 10'000);
      before.push_back(sent[{from, to}].size());
      ++packets;
      continue;
    }
    const uint16_t tag = posted[from]++;
    for (unsigned member = 0; member < nodes; ++member)
      if (what == 1 ? member != from : member == to) sent[{from, member}].push_back(tag), ++packets;
    r.net->send(from, what == 1 ? for_group(from, dws, tag) : make(from, to, vc::p, dws, tag), (i / 8) * 10'000);
  }
  for (unsigned turn = 0; turn < 20'000 && r.arrived() < packets; ++turn) {
    r.run(200'000);
    r.k.enter();
    for (unsigned n = 0; n < nodes; ++n)
      if (std::exchange(r.nodes[n].refused, false)) r.net->resume(n);
  }
  EXPECT_EQ(r.arrived(), packets);
}

// What is sent after a P packet stays after it, also if it is ready sooner.
TEST(network, np_packets_are_not_sent_before_p_packets) {
  rig r("full", 2, usual);
  r.net->send(0, make(0, 1, vc::p, 2), 50'000);
  r.net->send(0, make(0, 1, vc::np, 0), 10'000);
  r.run(10'000'000);
  ASSERT_EQ(r.nodes[1].got.size(), 2u);
  EXPECT_EQ(r.nodes[1].got[0].second.vc, uint8_t(vc::p));
}

// Copies move to the queues of their links one after the other, and leave in parallel. The distance of two copies is
// that at which a link accepts packets, or the length of their beats.
TEST(network, times_of_copies) {
  for (const unsigned dws : {2u, 64u}) {
    rig r("full", 4, usual);
    r.group(0);
    constexpr unsigned packets = 10;
    for (unsigned i = 0; i < packets; ++i) r.net->send(0, for_group(0, dws), 0);
    r.run(100'000'000);
    const uint64_t beats = dws / 2, flits = 4 + dws / 2, each = std::max(3 * beats, flits);
    for (unsigned n = 1; n < 4; ++n) {
      ASSERT_EQ(r.nodes[n].got.size(), packets);
      for (unsigned i = 0; i < packets; ++i)
        EXPECT_EQ(r.nodes[n].got[i].first, (1 + (n - 1) * beats + i * each + flits) * 5'000 + 100'000)
            << "packet " << i;
    }
    EXPECT_EQ(r.net->stats().packets, packets);
    EXPECT_EQ(r.net->stats().flits, 3 * flits * packets);
  }
}

// Wrong packets for groups: a group without a line, a number beyond the table, a sender that is not the root, a packet
// over the wrong link, and one in another virtual channel. They are reported where they end, and do not block other
// packets.
TEST(network, packets_for_groups_without_a_way_are_reported) {
  rig r("ring", 5, usual);
  r.group(0);
  const auto lost_at = [&](unsigned from, packet p, unsigned at) {
    const size_t before = r.nodes[at].gone.size(), came = r.arrived();
    r.k.enter();
    r.net->send(from, std::move(p), pcie::now_ps());
    r.run(10'000'000);
    EXPECT_EQ(r.nodes[at].gone.size(), before + 1);
    EXPECT_EQ(r.arrived(), came);
  };
  lost_at(1, for_group(1, 2), 1);
  packet p = for_group(1, 2);
  p.dst = 64;
  lost_at(1, p, 1);
  p.dst = 0;
  lost_at(1, p, 1);
  r.net->set_group_line(0, {.node = 4, .branches = fabric::group_line::branch(0, 1)}, true);
  p.src = 4;
  lost_at(4, p, 0);
  packet other = make(0, 0, vc::np, 0);
  other.op |= nic::op_multicast;
  lost_at(0, other, 0);
  r.k.enter();
  r.net->send(1, make(1, 2, vc::p, 2), pcie::now_ps());
  r.run(10'000'000);
  EXPECT_EQ(r.nodes[2].got.size(), 1u);
}

// An answer that may pass others goes around a link whose queue has no room, and only then. Otherwise it leaves after
// the packet that is being sent and those in the queue.
TEST(network, second_choice_goes_around_a_busy_link) {
  for (const bool busy : {false, true})
    for (const bool unordered : {false, true}) {
      rig r("mesh:2x2", 4, usual);
      constexpr unsigned stores = 20;
      constexpr uint64_t flits_ps = 36 * 5'000, at = 15 * flits_ps;  // the queue has been full for a while
      if (busy)
        for (unsigned i = 0; i < stores; ++i) r.net->send(0, make(0, 1, vc::p, 64), 0);
      packet p = make(0, 3, vc::rsp, 64);
      p.set_unordered(unordered);
      r.net->send(0, std::move(p), at);
      r.run(100'000'000);
      ASSERT_EQ(r.nodes[3].got.size(), 1u);
      const uint64_t alone = at + 5'000 + 2 * (flits_ps + 100'000u) + 40'000u, took = r.nodes[3].got[0].first;
      if (busy && !unordered) {
        EXPECT_GE(took, alone + flits_ps);
        EXPECT_LE(took, alone + 2 * flits_ps);
      } else {
        EXPECT_EQ(took, alone);
      }
      EXPECT_EQ(r.net->stats().second, unsigned(busy && unordered));
    }
}

}  // namespace
}  // namespace ggas::test
