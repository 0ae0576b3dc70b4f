// SPDX-License-Identifier: Apache-2.0
// Calls in the trace of their node (docs/tracing.md): a record of 32 bytes each, written by the call's leader when it
// ends. Nothing waits for it, and nothing orders it: the host reads it when kernels have ended. Without tracing
// (trace_possible) no call has code for it. Included by failed_wait.cuh.
#pragma once

#include "ggas/detail/access/access.cuh"

namespace ggas::detail {

GGAS_DEVICE bool is_traced() { return trace_possible && device_context().trace.at != nullptr; }

GGAS_DEVICE void write_record(call_record* at, const call_times& when, uint32_t block, uint32_t thread, call_id call,
                              ggas_status s) {
  store_own(&at->when, when);
  store_own(&at->what, call_facts{block, thread, static_cast<uint32_t>(call), static_cast<uint32_t>(s)});
}

// ------------------------------------------------------------------------------------------------ of whole blocks

// State of a block between its calls, in shared memory: a load of global memory between a call's fences would take
// longer than the rest of the trace. The memory may contain the state of another block, or anything; `sign` shows
// whether it is valid. A block reuses the places that an ended block with the same number has left.
struct alignas(16) block_trace {
  static constexpr uint32_t share = 64;  // places claimed at once

  uint64_t began;  // the call
  uint32_t next;   // place of its record; a multiple of `share`: there is none yet
  uint32_t sign;   // sign_of(next)
};
GGAS_DEVICE block_trace& own_block_trace() {
  GGAS_SHARED(block_trace, kept);
  return kept;
}
GGAS_DEVICE uint32_t sign_of(uint32_t next, uint32_t block) {
  const auto ring = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(device_context().trace.at));
  return next * 0x9e3779b9u + (block ^ ring);
}
GGAS_DEVICE_FUNCTION uint32_t claim_share() { return add_gpu(device_context().trace.claimed, 1u) * block_trace::share; }

// Functions, or the compiler would have kernels do some of it that are not traced.
GGAS_DEVICE_FUNCTION void trace_begin_of_block() {
  if (is_first_thread()) own_block_trace().began = clock_ns();
}
GGAS_DEVICE_FUNCTION void trace_end_of_block(call_id call, ggas_status s) {
  if (!is_first_thread()) return;
  const call_trace& t = device_context().trace;
  const uint64_t ended = clock_ns();
  block_trace mine = own_block_trace();
  const uint32_t block = block_rank(), sign = sign_of(mine.next, block);
  if ((mine.next % block_trace::share == 0) | (mine.sign != sign)) [[unlikely]]
    mine.next = claim_share();
  write_record(t.at + (mine.next & (t.places - 1)), {mine.began, ended}, block, 0, call, s);
  ++mine.next;
  mine.sign = sign_of(mine.next, block);
  own_block_trace() = mine;
}

// ------------------------------------------------------------------------------------------------ of threads

// The place is claimed when the call begins, so that the answer arrives during the call. If lanes add to one word, the
// compiler makes one addition and waits for its answer at once; it does not know that a block has at most 1024 threads.
GGAS_DEVICE uint32_t claim_place() { return add_gpu(device_context().trace.claimed + 1 + (thread_rank() >> 10), 1u); }
GGAS_DEVICE_FUNCTION void trace_end_of_thread(uint32_t place, uint64_t began, call_id call, ggas_status s) {
  const call_trace& t = device_context().trace;
  write_record(t.at + t.places + (place & (t.places - 1)), {began, clock_ns()}, block_rank(), thread_rank(), call, s);
}

// ------------------------------------------------------------------------------------------------ a call

// Groups of which a block makes one call at a time.
template <class G>
concept has_whole_blocks = G::whole_blocks;

template <class G>
class traced_call {
 public:
  GGAS_DEVICE explicit traced_call(const G& g) {
    if (is_traced()) [[unlikely]]
      if (g.leads()) {
        began_ = clock_ns();
        place_ = claim_place();
      }
  }
  GGAS_DEVICE void end(call_id call, const G& g, ggas_status s) const {
    if (is_traced()) [[unlikely]]
      if (g.leads()) trace_end_of_thread(place_, began_, call, s);
  }

 private:
#ifdef __CUDACC__  // without values where calls are not traced: they are to cost nothing on a GPU
  uint64_t began_;
  uint32_t place_;
#else
  uint64_t began_ = 0;
  uint32_t place_ = 0;
#endif
};

// In no registers: a collective has none to spare.
template <has_whole_blocks G>
class traced_call<G> {
 public:
  GGAS_DEVICE explicit traced_call(const G&) {
    if (is_traced()) [[unlikely]]
      trace_begin_of_block();
  }
  GGAS_DEVICE void end(call_id call, const G&, ggas_status s) const {
    if (is_traced()) [[unlikely]]
      trace_end_of_block(call, s);
  }
};

}  // namespace ggas::detail
