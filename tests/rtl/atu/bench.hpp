// SPDX-License-Identifier: Apache-2.0
// The Verilated ATU with five clients, a host with tables and a driver that changes and invalidates them. Every answer
// is checked against the entry's contents while the request was open; every acknowledgement against the translations in
// use.
#pragma once

#include <optional>

#include "tests/rtl/atu/tables.hpp"
#include "tests/rtl/rma/unit/completer.hpp"

namespace ggas::test::atu {

using nic::net_status;
using pcie::tlp;
using pcie::tlp_kind;
using rma::dice;
using rma::fault;

struct request {
  uint64_t nla = 0;
  uint16_t pd = 0;
  bool write = false;
};

template <class V, unsigned W>
class bench {
 public:
  static constexpr unsigned clients = 5;
  struct client {
    std::deque<request> todo;
    unsigned percent = 100;  // chance a cycle that the next request is made
    uint64_t hold = 0;       // longest use of a translation
    bool waits = false;      // for an answer
    request open;
    uint64_t since = 0;  // when the open request was taken
    uint64_t answered = 0, good = 0, latency = 0;
  };
  struct use {
    unsigned client = 0, cls = 0, index = 0;
    size_t version = 0;
    uint64_t until = 0;
  };

  V v;
  dice d;
  tables t;
  rma::completer<W> host;
  std::array<client, clients> c;
  std::deque<use> uses;
  std::function<fault()> faults = [] { return fault::none; };
  uint64_t now = 0, walks_failed = 0, unexpected = 0, hits = 0, misses = 0, faulty = 0;
  uint64_t longest = 0;  // invalidation, in cycles
  bool gate = true;
  unsigned rd_percent = 80, registers_percent = 5;  // chance a cycle that a read is taken, that a register is read
  static constexpr uint64_t ack_address = 0x77'0000'1238;
  uint32_t acks_written = 0;  // the count that was written last
  unsigned writes = 0;

  explicit bench(uint64_t seed) : d(seed) {
    host.byte = [this](uint64_t a) { return t.byte(a); };
    host.split_percent = 0;
    host.early_percent = 50;
    v.cfg_timeout_i = 2;
    for (unsigned k = 0; k < 4; ++k) {
      const uint64_t table = entries[k] | uint64_t{first_piece[k]} << 32;
      for (unsigned bit = 0; bit < 40; ++bit)
        v.cfg_table_i[(40 * k + bit) / 32] |= uint32_t(table >> bit & 1) << (40 * k + bit) % 32;
    }
    v.cfg_ack_i = ack_address >> 3;
    v.rst_ni = 0;
    v.eval();  // before the first edge: Verilator sees none in its first evaluation
    edge();
    v.rst_ni = 1;
    edge();
    for (unsigned i = 0; i < 256; ++i) write_piece(i, 0);
    for (unsigned k = 0; k < 4; ++k)
      for (unsigned i = 0; i <= entries[k] / piece_entries; ++i)
        write_piece(first_piece[k] + i, tables::piece(first_piece[k] + i) | (k ? 0xabc : 0));  // low bits are ignored
  }
  ~bench() { end_model(v); }

  void write_piece(unsigned i, uint64_t base) {
    v.ext_req_i = v.ext_write_i = 1;
    v.ext_index_i = uint8_t(i);
    v.ext_wdata_i = base;
    v.ext_wstrb_i = 0xff;
    edge();
    v.ext_req_i = v.ext_write_i = 0;
  }
  // Now, with the next cycle: a page, pages up to that of `last`, or all.
  void invalidate(bool all, uint64_t nla, std::optional<uint64_t> last = std::nullopt) {
    v.inv_start_i = 1;
    v.inv_all_i = all;
    v.inv_range_i = last.has_value();
    v.inv_page_i = nla >> 12;
    v.inv_last_i = last.value_or(d.bits()) >> 12;
    asked_.push_back({now, all, nla, last.value_or(nla)});
  }
  uint64_t invalidations_open() const { return asked_.size(); }

