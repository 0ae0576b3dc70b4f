// SPDX-License-Identifier: Apache-2.0
// One clock for all NICs of one frequency. It ticks only at requested edges, so idle NICs cost nothing, and one
// simulator event serves all NICs of an edge. Edge n lies at n / frequency, rounded up to a picosecond: no drift.
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "sim/pcie/timer.hpp"

namespace ggas::nic {

// Edge n lies at n / hertz, rounded up to a picosecond.
struct clock_edges {
  uint64_t hertz;
  uint64_t at_ps(uint64_t n) const {
    return uint64_t((static_cast<unsigned __int128>(n) * ps_per_s + hertz - 1) / hertz);
  }
  uint64_t from(uint64_t ps) const {  // the first edge at or after
    const auto n = uint64_t(static_cast<unsigned __int128>(ps) * hertz / ps_per_s);
    return at_ps(n) >= ps ? n : n + 1;
  }
  static constexpr uint64_t ps_per_s = 1'000'000'000'000;
};

class clocked {
 public:
  virtual ~clocked() = default;
  static constexpr uint64_t never = ~uint64_t(0);
  // One rising edge. Returns the next edge wanted (> n), or never.
  virtual uint64_t edge(uint64_t n, uint64_t now_ps) = 0;
};

class nic_clock : public sc_core::sc_module {
 public:
  nic_clock(sc_core::sc_module_name name, uint64_t hertz);

  unsigned attach(clocked& c);
  // Client `id` requests the first edge at or after that time, if it has not requested an earlier one. During an edge,
  // and at its time, the first such edge is the next one.
  void wake(unsigned id, uint64_t at_ps);
  uint64_t edge_from(uint64_t at_ps) const { return edges_.from(at_ps); }  // first edge at or after
  // When the next edge that someone has asked for comes; clocked::never: no one has.
  uint64_t next_ps() const { return scheduled_ == clocked::never ? clocked::never : edges_.at_ps(scheduled_); }

 private:
  void tick();
  void schedule(uint64_t n);

  struct client {
    clocked* what;
    uint64_t next;
  };
  clock_edges edges_;
  std::vector<client> clients_;
  uint64_t done_ = 0;  // edges before this one are history
  uint64_t scheduled_ = clocked::never;
  bool ticking_ = false;
  pcie::timer event_{[this] { tick(); }, pcie::timer::turn::last};
};

}  // namespace ggas::nic
