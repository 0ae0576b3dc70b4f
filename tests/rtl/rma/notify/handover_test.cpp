// SPDX-License-Identifier: Apache-2.0
// A context with its ring of notifications goes from owner to owner.
#include "tests/rtl/handover.hpp"
#include "tests/rtl/rma/notify/bench.hpp"

namespace ggas::test::rma {
namespace {

template <class T>
class NotifyHandover : public testing::Test {};
using widths = testing::Types<bench<Vnotify_64, 64>, bench<Vnotify_512, 512>>;
TYPED_TEST_SUITE(NotifyHandover, widths);

TYPED_TEST(NotifyHandover, NothingIsLeft) {
  expect_nothing_left<TypeParam>(
      seed(), 600,
      [](auto& b, uint64_t key, bool next) {
        b.start(9, {.enabled = true, .irq = true, .vector = 3, .log2 = 4, .pd = 7, .base = 0x10000});
        for (unsigned i = 0; i < 20; ++i) {  // more than the ring holds: some are lost, and reported
          request r{.vpid = 9, .pd = 7, .w0 = b.d.bits() ^ key, .w1 = {}};
          r.w1 = note::of(b.d.bits() ^ key);
          b.todo[b.d.below(3)].push_back(r);
        }
        if (next) b.doorbells.push_back({9, 4});
      },
      [](auto& b, view& now) {
        now.see(pins::get(b.v.wr_o, pins::valid) && pins::get(b.v.wr_o, pins::sop), b.v.wr_o);
        now.see(pins::get(b.v.wr_o, pins::valid), b.v.wr_data_o);
        now.see(b.v.written_valid_o, b.v.written_vpid_o, b.v.written_count_o);
        now.see(b.v.nt_rsp_valid_o, b.v.nt_rsp_status_o);
        now.see(b.v.ev_lost_o, b.v.ev_info_o);
      },
      [](auto& b) {
        b.start(9, {});
        while (b.looks_busy(9)) b.step();
        EXPECT_TRUE(b.settle());
      });
}

}  // namespace
}  // namespace ggas::test::rma
