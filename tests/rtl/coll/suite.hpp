// SPDX-License-Identifier: Apache-2.0
// The collective unit at each width.
#pragma once
#include "Vcoll256.h"
#include "Vcoll512.h"
#include "Vcoll64.h"
#include "tests/rtl/coll/players.hpp"

namespace ggas::test::coll {

template <class V, unsigned Width>
struct unit {
  using model = V;
  static constexpr unsigned width = Width;
};
using units = ::testing::Types<unit<Vcoll64, 64>, unit<Vcoll256, 256>, unit<Vcoll512, 512>>;

template <class U>
class CollTest : public ::testing::Test {
 public:
  using network = cluster<typename U::model, U::width>;
};

}  // namespace ggas::test::coll
