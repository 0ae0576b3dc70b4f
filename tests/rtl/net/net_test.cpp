// SPDX-License-Identifier: Apache-2.0
// `net` between random units and a random link: routes, loopback, merging, order, drops and events.
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <iostream>
#include <random>

#include "Vnet256.h"
#include "Vnet64.h"
#include "sim/nic/packet.hpp"

namespace ggas::test {
namespace {

using nic::packet;

constexpr uint16_t own_node = 3, peer_node = 7, strange_node = 9;
constexpr unsigned ev_bad_packet = 16, ev_link_dead = 17, ev_store_lost = 18;
constexpr unsigned link_up = 2, link_dead = 3;

uint64_t seed() {
  const char* e = std::getenv("GGAS_SEED");
  return e ? std::strtoull(e, nullptr, 0) : 1;
}

struct net64 {
  using model = Vnet64;
  static constexpr unsigned width = 64;
};
struct net256 {
  using model = Vnet256;
  static constexpr unsigned width = 256;
};

// One beat of a stream as it stands on the pins.
struct beat {
  bool valid = false, sop = false, eop = false;
  std::array<uint32_t, 6> hdr{};
  std::array<uint32_t, 16> data{};
  bool operator==(const beat&) const = default;
};

// Feeds packets beat by beat; holds what was offered.
struct source {
  std::deque<packet> queue;
  unsigned words = 2, index = 0;
  bool offered = false;

  unsigned beats() const { return std::max<unsigned>(1, unsigned(queue.front().data.size() + words - 1) / words); }
  beat offer(bool willing) {
    offered = !queue.empty() && (offered || willing);
    if (!offered) return {};
    const packet& p = queue.front();
    beat b{.valid = true, .sop = index == 0, .eop = index + 1 == beats()};
    const auto h = p.header_words();
    for (unsigned i = 0; i < 6; ++i) b.hdr[i] = uint32_t(h[i / 2] >> 32 * (i & 1));
    for (unsigned i = 0; i < words && index * words + i < p.data.size(); ++i) b.data[i] = p.data[index * words + i];
    return b;
  }
  void taken() {
    offered = false;
    if (++index < beats()) return;
    index = 0;
    queue.pop_front();
  }
};

struct sink {
  unsigned words = 2;
  packet open;
  std::deque<packet> got;
  beat held;  // offered and refused in the last cycle: must stand
  uint64_t unstable = 0;

  void see(const beat& b, bool ready) {
    if (held.valid && !(held == b)) ++unstable;
    held = ready ? beat{} : b;
    if (!b.valid || !ready) return;
    if (b.sop) {
      open = {};
      open.set_header_words({b.hdr[0] | uint64_t{b.hdr[1]} << 32, b.hdr[2] | uint64_t{b.hdr[3]} << 32,
                             b.hdr[4] | uint64_t{b.hdr[5]} << 32});
    }
    for (unsigned i = 0; i < words && open.data.size() < open.len_dw; ++i) open.data.push_back(b.data[i]);
    if (b.eop) got.push_back(open);
  }
};

bool same(const packet& a, const packet& b) { return a.header_words() == b.header_words() && a.data == b.data; }

template <class T>
class NetTest : public testing::Test {
 protected:
  static constexpr unsigned words = T::width / 32;
  typename T::model m;
  std::mt19937_64 rng{seed()};
  std::array<source, 3> tx, link_in;
  std::array<sink, 3> rx, link_out;
  // What must come out, in order, a source.
  std::array<std::deque<packet>, 3> expect_loop, expect_link_out, expect_link_in;
  uint64_t lost = 0, bad = 0, dead = 0, expect_lost = 0, expect_bad = 0;
  std::array<uint64_t, 32> logged{};
  std::deque<uint64_t> np_mark;  // loopback P packets begun before each loopback NP was offered
  uint64_t loop_p = 0, loop_p_done = 0, loop_np = 0, order_errors = 0;
  double willing = 0.7, ready = 0.7;

  void SetUp() override {
    std::cout << "seed " << seed() << "\n";
    for (unsigned v = 0; v < 3; ++v) tx[v].words = link_in[v].words = rx[v].words = link_out[v].words = words;
    m.clk_i = 0;
    m.rst_ni = 0;
    m.eval();
    m.rst_ni = 1;
    m.cfg_node_i = own_node;
    m.cfg_peer_node_i = peer_node;
    m.cfg_peer_valid_i = 1;
    m.lnk_sts_state_i = link_up;
    m.eval();
  }

  bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(rng) < p; }

  template <class P>
  static void put(P& port, unsigned i, uint32_t v) {
    if constexpr (std::is_integral_v<P>)
      port = P((uint64_t(port) & ~(uint64_t{0xffffffff} << 32 * i)) | uint64_t{v} << 32 * i);
    else
      port[i] = v;
  }
  template <class P>
  static uint32_t get(const P& port, unsigned i) {
    if constexpr (std::is_integral_v<P>)
      return uint32_t(uint64_t(port) >> 32 * i);
    else
      return port[i];
  }

