// SPDX-License-Identifier: Apache-2.0
// A context goes from owner to owner while its descriptors are executed, and some of their answers are lost.
#include "tests/rtl/handover.hpp"
#include "tests/rtl/rma/requester/suite.hpp"

namespace ggas::test::requester {
namespace {

template <class T>
class rma_requester_handover : public testing::Test {
 public:
  using bench_type = bench<typename T::top, T::width>;
  static constexpr uint8_t vpid = 9;

  // A descriptor of any kind. The fields that decide how it is cut and where it goes are not secret.
  static descriptor any(rng& random, uint64_t key) {
    constexpr std::array ops{desc_op::put,    desc_op::imm,    desc_op::inline_put, desc_op::get,
                             desc_op::notify, desc_op::atomic, desc_op::send};
    const uint64_t page = key & 0x0fff'ffff'f000;
    descriptor d{.op = ops[random.below(ops.size())], .dvpid = 7, .node = peer_node};
    d.size = d.op == desc_op::imm || d.op == desc_op::atomic ? 8 : uint32_t(1 + random.below(64));
    if (d.op == desc_op::put || d.op == desc_op::get) d.size = uint32_t(1 + random.below(1000));
    if (d.op == desc_op::notify) d.size = 0;
    d.w1 = d.op == desc_op::put || d.op == desc_op::get ? random.below(1 << 20) ^ page : random.next() ^ key;
    d.w2 = d.op == desc_op::notify || d.op == desc_op::send ? 0 : (random.below(1 << 20) & ~7ull) ^ page;
    d.cookie = random.next() ^ key;
    d.notify_requester = !random.below(3);
    d.ack = random.below(2);
    if (d.op == desc_op::atomic) d.second = {random.next() ^ key, (random.next() ^ key) & ~15ull, random.below(2), 0};
    if (d.op == desc_op::inline_put || d.op == desc_op::send)
      for (unsigned i = 0; i < d.size; ++i) d.data.push_back(uint8_t(random.next() ^ key >> 8 * (i & 7)));
    return d;
  }
  static void see(bench_type& b, view& now) {
    const bool offered = pins::get(b.v.tx_o, pins::valid);
    now.see(offered && pins::get(b.v.tx_o, pins::sop), b.v.tx_o);
    now.see(offered, b.v.tx_data_o);
    now.see(b.v.cmd_valid_o, b.v.cmd_nla_o, b.v.cmd_pd_o, b.v.cmd_bytes_o, b.v.cmd_hdr_o);
    now.see(b.v.nt_valid_o, b.v.nt_o);
    now.see(b.v.st_valid_o, b.v.st_o);
    now.see(b.v.ev_o & ~(1u << unsigned(event::unreachable)), b.v.ev_node_o, b.v.ev_info_o);
  }
};
TYPED_TEST_SUITE(rma_requester_handover, widths);

TYPED_TEST(rma_requester_handover, nothing_is_left) {
  constexpr uint8_t vpid = TestFixture::vpid;
  for (unsigned turn = 0; turn < 8; ++turn)
    expect_nothing_left([&](uint64_t secret) {
      observer none;
      const auto own = std::make_unique<typename TestFixture::bench_type>(base_seed() + turn, none);
      auto& b = *own;
      b.v.cfg_timeout_i = 2;
      b.policy.target = [&](const packet& p) -> std::optional<answer> {
        if (!(p.flags() & nic::rma_last) || b.random.below(10) == 0) return std::nullopt;
        answer a = answer_to(p, b.random.below(10) ? net_status::ok : net_status::protection);
        if (!a.asked && a.status == net_status::ok) return std::nullopt;
        if (a.op == nic::op::rma_atomic_rsp) a.addr = ~(p.data[6] | uint64_t{p.data[7]} << 32);
        return a;
      };
      two_owners seen;
      for (view* now : {&seen.former, &seen.next}) {
        b.enable(vpid);
        for (unsigned i = 0; i < 30; ++i) b.post(vpid, TestFixture::any(b.random, now == &seen.former ? secret : 0));
        const uint64_t cycles = now == &seen.former ? 200 + b.random.below(3000) : 12'000;
        for (uint64_t i = 0; i < cycles; ++i) {
          b.step();
          TestFixture::see(b, *now);
        }
        b.posts[vpid].clear();
        b.enable(vpid, false);
        EXPECT_TRUE(b.settle());
        EXPECT_FALSE(b.busy(vpid));
      }
      return seen;
    });
}

}  // namespace
}  // namespace ggas::test::requester
