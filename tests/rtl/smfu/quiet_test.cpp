// SPDX-License-Identifier: Apache-2.0
// Quiet: order after stores, the code it returns, and every way it can fail.
#include <set>

#include "tests/rtl/smfu/suite.hpp"

namespace ggas::test::smfu {
namespace {

using nic::net_status;

template <class T>
class smfu_quiet : public suite<T> {
 protected:
  using base = suite<T>;
  using base::b;
  void store_to(unsigned place) { b.host(this->store(base::window + place * base::span, 2)); }
  // Code of the only completion there is.
  void expect_code(unsigned tag, net_status s, unsigned dw = 2) {
    ASSERT_EQ(b.ld_cpl.all.size(), 1u);
    const tlp& c = b.ld_cpl.all[0].t;
    EXPECT_EQ(c.kind, tlp_kind::cpld);
    EXPECT_EQ(c.tag, tag);
    EXPECT_EQ(c.len_dw, dw);
    EXPECT_EQ(c.byte_count, 4 * dw);
    EXPECT_EQ(c.lower_addr, 0u);
    EXPECT_EQ(c.data[0], uint32_t(s));
    if (dw == 2) {
      EXPECT_EQ(c.data[1], 0u);
    }
    b.ld_cpl.all.clear();
  }
  void expect_clean(unsigned tag) {
    b.clear_outputs();
    b.host(quiet_read(tag));
    EXPECT_TRUE(b.settle());
    expect_code(tag, net_status::ok);
    EXPECT_TRUE(b.tx_np.all.empty());
    EXPECT_TRUE(b.events.empty());
  }
};
TYPED_TEST_SUITE(smfu_quiet, widths);

TYPED_TEST(smfu_quiet, nothing_to_do) {
  auto& b = this->b;
  const uint64_t begin = b.now;
  b.host(quiet_read(4, 1));
  while (b.ld_cpl.all.empty() && b.now < begin + 20) b.step();
  EXPECT_TRUE(b.settle());
  this->expect_code(4, net_status::ok, 1);
  EXPECT_EQ(b.counters["quiets"], 1u);
}

TYPED_TEST(smfu_quiet, asks_every_node_behind_the_stores) {
  auto& b = this->b;
  b.tx_p.percent = 5;
  for (unsigned i = 0; i < 6; ++i) this->store_to(i % 2);
  b.host(quiet_read(9));
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.tx_np.all.size(), 2u);
  EXPECT_EQ(b.tx_np.all[0].t.dst, 2u) << "who was written first";
  EXPECT_EQ(b.tx_np.all[1].t.dst, 1u);
  for (const auto& s : b.tx_np.all) {
    EXPECT_TRUE(s.t.is(nic::op::quiet));
    EXPECT_GT(s.last, b.tx_p.all.back().last);
  }
  b.run(100);
  b.push(b.rx_rsp, answer_to(b.tx_np.all[1].t));
  b.run(100);
  EXPECT_TRUE(b.ld_cpl.all.empty()) << "one node has not answered";
  b.push(b.rx_rsp, answer_to(b.tx_np.all[0].t));
  EXPECT_TRUE(b.settle());
  this->expect_code(9, net_status::ok);
  this->expect_clean(10);
}

TYPED_TEST(smfu_quiet, further_reads_wait_in_order) {
  auto& b = this->b;
  this->store_to(0);
  for (unsigned i = 0; i < 12; ++i) b.host(quiet_read(i));
  b.run(300);
  ASSERT_EQ(b.tx_np.all.size(), 1u);
  EXPECT_TRUE(b.ld_cpl.all.empty());
  this->store_to(0);
  b.run(100);
  EXPECT_EQ(b.tx_p.all.size(), 2u) << "stores pass";
  nodes world(b);
  for (unsigned i = 0; i < 1000; ++i) world.step(), b.step();
  ASSERT_EQ(b.ld_cpl.all.size(), 12u);
  for (unsigned i = 0; i < 12; ++i) EXPECT_EQ(b.ld_cpl.all[i].t.tag, i);
  EXPECT_EQ(b.tx_np.all.size(), 2u) << "the second store has to be asked for once more";
}

TYPED_TEST(smfu_quiet, time_out) {
  auto& b = this->b;
  b.cfg.timeout_load = 2;
  this->store_to(0);
  this->store_to(1);
  b.host(quiet_read(3));
  EXPECT_TRUE(b.settle());
  const auto asked = b.tx_np.all;
  ASSERT_EQ(asked.size(), 2u);
  b.push(b.rx_rsp, answer_to(asked[1].t));
  EXPECT_TRUE(b.v.timer_o);
  b.run(4000);
  this->expect_code(3, net_status::timeout);
  this->expect_event(GGAS_EV_QUIET_FAILED, 2, uint64_t(net_status::timeout));
  EXPECT_FALSE(b.v.timer_o);
  b.clear_outputs();
  b.push(b.rx_rsp, answer_to(asked[0].t));
  EXPECT_TRUE(b.settle());
  this->expect_event(GGAS_EV_UNEXPECTED_RSP, 2, asked[0].t.tag);
  this->expect_clean(5);
}

TYPED_TEST(smfu_quiet, time_out_behind_a_stuck_network) {
  auto& b = this->b;
  b.cfg.timeout_load = 2;
  b.tx_np.percent = 0;
  this->store_to(0);
  this->store_to(1);
  b.host(quiet_read(3));
  b.run(5000);
  this->expect_code(3, net_status::timeout);
  EXPECT_EQ(b.event_count[GGAS_EV_QUIET_FAILED], 2u);
}

TYPED_TEST(smfu_quiet, link_death_while_waiting) {
  auto& b = this->b;
  this->store_to(0);
  this->store_to(1);
  b.host(quiet_read(3));
  EXPECT_TRUE(b.settle());
  b.v.link_up_i = 0;
  b.run(100);
  EXPECT_TRUE(b.ld_cpl.all.empty()) << "our own answer is still to come";
  b.push(b.rx_rsp, answer_to(b.tx_np.all[1].t));
  EXPECT_TRUE(b.settle());
  this->expect_code(3, net_status::link_down);
  this->expect_event(GGAS_EV_QUIET_FAILED, 2, uint64_t(net_status::link_down));
  this->expect_clean(5);
}

// The network accepts nothing while the unit wants to ask two nodes. Then the route to the second node breaks. It may
// have returned when the network accepts the question to the first node.
TYPED_TEST(smfu_quiet, link_death_before_a_node_is_asked) {
  auto& b = this->b;
  for (const bool back : {false, true}) {
    this->store_to(1);
    this->store_to(0);
    EXPECT_TRUE(b.settle());
    b.clear_outputs();
    b.tx_np.percent = 0;
    b.host(this->load(TestFixture::window + TestFixture::span, 1, 8));
    b.host(quiet_read(3));
    b.run(100);
    b.v.link_up_i = 0;
    b.run(50);
    b.v.link_up_i = back;
    b.run(50);
    EXPECT_TRUE(b.tx_np.all.empty()) << "the first node was not asked yet";
    b.tx_np.percent = 100;
    EXPECT_TRUE(b.settle());
    this->expect_event(GGAS_EV_QUIET_FAILED, 2, uint64_t(net_status::link_down));
    ASSERT_EQ(b.tx_np.all.size(), 2u);
    b.push(b.rx_rsp, answer_to(b.tx_np.all[0].t));
    EXPECT_TRUE(b.settle());
    ASSERT_EQ(b.ld_cpl.all.size(), 1u);
    EXPECT_EQ(b.ld_cpl.all[0].t.tag, 8u);
    b.ld_cpl.all.clear();
    EXPECT_EQ(b.tx_np.all[1].t.dst, 1u);
    b.push(b.rx_rsp, answer_to(b.tx_np.all[1].t));
    EXPECT_TRUE(b.settle());
    this->expect_code(3, net_status::link_down);
    this->expect_clean(5);
    b.v.link_up_i = 1;
    EXPECT_TRUE(b.settle());
  }
}

TYPED_TEST(smfu_quiet, link_down_before) {
  auto& b = this->b;
  this->store_to(0);
  EXPECT_TRUE(b.settle());
  b.v.link_up_i = 0;
  EXPECT_TRUE(b.settle());
  b.clear_outputs();
  b.host(quiet_read(3));
  EXPECT_TRUE(b.settle());
  this->expect_code(3, net_status::link_down);
  this->expect_event(GGAS_EV_QUIET_FAILED, 2, uint64_t(net_status::link_down));
  this->expect_clean(4);
}

// The stores may have been lost although the link works again.
TYPED_TEST(smfu_quiet, link_died_and_came_back) {
  auto& b = this->b;
  this->store_to(0);
  EXPECT_TRUE(b.settle());
  b.v.link_up_i = 0;
  EXPECT_TRUE(b.settle());
  b.v.link_up_i = 1;
  EXPECT_TRUE(b.settle());
  b.host(quiet_read(3));
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.tx_np.all.size(), 1u);
  b.push(b.rx_rsp, answer_to(b.tx_np.all[0].t));
  EXPECT_TRUE(b.settle());
  this->expect_code(3, net_status::link_down);
  this->expect_clean(4);
}

