// SPDX-License-Identifier: Apache-2.0
// Collectives of communicators but MPI_COMM_WORLD: their ranks exchange messages, others need not take part. A rank
// with a wrong argument returns its error, and takes no part. Included by collectives.cuh.
//
// A rank has room for a limited number of messages that wait (message_config::waiting). If others fill it, the message
// that the rank needs cannot arrive. So a rank that receives from many others invites some of them at a time, and where
// every rank sends to every other one, all pass a barrier after each few steps.
#pragma once

#include "ggas/detail/mpi/world.cuh"

namespace ggas::mpi {

GGAS_DEVICE char* part_of(const void* p, int rank, uint64_t bytes) {
  return as_bytes(p) + static_cast<uint64_t>(rank) * bytes;
}

GGAS_DEVICE_FUNCTION int send_to(MPI_Comm comm, int rank, const void* data, uint64_t bytes) {
  return error_of(
      detail::send_message(rank_group{}, world(), data, bytes, peer_in(comm, rank), tag_in(comm, 0, 1), 0, timeout_ns));
}
GGAS_DEVICE_FUNCTION int receive_from(MPI_Comm comm, int rank, void* data, uint64_t bytes) {
  return error_of(receive(data, bytes, peer_in(comm, rank), tag_in(comm, 0, 1), 0, nullptr));
}
GGAS_DEVICE_FUNCTION int exchange(MPI_Comm comm, int to, const void* data, uint64_t bytes, int from, void* received,
                                  uint64_t most) {
  const int tag = tag_in(comm, 0, 1);
  return error_of(detail::exchange_messages(rank_group{}, world(), data, bytes, peer_in(comm, to), tag, 0, received,
                                            most, peer_in(comm, from), tag, nullptr, timeout_ns));
}
// By the threads of the rank; a local variable by the first one alone.
GGAS_DEVICE_FUNCTION void copy_here(void* to, const void* from, uint64_t bytes) {
  const rank_group g;
  g.sync();
  const bool alone = detail::is_private(to) || detail::is_private(from);
  if (to != from && (!alone || g.leads()))
    for (uint64_t i = alone ? 0 : g.rank(); i < bytes; i += alone ? 1 : g.size())
      static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
  g.sync();
}

// Invitations of a rank that have not been answered, and steps between two barriers.
constexpr int open_at_once = 8;

GGAS_DEVICE int invite(MPI_Comm comm, int rank) { return send_to(comm, rank, nullptr, 0); }
GGAS_DEVICE_FUNCTION int send_when_invited(MPI_Comm comm, int rank, const void* data, uint64_t bytes) {
  const int error = receive_from(comm, rank, nullptr, 0);
  return error != MPI_SUCCESS ? error : send_to(comm, rank, data, bytes);
}

// Round k: with the ranks 2^k before and after.
GGAS_DEVICE_FUNCTION int barrier_by_messages(MPI_Comm comm) {
  const int n = size_of(comm), me = rank_in(comm);
  int error = MPI_SUCCESS;
  for (int k = 1; k < n && error == MPI_SUCCESS; k *= 2)
    error = exchange(comm, (me + k) % n, nullptr, 0, (me + n - k) % n, nullptr, 0);
  return error;
}

// After a collective, by all ranks of the communicator, whatever its result. A rank that waits for no other one could
// send messages of many collectives to a slow rank, whose room would be full of them when the one comes that it needs.
// So each eighth collective ends with a barrier.
GGAS_DEVICE_FUNCTION int keep_together(MPI_Comm comm, int error) {
  if (error == MPI_ERR_TIMEOUT) return error;
  uint32_t& made = comms()->collectives[static_cast<int>(comm) - first_comm];
  const uint32_t before = made;
  const rank_group g;
  g.sync();  // all have read
  if (g.leads()) made = before + 1;
  g.sync();
  return before % open_at_once == open_at_once - 1 ? first_of(error, barrier_by_messages(comm)) : error;
}

// Down a binomial tree.
GGAS_DEVICE_FUNCTION int broadcast_by_messages(MPI_Comm comm, void* data, uint64_t bytes, int root) {
  const int n = size_of(comm), place = (rank_in(comm) - root + n) % n;
  int error = MPI_SUCCESS, k = 1;
  while (k < n && (place & k) == 0) k *= 2;
  if (k < n) error = receive_from(comm, (place - k + root) % n, data, bytes);
  for (k /= 2; k > 0; k /= 2)
    if (place + k < n) error = first_of(error, send_to(comm, (place + k + root) % n, data, bytes));
  return error;
}

// Parts of equal or different length, one for each rank.
struct parts_of_ranks {
  char* data;
  uint64_t bytes_each;  // without counts
  const int *counts, *displacements;
  uint64_t element;
  GGAS_DEVICE uint64_t bytes(int rank) const {
    return counts ? static_cast<uint64_t>(counts[rank]) * element : bytes_each;
  }
  GGAS_DEVICE char* at(int rank) const {
    return data +
           (counts ? static_cast<uint64_t>(displacements[rank]) * element : static_cast<uint64_t>(rank) * bytes_each);
  }
};

GGAS_DEVICE_FUNCTION int gather_by_messages(MPI_Comm comm, const void* own, uint64_t bytes, parts_of_ranks to,
                                            int root) {
  const int n = size_of(comm), me = rank_in(comm);
  if (me != root) return send_when_invited(comm, root, own, bytes);
  int error = MPI_SUCCESS;
  for (int i = 0; i < n + open_at_once && error == MPI_SUCCESS; ++i) {
    if (i < n && i != me) error = invite(comm, i);
    const int r = i - open_at_once;
    if (r < 0) continue;
    if (r == me)
      copy_here(to.at(r), own, bytes);
    else
      error = first_of(error, receive_from(comm, r, to.at(r), to.bytes(r)));
  }
  return error;
}
GGAS_DEVICE_FUNCTION int scatter_by_messages(MPI_Comm comm, parts_of_ranks from, void* own, uint64_t bytes, int root) {
  const int n = size_of(comm), me = rank_in(comm);
  if (me != root) return receive_from(comm, root, own, bytes);
  int error = MPI_SUCCESS;
  for (int r = 0; r < n; ++r) {
    if (r != me)
      error = first_of(error, send_to(comm, r, from.at(r), from.bytes(r)));
    else if (!in_place(own))
      copy_here(own, from.at(r), bytes);
  }
  return error;
}
// Each rank's part goes to all others; it lies in its place already.
GGAS_DEVICE_FUNCTION int allgather_by_messages(MPI_Comm comm, parts_of_ranks all) {
  int error = MPI_SUCCESS;
  for (int r = 0; r < size_of(comm); ++r) {
    error = first_of(error, broadcast_by_messages(comm, all.at(r), all.bytes(r), r));
    if (r % open_at_once == open_at_once - 1) error = first_of(error, barrier_by_messages(comm));
  }
  return error;
}
GGAS_DEVICE_FUNCTION int alltoall_by_messages(MPI_Comm comm, parts_of_ranks from, parts_of_ranks to) {
  const int n = size_of(comm), me = rank_in(comm);
  copy_here(to.at(me), from.at(me), to.bytes(me));
  int error = MPI_SUCCESS;
  for (int i = 1; i < n; ++i) {
    const int next = (me + i) % n, before = (me + n - i) % n;
    error =
        first_of(error, exchange(comm, next, from.at(next), from.bytes(next), before, to.at(before), to.bytes(before)));
    if (i % open_at_once == 0) error = first_of(error, barrier_by_messages(comm));
  }
  return error;
}

}  // namespace ggas::mpi
