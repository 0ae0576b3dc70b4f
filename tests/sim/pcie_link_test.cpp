// SPDX-License-Identifier: Apache-2.0
// One link: bandwidth, latency, credits, order.
#include <gtest/gtest.h>

#include <random>

#include "tests/sim/fixture.hpp"

namespace ggas::test {
namespace {

struct link_case {
  unsigned generation, lanes, payload;
  bool wide;
  double bytes_per_second;  // of the wire, from the specification
};

class link_bandwidth : public testing::TestWithParam<link_case> {};

// Back-to-back writes one way reach exactly the efficiency of their framing.
TEST_P(link_bandwidth, matches_tlp_efficiency) {
  const auto c = GetParam();
  sim::kernel k;
  device a("a"), b("b");
  const pcie::link_config link{.generation = c.generation, .lanes = c.lanes, .latency_ps = 100'000};
  pcie::port::connect(a.port, b.port, link);
  constexpr unsigned n = 2000;
  for (unsigned i = 0; i < n; ++i)
    a.port.send(write_of((c.wide ? 1ull << 40 : 0x1000) + uint64_t(i) * 4096, c.payload));
  run_idle(k);
  ASSERT_EQ(b.got.size(), n);
  const double seconds = double(b.got.back().at_ps - b.got.front().at_ps) * 1e-12;
  const double measured = double(n - 1) * c.payload / seconds;
  const unsigned overhead = 8 + (c.wide ? 16 : 12);
  const double expected = c.bytes_per_second * c.payload / (c.payload + overhead);
  EXPECT_NEAR(measured / expected, 1.0, 2e-3);
}

INSTANTIATE_TEST_SUITE_P(generations, link_bandwidth,
                         testing::Values(link_case{1, 8, 128, false, 2e9}, link_case{2, 8, 64, true, 4e9},
                                         link_case{2, 8, 256, true, 4e9}, link_case{3, 16, 256, true, 15.7538e9},
                                         link_case{5, 16, 512, true, 63.0154e9}, link_case{4, 4, 8, false, 7.8769e9}));

TEST(link, latency_is_serialisation_plus_propagation) {
  sim::kernel k;
  device a("a"), b("b");
  pcie::port::connect(a.port, b.port, {.generation = 2, .lanes = 8, .latency_ps = 123'000});
  a.port.send(write_of(0x1000, 64));
  run_idle(k);
  ASSERT_EQ(b.got.size(), 1u);
  EXPECT_EQ(b.got[0].at_ps, (64 + 20) * 250u + 123'000u);  // 4 GB/s: 250 ps a byte
}

// The acknowledgements of one direction take wire from the other.
TEST(link, acknowledgements_cost_the_way_back) {
  sim::kernel k;
  device a("a"), b("b");
  pcie::port::connect(a.port, b.port, {.generation = 2, .lanes = 8, .latency_ps = 0, .tlps_per_ack = 1});
  for (int i = 0; i < 1000; ++i) {
    a.port.send(write_of(0x1000, 64));
    b.port.send(write_of(0x1000, 64));
  }
  run_idle(k);
  ASSERT_EQ(a.got.size(), 1000u);
  const double per_tlp = double(a.got.back().at_ps - a.got.front().at_ps) / 999 / 250;
  EXPECT_NEAR(per_tlp, 64 + 20 + 8, 1.0);
}

TEST(link, credits_are_never_exceeded_and_come_back) {
  sim::kernel k;
  const pcie::port_config small{.rx = {pcie::credits{3, 24}, pcie::credits{2, 2}, pcie::credits{0, 0}}};
  device a("a"), b("b", small);
  pcie::port::connect(a.port, b.port, {.generation = 2, .lanes = 8, .latency_ps = 50'000});
  std::mt19937 rng(7);
  unsigned refused = 0;
  b.accept = [&](const pcie::tlp&) { return rng() % 3 || !++refused; };
  uint32_t worst_p = ~0u, worst_d = ~0u, worst_np = ~0u;
  a.port.on_wire = [&](const pcie::tlp&, uint64_t, uint64_t) {
    const auto p = a.port.free_credits(pcie::fc::p), np = a.port.free_credits(pcie::fc::np);
    ASSERT_LE(p.header, 3u);  // unsigned: an overdraft would be huge
    ASSERT_LE(p.data, 24u);
    ASSERT_LE(np.header, 2u);
    worst_p = std::min(worst_p, p.header);
    worst_d = std::min(worst_d, p.data);
    worst_np = std::min(worst_np, np.header);
  };
  for (unsigned i = 0; i < 500; ++i) {
    a.port.send(write_of(0x1000, 4 + 4 * (rng() % 64)));
    a.port.send(pcie::memory_read(0x2000, 64, 1, uint16_t(i)));
  }
  for (int i = 0; i < 5000 && b.got.size() < 1000; ++i) {
    run_idle(k, 1'000'000);
    b.port.resume();
  }
  EXPECT_EQ(b.got.size(), 1000u);
  EXPECT_GT(refused, 0u);
  EXPECT_EQ(worst_np, 0u);  // the bound was reached, so the check means something
  EXPECT_GT(a.port.stats().credit_stalls, 0u);
  run_idle(k);
  EXPECT_EQ(a.port.free_credits(pcie::fc::p).header, 3u);
  EXPECT_EQ(a.port.free_credits(pcie::fc::p).data, 24u);
  EXPECT_EQ(a.port.free_credits(pcie::fc::np).header, 2u);
  (void)worst_p, (void)worst_d;
}

// Random traffic of all classes with random refusals. Nothing is lost, each class is in order, and nothing passes a
// posted request that it may not pass. The tag counts all packets, so it is the order of sending.
TEST(link, order_holds_under_random_traffic) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    sim::kernel k;
    const pcie::port_config tight{.rx = {pcie::credits{4, 64}, pcie::credits{2, 2}, pcie::credits{4, 64}}};
    device a("a"), b("b", tight);
    pcie::port::connect(a.port, b.port, {.generation = 3, .lanes = 4, .latency_ps = 30'000});
    std::mt19937 rng(seed);
    b.accept = [&](const pcie::tlp& t) { return rng() % (t.posted() ? 2u : 4u) == 0; };
    constexpr unsigned n = 900;
    std::vector<char> kind(n);
    for (unsigned i = 0; i < n; ++i) {
      pcie::tlp t;
      switch (rng() % 3) {
        case 0:
          t = write_of(0x1000, 4 + 4 * (rng() % 32));
          break;
        case 1:
          t = pcie::memory_read(0x1000, 4, 1, 0);
          break;
        default:
          t = pcie::error_completion(pcie::memory_read(0x1000, 4, 1, 0), pcie::cpl_status::ur, 2);
          break;
      }
      t.tag = uint16_t(i);
      kind[i] = t.posted() ? 'P' : t.non_posted() ? 'N' : 'C';
      a.port.send(std::move(t));
    }
    for (int i = 0; i < 20000 && b.got.size() < n; ++i) {
      run_idle(k, 1'000'000);
      b.port.resume();
    }
    ASSERT_EQ(b.got.size(), n) << "seed " << seed;
    std::vector<bool> here(n);
    unsigned last[3] = {0, 0, 0};
    bool first[3] = {true, true, true}, passed = false;
    for (unsigned pos = 0, posted_before = 0; const auto& r : b.got) {
      const unsigned i = r.packet.tag, c = unsigned(pcie::fc_of(r.packet));
      ASSERT_TRUE(first[c] || i > last[c]) << "class " << c << " out of order, seed " << seed;
      first[c] = false;
      last[c] = i;
      if (kind[i] != 'P') {
        while (posted_before < i && (kind[posted_before] != 'P' || here[posted_before])) ++posted_before;
        ASSERT_GE(posted_before, i) << kind[i] << " " << i << " passed a posted request, seed " << seed;
      }
      here[i] = true;
      passed |= i < pos;
      ++pos;
    }
    EXPECT_TRUE(passed) << "no packet was ever passed: the test did not stress the order";
  }
}

// A refused read blocks neither writes nor completions.
TEST(link, refused_non_posted_never_blocks_others) {
  sim::kernel k;
  device a("a"), b("b");
  pcie::port::connect(a.port, b.port, {.generation = 2, .lanes = 8, .latency_ps = 1000});
  b.accept = [](const pcie::tlp& t) { return !t.non_posted(); };
  for (int i = 0; i < 200; ++i) {
    const auto read = pcie::memory_read(0x1000, 4, 1, 0);
    a.port.send(read);
    a.port.send(write_of(0x1000, 64));
    a.port.send(pcie::error_completion(read, pcie::cpl_status::ur, 2));
  }
  run_idle(k);
  EXPECT_EQ(b.got.size(), 400u);
  b.accept = nullptr;
  b.port.resume();
  run_idle(k);
  EXPECT_EQ(b.got.size(), 600u);
}

TEST(packet, byte_enables_of_every_alignment) {
  for (unsigned at = 0; at < 8; ++at)
    for (unsigned n = 1; n <= 20; ++n) {
      std::vector<std::byte> data(n);
      for (unsigned i = 0; i < n; ++i) data[i] = std::byte(i + 1);
      const auto t = pcie::memory_write(0x1000 + at, data, 0);
      ASSERT_EQ(pcie::first_byte_address(t), 0x1000 + at);
      ASSERT_EQ(pcie::enabled_bytes(t), n);
      unsigned seen = 0;
      pcie::for_each_byte(t, [&](uint64_t a, std::byte b) {
        ASSERT_EQ(a, 0x1000 + at + seen);
        ASSERT_EQ(unsigned(b), ++seen);
      });
      ASSERT_EQ(seen, n);
      ASSERT_EQ(t.last_be == 0, t.len_dw == 1);
    }
}

TEST(packet, completions_obey_boundaries_and_counts) {
  for (unsigned at = 0; at < 260; at += 3)
    for (unsigned n : {1u, 4u, 63u, 64u, 65u, 200u, 512u, 1000u}) {
      const auto r = pcie::memory_read(0x7000 + at, n, 0x100, 5);
      std::vector<uint32_t> dws(r.len_dw);
      for (unsigned i = 0; i < dws.size(); ++i) dws[i] = i;
      const auto cpls = pcie::read_completions(r, dws, 256, 64, 1);
      uint32_t left = n, dw = 0;
      uint64_t addr = r.addr;
      for (size_t i = 0; i < cpls.size(); ++i) {
        const auto& c = cpls[i];
        ASSERT_EQ(c.byte_count, left);
        ASSERT_LE(4u * c.len_dw, 256u);
        ASSERT_EQ(c.lower_addr, (i == 0 ? 0x7000 + at : addr) & 0x7f);
        for (const auto v : c.data) ASSERT_EQ(v, dw++);
        addr += 4ull * c.len_dw;
        if (i + 1 < cpls.size()) {
          ASSERT_EQ(addr % 64, 0u);
          left = uint32_t(0x7000 + at + n - addr);
        }
      }
      ASSERT_EQ(dw, r.len_dw);
    }
}

}  // namespace
}  // namespace ggas::test
