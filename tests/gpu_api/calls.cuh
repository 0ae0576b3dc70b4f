// SPDX-License-Identifier: Apache-2.0
// Calls of the device API in random tables, one source for the host engine, the simulator and GPUs. A table has steps
// for each node: calls with random sizes, places, alignments, groups and queues, some with an invalid argument. Kernels
// execute it (calls_*.cuh); calls_table.hpp makes it, calls_reference.hpp computes every expected byte.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::calls {

enum class call : uint32_t {
  store,
  store_warp,
  store_block,
  load,
  load_warp,
  load_block,
  put_value,
  put_value_nbi,
  put_value_nbi_warp,
  put_value_nbi_block,
  put_value_warp,
  put_value_block,
  iput,
  iput_warp,
  iput_block,
  iput_nbi,
  iput_nbi_warp,
  iput_nbi_block,
  iget,
  iget_warp,
  iget_block,
  iget_nbi,
  iget_nbi_warp,
  iget_nbi_block,
  put,
  put_warp,
  put_block,
  put_nbi,
  put_nbi_warp,
  put_nbi_block,
  get,
  get_warp,
  get_block,
  get_nbi,
  get_nbi_warp,
  get_nbi_block,
  put_signal,
  put_signal_warp,
  put_signal_block,
  put_signal_nbi,
  put_signal_nbi_warp,
  put_signal_nbi_block,
  fetch,
  fetch_warp,
  fetch_add,
  fetch_swap,
  compare_swap,
  post,
  add,
};

// Who makes a call: a thread, a warp, all threads of the block.
enum class form : uint32_t { thread, warp, block };

// What is waited for after a step.
enum class finish : uint32_t {
  everything,  // ggas_quiet_block(): stores too
  queue,       // ggas_quiet(q)
  queue_warp,  // the others complete puts and the like of the step's queue
  queue_block,
  queue_fence,
  sources_first,  // ggas_quiet_local(q), then ggas_quiet(q)
  sources_first_warp,
};
constexpr uint32_t finishes = 7;

constexpr uint64_t nowhere = ~uint64_t{0};  // an offset in no segment: its pointer is null
constexpr int default_queue = -2;

struct step {
  call what;
  form by;
  finish behind;
  ggas_status want;
  uint32_t actor;                   // number of the thread, or of a thread of the warp
  uint32_t bytes;                   // of an element
  uint32_t is_signed, is_floating;  // of atomics
  uint32_t operation;               // ggas_signal_op, ggas_atomic
  uint32_t through_window;
  int32_t node, queue;  // the peer; a queue of this node
  int32_t signal_node;
  uint64_t here, there;  // offsets in the own segment and the peer's
  uint64_t signal;
  uint64_t n;
  int64_t here_stride, there_stride;
  uint64_t value, compare;
};

struct args {
  uint64_t steps;     // offset of the own table
  uint64_t count;     // steps
  uint64_t outcomes;  // of a bench::outcome for each thread; errors: steps with a wrong status, begin_ns: the first of
                      // them, from 1; end_ns: its status
  uint64_t timeout_ns;
};

GGAS_DEVICE bool takes_part(const step& s) {
  const unsigned me = detail::thread_rank();
  return s.by == form::block || (s.by == form::warp && me / 32 == s.actor / 32) || me == s.actor;
}

GGAS_DEVICE ggas_queue queue_of(const step& s) {
  return s.queue == default_queue ? ggas_default_queue() : ggas_queue_of(s.queue);
}

// The two ends of a call.
template <class T>
GGAS_DEVICE T* here(const step& s) {
  return reinterpret_cast<T*>(bench::own<char>(s.here));
}
template <class T>
GGAS_DEVICE T* there(const step& s) {
  return reinterpret_cast<T*>(s.through_window ? ggas_global_pointer<char>(s.node, s.there)
                                               : ggas_pointer_of_node<char>(s.node, s.there));
}

// By all threads of the block.
GGAS_DEVICE ggas_status complete(const step& s, uint64_t timeout_ns) {
  const ggas_queue q = queue_of(s);
  const unsigned me = detail::thread_rank();
  const bool leads = me == s.actor, in_warp = me / 32 == s.actor / 32;
  ggas_status r = ggas_ok;
  __syncthreads();
  switch (s.behind) {
    case finish::everything:
      r = ggas_quiet_block();
      break;
    case finish::queue:
      if (leads) r = ggas_quiet(q, timeout_ns);
      break;
    case finish::queue_warp:
      if (in_warp) r = ggas_quiet_warp(q, timeout_ns);
      break;
    case finish::queue_block:
      r = ggas_quiet_block(q, timeout_ns);
      break;
    case finish::queue_fence:
      if (leads) r = ggas_fence(q, timeout_ns);
      break;
    case finish::sources_first:
      if (leads) r = ggas_quiet_local(q, timeout_ns);
      if (leads && r == ggas_ok) r = ggas_quiet(q, timeout_ns);
      break;
    case finish::sources_first_warp:
      if (in_warp) r = ggas_quiet_local_warp(q, timeout_ns);
      if (in_warp && r == ggas_ok) r = ggas_quiet_warp(q, timeout_ns);
      break;
  }
  return detail::block_status(r);
}

// One block: all steps of this node, each complete before the next. perform(step) makes the call by the threads that
// take part.
template <class Perform>
GGAS_DEVICE void go_through(const args& a, Perform perform) {
  bench::outcome out{0, 0, 0, ggas_ok};
  const step* const steps = bench::own<step>(a.steps);
  for (uint64_t i = 0; i < a.count; ++i) {
    const step s = steps[i];
    const ggas_status got = takes_part(s) ? perform(s) : s.want;
    if (got != s.want && out.errors++ == 0) {
      out.begin_ns = i + 1;
      out.end_ns = got;
    }
    // In a call that was refused there is nothing to wait for, perhaps not even a queue.
    const ggas_status done = s.want == ggas_ok ? complete(s, a.timeout_ns) : detail::block_status(ggas_ok);
    if (done != ggas_ok && out.status == ggas_ok) out.status = done;
  }
  bench::own<bench::outcome>(a.outcomes)[detail::thread_rank()] = out;
}

}  // namespace ggas::calls
