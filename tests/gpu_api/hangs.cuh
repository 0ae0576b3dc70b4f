// SPDX-License-Identifier: Apache-2.0
// Kernels that hang because one member does not do its part: 31 kinds of faults. One source for the host engine and
// GPUs; expected reports: hangs_run.hpp.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::hangs {

enum class kind : int {
  // The culprit does not write what its right neighbour waits for.
  no_signal,
  no_store,
  no_tagged_lines,
  no_notification,
  // A block of the culprit's grid does not come.
  no_block_barrier,
  no_block_sync,
  no_block_allreduce,
  no_block_index,
  // The culprit's kernel does nothing at all.
  nobody_barrier,
  nobody_allreduce,
  nobody_gather,
  nobody_reducescatter,
  nobody_by_flags,
  // It comes when the others' time is up, or waits for what no one sends.
  late_barrier,
  late_allgather,
  stuck,
  // It calls with other arguments.
  fewer_allreduce,
  more_allreduce,
  fewer_allgather,
  more_alltoall,
  fewer_broadcast,
  more_broadcast,
  other_method,
  other_root_broadcast,
  other_root_reduce,
  other_root_gather,
  other_root_scatter,
  // It calls something else.
  fewer_meetings,
  more_meetings,
  other_call,
  other_team,
  kinds
};
constexpr int kinds = static_cast<int>(kind::kinds);

struct plan {
  kind what;
  int culprit;     // node
  unsigned block;  // of its grid, that does not come
  uint64_t base;   // offset of memory for users, 64 KB
  uint64_t timeout_ns;
};
constexpr unsigned blocks = 3, threads = 64;
// Numbers of elements: two lines, one and four. They fit the smallest slot, so data are not mistaken for addresses.
constexpr size_t count = 4, fewer = 2, more = 8, of_grid = 600;

GGAS_DEVICE float* vector_of(const plan& p, uint64_t place) {
  return ggas_pointer_of_node<float>(ggas_node(), p.base + 4096 + place * 4096);
}

// Every member informs its right neighbour something, but the culprit.
GGAS_DEVICE ggas_status wait_for_neighbour(const plan& p) {
  const int me = ggas_node(), right = (me + 1) % ggas_nodes();
  auto* const flag = ggas_pointer_of_node<uint64_t>(me, p.base);
  auto* const theirs = ggas_pointer_of_node<uint64_t>(right, p.base);
  auto* const lines = ggas_pointer_of_node<ggas_tagged>(me, p.base + 1024);
  auto* const their_lines = ggas_pointer_of_node<ggas_tagged>(right, p.base + 1024);
  auto* const inbox = ggas_pointer_of_node<float>(right, p.base + 8192);
  const bool sends = me != p.culprit;
  ggas_notification note{};
  switch (p.what) {
    case kind::no_signal:
      if (sends)
        static_cast<void>(
            ggas_put_signal_block(inbox, vector_of(p, 0), count, theirs, 1, ggas_signal_set, p.timeout_ns));
      return threadIdx.x == 0 ? ggas_signal_wait_until(flag, ggas_ge, 1, nullptr, p.timeout_ns) : ggas_ok;
    case kind::no_store:
      if (sends && threadIdx.x == 0) ggas_store(theirs, 1, ggas_release);
      return ggas_wait_until_block(flag, ggas_eq, 1, p.timeout_ns);
    case kind::no_tagged_lines:
      if (sends) static_cast<void>(ggas_put_tagged_block(their_lines, vector_of(p, 0), count, 7));
      return ggas_take_tagged_block(vector_of(p, 1), lines, count, 7, p.timeout_ns);
    default:
      if (sends && threadIdx.x == 0) static_cast<void>(ggas_notify(right, 5, 0, p.timeout_ns));
      return threadIdx.x == 0 ? ggas_notification_wait(&note, p.timeout_ns, ggas_queue_of(0)) : ggas_ok;
  }
}

GGAS_DEVICE ggas_status meet_as_grid(const plan& p) {
  if (ggas_node() == p.culprit && blockIdx.x == p.block) return ggas_ok;
  switch (p.what) {
    case kind::no_block_barrier:
      return ggas_barrier_grid(p.timeout_ns);
    case kind::no_block_sync:
      return ggas_sync_grid(p.timeout_ns);
    case kind::no_block_allreduce:
      return ggas_allreduce_grid(vector_of(p, 1), vector_of(p, 0), of_grid, ggas_sum, ggas_auto, p.timeout_ns);
    default:
      return ggas_barrier_block(p.timeout_ns, ggas_world(), blockIdx.x);
  }
}

