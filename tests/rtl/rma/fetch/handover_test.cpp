// SPDX-License-Identifier: Apache-2.0
// Puts of one owner, then of another; the host answers some reads of the former one when they were given up long ago.
#include "tests/rtl/handover.hpp"
#include "Vfetch_512.h"
#include "Vfetch_64.h"
#include "tests/rtl/rma/fetch/bench.hpp"

namespace ggas::test::rma {
namespace {

template <class T>
class FetchHandover : public testing::Test {};
using handover_widths = testing::Types<fetch_bench<Vfetch_64, 64>, fetch_bench<Vfetch_512, 512>>;
TYPED_TEST_SUITE(FetchHandover, handover_widths);

TYPED_TEST(FetchHandover, NothingIsLeft) {
  for (unsigned turn = 0; turn < 10; ++turn)
    expect_nothing_left([&](uint64_t secret) {
      const auto own = std::make_unique<TypeParam>(seed() + turn);
      auto& b = *own;
      b.v.cfg_mrrs_i = 128;
      b.v.cfg_timeout_i = 2;
      b.host.late_after = 3000;
      b.host.early_percent = 100;  // a late answer has the former owner's data
      b.faults = [&](const tlp&) {
        constexpr std::array some{fault::refused, fault::poisoned, fault::late};
        return b.d.chance(10) ? some[b.d.below(some.size())] : fault::none;
      };
      two_owners seen;
      for (view* now : {&seen.former, &seen.next}) {
        const uint64_t key = now == &seen.former ? secret : 0;
        b.host.byte = [key](uint64_t a) { return uint8_t(memory_byte(a) ^ key >> 8 * (a & 7)); };
        for (unsigned i = 0; i < 60; ++i) {
          const uint64_t to = b.d.below(1 << 30);
          b.push(b.d.below(1 << 30) | (b.d.chance(5) ? b.denied : 0), to, 1 + unsigned(b.d.below(256 - to % 256)));
        }
        for (uint64_t limit = b.now + 100'000; b.left() && b.now < limit;) {
          b.step();
          now->see(b.v.tx_valid_o && b.v.tx_sop_o, b.v.tx_hdr_o);
          now->see(b.v.tx_valid_o, b.v.tx_data_o);
          now->see(b.v.done_valid_o, b.v.done_status_o, b.v.done_meta_o, b.v.done_nla_o);
          now->see(b.v.rd_valid_o, b.v.rd_hdr_o);
        }
        EXPECT_EQ(b.left(), 0u);
      }
      return seen;
    });
}

}  // namespace
}  // namespace ggas::test::rma
