// SPDX-License-Identifier: Apache-2.0
// One Verilated `link` with packet queues on its unit side, stepped a cycle at a time.
#pragma once

#include <verilated.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "sim/nic/packet.hpp"
#include "tests/rtl/unit_model.hpp"

namespace ggas::test {

using nic::flit;
using nic::flit_kind;
using nic::packet;

constexpr unsigned channels = 4;  // virtual channels

enum link_state : unsigned { link_down = 0, link_init = 1, link_up = 2, link_dead = 3 };

// A packet as the unit side accepted it; p_before: posted packets begun before it.
struct sent_packet {
  packet p;
  uint64_t p_before = 0;
};

struct link_counters {
  uint64_t tx_packets = 0, rx_packets = 0, replays = 0, crc_errors = 0, seq_errors = 0, dead = 0, lost = 0, bad = 0;
};

// Verilator hands out integers up to 64 bits and arrays of 32-bit words above.
template <class Port>
uint32_t get_word(const Port& port, unsigned i) {
  if constexpr (std::is_integral_v<Port>)
    return uint32_t(uint64_t(port) >> 32 * i);
  else
    return port[i];
}
template <class Port>
void set_word(Port& port, unsigned i, uint32_t v) {
  if constexpr (std::is_integral_v<Port>)
    port = Port((uint64_t(port) & ~(uint64_t{0xffffffff} << 32 * i)) | uint64_t{v} << 32 * i);
  else
    port[i] = v;
}

template <class Model, unsigned Width>
class link_node {
 public:
  static constexpr unsigned width = Width;
  static constexpr unsigned words = Width / 32;

  explicit link_node(uint64_t seed) : rng_(seed) { reset(); }
  ~link_node() { end_model(m_); }

  void reset() {
    m_.rst_ni = 0;
    m_.clk_i = 0;
    m_.link_rx_valid_i = 0;
    m_.tx_valid_i = 0;
    m_.rx_ready_i = 0;
    m_.cfg_replay_limit_i = 32;
    m_.cfg_replay_timeout_i = 512;
    m_.cfg_retrain_i = 0;
    m_.link_rx_up_i = 0;
    m_.link_tx_ready_i = 1;
    m_.eval();
    m_.clk_i = 1;
    m_.eval();
    m_.clk_i = 0;
    m_.rst_ni = 1;
    m_.eval();
    for (auto& q : tx_) q.clear();
    for (auto& q : sent_) q.clear();
    for (auto& q : received_) q.clear();
    offered_ = {};
    beat_ = {};
    open_ = {};
    p_begun_ = p_received_ = 0;
    count_ = {};
    order_errors_ = 0;
    begun_.clear();
  }
  // Resets the link and the units after it: a packet half handed over on either side is gone.
  void restart() {
    m_.rst_ni = 0;
    m_.eval();
    m_.rst_ni = 1;
    m_.eval();
    for (unsigned v = 0; v < channels; ++v) {
      if (beat_[v]) tx_[v].pop_front();
      beat_[v] = 0;
      offered_[v] = false;
      open_[v] = {};
    }
  }

  // ---- set-up
  Model& pins() { return m_; }
  void send(const packet& p) { tx_[p.vc].push_back(p); }
  void offer_probability(double p) { offer_ = p; }
  void ready_probability(double p) { ready_.fill(p); }
  void ready_probability(unsigned vc, double p) { ready_[vc] = p; }
  void phy_probability(double p) { phy_ = p; }
  void gated(bool on) { gated_ = on; }
  void retrain() { m_.cfg_retrain_i = 1; }

