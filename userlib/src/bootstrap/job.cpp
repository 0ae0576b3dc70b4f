// SPDX-License-Identifier: Apache-2.0
#include "ggas/job.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace ggas {

namespace {

// The variables of a launcher. Those of `id` that are set make the job's name; none is set: the parent process does,
// which is the launcher's on this computer.
struct launcher {
  const char* rank;
  const char* size;
  const char* id[2];
  const char* here;  // processes on this computer; null: all
};
constexpr launcher launchers[] = {
    {"GGAS_RANK", "GGAS_SIZE", {"GGAS_JOB", nullptr}, nullptr},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", {"PMIX_NAMESPACE", nullptr}, "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", {"SLURM_JOB_ID", "SLURM_STEP_ID"}, nullptr},
    {"PMI_RANK", "PMI_SIZE", {"PMI_JOBID", nullptr}, "MPI_LOCALNRANKS"},
};

std::string_view value(const char* variable) {
  const char* v = variable ? std::getenv(variable) : nullptr;
  return v ? v : "";
}

// A number of least ... most, or why not.
std::string read(const char* variable, int least, int most, int& to) {
  const std::string_view v = value(variable);
  const auto [end, e] = std::from_chars(v.data(), v.data() + v.size(), to);
  if (!v.empty() && e == std::errc{} && end == v.data() + v.size() && to >= least && to <= most) return {};
  return std::string(variable) + " = '" + std::string(v) + "': must be a number from " + std::to_string(least) +
         " to " + std::to_string(most);
}

std::string name_of(const launcher& l) {
  std::string name = l.rank;
  name = name.substr(0, name.find('_'));
  bool known = false;
  for (const char* id : l.id) {
    if (value(id).empty()) continue;
    name.append(1, '.').append(value(id));
    known = true;
  }
  return known ? name : name + ".parent." + std::to_string(getppid());
}

std::string all_here(const launcher& l, int size) {
  int here = size;
  if (l.here && !value(l.here).empty()) {
    if (std::string why = read(l.here, 1, size, here); !why.empty()) return why;
  }
  int computers = 1;
  if (l.rank == std::string_view("SLURM_PROCID") && !value("SLURM_STEP_NUM_NODES").empty()) {
    if (std::string why = read("SLURM_STEP_NUM_NODES", 1, 1'000'000, computers); !why.empty()) return why;
  }
  if (here == size && computers == 1) return {};
  return std::string(l.size) + " = " + std::to_string(size) +
         ": the processes of the job are on several computers; they must all be on one";
}

}  // namespace

job job::from_environment(std::string& why) {
  why.clear();
  for (const launcher& l : launchers) {
    if (value(l.rank).empty() || (l.size != std::string_view("GGAS_SIZE") && value(l.size).empty())) continue;
    job j;
    why = read(l.size, 1, 1024, j.size);
    if (why.empty()) why = read(l.rank, 0, j.size - 1, j.rank);
    if (why.empty()) why = all_here(l, j.size);
    j.name = name_of(l);
    return why.empty() ? j : job{};
  }
  return {};
}

}  // namespace ggas
