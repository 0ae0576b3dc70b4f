// SPDX-License-Identifier: Apache-2.0
// Errors, time-outs, full rings and targets, links that break, contexts that are switched off: one at a time.
#include "tests/rtl/rma/requester/suite.hpp"

namespace ggas::test::requester {
namespace {

constexpr uint64_t tick = 1024;

template <class T>
class rma_requester_directed : public suite<T> {
 protected:
  struct log : checker {
    std::vector<packet> packets;
    std::vector<record> notes;
    std::vector<command> commands;
    std::vector<std::pair<event, uint16_t>> events;
    std::vector<std::pair<uint8_t, uint8_t>> epochs;
    uint64_t local = 0, remote = 0, errors = 0;
    net_status status = net_status::ok;
    void taken(uint8_t, const descriptor&) override {}
    void done(uint8_t) override {}
    void fetched(const command&, net_status) override {}
    void commanded(const command& c) override { commands.push_back(c); }
    void sent(const packet& p) override { packets.push_back(p); }
    void noted(const record& r, net_status s) override {
      if (s != net_status::full) notes.push_back(r);
    }
    void counted(const counts& c) override {
      local += c.local, remote += c.remote, errors += c.error;
      if (c.error) status = c.status;
    }
    void gave_up(uint8_t v, uint8_t e) override { epochs.push_back({v, e}); }
    void happened(event e, uint16_t node, uint64_t info) override {
      events.push_back({e, node});
      EXPECT_EQ(info, 3u);
    }
  };
  log seen;
  bench<typename T::top, T::width> b{base_seed(), seen};
  void SetUp() override {
    b.enable(3);
    b.v.cfg_timeout_i = 3;
    b.pace.answer_delay = 5;
  }
  void TearDown() override { EXPECT_FALSE(b.busy(3)); }
  static net_status status_of(const record& r) { return net_status(r.w1.status); }
  void all_answered(net_status s = net_status::ok) {
    b.policy.target = [s](const packet& p) -> std::optional<answer> {
      return p.flags() & nic::rma_wants_ack ? std::optional(answer_to(p, s)) : std::nullopt;
    };
  }
  // One failed descriptor with its cookie, or what the error notification reports instead.
  void expect_failure(net_status s, uint64_t w0) {
    ASSERT_EQ(seen.notes.size(), 1u);
    EXPECT_EQ(seen.notes[0].w1.kind, nic::note_kind::error);
    EXPECT_EQ(status_of(seen.notes[0]), s);
    EXPECT_EQ(seen.notes[0].w0, w0);
    EXPECT_TRUE(seen.notes[0].drop);
    EXPECT_EQ(seen.errors, 1u);
    EXPECT_EQ(seen.status, s);
    EXPECT_EQ(seen.local, seen.remote);
  }
};
TYPED_TEST_SUITE(rma_requester_directed, widths);

TYPED_TEST(rma_requester_directed, answers_that_do_not_come) {
  auto& b = this->b;
  descriptor d = this->imm(0x1000);
  d.ack = true;
  for (unsigned i = 0; i < 5; ++i) b.post(3, d);
  b.run(2 * tick);
  EXPECT_TRUE(this->seen.notes.empty());
  EXPECT_TRUE(b.v.timer_o);
  EXPECT_TRUE(b.busy(3));
  b.run(3 * tick);
  EXPECT_TRUE(b.settle());
  this->expect_failure(net_status::timeout, 0);
  EXPECT_EQ(this->seen.notes[0].w1.size, 5u);
  EXPECT_EQ(this->seen.remote, 5u);
  EXPECT_EQ(this->seen.epochs, (std::vector<std::pair<uint8_t, uint8_t>>{{3, 1}}));
  // A late answer finds no one; the next packets have the new epoch.
  b.say(answer_to(this->seen.packets[0]));
  this->all_answered();
  b.post(3, d);
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(this->seen.events,
            (std::vector<std::pair<event, uint16_t>>{{event::timeout, 0}, {event::unexpected, peer_node}}));
  EXPECT_EQ(this->seen.packets.back().epoch() >> 3, 1);
  EXPECT_EQ(this->seen.remote, 6u);
}

TYPED_TEST(rma_requester_directed, progress_keeps_the_time_out_away) {
  auto& b = this->b;
  descriptor d = this->get(0x1000, 0x2000, 8);
  for (unsigned i = 0; i < 6; ++i) b.post(3, d);
  b.run(40);
  for (const packet& p : this->seen.packets) {
    b.run(2 * tick);
    b.say(answer_to(p));
  }
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(this->seen.remote, 6u);
  EXPECT_EQ(this->seen.errors, 0u);
}

// So does data of a long get.
TYPED_TEST(rma_requester_directed, data_keeps_the_time_out_away) {
  auto& b = this->b;
  b.post(3, this->get(0x1000, 0x2000, 1 << 23));
  b.run(100);
  for (unsigned i = 0; i < 6; ++i) {
    b.run(2 * tick);
    pins::put_answer(b.v.ans_i, {.vpid = 3});
    b.v.ans_progress_i = 1;
    b.step();
    b.v.ans_progress_i = 0;
  }
  EXPECT_EQ(this->seen.errors, 0u);
  b.run(5 * tick);
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(this->seen.errors, 1u) << "and no data, no answer";
}

TYPED_TEST(rma_requester_directed, held_descriptor_that_is_not_answered) {
  auto& b = this->b;
  descriptor d = this->get(0x1000, 0x2000, 8);
  d.notify_completer = true;
  b.post(3, this->get(0x1000, 0x2000, 8));
  b.post(3, d);
  EXPECT_TRUE(b.settle());
  this->expect_failure(net_status::timeout, d.cookie);
  EXPECT_EQ(this->seen.remote, 2u);
  EXPECT_FALSE(b.held[3]);
}

TYPED_TEST(rma_requester_directed, link_that_dies) {
  auto& b = this->b;
  b.v.cfg_timeout_i = 1000;
  descriptor d = this->atomic(0x1000);
  b.post(3, d);
  b.run(20);
  b.v.link_up_i = 0;
  b.run(2 * tick);
  EXPECT_TRUE(b.settle());
  this->expect_failure(net_status::link_down, 0);
  // What follows is refused at once.
  this->seen.notes.clear();
  b.post(3, d);
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(this->seen.notes.at(0).w0, d.cookie);
  EXPECT_EQ(this->status_of(this->seen.notes.at(0)), net_status::link_down);
  EXPECT_EQ(this->seen.events,
            (std::vector<std::pair<event, uint16_t>>{{event::timeout, 0}, {event::unreachable, peer_node}}));
}

// Nothing is written after its descriptor was given up: the unit waits for data that have arrived, but only for those
// of the context itself.
TYPED_TEST(rma_requester_directed, what_has_come_is_written_first) {
  auto& b = this->b;
  const descriptor d = this->get(0x1000, 0x2000, 8);
  for (const bool dead : {false, true}) {
    this->seen.notes.clear();
    this->seen.epochs.clear();
    this->seen.errors = 0;
    b.post(3, d);
    b.run(20);
    b.writing[3] = true;
    b.v.link_up_i = !dead;
    b.run(10 * tick);
    EXPECT_TRUE(this->seen.epochs.empty());
    EXPECT_TRUE(this->seen.notes.empty());
    b.writing = {};
    b.writing[4] = true;
    b.run(2 * tick);
    EXPECT_TRUE(b.settle());
    this->expect_failure(dead ? net_status::link_down : net_status::timeout, 0);
    EXPECT_EQ(this->seen.epochs.size(), 1u);
  }
}

TYPED_TEST(rma_requester_directed, own_node_needs_no_link) {
  auto& b = this->b;
  b.v.cfg_timeout_i = 1000;
  b.v.link_up_i = 0;
  descriptor d = this->atomic(0x1000);
  d.node = own_node;
  b.post(3, d);
  b.run(4 * tick);
  EXPECT_EQ(this->seen.errors, 0u);
  ASSERT_EQ(this->seen.packets.size(), 1u);
  b.say(answer_to(this->seen.packets[0]));
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(this->seen.remote, 1u);
  EXPECT_EQ(this->seen.errors, 0u);
}

TYPED_TEST(rma_requester_directed, link_that_dies_under_a_put) {
  auto& b = this->b;
  b.pace.fetch_room = 1;
  b.pace.fetch_delay = 100;
  descriptor d = this->put(0x1000, 0x2000, 1 << 14);
  for (const bool tail : {false, true}) {
    d.notify_completer = tail;
    b.v.link_up_i = 1;
    this->seen.notes.clear();
    this->seen.local = this->seen.remote = this->seen.errors = 0;
    b.post(3, d);
    b.run(600);
    b.v.link_up_i = 0;
    EXPECT_TRUE(b.settle());
    this->expect_failure(net_status::link_down, d.cookie);
    EXPECT_EQ(this->seen.local, 1u);
  }
  EXPECT_LT(this->seen.commands.size(), 64u);
}

TYPED_TEST(rma_requester_directed, put_that_stops_tells_the_target) {
  auto& b = this->b;
  this->all_answered();
  b.policy.fetch = [](const command& c) { return c.nla >= 0x1000 + 512 ? net_status::protection : net_status::ok; };
  descriptor d = this->put(0x1000, 0x2000, 1 << 16);
  d.notify_completer = d.strong = true;
  b.post(3, d);
  EXPECT_TRUE(b.settle());
  this->expect_failure(net_status::protection, d.cookie);
  ASSERT_EQ(this->seen.packets.size(), 1u);
  EXPECT_TRUE(this->seen.packets[0].is(nic::op::rma_notify));
  EXPECT_EQ(net_status(this->seen.packets[0].status), net_status::protection);
  EXPECT_EQ(this->seen.packets[0].addr, d.w2);
  EXPECT_LT(this->seen.commands.size(), 64u);
  EXPECT_EQ(this->seen.events, (std::vector<std::pair<event, uint16_t>>{{event::protection, 0}}));
}

// A link that comes back while an earlier put drains does not fail the one after it.
TYPED_TEST(rma_requester_directed, link_back_in_time) {
  auto& b = this->b;
  b.pace.fetch_delay = 300;
  b.post(3, this->put(0x1000, 0x2000, 64));
  b.post(3, this->put(0x1000, 0x2000, 1 << 10));
  b.run(12);
  b.v.link_up_i = 0;
  b.run(8);
  b.v.link_up_i = 1;
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(this->seen.errors + this->seen.local, this->seen.errors ? 3u : 2u);
}

TYPED_TEST(rma_requester_directed, target_that_stays_full) {
  auto& b = this->b;
  b.v.cfg_retry_limit_i = 4;
  b.v.cfg_retry_ticks_i = 2;
  this->all_answered(net_status::full);
  const descriptor d = this->with_data(desc_op::send, 0, 50);
  b.post(3, d);
  const uint64_t begin = b.now;
  EXPECT_TRUE(b.settle());
  EXPECT_GE(b.now - begin, 4 * 2 * tick - tick);
  EXPECT_LE(b.now - begin, 4 * 3 * tick + tick);
  this->expect_failure(net_status::full, d.cookie);
  EXPECT_EQ(this->seen.packets.size(), 5u);
  EXPECT_EQ(b.retries, 4u);
  EXPECT_EQ(this->seen.events, (std::vector<std::pair<event, uint16_t>>{{event::retry_limit, 0}}));
}

TYPED_TEST(rma_requester_directed, paused_context_is_switched_off) {
  auto& b = this->b;
  b.v.cfg_retry_ticks_i = 0xffff;
  this->all_answered(net_status::full);
  descriptor d = this->imm(0x1000);
  d.notify_completer = true;
  b.post(3, d);
  b.run(4 * tick);
  EXPECT_TRUE(b.busy(3));
  b.enable(3, false);
  EXPECT_TRUE(b.settle(3 * tick));
  this->expect_failure(net_status::full, d.cookie);
  EXPECT_EQ(this->seen.remote, 1u);
  // Nothing new starts.
  b.post(3, d);
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(b.descriptors, 1u);
  EXPECT_EQ(this->seen.packets.size(), 2u);
}

TYPED_TEST(rma_requester_directed, full_while_switched_off) {
  auto& b = this->b;
  this->all_answered(net_status::full);
  b.pace.answer_delay = 200;
  const descriptor d = this->notify();
  b.post(3, d);
  b.run(8);
  b.enable(3, false);
  EXPECT_TRUE(b.settle());
  this->expect_failure(net_status::full, d.cookie);
}

// A put whose requester waits for room in its own ring while the target's answer does not come.
TYPED_TEST(rma_requester_directed, own_ring_full_and_no_answer) {
  auto& b = this->b;
  const uint64_t begin = b.now;
  b.policy.ring = [&](const record& r) {
    return r.drop || b.now > begin + 20 * tick ? net_status::ok : net_status::full;
  };
  descriptor d = this->imm(0x1000);
  d.notify_completer = d.notify_requester = true;
  b.post(3, d);
  b.run(10 * tick);
  this->expect_failure(net_status::timeout, d.cookie);
  EXPECT_TRUE(b.held[3]) << "its notification is not written yet";
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(this->seen.notes.size(), 2u);
  EXPECT_EQ(this->seen.notes[1].w1.kind, nic::note_kind::requester);
  EXPECT_EQ(this->seen.notes[1].w0, d.cookie);
}

// No one reads the ring of context 3; others do not notice.
TYPED_TEST(rma_requester_directed, own_ring_full_stops_nobody_else) {
  auto& b = this->b;
  b.policy.ring = [](const record& r) { return r.vpid == 3 ? net_status::full : net_status::ok; };
  b.enable(4);
  descriptor d = this->imm(0x1000);
  d.notify_requester = true;
  b.post(3, d);
  b.run(3 * tick);
  for (unsigned i = 0; i < 200; ++i) b.post(4, d);
  b.run(200 * 14);
  EXPECT_EQ(this->seen.packets.size(), 201u);
  EXPECT_EQ(this->seen.notes.size(), 200u);
  b.enable(3, false);
  b.policy.ring = [](const record&) { return net_status::disabled; };
  EXPECT_TRUE(b.settle());
}

TYPED_TEST(rma_requester_directed, unasked_answers) {
  auto& b = this->b;
  b.post(3, this->put(0x1000, 0x2000, 64));
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(this->seen.commands.size(), 1u);
  answer a = answer_to(this->seen.commands[0].hdr, net_status::protection);
  b.say(a);
  EXPECT_TRUE(b.settle());
  this->expect_failure(net_status::protection, 0x2000);
  EXPECT_EQ(this->seen.notes[0].w1.op, uint8_t(desc_op::put));
  EXPECT_EQ(this->seen.remote, 1u);
  // No one asked and nothing is wrong; of an operation that is not under way; for a held descriptor that is none.
  a.status = net_status::ok;
  b.say(a);
  a.asked = true;
  b.say(a);
  a.epoch = 0;
  b.say(a);
  a.epoch = 8;
  a.status = net_status::protection;
  a.asked = false;
  b.say(a);
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(b.events[size_t(event::unexpected)], 4u);
  EXPECT_EQ(this->seen.errors, 1u);
}

// More answers outstanding than a context may have: it waits, and goes on.
TYPED_TEST(rma_requester_directed, answers_outstanding_are_bounded) {
  auto& b = this->b;
  descriptor i = this->imm(0x1000), p = this->put(0x1000, 0x2000, 64);
  i.ack = p.ack = true;
  b.v.cfg_timeout_i = 1000;
  unsigned n = 0;
  for (; n < 230; ++n) b.post(3, i);
  for (; n < 300; ++n) b.post(3, p);
  b.run(4000);
  EXPECT_EQ(this->seen.packets.size(), 144u);
  for (const packet& k : this->seen.packets) b.say(answer_to(k));
  this->all_answered();
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(this->seen.remote, 300u);
  EXPECT_EQ(b.acks, 300u);
}

}  // namespace
}  // namespace ggas::test::requester
