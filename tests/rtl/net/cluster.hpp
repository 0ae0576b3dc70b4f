// SPDX-License-Identifier: Apache-2.0
// A cluster of Verilated `links` with six links each, connected by wires in a topology, with random units at every
// node. Checks the guarantees of docs/network.md: every packet arrives once, unchanged, in the order of its source,
// destination and channel; an NP packet never overtakes a P packet accepted before it was offered.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/fabric/topology.hpp"
#include "sim/nic/nic_core.hpp"
#include "tests/rtl/net/link_events.hpp"
#include "tests/rtl/net/stream.hpp"
#include "tests/rtl/unit_model.hpp"

namespace ggas::test {

using fabric::topology;
using nic::flit;

inline constexpr unsigned built_links = 6, unit_channels = 4;
inline constexpr unsigned links_up = 2, links_dead = 3;

template <class Port>
void put_word(Port& port, unsigned i, uint32_t v) {
  if constexpr (std::is_integral_v<Port>)
    port = Port((uint64_t(port) & ~(uint64_t{0xffffffff} << 32 * i)) | uint64_t{v} << 32 * i);
  else
    port[i] = v;
}

// Sums over all nodes.
struct cluster_counters {
  uint64_t tx_packets = 0, rx_packets = 0, dead = 0, up = 0, stores_lost = 0, bad = 0, no_route = 0, cut = 0;
};

template <class Model, unsigned Width>
class cluster {
 public:
  static constexpr unsigned words = Width / 32;

  cluster(topology shape, uint64_t seed) : shape_(std::move(shape)), rng_(seed), nodes_(shape_.nodes()) {
    for (auto& n : nodes_) {
      n.m = std::make_unique<Model>();
      for (unsigned v = 0; v < unit_channels; ++v) n.tx[v].words = n.rx[v].words = words;
      Model& m = *n.m;
      m.rst_ni = 1;
      m.eval();  // so that the reset has an edge
      m.rst_ni = 0;
      m.cfg_replay_limit_i = 32;
      m.cfg_replay_timeout_i = 2048;
      m.eval();
      m.rst_ni = 1;
      m.eval();
    }
    for (unsigned n = 0; n < nodes_.size(); ++n) {
      nodes_[n].at = n;
      nodes_[n].m->cfg_node_i = n;
      for (unsigned to = 0; to < nodes_.size(); ++to)
        if (to != n) route(n, to, shape_.next(n, to), shape_.second(n, to));
      for (unsigned p = 0; p < built_links; ++p) plugged(n, p, shape_.across(n, p).has_value());
    }
  }

  ~cluster() {
    for (auto& n : nodes_) end_model(*n.m);
  }

  // ---- set-up
  void route(unsigned at, unsigned to, std::optional<topology::step> way,
             std::optional<topology::step> second = std::nullopt) {
    Model& m = *nodes_[at].m;
    m.cfg_route_node_i = to;
    m.cfg_route_i = (way ? 16u | way->lane << 3 | way->port : 0) | (second ? 16u | second->lane << 3 | second->port : 0)
                                                                       << 5;
    m.cfg_route_set_i = 1;
    write_line(at);
  }
  // A group that `root` sends to; its number is that of `root`.
  void group(unsigned root, const std::vector<unsigned>& members) {
    for (const fabric::group_line& line : shape_.tree(root, members)) group_line(root, line);
    members_[root] = members;
    std::erase(members_[root], root);
  }
  void group_line(unsigned number, const fabric::group_line& line, bool valid = true) {
    Model& m = *nodes_[line.node].m;
    m.cfg_group_i = number;
    m.cfg_group_lane_i = line.lane;
    m.cfg_group_line_i = unsigned(valid) << 16 | line.port << 13 | unsigned(line.member) << 12 | line.branches;
    m.cfg_group_set_i = 1;
    write_line(line.node);
  }
  // Lines of tables are written with the next step, one for each node and step, while packets may be on offer. If
  // false, they are written between two steps.
  bool under_traffic = false;
  void plugged(unsigned node, unsigned port, bool on) {
    Model& m = *nodes_[node].m;
    m.link_rx_up_i = on ? m.link_rx_up_i | 1u << port : m.link_rx_up_i & ~(1u << port);
    nodes_[node].woken = true;
  }
  // Its units take nothing of these virtual channels, bit by bit.
  void deaf(unsigned node, unsigned channels) { nodes_[node].deaf = channels; }
  void watchdog(unsigned node, unsigned ticks, bool resume = false) {
    Model& m = *nodes_[node].m;
    m.cfg_watchdog_i = ticks;
    m.cfg_resume_i = resume;
    clock(m);
    m.cfg_resume_i = 0;
  }
  bool cut_off(unsigned node) const { return nodes_[node].m->sts_cut_o; }
  // A cable is pulled: both ends lose the signal, what is on it is gone.
  void cut(unsigned node, unsigned port) {
    const auto far = *shape_.across(node, port);
    for (const auto end : {topology::end{node, port}, far}) {
      plugged(end.node, end.port, false);
      nodes_[end.node].wire[end.port].clear();
    }
  }
  // The cable is plugged in again, and both nodes retrain their dead links.
  void repair(unsigned node, unsigned port) {
    const auto far = *shape_.across(node, port);
    for (const auto end : {topology::end{node, port}, far}) {
      plugged(end.node, end.port, true);
      Model& m = *nodes_[end.node].m;
      m.cfg_retrain_i = 1;
      m.eval();  // the clocks of links are gated
      clock(m);
      m.cfg_retrain_i = 0;
    }
  }
  double offers = 0.5, takes = 0.7, phy = 0.95;
  double unordered = 0.5;  // of the responses: those that may pass others
  unsigned latency = 20;   // of a wire, cycles

