// SPDX-License-Identifier: Apache-2.0
// The collective unit at each width; 512 bit in long tests and coverage.
#pragma once
#include "Vcoll256.h"
#include "Vcoll64.h"
#ifdef GGAS_WIDTH_512
#include "Vcoll512.h"
#endif
#include "tests/rtl/coll/players.hpp"

namespace ggas::test::coll {

template <class V, unsigned Width>
struct unit {
  using model = V;
  static constexpr unsigned width = Width;
};
#ifdef GGAS_WIDTH_512
using units = ::testing::Types<unit<Vcoll64, 64>, unit<Vcoll256, 256>, unit<Vcoll512, 512>>;
#else
using units = ::testing::Types<unit<Vcoll64, 64>, unit<Vcoll256, 256>>;
#endif

template <class U>
class CollTest : public ::testing::Test {
 public:
  using network = cluster<typename U::model, U::width>;
};

}  // namespace ggas::test::coll