GGAS_DEVICE ggas_status go_on_without(const plan& p) {
  if (ggas_node() == p.culprit) return ggas_ok;
  const int root = (p.culprit + 1) % ggas_nodes();
  switch (p.what) {
    case kind::nobody_barrier:
      return ggas_barrier_block(p.timeout_ns);
    case kind::nobody_allreduce:
      return ggas_allreduce_block(vector_of(p, 1), vector_of(p, 0), 1, ggas_sum, ggas_auto, p.timeout_ns);
    case kind::nobody_gather:
      return ggas_gather_block(vector_of(p, 1), vector_of(p, 0), count, root, p.timeout_ns);
    case kind::nobody_reducescatter:
      return ggas_reducescatter_block(vector_of(p, 1), vector_of(p, 0), count, ggas_sum, p.timeout_ns);
    default:
      return ggas_allreduce_block(vector_of(p, 1), vector_of(p, 0), count, ggas_sum, ggas_by_gather, p.timeout_ns);
  }
}

GGAS_DEVICE ggas_status come_late(const plan& p) {
  const bool late = ggas_node() == p.culprit;
  if (late && p.what == kind::stuck) {
    auto* const flag = ggas_pointer_of_node<uint64_t>(ggas_node(), p.base);
    return threadIdx.x == 0 ? ggas_wait_until(flag, ggas_eq, 1, p.timeout_ns) : ggas_ok;
  }
  const uint64_t from = detail::clock_ns();
  while (late && detail::clock_ns() - from < 4 * p.timeout_ns) __nanosleep(1000);
  __syncthreads();
  return p.what == kind::late_allgather ? ggas_allgather_block(vector_of(p, 1), vector_of(p, 0), count, p.timeout_ns)
                                        : ggas_barrier_block(p.timeout_ns);
}

GGAS_DEVICE ggas_status exchange(const plan& p) {
  const bool wrong = ggas_node() == p.culprit;
  const size_t less = wrong ? fewer : count, larger = wrong ? more : count;
  const int right = (p.culprit + 1) % ggas_nodes(), other = (p.culprit + 2) % ggas_nodes();
  const int root = wrong ? other : right;
  float* const to = vector_of(p, 1);
  const float* const from = vector_of(p, 0);
  switch (p.what) {
    case kind::fewer_allreduce:
      return ggas_allreduce_block(to, from, less, ggas_sum, ggas_one_shot, p.timeout_ns);
    case kind::more_allreduce:
      return ggas_allreduce_block(to, from, larger, ggas_sum, ggas_one_shot, p.timeout_ns);
    case kind::fewer_allgather:
      return ggas_allgather_block(to, from, less, p.timeout_ns);
    case kind::more_alltoall:
      return ggas_alltoall_block(to, from, larger, p.timeout_ns);
    case kind::fewer_broadcast:
      return ggas_broadcast_block(to, from, less, p.culprit, p.timeout_ns);
    case kind::more_broadcast:
      return ggas_broadcast_block(to, from, larger, right, p.timeout_ns);
    case kind::other_method:
      return ggas_allreduce_block(to, from, count, ggas_sum, wrong ? ggas_two_shot : ggas_one_shot, p.timeout_ns);
    case kind::other_root_broadcast:
      return ggas_broadcast_block(to, from, count, root, p.timeout_ns);
    case kind::other_root_reduce:
      return ggas_reduce_block(to, from, count, ggas_sum, root, ggas_one_shot, p.timeout_ns);
    case kind::other_root_gather:
      return ggas_gather_block(to, from, count, root, p.timeout_ns);
    default:
      return ggas_scatter_block(to, from, count, root, p.timeout_ns);
  }
}

GGAS_DEVICE ggas_status call_something_else(const plan& p) {
  const bool wrong = ggas_node() == p.culprit;
  if (p.what == kind::other_team)
    return ggas_barrier_block(p.timeout_ns, wrong ? ggas_team_strided(1, 0, 1, ggas_nodes()) : ggas_world());
  if (p.what == kind::other_call && !wrong)
    return ggas_allreduce_block(vector_of(p, 1), vector_of(p, 0), 1, ggas_sum, ggas_one_shot, p.timeout_ns);
  const int usual = p.what == kind::other_call ? 1 : 3;
  const int meetings = !wrong ? usual : p.what == kind::fewer_meetings ? 2 : p.what == kind::more_meetings ? 4 : 1;
  ggas_status s = ggas_ok;
  for (int i = 0; i < meetings && s == ggas_ok; ++i) s = ggas_barrier_block(p.timeout_ns);
  return s;
}

[[maybe_unused]] static __global__ void hang(plan p) {
  if (p.what >= kind::no_block_barrier && p.what <= kind::no_block_index)
    static_cast<void>(meet_as_grid(p));
  else if (blockIdx.x != 0)
    return;
  else if (p.what < kind::no_block_barrier)
    static_cast<void>(wait_for_neighbour(p));
  else if (p.what < kind::late_barrier)
    static_cast<void>(go_on_without(p));
  else if (p.what < kind::fewer_allreduce)
    static_cast<void>(come_late(p));
  else if (p.what < kind::fewer_meetings)
    static_cast<void>(exchange(p));
  else
    static_cast<void>(call_something_else(p));
}

}  // namespace ggas::hangs
