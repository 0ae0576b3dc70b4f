// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/platform.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include "sim/platform/nearest.hpp"
#include "sim/platform/reader.hpp"

namespace ggas::sim {

namespace {

constexpr double most_ns = 1e9;

void read_link(table_reader& r, pcie::link_config& l) {
  r.whole("generation", l.generation, 1, 5);
  r.one_of("lanes", l.lanes, {1, 2, 4, 8, 16});
  r.nanoseconds("latency_ns", l.latency_ps, most_ns);
  r.whole("tlps_per_ack", l.tlps_per_ack, 1, 64);
}

// Receive buffers as [P header, P data, NP header]; NP data follows its headers, completions are endless.
void read_credits(table_reader r, pcie::port_config& p) {
  r.whole("posted_headers", p.rx[0].header, 1, 127);
  r.whole("posted_data", p.rx[0].data, 64, 2047);  // one TLP of 1024 bytes must fit
  r.whole("non_posted_headers", p.rx[1].header, 1, 127);
  p.rx[1].data = p.rx[1].header;
  r.finish();
}

void read_slot(table_reader r, slot_config& s) {
  read_link(r, s.link);
  r.one_of("mps", s.mps, {128, 256, 512, 1024, 2048, 4096});
  r.one_of("mrrs", s.mrrs, {128, 256, 512, 1024, 2048, 4096});
  read_credits(r.sub("device_credits"), s.device);
  read_credits(r.sub("root_credits"), s.root);
  r.finish();
}

void read_switch(table_reader r, switch_slot& s) {
  read_link(r, s.link);
  r.nanoseconds("forward_ns", s.forward_ps, most_ns);
  r.whole("queue_packets", s.queue_packets, 1, 1024);
  read_credits(r.sub("credits"), s.ports);
  r.finish();
}

void read_path(table_reader r, pcie::path_rule& p) {
  r.flag("posted", p.posted);
  r.flag("non_posted", p.non_posted);
  r.nanoseconds("latency_ns", p.latency_ps, most_ns);
  r.whole("reads_outstanding", p.np_outstanding, 0, 1024);
  r.real("read_bytes_per_s", p.np_bytes_per_second, 0, 1e12);
  r.nanoseconds("read_timeout_ns", p.np_timeout_ps, most_ns);
  r.finish();
}

void read_nic(table_reader r, platform& p) {
  r.one_of("data_width", p.nic.data_width, {64, 256, 512});
  double mhz = 0;
  r.real("clock_mhz", mhz, 1, 5000);
  p.nic.hertz = uint64_t(std::llround(mhz * 1e6));
  r.nanoseconds("rx_latency_ns", p.nic.rx_latency_ps, most_ns);
  r.nanoseconds("tx_latency_ns", p.nic.tx_latency_ps, most_ns);
  r.whole("load_timeout_ticks", p.nic.load_timeout_ticks, 2, 65535);
  r.whole("host_timeout_ticks", p.nic.host_timeout_ticks, 2, 65535);
  r.whole("replay_timeout_cycles", p.nic.replay_timeout_cycles, 64, 65535);
  r.whole("replay_limit", p.nic.replay_limit, 1, 255);
  r.finish();
}

void read_rma(table_reader r, platform& p) {
  r.one_of("mtu_bytes", p.rma.mtu_bytes, {64, 128, 256});
  r.whole("answer_timeout_ticks", p.rma.answer_timeout_ticks, 2, 65535);
  r.whole("host_timeout_ticks", p.rma.host_timeout_ticks, 2, 65535);
  r.whole("retry_ticks", p.rma.retry_ticks, 1, 65535);
  r.whole("retry_limit", p.rma.retry_limit, 0, 65535);
  r.finish();
}

// A line clocked with the core has its rate at one clock; another clock scales it.
void read_wire(table_reader r, platform& p) {
  double gbps = 0, at_mhz = 0;
  r.real("gbit_per_s", gbps, 0.001, 10000);
  r.real("at_clock_mhz", at_mhz, 0, 5000);
  p.link.bits_per_second = gbps * 1e9;
  if (at_mhz > 0) p.link.bits_per_second *= double(p.nic.hertz) / (at_mhz * 1e6);
  r.nanoseconds("latency_ns", p.link.latency_ps, most_ns);
  const double core = double(p.nic.data_width) * double(p.nic.hertz);
  if (p.nic.hertz && p.link.bits_per_second > core)
    r.wrong("gbit_per_s", fmt::format("{:.6g} is above what the NIC's core moves, data_width x clock = {:.3f}",
                                      p.link.bits_per_second / 1e9, core / 1e9));
  if (p.nic.hertz && p.link.latency_ps * 1e-12 * double(p.nic.hertz) < 1)
    r.wrong("latency_ns", "must be at least one cycle of the NIC");
  r.finish();
}

void read_root_complex(table_reader r, platform& p) {
  r.one_of("mps", p.root_complex.mps, {128, 256, 512, 1024, 2048, 4096});
  r.one_of("mrrs", p.root_complex.mrrs, {128, 256, 512, 1024, 2048, 4096});
  r.one_of("rcb", p.root_complex.rcb, {64, 128});
  r.nanoseconds("latency_ns", p.root_complex.latency_ps, most_ns);
  read_path(r.sub("gpu_to_nic"), p.root_complex.gpu_to_nic);
  read_path(r.sub("nic_to_gpu"), p.root_complex.nic_to_gpu);
  r.finish();
}

void read_host(table_reader r, platform& p) {
  r.whole("memory_bytes", p.host.memory_bytes, 1u << 24, 2u << 30);
  r.nanoseconds("memory_latency_ns", p.host.memory_latency_ps, most_ns);
  r.real("memory_bytes_per_s", p.host.memory_bytes_per_second, 1e6, 1e13);
  r.finish();
}

void read_cpu(table_reader r, platform& p) {
  r.nanoseconds("store_ns", p.cpu.store_ps, most_ns);
  r.nanoseconds("load_ns", p.cpu.load_ps, most_ns);
  r.nanoseconds("timeout_ns", p.cpu.timeout_ps, most_ns);
  r.nanoseconds("poll_ns", p.cpu.poll_ps, most_ns);
  r.nanoseconds("miss_ns", p.cpu.miss_ps, most_ns);
  r.nanoseconds("timer_slack_ns", p.cpu.timer_slack_ps, most_ns);
  r.nanoseconds("call_ns", p.cpu.call_ps, most_ns);
  r.nanoseconds("sleep_ns", p.cpu.sleep_ps, most_ns);
  r.one_of("combine_bytes", p.cpu.combine_bytes, {8, 16, 32, 64});
  table_reader l = r.sub("link");
  read_link(l, p.cpu.link);
  l.finish();
  r.finish();
}

// Times of the original system's software; they have no effect where ours runs.
void read_original(table_reader r, bool runs, platform& p) {
  platform original = p;
  r.nanoseconds("descriptor_ns", original.nic.descriptor_ps, most_ns);
  r.nanoseconds("call_ns", original.cpu.call_ps, most_ns);
  r.finish();
  if (runs) p = std::move(original);
}

void read_software(table_reader& r, platform& p) {
  std::string software = "ours";
  if (r.has("software")) r.text("software", software);
  if (software != "ours" && software != "original") r.wrong("software", "must be ours or original, is " + software);
  if (r.has("original"))
    read_original(r.sub("original"), software == "original", p);
  else if (software == "original")
    r.wrong("software", "is original, of which the file says nothing: there is no table original");
}

// Watts and picojoules.
void read_power(table_reader r, power::coefficients& c) {
  constexpr double most_w = 1e5, most_pj = 1e6;
  const auto table = [&](const char* name, std::initializer_list<std::pair<const char*, double*>> keys) {
    table_reader t = r.sub(name);
    for (const auto& [key, out] : keys) t.real(key, *out, 0, std::string_view(key).ends_with("_w") ? most_w : most_pj);
    t.finish();
  };
  table(
      "processor",
      {{"idle_w", &c.processor.idle_w}, {"working_w", &c.processor.working_w}, {"polling_w", &c.processor.polling_w}});
  table("dram", {{"idle_w", &c.dram.idle_w}, {"awake_w", &c.dram.awake_w}, {"byte_pj", &c.dram.byte_pj}});
  table("gpu", {{"idle_w", &c.gpu.idle_w},
                {"resident_w", &c.gpu.resident_w},
                {"sm_w", &c.gpu.sm_w},
                {"computing_w", &c.gpu.computing_w},
                {"flop_pj", &c.gpu.flop_pj},
                {"l2_byte_pj", &c.gpu.l2_byte_pj}});
  table("gpu_memory", {{"byte_pj", &c.gpu_memory.byte_pj}});
  table("pcie", {{"lane_w", &c.pcie.lane_w}, {"byte_pj", &c.pcie.byte_pj}});
  table("nic", {{"idle_w", &c.nic.idle_w}});
  table("link", {{"port_w", &c.link.port_w}, {"flit_pj", &c.link.flit_pj}});
  r.finish();
}

std::expected<platform, std::string> read(const toml::table& t, std::string_view file) {
  platform p;
  p.file = file;
  std::vector<std::string> errors;
  table_reader r(&t, std::string(file), "", errors);
  r.text("name", p.name);
  read_nic(r.sub("nic"), p);
  read_wire(r.sub("link"), p);
  read_rma(r.sub("rma"), p);
  table_reader bus = r.sub("pcie");
  read_slot(bus.sub("nic"), p.pcie.nic);
  read_slot(bus.sub("gpu"), p.pcie.gpu);
  if (bus.has("switch")) read_switch(bus.sub("switch"), p.pcie.switches.emplace());
  bus.finish();
  read_root_complex(r.sub("root_complex"), p);
  read_host(r.sub("host"), p);
  read_cpu(r.sub("cpu"), p);
  read_software(r, p);
  if (const auto* gpu = r.table("gpu")) p.gpu = *gpu;
  read_power(r.sub("power"), p.power);
  r.finish();
  if (!errors.empty()) return std::unexpected(fmt::format("{}", fmt::join(errors, "\n")));
  return p;
}

// "[link] has gbit_per_s, latency_ns; the nearest is latency_ns": what an unknown key may have meant.
std::string keys_of(const toml::table& t, std::string_view path, std::string_view unknown) {
  std::vector<std::string_view> keys;
  for (const auto& [key, value] : t) keys.push_back(key.str());
  return fmt::format("{} has {}; the nearest is {}", path.empty() ? "the file" : fmt::format("[{}]", path),
                     fmt::join(keys, ", "), nearest(unknown, keys));
}

// Puts "a.b.c=value" over the table; the key must be there already.
std::expected<void, std::string> apply(toml::table& root, const std::string& text) {
  const auto fail = [&](std::string_view why) { return std::unexpected(fmt::format("override '{}': {}", text, why)); };
  const auto equals = text.find('=');
  if (equals == std::string::npos) return fail("expected table.key=value");
  std::string key = text.substr(0, equals);
  const auto trim = [](std::string& s) {
    s.erase(0, s.find_first_not_of(" \t"));
    s.erase(s.find_last_not_of(" \t") + 1);
  };
  trim(key);
  std::string said = text.substr(equals + 1);

  toml::table* t = &root;
  std::string path;
  for (size_t dot; (dot = key.find('.')) != std::string::npos; key.erase(0, dot + 1)) {
    toml::table* const inner = (*t)[key.substr(0, dot)].as_table();
    const std::string name = key.substr(0, dot);
    if (!inner) return fail(fmt::format("there is no table '{}'; {}", name, keys_of(*t, path, name)));
    path += (path.empty() ? "" : ".") + key.substr(0, dot);
    t = inner;
  }
  if (!t->contains(key)) return fail(fmt::format("unknown key '{}'; {}", key, keys_of(*t, path, key)));
  trim(said);
  if (t->get(key)->is_string() && !said.starts_with('"')) said = fmt::format("'{}'", said);
  const auto value = toml::parse("v = " + said);
  if (!value || value.table().size() != 1) return fail("the value is not a TOML value");
  t->insert_or_assign(key, *value.table().get("v"));
  return {};
}

std::expected<toml::table, std::string> parse(std::string_view text, std::string_view file) {
  auto parsed = toml::parse(text, file);
  if (parsed) return std::move(parsed).table();
  const auto& e = parsed.error();
  return std::unexpected(fmt::format("{}:{}: {}", file, e.source().begin.line, e.description()));
}

std::expected<std::string, std::string> text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) return std::unexpected(fmt::format("{}: cannot be read", file.string()));
  return text;
}

