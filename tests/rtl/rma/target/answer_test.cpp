// SPDX-License-Identifier: Apache-2.0
// rma_answer: what must become of every response is worked out as it goes in; what comes out is compared item by item.
#include <algorithm>

#include "Vanswer_256.h"
#include "Vanswer_512.h"
#include "Vanswer_64.h"
#include "tests/rtl/rma/unit/host.hpp"
#include "tests/rtl/rma/unit/puts.hpp"

namespace ggas::test::rma {
namespace {

enum event_kind : uint8_t { bad_packet, protection, unexpected };
struct event {
  event_kind kind;
  uint16_t node;
  uint64_t info;
  auto operator<=>(const event&) const = default;
};
struct answer {
  uint8_t op = 0, vpid = 0, epoch = 0, status = 0, dvpid = 0;
  uint16_t node = 0;
  uint64_t addr = 0;
  bool asked = true;
  auto operator<=>(const answer&) const = default;
};
constexpr uint64_t forbidden = 0x100000;

template <class V, unsigned W>
class bench {
 public:
  static constexpr unsigned width = W;
  V v;
  dice d{seed()};
  feed<packet, W> rx;
  drain<tlp, W> wr{"wr"};
  memory mem;
  translator tr;
  std::vector<event> events, expected_events;
  uint64_t now = 0, get_packets = 0, expected_packets = 0;
  unsigned answer_percent = 100;
  bool gate = true;
  struct context {
    bool on = false;
    uint8_t epoch = 0;  // 5 bits
    bool refused = false;
  };
  std::array<context, 256> contexts{};

  bench() {
    tr.granted = [](uint64_t nla, uint16_t pd, bool write) {
      return write && nla < forbidden && pd == domain(uint8_t(nla >> 16));
    };
    v.cfg_mps_i = 256;
    v.rst_ni = 0;
    edge();
    v.rst_ni = 1;
  }
  ~bench() { end_model(v); }
  static uint64_t bus(uint64_t nla) { return translator::bus(nla); }
  // A context reaches the NLAs from 64 KB times its area on.
  static uint16_t area(uint8_t vpid) { return vpid % 16; }
  static uint16_t domain(uint8_t vpid) { return uint16_t(0x1357 * (area(vpid) + 1)); }

  void start(uint8_t vpid, bool on = true) {
    v.cfg_we_i = 1, v.cfg_vpid_i = vpid, v.cfg_word_i = 0;
    v.cfg_data_i = uint64_t{on} | uint64_t{domain(vpid)} << 32 | 0xffff'0000'0000'0000ull;
    step();
    v.cfg_we_i = 0;
    contexts[vpid].on = on;
    contexts[vpid].refused = false;
  }
  void give_up(uint8_t vpid) {
    context& c = contexts[vpid];
    c.epoch = (c.epoch + 1) % 32;
    c.refused = false;
    v.ep_valid_i = 1, v.ep_vpid_i = vpid, v.ep_epoch_i = c.epoch;
    step();
    v.ep_valid_i = 0;
  }
  packet make(op o, uint8_t vpid, net_status s = net_status::ok) {
    packet p{.src = uint16_t(d.below(64)), .vc = uint8_t(nic::vc::rsp), .op = uint8_t(o), .status = uint8_t(s)};
    p.set_initiator(vpid, uint8_t(contexts[vpid].epoch << 3 | d.below(8)));
    p.vpid = uint8_t(d.bits());
    p.set_pd(uint16_t(d.bits()));  // of no account here
    p.addr = d.bits();
    p.set_flags(d.chance(50) ? nic::rma_wants_ack : 0);
    return p;
  }
  packet data(uint8_t vpid, uint64_t nla, unsigned bytes) {
    packet p = make(op::rma_get_data, vpid);
    p.addr = nla;
    fill(d, p, bytes);
    return p;
  }
  packet result(uint8_t vpid, uint64_t nla, net_status s = net_status::ok) {
    packet p = make(op::rma_atomic_rsp, vpid, s);
    p.addr = nla;
    p.set_flags(nic::rma_result);
    for (unsigned i = 0; i < 4; ++i) p.data.push_back(uint32_t(d.bits()));
    p.len_dw = 4;
    return p;
  }

