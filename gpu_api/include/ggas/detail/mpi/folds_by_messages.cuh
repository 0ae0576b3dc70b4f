// SPDX-License-Identifier: Apache-2.0
// Reductions of communicators but MPI_COMM_WORLD. The same ranks always give the same bits. Included by reductions.cuh.
#pragma once

#include "ggas/detail/mpi/collectives.cuh"

namespace ggas::mpi {

struct combine_places {
  MPI_Op op;
  char* to;
  const char* other;
  uint64_t count;
  bool other_first;
  template <class T>
  GGAS_DEVICE void operator()(T) const {
    const rank_group g;
    for (uint64_t i = g.rank(); i < count; i += g.size()) {
      const T a = read_number<T>(to, i), b = read_number<T>(other, i);
      write_number(to, i, other_first ? combined(op, b, a) : combined(op, a, b));
    }
  }
};

// A reduction piece by piece. The numbers lie on that half of the rank's stage that no rank reads now: the own ones,
// and those that come.
struct message_fold {
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Op op;
  char *mine, *other;
  uint64_t most;  // numbers of a piece

  GGAS_DEVICE message_fold(MPI_Comm c, MPI_Datatype t, MPI_Op o) : comm(c), type(t), op(o) {
    const auto size = static_cast<uint64_t>(TYPE_SIZE(t));
    const uint64_t room = half_bytes() / 2 / 8 * 8;
    mine = stage_of(ggas_message_rank(world()), next_half());
    other = mine + room;
    most = room / size;
  }
  GGAS_DEVICE uint64_t bytes(uint64_t n) const { return n * static_cast<uint64_t>(TYPE_SIZE(type)); }
  GGAS_DEVICE int take(int rank, uint64_t n, bool other_first) const {
    const int error = receive_from(comm, rank, other, bytes(n));
    if (error == MPI_SUCCESS) with_type(type, combine_places{op, mine, other, n, other_first});
    rank_group{}.sync();
    return error;
  }
  // Up a binomial tree to rank 0, then to the root.
  GGAS_DEVICE int reduce(uint64_t n, int root) const {
    const int ranks = size_of(comm), me = rank_in(comm);
    int error = MPI_SUCCESS, k = 1;
    for (int i = 1; i < ranks && (me & i) == 0; i *= 2)
      if (me + i < ranks) error = first_of(error, invite(comm, me + i));
    for (; k < ranks && (me & k) == 0; k *= 2)
      if (me + k < ranks) error = first_of(error, take(me + k, n, false));
    if (k < ranks && me != 0) error = first_of(error, send_when_invited(comm, me - k, mine, bytes(n)));
    if (root != 0 && me == 0) error = first_of(error, send_to(comm, root, mine, bytes(n)));
    if (root != 0 && me == root) error = first_of(error, receive_from(comm, 0, mine, bytes(n)));
    return error;
  }
  // From rank to rank. `to`: what those before and, if `inclusive`, this one make; of rank 0 otherwise nothing.
  GGAS_DEVICE int scan(void* to, uint64_t n, bool inclusive) const {
    const int ranks = size_of(comm), me = rank_in(comm);
    int error = me > 0 ? take(me - 1, n, true) : MPI_SUCCESS;
    if (me + 1 < ranks) error = first_of(error, send_to(comm, me + 1, mine, bytes(n)));
    if (inclusive || me > 0) copy_here(to, inclusive ? mine : other, bytes(n));
    return error;
  }
};

enum class fold_kind { reduce, allreduce, scan, exscan };
GGAS_DEVICE_FUNCTION int fold_by_messages(fold_kind kind, const void* from, void* to, int count, MPI_Datatype type,
                                          MPI_Op op, int root, MPI_Comm comm) {
  const message_fold f(comm, type, op);
  if (f.most == 0) return MPI_ERR_OTHER;  // the stage is too small
  int error = MPI_SUCCESS;
  for (uint64_t begin = 0, n = 0, all = static_cast<uint64_t>(count); begin < all && error == MPI_SUCCESS; begin += n) {
    n = all - begin < f.most ? all - begin : f.most;
    char* const there = as_bytes(to) + f.bytes(begin);
    copy_here(f.mine, in_place(from) ? there : as_bytes(from) + f.bytes(begin), f.bytes(n));
    if (kind == fold_kind::scan || kind == fold_kind::exscan) {
      error = f.scan(there, n, kind == fold_kind::scan);
      continue;
    }
    error = f.reduce(n, kind == fold_kind::reduce ? root : 0);
    if (error == MPI_SUCCESS && kind == fold_kind::allreduce)
      error = broadcast_by_messages(comm, f.mine, f.bytes(n), 0);
    if (error == MPI_SUCCESS && (kind == fold_kind::allreduce || rank_in(comm) == root))
      copy_here(there, f.mine, f.bytes(n));
  }
  return error;
}

}  // namespace ggas::mpi
