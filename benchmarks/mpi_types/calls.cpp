// SPDX-License-Identifier: Apache-2.0
// Calls with host memory, in one process: a line "name <tab> ns" each.
#include <vector>

#include "benchmarks/mpi_types/timing.hpp"
#include "userlib/mpi/mpi.hpp"

using mpi_costs::print_time;

namespace {

void exchange(void* out, void* in, int n, MPI_Datatype type) {
  MPI_Sendrecv(out, n, type, 0, 0, in, n, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

MPI_Datatype column() {
  MPI_Datatype made;
  MPI_Type_vector(20, 1, 2, MPI_DOUBLE, &made);
  MPI_Type_commit(&made);
  return made;
}

void begin_and_complete(int n) {
  static std::vector<int> out(static_cast<size_t>(n)), in(out);
  static std::vector<MPI_Request> all(2 * out.size());
  for (int i = 0; i < n; ++i) MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &all[i]);
  for (int i = 0; i < n; ++i) MPI_Isend(&out[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &all[n + i]);
  MPI_Waitall(2 * n, all.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int one = 1, other = 0;
  std::vector<double> out(40), in(40);
  print_time("send to MPI_PROC_NULL", [&] { MPI_Send(&one, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF); });
  print_time("one int to the process itself", [&] { exchange(&one, &other, 1, MPI_INT); });
  print_time("type made and freed", [] {
    MPI_Datatype t = column();
    MPI_Type_free(&t);
  });
  print_time("type made, used and freed", [&] {
    MPI_Datatype t = column();
    exchange(out.data(), in.data(), 1, t);
    MPI_Type_free(&t);
  });
  print_time("2 x 2048 requests", [] { begin_and_complete(2048); });
  return MPI_Finalize();
}