  // ---- one cycle. `in`: flit from the wire; returns the flit sent.
  std::optional<flit> step(uint64_t time, const std::optional<flit>& in) {
    m_.time_i = time;
    drive(in);
    m_.eval();
    // The contract of docs/tlp-boundary.md: without busy, valid or a tick with timer_o the clock may stop.
    const bool tick = time % nic::nic_core::tick_cycles == 0;
    const bool clock = m_.busy_o || in || m_.tx_valid_i || m_.cfg_retrain_i || (m_.timer_o && tick);
    if (gated_ && !clock) {
      ++skipped_;
      return std::nullopt;
    }
    auto out = sample(time);
    m_.clk_i = 1;
    m_.eval();
    m_.clk_i = 0;
    m_.cfg_retrain_i = 0;
    return out;
  }

  // ---- results
  bool sent_all() const {
    return std::ranges::all_of(tx_, [](const auto& q) { return q.empty(); });
  }
  unsigned state() const { return m_.sts_state_o; }
  bool quiet() const { return sent_all() && m_.sts_unacked_o == 0 && !m_.busy_o; }
  // Nothing happens before a flit arrives or the next tick.
  bool waits() const { return !m_.busy_o && !m_.cfg_retrain_i && (sent_all() || state() != link_up); }
  std::deque<sent_packet>& sent(unsigned vc) { return sent_[vc]; }
  const std::vector<uint64_t>& begun() const { return begun_; }  // addresses of the packets handed over, in order
  std::deque<packet>& received(unsigned vc) { return received_[vc]; }
  size_t received_total() const {
    size_t n = 0;
    for (const auto& q : received_) n += q.size();
    return n;
  }
  const link_counters& count() const { return count_; }
  uint64_t order_errors() const { return order_errors_; }  // NP handed on before a P that preceded it
  uint64_t skipped() const { return skipped_; }
  void expect_np_after(std::deque<sent_packet>* np) { np_expected_ = np; }
  std::array<uint64_t, channels> credit_stalls{};
  uint64_t first_rx_time = 0, first_sop_time = 0, first_offer_time = 0;

 private:
  bool chance(double p) { return p >= 1 || std::uniform_real_distribution<>(0, 1)(rng_) < p; }

  static unsigned beats_of(const packet& p) { return p.data.empty() ? 1 : unsigned(p.data.size() + words - 1) / words; }

  void drive(const std::optional<flit>& in) {
    m_.link_rx_valid_i = in.has_value();
    if (in) {
      m_.link_rx_kind_i = uint8_t(in->kind);
      for (unsigned i = 0; i < words; ++i) set_word(m_.link_rx_data_i, i, uint32_t(in->data[i / 2] >> 32 * (i & 1)));
    }
    m_.link_tx_ready_i = chance(phy_);
    unsigned valid = 0, sop = 0, eop = 0, ready = 0;
    for (unsigned v = 0; v < channels; ++v) {
      ready |= unsigned(chance(ready_[v])) << v;
      if (tx_[v].empty()) continue;
      if (m_.sts_state_o != link_up && beat_[v] == 0) {  // net routes to a link only while it is up
        offered_[v] = false;
        continue;
      }
      if (!offered_[v]) offered_[v] = chance(offer_);  // once offered, held
      if (!offered_[v]) continue;
      valid |= 1u << v;
      drive_beat(v, sop, eop);
    }
    m_.tx_valid_i = valid;
    m_.tx_sop_i = sop;
    m_.tx_eop_i = eop;
    m_.rx_ready_i = ready;
  }

  void drive_beat(unsigned v, unsigned& sop, unsigned& eop) {
    const packet& p = tx_[v].front();
    const auto h = p.header();
    sop |= unsigned(beat_[v] == 0) << v;
    eop |= unsigned(beat_[v] + 1 == beats_of(p)) << v;
    for (unsigned i = 0; i < nic::header_dws; ++i)
      m_.tx_hdr_i[v * nic::header_dws + i] = beat_[v] == 0 ? h[i] : 0xdeadbeef;
    for (unsigned i = 0; i < words; ++i) {
      const size_t dw = size_t(beat_[v]) * words + i;
      m_.tx_data_i[v * words + i] = dw < p.data.size() ? p.data[dw] : 0;
    }
  }