TYPED_TEST(smfu_quiet, store_to_a_dead_link_is_remembered) {
  auto& b = this->b;
  b.v.link_up_i = 0;
  this->store_to(0);
  this->store_to(2);
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(b.event_count[GGAS_EV_STORE_UNREACHABLE], 2u);
  b.host(quiet_read(3));
  EXPECT_TRUE(b.settle());
  this->expect_code(3, net_status::link_down);  // the first of the two
  this->expect_clean(4);
}

TYPED_TEST(smfu_quiet, target_reports_an_error) {
  auto& b = this->b;
  this->store_to(0);
  b.host(quiet_read(3));
  EXPECT_TRUE(b.settle());
  b.push(b.rx_rsp, answer_to(b.tx_np.all.at(0).t, net_status::host_error));
  EXPECT_TRUE(b.settle());
  this->expect_code(3, net_status::host_error);
  this->expect_event(GGAS_EV_QUIET_FAILED, 2, uint64_t(net_status::host_error));
}

// An error is reported to every page, not only to the one that asks first: each page gets the errors since its own last
// quiet.
TYPED_TEST(smfu_quiet, every_page_hears_of_an_error) {
  auto& b = this->b;
  const auto code = [&](unsigned page) {
    b.clear_outputs();
    b.host(quiet_read(page & 63, 1, page));
    EXPECT_TRUE(b.settle());
    EXPECT_EQ(b.ld_cpl.all.size(), 1u);
    return b.ld_cpl.all.empty() ? ~0u : b.ld_cpl.all[0].t.data[0];
  };
  for (unsigned page : {0u, 7u, 255u}) EXPECT_EQ(code(page), 0u) << page;
  this->store_to(2);  // no route
  EXPECT_TRUE(b.settle());
  const auto unreachable = uint32_t(net_status::unreachable), link_down = uint32_t(net_status::link_down);
  for (unsigned page : {255u, 0u, 9u}) EXPECT_EQ(code(page), unreachable) << page;
  for (unsigned page : {255u, 9u}) EXPECT_EQ(code(page), 0u) << page;
  b.v.link_up_i = 0;
  this->store_to(0);
  this->store_to(2);
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(code(9), link_down) << "the first of two";
  EXPECT_EQ(code(9), 0u);
  EXPECT_NE(code(7), 0u) << "both errors are news to this page";
  EXPECT_EQ(code(7), 0u);
  EXPECT_EQ(code(0), link_down);
  EXPECT_EQ(code(254), link_down) << "it never asked before";
}

