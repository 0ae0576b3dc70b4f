// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/harness/common_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "sim/platform/nearest.hpp"

namespace ggas::bench {

namespace {

template <typename T>
bool reads_as(const std::string& text, T& out) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  return code == std::errc{} && end == text.data() + text.size();
}

// CLI11 would take -1 for the largest number.
std::string whole_number(const std::string& text) {
  uint64_t n = 0;
  return reads_as(text, n) ? "" : fmt::format("'{}': must be a whole number from 0 to 2^64 - 1", text);
}

std::string milliseconds(const std::string& text) {
  double ms = 0;
  constexpr double most = 1e9;  // eleven days; nanoseconds of it fit into 64 bits
  return reads_as(text, ms) && ms > 0 && ms <= most ? "" : fmt::format("'{}': must be above 0, {} at most", text, most);
}

}  // namespace

std::string a_name(const std::string& text) {
  if (text.empty()) return "'': must be a name";
  if (!text.starts_with('-')) return "";
  return fmt::format("'{}': must be a name, and an option begins so; a file of this name is ./{}", text, text);
}

void add_common_options(CLI::App& app, common_line& line, const std::string& timeout_text) {
  app.set_version_flag("--version", GGAS_VERSION, "the version, as in records");
  app.add_option("names", line.names, "benchmarks or suites; 'list' shows them");
  app.add_option("--seed", line.seed, "seed of everything random")->check(whole_number)->capture_default_str();
  app.add_option("--seeds", line.seeds, "runs with so many seeds, from --seed on: medians and spread")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1000}))
      ->capture_default_str();
  app.add_flag("--quick", line.quick, "fewer points and repetitions");
  app.add_option("--timeout", line.timeout_ms, timeout_text)->check(milliseconds);
  app.add_option("--json", line.json, "write results as JSON lines")->check(a_name)->group(output_options);
  app.add_option("--report", line.report, "folder of the HTML report")->check(a_name)->group(output_options);
  app.add_flag("--no-report", line.no_report, "no report")->group(output_options);
  app.add_flag("--check", line.check, "only what is wrong with the options, for ./ggas sweep and bench study")
      ->group("");
}

int end_parse(const CLI::App& app, const CLI::ParseError& e) {
  if (app.exit(e) == 0) return 0;
  std::vector<std::string> options;
  for (const CLI::Option* o : app.get_options())
    for (const std::string& name : o->get_lnames()) options.push_back("--" + name);
  if (const auto unknown = app.remaining(); !unknown.empty())
    fmt::print(stderr, "The nearest option is {}.\n",
               sim::nearest(unknown.front().substr(0, unknown.front().find('=')), options));
  return status_bad_input;
}

run_facts facts_of(const CLI::App& app, const std::vector<std::pair<std::string, std::string>>& environment) {
  run_facts out{.command = command_text(app), .topology = {}, .environment = environment};
  for (const auto& [name, value] : out.environment)
    if (const std::string digest = digest_of(value); !digest.empty()) out.files.emplace_back(value, digest);
  return out;
}

std::string finish_common(common_line& line, const std::string& suite) {
  if (line.names.empty()) {
    line.names = {suite};
    line.quick = true;
    if (line.report.empty() && !line.no_report) line.report = "report";
  }
  if (line.no_report && !line.report.empty()) return "--report and --no-report exclude each other";
  return {};
}

std::variant<selection, std::string> select(const std::vector<std::string>& names,
                                            const std::vector<const description*>& all, const std::string& suite) {
  selection s;
  const auto choose = [&](size_t i) {
    if (std::find(s.chosen.begin(), s.chosen.end(), i) == s.chosen.end()) s.chosen.push_back(i);
  };
  for (const std::string& name : names) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const description* d) { return name == d->name; });
    if (name == "list") {
      s.list = true;
    } else if (name == suite) {
      s.suite = true;
      for (size_t i = 0; i < all.size(); ++i) choose(i);
    } else if (found != all.end()) {
      choose(static_cast<size_t>(found - all.begin()));
    } else {
      std::vector<std::string> there{suite};
      for (const description* d : all) there.emplace_back(d->name);
      return fmt::format("unknown benchmark or suite '{}'; there are: {}; the nearest is {}", name,
                         fmt::join(there, ", "), sim::nearest(name, there));
    }
  }
  if (s.list && names.size() > 1) return "'list' cannot be combined with names of benchmarks";
  return s;
}

std::string list_text(const std::vector<const description*>& all, const std::string& suite) {
  std::string out = fmt::format("suites\n  {}  every benchmark below\n\nbenchmarks\n", suite);
  for (const description* d : all) {
    out += fmt::format("  {}  {}\n", d->name, d->text);
    if (*d->params != '\0') out += fmt::format("      params: {}\n", d->params);
    for (const variant_info& v : d->variants) out += fmt::format("      {:<18} {}\n", v.name, v.text);
  }
  return out;
}

int bad_input(const std::string& text) {
  fmt::print(stderr, "ggas-bench: {}\n", text);
  return status_bad_input;
}

}  // namespace ggas::bench
