// SPDX-License-Identifier: Apache-2.0
// Words that atomics change go from owner to owner, who puts his own values there by himself.
#include "tests/rtl/handover.hpp"
#include "Vatomic_512.h"
#include "Vatomic_64.h"
#include "tests/rtl/rma/atomic/bench.hpp"

namespace ggas::test::rma {
namespace {

template <class T>
class AtomicHandover : public testing::Test {};
using handover_widths = testing::Types<atomic_bench<Vatomic_64, 64>, atomic_bench<Vatomic_512, 512>>;
TYPED_TEST_SUITE(AtomicHandover, handover_widths);

TYPED_TEST(AtomicHandover, NothingIsLeft) {
  constexpr unsigned words = 8;
  constexpr std::array always_writes{nic::amo::add, nic::amo::swap, nic::amo::and_, nic::amo::or_, nic::amo::xor_};
  expect_nothing_left<TypeParam>(
      seed(), 1500,
      [=](auto& b, uint64_t key, bool) {
        for (uint64_t nla = 0x2000; nla < 0x2000 + 8 * words; nla += 4)
          b.mem.set(TypeParam::bus(nla), uint32_t(b.d.bits() ^ key));
        for (unsigned i = 0; i < 40; ++i) {
          operation o{.nla = 0x2000 + 8 * b.d.below(words), .operand = b.d.bits() ^ key, .compare = b.d.bits() ^ key};
          o.amo = unsigned(always_writes[b.d.below(always_writes.size())]);
          if (b.d.chance(30)) o.bytes = 4;
          if (b.d.chance(5)) o.nla += 0x100000;  // refused
          b.send(o);
        }
      },
      [](auto& b, view& now) {
        now.see(b.v.wr_valid_o && b.v.wr_sop_o, b.v.wr_hdr_o);
        now.see(b.v.wr_valid_o, b.v.wr_data_o);
        now.see(b.v.rsp_valid_o && b.v.rsp_sop_o, b.v.rsp_hdr_o);
        now.see(b.v.rsp_valid_o, b.v.rsp_data_o);
        now.see(b.v.rd_valid_o, b.v.rd_hdr_o);
        now.see(b.v.ev_bad_packet_o || b.v.ev_protection_o || b.v.ev_host_error_o, b.v.ev_info_o, b.v.ev_node_o);
      },
      [](auto& b) { EXPECT_TRUE(b.settle()); });
}

}  // namespace
}  // namespace ggas::test::rma
