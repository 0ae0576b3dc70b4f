// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/cluster/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <utility>

#include "benchmarks/cluster/scenario.hpp"
#include "benchmarks/harness/common_line.hpp"
#include "benchmarks/trace/schedule.hpp"
#include "sim/platform/platform.hpp"
#include "sim/ranks/mpi.hpp"

namespace ggas::bench {

namespace {

constexpr const char* suite = "thesis";

constexpr const char* examples = R"(
Without names the quick thesis suite runs and a report is written to report/.

examples:
  ggas-bench list
  ggas-bench store_latency load_latency --platform modern
  ggas-bench thesis --json results.jsonl --report report
  ggas-bench barrier --provider shm --nodes 8
  ggas-bench trace examples/traces/resnet50_4.goal --nic model
  ggas-bench allreduce --nic model --nodes 16 --topology leaf-spine:4x2x4
  ggas-bench alltoall --nic model --nodes 8 --topology cluster.toml
  ggas-bench store_latency --quick --waves nic.fst --window 10:40 --trace run.json --pcap run.pcapng
)";

// "FROM:TO" in microseconds; TO may be missing. Picoseconds of the longest, eleven days, fit into 64 bits.
bool parse_window(const std::string& text, double& from, double& to) {
  const size_t colon = text.find(':');
  const auto number = [](std::string_view s, double& out) {
    const auto [end, code] = std::from_chars(s.data(), s.data() + s.size(), out);
    return code == std::errc{} && end == s.data() + s.size() && out >= 0 && out <= 1e12;
  };
  if (colon == std::string::npos || !number(std::string_view(text).substr(0, colon), from)) return false;
  const std::string_view rest = std::string_view(text).substr(colon + 1);
  to = 0;
  return rest.empty() || (number(rest, to) && to > from);
}

// "trace FILE". Without --nodes there are as many as ranks.
std::string choose_trace(const std::vector<std::string>& names, command_line& c) {
  if (names.size() != 2 || names[0] != "trace") return "trace: expected trace FILE and no other benchmark";
  auto plan = read_schedule(names[1]);
  if (!plan) return plan.error();
  const int ranks = int(plan->ranks.size());
  if (!c.opts.cluster.hosts.empty()) return "trace needs nodes of one kind, with one GPU each";
  int& nodes = c.opts.cluster.nodes;
  if (!c.nodes_given) nodes = std::max(ranks, 2);
  if (nodes < ranks) return fmt::format("--nodes {}: {} has {} ranks", nodes, names[1], ranks);
  if (c.opts.cluster.provider != "sim") return "trace needs --provider sim";
  // What the file itself takes is no reason to end: all computations one after the other, messages at 100 MB/s.
  if (!c.timeout_given) c.opts.timeout_ns += plan->computing_ns + 10 * plan->bytes;
  c.opts.schedule = std::make_shared<const schedule>(std::move(*plan));
  c.trace_file = names[1];
  c.opts.schedule_name = std::filesystem::path(names[1]).stem().string();
  c.chosen.push_back(&trace_benchmark());
  return {};
}

// `energy` is a benchmark of GPUs and processors; of simulated clusters it is what other benchmarks take. The study's.
const std::vector<std::string> with_energy = {"barrier", "global_reduction", "put_latency", "random_access", "himeno"};

// Fills c.chosen; the empty string or what is wrong.
std::string choose(std::vector<std::string> names, command_line& c) {
  if (std::ranges::find(names, "trace") != names.end()) return choose_trace(names, c);
  if (names == std::vector<std::string>{"energy"} && c.opts.cluster.provider == "sim") {
    names = with_energy;
    c.opts.energy = true;
  }
  const auto found = select(names, descriptions(all_benchmarks()), suite);
  if (const auto* wrong = std::get_if<std::string>(&found)) return *wrong;
  const auto& s = std::get<selection>(found);
  c.list = s.list;
  c.suite = s.suite;
  for (const size_t i : s.chosen) c.chosen.push_back(&all_benchmarks()[i]);
  return {};
}

std::string check(const command_line& c) {
  const cluster_config& cfg = c.opts.cluster;
  for (const benchmark* b : c.chosen) {
    if (b->needs_peer && cfg.nodes < 2) return fmt::format("--nodes {}: {} needs at least 2 nodes", cfg.nodes, b->name);
    if (b->needs_nic && cfg.provider == "shm" && !c.suite) {
      return fmt::format("{} reads the counters of a NIC; provider shm has none", b->name);
    }
  }
  const bool observed = !cfg.waves.empty() || !cfg.trace.empty() || !cfg.pcap.empty();
  if (observed && c.chosen.size() != 1) return "--waves, --trace and --pcap need exactly one benchmark";
  if (c.seeds > 1 && (observed || c.states)) return "--waves, --trace, --pcap and --state need one seed: no --seeds";
  if (c.seeds > 1 && !c.job.programs.empty()) return "[[program]] runs with one seed: no --seeds";
  return {};
}

// The NIC's energy by unit; the empty string or what is wrong.
std::string check_units(const command_line& c) {
  const cluster_config& cfg = c.opts.cluster;
  if (!cfg.nic_toggles) return {};
  if (!c.opts.energy) return "--energy-units goes with --energy";
  if (!cfg.waves.empty()) return "--energy-units and --waves: changes of signals are counted or written, not both";
  if (cfg.nic != "rtl") return "--energy-units needs --nic rtl: the model of the NIC has no signals that could change";
  return {};
}

// Sizes as they were given.
struct said_sizes {
  std::string grid;
  uint64_t steps = 0, table = 0;
};

std::string choose_sizes(const CLI::App& app, const said_sizes& said, command_line& c) {
  const auto chosen = [&](std::string_view name) {
    return std::ranges::any_of(c.chosen, [name](const benchmark* b) { return b->name == name; });
  };
  const bool sized = app.count("--grid") != 0, counted = app.count("--steps") != 0, table = app.count("--table") != 0;
  if ((sized || counted) && !chosen("himeno")) return "--grid and --steps go with himeno";
  if (table && !chosen("random_access")) return "--table goes with random_access";
  size_options& to = c.opts.sizes;
  if (sized)
    if (std::string wrong = read_grid(said.grid, c.opts.cluster.nodes, to); !wrong.empty()) return wrong;
  if (counted)
    if (std::string wrong = read_steps(said.steps, to); !wrong.empty()) return wrong;
  return table ? read_table(said.table, to) : "";
}

// Options of the simulator that another provider would not look at; the empty string or the first that was given.
std::string check_simulated(const CLI::App& app, const std::string& provider) {
  if (provider == "sim") return {};
  for (const char* option : {"--platform", "--gpus", "--nic", "--topology", "--faults", "--fault", "--waves", "--trace",
                             "--pcap", "--ranks", "--energy"})
    if (app.count(option) != 0) return fmt::format("{} needs --provider sim", option);
  return {};
}

// Sets up computers with several GPUs, or of several kinds: each GPU is a node of the cluster. Returns the error, or an
// empty string.
std::string choose_hosts(const CLI::App& app, int gpus, std::vector<host_config> described, cluster_config& cfg) {
  constexpr int most_gpus = 16;
  if (gpus < 1 || gpus > most_gpus) return fmt::format("--gpus {}: expected 1 to {}", gpus, most_gpus);
  if (!described.empty()) {
    for (const char* option : {"--nodes", "--gpus"})
      if (app.count(option) != 0) return fmt::format("{}: the scenario has [[node]] tables, which say it", option);
    cfg.hosts = std::move(described);
  } else if (gpus > 1) {
    cfg.hosts.assign(size_t(cfg.nodes), {.gpus = gpus});
  }
  if (cfg.hosts.empty()) return {};
  cfg.nodes = 0;
  for (const host_config& h : cfg.hosts) cfg.nodes += h.gpus;
  return {};
}

// Several processes, asked for or launched.
std::string check_ranks(const command_line& c) {
  const cluster_config& cfg = c.opts.cluster;
  const int launched = int(sim::launched_ranks());
  if (launched != 0 && c.ranks != 0 && launched != c.ranks)
    return fmt::format("--ranks {}: {} processes were launched", c.ranks, launched);
  const int ranks = std::max(launched, c.ranks);
  if (ranks > 1 && !c.job.programs.empty()) return "[[program]] needs a single process of the simulator: no --ranks";
  if (!c.hosts.empty() && c.ranks < 2) return "--hosts goes with --ranks of at least 2";
  if (ranks < 2) return {};
  const int computers = cfg.hosts.empty() ? cfg.nodes : int(cfg.hosts.size());
  if (ranks > computers) return fmt::format("--ranks {}: more than --nodes {}", ranks, computers);
  if (cfg.nic != "rtl") return "--ranks needs --nic rtl: the model's network is one piece";
  if (!cfg.waves.empty() || !cfg.trace.empty() || !cfg.pcap.empty())
    return "--waves, --trace and --pcap need a single process";
  return {};
}

// What the scenario says, less the options that the command line has too, then the command line.
std::vector<std::string> with_scenario(const CLI::App& app, const std::vector<setting>& said,
                                       const std::vector<std::string>& own) {
  const auto given = [&app](const std::string& option) {
    for (const auto& either : {std::pair{"--quick", "--middle"}, std::pair{"--report", "--no-report"}})
      if (option == either.first || option == either.second)
        return app.count(either.first) + app.count(either.second) != 0;
    return app.count(option) != 0;
  };
  std::vector<std::string> words;
  for (const auto& [option, value] : said) {
    const bool adds = option.empty() || option == "--set" || option == "--fault";
    if (!adds && given(option)) continue;
    words.push_back(option.empty() ? value : value.empty() ? option : option + "=" + value);
  }
  words.insert(words.end(), own.begin(), own.end());
  return words;
}

std::string text_of(const host_config& h, const std::string& platform) {
  return fmt::format("{}, {} GPU{}{}", h.platform.empty() ? platform : h.platform, h.gpus, h.gpus == 1 ? "" : "s",
                     h.overrides.empty() ? "" : fmt::format(", set {}", fmt::join(h.overrides, " ")));
}

// The file of a platform that is none of this version; empty: it is one.
std::filesystem::path own_platform(const std::string& name, const run_facts& run) {
  if (name.ends_with(".toml")) return name;
  const bool own_folder =
      std::ranges::any_of(run.environment, [](const auto& v) { return v.first == "GGAS_PLATFORMS"; });
  return own_folder ? sim::platform_folder() / (name + ".toml") : "";
}

// What the cluster is made of, in addition to provider, platform, NIC, nodes and seed, and the files that say it.
void add_facts(const cluster_config& cfg, std::vector<std::filesystem::path> read, run_facts& out) {
  out.set = cfg.overrides;
  out.faults = cfg.fault_lines;
  if (cfg.provider == "sim") {
    out.topology = cfg.topology;
    read.emplace_back(cfg.topology.substr(0, cfg.topology.find(',')));  // it may be a file, and settings
  }
  for (const host_config& h : cfg.hosts) out.hosts.push_back(text_of(h, cfg.platform));
  read.push_back(cfg.faults);
  if (cfg.provider == "sim") read.push_back(own_platform(cfg.platform, out));
  for (const host_config& h : cfg.hosts) read.push_back(own_platform(h.platform, out));
  for (const std::filesystem::path& path : read)
    if (const std::string digest = digest_of(path); !digest.empty()) out.files.emplace_back(path.string(), digest);
}

void parse(CLI::App& app, std::vector<std::string> words) {
  std::ranges::reverse(words);  // as the parser wants them
  app.parse(std::move(words));
}

}  // namespace

