// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/rma/fetch/bench.hpp"

#include "Vfetch_256.h"
#include "Vfetch_512.h"
#include "Vfetch_64.h"

namespace ggas::test::rma {
namespace {

template <class V, unsigned W>
struct config {
  using bench = fetch_bench<V, W>;
  static constexpr unsigned width = W;
};
template <class C>
class Fetch : public ::testing::Test {
 protected:
  typename C::bench b{seed()};
  void SetUp() override { std::printf("seed %llu\n", static_cast<unsigned long long>(seed())); }
};
using widths = ::testing::Types<config<Vfetch_64, 64>, config<Vfetch_256, 256>, config<Vfetch_512, 512>>;
TYPED_TEST_SUITE(Fetch, widths);

// A length for an address: 1 ... what fits in front of the next multiple of 256.
unsigned length(dice& d, uint64_t dst) {
  const unsigned most = unsigned(256 - dst % 256);
  switch (d.below(4)) {
    case 0:
      return most;
    case 1:
      return 1 + unsigned(d.below(std::min(most, 8u)));
    default:
      return 1 + unsigned(d.below(most));
  }
}

// A source with the alignment, near a border of a page or of MRRS every other time.
uint64_t source(dice& d, unsigned align) {
  const uint64_t page = (d.below(1 << 20)) << 12;
  switch (d.below(4)) {
    case 0:
      return page + 4096 - 64 * (1 + d.below(5)) + align;
    case 1:
      return page + 128 * (1 + d.below(30)) - 64 + align;
    default:
      return page + 64 * d.below(63) + align;
  }
}

TYPED_TEST(Fetch, EverySourceOntoEveryDestination) {
  auto& b = this->b;
  b.host.percent = 100;
  for (unsigned mrrs : {128u, 256u, 512u}) {
    b.v.cfg_mrrs_i = mrrs;
    for (unsigned src = mrrs / 128 % 3; src < 64; src += mrrs == 256 ? 1 : 3)
      for (unsigned dst = 0; dst < 64; ++dst) {
        const uint64_t to = b.d.below(1 << 20) * 64 + dst;
        b.push(source(b.d, src), to, length(b.d, to));
      }
    ASSERT_TRUE(b.settle()) << b.left() << " left";
  }
}

TYPED_TEST(Fetch, AnyOrderWithBackPressure) {
  auto& b = this->b;
  for (unsigned round = 0; round < 6; ++round) {
    b.v.cfg_mrrs_i = 128 << b.d.below(4);
    b.host.percent = round % 2 ? 20 : 60;
    b.host.cpl.percent = round % 3 ? 100 : 60;
    b.host.delay = b.d.below(200);
    b.tx.percent = round < 3 ? 100 : 50;
    b.read_percent = round & 1 ? 40 : 100;
    b.translate_percent = round & 2 ? 60 : 100;
    b.command_percent = round & 4 ? 20 : 100;
    b.gate = round != 5;
    for (unsigned i = 0; i < 150; ++i) {
      const uint64_t to = b.d.below(1 << 30);
      b.push(source(b.d, unsigned(b.d.below(64))), to, length(b.d, to));
    }
    ASSERT_TRUE(b.settle()) << b.left() << " left";
  }
}

TYPED_TEST(Fetch, Faults) {
  auto& b = this->b;
  b.v.cfg_mrrs_i = 128;
  b.v.cfg_timeout_i = 2;
  b.host.percent = 60;
  b.host.late_after = 3000;  // after the time-out, before the tag is forgotten
  bool late = false;
  b.faults = [&](const tlp&) {
    switch (b.d.below(24)) {
      case 0:
        return fault::refused;
      case 1:
        return fault::poisoned;
      case 2:
        return fault::too_long;
      case 3:
        return late ? fault::late : b.d.chance(30) ? fault::silent : fault::none;
      default:
        return fault::none;
    }
  };
  for (unsigned round = 0; round < 4; ++round) {
    late = round & 1;
    for (unsigned i = 0; i < 120; ++i) {
      const uint64_t to = b.d.below(1 << 30);
      uint64_t from = source(b.d, unsigned(b.d.below(64)));
      if (b.d.chance(8)) from |= b.denied;
      if (b.d.chance(8)) from = b.denied - b.d.below(200) - 1;      // the second page is denied
      if (b.d.chance(8)) from = 2 * b.denied - b.d.below(200) - 1;  // the first one
      b.push(from, to, length(b.d, to));
    }
    ASSERT_TRUE(b.settle()) << b.left() << " left";
  }
  for (net_status s : {net_status::ok, net_status::protection, net_status::host_error, net_status::timeout})
    EXPECT_GT(b.ended[unsigned(s)], 2u) << unsigned(s);
  EXPECT_EQ(b.packets, b.ended[0]);
  EXPECT_GT(b.unexpected, 10u);
}

TYPED_TEST(Fetch, AllTagsSilent) {
  auto& b = this->b;
  b.v.cfg_mrrs_i = 128;
  b.v.cfg_timeout_i = 2;
  b.host.percent = 100;
  unsigned more = 400;
  b.faults = [&](const tlp&) { return more != 0 ? --more, fault::silent : fault::none; };
  for (unsigned i = 0; i < 200; ++i) b.push(i * 256 + 64, i * 256, 256);
  ASSERT_TRUE(b.settle(2'000'000)) << b.left() << " left";
  EXPECT_GT(b.ended[unsigned(net_status::timeout)], 100u);
  EXPECT_GT(b.ended[0], 20u);
}

// The bar is 5 cycles from the first beat of the completion to the packet. The host interface passes on a completion
// when it is whole.
TYPED_TEST(Fetch, LatencyOfAnAlignedPut) {
  auto& b = this->b;
  b.host.percent = 100;
  b.host.delay = 100;
  b.host.split_percent = 0;
  for (unsigned bytes : {1u, 64u, 256u}) {
    b.push(0x10000, 0x20000, bytes);
    uint64_t seen = 0;
    for (unsigned i = 0; i < 1000 && b.left() != 0; ++i) {
      b.step();
      if (seen == 0 && b.v.tx_valid_o) seen = b.now;
    }
    ASSERT_EQ(b.left(), 0u);
    const auto after = int(seen - b.last_completion), beats = int((8 * bytes - 1) / TypeParam::width);
    std::printf("DATA_W %u, %3u bytes: last completion beat -> packet %d cycles\n", TypeParam::width, bytes, after);
    EXPECT_LE(after, 5 - beats) << "no waiting for the last beat";
    ASSERT_TRUE(b.settle());
  }
}

// Cycles for a packet, with a host that answers after a while at full rate. They must not exceed the cycles of the
// link, so that the link is the limit.
TYPED_TEST(Fetch, Bandwidth) {
  auto& b = this->b;
  constexpr unsigned w = TypeParam::width;
  const unsigned link = nic::flit_count(64, w);
  b.host.percent = 100;
  b.host.delay = w == 64 ? 400 : w == 256 ? 600 : 400;  // 2.5 us at 157 MHz, 1.5 us at 400 and 267 MHz
  b.host.split_percent = 0;
  b.v.cfg_mrrs_i = 256;
  constexpr unsigned packets = 800;
  for (unsigned shift : {0u, 1u}) {
    for (unsigned i = 0; i < packets; ++i) b.push(0x100000 + 256 * i + shift, 0x200000 + 256 * i, 256);
    while (b.left() > packets * 3 / 4) b.step();
    const uint64_t from = b.now;
    while (b.left() > packets / 4) b.step();
    const double each = double(b.now - from) / (packets / 2);
    std::printf("DATA_W %u, %s source: %.2f cycles a packet of 256 bytes, the link takes %u\n", w,
                shift ? "odd" : "aligned", each, link);
    EXPECT_LE(each, link * (shift ? 1.3 : 1.0 / 0.95));
    ASSERT_TRUE(b.settle());
  }
}

}  // namespace
}  // namespace ggas::test::rma
