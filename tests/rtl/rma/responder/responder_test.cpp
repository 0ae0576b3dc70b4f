// SPDX-License-Identifier: Apache-2.0
// rma_responder with a stand-in for rma_fetch that finishes commands in order, late, and sometimes badly.
#include <map>

#include "Vresponder_512.h"
#include "Vresponder_64.h"
#include "sim/nic/rma_format.hpp"
#include "tests/rtl/rma/unit/streams.hpp"

namespace ggas::test::rma {
namespace {

using nic::note;

template <class V, unsigned W>
class bench {
 public:
  struct get {
    packet p;
    uint64_t dst = 0, cookie = 0;
    uint32_t size = 0, asked = 0, done = 0;
    uint8_t status = 0;     // of its first packet that failed
    bool reported = false;  // notification or event seen
    bool off = false;       // its context does not exist
    bool placed = false;
    uint64_t since = 0, commands_before = 0;
  };
  struct command {
    uint16_t key = 0;
    uint32_t bytes = 0;
    uint8_t meta = 0, status = 0;
    uint64_t from = 0, nla = 0;
  };

  V v;
  dice d;
  feed<packet, W> in;
  unsigned fetch_percent = 100, note_percent = 100, answer_percent = 100, fail_percent = 0;
  uint64_t delay = 20, now = 0, commands = 0, notes = 0, protection = 0, off = 0, bad = 0, served = 0;
  std::map<uint16_t, uint64_t> finished;  // key of a get: commands made while it was under way
  bool gate = true;
  unsigned mtu = 2;

  explicit bench(uint64_t seed) : d(seed) {
    v.cfg_node_i = 9;
    v.cfg_mtu_i = 2;
    v.rst_ni = 0;
    v.eval();  // before the first edge: Verilator sees none in its first evaluation
    edge();
    v.rst_ni = 1;
    edge();
  }
  ~bench() { end_model(v); }

  // A get is known by context and epoch of its initiator.
  uint16_t push(uint32_t size, bool notify, bool context_off = false) {
    get g;
    const auto key = uint16_t(next_key_++);
    g.p = {.dst = 9, .src = uint16_t(d.below(4)), .vc = uint8_t(nic::vc::rma), .op = uint8_t(op::rma_get)};
    g.p.set_initiator(uint8_t(key >> 8), uint8_t(key));
    g.p.vpid = uint8_t(d.bits());
    g.p.set_pd(uint16_t(d.bits()));
    g.p.set_flags(notify ? nic::rma_responder : 0);
    g.p.addr = d.below(1ull << 46);
    g.dst = d.below(1ull << 46);
    g.cookie = d.bits();
    g.size = size;
    g.off = context_off;
    g.p.len_dw = 6;
    g.p.data = {uint32_t(g.dst), uint32_t(g.dst >> 32), uint32_t(g.cookie), uint32_t(g.cookie >> 32), size, 0};
    in.push(g.p);
    gets_[key] = g;
    return key;
  }

  void step() {
    in.drive(d, v.get_i, v.get_data_i);
    v.cmd_ready_i = waiting_.size() < 16 && d.chance(fetch_percent);
    v.done_valid_i = !waiting_.empty() && waiting_.front().from <= now && d.chance(fetch_percent);
    if (v.done_valid_i) {
      const command& c = waiting_.front();
      v.done_status_i = c.status;
      v.done_meta_i = c.meta;
      v.done_nla_i = c.nla & 0xff'ffff'ffff;
    }
    v.nt_ready_i = !noting_ && d.chance(note_percent);
    v.nt_rsp_valid_i = noting_ && d.chance(note_percent);
    v.nt_rsp_status_i = uint8_t(noted_off_ ? net_status::disabled : net_status::ok);
    v.rsp_ready_i = d.chance(answer_percent);
    v.eval();
    const bool asked = pins::get(v.get_i, pins::valid) || v.done_valid_i || v.nt_rsp_valid_i;
    if (!gate || asked || v.busy_o) {
      sample();
      edge();
    } else {
      EXPECT_FALSE(v.cmd_valid_o || v.rsp_valid_o || v.nt_valid_o) << "something moves while idle";
    }
    ++now;
  }
  bool settle(uint64_t limit = 400000) {
    for (uint64_t i = 0; i < limit; ++i) {
      step();
      v.eval();
      if (in.empty() && gets_.empty() && !v.busy_o) return true;
    }
    return false;
  }
  size_t left() const { return gets_.size(); }

