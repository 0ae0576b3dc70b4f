// SPDX-License-Identifier: Apache-2.0
// Garbage in descriptor slots, random and mutated from valid ones: every descriptor ends, every bad one is an event and
// an error notification, and other contexts are not affected.
#include "tests/rtl/nic_top/rma_helpers.hpp"

namespace ggas::test::rma_garbage_test {
namespace {

using nic::desc_op;
using nic::descriptor;

constexpr uint16_t domain = 0x0f0f;
using slot = std::array<uint32_t, 8>;

class RmaGarbage : public testing::TestWithParam<device> {
 protected:
  void SetUp() override {
    w_ = std::make_unique<rma_world>(GetParam());
    ASSERT_TRUE(w_->set_up()) << w_->r.report();
    beside_ = std::make_unique<bystanders>(*w_, base_seed());
    for (unsigned side = 0; side < 2; ++side) {
      users_.push_back(&w_->user({.side = side, .vpid = 0, .pd = domain, .queue = side == 1, .notify_log2 = 12}));
      for (unsigned i = 0; i < 4; ++i) w_->driver.map(side, nla(0, first_page + i), rma_data + 0x1000 * i, domain);
    }
  }
  static constexpr unsigned first_page = 500;

  // A good descriptor of any kind, in the own pages.
  descriptor good(rng& g) {
    descriptor d{.op = desc_op(g.below(8))};
    d.node = uint16_t(g.below(2));
    d.ack = g.chance(0.5);
    d.notify_requester = g.chance(0.2);
    d.notify_completer = d.op == desc_op::notify || g.chance(0.2);
    d.cookie = g.next();
    static constexpr unsigned limit[] = {1, 600, 8, 64, 600, 0, 8, 64};
    d.size = d.op == desc_op::notify ? 0 : uint32_t(g.range(1, limit[unsigned(d.op)]));
    if (d.op == desc_op::atomic) d.size = 8;
    d.w1 = nla(0, first_page, 8 * g.below(400));
    d.w2 = nla(0, first_page + 2, 8 * g.below(400));
    d.data.assign(d.op == desc_op::inline_put || d.op == desc_op::send ? d.size : 0, 0x5a);
    return d;
  }
  std::vector<slot> garbage(rng& g) {
    if (g.chance(0.3)) {
      slot s;
      for (auto& dw : s) dw = uint32_t(g.next());
      if (g.chance(0.7)) s[0] = (s[0] & ~0xfe0fu) | uint32_t(g.below(8));  // an op, nothing reserved
      return {s};
    }
    auto slots = good(g).encode();
    const uint64_t flips = g.below(4);
    for (uint64_t i = 0; i < flips; ++i) {
      const bool head = g.chance(0.6);
      slots[head ? 0 : g.below(slots.size())][head ? g.below(2) : g.below(8)] ^= 1u << g.below(32);
    }
    return slots;
  }
  // Bad descriptors among the slots written, as every reader of the slots must cut them.
  static uint64_t bad_among(const std::vector<slot>& slots, uint64_t& all) {
    uint64_t bad = 0;
    for (size_t i = 0; i < slots.size(); ++all) {
      const unsigned n = descriptor::decode(std::span(slots).subspan(i, 1)).slots();
      bad += !descriptor::decode(std::span(slots).subspan(i, std::min<size_t>(n, slots.size() - i))).good();
      i += n;
    }
    return bad;
  }
  void feed(uint64_t slots);

  std::unique_ptr<rma_world> w_;
  std::unique_ptr<bystanders> beside_;
  std::vector<rma_user*> users_;
};

void RmaGarbage::feed(uint64_t total) {
  rng g(base_seed() + 5);
  std::array<std::vector<slot>, 2> written;
  uint64_t made = 0;
  w_->r.on_step = [&] {
    if (w_->r.now() % 8) return;
    if (made < total) beside_->keep_busy();
    w_->pump();
    for (unsigned n = 0; n < 2; ++n)
      while (made < total && users_[n]->all_written()) {
        auto slots = garbage(g);
        written[n].insert(written[n].end(), slots.begin(), slots.end());
        made += slots.size();
        users_[n]->post_slots(slots);
      }
  };
  w_->r.run_until([&] { return made >= total; }, 2'000 * total, "garbage");
  // What is left of a descriptor of several slots is completed by empty ones.
  for (unsigned n = 0; n < 2; ++n)
    for (unsigned i = 0; i < 3; ++i) {
      written[n].push_back({});
      users_[n]->post_slots({slot{}});
    }
  const auto consumed = [&] {
    return users_[0]->consumed() >= written[0].size() && users_[1]->consumed() >= written[1].size();
  };
  w_->r.run_until(consumed, 3'000'000, "the last garbage");
  const auto complete = [&] {
    return users_[0]->local() == users_[0]->remote() && users_[1]->local() == users_[1]->remote();
  };
  w_->r.run_until(complete, 3'000'000, "what garbage asked for");
  w_->r.run_until([&] { return beside_->traffic.done(); }, 3'000'000, "the contexts beside");
  w_->r.run(3'000);
  for (unsigned n = 0; n < 2; ++n) {
    uint64_t all = 0, notes = 0;
    const uint64_t bad = bad_among(written[n], all);
    for (const auto& x : users_[n]->notes)
      notes += x.n.kind == nic::note_kind::error ? 1 : x.n.kind == nic::note_kind::lost ? x.w0 : 0;
    EXPECT_EQ(users_[n]->local(), all);
    EXPECT_EQ(w_->r.events(n, GGAS_EV_BAD_DESCRIPTOR), bad);
    EXPECT_GE(users_[n]->errors(), std::min<uint64_t>(bad, 0xffffff));
    EXPECT_EQ(notes, users_[n]->errors()) << "error notifications, and errors counted";
    std::printf("side %u: %llu slots, %llu descriptors, %llu bad, %u errors\n", n,
                (unsigned long long)written[n].size(), (unsigned long long)all, (unsigned long long)bad,
                users_[n]->errors());
  }
  beside_->traffic.check();
  EXPECT_CLEAN(w_->r);
}

TEST_P(RmaGarbage, NoEffectOnOthers) { feed(12'000); }
TEST_P(RmaGarbage, MillionLong) { feed(1'500'000); }

INSTANTIATE_TEST_SUITE_P(Devices, RmaGarbage, testing::Values(device{64, true}, device{64}, device{256}));

}  // namespace
}  // namespace ggas::test::rma_garbage_test
