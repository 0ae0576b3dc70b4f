// SPDX-License-Identifier: Apache-2.0
// The calls of ranks that move data, each as a type: the numbers of parts that a rank has and gets, and how they are
// moved directly or through buffers. Included by ranks.cuh.
#pragma once

#include "ggas/detail/ranks/buffered.cuh"

namespace ggas::detail {

// Members of each relocation. `rooted`: the partner is the root; `permutes`: the partner is the target; otherwise there
// is no single partner. `in_place`: the source may be a part of the destination, or the reverse. straight(call, move,
// partner, end) moves by M; whole(...) uses a buffer of needs(bytes, ranks, is root) bytes, packets(...) a buffer of
// any length.
struct broadcast_of_ranks {
  static constexpr bool rooted = true, permutes = false, in_place = true;
  static GGAS_DEVICE parts_there dst(int) { return {1, true}; }
  static GGAS_DEVICE parts_there src(int) { return {1, false}; }
  static GGAS_DEVICE size_t needs(size_t bytes, int, bool root) { return root ? 0 : bytes; }
  template <class M>
  static GGAS_DEVICE ggas_status straight(const rank_call& c, const M& m, int root, poll_deadline& end) {
    return broadcast_to_ranks(c, m, root, end);
  }
  static GGAS_DEVICE ggas_status whole(const rank_call& c, const own_data& d, int root, poll_deadline& end) {
    return straight(c, all_of(c, d), root, end);
  }
  static GGAS_DEVICE ggas_status packets(rank_call& c, const own_data& d, int root, poll_deadline& end) {
    return by_packets(c, d,
                      [&](size_t at, size_t bytes) { return straight(c, packet_of(c, d, at, bytes), root, end); });
  }
};

struct scatter_of_ranks {
  static constexpr bool rooted = true, permutes = false, in_place = true;
  static GGAS_DEVICE parts_there dst(int) { return {1, true}; }
  static GGAS_DEVICE parts_there src(int count) { return {count, false}; }
  static GGAS_DEVICE size_t needs(size_t bytes, int count, bool root) { return root ? 0 : behind(bytes, count / 2); }
  template <class M>
  static GGAS_DEVICE ggas_status straight(const rank_call& c, const M& m, int root, poll_deadline& end) {
    return scatter_to_ranks(c, m, root, end);
  }
  static GGAS_DEVICE ggas_status whole(const rank_call& c, const own_data& d, int root, poll_deadline& end) {
    return scatter_along_tree(c, all_of(c, d), root, end);
  }
  // By the tree while the buffers of its inner ranks hold what these send on.
  static GGAS_DEVICE ggas_status packets(rank_call& c, const own_data& d, int root, poll_deadline& end) {
    if (behind(d.bytes, c.count) <= 2 * c.ranks.buffer_bytes) return whole(c, d, root, end);
    return by_packets(c, d,
                      [&](size_t at, size_t bytes) { return straight(c, packet_of(c, d, at, bytes), root, end); });
  }
};

struct gather_of_ranks {
  static constexpr bool rooted = true, permutes = false, in_place = true;
  static GGAS_DEVICE parts_there dst(int count) { return {count, false}; }
  static GGAS_DEVICE parts_there src(int) { return {1, true}; }
  static GGAS_DEVICE size_t needs(size_t bytes, int count, bool root) { return root ? behind(bytes, count) : 0; }
  template <class M>
  static GGAS_DEVICE ggas_status straight(const rank_call& c, const M& m, int root, poll_deadline& end) {
    return gather_from_ranks(c, m, root, end);
  }
  static GGAS_DEVICE ggas_status whole(const rank_call& c, const own_data& d, int root, poll_deadline& end) {
    return straight(c, all_of(c, d), root, end);
  }
  static GGAS_DEVICE ggas_status packets(rank_call& c, const own_data& d, int root, poll_deadline& end) {
    return gather_by_token(c, d, root, end);
  }
};

struct allgather_of_ranks {
  static constexpr bool rooted = false, permutes = false, in_place = true;
  static GGAS_DEVICE parts_there dst(int count) { return {count, true}; }
  static GGAS_DEVICE parts_there src(int) { return {1, true}; }
  static GGAS_DEVICE size_t needs(size_t bytes, int count, bool) { return behind(bytes, count); }
  template <class M>
  static GGAS_DEVICE ggas_status straight(const rank_call& c, const M& m, int, poll_deadline& end) {
    return spread_to_ranks(c, m, true, end);
  }
  static GGAS_DEVICE ggas_status whole(const rank_call& c, const own_data& d, int none, poll_deadline& end) {
    return straight(c, all_of(c, d), none, end);
  }
  static GGAS_DEVICE ggas_status packets(rank_call& c, const own_data& d, int, poll_deadline& end) {
    return allgather_around(c, d, end);
  }
};

struct alltoall_of_ranks {
  static constexpr bool rooted = false, permutes = false, in_place = false;
  static GGAS_DEVICE parts_there dst(int count) { return {count, true}; }
  static GGAS_DEVICE parts_there src(int count) { return {count, true}; }
  static GGAS_DEVICE size_t needs(size_t bytes, int count, bool) { return behind(bytes, count); }
  template <class M>
  static GGAS_DEVICE ggas_status straight(const rank_call& c, const M& m, int, poll_deadline& end) {
    return spread_to_ranks(c, m, false, end);
  }
  static GGAS_DEVICE ggas_status whole(const rank_call& c, const own_data& d, int none, poll_deadline& end) {
    return straight(c, all_of(c, d), none, end);
  }
  static GGAS_DEVICE ggas_status packets(rank_call& c, const own_data& d, int, poll_deadline& end) {
    return alltoall_by_pairs(c, d, end);
  }
};

struct permute_of_ranks {
  static constexpr bool rooted = false, permutes = true, in_place = false;
  static GGAS_DEVICE parts_there dst(int) { return {1, true}; }
  static GGAS_DEVICE parts_there src(int) { return {1, true}; }
  static GGAS_DEVICE size_t needs(size_t bytes, int, bool) { return bytes; }
  template <class M>
  static GGAS_DEVICE ggas_status straight(const rank_call& c, const M& m, int to, poll_deadline& end) {
    return permute_ranks(c, m, to, end);
  }
  static GGAS_DEVICE ggas_status whole(const rank_call& c, const own_data& d, int to, poll_deadline& end) {
    return straight(c, all_of(c, d), to, end);
  }
  static GGAS_DEVICE ggas_status packets(rank_call& c, const own_data& d, int to, poll_deadline& end) {
    return by_packets(c, d, [&](size_t at, size_t bytes) { return straight(c, packet_of(c, d, at, bytes), to, end); });
  }
};

// ------------------------------------------------------------------------------------------------ calls

GGAS_DEVICE bool rank_good(const ggas_ranks& r, int rank) { return rank >= 0 && rank < rank_count(r); }
// Where all enter they see together whether a target is one.
template <class K>
GGAS_DEVICE bool partner_good(const ggas_ranks& r, int partner, unsigned mode) {
  if (K::permutes && (mode & 3u) == ggas_in_all) return true;
  return !(K::rooted || K::permutes) || rank_good(r, partner);
}
template <class K>
GGAS_DEVICE rank_facts facts_of_relocation(call_id call, size_t n, unsigned element, int partner, unsigned method) {
  return {terms_of(call, n, element, K::rooted ? partner : everybody, 0, method), K::permutes,
          K::permutes ? partner : 0, false};
}

// For places that every rank can compute.
template <class K, class T>
GGAS_DEVICE ggas_status relocate(call_id call, const ggas_ranks& r, const ranked<T>& dst, const ranked<const T>& src,
                                 size_t n, int partner, uint64_t timeout_ns, unsigned mode) {
  const rank_places at = places_of(dst, src);
  const auto good = [&] {
    const int count = rank_count(r);
    return partner_good<K>(r, partner, mode) &&
           call_places_good(r, at, n, sizeof(T), K::dst(count), K::src(count), K::in_place);
  };
  return run_ranks(
      r, mode, facts_of_relocation<K>(call, n, sizeof(T), partner, 0), timeout_ns, good,
      [&](rank_call& c, poll_deadline& end) {
        const size_t bytes = n * sizeof(T);
        return K::straight(c, direct_move{at.dst, at.src, c.memory(at.src, c.me), bytes, bytes}, partner, end);
      });
}

// What of the rank's memory a call uses: bytes that it reads and writes.
struct used_bytes {
  uint64_t read, written;
};
template <class K>
GGAS_DEVICE used_bytes used_by(const ggas_ranks& r, uint64_t bytes, int partner) {
  const auto of = [&](const parts_there& p) {
    return p.everywhere || own_rank(r) == partner ? bytes * static_cast<uint64_t>(p.parts) : 0;
  };
  return {of(K::src(rank_count(r))), of(K::dst(rank_count(r)))};
}
template <class K>
GGAS_DEVICE bool own_data_good(const ggas_ranks& r, const own_data& d, size_t n, unsigned element, int partner) {
  constexpr uint64_t most = uint64_t{1} << 40;  // no memory has that much, and no product overflows
  if (n == 0 || n > most / element || r.buffer_bytes == 0) return false;
  const used_bytes used = used_by<K>(r, d.bytes, partner);
  const auto at = [](const void* p) { return reinterpret_cast<uintptr_t>(p); };
  const auto place_good = [&](const void* p, uint64_t bytes) { return bytes == 0 || (p && at(p) % element == 0); };
  const bool apart = used.read == 0 || used.written == 0 || at(d.src) + used.read <= at(d.dst) ||
                     at(d.dst) + used.written <= at(d.src);
  const bool fits =
      r.scheme != ggas_dynamic || K::needs(d.bytes, rank_count(r), own_rank(r) == partner) <= r.buffer_bytes;
  return place_good(d.src, used.read) && place_good(d.dst, used.written) && apart && fits;
}

// The buffers' way, whatever the mode: a rank lets others store to its buffer, and waits for what they store.
template <class K>
GGAS_DEVICE_FUNCTION ggas_status move_by_buffers(rank_call& c, own_data d, int partner, poll_deadline end) {
  rank_call inner = c;
  inner.mode = ggas_in_mine | ggas_out_mine;
  const bool dynamic = c.ranks.scheme == ggas_dynamic;
  const uint64_t used = dynamic ? K::needs(d.bytes, c.count, c.me == partner) : c.ranks.buffer_bytes;
  if (is_first_thread() && ranks_checked() && load_own(c.own_count(rank_layout::peak)) < used)
    store_own(c.own_count(rank_layout::peak), used);
  const ggas_status s = dynamic ? K::whole(inner, d, partner, end) : K::packets(inner, d, partner, end);
  c.number = inner.number;
  c.permute = inner.permute;
  return s;
}

// For memory that may lie anywhere.
template <class K, class T>
GGAS_DEVICE ggas_status relocate(call_id call, const ggas_ranks& r, T* dst, const T* src, size_t n, int partner,
                                 uint64_t timeout_ns, unsigned mode) {
  static_assert(__is_trivially_copyable(T), "collectives move plain data");
  const own_data d{reinterpret_cast<char*>(dst), reinterpret_cast<const char*>(src), n * sizeof(T)};
  const auto good = [&] { return partner_good<K>(r, partner, mode) && own_data_good<K>(r, d, n, alignof(T), partner); };
  return run_ranks(r, mode, facts_of_relocation<K>(call, n, sizeof(T), partner, call_terms::exclusive), timeout_ns,
                   good, [&](rank_call& c, poll_deadline& end) { return move_by_buffers<K>(c, d, partner, end); });
}

}  // namespace ggas::detail
