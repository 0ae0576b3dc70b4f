// SPDX-License-Identifier: Apache-2.0
#include "sim/nic/rtl/nic_clock.hpp"

#include <algorithm>

#include "sim/pcie/port.hpp"

namespace ggas::nic {

nic_clock::nic_clock(sc_core::sc_module_name name, uint64_t hertz) : sc_module(name), edges_{hertz} {}

unsigned nic_clock::attach(clocked& c) {
  clients_.push_back({&c, clocked::never});
  return unsigned(clients_.size() - 1);
}

void nic_clock::wake(unsigned id, uint64_t at_ps) {
  const uint64_t n = std::max(edge_from(std::max(at_ps, pcie::now_ps())), done_);
  clients_[id].next = std::min(clients_[id].next, n);
  if (!ticking_) schedule(n);
}

void nic_clock::schedule(uint64_t n) {
  if (n >= scheduled_) return;
  scheduled_ = n;
  event_.notify(sc_core::sc_time::from_value(edges_.at_ps(n) - pcie::now_ps()));
}

void nic_clock::tick() {
  const uint64_t n = scheduled_, now = pcie::now_ps();
  scheduled_ = clocked::never;
  done_ = n + 1;
  ticking_ = true;
  for (client& c : clients_) {
    if (c.next > n) continue;
    c.next = clocked::never;
    const uint64_t next = c.what->edge(n, now);
    c.next = std::min(c.next, next);
  }
  ticking_ = false;
  uint64_t next = clocked::never;
  for (const client& c : clients_) next = std::min(next, c.next);
  if (next != clocked::never) schedule(next);
}

}  // namespace ggas::nic
