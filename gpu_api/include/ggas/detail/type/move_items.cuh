// SPDX-License-Identifier: Apache-2.0
// Packs small items of a few fields: an item a thread, all threads at the same field, assembled in shared memory, so
// that dense data leave in words of 16 bytes. The fields are parameters of the kernel. Unpacking goes by runs
// (move_runs.cuh): there neighbouring threads store neighbouring runs, so that fewer sectors are written twice.
#pragma once

#include "ggas/detail/type/fields.cuh"
#include "ggas/detail/type/move_runs.cuh"

namespace ggas::detail {

constexpr unsigned fields_in_flight = 4;

// Staged bytes have no alignment.
GGAS_DEVICE void stage_field(char* p, unsigned bytes, uint64_t v) {
  GGAS_UNROLL
  for (unsigned b = 0; b < 8; ++b)
    if (b < bytes) p[b] = static_cast<char>(v >> (8 * b));
}

GGAS_DEVICE void pack_fields(const item_move& m, const char* item, char* bytes) {
  GGAS_NO_UNROLL
  for (unsigned first = 0; first < m.fields; first += fields_in_flight) {
    uint64_t v[fields_in_flight] = {};
    GGAS_UNROLL
    for (unsigned w = 0; w < fields_in_flight; ++w)
      if (first + w < m.fields) v[w] = load_field<origin::own>(item + m.field[first + w].at, m.field[first + w].bytes);
    GGAS_UNROLL
    for (unsigned w = 0; w < fields_in_flight; ++w)
      if (first + w < m.fields) stage_field(bytes + m.field[first + w].packed, m.field[first + w].bytes, v[w]);
  }
}

// By all blocks of a grid; `staged` is shared memory of the block, staged_bytes of it.
GGAS_DEVICE void pack_items(const item_move& m, char* staged) {
  for (uint32_t first = block_rank() * m.together; first < m.count; first += block_count() * m.together) {
    const uint32_t here = m.count - first < m.together ? m.count - first : m.together;
    for (uint32_t i = thread_rank(); i < here; i += thread_count())
      pack_fields(m, m.base + static_cast<int64_t>(first + i) * m.extent, staged + i * m.size);
    __syncthreads();
    copy_by_block(m.dense + uint64_t{first} * m.size, staged, uint64_t{here} * m.size);
    __syncthreads();
  }
}

}  // namespace ggas::detail
