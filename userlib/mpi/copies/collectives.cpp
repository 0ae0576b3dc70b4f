// SPDX-License-Identifier: Apache-2.0
// Collective calls with memory of GPUs: the MPI below works on copies in pinned host memory (shadow.hpp). All other
// calls are passed on.
#include "userlib/mpi/entries.hpp"
#include "userlib/mpi/requests.hpp"
#include "userlib/mpi/shadow.hpp"

namespace ggas::mpi {

namespace {

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lb = 0, extent = 0;
  if (type != MPI_DATATYPE_NULL) PMPI_Type_get_extent(type, &lb, &extent);
  return extent;
}

// A block for each peer: displacements in extents of the datatype.
template <class Count, class Place>
span of_blocks(int peers, const Count* counts, const Place* places, MPI_Datatype type) {
  span all;
  for (int p = 0; counts && places && p < peers; ++p)
    all.add(static_cast<MPI_Aint>(places[p]) * extent_of(type), counts[p], type);
  return all;
}
// A datatype for each peer: displacements in bytes.
template <class Count, class Place>
span of_types(int peers, const Count* counts, const Place* places, const MPI_Datatype* types) {
  span all;
  for (int p = 0; counts && places && types && p < peers; ++p)
    all.add(static_cast<MPI_Aint>(places[p]), counts[p], types[p], p);
  return all;
}
// One side of a call with a datatype for each peer. Of blocks with gaps the MPI below gets packed bytes, which are the
// same bytes that it sends by itself: then the arrays are those of the bytes. `in_place`: both sides are one.
template <class Count, class Place>
void* blocks_of_peers(shadows& s, const void* buffer, int peers, const Count*& counts, const Place*& places,
                      const MPI_Datatype*& types, bool written, bool in_place) {
  void* const given = const_cast<void*>(buffer);
  if (buffer == MPI_IN_PLACE) return given;
  const span all = of_types(peers, counts, places, types);
  const packed_blocks* const packed = in_place ? nullptr : s.packs(buffer, all, written);
  if (!packed) return written ? s.writes(given, all) : s.reads(buffer, all);
  const auto n = static_cast<size_t>(peers);
  auto& bytes = s.keep(std::vector<Count>(n, 0));
  auto& offsets = s.keep(std::vector<Place>(n, 0));
  for (const packed_blocks::block& b : packed->blocks()) {
    bytes[static_cast<size_t>(b.peer)] = static_cast<Count>(b.bytes);
    offsets[static_cast<size_t>(b.peer)] = static_cast<Place>(b.place);
  }
  counts = bytes.data(), places = offsets.data();
  types = s.keep(std::vector<MPI_Datatype>(n, MPI_BYTE)).data();
  return packed->copy();
}
template <class Count>
MPI_Count sum_of(int peers, const Count* counts) {
  MPI_Count all = 0;
  for (int p = 0; counts && p < peers; ++p) all += counts[p];
  return all;
}

// Ranks that this one exchanges data with; in an intercommunicator those of the other group.
int peers_of(MPI_Comm comm) {
  int inter = 0, n = 0;
  if (comm == MPI_COMM_NULL) return 0;
  PMPI_Comm_test_inter(comm, &inter);
  inter ? PMPI_Comm_remote_size(comm, &n) : PMPI_Comm_size(comm, &n);
  return n;
}
int own_peers_of(MPI_Comm comm) {  // those whose parts a reduction scatters
  int n = 0;
  if (comm != MPI_COMM_NULL) PMPI_Comm_size(comm, &n);
  return n;
}
bool is_root(int root, MPI_Comm comm) {
  int inter = 0, rank = 0;
  if (comm == MPI_COMM_NULL) return false;
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Comm_rank(comm, &rank);
  return inter ? root == MPI_ROOT : rank == root;
}

// Neighbours of a topology: from which data come, and to which they go.
struct neighbours {
  int in = 0, out = 0;
  explicit neighbours(MPI_Comm comm) {
    int kind = MPI_UNDEFINED, n = 0, weighted = 0, rank = 0;
    if (comm == MPI_COMM_NULL || PMPI_Topo_test(comm, &kind) != MPI_SUCCESS) return;
    if (kind == MPI_CART) PMPI_Cartdim_get(comm, &n), in = out = 2 * n;
    if (kind == MPI_GRAPH) PMPI_Comm_rank(comm, &rank), PMPI_Graph_neighbors_count(comm, rank, &n), in = out = n;
    if (kind == MPI_DIST_GRAPH) PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  }
};

}  // namespace

}  // namespace ggas::mpi

