// SPDX-License-Identifier: Apache-2.0
// rma_front between a host that writes pages and work queues, and a requester that accepts descriptors. The contents of
// each context's slots are kept as a stream; every beat of a descriptor, every status block and every doorbell is
// checked when it leaves.
#pragma once

#include <array>
#include <map>

#include "Vfront_256.h"
#include "Vfront_512.h"
#include "Vfront_64.h"
#include "sim/nic/rma_format.hpp"
#include "tests/rtl/context_pins.hpp"
#include "tests/rtl/rma/unit/host.hpp"

namespace ggas::test::rma {

using slot = std::array<uint32_t, 8>;
constexpr unsigned page_slots = 16;
constexpr uint32_t bad_op = 0xf;  // what stands in slots that could not be read

// Slots of the descriptor that starts with this one.
inline unsigned slots_of(const slot& s) {
  nic::descriptor d;
  d.set_w0(s[0] | uint64_t{s[1]} << 32);
  return d.slots();
}

// The first of its three slots: a put of words in the descriptor.
inline slot immediate(uint32_t n) { return {2, 8u << 8, n, n + 1, n + 2, n + 3, n + 4, n + 5}; }

struct setup {
  bool on = false, queue = false;
  unsigned log2 = 4;
  uint16_t pd = 0;
  uint64_t ring = 0, status = 0;
  uint64_t ctrl() const { return uint64_t{on} | uint64_t{queue} << 1 | uint64_t{log2} << 16 | uint64_t{pd} << 32; }
};

struct context : setup {
  std::deque<slot> stream;  // issued and not yet with the requester
  std::deque<slot> ahead;   // in the ring, not read
  uint32_t issued = 0, fetched = 0, consumed = 0, local = 0, remote = 0, errors = 0;
  uint8_t last = 0;      // status of the last error
  unsigned out = 0;      // slots with the requester
  bool closing = false;  // disabled, and not idle yet

  uint32_t block(unsigned i) const {
    return i == 0 ? consumed : i == 1 ? local : i == 2 ? remote : (errors & 0xffffff) | uint32_t{last} << 24;
  }
  bool whole() const { return !stream.empty() && slots_of(stream.front()) <= stream.size(); }
};

struct doorbell_event {
  unsigned kind = 0, vpid = 0;
  uint32_t count = 0;
  bool operator==(const doorbell_event&) const = default;
};

template <class V, unsigned W>
class bench {
 public:
  V v;
  dice d{seed()};
  feed<tlp, W> page;
  drain<tlp, W> wr{"wr"};
  read_side<W> reads;
  memory mem;
  std::array<context, 256> ctx;
  std::deque<uint32_t> refused;  // BAR4 offsets of the writes that must be reported, in order
  std::array<std::deque<doorbell_event>, 5> doorbell_events;  // doorbells that must come, by kind; 3 and 4: arms
  std::vector<uint64_t> bad_doorbells, failed_reads;
  std::vector<std::pair<uint64_t, unsigned>> taken;  // cycle and context of a descriptor's last beat
  uint64_t now = 0, status_writes = 0, descriptors = 0, unexpected = 0, first_seen = 0;
  unsigned desc_percent = 100, rd_percent = 100, hold = 0, mrrs = 512, timeout = 100;
  bool gate = true, requester = true, count_errors = false;
  bool mute = false;     // reads are never answered
  bool lenient = false;  // software breaks rules: whatever descriptors come are given back

  bench() {
    v.rst_ni = 0;
    v.eval();  // before the first edge: Verilator sees none in its first evaluation
    edge();
    v.rst_ni = 1;
    reads.status = [this](const tlp& t) { return status_of(t); };
    reads.silent = [this](const tlp& t) { return mute && (status_of(t), true); };
  }
  ~bench() { end_model(v); }

  // ---------------------------------------------------------------- contexts
  void config(unsigned vpid, unsigned word, uint64_t data) {
    pins::write_context(v.context_i, vpid, word, data);
    step();
    pins::end_write(v.context_i);
  }
  void start(unsigned vpid, const setup& s) {
    static_cast<setup&>(ctx[vpid] = {}) = s;
    ctx[vpid].on = true;
    for (unsigned i = 0; i < 4; ++i) mem.set(s.status + 4 * i, 0);
    config(vpid, 2, s.ring);
    config(vpid, 3, s.status);
    config(vpid, 0, ctx[vpid].ctrl());
  }
  void stop(unsigned vpid) {
    ctx[vpid].on = false;
    ctx[vpid].closing = true;
    config(vpid, 0, ctx[vpid].ctrl());
    std::erase_if(counts_, [&](const counts& c) { return c.vpid == vpid; });
  }
  // Waits until nothing of the context is under way.
  bool drained(unsigned vpid, unsigned limit = 20000) {
    for (unsigned i = 0; i < limit; ++i) {
      v.look_vpid_i = uint8_t(vpid);
      v.eval();
      if (!v.look_busy_o) {
        ctx[vpid].closing = false;
        return true;
      }
      step();
    }
    return false;
  }

