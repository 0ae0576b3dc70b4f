// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/cluster/ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "benchmarks/harness/common_line.hpp"
#include "sim/ranks/mpi.hpp"

namespace ggas::bench {

namespace {

// Real time, in which every rank simulates at least one window of time.
constexpr unsigned usual_timeout_s = 120;

unsigned timeout_s() {
  const char* const text = std::getenv("GGAS_RANK_TIMEOUT");
  const unsigned long seconds = text ? std::strtoul(text, nullptr, 10) : 0;
  return seconds > 0 && seconds < 1'000'000 ? unsigned(seconds) : usual_timeout_s;
}

int become_mpirun(const command_line& line, char** argv) {
  if (!sim::has_mpi()) return bad_input("--ranks: this program was built without MPI (Debian: libopenmpi-dev)");
  // More ranks than cores are slow, not wrong; other work on the machine must not be pinned to a rank's core.
  std::vector<std::string> words = {"mpirun", "-n", fmt::format("{}", line.ranks), "--bind-to", "none"};
  if (line.hosts.empty())
    words.emplace_back("--oversubscribe");
  else
    words.insert(words.end(), {"--hostfile", line.hosts.string()});
  if (geteuid() == 0) words.emplace_back("--allow-run-as-root");
  words.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  for (char** word = argv + 1; *word; ++word) words.emplace_back(*word);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  return bad_input(fmt::format("--ranks: mpirun cannot be run: {} (Debian: openmpi-bin)", std::strerror(errno)));
}

}  // namespace

std::variant<joined_ranks, int> join_ranks(command_line& line, char** argv) {
  const unsigned launched = sim::launched_ranks();
  if (launched == 0 && line.ranks <= 1) return joined_ranks{};
  if (launched == 0) return become_mpirun(line, argv);
  auto joined = sim::join_mpi(timeout_s());
  if (!joined) return bad_input(joined.error());
  joined_ranks out{std::move(*joined)};
  sim::process_ranks(out.all.get());
  if (out.speaks()) return out;
  line.json.clear();
  line.report.clear();
  line.state.clear();
  for (std::FILE* stream : {stdout, stderr})
    if (!std::freopen("/dev/null", "w", stream)) return status_failed;
  return out;
}

}  // namespace ggas::bench
