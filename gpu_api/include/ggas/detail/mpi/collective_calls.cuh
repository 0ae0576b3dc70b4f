// SPDX-License-Identifier: Apache-2.0
// Collectives by the names of MPI. Of derived types the packed data travel. Included by mpi.cuh.
#pragma once

#include "ggas/detail/mpi/packed_items.cuh"
#include "ggas/detail/mpi/vector_forms.cuh"

namespace ggas::mpi {

// What a collective of bytes gets for elements: `parts` times `count` of them. Elements of a derived type are packed,
// and with a wrong argument the call gets no buffer: it takes part without data. Others, and those not used, stay.
struct packed_call {
  const void* data;
  int count;
  MPI_Datatype type;
  packed_items* packed = nullptr;
  int wrong = MPI_SUCCESS;

  GGAS_DEVICE packed_call(const void* items, int n, MPI_Datatype t, MPI_Comm comm, bool used, int parts = 1)
      : data(items), count(n), type(t) {
    if (used && derived(t)) pack(comm, parts);
  }
  GGAS_DEVICE void pack(MPI_Comm comm, int parts) {
    const int64_t all = static_cast<int64_t>(count) * parts;
    wrong = check_items(data, all, *derived(type), comm);
    if (wrong == MPI_SUCCESS && limited_product(count, derived(type)->shape.size) >> 31 != 0) wrong = MPI_ERR_COUNT;
    if (wrong == MPI_SUCCESS) packed = new_items(data, static_cast<uint64_t>(all), type, true);
    if (wrong == MPI_SUCCESS && !packed) wrong = MPI_ERR_OTHER;
    const int64_t bytes = limited_product(count, derived(type)->shape.size);
    if (packed) packed->pack();
    data = packed ? packed->data() : nullptr;
    count = bytes >> 31 == 0 ? static_cast<int>(bytes) : 0;
    type = MPI_BYTE;
  }
  GGAS_DEVICE void* place() const { return const_cast<void*>(data); }
  // After the call; `got`: it has written elements.
  GGAS_DEVICE int end(bool got, int error) {
    if (packed && got && error == MPI_SUCCESS) packed->unpack(packed->bytes);
    if (packed) free_items(packed);
    return first_of(wrong, error);
  }
};

// The same for parts of any length, one for each rank. Counts and places become those of bytes.
struct packed_parts {
  const void* data;
  const int *counts, *places;
  MPI_Datatype type;
  derived_type* made = nullptr;
  vector_parts items{};
  int ranks = 0;
  char* memory = nullptr;
  int wrong = MPI_SUCCESS;

