// SPDX-License-Identifier: Apache-2.0
#include "ggas/job.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "userlib/start/launcher.hpp"

namespace ggas {

namespace {

constexpr size_t most_letters = 64;  // of a job's name

// The variables of a launcher. The job's name is made of those of `id` that are set; if none is set, of the launcher's
// process.
struct launcher {
  const char* rank;
  const char* size;
  const char* id[2];
  const char* here;       // processes on this computer; null, or not set: `computers` reports
  const char* computers;  // of the job; null, or not set: one
};
// PMI before Slurm: Slurm starts MPICH's launcher as a job step of one process, whose variables its processes inherit.
constexpr launcher launchers[] = {
    {"GGAS_RANK", "GGAS_SIZE", {"GGAS_JOB", nullptr}, nullptr, nullptr},
    {"OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     {"PMIX_NAMESPACE", nullptr},
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     nullptr},
    {"PMI_RANK", "PMI_SIZE", {"PMI_JOBID", nullptr}, "MPI_LOCALNRANKS", "SLURM_STEP_NUM_NODES"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", {"SLURM_JOB_ID", "SLURM_STEP_ID"}, nullptr, "SLURM_STEP_NUM_NODES"},
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

// A name that is too long keeps its beginning, for people; its end becomes a number made of all letters (FNV-1a).
std::string shortened(std::string name) {
  if (name.size() <= most_letters) return name;
  uint64_t all = 0xcbf29ce484222325;
  for (const char c : name) all = (all ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  const std::string number = std::to_string(all);
  return name.substr(0, most_letters - 1 - number.size()).append(1, '.').append(number);
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
  return shortened(known ? name : name + ".launcher." + userlib::launcher_without(l.rank));
}

std::string all_here(const launcher& l, int size) {
  int here = size, computers = 1;
  if (!value(l.here).empty()) {
    if (std::string why = read(l.here, 1, size, here); !why.empty()) return why;
  } else if (!value(l.computers).empty()) {
    if (std::string why = read(l.computers, 1, 1'000'000, computers); !why.empty()) return why;
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
    j.secret = value("GGAS_SECRET");
    return why.empty() ? j : job{};
  }
  return {};
}

}  // namespace ggas
