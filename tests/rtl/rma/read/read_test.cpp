// SPDX-License-Identifier: Apache-2.0
// rma_read with a host that cuts, mixes, spoils, delays and forgets its answers.
#include <map>
#include <numeric>

#include "Vread_256.h"
#include "Vread_512.h"
#include "Vread_64.h"
#include "tests/rtl/rma/unit/completer.hpp"

namespace ggas::test::rma {
namespace {

struct command {
  uint64_t addr = 0;
  unsigned len_dw = 1;
  bool flush = false;
};

template <class V, unsigned W>
class bench {
 public:
  V v;
  dice d;
  completer<W> host;
  unsigned read_percent = 100, out_percent = 100, command_percent = 100;
  std::function<fault()> faults = [] { return fault::none; };
  std::deque<command> todo;
  uint64_t now = 0, unexpected = 0, last_end = 0;
  std::array<uint64_t, 16> ended{};
  bool gate = true;

  explicit bench(uint64_t seed) : d(seed) {
    host.mrrs = 4096;
    v.cfg_timeout_i = 20;
    v.rst_ni = 0;
    v.eval();
    edge();
    v.rst_ni = 1;
    edge();
  }
  ~bench() { end_model(v); }

  void step() {
    drive();
    v.time_i = now;
    v.eval();
    if (!gate || v.cmd_valid_i || pins::get(v.cpl_i, pins::valid) || v.busy_o || (v.timer_o && now % 1024 == 0)) {
      sample();
      edge();
      if (taken_) v.cmd_valid_i = 0, taken_ = false;
    } else {
      EXPECT_FALSE(v.rd_valid_o || v.out_valid_o || v.end_valid_o || v.ev_unexpected_o) << "something moves while idle";
    }
    ++now;
  }
  bool settle(uint64_t limit = 400000) {
    for (uint64_t i = 0; i < limit; ++i) {
      step();
      v.eval();
      if (todo.empty() && open_.empty() && host.idle() && !v.cmd_valid_i && !v.busy_o && !v.timer_o) return true;
    }
    return false;
  }
  size_t left() const { return todo.size() + open_.size(); }

 private:
  struct read {
    command c;
    unsigned came = 0;
    fault f = fault::none;
    uint64_t since = 0;  // taken, or handed to the host
    bool sent = false;
  };

  void edge() {
    v.clk_i = 1;
    v.eval();
    v.clk_i = 0;
    v.eval();
  }

  void drive() {
    if (!v.cmd_valid_i && !todo.empty() && d.chance(command_percent)) {
      const command& c = todo.front();
      v.cmd_valid_i = 1;
      v.cmd_addr_i = c.addr;
      v.cmd_len_dw_i = uint16_t(c.len_dw);
      v.cmd_first_be_i = c.flush ? 0 : 15;
      v.cmd_last_be_i = c.len_dw == 1 ? 0 : 15;
      v.cmd_meta_i = next_meta_;
    }
    v.rd_ready_i = d.chance(read_percent);
    v.out_ready_i = d.chance(out_percent);
    host.step(now, d);
    host.cpl.drive(d, v.cpl_i, v.cpl_data_i);
  }

  void sample() {
    if (v.cmd_valid_i && v.cmd_ready_o) {
      open_[next_meta_] = {todo.front(), 0, fault::none, now};
      order_.emplace_back(next_meta_++, todo.front());
      todo.pop_front();
      taken_ = true;
    }
    if (v.rd_valid_o && v.rd_ready_i) request();
    host.cpl.sample(v.cpl_ready_o);
    if (v.out_valid_o && v.out_ready_i) data();
    if (v.end_valid_o) end();
    unexpected += v.ev_unexpected_o;
  }

