// SPDX-License-Identifier: Apache-2.0
// Two links over lanes whose clocks, bits and cables are not ideal: packets arrive whole, once and in order, or their
// loss is reported (docs/board.md). What the lanes do not see is for the CRC of the link.
#include <gtest/gtest.h>

#include <memory>

#include "Vlanes4.h"
#include "Vlanes8.h"
#include "Vlink256.h"
#include "Vlink512.h"
#include "tests/rtl/lanes/lane_line.hpp"
#include "tests/rtl/link/link_pair.hpp"

namespace ggas::test {
namespace {

// Clocks 0 and 1 are those of the NICs, 2 and 3 those of their lanes.
template <class Link, class Lane, unsigned Width>
class linked_nics {
 public:
  using node = link_node<Link, Width>;
  explicit linked_nics(uint64_t seed) {
    for (unsigned i = 0; i < 2; ++i) {
      nodes_[i] = std::make_unique<node>(seed + i);
      lines_[i] = std::make_unique<lane_line<Lane, Width / 64>>(seed + 2 + i);
    }
  }

  node& operator[](unsigned i) { return *nodes_[i]; }
  lane_line<Lane, Width / 64>& line(unsigned from) { return *lines_[from]; }
  void fast(unsigned clock, int ppm) { clocks_.fast(clock, ppm); }

