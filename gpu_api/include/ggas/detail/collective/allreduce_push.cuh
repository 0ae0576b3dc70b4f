// SPDX-License-Identifier: Apache-2.0
// allreduce of long vectors by stores only, which links carry faster than loads. The vector is cut into a slice for
// each member, which that member sums up. Data from the others are buffered in the member's own destination, in their
// slices, which are unused until the results arrive. So a block goes through its chunks of every slice one by one:
//
//   scatter(k)    chunk k of every other member's slice goes into that member's destination, at this member's slice
//   reduce(k)     chunk k of the own slice, of every member: all have scattered theirs
//   broadcast(k)  its sum goes to every member, over the data that this member had sent: all have reduced chunk k
//
// One exchange for each chunk reports both of the last two conditions; the next chunk is scattered in the meantime.
// Included by collective.cuh.
#pragma once

#include "ggas/detail/collective/allreduce_direct.cuh"

namespace ggas::detail {

// Bytes of a chunk: at most a quarter of what a block has of a slice, but no less and not much more than pays.
constexpr uint64_t least_chunk = 8 * 1024, most_chunk = 128 * 1024;

template <class T>
class pusher {
 public:
  // `at` becomes the places of what this member combines.
  GGAS_DEVICE pusher(channel& c, vector_table& at, const piece<T>& p, unsigned block, unsigned blocks)
      : c_(c), at_(at), p_(p), block_(block), blocks_(blocks), cut_(at.src[0], p.n * sizeof(T)) {
    const auto members = static_cast<uint64_t>(c.team.size);
    each_ = (cut_.tail - cut_.head) / (wide * members) * wide;
    const uint64_t part = up(each_, blocks), few = up(part, most_chunk), sector = 128;
    const uint64_t even = up(up(part, few < 4 ? 4 : few), sector) * sector;
    chunk_ = even < least_chunk ? least_chunk : even;
    chunks_ = static_cast<unsigned>(up(each_, blocks * chunk_));
  }

  GGAS_DEVICE ggas_status run(poll_deadline& end) {
    move_rest();
    gather_places();
    scatter(0);
    for (unsigned k = 0;; ++k) {
      __syncthreads();
      const ggas_status s = finish_stores(
          c_, [&] { scatter(k + 1); }, end);
      if (k > chunks_ || !next_exchange(c_, s)) return s;
      reduce(k);
      if (k > 0) broadcast(k - 1);
    }
  }

 private:
  GGAS_DEVICE static uint64_t up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

  // Chunk k of the block in a slice: its offset in the slice and its bytes. The chunks of all blocks are adjacent. None
  // after the last one.
  struct chunk {
    uint64_t at, bytes;
    GGAS_DEVICE uint64_t units() const { return bytes / wide; }
  };
  GGAS_DEVICE chunk chunk_of(unsigned k) const {
    const uint64_t at = (uint64_t{k} * blocks_ + block_) * chunk_;
    return {at, at >= each_ ? 0 : each_ - at < chunk_ ? each_ - at : chunk_};
  }
  // After the start of a vector.
  GGAS_DEVICE uint64_t slice(int member) const { return cut_.head + static_cast<uint64_t>(member) * each_; }
  GGAS_DEVICE word_pair* there(int member, const chunk& k) const {
    return reinterpret_cast<word_pair*>(at_.dst[member] + slice(c_.rank) + k.at);
  }

  // Elements that make no slices of one size: loaded from every member by the last member.
  GGAS_DEVICE void move_rest() const {
    if (c_.rank != c_.team.size - 1) return;
    const unit_moves m(c_, at_, p_);
    move_singly<T>(m, byte_range{0, cut_.head, block_, blocks_});
    move_singly<T>(m, byte_range{slice(c_.team.size), cut_.bytes, block_, blocks_});
  }
  // What member i has for this member's slice waits at i's slice of the own destination.
  GGAS_DEVICE void gather_places() {
    __syncthreads();
    for (int i = static_cast<int>(thread_rank()); i < c_.team.size; i += static_cast<int>(thread_count()))
      if (i != c_.rank) at_.src[i] = at_.dst[c_.rank] + slice(i) - slice(c_.rank);
    __syncthreads();
  }
  GGAS_DEVICE void scatter(unsigned number) const {
    const chunk k = chunk_of(number);
    GGAS_NO_UNROLL
    for (int hop = 1; hop < c_.team.size; ++hop) {
      const int to = member_behind(c_, hop);
      const auto* const from =
          reinterpret_cast<const word_pair*>(reinterpret_cast<uint64_t>(p_.src) + slice(to) + k.at);
      move_aligned<origin::own>(there(to, k), from, k.units(), movers{thread_rank(), thread_count()});
    }
  }
  GGAS_DEVICE void reduce(unsigned number) const {
    const chunk k = chunk_of(number);
    const uint64_t first = slice(c_.rank) + k.at;
    const piece<T> own = p_.to(c_.rank);
    move_widely<T>(unit_moves(c_, at_, own), byte_range{first, first + k.bytes, 0, 1});
  }
  GGAS_DEVICE void broadcast(unsigned number) const {
    const chunk k = chunk_of(number);
    const word_pair* const sum = there(c_.rank, k);
    move_each<words_in_flight>(
        k.units(), movers{thread_rank(), thread_count()}, [=](uint64_t i) { return load_relaxed(sum + i); },
        [&](uint64_t i, const word_pair& v) {
          GGAS_NO_UNROLL
          for (int hop = 1; hop < c_.team.size; ++hop) store_relaxed(there(member_behind(c_, hop), k) + i, v);
        });
  }

  channel& c_;
  vector_table& at_;
  const piece<T>& p_;
  const unsigned block_, blocks_;
  const vector_cut cut_;
  uint64_t each_, chunk_;  // bytes of a slice, of a chunk
  unsigned chunks_;        // of the block with most: exchanges are as many at every member
};

// By push or read, where no member works in place; else as direct.
template <class T>
GGAS_DEVICE ggas_status push_or_read(channel& c, const piece<T>& p, bool push, unsigned block, unsigned blocks,
                                     poll_deadline& end) {
  return between_places(c, p, end, [&](vector_table& at) {
    const bool in_place = somebody_in_place(c, at, p);
    if (push && !in_place && congruent(c, at, p)) return pusher<T>(c, at, p, block, blocks).run(end);
    if (push || in_place)
      move_part(c, at, p, block, blocks);
    else
      move_all(c, at, p, block, blocks);
    __syncthreads();
    return finish_stores(
        c, [] {}, end);
  });
}

}  // namespace ggas::detail
