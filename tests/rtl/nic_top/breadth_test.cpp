// SPDX-License-Identifier: Apache-2.0
// Every node id, and addresses, requester ids, times, event rings and interrupts over their whole width.
#include "tests/rtl/nic_top/helpers.hpp"

namespace ggas::test {
namespace {

// A ring and an interrupt somewhere in the 64-bit address space; `ring` gets its base.
void move_events(rig& r, unsigned n, rng& random, uint64_t& ring, uint64_t& message) {
  const unsigned vector = unsigned(random.below(GGAS_MSIX_NUM)), log2 = unsigned(random.range(4, 16));
  ring = random.next() & ~uint64_t{0xf'ffff};
  message = random.next() & ~uint64_t{3};
  r.write_register(n, GGAS_REG_EVQ_CTRL, 0);
  r.write_register(n, GGAS_REG_EVQ_BASE, ring);
  r.write_register(n, uint16_t(GGAS_REG_MSIX_ADDR(vector)), message);
  r.write_register(n, uint16_t(GGAS_REG_MSIX_CTRL(vector)), random.next() & 0xffff'ffff);
  r.write_register(n, GGAS_REG_EVQ_CTRL, 1 | log2 << 8 | vector << 16);
}

void own_node(rig& r, unsigned n) {
  const auto dws = some_dws(9, 0x1000 + r.cfg.id[n]);
  r.write(n, make_write(bar_window, r.window(n, 0x340), dws));
  EXPECT_EQ(r.quiet(n).value(), 0u);
  EXPECT_EQ(r.s[n].host->mem.load32(r.bus(n, 0x340)), dws[0]);
  EXPECT_EQ(r.read(n, make_read(bar_window, r.window(n, 0x340), 9)).dws, dws);
}

void outside(rig& r, unsigned n, rng& random) {
  const uint64_t at = random.next() & ~uint64_t{3} & ~uint64_t{0x40}, events = r.events(n, GGAS_EV_LOAD_UNMAPPED);
  if (at < 64 * r.cfg.stride) return;
  uint64_t interrupts = 0;
  r.on_tlp_out = [&](unsigned side, const pcie::tlp&) { interrupts += side == n; };
  r.write(n, make_write(bar_window, at, some_dws(1, 1)));
  EXPECT_TRUE(r.read(n, make_read(bar_window, at, 1)).ones());
  r.run(100);
  EXPECT_EQ(r.events(n, GGAS_EV_LOAD_UNMAPPED), events + 1);
  EXPECT_GE(interrupts, 3u) << "records and messages";
  r.on_tlp_out = nullptr;
}

void refused_by_target(rig& r, unsigned n) {
  constexpr auto size = uint16_t(GGAS_REG_EXPORT_SIZE(rig::segment_export));
  r.give_out(1 - n, rig::segment_export, r.cfg.segment[1 - n], 0x1000, rig::window_domain);
  EXPECT_EQ(r.read_register(1 - n, size), 0x1000u);
  r.write(n, make_write(bar_window, r.window(1 - n, r.cfg.stride - 0x100), some_dws(3, 1)));
  EXPECT_EQ(r.quiet(n).value(), 1u);  // ST_RANGE
  r.give_out(1 - n, rig::segment_export, r.cfg.segment[1 - n], r.cfg.stride, rig::window_domain);
  EXPECT_EQ(r.read_register(1 - n, size), r.cfg.stride);
}

void unreachable(rig& r, unsigned n, rng& random) {
  const uint16_t node = uint16_t(random.next() | 0x40);
  const uint64_t at = (random.next() | uint64_t{1} << 40) & ~uint64_t{0xffff};
  r.map(n, 50,
        {.start = at, .end = at + 0x1000, .node = node, .number = rig::segment_export, .domain = rig::window_domain});
  r.write(n, make_write(bar_window, at, some_dws(2, 1)));
  EXPECT_TRUE(r.read(n, make_read(bar_window, at + 0x48, 1)).ones());
  EXPECT_EQ(r.quiet(n).value(), 5u);  // ST_UNREACHABLE
}

class Breadth : public testing::TestWithParam<unsigned> {};

TEST_P(Breadth, NodeIdsAndAddresses) {
  rng random(base_seed());
  for (uint16_t i = 0; i < 64; i += 2) {
    rig_config c{
        .width = GetParam(), .behaviour = fast_host(), .start_time = random.next() >> i, .seed = base_seed() + i};
    c.id = {i, uint16_t(i + 1)};
    if (random.chance(0.5)) std::swap(c.id[0], c.id[1]);
    c.host.bus_id = uint16_t(random.next());
    c.segment = {random.next() & ~uint64_t{0xfff'ffff}, random.next() & ~uint64_t{0xfff'ffff}};
    rig r(c);
    ASSERT_TRUE(r.set_up()) << r.report();
    r.scoreboards(false);
    for (unsigned n = 0; n < 2; ++n) {
      uint64_t ring = 0, message = 0;
      move_events(r, n, random, ring, message);
      own_node(r, n);
      outside(r, n, random);
      EXPECT_EQ(r.s[n].host->mem.load64(ring) >> 56, unsigned(GGAS_EV_STORE_UNMAPPED));
      refused_by_target(r, n);
      unreachable(r, n, random);
    }
    expect_alive(r);
    EXPECT_CLEAN(r);
  }
}

// Every slot of the target runs out of time, some twice; late completions come or not.
TEST_P(Breadth, EverySlotTimesOut) {
  rig_config c{.width = GetParam(), .behaviour = fast_host(), .seed = base_seed()};
  c.behaviour.max_reads = 64;
  c.host.mrrs = 128;
  c.host_ticks = 2;
  rig r(c);
  ASSERT_TRUE(r.set_up()) << r.report();
  r.scoreboards(false);
  for (unsigned round = 0; round < 3; ++round) {
    unsigned ended = 0;
    r.s[1].host->fate = [round](const pcie::tlp&) { return round == 1 ? read_fate::ur : read_fate::silent; };
    for (unsigned i = 0; i < 150; ++i)
      r.s[0].host->read(make_read(bar_window, r.window(1, 256 * i), 64), [&](const read_result& got) {
        EXPECT_TRUE(got.ones());
        ++ended;
      });
    r.run_until([&] { return ended == 150; }, 100'000, "150 loads");
    r.s[1].host->fate = nullptr;
    r.run(5'000);
    expect_alive(r);
  }
  EXPECT_GE(r.events(1, GGAS_EV_TARGET_TIMEOUT), 200u);
  EXPECT_CLEAN(r);
}

INSTANTIATE_TEST_SUITE_P(Widths, Breadth, testing::Values(64u, 256u));

}  // namespace
}  // namespace ggas::test