  void send(const packet& p) {
    rx.push(p);
    context& c = contexts[p.svpid()];
    const bool live = c.on && c.epoch == p.epoch() >> 3;
    const bool record = p.is(op::rma_atomic_rsp) && p.status == 0 && p.flags() & nic::rma_result;
    const bool stores = p.is(op::rma_get_data) || record;
    const bool granted = p.addr < forbidden && p.addr >> 16 == area(p.svpid());
    uint8_t status = p.status;
    if (!sane(p, record)) {
      expected_events.push_back({bad_packet, p.src, p.op});
    } else if (stores && !live) {
      expected_events.push_back({unexpected, p.src, p.svpid()});
    } else if (stores && !granted) {
      expected_events.push_back({protection, p.src, p.svpid()});
      status = uint8_t(net_status::protection);
    } else if (stores) {
      packet whole = p;
      if (record) whole.first_be = whole.last_be = 0xf;
      for (const tlp& t : writes_of(whole, bus(p.addr), v.cfg_mps_i)) writes_.push_back(t);
      expected_packets += p.is(op::rma_get_data);
    }
    if (p.is(op::rma_get_data)) {
      c.refused |= live && !(sane(p, record) && granted);
      return;
    }
    if (!sane(p, record)) return;
    if (p.is(op::rma_get_done)) {
      if (c.refused && status == 0) status = uint8_t(net_status::protection);
      c.refused = false;
    }
    answers_.push_back(
        {{p.op, p.svpid(), p.epoch(), status, p.vpid, p.src, p.is(op::rma_atomic_rsp) ? qword(p.data, 0) : p.addr,
          !p.is(op::rma_ack) || p.flags() & nic::rma_wants_ack},
         writes_.size()});
  }
  void step() {
    drive();
    v.eval();
    if (!gate || v.busy_o || v.rx_valid_i || v.tr_rsp_valid_i || v.cfg_we_i || v.ep_valid_i) {
      sample();
      edge();
    } else {
      tr.sample(d, false, false, 0, 0, false, false);
    }
    ++now;
  }
  bool settle(uint64_t limit = 50000) {
    for (uint64_t i = 0; i < limit; ++i) {
      step();
      v.eval();
      if (rx.empty() && !v.busy_o && writes_seen_ == writes_.size() && answers_.empty()) {
        EXPECT_EQ(events, expected_events);
        EXPECT_EQ(tr.held, 0u);
        EXPECT_EQ(get_packets, expected_packets);
        return true;
      }
    }
    return false;
  }
  bool backlog() const { return answers_.size() + writes_.size() - writes_seen_ > 20; }

