// SPDX-License-Identifier: Apache-2.0
// Collectives of MPI that move data. Each rank has a stage in its own memory, separate from messages: a rank with data
// puts a piece on its stage, all ranks pass a barrier, and the receiving ranks read it. Two halves of the stage take
// turns, so a piece costs one barrier: overwritten data were read before the barrier in between. Included by mpi.cuh.
//
// A call with a wrong argument takes part without data, and returns the error at the end. If others need more than one
// piece, a block, or a rank that is not a thread, needs a right count too.
#pragma once

#include "ggas/detail/mpi/by_messages.cuh"

namespace ggas::mpi {

// Which half of the stages the next piece of a collective uses: the other one after each barrier.
GGAS_DEVICE uint64_t half_bytes() { return stages().half_bytes; }
GGAS_DEVICE uint64_t next_half() { return stages().meetings & 1; }
// Of rank `number` of a node.
GGAS_DEVICE char* stage_at(int node, int number, uint64_t half) {
  const stage_facts& f = stages();
  return ggas_pointer_of_node<char>(node, f.first + static_cast<unsigned>(number) * f.distance + half * f.half_bytes);
}
GGAS_DEVICE char* stage_of(int rank, uint64_t half) {
  const int of_node = stages().of_node;
  return rank < of_node ? stage_at(0, rank, half) : stage_at(rank / of_node, rank % of_node, half);
}

// Copies by the threads of the rank: from its own memory to its stage, and from a stage to its own memory. A local
// variable is copied by the first thread only.
GGAS_DEVICE void put_on_stage(char* stage, const char* from, uint64_t bytes) {
  const rank_group g;
  g.sync();
  const bool alone = detail::is_private(from);
  if (alone && !g.leads()) return;
  for (uint64_t i = alone ? 0 : g.rank(); i < bytes; i += alone ? 1 : g.size()) stage[i] = from[i];
}
GGAS_DEVICE void take_from_stage(char* to, const char* stage, uint64_t bytes) {
  const rank_group g;
  const bool alone = detail::is_private(to);
  if (alone && !g.leads()) return;
  for (uint64_t i = alone ? 0 : g.rank(); i < bytes; i += alone ? 1 : g.size()) to[i] = detail::load_relaxed(stage + i);
}

// Whether one of the threads whose ranks are one block's says so; of a rank that is more, it alone.
GGAS_DEVICE bool any_of_block(bool mine) {
  if constexpr (detail::is_same<rank_group, thread>)
    return __syncthreads_or(mine) != 0;
  else
    return mine;
}

// Exchanges up to `total` bytes of each rank, in pieces; every rank makes the same number of pieces. `mine`: the bytes
// that this rank has. take(half, begin, bytes) reads the bytes that it wants from the piece.
template <class Take>
GGAS_DEVICE int in_pieces(uint64_t total, uint64_t mine, const char* from, Take take) {
  uint64_t begin = 0;
  do {
    const uint64_t left = begin < total ? total - begin : 0, bytes = left < half_bytes() ? left : half_bytes(),
                   half = next_half();
    const uint64_t own = begin < mine ? mine - begin : 0;
    if (own > 0) put_on_stage(stage_of(ggas_message_rank(world()), half), from + begin, own < bytes ? own : bytes);
    const int error = meet();
    if (error != MPI_SUCCESS) return error;
    take(half, begin, bytes);
    begin += bytes;
  } while (any_of_block(begin < total));
  rank_group{}.sync();  // what the rank's threads took, all of them see
  return MPI_SUCCESS;
}
// The part of a rank's data in a piece: bytes `at` ... `at` + n - 1 of the whole are wanted.
struct overlap {
  uint64_t begin, bytes;  // of the whole
  GGAS_DEVICE overlap(uint64_t at, uint64_t n, uint64_t piece, uint64_t piece_bytes) {
    const uint64_t end = at + n < piece + piece_bytes ? at + n : piece + piece_bytes;
    begin = at > piece ? at : piece;
    bytes = end > begin ? end - begin : 0;
  }
};

GGAS_DEVICE int check_root(int root) {
  return root == MPI_ROOT || detail::rank_exists(world(), root) ? MPI_SUCCESS : MPI_ERR_ROOT;
}
// In the original's way the root itself calls with MPI_ROOT.
GGAS_DEVICE bool is_root(int root) { return root == MPI_ROOT || root == ggas_message_rank(world()); }
// With the data of an erroneous call nothing is done.
GGAS_DEVICE int after(int wrong, int error) { return first_of(wrong, error); }
GGAS_DEVICE int check_root_of(int root, MPI_Comm comm) {
  return root >= 0 && root < size_of(comm) ? MPI_SUCCESS : MPI_ERR_ROOT;
}
GGAS_DEVICE parts_of_ranks equal_parts(const void* data, uint64_t bytes) {
  return {as_bytes(data), bytes, nullptr, nullptr, 0};
}

// ---- in communicators but MPI_COMM_WORLD

GGAS_DEVICE_FUNCTION int broadcast_in(MPI_Comm comm, void* buffer, int count, MPI_Datatype type, int root) {
  const int wrong = first_of(check_data(buffer, count, type, comm), check_root_of(root, comm));
  return wrong != MPI_SUCCESS ? wrong : broadcast_by_messages(comm, buffer, bytes_of(count, type), root);
}
GGAS_DEVICE_FUNCTION int gather_in(MPI_Comm comm, const void* from, int count, MPI_Datatype type, void* to,
                                   int to_count, MPI_Datatype to_type, int root) {
  const bool receives = root == rank_in(comm), same = receives && in_place(from);
  int wrong = first_of(same ? MPI_SUCCESS : check_data(from, count, type, comm), check_root_of(root, comm));
  if (receives) wrong = first_of(wrong, check_data(to, to_count, to_type, comm));
  if (wrong != MPI_SUCCESS) return wrong;
  const parts_of_ranks parts = equal_parts(to, receives ? bytes_of(to_count, to_type) : 0);
  if (receives && !same && bytes_of(count, type) != parts.bytes_each) return MPI_ERR_TRUNCATE;
  return gather_by_messages(comm, same ? parts.at(root) : from, same ? parts.bytes_each : bytes_of(count, type), parts,
                            root);
}
GGAS_DEVICE_FUNCTION int scatter_in(MPI_Comm comm, const void* from, int count, MPI_Datatype type, void* to,
                                    int to_count, MPI_Datatype to_type, int root) {
  const bool sends = root == rank_in(comm), same = sends && in_place(to);
  int wrong = first_of(same ? MPI_SUCCESS : check_data(to, to_count, to_type, comm), check_root_of(root, comm));
  if (sends) wrong = first_of(wrong, check_data(from, count, type, comm));
  if (wrong != MPI_SUCCESS) return wrong;
  return scatter_by_messages(comm, equal_parts(from, sends ? bytes_of(count, type) : 0), to,
                             same ? 0 : bytes_of(to_count, to_type), root);
}
GGAS_DEVICE_FUNCTION int allgather_in(MPI_Comm comm, const void* from, int count, MPI_Datatype type, void* to,
                                      int to_count, MPI_Datatype to_type) {
  const bool same = in_place(from);
  const int wrong =
      first_of(check_data(to, to_count, to_type, comm), same ? MPI_SUCCESS : check_data(from, count, type, comm));
  if (wrong != MPI_SUCCESS) return wrong;
  const parts_of_ranks parts = equal_parts(to, bytes_of(to_count, to_type));
  if (!same && bytes_of(count, type) != parts.bytes_each) return MPI_ERR_TRUNCATE;
  if (!same) copy_here(parts.at(rank_in(comm)), from, parts.bytes_each);
  return allgather_by_messages(comm, parts);
}
GGAS_DEVICE_FUNCTION int alltoall_in(MPI_Comm comm, const void* from, int count, MPI_Datatype type, void* to,
                                     int to_count, MPI_Datatype to_type) {
  const int wrong = first_of(check_data(to, to_count, to_type, comm), check_data(from, count, type, comm));
  if (wrong != MPI_SUCCESS) return wrong;
  const uint64_t n = bytes_of(to_count, to_type);
  if (bytes_of(count, type) != n || in_place(from)) return MPI_ERR_COUNT;
  return alltoall_by_messages(comm, equal_parts(from, n), equal_parts(to, n));
}

}  // namespace ggas::mpi

