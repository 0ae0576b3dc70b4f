// SPDX-License-Identifier: Apache-2.0
// Errors of one domain's stores are that domain's: its quiets learn of them, and those of others do not.
#include <map>
#include <set>

#include "tests/rtl/smfu/suite.hpp"

namespace ggas::test::smfu {
namespace {

using nic::net_status;

template <class T>
class smfu_domains : public suite<T> {
 protected:
  using base = suite<T>;
  using base::b;
  static constexpr unsigned first_page = 20, users = 6;
  static constexpr uint16_t domain_of(unsigned user) { return uint16_t(0x700 + 5 * user); }
  // Each user has a page with a context, and two pieces of the window: to node 2, and to node 3, which is in no route.
  void SetUp() override {
    base::SetUp();
    for (unsigned u = 0; u < users; ++u) {
      b.context(first_page + u, domain_of(u));
      for (unsigned far : {0u, 1u})
        b.interval(3 + 2 * u + far, place(u, far), place(u, far) + base::span, uint16_t(2 + far), true, home_export,
                   domain_of(u));
    }
  }
  static uint64_t place(unsigned user, unsigned far) { return base::window + (8 + 2 * user + far) * base::span; }
  // The status that a quiet of the page returns; node 2 answers with this, of a domain or of all.
  net_status quiet(unsigned page, net_status answer = net_status::ok, std::optional<uint16_t> domain = {}) {
    b.clear_outputs();
    b.host(quiet_read(7, 2, page));
    for (unsigned i = 0; i < 2000 && b.ld_cpl.all.empty(); ++i) {
      b.step();
      for (const auto& q : b.tx_np.all) {
        packet r = answer_to(q.t, answer);
        if (domain) r.domain = *domain, r.addr = 1;
        b.push(b.rx_rsp, r);
      }
      b.tx_np.all.clear();
    }
    EXPECT_EQ(b.ld_cpl.all.size(), 1u);
    return b.ld_cpl.all.empty() ? net_status::timeout : net_status(b.ld_cpl.all[0].t.data[0]);
  }
};
TYPED_TEST_SUITE(smfu_domains, widths);

TYPED_TEST(smfu_domains, refused_stores_of_one_user_fail_no_quiet_of_another) {
  auto& b = this->b;
  constexpr auto page = TestFixture::first_page;
  for (unsigned i = 0; i < 100; ++i) {
    const bool far = i % 2;
    b.host(this->store(this->place(0, far), 4));
    const net_status s = far ? net_status::unreachable : net_status::range;
    EXPECT_EQ(this->quiet(page + 1, far ? net_status::ok : s, this->domain_of(0)), net_status::ok) << i;
    EXPECT_EQ(this->quiet(page), s) << i;
    EXPECT_EQ(this->quiet(page), net_status::ok) << i;
    EXPECT_EQ(this->quiet(page + 40), s) << "a page without a context";
  }
}

TYPED_TEST(smfu_domains, what_concerns_all_is_reported_to_all) {
  auto& b = this->b;
  for (unsigned i = 0; i < 20; ++i) {
    b.host(this->store(this->place(i % 6, 0), 4));
    EXPECT_EQ(this->quiet(this->first_page, net_status::host_error), net_status::host_error);
    for (unsigned u = 1; u < this->users; ++u) EXPECT_EQ(this->quiet(this->first_page + u), net_status::host_error);
    for (unsigned u = 0; u < this->users; ++u) EXPECT_EQ(this->quiet(this->first_page + u), net_status::ok);
  }
}

// Users at random: each learns of an error if there was one of its domain or of all since it last asked, and only then.
TYPED_TEST(smfu_domains, nothing_vanishes_and_nothing_strays) {
  auto& b = this->b;
  std::map<unsigned, std::set<net_status>> due;
  for (unsigned i = 0; i < 1500; ++i) {
    std::optional<uint16_t> domain;
    net_status answer = net_status::ok;
    for (unsigned k = b.random(4); k > 0; --k) {
      const unsigned u = b.random(this->users), far = b.random(2);
      b.host(this->store(this->place(u, far), 1 + b.random(8)));
      if (far) due[u].insert(net_status::unreachable);
      if (!far && b.chance(40)) domain = this->domain_of(u), answer = net_status::range;
      if (!far && b.chance(5)) domain.reset(), answer = net_status::timeout;
    }
    const unsigned u = b.random(this->users);
    const bool asks = answer != net_status::ok;
    for (unsigned other = 0; other < this->users; ++other)
      if (asks && (!domain || *domain == this->domain_of(other))) due[other].insert(answer);
    const net_status found = this->quiet(this->first_page + u, answer, domain);
    if (due[u].empty())
      EXPECT_EQ(found, net_status::ok) << i;
    else
      EXPECT_TRUE(due[u].contains(found)) << i << ": " << unsigned(found);
    due[u].clear();
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

// The target says whose stores it refused since the node's last quiet: those of one domain, or of several.
TYPED_TEST(smfu_domains, target_says_whose_stores_it_refused) {
  auto& b = this->b;
  for (unsigned i = 0; i < 60; ++i) {
    std::set<uint16_t> domains;
    for (unsigned k = b.random(4); k > 0; --k) {
      packet p = net_packet(nic::op::store, 2, 0x100, 4);
      p.domain = uint16_t(0x900 + b.random(2));
      for (unsigned w = 0; w < 4; ++w) p.data.push_back(0);
      domains.insert(p.domain);
      b.push(b.rx_p, p);
    }
    ASSERT_TRUE(b.settle());
    b.clear_outputs();
    packet q = net_packet(nic::op::quiet, 2, 0, 0);
    q.tag = 0x4242;
    b.push(b.rx_np, q);
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.tx_rsp.all.size(), 1u);
    const packet& r = b.tx_rsp.all[0].t;
    EXPECT_EQ(r.status, uint8_t(domains.empty() ? net_status::ok : net_status::range)) << i;
    EXPECT_EQ(r.addr, domains.size() == 1 ? 1u : 0u) << i;
    if (domains.size() == 1) {
      EXPECT_EQ(r.domain, *domains.begin()) << i;
    }
  }
}

}  // namespace
}  // namespace ggas::test::smfu
