// SPDX-License-Identifier: Apache-2.0
// A link dies, or answers never arrive, with everything in flight: all descriptors end with errors in bounded time,
// those of the loop continue, and after retraining everything works again.
#include "tests/rtl/nic_top/rma_helpers.hpp"

namespace ggas::test::rma_death_test {
namespace {

using nic::desc_op;
using nic::descriptor;
using nic::net_status;
using nic::note_kind;

constexpr uint16_t domain = 7;
constexpr uint64_t tick = nic::nic_core::tick_cycles;
constexpr unsigned contexts = 6, answer_ticks = 8;

class RmaDeath : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    rig_config c{.behaviour = fast_host(), .replay_limit = 4, .replay_timeout = 300, .seed = base_seed()};
    w_ = std::make_unique<rma_world>(device{GetParam()}, c);
    ASSERT_TRUE(w_->set_up()) << w_->r.report();
    w_->r.scoreboards(false);
    for (unsigned n = 0; n < 2; ++n) {
      w_->r.write_register(n, GGAS_REG_RMA_TIMEOUT, answer_ticks | 4 << 16);
      for (unsigned i = 0; i < 16; ++i) w_->driver.map(n, nla(0, i), rma_data + 0x1000 * i, domain);
    }
    for (unsigned i = 0; i < contexts; ++i)
      users_.push_back(&w_->user({.side = i % 2, .vpid = uint8_t(1 + 40 * i), .pd = domain, .queue = i >= 4}));
  }
  // One of each kind and way of completion.
  std::vector<descriptor> everything(unsigned user) const {
    std::vector<descriptor> all;
    rng g(base_seed() + user);
    for (const desc_op op : {desc_op::put, desc_op::get, desc_op::atomic, desc_op::imm, desc_op::inline_put,
                             desc_op::put, desc_op::get, desc_op::atomic, desc_op::send, desc_op::notify}) {
      descriptor d{.op = op, .ack = g.chance(0.5)};
      d.node = uint16_t(1 - user % 2);
      d.dvpid = users_[user ^ 1]->cfg.vpid;
      d.size = op == desc_op::notify ? 0 : op == desc_op::put || op == desc_op::get ? long_bytes_ : 8;
      d.w1 = nla(0, 2, 0x77);
      d.w2 = op == desc_op::atomic ? nla(0, 5, 0x40) : nla(0, 6 + user, 0x123);
      d.data.assign(op == desc_op::inline_put || op == desc_op::send ? 8 : 0, 1);
      d.notify_completer = op == desc_op::notify || (all.size() > 4 && (op == desc_op::put || op == desc_op::get));
      d.notify_requester = all.size() == 7;
      d.cookie = all.size();
      all.push_back(std::move(d));
    }
    return all;
  }
  void post_everything(unsigned times) {
    for (unsigned i = 0; i < times; ++i)
      for (unsigned u = 0; u < users_.size(); ++u)
        for (const auto& d : everything(u)) users_[u]->post(d);
  }
  bool complete(const rma_user& u) const {
    return u.all_written() && u.local() == u.posted() && u.remote() == u.posted();
  }
  bool wait_all(uint64_t limit) {
    return w_->r.run_until(
        [&] {
          w_->pump();
          return std::ranges::all_of(users_, [&](const rma_user* u) { return complete(*u); });
        },
        limit, "operations over a dead link");
  }
  void expect_errors_only(net_status a, net_status b) {
    w_->r.run(2'000);
    w_->pump();
    for (rma_user* u : users_) {
      EXPECT_GT(u->errors(), 0u) << unsigned(u->cfg.vpid);
      uint32_t notes = 0;
      for (const auto& x : u->notes) {
        if (x.n.kind != note_kind::error) continue;
        ++notes;
        EXPECT_TRUE(x.n.status == uint8_t(a) || x.n.status == uint8_t(b)) << unsigned(x.n.status);
      }
      EXPECT_EQ(notes, u->errors());
    }
  }
  void expect_works_again() {
    std::array<uint32_t, contexts> errors;
    for (unsigned u = 0; u < contexts; ++u) errors[u] = users_[u]->errors();
    post_everything(1);
    EXPECT_TRUE(wait_all(200'000)) << w_->r.report();
    for (unsigned u = 0; u < contexts; ++u) {
      EXPECT_EQ(users_[u]->errors(), errors[u]) << unsigned(users_[u]->last_error());
      const auto& side = users_[u]->cfg.side;
      for (unsigned i = 0; i < 2'000; ++i)
        if (w_->load(side, nla(0, 6 + u, 0x123 + i)) != w_->load(1 - side, nla(0, 2, 0x77 + i))) {
          ADD_FAILURE() << "get of context " << u << " byte " << i;
          break;
        }
    }
  }
  uint32_t long_bytes_ = 2'000;
  std::unique_ptr<rma_world> w_;
  std::vector<rma_user*> users_;
};

TEST_P(RmaDeath, CutWithEverythingInFlight) {
  rng g(base_seed());
  for (unsigned round = 0; round < 4; ++round) {
    post_everything(2);
    const uint64_t run = 100 + g.below(1'500);
    for (uint64_t i = 0; i < run; ++i) {
      w_->r.step();
      w_->pump();
    }
    const uint64_t begin = w_->r.now();
    for (auto& x : w_->r.s) x.out->cut = true;
    post_everything(1);
    ASSERT_TRUE(wait_all(60 * tick)) << w_->r.report();
    std::printf("all ended %llu cycles after the cut\n", (unsigned long long)(w_->r.now() - begin));
    expect_errors_only(net_status::link_down, net_status::timeout);
    for (auto& x : w_->r.s) x.out->cut = false;
    ASSERT_TRUE(w_->r.retrain()) << w_->r.report();
    w_->r.run(30 * tick);  // what a target of old still held is gone
    w_->pump();
    expect_works_again();
    for (unsigned n = 0; n < 2; ++n) w_->r.quiet(n);
    expect_alive(w_->r);
    ASSERT_CLEAN(w_->r);
    for (rma_user* u : users_) {
      u->disable();
      w_->r.run(100);
      ASSERT_TRUE(u->stopped());
      u->enable();
    }
    w_->r.run(200);
  }
}

// A target whose host never answers: each packet costs it a time-out, but all ends.
TEST_P(RmaDeath, HostOfTheTargetIsSilent) {
  long_bytes_ = 100;
  w_->r.write_register(1, GGAS_REG_RMA_TIMEOUT, answer_ticks | 2 << 16);
  w_->r.s[1].host->fate = [](const pcie::tlp&) { return read_fate::silent; };
  for (unsigned u = 0; u < contexts; u += 2)
    for (const auto& d : everything(u)) users_[u]->post(d);
  EXPECT_TRUE(wait_all(400 * tick)) << w_->r.report();
  for (unsigned u = 0; u < contexts; u += 2) EXPECT_GT(users_[u]->errors(), 0u);
  w_->r.s[1].host->fate = nullptr;
  for (unsigned i = 0; i < 150; ++i) {  // what the target still holds
    w_->r.run(tick);
    w_->pump();
  }
  long_bytes_ = 2'000;
  expect_works_again();
  expect_alive(w_->r);
  EXPECT_CLEAN(w_->r);
}

// Reads of the RMA that the host answers with errors: each ends with an error, in bounded time. (Except work queues: a
// lost slot shifts those after it.)
TEST_P(RmaDeath, HostErrors) {
  for (const read_fate fate : {read_fate::ur, read_fate::ca, read_fate::poison, read_fate::silent}) {
    rng g(base_seed());
    for (auto& x : w_->r.s)
      x.host->fate = [&g, fate](const pcie::tlp& t) {
        const bool queue = t.tag >= 224 && t.tag < 240;
        return t.tag >= 128 && !queue && g.chance(0.2) ? fate : read_fate::answer;
      };
    post_everything(1);
    EXPECT_TRUE(wait_all(600 * tick)) << w_->r.report();
    for (auto& x : w_->r.s) x.host->fate = nullptr;
    for (unsigned i = 0; i < 30; ++i) {
      w_->r.run(tick);
      w_->pump();
    }
    ASSERT_CLEAN(w_->r);
  }
  for (rma_user* u : users_) EXPECT_GT(u->errors(), 0u);
  EXPECT_GT(w_->r.events(0, GGAS_EV_RMA_HOST_ERROR), 0u);
  expect_works_again();
  expect_alive(w_->r);
  EXPECT_CLEAN(w_->r);
}

INSTANTIATE_TEST_SUITE_P(Widths, RmaDeath, testing::Values(64u, 256u));

}  // namespace
}  // namespace ggas::test::rma_death_test
