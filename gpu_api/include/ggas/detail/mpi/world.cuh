// SPDX-License-Identifier: Apache-2.0
// MPI_COMM_WORLD of a kernel, arguments and errors. Included by mpi.cuh.
#pragma once

#include "ggas/detail/mpi/names.cuh"

namespace ggas::mpi {

using rank_group = GGAS_MPI_RANK;

constexpr uint64_t timeout_ns = GGAS_MPI_TIMEOUT_NS;
#ifdef GGAS_MPI_ORIGINAL
constexpr uint64_t send_timeout_ns = 0;
constexpr int no_room = MPI_ERR_NO_SPACE;
#else
constexpr uint64_t send_timeout_ns = timeout_ns;
constexpr int no_room = MPI_ERR_TIMEOUT;
#endif

// What MPI_Init has found, of the block.
GGAS_DEVICE ggas_messages& world() {
  GGAS_SHARED_ARRAY(uint64_t, words, (sizeof(ggas_messages) + 7) / 8);
  return *reinterpret_cast<ggas_messages*>(words);
}
// The rank's part of the memory for collectives and windows.
GGAS_DEVICE detail::message_rank self() { return detail::message_rank(world()); }

GGAS_DEVICE bool comm_good(MPI_Comm comm) { return comm == MPI_COMM_WORLD; }
GGAS_DEVICE bool type_good(MPI_Datatype type) {
  return type >= MPI_PACKED && type <= MPI_LARGEST_TYPE && TYPE_SIZE(type) != 0;
}
// What a message carries of its type: data of packed or plain bytes go with any.
GGAS_DEVICE uint32_t info_of(MPI_Datatype type) {
  return type == MPI_PACKED || type == MPI_BYTE ? 0 : static_cast<uint32_t>(type);
}
GGAS_DEVICE uint64_t bytes_of(int count, MPI_Datatype type) {
  return static_cast<uint64_t>(count) * static_cast<uint64_t>(TYPE_SIZE(type));
}
GGAS_DEVICE int check_data(const void* buffer, int count, MPI_Datatype type, MPI_Comm comm) {
  if (!comm_good(comm)) return MPI_ERR_COMM;
  if (count < 0) return MPI_ERR_COUNT;
  if (!type_good(type)) return MPI_ERR_TYPE;
  return buffer || count == 0 ? MPI_SUCCESS : MPI_ERR_BUFFER;
}
GGAS_DEVICE int check_target(int dest, int tag) {
  if (dest != MPI_PROC_NULL && !detail::rank_exists(world(), dest)) return MPI_ERR_RANK;
  return tag >= 0 ? MPI_SUCCESS : MPI_ERR_TAG;
}
GGAS_DEVICE int check_source(int source, int tag) {
  const bool special = source == MPI_PROC_NULL || source == MPI_ANY_SOURCE;
  if (!special && !detail::rank_exists(world(), source)) return MPI_ERR_RANK;
  return tag >= MPI_ANY_TAG ? MPI_SUCCESS : MPI_ERR_TAG;
}
GGAS_DEVICE int first_of(int a, int b) { return a != MPI_SUCCESS ? a : b; }

GGAS_DEVICE int error_of(ggas_status s) {
  return s == ggas_ok ? MPI_SUCCESS : s == ggas_timed_out ? MPI_ERR_TIMEOUT : MPI_ERR_OTHER;
}
// Of a receive of `most` bytes of a type.
GGAS_DEVICE int error_of(ggas_status s, const ggas_message& m, uint64_t most) {
  if (s != ggas_bad_argument || m.source < 0) return error_of(s);
  return m.bytes > most ? MPI_ERR_TRUNCATE : MPI_ERR_TYPE;
}
GGAS_DEVICE void fill_status(MPI_Status* status, const ggas_message& m, int error) {
  if (status) *status = {m.source, m.tag, error, m.bytes};
}
GGAS_DEVICE ggas_message from_nobody() { return {MPI_PROC_NULL, MPI_ANY_TAG, 0, 0}; }

// By all ranks, whatever they are called with: it is a barrier of all blocks.
GGAS_DEVICE int meet() { return error_of(detail::meet_ranks<detail::meeting::barrier>(world().blocks, timeout_ns)); }

}  // namespace ggas::mpi

// ---- environment

// By all threads of all blocks, first. The argument is not used.
GGAS_DEVICE int MPI_Init(void* = nullptr) {
  using namespace ggas::detail;
  const uint64_t at = load_relaxed(own_word(ggas::layout::messages));
  if (at == 0 || !fits_segment(at, sizeof(ggas_messages))) return MPI_ERR_OTHER;
  if (thread_rank() == 0) ggas::mpi::world() = *reinterpret_cast<const ggas_messages*>(own_word(at));
  __syncthreads();
  return ggas::mpi::error_of(ggas_messages_begin(ggas::mpi::world(), ggas::mpi::timeout_ns));
}
// No barrier: messages under way are lost.
GGAS_DEVICE int MPI_Finalize() { return MPI_SUCCESS; }
GGAS_DEVICE int MPI_Get_version(int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}
GGAS_DEVICE int MPI_Comm_size(MPI_Comm comm, int* size) {
  if (!ggas::mpi::comm_good(comm)) return MPI_ERR_COMM;
  *size = ggas_message_ranks(ggas::mpi::world());
  return MPI_SUCCESS;
}
GGAS_DEVICE int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  if (!ggas::mpi::comm_good(comm)) return MPI_ERR_COMM;
  *rank = ggas_message_rank(ggas::mpi::world());
  return MPI_SUCCESS;
}
GGAS_DEVICE double MPI_Wtime() { return static_cast<double>(ggas::detail::clock_ns()) * 1e-9; }

// ---- the original's names of ranks and threads

#ifdef GGAS_MPI_ORIGINAL
#define IPROC ggas_message_rank(ggas::mpi::world())
#define NPROC ggas_message_ranks(ggas::mpi::world())
#define IPROC_IN_BLOCK static_cast<int>(threadIdx.x)
#define NPROC_IN_BLOCK static_cast<int>(blockDim.x)
#define BIPROC static_cast<int>(blockIdx.x)
#define BNPROC static_cast<int>(gridDim.x)
#endif
