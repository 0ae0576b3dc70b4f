// SPDX-License-Identifier: Apache-2.0
// Energy of a node: times of states, and what coefficients make of them.
#include "sim/power/power.hpp"

#include <gtest/gtest.h>

#include "sim/platform/platform.hpp"
#include "sim/power/held_time.hpp"

namespace ggas::test {
namespace {

TEST(held_time, is_a_count_over_time) {
  power::held_time t;
  EXPECT_EQ(t.sum_ps(100), 0u);
  t.change(1, 100);
  t.change(2, 150);
  t.change(-1, 200);
  EXPECT_EQ(t.sum_ps(260), 50u + 3 * 50 + 2 * 60);
  EXPECT_EQ(t.any_ps(260), 160u);
  t.clear(300);
  EXPECT_EQ(t.count(), 0u);
  EXPECT_EQ(t.sum_ps(1000), t.sum_ps(300));
  EXPECT_EQ(t.any_ps(1000), 200u);
}

// Every counter that energy is made of, each with a number of its own.
const power::activity busy = {{"time_ps", 2'000'000'000'000},
                              {"cpu.working_ps", 300'000'000'000},
                              {"cpu.polling_ps", 1'100'000'000'000},
                              {"cpu.awake_ps", 900'000'000'000},
                              {"dram.bytes", 7'000'000'000},
                              {"gpus", 2},
                              {"gpu.resident_ps", 1'300'000'000'000},
                              {"gpu.sm_ps", 9'000'000'000'000},
                              {"gpu.computing_ps", 500'000'000'000},
                              {"gpu.flops", 11'000'000'000},
                              {"gpu.l2_bytes", 13'000'000'000},
                              {"gpu.memory_bytes", 17'000'000'000},
                              {"pcie.lanes", 24},
                              {"pcie.bytes", 19'000'000'000},
                              {"link.ports", 3},
                              {"link.flits", 23'000'000'000}};

power::coefficients of(const std::string& override_text = {}) {
  std::vector<std::string> overrides{"power.pcie.byte_pj=3.0"};
  if (!override_text.empty()) overrides.push_back(override_text);
  const auto p = sim::load_platform("galibier-k20", overrides);
  EXPECT_TRUE(p) << p.error();
  return p->power;
}

TEST(power, nothing_but_time_is_idle) {
  const auto c = of();
  double idle_w = 0;
  for (const power::part& p :
       power::energy(c, {{"time_ps", 2'000'000'000'000}, {"gpus", 1}, {"pcie.lanes", 24}, {"link.ports", 1}})) {
    EXPECT_EQ(p.above_j, 0) << p.name;
    idle_w += p.idle_j / 2;
  }
  const double reported =
      c.processor.idle_w + c.dram.idle_w + c.gpu.idle_w + 24 * c.pcie.lane_w + c.nic.idle_w + c.link.port_w;
  EXPECT_NEAR(idle_w, reported, 1e-9 * reported);
}

TEST(power, twice_the_activity_is_twice_the_energy) {
  power::activity twice = busy;
  for (auto& [name, value] : twice)
    if (name != "gpus" && name != "pcie.lanes" && name != "link.ports") value *= 2;
  const auto once = power::energy(of(), busy), both = power::energy(of(), twice);
  for (size_t i = 0; i < once.size(); ++i) {
    EXPECT_NEAR(both[i].idle_j, 2 * once[i].idle_j, 1e-9 * both[i].idle_j) << once[i].name;
    EXPECT_NEAR(both[i].above_j, 2 * once[i].above_j, 1e-9 * both[i].above_j) << once[i].name;
  }
}

class one_coefficient : public testing::TestWithParam<std::pair<const char*, const char*>> {};

// A coefficient that is larger makes its own part larger, and no other one.
TEST_P(one_coefficient, moves_its_part_alone) {
  const auto& [key, part] = GetParam();
  const auto before = power::energy(of(), busy),
             after = power::energy(of(std::string("power.") + key + "=9999.0"), busy);
  for (size_t i = 0; i < before.size(); ++i) {
    const double moved = (after[i].idle_j - before[i].idle_j) + (after[i].above_j - before[i].above_j);
    if (before[i].name == std::string_view(part))
      EXPECT_GT(moved, 0) << before[i].name;
    else
      EXPECT_EQ(moved, 0) << before[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    power, one_coefficient,
    testing::Values(std::pair{"processor.idle_w", "processor"}, std::pair{"processor.working_w", "processor"},
                    std::pair{"processor.polling_w", "processor"}, std::pair{"dram.idle_w", "dram"},
                    std::pair{"dram.awake_w", "dram"}, std::pair{"dram.byte_pj", "dram"},
                    std::pair{"gpu.idle_w", "gpu"}, std::pair{"gpu.resident_w", "gpu"}, std::pair{"gpu.sm_w", "gpu"},
                    std::pair{"gpu.computing_w", "gpu"}, std::pair{"gpu.flop_pj", "gpu"},
                    std::pair{"gpu.l2_byte_pj", "gpu"}, std::pair{"gpu_memory.byte_pj", "gpu_memory"},
                    std::pair{"pcie.lane_w", "pcie"}, std::pair{"pcie.byte_pj", "pcie"}, std::pair{"nic.idle_w", "nic"},
                    std::pair{"link.port_w", "link"}, std::pair{"link.flit_pj", "link"}));

}  // namespace
}  // namespace ggas::test
