// SPDX-License-Identifier: Apache-2.0
// Armed contexts, the ring of those that fired, moderation and shares of the event ring in whole systems: the same with
// the RTL and with the model of the NIC (docs/interrupts.md).
#include <gtest/gtest.h>

#include <vector>

#include "ggas_regs.h"
#include "sim/nic/rma_format.hpp"
#include "tests/sim/system_fixture.hpp"

namespace ggas::test {
namespace {

using nic::desc_op;
using nic::descriptor;

constexpr uint64_t fired_ring = 0x180000, notes = 0x1a0000, mails = 0x1c0000;
constexpr unsigned notify_log2 = 6, mailbox_log2 = 6, domain = 7, sender = 9;
constexpr uint64_t long_enough = 20'000'000;  // ps

class interrupts : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    auto c = config("galibier-k20", true);
    c.model_nics = GetParam();
    auto made = sim::system::create(std::move(c));
    ASSERT_TRUE(made) << made.error();
    s_ = std::move(*made);
    s_->root_complex(0).on_msi = [this](uint64_t addr, uint32_t) {
      if (const unsigned vector = unsigned(addr & 0xff) / 4) heard_.push_back(vector);  // 0: records of events
    };
    for (unsigned v = 0; v < GGAS_MSIX_NUM; ++v) {
      set(0, uint16_t(GGAS_REG_MSIX_ADDR(v)), s_->root_complex(0).config().msi_base + 4 * v);
      set(0, uint16_t(GGAS_REG_MSIX_CTRL(v)), 0);
    }
    set(0, GGAS_REG_FIRED_BASE, fired_ring);
    set(0, GGAS_REG_FIRED_CTRL, 1);
    start(1, sender, 0);
  }
  void set(unsigned node, uint16_t offset, uint64_t value) { s_->write_register(node, offset, value); }
  void start(unsigned node, unsigned v, uint64_t ctrl) {
    set(node, uint16_t(GGAS_REG_CONTEXT_NOTIFY(v)), notes + 0x1000 * v);
    set(node, uint16_t(GGAS_REG_CONTEXT_MAILBOX(v)), mails + 0x2000 * v);
    set(node, uint16_t(GGAS_REG_CONTEXT_CTRL(v)),
        ctrl | GGAS_CONTEXT_CTRL_ENABLE_MASK | uint64_t{domain} << GGAS_CONTEXT_CTRL_PD_SHIFT |
            uint64_t{notify_log2} << GGAS_CONTEXT_CTRL_NOTIFY_LOG2_SHIFT |
            uint64_t{mailbox_log2} << GGAS_CONTEXT_CTRL_MAILBOX_LOG2_SHIFT);
    s_->run_for(long_enough);
  }
  void sleeper(unsigned v, unsigned vector, bool list) {
    start(0, v,
          GGAS_CONTEXT_CTRL_IRQ_MASK | uint64_t{vector} << GGAS_CONTEXT_CTRL_VECTOR_SHIFT |
              (list ? GGAS_CONTEXT_CTRL_LIST_MASK : 0));
  }
  uint64_t page(unsigned v) const { return sim::bar4_base + v * nic::rma_context_bytes; }
  void arm(unsigned v, unsigned at, uint64_t seen) {
    s_->store(0, page(v) + at, seen, 8);
    s_->run_for(long_enough);
  }
  // A notification or message of the other node for context v.
  void send(unsigned v, desc_op op = desc_op::notify) {
    const descriptor d{.op = op, .notify_completer = op == desc_op::notify, .dvpid = uint8_t(v), .node = 0};
    for (const auto& slot : d.encode()) {
      const uint64_t at = page(sender) + nic::rma_slots_offset + posted_++ % nic::rma_slots * nic::rma_slot_bytes;
      for (unsigned i = 0; i < slot.size(); i += 2) s_->store(1, at + 4 * i, slot[i] | uint64_t{slot[i + 1]} << 32, 8);
    }
    s_->run_for(long_enough);
  }
  // Sequence number, phase and context of an entry.
  std::vector<uint64_t> entry(unsigned n) {
    const auto tail = s_->memory(0).load<uint64_t>(fired_ring + 16 * n + 8);
    return {tail >> 1, tail & 1, s_->memory(0).load<uint64_t>(fired_ring + 16 * n)};
  }
  uint64_t entries() { return s_->read_register(0, GGAS_REG_FIRED_HEAD).value_or(~0ull); }
  using heard = std::vector<unsigned>;

