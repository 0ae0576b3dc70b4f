// SPDX-License-Identifier: Apache-2.0
// Sensors of processors and DRAM, from a made-up folder of power zones.
#include "benchmarks/energy/powercap.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace ggas::bench {
namespace {

namespace fs = std::filesystem;

class powercap : public testing::Test {
 protected:
  void SetUp() override {
    root = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root);
    fs::create_directories(root);
  }
  void TearDown() override { fs::remove_all(root); }

  void put(const std::string& zone, const std::string& file, const std::string& text) {
    fs::create_directories(root / zone);
    std::ofstream(root / zone / file) << text << '\n';
  }
  void zone(const std::string& folder, const std::string& name, uint64_t uj) {
    put(folder, "name", name);
    put(folder, "max_energy_range_uj", "1000000000");
    put(folder, "energy_uj", std::to_string(uj));
  }

  fs::path root;
};

TEST_F(powercap, packages_and_dram_are_separate) {
  zone("intel-rapl:0", "package-0", 5'000'000);
  zone("intel-rapl:0:0", "core", 1'000'000);  // a part of its package
  zone("intel-rapl:0:1", "dram", 2'500'000);
  zone("intel-rapl:1", "package-1", 7'000'000);
  zone("intel-rapl:1:0", "dram", 3'000'000);
  const sensor_list found = find_processors(root);
  EXPECT_EQ(found.missing, "");
  ASSERT_EQ(found.found.size(), 4u);
  const char* const parts[] = {"dram-0", "dram-1", "package-0", "package-1"};
  const double joules[] = {2.5, 3, 5, 7};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(found.found[i].part, parts[i]);
    EXPECT_EQ(found.found[i].group, i < 2 ? "dram" : "processors");
    EXPECT_DOUBLE_EQ(found.found[i].energy_j().value(), joules[i]);
    EXPECT_DOUBLE_EQ(found.found[i].range_j, 1000);
  }
}

TEST_F(powercap, none_is_reported) {
  EXPECT_TRUE(find_processors(root).found.empty());
  EXPECT_NE(find_processors(root).missing.find(root.string()), std::string::npos);
  EXPECT_TRUE(find_processors(root / "nowhere").found.empty());
}

// Permission denied: root reads everything, so the file is a folder here, which cannot be read either.
TEST_F(powercap, what_cannot_be_read_is_named_and_the_rest_is_measured) {
  zone("intel-rapl:0", "package-0", 1);
  fs::remove(root / "intel-rapl:0" / "energy_uj");
  fs::create_directory(root / "intel-rapl:0" / "energy_uj");
  zone("intel-rapl:0:0", "dram", 4'000'000);
  const sensor_list found = find_processors(root);
  ASSERT_EQ(found.found.size(), 1u);
  EXPECT_EQ(found.found[0].part, "dram-0");
  EXPECT_NE(found.missing.find("intel-rapl:0/energy_uj"), std::string::npos);
}

TEST_F(powercap, a_sensor_that_goes_away_gives_nothing) {
  zone("intel-rapl:0", "package-0", 1'000'000);
  const sensor_list found = find_processors(root);
  fs::remove(root / "intel-rapl:0" / "energy_uj");
  EXPECT_FALSE(found.found.at(0).energy_j());
}

}  // namespace
}  // namespace ggas::bench
