// SPDX-License-Identifier: Apache-2.0
// MPI_COMM_WORLD of a kernel, arguments and errors. Included by mpi.cuh.
#pragma once

#include "ggas/detail/mpi/rank_sets.cuh"

namespace ggas::mpi {

constexpr uint64_t timeout_ns = GGAS_MPI_TIMEOUT_NS;
#ifdef GGAS_MPI_ORIGINAL
constexpr uint64_t send_timeout_ns = 0;
constexpr int no_room = MPI_ERR_NO_SPACE;
#else
constexpr uint64_t send_timeout_ns = timeout_ns;
constexpr int no_room = MPI_ERR_TIMEOUT;
#endif

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
GGAS_DEVICE char* as_bytes(const void* p) { return const_cast<char*>(static_cast<const char*>(p)); }
GGAS_DEVICE bool in_place(const void* p) { return p == MPI_IN_PLACE; }
GGAS_DEVICE int first_of(int a, int b) { return a != MPI_SUCCESS ? a : b; }
// Of a good communicator.
GGAS_DEVICE int check_target(int dest, int tag, MPI_Comm comm) {
  if (dest != MPI_PROC_NULL && (dest < 0 || dest >= size_of(comm))) return MPI_ERR_RANK;
  return tag >= 0 && (comm == MPI_COMM_WORLD || tag <= MPI_TAG_UB) ? MPI_SUCCESS : MPI_ERR_TAG;
}
GGAS_DEVICE int check_source(int source, int tag, MPI_Comm comm) {
  const bool special = source == MPI_PROC_NULL || source == MPI_ANY_SOURCE;
  if (!special && (source < 0 || source >= size_of(comm))) return MPI_ERR_RANK;
  return tag >= MPI_ANY_TAG && (comm == MPI_COMM_WORLD || tag <= MPI_TAG_UB) ? MPI_SUCCESS : MPI_ERR_TAG;
}

GGAS_DEVICE int error_of(ggas_status s) {
  return s == ggas_ok ? MPI_SUCCESS : s == ggas_timed_out ? MPI_ERR_TIMEOUT : MPI_ERR_OTHER;
}
// The error of a receive of `most` bytes of a type.
GGAS_DEVICE int error_of(ggas_status s, const ggas_message& m, uint64_t most) {
  if (s != ggas_bad_argument || m.source < 0) return error_of(s);
  return m.bytes > most ? MPI_ERR_TRUNCATE : MPI_ERR_TYPE;
}
GGAS_DEVICE void fill_status(MPI_Status* status, const ggas_message& m, int error) {
  if (!status) return;
  const ggas_message there = detail::is_of_context(m.tag) ? in_its_comm(m) : m;
  *status = {there.source, there.tag, error, there.bytes};
}
// A receive of good arguments; one that waits too long is in the report of hangs.
GGAS_DEVICE ggas_status receive(void* buffer, uint64_t most, int from, int tag, uint32_t info, ggas_message* m) {
  using namespace detail;
  GGAS_CALL(ggas_recv, rank_group{},
            record_message(rank_group{}, world(), waited_for::message, this_call, s, timeout_ns, from, tag),
            receive_message(rank_group{}, world(), buffer, most, from, tag, m, timeout_ns, info));
}
GGAS_DEVICE ggas_message from_nobody() { return {MPI_PROC_NULL, MPI_ANY_TAG, 0, 0}; }

// ---- memory of a rank

// What the first thread of the rank made, for all of them.
GGAS_DEVICE void* of_all_threads(void* made) {
  const rank_group g;
  uint64_t& word = self().matching().number;
  g.sync();  // all have read what an earlier call left there
  if (g.leads()) word = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(made));
  g.sync();
  made = reinterpret_cast<void*>(static_cast<uintptr_t>(word));
  g.sync();
  return made;
}
// Memory of the rank, uninitialised; null: there is none.
template <class T>
GGAS_DEVICE T* new_memory(int64_t n) {
  void* const p = rank_group{}.leads() ? malloc(static_cast<size_t>(n > 0 ? n : 1) * sizeof(T)) : nullptr;
  return static_cast<T*>(of_all_threads(p));
}
GGAS_DEVICE void free_memory(void* p) {
  const rank_group g;
  g.sync();
  if (g.leads()) free(p);
}

// By all ranks, whatever they are called with: it is a barrier of all blocks. The collectives share one copy of it.
GGAS_DEVICE_FUNCTION int meet() {
  const ggas_status s = detail::meet_ranks<detail::meeting::barrier>(world().blocks, timeout_ns);
  if (detail::thread_rank() == 0) ++stages().meetings;
  __syncthreads();
  return error_of(s);
}

}  // namespace ggas::mpi

// ---- environment

// By all threads of all blocks, first. The argument is not used.
GGAS_DEVICE int MPI_Init(void* = nullptr) {
  using namespace ggas::detail;
  const uint64_t at = load_relaxed(own_word(ggas::layout::messages));
  if (at == 0 || !fits_segment(at, sizeof(ggas_messages))) return MPI_ERR_OTHER;
  if (thread_rank() == 0) {
    ggas::mpi::world() = *reinterpret_cast<const ggas_messages*>(own_word(at));
    ggas::mpi::stages() = ggas::mpi::facts_of(ggas::mpi::world());
  }
  __syncthreads();
  return ggas::mpi::error_of(ggas_messages_begin(ggas::mpi::world(), ggas::mpi::timeout_ns));
}
GGAS_DEVICE int MPI_Get_version(int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}
GGAS_DEVICE int MPI_Comm_size(MPI_Comm comm, int* size) {
  if (!ggas::mpi::comm_good(comm)) return MPI_ERR_COMM;
  *size = ggas::mpi::size_of(comm);
  return MPI_SUCCESS;
}
GGAS_DEVICE int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  if (!ggas::mpi::comm_good(comm)) return MPI_ERR_COMM;
  *rank = ggas::mpi::rank_in(comm);
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
