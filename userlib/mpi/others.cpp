// SPDX-License-Identifier: Apache-2.0
// Receives that go unchanged to the MPI below, or to the functions of this library that do the same. A process that
// begins receives which the library cannot see accepts no offered messages from then on.
#include <climits>

#include "userlib/mpi/below.hpp"
#include "userlib/mpi/requests.hpp"

namespace ggas::mpi {

namespace {

[[maybe_unused]] void no_more_offers() {  // not with an MPI of version 3
  if (direct::table* const t = direct::table::here()) t->of(t->me()).closed = 1;
}

}  // namespace

}  // namespace ggas::mpi

using namespace ggas::mpi;

extern "C" {

#if MPI_VERSION >= 4
int MPI_Recv_c(void* buffer, MPI_Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  if (count <= INT_MAX) return MPI_Recv(buffer, static_cast<int>(count), type, from, tag, comm, status);
  no_more_offers();
  return below.Recv_c(buffer, count, type, from, tag, comm, status);
}
int MPI_Irecv_c(void* buffer, MPI_Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                MPI_Request* request) {
  if (count <= INT_MAX) return MPI_Irecv(buffer, static_cast<int>(count), type, from, tag, comm, request);
  no_more_offers();
  return below.Irecv_c(buffer, count, type, from, tag, comm, request);
}
int MPI_Mrecv_c(void* buffer, MPI_Count count, MPI_Datatype type, MPI_Message* m, MPI_Status* status) {
  if (count <= INT_MAX) return MPI_Mrecv(buffer, static_cast<int>(count), type, m, status);
  no_more_offers();
  return below.Mrecv_c(buffer, count, type, m, status);
}
int MPI_Imrecv_c(void* buffer, MPI_Count count, MPI_Datatype type, MPI_Message* m, MPI_Request* request) {
  if (count <= INT_MAX) return MPI_Imrecv(buffer, static_cast<int>(count), type, m, request);
  no_more_offers();
  return below.Imrecv_c(buffer, count, type, m, request);
}
int MPI_Sendrecv_c(const void* out, MPI_Count out_count, MPI_Datatype out_type, int to, int out_tag, void* in,
                   MPI_Count in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* status) {
  if (out_count <= INT_MAX && in_count <= INT_MAX)
    return MPI_Sendrecv(out, static_cast<int>(out_count), out_type, to, out_tag, in, static_cast<int>(in_count),
                        in_type, from, in_tag, comm, status);
  no_more_offers();
  return below.Sendrecv_c(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, status);
}
int MPI_Recv_init_c(void* buffer, MPI_Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  if (count <= INT_MAX) return MPI_Recv_init(buffer, static_cast<int>(count), type, from, tag, comm, request);
  no_more_offers();
  return below.Recv_init_c(buffer, count, type, from, tag, comm, request);
}
int MPI_Isendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in, int in_count,
                  MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Request* request) {
  no_more_offers();
  return below.Isendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, request);
}
int MPI_Isendrecv_replace(void* buffer, int count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,
                          MPI_Comm comm, MPI_Request* request) {
  no_more_offers();
  return below.Isendrecv_replace(buffer, count, type, to, out_tag, from, in_tag, comm, request);
}
#endif

GGAS_MPI_OTHERS(GGAS_MPI_SECOND_NAME)
}
