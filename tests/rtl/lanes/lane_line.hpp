// SPDX-License-Identifier: Apache-2.0
// One direction of a link over lanes: the sender, wires that are not ideal, and the receiver. Its clocks are the
// caller's.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "tests/rtl/lanes/wire.hpp"

namespace ggas::test {

template <class Model, unsigned Lanes>
class lane_line {
 public:
  explicit lane_line(uint64_t seed) : rng_(seed) {
    for (const bool reset : {false, true, false}) {
      m_.rst_ni = !reset;
      edge(false, false, false);
    }
    connect();
  }
  ~lane_line() { m_.final(); }

  void bit_errors(double p) { errors_ = p; }  // of a block of a lane
  void noise(unsigned lane_mask) { noise_ = lane_mask; }
  // New cables: every lane somewhere in a block, up to five blocks late.
  void connect() {
    for (auto& w : wire_) w.connect(unsigned(rng_.below(66)), unsigned(rng_.range(2, 7)));
  }
  void slip_one() { wire_[rng_.below(Lanes)].slip(); }

  // Clocks that rise now: of the NIC that sends, of the lanes, of the NIC that receives; then all are low.
  void rise(bool from, bool on_wire, bool to) {
    edge(from, on_wire, to);
    if (on_wire) carry();
    edge(false, false, false);
  }

  Model& pins() { return m_; }
  const Model& pins() const { return m_; }
  void flit_word(unsigned l, uint64_t v) { set(m_.flit_data_i, l, v); }
  uint64_t flit_word(unsigned l) const { return get(m_.flit_data_o, l); }

 private:
  void edge(bool from, bool on_wire, bool to) {
    m_.from_clk_i = from;
    m_.wire_clk_i = on_wire;
    m_.to_clk_i = to;
    m_.eval();
  }
  void carry() {
    const unsigned slips = m_.rx_slip_o;
    uint64_t headers = 0;
    for (unsigned l = 0; l < Lanes; ++l) {
      wire_[l].push({unsigned(m_.tx_header_o >> 2 * l & 3), get(m_.tx_data_o, l)});
      if (slips >> l & 1) wire_[l].slip();
      block b = noise_ >> l & 1 ? block{unsigned(rng_.below(4)), rng_.next()} : wire_[l].pop();
      if (rng_.chance(errors_)) damage(b);
      headers |= uint64_t{b.header} << 2 * l;
      set(m_.rx_data_i, l, b.data);
    }
    m_.rx_header_i = headers;
  }
  void damage(block& b) {
    const unsigned bit = unsigned(rng_.below(66));
    (bit < 2 ? b.header ^= 1u << bit : b.data ^= uint64_t{1} << (bit - 2));
  }
  template <class Port>
  static uint64_t get(const Port& p, unsigned l) {
    return p[2 * l] | uint64_t{p[2 * l + 1]} << 32;
  }
  template <class Port>
  static void set(Port& p, unsigned l, uint64_t v) {
    p[2 * l] = uint32_t(v);
    p[2 * l + 1] = uint32_t(v >> 32);
  }

  Model m_;
  rng rng_;
  std::array<lane_wire, Lanes> wire_;
  double errors_ = 0;
  unsigned noise_ = 0;
};

// Rising edges of clocks that are some parts per million fast, one after the other.
template <unsigned Clocks>
class lane_clocks {
 public:
  lane_clocks() {
    period_.fill(nominal);
    for (unsigned i = 0; i < Clocks; ++i) next_[i] = nominal + i * 1'234'567;
  }
  void fast(unsigned clock, int ppm) { period_[clock] = nominal - uint64_t(int64_t(nominal) / 1'000'000 * ppm); }
  // Those that rise next.
  std::array<bool, Clocks> step() {
    const uint64_t now = *std::min_element(next_.begin(), next_.end());
    std::array<bool, Clocks> rises{};
    for (unsigned i = 0; i < Clocks; ++i) {
      rises[i] = next_[i] == now;
      if (rises[i]) next_[i] += period_[i];
    }
    return rises;
  }

 private:
  static constexpr uint64_t nominal = 4'000'000'000;  // 4 ns in attoseconds
  std::array<uint64_t, Clocks> period_{}, next_{};
};

}  // namespace ggas::test