TYPED_TEST(smfu_quiet, errors_and_pages_at_random) {
  auto& b = this->b;
  std::map<unsigned, bool> news;
  bool any = false;
  b.v.link_up_i = 0;
  for (unsigned k = 0; k < 2000; ++k) {
    if (b.chance(20)) {
      this->store_to(b.chance(50) ? 0 : 2);
      EXPECT_TRUE(b.settle());
      any = true;
      for (auto& [page, due] : news) due = true;
    }
    const unsigned page = b.random(12) * 23;
    const bool due = news.contains(page) ? news[page] : any;
    b.clear_outputs();
    b.host(quiet_read(1, 1, page));
    EXPECT_TRUE(b.settle());
    ASSERT_EQ(b.ld_cpl.all.size(), 1u);
    ASSERT_EQ(b.ld_cpl.all[0].t.data[0] != 0, due) << "page " << page << " step " << k;
    news[page] = false;
  }
}

// ---------------------------------------------------------------- fences of another unit

// Every store taken before it leaves first, however slowly, and its target has answered before the fence is.
TYPED_TEST(smfu_quiet, fence_behind_the_stores) {
  auto& b = this->b;
  b.tx_p.percent = 3;
  for (unsigned turn = 0; turn < 10; ++turn) {
    b.clear_outputs();
    const unsigned stores = 1 + b.random(8);
    for (unsigned i = 0; i < stores; ++i) this->store_to(b.random(2));
    while (!b.win_p.beats.empty()) b.step();
    b.fence(7);
    this->store_to(1);  // after it
    EXPECT_TRUE(b.settle());
    ASSERT_EQ(b.tx_p.all.size(), stores + 1);
    std::set<unsigned> targets, asked;
    for (unsigned i = 0; i < stores; ++i) targets.insert(b.tx_p.all[i].t.dst);
    for (const auto& q : b.tx_np.all) {
      asked.insert(q.t.dst);
      EXPECT_GT(q.first, b.tx_p.all[stores - 1].last) << "turn " << turn;
    }
    EXPECT_TRUE(std::ranges::includes(asked, targets)) << "turn " << turn;
    const auto questions = b.tx_np.all;
    for (const auto& q : questions) {
      EXPECT_TRUE(b.fences.empty()) << "not all have answered";
      b.push(b.rx_rsp, answer_to(q.t));
      EXPECT_TRUE(b.settle());
    }
    EXPECT_EQ(b.fences, std::vector{net_status::ok});
    EXPECT_TRUE(b.ld_cpl.all.empty());
    EXPECT_EQ(b.counters["quiets"], 0u) << "no read was answered";
    b.clear_outputs();
    nodes world(b);
    b.host(quiet_read(1));  // what came after the fence
    for (unsigned i = 0; i < 1000; ++i) world.step(), b.step();
    ASSERT_EQ(b.ld_cpl.all.size(), 1u);
  }
}

