// SPDX-License-Identifier: Apache-2.0
// Routers: memory after the root complex, peer to peer, errors, time-outs, switches.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "sim/cpu/cpu.hpp"
#include "tests/sim/fixture.hpp"

namespace ggas::test {
namespace {

constexpr uint64_t bar_a = 0x80000000, bar_b = 0x90000000, bar_bytes = 0x10000;
constexpr uint16_t id_a = 0x100, id_b = 0x200;
const pcie::link_config slot{.generation = 2, .lanes = 8, .latency_ps = 50'000};

// Two devices at a root complex; a requests.
struct bus {
  explicit bus(pcie::root_complex_config cfg = {.router = {.rule = {.latency_ps = 100'000}},
                                                .memory_latency_ps = 300'000})
      : root("root", cfg, memory),
        a("a"),
        b("b"),
        requester("requester", a.port, {.id = id_a, .tags = 8, .timeout_ps = 20'000'000}) {
    port_a = root.add_port("port_a");
    port_b = root.add_port("port_b");
    pcie::port::connect(a.port, root.at(port_a), slot);
    pcie::port::connect(b.port, root.at(port_b), slot);
    root.map(port_a, bar_a, bar_bytes);
    root.map(port_b, bar_b, bar_bytes);
    root.attach(port_a, id_a);
    root.attach(port_b, id_b);
    a.accept = [this](const pcie::tlp& t) {
      if (t.completion()) {
        pcie::tlp c = t;
        requester.complete(c);
      }
      return true;
    };
    b.accept = [this](const pcie::tlp& t) {
      if (t.kind == pcie::tlp_kind::mrd && answer) {
        const std::vector<uint32_t> dws(t.len_dw, 0xabcd0000u | (t.addr & 0xffff));
        for (auto& c : pcie::read_completions(t, dws, 256, 64, id_b)) b.port.send(std::move(c));
      }
      return true;
    };
  }
  // Reads once; how it ended and when.
  std::pair<pcie::read_result, uint64_t> read(uint64_t addr, unsigned bytes) {
    pcie::read_result result;
    uint64_t at = 0;
    const uint64_t begin = k.now_ps();
    requester.read(pcie::memory_read(addr, bytes, 0, 0), [&](pcie::read_result&& r) {
      result = std::move(r);
      at = pcie::now_ps();
      k.stop();
    });
    EXPECT_TRUE(k.run_until([&] { return at != 0; }, 1'000'000'000));
    return {result, at - begin};
  }

  sim::kernel k;
  mem::sparse_memory memory;
  pcie::root_complex root;
  device a, b;
  pcie::requester requester;
  unsigned port_a = 0, port_b = 0;
  bool answer = true;
};

TEST(root_complex, memory_keeps_what_is_written) {
  bus s;
  std::vector<std::byte> data(100);
  for (unsigned i = 0; i < 100; ++i) data[i] = std::byte(i);
  s.a.port.send(pcie::memory_write(0x12345, data, id_a));
  const auto [r, t] = s.read(0x12340, 128);  // after the write: sees it
  ASSERT_TRUE(r.ok());
  ASSERT_EQ(r.dws.size(), 32u);
  EXPECT_EQ(std::memcmp(reinterpret_cast<const char*>(r.dws.data()) + 5, data.data(), 100), 0);
  EXPECT_EQ(s.memory.load<uint8_t>(0x12345 + 99), 99);
}

TEST(root_complex, read_latency_is_the_sum_of_its_parts) {
  bus s;
  const auto [r, t] = s.read(0x1000, 64);
  ASSERT_TRUE(r.ok());
  // request on the wire, flight, memory, completion on the wire, flight
  EXPECT_EQ(t, 20 * 250u + 50'000u + 300'000u + (64 + 20) * 250u + 50'000u);
}

TEST(root_complex, peer_to_peer_latency_is_the_sum_of_its_parts) {
  bus s;
  s.a.port.send(write_of(bar_b + 0x100, 8, id_a));
  run_idle(s.k);
  ASSERT_EQ(s.b.got.size(), 1u);
  EXPECT_EQ(s.b.got[0].at_ps, 2 * ((8 + 20) * 250u + 50'000u) + 100'000u);
  const auto [r, t] = s.read(bar_b + 0x40, 4);
  EXPECT_TRUE(r.ok());
  EXPECT_EQ(r.dws.at(0), 0xabcd0040u);
  // Round trip; the device answers at once, so its completion waits for the acknowledgement of the request (8 bytes).
  EXPECT_EQ(t, 2 * (2 * (20 * 250u + 50'000u) + 100'000u) + 2 * 4 * 250u + 8 * 250u);
}

TEST(root_complex, memory_bandwidth_bounds_reads) {
  bus s({.router = {}, .memory_bytes_per_second = 1e9});
  unsigned done = 0;
  uint64_t first = 0, last = 0;
  for (unsigned i = 0; i < 200; ++i)
    s.requester.read(pcie::memory_read(0x1000 + i * 256, 256, 0, 0), [&](pcie::read_result&& r) {
      EXPECT_TRUE(r.ok());
      last = pcie::now_ps();
      if (!done++) first = last;
    });
  run_idle(s.k);
  ASSERT_EQ(done, 200u);
  EXPECT_NEAR(199 * 256 / (double(last - first) * 1e-12) / 1e9, 1.0, 0.02);
}

TEST(root_complex, unmapped_reads_are_unsupported_and_writes_dropped) {
  bus s;
  const auto [r, t] = s.read(0xdead00000000, 4);
  EXPECT_FALSE(r.ok());
  EXPECT_FALSE(r.timed_out);
  EXPECT_EQ(r.status, pcie::cpl_status::ur);
  s.a.port.send(write_of(0xdead00000000, 4, id_a));
  // Across the end of memory: not mapped either.
  const auto [r2, t2] = s.read((1ull << 30) - 4, 8);
  EXPECT_EQ(r2.status, pcie::cpl_status::ur);
  run_idle(s.k);
  EXPECT_EQ(s.root.stats().unmapped, 3u);
}

TEST(root_complex, silence_ends_in_a_time_out_and_tags_return) {
  bus s;
  s.answer = false;
  for (int i = 0; i < 20; ++i) {  // more than there are tags
    const auto [r, t] = s.read(bar_b, 4);
    EXPECT_TRUE(r.timed_out);
    EXPECT_EQ(t, 20'000'000u);
  }
  EXPECT_EQ(s.requester.timeouts(), 20u);
  s.answer = true;
  EXPECT_TRUE(s.read(bar_b, 4).first.ok());
}

TEST(root_complex, late_completion_is_counted_not_delivered) {
  bus s;
  s.answer = false;
  EXPECT_TRUE(s.read(bar_b, 4).first.timed_out);
  const auto late = s.b.got.back().packet;
  s.b.port.send(pcie::error_completion(late, pcie::cpl_status::ca, id_b));
  run_idle(s.k);
  EXPECT_EQ(s.requester.unexpected(), 1u);
}

TEST(root_complex, forbidden_paths) {
  bus s;
  s.root.rule(s.port_a, s.port_b, {.posted = false, .non_posted = false, .latency_ps = 1000});
  s.a.port.send(write_of(bar_b, 64, id_a));
  const auto [r, t] = s.read(bar_b, 4);
  EXPECT_EQ(r.status, pcie::cpl_status::ur);
  EXPECT_TRUE(s.b.got.empty());
  EXPECT_EQ(s.root.stats().forbidden, 2u);
}

TEST(root_complex, peer_reads_obey_their_rate_and_writes_do_not_wait) {
  bus s;
  s.root.rule(s.port_a, s.port_b, {.latency_ps = 1000, .np_bytes_per_second = 0.5e9});
  unsigned done = 0;
  uint64_t first = 0, last = 0;
  for (unsigned i = 0; i < 100; ++i)
    s.requester.read(pcie::memory_read(bar_b + 64 * i, 64, 0, 0), [&](pcie::read_result&&) {
      last = pcie::now_ps();
      if (!done++) first = last;
    });
  s.a.port.send(write_of(bar_b, 64, id_a));
  run_idle(s.k);
  ASSERT_EQ(done, 100u);
  EXPECT_NEAR(99 * 64 / (double(last - first) * 1e-12) / 0.5e9, 1.0, 0.02);
  uint64_t write_at = 0, reads_before = 0;
  for (const auto& r : s.b.got)
    if (r.packet.posted())
      write_at = r.at_ps;
    else if (!write_at)
      ++reads_before;
  EXPECT_GT(write_at, 0u);
  EXPECT_LT(reads_before, 5u) << "the write waited behind reads that were held back";
}

TEST(root_complex, peer_reads_obey_their_number) {
  bus s;
  s.root.rule(s.port_a, s.port_b, {.latency_ps = 1000, .np_outstanding = 2});
  unsigned inside = 0, most = 0, done = 0;
  s.b.accept = [&](const pcie::tlp& t) {
    if (t.non_posted()) most = std::max(most, ++inside);
    return true;
  };
  for (unsigned i = 0; i < 30; ++i)
    s.requester.read(pcie::memory_read(bar_b, 200, 0, 0), [&](pcie::read_result&&) { ++done; });
  for (int i = 0; i < 400 && done < 30; ++i) {
    run_idle(s.k, 500'000);
    for (auto& r : s.b.got) {
      const std::vector<uint32_t> dws(r.packet.len_dw);
      for (auto& c : pcie::read_completions(r.packet, dws, 64, 64, id_b)) s.b.port.send(std::move(c));
      --inside;
    }
    s.b.got.clear();
  }
  EXPECT_EQ(done, 30u);
  EXPECT_EQ(most, 2u);
}

TEST(root_complex, interrupts_reach_the_processor) {
  bus s;
  uint64_t addr = 0;
  uint32_t value = 0;
  s.root.on_msi = [&](uint64_t a, uint32_t d) { addr = a, value = d; };
  const uint32_t d = 0x1234;
  s.a.port.send(pcie::memory_write(0xfee00010, std::as_bytes(std::span(&d, 1)), id_a));
  run_idle(s.k);
  EXPECT_EQ(addr, 0xfee00010u);
  EXPECT_EQ(value, 0x1234u);
}

// A device that takes nothing must not stop others.
TEST(router, a_stuck_output_blocks_only_its_own_traffic) {
  bus s;
  s.b.accept = [](const pcie::tlp&) { return false; };
  for (int i = 0; i < 200; ++i) s.a.port.send(pcie::memory_read(bar_b, 4, id_a, 0x80));  // more than all buffers hold
  const auto [r, t] = s.read(0x1000, 64);
  EXPECT_TRUE(r.timed_out);  // reads stay in order among themselves: stuck after, and ended by the time-out
  for (int i = 0; i < 10; ++i) s.a.port.send(write_of(0x2000 + 64 * i, 64, id_a));
  run_idle(s.k);
  EXPECT_EQ(s.memory.load<uint8_t>(0x2000 + 639), 0x5a);  // writes pass the stuck reads
}

TEST(router, switch_forwards_up_down_and_across) {
  sim::kernel k;
  device host("host"), x("x"), y("y");
  pcie::router sw("switch", {.rule = {.latency_ps = 115'000}});
  const unsigned up = sw.add_port("up"), px = sw.add_port("px"), py = sw.add_port("py");
  pcie::port::connect(host.port, sw.at(up), slot);
  pcie::port::connect(x.port, sw.at(px), slot);
  pcie::port::connect(y.port, sw.at(py), slot);
  sw.map(px, bar_a, bar_bytes);
  sw.map(py, bar_b, bar_bytes);
  sw.attach(px, id_a);
  sw.attach(py, id_b);
  sw.upstream(up);
  x.port.send(write_of(0x1000, 4, id_a));            // to memory: up
  x.port.send(write_of(bar_b + 4, 4, id_a));         // across
  host.port.send(write_of(bar_a, 4));                // down
  host.port.send(pcie::memory_read(0x99, 1, 0, 3));  // no one: UR, not sent back up
  y.port.send(
      pcie::error_completion(pcie::memory_read(0, 4, 0x55, 1), pcie::cpl_status::ur, id_b));  // unknown requester: up
  run_idle(k);
  EXPECT_EQ(x.got.size(), 1u);
  EXPECT_EQ(y.got.size(), 1u);
  ASSERT_EQ(host.got.size(), 3u);
  EXPECT_EQ(sw.stats().unmapped, 1u);
}

TEST(cpu, loads_and_stores_of_every_size) {
  sim::kernel k;
  mem::sparse_memory memory;
  pcie::root_complex root("root", {}, memory);
  cpu::processor cpu("cpu", {.id = 1, .store_ps = 10'000, .load_ps = 20'000, .timeout_ps = 1'000'000'000});
  const unsigned p = root.add_port("cpu_port");
  pcie::port::connect(cpu.port(), root.at(p), slot);
  root.attach(p, 1);
  for (unsigned bytes : {1u, 2u, 4u, 8u})
    for (unsigned at = 0; at + bytes <= 8; at += bytes) {
      const uint64_t value = 0x8877665544332211ull >> 8 * at, mask = bytes == 8 ? ~0ull : (1ull << 8 * bytes) - 1;
      cpu.store(0x1000 + at, value, bytes);
      std::optional<uint64_t> got;
      cpu.load(0x1000 + at, bytes, [&](std::optional<uint64_t> v) { got = v; });
      run_idle(k);
      ASSERT_TRUE(got);
      EXPECT_EQ(*got, value & mask);
    }
  bool ended = false;
  cpu.load(0xdead0000000, 4, [&](std::optional<uint64_t> v) { ended = !v; });
  run_idle(k);
  EXPECT_TRUE(ended);
}

// Several kernels may live in a process, also at once.
TEST(kernel, one_after_another_and_side_by_side) {
  for (int i = 0; i < 20; ++i) {
    bus s;
    EXPECT_TRUE(s.read(0x1000, 64).first.ok());
    EXPECT_LT(s.k.now_ps(), 1'000'000u);  // time begins again
  }
}

}  // namespace
}  // namespace ggas::test
