// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "Vtarget_256.h"
#include "Vtarget_512.h"
#include "Vtarget_64.h"
#include "tests/rtl/rma/target/target_bench.hpp"

namespace ggas::test::rma {
namespace {

using nic::rma_first;
using nic::rma_last;
using nic::rma_result;
using nic::rma_strong;
using nic::rma_wants_ack;
constexpr uint8_t full = uint8_t(net_status::full), lost = uint8_t(net_status::lost),
                  disabled = uint8_t(net_status::disabled), bad = uint8_t(net_status::bad);
constexpr uint64_t forbidden = 0x100000;  // the first page that is not granted

template <class T>
class Target : public testing::Test {
 public:
  std::unique_ptr<T> own = std::make_unique<T>();
  T& b = *own;
  void SetUp() override { std::printf("seed %llu\n", static_cast<unsigned long long>(seed())); }
};
using widths =
    testing::Types<target_bench<Vtarget_64, 64>, target_bench<Vtarget_256, 256>, target_bench<Vtarget_512, 512>>;
TYPED_TEST_SUITE(Target, widths);

TYPED_TEST(Target, PutsOfEveryLengthAndAlignment) {
  auto& b = this->b;
  for (unsigned mps : {128u, 256u, 512u}) {
    b.v.cfg_mps_i = uint16_t(mps);
    for (unsigned bytes = 1; bytes <= 256; bytes += bytes < 40 || bytes > 200 ? 1 : 7)
      for (unsigned offset : {0u, 1u, 2u, 3u, 4u, 61u})
        b.send(b.put(0x3000 + offset, bytes, bytes % 2 ? rma_last | rma_wants_ack : 0));
    ASSERT_TRUE(b.settle());
  }
}

// What was let in may still write, also while it waits for its translation: until then the NIC has not stopped.
TYPED_TEST(Target, StopsBehindWhatWasLetIn) {
  auto& b = this->b;
  for (unsigned packets = 1; packets < 4; ++packets) {
    const size_t before = b.work.writes_seen;
    b.tr.percent = 0;
    for (unsigned i = 0; i < packets; ++i) b.send(b.put(0x1000 + 256 * i, 64, rma_last | rma_wants_ack));
    for (unsigned i = 0; i < 200; ++i) b.step();
    EXPECT_EQ(b.work.writes_seen, before);
    EXPECT_TRUE(b.v.writes_o);
    b.tr.percent = 100, b.wr.percent = 0;
    for (unsigned i = 0; i < 200; ++i) b.step();
    EXPECT_TRUE(b.v.writes_o);
    b.wr.percent = 100;
    ASSERT_TRUE(b.settle());
    EXPECT_FALSE(b.v.writes_o);
  }
}

TYPED_TEST(Target, RefusedPutIsRememberedUntilTheEndOfItsMessage) {
  auto& b = this->b;
  // Refused first, in the middle, last; with and without acknowledgement; another context between.
  for (unsigned where = 0; where < 4; ++where) {
    for (unsigned ack : {0u, unsigned(rma_wants_ack)}) {
      for (unsigned i = 0; i < 4; ++i) {
        b.send(b.put(i == where ? forbidden : 0x1000 + 256 * i, 256, i == 3 ? rma_last | ack : 0, 7, 40));
        b.send(b.put(0x8000, 16, rma_last | rma_wants_ack, 7, 41));
      }
      b.send(b.put(0x1000, 256, rma_last | rma_wants_ack, 7, 40));
    }
  }
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.answers, 8u + 32 + 8);
  // It ends with a notification; one that met a full ring comes again and still says so.
  b.send(b.put(forbidden, 8, 0, 8, 1));
  b.send(b.notification(8, 1), full);
  b.send(b.notification(8, 1), full);
  b.send(b.notification(8, 1), 0);
  b.send(b.notification(8, 1), 0);
  ASSERT_TRUE(b.settle());
  // A reset forgets it.
  b.send(b.put(forbidden, 8, 0, 8, 1));
  ASSERT_TRUE(b.settle());
  b.reset();
  b.send(b.put(0x1000, 8, rma_last | rma_wants_ack, 8, 1));
  ASSERT_TRUE(b.settle());
}

// A message that lost a packet and never ended: the first packet of the next one ends it, whatever that is.
TYPED_TEST(Target, RefusedPutThatNeverEndsIsForgotten) {
  auto& b = this->b;
  for (const unsigned length : {8u, 16u, 256u}) {
    const auto lose = [&] {
      b.send(b.put(0x1000, length, rma_first, 8, 1));
      b.send(b.put(forbidden, length, 0, 8, 1));
    };
    lose();
    b.send(b.put(0x1000, length, rma_first | rma_last | rma_wants_ack, 8, 1));
    lose();
    for (const unsigned flags : {unsigned(rma_first), 0u, unsigned(rma_last | rma_wants_ack)})
      b.send(b.put(0x1000, length, flags, 8, 1));
    lose();
    b.send(b.notification(8, 1, rma_first));
    lose();
    b.send(b.notification(8, 1, rma_first), full);
    b.send(b.notification(8, 1, rma_first));
    lose();
    b.send(b.put(0x1000, length, rma_first, 8, 1));
    b.send(b.notification(8, 1));
    // In another epoch it is the same message; refused at once it is refused.
    lose();
    packet p = b.put(0x1000, length, rma_last, 8, 1);
    p.set_initiator(1, 8);
    b.send(p);
    lose();
    b.send(b.put(forbidden, length, rma_first, 8, 1));
    b.send(b.put(0x1000, length, rma_last, 8, 1));
    b.send(b.put(0x1000, length, rma_first | rma_last | rma_wants_ack, 8, 1));
    ASSERT_TRUE(b.settle());
  }
  EXPECT_EQ(b.answers, 3u * 9);
}

TYPED_TEST(Target, NotificationStatusAndAnswer) {
  auto& b = this->b;
  for (uint8_t unit : {uint8_t(0), full, lost, disabled}) {
    for (unsigned strong : {0u, unsigned(rma_strong)}) {
      b.send(b.put(0x1000, 256, 0));
      b.send(b.notification(1, 2, strong, 0x1004), unit);
      b.send(b.notification(1, 2, strong, forbidden), unit);
      b.send(b.notification(1, 2, strong, 0x1002), unit, true);
      packet p = b.notification(1, 2, strong, 0x1000);
      p.status = uint8_t(net_status::host_error);  // found at the initiator
      b.send(p, unit);
      p.set_flags(rma_last | strong);
      b.send(p, unit);
    }
  }
  ASSERT_TRUE(b.settle());
}

TYPED_TEST(Target, SwitchedOffAnswersEverythingAndDoesNothing) {
  auto& b = this->b;
  b.v.cfg_target_i = 0;
  b.send(b.put(0x1000, 100, 0));
  b.send(b.put(0x1000, 100, rma_last));
  b.send(b.notification(1, 2, rma_strong, 0x1000));
  b.send(b.with_words(op::rma_get, 3, 4, rma_last | rma_wants_ack, 6));
  b.send(b.with_words(op::rma_atomic, 3, 4, rma_last | rma_wants_ack, 10));
  b.send(b.with_words(op::velo_msg, 3, 4, rma_last | rma_wants_ack, 20));
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.answers, 4u);
  EXPECT_EQ(b.tr.asked, 0u);
  b.v.cfg_target_i = 1;
  b.send(b.put(0x1000, 100, rma_last | rma_wants_ack));
  ASSERT_TRUE(b.settle());
}

