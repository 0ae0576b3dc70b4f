// SPDX-License-Identifier: Apache-2.0
// Captures and traces of a small run, read back by the programs people use: tshark with the project's dissector, and a
// JSON parser.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <gtkwave/fstapi.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "sim/trace/pcapng.hpp"
#include "sim/trace/recorder.hpp"
#include "tests/sim/system_fixture.hpp"

namespace ggas::test {
namespace {

namespace fs = std::filesystem;

fs::path scratch(const std::string& name) {
  const auto dir = fs::path(testing::TempDir()) / "ggas_trace";
  fs::create_directories(dir);
  return dir / fmt::format("{}_{}", ::testing::UnitTest::GetInstance()->random_seed(), name);
}

// Lines tshark prints; its exit status and complaints are part of the test.
std::vector<std::vector<std::string>> tshark(const fs::path& file, const std::string& filter,
                                             const std::vector<std::string>& fields) {
  std::string command = fmt::format("tshark -X lua_script:{} -r {} -Y '{}' -T fields -E separator=,", GGAS_DISSECTOR,
                                    file.string(), filter);
  for (const auto& f : fields) command += " -e " + f;
  const auto errors = scratch("tshark.err");
  command += fmt::format(" 2>{}", errors.string());
  std::vector<std::vector<std::string>> rows;
  std::FILE* p = popen(command.c_str(), "r");
  if (!p) return rows;
  std::string all;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, p)) > 0;) all.append(buffer, n);
  EXPECT_EQ(pclose(p), 0) << command;
  std::ifstream err(errors);
  for (std::string line; std::getline(err, line);)
    EXPECT_TRUE(line.empty() || line.find("as user \"root\"") != std::string::npos ||
                line.find("Running as user") != std::string::npos)
        << line;
  std::istringstream in(all);
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> row;
    std::istringstream cells(line + ",");
    for (std::string c; std::getline(cells, c, ',');) row.push_back(c);
    rows.push_back(std::move(row));
  }
  return rows;
}

struct width_case {
  const char* platform;
  const char* width;
};
class capture : public testing::TestWithParam<width_case> {};

