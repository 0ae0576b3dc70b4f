// SPDX-License-Identifier: Apache-2.0
// Reductions of MPI. If threads are ranks: in a fixed tree over the threads of a block by shuffles and shared memory,
// then over blocks in their order. Otherwise over ranks in their order. So the same ranks always give the same bits.
//
// Who puts one number into a reduction is a unit: a block of threads, else a rank. A few numbers go into rows on every
// node, in which those of all units lie next to each other, so that they are loaded at once and from the own memory.
// More go on the units' stages. Both have two halves, which take turns as those of collectives.cuh.
//
// Included by mpi.cuh.
#pragma once

#include "ggas/detail/mpi/numbers.cuh"

#include "ggas/detail/mpi/folds_by_messages.cuh"

namespace ggas::mpi {

// ---- over all ranks

// `count` numbers that lie at equal distances, in their order. Some are loaded at once.
template <class T, class Take>
GGAS_DEVICE void fold_places(MPI_Op op, const char* at, uint64_t distance, int count, maybe<T>& all, Take take) {
  constexpr int at_once = 4;
  GGAS_NO_UNROLL
  for (int n = count; n > 0; n -= at_once, at += at_once * distance) {
    maybe<T> some[at_once];
    GGAS_UNROLL
    for (int k = 0; k < at_once; ++k)
      some[k] = k < n ? take(at + static_cast<unsigned>(k) * distance) : maybe<T>{T{}, 0};
    GGAS_UNROLL
    for (int k = 0; k < at_once; ++k) all = combined(op, all, some[k]);
  }
}

// Of all units. The first rank of a block knows it.
GGAS_DEVICE int own_unit() {
  return stages().own_unit + (detail::is_same<rank_group, warp> ? static_cast<int>(detail::thread_rank() / 32) : 0);
}

// The rows of a half. By all threads of a unit if it is a block of threads, else by one.
struct number_rows {
  uint64_t half;
  GGAS_DEVICE static uint64_t most(uint64_t) { return message_layout::short_numbers; }
  GGAS_DEVICE uint64_t number(int unit, uint64_t i) const {
    return stages().numbers + (half * message_layout::short_numbers + i) * stages().row_bytes +
           static_cast<unsigned>(unit) * message_layout::number_bytes;
  }
  template <class T>
  GGAS_DEVICE void put(uint64_t i, const maybe<T>& v) const {
    static_assert(sizeof v <= message_layout::number_bytes);
    constexpr bool by_block = detail::is_same<rank_group, thread>;
    const int nodes = world().blocks.nodes.size, step = by_block ? static_cast<int>(detail::thread_count()) : 1;
    for (int node = by_block ? static_cast<int>(detail::thread_rank()) : 0; node < nodes; node += step)
      detail::store_relaxed(ggas_pointer_of_node<maybe<T>>(node, number(own_unit(), i)), v);
  }
  template <class T>
  GGAS_DEVICE maybe<T> fold(MPI_Op op, int first, int count, uint64_t i) const {
    maybe<T> all{T{}, 0};
    if (count > 0)
      fold_places(op, reinterpret_cast<const char*>(detail::own_word(number(first, i))), message_layout::number_bytes,
                  count, all,
                  [](const char* at) { return detail::load_relaxed(reinterpret_cast<const maybe<T>*>(at)); });
    return all;
  }
};

// A half of the stages. Those of the units of a node lie at equal distances.
struct number_stages {
  uint64_t half;
  GGAS_DEVICE static uint64_t most(uint64_t place_bytes) { return half_bytes() / place_bytes; }
  template <class T>
  GGAS_DEVICE void put(uint64_t i, const maybe<T>& v) const {
    if (detail::is_same<rank_group, thread> && detail::thread_rank() != 0) return;
    put_number(stage_of(own_unit() * stages().unit_ranks, half) + i * place_bytes<T>, v);
  }
  template <class T>
  GGAS_DEVICE maybe<T> fold(MPI_Op op, int first, int count, uint64_t i) const {
    const int step = stages().unit_ranks, of_node = stages().units_of_node, end = first + count;
    const uint64_t distance = static_cast<unsigned>(step) * stages().distance;
    int node = 0, number = first;  // of the unit in its node
    if (count > 0 && number >= of_node) {
      node = first / of_node;
      number = first % of_node;
    }
    maybe<T> all{T{}, 0};
    GGAS_NO_UNROLL
    for (int u = first; u < end; ++node, number = 0) {
      int n = of_node - number;  // up to the end of the node
      if (n > end - u) n = end - u;
      fold_places(op, stage_at(node, number * step, half) + i * place_bytes<T>, distance, n, all, take_number<T>);
      u += n;
    }
    return all;
  }
};

// Number i of all ranks; of threads by the whole block, each for some of the units.
template <class T, class Places>
GGAS_DEVICE maybe<T> fold_all(MPI_Op op, const Places& places, uint64_t i) {
  const int all = stages().units;
  if constexpr (detail::is_same<rank_group, thread>) {
    const int each = stages().units_each, first = static_cast<int>(detail::thread_rank()) * each,
              mine = first + each < all ? each : all - first;
    return fold_block(op, places.template fold<T>(op, first, mine, i), static_cast<unsigned>(stages().folding));
  } else {
    return places.template fold<T>(op, 0, all, i);
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

// Numbers `begin` ... of a piece go to their places.
template <class T, class Places>
GGAS_DEVICE void put_numbers(MPI_Op op, const Places& places, const void* from, uint64_t begin, uint64_t n,
                             bool there) {
  if constexpr (detail::is_same<rank_group, thread>) {
    uint64_t i = 0;
    GGAS_NO_UNROLL
    do {
      const bool mine = there && i < n;
      const maybe<T> own{mine ? read_number<T>(from, begin + i) : T{}, mine};
      places.put(i, fold_block(op, own, detail::thread_count()));
    } while (any_of_block(++i < n));
  } else {
    const number_share share(from);
    GGAS_NO_UNROLL
    for (uint64_t i = share.first; i < n; i += share.step)
      places.put(i, maybe<T>{there ? read_number<T>(from, begin + i) : T{}, there});
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

// Piece by piece; fold(half, i) is what number i of a piece becomes. By a rank alone: put(...) does not combine.
template <class T, class Places, class Put, class Fold>
GGAS_DEVICE int reduce_pieces(uint64_t count, void* to, bool wanted, Put put, Fold fold) {
  const uint64_t most = Places::most(place_bytes<T>);
  uint64_t begin = 0;
  do {
    const uint64_t left = begin < count ? count - begin : 0, n = left < most ? left : most;
    const Places places{next_half()};
    put(places, begin, n);
    const int error = meet();
    if (error != MPI_SUCCESS) return error;
    take_numbers<T>(to, begin, n, wanted, [&](uint64_t i) { return fold(places, i); });
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
template <class T, class Places>
GGAS_DEVICE_FUNCTION int reduce_type(const void* from, void* to, uint64_t count, MPI_Op op, bool wanted, bool good) {
  return reduce_pieces<T, Places>(
      count, to, wanted && good,
      [&](const Places& places, uint64_t begin, uint64_t n) { put_numbers<T>(op, places, from, begin, n, good); },
      [&](const Places& places, uint64_t i) { return fold_all<T>(op, places, i); });
}
struct reduce_numbers {
  const reduction& r;
  bool is_short, good;
  int& error;
  template <class T>
  GGAS_DEVICE void operator()(T) const {
    const auto count = static_cast<uint64_t>(r.count);
    error = is_short ? reduce_type<T, number_rows>(r.from, r.to, count, r.op, r.wanted, good)
                     : reduce_type<T, number_stages>(r.from, r.to, count, r.op, r.wanted, good);
  }
};

// What all ranks of a reduction have in common.
struct reduction_terms {
  int count;
  MPI_Datatype type;
  MPI_Op op;
};
constexpr int most_short = message_layout::short_numbers;
// The threads of a block go the same way: those whose terms are wrong take those of the others. If all are wrong, they
// say that none of the numbers of a short reduction is there.
GGAS_DEVICE_FUNCTION reduction_terms terms_of_block(reduction_terms own, bool right) {
  const reduction_terms nothing{most_short, MPI_INT, MPI_SUM};
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
GGAS_DEVICE int reduce_all(reduction r, int wrong) {
  if (in_place(r.from)) r.from = r.to;
  wrong = first_of(wrong, r.check());
  const bool has_type = type_good(r.type), right = r.count >= 0 && has_type && op_good(r.op, r.type);
  bool is_short = true;
  if (any_of_block(!right || r.count > most_short)) {
    const reduction_terms terms = terms_of_block({r.count, r.type, r.op}, right);
    r.count = terms.count;
    r.op = terms.op;
    if (!has_type) r.type = terms.type;  // so a type that the compiler knows stays one that it knows
    is_short = terms.count <= most_short;
  }
  int error = MPI_SUCCESS;
  with_type(r.type, reduce_numbers{r, is_short, wrong == MPI_SUCCESS, error});
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
  return reduce_pieces<T, number_stages>(
      count, to, good,
      [&](const number_stages& places, uint64_t begin, uint64_t n) {
        put_for_scan<T>(from, places.half, begin, n, good);
      },
      [&](const number_stages& places, uint64_t i) {
        maybe<T> all{T{}, 0};
        for (int rank = 0; rank < last; ++rank)
          all = combined(op, all, take_number<T>(stage_of(rank, places.half) + i * place_bytes<T>));
        return all;
      });
}
struct scan_numbers {
  const reduction& r;
  uint64_t count;
  bool good;
  int last;
  int& error;
  template <class T>
  GGAS_DEVICE void operator()(T) const {
    error = scan_type<T>(r.from, r.to, count, r.op, last, good);
  }
};
GGAS_DEVICE int scan_all(reduction r, bool inclusive) {
  if (in_place(r.from)) r.from = r.to;
  const int wrong = r.check(), last = ggas_message_rank(world()) + (inclusive ? 1 : 0);
  int error = MPI_SUCCESS;
  const uint64_t count = r.count < 0 ? 0 : static_cast<uint64_t>(r.count);
  const bool known = with_type(r.type, scan_numbers{r, count, wrong == MPI_SUCCESS, last, error});
  return after(wrong, known ? error : MPI_ERR_TYPE);
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
