// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/gpu/driver.hpp"

#include <dlfcn.h>

#include <atomic>
#include <mutex>

#include "userlib/mpi/watch.hpp"

namespace ggas::mpi {

namespace {

// Names with the version that cuda.h gives them.
#define GGAS_MPI_TEXT(name) #name
#define GGAS_MPI_NAME(name) GGAS_MPI_TEXT(name)

bool load(driver& d, void* library) {
  bool all = true;
#define GGAS_MPI_FIND(name)                                                         \
  d.name = reinterpret_cast<decltype(d.name)>(dlsym(library, GGAS_MPI_NAME(name))); \
  all = all && d.name;
  GGAS_MPI_DRIVER_FUNCTIONS(GGAS_MPI_FIND)
#undef GGAS_MPI_FIND
  return all;
}

}  // namespace

const driver* driver::get() {
  static driver one;
  static std::atomic<const driver*> loaded{nullptr};
  if (const driver* const d = loaded.load(std::memory_order_acquire)) return d;
  if (!worth_a_look()) return nullptr;
  void* const library = find_loaded("libcuda.so.1");
  if (!library) return nullptr;
  static std::mutex lock;
  const std::lock_guard one_at_a_time(lock);
  if (!loaded && load(one, library)) loaded = &one;
  return loaded;
}

std::string worked(const driver& d, const char* call, CUresult r) {
  if (r == CUDA_SUCCESS) return {};
  const char* name = nullptr;
  if (d.cuGetErrorName(r, &name) != CUDA_SUCCESS || !name) name = "an error without a name";
  return std::string(call) + ": " + name;
}

}  // namespace ggas::mpi
