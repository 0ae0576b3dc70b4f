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
  for (unsigned turn = 0; turn < 20; ++turn)
    expect_nothing_left([&](uint64_t secret) {
      auto own = std::make_unique<TypeParam>();
      TypeParam& b = *own;
      b.d = dice(seed() + turn);
      two_owners seen;
      for (unsigned owner = 0; owner < 2; ++owner) {
        view& now = owner ? seen.next : seen.former;
        const uint64_t key = owner ? 0 : secret;
        b.start(9, {.enabled = true, .irq = true, .vector = 3, .log2 = 4, .pd = 7, .base = 0x10000});
        for (unsigned i = 0; i < 20; ++i) {  // more than the ring holds: some are lost, and told of
          request r{.vpid = 9, .pd = 7, .w0 = b.d.bits() ^ key, .w1 = {}};
          r.w1 = note::of(b.d.bits() ^ key);
          b.todo[b.d.below(3)].push_back(r);
        }
        if (owner) b.doorbells.push_back({9, 4});
        for (unsigned c = 0; c < 600; ++c) {
          b.step();
          now.see(b.v.wr_valid_o && b.v.wr_sop_o, b.v.wr_hdr_o);
          now.see(b.v.wr_valid_o, b.v.wr_data_o);
          now.see(b.v.tell_valid_o, b.v.tell_vpid_o, b.v.tell_count_o);
          now.see(b.v.nt_rsp_valid_o, b.v.nt_rsp_status_o);
          now.see(b.v.ev_lost_o, b.v.ev_info_o);
        }
        b.start(9, {});
        while (b.looks_busy(9)) b.step();
        EXPECT_TRUE(b.settle());
      }
      return seen;
    });
}

}  // namespace
}  // namespace ggas::test::rma