  // ---------------------------------------------------------------- what the host writes
  void write(uint64_t offset, std::vector<uint32_t> dws, bool bad = false) {
    tlp t;
    t.kind = tlp_kind::mwr;
    t.bar = 4;
    t.addr = offset;
    t.len_dw = uint16_t(dws.size());
    t.last_be = dws.size() == 1 ? 0 : 0xf;
    t.data.assign(dws.begin(), dws.end());
    page.push(t);
    if (bad) refused.push_back(uint32_t(offset));
  }
  // A slot of a page, whole.
  void write_slot(unsigned vpid, unsigned at, const slot& s) {
    write(vpid * 8192 + 0x1000 + at % page_slots * 32, {s.begin(), s.end()});
  }
  void post(unsigned vpid, const slot& s) {
    context& c = ctx[vpid];
    c.stream.push_back(s);
    write_slot(vpid, c.issued++, s);
  }
  void doorbell(unsigned kind, unsigned vpid, uint32_t count, bool high) {
    std::vector<uint32_t> dws{count};
    if (high) dws.push_back(uint32_t(d.bits()));
    write(vpid * 8192 + 0x10 + 8 * kind, dws);
    doorbell_events[kind].push_back({kind, vpid, count});
  }
  // Slots into the ring; the doorbell comes later.
  void produce(unsigned vpid, const slot& s) {
    context& c = ctx[vpid];
    const uint64_t at = c.ring + c.issued++ % (1u << c.log2) * 32;
    for (unsigned i = 0; i < 8; ++i) mem.set(at + 4 * i, s[i]);
    c.ahead.push_back(s);
  }
  // Slots that software may use, as far as it can see.
  unsigned room(unsigned vpid) const {
    const context& c = ctx[vpid];
    const unsigned size = c.queue ? 1u << c.log2 : page_slots;
    return size - (c.issued - (c.status ? mem.word(c.status) : c.consumed));
  }

  // ---------------------------------------------------------------- time
  void step() {
    drive();
    v.eval();
    const bool input = pins::get(v.page_i, pins::valid) || pins::get(v.cpl_i, pins::valid) ||
                       pins::is_written(v.context_i) || v.st_valid_i || v.desc_done_i;
    if (!gate || v.busy_o || input || (v.timer_o && now % 1024 == 0)) {
      sample();
      edge();
    }
    ++now;
  }
  bool settle(unsigned limit = 50000) {
    for (unsigned i = 0; i < limit; ++i) {
      step();
      v.eval();
      if (!v.busy_o && page.empty() && reads.idle() && with_requester_.empty() && counts_.empty() && !v.timer_o)
        return true;
    }
    return false;
  }
  void check_blocks() {
    for (unsigned n = 0; n < 256; ++n)
      for (unsigned i = 0; ctx[n].on && ctx[n].status && i < 4; ++i)
        ASSERT_EQ(mem.word(ctx[n].status + 4 * i), ctx[n].block(i)) << "status of context " << n << ", word " << i;
  }
  void check_nothing_left() {
    for (unsigned n = 0; n < 256; ++n)
      ASSERT_FALSE(ctx[n].on && ctx[n].whole()) << "a descriptor of context " << n << " never came";
    for (unsigned k = 0; k < 5; ++k) ASSERT_TRUE(doorbell_events[k].empty()) << "doorbell of kind " << k;
    ASSERT_TRUE(refused.empty()) << "not reported: " << std::hex << refused.front();
  }

 private:
  struct counts {
    unsigned vpid = 0, local = 0, remote = 0;
    bool error = false;
    uint8_t status = 0;
  };
  struct job {
    unsigned vpid = 0, slots = 0;
    uint64_t due = 0;
  };

  void edge() {
    v.clk_i = 1;
    v.eval();
    v.clk_i = 0;
    v.eval();
  }

