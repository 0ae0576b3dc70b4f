// SPDX-License-Identifier: Apache-2.0
// Reductions of MPI. If threads are ranks: in a fixed tree over the threads of a block by shuffles and shared memory,
// then over blocks in their order. Otherwise over ranks in their order. So the same ranks always give the same bits.
// Included by mpi.cuh.
#pragma once

#include "ggas/detail/mpi/collectives.cuh"

namespace ggas::mpi {

// ---- numbers

// Calls f(T{}) with the C++ type of a numeric datatype. Returns false for any other datatype. `f` cannot be a lambda,
// because NVRTC accepts no lambda whose parameters are templates.
template <class F>
GGAS_DEVICE bool with_type(MPI_Datatype type, const F& f) {
  switch (type) {
    case MPI_CHAR:
    case MPI_SIGNED_CHAR:
      return f(int8_t{}), true;
    case MPI_UNSIGNED_CHAR:
    case MPI_BYTE:
      return f(uint8_t{}), true;
    case MPI_SHORT:
      return f(int16_t{}), true;
    case MPI_UNSIGNED_SHORT:
      return f(uint16_t{}), true;
    case MPI_INT:
      return f(int32_t{}), true;
    case MPI_UNSIGNED:
      return f(uint32_t{}), true;
    case MPI_LONG:
    case MPI_LONG_LONG:
      return f(int64_t{}), true;
    case MPI_UNSIGNED_LONG:
    case MPI_UNSIGNED_LONG_LONG:
      return f(uint64_t{}), true;
    case MPI_FLOAT:
      return f(float{}), true;
    case MPI_DOUBLE:
      return f(double{}), true;
    default:
      return false;
  }
}
GGAS_DEVICE bool op_good(MPI_Op op, MPI_Datatype type) {
  if (op < MPI_SUM || op > MPI_BXOR) return false;
  const bool real = type == MPI_FLOAT || type == MPI_DOUBLE;
  return type == MPI_BYTE ? op >= MPI_BAND : type != MPI_PACKED && (!real || op <= MPI_MAX);
}
// Sums of short integers are those modulo their size. The other operations are a function: a loop that contains all of
// them needs twice the registers.
template <class T>
GGAS_DEVICE_FUNCTION T combined_otherwise(MPI_Op op, T a, T b) {
  if constexpr (!detail::is_floating<T>) {
    switch (op) {
      case MPI_LAND:
        return static_cast<T>(a && b);
      case MPI_LOR:
        return static_cast<T>(a || b);
      case MPI_LXOR:
        return static_cast<T>(!a != !b);
      case MPI_BAND:
        return static_cast<T>(a & b);
      case MPI_BOR:
        return static_cast<T>(a | b);
      case MPI_BXOR:
        return static_cast<T>(a ^ b);
      default:
        break;
    }
  }
  if (op == MPI_PROD) return static_cast<T>(a * b);
  return (op == MPI_MIN) == (b < a) ? b : a;
}
template <class T>
GGAS_DEVICE T combined(MPI_Op op, T a, T b) {
  if (op == MPI_SUM) [[likely]]
    return static_cast<T>(a + b);
  return combined_otherwise(op, a, b);
}

// A number that may be missing: an erroneous call, a thread that has none.
template <class T>
struct maybe {
  T v;
  int there;
};
template <class T>
GGAS_DEVICE maybe<T> combined(MPI_Op op, const maybe<T>& a, const maybe<T>& b) {
  return !a.there ? b : !b.there ? a : maybe<T>{combined(op, a.v, b.v), 1};
}
// On a stage: the number, and in the first byte after it whether it is there.
template <class T>
constexpr uint64_t place_bytes = 2 * sizeof(T);
template <class T>
GGAS_DEVICE void put_number(char* at, const maybe<T>& v) {
  *reinterpret_cast<T*>(at) = v.v;
  at[sizeof(T)] = static_cast<char>(v.there);
}
template <class T>
GGAS_DEVICE maybe<T> take_number(const char* at) {
  return {detail::load_relaxed(reinterpret_cast<const T*>(at)), detail::load_relaxed(at + sizeof(T))};
}
// At any address.
template <class T>
GGAS_DEVICE T read_number(const void* from, uint64_t i) {
  T v;
  memcpy(&v, static_cast<const char*>(from) + i * sizeof(T), sizeof(T));
  return v;
}
template <class T>
GGAS_DEVICE void write_number(void* to, uint64_t i, const T& v) {
  memcpy(static_cast<char*>(to) + i * sizeof(T), &v, sizeof(T));
}

}  // namespace ggas::mpi

