// SPDX-License-Identifier: Apache-2.0
// Rings: full ones (notifications and mailboxes, held back or dropped) that block no other one, work queues and rings
// in either memory, and the guarantees of weak and strong notifications where memory has two devices.
#include "tests/rtl/nic_top/rma_helpers.hpp"

namespace ggas::test::rma_ring_test {
namespace {

using nic::desc_op;
using nic::descriptor;
using nic::net_status;
using nic::note_kind;

constexpr uint16_t domain = 7, other_domain = 6;
constexpr uint64_t from = uint64_t{3} << 12, to = uint64_t{4} << 12;

class RmaRing : public testing::TestWithParam<device> {
 protected:
  void start(unsigned retry_limit = 0, host_behaviour how = fast_host()) {
    w_ = std::make_unique<rma_world>(GetParam(), rig_config{.behaviour = how, .seed = base_seed()});
    ASSERT_TRUE(w_->set_up(2, retry_limit)) << w_->r.report();
    for (unsigned side = 0; side < 2; ++side) {
      for (const auto& [pd, first] : {std::pair(domain, uint64_t{0}), std::pair(other_domain, uint64_t{16})}) {
        w_->driver.map(side, from + (first << 12), rma_data + (first << 12), pd);
        w_->driver.map(side, to + (first << 12), rma_data + ((first + 1) << 12), pd);
      }
    }
  }
  static descriptor put(uint8_t dvpid, bool notify, uint64_t pages = 0) {
    descriptor d{.op = desc_op::put, .notify_completer = notify};
    d.node = 1;
    d.dvpid = dvpid;
    d.size = 256;
    d.w1 = from + (pages << 12);
    d.w2 = to + (pages << 12);
    return d;
  }
  static descriptor message(uint8_t dvpid, uint64_t cookie) {
    descriptor d{.op = desc_op::send};
    d.node = 1;
    d.dvpid = dvpid;
    d.cookie = cookie;
    d.size = 16;
    d.data.assign(16, uint8_t(cookie));
    return d;
  }
  // Cycles that two contexts of another domain need for some puts, while the one that is posted does what it does.
  uint64_t pace() {
    constexpr unsigned puts = 150;
    for (rma_user* u : others_)
      for (unsigned i = 0; i < puts; ++i) {
        descriptor d = put(21, i % 8 == 0, 16);
        d.node = uint16_t(1 - u->cfg.side);
        d.dvpid = uint8_t(20 + (1 - u->cfg.side));
        u->post(d);
      }
    const uint64_t begin = w_->r.now();
    w_->r.run_until(
        [&] {
          w_->pump();
          return others_[0]->done() && others_[1]->done();
        },
        400'000, "the other contexts");
    return w_->r.now() - begin;
  }
  void add_others() {
    for (unsigned side = 0; side < 2; ++side)
      others_.push_back(&w_->user({.side = side, .vpid = uint8_t(20 + side), .pd = other_domain, .notify_log2 = 8}));
  }
  void settle(uint64_t cycles) {
    for (uint64_t i = 0; i < cycles; ++i) {
      w_->r.step();
      w_->pump();
    }
  }
  std::unique_ptr<rma_world> w_;
  std::vector<rma_user*> others_;
};

// A ring of 16 that no one reads, two writers at it: held back, and others do not notice; when it is read all come.
TEST_P(RmaRing, BackpressureStopsNobodyElse) {
  start();
  add_others();
  const uint64_t alone = pace();
  rma_user& victim = w_->user({.side = 1, .vpid = 5, .pd = domain, .notify_log2 = 4, .reads_notes = false});
  rma_user& remote = w_->user({.side = 0, .vpid = 4, .pd = domain});
  constexpr unsigned each = 30, room = 16;
  for (unsigned i = 0; i < each; ++i) {
    remote.post(put(5, true));
    victim.post(put(5, true));
  }
  settle(20'000);
  EXPECT_LT(remote.remote() + victim.remote(), 2 * each);
  const uint64_t beside = pace();
  EXPECT_LE(double(beside), 1.05 * double(alone) + 100) << "cycles with a full ring, " << alone << " without";
  std::printf("%llu cycles with a full ring beside, %llu without\n", (unsigned long long)beside,
              (unsigned long long)alone);
  EXPECT_EQ(victim.notes.size(), 0u);
  EXPECT_GT(w_->r.read_register(1, GGAS_REG_RMA_NOTIFY_FULL), 0u);
  victim.cfg.reads_notes = true;
  settle(10);
  EXPECT_EQ(victim.notes.size(), room);
  ASSERT_TRUE(w_->finish(400'000)) << w_->r.report();
  EXPECT_EQ(victim.notes.size(), 2 * each);
  EXPECT_EQ(w_->r.events(1, GGAS_EV_NOTIFY_LOST), 0u);
  EXPECT_EQ(remote.errors() + victim.errors(), 0u);
  EXPECT_CLEAN(w_->r);
}

// The same ring reported to drop: no one waits, what was dropped is counted and reported.
TEST_P(RmaRing, DropCountsAndTells) {
  start();
  add_others();
  const uint64_t alone = pace();
  rma_user& victim =
      w_->user({.side = 1, .vpid = 5, .pd = domain, .backpressure = false, .notify_log2 = 4, .reads_notes = false});
  rma_user& remote = w_->user({.side = 0, .vpid = 4, .pd = domain, .notify_log2 = 8});
  constexpr unsigned sent = 40, room = 16;
  for (unsigned i = 0; i < sent; ++i) remote.post(put(5, true));
  const uint64_t beside = pace();
  std::printf("%llu cycles with notifications dropped beside, %llu without\n", (unsigned long long)beside,
              (unsigned long long)alone);
  ASSERT_TRUE(w_->finish()) << w_->r.report();
  EXPECT_EQ(w_->r.events(1, GGAS_EV_NOTIFY_LOST), sent - room);
  EXPECT_EQ(remote.errors(), sent - room) << "each is reported to its sender";
  EXPECT_EQ(remote.last_error(), net_status::lost);
  victim.cfg.reads_notes = true;
  victim.cfg.batch = 1;
  settle(100);
  EXPECT_EQ(victim.notes.size(), room);
  remote.post(put(5, true));
  ASSERT_TRUE(w_->finish()) << w_->r.report();
  ASSERT_EQ(victim.notes.size(), room + 2);
  EXPECT_EQ(victim.notes[room].n.kind, note_kind::lost);
  EXPECT_EQ(victim.notes[room].w0, sent - room);
  EXPECT_EQ(victim.notes[room + 1].n.kind, note_kind::completer);
  EXPECT_CLEAN(w_->r);
}

// The own ring full of one's own notifications: the context waits, alone.
TEST_P(RmaRing, OwnRingFull) {
  start();
  add_others();
  const uint64_t alone = pace();
  rma_user& u = w_->user({.side = 0, .vpid = 4, .pd = domain, .notify_log2 = 4, .reads_notes = false});
  for (unsigned i = 0; i < 25; ++i) {
    descriptor d = put(0, false);
    d.notify_requester = true;
    d.ack = i & 1;
    u.post(d);
  }
  settle(5'000);
  EXPECT_FALSE(u.done());
  EXPECT_LE(u.consumed(), 18u);
  EXPECT_LE(double(pace()), 1.05 * double(alone) + 100);
  u.cfg.reads_notes = true;
  ASSERT_TRUE(w_->finish()) << w_->r.report();
  EXPECT_EQ(u.notes.size(), 25u);
  EXPECT_CLEAN(w_->r);
}

TEST_P(RmaRing, FullMailboxHoldsItsSendersOnly) {
  start();
  add_others();
  const uint64_t alone = pace();
  rma_user& box = w_->user({.side = 1, .vpid = 5, .pd = domain, .mailbox_log2 = 2, .reads_mails = false});
  rma_user& a = w_->user({.side = 0, .vpid = 4, .pd = domain});
  rma_user& b = w_->user({.side = 1, .vpid = 6, .pd = domain});
  constexpr unsigned each = 12;
  for (unsigned i = 0; i < each; ++i) {
    a.post(message(5, i));
    b.post(message(5, 100 + i));
  }
  settle(10'000);
  EXPECT_LE(double(pace()), 1.05 * double(alone) + 100);
  EXPECT_GT(w_->r.read_register(1, GGAS_REG_VELO_FULL), 0u);
  EXPECT_EQ(w_->r.read_register(1, GGAS_REG_VELO_MESSAGES), 4u);
  box.cfg.reads_mails = true;
  ASSERT_TRUE(w_->finish(400'000)) << w_->r.report();
  ASSERT_EQ(box.messages.size(), 2 * each);
  uint64_t next[2] = {0, 100};
  for (const auto& m : box.messages) EXPECT_EQ(m.cookie, next[m.n.vpid == 6]++);
  EXPECT_EQ(w_->r.read_register(1, GGAS_REG_VELO_MESSAGES), 2 * each);
  EXPECT_CLEAN(w_->r);
}

TEST_P(RmaRing, RetriesEnd) {
  constexpr unsigned limit = 3;
  start(limit);
  w_->user({.side = 1,
            .vpid = 5,
            .pd = domain,
            .notify_log2 = 4,
            .mailbox_log2 = 2,
            .reads_notes = false,
            .reads_mails = false});
  rma_user& a = w_->user({.side = 0, .vpid = 4, .pd = domain});
  for (unsigned i = 0; i < 4; ++i) a.post(message(5, i));
  for (unsigned i = 0; i < 16; ++i) a.post(put(5, true));
  ASSERT_TRUE(w_->finish(100'000)) << w_->r.report();
  EXPECT_EQ(a.errors(), 0u);
  a.post(message(5, 9));
  descriptor last = put(5, true);
  last.ack = true;
  a.post(last);
  ASSERT_TRUE(w_->finish(100'000)) << w_->r.report();
  EXPECT_EQ(a.errors(), 2u);
  EXPECT_EQ(a.last_error(), net_status::full);
  EXPECT_EQ(w_->r.events(0, GGAS_EV_RMA_RETRY_LIMIT), 2u);
  EXPECT_EQ(w_->r.read_register(0, GGAS_REG_RMA_RETRIES), 2 * limit);
  EXPECT_CLEAN(w_->r);
}

// Everything of a context in the far device, as in GPU memory; its queue many times round.
TEST_P(RmaRing, RingsInEitherMemory) {
  constexpr uint64_t device_memory = 0x70'0000'0000;
  host_behaviour how = fast_host();
  how.far_base = device_memory;
  how.far_bytes = uint64_t{1} << 32;
  how.far_delay = 150;
  start(0, how);
  std::vector<rma_user*> users;
  for (unsigned side = 0; side < 2; ++side)
    for (const bool far : {false, true})
      users.push_back(&w_->user({.side = side,
                                 .vpid = uint8_t(8 + far),
                                 .pd = domain,
                                 .queue = true,
                                 .notify_log2 = 4,
                                 .queue_log2 = 4,
                                 .mailbox_log2 = 2,
                                 .rings = far ? device_memory : rma_rings}));
  constexpr unsigned each = 80;
  for (rma_user* u : users)
    for (unsigned i = 0; i < each; ++i) {
      descriptor d = i % 2 ? put(uint8_t(8 + i / 2 % 2), true) : message(uint8_t(8 + i / 2 % 2), i);
      d.node = uint16_t(1 - u->cfg.side);
      u->post(d);
    }
  ASSERT_TRUE(w_->finish(400'000)) << w_->r.report();
  settle(1'000);
  for (const rma_user* u : users) {
    EXPECT_EQ(u->notes.size(), each / 2);
    EXPECT_EQ(u->messages.size(), each / 2);
    EXPECT_EQ(u->errors(), 0u);
  }
  EXPECT_CLEAN(w_->r);
}

// Data lie in the far device, notifications in the near one. A weak notification may be seen before its data, a strong
// one never. A strong notification covers all earlier puts of the context to that device, also if it has no data
// itself.
TEST_P(RmaRing, StrongNotificationsWaitForTheFarDevice) {
  constexpr uint64_t device_memory = 0x70'0000'0000;
  host_behaviour how = fast_host();
  how.far_base = device_memory;
  how.far_bytes = uint64_t{1} << 32;
  how.far_delay = 700;
  start(0, how);
  rma_user& a = w_->user({.side = 0, .vpid = 4, .pd = domain});
  rma_user& b = w_->user({.side = 1, .vpid = 5, .pd = domain});
  w_->driver.map(1, nla(2, 1), device_memory, domain);
  unsigned early[3] = {};
  for (unsigned i = 0; i < 18; ++i) {
    const unsigned way = i % 3;      // weak, strong, strong and alone after a put
    const bool carried = i / 3 % 2;  // INLINE; else IMM
    const auto value = uint64_t{0xfa00'0000} + i;
    descriptor d{.op = carried ? desc_op::inline_put : desc_op::imm, .notify_completer = way < 2, .strong = way == 1};
    d.node = 1;
    d.dvpid = 5;
    d.size = 8;
    d.w2 = nla(2, 1, 64 * i);
    if (carried)
      for (unsigned k = 0; k < 8; ++k) d.data.push_back(uint8_t(value >> 8 * k));
    else
      d.w1 = value;
    a.post(d);
    if (way == 2) {
      descriptor n{.op = desc_op::notify, .notify_completer = true, .strong = true, .dvpid = 5, .node = 1};
      n.w2 = d.w2;
      a.post(n);
    }
    const size_t notes = b.notes.size();
    ASSERT_TRUE(w_->r.run_until(
        [&] {
          w_->pump();
          return b.notes.size() > notes;
        },
        20'000, "a notification"));
    early[way] += w_->load64(1, d.w2) != value;
    ASSERT_TRUE(w_->finish());
    EXPECT_EQ(b.notes.back().n.status, 0);
    settle(2 * how.far_delay);
    EXPECT_EQ(w_->load64(1, d.w2), value);
  }
  EXPECT_GT(early[0], 0u) << "the far device is not far";
  EXPECT_EQ(early[1], 0u);
  EXPECT_EQ(early[2], 0u);
  EXPECT_CLEAN(w_->r);
}

INSTANTIATE_TEST_SUITE_P(Devices, RmaRing, testing::ValuesIn(rma_devices()));

}  // namespace
}  // namespace ggas::test::rma_ring_test