TYPED_TEST(smfu_quiet, fence_behind_nothing) {
  auto& b = this->b;
  EXPECT_TRUE(b.settle());
  b.gate = true;
  b.fence(3);
  b.run(5);
  EXPECT_EQ(b.fences, std::vector{net_status::ok});
  EXPECT_TRUE(b.settle());
}

// A fence learns of what its page would learn of, and leaves it to the page.
TYPED_TEST(smfu_quiet, fence_tells_an_error_but_keeps_it) {
  auto& b = this->b;
  const auto fence = [&](unsigned page) {
    b.clear_outputs();
    b.fence(page);
    EXPECT_TRUE(b.settle());
    EXPECT_EQ(b.fences.size(), 1u);
    return b.fences.empty() ? net_status::bad : b.fences[0];
  };
  const auto read = [&](unsigned page) {
    b.clear_outputs();
    b.host(quiet_read(1, 1, page));
    EXPECT_TRUE(b.settle());
    EXPECT_EQ(b.ld_cpl.all.size(), 1u);
    return b.ld_cpl.all.empty() ? net_status::bad : net_status(b.ld_cpl.all[0].t.data[0]);
  };
  EXPECT_EQ(fence(9), net_status::ok);
  EXPECT_EQ(read(5), net_status::ok);
  EXPECT_EQ(read(9), net_status::ok);
  this->store_to(2);  // no route
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(fence(9), net_status::unreachable);
  EXPECT_EQ(fence(9), net_status::unreachable) << "the page has not heard of it";
  EXPECT_EQ(read(9), net_status::unreachable);
  EXPECT_EQ(fence(9), net_status::ok);
  EXPECT_EQ(read(9), net_status::ok);
  EXPECT_EQ(fence(5), net_status::unreachable) << "another page, which has not heard of it";
  EXPECT_EQ(read(5), net_status::unreachable);
  EXPECT_EQ(fence(5), net_status::ok);
}

TYPED_TEST(smfu_quiet, fence_times_out) {
  auto& b = this->b;
  b.cfg.timeout_load = 2;
  this->store_to(0);
  EXPECT_TRUE(b.settle());
  b.fence(3);
  b.run(4000);
  EXPECT_EQ(b.fences, std::vector{net_status::timeout});
  this->expect_event(GGAS_EV_QUIET_FAILED, 2, uint64_t(net_status::timeout));
  EXPECT_FALSE(b.v.timer_o);
}

TYPED_TEST(smfu_quiet, fence_behind_a_dead_link) {
  auto& b = this->b;
  this->store_to(0);
  EXPECT_TRUE(b.settle());
  b.fence(3);
  EXPECT_TRUE(b.settle());
  EXPECT_TRUE(b.fences.empty());
  b.v.link_up_i = 0;
  b.run(100);
  EXPECT_EQ(b.fences, std::vector{net_status::link_down});
}

