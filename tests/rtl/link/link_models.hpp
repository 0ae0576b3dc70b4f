// SPDX-License-Identifier: Apache-2.0
// The Verilated widths that every link test runs on.
#pragma once

#include <gtest/gtest.h>

#include "Vlink256.h"
#include "Vlink64.h"

namespace ggas::test {

struct link64 {
  using model = Vlink64;
  static constexpr unsigned width = 64;
};
struct link256 {
  using model = Vlink256;
  static constexpr unsigned width = 256;
};
using link_models = testing::Types<link64, link256>;

}  // namespace ggas::test
