// SPDX-License-Identifier: Apache-2.0
// The shared data of UPC: pointers to shared and shared arrays with the language's arithmetic (docs/upc.md). Host and
// device; calls for kernels: upc.cuh. A UPC thread is a node.
#pragma once

#include "ggas/detail/platform/call.hpp"
#include "ggas/detail/platform/integers.hpp"

namespace ggas::upc {

// [*] of an array of `elements`: what makes each thread's part one block.
GGAS_LAYOUT_FN uint64_t star(uint64_t elements, uint64_t threads) { return (elements + threads - 1) / threads; }

namespace detail {

template <class T>
struct element {
  static constexpr int64_t bytes = sizeof(T);
  static constexpr uint64_t unit = alignof(T);
};
template <>
struct element<void> : element<char> {};
template <>
struct element<const void> : element<char> {};

// Whether a U* is a T*, as T is void or const void.
template <class U, class T>
constexpr bool becomes_void = false;
template <class U>
constexpr bool becomes_void<U, const void> = !ggas::detail::is_same<U, const void>;
template <class U>
constexpr bool becomes_void<U, void> = !ggas::detail::is_same<U, void>;
template <class U>
constexpr bool becomes_void<const U, void> = false;

GGAS_LAYOUT_FN unsigned bits_below(uint64_t n) {
  unsigned bits = 0;
  while (n > uint64_t{1} << bits) ++bits;
  return bits;
}
// a / b rounded down, for b > 0.
GGAS_LAYOUT_FN int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace detail

// Shared [B] T* in 64 bits. B = 1: cyclic, B = 0: indefinite, all in one thread. 14 bits are the thread. The next bits
// are the phase: the number of bits that B needs (10 in void*, which keeps the phase of another pointer). The rest
// counts units of T's alignment from the start of the thread's segment, up to `largest` bytes. All bits zero is null:
// no object lies there.
template <class T, uint64_t B = 1>
class shared_ptr {
 public:
  using element_type = T;
  static constexpr uint64_t block = B;
  static constexpr bool is_void = ggas::detail::is_same<T, void> || ggas::detail::is_same<T, const void>;
  static constexpr unsigned thread_bits = 14, phase_bits = is_void ? 10 : ggas::upc::detail::bits_below(B);
  static constexpr unsigned offset_bits = 64 - thread_bits - phase_bits;
  static constexpr uint64_t largest = ((uint64_t{1} << offset_bits) - 1) * ggas::upc::detail::element<T>::unit;
  static_assert(phase_bits <= 24, "a block has at most 2^24 elements");

  constexpr shared_ptr() = default;
  // `offset` in bytes, a multiple of T's alignment, at most `largest`; `phase` below B, or 0.
  GGAS_LAYOUT_FN shared_ptr(uint64_t thread, uint64_t phase, uint64_t offset)
      : bits_(thread << (64 - thread_bits) | phase << offset_bits | offset / unit) {}

  // To shared void*, without being asked for. A phase that it has no room for is 0.
  template <class U, uint64_t C>
  requires(B == 0 && ggas::upc::detail::becomes_void<U, T>) GGAS_LAYOUT_FN shared_ptr(const shared_ptr<U, C>& p)
      : shared_ptr(p.thread(), p.phase() >> phase_bits == 0 ? p.phase() : 0, p.offset()) {}

  GGAS_LAYOUT_FN uint64_t thread() const { return bits_ >> (64 - thread_bits); }  // upc_threadof
  GGAS_LAYOUT_FN uint64_t phase() const {                                         // upc_phaseof
    return bits_ << thread_bits >> thread_bits >> offset_bits;
  }
  // upc_addrfield: bytes from the start of the thread's segment.
  GGAS_LAYOUT_FN uint64_t offset() const { return (bits_ & ((uint64_t{1} << offset_bits) - 1)) * unit; }
  GGAS_LAYOUT_FN uint64_t bits() const { return bits_; }
  GGAS_LAYOUT_FN explicit operator bool() const { return bits_ != 0; }

