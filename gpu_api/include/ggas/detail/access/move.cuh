// SPDX-License-Identifier: Apache-2.0
// Copies by the calling threads: puts and gets where peers' memory is accessed directly, and collectives. Stores at the
// target have 16 bytes for any alignment, and several loads are in flight before the first store. Included by
// group.cuh.
//
// The largest unit of up to 8 bytes that divides both addresses and the length is never torn.
#pragma once

#include "ggas/detail/access/access.cuh"

namespace ggas::detail {

struct alignas(16) word_pair {
  uint64_t lo, hi;
};

constexpr unsigned words_in_flight = 8;  // of one thread

// Where the source lies: in a peer's memory, or in own memory. In own memory the first-level cache may answer, and the
// caller's barriers order earlier writes.
enum class origin { own, remote };

// Number of 16-byte words that a thread loads before it stores the first one (measured on an H200).
//
// * Short copies from own memory are faster with few words: 256 KB by a block of 256 threads take 7.74 us with 4, 7.88
//   with 8, 16.6 with 16.
// * Long copies by few blocks are faster with more: 1 GiB by 12 blocks of 512 reaches 364 GB/s with 8 and 338 with 4.
// * A block that loads from a peer is fastest with still more. It has enough registers for them only if it has at most
//   half of the largest number of threads.
constexpr unsigned pairs_in_flight = 8, pairs_of_short_copies = 4, pairs_from_peer = 12;
constexpr uint64_t long_copy = 256;  // words of a thread
constexpr unsigned half_block = 512;

template <origin From, class T>
GGAS_DEVICE T load_from(const T* p) {
  if constexpr (From == origin::own) return load_own(p);
  return load_relaxed(p);
}

// The threads that copy: `count` threads; the caller is number `rank`. meet() synchronises the copying lanes of a warp
// (stores of diverged lanes do not coalesce), and waits for no other lane. movers_of() (group.cuh) makes this object
// for a group.
//
// One thread, or all lanes of some warps.
struct movers {
  unsigned rank, count;
  GGAS_DEVICE void meet() const {
    if (count > 1) sync_lanes();
  }
  GGAS_DEVICE movers backwards() const { return {count - 1 - rank, count}; }
};
// Some lanes of one warp. Apart from the others, because a mask that the compiler does not know takes time.
struct movers_of_warp {
  unsigned rank, count, lanes;
  GGAS_DEVICE void meet() const { __syncwarp(lanes); }
  GGAS_DEVICE movers_of_warp backwards() const { return {count - 1 - rank, count, lanes}; }
};

// store(i, load(i)) for all i < n, neighbours on neighbours.
template <unsigned Words, class By, class Load, class Store>
GGAS_DEVICE void move_each(uint64_t n, const By& by, Load load, Store store) {
  by.meet();
  const unsigned rank = by.rank, count = by.count;
  const uint64_t turn = uint64_t{Words} * count;
  decltype(load(n)) v[Words] = {};
  uint64_t base = 0;
  for (; base + turn <= n; base += turn) {
    GGAS_UNROLL
    for (unsigned w = 0; w < Words; ++w) v[w] = load(base + w * count + rank);
    GGAS_UNROLL
    for (unsigned w = 0; w < Words; ++w) store(base + w * count + rank, v[w]);
  }
  if (base == n) return;
  GGAS_UNROLL
  for (unsigned w = 0; w < Words; ++w) {
    if (base + w * count + rank < n) v[w] = load(base + w * count + rank);
  }
  GGAS_UNROLL
  for (unsigned w = 0; w < Words; ++w) {
    if (base + w * count + rank < n) store(base + w * count + rank, v[w]);
  }
}

// To to[i].
template <unsigned Words, class T, class By, class Load>
GGAS_DEVICE void move_words(T* to, uint64_t n, const By& by, Load load) {
  move_each<Words>(n, by, load, [to](uint64_t i, const T& v) { store_relaxed(to + i, v); });
}

// Moves any length between any addresses, and multiples of 16 bytes. Not inline: there is one copy for all calls of a
// program, so its registers are not added to those of the calls.
template <origin From, class By>
GGAS_APART void move_aligned(word_pair* to, const word_pair* from, uint64_t words, By by);
template <origin From, class By>
GGAS_APART void move_misaligned(char* to, const char* from, uint64_t bytes, By by);

// All of that, for calls that have few registers to spare.
template <origin From, class By>
GGAS_APART void move_long(void* to, const void* from, uint64_t bytes, By by);

// No barrier in it: that the source was written before, and that the target is read after, is the caller's affair.
template <origin From, class By>
GGAS_DEVICE void move_bytes(void* to, const void* from, uint64_t bytes, const By& by) {
  const auto all = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | bytes;
  if (bytes == 8 && all % 8 == 0) {
    if (by.rank == 0) store_relaxed(static_cast<uint64_t*>(to), load_from<From>(static_cast<const uint64_t*>(from)));
  } else if (all % 16 == 0) {
    move_aligned<From>(static_cast<word_pair*>(to), static_cast<const word_pair*>(from), bytes / 16, by);
  } else {
    move_misaligned<From>(static_cast<char*>(to), static_cast<const char*>(from), bytes, by);
  }
}

// Elements as they are, one an access.
template <class T>
GGAS_DEVICE void move_elements(T* to, const T* from, size_t n, const movers& by) {
  check_access_type<T>();
  move_words<words_in_flight>(to, n, by, [=](uint64_t i) { return load_relaxed(from + i); });
}

}  // namespace ggas::detail

template <class T>
GGAS_DEVICE void ggas_store_warp(T* remote, const T* local, size_t n) {
  ggas::detail::move_elements(remote, local, n, {ggas::detail::lane_rank(), ggas::detail::lane_count()});
}
template <class T>
GGAS_DEVICE void ggas_store_block(T* remote, const T* local, size_t n) {
  ggas::detail::move_elements(remote, local, n, {ggas::detail::thread_rank(), ggas::detail::thread_count()});
  __syncthreads();
}
template <class T>
GGAS_DEVICE void ggas_load_warp(T* local, const T* remote, size_t n) {
  ggas::detail::move_elements(local, remote, n, {ggas::detail::lane_rank(), ggas::detail::lane_count()});
}
template <class T>
GGAS_DEVICE void ggas_load_block(T* local, const T* remote, size_t n) {
  ggas::detail::move_elements(local, remote, n, {ggas::detail::thread_rank(), ggas::detail::thread_count()});
  __syncthreads();
}
