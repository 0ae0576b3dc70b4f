// SPDX-License-Identifier: Apache-2.0
// Pulsed events on one port: one of each source waits, and one that comes as it leaves is the next to wait.
#include <gtest/gtest.h>
#include <verilated.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "Vevent_collector.h"
#include "tests/rtl/unit_model.hpp"

namespace ggas::test {
namespace {

constexpr unsigned sources = 3;

TEST(collector, TellsOfWhatFoundItsPlaceFree) {
  Vevent_collector v;
  v.rst_ni = 1;  // an edge of the reset
  v.eval();
  v.rst_ni = 0;
  for (int i = 0; i < 4; ++i) v.clk_i = i & 1, v.eval();
  v.rst_ni = 1;
  std::mt19937_64 random(1);
  std::array<std::vector<uint64_t>, sources> expected, reported;
  std::array<bool, sources> waits{};
  for (uint64_t now = 1; now <= 20000; ++now) {
    const bool last = now > 19900;  // what waits leaves
    v.valid_i = last ? 0 : random() & random() & 7;
    v.event_ready_i = last || random() % 2;
    for (unsigned s = 0; s < sources; ++s) v.events_i[2 * s] = static_cast<uint32_t>(now), v.events_i[2 * s + 1] = s;
    v.clk_i = 0;
    v.eval();
    if (v.event_valid_o && v.event_ready_i) reported.at(v.event_o >> 32).push_back(v.event_o & 0xffffffff);
    for (unsigned s = 0; s < sources; ++s) {
      const bool leaves = v.ready_o >> s & 1, comes = v.valid_i >> s & 1;
      if (comes && (!waits[s] || leaves)) expected[s].push_back(now);
      waits[s] = comes || (waits[s] && !leaves);
    }
    v.clk_i = 1;
    v.eval();
  }
  EXPECT_EQ(reported, expected);
  EXPECT_GT(reported[0].size(), 1000u);
  EXPECT_FALSE(v.busy_o);
  end_model(v);
}

}  // namespace
}  // namespace ggas::test
