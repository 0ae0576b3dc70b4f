// SPDX-License-Identifier: Apache-2.0
// Cases of one number of ranks and one thread level, by their names; `left` before them: the library moves nothing.
// `list`: a line "name ranks" for each.
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

uint64_t moved_by_all() {
  uint64_t here = moved(), all = 0;
  PMPI_Allreduce(&here, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

void run(const test_case& c, bool left) {
  const uint64_t before = moved_by_all();
  CHECK(size() == c.ranks);
  c.run();
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);  // as the next case finds it
  PMPI_Barrier(MPI_COMM_WORLD);
  CHECK((moved_by_all() > before) == (c.taken && !left));
  if (rank() == 0) std::printf("passed: %s, %d ranks\n", c.name, c.ranks);
}

const test_case* named(const char* name) {
  for (const test_case& c : cases())
    if (std::strcmp(name, c.name) == 0) return &c;
  std::fprintf(stderr, "'%s': must be the name of a case, or list\n", name);
  return nullptr;
}

// Not a higher level than a case needs: a failed MPI_Waitall of Open MPI 4.1 hangs with MPI_THREAD_MULTIPLE.
int run_all(const std::vector<const test_case*>& all, bool left) {
  int level = 0;
  MPI_Init_thread(nullptr, nullptr, all[0]->level, &level);
  CHECK(dlsym(RTLD_DEFAULT, "ggas_mpi_types_moved") != nullptr);  // the library is there
  for (const test_case* const c : all) {
    CHECK(c->level == all[0]->level);
    run(*c, left);
  }
  if (rank() == 0) std::printf("passed: %zu cases\n", all.size());
  return MPI_Finalize();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "list") == 0) {
    for (const test_case& c : cases()) std::printf("%s %d\n", c.name, c.ranks);
    return 0;
  }
  std::vector<const test_case*> all;
  const bool left = argc > 2 && std::strcmp(argv[1], "left") == 0;
  for (int i = left ? 2 : 1; i < argc; ++i) all.push_back(named(argv[i]));
  for (const test_case* const c : all)
    if (!c) return 2;
  return all.empty() ? (named(""), 2) : run_all(all, left);
}
