// SPDX-License-Identifier: Apache-2.0
// Verilated NICs as modules: the choice of a module, and the message for a missing one. The loader of this program
// searches a folder with one invalid module.
#include <gtest/gtest.h>

#include "sim/nic/rtl/nic_rtl.hpp"

namespace ggas::nic {
namespace {

std::string why_not(unsigned data_width, unsigned links) {
  const auto made = make_nic_rtl(data_width, {.links = links}, "nic");
  return made ? "made" : made.error();
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(nic_modules, are_the_smallest_that_have_the_links) {
  EXPECT_EQ(nic_module(64, 1), "ggas-nic-64");
  EXPECT_EQ(nic_module(256, 1), "ggas-nic-256");
  EXPECT_EQ(nic_module(512, 1), "ggas-nic-512");
  EXPECT_EQ(nic_module(64, 2), "ggas-nic-64x2");
  for (const unsigned links : {3, 6}) EXPECT_EQ(nic_module(64, links), "ggas-nic-64x6");
  for (const unsigned links : {2, 6}) EXPECT_EQ(nic_module(512, links), "ggas-nic-512x6");
  EXPECT_EQ(nic_module(64, 7), "");
  EXPECT_EQ(nic_module(256, 2), "");
  EXPECT_EQ(nic_module(100, 1), "");
}

TEST(nic_modules, a_nic_that_does_not_exist_is_an_error_with_width_and_links) {
  EXPECT_EQ(why_not(256, 6), "nic.data_width = 256: there is no NIC of that width with 6 links");
  EXPECT_EQ(why_not(100, 1), "nic.data_width = 100: there is no NIC of that width with 1 link");
}

TEST(nic_modules, one_that_is_not_built_is_an_error_that_names_its_target) {
  EXPECT_TRUE(has(why_not(512, 6), "libggas-nic-512x6.so")) << why_not(512, 6);
  EXPECT_TRUE(has(why_not(512, 6), "./ggas build ggas-nic-512x6")) << why_not(512, 6);
}

TEST(nic_modules, one_of_another_build_is_an_error) {
  EXPECT_TRUE(has(why_not(64, 1), "is older or newer than this program")) << why_not(64, 1);
  EXPECT_TRUE(has(why_not(64, 1), "./ggas build ggas-nic-64")) << why_not(64, 1);
}

}  // namespace
}  // namespace ggas::nic
