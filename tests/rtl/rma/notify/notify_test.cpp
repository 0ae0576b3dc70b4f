// SPDX-License-Identifier: Apache-2.0
// Notification rings: a software reader per context follows the phase bits and must see every record, in order, exactly
// once.
#include <array>
#include <map>

#include "Vnotify_512.h"
#include "Vnotify_64.h"
#include "sim/nic/rma_format.hpp"
#include "tests/rtl/rma/unit/host.hpp"

namespace ggas::test::rma {
namespace {

using nic::note;
using nic::note_kind;

struct request {
  uint8_t vpid = 0;
  bool check = false, drop = false;
  uint16_t pd = 0;
  uint64_t w0 = 0;
  note w1;
};
struct ring {
  bool enabled = false, backpressure = false, irq = false;
  unsigned vector = 0, log2 = 4;
  uint16_t pd = 0;
  uint64_t base = 0;
};

template <class V, unsigned W>
class bench {
 public:
  V v;
  dice d{seed()};
  drain<tlp, W> wr{"wr"};
  memory mem;
  std::array<std::deque<request>, 3> todo;
  std::array<std::deque<std::pair<request, uint8_t>>, 3> answers;  // with the status
  std::vector<uint8_t> lost_events;
  std::array<uint64_t, 16> raised{};
  uint64_t now = 0, records = 0, met_full = 0;
  bool gate = true;
  std::deque<std::array<uint64_t, 2>> doorbells;

  bench() {
    v.rst_ni = 0;
    edge();
    v.rst_ni = 1;
  }
  ~bench() { end_model(v); }

  void config(unsigned vpid, unsigned word, uint64_t data) {
    v.cfg_we_i = 1, v.cfg_vpid_i = uint8_t(vpid), v.cfg_word_i = uint8_t(word), v.cfg_data_i = data;
    step();
    v.cfg_we_i = 0;
  }
  void start(unsigned vpid, const ring& r) {
    config(vpid, 1, r.base);
    config(vpid, 0,
           uint64_t{r.enabled} | uint64_t{r.backpressure} << 2 | uint64_t{r.irq} << 3 | uint64_t{r.vector} << 4 |
               uint64_t{r.log2} << 8 | uint64_t{r.pd} << 32);
  }

  void step() {
    drive();
    v.eval();
    if (!gate || v.busy_o || v.nt_valid_i || v.cfg_we_i || v.db_valid_i) {
      sample();
      edge();
    }
    ++now;
  }
  bool settle(unsigned limit = 10000) {
    for (unsigned i = 0; i < limit; ++i) {
      step();
      v.eval();
      if (!v.busy_o && !offered_ && todo[0].empty() && todo[1].empty() && todo[2].empty() && doorbells.empty())
        return true;
    }
    return false;
  }
  uint8_t one(unsigned client, const request& r) {
    todo[client].push_back(r);
    EXPECT_TRUE(settle());
    const uint8_t s = answers[client].back().second;
    return s;
  }