 private:
  static bool sane(const packet& p, bool record) {
    if (p.is(op::rma_ack) || p.is(op::rma_get_done)) return p.len_dw == 0;
    if (p.is(op::rma_atomic_rsp)) return p.len_dw == 4 && !(record && p.addr % 16);
    if (!p.is(op::rma_get_data) || p.len_dw == 0 || p.len_dw > 64 || p.addr % 4096 / 4 + p.len_dw > 1024) return false;
    if (p.len_dw == 1) return p.last_be == 0;
    if (p.len_dw == 2 && !(p.addr & 4)) return p.first_be && p.last_be;
    const auto in = [](unsigned be, std::initializer_list<unsigned> set) {
      return std::ranges::find(set, be) != set.end();
    };
    return in(p.first_be, {8, 12, 14, 15}) && in(p.last_be, {1, 3, 7, 15});
  }
  void edge() {
    v.clk_i = 1;
    v.eval();
    v.clk_i = 0;
    v.eval();
  }
  void drive() {
    rx.drive(d, v.rx_valid_i, v.rx_sop_i, v.rx_eop_i, v.rx_hdr_i, v.rx_data_i);
    v.tr_ready_i = tr.ready(d);
    v.tr_rsp_valid_i = tr.now().valid;
    v.tr_rsp_addr_i = tr.now().addr;
    v.tr_rsp_status_i = tr.now().status;
    v.wr_ready_i = wr.ready(d);
    v.ans_ready_i = d.chance(answer_percent);
  }
  void sample() {
    rx.sample(v.rx_ready_o);
    tr.sample(d, v.tr_valid_o, v.tr_ready_i, v.tr_nla_o, v.tr_pd_o, v.tr_write_o, v.tr_done_o);
    if (wr.sample(now, v.wr_valid_o, v.wr_ready_i, v.wr_sop_o, v.wr_eop_o, v.wr_hdr_o, v.wr_data_o)) {
      ASSERT_LT(writes_seen_, writes_.size()) << "a write nobody asked for";
      expect_same(wr.all.back(), writes_[writes_seen_++]);
      mem.write(wr.all.back());
      wr.all.clear();
    }
    if (v.ans_valid_o && v.ans_ready_i) {
      ASSERT_FALSE(answers_.empty()) << "an answer nobody sent";
      const answer got{v.ans_op_o,    v.ans_vpid_o, v.ans_epoch_o, v.ans_status_o,
                       v.ans_dvpid_o, v.ans_node_o, v.ans_addr_o,  bool(v.ans_asked_o)};
      EXPECT_EQ(got, answers_.front().first);
      EXPECT_GE(writes_seen_, answers_.front().second) << "an answer in front of its writes";
      answers_.pop_front();
    }
    for (auto [on, kind] :
         {std::pair{v.ev_bad_packet_o, bad_packet}, {v.ev_protection_o, protection}, {v.ev_unexpected_o, unexpected}})
      if (on) events.push_back({kind, v.ev_node_o, v.ev_info_o});
    get_packets += v.cnt_get_packets_o;
  }
  std::vector<tlp> writes_;
  size_t writes_seen_ = 0;
  std::deque<std::pair<answer, size_t>> answers_;
};

template <class T>
class Answer : public testing::Test {
 public:
  std::unique_ptr<T> own = std::make_unique<T>();
  T& b = *own;
  void SetUp() override { std::printf("seed %llu\n", static_cast<unsigned long long>(seed())); }
};
using widths = testing::Types<bench<Vanswer_64, 64>, bench<Vanswer_256, 256>, bench<Vanswer_512, 512>>;
TYPED_TEST_SUITE(Answer, widths);

TYPED_TEST(Answer, DataOfEveryLengthAndAlignment) {
  auto& b = this->b;
  b.start(3);
  for (unsigned mps : {128u, 256u}) {
    b.v.cfg_mps_i = uint16_t(mps);
    for (unsigned bytes = 1; bytes <= 256; bytes += bytes < 40 || bytes > 200 ? 1 : 7)
      for (unsigned offset : {0u, 1u, 2u, 3u, 4u, 61u}) b.send(b.data(3, 0x34000 + offset, bytes));
    b.send(b.make(op::rma_get_done, 3));
    ASSERT_TRUE(b.settle());
  }
}

TYPED_TEST(Answer, TheDomainIsThatOfTheContext) {
  auto& b = this->b;
  b.start(3);
  b.start(4);
  packet p = b.data(3, 0x43000, 8);  // of context 4
  p.set_pd(b.domain(4));
  b.send(p);
  b.send(b.data(4, 0x43000, 8));
  b.send(b.make(op::rma_get_done, 4));
  b.send(b.make(op::rma_get_done, 3));
  b.send(b.make(op::rma_get_done, 3));
  b.send(b.result(3, 0x43000));
  b.send(b.result(3, 0x33000));
  b.send(b.result(3, 0x33008));
  b.send(b.result(3, 0x33000, net_status::timeout));
  ASSERT_TRUE(b.settle());
}

TYPED_TEST(Answer, LateDataIsNotWritten) {
  auto& b = this->b;
  b.send(b.data(5, 0x50000, 8));  // never started
  ASSERT_TRUE(b.settle());
  b.start(5);
  b.send(b.data(5, forbidden, 8));
  const packet late = b.data(5, 0x50000, 8), late_result = b.result(5, 0x50000);
  ASSERT_TRUE(b.settle());
  b.give_up(5);
  b.send(late);
  b.send(late_result);
  b.send(b.make(op::rma_get_done, 5));  // the refusal belongs to the epoch before
  ASSERT_TRUE(b.settle());
  EXPECT_TRUE(b.mem.words().empty());
  b.start(5, false);
  b.send(b.data(5, 0x50000, 8));
  ASSERT_TRUE(b.settle());
  EXPECT_TRUE(b.mem.words().empty());
}

TYPED_TEST(Answer, EveryContext) {
  auto& b = this->b;
  for (unsigned round = 0; round < 2; ++round) {
    for (unsigned i = 0; i < 256; ++i) b.start(uint8_t(i));
    for (unsigned i = 0; i < 256; ++i) {
      b.send(b.data(uint8_t(i), uint64_t{b.area(uint8_t(i))} << 16 | i << 4, 8));
      b.send(b.data(uint8_t(i), forbidden, 8));
    }
    ASSERT_TRUE(b.settle());
    for (unsigned i = 0; i < 256; ++i) b.send(b.make(op::rma_get_done, uint8_t(i)));
    ASSERT_TRUE(b.settle());
    for (unsigned i = 0; i < 256; ++i) b.give_up(uint8_t(i));
    for (unsigned i = 0; i < 256; ++i) b.start(uint8_t(i), false);
    b.send(b.data(uint8_t(b.d.bits()), 0, 8));
    ASSERT_TRUE(b.settle());
  }
}

TYPED_TEST(Answer, RandomAndForgedPackets) {
  auto& b = this->b;
  for (unsigned i = 0; i < 6; ++i) b.start(uint8_t(i * 40));
  constexpr op ops[] = {op::rma_get_data, op::rma_get_data, op::rma_get_data,
                        op::rma_get_done, op::rma_ack,      op::rma_atomic_rsp};
  for (unsigned n = 0; n < 12000; ++n) {
    if (n % 300 == 0) {
      ASSERT_TRUE(b.settle());
      for (unsigned* percent : {&b.rx.percent, &b.wr.percent, &b.tr.percent, &b.answer_percent})
        *percent = b.d.chance(50) ? 100 : unsigned(20 + b.d.below(80));
      b.v.cfg_mps_i = b.d.chance(50) ? 128 : 256;
      b.gate = b.d.chance(50);
      if (b.d.chance(50)) b.give_up(uint8_t(40 * b.d.below(6)));
      if (b.d.chance(30)) b.start(uint8_t(40 * b.d.below(6)), b.d.chance(70));
    }
    const auto vpid = uint8_t(40 * b.d.below(6));
    const uint64_t nla = (uint64_t{b.area(vpid)} << 16) + b.d.below(b.d.chance(95) ? 0x10000 : 0x200000);
    const op o = ops[b.d.below(6)];
    packet p = o == op::rma_get_data ? b.data(vpid, nla, unsigned(1 + b.d.below(b.d.chance(50) ? 16 : 256)))
               : o == op::rma_atomic_rsp
                   ? b.result(vpid, nla & ~15ull, b.d.chance(80) ? net_status::ok : net_status::timeout)
                   : b.make(o, vpid, b.d.chance(80) ? net_status::ok : net_status(b.d.below(11)));
    if (b.d.chance(30) && o == op::rma_atomic_rsp) p.set_flags(0);
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
          p.set_initiator(uint8_t(b.d.bits()), uint8_t(b.d.bits()));
          break;
        case 4:
          p.data.resize(size_t(b.d.below(b.d.chance(80) ? 24 : 90)));
          p.len_dw = uint16_t(p.data.size());
          break;
        default:
          p.set_header_words({b.d.bits(), b.d.bits(), b.d.bits()});
          p.len_dw = uint16_t(p.data.size());
      }
    }
    b.send(p);
    while (b.backlog()) b.step();
    if (testing::Test::HasFailure()) FAIL() << "packet " << n << ": " << nic::to_text(p);
  }
  ASSERT_TRUE(b.settle());
  EXPECT_GT(b.get_packets, 3000u);
}

TYPED_TEST(Answer, Timing) {
  auto& b = this->b;
  b.start(1);
  b.send(b.data(1, 0x10000, 256));
  const uint64_t start = b.now;
  while (!b.wr.accepted) b.step();
  std::printf("data in to write out: %llu cycles\n", (unsigned long long)(b.now - 1 - start));
  EXPECT_LE(b.now - 1 - start, 5u);
  ASSERT_TRUE(b.settle());
  constexpr unsigned n = 200;
  const uint64_t from = b.now;
  for (unsigned i = 0; i < n; ++i) b.send(b.data(1, 0x12000, 256));
  ASSERT_TRUE(b.settle());
  const double each = double(b.now - from) / n, beats = 2048.0 / b.width;
  std::printf("256 bytes: %.2f cycles a packet, %.0f beats\n", each, beats);
  EXPECT_LE(each, beats * 1.05);
}

}  // namespace
}  // namespace ggas::test::rma
