// SPDX-License-Identifier: Apache-2.0
// The typed test suite of links.sv: every test runs at 64 bit, in long tests at 512, too, and those of changes at 256.
// GGAS_SEED sets the seed.
#pragma once

#include <algorithm>
#include <numeric>

#if defined(GGAS_WIDTH_512) && !VM_COVERAGE
#include "Vlinks256.h"
#include "Vlinks512.h"
#endif
#include "Vlinks64.h"
#include "tests/rtl/net/cluster.hpp"
#include "tests/support/number_of.hpp"

namespace ggas::test {

using cluster64 = cluster<Vlinks64, 64>;

template <class C>
struct LinksTest : testing::Test {
  static C make(const char* text, unsigned nodes) { return C(topology::parse(text, nodes).value(), seed()); }
  static nic::packet plain(unsigned to, unsigned vc, unsigned dws) {
    nic::packet p;
    p.dst = uint16_t(to);
    p.vc = uint8_t(vc);
    p.len_dw = uint16_t(dws);
    p.data.assign(dws, 0x12345678);
    return p;
  }
  static void traffic(C& c, unsigned packets) {
    for (unsigned i = 0; i < packets; ++i) {
      const unsigned from = unsigned(c.rng()() % c.shape().nodes());
      const unsigned to = unsigned(c.rng()() % (c.shape().nodes() - 1));
      c.random_packet(from, to < from ? to : to + 1);
    }
  }
  // The same, a third of it to groups.
  static void mixed_traffic(C& c, unsigned packets) {
    for (unsigned i = 0; i < packets; ++i) {
      const unsigned from = unsigned(c.rng()() % c.shape().nodes());
      const unsigned to = unsigned(c.rng()() % (c.shape().nodes() - 1));
      if (c.rng()() % 3 == 0)
        c.random_multicast(from);
      else
        c.random_packet(from, to < from ? to : to + 1);
    }
  }
  // A group of each node: all nodes, or by lot.
  static std::vector<unsigned> everybody(C& c) {
    std::vector<unsigned> all(c.shape().nodes());
    std::iota(all.begin(), all.end(), 0u);
    return all;
  }
  static void groups(C& c, bool all = true) {
    for (unsigned root = 0; root < c.shape().nodes(); ++root) {
      std::vector<unsigned> members;
      for (unsigned n = 0; n < c.shape().nodes(); ++n)
        if (all || n == (root + 1) % c.shape().nodes() || c.rng()() % 2) members.push_back(n);
      c.group(root, members);
    }
  }
  static void all_arrive(C& c, unsigned packets) {
    ASSERT_TRUE(c.wait_up());
    traffic(c, packets);
    all_come(c, packets);
  }
  static void all_come(C& c, unsigned packets) {
    ASSERT_TRUE(c.drain()) << c.under_way() << " packets are stuck";
    EXPECT_EQ(c.errors(), 0u) << c.first_error();
    EXPECT_EQ(c.count().stores_lost + c.count().no_route + c.count().bad + c.count().dead, 0u);
    EXPECT_EQ(c.count().tx_packets, c.count().rx_packets);
    EXPECT_GE(c.count().tx_packets, packets);
  }
};
#if defined(GGAS_WIDTH_512) && !VM_COVERAGE
using cluster512 = cluster<Vlinks512, 512>;
using widths = testing::Types<cluster64, cluster512>;
using all_widths = testing::Types<cluster64, cluster<Vlinks256, 256>, cluster512>;
#else
using widths = testing::Types<cluster64>;
using all_widths = widths;
#endif

}  // namespace ggas::test
