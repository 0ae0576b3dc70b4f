// SPDX-License-Identifier: Apache-2.0
// Random descriptors of all kinds from many contexts, everything around pausing and failing at random; and garbage.
#include "tests/rtl/rma/requester/suite.hpp"

namespace ggas::test::requester {
namespace {

template <class T>
class rma_requester_random : public suite<T> {
 protected:
  using base = suite<T>;
  using base::b;
  using base::check;
  using base::random;

  uint64_t address() { return random.below(16) ? random.below(1 << 20) : random.next() >> 16; }

  // Mostly good, of every kind.
  descriptor any() {
    const uint64_t to = address();
    descriptor d;
    switch (random.below(8)) {
      case 0:
        d = {.op = desc_op::nop, .size = uint32_t(random.below(3)), .cookie = random.next()};
        break;
      case 1:
        d = base::put(address(), to, uint32_t(1 + random.below(random.below(8) ? 700 : 6000)));
        break;
      case 2:
        d = base::imm(to, unsigned(1 + random.below(8)));
        break;
      case 3:
        d = base::with_data(desc_op::inline_put, to, unsigned(1 + random.below(64)));
        break;
      case 4:
        d = base::get(address(), to, uint32_t(1 + random.below(1 << 23)));
        break;
      case 5:
        d = base::notify();
        break;
      case 6:
        d = base::atomic(to & ~7ull, random.below(2) ? 8 : 4);
        break;
      default:
        d = base::with_data(desc_op::send, to, unsigned(random.below(65)));
        break;
    }
    if (d.op != desc_op::nop)
      d.node = random.below(2) ? peer_node : random.below(8) ? own_node : uint16_t(3 + random.below(80));
    d.dvpid = uint8_t(random.next());
    d.notify_requester = !random.below(4);
    d.notify_completer |= !random.below(4);
    d.notify_responder = d.op == desc_op::get && !random.below(4);
    d.strong = d.notify_completer && random.below(2);
    d.ack = random.below(2);
    switch (random.below(200)) {
      case 0:
        d.reserved = uint8_t(1 + random.below(127));
        break;
      case 1:
        d.size = uint32_t(random.below(1 << 24) | 0x800001);
        d.data.clear();
        break;
      case 2:
        d.strong = true;
        d.notify_completer = false;
        break;
      case 3:
        d.notify_responder = true;
        break;
      case 4:
        d.second[3] = 1;
        break;
      case 5:
        d.second[2] = 1ull << (5 + random.below(59));
        break;
      case 6:
        d.second[1] |= 8;
        break;
      case 7:
        d.w2 |= 1;
        break;
      default:
        break;
    }
    return d;
  }

  void mtu(unsigned code) {
    b.v.cfg_mtu_i = code;
    check.mtu = 64u << code;
  }

