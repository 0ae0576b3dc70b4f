// SPDX-License-Identifier: Apache-2.0
// Random one-sided traffic of several contexts on both nodes and in the loop, with stores and loads at the same time.
// Memories, notifications, messages and counts are compared with the expected ones, and the packets on the link with
// those of the reference model.
#include "tests/rtl/nic_top/rma_helpers.hpp"

namespace ggas::test {
namespace {

struct rma_variant {
  unsigned width;
  unsigned descriptors;  // a context
  unsigned mtu_code;
  uint16_t mps, mrrs;
  double stall;
  bool gated, smfu, faults;
  double phy_stall = 0;
  friend void PrintTo(const rma_variant& v, std::ostream* os) {
    *os << v.width << " bit, mtu " << (64 << v.mtu_code) << " mps " << v.mps << " mrrs " << v.mrrs
        << (v.smfu ? " with stores" : "") << (v.gated ? " gated" : "") << (v.faults ? " with faults" : "");
  }
};

struct outcome {
  std::unique_ptr<rma_trace> trace;
  std::map<uint16_t, uint64_t> counters[2];
  std::string failures;
};

// Counters that do not depend on timing.
constexpr uint16_t exact_counters[] = {
    GGAS_REG_RMA_DESCRIPTORS,    GGAS_REG_RMA_READ_PACKETS, GGAS_REG_RMA_TARGET_PUTS,   GGAS_REG_RMA_TARGET_GETS,
    GGAS_REG_RMA_TARGET_ATOMICS, GGAS_REG_RMA_GET_PACKETS,  GGAS_REG_RMA_NOTIFICATIONS, GGAS_REG_VELO_MESSAGES,
};

std::vector<rma_user*> make_users(rma_world& w) {
  std::vector<rma_user*> users;
  const auto add = [&](const user_config& c) { users.push_back(&w.user(c)); };
  add({.side = 0, .vpid = 0, .pd = 1, .notify_log2 = 8});
  add({.side = 0, .vpid = 85, .pd = 2, .queue = true, .notify_log2 = 5, .queue_log2 = 4, .mailbox_log2 = 2});
  add({.side = 0, .vpid = 255, .pd = 1, .queue = true, .notify_log2 = 6, .queue_log2 = 6});
  add({.side = 1, .vpid = 0, .pd = 1, .queue = true, .notify_log2 = 8});
  add({.side = 1, .vpid = 170, .pd = 2, .notify_log2 = 5, .mailbox_log2 = 2});
  add({.side = 1, .vpid = 7, .pd = 2, .notify_log2 = 7, .mailbox_log2 = 4});
  return users;
}

outcome run(const rma_variant& v, bool model) {
  const bool rtl = !model;  // the model has no link protocol and no clock
  rig_config c{.behaviour = {.stall = v.stall}, .gated = rtl && v.gated, .replay_timeout = 600};
  if (rtl) c.phy_stall = v.phy_stall;
  c.host = {.mps = v.mps, .mrrs = v.mrrs, .bus_id = 0x100};
  c.seed = base_seed() * 17 + v.width + v.descriptors;
  rma_world w({v.width, model}, c);
  outcome out;
  if (!w.set_up(v.mtu_code)) return {nullptr, {}, w.r.report()};
  out.trace = std::make_unique<rma_trace>(w.r);
  const auto users = make_users(w);
  rma_traffic t(w.r, w.driver, users, {}, c.seed);
  if (v.faults && rtl)
    for (auto& x : w.r.s) x.out->drop = x.out->corrupt = x.out->duplicate = 1e-3 / 3;
  t.make(v.descriptors);
  w.r.on_step = [&] {
    if (w.r.now() % 8 == 0) w.pump();
  };
  if (v.smfu) {
    traffic stores(w.r, {.burst = 0.9}, c.seed);
    stores.run(v.descriptors * 8);
    w.r.run_until([&] { return t.done(); }, 3'000 * v.descriptors + 200'000, "one-sided traffic beside stores");
    stores.check();
  } else {
    w.r.run_until([&] { return t.done(); }, 3'000 * v.descriptors + 200'000, "one-sided traffic");
  }
  for (auto& x : w.r.s) x.out->drop = x.out->corrupt = x.out->duplicate = 0;
  w.r.run(3'000);
  t.check();
  for (unsigned n = 0; n < 2; ++n) {
    for (const uint16_t offset : exact_counters) out.counters[n][offset] = w.r.read_register(n, offset);
    for (unsigned code = GGAS_EV_BAD_DESCRIPTOR; code < GGAS_EVENT_COUNT_NUM; ++code)
      out.counters[n][uint16_t(GGAS_REG_EVENT_COUNT(code))] = w.r.events(n, code);
  }
  if (!w.r.fail.none()) out.failures = w.r.report();
  std::printf("%s: %llu cycles, %llu packets\n", model ? "model" : "RTL", (unsigned long long)w.r.now(),
              (unsigned long long)out.trace->packets());
  return out;
}

class RmaRandom : public testing::TestWithParam<rma_variant> {};

TEST_P(RmaRandom, AgreesWithModel) {
  const outcome model = run(GetParam(), true);
  ASSERT_EQ(model.failures, "");
  const outcome rtl = run(GetParam(), false);
  ASSERT_EQ(rtl.failures, "");
  EXPECT_EQ(rma_trace::compare(*rtl.trace, *model.trace), "");
  for (unsigned n = 0; n < 2; ++n)
    for (const auto& [offset, count] : model.counters[n])
      EXPECT_EQ(rtl.counters[n].at(offset), count) << "counter " << std::hex << offset << " of side " << n;
}

INSTANTIATE_TEST_SUITE_P(Variants, RmaRandom,
                         testing::Values(rma_variant{64, 250, 2, 256, 512, 0.02, false, true, false},
                                         rma_variant{64, 150, 0, 128, 128, 0.05, true, false, true},
                                         rma_variant{64, 150, 1, 256, 256, 0.01, false, true, true, 0.1},
                                         rma_variant{256, 150, 2, 256, 512, 0.02, true, true, false},
                                         rma_variant{512, 100, 2, 512, 4096, 0.02, false, false, true}));

}  // namespace
}  // namespace ggas::test
