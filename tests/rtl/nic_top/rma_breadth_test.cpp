// SPDX-License-Identifier: Apache-2.0
// One-sided operations with every field at random over its whole width: contexts, domains, node ids, network logical
// addresses, bus addresses of data, rings and tables.
#include "tests/rtl/nic_top/rma_helpers.hpp"

namespace ggas::test {
namespace {

using nic::desc_op;
using nic::descriptor;

struct breadth {
  device what;
  std::array<uint16_t, 2> id;
  friend void PrintTo(const breadth& b, std::ostream* os) {
    PrintTo(b.what, os);
    *os << ", nodes " << b.id[0] << " and " << b.id[1];
  }
};

class RmaBreadth : public testing::TestWithParam<breadth> {
 protected:
  // A page of a table anywhere, for an address anywhere, to a page anywhere.
  struct page {
    uint64_t address, bus;
  };
  void place_tables() {
    for (unsigned side = 0; side < 2; ++side) {
      for (unsigned cls = 0; cls < 4; ++cls) {
        first_[side][cls] = unsigned(64 * cls + g_.below(65 - class_pieces));
        w_->r.write_register(side, uint16_t(GGAS_REG_ATU_TABLE0 + 8 * cls),
                             0xffffffff | uint64_t{first_[side][cls]} << 32);
      }
      pieces_[side].clear();
      ASSERT_TRUE(w_->driver.invalidate(side, std::nullopt));
    }
  }
  page map(unsigned side, uint16_t pd) {
    const auto cls = unsigned(g_.below(4)), shift = page_shifts[cls];
    const uint64_t index = g_.below(std::min<uint64_t>(uint64_t{1} << (46 - shift), class_pieces << 16));
    const auto piece = unsigned(first_[side][cls] + (index >> 16));
    if (!pieces_[side].contains(piece)) {
      pieces_[side][piece] = g_.next() & ~uint64_t{0xfff} & ~(uint64_t{1} << 63);
      w_->r.write_register(side, uint16_t(GGAS_REG_ATU_PIECE(piece)), pieces_[side][piece]);
    }
    const page p{nla(cls, index), g_.next() >> shift << shift};
    const uint64_t entry = pieces_[side][piece] + 16 * (index & 0xffff);
    memory& m = w_->r.s[side].host->mem;
    m.store32(entry, uint32_t(p.bus) | 7, 15);
    m.store32(entry + 4, uint32_t(p.bus >> 32), 15);
    m.store32(entry + 8, pd, 15);
    m.store32(entry + 12, 0, 15);
    return p;
  }
  std::vector<descriptor> operations(uint16_t node, uint8_t dvpid, uint64_t from, uint64_t to, uint64_t result) {
    std::vector<descriptor> all;
    for (const desc_op op :
         {desc_op::put, desc_op::imm, desc_op::inline_put, desc_op::atomic, desc_op::notify, desc_op::send}) {
      descriptor d{.op = op, .notify_requester = g_.chance(0.5), .ack = g_.chance(0.5)};
      d.notify_completer = op == desc_op::notify || (d.puts() && g_.chance(0.5));
      d.strong = d.puts() && d.notify_completer && g_.chance(0.5);
      d.dvpid = dvpid;
      d.node = node;
      d.size = op == desc_op::put ? uint32_t(g_.range(1, 700)) : op == desc_op::notify ? 0 : 8;
      d.w1 = op == desc_op::put ? from : g_.next();
      d.w2 = to + (op == desc_op::put ? 0 : 1024 + 64 * unsigned(op));
      d.cookie = g_.next();
      d.data.assign(op == desc_op::inline_put || op == desc_op::send ? 8 : 0, uint8_t(d.cookie));
      if (op == desc_op::atomic) d.second = {g_.next(), result, uint64_t(nic::amo::add), 0};
      all.push_back(std::move(d));
    }
    return all;
  }
  void round(unsigned side);

