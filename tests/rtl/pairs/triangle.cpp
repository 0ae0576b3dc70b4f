// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/pairs/triangle.hpp"

#include <string>

#include "sim/nic/rtl/nic_rtl.hpp"

namespace ggas::test {

namespace {
constexpr unsigned latency = 20, groups = 64, all_nodes = 64;
constexpr unsigned watchdog_ticks = 2 * triangle::slow;
}  // namespace

triangle::triangle(uint64_t seed) {
  const nic::host_config cfg{.mps = mtu, .mrrs = 512, .bus_id = 0x0100, .clock_khz = 1'000, .links = size - 1};
  const host_behaviour how{.write_delay = 4, .read_delay_min = 1, .read_delay_max = 20, .stall = 0.01};
  for (unsigned n = 0; n < size; ++n) {
    node& x = nodes_[n];
    auto made = nic::make_nic_rtl(width, cfg, ("nic" + std::to_string(n)).c_str());
    if (!made) {
      fail.add("{}", made.error());
      return;
    }
    x.nic = std::move(*made);
    x.host = std::make_unique<host_model>(*x.nic, cfg, how, 5 * seed + n, fail);
    x.host->on_pop = [this, n](const pcie::tlp& t) {
      if (on_tlp_out) on_tlp_out(n, t);
    };
    for (unsigned l = 0; l < size - 1; ++l) {
      x.out[l] = std::make_unique<link_channel>(width, latency, 7 * seed + 2 * n + l);
      x.nic->link_up(l, true);
      x.nic->link_ready(l, true);
    }
    x.nic->gate(true, true, true);
  }
}

void triangle::step() {
  fail.now = now_;
  for (unsigned n = 0; n < size; ++n) {
    node& x = nodes_[n];
    x.host->before_step(now_);
    for (unsigned from = 0; from < size; ++from)
      if (const auto f = from == n ? std::nullopt : wire(from, n).receive(now_)) x.nic->link_in(port(n, from), *f);
    x.stepped = x.nic->busy() || (x.nic->timer() && now_ % nic::nic_core::tick_cycles == 0);
    if (x.stepped) x.nic->step(now_);
  }
  for (node& x : nodes_) {
    for (unsigned l = 0; l < size - 1; ++l)
      if (const auto f = x.stepped ? x.nic->link_out(l) : std::nullopt) x.out[l]->send(*f, now_);
    x.host->after_step(now_);
  }
  if (on_step) on_step();
  ++now_;
}

void triangle::cable(unsigned a, unsigned b, bool on) {
  for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
    nic(from).link_up(port(from, to), on);
    wire(from, to).cut = !on;
  }
}

bool triangle::end_up(unsigned a, unsigned b) {
  return (read_register(a, GGAS_REG_LINKS) >> (GGAS_LINKS_STATES_SHIFT + 2 * port(a, b)) & 3) == GGAS_LINK_STATE_UP;
}
bool triangle::up(unsigned a, unsigned b) { return end_up(a, b) && end_up(b, a); }

void triangle::set_second(unsigned n, bool on) {
  const unsigned to = 1 - n;
  write_register(n, GGAS_REG_ROUTE,
                 to | uint64_t{port(n, to)} << GGAS_ROUTE_LINK_SHIFT | GGAS_ROUTE_VALID_MASK | GGAS_ROUTE_SET_MASK |
                     uint64_t{port(n, 2)} << GGAS_ROUTE_SECOND_LINK_SHIFT | GGAS_ROUTE_SECOND_LANE_MASK |
                     uint64_t{on} << GGAS_ROUTE_SECOND_SHIFT);
}

// A branch to each other node, in lane 0: the ways of other packets, so that a quiet is after the stores.
void triangle::set_group(unsigned n, unsigned group, bool valid) {
  uint64_t line = group | GGAS_MULTICAST_SET_MASK | uint64_t{valid} << GGAS_MULTICAST_VALID_SHIFT;
  if (n == group)
    line |= uint64_t{7} << GGAS_MULTICAST_LINK_SHIFT | uint64_t{0b101} << GGAS_MULTICAST_BRANCHES_SHIFT;
  else
    line |= uint64_t{port(n, group)} << GGAS_MULTICAST_LINK_SHIFT | GGAS_MULTICAST_MEMBER_MASK;
  write_register(n, GGAS_REG_MULTICAST, line);
}

void triangle::set_up_network(unsigned n) {
  write_register(n, GGAS_REG_NODE, n);
  write_register(n, GGAS_REG_LINK_CTRL, link_ctrl);
  write_register(n, GGAS_REG_WATCHDOG, watchdog_ticks);
  for (unsigned to = size; to < all_nodes; ++to) write_register(n, GGAS_REG_ROUTE, to | GGAS_ROUTE_SET_MASK);
  for (unsigned to = 0; to < size; ++to)
    write_register(n, GGAS_REG_ROUTE,
                   to | uint64_t{to == n ? 0 : port(n, to)} << GGAS_ROUTE_LINK_SHIFT |
                       uint64_t{to != n} << GGAS_ROUTE_VALID_SHIFT | GGAS_ROUTE_SET_MASK);
  if (n < 2) set_second(n, true);
  for (unsigned group = 0; group < groups; ++group)
    for (unsigned lane = 0; lane < 2; ++lane)
      write_register(n, GGAS_REG_MULTICAST, group | lane << GGAS_MULTICAST_LANE_SHIFT | GGAS_MULTICAST_SET_MASK);
  for (unsigned group = 0; group < size; ++group) set_group(n, group, true);
}

void triangle::peers(bool valid) {
  for (unsigned n = 0; n < size; ++n)
    write_register(n, GGAS_REG_LINK_PEER, (size - 1) | (valid ? GGAS_LINK_PEER_VALID_MASK : 0));
}

bool triangle::retrain() {
  for (unsigned i = 0; i < 30; ++i) {
    if (up(0, 1) && up(1, 2) && up(2, 0)) return true;
    for (unsigned n = 0; n < size; ++n) write_register(n, GGAS_REG_LINK_CTRL, link_ctrl | GGAS_LINK_CTRL_RETRAIN_MASK);
    run(1'100);  // a side that does not receive its peer asks once a tick
  }
  fail.add("the links do not come up again");
  return false;
}

}  // namespace ggas::test
