// SPDX-License-Identifier: Apache-2.0
// Accesses of other nodes: numbers, domains, rights and ranges of exports, the flushes of a quiet, and exports that are
// taken back and given to others while packets for the former owners still arrive.
#include "tests/rtl/smfu/suite.hpp"

namespace ggas::test::smfu {
namespace {

using nic::net_status;

constexpr unsigned exports = 64;
enum : unsigned { may_load = 1, may_store = 2 };

// One life of an export: from when it is given out until it is stopped. Its memory is no other life's.
struct life {
  unsigned number = 0;
  uint64_t base = 0, size = 0;
  uint16_t domain = 0;
  unsigned rights = 0;
  uint64_t stopped = ~uint64_t{0};  // cycle
  bool allows(const packet& p, unsigned right) const {
    return p.export_no == number && p.domain == domain && rights & right && p.addr < size;
  }
};

template <class T>
class smfu_exports : public suite<T> {
 protected:
  using base = suite<T>;
  using base::b;
  std::unique_ptr<memory<typename base::bench_type>> host;
  std::vector<life> lives;
  std::array<int, exports> current;  // life of each number; -1: none
  std::map<uint32_t, packet> stores;
  std::map<uint16_t, packet> loads;
  size_t writes_seen = 0, answers_seen = 0;
  uint64_t written = 0, answered = 0;

  void SetUp() override {
    base::SetUp();
    b.take_back(home_export);
    current.fill(-1);
    host = std::make_unique<memory<typename base::bench_type>>(b);
  }
  packet store(uint8_t number, uint16_t domain, uint64_t addr, unsigned dw, uint32_t id = 1) {
    packet p = net_packet(nic::op::store, 2, addr, dw);
    p.export_no = number, p.domain = domain;
    p.data.assign(dw, id);
    return p;
  }
  packet load(uint8_t number, uint16_t domain, uint64_t addr, unsigned dw, uint16_t tag = 0x4242) {
    packet p = net_packet(nic::op::load, 2, addr, dw);
    p.export_no = number, p.domain = domain, p.tag = tag;
    return p;
  }
  void serve(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) host->step(), b.step();
  }
  bool come_to_rest() {
    for (unsigned i = 0; i < 50'000; ++i) {
      serve(1);
      b.v.eval();
      if (b.inputs_empty() && host->idle() && !b.v.busy_o && !b.v.timer_o) return true;
    }
    return false;
  }
  // A store and a load of one place: both reach it, or both are refused with their events.
  void expect(const packet& s, bool may_write, const packet& l, bool may_read) {
    b.clear_outputs();
    host = std::make_unique<memory<typename base::bench_type>>(b);
    b.push(b.rx_p, s);
    b.push(b.rx_np, l);
    serve(600);
    EXPECT_EQ(host->writes, may_write ? 1u : 0u);
    EXPECT_EQ(host->reads, may_read ? 1u : 0u);
    ASSERT_EQ(b.tx_rsp.all.size(), 1u);
    EXPECT_EQ(b.tx_rsp.all[0].t.status, uint8_t(may_read ? net_status::ok : net_status::range));
    EXPECT_EQ(b.tx_rsp.all[0].t.data.empty(), !may_read);
    std::vector<logged_event> want;
    const uint64_t info = uint64_t{s.export_no} << 32 | uint32_t(s.addr);
    want.insert(want.end(), !may_write + !may_read, {GGAS_EV_TARGET_RANGE, 2, info});
    EXPECT_EQ(b.events, want);
  }

