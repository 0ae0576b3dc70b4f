// SPDX-License-Identifier: Apache-2.0
// `net` between random units and a random link, at DATA_W = 64 and 256: inputs, expected outputs, observed outputs.
// GGAS_SEED sets the seed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <iostream>
#include <random>

#include "Vnet256.h"
#include "Vnet64.h"
#include "ggas_regs.h"
#include "tests/rtl/beat_pins.hpp"
#include "tests/rtl/net/link_events.hpp"
#include "tests/rtl/net/stream.hpp"
#include "tests/rtl/unit_model.hpp"
#include "tests/support/number_of.hpp"

namespace ggas::test {

constexpr uint16_t own_node = 3, peer_node = 7, strange_node = 9;
constexpr unsigned ev_bad_packet = 16, ev_link_dead = 17, ev_store_lost = 18;
constexpr unsigned link_up = 2, link_dead = 3;

// Ports of the units: the first four have a virtual channel each, `ans` (responses of the RMA) shares that of `rsp`.
enum port : unsigned { port_p, port_np, port_rsp, port_rma, port_ans };
constexpr unsigned ports = 5, channels = 4;
inline unsigned channel_of(unsigned u) { return u == port_ans ? unsigned(port_rsp) : u; }

struct net64 {
  using model = Vnet64;
  static constexpr unsigned width = 64;
};
struct net256 {
  using model = Vnet256;
  static constexpr unsigned width = 256;
};

template <class T>
class NetTest : public testing::Test {
 protected:
  static constexpr unsigned words = T::width / 32;
  typename T::model m;
  std::mt19937_64 rng{seed()};
  std::array<source, ports> tx;
  std::array<sink, ports> rx;
  std::array<source, channels> link_in;
  std::array<sink, channels> link_out;
  // What must come out, in order, at a unit port or link channel.
  std::array<std::deque<packet>, ports> expect_loop, expect_link_in;
  std::array<std::deque<packet>, channels> expect_link_out;
  uint64_t lost = 0, bad = 0, dead = 0, expect_lost = 0, expect_bad = 0;
  std::array<uint64_t, GGAS_EVENT_COUNT_NUM> logged{};
  uint64_t came_up = 0;
  unsigned last_of_link = 0;     // of LINK_UP and LINK_DEAD, the one logged last
  std::deque<uint64_t> np_mark;  // loopback P packets begun before each loopback NP was offered
  uint64_t loop_p = 0, loop_p_done = 0, loop_np = 0, order_errors = 0;
  double willing = 0.7, ready = 0.7;