TEST_P(capture, tshark_reads_every_field) {
  const auto file = scratch(fmt::format("{}.pcapng", GetParam().platform));
  auto c = config(GetParam().platform, false);
  c.pcap = file;
  {
    auto s = sim::system::create(std::move(c));
    ASSERT_TRUE(s) << s.error();
    const uint64_t v = 0x1122334455667788;
    gpu(**s, 0).store(gpu(**s, 0).window(1, 0x1234), std::as_bytes(std::span(&v, 1)).first(6));
    ASSERT_TRUE(read(**s, 0, gpu(**s, 0).window(1, 0x1230), 100).ok());
    ASSERT_TRUE(read(**s, 0, gpu(**s, 0).slot.pages_address, 8).ok());
  }
  EXPECT_TRUE(tshark(file, "_ws.malformed || _ws.expert || _ws.lua.error", {"frame.number"}).empty());

  const auto store = tshark(file, "ggas.op == 0 && frame.interface_name == \"node0 link tx\"",
                            {"ggas.src", "ggas.dst", "ggas.len_dw", "ggas.vc", "ggas.first_be", "ggas.last_be",
                             "ggas.addr", "ggas.payload", "ggas.crc.good", "ggas.status"});
  ASSERT_EQ(store.size(), 1u);
  EXPECT_EQ(store[0], (std::vector<std::string>{"0", "1", "2", "0", "0x0f", "0x03", "0x0000000000001234",
                                                "8877665544330000", "1", "0"}));

  const auto load = tshark(file, "ggas.op == 1 && frame.interface_name == \"node1 link rx\"",
                           {"ggas.src", "ggas.dst", "ggas.req_dw", "ggas.vc", "ggas.addr", "ggas.tag"});
  ASSERT_EQ(load.size(), 1u);
  EXPECT_EQ(load[0][2], "25");
  EXPECT_EQ(load[0][3], "1");
  const auto answer =
      tshark(file, "ggas.op == 2 && frame.interface_name == \"node1 link tx\"",
             {"ggas.src", "ggas.dst", "ggas.len_dw", "ggas.vc", "ggas.tag", "ggas.status", "ggas.link_width"});
  ASSERT_GE(answer.size(), 1u);
  EXPECT_EQ(answer[0][6], GetParam().width);  // 25 DWs; shorter packets look the same at 256 and 512 bit
  EXPECT_EQ(answer[0][4], load[0][5]) << "the tag comes back";
  EXPECT_EQ(answer[0][5], "0");
  EXPECT_EQ(tshark(file, "ggas.op == 3", {"frame.number"}).size(), 2u);  // both ends

  // What people see first: the columns.
  const std::vector<std::string> columns{"_ws.col.Source", "_ws.col.Destination"};
  using ends = std::vector<std::string>;
  EXPECT_EQ(tshark(file, "ggas.op == 0", columns).at(0), (ends{"node 0", "node 1"}));
  EXPECT_EQ(tshark(file, "ggas.op == 2", columns).at(0), (ends{"node 1", "node 0"}));
  EXPECT_EQ(tshark(file, "ggas_tlp.addr == 0x10000101234 && frame.interface_name == \"node0 host rx\"", columns).at(0),
            (ends{"node 0 02:00.0", "0x0000010000101234"}));
  EXPECT_EQ(tshark(file, "ggas_tlp.kind == \"CplD\" && ggas_tlp.requester == 0x0200", columns).at(0).at(1),
            "node 0 02:00.0");

  const auto window = tshark(
      file, "ggas_tlp.kind == \"MWr\" && frame.interface_name == \"node0 host rx\" && ggas_tlp.addr >= 0x10000000000",
      {"ggas_tlp.addr", "ggas_tlp.len_dw", "ggas_tlp.first_be", "ggas_tlp.last_be", "ggas_tlp.payload",
       "ggas_tlp.requester"});
  ASSERT_EQ(window.size(), 1u);
  EXPECT_EQ(window[0],
            (std::vector<std::string>{"0x0000010000101234", "2", "0x0f", "0x03", "8877665544330000", "0x0200"}));
  const auto completions = tshark(
      file, "ggas_tlp.kind == \"CplD\" && frame.interface_name == \"node0 host tx\" && ggas_tlp.requester == 0x0200",
      {"ggas_tlp.byte_count", "ggas_tlp.status", "ggas_tlp.lower_addr"});
  ASSERT_GE(completions.size(), 2u);
  EXPECT_EQ(completions[0][0], "100");
  EXPECT_EQ(completions[0][1], "0");
  EXPECT_EQ(completions[0][2], "0x30");
}
INSTANTIATE_TEST_SUITE_P(widths, capture,
                         testing::Values(width_case{"galibier-k20", "64"}, width_case{"modern", "512"}),
                         [](const auto& i) { return std::string("w") + i.param.width; });

TEST(capture, damaged_packets_are_marked) {
  const auto file = scratch("damaged.pcapng");
  auto c = config("galibier-k20", false);
  c.pcap = file;
  c.faults = "0->1 corrupt at 3";
  {
    auto s = sim::system::create(std::move(c));
    ASSERT_TRUE(s) << s.error();
    const uint64_t v = 1;
    gpu(**s, 0).store(gpu(**s, 0).window(1, 0), std::as_bytes(std::span(&v, 1)));
    gpu(**s, 0).store(gpu(**s, 0).window(1, 8), std::as_bytes(std::span(&v, 1)));
    (*s)->run_for(20'000'000);
  }
  const auto rows = tshark(file, "ggas && frame.interface_name == \"node1 link rx\"", {"ggas.crc.good"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0][0], "0");
  EXPECT_EQ(rows[1][0], "1");
  EXPECT_EQ(tshark(file, "_ws.malformed || _ws.lua.error", {"frame.number"}).size(), 0u);
}

