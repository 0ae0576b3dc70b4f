// SPDX-License-Identifier: Apache-2.0
// Data of derived types travel as their bytes without gaps, in memory of the rank. Included by mpi.cuh.
#pragma once

#include "ggas/detail/mpi/type_calls.cuh"

namespace ggas::mpi {

struct type_words {
  const uint64_t* words;
  GGAS_DEVICE uint64_t operator()(uint64_t i) const { return words[i]; }
};
// Elements may lie in a window of another rank.
enum class item_move { pack, unpack, put, get };

// Bytes `first` ... of the packed data of elements at `items`, by the threads of the rank. Each finds its own share.
GGAS_DEVICE_FUNCTION void move_items(const derived_type& t, char* items, char* packed, uint64_t first, uint64_t bytes,
                                     item_move how) {
  const rank_group g;
  g.sync();
  const bool alone = detail::is_private(items) || detail::is_private(packed);
  const uint64_t share = alone ? bytes : (bytes + g.size() - 1) / g.size(), begin = alone ? 0 : g.rank() * share;
  const uint64_t end = alone && !g.leads() ? 0 : begin + share < bytes ? begin + share : bytes;
  const detail::type_walk<type_words> walk{{t.words()}, t.records * detail::record_words + t.look, t.records};
  const auto size = static_cast<uint64_t>(t.shape.size), extent = static_cast<uint64_t>(t.shape.extent());
  for (uint64_t at = begin; at < end;) {
    const uint64_t item = (first + at) / size;
    const detail::type_place p = walk.find(first + at - item * size);
    const uint64_t n = p.left < end - at ? p.left : end - at;
    if (n == 0) break;
    char* const there = items + static_cast<int64_t>(item * extent + static_cast<uint64_t>(p.offset));
    for (uint64_t i = 0; i < n; ++i) {
      if (how == item_move::pack)
        packed[at + i] = there[i];
      else if (how == item_move::unpack)
        there[i] = packed[at + i];
      else if (how == item_move::put)
        detail::store_relaxed(there + i, packed[at + i]);
      else
        packed[at + i] = detail::load_relaxed(there + i);
    }
    at += n;
  }
  g.sync();
}

// `count` elements of a derived type that a call works with. Their packed data follow, unless they have no gaps.
struct packed_items {
  derived_type* type;
  char* items;
  uint64_t count, bytes;
  bool receives;
  GGAS_DEVICE bool as_they_are() const {
    return type->shape.dense && (count == 1 || type->shape.extent() == type->shape.size);
  }
  GGAS_DEVICE char* data() { return as_they_are() ? items : reinterpret_cast<char*>(this + 1); }
  GGAS_DEVICE void pack() { pack_part(0, bytes); }
  GGAS_DEVICE void unpack(uint64_t most) { unpack_part(0, most < bytes ? most : bytes); }
  // Bytes `first` ... of the packed data.
  GGAS_DEVICE void pack_part(uint64_t first, uint64_t n) {
    if (!as_they_are()) move_items(*type, items, data() + first, first, n, item_move::pack);
  }
  GGAS_DEVICE void unpack_part(uint64_t first, uint64_t n) {
    if (!as_they_are()) move_items(*type, items, data() + first, first, n, item_move::unpack);
  }
};

// Of a derived type. An address of null is MPI_BOTTOM: places in the type are addresses.
GGAS_DEVICE int check_items(const void* items, int64_t count, const derived_type& t, MPI_Comm comm) {
  if (!comm_good(comm)) return MPI_ERR_COMM;
  if (count < 0 || !within_limits(limited_product(count, t.shape.size))) return MPI_ERR_COUNT;
  return items || count == 0 || t.shape.size == 0 || t.shape.true_lb >= 4096 ? MPI_SUCCESS : MPI_ERR_BUFFER;
}
// In memory of the rank; null: there is none. The type stays until free_items().
GGAS_DEVICE_FUNCTION packed_items* new_items(const void* items, uint64_t count, MPI_Datatype type, bool receives) {
  derived_type* const t = derived(type);
  const auto bytes = count * static_cast<uint64_t>(t->shape.size);
  const packed_items made{t, as_bytes(items), count, bytes, receives};
  char* const memory = new_memory<char>(sizeof made + (made.as_they_are() ? 0 : bytes));
  auto* const p = reinterpret_cast<packed_items*>(memory);
  const rank_group g;
  if (p && g.leads()) {
    *p = made;
    ++t->users;
  }
  g.sync();
  return p;
}
GGAS_DEVICE_FUNCTION void free_items(packed_items* p) {
  const rank_group g;
  g.sync();
  if (p && g.leads()) {
    release_type(p->type);
    free(p);
  }
}

}  // namespace ggas::mpi
