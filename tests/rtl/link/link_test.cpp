// SPDX-License-Identifier: Apache-2.0
// Two links against each other: traffic, throughput, latency, clock gating, loss of the link.
#include <iostream>

#include "tests/rtl/link/link_models.hpp"
#include "tests/rtl/link/link_pair.hpp"
#include "tests/support/number_of.hpp"

namespace ggas::test {
namespace {

template <class T>
struct LinkTest : testing::Test {
  using pair = link_pair<typename T::model, T::width>;
  static void random_traffic(pair& p, std::mt19937_64& rng, unsigned packets, unsigned max_dw = 64) {
    for (unsigned n = 0; n < packets; ++n)
      for (unsigned i = 0; i < 2; ++i) p[i].send(random_packet(rng, rng() % channels, max_dw));
  }
  // The link comes up, and then says nothing.
  static void bring_up(pair& p) {
    ASSERT_TRUE(p.run_until_drained(5000));
    const uint64_t flits = p.wire(0).flits() + p.wire(1).flits();
    for (int k = 0; k < 3000; ++k) p.step();
    EXPECT_EQ(p.wire(0).flits() + p.wire(1).flits(), flits) << "an idle link sends flits";
  }
};
TYPED_TEST_SUITE(LinkTest, link_models);

TYPED_TEST(LinkTest, ComesUpAndIsSilent) {
  typename TestFixture::pair p(seed());
  this->bring_up(p);
  EXPECT_EQ(p.states[0], 1u << link_down | 1u << link_init | 1u << link_up);
}

// Without acknowledgements no more than 127 packets leave: sequence numbers of 8 bits distinguish no more.
TYPED_TEST(LinkTest, TheWindowIsKept) {
  std::mt19937_64 rng(seed());
  typename TestFixture::pair p(seed());
  this->bring_up(p);
  p[0].pins().cfg_replay_timeout_i = 60'000;
  p.wire(1).fault([](const flit&, uint64_t) { return std::vector<flit>{}; });
  for (unsigned n = 0; n < 300; ++n) {
    packet empty = random_packet(rng, n % channels);
    empty.len_dw = 0;
    empty.data.clear();
    p[0].send(empty);
  }
  unsigned most = 0;
  for (unsigned n = 0; n < 2'000; ++n) {
    p.step();
    most = std::max<unsigned>(most, p[0].pins().sts_unacked_o);
  }
  EXPECT_LE(most, 127u);
  EXPECT_GT(most, 60u);
  p.wire(1).fault(nullptr);
  ASSERT_TRUE(p.run_until_drained(300'000));
  p.check_all();
}

TYPED_TEST(LinkTest, RandomTraffic) {
  std::mt19937_64 rng(seed());
  typename TestFixture::pair p(seed());
  for (int round = 0; round < 12; ++round) {
    for (unsigned i = 0; i < 2; ++i) {
      p[i].offer_probability(round % 3 == 0 ? 1 : 0.3);
      p[i].phy_probability(round % 4 == 1 ? 0.7 : 1);
      for (unsigned v = 0; v < channels; ++v) p[i].ready_probability(v, round % 2 ? double(rng() % 100 + 5) / 100 : 1);
    }
    this->random_traffic(p, rng, 300);
    ASSERT_TRUE(p.run_until_drained(1'000'000)) << "round " << round;
  }
  p.check_all();
  EXPECT_EQ(p[0].count().rx_packets, 3600u);
  EXPECT_EQ(p[0].count().tx_packets, 3600u);
  EXPECT_EQ(p[0].count().crc_errors + p[0].count().seq_errors + p[0].count().replays, 0u);
  EXPECT_GT(p[0].received_total(), 256u * 8) << "sequence numbers did not wrap";
}

// One virtual channel blocked by its unit holds up neither of the others; it continues when the unit does.
TYPED_TEST(LinkTest, CreditStallPerChannel) {
  for (unsigned blocked = 0; blocked < channels; ++blocked) {
    std::mt19937_64 rng(seed() + blocked);
    typename TestFixture::pair p(seed());
    this->bring_up(p);
    p[1].ready_probability(blocked, 0);
    for (unsigned n = 0; n < 400; ++n)
      for (unsigned v = 0; v < channels; ++v) p[0].send(random_packet(rng, v, 16));
    const unsigned other = blocked == 0 ? 2 : 0;
    ASSERT_TRUE(p.run(100'000, [&] { return p[1].received(other).size() == 400; })) << blocked;
    for (int k = 0; k < 5000; ++k) p.step();
    EXPECT_GT(p[0].credit_stalls[blocked], 100u) << blocked;
    EXPECT_LT(p[1].received(blocked).size(), 400u);
    p[1].ready_probability(1);
    ASSERT_TRUE(p.run_until_drained(100'000)) << blocked;
    p.check_all();
  }
}

// 64-byte stores both ways at once: at least 90 % of 12 flits (64 bit), 3 (256), 2 (512) a packet.
TYPED_TEST(LinkTest, Throughput) {
  std::mt19937_64 rng(seed());
  typename TestFixture::pair p(seed(), 25);
  this->bring_up(p);
  constexpr unsigned packets = 2000;
  for (unsigned n = 0; n < packets; ++n)
    for (unsigned i = 0; i < 2; ++i) {
      packet s = random_packet(rng, 0);
      s.len_dw = 16;
      s.data.assign(16, uint32_t(rng()));
      p[i].send(s);
    }
  const uint64_t start = p.time();
  ASSERT_TRUE(p.run(100'000, [&] { return p[0].received(0).size() == packets && p[1].received(0).size() == packets; }));
  const unsigned flits = nic::flit_count(16, TypeParam::width);
  const double used = double(packets) * flits / double(p.time() - start);
  std::cout << TypeParam::width << " bit: " << 100 * used << " % of the payload bound, both directions\n";
  EXPECT_GE(used, 0.9);
  ASSERT_TRUE(p.run_until_drained(5000));
  p.check_all();
}

TYPED_TEST(LinkTest, Latency) {
  constexpr unsigned delay = 7;
  typename TestFixture::pair p(seed(), delay);
  this->bring_up(p);
  packet s;
  s.len_dw = 2;
  s.data.assign(2, 0x12345678);
  p[0].send(s);
  ASSERT_TRUE(p.run(200, [&] { return p[1].received(0).size() == 1; }));
  const unsigned flits = nic::flit_count(2, TypeParam::width);
  const uint64_t tx = p[0].first_sop_time - p[0].first_offer_time;
  const uint64_t rx = p[1].first_rx_time - (p[0].first_sop_time + delay + flits - 1);
  std::cout << TypeParam::width << " bit: header offered to SOP on the wire " << tx << ", last flit in to header out "
            << rx << "\n";
  EXPECT_LE(tx, 2u);
  EXPECT_LE(rx, 3u);
}

// A clock that stops whenever the NIC allows it sends the same flits at the same times.
TYPED_TEST(LinkTest, GatedClockIsEquivalent) {
  auto run = [&](bool gated) {
    std::mt19937_64 rng(seed());
    auto p = std::make_unique<typename TestFixture::pair>(seed(), 9);
    p->keep_log = true;
    for (unsigned i = 0; i < 2; ++i) {
      (*p)[i].gated(gated);
      (*p)[i].offer_probability(0.01);
      (*p)[i].ready_probability(0.5);
      // Irregular, and the same in both runs: a regular pattern can hit the same flit of every replay.
      p->wire(i).fault([faults = std::mt19937_64(seed() + i)](const flit& f, uint64_t) mutable {
        return faults() % 40 == 0 ? std::vector<flit>{} : std::vector<flit>{f};
      });
    }
    for (int round = 0; round < 6; ++round) {
      TestFixture::random_traffic(*p, rng, 60, 24);
      EXPECT_TRUE(p->run(400'000, [&] { return (*p)[0].sent_all() && (*p)[1].sent_all(); }));
      EXPECT_TRUE(p->run_until_drained(400'000)) << "round " << round;
      for (int k = 0; k < 9000; ++k) p->step();
    }
    for (unsigned i = 0; i < 2; ++i)
      EXPECT_EQ((*p)[i].count().dead, 0u)
          << "replays " << (*p)[i].count().replays << " crc " << (*p)[i].count().crc_errors;
    p->check_all();
    return p;
  };
  auto a = run(false), b = run(true);
  EXPECT_GT((*b)[0].skipped() + (*b)[1].skipped(), 20'000u) << "the clock never stopped";
  EXPECT_EQ(a->time(), b->time());
  ASSERT_EQ(a->log.size(), b->log.size());
  for (size_t i = 0; i < a->log.size(); ++i) ASSERT_EQ(a->log[i], b->log[i]) << "flit " << i;
}

// ---------------------------------------------------------------- loss of the link

TYPED_TEST(LinkTest, CutChannelIsDetectedAndRetrains) {
  std::mt19937_64 rng(seed());
  typename TestFixture::pair p(seed());
  for (unsigned i = 0; i < 2; ++i) {
    p[i].pins().cfg_replay_limit_i = 3;
    p[i].pins().cfg_replay_timeout_i = 64;
    p.wire(i).fault([](const flit& f, uint64_t n) { return n > 400 ? std::vector<flit>{} : std::vector<flit>{f}; });
  }
  this->random_traffic(p, rng, 400);
  ASSERT_TRUE(p.run(100'000, [&] { return p[0].state() == link_dead && p[1].state() == link_dead; }));
  for (int k = 0; k < 2000; ++k) p.step();
  for (unsigned i = 0; i < 2; ++i) {
    EXPECT_EQ(p[i].count().dead, 1u);
    EXPECT_EQ(p[i].pins().sts_unacked_o, 0u) << "packets were not discarded";
    EXPECT_EQ(p[i].pins().timer_o, 0u);
    // Each store the other side did not get is reported; one that got there unacknowledged may be reported, too.
    EXPECT_GE(p[i].count().lost, p[i].sent(0).size() - p[1 - i].received(0).size());
    EXPECT_LE(p[i].count().lost, p[i].sent(0).size());
    for (unsigned v = 0; v < channels; ++v) {
      const auto& got = p[1 - i].received(v);
      for (size_t k = 0; k < got.size(); ++k) ASSERT_TRUE(p.same(p[i].sent(v)[k].p, got[k]));
      p[i].sent(v).clear();
    }
  }
  for (unsigned i = 0; i < 2; ++i)
    for (unsigned v = 0; v < channels; ++v) p[i].received(v).clear();
  for (unsigned i = 0; i < 2; ++i) {
    p[i].expect_np_after(nullptr);
    p.wire(i).fault(nullptr);
    p[i].retrain();
  }
  ASSERT_TRUE(p.run_until_drained(200'000));
  p.check_all();
  EXPECT_EQ(p.states[0] & p.states[1], 0b1111u) << "states seen";
}

// Retraining one side alone kills the other, which must be reported as well; then both work.
TYPED_TEST(LinkTest, LossOfSignalAndOneSidedRestart) {
  std::mt19937_64 rng(seed());
  typename TestFixture::pair p(seed());
  this->random_traffic(p, rng, 20);
  ASSERT_TRUE(p.run_until_drained(20'000));
  p.wire(0).fault([](const flit&, uint64_t) { return std::vector<flit>{}; });  // the shutdown is lost
  p[0].pins().link_rx_up_i = 0;
  ASSERT_TRUE(p.run(50, [&] { return p[0].state() == link_dead; }));
  p[0].pins().link_rx_up_i = 1;
  p.wire(0).fault(nullptr);
  EXPECT_EQ(p[1].state(), unsigned(link_up));
  for (int k = 0; k < 100; ++k) p.step();
  p[0].retrain();
  ASSERT_TRUE(p.run(5000, [&] { return p[1].state() == link_dead; })) << "the restart went unnoticed";
  for (int k = 0; k < 100; ++k) p.step();
  for (unsigned i = 0; i < 2; ++i) p[i].retrain();
  ASSERT_TRUE(p.run(20'000, [&] { return p[0].state() == link_dead || p.drained(); }));
  if (p[0].state() == link_dead) p[0].retrain();
  ASSERT_TRUE(p.run_until_drained(20'000));
  this->random_traffic(p, rng, 20);
  ASSERT_TRUE(p.run_until_drained(20'000));
  p.check_all();
}

// A shutdown (ready = 0) makes the neighbour give up at once.
TYPED_TEST(LinkTest, DeathIsReported) {
  typename TestFixture::pair p(seed());
  this->bring_up(p);
  p[0].pins().link_rx_up_i = 0;
  ASSERT_TRUE(p.run(50, [&] { return p[1].state() == link_dead; }));
  EXPECT_EQ(p[0].count().dead + p[1].count().dead, 2u);
}

// Another MTU than 256: packets up to 4 KB, flits lost and channels that are held up; what is longer is refused.
template <class T>
struct LinkMtuTest : LinkTest<T> {};
TYPED_TEST_SUITE(LinkMtuTest, long_link_models);

TYPED_TEST(LinkMtuTest, PacketsOfAllLengths) {
  std::mt19937_64 rng(seed()), faults(seed() + 1);
  typename TestFixture::pair p(seed());
  this->bring_up(p);
  for (unsigned i = 0; i < 2; ++i)
    p.wire(i).fault(
        [&](const flit& f, uint64_t) { return faults() % 2000 == 0 ? std::vector<flit>{} : std::vector<flit>{f}; });
  for (int round = 0; round < 6; ++round) {
    for (unsigned i = 0; i < 2; ++i)
      for (unsigned v = 0; v < channels; ++v) p[i].ready_probability(v, round % 2 ? double(rng() % 100 + 5) / 100 : 1);
    this->random_traffic(p, rng, 60, 1024);
    packet whole = random_packet(rng, rng() % channels, 1024);
    whole.len_dw = 1024;
    whole.data.resize(1024, uint32_t(round));
    for (unsigned k = 0; k < 6; ++k) p[k & 1].send(whole);  // more than a channel's buffer holds
    ASSERT_TRUE(p.run_until_drained(2'000'000)) << "round " << round;
  }
  p.check_all();
  EXPECT_EQ(p[0].count().rx_packets, 6u * 63);
  EXPECT_GT(p[0].count().replays + p[1].count().replays, 5u);
}

}  // namespace
}  // namespace ggas::test
