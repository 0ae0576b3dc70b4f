// SPDX-License-Identifier: Apache-2.0
// Faults on the wire: every kind at every flit index in both directions, at random, and hostile packets.
#include <iostream>

#include "tests/rtl/link/link_models.hpp"
#include "tests/rtl/link/link_pair.hpp"
#include "tests/support/number_of.hpp"

namespace ggas::test {
namespace {

enum fault_kind { fault_drop, fault_corrupt, fault_duplicate, fault_kind_bits, fault_kinds };

std::vector<flit> apply(fault_kind kind, flit f, std::mt19937_64& rng, unsigned width) {
  switch (kind) {
    case fault_drop:
      return {};
    case fault_corrupt: {
      const unsigned bit = unsigned(rng() % width);
      f.data[bit / 64] ^= uint64_t{1} << bit % 64;
      return {f};
    }
    case fault_duplicate:
      return {f, f};
    default:
      f.kind = flit_kind((unsigned(f.kind) + 1 + rng() % 3) & 3);
      return {f};
  }
}

struct coverage {
  uint64_t nak_replays = 0, timeout_replays = 0, repeats = 0, crc_errors = 0, runs = 0;
};

template <class T>
struct LinkFaultTest : testing::Test {
  using pair = link_pair<typename T::model, T::width>;

  // A fixed pattern: all channels, several lengths, both directions.
  static void pattern(pair& p) {
    std::mt19937_64 rng(99);
    static constexpr unsigned lengths[] = {2, 0, 16, 1, 0, 7, 64, 3};
    for (unsigned i = 0; i < 2; ++i)
      for (unsigned n = 0; n < std::size(lengths); ++n) {
        packet s = random_packet(rng, (n + i) % channels);
        s.len_dw = uint16_t(lengths[n]);
        s.data.clear();
        for (unsigned k = 0; k < s.len_dw; ++k) s.data.push_back(uint32_t(rng()));
        p[i].send(s);
      }
  }