// Every flow of a message begins once, steps forward in time, and ends at its target.
TEST(trace, flows_follow_messages_end_to_end) {
  const auto file = scratch("trace.json");
  auto c = config("galibier-k20", false);
  c.trace = file;
  constexpr unsigned stores = 10;
  {
    auto s = sim::system::create(std::move(c));
    ASSERT_TRUE(s) << s.error();
    const uint64_t v = 1;
    for (unsigned i = 0; i < stores; ++i)
      gpu(**s, 0).store(gpu(**s, 0).window(1, 64 * i), std::as_bytes(std::span(&v, 1)));
    ASSERT_TRUE(read(**s, 0, gpu(**s, 0).window(1, 0), 64).ok());
  }
  std::ifstream in(file);
  const auto doc = nlohmann::json::parse(in, nullptr, false);
  ASSERT_FALSE(doc.is_discarded());
  std::map<uint64_t, std::string> phases;
  std::map<uint64_t, std::set<int>> places;
  std::map<uint64_t, double> last;
  unsigned slices = 0;
  for (const auto& e : doc["traceEvents"]) {
    const std::string ph = e["ph"];
    if (ph == "X") {
      ++slices;
      EXPECT_GE(double(e["dur"]), 0);
    }
    if (ph != "s" && ph != "t" && ph != "f") continue;
    const uint64_t id = e["id"];
    phases[id] += ph;
    places[id].insert(int(e["pid"]) * 16 + int(e["tid"]));
    EXPECT_GE(double(e["ts"]), last[id]) << "a message does not go back in time";
    last[id] = e["ts"];
  }
  EXPECT_GT(slices, 0u);
  unsigned whole = 0;
  for (const auto& [id, p] : phases) {
    EXPECT_EQ(p.front(), 's') << id << ": " << p;
    EXPECT_EQ(p.find('s', 1), std::string::npos) << id << ": " << p;
    EXPECT_EQ(p.back(), 'f') << id << ": " << p;
    // GPU, NIC in, link out, link in, NIC out, memory: six tracks of two nodes
    if (places[id].size() >= 6) ++whole;
  }
  EXPECT_EQ(whole, stores + 1);
}

// Watts times time of all counters, up to the end of the run.
double joules_in(const nlohmann::json& doc, double end_us) {
  std::map<int, std::map<double, double>> watts;  // by node, from this time on
  for (const auto& e : doc["traceEvents"]) {
    if (e["ph"] != "C") continue;
    for (const auto& [part, w] : e["args"].items()) watts[int(e["pid"])][double(e["ts"])] += double(w);
  }
  double sum = 0;
  for (const auto& [node, of] : watts)
    for (auto it = of.begin(); it != of.end(); ++it)
      sum += it->second * 1e-6 * ((std::next(it) == of.end() ? end_us : std::next(it)->first) - it->first);
  return sum;
}

TEST(trace, counters_of_power_add_up_to_the_energy) {
  const auto file = scratch("power.json");
  auto c = config("galibier-k20", false);
  c.trace = file;
  double end_us = 0, energy_j = 0;
  {
    auto s = sim::system::create(std::move(c));
    ASSERT_TRUE(s) << s.error();
    for (unsigned i = 0; i < 20; ++i) ASSERT_TRUE(read(**s, i % 2, gpu(**s, i % 2).window(1 - i % 2, 0), 64).ok());
    end_us = 1e-6 * static_cast<double>((*s)->now_ps());
    for (const power::part& p : (*s)->energy()) energy_j += p.idle_j + p.above_j;
  }
  std::ifstream in(file);
  const auto doc = nlohmann::json::parse(in, nullptr, false);
  ASSERT_FALSE(doc.is_discarded());
  size_t samples = 0;
  for (const auto& e : doc["traceEvents"]) samples += e["ph"] == "C";
  EXPECT_GE(samples, 8u) << "of two nodes, in " << end_us << " us";
  EXPECT_GT(energy_j, 0);
  EXPECT_NEAR(joules_in(doc, end_us), energy_j, 1e-4 * energy_j);
}