  GGAS_DEVICE packed_parts(const void* d, const int* n, const int* at, MPI_Datatype t, MPI_Comm comm, bool used)
      : data(d), counts(n), places(at), type(t) {
    if (!used || !derived(t)) return;
    made = derived(t);
    items = {d, n, at, t};
    ranks = comm_good(comm) ? size_of(comm) : 0;
    wrong = comm_good(comm) ? check() : MPI_ERR_COMM;
    if (wrong == MPI_SUCCESS) pack();
    if (!memory) type = MPI_DATATYPE_NULL;  // the call takes part without data
  }
  GGAS_DEVICE uint64_t size() const { return static_cast<uint64_t>(made->shape.size); }
  GGAS_DEVICE int check() const {
    if (!counts || !places) return MPI_ERR_ARG;
    int64_t all = 0;
    for (int r = 0; r < ranks; ++r) {
      if (counts[r] < 0) return MPI_ERR_COUNT;
      all += counts[r];
    }
    if (limited_product(all, made->shape.size) >> 31 != 0) return MPI_ERR_COUNT;
    return check_items(data, all, *made, MPI_COMM_WORLD);
  }
  GGAS_DEVICE char* item(int rank) const {
    return as_bytes(items.data) + items.displacements[rank] * made->shape.extent();
  }
  GGAS_DEVICE void move(item_move how) const {
    for (int r = 0; r < ranks; ++r)
      move_items(*made, item(r), as_bytes(data) + places[r], 0, static_cast<uint64_t>(counts[r]), how);
  }
  // Counts, places and packed data are in one piece of memory.
  GGAS_DEVICE void pack() {
    uint64_t all = 0;
    for (int r = 0; r < ranks; ++r) all += static_cast<uint64_t>(counts[r]) * size();
    memory = new_memory<char>(static_cast<int64_t>(all) + 8 * int64_t{ranks});
    if (!memory) {
      wrong = MPI_ERR_OTHER;
      return;
    }
    auto* const n = reinterpret_cast<int*>(memory);
    int at = 0;
    for (int r = 0; r < ranks && rank_group{}.leads(); ++r) {
      n[r] = items.counts[r] * made->shape.size;
      n[ranks + r] = at;
      at += n[r];
    }
    counts = n;
    places = n + ranks;
    data = memory + 8 * ranks;
    type = MPI_BYTE;
    rank_group{}.sync();
    move(item_move::pack);
  }
  GGAS_DEVICE void* place() const { return const_cast<void*>(data); }
  GGAS_DEVICE int end(bool got, int error) const {
    if (memory && got && error == MPI_SUCCESS) move(item_move::unpack);
    if (memory) free_memory(memory);
    return first_of(wrong, error);
  }
};

GGAS_DEVICE int ranks_of(MPI_Comm comm) { return comm_good(comm) ? size_of(comm) : 1; }
GGAS_DEVICE bool receives_as(int root, MPI_Comm comm) { return is_other(comm) ? root == rank_in(comm) : is_root(root); }

}  // namespace ggas::mpi

GGAS_DEVICE_FUNCTION int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  using namespace ggas::mpi;
  packed_call all(buffer, count, type, comm, true);
  return all.end(true, broadcast(all.place(), all.count, all.type, root, comm));
}
GGAS_DEVICE_FUNCTION int MPI_Gather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                                    MPI_Datatype to_type, int root, MPI_Comm comm) {
  using namespace ggas::mpi;
  const bool receives = receives_as(root, comm);
  packed_call own(from, count, type, comm, !(receives && in_place(from)));
  packed_call all(to, to_count, to_type, comm, receives, ranks_of(comm));
  const int error = gather(own.data, own.count, own.type, all.place(), all.count, all.type, root, comm);
  return own.end(false, all.end(receives, error));
}
GGAS_DEVICE_FUNCTION int MPI_Scatter(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                                     MPI_Datatype to_type, int root, MPI_Comm comm) {
  using namespace ggas::mpi;
  const bool sends = receives_as(root, comm), same = sends && in_place(to);
  packed_call all(from, count, type, comm, sends, ranks_of(comm));
  packed_call own(to, to_count, to_type, comm, !same);
  const int error = scatter(all.data, all.count, all.type, own.place(), own.count, own.type, root, comm);
  return all.end(false, own.end(true, error));
}
GGAS_DEVICE_FUNCTION int MPI_Allgather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                                       MPI_Datatype to_type, MPI_Comm comm) {
  using namespace ggas::mpi;
  packed_call own(from, count, type, comm, !in_place(from));
  packed_call all(to, to_count, to_type, comm, true, ranks_of(comm));
  const int error = allgather(own.data, own.count, own.type, all.place(), all.count, all.type, comm);
  return own.end(false, all.end(true, error));
}
GGAS_DEVICE_FUNCTION int MPI_Alltoall(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                                      MPI_Datatype to_type, MPI_Comm comm) {
  using namespace ggas::mpi;
  packed_call own(from, count, type, comm, !in_place(from), ranks_of(comm));
  packed_call all(to, to_count, to_type, comm, true, ranks_of(comm));
  const int error = alltoall(own.data, own.count, own.type, all.place(), all.count, all.type, comm);
  return own.end(false, all.end(true, error));
}
GGAS_DEVICE_FUNCTION int MPI_Gatherv(const void* from, int count, MPI_Datatype type, void* to, const int* counts,
                                     const int* displacements, MPI_Datatype to_type, int root, MPI_Comm comm) {
  using namespace ggas::mpi;
  const bool receives = receives_as(root, comm);
  packed_call own(from, count, type, comm, !(receives && in_place(from)));
  packed_parts all(to, counts, displacements, to_type, comm, receives);
  const int error =
      gather_vector(own.data, own.count, own.type, all.place(), all.counts, all.places, all.type, root, comm);
  return own.end(false, all.end(receives, error));
}
GGAS_DEVICE_FUNCTION int MPI_Allgatherv(const void* from, int count, MPI_Datatype type, void* to, const int* counts,
                                        const int* displacements, MPI_Datatype to_type, MPI_Comm comm) {
  using namespace ggas::mpi;
  packed_call own(from, count, type, comm, !in_place(from));
  packed_parts all(to, counts, displacements, to_type, comm, true);
  const int error =
      allgather_vector(own.data, own.count, own.type, all.place(), all.counts, all.places, all.type, comm);
  return own.end(false, all.end(true, error));
}
GGAS_DEVICE_FUNCTION int MPI_Scatterv(const void* from, const int* counts, const int* displacements, MPI_Datatype type,
                                      void* to, int count, MPI_Datatype to_type, int root, MPI_Comm comm) {
  using namespace ggas::mpi;
  const bool sends = receives_as(root, comm), same = sends && in_place(to);
  packed_parts all(from, counts, displacements, type, comm, sends);
  packed_call own(to, count, to_type, comm, !same);
  const int error =
      scatter_vector(all.data, all.counts, all.places, all.type, own.place(), own.count, own.type, root, comm);
  return all.end(false, own.end(true, error));
}
GGAS_DEVICE_FUNCTION int MPI_Alltoallv(const void* from, const int* counts, const int* displacements, MPI_Datatype type,
                                       void* to, const int* to_counts, const int* to_displacements,
                                       MPI_Datatype to_type, MPI_Comm comm) {
  using namespace ggas::mpi;
  packed_parts own(from, counts, displacements, type, comm, !in_place(from));
  packed_parts all(to, to_counts, to_displacements, to_type, comm, true);
  const int error =
      alltoall_vector(own.data, own.counts, own.places, own.type, all.place(), all.counts, all.places, all.type, comm);
  return own.end(false, all.end(true, error));
}

