// SPDX-License-Identifier: Apache-2.0
// Collectives of the device API. Rules and methods: docs/collectives.md. Included by ggas.cuh.
//
// x_block is called by one block on each member, x by all blocks of the grid on each member, all of them resident at
// once and equally many everywhere. All members call with the same team, n, op, root and method, in the same order.
// After anything but ggas_ok and ggas_bad_argument barriers and collectives of the node return ggas_broken, until the
// host resets the cluster: so ok always means that everybody has come (docs/failures.md).
#pragma once

#include "ggas/team.cuh"

enum ggas_op : unsigned { ggas_sum, ggas_min, ggas_max, ggas_prod, ggas_and, ggas_or, ggas_xor };  // bits: integers
enum ggas_method : unsigned {
  // Flags behind data, the original's. Block forms, all nodes.
  ggas_by_gather,      // everybody pushes to one node, which reduces (and casts the result back): least traffic
  ggas_by_all_gather,  // everybody pushes to everybody, all reduce: one synchronisation
  // Numbers beside data (docs/collectives.md).
  ggas_one_shot,  // everybody sends everything to everybody: one hop
  ggas_two_shot,  // each member reduces its part and sends it to everybody: two hops
  ggas_direct,    // each member loads its part from everybody and stores the sum to everybody: where peers are memory
  ggas_push,      // as direct, by stores only, with the destinations as the place where parts wait for the sum
  ggas_read,      // each member loads everything from everybody and stores nowhere else: the most traffic
  ggas_tree,      // sums go up a binomial tree, the result down: fewest messages; sums in the order of the tree
  ggas_auto,      // by size, as measured (ggas::tuning)
};

// ---- teams, barrier and sync. `team` must contain the caller and be the same on every member (ggas_bad_argument: it
// does not, or is no team). _block: one block on each member. Without: every block of the grid on each member, at most
// 1024 and all resident at once (a grid that does not fit can never pass); all blocks get the same status if the
// time-out is longer than the blocks come apart (so not 0). A node takes part in one call at a time; where another
// block makes the next one, all its threads are synchronised with the block before. A call that failed cannot be
// repeated.
//
// barrier: every store and put of the callers before it is visible to every caller after it.
GGAS_DEVICE ggas_status ggas_barrier_block(uint64_t timeout_ns, const ggas_team& team = ggas_world());
GGAS_DEVICE ggas_status ggas_barrier(uint64_t timeout_ns, const ggas_team& team = ggas_world());
// sync: nobody leaves before everybody has arrived, and nothing else: no fence, so accesses before it, remote or to the
// own segment, may become visible to other members after it. What it is good for: members have consumed what they
// loaded before it (loads whose values were used; GPUs issue in order, the PTX model alone would not promise it), so it
// may be overwritten.
GGAS_DEVICE ggas_status ggas_sync_block(uint64_t timeout_ns, const ggas_team& team = ggas_world());
GGAS_DEVICE ggas_status ggas_sync(uint64_t timeout_ns, const ggas_team& team = ggas_world());

// Barriers of one block of each member that have a number, 0 ... ggas_barrier_indices() - 1: those of different numbers
// have nothing to do with each other, so blocks of a node may be in several at once. A number of a team is used by one
// block of a member at a time, and collectives use them, too: the block form of one uses 0 ... 15, block b of a grid
// form b. Behind a NIC they are as many as there are channels (docs/collectives.md). One hop; a barrier has a fence
// before it.
GGAS_DEVICE unsigned ggas_barrier_indices();
GGAS_DEVICE ggas_status ggas_barrier_block(uint64_t timeout_ns, const ggas_team& team, unsigned index);
GGAS_DEVICE ggas_status ggas_sync_block(uint64_t timeout_ns, const ggas_team& team, unsigned index);
// The two halves of a barrier. What the block did before it arrives is visible to members that have waited. Between the
// two the block uses neither this number of the team nor a collective that does. Every arrival is waited for once;
// what arrives badly says so in the wait.
struct ggas_arrival;
GGAS_DEVICE ggas_arrival ggas_barrier_arrive_block(const ggas_team& team = ggas_world(), unsigned index = 0);
GGAS_DEVICE ggas_status ggas_barrier_wait_block(ggas_arrival& arrival, uint64_t timeout_ns);

// ---- data to everybody. Elements of 1, 2, 4, 8 or 16 bytes, aligned to their size; src and dst lie in the own segment
// and need not be at the same offset on every member; they must not overlap but as said. Every member calls with the
// same n, root and team; the grid forms with the same number of blocks (docs/collectives.md says what of a grid's data
// must be complete). A call begins without a block barrier: what threads of the block have stored to src, and loaded
// from dst, must be behind a __syncthreads() for all of them. On ggas_ok the result is visible to the calling block,
// src may be overwritten; nothing is promised about other data.
//
// From the call on other members may store into dst. What this kernel itself has stored there before must be behind a
// ggas_barrier, or behind that __syncthreads() and a ggas_fence() that every thread makes after it, or an old value may
// land on top of a new one; so, by the letter of the PTX model, what it has loaded from there
// (docs/memory-model.md#destinations-of-collectives). Short parts need nothing of it: do not build on a size.
//
// broadcast: n elements of member `root` (a rank) go to dst of every member; src counts on the root only, where it may
// be dst.
template <class T>
GGAS_DEVICE ggas_status ggas_broadcast_block(T* dst, const T* src, size_t n, int root, uint64_t timeout_ns,
                                             const ggas_team& team = ggas_world());
