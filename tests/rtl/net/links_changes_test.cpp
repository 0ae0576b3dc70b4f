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
using changing = widths;
constexpr unsigned longest = 64;
#endif

template <class C>
struct LinksChangesTest : LinksTest<C> {
  static constexpr unsigned batch = 400;      // packets offered at a time
  static constexpr unsigned limit = 400'000;  // cycles that they take at most

  // Each store goes by the one line or by the other.
  static void lines_of_groups(unsigned stores) {
    auto c = LinksTest<C>::make("full", 5);
    c.group(0, {1, 2, 3, 4});
    ASSERT_TRUE(c.wait_up());
    c.offers = 0.9;
    std::map<uint64_t, std::vector<unsigned>> got;  // nodes, by the address of the store
    c.on_arrival = [&](unsigned at, const nic::packet& p) { got[p.addr].push_back(at); };  // it checks instead of c
    const auto turn = [&] {
      const auto branch = fabric::group_line::branch;
      const bool low = c.rng()() % 2;
      const uint16_t ways = low ? branch(0, 0) | branch(1, 0) : branch(2, 0) | branch(3, 0);
      c.group_line(0, {.node = 0, .branches = ways});
    };
    turn();
    c.under_traffic = true;
    for (unsigned done = 0; done < stores; done += batch) {
      got.clear();
      for (unsigned i = 0; i < batch; ++i) {
        auto p = LinksTest<C>::plain(0, 0, i % 3 ? 2 : longest * 5 / 8);
        p.op = nic::op_multicast;
        p.addr = 8ull * (done + i);
        c.send(0, p);
      }
      c.forget();
      const auto missing = [&] {
        return got.size() < batch || std::ranges::any_of(got, [](const auto& g) { return g.second.size() < 2; });
      };
      for (unsigned i = 0; i < limit && (i % 64 || missing()); ++i) {
        if (c.rng()() % 5 == 0) turn();
        c.step();
      }
      ASSERT_EQ(got.size(), batch);
      for (auto& [address, nodes] : got) {
        std::ranges::sort(nodes);
        ASSERT_TRUE(nodes == std::vector<unsigned>({1, 2}) || nodes == std::vector<unsigned>({3, 4}))
            << address << ": " << testing::PrintToString(nodes);
      }
    }
    got.clear();
    for (unsigned i = 0; i < 2000; ++i) c.step();
    EXPECT_TRUE(got.empty());
    EXPECT_EQ(c.count().bad + c.count().dead + c.count().no_route, 0u);
  }

  // No packet is lost, doubled or changed, and no link dies.
  static void routes(unsigned packets) {
    auto c = LinksTest<C>::make("full", 4);
    ASSERT_TRUE(c.wait_up());
    c.offers = 0.9;
    std::map<uint64_t, unsigned> sent;
    c.on_arrival = [&](unsigned at, const nic::packet& p) {
      EXPECT_EQ(at, 1u);
      const auto it = sent.find(p.addr);
      ASSERT_TRUE(it != sent.end()) << "unsent, or twice";
      EXPECT_EQ(p.len_dw, it->second);
      for (const uint32_t dw : p.data) EXPECT_EQ(dw, uint32_t(p.addr));
      sent.erase(it);
    };
    c.under_traffic = true;
    for (unsigned done = 0; done < packets; done += batch) {
      for (unsigned i = 0; i < batch; ++i) {
        const unsigned vc = i % 4;
        auto p = LinksTest<C>::plain(1, vc, vc == 1 ? 0 : 2 + i % 30 * longest / 64);
        p.addr = 8ull * (done + i);
        std::ranges::fill(p.data, uint32_t(p.addr));
        sent[p.addr] = p.len_dw;
        c.send(0, p);
      }
      c.forget();
      for (unsigned i = 0; i < limit && !sent.empty(); ++i) {
        // by itself, or over 2 or 3
        if (c.rng()() % 5 == 0) c.route(0, 1, topology::step{unsigned(c.rng()() % 3), 0});
        c.step();
      }
      ASSERT_EQ(sent.size(), 0u);
    }
    EXPECT_EQ(c.count().bad + c.count().dead + c.count().no_route, 0u);
  }
};
TYPED_TEST_SUITE(LinksChangesTest, changing);

TYPED_TEST(LinksChangesTest, LinesOfGroupsChangeUnderTraffic) { this->lines_of_groups(400); }
TYPED_TEST(LinksChangesTest, RoutesChangeUnderTraffic) { this->routes(400); }
TYPED_TEST(LinksChangesTest, LongLinesOfGroups) { this->lines_of_groups(test_rounds(1'000'000)); }
TYPED_TEST(LinksChangesTest, LongRoutes) { this->routes(test_rounds(1'000'000)); }

}  // namespace
}  // namespace ggas::test