// ---- parts of a reduction: all ranks have all of it, and keep their part

namespace ggas::mpi {
// `all`: numbers of the whole, negative: the call is wrong. This rank's part is `count` numbers from `first` on.
GGAS_DEVICE_FUNCTION int reduce_scatter(const void* from, void* to, int all, int first, int count, MPI_Datatype type,
                                        MPI_Op op, MPI_Comm comm) {
  char* const whole = new_memory<char>(static_cast<int64_t>(bytes_of(all > 0 ? all : 0, type)));
  const int error = MPI_Allreduce(in_place(from) ? to : from, whole, all, type, op, comm);
  if (error == MPI_SUCCESS) copy_here(to, whole + bytes_of(first, type), bytes_of(count, type));
  if (whole) free_memory(whole);
  return whole ? error : MPI_ERR_OTHER;
}
}  // namespace ggas::mpi

GGAS_DEVICE_FUNCTION int MPI_Reduce_scatter_block(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                                                  MPI_Comm comm) {
  using namespace ggas::mpi;
  const int me = comm_good(comm) ? rank_in(comm) : 0;
  return reduce_scatter(from, to, count * ranks_of(comm), me * count, count, type, op, comm);
}
// `counts`: numbers of each rank's part.
GGAS_DEVICE_FUNCTION int MPI_Reduce_scatter(const void* from, void* to, const int* counts, MPI_Datatype type, MPI_Op op,
                                            MPI_Comm comm) {
  using namespace ggas::mpi;
  const int me = comm_good(comm) ? rank_in(comm) : 0;
  int all = counts ? 0 : -1, first = 0;
  for (int r = 0; counts && r < ranks_of(comm) && all >= 0; ++r) {
    if (r == me) first = all;
    all = counts[r] < 0 ? -1 : all + counts[r];
  }
  return reduce_scatter(from, to, all, first, all < 0 ? 0 : counts[me], type, op, comm);
}
