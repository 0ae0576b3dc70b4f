// SPDX-License-Identifier: Apache-2.0
// Translations: every refusal for every operation to which it applies, and pages taken back while they are in use: when
// the invalidation is acknowledged, no access goes to the old place any more.
#include "tests/rtl/nic_top/rma_helpers.hpp"

namespace ggas::test::rma_protection_test {
namespace {

using nic::desc_op;
using nic::descriptor;
using nic::net_status;
using nic::note_kind;

constexpr uint16_t domain = 7, foreign = 8;

class RmaProtection : public testing::TestWithParam<device> {
 protected:
  void SetUp() override {
    w_ = std::make_unique<rma_world>(GetParam());
    ASSERT_TRUE(w_->set_up()) << w_->r.report();
    for (unsigned side = 0; side < 2; ++side) {
      users_.push_back(&w_->user({.side = side, .vpid = uint8_t(1 + side), .pd = domain}));
      w_->driver.map(side, good_from, rma_data, domain);
      w_->driver.map(side, good_to, rma_data + 0x1000, domain);
      for (unsigned cls = 0; cls < 4; ++cls) {
        const uint64_t place = rma_data + (uint64_t{8 + cls} << 30);
        w_->driver.map(side, nla(cls, foreign_page), place, foreign);
        w_->driver.map(side, nla(cls, read_only), place, domain, {.read = true, .write = false});
        w_->driver.map(side, nla(cls, write_only), place, domain, {.read = false, .write = true});
        w_->driver.map(side, nla(cls, invalid), place, domain, {.valid = false});
      }
    }
  }
  void TearDown() override { EXPECT_CLEAN(w_->r); }
  static constexpr unsigned foreign_page = 40, read_only = 41, write_only = 42, invalid = 43, outside = 4000;
  static constexpr uint64_t good_from = uint64_t{3} << 12, good_to = uint64_t{4} << 12;

