// SPDX-License-Identifier: Apache-2.0
// One-sided communication, each operation once: what arrives, what is counted, what is notified.
#include "tests/rtl/nic_top/rma_helpers.hpp"

namespace ggas::test {
namespace {

using nic::desc_op;
using nic::descriptor;
using nic::net_status;
using nic::note_kind;

class RmaOnce : public testing::TestWithParam<device> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(w_.set_up()) << w_.r.report();
    for (unsigned n = 0; n < 2; ++n) {
      users_.push_back(&w_.user({.side = n, .vpid = uint8_t(3 + n), .pd = 7}));
      for (unsigned i = 0; i < 4; ++i) w_.driver.map(n, nla(0, i), rma_data + 0x2000 * i, 7);
    }
  }
  void TearDown() override { EXPECT_CLEAN(w_.r); }
  rma_world w_{GetParam()};
  std::vector<rma_user*> users_;
};

TEST_P(RmaOnce, Put) {
  for (uint16_t node : {1, 0}) {
    descriptor d{.op = desc_op::put, .notify_requester = true, .notify_completer = true, .ack = true};
    d.dvpid = uint8_t(3 + node);
    d.node = node;
    d.size = 700;
    d.w1 = nla(0, 0, 0xf01);
    d.w2 = nla(0, 2, 0xf83);
    d.cookie = 0x1234'5678'9abc'def0;
    users_[0]->post(d);
    ASSERT_TRUE(w_.finish()) << w_.r.report();
    for (unsigned i = 0; i < d.size; ++i)
      ASSERT_EQ(w_.load(node, nla(0, 2, 0xf83 + i)), w_.load(0, nla(0, 0, 0xf01 + i))) << i;
    const auto& got = users_[node]->notes;
    ASSERT_GE(got.size(), 1u);
    const auto completer = std::ranges::find(got, note_kind::completer, [](const auto& x) { return x.n.kind; });
    ASSERT_NE(completer, got.end());
    EXPECT_EQ(completer->w0, d.cookie);
    EXPECT_EQ(completer->n.size, 700u);
    EXPECT_EQ(completer->n.vpid, 3);
    EXPECT_EQ(completer->n.node, 0);
    EXPECT_EQ(completer->n.op, uint8_t(desc_op::put));
    EXPECT_EQ(completer->n.status, 0);
  }
  EXPECT_EQ(users_[0]->remote(), 2u);
  EXPECT_EQ(users_[0]->errors(), 0u);
}

TEST_P(RmaOnce, Get) {
  descriptor d{.op = desc_op::get, .notify_requester = true, .notify_completer = true, .notify_responder = true};
  d.dvpid = 4;
  d.node = 1;
  d.size = 1000;
  d.w1 = nla(0, 1, 0xe02);
  d.w2 = nla(0, 0, 0x7);
  d.cookie = 55;
  users_[0]->post(d);
  ASSERT_TRUE(w_.finish()) << w_.r.report();
  for (unsigned i = 0; i < d.size; ++i) ASSERT_EQ(w_.load(0, d.w2 + i), w_.load(1, d.w1 + i)) << i;
  EXPECT_EQ(users_[0]->notes.size(), 2u);
  ASSERT_EQ(users_[1]->notes.size(), 1u);
  EXPECT_EQ(users_[1]->notes[0].n.kind, note_kind::responder);
}

