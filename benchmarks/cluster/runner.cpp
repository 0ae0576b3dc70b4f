// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/cluster/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "benchmarks/cluster/state.hpp"
#include "benchmarks/harness/signals.hpp"
#include "ggas/detail/platform/layout.hpp"

namespace ggas::bench {

namespace {
constexpr size_t page = 4096;
size_t round_up(size_t v) { return (v + page - 1) / page * page; }

// A pipe or device: it takes all parts, in sequence.
bool is_stream(const std::filesystem::path& path) {
  std::error_code ignored;
  return exists(path, ignored) && !is_regular_file(path, ignored) && !is_directory(path, ignored);
}
}  // namespace

session::session(const benchmark& b, const options& o, const link_limits& l, totals& t, sink s, observer p)
    : benchmark_(b), options_(o), limits_(l), totals_(t), sink_(std::move(s)), observer_(std::move(p)) {}

bool session::calibrated() const {
  const cluster_config& c = options_.cluster;
  return c.provider == "sim" && c.platform == "galibier-k20" && c.nic == "rtl" && c.nodes == 2 &&
         options_.run.nothing_overridden();
}

// The traces of a part have its name in theirs: run.json becomes run.<part>.json. Returns the names.
std::vector<std::string> session::name_traces(cluster_config& cfg, const std::string& part) const {
  std::vector<std::string> names;
  for (std::filesystem::path* path : {&cfg.waves, &cfg.trace, &cfg.pcap}) {
    if (path->empty() || is_stream(*path)) continue;
    std::string stem = path->stem().string();
    if (!part.empty()) stem += "." + part;
    const std::string end = path->extension().string();
    path->replace_filename(stem + end);
    if (path != &cfg.waves) names.push_back(path->string());
    for (int n = 0; n < nodes() && path == &cfg.waves; ++n)
      names.push_back((path->parent_path() / fmt::format("{}.node{}.fst", stem, n)).string());
  }
  return names;
}

void session::end_observation() {
  if (!cluster_) return;
  if (const auto whole = cluster_->end_observation(); !whole) incomplete_ += whole.error().text + "\n";
}

namespace {

// The largest useful size. With more than a hundred nodes a GPU's memory is the limit: a quarter of a segment is
// reserved, and vectors are sent in smaller parts.
uint64_t room_for_collectives(uint64_t nodes, uint64_t bytes) {
  constexpr uint64_t most = uint64_t{1} << 30, enough = uint64_t{128} << 20;
  const uint64_t largest = layout::largest_reserved(nodes);
  return largest <= most ? largest : std::max({round_up(bytes), enough, layout::smallest_reserved(nodes)});
}

}  // namespace

result<> session::start(const wish& w) {
  end_observation();
  cluster_.reset();  // the old one gives its memory back first
  cluster_config cfg = options_.cluster;
  const std::vector<std::string> traces = name_traces(cfg, w.part);
  cfg.segment_bytes = round_up(w.bytes) + room_for_collectives(static_cast<uint64_t>(cfg.nodes), w.bytes);
  cfg.host_bytes = round_up(w.host_bytes);
  cfg.queues = w.queues;
  cfg.overrides.insert(cfg.overrides.end(), w.overrides.begin(), w.overrides.end());
  cfg.cancelled = [this] {
    raise_when_due(totals_.sim_ns + cluster_->now_ns());
    return caught_signal() != 0;
  };
  cfg.on_progress = [this](uint64_t now_ns) {
    if (observer_) observer_(what_, totals_.sim_ns + now_ns, totals_.wall_s);
  };
  auto made = cluster::create(cfg);
  if (!made) return std::move(made.error());
  cluster_ = std::move(*made);
  traces_.insert(traces_.end(), traces.begin(), traces.end());
  return {};
}

size_t session::data_offset() const { return round_up(cluster_->device_context(0).reserved); }

std::byte* session::data(int node) { return cluster_->segment(node) + data_offset(); }

result<> session::launch_all(extent grid, extent block, const std::function<std::function<void()>(int node)>& body) {
  for (int node = 0; node < nodes(); ++node) {
    GGAS_TRY(cluster_->launch(node, grid, block, body(node), benchmark_.name));
  }
  return {};
}

result<> session::check_room(unsigned blocks, unsigned threads, const std::string& what) const {
  for (int node = 0; node < nodes(); ++node) {
    const auto room = cluster_->room_for(node, {threads});
    if (!room) return room.error();
    if (blocks > room->blocks)
      return failed(
          errc::bad_argument,
          fmt::format("{} {}: {} blocks of {} threads wait for each other, so all must be on the GPU at once; "
                      "it has room for {} at most ({})",
                      benchmark_.name, what, blocks, threads, room->blocks, room->limit));
  }
  return {};
}

result<> session::launch_together(extent grid, extent block, const std::function<std::function<void()>(int node)>& body,
                                  const std::string& what) {
  GGAS_TRY(check_room(grid.x, block.x, what));
  return launch_all(grid, block, body);
}

std::string session::timeout_text() const {
  return fmt::format("--timeout {:g}: milliseconds of {} time a point may take",
                     static_cast<double>(options_.timeout_ns) / 1e6, simulated() ? "simulated" : "real");
}

result<> session::run(const std::string& what) {
  what_ = fmt::format("{} {}", benchmark_.name, what);
  if (observer_) observer_(what_, totals_.sim_ns, totals_.wall_s);
  const spent before = spent_so_far();
  const auto stats = cluster_->run(options_.timeout_ns);
  if (!stats) {
    const bool late = stats.error().code == errc::timed_out;
    return failed(stats.error().code,
                  fmt::format("{}: {}{}", what_, stats.error().text, late ? fmt::format(" ({})", timeout_text()) : ""));
  }
  charge(stats->nic_cycles, stats->sim_ns, stats->wall_s);
  if (options_.energy) charge_energy(before);
  if (options_.on_state) options_.on_state(state_of(*cluster_, what_));
  return {};
}

void session::charge(uint64_t cycles, uint64_t sim_ns, double wall_s) {
  for (totals* t : {&point_, &totals_}) {
    t->cycles += cycles;
    t->sim_ns += sim_ns;
    t->wall_s += wall_s;
  }
}

record session::begin(std::string variant, std::string metric, std::string unit) const {
  const cluster_config& c = options_.cluster;
  record r;
  r.benchmark = benchmark_.name;
  r.variant = std::move(variant);
  r.provider = c.provider;
  r.platform = simulated() ? c.platform : "host";
  if (!c.hosts.empty()) r.platform += fmt::format(", {} computers", c.hosts.size());
  r.nic = simulated() ? c.nic : "none";
  r.nodes = c.nodes;
  r.metric = std::move(metric);
  r.unit = std::move(unit);
  r.seed = c.seed;
  r.run = options_.run;
  return r;
}

void session::emit(record r) {
  r.cycles = point_.cycles;
  r.sim_ns = point_.sim_ns;
  r.wall_s = point_.wall_s;
  point_ = {};
  sink_(r);
  emit_energy(std::move(r));
}

session::spent session::spent_so_far() const {
  if (!options_.energy) return {};
  return {cluster_->energy(), cluster_->nic_toggles()};
}

void session::charge_energy(const spent& before) {
  const spent now = spent_so_far();
  auto& [parts, toggles] = point_energy_;
  parts.resize(now.parts.size());
  for (size_t i = 0; i < now.parts.size(); ++i) {
    parts[i].name = now.parts[i].name;
    parts[i].idle_j += now.parts[i].idle_j - before.parts[i].idle_j;
    parts[i].above_j += now.parts[i].above_j - before.parts[i].above_j;
  }
  for (const auto& [unit, count] : now.toggles) {
    const auto i = before.toggles.find(unit);
    toggles[unit] += count - (i == before.toggles.end() ? 0 : i->second);
  }
}

// An operation is one of the samples after the value.
void session::emit_energy(record r) {
  const spent point = std::exchange(point_energy_, {});
  std::vector<energy_part> parts = point.parts;
  if (parts.empty() || r.n == 0) return;
  energy_part all{.name = "all"};
  for (const energy_part& p : parts) {
    all.idle_j += p.idle_j;
    all.above_j += p.above_j;
  }
  parts.push_back(all);
  r.reference = {};
  r.limit = {};
  r.p50 = r.p99 = {};
  r.unit.assign(1, 'J');
  emit_units(r, point);
  for (const energy_part& p : parts) {
    r.params["part"] = p.name;
    for (const bool above : {false, true}) {
      r.metric = above ? "energy_above_idle_per_operation" : "energy_per_operation";
      r.value = (above ? p.above_j : p.idle_j + p.above_j) / static_cast<double>(r.n);
      sink_(r);
    }
  }
}

// The NIC's energy in the ratio of what changed in its units.
void session::emit_units(record r, const spent& point) {
  uint64_t changed = 0;
  for (const auto& [unit, count] : point.toggles) changed += count;
  const auto nic = std::ranges::find(point.parts, "nic", &energy_part::name);
  if (changed == 0 || nic == point.parts.end()) return;
  r.metric = "nic_energy_per_operation";
  for (const auto& [unit, count] : point.toggles) {
    r.params["unit"] = unit;
    r.value = (nic->idle_j + nic->above_j) * static_cast<double>(count) / static_cast<double>(changed) /
              static_cast<double>(r.n);
    sink_(r);
  }
}

}  // namespace ggas::bench
