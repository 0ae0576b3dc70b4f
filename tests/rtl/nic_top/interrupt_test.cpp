// SPDX-License-Identifier: Apache-2.0
// Sleeping readers, notifications and messages of another node, one vector for all of them: a reader wakes when it has
// something to read (docs/interrupts.md). The rules unit by unit: tests/rtl/regs/arm_test.cpp.
#include "tests/rtl/nic_top/rma_helpers.hpp"

namespace ggas::test {
namespace {

using nic::desc_op;
using nic::descriptor;

constexpr uint64_t fired_ring = rig::event_ring + 0x8000, forever = 20'000;
constexpr unsigned shared_vector = 5, first_own = 6, readers_each = 4;

class Interrupts : public testing::TestWithParam<unsigned> {
 protected:
  // A context of side 0 whose owner sleeps while it has nothing to read.
  struct reader {
    rma_user* u;
    bool mail, list;
    unsigned vector;
    uint32_t seen = 0, sent = 0;
    bool asleep = false;
    uint64_t since = 0;
    uint64_t ring() const { return mail ? u->mailbox() + 72 : u->notify_ring() + 8; }
    unsigned log2() const { return mail ? u->cfg.mailbox_log2 : u->cfg.notify_log2; }
    uint64_t entry() const { return mail ? nic::mailbox_entry_bytes : 16; }
  };

  memory& mem() { return w_->r.s[0].host->mem; }
  bool more(const reader& x) {
    const uint64_t word = mem().load64(x.ring() + x.entry() * (x.seen & ((1u << x.log2()) - 1)));
    return word >> 63 != (x.seen >> x.log2() & 1);
  }
  void add(bool mail, bool list, unsigned i) {
    const unsigned vpid = 11 * i + 2, vector = list ? shared_vector : first_own + i;
    rma_user& u = w_->user({.side = 0, .vpid = uint8_t(vpid), .reads_notes = false, .reads_mails = false});
    const uint16_t ctrl = GGAS_REG_CONTEXT_CTRL(vpid);
    w_->r.write_register(0, ctrl,
                         w_->r.read_register(0, ctrl) | GGAS_CONTEXT_CTRL_IRQ_MASK |
                             (list ? GGAS_CONTEXT_CTRL_LIST_MASK : 0) | vector << GGAS_CONTEXT_CTRL_VECTOR_SHIFT);
    w_->r.write_register(0, uint16_t(GGAS_REG_MSIX_ADDR(vector)), rig::msix_page + 16 * vector);
    w_->r.write_register(0, uint16_t(GGAS_REG_MSIX_CTRL(vector)), 0);
    readers_.push_back({.u = &u, .mail = mail, .list = list, .vector = vector});
  }
  void set_up() {
    w_ = std::make_unique<rma_world>(device{GetParam()});
    ASSERT_TRUE(w_->set_up());
    w_->r.scoreboards(false);
    for (unsigned i = 0; i < 1024; ++i) mem().store32(fired_ring + 4 * i, 0, 15);
    w_->r.write_register(0, GGAS_REG_FIRED_BASE, fired_ring);
    w_->r.write_register(0, GGAS_REG_FIRED_CTRL, 1);
    for (unsigned i = 0; i < 2 * readers_each; ++i) add(i % 2, i < readers_each, i);
    sender_ = &w_->user({.side = 1, .vpid = 200});
    w_->r.on_tlp_out = [this](unsigned n, const pcie::tlp& t) {
      if (n == 0 && t.kind == pcie::tlp_kind::mwr && t.addr - rig::msix_page < 256)
        heard_.push_back(unsigned(t.addr - rig::msix_page) / 16);
    };
  }
  void send(reader& x) {
    if (x.sent - x.seen > 3 || sender_->posted() - sender_->remote() > 3)
      return;  // no ring is full, and it arrives soon
    if (x.asleep && x.sent == x.seen) x.since = w_->r.now();
    ++x.sent;
    descriptor d{.op = x.mail ? desc_op::send : desc_op::notify, .notify_completer = !x.mail, .dvpid = x.u->cfg.vpid};
    d.cookie = x.sent;
    sender_->post(d);
  }
  // The process: reads all there is, arms with what it has seen, sleeps.
  void live(reader& x) {
    if (x.asleep) return;
    while (more(x)) ++x.seen;
    const unsigned at = x.mail ? nic::rma_arm_messages : nic::rma_arm_notes;
    w_->r.write(0, make_write(bar_pages, x.u->page() + at, {x.seen}));
    x.asleep = true;
    ++arms_;
  }
  void wake(unsigned vpid) {
    for (auto& x : readers_)
      if (x.u->cfg.vpid == vpid) x.asleep = false, ++wakes_;
  }
  // The driver: entries that are new, or the owner of the vector.
  void handle(unsigned vector) {
    if (vector != shared_vector) {
      for (auto& x : readers_)
        if (!x.list && x.vector == vector) wake(x.u->cfg.vpid);
      return;
    }
    const uint32_t before = entries_;
    for (;; ++entries_) {
      const uint64_t at = fired_ring + 16 * (entries_ % 256), tail = mem().load64(at + 8);
      if ((tail & 1) == (entries_ >> 8 & 1)) break;
      ASSERT_EQ(tail >> 1, entries_);
      wake(unsigned(mem().load64(at)));
    }
    if (entries_ != before) w_->r.write(0, make_write(bar_registers, GGAS_REG_FIRED_TAIL, {entries_, 0}));
  }

  std::unique_ptr<rma_world> w_;
  std::vector<reader> readers_;
  std::deque<unsigned> heard_;
  rma_user* sender_ = nullptr;
  uint32_t entries_ = 0;
  uint64_t arms_ = 0, wakes_ = 0;
};

TEST_P(Interrupts, NobodySleepsOn) {
  ASSERT_NO_FATAL_FAILURE(set_up());
  rng random(base_seed());
  const auto turn = [&] {
    for (auto& x : readers_)
      if (random.chance(0.05)) live(x);
    if (!heard_.empty() && random.chance(0.02)) {
      handle(heard_.front());
      heard_.pop_front();
    }
    w_->r.step();
    sender_->pump();
  };
  for (unsigned k = 0; k < 60'000; ++k) {
    if (random.chance(0.01)) send(readers_[random.below(readers_.size())]);
    turn();
    for (const auto& x : readers_)
      ASSERT_TRUE(!x.asleep || x.sent == x.seen || w_->r.now() - x.since < forever)
          << "context " << unsigned(x.u->cfg.vpid) << " sleeps on";
    ASSERT_FALSE(HasFatalFailure());
  }
  for (unsigned k = 0; k < forever; ++k) turn();
  for (const auto& x : readers_) {
    EXPECT_EQ(x.seen, x.sent) << "context " << unsigned(x.u->cfg.vpid);
    EXPECT_GT(x.sent, 10u);
  }
  EXPECT_GT(entries_, 100u);
  EXPECT_EQ(w_->r.read_register(0, GGAS_REG_FIRED_HEAD), entries_);
  EXPECT_LE(wakes_, 2 * arms_);
  EXPECT_CLEAN(w_->r);
}

INSTANTIATE_TEST_SUITE_P(Widths, Interrupts, testing::Values(64u, 256u));

}  // namespace
}  // namespace ggas::test
