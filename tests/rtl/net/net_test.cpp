// SPDX-License-Identifier: Apache-2.0
// `net` between random units and a random link: routes, loopback, merging, order, drops and events.
#include "tests/rtl/net/bench.hpp"

namespace ggas::test {
namespace {

TYPED_TEST(NetTest, RandomRoutes) {
  for (int round = 0; round < 8; ++round) {
    this->willing = round % 2 ? 0.5 : 1;
    this->ready = round % 3 ? 1 : 0.4;
    for (int n = 0; n < 500; ++n) {
      const unsigned u = unsigned(this->rng() % ports), where = unsigned(this->rng() % 8);
      this->tx[u].queue.push_back(this->unit_packet(u, where < 4 ? own_node : where < 7 ? peer_node : strange_node));
      const unsigned w = unsigned(this->rng() % ports);
      this->link_in[channel_of(w)].queue.push_back(this->link_packet(w, this->rng() % 5 == 0));
    }
    this->run(200'000);
  }
  this->check_received();
  EXPECT_GT(this->expect_lost, 50u);
  EXPECT_GT(this->expect_bad, 50u);
  EXPECT_GT(this->loop_np, 100u);
  EXPECT_GT(this->logged[ev_bad_packet], 10u);
  EXPECT_GT(this->logged[ev_store_lost], 10u);
}

// Packets to the peer are dropped while the link is not UP; one that was begun goes on to the link.
TYPED_TEST(NetTest, LinkComesAndGoes) {
  for (int round = 0; round < 200; ++round) {
    this->m.lnk_sts_state_i = this->rng() % 2 ? link_up : unsigned(this->rng() % 2 ? link_dead : 0);
    for (auto& s : this->link_out) s.held = {};  // an offer may be withdrawn when the link goes
    for (int n = 0; n < 6; ++n) {
      const unsigned u = unsigned(this->rng() % ports);
      this->tx[u].queue.push_back(this->unit_packet(u, peer_node));
    }
    for (unsigned k = unsigned(this->rng() % 100); k > 0; --k) this->step();
  }
  this->m.lnk_sts_state_i = link_up;
  for (auto& s : this->link_out) s.held = {};
  this->run(100'000);
  this->check_received();
  EXPECT_GT(this->expect_lost, 50u);
  EXPECT_GT(this->expect_link_out[0].size(), 50u);
}

// NODE and LINK_PEER are written while packets wait, begin and pass. Each packet leaves once, whole and unchanged, by
// one route, or is lost. Packets of a port keep their order. Sinks and contracts check that an offer does not change.
TYPED_TEST(NetTest, ConfigurationChangesUnderTraffic) {
  auto& m = this->m;
  std::array<std::deque<packet>, ports> sent;
  for (int round = 0; round < 3000; ++round) {
    for (unsigned u = 0; u < ports; ++u) {
      if (this->tx[u].queue.size() > 4) continue;
      const unsigned where = unsigned(this->rng() % 8);
      packet p = this->unit_packet(u, where < 2 ? own_node : where < 7 ? peer_node : strange_node);
      this->tx[u].queue.push_back(p);
      p.hops = nic::hop_limit;
      sent[u].push_back(p);
    }
    const unsigned w = unsigned(this->rng() % ports);
    if (this->link_in[channel_of(w)].queue.size() < 4)
      this->link_in[channel_of(w)].queue.push_back(this->link_packet(w, false));
    for (unsigned k = unsigned(this->rng() % 12); k > 0; --k) this->step();
    switch (this->rng() % 4) {
      case 0:
        m.cfg_node_i = this->rng() % 2 ? own_node : strange_node;
        break;
      case 1:
        m.cfg_peer_node_i = this->rng() % 4 ? peer_node : strange_node;
        break;
      default:
        m.cfg_peer_valid_i = this->rng() % 2;
    }
  }
  this->run(100'000);
  uint64_t stores_out = 0;
  for (unsigned u = 0; u < ports; ++u) {
    EXPECT_EQ(this->rx[u].unstable, 0u) << u;
    // By each way in order: what is there next was sent after the one before.
    std::array<std::deque<packet>, 2> ways{this->rx[u].got, this->link_out[channel_of(u)].got};
    for (const auto& got : ways) {
      auto next = sent[u].begin();
      for (const packet& p : got) {
        const bool answer = p.op >= 0x18 && p.op < 0x20;
        const unsigned from = answer ? unsigned(port_ans) : p.op >= 0x10 ? unsigned(port_rma) : p.op;
        if (p.src != own_node || from != u) continue;
        next = std::find_if(next, sent[u].end(), [&](const packet& s) { return same(s, p); });
        ASSERT_NE(next, sent[u].end()) << "port " << u << ": changed, twice or out of order";
        stores_out += u == port_p;
        next = sent[u].erase(next);
      }
    }
  }
  for (const auto& s : this->link_out) EXPECT_EQ(s.unstable, 0u) << "an offer to the link changed";
  EXPECT_EQ(this->lost, sent[port_p].size());
  EXPECT_GT(stores_out, 100u);
  EXPECT_GT(this->lost, 100u);
}

// Every pulse is counted, also when several come at once; each kind is logged with its details.
TYPED_TEST(NetTest, EventsOfTheLink) {
  uint64_t dead = 0, lost = 0, bad = 0;
  for (int k = 0; k < 400; ++k) {
    link_events e{.tries = 32, .bad_src = peer_node, .bad_op = 0x55};
    e.dead = this->rng() % 50 == 0;
    e.lost = unsigned(this->rng() & 3);
    e.bad = this->rng() & 1;
    e.drive(this->m.lnk_ev_i);
    dead += e.dead;
    lost += (e.lost & 1) + (e.lost >> 1);
    bad += e.bad;
    this->step();
  }
  this->run(5000);
  EXPECT_EQ(this->dead, dead);
  EXPECT_EQ(this->lost, lost);
  EXPECT_EQ(this->bad, bad);
  for (unsigned code : {ev_bad_packet, ev_link_dead, ev_store_lost}) EXPECT_GT(this->logged[code], 0u) << code;
}

// If several events occur at once, each is logged once.
TYPED_TEST(NetTest, EventsWaitForEachOther) {
  for (unsigned round = 1; round <= 50; ++round) {
    link_events{.dead = 1, .lost = 1, .bad = 1, .no_route = 1}.drive(this->m.lnk_ev_i);
    for (unsigned i = 0; i < 100; ++i) this->step();
    for (unsigned code : {ev_bad_packet, ev_link_dead, ev_store_lost, unsigned(GGAS_EV_PACKET_LOST)})
      ASSERT_EQ(this->logged[code], round) << code;
  }
}

TYPED_TEST(NetTest, NothingLeavesWithoutAPeer) {
  this->m.cfg_peer_valid_i = 0;
  for (unsigned n = 0; n < 200; ++n) {
    const unsigned u = unsigned(this->rng() % ports);
    this->tx[u].queue.push_back(this->unit_packet(u, peer_node));
  }
  this->run(20'000);
  this->check_received();
  for (const auto& s : this->link_out) EXPECT_TRUE(s.got.empty());
  EXPECT_GT(this->expect_lost, 10u);
}

TYPED_TEST(NetTest, MessagesHaveFourToTwentyWords) {
  for (unsigned dws = 0; dws <= 24; ++dws) {
    packet p = this->link_packet(port_rma, false);
    p.op = uint8_t(nic::op::velo_msg);
    p.len_dw = uint16_t(dws);
    p.data.assign(dws, 7);
    this->link_in[port_rma].queue.push_back(p);
  }
  this->run(20'000);
  this->check_received();
  EXPECT_EQ(this->expect_bad, 8u);
}

// Every time the link comes up is counted; the last record of it reports its state, however fast it comes and goes.
TYPED_TEST(NetTest, LinkComesUp) {
  constexpr unsigned link_init = 1, link_up = 2, link_dead = 3;
  const auto steps = [this](uint64_t n) {
    for (; n; --n) this->step();
  };
  uint64_t ups = 0;
  this->m.lnk_sts_state_i = link_init;
  steps(10);
  const uint64_t before = this->came_up;
  for (int k = 0; k < 300; ++k) {
    this->m.lnk_sts_state_i = link_up;
    ++ups;
    steps(this->rng() % 6 + 1);
    const bool dies = this->rng() % 3 != 0;
    if (dies) {
      link_events{.dead = 1}.drive(this->m.lnk_ev_i);
      this->step();
      this->m.lnk_sts_state_i = link_dead;
      steps(this->rng() % 6 + 1);
    }
    if (this->rng() % 4 == 0) {
      steps(60);
      EXPECT_EQ(this->last_of_link, unsigned(dies ? GGAS_EV_LINK_DEAD : GGAS_EV_LINK_UP));
    }
    if (!dies) this->m.lnk_sts_state_i = link_init, this->step();
  }
  EXPECT_EQ(this->came_up - before, ups);
  EXPECT_GT(this->logged[GGAS_EV_LINK_UP], 10u);  // others were merged
}

}  // namespace
}  // namespace ggas::test