  void step() {
    drive();
    v.time_i = now;
    v.eval();
    const bool asked = v.tr_valid_i || v.tr_done_i || pins::get(v.cpl_i, pins::valid) || v.inv_start_i || v.ext_req_i;
    if (!gate || asked || v.busy_o || (v.timer_o && now % 1024 == 0)) {
      sample();
      edge();
      v.inv_start_i = 0;
      for (unsigned i = 0; i < clients; ++i)
        if (c[i].waits) v.tr_valid_i &= ~(1u << i);
    } else {
      EXPECT_FALSE(v.tr_rsp_valid_o || v.rd_valid_o) << "something moves while idle";
    }
    acknowledged();
    ++now;
  }
  bool done() const {
    for (const client& x : c)
      if (!x.todo.empty() || x.waits) return false;
    return uses.empty() && asked_.empty() && v.tr_valid_i == 0;
  }
  bool settle(uint64_t limit = 200000) {
    for (uint64_t i = 0; i < limit; ++i) {
      step();
      v.eval();
      if (done() && host.idle() && !v.busy_o && !v.timer_o) {
        EXPECT_EQ(acks_written, v.inv_done_o);
        return true;
      }
    }
    return false;
  }

 private:
  struct invalidation {
    uint64_t since = 0;
    bool all = false;
    uint64_t nla = 0, last = 0;
  };

  void edge() {
    v.clk_i = 1;
    v.eval();
    v.clk_i = 0;
    v.eval();
  }

  void drive() {
    v.tr_done_i = 0;
    for (unsigned i = 0; i < clients; ++i) {
      client& x = c[i];
      if (!(v.tr_valid_i >> i & 1) && !x.waits && !x.todo.empty() && d.chance(x.percent)) {
        x.open = x.todo.front();
        x.todo.pop_front();
        v.tr_valid_i |= 1u << i;
        v.tr_nla_i[2 * i] = uint32_t(x.open.nla);
        v.tr_nla_i[2 * i + 1] = uint32_t(x.open.nla >> 32);
        const unsigned at = 16 * i % 32;
        v.tr_pd_i[i / 2] = (v.tr_pd_i[i / 2] & ~(0xffffu << at)) | uint32_t{x.open.pd} << at;
        v.tr_write_i = uint8_t((v.tr_write_i & ~(1u << i)) | x.open.write << i);
      }
      // In order, but for the last client.
      auto u = std::ranges::find_if(uses, [&](const use& k) { return k.client == i && (i != 4 || k.until <= now); });
      if (u != uses.end() && u->until <= now) {
        v.tr_done_i |= 1u << i;
        uses.erase(u);
      }
    }
    v.rd_ready_i = d.chance(rd_percent);
    v.wr_ready_i = d.chance(40);
    v.ext_req_i = d.chance(registers_percent);
    v.ext_index_i = uint8_t(d.bits());
    host.step(now, d);
    host.cpl.drive(d, v.cpl_i, v.cpl_data_i);
  }

  void sample() {
    EXPECT_EQ(v.tr_rsp_valid_o & (v.tr_rsp_valid_o - 1), 0);
    for (unsigned i = 0; i < clients; ++i)
      if (v.tr_rsp_valid_o >> i & 1) answer(i);
    for (unsigned i = 0; i < clients; ++i) {
      if (!(v.tr_valid_i & v.tr_ready_o) || !(v.tr_valid_i & v.tr_ready_o & 1u << i)) continue;
      c[i].waits = true;
      c[i].since = now;
    }
    if (v.rd_valid_o && v.rd_ready_i) {
      nic::packet_header h{};
      for (size_t i = 0; i < 5; ++i) h[i] = v.rd_hdr_o[i];
      const tlp r = rma::from_bits<tlp>(h);
      EXPECT_EQ(r.len_dw, 4);
      const fault f = faults();
      faulty += f != fault::none;
      host.request(now, r, f, d);
    }
    host.cpl.sample(v.cpl_ready_o);
    if (pins::get(v.wr_o, pins::valid) && v.wr_ready_i) written();
    walks_failed += v.ev_walk_o;
    unexpected += v.ev_unexpected_o;
    hits += v.cnt_hits_o;
    misses += v.cnt_misses_o;
  }

