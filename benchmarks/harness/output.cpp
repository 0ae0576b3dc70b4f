// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/harness/output.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "benchmarks/harness/common_line.hpp"
#include "benchmarks/harness/installed.hpp"

extern char** environ;

namespace ggas::bench {

namespace {

constexpr const char* results_name = "results.jsonl";

// Starts a program and waits for its end.
int execute(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0) return -1;
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

// Interpreter and script of the report: those of the source tree, or of an installation with the system's Python.
std::vector<std::string> report_program() {
  const auto folder = installed_folder("report");
  if (folder.empty()) return {GGAS_PYTHON, GGAS_REPORT_SCRIPT};
  return {"python3", (folder / "report.py").string()};
}

}  // namespace

std::string output::open(const std::filesystem::path& json, const std::filesystem::path& report,
                         const std::filesystem::path& power) {
  report_ = report;
  power_ = power;
  if (!report.empty()) {
    std::error_code ignored;
    std::filesystem::create_directories(report, ignored);
    auto folder = trace::one_writer::of_folder(report);
    if (!folder) return folder.error();
    report_folder_ = std::move(*folder);
  }
  std::vector<std::filesystem::path> paths;
  if (!json.empty()) paths.push_back(json);
  if (!report.empty()) paths.push_back(report / results_name);
  if (!power.empty()) paths.push_back(power);
  for (const auto& path : paths) {
    std::error_code ignored;
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
    auto file = trace::whole_file::open(path);
    if (!file) return file.error();
    (path == power ? power_file_ : files_.emplace_back()) = std::move(*file);
  }
  return {};
}

void output::write(const record& r, bool wall) {
  if (r.wall_clock && !wall) return;
  empty_ = false;
  const std::string line = to_json(r, wall).dump() + "\n";
  for (const auto& f : files_) {
    f->add(line);
    f->flush();  // a run that is ended early keeps its records
  }
}

void output::power(const std::string& csv) {
  if (power_file_) power_file_->add(csv);
}

int output::finish() {
  int status = 0;
  if (power_file_) files_.push_back(std::move(power_file_));
  for (const auto& f : files_) {
    const auto whole = f->finish();
    if (whole) continue;
    fmt::print(stderr, "ggas-bench: {}\n", whole.error());
    status = status_failed;
  }
  return report_.empty() || empty_ ? status : std::max(status, make_report());
}

int output::make_report() const {
  std::vector<std::string> words = report_program();
  words.insert(words.end(), {(report_ / results_name).string(), "--out", report_.string()});
  if (!power_.empty()) words.insert(words.end(), {"--power", power_.string()});
  if (execute(words) == 0) {
    say(fmt::format("report: {}\n", (report_ / "index.html").string()));
    return 0;
  }
  fmt::print(stderr, "ggas-bench: the report could not be written ({})\n", fmt::join(words, " "));
  return status_failed;
}

void say(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int end_of_output(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  fmt::print(stderr, "ggas-bench: standard output is incomplete: {}\n", std::strerror(errno));
  return status == 0 ? status_failed : status;
}

}  // namespace ggas::bench
