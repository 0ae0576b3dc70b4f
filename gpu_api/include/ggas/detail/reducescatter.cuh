// SPDX-License-Identifier: Apache-2.0
// reducescatter: a one_shot or a direct in which each member gets its own part. Included by collective.cuh.
#pragma once

#include "ggas/detail/allreduce.cuh"

namespace ggas::detail {

template <class T>
GGAS_APART ggas_status reducescatter(piece<T> p, unsigned block, unsigned blocks, ggas_team team, uint64_t timeout_ns);

}  // namespace ggas::detail

template <class T>
GGAS_DEVICE ggas_status ggas_reducescatter_block(T* dst, const T* src, size_t n, ggas_op op, uint64_t timeout_ns,
                                                 const ggas_team& team) {
  using namespace ggas::detail;
  return reducescatter(piece_of_numbers(dst, src, n, op, everybody, n), 0, 1, team, timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_reducescatter(T* dst, const T* src, size_t n, ggas_op op, uint64_t timeout_ns,
                                           const ggas_team& team) {
  using namespace ggas::detail;
  return reducescatter(piece_of_numbers(dst, src, n, op, everybody, n), block_rank(), block_count(), team, timeout_ns);
}