 private:
  void edge() {
    v.clk_i = 1;
    v.eval();
    v.clk_i = 0;
    v.eval();
  }
  static packet header(const auto& hdr) {
    nic::packet_header h{};
    for (size_t i = 0; i < h.size(); ++i) h[i] = hdr[i];
    return from_bits<packet>(h);
  }
  static uint16_t key_of(const packet& p) { return uint16_t(p.svpid() << 8 | p.epoch()); }

  void sample() {
    if (v.ev_protection_o) {
      EXPECT_EQ(v.ev_info_o, failed_nla_ & 0xff'ffff'ffff);
      EXPECT_EQ(v.ev_node_o, failed_node_);
    }
    in.sample(v.get_ready_o);
    if (v.nt_rsp_valid_i) noting_ = false;
    if (v.cmd_valid_o && v.cmd_ready_i) take_command();
    if (v.done_valid_i) finish();
    if (v.nt_valid_o && v.nt_ready_i) take_note();
    if (v.rsp_valid_o && v.rsp_ready_i) take_answer();
    EXPECT_LE(v.ev_protection_o + v.ev_context_off_o + v.ev_bad_packet_o, 1);
    protection += v.ev_protection_o, off += v.ev_context_off_o, bad += v.ev_bad_packet_o, served += v.cnt_gets_o;
  }

  void take_command() {
    ++commands;
    const packet p = header(v.cmd_hdr_o);
    ASSERT_TRUE(gets_.contains(key_of(p)));
    get& g = gets_[key_of(p)];
    const unsigned border = 64u << mtu;
    const auto n = std::min<uint64_t>(g.size - g.asked, border - (g.dst + g.asked) % border);
    ASSERT_GT(n, 0u) << "more than was asked for";
    packet want{.dst = g.p.src, .src = 9, .vc = uint8_t(nic::vc::rsp), .op = uint8_t(op::rma_get_data)};
    want.tag = g.p.tag, want.vpid = g.p.vpid, want.addr = g.dst + g.asked;
    want.set_pd(g.p.pd());
    put_payload(want, std::vector<uint8_t>(n));
    want.set_flags(g.asked == 0 ? nic::rma_first : 0);
    expect_place(key_of(p), g, p.place());
    want.set_place(p.place());
    EXPECT_EQ(p.header(), want.header());
    EXPECT_EQ(v.cmd_nla_o, g.p.addr + g.asked);
    EXPECT_EQ(v.cmd_pd_o, g.p.pd());
    EXPECT_EQ(v.cmd_bytes_o, n);
    command c{key_of(p), uint32_t(n), v.cmd_meta_o, 0, now + 1 + d.below(delay + 1), v.cmd_nla_o};
    if (d.chance(fail_percent)) c.status = uint8_t(d.chance(60) ? net_status::protection : net_status::host_error);
    g.asked += uint32_t(n);
    waiting_.push_back(c);
  }

  void finish() {
    const command c = waiting_.front();
    waiting_.pop_front();
    get& g = gets_[c.key];
    g.done += c.bytes;
    if (c.status != 0 && g.status == 0) {
      g.status = c.status;
      if (c.status == uint8_t(net_status::protection)) failed_nla_ = c.nla, failed_node_ = g.p.src, ++protected_;
    }
  }

  void take_note() {
    ++notes;
    const auto it = std::ranges::find_if(gets_, [&](const auto& k) { return k.second.cookie == v.nt_w0_o; });
    ASSERT_NE(it, gets_.end());
    get& g = it->second;
    expect_over(g);
    EXPECT_FALSE(g.reported);
    g.reported = true;
    EXPECT_EQ(v.nt_vpid_o, g.p.dvpid());
    EXPECT_EQ(v.nt_pd_o, g.p.pd());
    EXPECT_EQ(note::of(v.nt_w1_o), (note{nic::note_kind::responder, g.status, uint8_t(nic::desc_op::get), g.p.svpid(),
                                         g.p.src, g.size, false}));
    noting_ = true;
    noted_off_ = g.off;
  }

  void take_answer() {
    const packet p = header(v.rsp_hdr_o);
    ASSERT_TRUE(gets_.contains(key_of(p)));
    get& g = gets_[key_of(p)];
    const bool huge = g.size > nic::rma_max_bytes;
    packet want{.dst = g.p.src, .src = 9, .vc = uint8_t(nic::vc::rsp), .op = uint8_t(op::rma_get_done)};
    want.tag = g.p.tag, want.vpid = g.p.vpid, want.addr = g.p.addr;
    want.set_pd(g.p.pd());
    want.status = huge ? uint8_t(net_status::bad) : g.status;
    expect_place(key_of(p), g, p.place());
    want.set_place(p.place());
    EXPECT_EQ(p.header(), want.header());
    if (!huge) expect_over(g);
    EXPECT_EQ(g.reported, !huge && (g.p.flags() & nic::rma_responder) != 0);
    finished[key_of(p)] = commands;
    places_.erase(p.place());
    gets_.erase(key_of(p));
  }

