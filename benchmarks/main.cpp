// SPDX-License-Identifier: Apache-2.0
// ggas-bench: runs benchmarks on a cluster, prints tables, writes JSON lines and a report.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "benchmarks/command_line.hpp"
#include "benchmarks/report_text.hpp"

extern char** environ;

namespace ggas::bench {

namespace {

constexpr int status_failed = 1, status_bad_input = 2;

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

// Opens a result file; its folder is made if need be.
result<std::ofstream> open_results(const std::filesystem::path& file) {
  std::error_code ignored;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), ignored);
  std::ofstream out(file);
  if (!out) return failed(errc::no_file, fmt::format("cannot write {}", file.string()));
  return out;
}

// Starts a program and waits for its end.
int execute(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawn(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0) return -1;
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

int write_report(const std::filesystem::path& folder, const std::filesystem::path& results) {
  const int status = execute({GGAS_PYTHON, GGAS_REPORT_SCRIPT, results.string(), "--out", folder.string()});
  if (status == 0) {
    fmt::print("report: {}\n", (folder / "index.html").string());
    return 0;
  }
  fmt::print(stderr, "ggas-bench: the report could not be written ({} {})\n", GGAS_PYTHON, GGAS_REPORT_SCRIPT);
  return status_failed;
}

// Active NIC cycles and simulated time beside the wall clock.
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

  int run() {
    const cluster_config& cfg = line_.opts.cluster;
    auto limits = find_limits(cfg);
    if (!limits) return complain(limits.error());
    limits_ = *limits;
    if (auto opened = open_files(); !opened) return complain(opened.error());
    int status = 0;
    for (const benchmark* b : line_.chosen) {
      const int s = run_one(*b);
      if (s == status_bad_input) return s;
      status = std::max(status, s);
      progress_.benchmark_done();
    }
    progress_.clear();
    if (const std::string text = speed_text(totals_); !text.empty()) {
      fmt::print("{} {}\n", cfg.provider == "sim" ? "simulated" : "ran", text);
    }
    for (std::ofstream& f : files_) f.flush();
    if (!line_.report.empty()) status = std::max(status, write_report(line_.report, line_.report / "results.jsonl"));
    return status;
  }

 private:
  result<> open_files() {
    std::vector<std::filesystem::path> paths;
    if (!line_.json.empty()) paths.push_back(line_.json);
    if (!line_.report.empty()) paths.push_back(line_.report / "results.jsonl");
    for (const auto& path : paths) {
      auto file = open_results(path);
      if (!file) return std::unexpected(std::move(file.error()));
      files_.push_back(std::move(*file));
    }
    return {};
  }

  int run_one(const benchmark& b) {
    if (b.needs_nic && line_.opts.cluster.provider == "shm") {
      fmt::print("{}: skipped, provider shm has no NIC\n\n", b.name);
      return 0;
    }
    std::vector<record> records;
    session s(
        b, line_.opts, limits_, totals_, [&](const record& r) { keep(records, r); },
        [&](const std::string& what, uint64_t sim_ns, double) { progress_.show(what, sim_ns); });
    const auto outcome = b.run(s);
    progress_.clear();
    if (!records.empty()) fmt::print("{}\n", table(b, records));
    std::fflush(stdout);
    if (!outcome) return complain(outcome.error());
    return 0;
  }

  void keep(std::vector<record>& records, const record& r) {
    records.push_back(r);
    if (r.wall_clock && !line_.wall) return;
    for (std::ofstream& f : files_) f << to_json(r, line_.wall).dump() << '\n';
  }

  command_line line_;
  progress progress_;
  link_limits limits_;
  totals totals_;
  std::vector<std::ofstream> files_;
};

}  // namespace

}  // namespace ggas::bench

int main(int argc, char** argv) {
  auto parsed = ggas::bench::parse_command_line(argc, argv);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  auto& line = std::get<ggas::bench::command_line>(parsed);
  if (line.list) {
    fmt::print("{}", ggas::bench::list_text());
    return 0;
  }
  return ggas::bench::program(std::move(line)).run();
}
