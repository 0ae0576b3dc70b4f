// SPDX-License-Identifier: Apache-2.0
// Packets that have come to an input of a network and wait: a FIFO for each channel, linked through the records of the
// packets (their members `next` and `arrived`).
#pragma once

#include <array>
#include <cstdint>

#include "sim/nic/packet.hpp"

namespace ggas::fabric {

inline constexpr unsigned posted = unsigned(nic::vc::p), non_posted = unsigned(nic::vc::np);

struct arrivals {
  static constexpr unsigned vcs = 4, channels = 2 * vcs;
  static constexpr uint32_t none = UINT32_MAX;
  struct fifo {
    uint32_t first = none, last = none;  // numbers of records
  };
  std::array<fifo, channels> of;

  template <class Records>
  void append(Records& records, unsigned channel, uint32_t f) {
    fifo& q = of[channel];
    records[f].next = none;
    (q.first == none ? q.first : records[q.last].next) = f;
    q.last = f;
  }

  // Whether the first of that channel, an NP packet, came after a P packet that is still here.
  template <class Records>
  bool behind_posted(const Records& records, unsigned channel) const {
    if (channel % vcs != non_posted) return false;
    const uint64_t arrived = records[of[channel].first].arrived;
    const auto older = [&](unsigned c) { return of[c].first != none && records[of[c].first].arrived < arrived; };
    return older(posted) || older(posted + vcs);
  }
};

}  // namespace ggas::fabric
