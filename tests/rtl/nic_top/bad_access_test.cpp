// SPDX-License-Identifier: Apache-2.0
// Bad input from the host: each kind has one defined result, and the NIC works afterwards.
#include "tests/rtl/nic_top/helpers.hpp"

namespace ggas::test {
namespace {

using pcie::cpl_status;
using pcie::tlp;
using pcie::tlp_kind;

class BadAccess : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    rig_config c{.width = GetParam(), .behaviour = fast_host(), .seed = base_seed()};
    c.load_ticks = 4;
    c.host_ticks = 2;
    r_ = std::make_unique<rig>(c);
    ASSERT_TRUE(r_->set_up()) << r_->report();
  }
  void TearDown() override {
    expect_alive(*r_);
    EXPECT_CLEAN(*r_);
  }
  // A store that must vanish: `code` once more, nothing in memory, nothing on the link.
  void expect_dropped(const tlp& t, unsigned code, uint64_t info, uint16_t node = 0) {
    const uint64_t before = r_->events(0, code);
    bool sent = false;
    r_->on_packet = [&](unsigned, const nic::packet&) { sent = true; };
    r_->s[0].host->push_raw(t);
    r_->run(300);
    r_->on_packet = nullptr;
    EXPECT_FALSE(sent);
    EXPECT_EQ(r_->events(0, code), before + 1);
    expect_logged({uint8_t(code), node, info});
  }
  // A read that must be answered UR with `code` once more.
  void expect_ur(const tlp& t, unsigned code, uint64_t info) {
    const uint64_t before = r_->events(0, code);
    const auto got = r_->read(0, t, 3'000);
    EXPECT_EQ(got.status, cpl_status::ur);
    EXPECT_TRUE(got.dws.empty());
    EXPECT_EQ(r_->events(0, code), before + 1);
    expect_logged({uint8_t(code), 0, info});
  }
  // A user's read that must be answered with all ones.
  void expect_ones(const tlp& t, unsigned code, uint64_t info, uint16_t node = 0) {
    const uint64_t before = r_->events(0, code);
    const auto got = r_->read(0, t, 3'000);
    EXPECT_TRUE(got.ones());
    EXPECT_EQ(got.dws.size(), t.len_dw);
    EXPECT_EQ(r_->events(0, code), before + 1);
    expect_logged({uint8_t(code), node, info});
  }
  void expect_logged(const nic::event& e) {
    const auto log = r_->event_log(0);
    ASSERT_FALSE(log.empty());
    EXPECT_TRUE(log.back() == e) << "last event: code " << unsigned(log.back().code) << " node " << log.back().node
                                 << " info " << log.back().info << ", expected " << unsigned(e.code) << " " << e.node
                                 << " " << e.info;
  }
  std::unique_ptr<rig> r_;
};

TEST_P(BadAccess, OutsideEveryInterval) {
  const uint64_t at = 5 * r_->cfg.stride + 0x80;
  expect_dropped(make_write(bar_window, at, some_dws(4, 1)), GGAS_EV_STORE_UNMAPPED, at);
  expect_ones(make_read(bar_window, at, 4), GGAS_EV_LOAD_UNMAPPED, at);
  const uint64_t high = 0x8000'0000'0000'0100;
  expect_dropped(make_write(bar_window, high, some_dws(1, 1)), GGAS_EV_STORE_UNMAPPED, high & 0xff'ffff'ffff);
  expect_ones(make_read(bar_window, high, 1), GGAS_EV_LOAD_UNMAPPED, high & 0xff'ffff'ffff);
}

// Intervals are multiples of 4 KB and no TLP crosses 4 KB, so only a malformed TLP can cross the end of an interval.
TEST_P(BadAccess, CrossingTheEndOfAnInterval) {
  const uint64_t at = 2 * r_->cfg.stride - 8;
  expect_dropped(make_write(bar_window, at, some_dws(4, 1)), GGAS_EV_MALFORMED_TLP, at);
  expect_ur(make_read(bar_window, at, 4), GGAS_EV_MALFORMED_TLP, at);
}

TEST_P(BadAccess, MaskModeNodeOutOfRange) {
  for (unsigned n = 0; n < 2; ++n) r_->write_register(n, GGAS_REG_SMFU_CTRL, 7);
  const uint64_t at = 9 * r_->cfg.stride + 0x40;
  expect_dropped(make_write(bar_window, at, some_dws(2, 1)), GGAS_EV_STORE_UNMAPPED, at);
  expect_ones(make_read(bar_window, at, 2), GGAS_EV_LOAD_UNMAPPED, at);
}

TEST_P(BadAccess, EgressDisabled) {
  r_->write_register(0, GGAS_REG_SMFU_CTRL, 2);
  const uint64_t at = r_->window(1, 0x40);
  expect_dropped(make_write(bar_window, at, some_dws(2, 1)), GGAS_EV_STORE_UNMAPPED, at);
  expect_ones(make_read(bar_window, at, 2), GGAS_EV_LOAD_UNMAPPED, at);
  r_->write_register(0, GGAS_REG_SMFU_CTRL, 3);
}

TEST_P(BadAccess, MisprogrammedInterval) {
  struct {
    uint64_t start, end;
  } const bad[] = {
      {0x5000'0000, 0x5000'0000}, {0x5000'2000, 0x5000'1000}, {0x5000'0800, 0x5000'2000}, {0x5000'0000, 0x5000'1ffc}};
  unsigned index = 10;
  for (const auto& b : bad) {
    const uint64_t before = r_->events(0, GGAS_EV_BAD_INTERVAL);
    r_->write_register(0, uint16_t(GGAS_REG_INTERVAL_START(index)), b.start);
    r_->write_register(0, uint16_t(GGAS_REG_INTERVAL_END(index)), b.end);
    r_->write_register(0, uint16_t(GGAS_REG_INTERVAL_TARGET(index)), 1 | rig::to_segment);
    r_->run(50);
    EXPECT_EQ(r_->events(0, GGAS_EV_BAD_INTERVAL), before + 1);
    expect_logged({GGAS_EV_BAD_INTERVAL, 0, index});
    EXPECT_EQ(r_->read_register(0, uint16_t(GGAS_REG_INTERVAL_TARGET(index))) & GGAS_INTERVAL_TARGET_VALID_MASK, 0u);
    expect_ones(make_read(bar_window, 0x5000'1000, 1), GGAS_EV_LOAD_UNMAPPED, 0x5000'1000);
    ++index;
  }
}

TEST_P(BadAccess, UnreachableNode) {
  for (uint16_t node : {uint16_t(17), uint16_t(63), uint16_t(64), uint16_t(65535)}) {
    r_->write_register(0, uint16_t(GGAS_REG_INTERVAL_START(20)), 0x6000'0000);
    r_->write_register(0, uint16_t(GGAS_REG_INTERVAL_END(20)), 0x6001'0000);
    r_->write_register(0, uint16_t(GGAS_REG_INTERVAL_TARGET(20)), node | rig::to_segment);
    expect_dropped(make_write(bar_window, 0x6000'0040, some_dws(2, 1)), GGAS_EV_STORE_UNREACHABLE, 0x6000'0040, node);
    expect_ones(make_read(bar_window, 0x6000'0040, 2), GGAS_EV_LOAD_UNREACHABLE, 0x6000'0040, node);
    const auto q = r_->quiet(0);
    EXPECT_TRUE(q.ok());
    EXPECT_EQ(q.value(), 5u);  // ST_UNREACHABLE
    EXPECT_EQ(r_->quiet(0).value(), 0u);
  }
}

TEST_P(BadAccess, TargetRange) {
  r_->give_out(1, rig::segment_export, r_->cfg.segment[1], 0x2000, rig::window_domain);
  r_->settle();
  r_->s[0].board->enabled = r_->s[1].board->enabled = false;
  const uint64_t at = 0x2000;
  r_->write(0, make_write(bar_window, r_->window(1, at), some_dws(2, 0xbad)));
  const auto got = r_->read(0, make_read(bar_window, r_->window(1, at), 2));
  EXPECT_TRUE(got.ones());
  EXPECT_EQ(r_->events(1, GGAS_EV_TARGET_RANGE), 2u);
  EXPECT_EQ(r_->events(0, GGAS_EV_LOAD_REMOTE_ERROR), 1u);
  EXPECT_NE(r_->s[1].host->mem.load32(r_->bus(1, at)), 0xbadu);
  EXPECT_EQ(r_->quiet(0).value(), 1u);  // ST_RANGE: a store before it did not arrive
  EXPECT_EQ(r_->quiet(0).value(), 0u);
  // The last bytes inside still work.
  r_->write(0, make_write(bar_window, r_->window(1, at - 8), some_dws(2, 0x600d)));
  EXPECT_EQ(r_->read(0, make_read(bar_window, r_->window(1, at - 8), 1)).value(), 0x600du);
  // Not exported at all.
  r_->write_register(1, GGAS_REG_SMFU_CTRL, 1);
  EXPECT_EQ(r_->read(1, make_read(bar_registers, GGAS_REG_SMFU_CTRL, 2)).value(), 1u);
  EXPECT_EQ(r_->read(0, make_read(bar_window, r_->window(1, 0), 2)).value(), ~uint64_t{0});
  r_->write_register(1, GGAS_REG_SMFU_CTRL, 3);
  r_->give_out(1, rig::segment_export, r_->cfg.segment[1], r_->cfg.stride, rig::window_domain);
  EXPECT_EQ(r_->read_register(1, uint16_t(GGAS_REG_EXPORT_SIZE(rig::segment_export))), r_->cfg.stride);
}

TEST_P(BadAccess, TargetHostError) {
  unsigned errors = 0;
  for (read_fate f : {read_fate::ur, read_fate::ca, read_fate::poison}) {
    for (unsigned dws : {1u, 16u, 60u, 130u}) {
      r_->s[1].host->fate = [f](const tlp&) { return f; };
      const auto got = r_->read(0, make_read(bar_window, r_->window(1, 0x40), dws));
      EXPECT_TRUE(got.ones()) << unsigned(f) << " " << dws;
      r_->s[1].host->fate = nullptr;
      ++errors;
      r_->settle();
      EXPECT_EQ(r_->events(0, GGAS_EV_LOAD_REMOTE_ERROR), errors);
      EXPECT_GE(r_->events(1, GGAS_EV_TARGET_HOST_ERROR), errors);
    }
  }
  EXPECT_EQ(r_->read_register(0, GGAS_REG_SMFU_LOAD_ERRORS), errors);
}

TEST_P(BadAccess, TargetTimeout) {
  r_->scoreboards(false);
  r_->s[1].host->fate = [](const tlp&) { return read_fate::silent; };
  r_->write_register(0, GGAS_REG_SMFU_TIMEOUT, 40 | 2 << 16);
  const uint64_t begin = r_->now();
  const auto got = r_->read(0, make_read(bar_window, r_->window(1, 0x40), 70), 20'000);
  EXPECT_TRUE(got.ones());
  EXPECT_LE(r_->now() - begin, 3 * 1024 + 500u);
  EXPECT_GE(r_->events(1, GGAS_EV_TARGET_TIMEOUT), 1u);
  EXPECT_EQ(r_->events(0, GGAS_EV_LOAD_REMOTE_ERROR), 1u);
  const auto q = [&] {
    r_->write(0, make_write(bar_window, r_->window(1, 0x40), some_dws(2, 3)));
    return r_->quiet(0, 20'000);
  }();
  EXPECT_TRUE(q.ok());
  EXPECT_EQ(q.value(), 3u);  // ST_TIMEOUT
  EXPECT_EQ(r_->events(0, GGAS_EV_QUIET_FAILED), 1u);
  r_->s[1].host->fate = nullptr;
}

TEST_P(BadAccess, SourceTimeout) {
  r_->scoreboards(false);
  r_->write_register(0, GGAS_REG_SMFU_TIMEOUT, 2 | 2 << 16);
  r_->write_register(1, GGAS_REG_SMFU_TIMEOUT, 1000 | 1000 << 16);
  r_->s[1].host->behaviour.read_delay_min = r_->s[1].host->behaviour.read_delay_max = 5'000;
  const uint64_t begin = r_->now();
  const auto got = r_->read(0, make_read(bar_window, r_->window(1, 0x40), 16), 20'000);
  EXPECT_TRUE(got.ones());
  EXPECT_LE(r_->now() - begin, 3 * 1024 + 200u);
  EXPECT_EQ(r_->events(0, GGAS_EV_LOAD_TIMEOUT), 1u);
  r_->s[1].host->behaviour.read_delay_min = r_->s[1].host->behaviour.read_delay_max = 1;
  r_->run(6'000);
  EXPECT_EQ(r_->events(0, GGAS_EV_UNEXPECTED_RSP), 1u) << "the late response is reported and dropped";
  r_->write_register(0, GGAS_REG_SMFU_TIMEOUT, 1000 | 1000 << 16);
}

TEST_P(BadAccess, LateCompletionOfATimedOutReadHarmsNobody) {
  r_->scoreboards(false);
  r_->s[1].host->behaviour.read_delay_min = r_->s[1].host->behaviour.read_delay_max = 4'000;
  const auto got = r_->read(0, make_read(bar_window, r_->window(1, 0x40), 16), 20'000);
  EXPECT_TRUE(got.ones());
  r_->s[1].host->behaviour.read_delay_min = r_->s[1].host->behaviour.read_delay_max = 1;
  for (unsigned i = 0; i < 20; ++i) expect_alive(*r_);
  r_->run(5'000);
  EXPECT_EQ(r_->events(1, GGAS_EV_UNEXPECTED_CPL), 1u);
}

// ---------------------------------------------------------------------------------------------- malformed TLPs

tlp changed(tlp t, const std::function<void(tlp&)>& f) {
  f(t);
  return t;
}

TEST_P(BadAccess, MalformedWrites) {
  const tlp good = make_write(bar_window, r_->window(1, 0x40), some_dws(40, 0xbad));
  const auto dropped = [&](const char* what, const std::function<void(tlp&)>& f) {
    SCOPED_TRACE(what);
    const tlp t = changed(good, f);
    expect_dropped(t, GGAS_EV_MALFORMED_TLP, t.addr);
  };
  dropped("payload shorter than the header says", [](tlp& t) { t.data.resize(3); });
  dropped("payload longer than the header says", [](tlp& t) { t.data.resize(64, 1); });
  dropped("payload much longer", [](tlp& t) { t.data.resize(1024, 1); });
  dropped("length 0", [](tlp& t) { t.len_dw = 0; });
  dropped("length above 1024", [](tlp& t) {
    t.len_dw = 1025;
    t.data.resize(1025, 5);
  });
  dropped("length above MPS", [](tlp& t) {
    t.len_dw = 100;
    t.data.resize(100, 5);
  });
  dropped("crosses 4 KB", [](tlp& t) { t.addr = (t.addr & ~uint64_t{0xfff}) | 0xff0; });
  dropped("first byte enables 0", [](tlp& t) { t.first_be = 0; });
  dropped("last byte enables 0", [](tlp& t) { t.last_be = 0; });
  dropped("last byte enables at length 1", [](tlp& t) {
    t.len_dw = 1;
    t.data.resize(1);
  });
  dropped("holes in the first byte enables", [](tlp& t) { t.first_be = 5; });
  dropped("holes in the last byte enables", [](tlp& t) { t.last_be = 0xd; });
  dropped("holes at length 2 off 8 bytes", [](tlp& t) {
    t.len_dw = 2;
    t.data.resize(2);
    t.addr += 4;
    t.first_be = 3;
  });
  dropped("address not a multiple of 4", [](tlp& t) { t.addr += 2; });
  dropped("poisoned", [](tlp& t) { t.poisoned = true; });
}

TEST_P(BadAccess, MalformedRegisterWrites) {
  const tlp good = make_write(bar_registers, GGAS_REG_SMFU_MASK, some_dws(2, 0xbad));
  const uint64_t before = r_->read_register(0, GGAS_REG_SMFU_MASK);
  const auto dropped = [&](const char* what, const std::function<void(tlp&)>& f) {
    SCOPED_TRACE(what);
    const tlp t = changed(good, f);
    expect_dropped(t, GGAS_EV_MALFORMED_TLP, t.addr);
  };
  dropped("payload longer than the header says", [](tlp& t) { t.data.resize(40, 1); });
  dropped("first byte enables 0", [](tlp& t) { t.first_be = 0; });
  dropped("last byte enables 0", [](tlp& t) { t.last_be = 0; });
  dropped("last byte enables at length 1", [](tlp& t) {
    t.len_dw = 1;
    t.data.resize(1);
  });
  dropped("address not a multiple of 4", [](tlp& t) { t.addr += 1; });
  dropped("poisoned", [](tlp& t) { t.poisoned = true; });
  EXPECT_EQ(r_->read_register(0, GGAS_REG_SMFU_MASK), before);
}

TEST_P(BadAccess, MalformedReads) {
  for (uint8_t bar : {bar_window, bar_registers, bar_pages}) {
    const tlp good = make_read(bar, bar == bar_window ? r_->window(1, 0x40) : 0, 8);
    const auto refused = [&](const char* what, const std::function<void(tlp&)>& f) {
      SCOPED_TRACE(what);
      const tlp t = changed(good, f);
      expect_ur(t, GGAS_EV_MALFORMED_TLP, t.addr & 0xff'ffff'ffff);
    };
    refused("length above 1024", [](tlp& t) { t.len_dw = 1025; });
    refused("crosses 4 KB", [](tlp& t) { t.addr = (t.addr & ~uint64_t{0xfff}) | 0xff0; });
    refused("first byte enables 0", [](tlp& t) { t.first_be = 0; });
    refused("last byte enables 0", [](tlp& t) { t.last_be = 0; });
    refused("last byte enables at length 1", [](tlp& t) { t.len_dw = 1; });
    refused("holes in the byte enables", [](tlp& t) { t.first_be = 9; });
    refused("poisoned", [](tlp& t) { t.poisoned = true; });
  }
}

TEST_P(BadAccess, Unsupported) {
  tlp message = make_write(bar_window, 0x40, some_dws(3, 1));
  message.kind = tlp_kind::other_p;
  expect_dropped(message, GGAS_EV_UNSUPPORTED_TLP, 0x40);
  tlp atomic = make_read(bar_window, 0x40, 2);
  atomic.kind = tlp_kind::other_np;
  expect_ur(atomic, GGAS_EV_UNSUPPORTED_TLP, 0x40);
  for (uint8_t bar : {uint8_t(1), uint8_t(3), uint8_t(5), uint8_t(6), uint8_t(7)}) {
    expect_dropped(make_write(bar, 0x100, some_dws(2, 1)), GGAS_EV_UNSUPPORTED_TLP, 0x100);
    expect_ur(make_read(bar, 0x100, 2), GGAS_EV_UNSUPPORTED_TLP, 0x100);
  }
  // Accesses to pages. The quiet register is read, with 4 or 8 bytes; doorbells and slots are written in
  // whole DWs. Pages belong to users, so no access ends in UR.
  for (uint64_t at : {0x2000, 0x200c, 0x203c, 0x2040, 0x2ff8, 0x31fc, 0x3200, 0x3ff8, 0x200010, 0x201000})
    expect_dropped(make_write(bar_pages, at, some_dws(2, 1)), GGAS_EV_PAGE_ACCESS, at);
  expect_dropped(make_write(bar_pages, 0x3000, some_dws(2, 1), 0xf, 0x7), GGAS_EV_PAGE_ACCESS, 0x3000);
  for (uint64_t at : {0x2010, 0x2038, 0x3000, 0x1ff1f8})
    expect_dropped(make_write(bar_pages, at, some_dws(2, 1)), GGAS_EV_PAGE_ACCESS, at);  // contexts that are off
  for (uint64_t at : {0x2008, 0x3000, 0x200000}) expect_ones(make_read(bar_pages, at, 2), GGAS_EV_PAGE_ACCESS, at);
  expect_ones(make_read(bar_pages, 0x4000, 3), GGAS_EV_PAGE_ACCESS, 0x4000);
  expect_ones(make_read(bar_pages, 0x4000, 2, 0x3), GGAS_EV_PAGE_ACCESS, 0x4000);
  expect_ones(make_read(bar_pages, 0xff004, 1023, 0x8, 0x1), GGAS_EV_PAGE_ACCESS, 0xff004);
  // Registers: holes in the map, and sizes.
  for (uint16_t offset : {0x0050, 0x0500, 0x1118, 0x2018, 0x4030, 0xc008, 0xfff8}) {
    SCOPED_TRACE(offset);
    expect_ur(make_read(bar_registers, offset, 2), GGAS_EV_UNSUPPORTED_TLP, offset);
    expect_dropped(make_write(bar_registers, offset, some_dws(2, 1)), GGAS_EV_UNSUPPORTED_TLP, offset);
  }
  expect_ur(make_read(bar_registers, 0x10, 4), GGAS_EV_UNSUPPORTED_TLP, 0x10);
  expect_ur(make_read(bar_registers, 0x14, 2), GGAS_EV_UNSUPPORTED_TLP, 0x14);
  expect_ur(make_read(bar_registers, 0x10, 1, 0x3), GGAS_EV_UNSUPPORTED_TLP, 0x10);
  expect_dropped(make_write(bar_registers, 0x10, some_dws(1, 77), 0x1), GGAS_EV_UNSUPPORTED_TLP, 0x10);
  EXPECT_EQ(r_->read_register(0, GGAS_REG_NODE), r_->cfg.id[0]);
}

// --------------------------------------------------------------------------- completions for which no unit waits

TEST_P(BadAccess, UnexpectedCompletions) {
  r_->scoreboards(false);
  const auto send = [&](uint16_t tag, unsigned dws, cpl_status status) {
    tlp c;
    c.kind = dws ? tlp_kind::cpld : tlp_kind::cpl;
    c.len_dw = uint16_t(dws);
    c.status = status;
    c.tag = tag;
    c.byte_count = uint16_t(dws ? 4 * dws : 4);
    const auto v = some_dws(dws, 9);
    c.data.assign(v.begin(), v.end());
    const uint64_t before = r_->events(0, GGAS_EV_UNEXPECTED_CPL);
    r_->s[0].host->push_raw(c);
    r_->run(200);
    EXPECT_EQ(r_->events(0, GGAS_EV_UNEXPECTED_CPL), before + 1) << "tag " << tag << " DW " << dws;
    expect_logged({GGAS_EV_UNEXPECTED_CPL, 0, tag});
  };
  for (uint16_t tag : {uint16_t(0), uint16_t(77), uint16_t(127), uint16_t(128), uint16_t(1023)})
    for (unsigned dws : {0u, 1u, 16u}) send(tag, dws, dws ? cpl_status::sc : cpl_status::ur);
}

TEST_P(BadAccess, CompletionWithTooManyBytes) {
  r_->scoreboards(false);
  uint16_t tag = 0;
  bool seen = false;
  r_->s[1].host->fate = [&](const tlp& t) {
    tag = t.tag;
    seen = true;
    return read_fate::silent;
  };
  read_result got;
  bool ended = false;
  r_->s[0].host->read(make_read(bar_window, r_->window(1, 0x40), 4), [&](const read_result& x) {
    got = x;
    ended = true;
  });
  ASSERT_TRUE(r_->run_until([&] { return seen; }, 1'000, "the read of the target"));
  tlp c;
  c.kind = tlp_kind::cpld;
  c.tag = tag;
  c.len_dw = 9;
  c.byte_count = 36;
  c.lower_addr = 0x40;
  const auto v = some_dws(9, 5);
  c.data.assign(v.begin(), v.end());
  r_->s[1].host->push_raw(c);
  r_->run_until([&] { return ended; }, 10'000, "the load");
  r_->s[1].host->fate = nullptr;
  EXPECT_TRUE(got.ones());
  EXPECT_EQ(r_->events(1, GGAS_EV_UNEXPECTED_CPL), 1u);
}

// ---------------------------------------------------------------------------------------------- everything at once

TEST_P(BadAccess, FloodOfErrorsOverflowsTheRingWithoutLosingCounts) {
  constexpr unsigned n = 600;  // more than the ring's 256 records
  unsigned ended = 0;
  for (unsigned i = 0; i < n; ++i) {
    r_->write(0, make_write(bar_window, 5 * r_->cfg.stride, some_dws(2, i)));
    r_->s[0].host->read(make_read(bar_window, 5 * r_->cfg.stride, 1), [&](const read_result& x) { ended += x.ones(); });
  }
  ASSERT_TRUE(r_->run_until([&] { return ended == n; }, 100'000, "errors"));
  r_->run(2'000);
  EXPECT_EQ(r_->events(0, GGAS_EV_STORE_UNMAPPED), n);
  EXPECT_EQ(r_->events(0, GGAS_EV_LOAD_UNMAPPED), n);
  EXPECT_EQ(r_->read_register(0, GGAS_REG_EVQ_HEAD), 256u);
  // Room again: the loss is reported.
  r_->write_register(0, GGAS_REG_EVQ_TAIL, 256);
  r_->write(0, make_write(bar_window, 5 * r_->cfg.stride, some_dws(2, 1)));
  r_->run(500);
  EXPECT_GE(r_->events(0, GGAS_EV_EVENT_OVERFLOW), 1u);
  EXPECT_GT(r_->read_register(0, GGAS_REG_EVQ_HEAD), 256u);
  r_->scoreboards(false);
}

INSTANTIATE_TEST_SUITE_P(Widths, BadAccess, testing::Values(64u, 256u, 512u));

}  // namespace
}  // namespace ggas::test