GGAS_DEVICE int MPI_Barrier(MPI_Comm comm) {
  if (ggas::mpi::is_other(comm)) return ggas::mpi::barrier_by_messages(comm);
  using namespace ggas::detail;
  const ggas_status s = meet_ranks<meeting::barrier>(ggas::mpi::world().blocks, ggas::mpi::timeout_ns);
  return ggas::mpi::after(ggas::mpi::comm_good(comm) ? MPI_SUCCESS : MPI_ERR_COMM, ggas::mpi::error_of(s));
}

namespace ggas::mpi {

// ---- of basic types

GGAS_DEVICE_FUNCTION int broadcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  if (is_other(comm)) return keep_together(comm, broadcast_in(comm, buffer, count, type, root));
  const int wrong = first_of(check_data(buffer, count, type, comm), check_root(root));
  const uint64_t total = count < 0 ? 0 : bytes_of(count, type);
  const bool sends = is_root(root);
  return after(wrong, in_pieces(total, sends && wrong == MPI_SUCCESS ? total : 0, as_bytes(buffer),
                                [&](uint64_t half, uint64_t begin, uint64_t bytes) {
                                  if (!sends && wrong == MPI_SUCCESS)
                                    take_from_stage(as_bytes(buffer) + begin, stage_of(root, half), bytes);
                                }));
}

