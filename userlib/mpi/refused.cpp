// SPDX-License-Identifier: Apache-2.0
// Calls of one-sided communication, which need memory that the processor reaches. Memory of a GPU is an error that
// names call and argument.
#include "userlib/mpi/below.hpp"
#include "userlib/mpi/message.hpp"

namespace ggas::mpi {

namespace {

bool far(const arguments& a) { return !quiet() && gpu_of(a) != nullptr; }

std::string text_of(const char* argument) {
  return std::string(argument) +
         ": memory of a GPU: must be host memory (or use MPI_Send, MPI_Recv or a collective call)";
}

int refuse_in_window(const char* call, const char* argument, MPI_Win win) {
  report(call, text_of(argument));
  PMPI_Win_call_errhandler(win, MPI_ERR_BUFFER);
  return MPI_ERR_BUFFER;
}

}  // namespace

}  // namespace ggas::mpi

using namespace ggas::mpi;

extern "C" {

int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  if (size > 0 && far({base, 1, MPI_BYTE})) return fail(comm, "MPI_Win_create", text_of("base"), MPI_ERR_BUFFER);
  return below.Win_create(base, size, unit, info, comm, win);
}
int MPI_Put(const void* buffer, int count, MPI_Datatype type, int target, MPI_Aint at, int target_count,
            MPI_Datatype target_type, MPI_Win win) {
  if (far({buffer, count, type})) return refuse_in_window("MPI_Put", "origin_addr", win);
  return below.Put(buffer, count, type, target, at, target_count, target_type, win);
}

int MPI_Get(void* buffer, int count, MPI_Datatype type, int target, MPI_Aint at, int target_count,
            MPI_Datatype target_type, MPI_Win win) {
  if (far({buffer, count, type})) return refuse_in_window("MPI_Get", "origin_addr", win);
  return below.Get(buffer, count, type, target, at, target_count, target_type, win);
}

int MPI_Accumulate(const void* buffer, int count, MPI_Datatype type, int target, MPI_Aint at, int target_count,
                   MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
  if (far({buffer, count, type})) return refuse_in_window("MPI_Accumulate", "origin_addr", win);
  return below.Accumulate(buffer, count, type, target, at, target_count, target_type, op, win);
}

int MPI_Rput(const void* buffer, int count, MPI_Datatype type, int target, MPI_Aint at, int target_count,
             MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {
  if (far({buffer, count, type})) return refuse_in_window("MPI_Rput", "origin_addr", win);
  return below.Rput(buffer, count, type, target, at, target_count, target_type, win, request);
}

int MPI_Rget(void* buffer, int count, MPI_Datatype type, int target, MPI_Aint at, int target_count,
             MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {
  if (far({buffer, count, type})) return refuse_in_window("MPI_Rget", "origin_addr", win);
  return below.Rget(buffer, count, type, target, at, target_count, target_type, win, request);
}

int MPI_Raccumulate(const void* buffer, int count, MPI_Datatype type, int target, MPI_Aint at, int target_count,
                    MPI_Datatype target_type, MPI_Op op, MPI_Win win, MPI_Request* request) {
  if (far({buffer, count, type})) return refuse_in_window("MPI_Raccumulate", "origin_addr", win);
  return below.Raccumulate(buffer, count, type, target, at, target_count, target_type, op, win, request);
}

GGAS_MPI_ONE_SIDED(GGAS_MPI_SECOND_NAME)
}