  // p + n and p - q among so many threads; q is of the same array.
  GGAS_LAYOUT_FN shared_ptr advance(int64_t n, uint64_t threads) const {
    if constexpr (B == 0) {
      return {thread(), 0, static_cast<uint64_t>(static_cast<int64_t>(offset()) + n * size)};
    } else {
      const auto own = static_cast<int64_t>(phase());
      const int64_t blocks = ggas::upc::detail::floor_div(own + n, side), now = own + n - blocks * side;
      const auto all = static_cast<int64_t>(threads), from = static_cast<int64_t>(thread()) + blocks;
      const int64_t rounds = ggas::upc::detail::floor_div(from, all);
      return {static_cast<uint64_t>(from - rounds * all), static_cast<uint64_t>(now),
              static_cast<uint64_t>(static_cast<int64_t>(offset()) + (rounds * side + now - own) * size)};
    }
  }
  GGAS_LAYOUT_FN int64_t distance(const shared_ptr& q, uint64_t threads) const {
    if constexpr (B == 0) {
      return (static_cast<int64_t>(offset()) - static_cast<int64_t>(q.offset())) / size;
    } else {
      const int64_t in_block = static_cast<int64_t>(phase()) - static_cast<int64_t>(q.phase());
      const auto in_round = static_cast<int64_t>(thread()) - static_cast<int64_t>(q.thread());
      return (row() - q.row()) / size * static_cast<int64_t>(threads) + in_round * side + in_block;
    }
  }

  // Whether both point to the same place; phases do not count.
  GGAS_LAYOUT_FN bool operator==(const shared_ptr& q) const { return thread() == q.thread() && offset() == q.offset(); }
  // For pointers into one array.
  GGAS_LAYOUT_FN bool operator<(const shared_ptr& q) const {
    if (row() != q.row()) return row() < q.row();
    return thread() != q.thread() ? thread() < q.thread() : offset() < q.offset();
  }
  GGAS_LAYOUT_FN bool operator>(const shared_ptr& q) const { return q < *this; }
  GGAS_LAYOUT_FN bool operator<=(const shared_ptr& q) const { return !(q < *this); }
  GGAS_LAYOUT_FN bool operator>=(const shared_ptr& q) const { return !(*this < q); }

  // (shared [C] U*)p: the phase is 0, unless size and block of the elements stay, or one of the two is void*.
  template <class U, uint64_t C = 1>
  GGAS_LAYOUT_FN shared_ptr<U, C> cast() const {
    constexpr bool keeps = C == B && ggas::upc::detail::element<U>::bytes == size && !is_void;
    if constexpr (shared_ptr<U, C>::is_void && !is_void) return shared_ptr<U, C>(*this);
    return {thread(), keeps || (is_void && phase() < C) ? phase() : 0, offset()};
  }

 private:
  static constexpr int64_t size = ggas::upc::detail::element<T>::bytes, side = static_cast<int64_t>(B);
  static constexpr uint64_t unit = ggas::upc::detail::element<T>::unit;
  // Where the block begins.
  GGAS_LAYOUT_FN int64_t row() const { return static_cast<int64_t>(offset()) - static_cast<int64_t>(phase()) * size; }
  uint64_t bits_ = 0;
};

using shared_void = shared_ptr<void, 0>;
using shared_const_void = shared_ptr<const void, 0>;

template <class T, uint64_t B>
GGAS_LAYOUT_FN shared_ptr<T, B> resetphase(const shared_ptr<T, B>& p) {  // upc_resetphase
  return {p.thread(), 0, p.offset()};
}

// Bytes that thread `t` has of an object of so many in blocks of `block` bytes; 0: thread 0 has all. upc_affinitysize.
GGAS_LAYOUT_FN uint64_t affinity_bytes(uint64_t bytes, uint64_t block, uint64_t t, uint64_t threads) {
  if (block == 0) return t == 0 ? bytes : 0;
  const uint64_t whole = bytes / block, rounds = whole / threads, rest = whole % threads;
  return rounds * block + (t < rest ? block : t == rest ? bytes % block : 0);
}

// Place of element i, of `bytes` bytes, of a shared [block] T[]. `first` points to its first element and has phase 0.
// If `block` is 0 all elements lie on the thread of `first`.
GGAS_LAYOUT_FN shared_void element_place(const shared_const_void& first, uint64_t block, uint64_t i, uint64_t bytes,
                                         uint64_t threads) {
  if (block == 0) return {first.thread(), 0, first.offset() + i * bytes};
  const uint64_t row = first.thread() + i / block;
  return {row % threads, 0, first.offset() + (row / threads * block + i % block) * bytes};
}

template <class T, uint64_t B>
class shared_ref;  // upc.cuh

// Shared [B] T a[elements], at the same offset of every thread's segment. B = 0: all of it is thread 0's.
template <class T, uint64_t B = 1>
struct shared_array {
  uint64_t at, elements;
  uint32_t threads;