// A file for each NIC, with the cycles of the window only. FST header: kind 1 byte, length 8, first time 8, last time
// 8, big-endian; the core dumps twice a cycle.
TEST(waves, hold_the_window_only) {
  const auto file = scratch("waves.fst");
  auto c = config("galibier-k20", true);
  c.waves = file;
  c.waves_from_us = 60;
  c.waves_to_us = 70;
  {
    auto s = sim::system::create(std::move(c));
    ASSERT_TRUE(s) << s.error();
    ASSERT_LT((*s)->now_ps(), 60'000'000u);
    const uint64_t v = 1;
    for (int i = 0; i < 100; ++i) {
      gpu(**s, 0).store(gpu(**s, 0).window(1, 8 * i), std::as_bytes(std::span(&v, 1)));
      (*s)->run_for(1'000'000);
    }
    ASSERT_GT((*s)->now_ps(), 80'000'000u);
  }
  for (const char* node : {".node0.fst", ".node1.fst"}) {
    auto path = file;
    path.replace_extension();
    path += node;
    std::ifstream in(path, std::ios::binary);
    ASSERT_TRUE(in) << path;
    unsigned char h[25];
    ASSERT_TRUE(in.read(reinterpret_cast<char*>(h), sizeof h)) << path;
    const auto number = [&](int at) {
      uint64_t n = 0;
      for (int i = 0; i < 8; ++i) n = n << 8 | h[at + i];
      return n;
    };
    EXPECT_EQ(h[0], 0) << "header block";
    EXPECT_GE(number(9), 2u * 60 * 175);
    EXPECT_LE(number(17), 2u * 70 * 175 + 2);
    EXPECT_GT(number(17), number(9));
  }
}

struct wave_summary {
  uint64_t changes = 0, end = 0;
  bool readable = false;
};
wave_summary read_waves(const std::string& path) {
  wave_summary s;
  void* const file = fstReaderOpen(path.c_str());
  if (!file) return s;
  fstReaderSetFacProcessMaskAll(file);
  const auto count = [](void* user, uint64_t, fstHandle, const unsigned char*) { ++*static_cast<uint64_t*>(user); };
  s.readable = fstReaderIterBlocks2(file, count, nullptr, &s.changes, nullptr) != 0;
  s.end = fstReaderGetEndTime(file);
  fstReaderClose(file);
  return s;
}

