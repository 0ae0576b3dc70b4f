// SPDX-License-Identifier: Apache-2.0
// The typed test suite: every test runs at DATA_W = 64 and 256. GGAS_SEED sets the seed.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "Vhostif_256.h"
#include "Vhostif_64.h"
#include "tests/rtl/hostif/bench.hpp"
#include "tests/support/number_of.hpp"

namespace ggas::test {

using pcie::tlp_kind;

template <class T>
class hostif_test : public testing::Test {
 protected:
  static constexpr unsigned width = T::width;
  std::unique_ptr<bench<typename T::top, T::width>> b = std::make_unique<bench<typename T::top, T::width>>(seed());
  void SetUp() override { std::printf("seed %llu\n", static_cast<unsigned long long>(seed())); }

  unsigned random(unsigned n) { return static_cast<unsigned>(b->rng() % n); }

  tlp make(tlp_kind kind, uint8_t bar, uint64_t addr, unsigned len) {
    tlp t;
    t.kind = kind;
    t.bar = bar;
    t.addr = addr;
    t.len_dw = static_cast<uint16_t>(len);
    t.last_be = len > 1 ? 0xf : 0;
    t.requester = 0x77;
    t.tag = static_cast<uint16_t>(next_tag_++ % 512);
    if (t.has_data())
      for (unsigned i = 0; i < len; ++i) t.data.push_back(static_cast<uint32_t>(b->rng()));
    return t;
  }
  void send(const tlp& t) {
    for (auto& beat : beats_of<width>(t)) b->rx_req.push_back(beat);
  }

  unsigned next_tag_ = 0;
};

struct w64 {
  using top = Vhostif_64;
  static constexpr unsigned width = 64;
};
struct w256 {
  using top = Vhostif_256;
  static constexpr unsigned width = 256;
};
using widths = testing::Types<w64, w256>;
TYPED_TEST_SUITE(hostif_test, widths);

}  // namespace ggas::test
