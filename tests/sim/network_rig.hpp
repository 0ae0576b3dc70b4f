// SPDX-License-Identifier: Apache-2.0
// The network between NICs with nodes that note what comes, for its tests.
#pragma once

#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "sim/fabric/network.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/pcie/port.hpp"

namespace ggas::test {

using nic::packet;
using nic::vc;

inline constexpr fabric::network_config usual{.latency_ps = 100'000,
                                              .flit_ps = 5'000,
                                              .flit_bits = 64,
                                              .hop_ps = 40'000,
                                              .beat_ps = 5'000,
                                              .units = 256,
                                              .control_gap = 0};

// Takes packets, all of them or by lot, and notes when.
struct node : fabric::packet_sink {
  bool deliver(packet& p) override {
    if (refuse && (*refuse)() % 4 == 0) {
      refused = true;
      return false;
    }
    got.emplace_back(pcie::now_ps(), p);
    if (on_packet) on_packet(p);
    return true;
  }
  void left() override {}
  void lost(const packet& p, bool /*no_way*/) override { gone.push_back(p); }
  std::vector<std::pair<uint64_t, packet>> got;
  std::vector<packet> gone;
  std::function<void(const packet&)> on_packet;
  std::mt19937_64* refuse = nullptr;
  bool refused = false;
};

struct rig {
  rig(const char* shape, unsigned n, const fabric::network_config& cfg) : nodes(n) {
    k.enter();
    net = std::make_unique<fabric::network>("network", *fabric::topology::parse(shape, n), cfg);
    for (unsigned i = 0; i < n; ++i) net->attach(i, nodes[i]);
  }
  ~rig() {
    k.enter();
    net.reset();
  }
  void run(uint64_t ps) {
    k.run_until([] { return false; }, ps);
  }
  // A group of `root` with all other nodes; its number is that of `root`.
  void group(unsigned root) {
    std::vector<unsigned> all(nodes.size());
    std::iota(all.begin(), all.end(), 0u);
    for (const auto& line : net->shape().tree(root, all)) net->set_group_line(root, line, true);
  }
  size_t arrived() const {
    size_t sum = 0;
    for (const node& n : nodes) sum += n.got.size();
    return sum;
  }
  sim::kernel k;
  std::vector<node> nodes;
  std::unique_ptr<fabric::network> net;
};

inline packet make(unsigned from, unsigned to, vc channel, unsigned dws, uint16_t tag = 0) {
  packet p{.dst = uint16_t(to), .src = uint16_t(from), .len_dw = uint16_t(dws), .vc = uint8_t(channel), .tag = tag};
  p.data.assign(dws, tag);
  return p;
}

}  // namespace ggas::test
