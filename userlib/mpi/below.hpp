// SPDX-License-Identifier: Apache-2.0
// The functions of MPI that this library has, each by both of its names: Fortran under Open MPI, and tools that define
// the first name, call the second one. Functions of the MPI below are called by this table only.
#pragma once

#include <string>

#include "userlib/mpi/mpi.hpp"

#define GGAS_MPI_ENDS(F) F(Init) F(Init_thread) F(Finalize)
// Sends; blocking receives; receives that are begun.
#define GGAS_MPI_SENDS_OF(F, c) \
  F(Send##c)                    \
  F(Isend##c)                   \
  F(Send_init##c)               \
  F(Bsend##c)                   \
  F(Ibsend##c)                  \
  F(Bsend_init##c)              \
  F(Ssend##c) F(Issend##c) F(Ssend_init##c) F(Rsend##c) F(Irsend##c) F(Rsend_init##c)
#define GGAS_MPI_RECEIVES_OF(F, c) F(Recv##c) F(Mrecv##c) F(Sendrecv##c) F(Sendrecv_replace##c)
#define GGAS_MPI_BEGUN_RECEIVES_OF(F, c) F(Irecv##c) F(Recv_init##c) F(Imrecv##c)
#define GGAS_MPI_PROBES(F) F(Probe) F(Iprobe) F(Mprobe) F(Improbe)
#define GGAS_MPI_COMPLETIONS(F) \
  F(Wait)                       \
  F(Test)                       \
  F(Waitall)                    \
  F(Testall) F(Waitany) F(Testany) F(Waitsome) F(Testsome) F(Start) F(Startall) F(Request_get_status) F(Request_free)
#if MPI_VERSION >= 4
#define GGAS_MPI_SESSIONS(F) F(Session_init) F(Session_finalize)
#define GGAS_MPI_PACKS(F) F(Pack) F(Unpack) F(Pack_c) F(Unpack_c)
#define GGAS_MPI_SENDS(F) GGAS_MPI_SENDS_OF(F, ) GGAS_MPI_SENDS_OF(F, _c)
#define GGAS_MPI_RECEIVES(F) GGAS_MPI_RECEIVES_OF(F, ) GGAS_MPI_RECEIVES_OF(F, _c)
#define GGAS_MPI_EXCHANGES_OF(F, c) F(Isendrecv##c) F(Isendrecv_replace##c)
#define GGAS_MPI_BEGUN_RECEIVES(F) \
  GGAS_MPI_BEGUN_RECEIVES_OF(F, )  \
  GGAS_MPI_BEGUN_RECEIVES_OF(F, _c) GGAS_MPI_EXCHANGES_OF(F, ) GGAS_MPI_EXCHANGES_OF(F, _c)
#else
#define GGAS_MPI_SESSIONS(F)
#define GGAS_MPI_PACKS(F) F(Pack) F(Unpack)
#define GGAS_MPI_SENDS(F) GGAS_MPI_SENDS_OF(F, )
#define GGAS_MPI_RECEIVES(F) GGAS_MPI_RECEIVES_OF(F, )
#define GGAS_MPI_BEGUN_RECEIVES(F) GGAS_MPI_BEGUN_RECEIVES_OF(F, )
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

// Accesses to files: blocking, and begun with a request or as the first half of a collective call.
// clang-format off
#define GGAS_MPI_FILES_OF(F, c) \
  F(File_read##c) F(File_iread##c) \
  F(File_write##c) F(File_iwrite##c) \
  F(File_read_all##c) F(File_iread_all##c) F(File_read_all_begin##c) \
  F(File_write_all##c) F(File_iwrite_all##c) F(File_write_all_begin##c) \
  F(File_read_at##c) F(File_iread_at##c) \
  F(File_write_at##c) F(File_iwrite_at##c) \
  F(File_read_at_all##c) F(File_iread_at_all##c) F(File_read_at_all_begin##c) \
  F(File_write_at_all##c) F(File_iwrite_at_all##c) F(File_write_at_all_begin##c) \
  F(File_read_shared##c) F(File_iread_shared##c) \
  F(File_write_shared##c) F(File_iwrite_shared##c) \
  F(File_read_ordered##c) F(File_read_ordered_begin##c) \
  F(File_write_ordered##c) F(File_write_ordered_begin##c)
#define GGAS_MPI_FILE_ENDS(F) \
  F(File_read_all_end) F(File_write_all_end) \
  F(File_read_at_all_end) F(File_write_at_all_end) \
  F(File_read_ordered_end) F(File_write_ordered_end)
// clang-format on
#if MPI_VERSION >= 4
#define GGAS_MPI_FILES(F) GGAS_MPI_FILES_OF(F, ) GGAS_MPI_FILES_OF(F, _c) GGAS_MPI_FILE_ENDS(F)
#else
#define GGAS_MPI_FILES(F) GGAS_MPI_FILES_OF(F, ) GGAS_MPI_FILE_ENDS(F)
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

// All of them by kind: F(name), P(name) for requests that persist.
#define GGAS_MPI_ALL_BUT_RECEIVES(F, P) \
  GGAS_MPI_SENDS(F)                     \
  GGAS_MPI_COMPLETIONS(F)               \
  GGAS_MPI_PACKS(F)                     \
  GGAS_MPI_COLLECTIVES(F)               \
  GGAS_MPI_PERSISTENT(P) GGAS_MPI_ONE_SIDED(F) GGAS_MPI_PARTITIONED(F) GGAS_MPI_LOCAL(F) GGAS_MPI_FILES(F)
#define GGAS_MPI_ALL(F, P)        \
  GGAS_MPI_ALL_BUT_RECEIVES(F, P) \
  GGAS_MPI_RECEIVES(F) GGAS_MPI_BEGUN_RECEIVES(F) GGAS_MPI_PROBES(F) GGAS_MPI_ENDS(F) GGAS_MPI_SESSIONS(F)

namespace ggas::mpi {

struct functions_below {
#define GGAS_MPI_POINTER(name) decltype(&MPI_##name) name;
#define GGAS_MPI_POINTER_OF_PERSISTENT(name) decltype(&GGAS_MPI_PERSISTENT_NAME(name)) name;
  GGAS_MPI_ALL(GGAS_MPI_POINTER, GGAS_MPI_POINTER_OF_PERSISTENT)
#undef GGAS_MPI_POINTER
#undef GGAS_MPI_POINTER_OF_PERSISTENT
};
extern const functions_below below;

// Another library that comes before this one has functions that complete requests without this library. Messages begun
// here would never arrive, so none are taken. Returns the path of that library; empty if there is none.
const std::string& stays_out_for();

}  // namespace ggas::mpi