GGAS_DEVICE_FUNCTION int gather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                                MPI_Datatype to_type, int root, MPI_Comm comm) {
  if (is_other(comm)) return keep_together(comm, gather_in(comm, from, count, type, to, to_count, to_type, root));
  const bool receives = is_root(root);
  const int ranks = ggas_message_ranks(world()), me = ggas_message_rank(world());
  const bool same = receives && in_place(from);
  const uint64_t n = same ? bytes_of(to_count, to_type) : bytes_of(count, type);
  const char* const own = same ? as_bytes(to) + static_cast<uint64_t>(me) * n : as_bytes(from);
  int wrong = first_of(same ? MPI_SUCCESS : check_data(from, count, type, comm), check_root(root));
  if (receives) wrong = first_of(wrong, check_data(to, to_count, to_type, comm));
  if (receives && wrong == MPI_SUCCESS && bytes_of(to_count, to_type) != n) wrong = MPI_ERR_TRUNCATE;
  const bool good = wrong == MPI_SUCCESS;
  return after(wrong, in_pieces(good ? n : 0, good ? n : 0, own, [&](uint64_t half, uint64_t begin, uint64_t bytes) {
                 if (!receives || !good) return;
                 for (int r = 0; r < ranks; ++r)
                   if (!(same && r == me))
                     take_from_stage(as_bytes(to) + static_cast<uint64_t>(r) * n + begin, stage_of(r, half), bytes);
               }));
}

GGAS_DEVICE_FUNCTION int scatter(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                                 MPI_Datatype to_type, int root, MPI_Comm comm) {
  if (is_other(comm)) return keep_together(comm, scatter_in(comm, from, count, type, to, to_count, to_type, root));
  const bool sends = is_root(root), same = sends && in_place(to);
  const int ranks = ggas_message_ranks(world()), me = ggas_message_rank(world());
  int wrong = first_of(same ? MPI_SUCCESS : check_data(to, to_count, to_type, comm), check_root(root));
  if (sends) wrong = first_of(wrong, check_data(from, count, type, comm));
  const uint64_t n = sends ? bytes_of(count, type) : bytes_of(to_count, to_type);
  const bool good = wrong == MPI_SUCCESS;
  const uint64_t mine = static_cast<uint64_t>(me) * n, all = good ? n * static_cast<uint64_t>(ranks) : 0;
  return after(wrong,
               in_pieces(all, sends ? all : 0, as_bytes(from), [&](uint64_t half, uint64_t begin, uint64_t bytes) {
                 const overlap part(mine, n, begin, bytes);
                 if (!good || same || part.bytes == 0) return;
                 take_from_stage(as_bytes(to) + (part.begin - mine),
                                 stage_of(sends ? me : root, half) + (part.begin - begin), part.bytes);
               }));
}

GGAS_DEVICE_FUNCTION int allgather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                                   MPI_Datatype to_type, MPI_Comm comm) {
  if (is_other(comm)) return keep_together(comm, allgather_in(comm, from, count, type, to, to_count, to_type));
  const int ranks = ggas_message_ranks(world()), me = ggas_message_rank(world());
  const bool same = in_place(from);
  const uint64_t n = bytes_of(to_count, to_type);
  const char* const own = same ? as_bytes(to) + static_cast<uint64_t>(me) * n : as_bytes(from);
  int wrong =
      first_of(check_data(to, to_count, to_type, comm), same ? MPI_SUCCESS : check_data(from, count, type, comm));
  if (wrong == MPI_SUCCESS && !same && bytes_of(count, type) != n) wrong = MPI_ERR_TRUNCATE;
  const bool good = wrong == MPI_SUCCESS;
  return after(wrong, in_pieces(good ? n : 0, good ? n : 0, own, [&](uint64_t half, uint64_t begin, uint64_t bytes) {
                 for (int r = 0; r < ranks && good; ++r)
                   if (!(same && r == me))
                     take_from_stage(as_bytes(to) + static_cast<uint64_t>(r) * n + begin, stage_of(r, half), bytes);
               }));
}

GGAS_DEVICE_FUNCTION int alltoall(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                                  MPI_Datatype to_type, MPI_Comm comm) {
  if (is_other(comm)) return keep_together(comm, alltoall_in(comm, from, count, type, to, to_count, to_type));
  const int ranks = ggas_message_ranks(world()), me = ggas_message_rank(world());
  int wrong = first_of(check_data(to, to_count, to_type, comm), check_data(from, count, type, comm));
  const uint64_t n = bytes_of(to_count, to_type), mine = static_cast<uint64_t>(me) * n;
  if (wrong == MPI_SUCCESS && (bytes_of(count, type) != n || in_place(from))) wrong = MPI_ERR_COUNT;
  const bool good = wrong == MPI_SUCCESS;
  const uint64_t all = good ? n * static_cast<uint64_t>(ranks) : 0;
  return after(wrong, in_pieces(all, all, as_bytes(from), [&](uint64_t half, uint64_t begin, uint64_t bytes) {
                 const overlap part(mine, n, begin, bytes);
                 for (int r = 0; r < ranks && good && part.bytes != 0; ++r)
                   take_from_stage(as_bytes(to) + static_cast<uint64_t>(r) * n + (part.begin - mine),
                                   stage_of(r, half) + (part.begin - begin), part.bytes);
               }));
}

}  // namespace ggas::mpi
