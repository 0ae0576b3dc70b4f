// SPDX-License-Identifier: Apache-2.0
// GGAS device API: what a kernel calls. One source for nvcc (sm_90 and later; older GPUs work where free) and for any
// C++20 compiler, where kernels run on the host SIMT engine or in the simulator. Guide: docs/device-api.md; orders:
// docs/memory-model.md.
//
// Names: ggas_x is called by one thread for itself, ggas_x_warp by all threads of a warp, ggas_x_block by all threads
// of a block, with the same arguments. Every wait takes a time-out in ns and returns a status that is the same in all
// threads of the group.
#pragma once

#include "ggas/detail/layout.hpp"
#include "ggas/detail/platform.cuh"
#include "ggas/status.hpp"

enum ggas_cmp { ggas_eq, ggas_ne, ggas_lt, ggas_le, ggas_gt, ggas_ge };
#define GGAS_FOREVER (~0ull)

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

// ---- loads and stores of 1, 2, 4, 8 or 16 bytes at multiples of their size: relaxed, system scope, never from a
// first-level cache. 16 bytes travel as one access but are atomic in halves. A store returns before it is visible; a
// load returns the value. Addresses are not checked: null is a fault of the kernel.
template <class T>
GGAS_DEVICE T ggas_load(const T* p);
template <class T>
GGAS_DEVICE void ggas_store(T* p, T v);
// The same with an order. Acquire: later accesses of the thread come after it. Release: what the thread did before, and
// what it knows of through a barrier of its block, is visible to whoever acquires the value, along each pair of nodes.
template <class T>
GGAS_DEVICE T ggas_load_acquire(const T* p);
template <class T>
GGAS_DEVICE void ggas_store_release(T* p, T v);

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

// ---- waiting for a flag in local memory. The comparison is `*flag cmp value`; integers and floats of 1 ... 8 bytes.
// Accesses after a successful wait see what the writer of the flag ordered before it. A time-out of 0 tests once.
template <class T>
GGAS_DEVICE ggas_status ggas_wait_until(const T* flag, ggas_cmp cmp, T value, uint64_t timeout_ns);
template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_warp(const T* flag, ggas_cmp cmp, T value,
                                             uint64_t timeout_ns);  // lane 0 polls
template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_block(const T* flag, ggas_cmp cmp, T value,
                                              uint64_t timeout_ns);  // thread 0 polls

#include "ggas/collective.cuh"
#include "ggas/detail/access.cuh"
#include "ggas/detail/global_ptr.cuh"
#include "ggas/detail/wait.cuh"
#include "ggas/rma.cuh"
#include "ggas/team.cuh"
#ifndef GGAS_LINKED
#include "ggas/detail/long.cuh"
#endif