  void answer(unsigned i) {
    client& x = c[i];
    ASSERT_TRUE(x.waits) << "an answer for nothing";
    x.waits = false;
    ++x.answered;
    x.latency = now - x.since;
    const request& r = x.open;
    const unsigned cls = r.nla >> 46 & 3;
    const uint64_t mask = (uint64_t{1} << shifts[cls]) - 1;
    const int index = page_at(cls, (r.nla & 0x3fff'ffff'ffff) >> shifts[cls]);
    const bool good = v.tr_rsp_status_o == 0, outside = r.nla >> 48 || index < 0;
    x.good += good;
    EXPECT_EQ(v.tr_rsp_shift_o, shifts[cls]);
    EXPECT_TRUE(good || v.tr_rsp_status_o == uint8_t(net_status::protection));
    if (outside) {
      EXPECT_FALSE(good) << "no such page";
      return;
    }
    auto& all = t.of(cls, unsigned(index));
    bool explained = !good && faulty;
    for (size_t k = 0; k < all.size() && !explained; ++k) {
      const version& e = all[k];
      const bool seen = e.valid() ? !e.retired : e.until >= x.since;  // nothing negative is kept
      const bool allows = e.allows(r.pd, r.write, i == 4);
      if (!seen || allows != good) continue;
      if (good && v.tr_rsp_addr_o != ((e.word0 & ~uint64_t{4095} & ~mask) | (r.nla & mask))) continue;
      explained = true;
      if (good) uses.push_back({i, cls, unsigned(index), k, now + 1 + d.below(x.hold + 1)});
    }
    EXPECT_TRUE(explained) << "client " << i << ", class " << cls << ", page " << index << ", status "
                           << unsigned(v.tr_rsp_status_o) << std::hex << ", address " << v.tr_rsp_addr_o << std::dec
                           << ", cycle " << now;
  }

  void acknowledged() {
    for (; acks_ != v.inv_done_o; ++acks_) {
      ASSERT_FALSE(asked_.empty()) << "acknowledged without an invalidation";
      const invalidation a = asked_.front();
      asked_.pop_front();
      longest = std::max(longest, now - a.since);
      const unsigned cls = a.nla >> 46 & 3;
      const auto index = [&](uint64_t nla) { return (nla & 0x3fff'ffff'ffff) >> shifts[cls]; };
      if (a.all || (a.last >> 46 & 3) != cls)
        t.retire_all(a.since);
      else
        t.retire_range(cls, index(a.nla), index(a.last), a.since);
    }
    EXPECT_EQ(bool(v.inv_busy_o), !asked_.empty());
    for (const use& u : uses)
      EXPECT_FALSE(t.of(u.cls, u.index)[u.version].retired)
          << "client " << u.client << " still uses what was invalidated";
  }

  // The acknowledgement in memory: never ahead of what was acknowledged, and every count comes in the end.
  void written() {
    nic::packet_header h{};
    for (size_t i = 0; i < 5; ++i) h[i] = v.wr_o[i];
    const tlp w = rma::from_bits<tlp>(h);
    EXPECT_EQ(w.kind, tlp_kind::mwr);
    EXPECT_EQ(w.addr, ack_address);
    EXPECT_EQ(w.len_dw, 2);
    EXPECT_TRUE(w.first_be == 0xf && w.last_be == 0xf);
    const uint32_t count = nic::pins::get_word<W>(v.wr_data_o, 0);
    EXPECT_EQ(nic::pins::get_word<W>(v.wr_data_o, 1), 0u);
    EXPECT_GT(count, acks_written);
    EXPECT_LE(count, acks_);
    acks_written = count;
    ++writes;
  }

  std::deque<invalidation> asked_;
  uint32_t acks_ = 0;
};

}  // namespace ggas::test::atu
