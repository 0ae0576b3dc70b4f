// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/below.hpp"

#include <dlfcn.h>

namespace ggas::mpi {

namespace {

template <class F>
void next(F& to, const char* name) {
  to = reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

functions_below find() {
  functions_below f{};
#define GGAS_MPI_TEXT(name) #name
#define GGAS_MPI_TEXT_OF(name) GGAS_MPI_TEXT(name)
#define GGAS_MPI_FIND(name) next(f.name, "PMPI_" #name);
#define GGAS_MPI_FIND_PERSISTENT(name) next(f.name, "P" GGAS_MPI_TEXT_OF(GGAS_MPI_PERSISTENT_NAME(name)));
  GGAS_MPI_ALL(GGAS_MPI_FIND, GGAS_MPI_FIND_PERSISTENT)
#undef GGAS_MPI_FIND
#undef GGAS_MPI_FIND_PERSISTENT
  return f;
}

// The file that a function is in, as a program finds it by its name.
std::string home_of(const void* function) {
  Dl_info at{};
  return dladdr(function, &at) && at.dli_fname ? at.dli_fname : "";
}

std::string other_home() {
  static const char here = 0;
  const std::string own = home_of(&here);
#define GGAS_MPI_NAME(name) "PMPI_" #name,
  for (const char* const name : {GGAS_MPI_COMPLETIONS(GGAS_MPI_NAME)}) {
#undef GGAS_MPI_NAME
    const std::string found = home_of(dlsym(RTLD_DEFAULT, name));
    if (found != own) return found + " (" + name + ")";
  }
  return {};
}

}  // namespace

const functions_below below = find();

const std::string& stays_out_for() {
  static const std::string place = other_home();
  return place;
}

}  // namespace ggas::mpi
