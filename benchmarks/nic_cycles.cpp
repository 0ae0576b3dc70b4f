// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/nic_cycles.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "ggas_regs.h"
#include "sim/nic/nic_core.hpp"

namespace ggas::bench {

namespace {

using nic::flit;
using nic::flit_kind;
using nic::nic_core;
using pcie::tlp;
using pcie::tlp_kind;

constexpr uint64_t segment_bytes = 1 << 20;
constexpr uint64_t segment_base = 0x1'0000'0000;
constexpr uint8_t bar_registers = 0, bar_window = 2, bar_pages = 4;
constexpr uint64_t patience = 1'000'000;  // cycles a measurement may take
constexpr unsigned line_bytes = 64;
constexpr unsigned mtu_bytes = 256;

tlp request(tlp_kind kind, uint8_t bar, uint64_t addr, unsigned dws, uint32_t fill = 0) {
  tlp t;
  t.kind = kind;
  t.bar = bar;
  t.addr = addr;
  t.len_dw = static_cast<uint16_t>(dws);
  t.last_be = dws > 1 ? 0xf : 0;
  if (kind == tlp_kind::mwr)
    for (unsigned i = 0; i < dws; ++i) t.data.push_back(fill + i);
  return t;
}

// Two NICs, and per side a queue of host requests that is kept short inside the NIC.
class bench_rig {
 public:
  bench_rig(unsigned width, uint64_t seed) : fill_(static_cast<uint32_t>(seed)) {
    for (unsigned n = 0; n < 2; ++n) nics_[n] = nic::make_nic_rtl(width, {.mps = 256, .mrrs = 512, .bus_id = 1}, "nic");
    if (!nics_[0] || !nics_[1]) return;
    for (auto& x : nics_) {
      x->link_up(true);
      x->link_ready(true);
      x->gate(true, true, true);
    }
    ready_ = set_up();
  }
  bool ready() const { return ready_; }
  uint64_t now() const { return now_; }
  uint64_t cycles() const { return nics_[0] ? nics_[0]->steps() + nics_[1]->steps() : 0; }

  std::function<void(unsigned, const tlp&)> on_tlp;
  std::function<void(unsigned, const flit&)> on_flit;

  void queue(unsigned n, tlp t) { queue_[n].push_back(std::move(t)); }
  void store(unsigned n, uint64_t offset, unsigned dws) {
    queue(n, request(tlp_kind::mwr, bar_window, (1 - n) * segment_bytes + offset, dws, ++fill_));
  }
  void load(unsigned n, uint64_t offset, unsigned dws) {
    tlp t = request(tlp_kind::mrd, bar_window, (1 - n) * segment_bytes + offset, dws);
    t.tag = next_tag_[n]++ & 0x3ff;
    queue(n, std::move(t));
  }
  void quiet(unsigned n) { queue(n, request(tlp_kind::mrd, bar_pages, 0, 1)); }
  size_t queued() const { return queue_[0].size() + queue_[1].size(); }

  void step() {
    for (unsigned n = 0; n < 2; ++n) {
      feed(n);
      auto& in = wire_[1 - n];
      if (!in.empty() && in.front().first <= now_) {
        nics_[n]->link_in(in.front().second);
        in.pop_front();
      }
      nics_[n]->step(now_);
    }
    for (unsigned n = 0; n < 2; ++n) {
      if (const auto f = nics_[n]->link_out()) {
        if (on_flit) on_flit(n, *f);
        wire_[n].emplace_back(now_ + nic_cycles_wire, *f);
      }
      while (auto t = nics_[n]->pop()) {
        if (on_tlp) on_tlp(n, *t);
        if (t->kind == tlp_kind::mrd) answer(n, *t);
        if (t->completion()) {
          --waiting_[n];
          last_value_ = t->data.empty() ? ~0u : t->data[0];
          if (t->byte_count > 4u * t->len_dw && t->status == pcie::cpl_status::sc) ++waiting_[n];
        }
      }
    }
    ++now_;
  }
  void run(uint64_t cycles) {
    for (uint64_t i = 0; i < cycles; ++i) step();
  }
  bool until(const std::function<bool()>& done) {
    for (uint64_t i = 0; i < patience && !done(); ++i) step();
    return done();
  }
  unsigned waiting(unsigned n) const { return waiting_[n]; }
  void drain() {
    until([&] { return queued() == 0 && waiting_[0] + waiting_[1] == 0; });
    run(400);
  }

