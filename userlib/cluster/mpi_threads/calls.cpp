// SPDX-License-Identifier: Apache-2.0
// MPI's calls in C over those of kernels: handles are numbers there and enumerators here. An error ends the program
// where the program has not asked for errors to be returned.
#include "userlib/cluster/mpi_threads/ranks.hpp"

#define GGAS_MPI_TIMEOUT_NS ::ggas::mpi_threads::timeout_ns
#include "ggas/mpi.cuh"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

using ggas::mpi_threads::rank_state;

static_assert(sizeof(MPI_Status) == 24, "mpi.h has this size");

constexpr const char* error_texts[] = {"no error",
                                       "invalid buffer",
                                       "invalid count",
                                       "invalid datatype",
                                       "invalid tag",
                                       "invalid communicator",
                                       "invalid rank",
                                       "invalid request",
                                       "invalid root",
                                       "invalid operation",
                                       "invalid argument",
                                       "message is longer than the buffer",
                                       "invalid window",
                                       "invalid displacement",
                                       "no room for the message",
                                       "the time is over",
                                       "not supported for ranks that are threads",
                                       "another error",
                                       "invalid group"};
static_assert(std::size(error_texts) == MPI_ERR_LASTCODE + 1);
const char* text_of(int error) {
  return error >= 0 && error <= MPI_ERR_LASTCODE ? error_texts[error] : "an unknown error";
}

[[noreturn]] void end(const std::string& why, int status) {
  ggas::mpi_threads::end_program("rank " + std::to_string(ggas::mpi_threads::own_rank()) + ": " + why, status);
}
int checked(int error, const char* call) {
  if (error != MPI_SUCCESS && !rank_state::mine().errors_return) end(std::string(call) + ": " + text_of(error), 1);
  return error;
}

MPI_Datatype of(int type) { return static_cast<MPI_Datatype>(type); }
MPI_Comm comm_of(int comm) { return static_cast<MPI_Comm>(comm); }
MPI_Op op_of(int op) { return static_cast<MPI_Op>(op); }
MPI_Win window_of(int number) { return {number}; }

// A request in C is a pointer to one of kernels, or null, so that programs can compare it.
using handle = MPI_Request*;
handle handle_of(const MPI_Request& r) { return r == MPI_REQUEST_NULL ? nullptr : new MPI_Request(r); }
MPI_Request request_of(handle h) { return h ? *h : MPI_REQUEST_NULL; }
// A call that makes a request, and one for `n` of them.
template <class F>
int making(handle* made, const char* call, F f) {
  MPI_Request r{};
  const int error = f(&r);
  *made = handle_of(r);
  return checked(error, call);
}
template <class F>
int with_requests(handle* handles, int n, const char* call, F f) {
  std::vector<MPI_Request> all;
  for (int i = 0; i < n; ++i) all.push_back(request_of(handles[i]));
  const int error = f(all.data());
  for (int i = 0; i < n; ++i) {
    const MPI_Request& r = all[static_cast<size_t>(i)];
    if (handles[i] && r == MPI_REQUEST_NULL)
      delete std::exchange(handles[i], nullptr);
    else if (handles[i])
      *handles[i] = r;
  }
  return checked(error, call);
}

}  // namespace

// A call in C that is named like one of kernels, which is in C++.
#define GGAS_C(type, name, parameters)                \
  extern "C" type c_##name parameters __asm__(#name); \
  type c_##name parameters