// Neither keeps the other from its turn.
TYPED_TEST(smfu_quiet, fences_and_reads_take_turns) {
  auto& b = this->b;
  nodes world(b);
  b.tx_p.percent = b.tx_np.percent = b.ld_cpl.percent = 60;
  uint64_t fences = 0, reads = 0, reads_before = 0;
  for (unsigned i = 0; i < 20000; ++i) {
    if (b.chance(20)) this->store_to(b.random(2));
    if (b.win_np.beats.size() < 4) b.host(quiet_read(reads++ & 63));
    if (b.fences.size() == fences) {
      if (fences > 0) {
        EXPECT_LE(b.ld_cpl.all.size() - reads_before, 8u) << "reads pass while stores before the fence leave";
      }
      reads_before = b.ld_cpl.all.size();
      b.fence(1);
      ++fences;
    }
    world.step(), b.step();
  }
  EXPECT_GT(fences, 50u);
  EXPECT_GT(b.ld_cpl.all.size(), 50u);
  for (const auto s : b.fences) EXPECT_EQ(s, net_status::ok);
}

// ---------------------------------------------------------------- at the target

TYPED_TEST(smfu_quiet, empty_read_behind_the_writes) {
  auto& b = this->b;
  for (unsigned i = 0; i < 4; ++i) {
    packet p = net_packet(nic::op::store, 2, 0x400 * i, 32);
    p.data.resize(32);
    b.push(b.rx_p, p);
  }
  while (!b.rx_p.beats.empty()) b.step();  // the network offers a quiet only then
  packet q = net_packet(nic::op::quiet, 2, 0, 0);
  q.tag = 0x8123;
  b.push(b.rx_np, q);
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.tgt_req.all.size(), 5u);
  const tlp r = b.tgt_req.all[4].t;
  EXPECT_EQ(r.kind, tlp_kind::mrd);
  EXPECT_EQ(r.addr, home_base);
  EXPECT_EQ(r.len_dw, 1u);
  EXPECT_EQ(r.first_be, 0u);
  EXPECT_EQ(r.last_be, 0u);
  EXPECT_TRUE(b.tx_rsp.all.empty());
  memory host(b);
  for (unsigned i = 0; i < 200; ++i) host.step(), b.step();
  ASSERT_EQ(b.tx_rsp.all.size(), 1u);
  const packet& a = b.tx_rsp.all[0].t;
  EXPECT_TRUE(a.is(nic::op::quiet_rsp));
  EXPECT_EQ(a.tag, 0x8123u);
  EXPECT_EQ(a.status, 0u);
  EXPECT_EQ(a.len_dw, 0u);
  EXPECT_EQ(b.counters["target_loads"], 0u);
}

TYPED_TEST(smfu_quiet, lost_store_is_reported_to_its_source_once) {
  auto& b = this->b;
  packet p = net_packet(nic::op::store, 2, 1 << 20, 1);
  p.data.resize(1);
  b.push(b.rx_p, p);
  EXPECT_TRUE(b.settle());
  memory host(b);
  for (auto [src, status] : {std::pair{1, net_status::ok}, {2, net_status::range}, {2, net_status::ok}}) {
    b.clear_outputs();
    host.~memory();
    new (&host) memory(b);
    b.push(b.rx_np, net_packet(nic::op::quiet, uint16_t(src), 0, 0));
    for (unsigned i = 0; i < 200; ++i) host.step(), b.step();
    ASSERT_EQ(b.tx_rsp.all.size(), 1u);
    EXPECT_EQ(b.tx_rsp.all[0].t.status, uint8_t(status)) << src;
    EXPECT_TRUE(b.events.empty()) << "the event went with the store";
  }
}

TYPED_TEST(smfu_quiet, nothing_exported) {
  auto& b = this->b;
  b.cfg.ingress = 0;
  b.push(b.rx_np, net_packet(nic::op::quiet, 2, 0, 0));
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.tx_rsp.all.size(), 1u);
  EXPECT_EQ(b.tx_rsp.all[0].t.status, uint8_t(net_status::range));
  this->expect_event(GGAS_EV_TARGET_RANGE, 2, 0);
}

}  // namespace
}  // namespace ggas::test::smfu
