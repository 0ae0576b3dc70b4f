// SPDX-License-Identifier: Apache-2.0
// Reductions of MPI. If threads are ranks: in a fixed tree over the threads of a block by shuffles and shared memory,
// then over blocks in their order. Otherwise over ranks in their order. So the same ranks always give the same bits.
//
// Who puts one number into a reduction is a unit: a block of threads, else a rank. Numbers go into rows on every node,
// in which those of all units lie next to each other, so that they are loaded at once and from the own memory. Rows
// have two halves, which take turns as those of the stages do (collectives.cuh).
//
// Included by mpi.cuh.
#pragma once

#include "ggas/detail/mpi/numbers.cuh"

#include "ggas/detail/mpi/folds_by_messages.cuh"

namespace ggas::mpi {

// ---- over all ranks

// Of all units. The first rank of a block knows it.
GGAS_DEVICE int own_unit() {
  return stages().own_unit + (detail::is_same<rank_group, warp> ? static_cast<int>(detail::thread_rank() / 32) : 0);
}

// Of number i in a half.
GGAS_DEVICE uint64_t place_of_number(int unit, uint64_t half, uint64_t i) {
  const stage_facts& f = stages();
  return f.numbers + (half * f.rows + i) * f.row_bytes + static_cast<unsigned>(unit) * message_layout::number_bytes;
}
// On every node. By all threads of a unit if it is a block of threads, else by one.
template <class T>
GGAS_DEVICE void put_in_rows(uint64_t half, uint64_t i, const maybe<T>& v) {
  static_assert(sizeof v <= message_layout::number_bytes);
  constexpr bool by_block = detail::is_same<rank_group, thread>;
  const int nodes = world().blocks.nodes.size, step = by_block ? static_cast<int>(detail::thread_count()) : 1;
  for (int node = by_block ? static_cast<int>(detail::thread_rank()) : 0; node < nodes; node += step)
    detail::store_relaxed(ggas_pointer_of_node<maybe<T>>(node, place_of_number(own_unit(), half, i)), v);
}
// Those of `count` units from the first on, in their order. Some are loaded at once.
template <class T>
GGAS_DEVICE maybe<T> fold_units(MPI_Op op, int first, int count, uint64_t half, uint64_t i) {
  constexpr int at_once = 4;
  const char* at = reinterpret_cast<const char*>(detail::own_word(place_of_number(first, half, i)));
  maybe<T> all{T{}, 0};
  GGAS_NO_UNROLL
  for (int n = count; n > 0; n -= at_once, at += at_once * message_layout::number_bytes) {
    maybe<T> some[at_once];
    GGAS_UNROLL
    for (int k = 0; k < at_once; ++k)
      some[k] = k < n ? detail::load_relaxed(reinterpret_cast<const maybe<T>*>(at + static_cast<unsigned>(k) *
                                                                                        message_layout::number_bytes))
                      : maybe<T>{T{}, 0};
    GGAS_UNROLL
    for (int k = 0; k < at_once; ++k) all = combined(op, all, some[k]);
  }
  return all;
}

// Number i of all ranks; of threads by the whole block, each for some of the units.
template <class T>
GGAS_DEVICE maybe<T> fold_all(MPI_Op op, uint64_t half, uint64_t i) {
  const int all = stages().units;
  if constexpr (detail::is_same<rank_group, thread>) {
    const int each = stages().units_each, first = static_cast<int>(detail::thread_rank()) * each,
              mine = first + each < all ? each : all - first;
    return fold_block(op, fold_units<T>(op, first, mine, half, i), static_cast<unsigned>(stages().folding));
  } else {
    return fold_units<T>(op, 0, all, half, i);
  }
}

// Whether the caller reads and writes numbers of a buffer of its rank, and which.
struct number_share {
  uint64_t first, step;
  GGAS_DEVICE explicit number_share(const void* buffer) {
    const rank_group g;
    const bool alone = g.size() > 1 && detail::is_private(buffer);
    first = alone && !g.leads() ? ~uint64_t{0} : alone ? 0 : g.rank();
    step = alone ? 1 : g.size();
  }
};

// Numbers `begin` ... of a piece go into the rows.
template <class T>
GGAS_DEVICE void put_numbers(MPI_Op op, uint64_t half, const void* from, uint64_t begin, uint64_t n, bool there) {
  if constexpr (detail::is_same<rank_group, thread>) {
    uint64_t i = 0;
    GGAS_NO_UNROLL
    do {
      const bool mine = there && i < n;
      const maybe<T> own{mine ? read_number<T>(from, begin + i) : T{}, mine};
      put_in_rows(half, i, fold_block(op, own, detail::thread_count()));
    } while (any_of_block(++i < n));
  } else {
    const number_share share(from);
    GGAS_NO_UNROLL
    for (uint64_t i = share.first; i < n; i += share.step)
      put_in_rows(half, i, maybe<T>{there ? read_number<T>(from, begin + i) : T{}, there});
  }
}
template <class T, class Fold>
GGAS_DEVICE void take_numbers(void* to, uint64_t begin, uint64_t n, bool wanted, Fold fold) {
  if constexpr (detail::is_same<rank_group, thread>) {
    GGAS_NO_UNROLL
    for (uint64_t i = 0; any_of_block(wanted && i < n); ++i) {
      const maybe<T> v = fold(i);
      if (wanted && i < n && v.there) write_number(to, begin + i, v.v);
    }
  } else if (wanted) {
    const number_share share(to);
    GGAS_NO_UNROLL
    for (uint64_t i = share.first; i < n; i += share.step) {
      const maybe<T> v = fold(i);
      if (v.there) write_number(to, begin + i, v.v);
    }
  }
}

// Pieces of up to `most` numbers; fold(half, i) is what number i of a piece becomes. By a rank alone: put(...) does not
// combine.
template <class T, class Put, class Fold>
GGAS_DEVICE int reduce_pieces(uint64_t most, uint64_t count, void* to, bool wanted, Put put, Fold fold) {
  uint64_t begin = 0;
  do {
    const uint64_t left = begin < count ? count - begin : 0, n = left < most ? left : most, half = next_half();
    put(half, begin, n);
    const int error = meet();
    if (error != MPI_SUCCESS) return error;
    take_numbers<T>(to, begin, n, wanted, [&](uint64_t i) { return fold(half, i); });
    begin += n;
  } while (any_of_block(begin < count));
  rank_group{}.sync();
  return MPI_SUCCESS;
}

struct reduction {
  const void* from;
  void* to;
  int count;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm comm;
  bool wanted;  // this rank has a result
  GGAS_DEVICE int check() const {
    const int wrong = first_of(check_data(from, count, type, comm), wanted ? check_data(to, count, type, comm) : 0);
    return wrong != MPI_SUCCESS ? wrong : op_good(op, type) ? MPI_SUCCESS : MPI_ERR_OP;
  }
};
// For numbers of one type, compiled once for all calls. `good`: this rank has numbers.
template <class T>
GGAS_DEVICE_FUNCTION int reduce_type(const void* from, void* to, uint64_t count, MPI_Op op, bool wanted, bool good) {
  return reduce_pieces<T>(
      stages().rows, count, to, wanted && good,
      [&](uint64_t half, uint64_t begin, uint64_t n) { put_numbers<T>(op, half, from, begin, n, good); },
      [&](uint64_t half, uint64_t i) { return fold_all<T>(op, half, i); });
}
struct reduce_numbers {
  const reduction& r;
  bool good;
  int& error;
  template <class T>
  GGAS_DEVICE void operator()(T) const {
    error = reduce_type<T>(r.from, r.to, static_cast<uint64_t>(r.count), r.op, r.wanted, good);
  }
};

// What all ranks of a reduction have in common.
struct reduction_terms {
  int count;
  MPI_Datatype type;
  MPI_Op op;
};
// The threads of a block go the same way: those whose terms are wrong take those of the others. If all are wrong, they
// say that none of the numbers of a piece is there.
GGAS_DEVICE_FUNCTION reduction_terms terms_of_block(reduction_terms own, bool right) {
  const reduction_terms nothing{static_cast<int>(stages().rows), MPI_INT, MPI_SUM};
  if constexpr (detail::is_same<rank_group, thread>) {
    GGAS_SHARED(reduction_terms, terms);
    __syncthreads();
    if (detail::is_first_thread()) terms = nothing;
    __syncthreads();
    if (right) terms = own;
    __syncthreads();
    return terms;
  } else {
    return right ? own : nothing;
  }
}
GGAS_DEVICE void go_with_the_others(reduction& r) {
  const bool has_type = type_good(r.type) && r.type != MPI_PACKED,
             right = r.count >= 0 && has_type && op_good(r.op, r.type);
  if (!any_of_block(!right)) return;
  const reduction_terms terms = terms_of_block({r.count, r.type, r.op}, right);
  r.count = terms.count;
  r.op = terms.op;
  if (!has_type) r.type = terms.type;  // so a type that the compiler knows stays one that it knows
}
GGAS_DEVICE int reduce_all(reduction r, int wrong) {
  if (in_place(r.from)) r.from = r.to;
  wrong = first_of(wrong, r.check());
  go_with_the_others(r);
  int error = MPI_SUCCESS;
  with_type(r.type, reduce_numbers{r, wrong == MPI_SUCCESS, error});
  return after(wrong, error);
}

// Numbers of ranks 0 ... `last` - 1: each rank reads those before it.
template <class T>
GGAS_DEVICE void put_for_scan(const void* from, uint64_t half, uint64_t begin, uint64_t n, bool good) {
  const number_share share(from);
  GGAS_NO_UNROLL
  for (uint64_t i = share.first; i < n; i += share.step)
    put_number(stage_of(ggas_message_rank(world()), half) + i * place_bytes<T>,
               maybe<T>{good ? read_number<T>(from, begin + i) : T{}, good});
}
template <class T>
GGAS_DEVICE_FUNCTION int scan_type(const void* from, void* to, uint64_t count, MPI_Op op, int last, bool good) {
  return reduce_pieces<T>(
      half_bytes() / place_bytes<T>, count, to, good,
      [&](uint64_t half, uint64_t begin, uint64_t n) { put_for_scan<T>(from, half, begin, n, good); },
      [&](uint64_t half, uint64_t i) {
        maybe<T> all{T{}, 0};
        for (int rank = 0; rank < last; ++rank)
          all = combined(op, all, take_number<T>(stage_of(rank, half) + i * place_bytes<T>));
        return all;
      });
}
struct scan_numbers {
  const reduction& r;
  bool good;
  int last;
  int& error;
  template <class T>
  GGAS_DEVICE void operator()(T) const {
    error = scan_type<T>(r.from, r.to, static_cast<uint64_t>(r.count), r.op, last, good);
  }
};
GGAS_DEVICE int scan_all(reduction r, bool inclusive) {
  if (in_place(r.from)) r.from = r.to;
  const int wrong = r.check(), last = ggas_message_rank(world()) + (inclusive ? 1 : 0);
  go_with_the_others(r);
  int error = MPI_SUCCESS;
  with_type(r.type, scan_numbers{r, wrong == MPI_SUCCESS, last, error});
  return after(wrong, error);
}

// In communicators but MPI_COMM_WORLD.
GGAS_DEVICE int fold_in(fold_kind kind, reduction r, int root) {
  if (in_place(r.from)) r.from = r.to;
  const int wrong = first_of(check_root_of(root, r.comm), r.check());
  return wrong != MPI_SUCCESS ? wrong : fold_by_messages(kind, r.from, r.to, r.count, r.type, r.op, root, r.comm);
}

}  // namespace ggas::mpi

