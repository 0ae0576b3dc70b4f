// SPDX-License-Identifier: Apache-2.0
// Streams at the pins of a Verilated unit: packets or TLPs enter with random idle cycles and leave with random
// back-pressure. An output that changes or disappears while it waits, or that does not match its header, is a failure.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <random>
#include <type_traits>
#include <vector>

#include "sim/nic/packet.hpp"
#include "sim/nic/rtl/tlp_pins.hpp"
#include "tests/rtl/beat_pins.hpp"
#include "tests/rtl/unit_model.hpp"
#include "tests/support/number_of.hpp"

namespace ggas::test::rma {

using nic::net_status;
using nic::op;
using nic::packet;
using pcie::tlp;
using pcie::tlp_kind;

// A source of chance shared by everything around one unit.
class dice {
 public:
  explicit dice(uint64_t n) : rng_(n) {}
  bool chance(unsigned percent) { return percent >= 100 || rng_() % 100 < percent; }
  uint64_t below(uint64_t n) { return rng_() % n; }
  uint64_t bits() { return rng_(); }

 private:
  std::mt19937_64 rng_;
};

template <class T>
nic::packet_header header_bits(const T& t) {
  nic::packet_header h{};
  if constexpr (std::is_same_v<T, tlp>) {
    nic::pins::pack(t, h);
  } else {
    h = t.header();
  }
  return h;
}
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

// Into the unit.
template <class T, unsigned W>
class feed {
 public:
  unsigned percent = 100;  // chance a cycle that a beat is offered
  uint64_t taken = 0;      // whole packets

  void push(const T& t) {
    const size_t words = W / 32, n = std::max<size_t>(1, (t.data.size() + words - 1) / words);
    for (size_t i = 0; i < n; ++i) {
      beat b{i == 0, i + 1 == n, header_bits(t), {}};
      for (size_t k = i * words; k < std::min(t.data.size(), (i + 1) * words); ++k) b.words.push_back(t.data[k]);
      beats_.push_back(std::move(b));
    }
  }
  bool empty() const { return beats_.empty(); }
  size_t backlog() const { return beats_.size(); }
  bool offered() const { return offered_; }

  void drive(dice& d, uint8_t& valid, uint8_t& sop, uint8_t& eop, auto& hdr, auto& data) {
    if (!offered_) offered_ = !beats_.empty() && d.chance(percent);
    valid = offered_;
    if (!offered_) return;
    const beat& b = beats_.front();
    sop = b.sop, eop = b.eop;
    // Between the first beats of packets a header is anything.
    for (size_t i = 0; i < sizeof(hdr) / 4; ++i)
      hdr[i] = b.sop ? b.hdr[i] : 0xdeadbeef & (i == 4 && sizeof(hdr) == 20 ? 0x7fffffffu : ~0u);
    nic::pins::put_words<W>(data, b.words.data(), b.words.size());
  }
  // The same at the pins of a struct of beats.
  void drive(dice& d, auto& port, auto& data) {
    uint8_t valid = 0, sop = 0, eop = 0;
    uint32_t hdr[pins::header_words<std::remove_reference_t<decltype(port)>>];
    drive(d, valid, sop, eop, hdr, data);
    pins::set(port, pins::valid, valid);
    if (!valid) return;
    pins::put_header(port, hdr);
    pins::set(port, pins::sop, sop);
    pins::set(port, pins::eop, eop);
  }
  void sample(bool ready) {
    if (!offered_ || !ready) return;
    taken += beats_.front().eop;
    beats_.pop_front();
    offered_ = false;
  }

 private:
  struct beat {
    bool sop = false, eop = false;
    nic::packet_header hdr{};
    std::vector<uint32_t> words;
  };
  std::deque<beat> beats_;
  bool offered_ = false;
};

// Out of the unit.
template <class T, unsigned W>
class drain {
 public:
  unsigned percent = 100;  // chance a cycle that a beat is taken
  std::vector<T> all;
  uint64_t first = 0, last = 0;  // cycles of the first and last beat of the latest packet
  bool accepted = false;         // a beat was taken in this cycle

  explicit drain(const char* name) : name_(name) {}
  bool ready(dice& d) { return d.chance(percent); }
  bool inside() const { return inside_; }  // a packet is begun and not ended
  // The same at the pins of a struct of beats.
  bool sample(uint64_t now, const auto& port, bool ready, const auto& data) {
    using words = std::array<uint32_t, pins::header_words<std::remove_cvref_t<decltype(port)>>>;
    return sample(now, pins::get(port, pins::valid), ready, pins::get(port, pins::sop), pins::get(port, pins::eop),
                  pins::get_header<words>(port), data);
  }
  // True when a packet is complete: it is all.back().
  bool sample(uint64_t now, bool valid, bool ready, bool sop, bool eop, const auto& hdr, const auto& data) {
    constexpr size_t words = W / 32;
    EXPECT_TRUE(valid || !held_) << name_ << " dropped valid at cycle " << now;
    accepted = valid && ready;
    if (!valid) return false;
    nic::packet_header h{};
    for (size_t i = 0; i < sizeof(hdr) / 4; ++i) h[i] = hdr[i];
    std::vector<uint32_t> bits{sop, eop};
    if (sop) bits.insert(bits.end(), h.begin(), h.end());
    for (size_t i = 0; i < words; ++i) bits.push_back(nic::pins::get_word<W>(data, i));
    EXPECT_TRUE(!held_ || bits == held_bits_) << name_ << " changed while waiting at cycle " << now;
    held_ = !ready;
    held_bits_ = bits;
    if (!ready) return false;
    EXPECT_EQ(sop, !inside_) << name_ << " framing at cycle " << now;
    if (sop) open_ = from_bits<T>(h), first = now;
    const size_t left = payload(open_) - open_.data.size();
    EXPECT_EQ(eop, left <= words) << name_ << " length at cycle " << now;
    for (size_t i = 0; i < std::min(left, words); ++i) open_.data.push_back(nic::pins::get_word<W>(data, i));
    inside_ = !eop;
    if (!eop) return false;
    all.push_back(open_);
    last = now;
    return true;
  }

 private:
  static size_t payload(const packet& p) { return p.len_dw; }
  static size_t payload(const tlp& t) { return t.has_data() ? t.len_dw : 0; }
  const char* name_;
  T open_{};
  bool inside_ = false, held_ = false;
  std::vector<uint32_t> held_bits_;
};

inline uint64_t qword(const auto& data, size_t i) { return data[2 * i] | uint64_t{data[2 * i + 1]} << 32; }

}  // namespace ggas::test::rma
