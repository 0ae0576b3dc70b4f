// SPDX-License-Identifier: Apache-2.0
// Two protection domains share both NICs. One attacks: descriptors of any content at addresses and contexts of the
// other, accesses of every kind to its pages and to the window, also to the exports of the other, packets forged on the
// link. The other must not be read, written, stopped or, with the same number of contexts, slowed to less than half,
// neither its one-sided operations nor its stores and loads through the window; nor may the event ring fill up.
#include "tests/rtl/nic_top/rma_helpers.hpp"

namespace ggas::test::two_domains_test {
namespace {

using nic::desc_op;
using nic::descriptor;
using nic::packet;

constexpr uint16_t domain = 0x0f0f;  // of the attackers; of the others: bystanders::domain

// Stores and loads of the bystanders' domain through the window, from one side to an export of its own on the other. No
// other user writes there, so every load returns the last stored value.
class window_user {
 public:
  static constexpr uint8_t number = 7;
  static constexpr uint64_t window = 0x300'0000'0000, memory = 0x5'0000'0000, bytes = 0x4000;
  window_user(rig& r, unsigned side, uint64_t seed) : r_(r), side_(side), g_(seed), shadow_(bytes / 4) {
    const uint16_t domain = bystanders::domain;
    r.give_out(1 - side, number, memory, bytes, domain);
    map(0, window, domain);
    for (unsigned i = 0; i < bytes / 4; ++i) r.s[1 - side].host->mem.store32(memory + 4 * i, 0, 15);
  }
  // Another interval onto the same export.
  void map(unsigned index, uint64_t at, uint16_t domain) {
    r_.map(side_, 30 + index,
           {.start = at, .end = at + bytes, .node = r_.cfg.id[1 - side_], .number = number, .domain = domain});
  }
  // Some stores and a load after them, when the last ones are done.
  void keep_busy() {
    if (waits_ || r_.s[side_].host->queued() > 2) return;
    for (unsigned k = 0; k < 2; ++k) {
      const auto [first, n] = place();
      const auto dws = some_dws(n, uint32_t(g_.next()));
      std::copy(dws.begin(), dws.end(), shadow_.begin() + first);
      r_.write(side_, make_write(bar_window, window + 4 * first, dws));
    }
    const auto [first, n] = place();
    waits_ = true;
    const std::vector<uint32_t> want(shadow_.begin() + first, shadow_.begin() + first + n);
    r_.s[side_].host->read(make_read(bar_window, window + 4 * first, n), [this, want](const read_result& x) {
      waits_ = false;
      ++loads_;
      if (!x.ok() || x.dws != want) ++wrong_;
    });
  }
  void check() const {
    EXPECT_EQ(wrong_, 0u) << "loads of side " << side_;
    for (unsigned i = 0; i < bytes / 4; ++i)
      ASSERT_EQ(r_.s[1 - side_].host->mem.load32(memory + 4 * i), shadow_[i]) << "DW " << i;
  }
  uint64_t loads() const { return loads_; }
  bool waits() const { return waits_; }

 private:
  std::pair<unsigned, unsigned> place() {  // within a page
    const auto n = unsigned(g_.range(1, 64));
    return {1024 * unsigned(g_.below(bytes / 4096)) + unsigned(g_.below(1024 - n)), n};
  }
  rig& r_;
  unsigned side_;
  rng g_;
  std::vector<uint32_t> shadow_;
  bool waits_ = false;
  uint64_t loads_ = 0, wrong_ = 0;
};

class TwoDomains : public testing::TestWithParam<device> {
 protected:
  void SetUp() override {
    const rig_config c{.behaviour = fast_host(), .load_ticks = 8, .seed = base_seed()};
    w_ = std::make_unique<rma_world>(GetParam(), c);
    ASSERT_TRUE(w_->set_up(2, 3)) << w_->r.report();
    for (unsigned n = 0; n < 2; ++n) {
      w_->r.write_register(n, GGAS_REG_RMA_TIMEOUT, 6 | 4 << 16);
      w_->r.write_register(n, GGAS_REG_EVQ_LIMIT, share | uint64_t{period_log2} << GGAS_EVQ_LIMIT_LOG2_TICKS_SHIFT);
    }
    w_->r.scoreboards(false);  // they know nothing of forged packets
    beside_ = std::make_unique<bystanders>(*w_, base_seed());
    for (unsigned side = 0; side < 2; ++side) {
      attackers_.push_back(&w_->user({.side = side, .vpid = 0, .pd = domain, .queue = side == 1, .notify_log2 = 12}));
      for (unsigned i = 0; i < 4; ++i) w_->driver.map(side, nla(0, first_page + i), rma_data + 0x1000 * i, domain);
      windows_.push_back(std::make_unique<window_user>(w_->r, side, base_seed() + side));
      windows_[side]->map(1, their_window, domain);  // what a driver must not do: the target refuses it
    }
  }
  static constexpr uint64_t their_window = 0x400'0000'0000;
  static constexpr unsigned first_page = 500, share = 4, period_log2 = 2;