  std::unique_ptr<sim::system> s_;
  heard heard_;
  uint32_t posted_ = 0;
};
INSTANTIATE_TEST_SUITE_P(nic_model, interrupts, testing::Values(true));
INSTANTIATE_TEST_SUITE_P(nic_rtl, interrupts, testing::Values(false));

TEST_P(interrupts, an_armed_context_fires_once) {
  sleeper(3, 2, false);
  send(3);
  EXPECT_EQ(heard_, heard{});  // no one sleeps
  arm(3, nic::rma_arm_notes, 0);
  EXPECT_EQ(heard_, heard{2}) << "a record that its reader has not seen";
  arm(3, nic::rma_arm_notes, 1);
  EXPECT_EQ(heard_, heard{2});
  send(3, desc_op::send);
  EXPECT_EQ(heard_, heard{2}) << "the mailbox is not armed";
  send(3);
  send(3);
  EXPECT_EQ(heard_, (heard{2, 2}));
  arm(3, nic::rma_arm_messages, 1);
  send(3, desc_op::send);
  EXPECT_EQ(heard_, (heard{2, 2, 2}));
}

TEST_P(interrupts, arms_mean_nothing_without_irq_and_after_another_start) {
  start(0, 4, uint64_t{5} << GGAS_CONTEXT_CTRL_VECTOR_SHIFT);
  arm(4, nic::rma_arm_notes, 0);
  send(4);
  sleeper(3, 2, false);
  arm(3, nic::rma_arm_notes, 0);
  sleeper(3, 2, false);
  send(3);
  EXPECT_EQ(heard_, heard{});
}

TEST_P(interrupts, a_context_is_in_the_ring_once) {
  for (const unsigned v : {3u, 5u}) {
    sleeper(v, 4, true);
    arm(v, nic::rma_arm_notes, 0);
  }
  send(3);
  EXPECT_EQ(heard_, heard{4});
  EXPECT_EQ(entry(0), (std::vector<uint64_t>{0, 1, 3}));
  arm(3, nic::rma_arm_notes, 0);  // fires again: its entry is unread
  send(5);
  EXPECT_EQ(heard_, (heard{4, 4}));
  EXPECT_EQ(entry(1), (std::vector<uint64_t>{1, 1, 5}));
  EXPECT_EQ(entries(), 2u);
  set(0, GGAS_REG_FIRED_TAIL, 1);
  s_->run_for(long_enough);
  EXPECT_EQ(heard_, (heard{4, 4, 4}));
  EXPECT_EQ(entry(2), (std::vector<uint64_t>{2, 1, 3}));
  set(0, GGAS_REG_FIRED_CTRL, 0);
  s_->run_for(long_enough);
  EXPECT_NE(s_->read_register(0, GGAS_REG_STOPPED).value_or(0) & GGAS_STOPPED_FIRED_MASK, 0u);
  arm(5, nic::rma_arm_notes, 0);  // its vector alone
  EXPECT_EQ(heard_, (heard{4, 4, 4, 4}));
  set(0, GGAS_REG_FIRED_TAIL, 0);
  set(0, GGAS_REG_FIRED_CTRL, 1);
  s_->run_for(long_enough);
  EXPECT_EQ(entries(), 0u);
}