  void drive() {
    v.time_i = now;
    v.cfg_mrrs_i = uint16_t(mrrs);
    v.cfg_requester_i = requester;
    v.cfg_timeout_i = uint16_t(timeout);
    page.drive(d, v.page_i, v.page_data_i);
    reads.step(d);
    reads.cpl.drive(d, v.cpl_i, v.cpl_data_i);
    v.wr_ready_i = wr.ready(d);
    v.rd_ready_i = d.chance(rd_percent);
    v.desc_ready_i = d.chance(desc_percent);
    v.db_arm_ready_i = d.chance(50);
    v.desc_done_i = 0;
    // On the average it cannot finish more than one in two cycles.
    for (size_t i = 0; now >= next_done_ && i < with_requester_.size() && !v.desc_done_i; ++i) {
      if (with_requester_[i].due > now) continue;
      next_done_ = std::max(next_done_ + 2, now - 8);
      finish(with_requester_[i]);
      with_requester_.erase(with_requester_.begin() + ptrdiff_t(i));
    }
    v.st_valid_i = !counts_.empty();
    if (!v.st_valid_i) return;
    const counts& c = counts_.front();
    v.st_i = c.vpid << 14 | c.local << 13 | c.remote << 5 | unsigned(c.error) << 4 | c.status;  // rma_counts_t
  }

  // The requester gives a descriptor back.
  void finish(const job& j) {
    context& c = ctx[j.vpid];
    v.desc_done_i = 1;
    v.desc_done_vpid_i = uint8_t(j.vpid);
    c.out = 0;
    if (!c.on) return;
    c.consumed += j.slots;
    counts n{j.vpid, 1, unsigned(d.below(3)), count_errors && d.chance(10), uint8_t(1 + d.below(15))};
    c.local += n.local;
    c.remote += n.remote;
    c.errors += n.error;
    if (n.error) c.last = n.status;
    counts_.push_back(n);
  }

  void sample() {
    page.sample(v.page_ready_o);
    reads.cpl.sample(v.cpl_ready_o);
    if (v.st_valid_i && v.st_ready_o) counts_.pop_front();
    if (wr.sample(now, v.wr_o, v.wr_ready_i, v.wr_data_o)) block_written(wr.all.back());
    if (v.rd_valid_o && v.rd_ready_i) request(nic::pins::unpack(v.rd_hdr_o));
    sample_descriptor();
    if (v.db_valid_o) {
      const doorbell_event b{v.db_kind_o + (v.db_arm_o ? 2u : 0u), v.db_vpid_o, v.db_count_o};
      ASSERT_FALSE(doorbell_events[b.kind].empty()) << "a doorbell of kind " << b.kind;
      EXPECT_EQ(b, doorbell_events[b.kind].front());
      doorbell_events[b.kind].pop_front();
    }
    if (v.ev_page_access_o) {
      ASSERT_FALSE(refused.empty()) << "a good write is reported: " << std::hex << v.ev_page_info_o;
      EXPECT_EQ(v.ev_page_info_o, refused.front());
      refused.pop_front();
    }
    if (v.ev_bad_descriptor_o) bad_doorbells.push_back(v.ev_doorbell_info_o);
    if (v.ev_host_error_o) failed_reads.push_back(v.ev_queue_info_o);
    unexpected += v.ev_unexpected_o;
    status_writes += v.cnt_status_writes_o;
  }

  void sample_descriptor() {
    EXPECT_TRUE(!held_ || held_vpid_ == v.desc_vpid_o) << "the offer changed";
    EXPECT_TRUE(!held_ || v.desc_valid_o) << "the offer was withdrawn";
    held_ = v.desc_valid_o && !v.desc_ready_i;
    held_vpid_ = v.desc_vpid_o;
    if (!v.desc_valid_o) return;
    if (v.desc_sop_o && !beat_ && !first_seen) first_seen = now;
    if (!v.desc_ready_i) return;
    context& c = ctx[v.desc_vpid_o];
    if (lenient) {
      if (v.desc_eop_o) with_requester_.push_back({v.desc_vpid_o, 0, now + 2 + (hold ? d.below(hold) : 0)});
      return;
    }
    ASSERT_TRUE(c.on || c.closing) << "a descriptor of context " << int(v.desc_vpid_o) << ", which is off";
    ASSERT_EQ(c.out, 0u) << "two descriptors of context " << int(v.desc_vpid_o);
    ASSERT_FALSE(c.stream.empty());
    if (beat_ == 0) beats_ = slots_of(c.stream.front());
    EXPECT_EQ(v.desc_sop_o, beat_ == 0);
    EXPECT_EQ(v.desc_eop_o, beat_ + 1 == beats_);
    EXPECT_EQ(v.desc_pd_o, c.pd);
    slot got;
    for (unsigned i = 0; i < 8; ++i) got[i] = v.desc_data_o[i];
    EXPECT_EQ(got, c.stream.front()) << "context " << int(v.desc_vpid_o) << ", beat " << beat_ << ", cycle " << now;
    c.stream.pop_front();
    if (++beat_ < beats_) return;
    c.out = beats_;
    beat_ = 0;
    ++descriptors;
    taken.push_back({now, v.desc_vpid_o});
    with_requester_.push_back({v.desc_vpid_o, beats_, now + 2 + (hold ? d.below(hold) : 0)});
  }

