// SPDX-License-Identifier: Apache-2.0
// The Verilated SMFU with a queue at every stream. Inputs are offered with random idle cycles, outputs accepted with
// random back-pressure; every output is checked not to change while it waits. With `gate` the clock runs only while
// busy_o, timer_o or an input requires it.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "ggas_regs.h"
#include "sim/nic/packet.hpp"
#include "sim/nic/rtl/tlp_pins.hpp"
#include "tests/rtl/beat_pins.hpp"
#include "tests/rtl/context_pins.hpp"
#include "tests/rtl/unit_model.hpp"

namespace ggas::test::smfu {

using nic::packet;
using pcie::tlp;
using pcie::tlp_kind;

struct logged_event {
  uint8_t code;
  uint16_t node;
  uint64_t info;
  auto operator<=>(const logged_event&) const = default;
};

// What the SMFU exports when a test begins, and the domain of its own window.
inline constexpr uint8_t home_export = 5;
inline constexpr uint16_t home_domain = 0x0d0d;
inline constexpr uint64_t home_base = 0x40'0000'0000, home_size = 1 << 20;

// One beat on its way into the NIC.
struct beat {
  bool sop = false, eop = false;
  nic::packet_header hdr{};
  std::vector<uint32_t> words;
};

inline nic::packet_header header_bits(const tlp& t) {
  nic::packet_header h{};
  nic::pins::pack(t, h);
  return h;
}
inline nic::packet_header header_bits(const packet& p) { return p.header(); }
template <class T>
T from_bits(const nic::packet_header& h) {
  if constexpr (std::is_same_v<T, tlp>) {
    return nic::pins::unpack(h);
  } else {
    packet p;
    p.set_header(h);
    return p;
  }
}

// Something seen at an output, and when.
template <class T>
struct seen {
  T t;
  uint64_t first = 0, last = 0;
};

// smfu_pkg::config_t, in its order.
struct config {
  uint16_t node = 1;
  bool egress = true, ingress = true, mode = false;
  uint64_t mask = 0;
  uint8_t shift = 0;
  uint16_t nodes = 0;
  uint8_t export_no = 0;
  uint16_t domain = 0, timeout_load = 1000, timeout_host = 1000, mps = 256, mrrs = 512;
  bool operator==(const config&) const = default;

  std::vector<std::pair<uint64_t, unsigned>> fields() const {  // value, bits
    return {{node, 16},     {egress, 1},  {ingress, 1},       {mode, 1},          {mask, 64}, {shift, 6}, {nodes, 16},
            {export_no, 8}, {domain, 16}, {timeout_load, 16}, {timeout_host, 16}, {mps, 13},  {mrrs, 13}};
  }
};

template <class V, unsigned W>
class bench {
 public:
  static constexpr unsigned words = W / 32;
  static constexpr unsigned intervals = W == 256 ? 16 : 64;  // as in CMakeLists.txt

  struct in_stream {
    std::deque<beat> beats;
    unsigned percent = 100;
    uint64_t taken = 0;  // whole packets
    uint64_t taken_sop = 0, cycle = 0;
  };
  template <class T>
  struct out_stream {
    std::vector<seen<T>> all;
    unsigned percent = 100;
    T open{};
    uint64_t first = 0;
    bool inside = false, held = false;
    std::vector<uint32_t> held_bits;
  };

  in_stream win_p, win_np, tgt_cpl, rx_p, rx_np, rx_rsp;
  out_stream<tlp> ld_cpl, tgt_req;
  out_stream<packet> tx_p, tx_np, tx_rsp;
  std::vector<logged_event> events;
  std::vector<unsigned> event_intervals;  // of each of them
  std::array<uint64_t, GGAS_EVENT_COUNT_NUM> event_count{};
  std::map<std::string, uint64_t> counters;
  unsigned event_percent = 100;
  std::vector<nic::net_status> fences;  // answers to them
  bool gate = false;
  uint64_t now = 0, edges = 0;
  std::deque<uint64_t> np_marks;  // stores that must be taken before the next window read is offered
  std::mt19937_64 rng;
  V v;
  smfu::config cfg;

