// SPDX-License-Identifier: Apache-2.0
// The functions of MPI that this library has, each by both of its names: Fortran under Open MPI, and tools that define
// the first name, call the second one. Functions of the MPI below are called by this table only.
#pragma once

#include <string>

#include "userlib/mpi/mpi.hpp"

#define GGAS_MPI_ENDS(F) F(Init) F(Init_thread) F(Finalize)
#define GGAS_MPI_SENDS(F) \
  F(Send)                 \
  F(Isend)                \
  F(Send_init) F(Bsend) F(Ibsend) F(Bsend_init) F(Ssend) F(Issend) F(Ssend_init) F(Rsend) F(Irsend) F(Rsend_init)
#define GGAS_MPI_RECEIVES(F) F(Recv) F(Irecv) F(Recv_init) F(Mrecv) F(Imrecv) F(Sendrecv) F(Sendrecv_replace)
#define GGAS_MPI_PROBES(F) F(Probe) F(Iprobe) F(Mprobe) F(Improbe)
#define GGAS_MPI_COMPLETIONS(F) \
  F(Wait)                       \
  F(Test)                       \
  F(Waitall)                    \
  F(Testall) F(Waitany) F(Testany) F(Waitsome) F(Testsome) F(Start) F(Startall) F(Request_get_status) F(Request_free)
#if MPI_VERSION >= 4
#define GGAS_MPI_SESSIONS(F) F(Session_init) F(Session_finalize)
#define GGAS_MPI_PACKS(F) F(Pack) F(Unpack) F(Pack_c) F(Unpack_c)
// With counts of 64 bits, and what MPI 4 has added.
#define GGAS_MPI_LARGE(F) \
  F(Send_c)               \
  F(Isend_c)              \
  F(Send_init_c)          \
  F(Bsend_c)              \
  F(Ibsend_c)             \
  F(Bsend_init_c)         \
  F(Ssend_c)              \
  F(Issend_c)             \
  F(Ssend_init_c)         \
  F(Rsend_c)              \
  F(Irsend_c)             \
  F(Rsend_init_c)         \
  F(Recv_c)               \
  F(Irecv_c)              \
  F(Recv_init_c)          \
  F(Mrecv_c)              \
  F(Imrecv_c)             \
  F(Sendrecv_c)           \
  F(Sendrecv_replace_c) F(Isendrecv) F(Isendrecv_replace) F(Isendrecv_c) F(Isendrecv_replace_c)
#else
#define GGAS_MPI_SESSIONS(F)
#define GGAS_MPI_PACKS(F) F(Pack) F(Unpack)
#define GGAS_MPI_LARGE(F)
#endif

