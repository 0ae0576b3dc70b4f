// SPDX-License-Identifier: Apache-2.0
// The part of the command line that every program of the benchmarks has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "benchmarks/harness/description.hpp"
#include "benchmarks/harness/run_facts.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace ggas::bench {

inline constexpr int status_failed = 1, status_bad_input = 2;

struct common_line {
  std::vector<std::string> names;
  uint64_t seed = 1, seeds = 1;  // the first, and how many
  bool quick = false, no_report = false;
  bool check = false;                  // only say what is wrong with the options
  double timeout_ms = 0;               // of one point; 0: what the program finds right
  std::filesystem::path json, report;  // empty: none
};

// Check of an option that names a file, a folder or a model: what is wrong with the text, or nothing.
std::string a_name(const std::string& text);
// `timeout_text` explains --timeout.
void add_common_options(CLI::App& app, common_line& line, const std::string& timeout_text);
// The exit status after a parse that threw: 0 after help. Prints what is wrong, of an unknown option also the nearest.
int end_parse(const CLI::App& app, const CLI::ParseError& e);
// From a parsed command line and switches_of_environment(). Files that variables name are read.
run_facts facts_of(const CLI::App& app, const std::vector<std::pair<std::string, std::string>>& environment);
// Without names: the quick suite with a report. What is wrong with the options, or nothing.
std::string finish_common(common_line& line, const std::string& suite);

struct selection {
  std::vector<size_t> chosen;  // places in the list of benchmarks, each once, in the order they were named
  bool suite = false;          // a whole suite: what the provider cannot do is skipped
  bool list = false;
};

// The benchmarks that names mean, or what is wrong with a name.
std::variant<selection, std::string> select(const std::vector<std::string>& names,
                                            const std::vector<const description*>& all, const std::string& suite);

// The text of `list`.
std::string list_text(const std::vector<const description*>& all, const std::string& suite);

// Prints a message about the input; the exit status.
int bad_input(const std::string& text);

// The descriptions of a list of benchmarks.
template <class Benchmarks>
std::vector<const description*> descriptions(const Benchmarks& all) {
  std::vector<const description*> out;
  for (const auto& b : all) out.push_back(&b);
  return out;
}

}  // namespace ggas::bench
