// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/output.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "benchmarks/common_line.hpp"

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
  if (posix_spawn(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0) return -1;
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

}  // namespace

std::string output::open(const std::filesystem::path& json, const std::filesystem::path& report) {
  report_ = report;
  std::vector<std::filesystem::path> paths;
  if (!json.empty()) paths.push_back(json);
  if (!report.empty()) paths.push_back(report / results_name);
  for (const auto& path : paths) {
    std::error_code ignored;
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
    std::ofstream& file = files_.emplace_back(path);
    if (!file) return fmt::format("cannot write {}", path.string());
  }
  return {};
}

void output::write(const record& r, bool wall) {
  if (r.wall_clock && !wall) return;
  for (std::ofstream& f : files_) f << to_json(r, wall).dump() << '\n';
}

int output::finish() {
  for (std::ofstream& f : files_) f.flush();
  if (report_.empty()) return 0;
  const std::string results = (report_ / results_name).string();
  if (execute({GGAS_PYTHON, GGAS_REPORT_SCRIPT, results, "--out", report_.string()}) == 0) {
    fmt::print("report: {}\n", (report_ / "index.html").string());
    return 0;
  }
  fmt::print(stderr, "ggas-bench: the report could not be written ({} {} {})\n", GGAS_PYTHON, GGAS_REPORT_SCRIPT,
             results);
  return status_failed;
}

}  // namespace ggas::bench
