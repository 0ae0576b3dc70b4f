// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/cluster/programs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "benchmarks/harness/common_line.hpp"
#include "benchmarks/harness/installed.hpp"
#include "sim/fabric/faults.hpp"

namespace ggas::bench {

namespace {

// By node: the program that runs there.
using programs_of_nodes = std::vector<const scenario_program*>;

std::string place_program(const scenario_program& p, programs_of_nodes& at) {
  std::string wrong;
  const auto say = [&](const std::string& text) { wrong += fmt::format("{}: program.nodes: {}\n", p.where, text); };
  for (size_t i = 0; i < (p.nodes.empty() ? at.size() : p.nodes.size()); ++i) {
    const int64_t node = p.nodes.empty() ? int64_t(i) : p.nodes[i];
    if (node < 0 || node >= int64_t(at.size()))
      say(fmt::format("node {}: there are 0 to {}", node, at.size() - 1));
    else if (at[size_t(node)])
      say(fmt::format("node {}: has a program already", node));
    else
      at[size_t(node)] = &p;
  }
  return wrong;
}

std::vector<std::string> simulator_words(const cluster_config& c) {
  std::vector<std::string> words = {"--platform", c.platform, "--nic",  c.nic,
                                    "--topology", c.topology, "--seed", fmt::format("{}", c.seed),
                                    "--report"};
  for (const std::string& o : c.overrides) words.insert(words.end(), {"--set", o});
  for (const std::string& f : c.fault_lines) words.insert(words.end(), {"--fault", f});
  return words;
}

nlohmann::json described(const scenario_job& job, const cluster_config& cluster) {
  nlohmann::json programs = nlohmann::json::array();
  for (const scenario_program& p : job.programs) {
    nlohmann::json nodes = p.nodes;
    for (int n = 0; p.nodes.empty() && n < cluster.nodes; ++n) nodes.push_back(n);
    programs.push_back({{"ranks", nodes},
                        {"command", p.command},
                        {"environment", nlohmann::json::object()},
                        {"exit_status", p.exit_status},
                        {"stdout", p.standard_output}});
    for (const auto& [name, value] : p.environment) programs.back()["environment"][name] = value;
  }
  return {{"size", cluster.nodes}, {"simulator", simulator_words(cluster)}, {"programs", programs}};
}

}  // namespace

std::string check_job(const scenario_job& job, const cluster_config& cluster) {
  if (job.programs.empty()) return {};
  if (cluster.provider != "sim") return "[[program]] needs --provider sim";
  if (!cluster.hosts.empty()) return "[[program]] needs nodes of one kind, with one GPU each";
  if (!cluster.faults.empty()) return "[[program]] takes faults from cluster.faults and --fault, not from --faults";
  const auto faults = fabric::parse_faults(fmt::format("{}", fmt::join(cluster.fault_lines, "\n")), "faults");
  if (!faults) return faults.error();
  using fabric::fault_kind;
  for (const fabric::fault_rule& r : *faults)
    if (cluster.nic == "model" && r.kind != fault_kind::cut && r.kind != fault_kind::dead_node)
      return "drop, corrupt and duplicate faults need --nic rtl: the model of the NIC sends no flits";
  programs_of_nodes at(size_t(cluster.nodes), nullptr);
  std::string wrong;
  for (const scenario_program& p : job.programs) wrong += place_program(p, at);
  for (size_t n = 0; n < at.size() && wrong.empty(); ++n)
    if (!at[n]) wrong = fmt::format("{}: program.nodes: node {} has no program\n", job.programs.back().where, n);
  if (!wrong.empty()) wrong.pop_back();
  return wrong;
}

int become_launcher(const scenario_job& job, const cluster_config& cluster) {
  // Open in the launcher, and gone with it.
  std::FILE* const file = std::tmpfile();
  const std::string text = file ? described(job, cluster).dump() : "";
  if (!file || std::fwrite(text.data(), 1, text.size(), file) != text.size() || std::fflush(file) != 0)
    return bad_input(fmt::format("programs: no temporary file: {}", std::strerror(errno)));
  const auto installed = program_folder() / "ggas-run";
  std::vector<std::string> words = {GGAS_PYTHON, GGAS_RUN_SCRIPT};
  if (std::filesystem::exists(installed)) words = {installed.string()};
  words.insert(words.end(), {"--stop", "--timeout", fmt::format("{}", job.timeout_s), "--programs",
                             fmt::format("/dev/fd/{}", fileno(file))});
  // The simulator of this build. An installed one lies next to the launcher.
  const auto simulator = program_folder().parent_path() / "programs/simulator/ggas-simulator";
  if (std::filesystem::exists(simulator)) setenv("GGAS_SIMULATOR", simulator.c_str(), 0);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(stdout);
  execvp(arguments[0], arguments.data());
  return bad_input(fmt::format("programs: {} cannot be run: {}", words[0], std::strerror(errno)));
}

}  // namespace ggas::bench