  void block_written(const tlp& t) {
    EXPECT_EQ(t.len_dw, 4u);
    for (unsigned n = 0; n < 256; ++n) {
      context& c = ctx[n];
      if (!(c.on || c.closing) || !c.status || c.status != t.addr) continue;
      for (unsigned i = 0; c.on && !lenient && i < 3; ++i) {
        EXPECT_LE(t.data[i], c.block(i)) << "context " << n << " gets too much";
        EXPECT_GE(t.data[i], mem.word(c.status + 4 * i)) << "context " << n << ": a count went back";
      }
      mem.write(t);
      return;
    }
    ADD_FAILURE() << "a status block at " << std::hex << t.addr;
  }

  context* owner(const tlp& t) {
    for (context& c : ctx)
      if ((c.on || c.closing) && c.queue && t.addr >= c.ring && t.addr < c.ring + (32u << c.log2)) return &c;
    return nullptr;
  }
  void request(const tlp& t) {
    context* c = owner(t);
    ASSERT_NE(c, nullptr) << "a read at " << std::hex << t.addr;
    const unsigned n = t.len_dw / 8;
    EXPECT_LE(4u * t.len_dw, mrrs);
    EXPECT_EQ(t.len_dw % 8, 0u);
    EXPECT_EQ(t.addr, c->ring + c->fetched % (1u << c->log2) * 32);
    EXPECT_LE(c->fetched % (1u << c->log2) + n, 1u << c->log2);
    ASSERT_LE(n, c->ahead.size()) << "read what was not announced";
    EXPECT_LE(c->fetched + n - c->consumed, page_slots);
    c->fetched += n;
    reads.request(mem, t);
  }
  // Decides how a read ends, and puts what it brings into the context's stream.
  pcie::cpl_status status_of(const tlp& t) {
    context& c = *owner(t);
    const bool fails = mute || d.chance(fail_percent);
    for (unsigned i = 0; i < t.len_dw / 8u; ++i) {
      c.stream.push_back(fails ? slot{bad_op} : c.ahead.front());
      c.ahead.pop_front();
    }
    return fails ? pcie::cpl_status::ur : pcie::cpl_status::sc;
  }

 public:
  unsigned fail_percent = 0;

 private:
  std::deque<job> with_requester_;
  std::deque<counts> counts_;
  uint64_t next_done_ = 8;
  unsigned beat_ = 0, beats_ = 0;
  bool held_ = false;
  uint8_t held_vpid_ = 0;
};

// A slot with a random operation and size, good and bad.
inline slot random_slot(dice& d) {
  slot s;
  for (uint32_t& w : s) w = uint32_t(d.bits());
  const uint64_t kind = d.below(10);
  const uint32_t sizes[] = {0, 1, 4, 8, 16, 31, 32, 33, 63, 64, 65, 300, 0xffffff};
  s[0] = (s[0] & ~0xfu) | (kind < 2 ? uint32_t(d.below(16)) : kind < 4 ? 7 : kind < 6 ? 3 : kind < 7 ? 6 : 2);
  s[1] = (s[1] & 0xff) | sizes[d.below(13)] << 8;
  return s;
}

struct w64 {
  static constexpr unsigned width = 64;
  using model = Vfront_64;
};
struct w256 {
  static constexpr unsigned width = 256;
  using model = Vfront_256;
};
struct w512 {
  static constexpr unsigned width = 512;
  using model = Vfront_512;
};
template <class T>
class front : public testing::Test {
 protected:
  bench<typename T::model, T::width> b;
  void SetUp() override { RecordProperty("seed", std::to_string(seed())); }
  void TearDown() override {
    if (HasFailure()) printf("seed %llu\n", static_cast<unsigned long long>(seed()));
  }
};
using widths = testing::Types<w64, w256, w512>;
TYPED_TEST_SUITE(front, widths);

}  // namespace ggas::test::rma
