// SPDX-License-Identifier: Apache-2.0
// Packets with an intact CRC and invalid contents, as a misbehaving node would send: they are reported and have no
// effect, and the NIC works afterwards. Packets of side 0 are changed in flight to side 1.
#include "tests/rtl/nic_top/helpers.hpp"

namespace ggas::test {
namespace {

using nic::op;
using nic::packet;

// What TARGET_RANGE reports of a packet.
constexpr uint64_t refused(uint64_t offset, unsigned number = rig::segment_export) {
  return uint64_t{number} << 32 | offset;
}

class BadPacket : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    rig_config c{.width = GetParam(), .behaviour = fast_host(), .seed = base_seed()};
    c.load_ticks = c.host_ticks = 2;
    r_ = std::make_unique<rig>(c);
    ASSERT_TRUE(r_->set_up()) << r_->report();
    r_->scoreboards(false);
    r_->on_tlp_out = [this](unsigned at, const pcie::tlp& t) {
      if (at == 1 && t.kind == pcie::tlp_kind::mwr && t.addr < rig::event_ring) ++writes_;
    };
  }
  void TearDown() override {
    r_->s[0].out->forge = nullptr;
    r_->s[1].out->forge = nullptr;
    r_->run(4'000);
    r_->quiet(0, 20'000);  // takes a sticky error
    expect_alive(*r_);
    EXPECT_CLEAN(*r_);
  }
  // Changes the next packet of side `from` with operation `o`.
  void forge_next(unsigned from, op o, const std::function<void(packet&)>& f) {
    auto& hook = r_->s[from].out->forge;
    hook = [this, from, o, f, armed = true](packet& p) mutable {
      if (!armed || !p.is(o)) return;
      armed = false;
      f(p);
    };
  }
  void store_forged(const std::function<void(packet&)>& f, unsigned code, uint64_t info, uint16_t node = 0) {
    const uint64_t events = r_->events(1, code), writes = writes_;
    forge_next(0, op::store, f);
    r_->write(0, make_write(bar_window, r_->window(1, 0x40), some_dws(4, 0xbad)));
    r_->run(500);
    EXPECT_EQ(r_->events(1, code), events + 1);
    EXPECT_EQ(writes_, writes) << "a forged store reached the host";
    const auto log = r_->event_log(1);
    ASSERT_FALSE(log.empty());
    EXPECT_TRUE((log.back() == nic::event{uint8_t(code), node, info}))
        << "code " << unsigned(log.back().code) << " node " << log.back().node << " info " << log.back().info;
    r_->quiet(0);
  }
  // The load must end, with an error unless the forged packet asked for something the target could serve.
  void load_forged(unsigned side, op o, const std::function<void(packet&)>& f, unsigned code, uint64_t times = 1) {
    const unsigned reporter = side;
    const uint64_t events = r_->events(reporter, code);
    forge_next(1 - side, o, f);
    const auto got = r_->read(o == op::load ? 0 : 0, make_read(bar_window, r_->window(1, 0x40), 16), 20'000);
    EXPECT_TRUE(got.ones());
    EXPECT_EQ(r_->events(reporter, code), events + times);
  }
  std::unique_ptr<rig> r_;
  uint64_t writes_ = 0;
};

TEST_P(BadPacket, Stores) {
  store_forged([](packet& p) { p.op = 0x77; }, GGAS_EV_BAD_PACKET, 0x77);
  store_forged([](packet& p) { p.op = 0x10; }, GGAS_EV_BAD_PACKET, 0x10);
  store_forged([](packet& p) { p.op = 0x30; }, GGAS_EV_BAD_PACKET, 0x30);  // collectives, one day
  store_forged([](packet& p) { p.op |= nic::op_multicast; }, GGAS_EV_BAD_PACKET, nic::op_multicast);
  store_forged([](packet& p) { p.version = 1; }, GGAS_EV_BAD_PACKET, 0);
  store_forged([](packet& p) { p.op = uint8_t(op::load); }, GGAS_EV_BAD_PACKET, 1);
  store_forged([](packet& p) { p.op = uint8_t(op::load_rsp); }, GGAS_EV_BAD_PACKET, 2);
  store_forged([](packet& p) { p.addr |= 2; }, GGAS_EV_BAD_PACKET, 0);
  store_forged([](packet& p) { p.addr = 0xff8; }, GGAS_EV_BAD_PACKET, 0);  // crosses 4 KB
  store_forged([](packet& p) { p.addr = 0x7fff'ffff'ffff'f000; }, GGAS_EV_TARGET_RANGE, refused(0xffff'f000));
  store_forged([](packet& p) { p.addr = ~uint64_t{0xf}; }, GGAS_EV_TARGET_RANGE, refused(0xffff'fff0));
  store_forged([this](packet& p) { p.addr = r_->cfg.stride; }, GGAS_EV_TARGET_RANGE, refused(r_->cfg.stride));
  store_forged([](packet& p) { p.domain ^= 1; }, GGAS_EV_TARGET_RANGE, refused(0x40));
  for (unsigned number : {rig::segment_export ^ 1, rig::segment_export + 64, 255})
    store_forged([=](packet& p) { p.export_no = uint8_t(number); }, GGAS_EV_TARGET_RANGE, refused(0x40, number));
  store_forged([](packet& p) { p.vc = 2; }, GGAS_EV_BAD_PACKET, 0);
}

TEST_P(BadPacket, Loads) {
  load_forged(
      1, op::load, [](packet& p) { p.req_dw = 0; }, GGAS_EV_BAD_PACKET);
  load_forged(
      1, op::load, [](packet& p) { p.req_dw = 65; }, GGAS_EV_BAD_PACKET);
  load_forged(
      1, op::load, [](packet& p) { p.req_dw = 2047; }, GGAS_EV_BAD_PACKET);
  load_forged(
      1, op::load, [](packet& p) { p.addr |= 1; }, GGAS_EV_BAD_PACKET);
  load_forged(
      1, op::load, [](packet& p) { p.addr = ~uint64_t{0xff}; }, GGAS_EV_TARGET_RANGE);
  load_forged(
      1, op::load, [](packet& p) { p.domain ^= 0x8000; }, GGAS_EV_TARGET_RANGE);
  load_forged(
      1, op::load, [](packet& p) { p.export_no ^= 0x40; }, GGAS_EV_TARGET_RANGE);
  load_forged(
      1, op::load, [](packet& p) { p.op = 0xee; }, GGAS_EV_BAD_PACKET);
  load_forged(
      1, op::load, [](packet& p) { p.op = uint8_t(op::store); }, GGAS_EV_BAD_PACKET);
}

TEST_P(BadPacket, Responses) {
  load_forged(
      0, op::load_rsp, [](packet& p) { p.tag ^= 0x8000; }, GGAS_EV_UNEXPECTED_RSP);
  load_forged(
      0, op::load_rsp, [](packet& p) { p.tag ^= 1; }, GGAS_EV_UNEXPECTED_RSP);
  load_forged(
      0, op::load_rsp, [](packet& p) { p.op = 0x99; }, GGAS_EV_BAD_PACKET);
  load_forged(
      0, op::load_rsp, [](packet& p) { p.status = 9; }, GGAS_EV_LOAD_REMOTE_ERROR);
}

TEST_P(BadPacket, ResponseOfTheWrongLength) {
  for (unsigned dws : {15u, 14u, 17u}) {
    forge_next(1, op::load_rsp, [dws](packet& p) {
      p.len_dw = uint16_t(dws);
      p.data.resize(dws, 7);
    });
    const auto got = r_->read(0, make_read(bar_window, r_->window(1, 0x40), 16), 20'000);
    EXPECT_TRUE(got.ones()) << dws;
  }
  EXPECT_EQ(r_->events(0, GGAS_EV_BAD_PACKET) + r_->events(0, GGAS_EV_LOAD_REMOTE_ERROR) +
                r_->events(0, GGAS_EV_UNEXPECTED_RSP),
            3u);
}

TEST_P(BadPacket, QuietResponses) {
  r_->write(0, make_write(bar_window, r_->window(1, 0x40), some_dws(4, 1)));
  forge_next(1, op::quiet_rsp, [](packet& p) { p.tag ^= 0x4000; });
  auto q = r_->quiet(0, 20'000);
  EXPECT_TRUE(q.ok());
  EXPECT_EQ(q.value(), 3u);  // ST_TIMEOUT
  EXPECT_EQ(r_->events(0, GGAS_EV_UNEXPECTED_RSP), 1u);
  r_->write(0, make_write(bar_window, r_->window(1, 0x40), some_dws(4, 1)));
  forge_next(1, op::quiet_rsp, [](packet& p) { p.op = uint8_t(op::load_rsp); });
  q = r_->quiet(0, 20'000);
  EXPECT_TRUE(q.ok());
  EXPECT_NE(q.value(), 0u);
  EXPECT_EQ(r_->events(0, GGAS_EV_QUIET_FAILED), 2u);
}

// Every header bit of every kind of packet once: whatever it means, nothing hangs.
TEST_P(BadPacket, EveryHeaderBit) {
  for (unsigned from = 0; from < 2; ++from) {
    for (op o : {op::store, op::load, op::quiet}) {
      for (unsigned bit = 0; bit < 32 * nic::header_dws; ++bit) {
        if (of_the_link(bit)) continue;
        const op target = from == 0 ? o : o == op::load ? op::load_rsp : op::quiet_rsp;
        forge_next(from, target, [&](packet& p) { flip_header_bit(p, bit); });
        r_->write(0, make_write(bar_window, r_->window(1, 0x40), some_dws(4, bit)));
        if (o == op::load)
          r_->read(0, make_read(bar_window, r_->window(1, 0x40), 4), 20'000);
        else
          r_->quiet(0, 20'000);
        ASSERT_TRUE(r_->fail.none()) << "bit " << bit << " of op " << unsigned(target) << "\n" << r_->report();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, BadPacket, testing::Values(64u, 256u));

}  // namespace
}  // namespace ggas::test
