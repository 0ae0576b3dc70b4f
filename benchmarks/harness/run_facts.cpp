// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/harness/run_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace ggas::bench {

namespace {

using pairs = std::vector<std::pair<std::string, std::string>>;

constexpr std::array gpu_prefixes = {"CUDA_", "NCCL_", "NVSHMEM_"};
// No switches: a process's place in its job, a secret, when to give up, for tests, where something is installed.
constexpr std::array others = {"GGAS_BOOTSTRAP",    "GGAS_COMPUTER", "GGAS_JOB",     "GGAS_LONG", "GGAS_RANK",
                               "GGAS_RANK_TIMEOUT", "GGAS_ROOT",     "GGAS_SECRET",  "GGAS_SIZE", "GGAS_SIGNAL_AT",
                               "CUDA_HOME",         "CUDA_PATH",     "CUDA_VERSION", "NCCL_HOME", "NCCL_VERSION",
                               "NVSHMEM_HOME",      "NVSHMEM_PREFIX"};

std::string shell_word(const std::string& word) {
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("_-.,:=/+@%", c); };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

nlohmann::ordered_json object(const pairs& all) {
  auto out = nlohmann::ordered_json::object();
  for (const auto& [key, value] : all) out[key] = value;
  return out;
}

}  // namespace

bool run_facts::nothing_overridden() const {
  return (topology.empty() || topology == "auto") && set.empty() && faults.empty() && hosts.empty() &&
         environment.empty();
}

nlohmann::ordered_json run_facts::to_json() const {
  return {{"command", command},
          {"topology", topology.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(topology)},
          {"set", set},
          {"faults", faults},
          {"hosts", hosts},
          {"environment", object(environment)},
          {"files", object(files)},
          {"commit", commit},
          {"compiler", compiler}};
}

std::string run_facts::overrides_text() const {
  std::vector<std::string> all;
  if (!topology.empty() && topology != "auto") all.push_back("--topology " + topology);
  for (const std::string& s : set) all.push_back("--set " + s);
  for (const std::string& f : faults) all.push_back("--fault " + shell_word(f));
  for (const std::string& n : hosts) all.push_back("[[node]] " + n);
  for (const auto& [name, value] : environment) all.push_back(name + "=" + value);
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string command_text(const CLI::App& app) {
  std::string names, options;
  for (const CLI::Option* o : app.get_options()) {
    if (o->count() == 0 || o->get_group() == output_options) continue;
    for (const std::string& value : o->results()) {
      if (o->get_positional())
        names += " " + shell_word(value);
      else if (o->get_items_expected_max() == 0)
        options += " " + o->get_name();
      else
        options += " " + o->get_name() + " " + shell_word(value);
    }
  }
  return app.get_name() + names + options;
}

std::string command_of_process() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string word, out;
  if (std::getline(in, word, '\0')) out = std::filesystem::path(word).filename().string();
  while (std::getline(in, word, '\0')) out += " " + shell_word(word);
  return out;
}

pairs switches_of_environment(measures what) {
  pairs found;
  for (char** each = environ; *each; ++each) {
    const std::string text = *each, name = text.substr(0, text.find('='));
    const bool begins = name.starts_with("GGAS_") ||
                        (what == measures::gpus &&
                         std::ranges::any_of(gpu_prefixes, [&](const char* p) { return name.starts_with(p); }));
    if (begins && std::ranges::find(others, name) == others.end() && name.size() < text.size())
      found.emplace_back(name, text.substr(name.size() + 1));
  }
  std::ranges::sort(found);
  return found;
}

std::string digest_of(const std::filesystem::path& file) {
  std::error_code ignored;
  std::ifstream in(file, std::ios::binary);
  if (!in || !std::filesystem::is_regular_file(file, ignored)) return {};
  uint64_t sum = 0xcbf29ce484222325;
  for (std::istreambuf_iterator<char> at(in), end; at != end; ++at)
    sum = (sum ^ static_cast<unsigned char>(*at)) * 0x100000001b3;
  return fmt::format("{:016x}", sum);
}

}  // namespace ggas::bench