template <class T>
GGAS_DEVICE ggas_status ggas_broadcast(T* dst, const T* src, size_t n, int root, uint64_t timeout_ns,
                                       const ggas_team& team = ggas_world());
// allgather: n elements of member i go to dst + i * n of every member. src may be the own part of dst.
template <class T>
GGAS_DEVICE ggas_status ggas_allgather_block(T* dst, const T* src, size_t n, uint64_t timeout_ns,
                                             const ggas_team& team = ggas_world());
template <class T>
GGAS_DEVICE ggas_status ggas_allgather(T* dst, const T* src, size_t n, uint64_t timeout_ns,
                                       const ggas_team& team = ggas_world());
// alltoall: n elements from src + j * n of member i go to dst + i * n of member j.
template <class T>
GGAS_DEVICE ggas_status ggas_alltoall_block(T* dst, const T* src, size_t n, uint64_t timeout_ns,
                                            const ggas_team& team = ggas_world());
template <class T>
GGAS_DEVICE ggas_status ggas_alltoall(T* dst, const T* src, size_t n, uint64_t timeout_ns,
                                      const ggas_team& team = ggas_world());

// ---- gather: n elements of member i go to dst + i * n of member `root`, elsewhere dst is not used and may be null.
// src may be the own part of dst. scatter: n elements from src + i * n of member `root` go to dst of member i; src
// counts on the root only, where dst may be its own part. Rules and elements as above.
template <class T>
GGAS_DEVICE ggas_status ggas_gather_block(T* dst, const T* src, size_t n, int root, uint64_t timeout_ns,
                                          const ggas_team& team = ggas_world());
template <class T>
GGAS_DEVICE ggas_status ggas_gather(T* dst, const T* src, size_t n, int root, uint64_t timeout_ns,
                                    const ggas_team& team = ggas_world());
template <class T>
GGAS_DEVICE ggas_status ggas_scatter_block(T* dst, const T* src, size_t n, int root, uint64_t timeout_ns,
                                           const ggas_team& team = ggas_world());
template <class T>
GGAS_DEVICE ggas_status ggas_scatter(T* dst, const T* src, size_t n, int root, uint64_t timeout_ns,
                                     const ggas_team& team = ggas_world());

// ---- reductions of n elements of every member into dst: of everybody, or of the root, a rank of the team (elsewhere
// dst is not used and may be null). Elements are types of 1, 2, 4 or 8 bytes with +, * and <: integers, float, double,
// and on GPUs __half and __nv_bfloat16; each sum is rounded to the type. src and dst lie in the own segment, aligned to
// the element, at any offset; they are the same vector or do not overlap. Sums run in the order of ranks, by ggas_tree
// in that of the tree, whatever the form: results are the same bits at all members and every time. The result is
// visible to the block, with the grid forms to everybody behind the kernel; no promise about other data.
// ggas_bad_argument: op, root, method or pointer; a caller outside the team; direct or push where the window is not
// memory; direct, push or read of more than 64 members; gather or all_gather of a team or a grid.
template <class T>
GGAS_DEVICE ggas_status ggas_allreduce_block(T* dst, const T* src, size_t n, ggas_op op, ggas_method method,
                                             uint64_t timeout_ns, const ggas_team& team = ggas_world());
template <class T>
GGAS_DEVICE ggas_status ggas_allreduce(T* dst, const T* src, size_t n, ggas_op op, ggas_method method,
                                       uint64_t timeout_ns, const ggas_team& team = ggas_world());
// By gather, one_shot, direct, read, tree or auto.
template <class T>
GGAS_DEVICE ggas_status ggas_reduce_block(T* dst, const T* src, size_t n, ggas_op op, int root, ggas_method method,
                                          uint64_t timeout_ns, const ggas_team& team = ggas_world());
template <class T>
GGAS_DEVICE ggas_status ggas_reduce(T* dst, const T* src, size_t n, ggas_op op, int root, ggas_method method,
                                    uint64_t timeout_ns, const ggas_team& team = ggas_world());

// reducescatter: n elements from src + i * n of everybody are combined into dst of member i, in the order of ranks. dst
// may be the own part of src; else as the reductions above.
template <class T>
GGAS_DEVICE ggas_status ggas_reducescatter_block(T* dst, const T* src, size_t n, ggas_op op, uint64_t timeout_ns,
                                                 const ggas_team& team = ggas_world());
template <class T>
GGAS_DEVICE ggas_status ggas_reducescatter(T* dst, const T* src, size_t n, ggas_op op, uint64_t timeout_ns,
                                           const ggas_team& team = ggas_world());

#include "ggas/detail/allreduce.cuh"
#include "ggas/detail/alltoall.cuh"
#include "ggas/detail/barrier.cuh"
#include "ggas/detail/block_barrier.cuh"
#include "ggas/detail/broadcast.cuh"
#include "ggas/detail/channel.cuh"
#include "ggas/detail/reducescatter.cuh"
#include "ggas/detail/rooted.cuh"
