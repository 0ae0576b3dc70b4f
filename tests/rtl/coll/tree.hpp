// SPDX-License-Identifier: Apache-2.0
// Nodes that consist of a collective unit, a host and a network between them that keeps order from node to node and has
// random delays. The members of a group start operations and know their expected results.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "sim/nic/coll_format.hpp"
#include "tests/rtl/rma/unit/host.hpp"

namespace ggas::test::coll {

using namespace nic::coll;  // NOLINT: the words of the unit
using rma::dice;
using rma::drain;
using rma::feed;
using rma::memory;
using rma::packet;
using rma::tlp;

void shuffle(auto& all, dice& d) {
  for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[d.below(i)]);
}

inline constexpr unsigned ok = 0, link_down = 4, bad = 10;  // of an operation

struct group_config {
  unsigned number = 0, epoch = 0, owner = 0, block = 0, domain = 0;
  std::optional<unsigned> parent = {};
  std::vector<unsigned> children = {};
  uint64_t result = 0;

  uint64_t ctrl() const {
    return 1 | uint64_t{!parent} << 1 | uint64_t(children.size()) << 2 | uint64_t{block} << 8 | uint64_t{owner} << 16 |
           uint64_t{epoch} << 24 | uint64_t{domain} << 32;
  }
};

// What a member asks for, and its words.
struct demand : ask {
  std::vector<uint64_t> data = {};
  bool valid() const { return from_command(command()).status == nic::net_status::ok; }
};

template <class V, unsigned W>
class node {
 public:
  V v;
  feed<tlp, W> page;
  feed<packet, W> rx;
  drain<packet, W> tx{"tx"};
  drain<tlp, W> wr{"wr"};
  memory mem;
  uint64_t ev_page = 0, ev_packet = 0, now = 0;
  std::array<uint32_t, groups> ups = {};  // contributions that left, also if net dropped them
  unsigned number;
  // The SMFU: pages that a quiet was asked for, the chance a cycle that the last one is answered, and with what.
  std::vector<unsigned> quiets;
  unsigned quiet_percent = 10;
  std::function<unsigned(unsigned page)> quiet_answer = [](unsigned) { return ok; };

  node(unsigned n, unsigned mps) : number(n) {
    v.rst_ni = 0, v.clk_i = 0;
    v.cfg_node_i = uint16_t(n), v.cfg_mps_i = uint16_t(mps);
    v.eval();
    edge();
    v.rst_ni = 1, v.route_i = 1;
  }
  ~node() { end_model(v); }

  void write(dice& d, unsigned group, unsigned word, uint64_t data, unsigned bytes = 0xff) {
    v.ext_req_i = 1, v.ext_write_i = 1, v.ext_addr_i = uint8_t(group << 3 | word), v.ext_wdata_i = data;
    v.ext_wstrb_i = uint8_t(bytes);
    step(d);
    v.ext_req_i = 0, v.ext_write_i = 0;
  }
  uint64_t read(dice& d, unsigned group, unsigned word) {
    v.ext_req_i = 1, v.ext_write_i = 0, v.ext_addr_i = uint8_t(group << 3 | word);
    step(d);
    v.ext_req_i = 0;
    return v.ext_rdata_o;
  }
  void configure(dice& d, const group_config& g) {
    write(d, g.number, 1, g.parent.value_or(0));
    uint64_t children = 0;
    for (size_t c = 0; c < g.children.size(); ++c) children |= uint64_t{g.children[c]} << 16 * c;
    write(d, g.number, 2, children);
    write(d, g.number, 3, g.result);
    write(d, g.number, 0, g.ctrl());
  }
  // Command and data as one write or several, in any order.
  void start(dice& d, const group_config& g, const demand& x) {
    std::vector<uint64_t> words{x.command()};
    if (x.contributes) words.insert(words.end(), x.data.begin(), x.data.end());
    std::vector<std::pair<size_t, size_t>> parts;
    for (size_t at = 0; at < words.size();) {
      const size_t n = std::min<size_t>(words.size() - at, d.chance(50) ? 33 : 1 + d.below(8));
      parts.emplace_back(at, n);
      at += n;
    }
    shuffle(parts, d);
    for (const auto& [at, n] : parts)
      push(g.owner, g.block, at, {words.begin() + long(at), words.begin() + long(at + n)});
  }
  void push(unsigned vpid, unsigned block, size_t at, std::span<const uint64_t> words, unsigned first_be = 0xf,
            unsigned last_be = 0xf) {
    tlp t;
    t.kind = pcie::tlp_kind::mwr;
    t.bar = 4;
    t.addr = uint64_t{vpid} << 13 | 0x800 | block << 9 | at << 3;
    t.len_dw = uint16_t(2 * words.size());
    t.first_be = uint8_t(first_be), t.last_be = uint8_t(last_be);
    for (uint64_t w : words) t.data.push_back(uint32_t(w)), t.data.push_back(uint32_t(w >> 32));
    page.push(t);
  }
  bool idle() const { return page.empty() && rx.empty() && !v.busy_o && !quiet_open_; }

