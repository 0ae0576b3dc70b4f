// SPDX-License-Identifier: Apache-2.0
// Numbers of nodes; pointers; loads, stores and their order. Included by ggas.cuh; orders: docs/memory-model.md.
#pragma once

#include "ggas/detail/platform/layout.hpp"
#include "ggas/detail/platform/platform.cuh"
#include "ggas/words.hpp"

/// Own node, 0 ... ggas_nodes() - 1.
GGAS_DEVICE int ggas_node();
/// Nodes in the address space.
GGAS_DEVICE int ggas_nodes();
/// Bytes of every node's segment.
GGAS_DEVICE uint64_t ggas_segment_bytes();
/// First bytes of every segment, which belong to the library.
GGAS_DEVICE uint64_t ggas_reserved_bytes();

/// Address of the place `offset` bytes from the start of a node's segment; for the own node the plain local pointer.
/// Null if the node does not exist or the object does not lie in the segment.
template <class T = char>
GGAS_DEVICE T* ggas_pointer_of_node(int node, uint64_t offset = 0);
/// ggas_pointer_of_node(), through the window even to the own node.
template <class T = char>
GGAS_DEVICE T* ggas_global_pointer(int node, uint64_t offset = 0);
/// Address for one store to `offset` of every other node's segment, but not of the own one. Null also where no NIC
/// copies stores (docs/network.md). For stores only: a load returns all ones and fails the run, and puts and atomics
/// refuse the address. ggas_quiet() waits for all copies.
template <class T = char>
GGAS_DEVICE T* ggas_pointer_of_others(uint64_t offset = 0);

// Loads and stores of 1, 2, 4, 8 or 16 bytes at multiples of their size, of system scope, never from a first-level
// cache. 16 bytes travel as one access but are atomic in halves only. Addresses are not checked: null is a fault of the
// kernel. `p` may be a ggas::global_ptr. A load that releases and a store that acquires do not compile.

/// The value at `p`.
/// Order: relaxed.
/// Cost: a round trip to a peer.
template <class T>
GGAS_DEVICE T ggas_load(const T* p, ggas_relaxed_order order = ggas_relaxed);
/// The value at `p`.
/// Order: an acquire: later accesses of the thread come after it.
/// Cost: a round trip to a peer.
template <class T>
GGAS_DEVICE T ggas_load(const T* p, ggas_acquire_order order);
/// Stores `v` at `p`; returns before it is visible.
/// Order: relaxed.
/// Cost: a store.
template <class T>
GGAS_DEVICE void ggas_store(T* p, ggas::detail::same_t<T> v, ggas_relaxed_order order = ggas_relaxed);
/// Stores `v` at `p`; returns before it is visible.
/// Order: a release: earlier accesses of the thread, and those ordered before them by a barrier of its block, are
/// visible to the thread that acquires the value, along each pair of nodes.
/// Cost: a fence and a store.
template <class T>
GGAS_DEVICE void ggas_store(T* p, ggas::detail::same_t<T> v, ggas_release_order order);

/// Stores `n` elements of `local` to `remote` by a warp: consecutive lanes store consecutive elements, so that
/// accesses coalesce.
/// Order: relaxed.
template <class T>
GGAS_DEVICE void ggas_store_warp(T* remote, const T* local, size_t n);
/// ggas_store_warp() by a block; ends with a block barrier.
template <class T>
GGAS_DEVICE void ggas_store_block(T* remote, const T* local, size_t n);
/// Loads `n` elements of `remote` to `local` by a warp: consecutive lanes load consecutive elements.
/// Order: relaxed.
template <class T>
GGAS_DEVICE void ggas_load_warp(T* local, const T* remote, size_t n);
/// ggas_load_warp() by a block; ends with a block barrier.
template <class T>
GGAS_DEVICE void ggas_load_block(T* local, const T* remote, size_t n);

/// Orders earlier accesses of the thread, and those ordered before them by a barrier of its block, before later ones,
/// as seen by every node, along each pair of nodes (docs/memory-model.md).
GGAS_DEVICE void ggas_fence();
/// ggas_fence() as seen by this GPU only.
GGAS_DEVICE void ggas_fence_gpu();
/// Waits until every earlier store of this node is visible at its target. Where peers are memory: the stores of this
/// thread, and those ordered before by an acquire or a barrier.
/// Order: completion: earlier stores and puts are visible to all.
/// Cost: a fence; through a NIC a read that the NIC answers when the targets have confirmed.
/// Errors: ggas_peer_error: a store may be lost; ggas_timed_out: puts through queues of a NIC were not complete within
/// a second.
GGAS_DEVICE ggas_status ggas_quiet();
/// ggas_quiet() by all threads of a block.
GGAS_DEVICE ggas_status ggas_quiet_block();

/// Number of lines of 16 bytes that a tagged put of `bytes` bytes needs.
GGAS_HOST_DEVICE constexpr size_t ggas_tagged_lines(size_t bytes) { return (bytes + 7) / 8; }