std::variant<command_line, int> parse_command_line(
    int argc, char** argv, const std::vector<std::pair<std::string, std::string>>& environment) {
  command_line c;
  cluster_config& cfg = c.opts.cluster;
  common_line common;
  std::string window;
  said_sizes sizes;
  int gpus = 1;

  CLI::App app{"Benchmarks of GPUs with one global address space.", "ggas-bench"};
  app.footer(examples);
  add_common_options(app, common,
                     "milliseconds one point may take: of simulated time (sim, default 2000) or real time (shm, "
                     "default 120000)");
  app.add_option("--provider", cfg.provider,
                 "who runs it: sim (simulated cluster), shm (this computer's memory) or cuda (its GPUs: another "
                 "program, with options of its own)")
      ->capture_default_str();
  app.add_option("--platform", cfg.platform, "sim: platform name or .toml file")->check(a_name)->capture_default_str();
  app.add_option("--nodes", cfg.nodes, "nodes of the cluster")->capture_default_str();
  app.add_option("--gpus", gpus, "sim: GPUs a node, behind a PCIe switch; kernels see each as a node of its own")
      ->capture_default_str();
  app.add_option("--nic", cfg.nic, "sim: the NIC: rtl (64 nodes at most) or model (any number)")->capture_default_str();
  app.add_option("--topology", cfg.topology,
                 "sim: who is joined to whom: auto, full, ring, mesh:AxB[xC], torus:AxB[xC]; with switches "
                 "fat-tree:ARITYxLEVELS, leaf-spine:LEAVESxSPINESxNICS, dragonfly:AxHxP, torus:AxBxCxD, torus:AxB:NICS "
                 "or a file: TOML, anynet of BookSim, output of ibnetdiscover")
      ->check(a_name)
      ->capture_default_str();
  app.add_option("--set", cfg.overrides, "sim: TABLE.KEY=VALUE over the platform file; repeatable")
      ->allow_extra_args(false);
  app.add_option("--faults", cfg.faults, "sim: fault script")->check(a_name);
  app.add_option("--fault", cfg.fault_lines, "sim: a line of a fault script; repeatable")->allow_extra_args(false);
  app.add_option("--ranks", c.ranks, "sim: processes that simulate together, each its part of the nodes (Open MPI)")
      ->group(output_options);
  app.add_option("--hosts", c.hosts, "sim: hosts file of Open MPI, for --ranks")->check(a_name)->group(output_options);
  app.add_option("--state", c.state, "after each point all counters and a digest of each node's memory, JSON lines")
      ->check(a_name)
      ->group(output_options);
  app.add_flag("--energy", c.opts.energy, "sim: energy of every point, by part (docs/energy.md)")
      ->group(output_options);
  app.add_flag("--middle", c.opts.middle, "fewer points than without it, of every size: between --quick and full size")
      ->excludes("--quick");
  app.add_option("--rounds", c.opts.rounds, "rounds of a barrier, a collective or a reduction, instead of 3 to 1000")
      ->check(CLI::Range(1u, 1000u));
  app.add_option("--grid", sizes.grid, "himeno: the grid, XxYxZ points of all nodes together, instead of its own");
  app.add_option("--steps", sizes.steps, "himeno: steps of every method, instead of 4 to 10");
  app.add_option("--table", sizes.table,
                 "random_access: words of the table of all nodes, a power of two, instead of several sizes");
  app.add_flag("--wall", c.wall,
               "wall-clock times and simulation speed in the results too (no longer the same for the same seed)");
  app.add_option("--waves", cfg.waves, "sim: FST waves, a file for each NIC")->check(a_name)->group(output_options);
  app.add_option("--window", window, "time window of the waves, FROM:TO in microseconds of simulated time")
      ->group(output_options);
  app.add_flag(
         "--energy-units", cfg.nic_toggles,
         "sim, RTL: with --energy, the NIC's energy by its units, estimated from changes of their signals (slower)")
      ->group(output_options);
  app.add_option("--trace", cfg.trace, "sim: path of every message, for Perfetto")
      ->check(a_name)
      ->group(output_options);
  app.add_option("--pcap", cfg.pcap, "sim: packets on the links, pcapng for Wireshark")
      ->check(a_name)
      ->group(output_options);
  app.add_flag("--list-nics", c.list_nics, "Verilated NICs that this command loads, for ./ggas")->group("");
  std::filesystem::path file;
  app.add_option("--scenario", file, "TOML file with options and names (./ggas sim FILE)")->check(a_name);
  const std::vector<std::string> own(argv + 1, argv + argc);
  scenario said;
  try {
    parse(app, own);
    c.opts.run = facts_of(app, environment);
    if (!file.empty()) {
      auto read = read_scenario(file);
      if (!read) return bad_input(read.error());
      said = std::move(*read);
      parse(app, with_scenario(app, said.settings, own));
    }
  } catch (const CLI::ParseError& e) {
    return end_parse(app, e);
  }

  c.job = std::move(said.job);
  const bool only_programs = common.names.empty() && !c.job.programs.empty();
  if (only_programs && !(common.json.empty() && common.report.empty() && c.state.empty()))
    return bad_input("--json, --report and --state need a benchmark; a program has its stdout");
  if (std::string text = only_programs ? "" : finish_common(common, suite); !text.empty()) return bad_input(text);
  if (!window.empty() && !parse_window(window, cfg.waves_from_us, cfg.waves_to_us)) {
    return bad_input(
        fmt::format("--window {}: expected FROM:TO or FROM: in microseconds (at most 1e12), TO behind FROM", window));
  }
  if (!window.empty() && cfg.waves.empty()) return bad_input("--window goes with --waves");
  if (cfg.nodes < 1) return bad_input(fmt::format("--nodes {}: expected at least 1", cfg.nodes));
  if (std::string text = choose_hosts(app, gpus, std::move(said.nodes), cfg); !text.empty()) return bad_input(text);
  c.opts.quick = common.quick;
  c.check = common.check;
  cfg.seed = common.seed;
  c.seeds = common.seeds;
  c.json = common.json;
  c.states = !c.state.empty();
  c.report = common.report;
  // A busy computer must not end a measurement.
  const double usual_ms = cfg.provider == "shm" ? 120'000 : 2'000;
  c.opts.timeout_ns = static_cast<uint64_t>((common.timeout_ms == 0 ? usual_ms : common.timeout_ms) * 1e6);
  if (std::string text = check_simulated(app, cfg.provider); !text.empty()) return bad_input(text);
  c.nodes_given = app.count("--nodes") != 0;
  c.opts.ranks = app.count("--ranks") != 0;
  c.timeout_given = app.count("--timeout") != 0;
  if (app.count("--ranks") != 0 && c.ranks < 1)
    return bad_input(fmt::format("--ranks {}: expected at least 1", c.ranks));
  if (std::string text = check_job(c.job, cfg); !text.empty()) return bad_input(text);
  if (std::string text = choose(common.names, c); !text.empty()) return bad_input(text);
  if (std::string text = check_units(c); !text.empty()) return bad_input(text);
  if (std::string text = choose_sizes(app, sizes, c); !text.empty()) return bad_input(text);
  if (std::string text = check(c); !text.empty()) return bad_input(text);
  if (std::string text = check_ranks(c); !text.empty()) return bad_input(text);
  add_facts(cfg, {file, c.trace_file}, c.opts.run);
  return c;
}

std::string list_text() {
  auto all = descriptions(all_benchmarks());
  all.push_back(&trace_benchmark());
  std::string out = list_text(all, suite);
  return out.insert(out.find("\n\n") + 1, fmt::format("  energy  {}: with --energy\n", fmt::join(with_energy, ", ")));
}

}  // namespace ggas::bench