  void step(dice& d) {
    uint8_t sop = 0;
    page.drive(d, v.page_valid_i, sop, v.page_eop_i, v.page_hdr_i, v.page_data_i);
    rx.drive(d, v.rx_valid_i, sop, v.rx_eop_i, v.rx_hdr_i, v.rx_data_i);
    v.tx_ready_i = tx.ready(d), v.wr_ready_i = wr.ready(d), v.event_ready_i = d.chance(50);
    v.quiet_done_i = quiet_open_ && d.chance(quiet_percent);
    v.quiet_status_i = uint8_t(v.quiet_done_i ? quiet_answer(quiets.back()) : d.below(16));
    v.eval();
    page.sample(v.page_ready_o);
    rx.sample(v.rx_ready_o);
    // Without a route net takes packets and drops them, as it finds it with the first beat.
    if (v.tx_valid_o && v.tx_sop_o) leaves_ = v.route_i;
    if (tx.sample(now, v.tx_valid_o, v.tx_ready_i, v.tx_sop_o, v.tx_eop_o, v.tx_hdr_o, v.tx_data_o)) {
      const packet& p = tx.all.back();
      ups[p.tag % groups] += p.is(nic::op::coll_up) && !(p.addr & broken_bit);
      if (!leaves_) tx.all.pop_back();
    }
    if (wr.sample(now, v.wr_valid_o, v.wr_ready_i, v.wr_sop_o, v.wr_eop_o, v.wr_hdr_o, v.wr_data_o))
      mem.write(wr.all.back());
    if (v.quiet_done_i) quiet_open_ = false;
    if (v.quiet_o) ask_quiet();
    ev_page += v.ev_pulse_o >> 21 & 1, ev_packet += v.ev_pulse_o >> 16 & 1;
    edge();
    ++now;
  }

 private:
  void ask_quiet() {
    EXPECT_FALSE(quiet_open_) << "two quiets at once";
    quiets.push_back(v.quiet_page_o);
    quiet_open_ = true;
  }
  void edge() {
    v.clk_i = 1, v.eval();
    v.clk_i = 0, v.eval();
  }
  bool quiet_open_ = false, leaves_ = true;
};

template <class V, unsigned W>
class cluster {
 public:
  dice d{seed()};
  std::vector<std::unique_ptr<node<V, W>>> nodes;
  unsigned delivery = 20;                        // chance a cycle that a packet arrives
  bool sizes_change = false;                     // MPS, all the time
  std::set<std::pair<unsigned, unsigned>> dead;  // ways, from node to node, that lose what they carry
  std::function<void(const packet&)> watch;      // sees what leaves

  explicit cluster(unsigned n) {
    for (unsigned i = 0; i < n; ++i) nodes.push_back(std::make_unique<node<V, W>>(i, i % 3 == 0 ? 128 : 512));
  }
  void pace(unsigned percent) {
    delivery = percent;
    for (auto& n : nodes) n->page.percent = n->rx.percent = n->tx.percent = n->wr.percent = percent;
  }
  void step() {
    for (auto& n : nodes) {
      if (sizes_change && d.chance(10)) n->v.cfg_mps_i = d.chance(50) ? 128 : 512;
      n->step(d);
      for (packet& p : n->tx.all) {
        EXPECT_EQ(p.src, n->number);
        EXPECT_LT(p.dst, nodes.size());
        if (watch) watch(p);
        way_[{p.src, p.dst}].push_back(p);
      }
      n->tx.all.clear();
    }
    for (auto& [ends, packets] : way_) {
      if (packets.empty() || !d.chance(delivery)) continue;
      if (!dead.contains(ends)) nodes[ends.second]->rx.push(packets.front());
      packets.pop_front();
    }
  }
  bool drained() const {
    return std::ranges::all_of(way_, [](const auto& w) { return w.second.empty(); });
  }
  bool idle() const {
    return drained() && std::ranges::all_of(nodes, [](const auto& n) { return n->idle(); });
  }
  bool settle(unsigned limit = 20'000) {
    for (unsigned i = 0; i < limit; ++i) {
      step();
      if (idle()) return true;
    }
    return false;
  }
  // A tree of all nodes, or of some, at random.
  std::map<unsigned, group_config> tree(unsigned group, unsigned epoch, unsigned least = 1) {
    std::vector<unsigned> members(nodes.size());
    for (unsigned i = 0; i < members.size(); ++i) members[i] = i;
    shuffle(members, d);
    members.resize(least + d.below(members.size() - least + 1));
    std::map<unsigned, group_config> out;
    const unsigned domain = unsigned(d.below(65536)), width = 1 + unsigned(d.below(most_children));
    for (unsigned i = 0; i < members.size(); ++i) {
      group_config& g = out[members[i]];
      g.number = group, g.epoch = epoch, g.domain = domain;
      g.owner = 16 * group + unsigned(d.below(16)), g.block = unsigned(d.below(4));
      g.result = d.bits() << 10;
      if (i == 0) continue;
      unsigned up = 0;
      do {
        up = unsigned(d.below(i));
      } while (out[members[up]].children.size() >= width);
      g.parent = members[up];
      out[members[up]].children.push_back(members[i]);
    }
    return out;
  }

 private:
  std::map<std::pair<unsigned, unsigned>, std::deque<packet>> way_;
};

}  // namespace ggas::test::coll