// A line for each operation and its form with a request.
// clang-format off
#define GGAS_MPI_ONE_SIDED_OF(F, c) \
  F(Put##c) F(Rput##c) \
  F(Get##c) F(Rget##c) \
  F(Accumulate##c) F(Raccumulate##c) \
  F(Get_accumulate##c) F(Rget_accumulate##c) \
  F(Win_create##c)
// clang-format on
#define GGAS_MPI_EPOCHS(F) \
  F(Win_fence)             \
  F(Win_complete)          \
  F(Win_unlock)            \
  F(Win_unlock_all) F(Win_flush) F(Win_flush_all) F(Win_flush_local) F(Win_flush_local_all) F(Win_free)
#define GGAS_MPI_ONE_SIDED_ALWAYS(F) F(Fetch_and_op) F(Compare_and_swap) F(Win_attach) GGAS_MPI_EPOCHS(F)
#if MPI_VERSION >= 4
#define GGAS_MPI_ONE_SIDED(F) GGAS_MPI_ONE_SIDED_ALWAYS(F) GGAS_MPI_ONE_SIDED_OF(F, ) GGAS_MPI_ONE_SIDED_OF(F, _c)
#define GGAS_MPI_PARTITIONED(F) F(Psend_init) F(Precv_init) F(Pready) F(Pready_range) F(Pready_list) F(Parrived)
#define GGAS_MPI_LOCAL(F) \
  F(Pack_external)        \
  F(Unpack_external)      \
  F(Pack_external_c) F(Unpack_external_c) F(Reduce_local) F(Reduce_local_c) F(Buffer_attach) F(Buffer_attach_c)
#else
#define GGAS_MPI_ONE_SIDED(F) GGAS_MPI_ONE_SIDED_ALWAYS(F) GGAS_MPI_ONE_SIDED_OF(F, )
#define GGAS_MPI_PARTITIONED(F)
#define GGAS_MPI_LOCAL(F) F(Pack_external) F(Unpack_external) F(Reduce_local) F(Buffer_attach)
#endif
// A line for each call and its form that does not block.
// clang-format off
#define GGAS_MPI_COLLECTIVES_OF(F, c) \
  F(Bcast##c) F(Ibcast##c) \
  F(Allreduce##c) F(Iallreduce##c) \
  F(Scan##c) F(Iscan##c) \
  F(Exscan##c) F(Iexscan##c) \
  F(Reduce##c) F(Ireduce##c) \
  F(Reduce_scatter_block##c) F(Ireduce_scatter_block##c) \
  F(Reduce_scatter##c) F(Ireduce_scatter##c) \
  F(Allgather##c) F(Iallgather##c) \
  F(Alltoall##c) F(Ialltoall##c) \
  F(Gather##c) F(Igather##c) \
  F(Scatter##c) F(Iscatter##c) \
  F(Allgatherv##c) F(Iallgatherv##c) \
  F(Gatherv##c) F(Igatherv##c) \
  F(Scatterv##c) F(Iscatterv##c) \
  F(Alltoallv##c) F(Ialltoallv##c) \
  F(Neighbor_allgather##c) F(Ineighbor_allgather##c) \
  F(Neighbor_alltoall##c) F(Ineighbor_alltoall##c) \
  F(Neighbor_allgatherv##c) F(Ineighbor_allgatherv##c) \
  F(Neighbor_alltoallv##c) F(Ineighbor_alltoallv##c) \
  F(Alltoallw##c) F(Ialltoallw##c) \
  F(Neighbor_alltoallw##c) F(Ineighbor_alltoallw##c)
// clang-format on
#if MPI_VERSION >= 4
#define GGAS_MPI_COLLECTIVES(F) GGAS_MPI_COLLECTIVES_OF(F, ) GGAS_MPI_COLLECTIVES_OF(F, _c)
#else
#define GGAS_MPI_COLLECTIVES(F) GGAS_MPI_COLLECTIVES_OF(F, )
#endif

// Collective calls as persistent requests: of MPI 4, and before it an extension of Open MPI with names of its own.
#define GGAS_MPI_PERSISTENT_OF(F, c) \
  F(Bcast_init##c)                   \
  F(Allreduce_init##c)               \
  F(Scan_init##c)                    \
  F(Exscan_init##c)                  \
  F(Reduce_init##c)                  \
  F(Reduce_scatter_block_init##c)    \
  F(Reduce_scatter_init##c)          \
  F(Allgather_init##c)               \
  F(Alltoall_init##c)                \
  F(Gather_init##c)                  \
  F(Scatter_init##c)                 \
  F(Allgatherv_init##c)              \
  F(Gatherv_init##c)                 \
  F(Scatterv_init##c)                \
  F(Alltoallv_init##c)               \
  F(Neighbor_allgather_init##c)      \
  F(Neighbor_alltoall_init##c)       \
  F(Neighbor_allgatherv_init##c)     \
  F(Neighbor_alltoallv_init##c)      \
  F(Alltoallw_init##c)               \
  F(Neighbor_alltoallw_init##c)
#if MPI_VERSION >= 4
#define GGAS_MPI_PERSISTENT(F) GGAS_MPI_PERSISTENT_OF(F, ) GGAS_MPI_PERSISTENT_OF(F, _c)
#define GGAS_MPI_PERSISTENT_NAME(name) MPI_##name
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define GGAS_MPI_PERSISTENT(F) GGAS_MPI_PERSISTENT_OF(F, )
#define GGAS_MPI_PERSISTENT_NAME(name) MPIX_##name
#else
#define GGAS_MPI_PERSISTENT(F)
#endif

// After the definitions of MPI_..., as they stand in one file.
#define GGAS_MPI_SECOND_NAME(name) GGAS_MPI_SECOND_NAME_OF(MPI_##name)
#define GGAS_MPI_SECOND_NAME_OF(name) GGAS_MPI_ALIAS(name)
#define GGAS_MPI_ALIAS(name) decltype(name) P##name __attribute__((alias(#name)));

namespace ggas::mpi {

struct functions_below {
#define GGAS_MPI_POINTER(name) decltype(&MPI_##name) name;
  GGAS_MPI_ENDS(GGAS_MPI_POINTER)
  GGAS_MPI_PACKS(GGAS_MPI_POINTER)
  GGAS_MPI_SENDS(GGAS_MPI_POINTER)
  GGAS_MPI_RECEIVES(GGAS_MPI_POINTER)
  GGAS_MPI_PROBES(GGAS_MPI_POINTER)
  GGAS_MPI_COMPLETIONS(GGAS_MPI_POINTER)
  GGAS_MPI_SESSIONS(GGAS_MPI_POINTER)
  GGAS_MPI_LARGE(GGAS_MPI_POINTER)
  GGAS_MPI_COLLECTIVES(GGAS_MPI_POINTER)
  GGAS_MPI_ONE_SIDED(GGAS_MPI_POINTER)
  GGAS_MPI_PARTITIONED(GGAS_MPI_POINTER)
  GGAS_MPI_LOCAL(GGAS_MPI_POINTER)
#undef GGAS_MPI_POINTER
#define GGAS_MPI_POINTER(name) decltype(&GGAS_MPI_PERSISTENT_NAME(name)) name;
  GGAS_MPI_PERSISTENT(GGAS_MPI_POINTER)
#undef GGAS_MPI_POINTER
};
extern const functions_below below;

// Another library that comes before this one has functions that complete requests without this library. Messages begun
// here would never arrive, so none are taken. Returns the path of that library; empty if there is none.
const std::string& stays_out_for();

}  // namespace ggas::mpi
