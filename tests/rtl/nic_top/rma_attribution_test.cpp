// SPDX-License-Identifier: Apache-2.0
// A failure is reported only for the operation that failed: gets of one context that are in flight at once, puts after
// one that failed on both sides, and gets and atomics that were given up, of which nothing is written later.
#include <set>

#include "tests/rtl/nic_top/rma_helpers.hpp"

namespace ggas::test::rma_attribution_test {
namespace {

using nic::desc_op;
using nic::descriptor;
using nic::net_status;
using nic::note_kind;

constexpr uint16_t domain = 7;
constexpr uint64_t tick = nic::nic_core::tick_cycles;

struct setting {
  device what;
  bool pressure = false;  // hosts that refuse, cut and delay
  friend void PrintTo(const setting& s, std::ostream* os) {
    PrintTo(s.what, os);
    *os << (s.pressure ? ", back-pressure" : "");
  }
};

class RmaAttribution : public testing::TestWithParam<setting> {
 protected:
  // Pages of class 1: the whole of `sources`, `good`; of the pair after `border` the second may not be written.
  static constexpr unsigned sources = 2, good = 4, border = 20, ragged = 24;
  static constexpr unsigned good_pages = 12;

  void SetUp() override {
    rig_config c{.behaviour = GetParam().pressure ? host_behaviour{} : fast_host(), .seed = base_seed()};
    w_ = std::make_unique<rma_world>(GetParam().what, c);
    ASSERT_TRUE(w_->set_up()) << w_->r.report();
    for (unsigned side = 0; side < 2; ++side) {
      for (unsigned page = sources; page < sources + 2; ++page) map(side, page, {});
      for (unsigned page = good; page < good + good_pages; ++page) map(side, page, {});
      map(side, border, {});
      map(side, border + 1, {.read = true, .write = false});
      map(side, ragged, {});
      map(side, ragged + 1, {.valid = false});
    }
  }
  void TearDown() override { EXPECT_CLEAN(w_->r); }
  void map(unsigned side, unsigned page, rma_rights rights) {
    w_->driver.map(side, nla(1, page), rma_data + (uint64_t{page} << 16), domain, rights);
  }
  // The error notifications must be exactly `expected`: word 0 of each.
  void expect_reported(rma_user& u, std::vector<uint64_t> expected) {
    std::vector<uint64_t> reported;
    for (const auto& x : u.notes) {
      if (x.n.kind != note_kind::error) continue;
      reported.push_back(x.w0);
      EXPECT_EQ(x.n.status, uint8_t(net_status::protection));
    }
    std::ranges::sort(reported);
    std::ranges::sort(expected);
    EXPECT_EQ(reported, expected) << "context " << unsigned(u.cfg.vpid);
    EXPECT_EQ(u.errors(), expected.size());
  }
  std::unique_ptr<rma_world> w_;
};

TEST_P(RmaAttribution, GetsUnderWayAtOnce) {
  constexpr unsigned users = 3, gets = 160, longest = 1500;
  struct wanted {
    descriptor d;
    unsigned user;
  };
  rng g(base_seed() * 7 + GetParam().what.width);
  std::vector<wanted> all;
  std::vector<std::vector<uint64_t>> bad(users);
  for (unsigned u = 0; u < users; ++u) {
    rma_user& user = w_->user({.side = u / 2, .vpid = uint8_t(9 + 100 * u), .pd = domain, .notify_log2 = 9});
    for (unsigned i = 0; i < gets; ++i) {
      const unsigned k = u * gets + i;
      descriptor d{.op = desc_op::get, .node = uint16_t(g.below(2))};
      d.size = uint32_t(g.chance(0.4) ? g.range(1, 40) : g.range(1, longest));
      d.w1 = nla(1, sources, 64 * k + g.below(64));
      d.w2 = nla(1, good, longest * k);
      const bool refused_here = g.chance(0.25), refused_there = g.chance(0.1);
      if (refused_here) d.w2 = nla(1, border + 1, 0) + 1 - d.size + g.below(d.size);  // some of it, or all
      if (refused_there) d.w1 = nla(1, ragged + 1, 64 * k);
      if (refused_here || refused_there)
        bad[u].push_back(d.w1);
      else
        all.push_back({d, u});
      user.post(d);
    }
  }
  ASSERT_TRUE(w_->finish(600'000)) << w_->r.report();
  for (unsigned u = 0; u < users; ++u) expect_reported(*w_->users[u], bad[u]);
  for (const auto& [d, u] : all)
    for (unsigned i = 0; i < d.size; ++i)
      ASSERT_EQ(w_->load(u / 2, d.w2 + i), w_->load(d.node, d.w1 + i)) << "context " << u << " byte " << i;
}

// The refused put ends early, for its source cannot be read further; what follows has nothing to do with it.
TEST_P(RmaAttribution, PutsBehindOneThatFailedOnBothSides) {
  rma_user& me = w_->user({.side = 0, .vpid = 9, .pd = domain, .notify_log2 = 10});
  rma_user& other = w_->user({.side = 1, .vpid = 10, .pd = domain, .notify_log2 = 10});
  rng g(base_seed());
  std::vector<uint64_t> bad;
  uint32_t reported = 0;
  for (unsigned i = 0; i < 300; ++i) {
    descriptor d{.op = desc_op::put, .dvpid = 10, .node = 1, .cookie = i};
    d.size = 8;
    d.w1 = nla(1, sources, 64 * g.below(64));
    d.w2 = nla(1, good, 64 * g.below(64));
    d.ack = g.chance(0.5);
    d.data.assign(8, uint8_t(i));
    switch (g.below(6)) {
      case 0:  // fails on both sides
        d.size = 8'000;
        d.w1 = nla(1, ragged + 1, 0) - g.range(300, 1'500);
        d.w2 = nla(1, border + 1, 0);
        d.ack = false;
        bad.push_back(d.cookie);
        break;
      case 1:  // refused by the target
        d.op = desc_op::imm;
        d.w2 = nla(1, border + 1, 64 * i);
        bad.push_back(d.w2);
        break;
      case 2:
        d.op = desc_op::inline_put;
        break;
      case 3:
        d = {.op = desc_op::notify, .notify_completer = true, .dvpid = 10, .node = 1, .cookie = i};
        ++reported;
        break;
      case 4:
        d.size = uint32_t(g.range(1, 1'200));
        d.notify_requester = g.chance(0.5);
        break;
      default:
        d.op = g.chance(0.5) ? desc_op::imm : desc_op::put;
        d.notify_completer = true;
        ++reported;
    }
    if (d.op != desc_op::inline_put) d.data.clear();
    me.post(d);
  }
  ASSERT_TRUE(w_->finish(400'000)) << w_->r.report();
  expect_reported(me, bad);
  EXPECT_EQ(other.notes.size(), reported);
  for (const auto& x : other.notes) EXPECT_EQ(x.n.status, 0u) << "descriptor " << x.w0;
}

// Gets and atomics that hold their context. Each goes to a different page, so that each needs a walk. Hosts answer at
// once or much too late.
class RmaGivenUp : public testing::TestWithParam<setting> {
 protected:
  static constexpr unsigned contexts = 6, each = 24, first_page = 32;
  static constexpr uint64_t source = uint64_t{2} << 12, word = uint64_t{4} << 12;

  void SetUp() override {
    rig_config c{.behaviour = GetParam().pressure ? host_behaviour{} : fast_host(),
                 .replay_limit = 4,
                 .replay_timeout = 300,
                 .seed = base_seed()};
    w_ = std::make_unique<rma_world>(GetParam().what, c);
    ASSERT_TRUE(w_->r.set_up()) << w_->r.report();
    w_->driver.set_up(512, 2, 1, 0);
    w_->r.scoreboards(false);
    w_->r.write_register(0, GGAS_REG_RMA_TIMEOUT, 2 | 100 << 16);
    w_->r.write_register(1, GGAS_REG_RMA_TIMEOUT, 2 | 100 << 16);
    for (unsigned page = 0; page < 512; ++page)
      for (unsigned side = 0; side < 2; ++side) w_->driver.map(side, nla(0, page), rma_data + 0x1000 * page, domain);
    for (unsigned v = 0; v < contexts; ++v)
      w_->user({.side = 0, .vpid = uint8_t(1 + 40 * v), .pd = domain, .notify_log2 = 9});
    w_->r.on_tlp_out = [this](unsigned at, const pcie::tlp& t) {
      if (at == 0 && t.kind == pcie::tlp_kind::mwr) see(t);
    };
  }
  void TearDown() override {
    w_->r.on_tlp_out = nullptr;
    for (auto& x : w_->r.s) x.host->behaviour.read_delay_max = x.host->behaviour.read_delay_min = 1;
    w_->r.run(20'000);
    expect_alive(w_->r);
    EXPECT_CLEAN(w_->r);
    std::printf("%zu given up, %llu writes for them before\n", over_.size(), (unsigned long long)written_);
    EXPECT_GT(over_.size(), 20u);
    EXPECT_EQ(late_, 0u);
  }
  // Page of operation k of a context.
  static unsigned page(unsigned v, uint64_t k) { return first_page + v * each * 2 + 2 * unsigned(k % each); }
  void see(const pcie::tlp& t) {
    for (const auto& u : w_->users) {
      if (t.addr - u->notify_ring() >= 16u << u->cfg.notify_log2) continue;
      const nic::note n = nic::note::of(t.data[2] | uint64_t{t.data[3]} << 32);
      if (n.kind == note_kind::error) over_.insert(t.data[0]);  // its cookie
    }
    const uint64_t at = (t.addr - rma_data) >> 12;
    if (t.addr < rma_data || at < first_page || at >= 512) return;
    const auto owner = current_.find(unsigned(at) & ~1u);
    if (owner == current_.end()) return;
    ++written_;
    if (over_.contains(owner->second)) ++late_;
  }
  void post(unsigned v, rng& g) {
    const uint32_t cookie = ++cookies_;
    const unsigned to = page(v, posted_[v]++);
    current_[to] = cookie;
    descriptor d{.op = desc_op::get, .notify_requester = true, .dvpid = 1, .node = 1, .cookie = cookie};
    d.size = uint32_t(g.chance(0.5) ? g.range(1, 256) : g.range(257, 4'000));
    d.w1 = source;
    d.w2 = nla(0, to, 0x800);
    if (g.chance(0.3)) {
      d.op = desc_op::atomic;
      d.size = 8;
      d.w1 = 1;
      d.w2 = word;
      d.second = {0, nla(0, to, 0x40), 0, 0};
    }
    w_->users[v]->post(d);
  }
  // Until every context has done `n` more; `meanwhile` once a cycle.
  void run(
      unsigned n, rng& g, const std::function<void()>& meanwhile = [] {}) {
    std::array<uint64_t, contexts> stop;
    for (unsigned v = 0; v < contexts; ++v) stop[v] = posted_[v] + n;
    w_->r.run_until(
        [&] {
          meanwhile();
          bool all = true;
          for (unsigned v = 0; v < contexts; ++v) {
            rma_user& u = *w_->users[v];
            if (w_->r.now() % 8 == v) u.pump();
            if (posted_[v] < stop[v] && u.done()) post(v, g);
            all &= posted_[v] == stop[v] && u.done();
          }
          return all;
        },
        4'000'000, "operations that are given up");
  }
  std::unique_ptr<rma_world> w_;
  std::set<uint64_t> over_;               // cookies of error notifications written
  std::map<unsigned, uint32_t> current_;  // page: cookie of the operation that writes it
  std::array<uint64_t, contexts> posted_{};
  uint32_t cookies_ = 0;
  uint64_t written_ = 0, late_ = 0;
};

TEST_P(RmaGivenUp, NothingIsWrittenAfterTheErrorNotification) {
  rng g(base_seed() * 3 + GetParam().what.width);
  for (unsigned round = 0; round < 8; ++round) {
    for (auto& x : w_->r.s) {
      static constexpr unsigned delays[] = {1, 700, 1'500, 3'000};
      x.host->behaviour.read_delay_max = delays[g.below(4)];
      x.host->behaviour.read_delay_min = x.host->behaviour.read_delay_max / 2;
    }
    ASSERT_TRUE(w_->driver.invalidate(0, std::nullopt));  // pages are used again, and must be walked again
    run(each / 3, g);
    // What is late has come before its pages, and the numbers of its epochs, serve others.
    for (auto& x : w_->r.s) x.host->behaviour.read_delay_max = x.host->behaviour.read_delay_min = 1;
    w_->r.run(12 * tick);
  }
}

TEST_P(RmaGivenUp, NorWhenTheLinkDies) {
  rng g(base_seed() * 5 + GetParam().what.width);
  for (unsigned round = 0; round < 8; ++round) {
    w_->r.s[0].host->behaviour.read_delay_min = 1;
    w_->r.s[0].host->behaviour.read_delay_max = round % 2 ? 1 : 2'500;
    ASSERT_TRUE(w_->driver.invalidate(0, std::nullopt));
    const uint64_t cut = w_->r.now() + g.range(200, 3'000);
    run(each / 3, g, [&] {
      if (w_->r.now() == cut)
        for (auto& x : w_->r.s) x.out->cut = true;
    });
    for (auto& x : w_->r.s) x.out->cut = false;
    ASSERT_TRUE(w_->r.retrain()) << w_->r.report();
    w_->r.run(12 * tick);
  }
}

std::vector<setting> settings() {
  std::vector<setting> all;
  for (const device& d : rma_devices())
    for (const bool pressure : {false, true}) all.push_back({d, pressure});
  all.push_back({{512}, true});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Devices, RmaAttribution, testing::ValuesIn(settings()));
INSTANTIATE_TEST_SUITE_P(Devices, RmaGivenUp, testing::ValuesIn(settings()));

}  // namespace
}  // namespace ggas::test::rma_attribution_test