// Anything may come from the network: it ends, and outside of what is granted nothing is written.
TYPED_TEST(Target, RandomAndForgedPackets) {
  auto& b = this->b;
  constexpr unsigned total = 12000;
  constexpr op ops[] = {op::rma_put,    op::rma_put, op::rma_put,    op::rma_put,
                        op::rma_notify, op::rma_get, op::rma_atomic, op::velo_msg};
  for (unsigned n = 0; n < total; ++n) {
    if (n % 500 == 0) {
      ASSERT_TRUE(b.settle());
      b.v.cfg_mps_i = b.d.chance(50) ? 128 : 256;
      b.v.cfg_target_i = !b.d.chance(10);
      for (unsigned* percent : {&b.rx.percent, &b.wr.percent, &b.rd.percent, &b.get.percent, &b.at.percent,
                                &b.rsp.percent, &b.host.percent, &b.tr.percent, &b.unit_percent})
        *percent = b.d.chance(50) ? 100 : unsigned(20 + b.d.below(80));
      b.gate = b.d.chance(50);
    }
    const op o = ops[b.d.below(8)];
    const unsigned apart = b.nodes > 64 ? 64 : 1;  // numbers that differ where a NIC of 64 nodes does not look
    const auto src = uint16_t(b.d.chance(95) ? 1 + apart * b.d.below(3) : b.d.bits());
    const auto svpid = uint8_t(b.d.below(3));
    const unsigned flags = unsigned(b.d.chance(50) ? rma_last : 0) | (b.d.chance(40) ? rma_first : 0) |
                           (b.d.chance(50) ? rma_wants_ack : 0) | (b.d.chance(20) ? rma_strong : 0);
    packet p;
    if (o == op::rma_put) {
      p = b.put(b.d.below(b.d.chance(95) ? 0x10000 : 0x200000), unsigned(1 + b.d.below(b.d.chance(50) ? 16 : 256)),
                flags, src, svpid);
    } else {
      const unsigned dws = o == op::rma_notify   ? 4
                           : o == op::rma_get    ? 6
                           : o == op::rma_atomic ? 10
                                                 : unsigned(4 + b.d.below(17));
      p = b.with_words(o, src, svpid, flags, dws);
      p.addr = b.d.below(0x110000);
    }
    if (b.d.chance(3)) p.set_pd(uint16_t(b.d.bits()));
    if (b.d.chance(10)) {  // forged
      switch (b.d.below(6)) {
        case 0:
          p.addr = b.d.bits();
          break;
        case 1:
          p.first_be = uint8_t(b.d.below(16)), p.last_be = uint8_t(b.d.below(16));
          break;
        case 2:
          p.op = uint8_t(b.d.bits());
          break;
        case 3:
          p.set_flags(unsigned(b.d.bits()));
          break;
        case 4:
          p.data.resize(size_t(b.d.below(b.d.chance(80) ? 24 : 90)));
          p.len_dw = uint16_t(p.data.size());
          break;
        default:
          nic::packet_header h;
          for (auto& dw : h) dw = uint32_t(b.d.bits());
          p.set_header(h);
          p.len_dw = uint16_t(p.data.size());
      }
    }
    const uint8_t unit[] = {0, 0, 0, full, lost, disabled};
    uint8_t status = unit[b.d.below(6)];
    if (p.is(op::velo_msg) && status == lost) status = bad;
    b.send(p, status, b.d.chance(20));
    while (b.backlog()) b.step();
    if (testing::Test::HasFailure()) FAIL() << "packet " << n << ": " << nic::to_text(p);
  }
  ASSERT_TRUE(b.settle());
  EXPECT_GT(b.puts, total / 4);
  for (auto& [addr, w] : b.mem.words()) EXPECT_LT((addr & 0xffff'ffff) - 0x10'0000, forbidden);
}

// Answers that wait for the network hold back puts only between writes, so that the other writers go on.
TYPED_TEST(Target, NoWriteIsBegunWithoutRoomForItsAnswer) {
  auto& b = this->b;
  b.rsp.percent = 0;
  for (unsigned i = 0; i < 12; ++i) b.send(b.put(0x1000, 256, rma_last | rma_wants_ack));
  for (unsigned i = 0; i < 600; ++i) b.step();
  EXPECT_FALSE(pins::get(b.v.wr_o, pins::valid));
  EXPECT_FALSE(b.wr.inside());
  EXPECT_LT(b.puts, 12u);
  b.rsp.percent = 100;
  ASSERT_TRUE(b.settle());
}

TYPED_TEST(Target, LostFlushEndsInATimeOut) {
  auto& b = this->b;
  b.host.silent = [](const tlp&) { return true; };
  b.send(b.notification(1, 2, rma_strong, 0x1000));
  b.unit_percent = 0;
  for (unsigned i = 0; i < 8 * 1024 && !b.v.nt_valid_o; ++i) b.step();
  EXPECT_TRUE(b.v.nt_valid_o);
  EXPECT_EQ(nic::note::of(b.v.nt_o[0] | uint64_t{b.v.nt_o[1]} << 32).status, uint8_t(net_status::timeout));
}

TYPED_TEST(Target, Timing) {
  auto& b = this->b;
  b.step();
  b.send(b.put(0x1000, 256, rma_last | rma_wants_ack));
  const uint64_t start = b.now;
  while (!b.wr.accepted) b.step();
  std::printf("put in to write out: %llu cycles\n", (unsigned long long)(b.now - 1 - start));
  EXPECT_LE(b.now - 1 - start, 5u);
  ASSERT_TRUE(b.settle());
  for (unsigned bytes : {256u, 64u, 8u}) {
    constexpr unsigned n = 200;
    const uint64_t from = b.now;
    for (unsigned i = 0; i < n; ++i) b.send(b.put(0x2000, bytes, rma_last | rma_wants_ack));
    ASSERT_TRUE(b.settle());
    const double each = double(b.now - from) / n, beats = std::max(1.0, bytes * 8.0 / b.width);
    std::printf("%u bytes: %.2f cycles a packet, %.0f beats\n", bytes, each, beats);
    EXPECT_LE(each, std::max(beats, 4.0) * 1.05 + 0.2);
  }
}

}  // namespace
}  // namespace ggas::test::rma