  void request() {
    nic::packet_header h{};
    for (size_t i = 0; i < 5; ++i) h[i] = v.rd_hdr_o[i];
    const tlp t = from_bits<tlp>(h);
    ASSERT_FALSE(order_.empty());
    const auto [meta, c] = order_.front();
    order_.pop_front();
    if (std::exchange(stuck_, false)) stuck_until_ = now;
    EXPECT_EQ(t.addr, c.addr);
    EXPECT_EQ(t.len_dw, c.len_dw);
    EXPECT_EQ(t.first_be, c.flush ? 0 : 15);
    const auto r = open_.find(meta);  // else it was given up before
    const fault f = r == open_.end() ? fault::none : faults();
    if (r != open_.end()) r->second.f = f, r->second.since = now, r->second.sent = true;
    host.request(now, t, f, d);
  }

  void data() {
    ASSERT_TRUE(open_.contains(v.out_meta_o)) << "data of a read that is over";
    read& r = open_.at(v.out_meta_o);
    EXPECT_EQ(v.out_offset_dw_o, r.came) << "in order";
    EXPECT_LE(r.came + v.out_dws_o, r.c.len_dw);
    EXPECT_TRUE(v.out_dws_o >= 1 && v.out_dws_o <= W / 32);
    EXPECT_TRUE(!v.out_final_o || r.f == fault::none || r.f == fault::late);
    for (unsigned i = 0; i < v.out_dws_o; ++i, ++r.came) {
      uint32_t want = 0;
      for (unsigned k = 0; k < 4; ++k) want |= uint32_t{memory_byte(r.c.addr + 4 * r.came + k)} << (8 * k);
      EXPECT_EQ(nic::pins::get_word<W>(v.out_data_o, i), want);
    }
  }

  void end() {
    ASSERT_TRUE(open_.contains(v.end_meta_o)) << "a second end";
    const read r = open_.at(v.end_meta_o);
    open_.erase(v.end_meta_o);
    ++ended[v.end_status_o];
    last_end = now;
    if (!r.sent) return unsent(v.end_meta_o, r);
    const net_status want = r.f == fault::none                           ? net_status::ok
                            : r.f == fault::silent || r.f == fault::late ? net_status::timeout
                                                                         : net_status::host_error;
    EXPECT_EQ(v.end_status_o, uint8_t(want));
    EXPECT_EQ(r.came == r.c.len_dw, r.f == fault::none) << "all data before a good end";
  }

  // The host took none for the time-out: the read that it is offered stays on offer, those after it never come.
  void unsent(uint16_t meta, const read& r) {
    EXPECT_EQ(v.end_status_o, uint8_t(net_status::timeout));
    if (stuck_ || now <= stuck_until_ + 1) {
      std::erase_if(order_, [meta](const auto& o) { return o.first == meta; });
      return;
    }
    EXPECT_EQ(order_.front().first, meta) << "given up, though none in front of it was";
    EXPECT_GE(now, r.since + 1024 * uint64_t{v.cfg_timeout_i});
    stuck_ = true;
  }

  std::map<uint16_t, read> open_;
  std::deque<std::pair<uint16_t, command>> order_;  // not handed to the host
  bool stuck_ = false;                              // the first of them was given up
  uint64_t stuck_until_ = 0;                        // the cycle in which the host took such a one
  uint16_t next_meta_ = 0;
  bool taken_ = false;
};

template <class V, unsigned W>
struct config {
  using type = bench<V, W>;
  static constexpr unsigned width = W;
};
template <class C>
class Read : public ::testing::Test {
 protected:
  typename C::type b{seed()};
  void SetUp() override { std::printf("seed %llu\n", static_cast<unsigned long long>(seed())); }