// Vectors of messages, all of which come in the time of moderation but the first.
TEST_P(interrupts, moderation_holds_a_vector) {
  sleeper(3, 2, false);
  const auto fire = [&] { arm(3, nic::rma_arm_notes, 7); };   // never what was written
  const uint64_t cycles = 100'000, hold_ps = cycles * 6'000;  // somewhat more than 175 MHz takes
  set(0, uint16_t(GGAS_REG_MODERATION(2)), cycles);
  for (unsigned i = 0; i < 4; ++i) fire();
  EXPECT_EQ(heard_, heard{2});
  EXPECT_EQ(s_->read_register(0, GGAS_REG_MSIX_PBA).value_or(0), 1u << 2);
  s_->run_for(hold_ps);
  EXPECT_EQ(heard_, (heard{2, 2})) << "one for all of them";
  EXPECT_EQ(s_->read_register(0, GGAS_REG_MSIX_PBA).value_or(1), 0u);
  s_->run_for(hold_ps);
  fire();
  EXPECT_EQ(heard_, (heard{2, 2, 2})) << "the first one after a pause";
  set(0, uint16_t(GGAS_REG_MODERATION(2)), cycles | uint64_t{3} << 32);
  fire();
  fire();
  EXPECT_EQ(heard_.size(), 3u);
  fire();
  EXPECT_EQ(heard_.size(), 4u) << "three raises";
}

TEST_P(interrupts, a_masked_vector_is_pending) {
  sleeper(3, 2, false);
  set(0, uint16_t(GGAS_REG_MSIX_CTRL(2)), GGAS_MSIX_CTRL_MASK_MASK);
  arm(3, nic::rma_arm_notes, 7);
  arm(3, nic::rma_arm_notes, 7);
  EXPECT_EQ(heard_, heard{});
  EXPECT_EQ(s_->read_register(0, GGAS_REG_MSIX_PBA).value_or(0), 1u << 2);
  set(0, uint16_t(GGAS_REG_MSIX_CTRL(2)), 0);
  s_->run_for(long_enough);
  EXPECT_EQ(heard_, heard{2});
}

// Each interval and each context has a share of the ring; a new period, a new one.
TEST_P(interrupts, shares_of_the_event_ring) {
  constexpr uint64_t log2_ticks = 9;
  set(0, GGAS_REG_EVQ_LIMIT, 2 | log2_ticks << GGAS_EVQ_LIMIT_LOG2_TICKS_SHIFT);
  const uint64_t period_ps = (1024ull << log2_ticks) * 6'000;
  const auto counter = [&](const char* name) { return s_->counters(0).at(name); };
  const auto head = [&] { return s_->read_register(0, GGAS_REG_EVQ_HEAD).value_or(~0ull); };
  const auto lose_stores = [&](unsigned n) {  // after all intervals
    for (unsigned i = 0; i < n; ++i) s_->store(0, sim::window_base + s_->window_bytes() - 8, i, 8);
    s_->run_for(long_enough);
  };
  // To begin with a period.
  const uint64_t now = s_->read_register(0, GGAS_REG_TIME).value_or(0);
  s_->run_for(((1024ull << log2_ticks) - now % (1024ull << log2_ticks)) * 1'000'000 / 175);
  const uint64_t before = head();
  for (unsigned i = 0; i < GGAS_INTERVAL_NUM; ++i) set(0, uint16_t(GGAS_REG_INTERVAL_TARGET(i)), 0);
  lose_stores(5);
  EXPECT_EQ(head() - before, 2u);
  EXPECT_EQ(counter("EVENT_STORE_UNMAPPED"), 5u);
  EXPECT_EQ(counter("EVENT_EVENT_LIMITED"), 3u);
  s_->store(0, page(40), 1, 8);  // of a context that is off: its share
  s_->run_for(long_enough);
  EXPECT_EQ(head() - before, 3u);
  s_->run_for(period_ps);
  lose_stores(3);
  EXPECT_EQ(head() - before, 5u);
  EXPECT_EQ(counter("EVENT_EVENT_LIMITED"), 4u);
}

}  // namespace
}  // namespace ggas::test
