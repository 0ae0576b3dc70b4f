// SPDX-License-Identifier: Apache-2.0
// Lengths, alignments and borders of puts and gets. All pairs are covered: every length 1 ... 2 MTU + 1 with every
// alignment of the source modulo 64, every length with every alignment of the destination, every source alignment with
// every destination alignment; the destination around the border of two pages (before it, across it, from it on) of
// every size, the source around another one. After each batch the bytes and those around them are compared, at the end
// all memory.
#include "tests/rtl/nic_top/rma_helpers.hpp"

namespace ggas::test::rma_border_test {
namespace {

using nic::desc_op;
using nic::descriptor;
using nic::net_status;

constexpr unsigned longest = 2 * nic::mtu_bytes + 1, alignments = 64, classes = 4;
constexpr uint16_t domain = 21;

// Two pages that follow each other, apart in memory; the border is offset 0.
uint64_t around(unsigned cls, unsigned first_index, uint64_t offset) { return nla(cls, first_index + 1, offset); }
uint64_t page_bus(unsigned cls, unsigned index) {
  return (uint64_t{1} << (41 + cls)) + (uint64_t{index * 5 % 8} << page_shifts[cls]);
}
constexpr unsigned from_index = 0, to_index = 4;

class RmaBorder : public testing::TestWithParam<device> {
 protected:
  void start(unsigned mtu_code = 2) {
    w_ = std::make_unique<rma_world>(GetParam());
    ASSERT_TRUE(w_->set_up(mtu_code)) << w_->r.report();
    me_ = &w_->user({.side = 0, .vpid = 9, .pd = domain, .mailbox = false});
    w_->user({.side = 1, .vpid = 9, .pd = domain, .ring = false, .mailbox = false});
    for (unsigned side = 0; side < 2; ++side)
      for (unsigned cls = 0; cls < classes; ++cls)
        for (unsigned i : {from_index, from_index + 1, to_index, to_index + 1})
          w_->driver.map(side, nla(cls, i), page_bus(cls, i), domain, {.read = true, .write = i >= to_index});
  }
  // The same bytes in the picture of the side that is written.
  void copy(unsigned to_side, uint64_t from, uint64_t to, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; ++i)
      picture_[to_side].store8(w_->bus(to_side, to + i), picture_[1 - to_side].load8(w_->bus(1 - to_side, from + i)));
    around_.push_back({to_side, to, bytes});
  }
  void transfer(bool get, uint64_t from, uint64_t to, uint32_t bytes) {
    descriptor d{.op = get ? desc_op::get : desc_op::put, .notify_requester = get, .ack = true};  // gets one by one
    d.node = 1;
    d.size = bytes;
    d.w1 = from;
    d.w2 = to;
    me_->post(d);
    copy(get ? 0 : 1, from, to, bytes);
  }
  bool batch(uint64_t limit = 200'000) {
    const bool done = w_->r.run_until(
        [&] {
          if (w_->r.now() % 4 == 0) me_->pump();
          return me_->done();
        },
        limit, "transfers");
    w_->r.run(100);
    for (const auto& x : around_)
      for (uint64_t i = 0; i < x.bytes + 2 * guard && w_->r.fail.none(); ++i) {
        const uint64_t at = w_->bus(x.side, x.to - guard + i);
        if (w_->r.s[x.side].host->mem.load8(at) != picture_[x.side].load8(at))
          w_->r.fail.add("{} bytes to {:#x} of side {}: byte {} is wrong", x.bytes, x.to, x.side,
                         int64_t(i) - int64_t(guard));
      }
    around_.clear();
    return done && w_->r.fail.none();
  }
  void compare_all() {
    for (unsigned side = 0; side < 2; ++side) {
      const memory& got = w_->r.s[side].host->mem;
      const auto compare = [&](uint64_t page) {
        for (uint64_t a = page; page >= uint64_t{1} << 41 && !rig::own_page(page) && a < page + 4096; ++a)
          if (got.load8(a) != picture_[side].load8(a)) return w_->r.fail.add("stray byte at {:#x} of side {}", a, side);
      };
      got.for_each_page(compare);
      picture_[side].for_each_page(compare);
    }
    EXPECT_EQ(me_->errors(), 0u) << unsigned(me_->last_error());
    EXPECT_CLEAN(w_->r);
  }

