// SPDX-License-Identifier: Apache-2.0
// ggas-bench: runs benchmarks on a cluster, prints tables, writes JSON lines and a report.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <span>

#include "benchmarks/cluster/command_line.hpp"
#include "benchmarks/cluster/nics.hpp"
#include "benchmarks/cluster/ranks.hpp"
#include "benchmarks/harness/common_line.hpp"
#include "benchmarks/harness/installed.hpp"
#include "benchmarks/harness/output.hpp"
#include "benchmarks/harness/report_text.hpp"
#include "benchmarks/harness/seeds.hpp"
#include "benchmarks/harness/signals.hpp"

namespace ggas::bench {

namespace {

int status_of(errc code) {
  switch (code) {
    case errc::bad_argument:
    case errc::bad_platform:
    case errc::no_file:
    case errc::unsupported:
      return status_bad_input;
    default:
      return status_failed;
  }
}

int complain(const error& e) {
  fmt::print(stderr, "ggas-bench: {}\n", e.text);
  return status_of(e.code);
}

// Active NIC cycles and simulated time next to the wall clock.
std::string speed_text(const totals& t) {
  if (t.wall_s <= 0) return {};
  std::string out = fmt::format("{} in {:.1f} s", human(static_cast<double>(t.sim_ns), "ns"), t.wall_s);
  if (t.cycles != 0) {
    out += fmt::format("; {:.2f} M active NIC cycles, {:.0f} k per second", static_cast<double>(t.cycles) / 1e6,
                       static_cast<double>(t.cycles) / t.wall_s / 1e3);
  }
  return out;
}

class program {
 public:
  explicit program(command_line c) : line_(std::move(c)), progress_(line_.chosen.size()) {}

  // Whether such a cluster can be made; nothing runs, and nothing is written.
  int check() {
    cluster_config& cfg = line_.opts.cluster;
    for (std::filesystem::path* written : {&cfg.waves, &cfg.trace, &cfg.pcap}) written->clear();
    const auto limits = find_limits(cfg);
    if (!limits) return complain(limits.error());
    session s(*line_.chosen.front(), line_.opts, *limits, totals_, {}, {});
    const auto made = s.start(1u << 20);
    return made ? 0 : complain(made.error());
  }

  int run() {
    const cluster_config& cfg = line_.opts.cluster;
    auto limits = find_limits(cfg);
    if (!limits) return complain(limits.error());
    limits_ = *limits;
    if (const std::string wrong = output_.open(line_.json, line_.report); !wrong.empty()) return bad_input(wrong);
    if (const std::string wrong = open_state(); !wrong.empty()) return bad_input(wrong);
    int status = 0;
    for (const benchmark* b : line_.chosen) {
      if (status == status_bad_input || caught_signal() != 0) break;
      ++begun_;
      status = std::max(status, run_one(*b));
      progress_.benchmark_done();
    }
    progress_.clear();
    if (const std::string text = speed_text(totals_); !text.empty()) {
      say(fmt::format("{} {}\n", cfg.provider == "sim" ? "simulated" : "ran", text));
    }
    status = std::max({status, output_.finish(), finish_state()});
    return caught_signal() != 0 ? tell_of_signal() : status;
  }

 private:
  // Ranks read the state together, the one that speaks writes it.
  std::string open_state() {
    if (!line_.state.empty()) {
      auto file = trace::whole_file::open(line_.state);
      if (!file) return file.error();
      state_ = std::move(*file);
    }
    if (line_.states)
      line_.opts.on_state = [this](const std::string& text) {
        if (!state_) return;
        state_->add(text);
        state_->flush();
      };
    return {};
  }
  int finish_state() {
    const auto whole = state_ ? state_->finish() : std::expected<void, std::string>();
    if (whole) return 0;
    fmt::print(stderr, "ggas-bench: {}\n", whole.error());
    return status_failed;
  }

  int run_one(const benchmark& b) {
    if (b.needs_nic && line_.opts.cluster.provider == "shm") {
      say(fmt::format("{}: skipped, provider shm has no NIC\n\n", b.name));
      return 0;
    }
    std::vector<record> records;
    seed_records of_seeds;
    const auto sink = [&](const record& r) { line_.seeds == 1 ? keep(records, r) : of_seeds.add(r); };
    const uint64_t first = line_.opts.cluster.seed;
    int status = 0;
    for (uint64_t i = 0; i < line_.seeds && status == 0 && caught_signal() == 0; ++i) {
      line_.opts.cluster.seed = first + i;
      status = run_with_seed(b, sink);
    }
    line_.opts.cluster.seed = first;
    for (const record& r : of_seeds.merged()) keep(records, r);
    progress_.clear();
    if (!records.empty()) say(table(b, records) + "\n");
    say(std::exchange(traces_, {}));
    std::fflush(stdout);
    return status;
  }

