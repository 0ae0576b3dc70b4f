// SPDX-License-Identifier: Apache-2.0
// Packets as beats on the pins of a stream, and its two ends.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>

#include "sim/nic/packet.hpp"

namespace ggas::test {

using nic::packet;

// One beat of a stream as it stands on the pins.
struct beat {
  bool valid = false, sop = false, eop = false;
  nic::packet_header hdr{};
  std::array<uint32_t, 16> data{};
  bool operator==(const beat&) const = default;
};

// Feeds packets beat by beat; holds what was offered.
struct source {
  std::deque<packet> queue;
  unsigned words = 2, index = 0;
  bool offered = false;

  unsigned beats() const { return std::max<unsigned>(1, unsigned(queue.front().data.size() + words - 1) / words); }
  beat offer(bool willing) {
    offered = !queue.empty() && (offered || willing);
    if (!offered) return {};
    const packet& p = queue.front();
    beat b{.valid = true, .sop = index == 0, .eop = index + 1 == beats(), .hdr = p.header()};
    for (unsigned i = 0; i < words && index * words + i < p.data.size(); ++i) b.data[i] = p.data[index * words + i];
    return b;
  }
  void taken() {
    offered = false;
    if (++index < beats()) return;
    index = 0;
    queue.pop_front();
  }
};

struct sink {
  unsigned words = 2;
  packet open;
  std::deque<packet> got;
  beat held;  // offered and refused in the last cycle: must stand
  uint64_t unstable = 0;

  void see(const beat& b, bool ready) {
    if (held.valid && !(held == b)) ++unstable;
    held = ready ? beat{} : b;
    if (!b.valid || !ready) return;
    if (b.sop) {
      open = {};
      open.set_header(b.hdr);
    }
    for (unsigned i = 0; i < words && open.data.size() < open.len_dw; ++i) open.data.push_back(b.data[i]);
    if (b.eop) got.push_back(open);
  }
};

inline bool same(const packet& a, const packet& b) { return a.header() == b.header() && a.data == b.data; }

}  // namespace ggas::test