  // Bytes of each thread's segment, a multiple of whole blocks.
  GGAS_LAYOUT_FN static uint64_t bytes(uint64_t elements, uint64_t threads) {
    if constexpr (B == 0) return elements * sizeof(T);
    return star(star(elements, B), threads) * B * sizeof(T);
  }
  // &a[i], for every i up to `elements`.
  GGAS_LAYOUT_FN shared_ptr<T, B> operator+(uint64_t i) const {
    return shared_ptr<T, B>{0, 0, at}.advance(static_cast<int64_t>(i), threads);
  }
  GGAS_LAYOUT_FN uint64_t thread_of(uint64_t i) const { return (*this + i).thread(); }
  GGAS_LAYOUT_FN shared_ref<T, B> operator[](uint64_t i) const;  // in kernels: upc.cuh
};

}  // namespace ggas::upc

// upc_op_t of UPC's reductions.
enum upc_op_t : unsigned {
  UPC_ADD,
  UPC_MULT,
  UPC_AND,
  UPC_OR,
  UPC_XOR,
  UPC_LOGAND,
  UPC_LOGOR,
  UPC_MIN,
  UPC_MAX,
  UPC_FUNC,         // of the caller: commutative and associative
  UPC_NONCOMM_FUNC  // associative
};

namespace ggas::upc::detail {

// Bits have no meaning in a float.
template <class T>
GGAS_LAYOUT_FN bool takes(upc_op_t op) {
  constexpr bool is_float = static_cast<T>(0.5) != static_cast<T>(0);
  return op <= UPC_NONCOMM_FUNC && !(is_float && op >= UPC_AND && op <= UPC_XOR);
}

// What UPC_FUNC calls: a function of two T; without it a null pointer.
template <class F, class T>
concept combines = ggas::detail::is_same<F, decltype(nullptr)> || requires(F f, T a) {
  static_cast<T>(f(a, a));
};
template <class T, class F>
GGAS_LAYOUT_FN T apply(upc_op_t op, T a, T b, F func) {
  if constexpr (static_cast<T>(0.5) == static_cast<T>(0)) {
    if (op == UPC_AND) return static_cast<T>(a & b);
    if (op == UPC_OR) return static_cast<T>(a | b);
    if (op == UPC_XOR) return static_cast<T>(a ^ b);
  }
  switch (op) {
    case UPC_ADD:
      return static_cast<T>(a + b);
    case UPC_MULT:
      return static_cast<T>(a * b);
    case UPC_LOGAND:
      return static_cast<T>(a != T{0} && b != T{0});
    case UPC_LOGOR:
      return static_cast<T>(a != T{0} || b != T{0});
    case UPC_MIN:
      return b < a ? b : a;
    case UPC_MAX:
      return a < b ? b : a;
    default:
      if constexpr (!ggas::detail::is_same<F, decltype(nullptr)>) return func(a, b);
      return a;  // refused before
  }
}

}  // namespace ggas::upc::detail