  void send(unsigned from, nic::packet p) {
    p.src = uint16_t(from);
    p.hops = 255;
    nodes_[from].tx[p.vc].queue.push_back(p);
    (p.unordered() ? loose_ : sent_)[{from, p.dst, p.vc}].push_back(p);
    ++under_way_;
  }
  // To all members of the group of `from`.
  void multicast(unsigned from, nic::packet p) {
    p.src = uint16_t(from);
    p.dst = uint16_t(from);
    p.hops = 255;
    p.op |= group_bit;
    nodes_[from].tx[0].queue.push_back(p);
    for (const unsigned member : members_[from]) sent_[{from, member, 0}].push_back(p);
    under_way_ += members_[from].size();
  }
  void random_multicast(unsigned from) {
    nic::packet p = random_fields(0);
    p.op = 0;
    multicast(from, p);
  }
  void random_packet(unsigned from, unsigned to) {
    nic::packet p = random_fields(uint8_t(rng_() % unit_channels));
    p.dst = uint16_t(to);
    send(from, p);
  }
  nic::packet random_fields(uint8_t vc) {
    nic::packet p;
    p.vc = vc;
    p.op = uint8_t(rng_() & ~unsigned{group_bit});
    p.addr = rng_() & ~7ull;
    p.domain = uint16_t(rng_());
    p.set_unordered(p.vc == unsigned(nic::vc::rsp) && chance(unordered));
    p.len_dw = uint16_t(p.vc == 1 ? 0 : rng_() % 3 == 0 ? rng_() % 65 : rng_() % 9);
    for (unsigned i = 0; i < p.len_dw; ++i) p.data.push_back(uint32_t(rng_()));
    return p;
  }

  // ---- a cycle of all nodes
  void step() {
    ++time_;
    for (unsigned n = 0; n < nodes_.size(); ++n) {
      if (!drive(nodes_[n])) continue;
      nodes_[n].m->eval();
      sample(n);
      clock(*nodes_[n].m);
      end_write(*nodes_[n].m);
    }
  }
  // Until every packet has arrived; false: nothing arrived for `timeout` cycles.
  bool drain(uint64_t timeout = 20'000) {
    uint64_t last = time_, left = under_way_;
    while (under_way_ != 0) {
      step();
      if (under_way_ != left) last = time_, left = under_way_;
      if (time_ - last > timeout) return false;
    }
    return true;
  }
  bool wait_up() {
    for (unsigned i = 0; i < 10'000; ++i) {
      step();
      bool up = true;
      for (unsigned n = 0; n < nodes_.size(); ++n)
        for (unsigned p = 0; p < shape_.ports(); ++p) up &= !shape_.across(n, p) || state(n, p) == links_up;
      if (up) return true;
    }
    return false;
  }

  // ---- results
  unsigned state(unsigned node, unsigned port) const { return nodes_[node].m->sts_states_o >> 2 * port & 3; }
  uint64_t time() const { return time_; }
  uint64_t under_way() const { return under_way_; }
  uint64_t overtaken() const { return overtaken_; }  // packets that may pass others and did
  uint64_t errors() const { return errors_; }
  const std::string& first_error() const { return first_error_; }
  const cluster_counters& count() const { return count_; }
  const topology& shape() const { return shape_; }
  std::mt19937_64& rng() { return rng_; }
  // Every packet that arrives, next to the checks here.
  std::function<void(unsigned at, const nic::packet&)> on_arrival;
  // Times of the last packet that arrived.
  uint64_t arrived_at = 0, left_at = 0;
  uint64_t last_at(unsigned node) const { return nodes_[node].last_at; }  // the same of those for a node
  // Packets that are known to be lost do not arrive any more.
  void forget() {
    sent_.clear();
    loose_.clear();
    under_way_ = 0;
    strict_ = false;
  }
  // Flits that left by a port since the beginning.
  uint64_t flits(unsigned node, unsigned port) const { return nodes_[node].flits[port]; }