  // Anywhere: pages of the other domain, the own ones, nowhere.
  uint64_t address() {
    if (g_.chance(0.3)) return nla(0, first_page + g_.below(4), g_.below(4096));
    if (g_.chance(0.05)) return g_.next();
    return nla(unsigned(g_.below(4)), g_.below(rma_traffic::table_entries), g_.next() & 0xfff);
  }
  void bad_descriptor(unsigned n) {
    descriptor d{.op = desc_op(g_.below(8)), .notify_requester = g_.chance(0.3), .notify_completer = g_.chance(0.5)};
    d.strong = g_.chance(0.3);
    d.ack = g_.chance(0.5);
    d.dvpid = g_.chance(0.5) ? uint8_t(n ? 0x3c : 0xc3) : uint8_t(g_.next());
    d.node = uint16_t(g_.chance(0.9) ? g_.below(2) : g_.next());
    d.size = d.op == desc_op::put || d.op == desc_op::get ? uint32_t(g_.range(1, 600)) : uint32_t(g_.range(1, 8));
    d.w1 = address();
    d.w2 = address();
    d.second[1] = address();
    d.data.assign(d.op == desc_op::inline_put || d.op == desc_op::send ? d.size : 0, 0x5a);
    auto slots = d.encode();
    if (g_.chance(0.3)) slots[0][g_.below(8)] ^= 1u << g_.below(32);
    attackers_[n]->post_slots(slots);
  }
  // What a user can do to what is mapped for it: any access to its page, and to the window, mapped or not.
  void bad_access(unsigned n) {
    if (g_.chance(0.3)) return bad_window(n);
    const bool window = g_.chance(0.4);
    const uint64_t page = window ? w_->r.window(g_.chance(0.5) ? 7 : 1 - n, 0) : attackers_[n]->page();
    const auto dws = unsigned(g_.range(1, 16));
    // Writes to the page, except the words that inform the NIC of slots and rings: these come by descriptors.
    const uint64_t at = page + (window ? 0x1000 : 0x400) + 4 * g_.below(1024 - 0x100 - dws);
    if (g_.chance(0.5)) {
      w_->r.write(n, make_write(window && page < 2 * w_->r.cfg.stride ? bar_pages
                                : window                              ? bar_window
                                                                      : bar_pages,
                                window && page < 2 * w_->r.cfg.stride ? attackers_[n]->page() + 0x404 : at,
                                some_dws(dws, 0xbad)));
    } else {
      ++reads_;
      w_->r.s[n].host->read(make_read(window ? bar_window : bar_pages, at, dws), [this](const read_result& x) {
        ++reads_done_;
        EXPECT_TRUE(x.ok()) << "an error completion for a user";
      });
    }
  }
  // Through the own window to the own segment, or to the other's export; forged there like any packet of the attackers.
  void bad_window(unsigned n) {
    const auto dws = unsigned(g_.range(1, 64));
    const uint64_t at =
        g_.chance(0.5) ? their_window + 4 * g_.below(1024 - dws) : w_->r.window(1 - n, 4 * g_.below(900));
    if (g_.chance(0.5)) return w_->r.write(n, make_write(bar_window, at, some_dws(dws, 0xbad)));
    ++reads_;
    w_->r.s[n].host->read(make_read(bar_window, at, dws), [this](const read_result& x) {
      ++reads_done_;
      EXPECT_TRUE(x.ok()) << "an error completion for a user";
    });
  }
  // Changes all fields of a window access that define its target: export, domain, offset, length, bytes. The addressee
  // of an answer is decided by the two NICs only.
  void forge_window(packet& p) {
    for (unsigned k = 0; k < 1 + g_.below(3); ++k) {
      switch (g_.below(5)) {
        case 0:
          p.export_no = g_.chance(0.5) ? window_user::number : uint8_t(g_.next());
          break;
        case 1:
          p.domain ^= uint16_t(1u << g_.below(16));
          break;
        case 2:
          p.addr ^= uint64_t{1} << g_.below(64);
          break;
        case 3:
          p.first_be ^= uint8_t(1u << g_.below(4));
          break;
        default:
          p.req_dw ^= p.is(nic::op::load) ? uint16_t(1u << g_.below(11)) : 0;
      }
    }
    ++forged_;
  }
  // Bits of the attackers' packets change on their way; the domain stays none of the others'.
  void forge(packet& p) {
    const bool through_window = p.is(nic::op::store) || p.is(nic::op::load);
    if (through_window && p.domain != bystanders::domain && g_.chance(0.5)) return forge_window(p);
    const bool mine = p.one_sided() && p.svpid() == 0;
    if (!mine || !g_.chance(0.8)) return;
    for (unsigned k = 0; k < 1 + g_.below(3); ++k) {
      const auto bit = unsigned(g_.below(32 * nic::header_dws));
      if (bit >= 4 && !of_the_link(bit)) flip_header_bit(p, bit);
    }
    ++forged_;
  }
  // What the others do in a time: one-sided operations, loads through the window.
  using work = std::array<uint64_t, 2>;
  work done_beside() const {
    return {beside_->users[0]->remote() + beside_->users[1]->remote(), windows_[0]->loads() + windows_[1]->loads()};
  }
  work rate(uint64_t cycles) {
    const work before = done_beside();
    w_->r.run(cycles);
    const work after = done_beside();
    return {after[0] - before[0], after[1] - before[1]};
  }
  void attack(uint64_t count) {
    bool on = false;
    uint64_t made = 0;
    w_->r.on_step = [&] {
      if (w_->r.now() % 8) return;
      if (keep_) {
        beside_->keep_busy();
        for (auto& u : windows_) u->keep_busy();
      }
      w_->pump();
      if (!on) return;
      for (unsigned n = 0; n < 2; ++n) {
        if (attackers_[n]->all_written()) bad_descriptor(n), ++made;
        if (w_->r.s[n].host->queued() < 2 && g_.chance(0.3)) bad_access(n), ++made;
      }
    };
    rate(4'000);
    const work alone = rate(window_cycles);
    on = true;
    for (unsigned n = 0; n < 2; ++n) w_->r.s[n].out->forge = [this](packet& p) { forge(p); };
    rate(4'000);
    const work attacked = rate(window_cycles);
    for (unsigned i = 0; i < 2; ++i) {
      std::printf("%s beside an attack: %llu of %llu without, %.2f\n", i ? "window loads" : "operations",
                  (unsigned long long)attacked[i], (unsigned long long)alone[i],
                  double(attacked[i]) / double(alone[i]));
      EXPECT_GE(2 * attacked[i], alone[i]) << "slowed to less than half";
    }
    w_->r.run_until([&] { return made + forged_ >= count; }, 4'000 * count, "the attack");
    on = keep_ = false;
    for (auto& x : w_->r.s) x.out->forge = nullptr;
    w_->r.run_until([&] { return beside_->traffic.done(); }, 3'000'000, "the other domain");
    w_->r.run_until([&] { return reads_done_ == reads_; }, 100'000, "reads of the attackers");
    w_->r.run_until([&] { return !windows_[0]->waits() && !windows_[1]->waits(); }, 100'000, "loads of the others");
    w_->r.run(70'000);  // what no one answers is given up
    w_->pump();
    std::printf("%llu accesses, %llu forged packets\n", (unsigned long long)made, (unsigned long long)forged_);
    EXPECT_GT(forged_, count / 100);  // a lost answer holds its context until it is given up
  }
  void check() {
    w_->r.on_step = nullptr;
    beside_->traffic.check();
    for (const rma_user* u : beside_->users) EXPECT_EQ(u->errors(), 0u);
    for (const auto& u : windows_) u->check();
    const uint64_t periods = (w_->r.now() >> 10 >> period_log2) + 1;
    for (unsigned n = 0; n < 2; ++n) {
      EXPECT_GT(w_->r.events(n, GGAS_EV_EVENT_LIMITED), 0u);
      EXPECT_GT(w_->r.events(n, GGAS_EV_TARGET_RANGE), 0u);
      // A context, a node each, and a handful of codes.
      EXPECT_LE(w_->r.read_register(n, GGAS_REG_EVQ_HEAD), periods * share * 10) << "records";
    }
    w_->r.quiet(0, 20'000), w_->r.quiet(1, 20'000);
    expect_alive(w_->r);
    EXPECT_CLEAN(w_->r);
  }

  static constexpr uint64_t window_cycles = 60'000;
  rng g_{base_seed() + 11};
  bool keep_ = true;
  uint64_t reads_ = 0, reads_done_ = 0, forged_ = 0;
  std::unique_ptr<rma_world> w_;
  std::unique_ptr<bystanders> beside_;
  std::vector<std::unique_ptr<window_user>> windows_;
  std::vector<rma_user*> attackers_;
};

TEST_P(TwoDomains, NeitherIsReadWrittenStoppedOrSlowed) {
  attack(4'000);
  check();
}
TEST_P(TwoDomains, MillionLong) {
  attack(1'000'000);
  check();
}

INSTANTIATE_TEST_SUITE_P(Devices, TwoDomains, testing::Values(device{64}, device{256}));

}  // namespace
}  // namespace ggas::test::two_domains_test
