// SPDX-License-Identifier: Apache-2.0
// Conditions of a run in addition to the other keys of its records: they distinguish two runs that differ
// (docs/benchmarks.md#run).
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace ggas::bench {

struct run_facts {
  std::string command;   // as typed, less the options of the group `output_options`
  std::string topology;  // sim: who is joined to whom; empty: nothing is simulated
  std::vector<std::string> set = {}, faults = {}, hosts = {};         // --set, lines of fault scripts, [[node]] tables
  std::vector<std::pair<std::string, std::string>> environment = {};  // switches of the software, by name
  std::vector<std::pair<std::string, std::string>> files = {};        // that were read: path and digest

  // Everything is as the program and its platform have it; files were read, but say nothing else.
  bool nothing_overridden() const;
  nlohmann::ordered_json to_json() const;  // with commit and compiler
  // "--set link.latency_ns=500, GGAS_TUNING=mine.toml"; empty: nothing is overridden.
  std::string overrides_text() const;
};

// Group of options that change no result: where it goes, who computes it.
inline constexpr const char* output_options = "Output and processes";

// Commit and compiler of this program.
extern const char* const commit;
extern const char* const compiler;

// Command lines as they can be typed again: of a parser, and of this process.
std::string command_text(const CLI::App& app);
std::string command_of_process();
// The variables of this process that may change what is measured: those of GGAS, and on GPUs those of their libraries.
enum class measures { anything, gpus };
std::vector<std::pair<std::string, std::string>> switches_of_environment(measures what = measures::anything);
// FNV-1a of a file; empty if it cannot be read.
std::string digest_of(const std::filesystem::path& file);

}  // namespace ggas::bench
