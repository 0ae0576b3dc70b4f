// SPDX-License-Identifier: Apache-2.0
// Whole systems, with the RTL inside and with the reference model in its place.
#include "sim/system.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>

#include "tests/sim/system_fixture.hpp"

namespace ggas::test {
namespace {

std::unique_ptr<sim::system> make(sim::system_config c) {
  auto s = sim::system::create(std::move(c));
  EXPECT_TRUE(s) << s.error();
  return s ? std::move(*s) : nullptr;
}

struct nic_case {
  const char* platform;
  bool rtl;
  friend void PrintTo(const nic_case& c, std::ostream* o) { *o << c.platform << (c.rtl ? " rtl" : " model"); }
};

class with_nic : public testing::TestWithParam<nic_case> {
 protected:
  sim::system_config base(std::vector<std::string> overrides = {}) {
    return config(GetParam().platform, GetParam().rtl, overrides);
  }
};

TEST_P(with_nic, stores_arrive_and_loads_return_them) {
  auto s = make(base());
  ASSERT_TRUE(s);
  std::mt19937_64 rng(3);
  std::vector<std::byte> image(8192);
  for (unsigned at = 0; at < image.size();) {
    const unsigned n = std::min<unsigned>(1 + rng() % 128, 4096 - at % 4096);  // no request crosses 4 KB
    std::vector<std::byte> data(n);
    for (auto& b : data) b = std::byte(rng());
    std::copy(data.begin(), data.end(), image.begin() + at);
    gpu(*s, 0).store(gpu(*s, 0).window(1, at), data);
    at += n;
  }
  const uint64_t quiet = gpu(*s, 0).slot.pages_address;
  const auto q = read(*s, 0, quiet, 8);
  ASSERT_TRUE(q.ok());
  EXPECT_EQ(q.dws.at(0), 0u);
  std::vector<std::byte> there(image.size());
  gpu(*s, 1).memory.read(0, there);
  EXPECT_TRUE(there == image) << "after a quiet every store is visible";
  for (unsigned at = 0; at < image.size(); at += 256) {
    const auto r = read(*s, 0, gpu(*s, 0).window(1, at), 256);
    ASSERT_TRUE(r.ok());
    ASSERT_EQ(std::memcmp(r.dws.data(), image.data() + at, 256), 0);
  }
}

TEST_P(with_nic, own_node_is_reached_through_the_window) {
  auto s = make(base());
  ASSERT_TRUE(s);
  const uint64_t v = 0x1122334455667788;
  gpu(*s, 1).store(gpu(*s, 1).window(1, 64), std::as_bytes(std::span(&v, 1)));
  const auto r = read(*s, 1, gpu(*s, 1).window(1, 64), 8);
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r.dws.at(0), 0x55667788u);
  EXPECT_EQ(gpu(*s, 1).memory.load<uint64_t>(64), v);
}

TEST_P(with_nic, access_outside_every_interval_reads_ones_and_is_counted) {
  auto c = base();
  c.segment_bytes = 3 * 4096;  // the stride is 16 KB: a hole of 4 KB
  auto s = make(std::move(c));
  ASSERT_TRUE(s);
  const auto r = read(*s, 0, gpu(*s, 0).window(1, 3 * 4096), 4);
  EXPECT_EQ(r.dws.at(0), ~0u);
  const uint32_t v = 1;
  gpu(*s, 0).store(gpu(*s, 0).window(1, 3 * 4096), std::as_bytes(std::span(&v, 1)));
  s->run_for(50'000'000);
  const auto counters = s->counters(0);
  EXPECT_EQ(counters.at("EVENT_LOAD_UNMAPPED"), 1u);
  EXPECT_EQ(counters.at("EVENT_STORE_UNMAPPED"), 1u);
  if (GetParam().rtl) {
    const auto events = s->events(0);
    const auto named = [&](const char* name) {
      return std::ranges::count_if(events, [&](const std::string& e) { return e.find(name) != std::string::npos; });
    };
    EXPECT_EQ(named("LOAD_UNMAPPED"), 1);
    EXPECT_EQ(named("STORE_UNMAPPED"), 1);
  }
}

TEST_P(with_nic, mask_mode) {
  auto c = base();
  c.mask_mode = true;
  auto s = make(std::move(c));
  ASSERT_TRUE(s);
  const uint32_t v = 77;
  gpu(*s, 0).store(gpu(*s, 0).window(1, 0x40), std::as_bytes(std::span(&v, 1)));
  ASSERT_TRUE(read(*s, 0, gpu(*s, 0).slot.pages_address, 8).ok());
  EXPECT_EQ(gpu(*s, 1).memory.load<uint32_t>(0x40), 77u);
}

TEST_P(with_nic, segment_in_host_memory_and_a_single_node) {
  auto c = base();
  c.gpu = nullptr;
  c.nodes = 1;
  auto s = make(std::move(c));
  ASSERT_TRUE(s);
  s->store(0, sim::window_base + 0x100, 0xabcdef, 8);
  const auto r = s->load(0, sim::window_base + 0x100, 8);
  ASSERT_TRUE(r) << r.error();
  EXPECT_EQ(*r, 0xabcdefu);
  EXPECT_EQ(s->memory(0).load<uint64_t>(sim::host_segment_base + 0x100), 0xabcdefu);
  const auto bad = s->load(0, sim::window_base + (1ull << 30), 8);
  EXPECT_FALSE(bad);
}

// Two nodes without work for a second of simulated time cost less than a second, mostly nothing.
TEST_P(with_nic, idle_second_costs_nothing) {
  auto s = make(base());
  ASSERT_TRUE(s);
  s->run_for(1'000'000'000);  // let set-up traffic end
  const uint64_t cycles = s->nic_cycles();
  const auto begin = std::chrono::steady_clock::now();
  s->run_for(1'000'000'000'000);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  RecordProperty("idle_wall_ms", int(wall * 1000));
  RecordProperty("idle_cycles", int(s->nic_cycles() - cycles));
  EXPECT_LT(wall, 1.0) << s->nic_cycles() - cycles << " cycles";
}

// The same system twice gives the same times.
TEST_P(with_nic, is_deterministic) {
  uint64_t first = 0;
  for (int i = 0; i < 2; ++i) {
    auto s = make(base());
    ASSERT_TRUE(s);
    const uint32_t v = 1;
    for (int k = 0; k < 50; ++k) gpu(*s, 0).store(gpu(*s, 0).window(1, 64 * k), std::as_bytes(std::span(&v, 1)));
    ASSERT_TRUE(read(*s, 0, gpu(*s, 0).window(1, 0), 64).ok());
    const uint64_t t = s->now_ps() * 1000003 + s->nic_cycles();
    if (i)
      EXPECT_EQ(t, first);
    else
      first = t;
  }
}

INSTANTIATE_TEST_SUITE_P(model, with_nic, testing::Values(nic_case{"galibier-k20", false}, nic_case{"modern", false}),
                         [](const auto& i) { return std::string(i.param.platform).substr(0, 6); });
#ifdef GGAS_HAVE_RTL
INSTANTIATE_TEST_SUITE_P(rtl, with_nic, testing::Values(nic_case{"galibier-k20", true}, nic_case{"modern", true}),
                         [](const auto& i) { return std::string(i.param.platform).substr(0, 6); });

// A host that never answers the NIC's reads: the remote load reads all ones, and both NICs say why.
TEST(host, silence_at_the_target_ends_the_remote_load) {
  auto s = make(config("galibier-k20", true, {"nic.host_timeout_ticks=3", "nic.load_timeout_ticks=200"}));
  ASSERT_TRUE(s);
  auto& target = gpu(*s, 1);
  const auto usual = target.link.on_receive;
  target.link.on_receive = [&](pcie::tlp& t) { return t.kind == pcie::tlp_kind::mrd || usual(t); };
  const auto r = read(*s, 0, gpu(*s, 0).window(1, 0), 64);
  EXPECT_TRUE(r.ok());
  EXPECT_TRUE(std::ranges::all_of(r.dws, [](uint32_t w) { return w == ~0u; }));
  EXPECT_EQ(s->counters(1).at("EVENT_TARGET_TIMEOUT"), 1u);
  EXPECT_EQ(s->counters(0).at("EVENT_LOAD_REMOTE_ERROR"), 1u);
  target.link.on_receive = usual;
  EXPECT_TRUE(read(*s, 0, gpu(*s, 0).window(1, 0), 64).ok()) << "and the next one works again";
}

// A slow host holds the stores back by credits all the way to their source; nothing is lost.
TEST(host, back_pressure_reaches_the_source) {
  auto s = make(config("galibier-k20", true));
  ASSERT_TRUE(s);
  auto& target = gpu(*s, 1);
  const auto usual = target.link.on_receive;
  bool open = false;
  target.link.on_receive = [&](pcie::tlp& t) { return (open || !t.posted()) && usual(t); };
  const std::vector<std::byte> data(256, std::byte{7});
  constexpr unsigned n = 1000;
  for (unsigned i = 0; i < n; ++i) gpu(*s, 0).store(gpu(*s, 0).window(1, 256 * i), data);
  s->run_for(300'000'000);
  EXPECT_GT(gpu(*s, 0).link.tx_pending(pcie::fc::p), n / 4) << "the source still holds most of them";
  EXPECT_EQ(target.writes, 0u);
  open = true;
  target.link.resume();
  EXPECT_TRUE(s->run_until([&] { return target.writes == n; }, 5'000'000'000));
}

// Stores of one size as fast as the GPU's link accepts them: the wire between the NICs is the bound, at its payload
// share.
TEST(throughput, stores_reach_the_payload_bound_of_the_link) {
  auto s = make(config("galibier-k20", true));
  ASSERT_TRUE(s);
  auto& target = gpu(*s, 1);
  const std::vector<std::byte> data(64, std::byte{7});
  constexpr unsigned n = 4000;
  for (unsigned i = 0; i < n; ++i) gpu(*s, 0).store(gpu(*s, 0).window(1, 64 * i), data);
  ASSERT_TRUE(s->run_until([&] { return target.writes >= 500; }, 5'000'000'000));
  const uint64_t t0 = target.last_write_ps, w0 = target.writes;
  ASSERT_TRUE(s->run_until([&] { return target.writes >= n; }, 5'000'000'000));
  const double rate = 64.0 * double(target.writes - w0) / (double(target.last_write_ps - t0) * 1e-12);
  const double bound = 9.8e9 / 8 * 8 / 12;  // 8 of 12 flits are payload
  RecordProperty("MB_per_s", int(rate / 1e6));
  EXPECT_GE(rate, 0.9 * bound);
  EXPECT_LE(rate, 1.001 * bound);
}

class faulty : public testing::TestWithParam<const char*> {};

// Whatever the wire does to flits, memory ends up as if it did nothing.
TEST_P(faulty, link_faults_lose_nothing) {
  auto c = config("galibier-k20", true);
  c.faults = GetParam();
  c.seed = 42;
  auto s = make(std::move(c));
  ASSERT_TRUE(s);
  constexpr unsigned n = 2000;
  for (unsigned i = 0; i < n; ++i) {
    const uint64_t v = 0x100000001ull * (i + 1);
    gpu(*s, 0).store(gpu(*s, 0).window(1, 8 * i), std::as_bytes(std::span(&v, 1)));
  }
  const auto q = read(*s, 0, gpu(*s, 0).slot.pages_address, 8);
  ASSERT_TRUE(q.ok());
  EXPECT_EQ(q.dws.at(0), 0u);
  for (unsigned i = 0; i < n; ++i) ASSERT_EQ(gpu(*s, 1).memory.load<uint64_t>(8 * i), 0x100000001ull * (i + 1)) << i;
  EXPECT_EQ(gpu(*s, 1).writes, n);
  const auto counters = s->counters(0);
  EXPECT_GT(counters.at("wire.dropped") + counters.at("wire.corrupted") + counters.at("wire.duplicated"), 0u);
}
INSTANTIATE_TEST_SUITE_P(kinds, faulty,
                         testing::Values("* drop rate 0.001", "* corrupt rate 0.001", "* duplicate rate 0.001",
                                         "0->1 drop at 1000 count 50",
                                         "* drop rate 0.002\n* corrupt rate 0.002\n* duplicate rate 0.002"));

TEST(link, a_cut_is_detected_and_loads_read_as_ones) {
  auto c = config("galibier-k20", true);
  c.faults = "* cut from 300";
  auto s = make(std::move(c));
  ASSERT_TRUE(s);
  ASSERT_LT(s->now_ps(), 300'000'000u);
  EXPECT_TRUE(read(*s, 0, gpu(*s, 0).window(1, 0), 64).ok());
  s->run_until([&] { return s->now_ps() > 301'000'000; }, 1'000'000'000);
  const auto r = read(*s, 0, gpu(*s, 0).window(1, 0), 64);
  EXPECT_FALSE(r.timed_out) << "the NIC answers before the host gives up";
  EXPECT_EQ(std::ranges::count(r.dws, ~0u), 16) << "all ones, not an error: a user's load never ends in UR";
  const auto counters = s->counters(0);
  EXPECT_EQ(counters.at("EVENT_LINK_DEAD"), 1u);
  const auto events = s->events(0);
  for (const std::string what : {"LINK_DEAD", "LOAD_"})
    EXPECT_TRUE(std::ranges::any_of(events, [&](const std::string& e) { return e.find(what) != std::string::npos; }))
        << what;
}
#endif

// ------------------------------------------------------------------------------------------------ errors

struct bad_config {
  const char* name;
  std::function<void(sim::system_config&)> change;
  const char* says;
};
class rejects : public testing::TestWithParam<bad_config> {};

TEST_P(rejects, names_input_and_rule) {
  auto c = config("galibier-k20", false);
  GetParam().change(c);
  const auto s = sim::system::create(std::move(c));
  ASSERT_FALSE(s);
  EXPECT_NE(s.error().find(GetParam().says), std::string::npos) << s.error();
}

INSTANTIATE_TEST_SUITE_P(
    input, rejects,
    testing::Values(bad_config{"nodes0", [](auto& c) { c.nodes = 0; }, "nodes = 0"},
                    bad_config{"nodes65", [](auto& c) { c.nodes = 65; },
                               "nodes = 65: 1 to 64 are possible with the cycle-accurate NIC"},
                    bad_config{"nodes_negative", [](auto& c) { c.nodes = -2; }, "nodes = -2"},
                    bad_config{"segment", [](auto& c) { c.segment_bytes = 5000; },
                               "segment_bytes = 5000: must be a multiple of 4096"},
                    bad_config{"segment_zero", [](auto& c) { c.segment_bytes = 0; }, "segment_bytes = 0"},
                    bad_config{"segment_host",
                               [](auto& c) {
                                 c.gpu = nullptr;
                                 c.segment_bytes = 1ull << 34;
                               },
                               "host memory has room"},
                    bad_config{"bar", [](auto& c) { c.endpoint_bar_bytes = 12345; }, "endpoint_bar_bytes = 12345"},
                    bad_config{"waves", [](auto& c) { c.waves_from_us = 5, c.waves_to_us = 4; }, "waves_to_us = 4"},
                    bad_config{"waves_beyond_time", [](auto& c) { c.waves_to_us = 1e300; }, "between 0 and 1e12"},
                    bad_config{"pcap", [](auto& c) { c.pcap = "/nonexistent/x.pcapng"; }, "/nonexistent/x.pcapng"},
                    bad_config{"trace", [](auto& c) { c.trace = "/nonexistent/x.json"; }, "/nonexistent/x.json"},
                    bad_config{"fault", [](auto& c) { c.faults = "* explode at 3"; },
                               "faults:1: unknown fault 'explode'"},
                    bad_config{"fault_wire", [](auto& c) { c.faults = "5->6 drop at 3"; }, "there is no wire '5->6'"},
                    bad_config{"no_nic",
                               [](auto& c) {
                                 c.make_nic = [](unsigned, const nic::host_config&, const char*) {
                                   return std::unexpected("this NIC is not there");
                                 };
                               },
                               "this NIC is not there"}),
    [](const auto& i) { return i.param.name; });

}  // namespace
}  // namespace ggas::test