// Stores for so long that several checkpoints come. What is said of files that are not whole.
std::string busy_waves(const fs::path& file, unsigned stores) {
  auto c = config("galibier-k20", true);
  c.waves = file;
  auto s = sim::system::create(std::move(c));
  if (!s) return s.error();
  for (unsigned i = 0; i < stores; ++i) {
    const uint64_t v = i * 0x9e3779b97f4a7c15;
    gpu(**s, 0).store(gpu(**s, 0).window(1, 8 * (i % 512)), std::as_bytes(std::span(&v, 1)));
    (*s)->run_for(500'000);
  }
  const auto whole = (*s)->end_observation();
  return whole ? "" : whole.error();
}

// Files may grow to any size less than they need: what is there is read from the first block to the last.
TEST(waves, on_a_full_disk_hold_what_fits) {
  const auto file = scratch("full.fst");
  auto node0 = file;
  node0.replace_extension("node0.fst");
  constexpr unsigned stores = 400;
  ASSERT_EQ(busy_waves(file, stores), "");
  const wave_summary all = read_waves(node0);
  ASSERT_TRUE(all.readable);
  const uint64_t size = fs::file_size(node0), least = size * 2 / 5;  // a third is names and tables of the signals
  std::signal(SIGXFSZ, SIG_IGN);
  std::mt19937_64 random(1);
  unsigned cut = 0;
  for (int i = 0; i < 4; ++i) {
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{least + random() % (size - least), before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string reported = busy_waves(file, stores);
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_TRUE(reported.find("node0.fst: ") != std::string::npos &&
                reported.find("File too large") != std::string::npos)
        << reported;
    const wave_summary some = read_waves(node0);
    const bool there = reported.find("node0.fst: cut short, holds the cycles up to") != std::string::npos;
    EXPECT_EQ(fs::exists(node0), there) << reported;
    if (!there) continue;
    ++cut;
    EXPECT_TRUE(some.readable);
    EXPECT_TRUE(some.changes > 0 && some.changes < all.changes && some.end > 0 && some.end < all.end);
    EXPECT_NE(reported.find("up to " + std::to_string(some.end / 2) + " of"), std::string::npos) << reported;
  }
  EXPECT_GT(cut, 1u);
}

TEST(pcapng, one_sided_packets_have_fields_of_their_own) {
  const auto file = scratch("one_sided.pcapng");
  {
    auto w = trace::pcapng_writer::open(file);
    ASSERT_TRUE(w) << w.error();
    const unsigned link = (*w)->add_interface("link", trace::link_type::packet);
    nic::packet p{.dst = 3,
                  .src = 2,
                  .len_dw = 2,
                  .vc = 3,
                  .seq = 9,
                  .session = 5,
                  .op = uint8_t(nic::op::rma_put),
                  .addr = 0x800000001233};
    p.data = {0x11223344, 0x55667788};
    p.vpid = 77;
    p.set_initiator(200, 0xa5);
    p.set_pd(0xbeef);
    p.version = nic::packet_version;
    p.hops = 17;
    p.export_no = 44;
    p.set_flags(nic::rma_last | nic::rma_strong);
    const auto flits = nic::to_flits(p, 64);
    std::vector<uint8_t> bytes;
    const auto add = [&bytes](uint32_t dw) {
      for (int b = 0; b < 32; b += 8) bytes.push_back(uint8_t(dw >> b));
    };
    for (uint32_t dw : p.header()) add(dw);
    for (uint32_t dw : p.data) add(dw);
    add(uint32_t(flits.back().data[0] >> 32));
    (*w)->write(link, 1000, bytes);
    const auto whole = (*w)->finish();
    ASSERT_TRUE(whole) << whole.error();
  }
  const auto rows = tshark(file, "ggas.op == 0x10",
                           {"ggas.src", "ggas.dst", "ggas.vc", "ggas.seq", "ggas.session", "ggas.version", "ggas.hops",
                            "ggas.lane", "ggas.export", "ggas.svpid", "ggas.epoch", "ggas.dvpid", "ggas.domain",
                            "ggas.flags.last", "ggas.flags.ack", "ggas.flags.strong", "ggas.addr", "ggas.crc.good"});
  ASSERT_EQ(rows.size(), 1u);
  const std::vector<std::string> expected = {
      "2", "3", "3", "9", "5", "2", "17", "0", "44", "200", "0xa5", "77", "48879", "1", "0", "1", "0x0000800000001233",
      "1"};
  EXPECT_EQ(rows[0], expected);
  EXPECT_EQ(tshark(file, "ggas.tag || _ws.malformed || _ws.lua.error", {"frame.number"}).size(), 0u);
}

TEST(recorder, a_full_disk_is_reported_for_each_file) {
  auto r = trace::recorder::open({.trace = "/dev/full", .pcap = "/dev/full"});
  ASSERT_TRUE(r) << r.error();
  (*r)->node(0, {.window_base = 0, .window_bytes = 4096, .stride = 4096, .segment_base = 0, .segment_bytes = 4096});
  const auto whole = (*r)->finish();
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error(),
            "/dev/full: cut short, holds 0 of 7 entries: No space left on device\n"
            "/dev/full: cut short, holds 0 of 4 entries: No space left on device");
}

TEST(pcapng, tlp_layout_follows_pcie) {
  auto t = pcie::memory_read(0x123456789abc, 64, 0x0203, 0x2a5);
  t.attr = 7;
  const auto b = trace::tlp_bytes(t);
  const std::vector<uint8_t> expected = {0x20, 0x84, 0x30, 0x10, 0x02, 0x03, 0xa5, 0xff,
                                         0x00, 0x00, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc};
  EXPECT_EQ(b, expected);
}

}  // namespace
}  // namespace ggas::test