  static descriptor operation(desc_op op, uint64_t from, uint64_t to) {
    descriptor d{.op = op, .ack = true};
    d.node = 1;
    d.dvpid = 2;
    d.size = op == desc_op::put || op == desc_op::get ? 300 : 8;
    d.w1 = from;
    d.w2 = to;
    d.cookie = 0xc00c1e;
    d.data.assign(op == desc_op::inline_put ? 8 : 0, 1);
    return d;
  }
  // The descriptor fails with the status; `event` of side `at` is counted.
  void expect_refused(descriptor d, net_status s, unsigned at, unsigned event) {
    rma_user& u = *users_[0];
    for (const bool held : {false, true}) {
      d.notify_requester = held;
      const uint64_t events = w_->r.events(at, event);
      const size_t notes = u.notes.size();
      const uint32_t errors = u.errors();
      u.post(d);
      ASSERT_TRUE(w_->finish(50'000)) << w_->r.report();
      ASSERT_EQ(u.notes.size(), notes + 1) << unsigned(d.op);
      EXPECT_EQ(u.notes.back().n.kind, note_kind::error);
      EXPECT_EQ(u.notes.back().n.status, uint8_t(s)) << unsigned(d.op);
      EXPECT_EQ(u.errors(), errors + 1);
      EXPECT_EQ(u.last_error(), s);
      EXPECT_GT(w_->r.events(at, event), events);  // one for each packet
    }
  }
  std::unique_ptr<rma_world> w_;
  std::vector<rma_user*> users_;
};

TEST_P(RmaProtection, EveryRefusal) {
  std::array<uint64_t, 2> writes{};
  w_->r.on_tlp_out = [&](unsigned at, const pcie::tlp& t) {
    if (t.kind == pcie::tlp_kind::mwr && t.addr >= rma_data && !rig::own_page(t.addr)) ++writes[at];
  };
  for (unsigned cls = 0; cls < 4; ++cls) {
    for (const unsigned page : {foreign_page, read_only, invalid, outside}) {
      const uint64_t bad = nla(cls, page, 0x400);
      for (const desc_op op : {desc_op::put, desc_op::imm, desc_op::inline_put, desc_op::atomic})
        expect_refused(operation(op, op == desc_op::put ? good_from : 5, bad), net_status::protection, 1,
                       GGAS_EV_TARGET_PROTECTION);
      expect_refused(operation(desc_op::get, good_from, bad), net_status::protection, 0, GGAS_EV_RMA_PROTECTION);
    }
    for (const unsigned page : {foreign_page, write_only, invalid, outside}) {
      const uint64_t bad = nla(cls, page, 0x400);
      expect_refused(operation(desc_op::put, bad, good_to), net_status::protection, 0, GGAS_EV_RMA_PROTECTION);
      expect_refused(operation(desc_op::get, bad, good_to), net_status::protection, 1, GGAS_EV_TARGET_PROTECTION);
    }
    expect_refused(operation(desc_op::atomic, 5, nla(cls, write_only, 0x400)), net_status::protection, 1,
                   GGAS_EV_TARGET_PROTECTION);
  }
  for (unsigned bit = 48; bit < 64; ++bit)
    expect_refused(operation(desc_op::imm, 5, good_to | uint64_t{1} << bit), net_status::protection, 1,
                   GGAS_EV_TARGET_PROTECTION);
  w_->r.on_tlp_out = nullptr;
  EXPECT_EQ(writes[0], 0u);
  EXPECT_EQ(writes[1], 0u);
}

// A result record that may not be written: the atomic was done, its initiator learns of the record.
TEST_P(RmaProtection, ResultRecord) {
  descriptor d = operation(desc_op::atomic, 5, good_to);
  d.second[1] = nla(0, read_only, 0x10);
  expect_refused(d, net_status::protection, 0, GGAS_EV_RMA_PROTECTION);
}

TEST_P(RmaProtection, ContextsOfAnotherDomain) {
  w_->user({.side = 1, .vpid = 77, .pd = foreign});
  for (const uint8_t to : {uint8_t(77), uint8_t(78)}) {
    descriptor d = operation(desc_op::send, 0, 0);
    d.data.assign(8, 3);
    d.dvpid = to;
    expect_refused(d, net_status::disabled, 1, GGAS_EV_CONTEXT_OFF);
    d = {.op = desc_op::notify, .notify_completer = true, .dvpid = to, .node = 1};
    expect_refused(d, net_status::disabled, 1, GGAS_EV_CONTEXT_OFF);
    d = operation(desc_op::put, good_from, good_to);
    d.notify_completer = true;
    d.dvpid = to;
    expect_refused(d, net_status::disabled, 1, GGAS_EV_CONTEXT_OFF);
  }
  EXPECT_TRUE(w_->users.back()->notes.empty());
}

// Pages move or vanish under traffic. After the acknowledgement neither side reads or writes the old place.
TEST_P(RmaProtection, InvalidationUnderTraffic) {
  rng g(base_seed());
  const uint64_t page = nla(1, 9);
  for (unsigned i = 0; i < 12; ++i) {
    const unsigned side = i % 2;
    const uint64_t old_place = rma_data + (uint64_t{64 + i} << 16), new_place = old_place + (uint64_t{1} << 33);
    w_->driver.map(0, page, side == 0 ? old_place : rma_data + 0x10'0000, domain);
    w_->driver.map(1, page, side == 1 ? old_place : rma_data + 0x10'0000, domain);
    for (unsigned n = 0; n < 2; ++n) ASSERT_TRUE(w_->driver.invalidate(n, page));
    bool gone = false;
    unsigned before = 0, late = 0;
    w_->r.on_tlp_out = [&](unsigned at, const pcie::tlp& t) {
      if (at != side || t.completion() || t.addr - old_place >= 0x10000) return;
      ++(gone ? late : before);
    };
    w_->r.on_step = [&] { w_->pump(); };
    const unsigned posted = 24;
    for (unsigned k = 0; k < posted; ++k)
      users_[0]->post(operation(k % 2 ? desc_op::put : desc_op::get, page | 0x800, page | 0x4000));
    w_->r.run(g.range(300, 2'500));
    const bool vanish = g.chance(0.5);
    w_->driver.map(side, page, new_place, domain, {.valid = !vanish});
    ASSERT_TRUE(w_->driver.invalidate(side, g.chance(0.5) ? std::optional(page) : std::nullopt));
    gone = true;
    ASSERT_TRUE(w_->finish(200'000)) << w_->r.report();
    EXPECT_EQ(late, 0u) << "round " << i;
    EXPECT_TRUE(vanish || users_[0]->errors() == 0);
    w_->r.on_tlp_out = nullptr;
    w_->r.on_step = nullptr;
    users_[0]->disable();
    w_->r.run(200);
    users_[0]->enable();
    w_->r.run(200);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, RmaProtection, testing::ValuesIn(rma_devices()));

}  // namespace
}  // namespace ggas::test::rma_protection_test