  // A get keeps its place, alone, from its first packet to its end.
  void expect_place(uint16_t key, get& g, uint8_t place) {
    if (!g.placed) places_.insert({place, key});
    g.placed = true;
    EXPECT_TRUE(places_.contains(place) && places_[place] == key) << "place " << unsigned(place) << " of two gets";
  }

  void expect_over(const get& g) {
    EXPECT_EQ(g.done, g.asked) << "packets are still under way";
    EXPECT_TRUE(g.status != 0 || g.done == g.size);
  }

  std::map<uint16_t, get> gets_;
  std::map<uint8_t, uint16_t> places_;  // key of the get that is there
  std::deque<command> waiting_;
  unsigned next_key_ = 0;
  bool noting_ = false, noted_off_ = false;
  uint64_t failed_nla_ = 0;
  uint16_t failed_node_ = 0;

 public:
  uint64_t protected_ = 0;
};

template <class V, unsigned W>
struct config {
  using type = bench<V, W>;
};
template <class C>
class Responder : public ::testing::Test {
 protected:
  typename C::type b{seed()};
  void SetUp() override { std::printf("seed %llu\n", static_cast<unsigned long long>(seed())); }
};
using widths = ::testing::Types<config<Vresponder_64, 64>, config<Vresponder_512, 512>>;
TYPED_TEST_SUITE(Responder, widths);

TYPED_TEST(Responder, Random) {
  auto& b = this->b;
  for (unsigned round = 0; round < 6; ++round) {
    b.mtu = round % 3;
    b.v.cfg_mtu_i = b.mtu;
    b.gate = round != 5;
    b.fetch_percent = round & 1 ? 50 : 100;
    b.answer_percent = b.note_percent = round & 2 ? 30 : 100;
    b.in.percent = round & 1 ? 100 : 50;
    b.fail_percent = round < 2 ? 0 : 4;
    for (unsigned i = 0; i < 60; ++i)
      b.push(b.d.chance(30) ? uint32_t(b.d.below(9000)) : uint32_t(b.d.below(600)), b.d.chance(40), b.d.chance(20));
    ASSERT_TRUE(b.settle()) << b.left() << " left";
  }
  EXPECT_EQ(b.protection, b.protected_);
  EXPECT_GT(b.protection, 5u);
  EXPECT_GT(b.off, 5u);
  EXPECT_GT(b.notes, 50u);
  EXPECT_GT(b.served, 200u);
}

TYPED_TEST(Responder, EightMegabytesDelayNobody) {
  auto& b = this->b;
  b.delay = 2;
  const uint16_t big = b.push(nic::rma_max_bytes, false);
  for (unsigned i = 0; i < 100; ++i) b.step();
  std::vector<uint16_t> small;
  for (unsigned i = 0; i < 10; ++i) small.push_back(b.push(512, true));
  const uint64_t before = b.commands;
  ASSERT_TRUE(b.settle()) << b.left() << " left";
  for (uint16_t k : small) EXPECT_LT(b.finished[k], before + 11 * 4 + 40);
  EXPECT_GE(b.finished[big], nic::rma_max_bytes / 256);
  EXPECT_EQ(b.served, 11u);
}

TYPED_TEST(Responder, SizesThatMakeNoSense) {
  auto& b = this->b;
  b.push(0, true);
  b.push(nic::rma_max_bytes + 1, true);
  b.push(0x80000001, false);
  b.push(0xffffffff, true);
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.bad, 3u);
  EXPECT_EQ(b.notes, 1u);
  EXPECT_EQ(b.commands, 0u);
}

// A command every other cycle, for one get or for many.
TYPED_TEST(Responder, Rate) {
  auto& b = this->b;
  b.delay = 0;
  b.push(256 * 200, false);
  const uint64_t from = b.now;
  while (b.commands < 190) b.step();
  std::printf("%.2f cycles a packet\n", double(b.now - from) / 190);
  EXPECT_LE(b.now - from, 190 * 2 + 20);
  ASSERT_TRUE(b.settle());
}

}  // namespace
}  // namespace ggas::test::rma
