// SPDX-License-Identifier: Apache-2.0
// One-sided packets changed on the link, as a misbehaving node would send them: every header bit of each kind once, and
// wrong lengths. All descriptors end, other contexts are not affected, and afterwards everything works.
#include "tests/rtl/nic_top/rma_helpers.hpp"

namespace ggas::test::rma_forged_test {
namespace {

using nic::desc_op;
using nic::descriptor;
using nic::op;
using nic::packet;

constexpr uint16_t domain = 0x0f0f;

struct forgery {
  device what;
  op kind;
  friend void PrintTo(const forgery& f, std::ostream* os) {
    PrintTo(f.what, os);
    *os << ", " << nic::to_text(f.kind);
  }
};

class RmaForged : public testing::TestWithParam<forgery> {
 protected:
  void SetUp() override {
    w_ = std::make_unique<rma_world>(GetParam().what);
    ASSERT_TRUE(w_->set_up(2, 3)) << w_->r.report();
    for (unsigned n = 0; n < 2; ++n) w_->r.write_register(n, GGAS_REG_RMA_TIMEOUT, 6 | 4 << 16);
    // What a forged packet does to stores and counters of others is not the matter here.
    w_->r.scoreboards(false);
    beside_ = std::make_unique<bystanders>(*w_, base_seed());
    for (unsigned side = 0; side < 2; ++side) {
      users_.push_back(&w_->user({.side = side, .vpid = 0, .pd = domain, .notify_log2 = 9, .mailbox_log2 = 9}));
      for (unsigned i = 0; i < 4; ++i) w_->driver.map(side, nla(0, first_page + i), rma_data + 0x1000 * i, domain);
    }
  }
  static constexpr unsigned first_page = 500;

  bool request() const { return GetParam().kind < op::rma_ack || GetParam().kind == op::velo_msg; }
  // One whose request or answer is of the kind.
  descriptor victim() const {
    descriptor d{.ack = true};
    d.node = 1;
    d.size = 40;
    d.w1 = nla(0, first_page, 0x101);
    d.w2 = nla(0, first_page + 2, 0x203);
    switch (GetParam().kind) {
      case op::rma_get:
      case op::rma_get_data:
      case op::rma_get_done:
        d.op = desc_op::get;
        break;
      case op::rma_notify:
        d = {.op = desc_op::notify, .notify_completer = true, .node = 1};
        break;
      case op::rma_atomic:
      case op::rma_atomic_rsp:
        d.op = desc_op::atomic;
        d.size = 8;
        d.w2 = nla(0, first_page + 2, 0x40);
        d.second = {1, nla(0, first_page + 1, 0x80), 0, 0};
        break;
      case op::velo_msg:
        d.op = desc_op::send;
        d.data.assign(d.size, 0x77);
        break;
      default:
        d.op = desc_op::put;
    }
    return d;
  }
  // Changes packet k of the kind by f(k, packet), for `count` of them, and waits for the end.
  void forge(unsigned count, const std::function<void(unsigned, packet&)>& f) {
    unsigned k = 0;
    w_->r.s[request() ? 0 : 1].out->forge = [&](packet& p) {
      if (p.is(GetParam().kind) && p.svpid() == 0 && k < count) f(k++, p);
    };
    rma_user& u = *users_[0];
    // One at a time, so that what one leaves over does not hide the next.
    w_->r.on_step = [&] {
      if (w_->r.now() % 8) return;
      w_->pump();
      if (k < count) beside_->keep_busy();
      if (k < count && u.all_written() && u.posted() - u.remote() < 4) u.post(victim());
    };
    w_->r.run_until([&] { return k == count; }, 40'000 * count, "forged packets");
    w_->r.s[request() ? 0 : 1].out->forge = nullptr;
    w_->r.run_until([&] { return u.remote() == u.posted() && u.local() == u.posted(); }, 100'000, "forged operations");
    w_->r.run_until([&] { return beside_->traffic.done(); }, 400'000, "the contexts beside");
  }
  void TearDown() override {
    w_->r.on_step = nullptr;
    w_->r.run(20'000);
    w_->pump();
    beside_->traffic.check();
    const uint32_t errors = users_[0]->errors();
    for (unsigned i = 0; i < 3; ++i) users_[0]->post(victim());
    EXPECT_TRUE(w_->finish());
    EXPECT_EQ(users_[0]->errors(), errors) << "afterwards";
    w_->r.quiet(0, 20'000);
    expect_alive(w_->r);
    EXPECT_CLEAN(w_->r);
  }
  std::unique_ptr<rma_world> w_;
  std::unique_ptr<bystanders> beside_;
  std::vector<rma_user*> users_;
};

TEST_P(RmaForged, EveryHeaderBit) {
  std::vector<unsigned> bits;
  for (unsigned bit = 0; bit < 32 * nic::header_dws; ++bit)
    if (bit >= 4 && !of_the_link(bit)) bits.push_back(bit);  // a forged session is another test's
  forge(unsigned(bits.size()), [&](unsigned k, packet& p) { flip_header_bit(p, bits[k]); });
}

TEST_P(RmaForged, WrongLengths) {
  constexpr unsigned lengths[] = {0, 1, 2, 3, 5, 7, 9, 11, 15, 17, 21, 24};
  forge(unsigned(std::size(lengths)), [&](unsigned k, packet& p) {
    p.len_dw = uint16_t(lengths[k]);
    p.data.resize(lengths[k], 0xabcd);
  });
}

std::vector<forgery> forgeries() {
  std::vector<forgery> all;
  for (const op o : {op::rma_put, op::rma_get, op::rma_notify, op::rma_atomic, op::velo_msg, op::rma_ack,
                     op::rma_get_data, op::rma_get_done, op::rma_atomic_rsp}) {
    all.push_back({{64, true}, o});
    all.push_back({{64}, o});
  }
  all.push_back({{256}, op::rma_put});
  all.push_back({{256}, op::rma_atomic_rsp});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Kinds, RmaForged, testing::ValuesIn(forgeries()));

}  // namespace
}  // namespace ggas::test::rma_forged_test
