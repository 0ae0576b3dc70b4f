// SPDX-License-Identifier: Apache-2.0
// Kernels that hang because one member does not do its part: a signal that is not sent, a block that does not come, a
// count that differs, a process that is gone. One source for the host engine and GPUs; what the report must say of
// them: hangs_run.hpp.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::hangs {

enum class kind : int { dropped_signal, absent_block, wrong_count, dead_process };
constexpr int kinds = 4, variants = 4;  // of each kind

struct plan {
  kind what;
  int variant;
  int culprit;     // node
  unsigned block;  // of its grid, that does not come
  uint64_t base;   // offset of memory for users, 64 KB
  uint64_t timeout_ns;
};
constexpr unsigned blocks = 3, threads = 64;
constexpr size_t count = 20, wrong_count = 4;  // of elements

GGAS_DEVICE float* vector_of(const plan& p, uint64_t place) {
  return ggas_pointer_of_node<float>(ggas_node(), p.base + 4096 + place * 4096);
}

// Everybody tells its right neighbour something, but the culprit.
GGAS_DEVICE ggas_status wait_for_signal(const plan& p) {
  const int me = ggas_node(), right = (me + 1) % ggas_nodes();
  auto* const flag = ggas_pointer_of_node<uint64_t>(me, p.base);
  auto* const theirs = ggas_pointer_of_node<uint64_t>(right, p.base);
  auto* const lines = ggas_pointer_of_node<ggas_tagged>(me, p.base + 1024);
  auto* const their_lines = ggas_pointer_of_node<ggas_tagged>(right, p.base + 1024);
  auto* const inbox = ggas_pointer_of_node<float>(right, p.base + 8192);
  const bool sends = me != p.culprit;
  ggas_notification note{};
  switch (p.variant) {
    case 0:
      if (sends)
        static_cast<void>(
            ggas_put_signal_block(inbox, vector_of(p, 0), count, theirs, 1, ggas_signal_set, p.timeout_ns));
      return threadIdx.x == 0 ? ggas_signal_wait_until(flag, ggas_ge, 1, nullptr, p.timeout_ns) : ggas_ok;
    case 1:
      if (sends && threadIdx.x == 0) ggas_store(theirs, 1, ggas_release);
      return ggas_wait_until_block(flag, ggas_eq, 1, p.timeout_ns);
    case 2:
      if (sends) static_cast<void>(ggas_put_tagged_block(their_lines, vector_of(p, 0), count, 7));
      return ggas_take_tagged_block(vector_of(p, 1), lines, count, 7, p.timeout_ns);
    default:
      if (sends && threadIdx.x == 0) static_cast<void>(ggas_notify(right, 5, 0, p.timeout_ns));
      return threadIdx.x == 0 ? ggas_notification_wait(&note, p.timeout_ns, ggas_queue_of(0)) : ggas_ok;
  }
}

// A block of the culprit's grid is not there.
GGAS_DEVICE ggas_status meet_as_grid(const plan& p) {
  if (ggas_node() == p.culprit && blockIdx.x == p.block) return ggas_ok;
  switch (p.variant) {
    case 0:
      return ggas_barrier_grid(p.timeout_ns);
    case 1:
      return ggas_sync_grid(p.timeout_ns);
    case 2:
      return ggas_allreduce_grid(vector_of(p, 1), vector_of(p, 0), 30 * count, ggas_sum, ggas_auto, p.timeout_ns);
    default:
      return ggas_barrier_block(p.timeout_ns, ggas_world(), blockIdx.x);
  }
}

// The culprit has fewer elements, or meets the others once less.
GGAS_DEVICE ggas_status exchange(const plan& p) {
  const bool wrong = ggas_node() == p.culprit;
  const size_t n = wrong ? wrong_count : count;
  switch (p.variant) {
    case 0:
      return ggas_allreduce_block(vector_of(p, 1), vector_of(p, 0), n, ggas_sum, ggas_one_shot, p.timeout_ns);
    case 1:
      return ggas_allgather_block(vector_of(p, 1), vector_of(p, 0), n, p.timeout_ns);
    case 2: {
      ggas_status s = ggas_ok;
      for (int i = 0; i < (wrong ? 2 : 3) && s == ggas_ok; ++i) s = ggas_barrier_block(p.timeout_ns);
      return s;
    }
    default:
      return ggas_broadcast_block(vector_of(p, 1), vector_of(p, 0), n, p.culprit, p.timeout_ns);
  }
}

// The culprit's kernel does nothing at all.
GGAS_DEVICE ggas_status go_on_without(const plan& p) {
  if (ggas_node() == p.culprit) return ggas_ok;
  const int root = (p.culprit + 1) % ggas_nodes();
  switch (p.variant) {
    case 0:
      return ggas_barrier_block(p.timeout_ns);
    case 1:
      return ggas_allreduce_block(vector_of(p, 1), vector_of(p, 0), 1, ggas_sum, ggas_auto, p.timeout_ns);
    case 2:
      return ggas_gather_block(vector_of(p, 1), vector_of(p, 0), count, root, p.timeout_ns);
    default:
      return ggas_reducescatter_block(vector_of(p, 1), vector_of(p, 0), count, ggas_sum, p.timeout_ns);
  }
}

[[maybe_unused]] static __global__ void hang(plan p) {
  if (p.what == kind::absent_block)
    static_cast<void>(meet_as_grid(p));
  else if (blockIdx.x != 0)
    return;
  else if (p.what == kind::dropped_signal)
    static_cast<void>(wait_for_signal(p));
  else if (p.what == kind::wrong_count)
    static_cast<void>(exchange(p));
  else
    static_cast<void>(go_on_without(p));
}

}  // namespace ggas::hangs