  bool state(unsigned wanted) { return nodes_[0]->state() == wanted && nodes_[1]->state() == wanted; }
  // Steps until `done` holds; false if it does not within so many cycles of NIC 0.
  bool run(uint64_t limit, const std::function<bool()>& done) {
    for (const uint64_t end = time_[0] + limit; time_[0] < end; step())
      if (done()) return true;
    return done();
  }
  bool start() {
    return run(100'000, [this] { return state(link_up); });
  }
  bool drain(uint64_t limit) {
    return run(limit, [this] { return state(link_up) && nodes_[0]->quiet() && nodes_[1]->quiet(); });
  }
  // After a fall both sides are DEAD; software begins a new session when the lanes are up again.
  bool again() {
    if (!run(100'000, [this] { return state(link_dead); })) return false;
    for (auto& n : nodes_) n->retrain();
    return start();
  }

 private:
  void step() {
    const auto rises = clocks_.step();
    for (unsigned i = 0; i < 2; ++i)
      if (rises[i]) cycle(i);
    for (unsigned i = 0; i < 2; ++i) lines_[i]->rise(rises[i], rises[2 + i], rises[1 - i]);
  }
  void cycle(unsigned i) {
    const auto& in = *lines_[1 - i];
    auto& out = *lines_[i];
    std::optional<flit> arrived;
    if (in.pins().flit_valid_o) {
      arrived = flit{.kind = nic::flit_kind(in.pins().flit_kind_o)};
      for (unsigned l = 0; l < Width / 64; ++l) arrived->data[l] = in.flit_word(l);
    }
    nodes_[i]->pins().link_rx_up_i = in.pins().up_o;
    nodes_[i]->phy_probability(out.pins().flit_ready_o);
    const auto sent = nodes_[i]->step(++time_[i], arrived);
    out.pins().flit_valid_i = sent.has_value();
    if (!sent) return;
    out.pins().flit_kind_i = unsigned(sent->kind);
    for (unsigned l = 0; l < Width / 64; ++l) out.flit_word(l, sent->data[l]);
  }

  std::array<std::unique_ptr<node>, 2> nodes_;
  std::array<std::unique_ptr<lane_line<Lane, Width / 64>>, 2> lines_;  // from NIC i
  lane_clocks<4> clocks_;
  std::array<uint64_t, 2> time_{};
};

template <class T>
class LinkOverLanes : public testing::Test {
 protected:
  void offer(T& nics, unsigned packets) {
    for (unsigned i = 0; i < 2; ++i)
      for (unsigned n = 0; n < packets; ++n) nics[i].send(random_packet(random_, unsigned(random_() % channels)));
  }
  // What arrived was sent, in this order and once. Returns how many packets of a channel are missing.
  static uint64_t missing(T& nics, unsigned from, unsigned vc) {
    const auto& sent = nics[from].sent(vc);
    const auto& got = nics[1 - from].received(vc);
    size_t at = 0;
    for (const packet& p : got) {
      while (at < sent.size() && !(sent[at].p.header() == p.header() && sent[at].p.data == p.data)) ++at;
      EXPECT_LT(at, sent.size()) << "NIC " << from << ", channel " << vc << ": a packet that was not sent, or not now";
      if (at++ >= sent.size()) break;
    }
    return sent.size() - got.size();
  }
  static void all_arrived(T& nics) {
    for (unsigned i = 0; i < 2; ++i)
      for (unsigned v = 0; v < channels; ++v) EXPECT_EQ(missing(nics, i, v), 0u) << "NIC " << i << ", channel " << v;
  }
  std::mt19937_64 random_{base_seed()};
};
using Widths = testing::Types<linked_nics<Vlink256, Vlanes4, 256>, linked_nics<Vlink512, Vlanes8, 512>>;
TYPED_TEST_SUITE(LinkOverLanes, Widths);

// The lanes stay up, and damaged flits reach the link: its CRC finds them, and packets are sent again.
TYPED_TEST(LinkOverLanes, BitErrors) {
  TypeParam nics(base_seed());
  for (const auto& [clock, ppm] : {std::pair{0u, 300}, {1u, -300}, {2u, -300}, {3u, 300}}) nics.fast(clock, ppm);
  ASSERT_TRUE(nics.start());
  for (const double errors : {1e-4, 1e-3}) {
    for (unsigned i = 0; i < 2; ++i) nics.line(i).bit_errors(errors);
    this->offer(nics, 2000);
    ASSERT_TRUE(nics.drain(1'000'000)) << errors;
  }
  this->all_arrived(nics);
  for (unsigned i = 0; i < 2; ++i) {
    EXPECT_GT(nics[i].count().crc_errors, 20u);
    EXPECT_GT(nics[i].count().replays, 20u);
    EXPECT_EQ(nics[i].count().dead + nics[i].count().bad, 0u);
  }
}

// Slips, noise and new cables end sessions. A store that is missing was counted as lost; nothing else may be missing
// unless a session ended.
TYPED_TEST(LinkOverLanes, Falls) {
  TypeParam nics(base_seed());
  ASSERT_TRUE(nics.start());
  rng r(base_seed());
  for (unsigned round = 0; round < 9; ++round) {
    const unsigned of = round & 1;
    this->offer(nics, 300);
    for (unsigned i = 0; i < 2; ++i) nics.line(i).bit_errors(round < 6 ? 0 : 1e-3);
    const uint64_t begun = nics[of].begun().size() + r.range(20, 250);
    ASSERT_TRUE(nics.run(100'000, [&] { return nics[of].begun().size() >= begun; }));
    if (round % 3 == 0) nics.line(of).slip_one();
    if (round % 3 == 1) nics.line(of).noise(1);
    if (round % 3 == 2) nics.line(of).connect();
    ASSERT_TRUE(nics.run(20'000, [&] { return nics[1 - of].state() != link_up; })) << "not noticed, round " << round;
    nics.line(of).noise(0);
    ASSERT_TRUE(nics.again()) << round;
    ASSERT_TRUE(nics.drain(1'000'000)) << round;
  }
  for (unsigned i = 0; i < 2; ++i) {
    EXPECT_EQ(nics[i].count().dead, 9u);
    EXPECT_LE(this->missing(nics, i, 0), nics[i].count().lost);
    for (unsigned v = 1; v < channels; ++v) EXPECT_LE(this->missing(nics, i, v), 9 * 256u);
    EXPECT_EQ(nics[i].count().bad, 0u);
  }
}

}  // namespace
}  // namespace ggas::test
