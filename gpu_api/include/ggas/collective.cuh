// SPDX-License-Identifier: Apache-2.0
// Collectives of the device API. Rules and methods: docs/collectives.md. Included by ggas.cuh.
#pragma once

enum ggas_op { ggas_sum, ggas_min, ggas_max };
enum ggas_method {
  ggas_gather,      // everybody pushes to one node, which reduces (and casts the result back): least traffic
  ggas_all_gather,  // everybody pushes to everybody, all reduce: one synchronisation
};

// ---- barrier of all nodes, and with it the visibility of every earlier store of the callers to every node. A call
// that timed out may be repeated, by all.
GGAS_DEVICE ggas_status ggas_barrier_block(uint64_t timeout_ns);  // one block on each GPU
// Every block of the grid on each GPU, all of them resident at once (a grid that does not fit can never pass); at most
// 1024.
GGAS_DEVICE ggas_status ggas_barrier(uint64_t timeout_ns);

// ---- reductions of n elements (4- or 8-byte arithmetic types; sums run in the order of nodes, so results are the same
// bits everywhere). One block on each GPU; all nodes call with the same n, op, root and method, in the same order. src
// and dst are in the local segment and may be the same. After anything but ggas_ok and ggas_bad_argument the node's
// reductions return ggas_peer_error.
template <class T>
GGAS_DEVICE ggas_status ggas_reduce_block(T* dst, const T* src, size_t n, ggas_op op, int root, uint64_t timeout_ns);
template <class T>
GGAS_DEVICE ggas_status ggas_allreduce_block(T* dst, const T* src, size_t n, ggas_op op, ggas_method method,
                                             uint64_t timeout_ns);

#include "ggas/detail/barrier.cuh"
#include "ggas/detail/channel.cuh"
#include "ggas/detail/collective.cuh"