  template <class S, class H, class D>
  static void drive(const beat& b, S& valid, S& sop, S& eop, H& hdr, D& data) {
    valid = b.valid;
    sop = b.sop;
    eop = b.eop;
    for (unsigned i = 0; i < 6; ++i) hdr[i] = b.sop ? b.hdr[i] : 0xdeadbeef;
    for (unsigned i = 0; i < words; ++i) put(data, i, b.data[i]);
  }
  template <class S, class H, class D>
  static beat watch(S valid, S sop, S eop, const H& hdr, const D& data) {
    beat b;
    if (!valid) return b;
    b.valid = true;
    b.sop = sop;
    b.eop = eop;
    for (unsigned i = 0; i < 6 && b.sop; ++i) b.hdr[i] = hdr[i];
    for (unsigned i = 0; i < words; ++i) b.data[i] = get(data, i);
    return b;
  }
  beat watch_link(unsigned v) {
    beat b;
    if (!(m.lnk_tx_valid_o >> v & 1)) return b;
    b.valid = true;
    b.sop = m.lnk_tx_sop_o >> v & 1;
    b.eop = m.lnk_tx_eop_o >> v & 1;
    for (unsigned i = 0; i < 6 && b.sop; ++i) b.hdr[i] = m.lnk_tx_hdr_o[v * 6 + i];
    for (unsigned i = 0; i < words; ++i) b.data[i] = m.lnk_tx_data_o[v * words + i];
    return b;
  }
  void drive_link(unsigned v, const beat& b) {
    m.lnk_rx_valid_i = (m.lnk_rx_valid_i & ~(1u << v)) | unsigned(b.valid) << v;
    m.lnk_rx_sop_i = (m.lnk_rx_sop_i & ~(1u << v)) | unsigned(b.sop) << v;
    m.lnk_rx_eop_i = (m.lnk_rx_eop_i & ~(1u << v)) | unsigned(b.eop) << v;
    for (unsigned i = 0; i < 6; ++i) m.lnk_rx_hdr_i[v * 6 + i] = b.hdr[i];
    for (unsigned i = 0; i < words; ++i) m.lnk_rx_data_i[v * words + i] = b.data[i];
  }

  // The rules of net on an inbound packet.
  static bool sensible(const packet& p, unsigned v) {
    if (p.dst != own_node) return false;
    switch (p.op) {
      case 0:
        return v == 0 && p.len_dw;
      case 1:
      case 3:
        return v == 1 && !p.len_dw;
      case 2:
        return v == 2;
      case 4:
        return v == 2 && !p.len_dw;
      default:
        return false;
    }
  }

  void began(unsigned v) {  // first beat of a unit packet was taken
    const packet& p = tx[v].queue.front();
    if (p.dst == own_node) {
      expect_loop[v].push_back(p);
      if (v == 0) ++loop_p;
      if (v == 1) np_mark.push_back(np_offer_mark_);
    } else if (p.dst == peer_node && m.cfg_peer_valid_i && m.lnk_sts_state_i == link_up) {
      expect_link_out[v].push_back(p);
    } else {
      expect_lost += v == 0 && p.is(nic::op::store);
    }
  }

  void step() {
    std::array<beat, 3> in, from_link;
    for (unsigned v = 0; v < 3; ++v) {
      const bool standing = tx[v].offered;
      in[v] = tx[v].offer(chance(willing));
      if (v == 1 && in[v].valid && !standing) np_offer_mark_ = loop_p;
      from_link[v] = link_in[v].offer(chance(willing));
      drive_link(v, from_link[v]);
    }
    drive(in[0], m.tx_p_valid_i, m.tx_p_sop_i, m.tx_p_eop_i, m.tx_p_hdr_i, m.tx_p_data_i);
    drive(in[1], m.tx_np_valid_i, m.tx_np_sop_i, m.tx_np_eop_i, m.tx_np_hdr_i, m.tx_np_data_i);
    drive(in[2], m.tx_rsp_valid_i, m.tx_rsp_sop_i, m.tx_rsp_eop_i, m.tx_rsp_hdr_i, m.tx_rsp_data_i);
    const bool r[3] = {chance(ready), chance(ready), chance(ready)};
    m.rx_p_ready_i = r[0];
    m.rx_np_ready_i = r[1];
    m.rx_rsp_ready_i = r[2];
    m.lnk_tx_ready_i = unsigned(rng() & 7);
    m.event_ready_i = chance(0.3);
    m.eval();
    sample(in, from_link, r);
    m.clk_i = 1;
    m.eval();
    m.clk_i = 0;
    m.lnk_ev_dead_i = m.lnk_ev_lost_i = m.lnk_ev_bad_i = 0;
  }