 private:
  void edge() {
    v.clk_i = 1;
    v.eval();
    v.clk_i = 0;
    v.eval();
  }
  void drive() {
    v.wr_ready_i = wr.ready(d);
    v.db_valid_i = !doorbells.empty();
    if (v.db_valid_i) {
      v.db_kind_i = 1;
      v.db_vpid_i = uint8_t(doorbells.front()[0]);
      v.db_count_i = uint32_t(doorbells.front()[1]);
      doorbells.pop_front();
    }
    for (unsigned c = 0; c < 3; ++c) {
      if (!todo[c].empty() && !pending_[c] && d.chance(50)) offered_ |= 1u << c;
      if (!(offered_ >> c & 1)) continue;
      const request& r = todo[c].front();
      v.nt_vpid_i = (v.nt_vpid_i & ~(0xffu << 8 * c)) | uint32_t{r.vpid} << 8 * c;
      v.nt_check_pd_i = uint8_t((v.nt_check_pd_i & ~(1u << c)) | unsigned(r.check) << c);
      v.nt_drop_i = uint8_t((v.nt_drop_i & ~(1u << c)) | unsigned(r.drop) << c);
      v.nt_pd_i = (v.nt_pd_i & ~(0xffffull << 16 * c)) | uint64_t{r.pd} << 16 * c;
      const uint64_t w1 = r.w1.word();
      for (unsigned k = 0; k < 2; ++k) {
        v.nt_w0_i[2 * c + k] = uint32_t(r.w0 >> 32 * k);
        v.nt_w1_i[2 * c + k] = uint32_t(w1 >> 32 * k);
      }
    }
    v.nt_valid_i = uint8_t(offered_);
  }
  void sample() {
    if (wr.sample(now, v.wr_valid_o, v.wr_ready_i, v.wr_sop_o, v.wr_eop_o, v.wr_hdr_o, v.wr_data_o)) {
      const tlp& t = wr.all.back();
      EXPECT_EQ(t.len_dw, 4u);
      EXPECT_EQ(t.addr % 16, 0u);
      mem.write(t);
    }
    for (unsigned c = 0; c < 3; ++c) {
      if (v.nt_rsp_valid_o >> c & 1) {
        ASSERT_TRUE(pending_[c]) << "an answer without a request";
        answers[c].push_back({*pending_[c], v.nt_rsp_status_o});
        pending_[c].reset();
      }
      if ((v.nt_valid_i & v.nt_ready_o) >> c & 1) {
        pending_[c] = todo[c].front();
        todo[c].pop_front();
        offered_ &= ~(1u << c);
      }
    }
    if (v.ev_lost_o) lost_events.push_back(uint8_t(v.ev_info_o));
    for (unsigned i = 0; i < 16; ++i) raised[i] += v.raise_o >> i & 1;
    records += v.cnt_notifications_o;
    met_full += v.cnt_full_o;
  }
  std::array<std::optional<request>, 3> pending_;
  unsigned offered_ = 0;
};

// What software does with its ring: poll a word, clear nothing.
class reader {
 public:
  reader(const memory& m, const ring& r) : mem_(m), ring_(r) {}
  std::optional<std::pair<uint64_t, note>> next() {
    const uint64_t at = ring_.base + 16 * (count_ % (1u << ring_.log2));
    const note n = note::of(mem_.qword(at + 8));
    if (n.phase == (count_ >> ring_.log2 & 1)) return {};
    ++count_;
    return std::pair{mem_.qword(at), n};
  }
  uint32_t count() const { return count_; }

