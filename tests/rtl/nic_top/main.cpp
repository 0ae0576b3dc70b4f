// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/rtl/harness/rng.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ggas::test::base_seed();
  return RUN_ALL_TESTS();
}
