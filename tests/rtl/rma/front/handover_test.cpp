// SPDX-License-Identifier: Apache-2.0
// A context with its page or its work queue goes from owner to owner, with descriptors half written and half read.
#include "tests/rtl/handover.hpp"
#include "tests/rtl/rma/front/bench.hpp"

namespace ggas::test::rma {
namespace {

template <class T>
class FrontHandover : public testing::Test {};
using ends = testing::Types<bench<Vfront_64, 64>, bench<Vfront_512, 512>>;
TYPED_TEST_SUITE(FrontHandover, ends);

constexpr unsigned vpid = 9;

// What decides its length is not secret.
slot secret_slot(dice& d, uint64_t key) {
  slot s = random_slot(d);
  for (unsigned i = 2; i < s.size(); ++i) s[i] ^= uint32_t(key >> 32 * (i & 1));
  return s;
}

TYPED_TEST(FrontHandover, NothingIsLeft) {
  expect_nothing_left<TypeParam>(
      seed(), 500,
      [](auto& b, uint64_t key, bool) {
        b.lenient = true;
        b.hold = 20;
        b.start(vpid, {.queue = b.d.chance(50), .pd = 7, .ring = 0x100000, .status = 0x5000});
        for (unsigned i = 0; i < 10; ++i) {
          const slot s = secret_slot(b.d, key);
          if (b.ctx[vpid].queue)
            b.produce(vpid, s);
          else if (b.d.chance(80))
            b.write_slot(vpid, i, s);
          else  // not all of it
            b.write(vpid * 8192 + 0x1000 + 32 * i + 4, {s.begin() + 1, s.begin() + 1 + long(1 + b.d.below(7))});
        }
        if (b.ctx[vpid].queue) b.doorbell(0, vpid, b.ctx[vpid].issued, false);
      },
      [](auto& b, view& now) {
        now.see(b.v.desc_valid_o, b.v.desc_vpid_o, b.v.desc_pd_o, b.v.desc_sop_o, b.v.desc_eop_o, b.v.desc_data_o);
        now.see(pins::get(b.v.wr_o, pins::valid) && pins::get(b.v.wr_o, pins::sop), b.v.wr_o);
        now.see(pins::get(b.v.wr_o, pins::valid), b.v.wr_data_o);
        now.see(b.v.rd_valid_o, b.v.rd_hdr_o);
        now.see(b.v.ev_page_access_o, b.v.ev_page_info_o);
        now.see(b.v.ev_bad_descriptor_o, b.v.ev_doorbell_info_o);
      },
      [](auto& b) {
        b.stop(vpid);
        EXPECT_TRUE(b.drained(vpid));
        for (unsigned i = 0; i < 200; ++i) b.step();
      });
}

}  // namespace
}  // namespace ggas::test::rma
