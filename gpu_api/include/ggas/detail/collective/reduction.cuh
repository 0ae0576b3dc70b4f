// SPDX-License-Identifier: Apache-2.0
// What the methods of reduce and allreduce share: operations, elements by the line. Included by collective.cuh.
#pragma once

#include "ggas/detail/collective/channel.cuh"

#ifdef __CUDACC__
struct __half;
struct __nv_bfloat16;
#endif

namespace ggas::detail {

template <class T>
constexpr bool is_plain_integer = is_integer<T> && !is_same<T, bool>;
// Operations on bits exist for integers only.
template <class T>
GGAS_DEVICE constexpr bool operation_good(ggas_op op) {
  return static_cast<unsigned>(op) <= (is_plain_integer<T> ? ggas_xor : ggas_prod);
}

// An operation as a function of two elements. Where the function is inline the compiler knows the operation, as if each
// operation had a type. A generic lambda is not possible with NVRTC.
template <class T>
struct operation {
  enum class way { bits, sum, product, least_or_greatest };
  way by;
  uint64_t both, either;  // of bits: those of a & b and of a ^ b that count
  bool least;

  GGAS_DEVICE T operator()(T a, T b) const {
    if constexpr (is_plain_integer<T>) {
      if (by == way::bits) return static_cast<T>((a & b & static_cast<T>(both)) | ((a ^ b) & static_cast<T>(either)));
    }
    if (by == way::sum) return static_cast<T>(a + b);
    if (by == way::product) return static_cast<T>(a * b);
    return extreme(least, a, b);
  }
};

// Calls f(operation) inline: one selection for everything that f combines. For four consecutive cases the compiler
// makes a jump table in memory, so the three operations on bits are one case.
template <class T, class F>
GGAS_DEVICE void with_operation(ggas_op op, F f) {
  using way = typename operation<T>::way;
  if constexpr (is_plain_integer<T>) {
    constexpr uint64_t all = ~uint64_t{0};
    if (op >= ggas_and) return f(operation<T>{way::bits, op == ggas_xor ? 0 : all, op == ggas_and ? 0 : all, false});
  }
  if (op == ggas_sum) return f(operation<T>{way::sum, 0, 0, false});
  if (op == ggas_prod) return f(operation<T>{way::product, 0, 0, false});
  f(operation<T>{way::least_or_greatest, 0, 0, op == ggas_min});
}
template <class T>
GGAS_DEVICE T combine(ggas_op op, T a, T b) {
  with_operation<T>(op, [&](operation<T> combined) GGAS_INLINED { a = combined(a, b); });
  return a;
}

constexpr int everybody = -1;  // for root: an allreduce

// The part of a vector that a block works on.
template <class T>
struct piece {
  T* dst;
  const T* src;
  size_t n;
  ggas_op op;
  int root;         // rank of who gets the result, or every member
  size_t step = 0;  // elements from what is for one member to what is for the next: 0: every member gets the same

  GGAS_DEVICE piece part(size_t first, size_t count) const {
    return {dst ? dst + first : dst, src + first, count, op, root, step};  // dst is null where the result does not go
  }
  GGAS_DEVICE piece to(int rank) const { return {dst, src, n, op, rank, step}; }
  GGAS_DEVICE const T* source(int member) const { return src + static_cast<size_t>(member) * step; }
  GGAS_DEVICE bool goes_to(int rank) const { return root == everybody || root == rank; }
};

// What elements of type T are combined as: integers by size and sign, so that one piece of code is for all of them.
template <class T>
using number_of = either_t<!is_plain_integer<T>, T,
                           either_t<sizeof(T) == 1, either_t<has_sign<T>, int8_t, uint8_t>,
                                    either_t<sizeof(T) == 2, either_t<has_sign<T>, int16_t, uint16_t>,
                                             either_t<sizeof(T) == 4, either_t<has_sign<T>, int32_t, uint32_t>,
                                                      either_t<has_sign<T>, int64_t, uint64_t>>>>>;
template <class T>
GGAS_DEVICE piece<number_of<T>> piece_of_numbers(T* dst, const T* src, size_t n, ggas_op op, int root,
                                                 size_t step = 0) {
  using N = number_of<T>;
#ifdef GGAS_LINKED
  static_assert(
      is_plain_integer<T> || is_floating<T> || is_same<T, __half> || is_same<T, __nv_bfloat16>,
      "libggas_device reduces integers, float, double, __half and __nv_bfloat16; others: without GGAS_LINKED");
#endif
  return {reinterpret_cast<N*>(dst), reinterpret_cast<const N*>(src), n, op, root, step};
}

// A line's data as elements, and back.
template <class T>
struct elements {
  static constexpr unsigned count = 8 / sizeof(T);
  T v[count];
};
template <class T>
GGAS_DEVICE elements<T> elements_of(uint64_t data) {
  elements<T> e;
  memcpy(&e, &data, sizeof data);
  return e;
}
template <class T>
GGAS_DEVICE uint64_t data_of(const elements<T>& e) {
  uint64_t data;
  memcpy(&data, &e, sizeof data);
  return data;
}

template <class T>
GGAS_DEVICE bool pair_at_once(const T* p, size_t i, size_t n) {
  return (i + 1) * elements<T>::count <= n && reinterpret_cast<uintptr_t>(p) % 8 == 0;
}

// Elements of line i of a vector of n. Its end may be half a line.
template <class T>
GGAS_DEVICE uint64_t load_elements(const T* src, size_t i, size_t n) {
  if (pair_at_once(src, i, n)) return load_own(reinterpret_cast<const uint64_t*>(src) + i);
  elements<T> e{};
  for (unsigned k = 0; k < elements<T>::count; ++k) {
    const size_t at = i * elements<T>::count + k;
    if (at < n) e.v[k] = load_own(src + at);
  }
  return data_of(e);
}
template <class T>
GGAS_DEVICE void store_elements(T* dst, size_t i, size_t n, uint64_t data) {
  if (pair_at_once(dst, i, n)) return store_own(reinterpret_cast<uint64_t*>(dst) + i, data);
  const elements<T> e = elements_of<T>(data);
  for (unsigned k = 0; k < elements<T>::count; ++k) {
    const size_t at = i * elements<T>::count + k;
    if (at < n) store_own(dst + at, e.v[k]);
  }
}

// The elements of two lines, by `combined`.
template <class T>
GGAS_DEVICE uint64_t combine_lines(operation<T> combined, uint64_t a, uint64_t b) {
  elements<T> x = elements_of<T>(a);
  const elements<T> y = elements_of<T>(b);
  GGAS_UNROLL
  for (unsigned k = 0; k < elements<T>::count; ++k) x.v[k] = combined(x.v[k], y.v[k]);
  return data_of(x);
}
template <class T>
GGAS_DEVICE uint64_t combine_data(ggas_op op, uint64_t a, uint64_t b) {
  with_operation<T>(op, [&](operation<T> combined) GGAS_INLINED { a = combine_lines<T>(combined, a, b); });
  return a;
}

// For n of 1 or more.
template <class T>
GGAS_DEVICE size_t lines_of(size_t n) {
  return (n - 1) / elements<T>::count + 1;
}

// Member `hop` places after this one.
GGAS_DEVICE int member_behind(const channel& c, int hop) {
  const int i = c.rank + hop;
  return i < c.team.size ? i : i - c.team.size;
}

}  // namespace ggas::detail
