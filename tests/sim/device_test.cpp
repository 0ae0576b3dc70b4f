// SPDX-License-Identifier: Apache-2.0
// The vfio-user server with the Verilated NIC, and a client that speaks as QEMU does.
#include "sim/vfio_user/server.hpp"

#include <gtest/gtest.h>
#include <linux/pci_regs.h>

#include <algorithm>
#include <fstream>

#include "ggas_regs.h"
#include "sim/driver/set_up.hpp"
#include "sim/vfio_user/replay.hpp"
#include "tests/sim/device_client.hpp"

namespace ggas::test {
namespace {

constexpr uint64_t ram_bytes = 1 << 20, ram_at = 0x100000, all_ones = ~uint64_t(0);

device::server_config config(const std::vector<std::string>& settings = {}) {
  auto p = sim::load_platform("galibier-k20", settings);
  EXPECT_TRUE(p) << p.error();
  device::server_config c;
  if (p) c.rig.plat = std::move(*p);
  return c;
}

// A client with memory, programmed as a driver does: window to the other node, exported memory, links up.
struct guest_node {
  guest_node(const running_server& s, unsigned n, bool by_message = false) : id(n), c(s.socket(n)), ram(ram_bytes) {
    c.greet();
    EXPECT_EQ(c.map(ram_at, ram_bytes, by_message ? -1 : ram.fd.get()), 0);
    c.bus_master(true);
  }
  void set(uint64_t offset, uint64_t value) { c.write64(0, offset, value); }
  uint64_t get(uint64_t offset) { return c.read64(0, offset); }
  void program() {
    set(GGAS_REG_NODE, id);
    set(GGAS_REG_LINK_PEER, (1 - id) | GGAS_LINK_PEER_VALID_MASK);
    const auto reg = [&](uint16_t offset, uint64_t value) { set(offset, value); };
    driver::set_export(reg, 0, {.base = ram_at, .bytes = 0x10000, .domain = 1});
    for (unsigned i = 0; i < 2; ++i)
      driver::set_interval(reg, i, {.start = i * 0x10000ull, .end = (i + 1) * 0x10000ull, .node = i, .domain = 1});
    set(GGAS_REG_SMFU_CTRL, GGAS_SMFU_CTRL_EGRESS_MASK | GGAS_SMFU_CTRL_INGRESS_MASK);
  }
  // A link whose other side began again is dead until both begin again.
  bool link_up() {
    const uint64_t state = get(GGAS_REG_LINK_STATUS) & GGAS_LINK_STATUS_STATE_MASK;
    if (state == GGAS_LINK_STATE_DEAD) set(GGAS_REG_LINK_CTRL, get(GGAS_REG_LINK_CTRL) | GGAS_LINK_CTRL_RETRAIN_MASK);
    return state == GGAS_LINK_STATE_UP;
  }
  unsigned id;
  client c;
  shared_memory ram;
};

void program(guest_node& a, guest_node& b) {
  a.program();
  b.program();
  for (int turn = 0; turn < 1000; ++turn)
    if (a.link_up() && b.link_up() && a.link_up()) return;
  ADD_FAILURE() << "the link is not up";
}

TEST(device, tells_what_it_is) {
  running_server s(config());
  client c(s.socket(0));
  c.greet();
  const wire::device_info ask{sizeof ask, 0, 0, 0};
  const auto info = c.ask(wire::command::device_get_info, device::bytes_of(ask))->fixed<wire::device_info>();
  ASSERT_TRUE(info);
  EXPECT_EQ(info->flags, wire::device_resets | wire::device_is_pci);
  const std::map<unsigned, uint64_t> sizes{{0, 0x10000}, {1, 0}, {2, 64 << 20}, {4, 2 << 20}, {7, 4096}};
  for (const auto& [region, size] : sizes) {
    const wire::region_info r{sizeof r, 0, region, 0, 0, 0};
    EXPECT_EQ(c.ask(wire::command::region_get_info, device::bytes_of(r))->fixed<wire::region_info>()->size, size)
        << region;
  }
  EXPECT_EQ(c.read64(0, GGAS_REG_ID) & GGAS_ID_MAGIC_MASK, 0x53414747u);
  // Extended capabilities begin with error reporting.
  const auto aer = c.read(wire::region_config, 0x100, 4);
  EXPECT_EQ(aer, (std::vector{std::byte{1}, std::byte{0}, std::byte{2}, std::byte{0}}));
}

TEST(device, stores_and_loads_cross_the_network) {
  running_server s(config());
  guest_node a(s, 0), b(s, 1);
  program(a, b);
  a.c.write64(2, 0x10000 + 0x100, 0x1122334455667788);
  EXPECT_EQ(a.c.read64(2, 0x10000 + 0x100), 0x1122334455667788u);  // a load after the store
  EXPECT_EQ(b.ram.word(0x100), 0x1122334455667788u);
  EXPECT_EQ(a.c.read64(4, 0), 0u);              // quiet
  EXPECT_EQ(a.c.read64(2, 0x30000), all_ones);  // no interval
}

TEST(device, memory_without_a_descriptor_is_reached_by_messages) {
  running_server s(config());
  guest_node a(s, 0), b(s, 1, true);
  program(a, b);
  std::atomic<bool> over = false;
  std::thread serving([&] {  // the guest's monitor answers while it does something else
    while (!over) b.get(GGAS_REG_ID);
  });
  a.c.write64(2, 0x10000 + 0x208, 0xa5a5a5a5deadbeef);
  EXPECT_EQ(a.c.read64(2, 0x10000 + 0x208), 0xa5a5a5a5deadbeefu);
  over = true;
  serving.join();
  EXPECT_GE(b.c.asked, 2u);
  EXPECT_EQ(b.c.memory[ram_at + 0x208], std::byte{0xef});
}

TEST(device, accesses_outside_live_mappings_reach_nothing) {
  running_server s(config());
  {
    guest_node a(s, 0), b(s, 1);
    program(a, b);
    ASSERT_EQ(b.c.unmap(ram_at, ram_bytes), 0);
    a.c.write64(2, 0x10000, 0x77);
    EXPECT_EQ(a.c.read64(2, 0x10000), all_ones);
    EXPECT_EQ(b.ram.word(0), 0u);
    // Mapped again, elsewhere in the file and in two windows.
    ASSERT_EQ(b.c.map(ram_at, 0x1000, b.ram.fd.get(), 0x8000), 0);
    ASSERT_EQ(b.c.map(ram_at + 0x1000, 0x1000, b.ram.fd.get(), 0x2000), 0);
    EXPECT_EQ(b.c.map(ram_at + 0x1000, 0x1000, b.ram.fd.get(), 0), EEXIST);
    a.c.write64(2, 0x10000, 0x77);
    a.c.write64(2, 0x11000, 0x78);
    EXPECT_EQ(a.c.read64(2, 0x11000), 0x78u);
    EXPECT_EQ(b.ram.word(0x8000), 0x77u);
    EXPECT_EQ(b.ram.word(0x2000), 0x78u);
    // No bus master: nothing either.
    b.c.bus_master(false);
    b.get(GGAS_REG_ID);
    EXPECT_EQ(a.c.read64(2, 0x11000), all_ones);
  }
  s.stop();
  EXPECT_EQ(s.get().stats().strays, 2u);
}

// A client that makes its file shorter loses accesses to what is gone, and no other one's NIC suffers.
TEST(device, memory_that_a_client_takes_away_reaches_nothing) {
  running_server s(config());
  {
    guest_node a(s, 0), b(s, 1);
    program(a, b);
    a.c.write64(2, 0x10000, 0x77);
    EXPECT_EQ(a.c.read64(2, 0x10000), 0x77u);
    ASSERT_EQ(ftruncate(b.ram.fd.get(), 0), 0);
    a.c.write64(2, 0x10000, 0x78);
    EXPECT_EQ(a.c.read64(2, 0x10000), all_ones);
    ASSERT_EQ(ftruncate(b.ram.fd.get(), off_t(ram_bytes)), 0);
    a.c.write64(2, 0x10000, 0x79);
    EXPECT_EQ(a.c.read64(2, 0x10000), 0x79u);
  }
  s.stop();
  EXPECT_EQ(s.get().stats().strays, 2u);
}

TEST(device, interrupts_come_as_events) {
  running_server s(config());
  guest_node a(s, 0);
  device::file event(eventfd(0, EFD_CLOEXEC));
  ASSERT_EQ(a.c.vectors(3, {event.get()}), 0);
  a.set(GGAS_REG_EVQ_BASE, ram_at + 0x80000);
  a.set(GGAS_REG_EVQ_CTRL,
        GGAS_EVQ_CTRL_ENABLE_MASK | 4 << GGAS_EVQ_CTRL_LOG2_SIZE_SHIFT | 3 << GGAS_EVQ_CTRL_VECTOR_SHIFT);
  a.c.write64(2, 0, 1);  // the window is off: an event
  pollfd p{event.get(), POLLIN, 0};
  ASSERT_EQ(poll(&p, 1, client::timeout_ms), 1);
  EXPECT_NE(a.ram.word(0x80000), 0u);  // the record was there before
}

TEST(device, a_function_level_reset_begins_again) {
  running_server s(config());
  guest_node a(s, 0), b(s, 1);
  device::file event(eventfd(0, EFD_CLOEXEC));
  ASSERT_EQ(b.c.vectors(0, {event.get()}), 0);
  program(a, b);
  const uint16_t flr = PCI_EXP_DEVCTL_BCR_FLR;
  b.c.write(wire::region_config, 0x50 + PCI_EXP_DEVCTL, device::bytes_of(flr));
  EXPECT_EQ(b.get(GGAS_REG_NODE), 0u);
  EXPECT_EQ(b.get(GGAS_REG_SMFU_CTRL), 0u);
  EXPECT_EQ(b.get(GGAS_REG_MSIX_CTRL(0)), 0u);  // the client's vector is there again
  EXPECT_EQ(b.get(GGAS_REG_MSIX_CTRL(1)) & GGAS_MSIX_CTRL_MASK_MASK, GGAS_MSIX_CTRL_MASK_MASK);
  EXPECT_EQ(a.c.read64(2, 0x10000), all_ones);  // its peer is informed
  b.c.bus_master(true);
  program(a, b);
  a.c.write64(2, 0x10008, 0x99);
  EXPECT_EQ(a.c.read64(2, 0x10008), 0x99u);
}

TEST(device, no_answer_takes_longer_than_a_second) {
  running_server s(config({"nic.clock_mhz=5", "link.latency_ns=200", "cpu.timeout_ns=1e9"}));
  {
    guest_node a(s, 0), b(s, 1, true);  // memory of b is reached by messages, and b is silent
    // Time-outs of the NIC are far beyond a second: the server answers before it.
    program(a, b);
    for (guest_node* n : {&a, &b}) n->set(GGAS_REG_SMFU_TIMEOUT, 0xffffffff);
    b.get(GGAS_REG_ID);
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_EQ(a.c.read64(2, 0x10000), all_ones);
    const auto took = std::chrono::steady_clock::now() - begun;
    EXPECT_LT(took, std::chrono::seconds(1));
    EXPECT_GT(took, std::chrono::milliseconds(500));
    EXPECT_EQ(a.get(GGAS_REG_ID) & GGAS_ID_MAGIC_MASK, 0x53414747u);
  }
  s.stop();
  EXPECT_EQ(s.get().stats().expired, 1u);
}

TEST(device, a_run_is_repeated_from_its_log) {
  const auto folder = std::filesystem::temp_directory_path() / ("ggas-replay-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const auto log = folder / "run.log", again = folder / "again.log";
  device::server_config cfg = config();
  cfg.log = log;
  cfg.log_header = device::log_header{.platform = "galibier-k20",
                                      .faults = {},
                                      .settings = {},
                                      .nodes = 2,
                                      .window_bytes = cfg.rig.window_bytes,
                                      .seed = 1}
                       .line();
  {
    running_server s(std::move(cfg));
    {
      guest_node a(s, 0), b(s, 1);
      program(a, b);
      for (uint64_t i = 0; i < 20; ++i) a.c.write64(2, 0x10000 + 8 * i, i);
      EXPECT_EQ(a.c.read64(2, 0x10000 + 8 * 19), 19u);
      const uint16_t flr = PCI_EXP_DEVCTL_BCR_FLR;
      b.c.write(wire::region_config, 0x50 + PCI_EXP_DEVCTL, device::bytes_of(flr));
      b.get(GGAS_REG_ID);
      a.c.read64(2, 0x10000);
    }
    // The links say something after the last that came from outside, and that is repeated, too.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const auto same = device::replay(log, again, {});
  ASSERT_TRUE(same) << same.error();
  EXPECT_GT(same->lines, 500u);
  // Had another value been stored, the NICs would have done something else: the place is reported.
  std::ifstream in(log);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  const size_t at = text.find(" write 2 10008 01");
  ASSERT_NE(at, text.npos);
  text[at + 16] = '2';
  std::ofstream(log) << text;
  const auto other = device::replay(log, again, {});
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().find("differs"), std::string::npos) << other.error();
  std::filesystem::remove_all(folder);
}

TEST(device, a_broken_message_ends_that_connection_only) {
  running_server s(config());
  guest_node a(s, 0);
  const std::vector<std::vector<std::byte>> broken{
      device::encode({.id = 1, .command = 4, .bytes = 0, .flags = 0, .error = 0}, {}),  // too short, and no version
      std::vector<std::byte>(64, std::byte{0xff}),
      std::vector<std::byte>(16, std::byte{0}),
  };
  for (const auto& bytes : broken) {
    client b(s.socket(1));
    b.send_raw(bytes);
    EXPECT_FALSE(b.receive());
    EXPECT_EQ(a.get(GGAS_REG_ID) & GGAS_ID_MAGIC_MASK, 0x53414747u);
  }
  client b(s.socket(1));
  b.greet();
  EXPECT_EQ(b.read64(0, GGAS_REG_ID) & GGAS_ID_MAGIC_MASK, 0x53414747u);
  client other(s.socket(1));  // turned away
  EXPECT_FALSE(other.receive());
}

TEST(device, what_cannot_be_done_is_refused) {
  running_server s(config(), 1);
  client c(s.socket(0));
  c.greet();
  shared_memory ram(0x2000);
  EXPECT_EQ(c.map(0x1000, 0x3000, ram.fd.get()), EINVAL);  // after the end of the file
  EXPECT_EQ(c.map(0x1001, 0x1000, ram.fd.get()), EINVAL);
  EXPECT_EQ(c.map(0x1000, 0, ram.fd.get()), EINVAL);
  EXPECT_EQ(c.map(~uint64_t(0xfff), 0x2000, ram.fd.get()), EINVAL);
  EXPECT_EQ(c.map(0x1000, 0x1000, -1, 0, 7), EINVAL);  // by mmap, but no descriptor
  EXPECT_EQ(c.unmap(0x1000, 0x1000), ENOENT);
  EXPECT_EQ(c.vectors(15, {ram.fd.get(), ram.fd.get()}), EINVAL);
  const wire::region_access beyond{0x10000, 0, 4}, none{0, 1, 4}, huge{0, 2, 1 << 19};
  for (const auto& a : {beyond, none, huge})
    EXPECT_EQ(c.result(wire::command::region_read, device::bytes_of(a)), EINVAL);
  EXPECT_EQ(c.result(wire::command(99), {}), ENOTSUP);
}

}  // namespace
}  // namespace ggas::test