  rng g_{base_seed()};
  std::unique_ptr<rma_world> w_;
  static constexpr unsigned class_pieces = 16;  // of each table
  std::array<std::array<unsigned, 4>, 2> first_{};
  std::array<std::map<unsigned, uint64_t>, 2> pieces_;
};

void RmaBreadth::round(unsigned side) {
  const unsigned other = 1 - side;
  const auto pd = uint16_t(g_.next());
  std::array<rma_user*, 2> u{};
  for (unsigned n = 0; n < 2; ++n) {
    user_config c{.side = n, .vpid = uint8_t(g_.next()), .pd = pd, .queue = g_.chance(0.5)};
    c.rings = (g_.next() & ~uint64_t{0xfff'ffff}) >> 1;
    c.notify_log2 = unsigned(g_.range(4, 8));
    u[n] = &w_->user(c);
  }
  const page from = map(side, pd), to = map(other, pd), back = map(side, pd);
  memory& here = w_->r.s[side].host->mem;
  const memory& there = w_->r.s[other].host->mem;
  const uint64_t word = there.load64(to.bus + 1024 + 64 * unsigned(desc_op::atomic));
  const auto all = operations(w_->r.cfg.id[other], u[other]->cfg.vpid, from.address, to.address, back.address + 2048);
  for (const auto& d : all) u[side]->post(d);
  ASSERT_TRUE(w_->finish(100'000)) << w_->r.report();
  descriptor get{.op = desc_op::get, .notify_requester = true, .notify_responder = true, .dvpid = u[other]->cfg.vpid};
  get.node = w_->r.cfg.id[other];
  get.size = all[0].size;
  get.w1 = to.address;
  get.w2 = back.address + 1;
  u[side]->post(get);
  ASSERT_TRUE(w_->finish(100'000)) << w_->r.report();
  EXPECT_EQ(u[side]->errors(), 0u);
  for (unsigned i = 0; i < get.size; ++i) {
    ASSERT_EQ(there.load8(to.bus + i), here.load8(from.bus + i)) << "put byte " << i;
    ASSERT_EQ(here.load8(back.bus + 1 + i), there.load8(to.bus + i)) << "get byte " << i;
  }
  const auto written = [&](desc_op op) { return there.load64(to.bus + 1024 + 64 * unsigned(op)); };
  EXPECT_EQ(written(desc_op::imm), all[1].w1);
  EXPECT_EQ(written(desc_op::inline_put), 0x0101010101010101ull * all[2].data[0]);
  EXPECT_EQ(written(desc_op::atomic), word + all[3].w1);
  EXPECT_EQ(here.load64(back.bus + 2048), word);
  ASSERT_EQ(u[other]->messages.size(), 1u);
  EXPECT_EQ(u[other]->messages[0].cookie, all.back().cookie);
  EXPECT_FALSE(u[other]->notes.empty());
  for (rma_user* x : u) {
    x->disable();
    w_->r.run(50);
    EXPECT_TRUE(x->stopped());
  }
  w_->users.clear();
}

TEST_P(RmaBreadth, EveryFieldOverItsWidth) {
  rig_config c{.behaviour = fast_host(), .seed = base_seed()};
  c.id = GetParam().id;
  w_ = std::make_unique<rma_world>(GetParam().what, c);
  ASSERT_TRUE(w_->set_up()) << w_->r.report();
  for (unsigned i = 0; i < 40 && !HasFailure(); ++i) {
    if (i % 4 == 0) place_tables();
    round(i % 2);
  }
  EXPECT_CLEAN(w_->r);
}

// All contexts of both NICs at once: each puts into the other of its number, which learns of it.
TEST_P(RmaBreadth, EveryContext) {
  rig_config c{.behaviour = fast_host(), .seed = base_seed()};
  c.id = GetParam().id;
  w_ = std::make_unique<rma_world>(GetParam().what, c);
  ASSERT_TRUE(w_->set_up()) << w_->r.report();
  constexpr uint16_t pd = 0x77;
  for (unsigned side = 0; side < 2; ++side) w_->driver.map(side, nla(1, 2), rma_data, pd);
  for (unsigned v = 0; v < nic::rma_contexts; ++v)
    for (unsigned side = 0; side < 2; ++side)
      w_->user(
          {.side = side, .vpid = uint8_t(v), .pd = pd, .queue = (v ^ side) % 2 == 1, .notify_log2 = 4, .batch = 1});
  for (auto& u : w_->users) {
    descriptor d{.op = desc_op::imm, .notify_completer = true, .ack = true};
    d.dvpid = u->cfg.vpid;
    d.node = w_->r.cfg.id[1 - u->cfg.side];
    d.size = 8;
    d.w1 = 0x5a5a'0000'0000 + u->cfg.vpid;
    d.w2 = nla(1, 2, 8 * u->cfg.vpid);
    u->post(d);
    d = {.op = desc_op::send, .dvpid = u->cfg.vpid, .node = w_->r.cfg.id[1 - u->cfg.side]};
    u->post(d);
  }
  ASSERT_TRUE(w_->finish(200'000)) << w_->r.report();
  for (auto& u : w_->users) {
    EXPECT_EQ(u->errors(), 0u);
    EXPECT_EQ(u->notes.size(), 1u);
    EXPECT_EQ(u->messages.size(), 1u);
    EXPECT_EQ(w_->load64(u->cfg.side, nla(1, 2, 8 * u->cfg.vpid)), 0x5a5a'0000'0000 + u->cfg.vpid);
    u->disable();
  }
  w_->r.run(2'000);
  EXPECT_TRUE(w_->users.front()->stopped() && w_->users.back()->stopped());
  EXPECT_CLEAN(w_->r);
}

INSTANTIATE_TEST_SUITE_P(Devices, RmaBreadth,
                         testing::Values(breadth{{64, true}, {1, 2}}, breadth{{64}, {63, 21}}, breadth{{64}, {42, 12}},
                                         breadth{{256}, {21, 62}}));

}  // namespace
}  // namespace ggas::test
