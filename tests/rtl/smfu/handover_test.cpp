// SPDX-License-Identifier: Apache-2.0
// An export goes from owner to owner, while the host is slow, silent, or answers wrongly.
#include "tests/rtl/handover.hpp"
#include "tests/rtl/smfu/suite.hpp"

namespace ggas::test::smfu {
namespace {

template <class T>
class smfu_handover : public suite<T> {
 public:
  using bench_type = typename suite<T>::bench_type;
  static void see(bench_type& b, view& now) {
    // Looks only at the words of a beat that belong to the packet.
    for (const auto& r : b.tx_rsp.all) {
      now.see(true, r.first, r.last, r.t.header());
      for (uint32_t w : r.t.data) now.see(true, w);
    }
    b.tx_rsp.all.clear();
    now.see(pins::get(b.v.tgt_req_o, pins::valid) && pins::get(b.v.tgt_req_o, pins::sop), b.v.tgt_req_o);
    now.see(b.v.event_valid_o, b.v.event_o);
  }
  // The host answers what it was asked, or not.
  static void answer(bench_type& b, uint64_t secret) {
    for (const auto& r : b.tgt_req.all) {
      if (r.t.kind != tlp_kind::mrd || b.chance(10)) continue;
      tlp c;
      c.kind = b.chance(10) ? tlp_kind::cpl : tlp_kind::cpld;
      c.status = c.has_data() ? pcie::cpl_status::sc : pcie::cpl_status::ur;
      c.poisoned = c.has_data() && b.chance(5);
      c.tag = r.t.tag;
      c.len_dw = uint16_t(c.has_data() ? b.chance(10) ? 1 + b.random(r.t.len_dw) : r.t.len_dw : 0);
      for (unsigned i = 0; i < c.len_dw; ++i) c.data.push_back(uint32_t(b.rng() ^ secret));
      b.push(b.tgt_cpl, c);
    }
    b.tgt_req.all.clear();
  }
};
TYPED_TEST_SUITE(smfu_handover, widths);

TYPED_TEST(smfu_handover, nothing_is_left) {
  for (unsigned turn = 0; turn < 6; ++turn)
    expect_nothing_left([&](uint64_t secret) {
      auto own = std::make_unique<typename TestFixture::bench_type>(seed() + turn);
      auto& b = *own;
      b.cfg.timeout_host = 2;
      two_owners seen;
      for (unsigned owner = 0; owner < 2; ++owner) {
        view& now = owner ? seen.next : seen.former;
        b.give_out(7, home_base, home_size, uint16_t(100 + owner));
        for (unsigned i = 0; i < 100; ++i) {
          packet p = net_packet(nic::op::load, 2, 256 * b.random(100), 1 + b.random(64));
          p.export_no = 7, p.domain = uint16_t(100 + owner), p.tag = uint16_t(i);
          b.push(b.rx_np, p);
        }
        const auto step = [&] {
          b.step();
          TestFixture::see(b, now);
          TestFixture::answer(b, owner ? 0 : secret);
        };
        const unsigned cycles = owner ? 12'000 : 500 + b.random(3000);
        for (unsigned c = 0; c < cycles; ++c) step();
        b.take_back(7);
        while (!b.stopped(7)) step();
        for (unsigned c = 0; c < 3000; ++c) step();  // what is left is refused
      }
      return seen;
    });
}

}  // namespace
}  // namespace ggas::test::smfu
