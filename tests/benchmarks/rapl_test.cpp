// SPDX-License-Identifier: Apache-2.0
// Energy of the processors, from a made-up folder of power zones.
#include "benchmarks/cuda/rapl.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace ggas::bench {
namespace {

namespace fs = std::filesystem;

class zones : public testing::Test {
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
  void package(const std::string& zone, const std::string& name, uint64_t uj) {
    put(zone, "name", name);
    put(zone, "max_energy_range_uj", "1000000000");
    put(zone, "energy_uj", std::to_string(uj));
  }

  fs::path root;
};

TEST_F(zones, packages_are_summed_from_the_start_on) {
  package("intel-rapl:0", "package-0", 5'000'000);
  package("intel-rapl:1", "package-1", 7'000'000);
  package("intel-rapl:0:0", "dram", 1'000'000);  // not a package
  rapl r(root);
  EXPECT_EQ(r.missing(), "");
  EXPECT_DOUBLE_EQ(r.energy_j().value(), 0);
  package("intel-rapl:0", "package-0", 6'500'000);
  package("intel-rapl:1", "package-1", 7'250'000);
  package("intel-rapl:0:0", "dram", 900'000'000);
  EXPECT_DOUBLE_EQ(r.energy_j().value(), 1.75);
}

TEST_F(zones, a_counter_that_wraps_goes_on) {
  package("intel-rapl:0", "package-0", 999'000'000);
  rapl r(root);
  package("intel-rapl:0", "package-0", 2'000'000);
  EXPECT_DOUBLE_EQ(r.energy_j().value(), 3);
  package("intel-rapl:0", "package-0", 3'000'000);
  EXPECT_DOUBLE_EQ(r.energy_j().value(), 4);
}

TEST_F(zones, none_is_told) {
  EXPECT_FALSE(rapl(root).energy_j());
  EXPECT_NE(rapl(root).missing().find(root.string()), std::string::npos);
  EXPECT_FALSE(rapl(root / "nowhere").energy_j());
}

TEST_F(zones, what_cannot_be_read_is_named) {
  package("intel-rapl:0", "package-0", 1);
  fs::remove(root / "intel-rapl:0" / "energy_uj");
  rapl r(root);
  EXPECT_FALSE(r.energy_j());
  EXPECT_NE(r.missing().find("energy_uj"), std::string::npos);
}

}  // namespace
}  // namespace ggas::bench
