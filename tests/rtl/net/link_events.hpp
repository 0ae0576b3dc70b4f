// SPDX-License-Identifier: Apache-2.0
// link_pkg::link_events_t at the pins of a Verilated module.
#pragma once

#include <array>
#include <cstdint>

namespace ggas::test {

struct link_events {
  unsigned dead = 0, tries = 0, up = 0, link = 0, lost = 0, bad = 0, bad_src = 0, bad_op = 0, no_route = 0;
  uint64_t no_route_who = 0;
  unsigned cut = 0, cut_vc = 0;

  template <class Port>
  static link_events of(const Port& port) {
    unsigned at = 0;
    const auto next = [&](unsigned width) {
      uint64_t v = 0;
      for (unsigned i = 0; i < width; ++i, ++at) v |= uint64_t{port[at / 32] >> at % 32 & 1} << i;
      return v;
    };
    link_events e;
    e.cut_vc = unsigned(next(2)), e.cut = unsigned(next(1)), e.no_route_who = next(40), e.no_route = unsigned(next(1));
    e.bad_op = unsigned(next(8)), e.bad_src = unsigned(next(16)), e.bad = unsigned(next(1)), e.lost = unsigned(next(2));
    e.link = unsigned(next(3)), e.up = unsigned(next(1)), e.tries = unsigned(next(8)), e.dead = unsigned(next(1));
    return e;
  }
  template <class Port>
  void drive(Port& port) const {
    unsigned at = 0;
    for (unsigned i = 0; i < 3; ++i) port[i] = 0;
    const auto next = [&](unsigned width, uint64_t v) {
      for (unsigned i = 0; i < width; ++i, ++at) port[at / 32] |= uint32_t(v >> i & 1) << at % 32;
    };
    next(2, cut_vc), next(1, cut), next(40, no_route_who), next(1, no_route), next(8, bad_op), next(16, bad_src);
    next(1, bad), next(2, lost), next(3, link), next(1, up), next(8, tries), next(1, dead);
  }
};

}  // namespace ggas::test
