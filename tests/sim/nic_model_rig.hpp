// SPDX-License-Identifier: Apache-2.0
// Systems whose NICs are models.
#pragma once

#include <gtest/gtest.h>

#include "ggas_regs.h"
#include "sim/nic/rma_format.hpp"
#include "tests/sim/system_fixture.hpp"

namespace ggas::test {

inline sim::system_config of_models(int nodes, const char* topology = "auto", const char* platform = "galibier-k20") {
  auto c = config(platform, true);
  c.model_nics = true;
  c.nodes = nodes;
  c.topology = topology;
  return c;
}

inline std::unique_ptr<sim::system> make(sim::system_config c) {
  auto s = sim::system::create(std::move(c));
  EXPECT_TRUE(s) << s.error();
  return s ? std::move(*s) : nullptr;
}

inline constexpr uint64_t nla = 2ull << 46;  // of the segment: a page of 2 MB

}  // namespace ggas::test