  void push(unsigned n, unsigned most = 1024) {
    for (unsigned i = 0; i < n; ++i) {
      command c;
      c.flush = b.d.chance(10);
      c.addr = b.d.bits() & 0xffff'ffff'fffc;
      const unsigned room = unsigned(4096 - c.addr % 4096) / 4;
      c.len_dw = c.flush ? 1 : 1 + unsigned(b.d.below(std::min(room, b.d.chance(10) ? most : 64u)));
      b.todo.push_back(c);
    }
  }
};
using widths = ::testing::Types<config<Vread_64, 64>, config<Vread_256, 256>, config<Vread_512, 512>>;
TYPED_TEST_SUITE(Read, widths);

TYPED_TEST(Read, AnyOrder) {
  auto& b = this->b;
  for (unsigned round = 0; round < 4; ++round) {
    b.gate = round != 3;
    b.host.percent = round & 1 ? 30 : 100;
    b.out_percent = round & 2 ? 60 : 100;
    b.read_percent = round == 1 ? 30 : 100;
    b.command_percent = round == 2 ? 20 : 100;
    this->push(300);
    ASSERT_TRUE(b.settle()) << b.left() << " left";
  }
  EXPECT_EQ(b.ended[0], 1200u);
  EXPECT_EQ(b.unexpected, 0u);
}

TYPED_TEST(Read, Faults) {
  auto& b = this->b;
  b.v.cfg_timeout_i = 2;
  b.host.percent = 100;
  b.host.late_after = 2500;
  b.faults = [&] {
    switch (b.d.below(24)) {
      case 0:
        return fault::refused;
      case 1:
        return fault::poisoned;
      case 2:
        return fault::too_long;
      case 3:
        return fault::late;
      case 4:
        return fault::silent;
      default:
        return fault::none;
    }
  };
  this->push(400, 64);
  ASSERT_TRUE(b.settle(2'000'000)) << b.left() << " left";
  for (net_status s : {net_status::ok, net_status::host_error, net_status::timeout})
    EXPECT_GT(b.ended[unsigned(s)], 5u);
  EXPECT_GT(b.unexpected, 5u);
}

// Completions of tags that are free: an event each, no data, and the tags are as good as before.
TYPED_TEST(Read, NobodyAsked) {
  auto& b = this->b;
  const unsigned tags = TypeParam::width == 64 ? 8 : 128, base = TypeParam::width == 64 ? 192 : 256;
  this->push(50);
  ASSERT_TRUE(b.settle());
  for (unsigned i = 0; i < tags; ++i) {
    tlp c;
    c.kind = i % 3 ? tlp_kind::cpld : tlp_kind::cpl;
    c.tag = uint16_t(base + i);
    c.len_dw = uint16_t(i % 3 ? 1 + b.d.below(64) : 0);
    c.byte_count = uint16_t(4 * c.len_dw);
    c.data.assign(c.len_dw, 0xbad);
    b.host.cpl.push(c);
  }
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.unexpected, tags);
  this->push(2 * tags);
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.ended[0], 50 + 2 * tags);
  EXPECT_EQ(b.unexpected, tags);
}

// The host answers a read that it has not taken: that is no one's answer, and the read is as good as before.
TYPED_TEST(Read, AnswerBeforeTheHostTookTheRead) {
  auto& b = this->b;
  for (unsigned i = 1; i <= 20; ++i) {
    b.read_percent = 0;
    this->push(1, 16);
    while (!b.v.rd_valid_o) b.step();
    nic::packet_header h{};
    for (size_t k = 0; k < 5; ++k) h[k] = b.v.rd_hdr_o[k];
    const tlp asked = from_bits<tlp>(h);
    tlp c;
    c.kind = tlp_kind::cpld;
    c.tag = asked.tag;
    c.len_dw = asked.len_dw;
    c.byte_count = uint16_t(4 * c.len_dw);
    c.data.assign(c.len_dw, 0xbad);
    b.host.cpl.push(c);
    for (unsigned k = 0; k < 50; ++k) b.step();
    EXPECT_EQ(b.unexpected, i);
    b.read_percent = 100;
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.ended[0], i);
  }
}

// Every tag wait that times out: each command ends once, and the tags come back after another time-out.
TYPED_TEST(Read, SilentHost) {
  auto& b = this->b;
  b.v.cfg_timeout_i = 2;
  b.host.percent = 100;
  bool silent = true;
  b.faults = [&] { return silent ? fault::silent : fault::none; };
  const unsigned tags = TypeParam::width == 64 ? 8 : 128;
  this->push(tags + 1, 64);
  while (b.ended[unsigned(net_status::timeout)] < tags) {
    b.step();
    ASSERT_LT(b.now, 20'000u);
  }
  EXPECT_GE(b.now, 1024u);
  EXPECT_LE(b.now, 3 * 1024 + 4 * tags);
  EXPECT_FALSE(b.v.cmd_ready_o) << "the tags rest";
  silent = false;
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.ended[0], 1u);
}

