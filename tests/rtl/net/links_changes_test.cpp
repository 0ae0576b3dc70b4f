// SPDX-License-Identifier: Apache-2.0
// Lines of the tables of routes and of groups are written while packets that use them are offered. Tests named Long...
// send a million packets, or GGAS_TEST_ROUNDS. GGAS_MTU: of NICs with another MTU.
#ifdef GGAS_MTU
#include "Vlinks64_4k.h"
#endif
#include "tests/rtl/harness/rng.hpp"
#include "tests/rtl/net/links_suite.hpp"

namespace ggas::test {
namespace {

#ifdef GGAS_MTU
using changing = testing::Types<cluster<Vlinks64_4k, 64>>;
constexpr unsigned longest = GGAS_MTU / 4;  // payload, DW
#else
using changing = all_widths;
constexpr unsigned longest = 64;
#endif

template <class C>
struct LinksChangesTest : LinksTest<C> {
  static constexpr unsigned batch = 400;      // packets that each node offers at a time
  static constexpr unsigned limit = 400'000;  // cycles that they take at most

  // Each store of each node goes by the one line or by the other.
  static void lines_of_groups(unsigned stores) {
    constexpr unsigned nodes = 5, all = nodes * batch;
    auto c = LinksTest<C>::make("full", nodes);
    LinksTest<C>::groups(c);
    ASSERT_TRUE(c.wait_up());
    c.offers = 0.9;
    std::map<uint64_t, std::vector<unsigned>> got;  // nodes, by the address of the store
    c.on_arrival = [&](unsigned at, const nic::packet& p) { got[p.addr].push_back(at); };  // it checks instead of c
    const auto members = [&](unsigned root, unsigned port) {  // through this port and the next one
      return std::vector{c.shape().across(root, port)->node, c.shape().across(root, port + 1)->node};
    };
    const auto turn = [&](unsigned root) {
      const auto branch = fabric::group_line::branch;
      const unsigned port = c.rng()() % 2 * 2;
      c.group_line(root, {.node = root, .branches = uint16_t(branch(port, 0) | branch(port + 1, 0))});
    };
    for (unsigned root = 0; root < nodes; ++root) turn(root);
    c.under_traffic = true;
    for (unsigned done = 0; done < stores; done += all) {
      got.clear();
      for (unsigned i = 0; i < all; ++i) {
        auto p = LinksTest<C>::plain(i % nodes, 0, i % 3 ? 2 : longest * 5 / 8);
        p.op = nic::op_multicast;
        p.addr = 8ull * (done + i);
        c.send(i % nodes, p);
      }
      c.forget();
      const auto missing = [&] {
        return got.size() < all || std::ranges::any_of(got, [](const auto& g) { return g.second.size() < 2; });
      };
      for (unsigned i = 0; i < limit && (i % 64 || missing()); ++i) {
        for (unsigned root = 0; root < nodes; ++root)
          if (c.rng()() % 5 == 0) turn(root);
        c.step();
      }
      ASSERT_EQ(got.size(), all);
      for (auto& [address, at] : got) {
        std::ranges::sort(at);
        const unsigned root = unsigned(address / 8 % nodes);
        ASSERT_TRUE(at == members(root, 0) || at == members(root, 2)) << address << ": " << testing::PrintToString(at);
      }
    }
    got.clear();
    for (unsigned i = 0; i < 2000; ++i) c.step();
    EXPECT_TRUE(got.empty());
    EXPECT_EQ(c.count().bad + c.count().dead + c.count().no_route, 0u);
  }

  // Each node sends to the next one, directly or over one of the others. No packet is lost, doubled or changed, and no
  // link dies.
  static void routes(unsigned packets) {
    constexpr unsigned nodes = 4, all = nodes * batch;
    struct waiting {
      unsigned to, len_dw;
    };
    auto c = LinksTest<C>::make("full", nodes);
    const auto next = [](unsigned node) { return (node + 1) % nodes; };
    // Packets leave the node that they pass in the other lane, so that no buffers wait for each other.
    for (unsigned at = 0; at < nodes; ++at)
      for (unsigned to = 0; to < nodes; ++to)
        if (to != at && to != next(at)) c.route(at, to, topology::step{c.shape().next(at, to).port, 1});
    ASSERT_TRUE(c.wait_up());
    c.offers = 0.9;
    std::map<uint64_t, waiting> sent;
    c.on_arrival = [&](unsigned at, const nic::packet& p) {
      const auto it = sent.find(p.addr);
      ASSERT_TRUE(it != sent.end()) << "unsent, or twice";
      EXPECT_EQ(at, it->second.to);
      EXPECT_EQ(p.len_dw, it->second.len_dw);
      for (const uint32_t dw : p.data) EXPECT_EQ(dw, uint32_t(p.addr));
      sent.erase(it);
    };
    c.under_traffic = true;
    for (unsigned done = 0; done < packets; done += all) {
      for (unsigned i = 0; i < all; ++i) {
        const unsigned from = i % nodes, vc = i / nodes % 4;
        auto p = LinksTest<C>::plain(next(from), vc, vc == 1 ? 0 : 2 + i % 30 * longest / 64);
        p.addr = 8ull * (done + i);
        std::ranges::fill(p.data, uint32_t(p.addr));
        sent[p.addr] = {next(from), p.len_dw};
        c.send(from, p);
      }
      c.forget();
      for (unsigned i = 0; i < limit && !sent.empty(); ++i) {
        for (unsigned from = 0; from < nodes; ++from)
          if (c.rng()() % 5 == 0) c.route(from, next(from), topology::step{unsigned(c.rng()() % 3), 0});
        c.step();
      }
      ASSERT_EQ(sent.size(), 0u);
    }
    EXPECT_EQ(c.count().bad + c.count().dead + c.count().no_route, 0u);
  }
};
TYPED_TEST_SUITE(LinksChangesTest, changing);

TYPED_TEST(LinksChangesTest, LinesOfGroupsChangeUnderTraffic) { this->lines_of_groups(this->batch); }
TYPED_TEST(LinksChangesTest, RoutesChangeUnderTraffic) { this->routes(this->batch); }
TYPED_TEST(LinksChangesTest, LongLinesOfGroups) { this->lines_of_groups(test_rounds(1'000'000)); }
TYPED_TEST(LinksChangesTest, LongRoutes) { this->routes(test_rounds(1'000'000)); }

}  // namespace
}  // namespace ggas::test