// Values over those of a table that has the same keys. The error names the first key that it has not.
std::string put(const toml::table& over, toml::table& t, const std::string& path) {
  for (const auto& [key, value] : over) {
    toml::node* const below = t.get(key.str());
    if (!below) return fmt::format("unknown key '{}'; {}", key.str(), keys_of(t, path, key.str()));
    if (!value.is_table() || !below->is_table()) {
      t.insert_or_assign(key, value);
      continue;
    }
    const std::string inner = fmt::format("{}{}{}", path, path.empty() ? "" : ".", key.str());
    if (std::string wrong = put(*value.as_table(), *below->as_table(), inner); !wrong.empty()) return wrong;
  }
  return {};
}

// A file with the key `base` has only what differs from that platform.
std::expected<toml::table, std::string> over_base(toml::table own, std::string_view file) {
  if (!own.contains("base")) return own;
  const auto fail = [file](const std::string& why) { return std::unexpected(fmt::format("{}: {}", file, why)); };
  const auto name = own["base"].value<std::string>();
  const auto all = platform_names();
  if (!name || std::ranges::find(all, *name) == all.end())
    return fail(fmt::format("base: must be one of {}; the nearest is {}", fmt::join(all, ", "),
                            nearest(name.value_or(""), all)));
  const auto path = platform_folder() / (*name + ".toml");
  const auto text = text_of(path);
  if (!text) return std::unexpected(text.error());
  auto below = parse(*text, path.string());
  if (!below) return below;
  if (below->contains("base")) return fail(fmt::format("base: {} has a base itself; name that one", *name));
  own.erase("base");
  if (const std::string wrong = put(own, *below, ""); !wrong.empty()) return fail(wrong);
  return below;
}

}  // namespace