 private:
  struct on_wire {
    flit f;
    uint64_t at;
  };
  struct node {
    unsigned at = 0;  // its number
    std::unique_ptr<Model> m;
    unsigned deaf = 0;     // virtual channels that its units take nothing of
    uint64_t np_mark = 0;  // P packets begun before the NP packet on offer was offered
    std::array<source, unit_channels> tx;
    std::array<sink, unit_channels> rx;
    std::array<std::deque<on_wire>, built_links> wire;  // towards this node
    std::array<uint64_t, built_links> flits{};
    uint64_t last_at = 0;
    bool woken = true;  // a pin changed
  };
  using flow = std::tuple<unsigned, unsigned, unsigned>;  // source, destination, virtual channel
  static constexpr uint8_t group_bit = 0x80;              // OP_MULTICAST
  static bool to_group(const nic::packet& p) { return p.op & group_bit && p.vc % unit_channels == 0; }

  void write_line(unsigned at) {
    nodes_[at].woken = true;
    if (under_traffic) return;
    clock(*nodes_[at].m);
    end_write(*nodes_[at].m);
  }
  // Without `set` the other pins are of no importance.
  static void end_write(Model& m) {
    m.cfg_route_set_i = m.cfg_group_set_i = 0;
    m.cfg_route_i ^= 0x3ff;
    m.cfg_group_line_i ^= 0x1ffff;
  }
  bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(rng_) < p; }
  void fail(const std::string& what) {
    if (errors_++ == 0) first_error_ = what;
  }

  // false: the node's clock may stand still in this cycle (docs/tlp-boundary.md).
  bool drive(node& n) {
    Model& m = *n.m;
    m.time_i = time_;
    unsigned valid = 0, sop = 0, eop = 0, ready = 0, rx_valid = 0, phy_ready = 0;
    for (unsigned v = 0; v < unit_channels; ++v) {
      ready |= unsigned(chance(takes) && !(n.deaf >> v & 1)) << v;
      const bool standing = n.tx[v].offered;
      const beat b = n.tx[v].offer(chance(offers));
      if (!b.valid) continue;
      if (v == 1 && b.sop && !standing) n.np_mark = posted_begun_[{n.at, n.tx[v].queue.front().dst}];
      valid |= 1u << v;
      sop |= unsigned(b.sop) << v;
      eop |= unsigned(b.eop) << v;
      for (unsigned i = 0; i < nic::header_dws; ++i)
        m.tx_hdr_i[v * nic::header_dws + i] = b.sop ? b.hdr[i] : 0xdeadbeef;
      for (unsigned i = 0; i < words; ++i) put_word(m.tx_data_i, v * words + i, b.data[i]);
    }
    for (unsigned p = 0; p < built_links; ++p) {
      phy_ready |= unsigned(chance(phy)) << p;
      auto& w = n.wire[p];
      if (w.empty() || w.front().at > time_) continue;
      rx_valid |= 1u << p;
      m.link_rx_kind_i = (m.link_rx_kind_i & ~(3u << 2 * p)) | unsigned(w.front().f.kind) << 2 * p;
      for (unsigned i = 0; i < words; ++i)
        put_word(m.link_rx_data_i, p * words + i, uint32_t(w.front().f.data[i / 2] >> 32 * (i & 1)));
      w.pop_front();
    }
    m.tx_valid_i = valid;
    m.tx_sop_i = sop;
    m.tx_eop_i = eop;
    m.rx_ready_i = ready;
    m.link_rx_valid_i = rx_valid;
    m.link_tx_ready_i = phy_ready;
    const bool tick = time_ % nic::nic_core::tick_cycles == 0;
    return m.busy_o || valid != 0 || rx_valid != 0 || (m.timer_o && tick) || std::exchange(n.woken, false);
  }