  static constexpr uint64_t guard = 16;
  struct written {
    unsigned side;
    uint64_t to, bytes;
  };
  std::unique_ptr<rma_world> w_;
  rma_user* me_ = nullptr;
  std::array<memory, 2> picture_;
  std::vector<written> around_;
};

// To keep a run short it uses only those lengths and destination alignments whose sum is a multiple of `every`. Two
// runs with other seeds cover other pairs.
void sweep(unsigned every, unsigned phase,
           const std::function<bool(bool get, unsigned n, unsigned from, unsigned to)>& f) {
  for (unsigned n = 1; n <= longest; ++n)
    for (unsigned to = 0; to < alignments; ++to) {
      if ((n + to) % every != phase % every) continue;
      const unsigned from = (5 * to + 7 * n) % alignments;
      if (!f((n ^ to ^ (to >> 2)) & 1, n, from, to)) return;
    }
}

class RmaBorderAll : public RmaBorder {
 protected:
  void every_length(unsigned every) {
    start();
    rng g(base_seed());
    unsigned count = 0;
    sweep(every, unsigned(base_seed()), [&](bool get, unsigned n, unsigned from, unsigned to) {
      const unsigned to_cls = count % classes, from_cls = count / classes % classes;
      const uint64_t back_to = alignments * g.below(n / alignments + 2),
                     back_from = alignments * g.below(n / alignments + 2);
      transfer(get, around(from_cls, from_index, from - back_from), around(to_cls, to_index, to - back_to), n);
      return ++count % 32 != 0 || batch();
    });
    batch();
    compare_all();
    std::printf("%u transfers, %llu cycles\n", count, (unsigned long long)w_->r.now());
  }
};

TEST_P(RmaBorderAll, EveryLengthSome) { every_length(16); }
TEST_P(RmaBorderAll, EveryLengthLong) { every_length(1); }

TEST_P(RmaBorder, SmallMtus) {
  for (unsigned code : {0u, 1u}) {
    picture_ = {};
    start(code);
    rng g(base_seed() + code);
    for (unsigned i = 0; i < 200; ++i) {
      const auto n = uint32_t(g.range(1, 300));
      transfer(g.chance(0.5), around(unsigned(g.below(4)), from_index, 0 - g.below(n + 1)),
               around(unsigned(g.below(4)), to_index, 0 - g.below(n + 1)), n);
    }
    batch();
    compare_all();
  }
}

// The 4 KB borders inside a large page, and the page's own, under a transfer of many packets.
TEST_P(RmaBorder, AcrossManyPages) {
  start();
  rng g(base_seed());
  for (unsigned i = 0; i < 6; ++i) {
    const auto n = uint32_t(g.range(7'000, 9'500));
    const unsigned cls = 1 + i % 3;
    transfer(i & 1, around(1 + (i + 1) % 3, from_index, 0 - g.below(n)), around(cls, to_index, 0 - g.below(n)), n);
    batch();
  }
  compare_all();
}

class RmaEightMegabytes : public RmaBorder {};

TEST_P(RmaEightMegabytes, MoreIsRefused) {
  start();
  constexpr uint64_t most = nic::rma_max_bytes;
  for (const bool get : {false, true}) {
    // One byte less, at odd places; then all of it.
    transfer(get, around(3, from_index, 3 - most / 2), around(3, to_index, 61 - most / 8),
             uint32_t(get ? most : most - 1));
    batch(20'000'000);
  }
  compare_all();
  descriptor d{.op = desc_op::put};
  d.node = 1;
  d.size = uint32_t(most + 1);
  d.w1 = around(3, from_index, 0);
  d.w2 = around(3, to_index, 0);
  me_->post(d);
  EXPECT_TRUE(w_->finish());
  EXPECT_EQ(me_->errors(), 1u);
  EXPECT_EQ(me_->last_error(), net_status::bad);
  EXPECT_EQ(w_->r.events(0, GGAS_EV_BAD_DESCRIPTOR), 1u);
  std::printf("%llu cycles\n", (unsigned long long)w_->r.now());
}

INSTANTIATE_TEST_SUITE_P(Devices, RmaBorderAll,
                         testing::Values(device{64, true}, device{64}, device{256}, device{512}));
INSTANTIATE_TEST_SUITE_P(Devices, RmaBorder, testing::ValuesIn(rma_devices()));
INSTANTIATE_TEST_SUITE_P(Devices, RmaEightMegabytes, testing::Values(device{512}));

}  // namespace
}  // namespace ggas::test::rma_border_test
