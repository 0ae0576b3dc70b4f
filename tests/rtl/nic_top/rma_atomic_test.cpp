// SPDX-License-Identifier: Apache-2.0
// Atomics are executed exactly once: four contexts on two nodes add to counters while flits are lost in both
// directions, or only in the direction of the responses. At the end the counters have the exact value, and no old value
// was seen twice.
#include "tests/rtl/nic_top/rma_helpers.hpp"

namespace ggas::test::rma_atomic_test {
namespace {

using nic::amo;
using nic::desc_op;
using nic::descriptor;

struct losses {
  device what;
  bool responses_only = false;
  friend void PrintTo(const losses& l, std::ostream* os) {
    PrintTo(l.what, os);
    *os << (l.responses_only ? ", responses lost" : ", flits lost");
  }
};

constexpr uint16_t domain = 3;
constexpr unsigned counters = 4;  // 8 bytes wide and 4, on each node

class RmaAtomic : public testing::TestWithParam<losses> {
 protected:
  void SetUp() override {
    rig_config c{.behaviour = fast_host(), .link_latency = 10, .replay_timeout = 600, .seed = base_seed()};
    w_ = std::make_unique<rma_world>(GetParam().what, c);
    ASSERT_TRUE(w_->set_up()) << w_->r.report();
    for (unsigned i = 0; i < 4; ++i)
      users_.push_back(&w_->user({.side = i % 2,
                                  .vpid = uint8_t(60 * i),
                                  .pd = domain,
                                  .queue = i >= 2,
                                  .ring = false,
                                  .mailbox = false,
                                  .queue_log2 = 8}));
    for (unsigned side = 0; side < 2; ++side) {
      w_->driver.map(side, nla(0, 0), rma_data, domain);
      w_->driver.map(side, nla(1, 1), rma_data + 0x10000, domain);
      for (unsigned i = 0; i < 2 * counters; ++i) w_->store64(side, word(i), 0);
    }
  }
  static uint64_t word(unsigned i) { return nla(0, 0, 0x100 + 8 * i); }

  // Additions of 1 by fetch-add; every 8th of them by a compare-swap that cannot hit and must change nothing.
  void add(uint64_t total) {
    if (!GetParam().what.model) {
      auto& s = w_->r.s;
      if (!GetParam().responses_only)
        for (auto& x : s) x.out->drop = x.out->corrupt = 0.5e-3;
      else
        lose_responses();
    }
    std::array<uint64_t, 4 * counters> added{};
    uint64_t made = 0;
    rng g(base_seed());
    w_->r.on_step = [&] {
      if (w_->r.now() % 8) return;
      for (rma_user* u : users_) {
        while (made < total && u->posted() - u->remote() < 24) u->post(next(g, added, made));
        u->pump();
      }
    };
    w_->r.run_until([&] { return made == total && finished(); }, 2'000 * total + 100'000, "atomics");
    w_->r.run(2'000);
    for (unsigned side = 0; side < 2; ++side)
      for (unsigned i = 0; i < 2 * counters; ++i)
        EXPECT_EQ(w_->load64(side, word(i)), added[side * 2 * counters + i]) << "word " << i << " of side " << side;
    for (rma_user* u : users_) EXPECT_EQ(u->errors(), 0u);
    EXPECT_CLEAN(w_->r);
    uint64_t done = 0;
    for (unsigned n = 0; n < 2; ++n) {
      done += w_->r.read_register(n, GGAS_REG_RMA_TARGET_ATOMICS);
      if (GetParam().what.model) continue;
      EXPECT_GT(w_->r.read_register(n, GGAS_REG_LINK_TX_REPLAYS), 0u);
    }
    EXPECT_EQ(done, total);
    std::printf("%llu atomics, %llu cycles, %llu faults\n", (unsigned long long)total, (unsigned long long)w_->r.now(),
                (unsigned long long)(w_->r.s[0].out->faults() + w_->r.s[1].out->faults()));
  }

  descriptor next(rng& g, std::array<uint64_t, 4 * counters>& added, uint64_t& made) {
    const auto i = unsigned(g.below(2 * counters));
    const auto side = unsigned(g.below(2));
    descriptor d{.op = desc_op::atomic};
    d.node = uint16_t(side);
    d.size = i < counters ? 8 : 4;
    d.w1 = 1;
    d.w2 = word(i);
    d.cookie = made;
    if (made++ % 8 == 7)
      d.second = {~uint64_t{0} >> 1, 0, uint64_t(amo::cas), 0};
    else
      ++added[side * 2 * counters + i];
    return d;
  }
  bool finished() const {
    return std::ranges::all_of(users_, [](const rma_user* u) { return u->done(); });
  }
  // One response in a thousand flits loses its last flit.
  void lose_responses() {
    for (unsigned n = 0; n < 2; ++n) {
      decoders_.push_back(std::make_unique<nic::flit_decoder>(w_->r.cfg.width));
      w_->r.s[n].out->drop_if = [this, n, g = std::make_shared<rng>(base_seed() + n)](const nic::flit& f) {
        const auto p = decoders_[n]->push(f);
        return p && p->vc == uint8_t(nic::vc::rsp) && g->chance(8e-3);  // about 8 flits each
      };
    }
  }
  std::unique_ptr<rma_world> w_;
  std::vector<rma_user*> users_;
  std::vector<std::unique_ptr<nic::flit_decoder>> decoders_;
};

TEST_P(RmaAtomic, CountersAreExact) { add(GetParam().what.width == 64 ? 12'000 : 6'000); }
TEST_P(RmaAtomic, MillionLong) { add(1'000'000); }

// Result records: one in a step, each sees another old value.
TEST_P(RmaAtomic, EveryOldValueIsSeenOnce) {
  constexpr unsigned each = 300;
  if (!GetParam().what.model)
    for (auto& x : w_->r.s) x.out->drop = 1e-3;
  for (unsigned u = 0; u < users_.size(); ++u)
    for (unsigned i = 0; i < each; ++i) {
      descriptor d{.op = desc_op::atomic};
      d.node = 1;
      d.size = 8;
      d.w1 = 1;
      d.w2 = word(0);
      d.cookie = ~uint64_t{i};
      d.second[1] = nla(1, 1, 0x2000 * u + 16 * i);
      users_[u]->post(d);
    }
  ASSERT_TRUE(w_->finish(3'000'000)) << w_->r.report();
  std::vector<bool> seen(each * users_.size());
  for (unsigned u = 0; u < users_.size(); ++u)
    for (unsigned i = 0; i < each; ++i) {
      const unsigned side = users_[u]->cfg.side;
      const uint64_t old = w_->load64(side, nla(1, 1, 0x2000 * u + 16 * i));
      EXPECT_EQ(w_->load64(side, nla(1, 1, 0x2000 * u + 16 * i + 8)), ~uint64_t{i});
      ASSERT_LT(old, seen.size());
      EXPECT_FALSE(seen[old]) << old;
      seen[old] = true;
    }
  EXPECT_EQ(w_->load64(1, word(0)), each * users_.size());
  EXPECT_CLEAN(w_->r);
}

INSTANTIATE_TEST_SUITE_P(Devices, RmaAtomic,
                         testing::Values(losses{{64, true}}, losses{{64}}, losses{{64}, true}, losses{{256}}));

}  // namespace
}  // namespace ggas::test::rma_atomic_test