 private:
  void feed(unsigned n) {
    auto& q = queue_[n];
    while (!q.empty()) {
      const bool np = q.front().non_posted();
      if (np ? nics_[n]->non_posted_pending() >= nics_[n]->np_credits() : nics_[n]->posted_pending() >= 2) return;
      waiting_[n] += np;
      nics_[n]->push(q.front());
      q.pop_front();
    }
  }
  void answer(unsigned n, const tlp& t) {
    const unsigned bytes = 4u * t.len_dw;
    for (unsigned at = 0; at < bytes;) {
      const unsigned part = std::min<unsigned>(mtu_bytes - (t.addr + at) % mtu_bytes, bytes - at);
      tlp c;
      c.kind = tlp_kind::cpld;
      c.tag = t.tag;
      c.len_dw = static_cast<uint16_t>(part / 4);
      c.byte_count = static_cast<uint16_t>(t.first_be ? bytes - at : 1);
      c.lower_addr = static_cast<uint8_t>((t.addr + at) & 0x7f);
      for (unsigned i = 0; i < part / 4; ++i) c.data.push_back(fill_ + i);
      nics_[n]->push(c);
      at += part;
    }
  }
  void write_register(unsigned n, unsigned offset, uint64_t value) {
    tlp t = request(tlp_kind::mwr, bar_registers, offset, 2);
    t.data = {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
    queue(n, std::move(t));
  }
  bool set_up() {
    for (unsigned n = 0; n < 2; ++n) {
      write_register(n, GGAS_REG_NODE, n);
      write_register(n, GGAS_REG_LINK_PEER, (1 - n) | GGAS_LINK_PEER_VALID_MASK);
      write_register(n, GGAS_REG_SMFU_TBASE, segment_base);
      write_register(n, GGAS_REG_SMFU_TSIZE, segment_bytes);
      for (unsigned i = 0; i < 2; ++i) {
        write_register(n, GGAS_REG_INTERVAL_START(i), i * segment_bytes);
        write_register(n, GGAS_REG_INTERVAL_END(i), (i + 1) * segment_bytes);
        write_register(n, GGAS_REG_INTERVAL_TARGET(i), i | GGAS_INTERVAL_TARGET_VALID_MASK);
      }
      write_register(n, GGAS_REG_SMFU_CTRL, GGAS_SMFU_CTRL_EGRESS_MASK | GGAS_SMFU_CTRL_INGRESS_MASK);
    }
    drain();
    for (unsigned attempt = 0; attempt < 100; ++attempt) {
      unsigned up = 0;
      for (unsigned n = 0; n < 2; ++n) {
        queue(n, request(tlp_kind::mrd, bar_registers, GGAS_REG_LINK_STATUS, 1));
        drain();
        up += (last_value_ & GGAS_LINK_STATUS_STATE_MASK) == GGAS_LINK_STATE_UP;
      }
      if (up == 2) return true;
    }
    return false;
  }

  std::array<std::unique_ptr<nic_core>, 2> nics_;
  std::array<std::deque<tlp>, 2> queue_;
  std::array<std::deque<std::pair<uint64_t, flit>>, 2> wire_;
  std::array<unsigned, 2> waiting_{};
  std::array<uint16_t, 2> next_tag_{};
  uint32_t fill_, last_value_ = 0;
  uint64_t now_ = 0;
  bool ready_ = false;
};

// Flits of a packet with that payload.
double packet_flits(unsigned width, unsigned payload) {
  const unsigned words = width / 64, payload_words = (payload + 7) / 8;
  const unsigned header = words == 1 ? 3 : 1;
  return header + (payload_words + words - 1) / words + 1;
}

class measurement {
 public:
  measurement(unsigned width, uint64_t seed, std::vector<nic_cycle_record>& out)
      : width_(width), seed_(seed), out_(out), rig_(width, seed) {}
  void all() {
    if (!rig_.ready()) return;
    latencies();
    store_rate("store_8", 8, width_ == 64 ? packet_flits(width_, 8) / 0.9 : 4);
    for (bool both : {false, true}) store_efficiency(both);
    load_rate();
    speed();
  }

 private:
  void add(const char* name, const char* text, double value, double bound, bool at_most, const char* unit,
           bool wall = false) {
    out_.push_back({name, text, width_, value, bound, at_most, unit, rig_.cycles() - counted_, wall});
    counted_ = rig_.cycles();
  }

