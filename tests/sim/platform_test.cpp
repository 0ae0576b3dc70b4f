// SPDX-License-Identifier: Apache-2.0
// Platform files: the shipped ones load, every kind of mistake is named, nothing a file may hold crashes the parser.
#include "sim/platform/platform.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>

#include "tests/support/mangled.hpp"

namespace ggas::test {
namespace {

std::string text_of(const std::string& name) {
  std::ifstream in(sim::platform_folder() / (name + ".toml"));
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(platform, shipped_files_load) {
  const auto names = sim::platform_names();
  ASSERT_GE(names.size(), 2u);
  for (const auto& n : names) {
    const auto p = sim::load_platform(n);
    ASSERT_TRUE(p) << p.error();
    EXPECT_EQ(p->name, n);
    EXPECT_FALSE(p->gpu.empty()) << n << ": [gpu] is empty";
  }
  const auto k20 = sim::load_platform("galibier-k20");
  EXPECT_EQ(k20->nic.data_width, 64u);
  EXPECT_EQ(k20->nic.hertz, 175'000'000u);
  EXPECT_EQ(k20->link.bits_per_second, 9.8e9);
  EXPECT_EQ(k20->root_complex.rcb, 64u);
  EXPECT_EQ(k20->mps(), 256u);
  EXPECT_DOUBLE_EQ(k20->pcie.nic.link.bytes_per_second(), 4e9);
}

TEST(platform, a_file_over_another_one) {
  const auto base = sim::load_platform("galibier-k20"), over = sim::load_platform("galibier-k20-socket");
  ASSERT_TRUE(base && over);
  EXPECT_EQ(base->root_complex.nic_to_gpu.np_bytes_per_second, 0.8e9);
  EXPECT_EQ(over->root_complex.nic_to_gpu.np_bytes_per_second, 0.2e9);
  EXPECT_EQ(over->nic.hertz, base->nic.hertz);
  const auto slow = sim::load_platform("galibier-k20-socket", std::vector<std::string>{"nic.clock_mhz=157"});
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->nic.hertz, 157'000'000u);
  const std::pair<const char*, const char*> bad[] = {
      {"base = 'galibier-k2'", "my.toml: base: must be one of galibier-k20,"},
      {"base = 'galibier-k2'", "the nearest is galibier-k20"},
      {"base = 3", "my.toml: base: must be one of"},
      {"base = 'galibier-k20-socket'", "galibier-k20-socket has a base itself"},
      {"base = 'galibier-k20'\n[link]\nlatncy_ns = 3", "my.toml: unknown key 'latncy_ns'; [link] has"},
      {"base = 'galibier-k20'\nnik = 3", "my.toml: unknown key 'nik'; the file has"},
      {"base = 'galibier-k20'\n[link]\nlatency_ns = -3", "link.latency_ns"},
      {"base = 'galibier-k20'\nlink = 3", "link"}};
  for (const auto& [text, says] : bad) {
    const auto p = sim::parse_platform(text, "my.toml");
    ASSERT_FALSE(p) << text;
    EXPECT_NE(p.error().find(says), std::string::npos) << p.error();
  }
}

// Platforms from before there were switches.
TEST(platform, a_switch_may_be_missing) {
  std::string text = text_of("galibier-k20");
  const auto begin = text.find("[pcie.switch]"), end = text.find("[root_complex]");
  ASSERT_LT(begin, end);
  ASSERT_TRUE(sim::parse_platform(text, "my.toml")->pcie.switches);
  text.erase(begin, end - begin);
  const auto p = sim::parse_platform(text, "my.toml");
  ASSERT_TRUE(p) << p.error();
  EXPECT_FALSE(p->pcie.switches);
}

TEST(platform, the_originals_software_counts_where_it_is_asked_for) {
  const auto ours = sim::load_platform("galibier-k20");
  const auto original = sim::load_platform("galibier-k20", std::vector<std::string>{"software=original"});
  const auto own = sim::load_platform(
      "galibier-k20", std::vector<std::string>{"original.descriptor_ns=7.0", "software = \"original\""});
  ASSERT_TRUE(ours && original && own);
  EXPECT_EQ(ours->nic.descriptor_ps, 0u);
  EXPECT_GT(original->nic.descriptor_ps, 0u);
  EXPECT_GT(original->cpu.call_ps, ours->cpu.call_ps);
  EXPECT_EQ(own->nic.descriptor_ps, 7000u);
}

// Platforms from before it was asked.
TEST(platform, software_may_be_left_out) {
  std::string text = text_of("galibier-k20");
  const auto begin = text.find("\n[original]\n") + 1, end = text.find("# GPU model");
  ASSERT_LT(begin, end);
  text.erase(begin, end - begin);
  ASSERT_TRUE(sim::parse_platform(text, "my.toml")) << sim::parse_platform(text, "my.toml").error();
  const auto original = sim::parse_platform(text, "my.toml", std::vector<std::string>{"software=original"});
  ASSERT_FALSE(original);
  EXPECT_NE(original.error().find("my.toml: software: is original"), std::string::npos) << original.error();
}

TEST(platform, a_line_clocked_with_the_core_follows_it) {
  const auto slow = sim::load_platform("galibier-k20", std::vector<std::string>{"nic.clock_mhz=157"});
  ASSERT_TRUE(slow) << slow.error();
  EXPECT_NEAR(slow->link.bits_per_second, 56 * 157e6, 1);
  const auto own = sim::load_platform("modern", std::vector<std::string>{"nic.clock_mhz=200"});
  ASSERT_TRUE(own) << own.error();
  EXPECT_EQ(own->link.bits_per_second, 100e9);
}

struct mistake {
  const char* name;
  const char* find;     // text in the good file …
  const char* replace;  // … becomes this
  const char* says;
};
class platform_mistake : public testing::TestWithParam<mistake> {};

TEST_P(platform_mistake, names_file_key_and_rule) {
  const auto& m = GetParam();
  std::string text = text_of("galibier-k20");
  const auto at = text.find(m.find);
  ASSERT_NE(at, std::string::npos) << m.find;
  text.replace(at, std::string(m.find).size(), m.replace);
  const auto p = sim::parse_platform(text, "my.toml");
  ASSERT_FALSE(p);
  EXPECT_NE(p.error().find(m.says), std::string::npos) << p.error();
  EXPECT_NE(p.error().find("my.toml"), std::string::npos) << p.error();
}

INSTANTIATE_TEST_SUITE_P(
    table, platform_mistake,
    testing::Values(
        mistake{"unknown_key", "[nic]\n", "[nic]\nwdith = 3\n", "my.toml: nic.wdith: unknown key"},
        mistake{"unknown_table", "[nic]\n", "[nick]\nx = 1\n[nic]\n", "my.toml: nick: unknown key"},
        mistake{"unknown_nested", "[pcie.gpu]\n", "[pcie.gpu]\nslots = 1\n", "my.toml: pcie.gpu.slots: unknown key"},
        mistake{"whose_software", "software = \"ours\"", "software = \"theirs\"",
                "my.toml: software: must be ours or original, is theirs"},
        mistake{"original_unknown", "[original]\n", "[original]\nx_ns = 1\n", "my.toml: original.x_ns: unknown key"},
        mistake{"missing_key", "data_width = 64", "", "my.toml: nic.data_width: missing key"},
        mistake{"missing_table", "[link]\n", "[lnk]\n", "my.toml: link: missing key"},
        mistake{"type_string", "data_width = 64", "data_width = \"64\"",
                "nic.data_width: must be a whole number, is string"},
        mistake{"type_float", "data_width = 64", "data_width = 64.0",
                "nic.data_width: must be a whole number, is floating-point"},
        mistake{"type_bool", "posted = true", "posted = 1",
                "root_complex.gpu_to_nic.posted: must be true or false, is integer"},
        mistake{"type_number", "clock_mhz = 175.0", "clock_mhz = true", "nic.clock_mhz: must be a number, is boolean"},
        mistake{"type_table", "[host]\n", "host = 3\n[hos]\n", ""},
        mistake{"name_number", "name = \"galibier-k20\"", "name = 20", "my.toml: name: must be a string, is integer"},
        mistake{"width", "data_width = 64", "data_width = 128", "nic.data_width: 128 is not one of 64, 256, 512"},
        mistake{"negative", "data_width = 64", "data_width = -64", "nic.data_width: -64 is out of range"},
        mistake{"clock_zero", "clock_mhz = 175.0", "clock_mhz = 0.0", "nic.clock_mhz: 0 is out of range 1 ... 5000"},
        mistake{"clock_nan", "clock_mhz = 175.0", "clock_mhz = nan", "nic.clock_mhz: nan is out of range"},
        mistake{"clock_inf", "clock_mhz = 175.0", "clock_mhz = inf", "nic.clock_mhz: inf is out of range"},
        mistake{"line_rate", "gbit_per_s = 9.8", "gbit_per_s = 12.0",
                "link.gbit_per_s: 12 is above what the NIC's core moves"},
        mistake{"line_clock", "at_clock_mhz = 175.0", "at_clock_mhz = 100.0",
                "link.gbit_per_s: 17.15 is above what the NIC's core moves"},
        mistake{"packet_size", "mtu_bytes = 128", "mtu_bytes = 512", "rma.mtu_bytes: 512 is not one of 64, 128, 256"},
        mistake{"combining", "combine_bytes = 8", "combine_bytes = 4", "cpu.combine_bytes: 4 is not one of"},
        mistake{"generation", "generation = 2", "generation = 6", "pcie.nic.generation: 6 is out of range 1 ... 5"},
        mistake{"lanes", "lanes = 8", "lanes = 7", "pcie.nic.lanes: 7 is not one of 1, 2, 4, 8, 16"},
        mistake{"mps", "mps = 256", "mps = 300", "pcie.nic.mps: 300 is not one of"},
        mistake{"rcb", "rcb = 64", "rcb = 32", "root_complex.rcb: 32 is not one of 64, 128"},
        mistake{"credits", "posted_data = 308", "posted_data = 3",
                "pcie.nic.device_credits.posted_data: 3 is out of range 64"},
        mistake{"switch_queue", "queue_packets = 8", "queue_packets = 0",
                "pcie.switch.queue_packets: 0 is out of range 1 ... 1024"},
        mistake{"switch_key", "forward_ns = 140.0", "forwards_ns = 140.0", "pcie.switch.forwards_ns: unknown key"},
        mistake{"huge", "memory_bytes = 1073741824", "memory_bytes = 9223372036854775807",
                "host.memory_bytes: 9223372036854775807 is out of range"},
        mistake{"overflow", "memory_bytes = 1073741824", "memory_bytes = 99999999999999999999", "my.toml:"},
        mistake{"syntax", "[nic]\n", "[nic\n", "my.toml:"},
        mistake{"duplicate", "[nic]\n", "[nic]\ndata_width = 64\n", "my.toml:"}),
    [](const auto& i) { return i.param.name; });

TEST(platform, all_mistakes_are_reported_at_once) {
  std::string text = text_of("galibier-k20");
  text = std::regex_replace(text, std::regex("lanes = 8"), "lanes = 9");
  text = std::regex_replace(text, std::regex("rcb = 64"), "rcb = 65");
  const auto p = sim::parse_platform(text, "my.toml");
  ASSERT_FALSE(p);
  EXPECT_NE(p.error().find("lanes"), std::string::npos);
  EXPECT_NE(p.error().find("rcb"), std::string::npos);
}

TEST(platform, files_that_are_not_there) {
  const auto p = sim::load_platform("galibir");
  ASSERT_FALSE(p);
  EXPECT_NE(p.error().find("unknown platform 'galibir': there are galibier-k20, galibier-k20-ivy, galibier-k20-socket, "
                           "k20c-fdr, modern"),
            std::string::npos)
      << p.error();
  const auto q = sim::load_platform("/nonexistent/x.toml");
  ASSERT_FALSE(q);
  EXPECT_NE(q.error().find("/nonexistent/x.toml: no such platform file"), std::string::npos) << q.error();
  EXPECT_FALSE(sim::load_platform(""));
  EXPECT_FALSE(sim::load_platform("../platforms/galibier-k20.toml/"));
}

TEST(platform, overrides) {
  const std::vector<std::string> ok = {"nic.clock_mhz=157", " pcie.nic.lanes = 4",
                                       "root_complex.nic_to_gpu.non_posted=false"};
  const auto p = sim::load_platform("galibier-k20", ok);
  ASSERT_TRUE(p) << p.error();
  EXPECT_EQ(p->nic.hertz, 157'000'000u);
  EXPECT_EQ(p->pcie.nic.link.lanes, 4u);
  EXPECT_FALSE(p->root_complex.nic_to_gpu.non_posted);
  const std::pair<const char*, const char*> bad[] = {{"nic.clock_mhz", "expected table.key=value"},
                                                     {"nic.clck=3", "the nearest is clock_mhz"},
                                                     {"nik.clock_mhz=3", "there is no table 'nik'"},
                                                     {"nic.clock_mhz=fast", "not a TOML value"},
                                                     {"nic.data_width=63", "not one of"},
                                                     {"nic.clock_mhz=", "not a TOML value"},
                                                     {"nic.clock_mhz=1\nother=2", "not a TOML value"},
                                                     {"=3", "unknown key ''"},
                                                     {"nic.data_width.x=3", "there is no table"}};
  for (const auto& [text, says] : bad) {
    const std::vector<std::string> o = {text};
    const auto r = sim::load_platform("galibier-k20", o);
    ASSERT_FALSE(r) << text;
    EXPECT_NE(r.error().find(says), std::string::npos) << r.error();
  }
}

// Mangled files either load or give a message; never a crash.
TEST(platform, survives_mangled_files) {
  const std::string good = text_of("galibier-k20");
  constexpr unsigned seed = 20141;
  std::mt19937 rng(seed);
  RecordProperty("seed", seed);
  unsigned loaded = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = mangled(good, rng, 6);
    const auto p = sim::parse_platform(text, "fuzz.toml");
    if (p)
      ++loaded;
    else {
      ++refused;
      ASSERT_FALSE(p.error().empty());
      ASSERT_NE(p.error().find("fuzz.toml"), std::string::npos);
    }
  }
  EXPECT_GT(loaded, 0u);  // a mangled comment does no harm
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace ggas::test
