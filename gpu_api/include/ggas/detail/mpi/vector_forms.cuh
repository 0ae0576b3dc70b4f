// SPDX-License-Identifier: Apache-2.0
// Collectives of MPI whose parts differ in length. All ranks first learn the longest part, by an allreduce of their
// own, and so make as many pieces. Included by mpi.cuh.
#pragma once

#include "ggas/detail/mpi/reductions.cuh"

namespace ggas::mpi {

// Parts of a buffer, one for each rank.
struct vector_parts {
  const void* data;
  const int *counts, *displacements;
  MPI_Datatype type;
  GGAS_DEVICE uint64_t bytes(int rank) const { return bytes_of(counts[rank], type); }
  GGAS_DEVICE char* at(int rank) const { return as_bytes(data) + bytes_of(displacements[rank], type); }
  GGAS_DEVICE uint64_t longest() const {
    uint64_t most = 0;
    for (int r = 0; r < ggas_message_ranks(world()); ++r) most = bytes(r) > most ? bytes(r) : most;
    return most;
  }
  GGAS_DEVICE int check(MPI_Comm comm) const {
    if (!counts || !displacements) return MPI_ERR_ARG;
    int wrong = MPI_SUCCESS;
    for (int r = 0; r < (comm_good(comm) ? size_of(comm) : ggas_message_ranks(world())); ++r) {
      wrong = first_of(wrong, check_data(data, counts[r], type, comm));
      if (displacements[r] < 0) wrong = first_of(wrong, MPI_ERR_ARG);
    }
    return wrong;
  }
};

// The largest of all ranks' numbers: the same at each, and at all threads of it.
GGAS_DEVICE int agree_on_most(uint64_t& most) {
  const rank_group g;
  const uint64_t mine = most;
  const int error = reduce_all({&mine, &most, 1, MPI_UNSIGNED_LONG, MPI_MAX, MPI_COMM_WORLD, true}, MPI_SUCCESS);
  uint64_t& shared = self().matching().number;
  if (g.leads()) shared = most;
  g.sync();
  most = shared;
  g.sync();
  return error;
}

// What this rank has goes to all who want it: the part of each rank that the receiver names.
GGAS_DEVICE int gather_parts(const char* own, uint64_t mine, const vector_parts& to, bool receives, int wrong) {
  const bool good = wrong == MPI_SUCCESS;
  uint64_t most = good ? mine : 0;
  const int error = agree_on_most(most);
  if (error != MPI_SUCCESS) return after(wrong, error);
  return after(wrong, in_pieces(most, good ? mine : 0, own, [&](uint64_t half, uint64_t begin, uint64_t bytes) {
                 for (int r = 0; r < ggas_message_ranks(world()) && receives && good; ++r) {
                   const overlap part(0, to.bytes(r), begin, bytes);
                   if (part.bytes != 0 && to.at(r) + part.begin != own + part.begin)
                     take_from_stage(to.at(r) + part.begin, stage_of(r, half), part.bytes);
                 }
               }));
}

// A round for each receiver: those who send put its part, and it takes what take(rank) says.
template <class Take>
GGAS_DEVICE int scatter_parts(const vector_parts& from, bool sends, int wrong, Take take) {
  const bool good = wrong == MPI_SUCCESS;
  uint64_t most = good && sends ? from.longest() : 0;
  int error = agree_on_most(most);
  for (int r = 0; r < ggas_message_ranks(world()) && error == MPI_SUCCESS; ++r) {
    const bool mine = r == ggas_message_rank(world()), puts = good && sends;
    error = in_pieces(most, puts ? from.bytes(r) : 0, puts ? from.at(r) : nullptr,
                      [&](uint64_t half, uint64_t begin, uint64_t bytes) {
                        if (mine && good) take(half, begin, bytes);
                      });
  }
  return after(wrong, error);
}
GGAS_DEVICE void take_part(char* to, uint64_t n, int rank, uint64_t half, uint64_t begin, uint64_t bytes) {
  const overlap part(0, n, begin, bytes);
  if (part.bytes != 0) take_from_stage(to + part.begin, stage_of(rank, half), part.bytes);
}

// ---- in communicators but MPI_COMM_WORLD

GGAS_DEVICE parts_of_ranks message_parts(const vector_parts& p) {
  return {as_bytes(p.data), 0, p.counts, p.displacements, static_cast<uint64_t>(TYPE_SIZE(p.type))};
}
GGAS_DEVICE_FUNCTION int gather_parts_in(MPI_Comm comm, const void* from, int count, MPI_Datatype type, vector_parts to,
                                         int root, bool to_all) {
  const int me = rank_in(comm);
  const bool receives = to_all || root == me, same = receives && in_place(from);
  int wrong = first_of(same ? MPI_SUCCESS : check_data(from, count, type, comm), check_root_of(root, comm));
  if (receives) wrong = first_of(wrong, to.check(comm));
  if (wrong != MPI_SUCCESS) return wrong;
  const parts_of_ranks parts = message_parts(to);
  if (to_all) {
    if (!same) copy_here(parts.at(me), from, bytes_of(count, type));
    return allgather_by_messages(comm, parts);
  }
  return gather_by_messages(comm, same ? parts.at(me) : from, same ? parts.bytes(me) : bytes_of(count, type), parts,
                            root);
}
GGAS_DEVICE_FUNCTION int scatter_parts_in(MPI_Comm comm, vector_parts from, void* to, int count, MPI_Datatype to_type,
                                          int root) {
  const bool sends = root == rank_in(comm), same = sends && in_place(to);
  int wrong = first_of(same ? MPI_SUCCESS : check_data(to, count, to_type, comm), check_root_of(root, comm));
  if (sends) wrong = first_of(wrong, from.check(comm));
  if (wrong != MPI_SUCCESS) return wrong;
  return scatter_by_messages(comm, message_parts(from), to, same ? 0 : bytes_of(count, to_type), root);
}

// ---- of basic types

// Counts of both sides are equal, as those of MPI must be. In place: at the root, or each rank.
GGAS_DEVICE_FUNCTION int gather_vector(const void* from, int count, MPI_Datatype type, void* to, const int* counts,
                                       const int* displacements, MPI_Datatype to_type, int root, MPI_Comm comm) {
  if (is_other(comm))
    return keep_together(comm,
                         gather_parts_in(comm, from, count, type, {to, counts, displacements, to_type}, root, false));
  const bool receives = is_root(root), same = receives && in_place(from);
  const vector_parts parts{to, counts, displacements, to_type};
  int wrong = first_of(same ? MPI_SUCCESS : check_data(from, count, type, comm), check_root(root));
  if (receives) wrong = first_of(wrong, parts.check(comm));
  const int me = ggas_message_rank(world());
  const bool from_parts = same && wrong == MPI_SUCCESS;
  return gather_parts(from_parts ? parts.at(me) : as_bytes(from),
                      from_parts             ? parts.bytes(me)
                      : wrong == MPI_SUCCESS ? bytes_of(count, type)
                                             : 0,
                      parts, receives, wrong);
}
GGAS_DEVICE_FUNCTION int allgather_vector(const void* from, int count, MPI_Datatype type, void* to, const int* counts,
                                          const int* displacements, MPI_Datatype to_type, MPI_Comm comm) {
  if (is_other(comm))
    return keep_together(comm, gather_parts_in(comm, from, count, type, {to, counts, displacements, to_type}, 0, true));
  const bool same = in_place(from);
  const vector_parts parts{to, counts, displacements, to_type};
  const int wrong = first_of(parts.check(comm), same ? MPI_SUCCESS : check_data(from, count, type, comm)),
            me = ggas_message_rank(world());
  const bool good = wrong == MPI_SUCCESS;
  return gather_parts(same && good ? parts.at(me) : as_bytes(from),
                      !good  ? 0
                      : same ? parts.bytes(me)
                             : bytes_of(count, type),
                      parts, true, wrong);
}
GGAS_DEVICE_FUNCTION int scatter_vector(const void* from, const int* counts, const int* displacements,
                                        MPI_Datatype type, void* to, int count, MPI_Datatype to_type, int root,
                                        MPI_Comm comm) {
  if (is_other(comm))
    return keep_together(comm, scatter_parts_in(comm, {from, counts, displacements, type}, to, count, to_type, root));
  const bool sends = is_root(root), same = sends && in_place(to);
  const vector_parts parts{from, counts, displacements, type};
  int wrong = first_of(same ? MPI_SUCCESS : check_data(to, count, to_type, comm), check_root(root));
  if (sends) wrong = first_of(wrong, parts.check(comm));
  const int source = sends ? ggas_message_rank(world()) : root;
  return scatter_parts(parts, sends, wrong, [&](uint64_t half, uint64_t begin, uint64_t bytes) {
    if (!same) take_part(as_bytes(to), bytes_of(count, to_type), source, half, begin, bytes);
  });
}
GGAS_DEVICE_FUNCTION int alltoall_vector(const void* from, const int* counts, const int* displacements,
                                         MPI_Datatype type, void* to, const int* to_counts, const int* to_displacements,
                                         MPI_Datatype to_type, MPI_Comm comm) {
  const vector_parts parts{from, counts, displacements, type}, others{to, to_counts, to_displacements, to_type};
  const int wrong = first_of(others.check(comm), in_place(from) ? MPI_ERR_BUFFER : parts.check(comm));
  if (is_other(comm))
    return wrong != MPI_SUCCESS
               ? wrong
               : keep_together(comm, alltoall_by_messages(comm, message_parts(parts), message_parts(others)));
  return scatter_parts(parts, true, wrong, [&](uint64_t half, uint64_t begin, uint64_t bytes) {
    for (int r = 0; r < ggas_message_ranks(world()); ++r)
      take_part(others.at(r), others.bytes(r), r, half, begin, bytes);
  });
}

}  // namespace ggas::mpi