  ~NetTest() override { end_model(m); }
  void SetUp() override {
    std::cout << "seed " << seed() << "\n";
    for (unsigned u = 0; u < ports; ++u) tx[u].words = rx[u].words = words;
    for (unsigned v = 0; v < channels; ++v) link_in[v].words = link_out[v].words = words;
    m.clk_i = 0;
    m.rst_ni = 1;
    m.eval();  // so that the reset has an edge
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

  template <class Port, class D>
  static void drive(const beat& b, Port& port, D& data) {
    pins::set(port, pins::valid, b.valid);
    pins::set(port, pins::sop, b.sop);
    pins::set(port, pins::eop, b.eop);
    for (unsigned i = 0; i < nic::header_dws; ++i) port[i] = b.sop ? b.hdr[i] : 0xdeadbeef;
    for (unsigned i = 0; i < words; ++i) put(data, i, b.data[i]);
  }
  template <class Port, class D>
  static beat watch(const Port& port, const D& data) {
    beat b;
    if (!pins::get(port, pins::valid)) return b;
    b.valid = true;
    b.sop = pins::get(port, pins::sop);
    b.eop = pins::get(port, pins::eop);
    for (unsigned i = 0; i < nic::header_dws && b.sop; ++i) b.hdr[i] = port[i];
    for (unsigned i = 0; i < words; ++i) b.data[i] = get(data, i);
    return b;
  }
  beat watch_link(unsigned v) {
    beat b;
    if (!(m.lnk_tx_valid_o >> v & 1)) return b;
    b.valid = true;
    b.sop = m.lnk_tx_sop_o >> v & 1;
    b.eop = m.lnk_tx_eop_o >> v & 1;
    for (unsigned i = 0; i < nic::header_dws && b.sop; ++i) b.hdr[i] = m.lnk_tx_hdr_o[v * nic::header_dws + i];
    for (unsigned i = 0; i < words; ++i) b.data[i] = m.lnk_tx_data_o[v * words + i];
    return b;
  }
  void drive_link(unsigned v, const beat& b) {
    m.lnk_rx_valid_i = (m.lnk_rx_valid_i & ~(1u << v)) | unsigned(b.valid) << v;
    // Without an offer they are anything.
    m.lnk_rx_sop_i = (m.lnk_rx_sop_i & ~(1u << v)) | unsigned(b.valid ? b.sop : rng() & 1) << v;
    m.lnk_rx_eop_i = (m.lnk_rx_eop_i & ~(1u << v)) | unsigned(b.valid ? b.eop : rng() & 1) << v;
    for (unsigned i = 0; i < nic::header_dws; ++i) m.lnk_rx_hdr_i[v * nic::header_dws + i] = b.hdr[i];
    for (unsigned i = 0; i < words; ++i) m.lnk_rx_data_i[v * words + i] = b.data[i];
  }

  // The rules of net on an inbound packet.
  static bool sensible(const packet& p, unsigned v) {
    if (p.dst != own_node) return false;
    switch (p.op) {
      case 0x00:
        return v == 0 && p.len_dw;
      case 0x01:
      case 0x03:
        return v == 1 && !p.len_dw;
      case 0x02:
        return v == 2;
      case 0x04:
      case 0x18:
      case 0x1a:
        return v == 2 && !p.len_dw;
      case 0x19:
        return v == 2 && p.len_dw;
      case 0x1b:
        return v == 2 && p.len_dw == 4;
      case 0x10:
        return v == 3 && p.len_dw;
      case 0x11:
        return v == 3 && p.len_dw == 6;
      case 0x12:
        return v == 3 && p.len_dw == 4;
      case 0x13:
        return v == 3 && p.len_dw == 10;
      case 0x20:
        return v == 3 && p.len_dw >= 4 && p.len_dw <= 20;
      default:
        return false;
    }
  }

  void began(unsigned u) {  // first beat of a unit packet was taken
    packet p = tx[u].queue.front();
    p.hops = nic::hop_limit;
    if (p.dst == own_node) {
      expect_loop[u].push_back(p);
      if (u == port_p) ++loop_p;
      if (u == port_np) np_mark.push_back(np_offer_mark_);
    } else if (p.dst == peer_node && m.cfg_peer_valid_i && m.lnk_sts_state_i == link_up) {
      expect_link_out[channel_of(u)].push_back(p);
    } else {
      expect_lost += u == port_p && p.is(nic::op::store);
    }
  }

  void step() {
    std::array<beat, ports> in;
    std::array<beat, channels> from_link;
    for (unsigned u = 0; u < ports; ++u) {
      const bool standing = tx[u].offered;
      in[u] = tx[u].offer(chance(willing));
      if (u == port_np && in[u].valid && !standing) np_offer_mark_ = loop_p;
    }
    for (unsigned v = 0; v < channels; ++v) {
      from_link[v] = link_in[v].offer(chance(willing));
      drive_link(v, from_link[v]);
    }
    drive(in[port_p], m.tx_p_i, m.tx_p_data_i);
    drive(in[port_np], m.tx_np_i, m.tx_np_data_i);
    drive(in[port_rsp], m.tx_rsp_i, m.tx_rsp_data_i);
    drive(in[port_rma], m.tx_rma_i, m.tx_rma_data_i);
    drive(in[port_ans], m.tx_ans_i, m.tx_ans_data_i);
    std::array<bool, ports> r;
    for (bool& b : r) b = chance(ready);
    m.rx_p_ready_i = r[port_p];
    m.rx_np_ready_i = r[port_np];
    m.rx_rsp_ready_i = r[port_rsp];
    m.rx_rma_ready_i = r[port_rma];
    m.rx_ans_ready_i = r[port_ans];
    m.lnk_tx_ready_i = unsigned(rng() & 15);
    m.event_ready_i = chance(0.3);
    m.eval();
    sample(in, from_link, r);
    m.clk_i = 1;
    m.eval();
    m.clk_i = 0;
    link_events{}.drive(m.lnk_ev_i);
  }

  std::array<beat, ports> watch_units() {
    return {watch(m.rx_p_o, m.rx_p_data_o), watch(m.rx_np_o, m.rx_np_data_o), watch(m.rx_rsp_o, m.rx_rsp_data_o),
            watch(m.rx_rma_o, m.rx_rma_data_o), watch(m.rx_ans_o, m.rx_ans_data_o)};
  }

  void sample(const std::array<beat, ports>& in, const std::array<beat, channels>& from_link,
              const std::array<bool, ports>& r) {
    const std::array<beat, ports> out = watch_units();
    const bool taken[ports] = {bool(m.tx_p_ready_o), bool(m.tx_np_ready_o), bool(m.tx_rsp_ready_o),
                               bool(m.tx_rma_ready_o), bool(m.tx_ans_ready_o)};
    const uint64_t done_before = loop_p_done;
    for (unsigned u = 0; u < ports; ++u) {
      if (in[u].valid && taken[u]) {
        if (in[u].sop) began(u);
        tx[u].taken();
      }
    }
    for (unsigned v = 0; v < channels; ++v) {
      if (from_link[v].valid && (m.lnk_rx_ready_o >> v & 1)) {
        const packet& p = link_in[v].queue.front();
        if (from_link[v].eop) {
          if (sensible(p, v))
            expect_link_in[v == port_rsp && p.op >= 0x10 ? unsigned(port_ans) : v].push_back(p);
          else
            ++expect_bad;
        }
        link_in[v].taken();
      }
      link_out[v].see(watch_link(v), m.lnk_tx_ready_i >> v & 1);
    }
    for (unsigned u = 0; u < ports; ++u) {
      const size_t before = rx[u].got.size();
      rx[u].see(out[u], r[u]);
      if (rx[u].got.size() > before && rx[u].got.back().src == own_node) {
        if (u == port_p) ++loop_p_done;
        if (u == port_np && np_mark[loop_np++] > done_before) ++order_errors;
      }
    }
    bad += m.event_count_o >> ev_bad_packet & 1;
    lost += m.event_count_o >> ev_store_lost & 1;
    dead += m.event_count_o >> ev_link_dead & 1;
    came_up += m.event_count_o >> GGAS_EV_LINK_UP & 1;
    if (m.event_valid_o && m.event_ready_i) {
      const auto code = unsigned(m.event_o >> 56);
      ++logged.at(code);
      if (code == GGAS_EV_LINK_UP || code == GGAS_EV_LINK_DEAD) last_of_link = code;
    }
  }

  bool empty() const {
    const auto sent = [](const source& s) { return s.queue.empty(); };
    return std::ranges::all_of(tx, sent) && std::ranges::all_of(link_in, sent) && !m.busy_o;
  }

  // A packet that unit port `u` may send, or receive from the link.
  packet unit_packet(unsigned u, uint16_t dst) {
    static constexpr uint8_t rma_ops[] = {0x10, 0x11, 0x12, 0x13, 0x20}, answers[] = {0x18, 0x19, 0x1a, 0x1b};
    packet p;
    p.src = own_node;
    p.dst = dst;
    p.vc = uint8_t(channel_of(u));
    p.op = u < port_rma ? uint8_t(u) : u == port_rma ? rma_ops[rng() % 5] : answers[rng() % 4];
    p.addr = rng();
    p.tag = uint16_t(rng());
    p.len_dw = length(p.op);
    for (unsigned i = 0; i < p.len_dw; ++i) p.data.push_back(uint32_t(rng()));
    return p;
  }
  uint16_t length(uint8_t op) {
    switch (op) {
      case 0x01:
      case 0x18:
      case 0x1a:
        return 0;
      case 0x11:
        return 6;
      case 0x12:
      case 0x1b:
        return 4;
      case 0x13:
        return 10;
      case 0x20:
        return uint16_t(4 + rng() % 17);
      default:
        return uint16_t(1 + rng() % (rng() % 4 ? 6 : 64));
    }
  }
  packet link_packet(unsigned u, bool forged) {
    packet p = unit_packet(u, own_node);
    p.src = peer_node;
    if (forged) {
      if (rng() % 4 == 0)
        p.dst = strange_node;
      else
        p.op = uint8_t(rng() % 0x28);
    }
    return p;
  }

  // Packets of one source came out in the order they went in; `src` distinguishes the sources.
  void check_received() {
    EXPECT_EQ(order_errors, 0u);
    for (unsigned u = 0; u < ports; ++u) {
      EXPECT_EQ(rx[u].unstable, 0u) << "an offer changed before it was taken, port " << u;
      compare(expect_loop[u], rx[u].got, own_node, u);
      compare(expect_link_in[u], rx[u].got, peer_node, u);
    }
    for (unsigned v = 0; v < channels; ++v) compare(expect_link_out[v], link_out[v].got, own_node, v);
    EXPECT_EQ(lost, expect_lost);
    EXPECT_EQ(bad, expect_bad);
  }
  void compare(const std::deque<packet>& want, const std::deque<packet>& got, uint16_t src, unsigned v) {
    size_t k = 0;
    for (const packet& p : got) {
      if (p.src != src) continue;
      ASSERT_LT(k, want.size()) << "port " << v;
      ASSERT_TRUE(same(p, want[k])) << "port " << v << " packet " << k;
      ++k;
    }
    EXPECT_EQ(k, want.size()) << "port " << v;
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

}  // namespace ggas::test