  // The worst of some tries at different phases.
  void latencies() {
    double to_flit = 0, to_tlp = 0, one_way = 0, round_trip = 0, quiet = 0;
    for (unsigned i = 0; i < 16; ++i) {
      rig_.run(100 + 61 * i);
      uint64_t flit_at = 0, tlp_at = 0;
      rig_.on_flit = [&](unsigned from, const flit& f) {
        if (from == 0 && f.kind == flit_kind::sop && !flit_at) flit_at = rig_.now();
      };
      rig_.on_tlp = [&](unsigned at, const tlp& t) {
        if (at == 1 && t.kind == tlp_kind::mwr) tlp_at = rig_.now();
      };
      rig_.store(0, 8 * (i + seed_ % 64), 2);
      const uint64_t begin = rig_.now();
      rig_.until([&] { return tlp_at != 0; });
      to_flit = std::max(to_flit, double(flit_at - begin));
      to_tlp = std::max(to_tlp, double(tlp_at - flit_at - nic_cycles_wire));
      one_way = std::max(one_way, double(tlp_at - begin));
      rig_.on_flit = nullptr;
      quiet = std::max(quiet, answered([&] { rig_.quiet(0); }));
      round_trip = std::max(round_trip, answered([&] { rig_.load(0, 8 * i, 2); }));
    }
    rig_.on_tlp = nullptr;
    add("store_to_flit", "8-byte store TLP in to first flit out", to_flit, 12, true, "cycles");
    add("flit_to_tlp", "first flit in to store TLP out", to_tlp, 12, true, "cycles");
    add("store_one_way", "store, node to node, wire of 20 cycles included", one_way, 45, true, "cycles");
    add("load_round_trip", "8-byte load, two wires of 20 cycles included, host answers at once", round_trip, 0, true,
        "cycles");
    add("quiet_round_trip", "quiet behind a store, same", quiet, 0, true, "cycles");
  }
  double answered(const std::function<void()>& ask) {
    rig_.run(200);
    ask();
    const uint64_t begin = rig_.now();
    rig_.step();
    rig_.until([&] { return rig_.waiting(0) == 0; });
    return double(rig_.now() - begin - 1);
  }

  // Cycles per store in the middle of a burst.
  double burst(unsigned bytes, bool both) {
    constexpr unsigned stores = 2'000, skipped = 500;
    uint64_t arrived = 0, begin = 0, end = 0;
    rig_.on_tlp = [&](unsigned at, const tlp& t) {
      if (at != 1 || t.kind != tlp_kind::mwr) return;
      if (++arrived == skipped) begin = rig_.now();
      if (arrived == stores) end = rig_.now();
    };
    for (unsigned i = 0; i < stores; ++i)
      for (unsigned n = 0; n < (both ? 2u : 1u); ++n) rig_.store(n, (uint64_t{bytes} * i) % segment_bytes, bytes / 4);
    rig_.until([&] { return end != 0; });
    rig_.on_tlp = nullptr;
    rig_.drain();
    return double(end - begin) / (stores - skipped);
  }
  void store_rate(const char* name, unsigned bytes, double bound) {
    add(name, "cycles per back-to-back 8-byte store", burst(bytes, false), bound, true, "cycles");
  }
  void store_efficiency(bool both) {
    const double cycles = burst(line_bytes, both);
    add(both ? "store_64_both" : "store_64",
        both ? "64-byte stores in both directions, part of the payload bound of the link"
             : "64-byte stores, part of the payload bound of the link",
        packet_flits(width_, line_bytes) / cycles, 0.9, false, "1");
    if (!both)
      add("store_64_cycles", "cycles per 64-byte store", cycles, packet_flits(width_, line_bytes), true, "cycles");
  }
  void load_rate() {
    constexpr unsigned loads = 1'500, skipped = 300;
    uint64_t answers = 0, begin = 0, end = 0;
    rig_.on_tlp = [&](unsigned at, const tlp& t) {
      if (at != 0 || t.kind != tlp_kind::cpld) return;
      if (++answers == skipped) begin = rig_.now();
      if (answers == loads) end = rig_.now();
    };
    for (unsigned i = 0; i < loads; ++i) rig_.load(0, (uint64_t{line_bytes} * i) % segment_bytes, line_bytes / 4);
    rig_.until([&] { return end != 0; });
    rig_.on_tlp = nullptr;
    rig_.drain();
    const double cycles = double(end - begin) / (loads - skipped);
    add("load_64", "64-byte loads in flight, part of the payload bound of the link",
        packet_flits(width_, line_bytes) / cycles, 0, false, "1");
  }

  // Two busy NICs, wall clock.
  void speed() {
    const uint64_t before = rig_.cycles();
    const auto begin = std::chrono::steady_clock::now();
    burst(line_bytes, true);
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double rate = double(rig_.cycles() - before) / 2 / std::max(wall, 1e-9);
    add("simulation_speed", "cycles of each of two busy NICs simulated per second, one core", rate, width_ == 64 ? 300e3 : 0, false,
        "1/s", true);
  }

  unsigned width_;
  uint64_t seed_;
  std::vector<nic_cycle_record>& out_;
  bench_rig rig_;
  uint64_t counted_ = 0;
};

}  // namespace

std::vector<nic_cycle_record> run_nic_cycles(uint64_t seed, std::vector<unsigned> widths) {
  std::vector<nic_cycle_record> out;
  for (unsigned w : widths) measurement(w, seed, out).all();
  return out;
}

}  // namespace ggas::bench