  std::optional<flit> sample(uint64_t time) {
    if (m_.tx_valid_i && !first_offer_time) first_offer_time = time;
    for (unsigned v = 0; v < channels; ++v) {
      take_beat(v);
      deliver_beat(v, time);
    }
    count_.tx_packets += m_.cnt_tx_packets_o;
    count_.rx_packets += m_.cnt_rx_packets_o;
    count_.replays += m_.cnt_tx_replays_o;
    count_.crc_errors += m_.cnt_rx_crc_errors_o;
    count_.seq_errors += m_.cnt_rx_seq_errors_o;
    count_.dead += m_.ev_dead_o;
    count_.lost += (m_.ev_lost_o & 1) + (m_.ev_lost_o >> 1);
    count_.bad += m_.ev_bad_o;
    if (!m_.link_tx_valid_o || !m_.link_tx_ready_i) return std::nullopt;
    flit f{.kind = flit_kind(m_.link_tx_kind_o)};
    for (unsigned i = 0; i < words; ++i) f.data[i / 2] |= uint64_t{get_word(m_.link_tx_data_o, i)} << 32 * (i & 1);
    if (f.kind == flit_kind::sop && !first_sop_time) first_sop_time = time;
    return f;
  }

  void take_beat(unsigned v) {
    if (!(m_.tx_valid_i >> v & 1)) return;
    if (!(m_.tx_ready_o >> v & 1)) {
      // Nothing in flight, nothing on the wire, and still not taken: no credits.
      if (m_.sts_unacked_o == 0 && !m_.link_tx_valid_o && m_.timer_o) ++credit_stalls[v];
      return;
    }
    if (beat_[v] == 0) {
      sent_[v].push_back({tx_[v].front(), p_begun_});
      begun_.push_back(tx_[v].front().addr);
      p_begun_ += v == 0;
    }
    offered_[v] = false;
    if (++beat_[v] < beats_of(tx_[v].front())) return;
    beat_[v] = 0;
    tx_[v].pop_front();
  }

  void deliver_beat(unsigned v, uint64_t time) {
    if (!(m_.rx_valid_o >> v & 1)) return;
    if (!first_rx_time) first_rx_time = time;
    if (!(m_.rx_ready_i >> v & 1)) return;
    if (m_.rx_sop_o >> v & 1) {
      nic::packet_header h;
      for (unsigned i = 0; i < nic::header_dws; ++i) h[i] = m_.rx_hdr_o[v * nic::header_dws + i];
      open_[v] = {};
      open_[v].set_header(h);
      if (v == 1 && np_expected_ && np_taken_ < np_expected_->size() &&
          p_received_ < (*np_expected_)[np_taken_++].p_before)
        ++order_errors_;
    }
    for (unsigned i = 0; i < words && open_[v].data.size() < open_[v].len_dw; ++i)
      open_[v].data.push_back(m_.rx_data_o[v * words + i]);
    if (m_.rx_eop_o >> v & 1) {
      received_[v].push_back(open_[v]);
      p_received_ += v == 0;
    }
  }

  Model m_;
  std::mt19937_64 rng_;
  double offer_ = 1, phy_ = 1;
  std::array<double, channels> ready_{1, 1, 1, 1};
  bool gated_ = false;
  uint64_t skipped_ = 0;
  std::array<std::deque<packet>, channels> tx_, received_;
  std::array<std::deque<sent_packet>, channels> sent_;
  std::vector<uint64_t> begun_;
  std::array<bool, channels> offered_{};
  std::array<unsigned, channels> beat_{};
  std::array<packet, channels> open_{};
  uint64_t p_begun_ = 0, p_received_ = 0, order_errors_ = 0;
  std::deque<sent_packet>* np_expected_ = nullptr;
  size_t np_taken_ = 0;
  link_counters count_;
};

}  // namespace ggas::test