#include "ggas/detail/mpi/folds_by_messages.cuh"

namespace ggas::mpi {

// ---- within a block: the numbers of its threads, in their order; all of them have the result

template <class T>
GGAS_DEVICE maybe<T> fold_lanes(MPI_Op op, maybe<T> v, unsigned lanes) {
  const unsigned lane = detail::lane_rank();
  if (__all_sync(detail::lane_mask(), v.there || lane >= lanes)) [[likely]] {  // the same tree to lane 0
    const auto other = [&](unsigned d) { return static_cast<T>(__shfl_down_sync(detail::lane_mask(), v.v, d)); };
    if (op == MPI_SUM) {
      GGAS_UNROLL
      for (unsigned d = 1; d < 32; d *= 2) {
        const T o = other(d);
        if (lane + d < lanes) v.v = static_cast<T>(v.v + o);
      }
    } else {
      GGAS_NO_UNROLL
      for (unsigned d = 1; d < lanes; d *= 2) {
        const T o = other(d);
        if (lane + d < lanes) v.v = combined_otherwise(op, v.v, o);
      }
    }
    return v;
  }
  GGAS_NO_UNROLL
  for (unsigned d = 1; d < 32; d *= 2) {
    const maybe<T> other{static_cast<T>(__shfl_down_sync(detail::lane_mask(), v.v, d)),
                         __shfl_down_sync(detail::lane_mask(), v.there, d)};
    if (lane % (2 * d) == 0 && lane + d < lanes) v = combined(op, v, other);
  }
  return v;
}
template <class T>
GGAS_DEVICE maybe<T> fold_block(MPI_Op op, maybe<T> v) {
  GGAS_SHARED_ARRAY(maybe<T>, of_warps, 33);
  const unsigned warp = detail::thread_rank() / 32, warps = (detail::thread_count() + 31) / 32;
  v = fold_lanes(op, v, detail::lane_count());
  __syncthreads();  // the result of the fold before was read
  if (detail::lane_rank() == 0) of_warps[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = detail::lane_rank() < warps ? of_warps[detail::lane_rank()] : maybe<T>{T{}, 0};
    v = fold_lanes(op, v, warps);  // a short block has one warp
    if (detail::thread_rank() == 0) of_warps[32] = v;
  }
  __syncthreads();
  return of_warps[32];
}

// ---- over all ranks

// Who puts a number on a stage is a unit: a block of threads, else a rank. Units are in the order of ranks.

// The stages of `count` units from the first on, one number of each, in their order. Some are loaded at once. Stages of
// the units of a node lie at equal distances.
template <class T>
GGAS_DEVICE maybe<T> fold_units(MPI_Op op, int first, int count, uint64_t half, uint64_t i) {
  constexpr int at_once = 4;
  const int step = stages().unit_ranks, of_node = stages().units_of_node, end = first + count;
  const uint64_t distance = static_cast<unsigned>(step) * stages().distance;
  int node = 0, number = first;  // of the unit in its node
  if (number >= of_node) {
    node = first / of_node;
    number = first % of_node;
  }
  maybe<T> all{T{}, 0};
  GGAS_NO_UNROLL
  for (int u = first; u < end; ++node, number = 0) {
    int n = of_node - number;  // up to the end of the node
    if (n > end - u) n = end - u;
    const char* at = stage_at(node, number * step, half) + i * place_bytes<T>;
    u += n;
    GGAS_NO_UNROLL
    for (; n > 0; n -= at_once, at += at_once * distance) {
      maybe<T> some[at_once];
      GGAS_UNROLL
      for (int k = 0; k < at_once; ++k)
        some[k] = k < n ? take_number<T>(at + static_cast<unsigned>(k) * distance) : maybe<T>{T{}, 0};
      GGAS_UNROLL
      for (int k = 0; k < at_once; ++k) all = combined(op, all, some[k]);
    }
  }
  return all;
}
// Number i of all ranks; of threads by the whole block, each for some of the units.
template <class T>
GGAS_DEVICE maybe<T> fold_all(MPI_Op op, uint64_t half, uint64_t i) {
  const int all = stages().units;
  if constexpr (detail::is_same<rank_group, thread>) {
    const auto threads = static_cast<int>(detail::thread_count()), me = static_cast<int>(detail::thread_rank());
    const int each = (all + threads - 1) / threads, first = me * each < all ? me * each : all;
    return fold_block(op, fold_units<T>(op, first, first + each < all ? each : all - first, half, i));
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

// Numbers `begin` ... of a piece go on the stages.
template <class T>
GGAS_DEVICE void put_numbers(MPI_Op op, uint64_t half, const void* from, uint64_t begin, uint64_t n, bool there) {
  if constexpr (detail::is_same<rank_group, thread>) {
    const auto block = static_cast<int>(detail::block_rank() - world().blocks.first);
    char* const stage = stage_at(ggas_node(), block * stages().unit_ranks, half);
    uint64_t i = 0;
    GGAS_NO_UNROLL
    do {
      const bool mine = there && i < n;
      const maybe<T> own{mine ? read_number<T>(from, begin + i) : T{}, mine};
      const maybe<T> all = fold_block(op, own);
      if (detail::thread_rank() == 0) put_number(stage + i * place_bytes<T>, all);
    } while (any_of_block(++i < n));
  } else {
    char* const stage = stage_of(ggas_message_rank(world()), half);
    const number_share share(from);
    GGAS_NO_UNROLL
    for (uint64_t i = share.first; i < n; i += share.step)
      put_number(stage + i * place_bytes<T>, maybe<T>{there ? read_number<T>(from, begin + i) : T{}, there});
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
template <class T, class Put, class Fold>
GGAS_DEVICE int reduce_pieces(uint64_t count, void* to, bool wanted, Put put, Fold fold) {
  const uint64_t most = half_bytes() / place_bytes<T>;
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
      count, to, wanted && good,
      [&](uint64_t half, uint64_t begin, uint64_t n) { put_numbers<T>(op, half, from, begin, n, good); },
      [&](uint64_t half, uint64_t i) { return fold_all<T>(op, half, i); });
}
struct reduce_numbers {
  const reduction& r;
  uint64_t count;
  bool good;
  int& error;
  template <class T>
  GGAS_DEVICE void operator()(T) const {
    error = reduce_type<T>(r.from, r.to, count, r.op, r.wanted, good);
  }
};
GGAS_DEVICE int reduce_all(reduction r, int wrong) {
  if (in_place(r.from)) r.from = r.to;
  wrong = first_of(wrong, r.check());
  int error = MPI_SUCCESS;
  const uint64_t count = r.count < 0 ? 0 : static_cast<uint64_t>(r.count);
  const bool known = with_type(r.type, reduce_numbers{r, count, wrong == MPI_SUCCESS, error});
  return after(wrong, known ? error : MPI_ERR_TYPE);
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
      count, to, good, [&](uint64_t half, uint64_t begin, uint64_t n) { put_for_scan<T>(from, half, begin, n, good); },
      [&](uint64_t half, uint64_t i) {
        maybe<T> all{T{}, 0};
        for (int rank = 0; rank < last; ++rank)
          all = combined(op, all, take_number<T>(stage_of(rank, half) + i * place_bytes<T>));
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
