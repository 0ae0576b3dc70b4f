// SPDX-License-Identifier: Apache-2.0
// Three NICs with two links, each cabled to both others, and their hosts. Answers between nodes 0 and 1 have a second
// choice of route, by node 2. The root of group n is node n.
#pragma once

#include <array>
#include <functional>
#include <memory>

#include "tests/rtl/harness/link_channel.hpp"
#include "tests/rtl/harness/machine.hpp"

namespace ggas::test {

class triangle : public machine {
 public:
  static constexpr unsigned size = 3, width = 64;
#ifdef GGAS_MTU
  static constexpr unsigned mtu = GGAS_MTU;
#else
  static constexpr unsigned mtu = 256;
#endif
  static constexpr unsigned slow = mtu > 256 ? 4 : 1;  // times that packets of this length take longer
  static constexpr uint64_t link_ctrl = 32 << 8 | 2048 * slow << 16;
  explicit triangle(uint64_t seed);

  unsigned nodes() const override { return size; }
  host_model& host(unsigned n) override { return *nodes_[n].host; }
  nic::nic_core& nic(unsigned n) { return *nodes_[n].nic; }
  link_channel& wire(unsigned from, unsigned to) { return *nodes_[from].out[port(from, to)]; }
  void step() override;
  std::function<void()> on_step;                                  // software next to the test
  std::function<void(unsigned at, const pcie::tlp&)> on_tlp_out;  // by the NIC of a node

  static unsigned port(unsigned from, unsigned to) { return (to + size - from) % size - 1; }
  // Both directions and the signal at both ends.
  void cable(unsigned a, unsigned b, bool on);
  bool up(unsigned a, unsigned b);  // at both ends, as LINKS says
  // Node, tables and watchdog of a NIC; LINK_PEER is left alone.
  void set_up_network(unsigned n);
  void set_group(unsigned n, unsigned group, bool valid);
  void set_second(unsigned n, bool on);  // only nodes 0 and 1 have one
  void peers(bool valid);
  // Retrains what is dead until all cables are up.
  bool retrain();

 private:
  struct node {
    std::unique_ptr<nic::nic_core> nic;
    std::unique_ptr<host_model> host;
    std::array<std::unique_ptr<link_channel>, size - 1> out;
    bool stepped = false;
  };
  bool end_up(unsigned a, unsigned b);
  std::array<node, size> nodes_;
};

}  // namespace ggas::test