  void sample(const std::array<beat, 3>& in, const std::array<beat, 3>& from_link, const bool* r) {
    const beat out[3] = {watch(m.rx_p_valid_o, m.rx_p_sop_o, m.rx_p_eop_o, m.rx_p_hdr_o, m.rx_p_data_o),
                         watch(m.rx_np_valid_o, m.rx_np_sop_o, m.rx_np_eop_o, m.rx_np_hdr_o, m.rx_np_data_o),
                         watch(m.rx_rsp_valid_o, m.rx_rsp_sop_o, m.rx_rsp_eop_o, m.rx_rsp_hdr_o, m.rx_rsp_data_o)};
    const bool taken[3] = {bool(m.tx_p_ready_o), bool(m.tx_np_ready_o), bool(m.tx_rsp_ready_o)};
    const uint64_t done_before = loop_p_done;
    for (unsigned v = 0; v < 3; ++v) {
      if (in[v].valid && taken[v]) {
        if (in[v].sop) began(v);
        tx[v].taken();
      }
      if (from_link[v].valid && (m.lnk_rx_ready_o >> v & 1)) {
        const packet& p = link_in[v].queue.front();
        if (from_link[v].eop) {
          if (sensible(p, v))
            expect_link_in[v].push_back(p);
          else
            ++expect_bad;
        }
        link_in[v].taken();
      }
      const size_t before = rx[v].got.size();
      rx[v].see(out[v], r[v]);
      if (rx[v].got.size() > before && rx[v].got.back().src == own_node) {
        if (v == 0) ++loop_p_done;
        if (v == 1 && np_mark[loop_np++] > done_before) ++order_errors;
      }
      link_out[v].see(watch_link(v), m.lnk_tx_ready_i >> v & 1);
    }
    bad += m.event_count_o >> ev_bad_packet & 1;
    lost += m.event_count_o >> ev_store_lost & 1;
    dead += m.event_count_o >> ev_link_dead & 1;
    if (m.event_valid_o && m.event_ready_i) ++logged[m.event_o >> 56 & 31];
  }

  bool empty() const {
    for (unsigned v = 0; v < 3; ++v)
      if (!tx[v].queue.empty() || !link_in[v].queue.empty()) return false;
    return !m.busy_o;
  }

  packet unit_packet(unsigned v, uint16_t dst) {
    packet p;
    p.src = own_node;
    p.dst = dst;
    p.vc = uint8_t(v);
    p.op = v == 0 ? 0 : v == 1 ? 1 : 2;
    p.addr = rng();
    p.tag = uint16_t(rng());
    if (v != 1) p.len_dw = uint16_t(1 + rng() % (rng() % 4 ? 6 : 64));
    for (unsigned i = 0; i < p.len_dw; ++i) p.data.push_back(uint32_t(rng()));
    return p;
  }
  packet link_packet(unsigned v, bool forged) {
    packet p = unit_packet(v, own_node);
    p.src = peer_node;
    if (forged) {
      if (rng() % 4 == 0)
        p.dst = strange_node;
      else
        p.op = uint8_t(rng() % 8);
    }
    return p;
  }

  // Packets of one source came out in the order they went in; `src` tells the sources apart.
  void check_received() {
    EXPECT_EQ(order_errors, 0u);
    for (unsigned v = 0; v < 3; ++v) {
      EXPECT_EQ(rx[v].unstable, 0u) << "an offer changed before it was taken, channel " << v;
      compare(expect_loop[v], rx[v].got, own_node, v);
      compare(expect_link_in[v], rx[v].got, peer_node, v);
      compare(expect_link_out[v], link_out[v].got, own_node, v);
    }
    EXPECT_EQ(lost, expect_lost);
    EXPECT_EQ(bad, expect_bad);
  }
  void compare(const std::deque<packet>& want, const std::deque<packet>& got, uint16_t src, unsigned v) {
    size_t k = 0;
    for (const packet& p : got) {
      if (p.src != src) continue;
      ASSERT_LT(k, want.size()) << "channel " << v;
      ASSERT_TRUE(same(p, want[k])) << "channel " << v << " packet " << k;
      ++k;
    }
    EXPECT_EQ(k, want.size()) << "channel " << v;
  }

  void run(unsigned limit) {
    for (unsigned k = 0; k < limit && !empty(); ++k) step();
    ASSERT_TRUE(empty()) << "net hangs";
  }

 private:
  uint64_t np_offer_mark_ = 0;
};
using net_models = testing::Types<net64, net256>;
TYPED_TEST_SUITE(NetTest, net_models);

TYPED_TEST(NetTest, RandomRoutes) {
  for (int round = 0; round < 8; ++round) {
    this->willing = round % 2 ? 0.5 : 1;
    this->ready = round % 3 ? 1 : 0.4;
    for (int n = 0; n < 300; ++n) {
      const unsigned v = unsigned(this->rng() % 3), where = unsigned(this->rng() % 8);
      this->tx[v].queue.push_back(this->unit_packet(v, where < 4 ? own_node : where < 7 ? peer_node : strange_node));
      const unsigned w = unsigned(this->rng() % 3);
      this->link_in[w].queue.push_back(this->link_packet(w, this->rng() % 5 == 0));
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
      const unsigned v = unsigned(this->rng() % 3);
      this->tx[v].queue.push_back(this->unit_packet(v, peer_node));
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

}  // namespace
}  // namespace ggas::test
