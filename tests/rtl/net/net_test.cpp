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

// Every pulse is counted, also when several come at once; each kind is logged with its details.
TYPED_TEST(NetTest, EventsOfTheLink) {
  uint64_t dead = 0, lost = 0, bad = 0;
  for (int k = 0; k < 400; ++k) {
    auto& m = this->m;
    m.lnk_ev_dead_i = this->rng() % 50 == 0;
    m.lnk_ev_dead_tries_i = 32;
    m.lnk_ev_lost_i = unsigned(this->rng() & 3);
    m.lnk_ev_bad_i = this->rng() & 1;
    m.lnk_ev_bad_src_i = peer_node;
    m.lnk_ev_bad_op_i = 0x55;
    dead += m.lnk_ev_dead_i;
    lost += (m.lnk_ev_lost_i & 1) + (m.lnk_ev_lost_i >> 1);
    bad += m.lnk_ev_bad_i;
    this->step();
  }
  this->run(5000);
  EXPECT_EQ(this->dead, dead);
  EXPECT_EQ(this->lost, lost);
  EXPECT_EQ(this->bad, bad);
  for (unsigned code : {ev_bad_packet, ev_link_dead, ev_store_lost}) EXPECT_GT(this->logged[code], 0u) << code;
}

// Every time the link comes up is counted; the last record of it tells its state, however fast it comes and goes.
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
      this->m.lnk_ev_dead_i = 1;
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
