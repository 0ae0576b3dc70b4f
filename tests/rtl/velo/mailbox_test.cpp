// SPDX-License-Identifier: Apache-2.0
// Mailboxes: messages of every length against readers that follow the phase bit.
#include <optional>

#include "Vmailbox_256.h"
#include "Vmailbox_512.h"
#include "Vmailbox_64.h"
#include "sim/nic/rma_format.hpp"
#include "tests/rtl/context_pins.hpp"
#include "tests/rtl/handover.hpp"
#include "tests/rtl/rma/unit/host.hpp"

namespace ggas::test::rma {
namespace {

using nic::note;
using nic::note_kind;

constexpr uint8_t ok = 0, full = uint8_t(net_status::full), disabled = uint8_t(net_status::disabled),
                  bad = uint8_t(net_status::bad);

template <class V, unsigned W>
class bench {
 public:
  V v;
  dice d{seed()};
  feed<packet, W> mb;
  drain<tlp, W> wr{"wr"};
  memory mem;
  std::vector<uint8_t> answers;
  std::array<std::pair<uint64_t, uint32_t>, 256> reported{};  // entries reported, the last count
  uint64_t now = 0, messages = 0, met_full = 0;
  unsigned tell_percent = 30;  // chance a cycle that a report is taken
  bool gate = true;

  bench() {
    v.rst_ni = 0;
    v.eval();  // before the first edge: Verilator sees none in its first evaluation
    edge();
    v.rst_ni = 1;
  }
  ~bench() { end_model(v); }
  void config(unsigned vpid, unsigned word, uint64_t data) {
    pins::write_context(v.context_i, vpid, word, data);
    step();
    pins::end_write(v.context_i);
  }
  void start(unsigned vpid, uint64_t base, unsigned log2, unsigned pd, bool enabled = true, unsigned irq = 0) {
    config(vpid, 4, base);
    config(
        vpid, 0,
        uint64_t{enabled} | uint64_t{irq != 0} << 3 | uint64_t{irq} << 4 | uint64_t{log2} << 24 | uint64_t{pd} << 32);
  }
  void doorbell(unsigned vpid, uint32_t count, unsigned kind = 2) {
    v.db_valid_i = 1, v.db_kind_i = uint8_t(kind), v.db_vpid_i = uint8_t(vpid), v.db_count_i = count;
    step();
    v.db_valid_i = 0;
  }
  void step() {
    uint8_t sop = 0;
    v.wr_ready_i = wr.ready(d);
    v.written_ready_i = d.chance(tell_percent);
    mb.drive(d, v.mb_valid_i, sop, v.mb_eop_i, v.mb_hdr_i, v.mb_data_i);
    if (mb.offered() && !sop)  // rma_target keeps the header
      for (unsigned i = 0; i < nic::header_dws; ++i) v.mb_hdr_i[i] = kept_[i];
    for (unsigned i = 0; i < nic::header_dws; ++i) kept_[i] = v.mb_hdr_i[i];
    v.eval();
    if (!gate || v.busy_o || v.mb_valid_i || pins::is_written(v.context_i) || v.db_valid_i) {
      mb.sample(v.mb_ready_o);
      if (wr.sample(now, v.wr_o, v.wr_ready_i, v.wr_data_o)) {
        EXPECT_EQ(wr.all.back().len_dw, 20u);
        EXPECT_EQ(wr.all.back().addr % 128, 0u);
        mem.write(wr.all.back());
      }
      if (v.mb_rsp_valid_o) answers.push_back(v.mb_rsp_status_o);
      if (v.written_valid_o && v.written_ready_i)
        ++reported[v.written_vpid_o].first, reported[v.written_vpid_o].second = v.written_count_o;
      messages += v.cnt_messages_o;
      met_full += v.cnt_full_o;
      edge();
    }
    ++now;
  }
  bool settle(unsigned limit = 2000) {
    for (unsigned i = 0; i < limit; ++i) {
      step();
      v.eval();
      if (!v.busy_o && mb.empty()) return true;
    }
    return false;
  }
  bool looks_busy(unsigned vpid) {
    v.look_vpid_i = uint8_t(vpid);
    v.eval();
    return v.look_busy_o;
  }
  uint8_t one(const packet& p) {
    mb.push(p);
    EXPECT_TRUE(settle());
    return answers.back();
  }