  int run_with_seed(const benchmark& b, const session::sink& sink) {
    session s(b, line_.opts, limits_, totals_, sink,
              [&](const std::string& what, uint64_t sim_ns, double) { progress_.show(what, sim_ns); });
    const auto outcome = b.run(s);
    progress_.clear();
    const int status = end_traces(b, s);
    if (outcome) return status;
    if (outcome.error().code != errc::cancelled) return complain(outcome.error());
    cut_ = s.what().empty() ? b.name : s.what();
    return status;
  }

  int end_traces(const benchmark& b, session& s) {
    s.end_observation();
    if (!s.traces().empty()) traces_ = fmt::format("{}: traces in {}\n\n", b.name, fmt::join(s.traces(), ", "));
    if (s.incomplete().empty()) return 0;
    fmt::print(stderr, "{}", s.incomplete());
    return status_failed;
  }

  int tell_of_signal() const {
    std::string not_run;
    for (size_t i = begun_; i < line_.chosen.size(); ++i) not_run += fmt::format(" {}", line_.chosen[i]->name);
    return ended_by_signal(cut_, not_run);
  }

  // The energy of parts is for the report.
  void keep(std::vector<record>& records, const record& r) {
    if (!r.params.contains("part") || r.params["part"] == "all") records.push_back(r);
    output_.write(r, line_.wall);
  }

  command_line line_;
  progress progress_;
  link_limits limits_;
  totals totals_;
  output output_;
  std::unique_ptr<trace::whole_file> state_;
  size_t begun_ = 0;    // benchmarks
  std::string cut_;     // the point at which a signal came
  std::string traces_;  // where those of the last benchmark are
};

// The provider that the options name, or nothing.
std::string_view provider_of(std::span<char* const> arguments) {
  constexpr std::string_view option = "--provider";
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word.starts_with(option) && word.substr(option.size()).starts_with('=')) return word.substr(option.size() + 1);
    if (word == option && i + 1 < arguments.size()) return arguments[i + 1];
  }
  return {};
}

// Providers cuda and host are separate programs: they need no simulator, and this one no CUDA. Returns only if the
// program does not exist.
int become_program(const std::string& name, const char* folder, const char* why, char** argv) {
  const auto installed = program_folder() / name, built = program_folder() / folder / name;
  execv(installed.c_str(), argv);
  execv(built.c_str(), argv);
  return bad_input(fmt::format("there is no {}; {}", built.string(), why));
}

int tell_nics(const command_line& line) {
  const auto nics = nics_of(line);
  if (!nics) return complain(nics.error());
  for (const std::string& name : *nics) say(name + "\n");
  return end_of_output(0);
}

// A folder that the user names comes first.
void use_installed_platforms() {
  if (const auto folder = installed_folder("platforms"); !folder.empty()) setenv("GGAS_PLATFORMS", folder.c_str(), 0);
}

}  // namespace

}  // namespace ggas::bench

int main(int argc, char** argv) {
  const auto provider = ggas::bench::provider_of({argv, static_cast<size_t>(argc)});
  if (provider == "cuda")
    return ggas::bench::become_program("ggas-bench-cuda", "cuda", "ninja build_ggas-bench-cuda builds it, with nvcc",
                                       argv);
  if (provider == "host")
    return ggas::bench::become_program("ggas-bench-host", "energy", "ninja ggas-bench-host builds it", argv);
  const auto environment = ggas::bench::switches_of_environment();
  ggas::bench::use_installed_platforms();
  auto parsed = ggas::bench::parse_command_line(argc, argv, environment);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  auto& line = std::get<ggas::bench::command_line>(parsed);
  if (line.list_nics) return ggas::bench::tell_nics(line);
  if (line.list) {
    ggas::bench::say(ggas::bench::list_text());
    return ggas::bench::end_of_output(0);
  }
  if (line.check) return line.chosen.empty() ? 0 : ggas::bench::program(std::move(line)).check();
  auto joined = ggas::bench::join_ranks(line, argv);
  if (const int* status = std::get_if<int>(&joined)) return *status;
  ggas::bench::catch_signals();
  const ggas::bench::scenario_job job = line.job;
  const ggas::cluster_config cluster = line.opts.cluster;
  const int status = line.chosen.empty() ? 0 : ggas::bench::program(std::move(line)).run();
  if (status == 0 && !job.programs.empty()) return ggas::bench::become_launcher(job, cluster);
  if (!job.programs.empty()) fmt::print(stderr, "ggas-bench: a benchmark failed: no [[program]] was run\n");
  return ggas::bench::end_of_output(status);
}
