// SPDX-License-Identifier: Apache-2.0
// The work of a thread of the library's kernels: as in the calls with datatypes on a stream, but for memory of any kind
// instead of segments. Also compiled for the host, by tests.
#pragma once

#include "ggas/detail/type/move_places.cuh"
#include "ggas/type.cuh"

namespace ggas::mpi {

// What the host hands to the walk of records.
struct walk_side {
  char* at;  // of packed data byte 0
  uint64_t count;
  bool packed;
  const uint64_t* words;  // of the image, where kernels read them
  ggas_type type;
};
struct walk_move {
  walk_side to, from;
  uint64_t bytes;
};

GGAS_DEVICE detail::type_side side_of(const walk_side& s, uint64_t bytes) {
  if (s.packed) return detail::packed_at(s.at, 0, bytes);
  const bool piece = s.type.records == 0 && s.type.dimensions == 0;
  const bool dense = piece && (s.count <= 1 || s.type.extent == static_cast<int64_t>(s.type.size));
  return {&s.type, s.at, s.count * s.type.size, {s.words}, dense, s.type.base};
}

// What the image names is right: it is the library's own, no other process writes to it.
GGAS_DEVICE void walk(const walk_move& m, const detail::movers& by) {
  const detail::type_side to = side_of(m.to, m.bytes), from = side_of(m.from, m.bytes);
  const uint64_t bits = detail::bits_of(to, m.to.count) | detail::bits_of(from, m.from.count);
  detail::move_sides<detail::origin::own>(to, from, 0, m.bytes, bits, by);
}

}  // namespace ggas::mpi