// The host accepts no reads. A lost read is given up in its time, and so are the offered read and those after it. When
// the host accepts reads again, everything works as before; its answer to the offered read is dropped.
TYPED_TEST(Read, HostTakesNone) {
  auto& b = this->b;
  b.v.cfg_timeout_i = 20;
  b.host.percent = 100;
  for (unsigned round = 0; round < 6; ++round) {
    b.gate = round % 2;
    bool silent = true;
    b.faults = [&] { return silent ? fault::silent : fault::none; };
    const uint64_t before = b.ended[unsigned(net_status::timeout)], stray = b.unexpected;
    const auto given_up = [&] { return b.ended[unsigned(net_status::timeout)] - before; };
    b.read_percent = 100;
    this->push(round % 3, 64);  // these are lost
    const uint64_t lost = b.now;
    while (b.left()) {
      b.step();
      if (b.todo.empty() && !b.v.cmd_valid_i && !b.v.rd_valid_o) break;
    }
    b.read_percent = 0;
    this->push(20, 64);  // more than there are tags, at 64 bit
    while (given_up() < round % 3) {
      b.step();
      ASSERT_LT(b.now, lost + 23 * 1024) << "a lost read waits for one that was not sent";
    }
    while (b.left()) {
      b.step();
      ASSERT_LT(b.now, lost + 24 * 1024) << "a read that is not sent has no time-out";
    }
    EXPECT_EQ(given_up(), round % 3 + 20);
    silent = false;
    b.read_percent = 50;
    while (b.v.rd_valid_o) b.step();
    this->push(300, 64);
    ASSERT_TRUE(b.settle()) << b.left() << " left";
    EXPECT_EQ(given_up(), round % 3 + 20);
    EXPECT_GT(b.unexpected, stray) << "the answer to the one on offer";
  }
  EXPECT_EQ(b.ended[0], 1800u);
}

// Reads that are lost, and a host that takes reads now and then: nothing outlives twice its time-out.
TYPED_TEST(Read, HostTakesSome) {
  auto& b = this->b;
  b.v.cfg_timeout_i = 3;
  b.host.percent = 50;
  b.host.late_after = 3500;
  b.faults = [&] { return b.d.chance(20) ? b.d.chance(50) ? fault::silent : fault::late : fault::none; };
  uint64_t ends = 0, last = 0;
  this->push(400, 64);
  while (b.left()) {
    if (b.now % 512 == 0) b.read_percent = b.d.chance(70) ? 0 : unsigned(b.d.below(101));
    b.step();
    const uint64_t all = std::accumulate(b.ended.begin(), b.ended.end(), uint64_t{0});
    if (all != ends) ends = all, last = b.now;
    ASSERT_LT(b.now, last + 10 * 1024) << b.left() << " left";
  }
  b.read_percent = 100;
  ASSERT_TRUE(b.settle());
  EXPECT_GT(b.ended[0], 20u);
  EXPECT_GT(b.ended[unsigned(net_status::timeout)], 20u);
}

// A beat a cycle.
TYPED_TEST(Read, Rate) {
  auto& b = this->b;
  b.host.percent = 100;
  b.host.split_percent = 0;
  constexpr unsigned beats = 2048 / TypeParam::width;
  for (unsigned i = 0; i < 400; ++i) b.todo.push_back({256 * i, 64, false});
  while (b.left() > 300) b.step();
  const uint64_t from = b.now;
  while (b.left() > 100) b.step();
  EXPECT_LE(b.now - from, 200 * beats + 20);
  ASSERT_TRUE(b.settle());
}

}  // namespace
}  // namespace ggas::test::rma