using namespace ggas::mpi;

#define GGAS_LIST(...) __VA_ARGS__
// MPI_name, MPI_begun, which begins it, and the request that persists. `parameters`, `given`: of the call; `copies`:
// statements that replace addresses, after which `given` are those of the MPI below.
#define GGAS_COLLECTIVE(name, begun_name, c, parameters, given, copies)                                    \
  int ours_##name##c(GGAS_LIST parameters, MPI_Comm comm) {                                                \
    if (quiet()) return below.name##c(GGAS_LIST given, comm);                                              \
    const attention to_given_up;                                                                           \
    shadows s("MPI_" #name #c, comm);                                                                      \
    GGAS_LIST copies return run(s, [&] { return below.name##c(GGAS_LIST given, comm); });                  \
  }                                                                                                        \
  int ours_##begun_name##c(GGAS_LIST parameters, MPI_Comm comm, MPI_Request* request) {                    \
    if (quiet()) return below.begun_name##c(GGAS_LIST given, comm, request);                               \
    const attention to_given_up;                                                                           \
    const auto kept = std::make_shared<shadows>("MPI_" #begun_name #c, comm);                              \
    shadows& s = *kept;                                                                                    \
    GGAS_LIST copies return begin_on(kept, request, false,                                                 \
                                     [&] { return below.begun_name##c(GGAS_LIST given, comm, request); }); \
  }                                                                                                        \
  GGAS_PERSISTENT(name##_init##c, parameters, given, copies)
#define GGAS_PERSISTENT_HERE(name, parameters, given, copies)                                           \
  int ours_##name(GGAS_LIST parameters, MPI_Comm comm, MPI_Info info, MPI_Request* request) {           \
    if (quiet()) return below.name(GGAS_LIST given, comm, info, request);                               \
    const auto kept = std::make_shared<shadows>("MPI_" #name, comm);                                    \
    shadows& s = *kept;                                                                                 \
    GGAS_LIST copies return begin_on(kept, request, true,                                               \
                                     [&] { return below.name(GGAS_LIST given, comm, info, request); }); \
  }
#ifdef GGAS_MPI_PERSISTENT_NAME
#define GGAS_PERSISTENT GGAS_PERSISTENT_HERE
#else
#define GGAS_PERSISTENT(name, parameters, given, copies)
#endif

#define GGAS_SEND_BLOCK const void *out, Count out_count, MPI_Datatype out_type
#define GGAS_RECEIVE_BLOCK void *in, Count in_count, MPI_Datatype in_type
#define GGAS_SEND_BLOCKS const void *out, const Count *out_counts, const Place *out_places, MPI_Datatype out_type
#define GGAS_RECEIVE_BLOCKS void *in, const Count *in_counts, const Place *in_places, MPI_Datatype in_type
#define GGAS_BLOCKS (out, out_count, out_type, in, in_count, in_type)
#define GGAS_SENT out, out_count, out_type
#define GGAS_RECEIVED in, in_count, in_type
#define GGAS_SENT_V out, out_counts, out_places, out_type
#define GGAS_RECEIVED_V in, in_counts, in_places, in_type

// The functions for counts and displacements of the kinds `Count` and `Place`; c: what their names end with.
#define GGAS_COLLECTIVES(c)                                                                                            \
  GGAS_COLLECTIVE(Bcast, Ibcast, c, (void* in, Count in_count, MPI_Datatype in_type, int root), (GGAS_RECEIVED, root), \
                  (in = s.writes(in, of_items(in_count, in_type));))                                                   \
  GGAS_COLLECTIVE(Allreduce, Iallreduce, c, (const void* out, void* in, Count count, MPI_Datatype type, MPI_Op op),    \
                  (out, in, count, type, op),                                                                          \
                  (out = s.reads(out, of_items(count, type)); in = s.writes(in, of_items(count, type));))              \
  GGAS_COLLECTIVE(Scan, Iscan, c, (const void* out, void* in, Count count, MPI_Datatype type, MPI_Op op),              \
                  (out, in, count, type, op),                                                                          \
                  (out = s.reads(out, of_items(count, type)); in = s.writes(in, of_items(count, type));))              \
  GGAS_COLLECTIVE(Exscan, Iexscan, c, (const void* out, void* in, Count count, MPI_Datatype type, MPI_Op op),          \
                  (out, in, count, type, op),                                                                          \
                  (out = s.reads(out, of_items(count, type)); in = s.writes(in, of_items(count, type));))              \
  GGAS_COLLECTIVE(                                                                                                     \
      Reduce, Ireduce, c, (const void* out, void* in, Count count, MPI_Datatype type, MPI_Op op, int root),            \
      (out, in, count, type, op, root),                                                                                \
      (out = s.reads(out, of_items(count, type)); if (is_root(root, comm)) in = s.writes(in, of_items(count, type));)) \
  GGAS_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, c,                                                      \
                  (const void* out, void* in, Count count, MPI_Datatype type, MPI_Op op), (out, in, count, type, op),  \
                  (const MPI_Count all = MPI_Count{count} * own_peers_of(comm);                                        \
                   in = s.writes(in, of_items(out == MPI_IN_PLACE ? all : count, type));                               \
                   out = s.reads(out, of_items(all, type));))                                                          \
  GGAS_COLLECTIVE(                                                                                                     \
      Reduce_scatter, Ireduce_scatter, c,                                                                              \
      (const void* out, void* in, const Count* counts, MPI_Datatype type, MPI_Op op), (out, in, counts, type, op),     \
      (const MPI_Count all = sum_of(own_peers_of(comm), counts); int rank = 0; PMPI_Comm_rank(comm, &rank);            \
       in = s.writes(in, of_items(out == MPI_IN_PLACE ? all : counts[rank], type));                                    \
       out = s.reads(out, of_items(all, type));))                                                                      \
  GGAS_COLLECTIVE(Allgather, Iallgather, c, (GGAS_SEND_BLOCK, GGAS_RECEIVE_BLOCK), GGAS_BLOCKS,                        \
                  (out = s.reads(out, of_items(out_count, out_type));                                                  \
                   in = s.writes(in, of_items(MPI_Count{in_count} * peers_of(comm), in_type));))                       \
  GGAS_COLLECTIVE(Alltoall, Ialltoall, c, (GGAS_SEND_BLOCK, GGAS_RECEIVE_BLOCK), GGAS_BLOCKS,                          \
                  (out = s.reads(out, of_items(MPI_Count{out_count} * peers_of(comm), out_type));                      \
                   in = s.writes(in, of_items(MPI_Count{in_count} * peers_of(comm), in_type));))                       \
  GGAS_COLLECTIVE(                                                                                                     \
      Gather, Igather, c, (GGAS_SEND_BLOCK, GGAS_RECEIVE_BLOCK, int root), (GGAS_SENT, GGAS_RECEIVED, root),           \
      (out = s.reads(out, of_items(out_count, out_type));                                                              \
       if (is_root(root, comm)) in = s.writes(in, of_items(MPI_Count{in_count} * peers_of(comm), in_type));))          \
  GGAS_COLLECTIVE(                                                                                                     \
      Scatter, Iscatter, c, (GGAS_SEND_BLOCK, GGAS_RECEIVE_BLOCK, int root), (GGAS_SENT, GGAS_RECEIVED, root),         \
      (in = s.writes(in, of_items(in_count, in_type));                                                                 \
       if (is_root(root, comm)) out = s.reads(out, of_items(MPI_Count{out_count} * peers_of(comm), out_type));))       \
  GGAS_COLLECTIVE(Allgatherv, Iallgatherv, c, (GGAS_SEND_BLOCK, GGAS_RECEIVE_BLOCKS), (GGAS_SENT, GGAS_RECEIVED_V),    \
                  (out = s.reads(out, of_items(out_count, out_type));                                                  \
                   in = s.writes(in, of_blocks(peers_of(comm), in_counts, in_places, in_type));))                      \
  GGAS_COLLECTIVE(                                                                                                     \
      Gatherv, Igatherv, c, (GGAS_SEND_BLOCK, GGAS_RECEIVE_BLOCKS, int root), (GGAS_SENT, GGAS_RECEIVED_V, root),      \
      (out = s.reads(out, of_items(out_count, out_type));                                                              \
       if (is_root(root, comm)) in = s.writes(in, of_blocks(peers_of(comm), in_counts, in_places, in_type));))         \
  GGAS_COLLECTIVE(                                                                                                     \
      Scatterv, Iscatterv, c, (GGAS_SEND_BLOCKS, GGAS_RECEIVE_BLOCK, int root), (GGAS_SENT_V, GGAS_RECEIVED, root),    \
      (in = s.writes(in, of_items(in_count, in_type));                                                                 \
       if (is_root(root, comm)) out = s.reads(out, of_blocks(peers_of(comm), out_counts, out_places, out_type));))     \
  GGAS_COLLECTIVE(Alltoallv, Ialltoallv, c, (GGAS_SEND_BLOCKS, GGAS_RECEIVE_BLOCKS), (GGAS_SENT_V, GGAS_RECEIVED_V),   \
                  (out = s.reads(out, of_blocks(peers_of(comm), out_counts, out_places, out_type));                    \
                   in = s.writes(in, of_blocks(peers_of(comm), in_counts, in_places, in_type));))                      \
  GGAS_COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, c, (GGAS_SEND_BLOCK, GGAS_RECEIVE_BLOCK), GGAS_BLOCKS,      \
                  (out = s.reads(out, of_items(out_count, out_type));                                                  \
                   in = s.writes(in, of_items(MPI_Count{in_count} * neighbours(comm).in, in_type));))                  \
  GGAS_COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, c, (GGAS_SEND_BLOCK, GGAS_RECEIVE_BLOCK), GGAS_BLOCKS,        \
                  (out = s.reads(out, of_items(MPI_Count{out_count} * neighbours(comm).out, out_type));                \
                   in = s.writes(in, of_items(MPI_Count{in_count} * neighbours(comm).in, in_type));))                  \
  GGAS_COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, c, (GGAS_SEND_BLOCK, GGAS_RECEIVE_BLOCKS),                \
                  (GGAS_SENT, GGAS_RECEIVED_V),                                                                        \
                  (out = s.reads(out, of_items(out_count, out_type));                                                  \
                   in = s.writes(in, of_blocks(neighbours(comm).in, in_counts, in_places, in_type));))                 \
  GGAS_COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, c, (GGAS_SEND_BLOCKS, GGAS_RECEIVE_BLOCKS),                 \
                  (GGAS_SENT_V, GGAS_RECEIVED_V),                                                                      \
                  (out = s.reads(out, of_blocks(neighbours(comm).out, out_counts, out_places, out_type));              \
                   in = s.writes(in, of_blocks(neighbours(comm).in, in_counts, in_places, in_type));))                 \
  GGAS_COLLECTIVE(Alltoallw, Ialltoallw, c,                                                                            \
                  (const void* out, const Count* out_counts, const Place* out_places, const MPI_Datatype* out_types,   \
                   void* in, const Count* in_counts, const Place* in_places, const MPI_Datatype* in_types),            \
                  (out, out_counts, out_places, out_types, in, in_counts, in_places, in_types),                        \
                  (const bool in_place = out == MPI_IN_PLACE;                                                          \
                   out = blocks_of_peers(s, out, peers_of(comm), out_counts, out_places, out_types, false, in_place);  \
                   in = blocks_of_peers(s, in, peers_of(comm), in_counts, in_places, in_types, true, in_place);))      \
  GGAS_COLLECTIVE(                                                                                                     \
      Neighbor_alltoallw, Ineighbor_alltoallw, c,                                                                      \
      (const void* out, const Count* out_counts, const MPI_Aint* out_places, const MPI_Datatype* out_types, void* in,  \
       const Count* in_counts, const MPI_Aint* in_places, const MPI_Datatype* in_types),                               \
      (out, out_counts, out_places, out_types, in, in_counts, in_places, in_types),                                    \
      (out = blocks_of_peers(s, out, neighbours(comm).out, out_counts, out_places, out_types, false, false);           \
       in = blocks_of_peers(s, in, neighbours(comm).in, in_counts, in_places, in_types, true, false);))

extern "C" {

#define Count int
#define Place int
GGAS_COLLECTIVES()
#undef Count
#undef Place

#if MPI_VERSION >= 4
#define Count MPI_Count
#define Place MPI_Aint
GGAS_COLLECTIVES(_c)
#undef Count
#undef Place
#endif

GGAS_MPI_COLLECTIVES(GGAS_MPI_NAMES)
GGAS_MPI_PERSISTENT(GGAS_MPI_PERSISTENT_NAMES)
}