  static void count(pair& p, coverage& c) {
    for (unsigned i = 0; i < 2; ++i) {
      const uint64_t naks = p.wire(1 - i).naks(), replays = p[i].count().replays;
      c.nak_replays += std::min(naks, replays);
      c.timeout_replays += replays - std::min(naks, replays);
      c.repeats += p[i].count().seq_errors;
      c.crc_errors += p[i].count().crc_errors;
    }
    ++c.runs;
  }
};
TYPED_TEST_SUITE(LinkFaultTest, link_models);

TYPED_TEST(LinkFaultTest, EveryFlitIndex) {
  typename TestFixture::pair p(seed());
  TestFixture::pattern(p);
  ASSERT_TRUE(p.run_until_drained(20'000));
  const uint64_t last[2] = {p.wire(0).flits(), p.wire(1).flits()};
  std::mt19937_64 rng(seed());
  coverage c;
  for (unsigned direction = 0; direction < 2; ++direction)
    for (unsigned kind = 0; kind < fault_kinds; ++kind)
      for (uint64_t index = 0; index < last[direction]; ++index) {
        p.reset();
        for (unsigned i = 0; i < 2; ++i) p[i].pins().cfg_replay_timeout_i = 200;
        p.wire(direction).fault([&](const flit& f, uint64_t n) {
          return n == index ? apply(fault_kind(kind), f, rng, TypeParam::width) : std::vector<flit>{f};
        });
        TestFixture::pattern(p);
        ASSERT_TRUE(p.run_until_drained(40'000)) << "direction " << direction << " kind " << kind << " flit " << index;
        p.check_all();
        if (this->HasFatalFailure()) FAIL() << "direction " << direction << " kind " << kind << " flit " << index;
        ASSERT_EQ(p[0].count().dead + p[1].count().dead + p[0].count().bad + p[1].count().bad, 0u) << index;
        TestFixture::count(p, c);
      }
  std::cout << TypeParam::width << " bit: " << c.runs << " faults, replays by nak " << c.nak_replays << ", by time-out "
            << c.timeout_replays << ", packets out of sequence " << c.repeats << ", CRC or framing " << c.crc_errors
            << "\n";
  EXPECT_GT(c.nak_replays, 0u);
  EXPECT_GT(c.timeout_replays, 0u);
  EXPECT_GT(c.repeats, 0u);
  EXPECT_GT(c.crc_errors, 0u);
}

TYPED_TEST(LinkFaultTest, RandomFaults) {
  std::mt19937_64 rng(seed()), faults(seed() + 1);
  typename TestFixture::pair p(seed(), 11);
  std::cout << "seed " << seed() << "\n";
  uint64_t injected = 0;
  for (unsigned i = 0; i < 2; ++i) {
    p[i].pins().cfg_replay_timeout_i = 600;
    p.wire(i).fault([&](const flit& f, uint64_t) {
      if (faults() % 1000 != 0) return std::vector<flit>{f};
      ++injected;
      return apply(fault_kind(faults() % fault_kinds), f, faults, TypeParam::width);
    });
  }
  for (int round = 0; round < 10; ++round) {
    for (unsigned i = 0; i < 2; ++i) {
      p[i].offer_probability(round % 2 ? 0.2 : 1);
      p[i].ready_probability(round % 3 ? 1 : 0.4);
      p[i].phy_probability(round % 5 == 4 ? 0.6 : 1);
      for (unsigned n = 0; n < 1000; ++n) p[i].send(random_packet(rng, rng() % channels));
    }
    ASSERT_TRUE(p.run_until_drained(3'000'000)) << "round " << round;
  }
  p.check_all();
  EXPECT_GT(injected, 100u);
  EXPECT_EQ(p[0].count().dead + p[1].count().dead, 0u);
  std::cout << TypeParam::width << " bit: 20000 packets, " << injected << " faults, replays "
            << p[0].count().replays + p[1].count().replays << "\n";
}

// The last credits before a quiet time get lost: the starved sender asks for them. No one there to answer: dead.
TYPED_TEST(LinkFaultTest, LostCreditsArePolled) {
  for (bool answer : {true, false}) {
    std::mt19937_64 rng(seed());
    typename TestFixture::pair p(seed());
    p[0].pins().cfg_replay_limit_i = 4;
    p[1].ready_probability(0);
    for (unsigned n = 0; n < 600; ++n) p[0].send(random_packet(rng, n % channels, 64));
    ASSERT_TRUE(p.run(50'000, [&] { return p[0].credit_stalls[0] && p[0].credit_stalls[2]; }));
    p.wire(1).fault([](const flit&, uint64_t) { return std::vector<flit>{}; });
    p[1].ready_probability(1);
    for (int k = 0; k < 600; ++k) p.step();
    if (!answer) {
      EXPECT_TRUE(p.run(20'000, [&] { return p[0].state() == link_dead; }));
      continue;
    }
    p.wire(1).fault(nullptr);
    ASSERT_TRUE(p.run_until_drained(100'000));
    p.check_all();
    EXPECT_EQ(p[0].count().replays, 0u);
  }
}

// If a header is changed on the wire, with a new CRC, its sender pays for the packet that it sent and gets credits back
// for the packet that arrived. So it loses credits until it begins no packet in that channel any more. Other channels
// continue, and there is no event. A new session repairs this.
template <class T>
struct LinkHeaderTest : LinkFaultTest<T> {};
TYPED_TEST_SUITE(LinkHeaderTest, all_link_models);

TYPED_TEST(LinkHeaderTest, AChangedChannelCostsTheSenderCredits) {
  constexpr unsigned from = 0, to = 2;
  std::mt19937_64 rng(seed());
  typename TestFixture::pair p(seed());
  nic::flit_decoder whole(TypeParam::width);
  p.wire(0).fault([&](const flit& f, uint64_t) {
    if (f.kind == flit_kind::ctrl) return std::vector<flit>{f};
    auto changed = whole.push(f);
    if (!changed) return std::vector<flit>{};
    if (changed->vc == from) changed->vc = to;
    return nic::to_flits(*changed, TypeParam::width);
  });
  for (unsigned n = 0; n < 300; ++n) p[0].send(random_packet(rng, from));
  ASSERT_TRUE(p.run(100'000, [&] { return p[0].credit_stalls[from] > 0; }));
  p.wire(0).fault(nullptr);
  for (unsigned n = 0; n < 100; ++n)
    for (unsigned v = 1; v < channels; ++v) p[0].send(random_packet(rng, v)), p[1].send(random_packet(rng, v));
  for (unsigned n = 0; n < 12'000; ++n) p.step();
  const auto sent_to = [&](unsigned v) { return p[1].received(v).size() - p[0].sent(v).size(); };
  for (unsigned v = 0; v < channels; ++v) EXPECT_EQ(p[1].sent(v).size(), p[0].received(v).size());
  EXPECT_TRUE(p[1].sent_all());
  EXPECT_FALSE(p[0].sent_all()) << "they have credits again";
  EXPECT_EQ(sent_to(to), p[0].sent(from).size()) << "what was changed";
  EXPECT_EQ(sent_to(1) + sent_to(3), 0u);
  EXPECT_EQ(p[0].count().dead + p[1].count().dead + p[0].count().bad + p[1].count().bad, 0u);

  const size_t left = p[1].received(from).size();
  for (unsigned i = 0; i < 2; ++i) p[i].pins().link_rx_up_i = 0;
  p.run(1'000, [] { return false; });
  for (unsigned i = 0; i < 2; ++i) p[i].pins().link_rx_up_i = 1, p[i].retrain();
  ASSERT_TRUE(p.run_until_drained(200'000));
  EXPECT_EQ(left, 0u);
  EXPECT_GT(p[1].received(from).size(), 0u);
}

// ---------------------------------------------------------------- one link against a hand-made neighbour

template <class T>
struct LinkForgeTest : testing::Test {
  using node = link_node<typename T::model, T::width>;
  node dut{seed()};
  uint64_t time = 1;
  uint8_t next_seq = 0;
  nic::control last;                 // what the link said last
  flit_kind sent = flit_kind::ctrl;  // flit of a packet that it sent in this cycle; ctrl: none
  nic::hello met;
  static constexpr uint16_t session = 0x2bc5;  // our number
  std::array<uint16_t, channels> credits{};

  void feed(const std::optional<flit>& f) {
    auto out = dut.step(time++, f);
    sent = out ? out->kind : flit_kind::ctrl;
    if (!out) return;
    if (auto h = nic::parse_hello(*out)) met = *h;
    if (auto c = nic::parse_control(*out)) {
      EXPECT_EQ(c->session, session & nic::session_tag_mask);
      last = *c;
      credits[c->credit_vc] = c->credit;
    }
  }
  void idle(unsigned cycles) {
    while (cycles--) feed(std::nullopt);
  }
  void bring_up() {
    dut.pins().link_rx_up_i = 1;
    idle(10);  // it draws a number and says hello
    feed(nic::to_flit(nic::hello{.mine = session, .yours = met.mine, .seen = true}));
    idle(10);
    ASSERT_EQ(dut.state(), unsigned(link_up));
    EXPECT_TRUE(met.seen && met.met && met.yours == session);
  }
  void feed_packet(packet p, unsigned version = nic::packet_version) {
    p.seq = next_seq;
    p.version = uint8_t(version);
    p.session = met.mine & nic::session_tag_mask;
    for (const flit& f : nic::to_flits(p, T::width)) feed(f);
  }
  void acknowledge(unsigned next, bool nak = false) {
    feed(nic::to_flit(nic::control{.ack_seq = uint8_t(next), .session = tag(), .nak = nak}));
  }
  uint8_t tag() const { return uint8_t(met.mine & nic::session_tag_mask); }
  // Until the link sends such a flit.
  bool await(flit_kind kind, unsigned cycles = 400) {
    while (cycles--) {
      feed(std::nullopt);
      if (sent == kind) return true;
    }
    return false;
  }
  // A good packet still gets through.
  void check_alive() {
    const size_t before = dut.received(0).size();
    packet p;
    p.len_dw = 2;
    p.data.assign(2, 0xabcd);
    feed_packet(p);
    ++next_seq;
    idle(40);
    ASSERT_EQ(dut.received(0).size(), before + 1);
    ASSERT_EQ(last.ack_seq, next_seq);
  }
};
TYPED_TEST_SUITE(LinkForgeTest, link_models);

TYPED_TEST(LinkForgeTest, IntactPacketsThatFitNowhere) {
  this->bring_up();
  std::mt19937_64 rng(seed());
  uint64_t bad = 0;
  std::array<uint64_t, channels> owed{};
  const unsigned words = TypeParam::width / 32;
  for (unsigned len : {65u, 100u, 513u, 2047u})
    for (unsigned vc = 0; vc < channels; ++vc) {
      packet p = random_packet(rng, vc);
      p.len_dw = uint16_t(len);
      p.data.assign(len, 7);
      this->feed_packet(p);
      ++this->next_seq;
      this->idle(20);
      EXPECT_EQ(this->dut.count().bad, ++bad) << "len " << len << " vc " << vc;
      EXPECT_EQ(this->last.ack_seq, this->next_seq);
      owed[vc] += 1 + (len + words - 1) / words;
    }
  for (unsigned version : {0u, 1u, 3u, 7u}) {
    packet p = random_packet(rng, version % channels, 8);
    this->feed_packet(p, version);
    ++this->next_seq;
    this->idle(20);
    EXPECT_EQ(this->dut.count().bad, ++bad) << "version " << version;
    EXPECT_EQ(this->last.ack_seq, this->next_seq);
    owed[version % channels] += 1 + (p.len_dw + words - 1) / words;
  }
  this->idle(100);
  for (unsigned v = 0; v < channels; ++v) EXPECT_EQ(this->credits[v], owed[v]) << "credits of channel " << v;
  EXPECT_EQ(this->dut.received_total(), 0u);
  this->check_alive();
}

// A sender that ignores its credits loses packets, not the link.
TYPED_TEST(LinkForgeTest, BeyondTheCredits) {
  this->bring_up();
  std::mt19937_64 rng(seed());
  this->dut.ready_probability(0);
  for (unsigned n = 0; n < 600; ++n) {
    packet p = random_packet(rng, n % channels, 64);
    this->feed_packet(p);
    ++this->next_seq;
  }
  this->idle(50);
  EXPECT_GT(this->dut.count().bad, 100u);
  EXPECT_EQ(this->last.ack_seq, this->next_seq);
  this->dut.ready_probability(1);
  this->idle(5000);
  EXPECT_EQ(this->dut.received_total() + this->dut.count().bad, 600u);
  this->check_alive();
}

// Length, CRC and framing errors take nothing and ask again once.
TYPED_TEST(LinkForgeTest, BrokenPackets) {
  this->bring_up();
  std::mt19937_64 rng(seed());
  for (int k = 0; k < 3000; ++k) {
    packet p = random_packet(rng, rng() % channels);
    p.seq = this->next_seq;
    p.version = nic::packet_version;
    p.session = this->met.mine & nic::session_tag_mask;
    if (rng() % 2)
      p.len_dw = uint16_t(p.len_dw + 2 * TypeParam::width / 32 + rng() % 100);  // says more than there is
    else
      p.data.insert(p.data.end(), 2 * TypeParam::width / 32, 1);  // says less
    for (const flit& f : nic::to_flits(p, TypeParam::width)) this->feed(f);
    if (k % 500 == 499) this->check_alive();
    if (this->HasFatalFailure()) return;
  }
  EXPECT_EQ(this->dut.count().rx_packets, 6u);
}

// Random flits of any kind: nothing comes out, and the link is usable afterwards or has said that it is dead.
TYPED_TEST(LinkForgeTest, RandomFlits) {
  this->bring_up();
  std::mt19937_64 rng(seed());
  for (int k = 0; k < 200'000; ++k) {
    flit f{.kind = flit_kind(rng() & 3)};
    for (unsigned i = 0; i < TypeParam::width / 64; ++i) f.data[i] = rng();
    this->feed(rng() % 3 ? std::optional<flit>(f) : std::nullopt);
  }
  EXPECT_EQ(this->dut.received_total(), 0u);
  ASSERT_EQ(this->dut.state(), unsigned(link_up));
  this->check_alive();
}

// Stale, repeated and absurd CTRL flits with a good CRC do no harm to the window or the credits.
TYPED_TEST(LinkForgeTest, AbsurdControl) {
  this->bring_up();
  std::mt19937_64 rng(seed());
  for (int k = 0; k < 20'000; ++k) {
    this->feed(nic::to_flit(nic::control{.ack_seq = uint8_t(1 + rng() % 255),
                                         .session = uint8_t(this->met.mine & nic::session_tag_mask),
                                         .credit = uint16_t(rng() & 0x1fff),
                                         .credit_vc = uint8_t(3 + rng() % 5),
                                         .nak = bool(rng() & 1)}));
    this->idle(2);
  }
  EXPECT_EQ(this->dut.count().replays, 0u);
  ASSERT_EQ(this->dut.state(), unsigned(link_up));
  this->check_alive();
}

// A nak requests a packet that is just being repeated, and before its end everything is acknowledged: nothing is left
// to repeat, and the link continues.
TYPED_TEST(LinkForgeTest, NothingLeftToRepeat) {
  this->bring_up();
  std::mt19937_64 rng(seed());
  packet p = random_packet(rng, 2);
  p.len_dw = 64;
  p.data.assign(64, 0x1234);
  for (unsigned round = 0; round < 6; ++round) {  // no more than the credits
    this->dut.send(p);
    ASSERT_TRUE(this->await(flit_kind::eop));
    this->acknowledge(round, true);
    ASSERT_TRUE(this->await(flit_kind::sop)) << "not repeated";
    this->idle(round % 3);
    this->acknowledge(round, true);
    this->acknowledge(round + 1);
    ASSERT_NE(this->sent, flit_kind::eop) << "acknowledged too late for this test";
    ASSERT_TRUE(this->await(flit_kind::eop)) << "a repeated packet does not end";
    this->idle(40);
    EXPECT_EQ(this->dut.pins().sts_unacked_o, 0u);
    EXPECT_EQ(this->dut.count().replays, round + 1);
    EXPECT_FALSE(this->dut.pins().busy_o);
  }
  this->check_alive();
}

// A shutdown ends the session that it names, and no other.
TYPED_TEST(LinkForgeTest, DeadHelloOfAnotherSession) {
  this->bring_up();
  const uint16_t mine = TestFixture::session, yours = this->met.mine;
  const nic::hello intruders[] = {{.mine = uint16_t(mine ^ 1), .yours = yours, .seen = true, .dead = true},
                                  {.mine = mine, .yours = uint16_t(yours ^ 0x100), .seen = true, .dead = true},
                                  {.mine = mine, .yours = yours, .dead = true}};
  for (const auto& intruder : intruders) {
    this->feed(nic::to_flit(intruder));
    this->idle(20);
    ASSERT_EQ(this->dut.state(), unsigned(link_up));
    this->check_alive();
  }
  this->feed(nic::to_flit(nic::hello{.mine = mine, .yours = yours, .seen = true, .met = true, .dead = true}));
  this->idle(2);
  EXPECT_EQ(this->dut.state(), unsigned(link_dead));
  EXPECT_EQ(this->dut.count().dead, 1u);
}

}  // namespace
}  // namespace ggas::test
