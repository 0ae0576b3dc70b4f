// SPDX-License-Identifier: Apache-2.0
// The functions of MPI that this library has, each by both of its names: Fortran under Open MPI, and tools that define
// the first name, call the second one. Functions of the MPI below are called by this table only.
#pragma once

#include <string>

#include "userlib/mpi/mpi.hpp"

#define GGAS_MPI_ENDS(F) F(Init) F(Init_thread) F(Finalize)
#define GGAS_MPI_TYPES(F) F(Type_commit)
#define GGAS_MPI_PACKS(F) F(Pack) F(Unpack)
#define GGAS_MPI_SENDS(F) \
  F(Send)                 \
  F(Isend)                \
  F(Send_init) F(Bsend) F(Ibsend) F(Bsend_init) F(Ssend) F(Issend) F(Ssend_init) F(Rsend) F(Irsend) F(Rsend_init)
#define GGAS_MPI_RECEIVES(F) \
  F(Recv)                    \
  F(Irecv) F(Recv_init) F(Mrecv) F(Imrecv) F(Sendrecv) F(Sendrecv_replace) F(Probe) F(Iprobe) F(Mprobe) F(Improbe)
#define GGAS_MPI_COMPLETIONS(F) \
  F(Wait)                       \
  F(Test)                       \
  F(Waitall)                    \
  F(Testall) F(Waitany) F(Testany) F(Waitsome) F(Testsome) F(Start) F(Startall) F(Request_get_status) F(Request_free)
#if MPI_VERSION >= 4
#define GGAS_MPI_SESSIONS(F) F(Session_init) F(Session_finalize)
#define GGAS_MPI_OTHERS(F) \
  F(Recv_c) F(Irecv_c) F(Mrecv_c) F(Imrecv_c) F(Sendrecv_c) F(Recv_init_c) F(Isendrecv) F(Isendrecv_replace)
#else
#define GGAS_MPI_SESSIONS(F)
#define GGAS_MPI_OTHERS(F)
#endif

// After the definitions of MPI_..., as they stand in one file.
#define GGAS_MPI_SECOND_NAME(name) decltype(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)));

namespace ggas::mpi {

struct functions_below {
#define GGAS_MPI_POINTER(name) decltype(&MPI_##name) name;
  GGAS_MPI_ENDS(GGAS_MPI_POINTER)
  GGAS_MPI_TYPES(GGAS_MPI_POINTER)
  GGAS_MPI_PACKS(GGAS_MPI_POINTER)
  GGAS_MPI_SENDS(GGAS_MPI_POINTER)
  GGAS_MPI_RECEIVES(GGAS_MPI_POINTER)
  GGAS_MPI_COMPLETIONS(GGAS_MPI_POINTER)
  GGAS_MPI_SESSIONS(GGAS_MPI_POINTER)
  GGAS_MPI_OTHERS(GGAS_MPI_POINTER)
#undef GGAS_MPI_POINTER
};
extern const functions_below below;

// Another library that comes before this one has functions that complete requests without this library. Messages begun
// here would never arrive, so none are taken. Returns the path of that library; empty if there is none.
const std::string& stays_out_for();

}  // namespace ggas::mpi