  explicit bench(uint64_t seed) : rng(seed) {
    configure();
    v.peer_node_i = 2;
    v.peer_valid_i = v.link_up_i = 1;
    v.tgt_np_ok_i = 1;
    v.rst_ni = 0;
    v.eval();  // before the first edge: Verilator sees none in its first evaluation
    edge();
    v.rst_ni = 1;
    edge();
    give_out(home_export, home_base, home_size, home_domain);
  }
  ~bench() { end_model(v); }

  bool chance(unsigned percent) { return rng() % 100 < percent; }
  unsigned random(unsigned n) { return unsigned(rng() % n); }

  template <class T>
  void push(in_stream& s, const T& t) {
    const size_t n = std::max<size_t>(1, (t.data.size() + words - 1) / words);
    for (size_t i = 0; i < n; ++i) {
      beat b{.sop = i == 0, .eop = i + 1 == n, .hdr = header_bits(t), .words = {}};
      for (size_t k = i * words; k < std::min(t.data.size(), (i + 1) * words); ++k) b.words.push_back(t.data[k]);
      s.beats.push_back(b);
    }
  }
  // Stores and reads of the host, in its order.
  void host(const tlp& t) {
    if (t.posted()) {
      push(win_p, t);
      ++stores_pushed_;
    } else {
      push(win_np, t);
      np_marks.push_back(stores_pushed_);
    }
  }
  uint64_t stores_pushed() const { return stores_pushed_; }

  // A fence of another unit, after the stores that were accepted so far.
  void fence(unsigned page) {
    v.fence_i = 1;
    v.fence_page_i = uint8_t(page);
    step();
    v.fence_i = 0;
  }

  // The context of a page, and its domain.
  void context(unsigned page, uint16_t domain, bool enabled = true) {
    pins::write_context(v.context_i, page, 0, uint64_t{domain} << 32 | uint64_t{enabled});
    step();
    pins::end_write(v.context_i);
  }
  void write_register(uint16_t addr, uint64_t data, uint8_t strobe = 0xff) {
    access(true, addr, data, strobe);
    select(addr) = 1;
    step();
    access(false, addr, data, strobe);
    select(addr) = 0;
  }
  uint64_t read_register(uint16_t addr) {
    access(false, addr, 0, 0);
    select(addr) = 1;
    step();
    select(addr) = 0;
    return addr < 0x3000 ? v.ext_interval_rdata_o : v.ext_export_rdata_o;
  }
  void interval(unsigned i, uint64_t start, uint64_t end, uint16_t node, bool valid = true,
                uint8_t export_no = home_export, uint16_t domain = home_domain) {
    write_register(uint16_t(0x2000 + 0x20 * i), start);
    write_register(uint16_t(0x2008 + 0x20 * i), end);
    write_register(uint16_t(0x2010 + 0x20 * i),
                   node | uint64_t{valid} << 16 | uint64_t{export_no} << 24 | uint64_t{domain} << 32);
  }
  // Rights: bit 0 loads, bit 1 stores.
  void give_out(unsigned i, uint64_t base, uint64_t size, uint16_t domain, unsigned rights = 3) {
    write_register(uint16_t(0x3000 + 0x20 * i), base);
    write_register(uint16_t(0x3008 + 0x20 * i), size);
    write_register(uint16_t(0x3010 + 0x20 * i), domain | 1 << 16 | uint64_t{rights} << 17);
  }
  void take_back(unsigned i) { write_register(uint16_t(0x3010 + 0x20 * i), 0); }
  bool stopped(unsigned i) { return read_register(uint16_t(0x3018 + 0x20 * i)) & 1; }

  bool inputs_empty() const {
    return win_p.beats.empty() && win_np.beats.empty() && tgt_cpl.beats.empty() && rx_p.beats.empty() &&
           rx_np.beats.empty() && rx_rsp.beats.empty();
  }

