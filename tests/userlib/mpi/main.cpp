// SPDX-License-Identifier: Apache-2.0
// One case, by its name; `list`: a line "name ranks" for each.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "tests/userlib/mpi/rig.hpp"

using namespace mpi_test;

namespace {

using counter = uint64_t (*)();

uint64_t moved() {
  const auto count = reinterpret_cast<counter>(dlsym(RTLD_DEFAULT, "ggas_mpi_types_moved"));
  return count ? count() : 0;
}

int run(const test_case& c) {
  // Not more than a case needs: a failed MPI_Waitall of Open MPI 4.1 hangs with MPI_THREAD_MULTIPLE.
  int level = 0;
  MPI_Init_thread(nullptr, nullptr, c.level, &level);
  CHECK(size() == c.ranks);
  CHECK(dlsym(RTLD_DEFAULT, "ggas_mpi_types_moved") != nullptr);  // the library is there
  c.run();
  PMPI_Barrier(MPI_COMM_WORLD);
  uint64_t here = moved(), all = 0;
  PMPI_Allreduce(&here, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  CHECK((all > 0) == c.taken);
  if (rank() == 0) std::printf("passed: %s, %d ranks\n", c.name, c.ranks);
  return MPI_Finalize();
}

}  // namespace

int main(int argc, char** argv) {
  const char* const wanted = argc == 2 ? argv[1] : "";
  for (const test_case& c : cases()) {
    if (std::strcmp(wanted, "list") == 0) std::printf("%s %d\n", c.name, c.ranks);
    if (std::strcmp(wanted, c.name) == 0) return run(c);
  }
  if (std::strcmp(wanted, "list") == 0) return 0;
  std::fprintf(stderr, "'%s': must be the name of a case, or list\n", wanted);
  return 2;
}
