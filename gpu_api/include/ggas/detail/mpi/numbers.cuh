// SPDX-License-Identifier: Apache-2.0
// Numbers of reductions: types, operations, and a fold of those of a block's threads. Included by reductions.cuh.
#pragma once

#include "ggas/detail/mpi/collectives.cuh"

namespace ggas::mpi {

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

// ---- within a block: the numbers of its threads, in their order; all of them have the result

template <class T>
GGAS_DEVICE maybe<T> fold_lanes(MPI_Op op, maybe<T> v, unsigned lanes) {
  const unsigned lane = detail::lane_rank();
  if (__all_sync(detail::lane_mask(), v.there || lane >= lanes)) [[likely]] {  // the same tree to lane 0
    const auto other = [&](unsigned d) { return static_cast<T>(__shfl_down_sync(detail::lane_mask(), v.v, d)); };
    if (op == MPI_SUM) {
      GGAS_UNROLL
      for (unsigned d = 1; d < 32; d *= 2) {
        if (d >= lanes) break;
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
// Of the first `count` threads. A block barrier lies between two folds of a block.
template <class T>
GGAS_DEVICE maybe<T> fold_block(MPI_Op op, maybe<T> v, unsigned count) {
  GGAS_SHARED_ARRAY(maybe<T>, of_warps, 33);
  const unsigned threads = detail::thread_count(), warps = (count + 31) / 32, warp = detail::thread_rank() / 32,
                 lane = detail::lane_rank();
  if (warp < warps) v = fold_lanes(op, v, warp + 1 < warps ? 32 : count - warp * 32);
  if (lane == 0) of_warps[warp] = v;
  __syncthreads();
  const bool has_narrow_warp = threads % 32 != 0 && threads % 32 < warps;  // which has not a lane for each warp
  if (warp == 0 || !has_narrow_warp) {
    v = fold_lanes(op, lane < warps ? of_warps[lane] : maybe<T>{T{}, 0}, warps);
    v = {static_cast<T>(__shfl_sync(detail::lane_mask(), v.v, 0)), __shfl_sync(detail::lane_mask(), v.there, 0)};
  }
  if (has_narrow_warp) {
    if (detail::thread_rank() == 0) of_warps[32] = v;
    __syncthreads();
    v = of_warps[32];
  }
  return v;
}

}  // namespace ggas::mpi
