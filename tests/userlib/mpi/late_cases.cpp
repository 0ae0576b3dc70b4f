// SPDX-License-Identifier: Apache-2.0
// A program that loads the CUDA driver itself, after its first messages: the library finds it.
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>

#include "tests/userlib/mpi/rig.hpp"

using namespace mpi_test;

namespace {

template <class F>
F in_driver(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  CHECK(driver != nullptr);
  return reinterpret_cast<F>(dlsym(driver, name));
}
#define TEXT(name) #name
#define NAME(name) TEXT(name)
#define DRIVER(name) in_driver<decltype(&name)>(NAME(name))

void exchange_numbers(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    int mine = rank(), theirs = -1, begun = -1;
    MPI_Request r;
    MPI_Irecv(&begun, 1, MPI_INT, 1 - rank(), 1, MPI_COMM_WORLD, &r);
    MPI_Sendrecv(&mine, 1, MPI_INT, 1 - rank(), 0, &theirs, 1, MPI_INT, 1 - rank(), 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Send(&mine, 1, MPI_INT, 1 - rank(), 1, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(theirs == 1 - rank() && begun == 1 - rank());
  }
}

}  // namespace

MPI_CASE_ALONE(driver_comes_late, 2) {
  constexpr int n = 100;  // more calls than the library looks for a driver after it has counted a load
  exchange_numbers(n);
  const typed col = column(n, 2);
  const bytes content = noise(static_cast<uint64_t>(rank()), 16 * n), of_0 = noise(0, 16 * n);
  CUcontext context = nullptr;
  CUdeviceptr area = 0;
  CHECK(DRIVER(cuInit)(0) == CUDA_SUCCESS && DRIVER(cuDevicePrimaryCtxRetain)(&context, 0) == CUDA_SUCCESS);
  CHECK(DRIVER(cuCtxSetCurrent)(context) == CUDA_SUCCESS);
  CHECK(DRIVER(cuMemAlloc)(&area, content.size()) == CUDA_SUCCESS);
  CHECK(DRIVER(cuMemcpy)(area, reinterpret_cast<CUdeviceptr>(content.data()), content.size()) == CUDA_SUCCESS);
  void* const at = reinterpret_cast<void*>(area);
  MPI_Request r;
  if (rank() == 0) CHECK(MPI_Send(at, 1, col.type, 1, 7, MPI_COMM_WORLD) == MPI_SUCCESS);
  if (rank() == 1) CHECK(MPI_Irecv(at, 1, col.type, 0, 7, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
  if (rank() == 1) CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  bytes now(content.size());
  CHECK(DRIVER(cuMemcpy)(reinterpret_cast<CUdeviceptr>(now.data()), area, now.size()) == CUDA_SUCCESS);
  for (size_t i = 0; i < now.size(); ++i) CHECK(now[i] == (i % 16 < 8 ? of_0[i] : content[i]));
  exchange_numbers(n);
}
