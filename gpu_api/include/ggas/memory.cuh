// SPDX-License-Identifier: Apache-2.0
// Who and where; pointers; loads, stores and their order. Included by ggas.cuh; orders: docs/memory-model.md.
#pragma once

#include "ggas/detail/platform/layout.hpp"
#include "ggas/detail/platform/platform.cuh"
#include "ggas/words.hpp"

// ---- query
GGAS_DEVICE int ggas_node();                 // own id, 0 ... ggas_nodes() - 1
GGAS_DEVICE int ggas_nodes();                // nodes in the address space
GGAS_DEVICE uint64_t ggas_segment_bytes();   // of every node's segment
GGAS_DEVICE uint64_t ggas_reserved_bytes();  // first bytes of every segment: the library's, keep off

// ---- pointers. `offset` is in bytes from the start of the segment. Null if the node does not exist or the object
// would not lie in the segment.
template <class T = char>
GGAS_DEVICE T* ggas_pointer_of_node(int node, uint64_t offset = 0);  // own node: the plain local pointer
template <class T = char>
GGAS_DEVICE T* ggas_global_pointer(int node, uint64_t offset = 0);  // always through the window
// A store there lands at that offset of every other node's segment, not of the own one, and costs the caller one store.
// Null, too, where no NIC copies stores (docs/network.md). For stores alone: a load gets all ones and is an error of
// the run, and puts and atomics refuse it. ggas_quiet() waits for all of the copies.
template <class T = char>
GGAS_DEVICE T* ggas_pointer_of_others(uint64_t offset = 0);

// ---- loads and stores of 1, 2, 4, 8 or 16 bytes at multiples of their size: system scope, never from a first-level
// cache. 16 bytes travel as one access but are atomic in halves. A store returns before it is visible; a load returns
// the value. Addresses are not checked: null is a fault of the kernel. `p` may be a ggas::global_ptr. Relaxed, or with
// an order. ggas_acquire, of a load: later accesses of the thread come after it. ggas_release, of a store, costs a
// fence: what the thread did before, and what it knows of through a barrier of its block, is visible to whoever
// acquires the value, along each pair of nodes. A load that releases, a store that acquires: neither compiles.
template <class T>
GGAS_DEVICE T ggas_load(const T* p, ggas_relaxed_order order = ggas_relaxed);
template <class T>
GGAS_DEVICE T ggas_load(const T* p, ggas_acquire_order order);
template <class T>
GGAS_DEVICE void ggas_store(T* p, ggas::detail::same_t<T> v, ggas_relaxed_order order = ggas_relaxed);
template <class T>
GGAS_DEVICE void ggas_store(T* p, ggas::detail::same_t<T> v, ggas_release_order order);

// Copies n elements, consecutive lanes consecutive elements, so that a warp's accesses coalesce. Store: local to
// remote. Load: remote to local. The block forms end with a block barrier.
template <class T>
GGAS_DEVICE void ggas_store_warp(T* remote, const T* local, size_t n);
template <class T>
GGAS_DEVICE void ggas_store_block(T* remote, const T* local, size_t n);
template <class T>
GGAS_DEVICE void ggas_load_warp(T* local, const T* remote, size_t n);
template <class T>
GGAS_DEVICE void ggas_load_block(T* local, const T* remote, size_t n);

// ---- order. Both order earlier accesses of the thread (and those it knows of through a barrier of its block) before
// later ones.
GGAS_DEVICE void ggas_fence();      // as seen by every node, along each pair of nodes: see the memory model
GGAS_DEVICE void ggas_fence_gpu();  // as seen by this GPU
// Waits until every earlier store of this node is visible at its target; where peers are memory, those of this thread
// and what it knows of through an acquire or a barrier. ggas_peer_error: one may be lost; ggas_timed_out: puts through
// queues of a NIC were not complete within a second.
GGAS_DEVICE ggas_status ggas_quiet();
GGAS_DEVICE ggas_status ggas_quiet_block();

// Lines of 16 bytes that tagged puts of so many bytes take.
GGAS_HOST_DEVICE constexpr size_t ggas_tagged_lines(size_t bytes) { return (bytes + 7) / 8; }