GGAS_DEVICE int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
                           MPI_Comm comm) {
  using namespace ggas::mpi;
  if (is_other(comm))
    return keep_together(comm,
                         fold_in(fold_kind::reduce, {from, to, count, type, op, comm, root == rank_in(comm)}, root));
  return reduce_all({from, to, count, type, op, comm, is_root(root)}, check_root(root));
}
GGAS_DEVICE int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  using namespace ggas::mpi;
  if (is_other(comm))
    return keep_together(comm, fold_in(fold_kind::allreduce, {from, to, count, type, op, comm, true}, 0));
  return reduce_all({from, to, count, type, op, comm, true}, MPI_SUCCESS);
}
GGAS_DEVICE int MPI_Scan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  using namespace ggas::mpi;
  if (is_other(comm)) return keep_together(comm, fold_in(fold_kind::scan, {from, to, count, type, op, comm, true}, 0));
  return scan_all({from, to, count, type, op, comm, true}, true);
}
// `to` of rank 0 stays as it is.
GGAS_DEVICE int MPI_Exscan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  using namespace ggas::mpi;
  if (is_other(comm))
    return keep_together(comm, fold_in(fold_kind::exscan, {from, to, count, type, op, comm, true}, 0));
  return scan_all({from, to, count, type, op, comm, true}, false);
}
