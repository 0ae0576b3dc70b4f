// SPDX-License-Identifier: Apache-2.0
// Sensors of GPUs, with a made-up libnvidia-ml.so.1 (made_up_nvml.cpp).
#include "benchmarks/energy/gpu_sensors.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ggas::bench {
namespace {

class gpu_sensors : public testing::Test {
 protected:
  void SetUp() override {
    file = testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name();
    setenv("MADE_UP_NVML", file.c_str(), 1);
  }
  void TearDown() override { std::filesystem::remove(file); }
  void put(const std::string& text) { std::ofstream(file) << text; }

  std::string file;
};

TEST_F(gpu_sensors, counter_and_power_now) {
  put("5000 100000\n7000 250500\n");
  const nvml library;
  ASSERT_EQ(library.missing(), "");
  const sensor_list found = find_gpu_sensors(library, all_gpus(library));
  EXPECT_EQ(found.missing, "");
  ASSERT_EQ(found.found.size(), 2u);
  EXPECT_EQ(found.found[1].part, "gpu-1");
  EXPECT_EQ(found.found[1].group, "gpus");
  EXPECT_DOUBLE_EQ(found.found[1].energy_j().value(), 7);
  EXPECT_DOUBLE_EQ(found.found[1].power_w().value(), 250.5);
  put("5000 100000\n9500 -\n");
  EXPECT_DOUBLE_EQ(found.found[1].energy_j().value(), 9.5);
  EXPECT_FALSE(found.found[1].power_w());
}

TEST_F(gpu_sensors, either_sensor_may_be_missing) {
  put("- 100000\n7000 -\n");
  const nvml library;
  const sensor_list found = find_gpu_sensors(library, all_gpus(library));
  ASSERT_EQ(found.found.size(), 2u);
  EXPECT_FALSE(found.found[0].energy_j);
  EXPECT_DOUBLE_EQ(found.found[0].power_w().value(), 100);
  EXPECT_FALSE(found.found[1].power_w);
}

TEST_F(gpu_sensors, a_gpu_without_any_is_named) {
  put("5000 100000\n- -\n");
  const nvml library;
  const sensor_list found = find_gpu_sensors(library, all_gpus(library));
  EXPECT_EQ(found.found.size(), 1u);
  EXPECT_EQ(found.missing, "gpu-1 reports neither energy nor power");
}

TEST_F(gpu_sensors, a_library_that_does_not_start_is_named) {
  unsetenv("MADE_UP_NVML");
  const nvml library;
  const sensor_list found = find_gpu_sensors(library, all_gpus(library));
  EXPECT_TRUE(found.found.empty());
  EXPECT_EQ(found.missing, "NVML does not start");
}

}  // namespace
}  // namespace ggas::bench