 private:
  void edge() {
    v.clk_i = 1;
    v.eval();
    v.clk_i = 0;
    v.eval();
  }
  nic::packet_header kept_{};
};

packet message(dice& d, unsigned dvpid, unsigned pd, uint64_t cookie, unsigned size) {
  packet p{.src = uint16_t(d.below(64)), .op = uint8_t(op::velo_msg)};
  p.set_initiator(uint8_t(d.bits()), uint8_t(d.bits()));
  p.vpid = uint8_t(dvpid);
  p.set_pd(uint16_t(pd));
  p.set_flags(nic::rma_last | nic::rma_wants_ack);
  p.data = {uint32_t(cookie), uint32_t(cookie >> 32), size, 0};
  for (unsigned i = 0; i < (size + 3) / 4; ++i) p.data.push_back(uint32_t(d.bits()));  // garbage after the size
  p.len_dw = uint16_t(p.data.size());
  return p;
}

// The entry that `p` must have left at `addr`.
void expect_entry(const memory& m, uint64_t addr, const packet& p, bool phase) {
  const uint32_t size = p.data[2];
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned want = i < size ? p.data[4 + i / 4] >> 8 * (i % 4) & 0xff : 0;
    EXPECT_EQ(m.word(addr + i) >> 8 * (i % 4) & 0xff, want) << "byte " << i << " of " << size;
  }
  EXPECT_EQ(m.qword(addr + 64), qword(p.data, 0));
  const note want{
      .kind = note_kind::completer, .op = 7, .vpid = p.svpid(), .node = p.src, .size = size, .phase = phase};
  EXPECT_EQ(m.qword(addr + 72), want.word());
}

template <class T>
class Mailbox : public testing::Test {
 public:
  std::unique_ptr<T> own = std::make_unique<T>();
  T& b = *own;
  void SetUp() override { std::printf("seed %llu\n", static_cast<unsigned long long>(seed())); }
};
using widths = testing::Types<bench<Vmailbox_64, 64>, bench<Vmailbox_256, 256>, bench<Vmailbox_512, 512>>;
TYPED_TEST_SUITE(Mailbox, widths);

// A context has stopped when its message was written and reported, and no sooner.
TYPED_TEST(Mailbox, StopsBehindTheReport) {
  auto& b = this->b;
  b.start(21, 0x50000, 7, 3, true, 5);
  for (unsigned slow : {0u, 1u}) {  // the host, or who is informed
    b.wr.percent = slow ? 100 : 0, b.tell_percent = slow ? 0 : 100;
    b.mb.push(message(b.d, 21, 3, slow, 20));
    for (unsigned i = 0; i < 200; ++i) b.step();
    EXPECT_EQ(b.messages, slow ? 2u : 0u);
    EXPECT_TRUE(b.looks_busy(21));
    EXPECT_FALSE(b.looks_busy(22));
    b.wr.percent = b.tell_percent = 100;
    ASSERT_TRUE(b.settle());
    EXPECT_FALSE(b.looks_busy(21));
    EXPECT_EQ(b.reported[21].second, slow + 1);
  }
}

// A context with its mailbox goes from owner to owner.
TYPED_TEST(Mailbox, NothingIsLeft) {
  expect_nothing_left<TypeParam>(
      seed(), 1500,
      [](auto& b, uint64_t key, bool next) {
        b.start(9, 0x40000, 4, 3, true, 5);
        for (unsigned i = 0; i < 20; ++i) {  // more than the mailbox holds
          packet p = message(b.d, 9, 3, b.d.bits() ^ key, next ? unsigned(b.d.below(65)) : 64);
          for (size_t w = 4; w < p.data.size(); ++w) p.data[w] ^= uint32_t(key);
          b.mb.push(p);
        }
      },
      [](auto& b, view& now) {
        now.see(pins::get(b.v.wr_o, pins::valid) && pins::get(b.v.wr_o, pins::sop), b.v.wr_o);
        now.see(pins::get(b.v.wr_o, pins::valid), b.v.wr_data_o);
        now.see(b.v.written_valid_o, b.v.written_vpid_o, b.v.written_count_o);
        now.see(b.v.mb_rsp_valid_o, b.v.mb_rsp_status_o);
      },
      [](auto& b) {
        b.start(9, 0, 4, 3, false);
        while (b.looks_busy(9)) b.step();
        EXPECT_TRUE(b.settle());
      });
}

TYPED_TEST(Mailbox, EveryLengthArrivesZeroPadded) {
  auto& b = this->b;
  b.start(200, 0x40000, 7, 3, true, 5);
  for (unsigned size = 0; size <= 64; ++size) {
    const packet p = message(b.d, 200, 3, 0x1234'5678'9abc'0000 + size, size);
    EXPECT_EQ(b.one(p), ok);
    expect_entry(b.mem, 0x40000 + 128 * size, p, true);
  }
  EXPECT_EQ(b.messages, 65u);
  EXPECT_EQ(b.reported[200], (std::pair<uint64_t, uint32_t>{65, 65}));
  EXPECT_EQ(b.mem.words().size(), 65u * 20);
}

TYPED_TEST(Mailbox, RefusesWhatDoesNotFit) {
  auto& b = this->b;
  packet p = message(b.d, 1, 3, 0, 8);
  EXPECT_EQ(b.one(p), disabled);
  b.start(1, 0x1000, 2, 3);
  p.set_pd(4);
  EXPECT_EQ(b.one(p), disabled);
  for (unsigned size : {65u, 128u, 0xffffffu, 9u, 4u, 0u}) {
    packet q = message(b.d, 1, 3, 0, 8);
    q.data[2] = size;
    EXPECT_EQ(b.one(q), bad) << size;
  }
  for (unsigned log2 : {1u, 13u}) {
    b.start(1, 0x1000, log2, 3);
    EXPECT_EQ(b.one(message(b.d, 1, 3, 0, 8)), disabled);
  }
  b.start(1, 0, 2, 3);
  EXPECT_EQ(b.one(message(b.d, 1, 3, 0, 8)), disabled);
  b.start(1, 0x1000, 2, 3, false);
  EXPECT_EQ(b.one(message(b.d, 1, 3, 0, 8)), disabled);
  EXPECT_TRUE(b.wr.all.empty());
}

TYPED_TEST(Mailbox, FullIsAnAnswer) {
  auto& b = this->b;
  b.start(0, 0x1000, 2, 3);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(b.one(message(b.d, 0, 3, i, 64)), ok);
  EXPECT_EQ(b.one(message(b.d, 0, 3, 9, 64)), full);
  b.doorbell(0, 1, 1);  // the other ring's doorbell
  EXPECT_EQ(b.one(message(b.d, 0, 3, 9, 64)), full);
  b.doorbell(0, 1);
  const packet p = message(b.d, 0, 3, 10, 17);
  EXPECT_EQ(b.one(p), ok);
  expect_entry(b.mem, 0x1000, p, false);
  EXPECT_EQ(b.one(p), full);
  EXPECT_EQ(b.met_full, 3u);
  b.start(0, 0x1000, 2, 3);
  EXPECT_EQ(b.one(p), ok);
  expect_entry(b.mem, 0x1000, p, true);
}

TYPED_TEST(Mailbox, EveryContextHasAMailboxOfItsOwn) {
  auto& b = this->b;
  std::array<uint64_t, 256> base{};
  std::array<uint16_t, 256> pd{};
  for (unsigned i = 0; i < 256; ++i) {
    base[i] = b.d.bits() << 12, pd[i] = uint16_t(b.d.bits());
    b.start(i, base[i], unsigned(2 + b.d.below(11)), pd[i], true, i % 16);
  }
  for (unsigned turn = 0; turn < 2; ++turn) {
    for (unsigned i = 0; i < 256; ++i) {
      const packet p = message(b.d, i, pd[i], b.d.bits(), unsigned(b.d.below(65)));
      EXPECT_EQ(b.one(p), ok);
      expect_entry(b.mem, base[i] + 128 * turn, p, true);
      b.doorbell(i, turn + 1);
    }
  }
  for (unsigned i = 0; i < 256; ++i) {
    b.start(i, base[i], 2, pd[i], false);
    b.doorbell(i, uint32_t(b.d.bits()));
    EXPECT_EQ(b.one(message(b.d, i, pd[i], 0, 0)), disabled);
  }
}

// Random messages to a few contexts, with stalls; a reader consumes now and then.
TYPED_TEST(Mailbox, RandomTraffic) {
  auto& b = this->b;
  constexpr unsigned contexts = 4;
  std::array<uint32_t, contexts> written{}, consumed{};
  for (unsigned i = 0; i < contexts; ++i) b.start(10 * i, 0x100000 * (i + 1), 2 + i, i);
  unsigned fulls = 0;
  for (unsigned n = 0; n < 3000; ++n) {
    b.wr.percent = n < 1000 ? 100 : 30;
    b.mb.percent = n < 2000 ? 100 : 50;
    b.gate = n % 2;
    const auto i = unsigned(b.d.below(contexts));
    const packet p = message(b.d, 10 * i, i, n, unsigned(b.d.below(65)));
    const uint8_t s = b.one(p);
    EXPECT_EQ(s, written[i] - consumed[i] == 4u << i ? full : ok);
    fulls += s == full;
    if (s == ok) {
      expect_entry(b.mem, 0x100000 * (i + 1) + 128 * (written[i] % (4u << i)), p, !(written[i] >> (2 + i) & 1));
      ++written[i];
    }
    if (b.d.chance(10)) {
      const auto k = unsigned(b.d.below(contexts));
      consumed[k] += uint32_t(b.d.below(written[k] - consumed[k] + 1));
      b.doorbell(10 * k, consumed[k]);
    }
  }
  EXPECT_GT(fulls, 100u);
}

}  // namespace
}  // namespace ggas::test::rma