  void sample(unsigned at) {
    node& n = nodes_[at];
    Model& m = *n.m;
    for (unsigned v = 0; v < unit_channels; ++v) {
      if (m.tx_valid_i >> v & m.tx_ready_o >> v & 1) {
        if (n.tx[v].index == 0) begin(at, v);
        n.tx[v].taken();
      }
      beat b{.valid = bool(m.rx_valid_o >> v & 1), .sop = bool(m.rx_sop_o >> v & 1), .eop = bool(m.rx_eop_o >> v & 1)};
      if (b.valid) {
        for (unsigned i = 0; i < nic::header_dws; ++i) b.hdr[i] = m.rx_hdr_o[v * nic::header_dws + i];
        const bool payload = (b.hdr[0] >> 29 | (b.hdr[1] & 0xffu)) != 0 || !b.sop;
        for (unsigned i = 0; i < words && payload; ++i) b.data[i] = m.rx_data_o[v * words + i];
      }
      n.rx[v].see(b, m.rx_ready_i >> v & 1);
      if (n.rx[v].unstable != 0) fail("a packet changed while it was on offer");
      while (!n.rx[v].got.empty()) {
        arrived(at, v, n.rx[v].got.front());
        n.rx[v].got.pop_front();
      }
    }
    count_.tx_packets += m.cnt_tx_packets_o;
    count_.rx_packets += m.cnt_rx_packets_o;
    const link_events e = link_events::of(m.ev_o);
    count_.dead += e.dead;
    count_.up += e.up;
    count_.stores_lost += (e.lost & 1) + (e.lost >> 1);
    count_.bad += e.bad;
    count_.no_route += e.no_route;
    count_.cut += e.cut;
    for (unsigned p = 0; p < built_links; ++p) {
      if (!(m.link_tx_valid_o >> p & m.link_tx_ready_i >> p & 1)) continue;
      const auto far = shape_.across(at, p);
      if (!far || !(nodes_[far->node].m->link_rx_up_i >> far->port & 1)) continue;
      flit f{.kind = nic::flit_kind(m.link_tx_kind_o >> 2 * p & 3)};
      for (unsigned i = 0; i < words; ++i) f.data[i / 2] |= uint64_t{m.link_tx_data_o[p * words + i]} << 32 * (i & 1);
      nodes_[far->node].wire[far->port].push_back({f, time_ + latency});
      ++n.flits[p];
    }
  }

  // The first beat of a packet was accepted. An NP packet must arrive after the P packets of its flow that began before
  // it was offered.
  void begin(unsigned at, unsigned v) {
    const nic::packet& p = n_front(at, v);
    left_at = time_;
    if (to_group(p))
      for (const unsigned member : members_[at]) ++posted_begun_[{at, member}];
    else if (v == 0)
      ++posted_begun_[{at, p.dst}];
    if (v == 1) np_mark_[{at, p.dst}].push_back(nodes_[at].np_mark);
  }
  const nic::packet& n_front(unsigned at, unsigned v) const { return nodes_[at].tx[v].queue.front(); }

  // As it arrives: a hop less at each node on the way, unless routes have changed, and the lane of the last link.
  nic::packet as_it_arrives(nic::packet p, unsigned at, const nic::packet& got) const {
    p.hops = strict_ ? uint8_t(255 - (shape_.hops(p.src, at) - 1)) : got.hops;
    p.vc = got.vc;
    return p;
  }

  // One that may pass others: any of those on their way.
  void arrived_loose(unsigned at, unsigned v, const nic::packet& p) {
    auto& expected = loose_[{p.src, at, v}];
    const auto it = std::ranges::find_if(expected, [&](const auto& e) { return same(as_it_arrives(e, at, p), p); });
    if (it == expected.end()) {
      if (strict_) fail("an unordered packet arrived changed, twice or unsent");
      return;
    }
    overtaken_ += it != expected.begin();
    expected.erase(it);
    --under_way_;
  }

  void arrived(unsigned at, unsigned v, const nic::packet& p) {
    arrived_at = nodes_[at].last_at = time_;
    if (on_arrival) on_arrival(at, p);
    if (p.dst != at && !to_group(p)) fail("a packet arrived at another node");
    if (p.unordered()) return arrived_loose(at, v, p);
    auto& expected = sent_[{p.src, at, v}];
    if (expected.empty()) {
      if (strict_) fail("a packet arrived that nobody sent");
      return;
    }
    const nic::packet want = as_it_arrives(expected.front(), at, p);
    if (p.vc % unit_channels != v) fail("a packet arrived in another virtual channel");
    if (strict_ && !same(want, p)) fail("a packet arrived changed, or out of order");
    expected.pop_front();
    --under_way_;
    if (v == 0) ++posted_done_[{p.src, at}];
    if (v == 1 && strict_) {
      auto& marks = np_mark_[{p.src, at}];
      if (posted_done_[{p.src, at}] < marks.front()) fail("an NP packet passed a P packet");
      marks.pop_front();
    }
  }

  static void clock(Model& m) {
    m.clk_i = 1;
    m.eval();
    m.clk_i = 0;
    m.eval();
  }

  topology shape_;
  std::mt19937_64 rng_;
  std::vector<node> nodes_;
  std::map<flow, std::deque<nic::packet>> sent_, loose_;  // in order, and those that may pass others
  std::map<unsigned, std::vector<unsigned>> members_;     // of the group of a node
  std::map<std::pair<unsigned, unsigned>, uint64_t> posted_begun_, posted_done_;
  std::map<std::pair<unsigned, unsigned>, std::deque<uint64_t>> np_mark_;
  uint64_t time_ = 0, under_way_ = 0, errors_ = 0, overtaken_ = 0;
  bool strict_ = true;
  std::string first_error_;
  cluster_counters count_;
};

}  // namespace ggas::test
