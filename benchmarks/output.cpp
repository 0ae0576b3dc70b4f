// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/output.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "benchmarks/common_line.hpp"
#include "benchmarks/installed.hpp"

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

std::string output::open(const std::filesystem::path& json, const std::filesystem::path& report) {
  report_ = report;
  std::vector<std::filesystem::path> paths;
  if (!json.empty()) paths.push_back(json);
  if (!report.empty()) paths.push_back(report / results_name);
  for (const auto& path : paths) {
    std::error_code ignored;
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
    file& f = files_.emplace_back(path.string(), std::ofstream(path));
    if (!f.out) return fmt::format("cannot write {}: {}", f.name, std::strerror(errno));
  }
  return {};
}

void output::write(const record& r, bool wall) {
  if (r.wall_clock && !wall) return;
  const std::string line = to_json(r, wall).dump();
  for (file& f : files_) f.out << line << std::endl;  // a run that is ended early keeps its records
}

int output::finish() {
  for (const file& f : files_) {
    if (f.out) continue;
    fmt::print(stderr, "ggas-bench: {} is incomplete: it could not be written (disk full?)\n", f.name);
    return status_failed;
  }
  if (report_.empty()) return 0;
  std::vector<std::string> words = report_program();
  words.insert(words.end(), {(report_ / results_name).string(), "--out", report_.string()});
  if (execute(words) == 0) {
    fmt::print("report: {}\n", (report_ / "index.html").string());
    return 0;
  }
  fmt::print(stderr, "ggas-bench: the report could not be written ({})\n", fmt::join(words, " "));
  return status_failed;
}

}  // namespace ggas::bench