  void step() {
    drive();
    v.time_i = now;
    v.eval();
    const bool asked = is_valid(v.win_p_i) || v.win_np_valid_i || is_valid(v.tgt_cpl_i) || is_valid(v.rx_p_i) ||
                       is_valid(v.rx_np_i) || is_valid(v.rx_rsp_i) || v.ext_interval_req_i || v.ext_export_req_i ||
                       v.fence_i || pins::is_written(v.context_i);
    if (!gate || asked || v.busy_o || (v.timer_o && now % 1024 == 0)) {
      sample();
      edge();
      for (const auto& retire : retired_) retire();
      retired_.clear();
    }
    ++now;
  }
  void run(uint64_t cycles) {
    for (uint64_t i = 0; i < cycles; ++i) step();
  }
  // Until nothing is queued and nothing moves, at most `limit` cycles.
  bool settle(uint64_t limit = 200000) {
    for (uint64_t i = 0; i < limit; ++i) {
      step();
      v.eval();
      if (inputs_empty() && !v.busy_o) return true;
    }
    return false;
  }
  void clear_outputs() {
    ld_cpl.all.clear(), tgt_req.all.clear(), tx_p.all.clear(), tx_np.all.clear(), tx_rsp.all.clear(), events.clear();
    event_intervals.clear();
    fences.clear();
    event_count.fill(0);
    counters.clear();
  }

 private:
  // ggas_pkg::reg_access_t without its request.
  void access(bool write, uint16_t addr, uint64_t data, uint8_t strobe) {
    v.ext_i[0] = static_cast<uint32_t>(data << 8 | strobe);
    v.ext_i[1] = static_cast<uint32_t>(data >> 24);
    v.ext_i[2] = static_cast<uint32_t>(data >> 56) | uint32_t{addr} << 8 | uint32_t{write} << 24;
  }
  void configure() {
    if (cfg == driven_) return;
    driven_ = cfg;
    unsigned at = 0;
    for (size_t i = 0; i < sizeof v.cfg_i / 4; ++i) v.cfg_i[i] = 0;
    const auto fields = cfg.fields();
    for (auto f = fields.rbegin(); f != fields.rend(); ++f)  // the last one in the low bits
      for (unsigned bit = 0; bit < f->second; ++bit, ++at) v.cfg_i[at / 32] |= uint32_t(f->first >> bit & 1) << at % 32;
  }
  uint8_t& select(uint16_t addr) { return addr < 0x3000 ? v.ext_interval_req_i : v.ext_export_req_i; }
  void edge() {
    v.clk_i = 1;
    v.eval();
    v.clk_i = 0;
    v.eval();
    ++edges;
  }

  template <class Beat>
  static bool is_valid(const Beat& b) {
    return pins::get(b, pins::valid);
  }

  template <class Beat, class Data>
  void offer(in_stream& s, Beat& at, Data& data) {
    if (!is_valid(at)) pins::set(at, pins::valid, !s.beats.empty() && chance(s.percent));
    if (!is_valid(at)) return;
    const beat& b = s.beats.front();
    nic::packet_header none;
    none.fill(0xdeadbeef);
    pins::put_header(at, b.sop ? b.hdr : none);
    pins::set(at, pins::sop, b.sop);
    pins::set(at, pins::eop, b.eop);
    nic::pins::put_words<W>(data, b.words.data(), b.words.size());
  }
  // Reads of the window are headers alone.
  void offer_np() {
    const bool may = !np_marks.empty() && np_marks.front() <= win_p.taken;
    if (!v.win_np_valid_i) v.win_np_valid_i = !win_np.beats.empty() && may && chance(win_np.percent);
    if (!v.win_np_valid_i) return;
    for (size_t i = 0; i < sizeof(v.win_np_hdr_i) / 4; ++i) v.win_np_hdr_i[i] = win_np.beats.front().hdr[i];
  }

  void drive() {
    configure();
    offer(win_p, v.win_p_i, v.win_p_data_i);
    offer_np();
    offer(tgt_cpl, v.tgt_cpl_i, v.tgt_cpl_data_i);
    offer(rx_p, v.rx_p_i, v.rx_p_data_i);
    offer(rx_np, v.rx_np_i, v.rx_np_data_i);
    offer(rx_rsp, v.rx_rsp_i, v.rx_rsp_data_i);
    v.ld_cpl_ready_i = chance(ld_cpl.percent);
    v.tgt_req_ready_i = chance(tgt_req.percent);
    v.tx_p_ready_i = chance(tx_p.percent);
    v.tx_np_ready_i = chance(tx_np.percent);
    v.tx_rsp_ready_i = chance(tx_rsp.percent);
    v.event_ready_i = chance(event_percent);
  }