unsigned platform::mps() const { return std::min({root_complex.mps, pcie.nic.mps, pcie.gpu.mps}); }
unsigned platform::mrrs() const { return std::min({root_complex.mrrs, pcie.nic.mrrs, pcie.gpu.mrrs}); }

std::expected<platform, std::string> parse_platform(std::string_view text, std::string_view file,
                                                    std::span<const std::string> overrides) {
  auto own = parse(text, file);
  if (!own) return std::unexpected(own.error());
  auto whole = over_base(std::move(*own), file);
  if (!whole) return std::unexpected(whole.error());
  toml::table& t = *whole;
  for (const auto& o : overrides)
    if (auto r = apply(t, o); !r) return std::unexpected(r.error());
  return read(t, file);
}

std::expected<platform, std::string> load_platform(std::string_view name, std::span<const std::string> overrides) {
  namespace fs = std::filesystem;
  const bool is_path = name.ends_with(".toml");
  const fs::path file = is_path ? fs::path(name) : platform_folder() / (std::string(name) + ".toml");
  std::error_code ec;
  if (name.empty() || !fs::is_regular_file(file, ec))
    return std::unexpected(
        is_path ? fmt::format("{}: no such platform file", file.string())
                : fmt::format("unknown platform '{}': there are {} (files in {}), or give the path of a .toml file",
                              name, fmt::join(platform_names(), ", "), platform_folder().string()));
  const auto text = text_of(file);
  if (!text) return std::unexpected(text.error());
  return parse_platform(*text, file.string(), overrides);
}

std::filesystem::path platform_folder() {
  if (const char* env = std::getenv("GGAS_PLATFORMS"); env && *env) return env;
  return GGAS_PLATFORM_FOLDER;
}

std::vector<std::string> platform_names() {
  std::vector<std::string> names;
  std::error_code ec;
  for (const auto& e : std::filesystem::directory_iterator(platform_folder(), ec))
    if (e.path().extension() == ".toml") names.push_back(e.path().stem().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace ggas::sim
