// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "tests/rtl/harness/traffic.hpp"

namespace ggas::test {

#define EXPECT_CLEAN(r) EXPECT_TRUE((r).fail.none()) << (r).report()
#define ASSERT_CLEAN(r) ASSERT_TRUE((r).fail.none()) << (r).report()

// A host without delays of its own, so that what is measured is the NIC.
inline host_behaviour fast_host() {
  return {.cut = 0, .write_delay = 0, .read_delay_min = 1, .read_delay_max = 1, .stall = 0};
}

inline std::vector<uint32_t> some_dws(unsigned n, uint32_t first) {
  std::vector<uint32_t> v(n);
  for (unsigned i = 0; i < n; ++i) v[i] = first + 0x01010101u * i;
  return v;
}

// Bits of a header on which the link itself stands: sequence number, channel, lane and length.
inline bool of_the_link(unsigned bit) {
  return (bit >= 4 && bit < 12) || (bit >= 20 && bit < 23) || (bit >= 29 && bit < 40);
}

// The packet with one bit of its header changed, and its payload as it was.
inline void flip_header_bit(nic::packet& p, unsigned bit) {
  nic::packet_header h = p.header();
  h[bit / 32] ^= 1u << bit % 32;
  p.set_header(h);
}

// A store and a load in each direction and a quiet each: after whatever happened, the NICs still work.
inline void expect_alive(rig& r) {
  static uint32_t value = 0xA11E0000;
  for (unsigned n = 0; n < 2; ++n) {
    const unsigned other = 1 - n;
    const uint64_t at = r.cfg.stride / 2 + 0x7000 + n * 0x800;
    const auto dws = some_dws(24, value += 0x111);
    r.write(n, make_write(bar_window, r.window(other, at), dws));
    const auto got = r.read(n, make_read(bar_window, r.window(other, at), 24));
    EXPECT_TRUE(got.ok() && got.dws == dws) << "side " << n << " status " << unsigned(got.status) << "\n" << r.report();
    const auto q = r.quiet(n);
    EXPECT_TRUE(q.ok() && q.value() == 0) << "side " << n << ": quiet " << q.value() << "\n" << r.report();
  }
}

}  // namespace ggas::test