  void taken(in_stream& s, bool valid, bool ready, std::function<void()> retire) {
    if (!valid || !ready) return;
    if (s.beats.front().sop) s.taken_sop = now;
    s.taken += s.beats.front().eop;
    s.beats.pop_front();
    retired_.push_back(std::move(retire));
  }
  template <class Beat>
  void taken(in_stream& s, Beat& at, bool ready) {
    taken(s, is_valid(at), ready, [&at] { pins::set(at, pins::valid, false); });
  }

  template <class T>
  void collect(out_stream<T>& s, const auto& at, bool ready, const auto& data, const char* name) {
    const bool valid = is_valid(at), sop = pins::get(at, pins::sop), eop = pins::get(at, pins::eop);
    EXPECT_TRUE(valid || !s.held) << name << " dropped valid at cycle " << now;
    if (!valid) return;
    const auto h = pins::get_header<nic::packet_header>(at);
    std::vector<uint32_t> bits{uint32_t(sop), uint32_t(eop)};
    if (sop) bits.insert(bits.end(), h.begin(), h.end());
    for (size_t i = 0; i < words; ++i) bits.push_back(nic::pins::get_word<W>(data, i));
    EXPECT_TRUE(!s.held || bits == s.held_bits) << name << " changed while waiting at cycle " << now;
    s.held = !ready;
    s.held_bits = bits;
    if (!ready) return;
    EXPECT_EQ(sop, !s.inside) << name << " framing at cycle " << now;
    if (sop) s.open = from_bits<T>(h), s.first = now;
    size_t left;
    if constexpr (std::is_same_v<T, tlp>) {
      left = s.open.has_data() ? s.open.len_dw - s.open.data.size() : 0;
    } else {
      left = s.open.len_dw - s.open.data.size();
    }
    EXPECT_EQ(eop, left <= words) << name << " length at cycle " << now;
    for (size_t i = 0; i < std::min<size_t>(left, words); ++i) s.open.data.push_back(nic::pins::get_word<W>(data, i));
    s.inside = !eop;
    if (eop) s.all.push_back({s.open, s.first, now});
  }

  void sample() {
    taken(win_p, v.win_p_i, v.win_p_ready_o);
    if (v.win_np_valid_i && v.win_np_ready_o) np_marks.pop_front();
    taken(win_np, v.win_np_valid_i, v.win_np_ready_o, [this] { v.win_np_valid_i = 0; });
    taken(tgt_cpl, v.tgt_cpl_i, v.tgt_cpl_ready_o);
    taken(rx_p, v.rx_p_i, v.rx_p_ready_o);
    taken(rx_np, v.rx_np_i, v.rx_np_ready_o);
    taken(rx_rsp, v.rx_rsp_i, v.rx_rsp_ready_o);
    collect(ld_cpl, v.ld_cpl_o, v.ld_cpl_ready_i, v.ld_cpl_data_o, "ld_cpl");
    collect(tgt_req, v.tgt_req_o, v.tgt_req_ready_i, v.tgt_req_data_o, "tgt_req");
    collect(tx_p, v.tx_p_o, v.tx_p_ready_i, v.tx_p_data_o, "tx_p");
    collect(tx_np, v.tx_np_o, v.tx_np_ready_i, v.tx_np_data_o, "tx_np");
    collect(tx_rsp, v.tx_rsp_o, v.tx_rsp_ready_i, v.tx_rsp_data_o, "tx_rsp");
    if (v.event_valid_o && v.event_ready_i) {
      events.push_back({uint8_t(v.event_o >> 56), uint16_t(v.event_o >> 40), v.event_o & 0xff'ffff'ffff});
      event_intervals.push_back(v.event_interval_o);
    }
    for (unsigned i = 0; i < event_count.size(); ++i) event_count[i] += v.event_count_o >> i & 1;
    if (v.fence_done_o) fences.push_back(nic::net_status(v.fence_status_o));
    static constexpr std::array names{"stores_in",   "loads_in", "store_packets", "load_packets", "load_cpls",
                                      "load_errors", "quiets",   "target_stores", "target_loads"};
    for (size_t i = 0; i < names.size(); ++i) counters[names[i]] += v.cnt_o >> i & 1;
  }

  smfu::config driven_{.node = 0};  // another one: the first is driven, too
  uint64_t stores_pushed_ = 0;
  std::vector<std::function<void()>> retired_;  // valids that fall after the edge
};

}  // namespace ggas::test::smfu