  void go(unsigned contexts, unsigned descriptors) {
    for (unsigned v = 0; v < contexts; ++v) b.enable(uint8_t(v * 37));  // 37 and 256 have no common factor
    for (unsigned i = 0; i < descriptors; ++i) b.post(uint8_t(random.below(contexts) * 37), any());
    EXPECT_TRUE(b.settle());
    check.finish();
    EXPECT_EQ(b.descriptors, descriptors);
    for (unsigned v = 0; v < 256; ++v) EXPECT_FALSE(b.busy(uint8_t(v)));
    const auto figure = [](uint64_t n, const char* what) { std::printf("%ju %s\n", uintmax_t(n), what); };
    figure(b.now, "cycles");
    figure(check.packets, "packets");
    figure(check.chunks, "fetch commands");
    figure(check.notes, "notifications");
    figure(b.retries, "repetitions");
  }
};
TYPED_TEST_SUITE(rma_requester_random, widths);

TYPED_TEST(rma_requester_random, all_well) {
  this->mtu(1);
  this->serve();
  this->go(256, 3000);
}

TYPED_TEST(rma_requester_random, slow_and_failing) {
  auto& b = this->b;
  auto& random = this->random;
  this->mtu(0);
  this->check.retry_limit = 3;
  b.v.cfg_retry_limit_i = 3;
  b.pace = {.desc = 50,
            .tx = 60,
            .cmd = 50,
            .status = 50,
            .note = 50,
            .answer = 60,
            .fetch_delay = 60,
            .answer_delay = 100,
            .note_delay = 8};
  b.policy.fetch = [&](const command&) {
    return random.below(30) ? net_status::ok : random.below(2) ? net_status::protection : net_status::host_error;
  };
  b.policy.ring = [&](const record& r) {
    return random.below(8)   ? net_status::ok
           : r.drop          ? net_status::lost
           : random.below(4) ? net_status::full
                             : net_status::disabled;
  };
  this->serve([&](const packet& p) {
    const bool asked = p.flags() & nic::rma_wants_ack;
    if ((p.is(nic::op::rma_notify) || p.is(nic::op::velo_msg)) && !random.below(3)) return net_status::full;
    return random.below(asked ? 10 : 40) ? net_status::ok
           : random.below(2)             ? net_status::protection
                                         : net_status::disabled;
  });
  this->go(40, 2500);
}

TYPED_TEST(rma_requester_random, gated_clock) {
  this->b.gate = true;
  this->b.pace = {
      .desc = 20, .tx = 60, .cmd = 50, .status = 50, .note = 50, .answer = 60, .fetch_delay = 200, .answer_delay = 400};
  this->serve();
  this->go(5, 600);
}

// A slow fetch engine that takes more commands than a context may have under way.
TYPED_TEST(rma_requester_random, many_fetches_under_way) {
  auto& b = this->b;
  this->mtu(0);
  b.pace = {.fetch_delay = 3000, .answer_delay = 300, .fetch_room = 120};
  this->serve();
  for (unsigned i = 0; i < 12; ++i)
    b.post(uint8_t(37 * (i % 2)), TestFixture::put(this->address(), this->address(), 6000));
  for (unsigned v = 0; v < 2; ++v) b.enable(uint8_t(37 * v));
  EXPECT_TRUE(b.settle());
  this->check.finish();
  EXPECT_EQ(b.descriptors, 12u);
}

// Answers get lost, the link dies and returns, contexts are switched off and on: every descriptor that was started
// ends.
TYPED_TEST(rma_requester_random, lossy) {
  auto& random = this->random;
  struct ledger : observer {
    std::array<uint64_t, 256> local{}, remote{}, errors{}, notes{};
    uint64_t given_up = 0;
    void counted(const counts& c) override {
      local[c.vpid] += c.local, remote[c.vpid] += c.remote, errors[c.vpid] += c.error;
      EXPECT_LE(c.remote, 200u);
    }
    void noted(const record& r, net_status) override { notes[r.vpid] += r.w1.kind == nic::note_kind::error; }
    void gave_up(uint8_t, uint8_t) override { ++given_up; }
  } ledger;
  bench<typename TypeParam::top, TypeParam::width> b(base_seed() + 1, ledger);
  b.v.cfg_timeout_i = 2;
  b.v.cfg_retry_limit_i = 2;
  b.pace = {
      .desc = 70, .tx = 80, .cmd = 60, .status = 70, .note = 70, .answer = 80, .fetch_delay = 100, .answer_delay = 300};
  b.policy.fetch = [&](const command&) { return random.below(50) ? net_status::ok : net_status::timeout; };
  b.policy.ring = [&](const record& r) { return random.below(6) || r.drop ? net_status::ok : net_status::full; };
  b.policy.target = [&](const packet& p) -> std::optional<answer> {
    if (!(p.flags() & nic::rma_wants_ack) || !random.below(12)) return std::nullopt;
    return answer_to(p, random.below(6) ? net_status::ok : net_status::full);
  };
  constexpr unsigned contexts = 24;
  for (unsigned v = 0; v < contexts; ++v) b.enable(uint8_t(v * 10));
  for (unsigned i = 0; i < 1200; ++i) b.post(uint8_t(random.below(contexts) * 10), this->any());
  for (unsigned i = 0; i < 120; ++i) {
    b.run(random.below(400));
    const auto v = uint8_t(random.below(contexts) * 10);
    for (unsigned k = 0; k < contexts; ++k) b.writing[10 * k] = k * 10 != v && !random.below(3);
    if (random.below(4)) {
      b.v.link_up_i = random.below(3) != 0;
    } else {
      b.enable(v, false);
      for (unsigned k = 0; k < 30'000 && b.busy(v); ++k) b.step();
      EXPECT_FALSE(b.busy(v)) << +v;
      b.enable(v);
    }
  }
  b.v.link_up_i = 1;
  b.writing = {};
  EXPECT_TRUE(b.settle());
  uint64_t local = 0;
  for (unsigned v = 0; v < 256; ++v) {
    EXPECT_FALSE(b.busy(uint8_t(v)));
    EXPECT_EQ(ledger.local[v], ledger.remote[v]) << v;
    EXPECT_EQ(ledger.errors[v], ledger.notes[v]) << v;
    local += ledger.local[v];
  }
  EXPECT_EQ(local, b.descriptors);
  EXPECT_GT(ledger.given_up, 0u);
}

// Descriptors of random words: each one ends in a notification, and nothing hangs. Addresses without translation fail
// in fetch. GGAS_GARBAGE sets the number of descriptors.
TYPED_TEST(rma_requester_random, garbage) {
  auto& b = this->b;
  auto& random = this->random;
  const char* n = std::getenv("GGAS_GARBAGE");
  const uint64_t total = n ? std::strtoull(n, nullptr, 0) : 20000;
  b.policy.fetch = [](const command& c) {
    return c.nla >> 48 || c.hdr.addr >> 48 ? net_status::protection : net_status::ok;
  };
  b.pace.answer_delay = 10;
  this->serve([&](const packet& p) { return p.addr >> 48 ? net_status::protection : net_status::ok; });
  for (unsigned v = 0; v < 8; ++v) b.enable(uint8_t(v));
  uint64_t posted = 0;
  for (uint64_t limit = 400 * total; limit && (posted < total || !b.quiet()); --limit) {
    for (unsigned v = 0; v < 8 && posted < total; ++v) {
      if (!b.posts[v].empty()) continue;
      descriptor d;
      d.set_w0(random.next() & (random.below(2) ? ~0ull : 0xffff'ffff'ffff'01ffull));
      if (random.below(4) == 0) d.node = peer_node, d.size &= 0x7f;
      d.w1 = random.next();
      d.w2 = random.next();
      d.cookie = random.next();
      for (auto& w : d.second) w = random.next();
      if (d.op == desc_op::send || d.op == desc_op::inline_put) d.data.resize(d.size <= 64 ? d.size : 0);
      if (d.op == desc_op::imm)
        for (unsigned i = 0; i < std::min(d.size, 8u); ++i) d.data.push_back(uint8_t(d.w1 >> 8 * i));
      b.post(uint8_t(v), d);
      ++posted;
    }
    b.step();
  }
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(b.descriptors, total);
  this->check.finish();
}

}  // namespace
}  // namespace ggas::test::requester
