// SPDX-License-Identifier: Apache-2.0
// n receives and n sends of columns or of as many bytes, in one process: what beginning them and MPI_Waitall take.
// Lines "begin columns <n> <tab> ns" and so on.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/mpi_types/timing.hpp"
#include "userlib/mpi/mpi.hpp"

namespace {

struct took {
  double begin, wait;
};

// Each message has a tag of its own, and is received in its turn.
took exchange(int n, int count, MPI_Datatype type) {
  static std::vector<double> in(size_t{1} << 18), out(8, 1);
  std::vector<MPI_Request> all(2 * static_cast<size_t>(n));
  const double begun = mpi_costs::now_ns();
  for (int i = 0; i < n; ++i) MPI_Irecv(&in[4 * i], count, type, 0, i, MPI_COMM_SELF, &all[i]);
  for (int i = 0; i < n; ++i) MPI_Isend(out.data(), count, type, 0, i, MPI_COMM_SELF, &all[n + i]);
  const double waits = mpi_costs::now_ns();
  MPI_Waitall(2 * n, all.data(), MPI_STATUSES_IGNORE);
  return {waits - begun, mpi_costs::now_ns() - waits};
}

// The least of several.
void print(const char* what, int n, int count, MPI_Datatype type) {
  constexpr int turns = 40;
  took least = exchange(n, count, type);
  for (int i = 1; i < turns; ++i) {
    const took t = exchange(n, count, type);
    least = {std::min(least.begin, t.begin), std::min(least.wait, t.wait)};
  }
  std::printf("begin %s %d\t%.1f\nwait %s %d\t%.1f\n", what, n, least.begin, what, n, least.wait);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Datatype column;
  MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  for (int n = 1024; n <= 64 * 1024; n *= 2) {
    print("columns", n, 1, column);
    print("bytes", n, 16, MPI_BYTE);
  }
  MPI_Type_free(&column);
  return MPI_Finalize();
}
