// SPDX-License-Identifier: Apache-2.0
// A message of more bytes than an int counts, from GPU to GPU through pinned memory: at most 1.2 times as much as its
// data, all of it given back. Needs 12 GB.
#include <dlfcn.h>

#include "tests/userlib/mpi/gpu_area.hpp"

using namespace mpi_test;

namespace {

constexpr size_t rows = 4'500'000, row = 512, stride = 640, sent = rows * row;  // 2.3 GB
constexpr size_t kept = size_t{64} << 20;
static_assert(sent > 2'300'000'000);

size_t counted(const char* name) {
  const auto f = reinterpret_cast<size_t (*)()>(dlsym(RTLD_DEFAULT, name));
  CHECK(f != nullptr);
  return f();
}

// What is in a row, and in the gap after it.
bytes content(int sender, size_t number) { return noise(2 * number + static_cast<size_t>(sender), stride); }

struct matrix {
  CUdeviceptr at = 0;
  matrix() {
    const gpu_area first(bytes(1));  // the thread has a context
    CHECK(cuMemAlloc(&at, rows * stride) == CUDA_SUCCESS);
  }
  ~matrix() { cuMemFree(at); }
  CUdeviceptr place(size_t number) const { return at + number * stride; }
};

constexpr size_t looked_at[] = {0, 1, 2'097'151, 2'097'152, 4'194'303, 4'194'304, rows - 2, rows - 1};

}  // namespace

MPI_CASE_ALONE(huge_message_long, 2) {
  matrix m;
  for (const size_t r : looked_at) {
    const bytes mine = content(rank(), r);
    cuMemcpy(m.place(r), reinterpret_cast<CUdeviceptr>(mine.data()), stride);
  }
  MPI_Datatype t;
  PMPI_Type_vector(rows, row, stride, MPI_BYTE, &t);
  PMPI_Type_commit(&t);
  void* const at = reinterpret_cast<void*>(m.at);
  if (rank() == 0) CHECK(MPI_Send(at, 1, t, 1, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
  if (rank() == 1) CHECK(MPI_Recv(at, 1, t, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  PMPI_Type_free(&t);
  for (const size_t r : looked_at) {
    bytes now(stride);
    cuMemcpy(reinterpret_cast<CUdeviceptr>(now.data()), m.place(r), stride);
    const bytes mine = content(rank(), r), of_0 = content(0, r);
    for (size_t i = 0; i < stride; ++i) CHECK(now[i] == (i < row ? of_0[i] : mine[i]));
  }
  CHECK(counted("fake_driver_most_pinned") <= sent / 5 * 6);
  CHECK(counted("fake_driver_pinned") <= kept);
}
