// SPDX-License-Identifier: Apache-2.0
// What becomes of readings: wraps, counters that begin again, stand still or do not answer, and energies by two ways.
#include "benchmarks/energy/sensor.hpp"

#include <gtest/gtest.h>

#include "benchmarks/energy/meter.hpp"

namespace ggas::bench {
namespace {

constexpr double range_j = 65'536;

// Energy between the first and the last of some readings, a tenth of a second apart.
spent_energy spent(const std::vector<std::optional<double>>& counted,
                   const std::vector<std::optional<double>>& power = {}, double range = range_j) {
  sensor_log log(range);
  const auto at = [&](const auto& of, size_t i) { return i < of.size() ? of[i] : std::nullopt; };
  log.add(0, at(counted, 0), at(power, 0));
  const sensor_log::mark from = log.now();
  for (size_t i = 1; i < std::max(counted.size(), power.size()); ++i)
    log.add(0.1 * double(i), at(counted, i), at(power, i));
  return sensor_log::between(from, log.now());
}

TEST(sensor, a_counter_is_a_difference) { EXPECT_DOUBLE_EQ(spent({100, 103, 108}).counter_j.value(), 8); }

TEST(sensor, a_counter_that_wraps_goes_on) {
  EXPECT_DOUBLE_EQ(spent({range_j - 2, 3}).counter_j.value(), 5);
  EXPECT_DOUBLE_EQ(spent({range_j - 2, 3, 10, range_j - 100, 0}).counter_j.has_value(), false);  // 65 kJ in 0.1 s
}

TEST(sensor, a_counter_that_begins_again_gives_nothing) {
  EXPECT_FALSE(spent({30'000, 1, 50}).counter_j);
  EXPECT_FALSE(spent({30'000, 1, 50}, {}, 0).counter_j);  // one that never wraps
}

TEST(sensor, a_counter_that_stands_still_gives_nothing) {
  EXPECT_FALSE(spent({100, 100, 100}).counter_j);
  EXPECT_FALSE(spent({0, 0}).joules());
}

TEST(sensor, a_reading_that_is_missing_gives_nothing) {
  EXPECT_FALSE(spent({100, std::nullopt, 108}).counter_j);
  EXPECT_FALSE(spent({}).counter_j);
  EXPECT_FALSE(spent({std::nullopt, 103, 108}).counter_j);  // when it began is not known
  EXPECT_FALSE(spent({}, {10, std::nullopt, 10}).integral_j);
}

TEST(sensor, what_is_lost_in_one_window_is_there_in_the_next) {
  sensor_log log(range_j);
  log.add(0, 30'000, {});
  log.add(0.1, 1, {});
  const sensor_log::mark from = log.now();
  log.add(0.2, 51, {});
  EXPECT_DOUBLE_EQ(sensor_log::between(from, log.now()).counter_j.value(), 50);
}

// Steps of a tenth of a second between readings of a millisecond.
TEST(sensor, steps_of_the_counter_are_no_fault) {
  sensor_log log(0);
  log.add(0, 100, {});
  const sensor_log::mark from = log.now();
  log.add(0.001, 170, {});
  EXPECT_DOUBLE_EQ(sensor_log::between(from, log.now()).counter_j.value(), 70);
}

TEST(sensor, power_is_integrated_by_trapezoids) {
  const spent_energy e = spent({100, 112, 130}, {100, 200, 200});
  EXPECT_DOUBLE_EQ(e.integral_j.value(), 15 + 20);
  EXPECT_NEAR(e.difference().value(), 5.0 / 30, 1e-12);
  EXPECT_DOUBLE_EQ(e.joules().value(), 30);
  EXPECT_DOUBLE_EQ(spent({}, {100, 200, 200}).joules().value(), 35);
}

TEST(sensor, watts_of_a_counter_are_those_between_its_moves) {
  sensor_log log(0);
  log.add(0, 100, {});
  EXPECT_FALSE(log.watts());
  log.add(0.1, 120, {});
  EXPECT_DOUBLE_EQ(log.watts().value(), 200);
  log.add(0.12, 120, {});  // has not moved yet
  EXPECT_DOUBLE_EQ(log.watts().value(), 200);
  log.add(0.14, {}, {});
  EXPECT_FALSE(log.watts());
}

const std::vector<sensor> sensors = {
    {.part = "gpu-0", .group = "gpus"}, {.part = "gpu-1", .group = "gpus"}, {.part = "dram-0", .group = "dram"}};

energy_window window(double seconds, double work, std::optional<double> a, std::optional<double> b,
                     std::optional<double> dram) {
  return {seconds, work, {{a, {}}, {b, {}}, {dram, {}}}};
}

const energy_figure* find(const std::vector<energy_figure>& all, const std::string& metric, const std::string& group) {
  for (const energy_figure& f : all)
    if (f.metric == metric && f.group == group) return &f;
  return nullptr;
}

TEST(energy_summary, idle_is_taken_off) {
  energy_summary s(sensors);
  s.idle({window(5, 0, 500, 250, 10), window(5, 0, 500, 250, 10)});
  const auto figures = s.figures({window(5, 100, 1000, 1500, 30)}, {"energy_per_call", "J"});
  EXPECT_DOUBLE_EQ(find(figures, "power", "gpus")->samples.at(0), 500);
  EXPECT_DOUBLE_EQ(find(figures, "power_above_idle", "gpus")->samples.at(0), 350);
  EXPECT_DOUBLE_EQ(find(figures, "energy_per_call", "gpus")->samples.at(0), 25);
  EXPECT_DOUBLE_EQ(find(figures, "energy_per_call_above_idle", "gpus")->samples.at(0), 17.5);
  EXPECT_DOUBLE_EQ(find(figures, "power", "dram")->samples.at(0), 6);
}

TEST(energy_summary, a_group_with_a_sensor_that_gave_nothing_has_no_figure) {
  energy_summary s(sensors);
  const std::vector<energy_window> found{window(5, 1, 1000, {}, 30)};
  const auto figures = s.figures(found, {});
  EXPECT_EQ(find(figures, "power", "gpus"), nullptr);
  EXPECT_NE(find(figures, "power", "dram"), nullptr);
  ASSERT_EQ(s.remarks("put", found).size(), 1u);
  EXPECT_NE(s.remarks("put", found)[0].find("put: gpu-1 n/a"), std::string::npos);
}

TEST(energy_summary, a_difference_of_more_than_5_percent_is_named) {
  energy_summary s(sensors);
  const std::vector<energy_window> near{{5, 1, {{1000, 960}, {1000, 1000}, {30, {}}}}},
      far{{5, 1, {{1000, 600}, {1000, 1000}, {30, {}}}}};
  EXPECT_TRUE(s.remarks("idle", near).empty());
  ASSERT_EQ(s.remarks("idle", far).size(), 1u);
  EXPECT_NE(s.remarks("idle", far)[0].find("gpu-0: integrated power differs from the energy counter by 40.0 %"),
            std::string::npos);
}

TEST(energy_summary, an_idle_power_that_moved_is_named) {
  energy_summary s(sensors);
  s.idle({window(5, 0, 500, 500, 10)});
  EXPECT_TRUE(s.idle_again({window(5, 0, 510, 510, 10)}).empty());
  ASSERT_EQ(s.idle_again({window(5, 0, 600, 500, 10)}).size(), 1u);
}

}  // namespace
}  // namespace ggas::bench
