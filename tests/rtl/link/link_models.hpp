// SPDX-License-Identifier: Apache-2.0
// The Verilated widths: two that every link test runs on, and all.
#pragma once

#include <gtest/gtest.h>

#include "Vlink256.h"
#include "Vlink512.h"
#include "Vlink512_4k.h"
#include "Vlink64.h"
#include "Vlink64_4k.h"

namespace ggas::test {

struct link64 {
  using model = Vlink64;
  static constexpr unsigned width = 64;
};
struct link256 {
  using model = Vlink256;
  static constexpr unsigned width = 256;
};
struct link512 {
  using model = Vlink512;
  static constexpr unsigned width = 512;
};
// With an MTU of 4 KB.
struct link64_4k {
  using model = Vlink64_4k;
  static constexpr unsigned width = 64;
};
struct link512_4k {
  using model = Vlink512_4k;
  static constexpr unsigned width = 512;
};
using link_models = testing::Types<link64, link256>;
using all_link_models = testing::Types<link64, link256, link512>;
using long_link_models = testing::Types<link64_4k, link512_4k>;

}  // namespace ggas::test