TEST_P(RmaOnce, AtomicsOfEveryKind) {
  const uint64_t word = nla(0, 3, 0x40), result = nla(0, 0, 0x800);
  for (unsigned bytes : {4u, 8u}) {
    for (unsigned op = 0; op < 8; ++op) {
      for (uint64_t sign : {0, 16}) {
        w_.store64(1, word, 0x8000'0000'8000'0005);
        w_.store64(1, word + 8, 0x1111);
        descriptor d{.op = desc_op::atomic};
        d.node = 1;
        d.size = bytes;
        d.w1 = 3;
        d.w2 = word;
        d.cookie = 0xc00'0000 + op;
        d.second = {0x8000'0000'8000'0005, result, op | sign, 0};
        users_[0]->post(d);
        ASSERT_TRUE(w_.finish()) << w_.r.report();
        const uint64_t old = 0x8000'0000'8000'0005 & (bytes == 4 ? 0xffff'ffff : ~0ull);
        const uint64_t want = nic::amo_result(op | sign, bytes, old, 3, 0x8000'0000'8000'0005);
        const uint64_t now = w_.load64(1, word);
        EXPECT_EQ(bytes == 4 ? now & 0xffff'ffff : now, want) << op;
        EXPECT_EQ(now >> 32, bytes == 4 ? 0x8000'0000u : want >> 32);
        EXPECT_EQ(w_.load64(1, word + 8), 0x1111u);
        EXPECT_EQ(w_.load64(0, result), old);
        EXPECT_EQ(w_.load64(0, result + 8), d.cookie);
      }
    }
  }
}

TEST_P(RmaOnce, MessageInlineImmediateNotify) {
  descriptor d{.op = desc_op::send};
  d.dvpid = 4;
  d.node = 1;
  d.cookie = 77;
  for (uint32_t size : {0u, 1u, 32u, 33u, 64u}) {
    d.size = size;
    d.data.assign(size, uint8_t(size));
    users_[0]->post(d);
  }
  d = {.op = desc_op::inline_put};
  d.node = 1;
  d.size = 61;
  d.w2 = nla(0, 0, 0xfd5);
  for (unsigned i = 0; i < 61; ++i) d.data.push_back(uint8_t(i + 1));
  users_[0]->post(d);
  d = {.op = desc_op::imm};
  d.node = 1;
  d.size = 7;
  d.w1 = 0x8877665544332211;
  d.w2 = nla(0, 1, 0x1fd);
  users_[0]->post(d);
  d = {.op = desc_op::notify, .notify_completer = true, .strong = true};
  d.node = 1;
  d.dvpid = 4;
  d.w2 = nla(0, 1, 0x1fd);
  users_[0]->post(d);
  ASSERT_TRUE(w_.finish()) << w_.r.report();
  ASSERT_EQ(users_[1]->messages.size(), 5u);
  EXPECT_EQ(users_[1]->messages[3].n.size, 33u);
  EXPECT_EQ(users_[1]->messages[3].cookie, 77u);
  EXPECT_EQ(users_[1]->messages[3].data[32], 33);
  EXPECT_EQ(users_[1]->messages[3].data[33], 0);
  for (unsigned i = 0; i < 61; ++i) EXPECT_EQ(w_.load(1, nla(0, 0, 0xfd5 + i)), i + 1);
  for (unsigned i = 0; i < 7; ++i) EXPECT_EQ(w_.load(1, nla(0, 1, 0x1fd + i)), 0x11 * (i + 1));
  EXPECT_EQ(users_[1]->notes.size(), 1u);
}

TEST_P(RmaOnce, EveryRefusalIsReported) {
  w_.driver.map(1, nla(0, 10), rma_data + 0x20000, 8);
  w_.driver.map(1, nla(0, 11), rma_data + 0x21000, 7, {.read = true, .write = false});
  w_.driver.map(1, nla(0, 12), rma_data + 0x22000, 7, {.read = false, .write = true});
  w_.driver.map(1, nla(0, 13), rma_data + 0x23000, 7, {.valid = false});
  const auto put = [&](uint64_t from, uint64_t to, uint16_t node) {
    descriptor d{.op = desc_op::put};
    d.node = node;
    d.size = 64;
    d.w1 = from;
    d.w2 = to;
    users_[0]->post(d);
    w_.finish();
    w_.r.run(3'000);
    w_.pump();
  };
  unsigned errors = 0;
  const auto expect = [&](net_status s, const char* what) {
    EXPECT_EQ(users_[0]->errors(), ++errors) << what;
    EXPECT_EQ(users_[0]->last_error(), s) << what;
    ASSERT_EQ(users_[0]->notes.size(), errors) << what;
    EXPECT_EQ(users_[0]->notes.back().n.kind, note_kind::error) << what;
    EXPECT_EQ(users_[0]->notes.back().n.status, uint8_t(s)) << what;
  };
  put(nla(0, 0), nla(0, 10), 1);
  expect(net_status::protection, "another domain");
  put(nla(0, 0), nla(0, 11), 1);
  expect(net_status::protection, "read only");
  put(nla(0, 0), nla(0, 13), 1);
  expect(net_status::protection, "not valid");
  put(nla(0, 0), nla(0, 5000), 1);
  expect(net_status::protection, "outside the table");
  put(nla(0, 9), nla(0, 1), 1);
  expect(net_status::protection, "source not mapped");
  put(nla(0, 0), nla(0, 1), 9);
  expect(net_status::unreachable, "no route");
  EXPECT_EQ(w_.r.events(1, GGAS_EV_TARGET_PROTECTION), 4u);
  EXPECT_EQ(w_.r.events(0, GGAS_EV_RMA_PROTECTION), 1u);
  EXPECT_EQ(w_.r.events(0, GGAS_EV_RMA_UNREACHABLE), 1u);
  EXPECT_EQ(users_[0]->remote(), users_[0]->posted());
}

INSTANTIATE_TEST_SUITE_P(Devices, RmaOnce, testing::ValuesIn(rma_devices()));

}  // namespace
}  // namespace ggas::test
