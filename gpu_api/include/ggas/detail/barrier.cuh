// SPDX-License-Identifier: Apache-2.0
// Barrier of all nodes. Push only, no remote loads, no atomics, one writer to a word; flags hold the number of the
// barrier, so nothing is ever cleared. Two ways: behind a NIC check-in flags lie on the master (node 0), where one
// thread polls one flag for each other GPU, and a check-out flag lies on every GPU: 2 (n - 1) packets. Where the window
// is plain memory every node tells every other one: one hop, and stores cost next to nothing. Included by ggas.cuh.
#pragma once

#include "ggas/detail/wait.cuh"

namespace ggas::detail {

GGAS_DEVICE layout own_layout() {
  const context& c = device_context();
  return layout::of(static_cast<uint64_t>(c.nodes), c.reserved);
}
GGAS_DEVICE uint64_t* word_of(int node, uint64_t offset) { return ggas_pointer_of_node<uint64_t>(node, offset); }
GGAS_DEVICE uint64_t* own_word(uint64_t offset) { return reinterpret_cast<uint64_t*>(device_context().local + offset); }

// Stores order along one pair of nodes; over a third node (the master) only completion tells. So with more than two
// nodes behind a NIC the barrier first waits until the stores have arrived. Puts are not ordered with the barrier's
// stores at all: it waits for them.
GGAS_DEVICE ggas_status settle_stores() {
  if (ggas_nodes() > 2) return ggas_quiet();
  if (const ggas_status puts = quiet_puts(); puts != ggas_ok) return puts;
  ggas_fence();
  return ggas_ok;
}

GGAS_DEVICE ggas_status master_barrier(const layout& l, uint64_t number, const deadline& end) {
  const unsigned me = thread_rank(), threads = thread_count();
  ggas_status s = ggas_ok;
  for (uint64_t n = me + 1; n < l.nodes && s == ggas_ok; n += threads) {
    s = wait_until(own_word(l.check_in(0, n)), ggas_ge, number, end);
  }
  s = block_status(s);
  if (s != ggas_ok) return s;
  for (uint64_t n = me + 1; n < l.nodes; n += threads) {
    store_relaxed(word_of(static_cast<int>(n), layout::check_out(0)), number);
  }
  return ggas_ok;
}

GGAS_DEVICE ggas_status follower_barrier(const layout& l, uint64_t number, const deadline& end) {
  ggas_status s = ggas_ok;
  if (thread_rank() == 0) {
    store_relaxed(word_of(0, l.check_in(0, static_cast<uint64_t>(ggas_node()))), number);
    s = wait_until(own_word(layout::check_out(0)), ggas_ge, number, end);
  }
  return block_status(s);
}

// The window is plain memory: one hop, a flag of each node on each node. The number is read by every thread that needs
// it, before the block barrier hides its latency; the fence makes what the block stored before visible with the flag.
GGAS_DEVICE ggas_status exchange_barrier(const layout& l, const deadline& end) {
  const unsigned rank = thread_rank(), threads = thread_count();
  const uint64_t me = static_cast<uint64_t>(ggas_node());
  uint64_t number = 0;
  if (rank < l.nodes) number = load_relaxed(own_word(layout::barrier_epoch(0))) + 1;
  __syncthreads();
  ggas_status s = ggas_ok;
  if (rank < l.nodes) ggas_fence();
  for (uint64_t n = rank; n < l.nodes; n += threads)
    store_relaxed(word_of(static_cast<int>(n), l.check_in(0, me)), number);
  for (uint64_t n = rank; n < l.nodes && s == ggas_ok; n += threads) {
    s = wait_until(own_word(l.check_in(0, n)), ggas_ge, number, end);
  }
  s = block_status(s);
  // Only a completed barrier counts: one that timed out is tried again under the same number.
  if (s == ggas_ok && rank == 0) store_relaxed(own_word(layout::barrier_epoch(0)), number);
  __syncthreads();
  return s;
}

GGAS_DEVICE ggas_status barrier_block(const deadline& end) {
  const layout l = own_layout();
  if (device_context().quiet == nullptr) return exchange_barrier(l, end);
  GGAS_SHARED(uint64_t, number);
  __syncthreads();  // every thread's stores are before the fence of thread 0
  ggas_status s = ggas_ok;
  if (thread_rank() == 0) {
    number = load_relaxed(own_word(layout::barrier_epoch(0))) + 1;
    s = settle_stores();
  }
  s = block_status(s);
  if (s != ggas_ok) return s;
  s = ggas_node() == 0 ? master_barrier(l, number, end) : follower_barrier(l, number, end);
  // Only a completed barrier counts: one that timed out is tried again under the same number.
  if (s == ggas_ok && thread_rank() == 0)
    store_relaxed(own_word(layout::barrier_epoch(0)), static_cast<uint64_t>(number));
  __syncthreads();
  return s;
}

// The blocks of the grid check in at block 0, which takes part for all of them and hands the result on.
GGAS_DEVICE ggas_status lead_grid(const layout& l, uint64_t attempt, const deadline& end) {
  ggas_status s = ggas_ok;
  for (unsigned b = thread_rank() + 1; b < block_count() && s == ggas_ok; b += thread_count()) {
    s = wait_until(own_word(l.arrived(b)), ggas_ge, attempt, end);
  }
  s = block_status(s);
  if (s == ggas_ok) s = barrier_block(end);
  if (thread_rank() == 0) {
    store_relaxed(own_word(layout::grid_attempt), attempt);
    ggas_fence_gpu();
    store_relaxed(own_word(layout::grid_release), attempt << 8 | static_cast<uint64_t>(s));
  }
  return s;
}

GGAS_DEVICE ggas_status follow_grid(const layout& l, uint64_t attempt, const deadline& end) {
  ggas_status s = ggas_ok;
  if (thread_rank() == 0) {
    store_relaxed(own_word(l.arrived(block_rank())), attempt);
    s = wait_until(own_word(layout::grid_release), ggas_ge, attempt << 8, end);
    if (s == ggas_ok) {
      const uint64_t release = load_relaxed(own_word(layout::grid_release));
      s = release >> 8 == attempt ? static_cast<ggas_status>(release & 0xff) : ggas_timed_out;
    }
  }
  return block_status(s);
}

}  // namespace ggas::detail

GGAS_DEVICE ggas_status ggas_barrier_block(uint64_t timeout_ns) {
  return ggas::detail::barrier_block(ggas::detail::deadline(timeout_ns));
}

GGAS_DEVICE ggas_status ggas_barrier(uint64_t timeout_ns) {
  using namespace ggas::detail;
  if (block_count() == 1) return barrier_block(deadline(timeout_ns));
  if (block_count() > ggas::layout::max_blocks) return ggas_bad_argument;
  GGAS_SHARED(uint64_t, attempt);
  __syncthreads();
  if (thread_rank() == 0) {
    attempt = load_relaxed(own_word(ggas::layout::grid_attempt)) + 1;
    ggas_fence();
  }
  __syncthreads();
  const uint64_t mine = attempt;
  __syncthreads();
  const ggas::layout l = own_layout();
  // Block 0 decides whether time is up; the others wait longer, for its word.
  if (block_rank() == 0) return lead_grid(l, mine, deadline(timeout_ns));
  return follow_grid(l, mine, deadline(timeout_ns > ~0ull / 2 ? ~0ull : 2 * timeout_ns));
}
