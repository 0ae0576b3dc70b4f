// SPDX-License-Identifier: Apache-2.0
// Shares of a link among the inputs of a node: by virtual time, so that each flow has the same share (start-time fair
// queueing, docs/network.md#shares). Like net_output of the RTL, in bytes that wrap.
#pragma once

#include <array>
#include <cstdint>

#include "sim/fabric/topology.hpp"

namespace ggas::fabric {

class shares {
 public:
  static constexpr unsigned own = max_ports;  // the input of the own units; the others are links

  // The input whose packet is sent next. `heads` has a bit for each input that has one; `vtime` is the packet's
  // virtual time.
  template <class Vtime>
  unsigned next(unsigned heads, Vtime vtime) const {
    return earliest(heads, last_, vtime);
  }
  // The earliest packet of a set, among equals the first after the input `last`.
  template <class Vtime>
  unsigned earliest(unsigned heads, unsigned last, Vtime vtime) const {
    unsigned best = own, least = ~0u;
    for (unsigned turn = 1; turn <= own + 1; ++turn) {
      const unsigned input = (last + turn) % (own + 1);
      if (!(heads >> input & 1)) continue;
      const unsigned order = order_of(uint8_t(start_of(input, vtime(input)) - now_));
      if (order < least) best = input, least = order;
    }
    return best;
  }
  // It begins. What it carries to the next link.
  uint8_t begin(unsigned input, uint8_t vtime, unsigned dws) {
    const uint8_t start = start_of(input, vtime), ahead = uint8_t(start - now_);
    const bool late = ahead & 0x80;
    if (input != own) shift_[input] = uint8_t(bounded(start, ahead) - vtime);
    late_ = uint8_t((late_ + late) % late_turns);
    if (!late) now_ = ahead > most_ahead ? uint8_t(now_ + most_ahead) : start;
    const uint8_t own_next = uint8_t(own_ + (input == own ? 1 + dws / dws_of_a_step : 0));
    own_ = uint8_t(own_next - now_) & 0x80 ? now_ : own_next;
    last_ = uint8_t(input);
    return start;
  }

 private:
  static constexpr unsigned most_ahead = 31, most_late = 96, late_turns = 64, dws_of_a_step = 16;
  static constexpr unsigned late_orders = 32;  // who is later is as late as that

  uint8_t start_of(unsigned input, uint8_t vtime) const { return input == own ? own_ : uint8_t(vtime + shift_[input]); }
  static unsigned order_of(uint8_t ahead) {
    const int by = int8_t(ahead);
    if (by < -int(late_orders)) return 0;
    return by > int(most_ahead) ? late_orders + most_ahead : unsigned(by + int(late_orders));
  }
  // Who is too far off is brought nearer; one in 64 of those that are late, too, by one.
  uint8_t bounded(uint8_t start, uint8_t ahead) const {
    const int by = int8_t(ahead);
    if (by < -int(most_late)) return uint8_t(now_ - most_late);
    if (by > int(most_ahead)) return uint8_t(now_ + most_ahead);
    return by < 0 && late_ == 0 ? uint8_t(start + 1) : start;
  }

  uint8_t now_ = 0, own_ = 0;  // virtual times of the link, and of the next packet of the own units
  uint8_t late_ = 0, last_ = 0;
  std::array<uint8_t, max_ports> shift_{};  // makes the time of the link before one of this link
};

}  // namespace ggas::fabric