#define GGAS_MPI_CALL(name, parameters, ...) \
  GGAS_C(int, name, parameters) { return checked(name(__VA_ARGS__), #name); }

// ---------------------------------------------------------------------------------------------- environment

GGAS_C(int, MPI_Init, (int*, char***)) {
  rank_state::mine().initialized = true;
  return checked(MPI_Init(static_cast<void*>(nullptr)), "MPI_Init");
}
GGAS_C(int, MPI_Init_thread, (int*, char***, int, int* provided)) {
  *provided = 0;  // MPI_THREAD_SINGLE: a rank is a thread
  rank_state::mine().initialized = true;
  return checked(MPI_Init(static_cast<void*>(nullptr)), "MPI_Init_thread");
}
GGAS_C(int, MPI_Initialized, (int* flag)) {
  *flag = rank_state::mine().initialized;
  return MPI_SUCCESS;
}
GGAS_C(int, MPI_Finalize, ()) {
  rank_state::mine().finalized = true;
  const int error = MPI_Barrier(MPI_COMM_WORLD);
  return checked(error == MPI_SUCCESS ? MPI_Finalize() : error, "MPI_Finalize");
}
GGAS_C(int, MPI_Finalized, (int* flag)) {
  *flag = rank_state::mine().finalized;
  return MPI_SUCCESS;
}
GGAS_C(int, MPI_Abort, (int, int status)) { end("MPI_Abort was called with " + std::to_string(status), status); }
GGAS_C(int, MPI_Get_processor_name, (char* name, int* length)) {
  *length = static_cast<int>(ggas::mpi_threads::computer_name().copy(name, 255));
  name[*length] = 0;
  return MPI_SUCCESS;
}
GGAS_C(int, MPI_Error_string, (int error, char* text, int* length)) {
  *length = std::snprintf(text, 256, "%s", text_of(error));
  return MPI_SUCCESS;
}
GGAS_C(int, MPI_Error_class, (int error, int* error_class)) {
  *error_class = error;
  return MPI_SUCCESS;
}
GGAS_C(int, MPI_Comm_set_errhandler, (int comm, int handler)) {
  if (!ggas::mpi::comm_good(comm_of(comm))) return checked(MPI_ERR_COMM, "MPI_Comm_set_errhandler");
  rank_state::mine().errors_return = handler == 1;
  return MPI_SUCCESS;
}
GGAS_C(double, MPI_Wtime, ()) { return MPI_Wtime(); }
GGAS_C(double, MPI_Wtick, ()) { return 1e-9; }
GGAS_MPI_CALL(MPI_Get_version, (int* version, int* subversion), version, subversion)
GGAS_MPI_CALL(MPI_Comm_size, (int comm, int* size), comm_of(comm), size)
GGAS_MPI_CALL(MPI_Comm_rank, (int comm, int* rank), comm_of(comm), rank)

// ---------------------------------------------------------------------------------------------- communicators

#define GGAS_MPI_MAKES_COMM(name, parameters, ...) \
  GGAS_C(int, name, parameters) {                  \
    MPI_Comm new_one = MPI_COMM_NULL;              \
    const int error = name(__VA_ARGS__, &new_one); \
    *made = new_one;                               \
    return checked(error, #name);                  \
  }
GGAS_MPI_MAKES_COMM(MPI_Comm_dup, (int comm, int* made), comm_of(comm))
GGAS_MPI_MAKES_COMM(MPI_Comm_split, (int comm, int color, int key, int* made), comm_of(comm), color, key)
GGAS_MPI_MAKES_COMM(MPI_Comm_create, (int comm, MPI_Group group, int* made), comm_of(comm), group)
GGAS_MPI_MAKES_COMM(MPI_Comm_create_group, (int comm, MPI_Group group, int tag, int* made), comm_of(comm), group, tag)
GGAS_C(int, MPI_Comm_free, (int* comm)) {
  MPI_Comm old = comm_of(*comm);
  const int error = MPI_Comm_free(&old);
  *comm = old;
  return checked(error, "MPI_Comm_free");
}
GGAS_MPI_CALL(MPI_Comm_compare, (int a, int b, int* how), comm_of(a), comm_of(b), how)
GGAS_MPI_CALL(MPI_Comm_group, (int comm, MPI_Group* group), comm_of(comm), group)
GGAS_MPI_CALL(MPI_Group_size, (MPI_Group group, int* size), group, size)
GGAS_MPI_CALL(MPI_Group_rank, (MPI_Group group, int* rank), group, rank)
GGAS_MPI_CALL(MPI_Group_incl, (MPI_Group group, int n, const int* ranks, MPI_Group* made), group, n, ranks, made)
GGAS_MPI_CALL(MPI_Group_excl, (MPI_Group group, int n, const int* ranks, MPI_Group* made), group, n, ranks, made)
GGAS_MPI_CALL(MPI_Group_union, (MPI_Group a, MPI_Group b, MPI_Group* made), a, b, made)
GGAS_MPI_CALL(MPI_Group_intersection, (MPI_Group a, MPI_Group b, MPI_Group* made), a, b, made)
GGAS_MPI_CALL(MPI_Group_difference, (MPI_Group a, MPI_Group b, MPI_Group* made), a, b, made)
GGAS_MPI_CALL(MPI_Group_translate_ranks, (MPI_Group a, int n, const int* ranks, MPI_Group b, int* there), a, n, ranks,
              b, there)
GGAS_MPI_CALL(MPI_Group_compare, (MPI_Group a, MPI_Group b, int* how), a, b, how)
GGAS_MPI_CALL(MPI_Group_free, (MPI_Group * group), group)

// ---------------------------------------------------------------------------------------------- derived types

#define GGAS_MPI_MAKES_TYPE(name, parameters, ...) \
  GGAS_C(int, name, parameters) {                  \
    MPI_Datatype new_one = MPI_DATATYPE_NULL;      \
    const int error = name(__VA_ARGS__, &new_one); \
    *made = new_one;                               \
    return checked(error, #name);                  \
  }
GGAS_MPI_MAKES_TYPE(MPI_Type_contiguous, (int n, int t, int* made), n, of(t))
GGAS_MPI_MAKES_TYPE(MPI_Type_vector, (int n, int length, int stride, int t, int* made), n, length, stride, of(t))
GGAS_MPI_MAKES_TYPE(MPI_Type_create_hvector, (int n, int length, MPI_Aint stride, int t, int* made), n, length, stride,
                    of(t))
GGAS_MPI_MAKES_TYPE(MPI_Type_indexed, (int n, const int* l, const int* at, int t, int* made), n, l, at, of(t))
GGAS_MPI_MAKES_TYPE(MPI_Type_create_hindexed, (int n, const int* l, const MPI_Aint* at, int t, int* made), n, l, at,
                    of(t))
GGAS_MPI_MAKES_TYPE(MPI_Type_create_indexed_block, (int n, int l, const int* at, int t, int* made), n, l, at, of(t))
GGAS_MPI_MAKES_TYPE(MPI_Type_create_hindexed_block, (int n, int l, const MPI_Aint* at, int t, int* made), n, l, at,
                    of(t))
GGAS_C(int, MPI_Type_create_struct, (int n, const int* l, const MPI_Aint* at, const int* parts, int* made)) {
  std::vector<MPI_Datatype> types;
  for (int i = 0; parts && i < n; ++i) types.push_back(of(parts[i]));
  MPI_Datatype new_one = MPI_DATATYPE_NULL;
  const int error = MPI_Type_create_struct(n, l, at, parts ? types.data() : nullptr, &new_one);
  *made = new_one;
  return checked(error, "MPI_Type_create_struct");
}
GGAS_MPI_MAKES_TYPE(MPI_Type_create_subarray,
                    (int n, const int* sizes, const int* parts, const int* starts, int order, int t, int* made), n,
                    sizes, parts, starts, order, of(t))
GGAS_MPI_MAKES_TYPE(MPI_Type_create_resized, (int t, MPI_Aint lb, MPI_Aint extent, int* made), of(t), lb, extent)
GGAS_MPI_MAKES_TYPE(MPI_Type_dup, (int t, int* made), of(t))
GGAS_C(int, MPI_Type_commit, (int* type)) {
  MPI_Datatype t = of(*type);
  return checked(MPI_Type_commit(&t), "MPI_Type_commit");
}
GGAS_C(int, MPI_Type_free, (int* type)) {
  MPI_Datatype t = of(*type);
  const int error = MPI_Type_free(&t);
  *type = t;
  return checked(error, "MPI_Type_free");
}
GGAS_MPI_CALL(MPI_Type_size, (int t, int* size), of(t), size)
GGAS_MPI_CALL(MPI_Type_get_extent, (int t, MPI_Aint* lb, MPI_Aint* extent), of(t), lb, extent)
GGAS_MPI_CALL(MPI_Type_get_true_extent, (int t, MPI_Aint* lb, MPI_Aint* extent), of(t), lb, extent)
GGAS_MPI_CALL(MPI_Get_address, (const void* place, MPI_Aint* address), place, address)

// ---------------------------------------------------------------------------------------------- messages

GGAS_MPI_CALL(MPI_Send, (const void* b, int n, int t, int to, int tag, int c), b, n, of(t), to, tag, comm_of(c))
GGAS_MPI_CALL(MPI_Recv, (void* b, int n, int t, int from, int tag, int c, MPI_Status* s), b, n, of(t), from, tag,
              comm_of(c), s)
GGAS_MPI_CALL(MPI_Sendrecv,
              (const void* a, int an, int at, int to, int atag, void* b, int n, int t, int from, int tag, int c,
               MPI_Status* s),
              a, an, of(at), to, atag, b, n, of(t), from, tag, comm_of(c), s)
GGAS_MPI_CALL(MPI_Sendrecv_replace, (void* b, int n, int t, int to, int atag, int from, int tag, int c, MPI_Status* s),
              b, n, of(t), to, atag, from, tag, comm_of(c), s)
GGAS_MPI_CALL(MPI_Probe, (int from, int tag, int c, MPI_Status* s), from, tag, comm_of(c), s)
GGAS_MPI_CALL(MPI_Iprobe, (int from, int tag, int c, int* flag, MPI_Status* s), from, tag, comm_of(c), flag, s)
GGAS_MPI_CALL(MPI_Get_count, (const MPI_Status* s, int t, int* n), s, of(t), n)
#define GGAS_MPI_MAKES_REQUEST(name, parameters, ...)                                 \
  GGAS_C(int, name, parameters) {                                                     \
    return making(made, #name, [&](MPI_Request* r) { return name(__VA_ARGS__, r); }); \
  }
#define GGAS_MPI_REQUESTS(name, n, parameters, ...)                                       \
  GGAS_C(int, name, parameters) {                                                         \
    return with_requests(h, n, #name, [&](MPI_Request* r) { return name(__VA_ARGS__); }); \
  }
GGAS_MPI_MAKES_REQUEST(MPI_Isend, (const void* b, int n, int t, int to, int tag, int c, handle* made), b, n, of(t), to,
                       tag, comm_of(c))
GGAS_MPI_MAKES_REQUEST(MPI_Irecv, (void* b, int n, int t, int from, int tag, int c, handle* made), b, n, of(t), from,
                       tag, comm_of(c))
GGAS_MPI_REQUESTS(MPI_Wait, 1, (handle * h, MPI_Status* s), r, s)
GGAS_MPI_REQUESTS(MPI_Test, 1, (handle * h, int* flag, MPI_Status* s), r, flag, s)
GGAS_MPI_REQUESTS(MPI_Waitall, n, (int n, handle* h, MPI_Status* s), n, r, s)
GGAS_MPI_REQUESTS(MPI_Testall, n, (int n, handle* h, int* flag, MPI_Status* s), n, r, flag, s)
GGAS_MPI_REQUESTS(MPI_Waitany, n, (int n, handle* h, int* index, MPI_Status* s), n, r, index, s)
GGAS_MPI_REQUESTS(MPI_Testany, n, (int n, handle* h, int* index, int* flag, MPI_Status* s), n, r, index, flag, s)
GGAS_MPI_REQUESTS(MPI_Cancel, 1, (handle * h), r)
GGAS_MPI_MAKES_REQUEST(MPI_Send_init, (const void* b, int n, int t, int to, int tag, int c, handle* made), b, n, of(t),
                       to, tag, comm_of(c))
GGAS_MPI_MAKES_REQUEST(MPI_Recv_init, (void* b, int n, int t, int from, int tag, int c, handle* made), b, n, of(t),
                       from, tag, comm_of(c))
GGAS_MPI_REQUESTS(MPI_Start, 1, (handle * h), r)
GGAS_MPI_REQUESTS(MPI_Startall, n, (int n, handle* h), n, r)
GGAS_MPI_REQUESTS(MPI_Request_free, 1, (handle * h), r)
GGAS_MPI_MAKES_REQUEST(MPI_Psend_init,
                       (const void* b, int parts, MPI_Count n, int t, int to, int tag, int c, int, handle* made), b,
                       parts, n, of(t), to, tag, comm_of(c), MPI_INFO_NULL)
GGAS_MPI_MAKES_REQUEST(MPI_Precv_init,
                       (void* b, int parts, MPI_Count n, int t, int from, int tag, int c, int, handle* made), b, parts,
                       n, of(t), from, tag, comm_of(c), MPI_INFO_NULL)
GGAS_MPI_CALL(MPI_Pready, (int part, handle h), part, request_of(h))
GGAS_MPI_CALL(MPI_Pready_range, (int first, int last, handle h), first, last, request_of(h))
GGAS_MPI_CALL(MPI_Pready_list, (int n, const int* parts, handle h), n, parts, request_of(h))
GGAS_MPI_CALL(MPI_Parrived, (handle h, int part, int* flag), request_of(h), part, flag)
GGAS_MPI_CALL(MPI_Pack_size, (int n, int t, int c, int* size), n, of(t), comm_of(c), size)
GGAS_MPI_CALL(MPI_Pack, (const void* b, int n, int t, void* p, int size, int* at, int c), b, n, of(t), p, size, at,
              comm_of(c))
GGAS_MPI_CALL(MPI_Unpack, (const void* p, int size, int* at, void* b, int n, int t, int c), p, size, at, b, n, of(t),
              comm_of(c))

// ---------------------------------------------------------------------------------------------- collectives

GGAS_MPI_CALL(MPI_Barrier, (int c), comm_of(c))
GGAS_MPI_CALL(MPI_Bcast, (void* b, int n, int t, int root, int c), b, n, of(t), root, comm_of(c))
GGAS_MPI_CALL(MPI_Gather, (const void* a, int an, int at, void* b, int n, int t, int root, int c), a, an, of(at), b, n,
              of(t), root, comm_of(c))
GGAS_MPI_CALL(MPI_Scatter, (const void* a, int an, int at, void* b, int n, int t, int root, int c), a, an, of(at), b, n,
              of(t), root, comm_of(c))
GGAS_MPI_CALL(MPI_Allgather, (const void* a, int an, int at, void* b, int n, int t, int c), a, an, of(at), b, n, of(t),
              comm_of(c))
GGAS_MPI_CALL(MPI_Alltoall, (const void* a, int an, int at, void* b, int n, int t, int c), a, an, of(at), b, n, of(t),
              comm_of(c))
GGAS_MPI_CALL(MPI_Gatherv, (const void* a, int an, int at, void* b, const int* n, const int* d, int t, int root, int c),
              a, an, of(at), b, n, d, of(t), root, comm_of(c))
GGAS_MPI_CALL(MPI_Scatterv,
              (const void* a, const int* an, const int* d, int at, void* b, int n, int t, int root, int c), a, an, d,
              of(at), b, n, of(t), root, comm_of(c))
GGAS_MPI_CALL(MPI_Allgatherv, (const void* a, int an, int at, void* b, const int* n, const int* d, int t, int c), a, an,
              of(at), b, n, d, of(t), comm_of(c))
GGAS_MPI_CALL(MPI_Alltoallv,
              (const void* a, const int* an, const int* ad, int at, void* b, const int* n, const int* d, int t, int c),
              a, an, ad, of(at), b, n, d, of(t), comm_of(c))
GGAS_MPI_CALL(MPI_Reduce, (const void* a, void* b, int n, int t, int op, int root, int c), a, b, n, of(t), op_of(op),
              root, comm_of(c))
GGAS_MPI_CALL(MPI_Allreduce, (const void* a, void* b, int n, int t, int op, int c), a, b, n, of(t), op_of(op),
              comm_of(c))
GGAS_MPI_CALL(MPI_Reduce_scatter_block, (const void* a, void* b, int n, int t, int op, int c), a, b, n, of(t),
              op_of(op), comm_of(c))
GGAS_MPI_CALL(MPI_Reduce_scatter, (const void* a, void* b, const int* n, int t, int op, int c), a, b, n, of(t),
              op_of(op), comm_of(c))
GGAS_MPI_CALL(MPI_Scan, (const void* a, void* b, int n, int t, int op, int c), a, b, n, of(t), op_of(op), comm_of(c))
GGAS_MPI_CALL(MPI_Exscan, (const void* a, void* b, int n, int t, int op, int c), a, b, n, of(t), op_of(op), comm_of(c))

// ---------------------------------------------------------------------------------------------- windows

// All ranks reach all memory of the process.
GGAS_C(int, MPI_Win_create, (void* base, MPI_Aint size, int unit, int, int c, int* w)) {
  MPI_Win made{};
  const int error = ggas::mpi::create_window(base, size, unit, comm_of(c), true, &made);
  *w = made.number;
  return checked(error, "MPI_Win_create");
}
GGAS_C(int, MPI_Win_free, (int* w)) {
  MPI_Win old = window_of(*w);
  const int error = MPI_Win_free(&old);
  *w = old.number;
  return checked(error, "MPI_Win_free");
}
GGAS_MPI_CALL(MPI_Win_fence, (int assertion, int w), assertion, window_of(w))
GGAS_MPI_CALL(MPI_Put, (const void* b, int n, int t, int rank, MPI_Aint at, int there, int type, int w), b, n, of(t),
              rank, at, there, of(type), window_of(w))
GGAS_MPI_CALL(MPI_Get, (void* b, int n, int t, int rank, MPI_Aint at, int there, int type, int w), b, n, of(t), rank,
              at, there, of(type), window_of(w))