  // ---- lives at random
  void begin_life(unsigned number) {
    life l{.number = number, .base = (lives.size() + 1) << 20, .size = uint64_t{1 + b.random(4)} << 12};
    l.domain = uint16_t(b.random(4));
    l.rights = b.chance(60) ? may_load | may_store : b.random(4);
    b.give_out(number, l.base, l.size, l.domain, l.rights);
    current[number] = int(lives.size());
    lives.push_back(l);
  }
  void end_life(unsigned number) {
    life& l = lives[size_t(current[number])];
    switch (b.random(3)) {  // whatever is written takes it back
      case 0:
        b.take_back(number);
        break;
      case 1:
        b.write_register(uint16_t(0x3000 + 0x20 * number), 0);
        break;
      default:
        b.write_register(uint16_t(0x3008 + 0x20 * number), 0, b.chance(50) ? 0x0f : 0xf0);
    }
    bool reported = false;
    for (unsigned i = 0; i < 20'000 && !reported; ++i) {
      host->step();
      reported = b.stopped(number);
    }
    ASSERT_TRUE(reported) << "export " << number << " is never stopped";
    l.stopped = b.now;
    current[number] = -1;
  }
  void send(unsigned numbers) {
    const auto number = uint8_t(b.chance(3) ? b.random(256) : b.random(numbers));
    const bool fits = number < exports && current[number] >= 0 && b.chance(70);
    const auto domain = fits ? lives[size_t(current[number])].domain : uint16_t(b.random(4));
    const unsigned len = 1 + b.random(64);
    // Stores to the lower half of a page, loads from the upper one: what a load delivers reports whose memory it is.
    const uint64_t addr = (uint64_t{b.random(5)} << 12) + 256 * b.random(8) + 4 * b.random(64 - len + 1);
    if (b.chance(50)) {
      const auto id = uint32_t(stores.size() + 1);
      b.push(b.rx_p, stores[id] = store(number, domain, addr, len, id));
    } else {
      const auto tag = uint16_t(loads.size());
      b.push(b.rx_np, loads[tag] = load(number, domain, addr + 2048, len, tag));
    }
  }
  // What came out: only what an export allowed, and nothing of one that is stopped.
  void check() {
    for (; writes_seen < b.tgt_req.all.size(); ++writes_seen) {
      const auto& s = b.tgt_req.all[writes_seen];
      const life& l = lives.at((s.t.addr >> 20) - 1);
      ASSERT_LE(s.last, l.stopped) << (s.t.posted() ? "write" : "read") << " behind the stop of export " << l.number;
      if (!s.t.posted()) continue;
      const packet& p = stores.at(s.t.data[0]);
      ASSERT_EQ(s.t.addr, l.base + p.addr) << "MPS holds the largest packet";
      ASSERT_TRUE(l.allows(p, may_store)) << text(p);
      ++written;
    }
    for (; answers_seen < b.tx_rsp.all.size(); ++answers_seen) {
      const auto& s = b.tx_rsp.all[answers_seen];
      if (s.t.data.empty()) continue;
      const packet& p = loads.at(s.t.tag);
      const auto from = std::ranges::find_if(
          lives, [&](const life& l) { return l.number == p.export_no && host->word(l.base + p.addr) == s.t.data[0]; });
      ASSERT_NE(from, lives.end());
      ASSERT_TRUE(from->allows(p, may_load)) << text(p);
      ASSERT_LE(s.last, from->stopped) << "data behind the stop of export " << p.export_no;
      ++answered;
    }
  }
  void pace() {
    static constexpr unsigned levels[] = {100, 90, 50, 10};
    auto level = [&] { return levels[b.random(4)]; };
    b.rx_p.percent = level(), b.rx_np.percent = level(), b.tgt_cpl.percent = level();
    b.tgt_req.percent = level(), b.tx_rsp.percent = level(), b.event_percent = level();
    host->percent = b.chance(50) ? 100 : 5;
  }
};
TYPED_TEST_SUITE(smfu_exports, widths);

TYPED_TEST(smfu_exports, registers) {
  auto& b = this->b;
  constexpr uint16_t base = 0x3000 + 0x20 * 63, size = base + 8, access = base + 16, state = base + 24;
  for (uint16_t r : {base, size, access}) EXPECT_EQ(b.read_register(r), 0u);
  EXPECT_EQ(b.read_register(state), 1u) << "stopped";
  b.write_register(base, 0x123'4567'8fff);
  b.write_register(size + 4, uint64_t{0x11} << 32, 0xf0);
  b.write_register(size, 0x5'0000, 0x0f);
  b.write_register(access, 0xffff'ffff'fffd'abcd);
  EXPECT_EQ(b.read_register(base), 0x123'4567'8000u);
  EXPECT_EQ(b.read_register(size), 0x11'0005'0000u);
  EXPECT_EQ(b.read_register(access), 0x5abcdu) << "stores, in use, domain";
  EXPECT_EQ(b.read_register(state), 0u);
  b.write_register(access, 0, 0xf0);
  b.write_register(state, 1);
  EXPECT_EQ(b.read_register(access), 0x5abcdu) << "nothing in the high half, nor in STATE";
  b.write_register(base, 0x4567'8000, 0x0f);
  EXPECT_EQ(b.read_register(access), 0x4abcdu) << "a new base takes it back";
  EXPECT_EQ(b.read_register(state), 1u);
}

TYPED_TEST(smfu_exports, number_domain_right_and_range) {
  auto& b = this->b;
  b.give_out(0, 0x1'0000'0000, 0x2000, 7);
  b.give_out(63, 0x2'0000'0000, 0x1000, 8, may_load);
  b.give_out(1, 0x3'0000'0000, 0x1000, 7, may_store);
  const struct {
    uint8_t number;
    uint16_t domain;
    uint64_t addr;
    bool may_write, may_read;
  } cases[] = {{0, 7, 0x1ffc, true, true},  {0, 7, 0x2000, false, false},
               {0, 8, 0, false, false},     {0, 7, 0xffff'ffff'ffff'f000, false, false},
               {63, 8, 0xffc, false, true}, {63, 7, 0, false, false},
               {1, 7, 0, true, false},      {2, 7, 0, false, false},
               {64, 7, 0, false, false},    {127, 8, 0, false, false},
               {255, 8, 0, false, false}};
  for (const auto& c : cases)
    this->expect(this->store(c.number, c.domain, c.addr, 1), c.may_write, this->load(c.number, c.domain, c.addr, 1),
                 c.may_read);
  b.take_back(0);
  this->expect(this->store(0, 7, 0, 1), false, this->load(0, 7, 0, 1), false);
  b.give_out(0, 0x1'0000'0000, 0x2000, 9);
  this->expect(this->store(0, 7, 0, 1), false, this->load(0, 7, 0, 1), false);
  this->expect(this->store(0, 9, 0, 1), true, this->load(0, 9, 0, 1), true);
  b.cfg.ingress = 0;
  this->expect(this->store(0, 9, 0, 1), false, this->load(0, 9, 0, 1), false);
}

// Exports may lie in different devices: a quiet reads from each that was written, after the writes, once.
TYPED_TEST(smfu_exports, quiet_flushes_what_was_written) {
  auto& b = this->b;
  for (unsigned i = 0; i < 4; ++i) b.give_out(10 + i, uint64_t{1 + i} << 32, 0x1000, 7);
  for (unsigned i : {3u, 1u, 3u, 2u}) b.push(b.rx_p, this->store(uint8_t(10 + i), 7, 0x80, 2));
  EXPECT_TRUE(b.settle());
  const auto flushes = [&] {
    std::vector<uint64_t> at;
    for (const auto& s : b.tgt_req.all)
      if (s.t.kind == tlp_kind::mrd) {
        EXPECT_EQ(s.t.len_dw, 1u);
        EXPECT_EQ(s.t.first_be | s.t.last_be, 0u);
        at.push_back(s.t.addr);
      }
    return at;
  };
  b.take_back(12);  // its memory may be gone
  b.push(b.rx_np, net_packet(nic::op::quiet, 2, 0, 0));
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(flushes(), (std::vector<uint64_t>{2ull << 32, 4ull << 32}));
  EXPECT_TRUE(b.tx_rsp.all.empty());
  this->serve(200);
  ASSERT_EQ(b.tx_rsp.all.size(), 1u);
  EXPECT_EQ(b.tx_rsp.all[0].t.status, 0u);
  b.clear_outputs();
  b.push(b.rx_np, net_packet(nic::op::quiet, 1, 0, 0));
  EXPECT_TRUE(b.settle());
  EXPECT_TRUE(flushes().empty()) << "nothing was written since";
  EXPECT_EQ(b.tx_rsp.all.size(), 1u);
}

// A flush that fails is reported to the quiets that wait, and made again for those that come.
TYPED_TEST(smfu_exports, a_failed_flush_is_made_again) {
  auto& b = this->b;
  b.give_out(10, 1ull << 32, 0x1000, 7);
  b.push(b.rx_p, this->store(10, 7, 0x80, 2));
  EXPECT_TRUE(b.settle());
  for (uint16_t src : {1, 2, 2}) b.push(b.rx_np, net_packet(nic::op::quiet, src, 0, 0));
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.tgt_req.all.size(), 2u) << "one flush for all";
  tlp c;
  c.kind = tlp_kind::cpl;
  c.status = pcie::cpl_status::ca;
  c.tag = b.tgt_req.all[1].t.tag;
  b.push(b.tgt_cpl, c);
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.tx_rsp.all.size(), 3u);
  for (const auto& s : b.tx_rsp.all) EXPECT_EQ(s.t.status, uint8_t(net_status::host_error));
  b.clear_outputs();
  this->host = std::make_unique<memory<typename TestFixture::bench_type>>(b);
  b.push(b.rx_np, net_packet(nic::op::quiet, 2, 0, 0));
  this->serve(200);
  EXPECT_EQ(this->host->reads, 1u);
  ASSERT_EQ(b.tx_rsp.all.size(), 1u);
  EXPECT_EQ(b.tx_rsp.all[0].t.status, 0u);
}

// Packets of four domains to exports that change owners all the time, with few numbers, so that old packets reach
// exports with new owners. While nothing changes, exactly the permitted packets succeed.
TYPED_TEST(smfu_exports, lives_at_random) {
  auto& b = this->b;
  for (unsigned round = 0; round < 300 && !this->HasFailure(); ++round) {
    const unsigned numbers = b.chance(50) ? 4 : 16;
    this->pace();
    b.gate = b.chance(50);
    for (unsigned k = 0; k < 20; ++k) {
      this->send(numbers);
      if (b.chance(10)) b.push(b.rx_np, net_packet(nic::op::quiet, uint16_t(1 + b.random(2)), 0, 0));
      this->serve(b.random(8));
      if (!b.chance(30)) continue;
      const unsigned n = b.random(numbers);
      if (this->current[n] < 0)
        this->begin_life(n);
      else
        this->end_life(n);
    }
    ASSERT_TRUE(this->come_to_rest());
    this->check();
    const size_t first_store = this->stores.size(), first_load = this->loads.size();
    const uint64_t written = this->written, answered = this->answered;
    for (unsigned k = 0; k < 10; ++k) this->send(numbers);
    ASSERT_TRUE(this->come_to_rest());
    this->check();
    const auto allowed = [&](const packet& p, unsigned right) {
      return p.export_no < exports && this->current[p.export_no] >= 0 &&
             this->lives[size_t(this->current[p.export_no])].allows(p, right);
    };
    uint64_t want_written = 0, want_answered = 0;
    for (size_t i = first_store; i < this->stores.size(); ++i)
      want_written += allowed(this->stores[uint32_t(i + 1)], may_store);
    for (size_t i = first_load; i < this->loads.size(); ++i)
      want_answered += allowed(this->loads[uint16_t(i)], may_load);
    EXPECT_EQ(this->written - written, want_written) << "round " << round;
    EXPECT_EQ(this->answered - answered, want_answered) << "round " << round;
  }
  std::printf("%zu lives, %zu stores, %llu written; %zu loads, %llu answered\n", this->lives.size(),
              this->stores.size(), (unsigned long long)this->written, this->loads.size(),
              (unsigned long long)this->answered);
  EXPECT_GT(this->written, 100u);
  EXPECT_GT(this->answered, 100u);
}

}  // namespace
}  // namespace ggas::test::smfu