 private:
  const memory& mem_;
  ring ring_;
  uint32_t count_ = 0;
};

template <class T>
class Notify : public testing::Test {
 public:
  std::unique_ptr<T> own = std::make_unique<T>();
  T& b = *own;
  void SetUp() override { std::printf("seed %llu\n", static_cast<unsigned long long>(seed())); }
  request make(uint8_t vpid, uint64_t w0) {
    request r{.vpid = vpid, .w0 = w0, .w1 = {}};
    r.w1.kind = note_kind(b.d.below(4));
    r.w1.status = uint8_t(b.d.below(16));
    r.w1.op = uint8_t(b.d.bits());
    r.w1.vpid = uint8_t(b.d.bits());
    r.w1.node = uint16_t(b.d.bits());
    r.w1.size = uint32_t(b.d.bits() & 0xffffff);
    r.w1.phase = b.d.chance(50);  // to be ignored
    return r;
  }
  ring plain(uint64_t base) { return {.enabled = true, .pd = 7, .base = base}; }
};
using widths = testing::Types<bench<Vnotify_64, 64>, bench<Vnotify_512, 512>>;
TYPED_TEST_SUITE(Notify, widths);

constexpr uint8_t ok = 0, full = uint8_t(net_status::full), lost = uint8_t(net_status::lost),
                  disabled = uint8_t(net_status::disabled);

TYPED_TEST(Notify, OnlyAnEnabledContextWithARingOfTheDomainIsWritten) {
  auto& b = this->b;
  EXPECT_EQ(b.one(0, this->make(3, 1)), disabled);
  ring r = this->plain(0x7000);
  b.start(3, r);
  request q = this->make(3, 2);
  q.check = true, q.pd = 8;
  EXPECT_EQ(b.one(1, q), disabled);
  q.pd = 7;
  EXPECT_EQ(b.one(1, q), ok);
  q.check = false, q.pd = 8;
  EXPECT_EQ(b.one(2, q), ok);
  r.base = 0;
  b.start(4, r);
  EXPECT_EQ(b.one(0, this->make(4, 1)), disabled);
  r.base = 0x9000;
  for (unsigned log2 : {0u, 3u, 17u, 31u}) {
    r.log2 = log2;
    b.start(4, r);
    EXPECT_EQ(b.one(0, this->make(4, 1)), disabled) << log2;
  }
  r.log2 = 16, r.enabled = false;
  b.start(4, r);
  EXPECT_EQ(b.one(0, this->make(4, 1)), disabled);
  EXPECT_EQ(b.wr.all.size(), 2u);
  EXPECT_EQ(b.records, 2u);
}

TYPED_TEST(Notify, FullRingHoldsBackOrDropsAndTells) {
  auto& b = this->b;
  for (bool backpressure : {true, false}) {
    ring r = this->plain(0x10000);
    r.backpressure = backpressure;
    b.start(9, r);
    b.lost_events.clear();
    b.mem = {};
    reader software(b.mem, r);
    for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(b.one(i % 3, this->make(9, i)), ok);
    EXPECT_EQ(b.one(0, this->make(9, 100)), backpressure ? full : lost);
    EXPECT_EQ(b.lost_events.size(), backpressure ? 0u : 1u);
    request dropped = this->make(9, 101);
    dropped.drop = true;
    EXPECT_EQ(b.one(2, dropped), lost);
    for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(software.next()->first, i);
    EXPECT_FALSE(software.next());
    // One record free is not enough for the one that tells and the one behind it.
    b.doorbells.push_back({9, 1});
    EXPECT_EQ(b.one(0, this->make(9, 102)), backpressure ? full : lost);
    b.doorbells.push_back({9, software.count()});
    b.settle();
    EXPECT_EQ(b.one(1, this->make(9, 103)), ok);
    const auto tell = software.next();
    ASSERT_TRUE(tell);
    EXPECT_EQ(tell->second.kind, note_kind::lost);
    EXPECT_EQ(tell->first, backpressure ? 1u : 3u);
    EXPECT_EQ(software.next()->first, 103u);
    EXPECT_FALSE(software.next());
    EXPECT_EQ(b.lost_events, std::vector<uint8_t>(backpressure ? 1 : 3, 9));
  }
  EXPECT_EQ(b.met_full, 6u);
}

TYPED_TEST(Notify, StartForgetsEverything) {
  auto& b = this->b;
  ring r = this->plain(0x20000);
  b.start(255, r);
  for (unsigned i = 0; i < 18; ++i) b.one(0, this->make(255, i));
  b.doorbells.push_back({255, 16});
  b.settle();
  b.mem = {};
  b.start(255, r);
  reader software(b.mem, r);
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(b.one(0, this->make(255, 50 + i)), ok);
  EXPECT_EQ(b.one(0, this->make(255, 1)), lost);
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(software.next()->first, 50 + i);
}

TYPED_TEST(Notify, EveryContextHasARingOfItsOwn) {
  auto& b = this->b;
  std::map<unsigned, ring> rings;
  for (unsigned i = 0; i < 256; ++i) {
    rings[i] = {.enabled = true,
                .backpressure = b.d.chance(50),
                .irq = b.d.chance(50),
                .vector = unsigned(b.d.below(16)),
                .log2 = unsigned(4 + b.d.below(13)),
                .pd = uint16_t(b.d.bits()),
                .base = b.d.bits() << 12};
    b.start(i, rings[i]);
  }
  for (unsigned turn = 0; turn < 2; ++turn) {
    for (unsigned i = 0; i < 256; ++i) {
      request q = this->make(uint8_t(i), b.d.bits());
      q.check = true, q.pd = rings[i].pd;
      EXPECT_EQ(b.one(i % 3, q), ok);
      EXPECT_EQ(b.wr.all.back().addr, rings[i].base + 16 * turn);
      EXPECT_EQ(qword(b.wr.all.back().data, 0), q.w0);
      b.doorbells.push_back({i, turn + 1});
    }
  }
  for (unsigned i = 0; i < 256; ++i) {
    // A reader that claims more than there is harms only itself.
    b.doorbells.push_back({i, b.d.bits()});
    rings[i].enabled = false;
    b.start(i, rings[i]);
    EXPECT_EQ(b.one(0, this->make(uint8_t(i), 0)), disabled);
  }
}

// A context that is started anew while a notification is being written begins at zero all the same.
TYPED_TEST(Notify, StartDuringANotification) {
  auto& b = this->b;
  const ring r = this->plain(0x30000);
  for (unsigned gap = 0; gap < 64; ++gap) {
    b.start(77, r);
    for (unsigned i = 0; i < 5; ++i) b.one(0, this->make(77, i));
    b.todo[0].push_back(this->make(77, 6));
    for (unsigned i = 0; i < gap % 8; ++i) b.step();
    b.start(77, r);
    ASSERT_TRUE(b.settle());
    b.one(0, this->make(77, 7));
    EXPECT_LE(b.wr.all.back().addr, r.base + 16) << "gap " << gap;
  }
}

// A reader per context with its own pace; one never reads. Nothing is lost, doubled or written elsewhere; the others go
// on.
TYPED_TEST(Notify, RandomTraffic) {
  auto& b = this->b;
  constexpr unsigned contexts = 12, stuck = 5;
  std::vector<ring> rings;
  std::vector<reader> readers;
  for (unsigned i = 0; i < contexts; ++i) {
    rings.push_back({.enabled = true,
                     .backpressure = i % 2 == 0,
                     .irq = i % 3 == 0,
                     .vector = i,
                     .log2 = 4 + i % 3,
                     .pd = uint16_t(100 + i),
                     .base = 0x100000 + 0x10000ull * i});
    b.start(17 * i, rings[i]);
    readers.emplace_back(b.mem, rings[i]);
  }
  std::map<std::pair<unsigned, unsigned>, std::vector<uint64_t>> accepted, came;  // by context and client
  std::array<uint64_t, contexts> written{}, dropped{}, told{}, seen{};
  uint64_t serial = 0;
  auto drain_answers = [&] {
    for (unsigned c = 0; c < 3; ++c) {
      for (auto& [q, status] : b.answers[c]) {
        const unsigned i = q.vpid / 17;
        const bool off = q.check && q.pd != rings[i].pd;
        EXPECT_EQ(status == disabled, off);
        if (status == ok) accepted[{i, c}].push_back(q.w0), ++written[i];
        if (status == lost) {
          ++dropped[i];
          EXPECT_TRUE(!rings[i].backpressure || q.drop);
        }
        EXPECT_TRUE(status != full || (rings[i].backpressure && !q.drop));
      }
      b.answers[c].clear();
    }
  };
  auto read = [&](unsigned i) {
    while (auto r = readers[i].next()) {
      if (r->second.kind == note_kind::lost) {
        told[i] += r->first;
        continue;
      }
      came[{i, unsigned(r->first >> 60)}].push_back(r->first);
      EXPECT_EQ(r->second.size, r->first & 0xffffff);
      ++seen[i];
    }
    b.doorbells.push_back({17 * i, readers[i].count()});
  };
  for (unsigned phase = 0; phase < 3; ++phase) {
    b.wr.percent = phase == 0 ? 100 : 40;
    b.gate = phase < 2;
    for (unsigned n = 0; n < 12000; ++n) {
      for (unsigned c = 0; c < 3; ++c) {
        if (b.todo[c].size() > 2) continue;
        request q = this->make(uint8_t(17 * b.d.below(contexts)), uint64_t{c} << 60 | ++serial);
        q.w1.kind = note_kind::completer;
        q.w1.size = uint32_t(serial & 0xffffff);
        q.check = c == 1;
        q.drop = c == 2;
        q.pd = uint16_t(100 + q.vpid / 17 + b.d.chance(3));
        b.todo[c].push_back(q);
      }
      b.step();
      drain_answers();
      const auto i = unsigned(b.d.below(contexts));
      if (i != stuck && b.d.chance(5)) read(i);
    }
  }
  ASSERT_TRUE(b.settle());
  drain_answers();
  for (unsigned i = 0; i < contexts; ++i) {
    if (i == stuck) continue;
    read(i);
    b.settle();
    for (unsigned c = 0; c < 3; ++c)
      EXPECT_EQ((came[{i, c}]), (accepted[{i, c}])) << "context " << i << " client " << c;
    EXPECT_GT(seen[i], 300u);
    b.one(0, this->make(uint8_t(17 * i), 0));
    b.answers[0].clear();
    while (auto r = readers[i].next())
      if (r->second.kind == note_kind::lost) told[i] += r->first;
    EXPECT_EQ(told[i], dropped[i]) << "context " << i;
    EXPECT_EQ(b.raised[i], rings[i].irq ? written[i] + 1 : 0);
  }
  EXPECT_EQ(written[stuck], 1u << rings[stuck].log2);
  for (auto& [addr, w] : b.mem.words()) {
    const uint64_t i = (addr - 0x100000) / 0x10000;
    EXPECT_LT((addr - 0x100000) % 0x10000, 16u << rings[i].log2);
  }
}

}  // namespace
}  // namespace ggas::test::rma
