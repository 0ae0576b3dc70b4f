// SPDX-License-Identifier: Apache-2.0
// Failed waits: the reason, and a record for the host that names the waiting thread and the missing members
// (docs/failures.md). All of it is out of line: a successful wait executes only the test of its status. Included by
// wait.cuh.
#pragma once

#include "ggas/detail/sync/trace.cuh"
#include "ggas/team.cuh"

namespace ggas::detail {

GGAS_DEVICE uint64_t* own_word(uint64_t offset) { return reinterpret_cast<uint64_t*>(device_context().local + offset); }

// The host ends all waits of this node. They look at its word as seldom as at the timer.
GGAS_DEVICE bool aborted() { return device_context().local && glance(own_word(layout::aborted)) != 0; }

// Why a wait failed, if it may have been the host.
GGAS_DEVICE_FUNCTION ggas_status end_of_wait() { return aborted() ? ggas_aborted : ggas_timed_out; }
GGAS_DEVICE bool wait_failed(ggas_status s) { return (s == ggas_timed_out) | (s == ggas_aborted); }

// Inside the library the status of a thread's failed wait contains the missing partner: a node, or a block of the own
// grid, with bits of wait_record.
constexpr unsigned awaited_from = 8;
GGAS_DEVICE ggas_status timed_out_for(int whom, unsigned bits = 0) {
  return static_cast<ggas_status>(ggas_timed_out | (wait_record::missing_one(whom) | bits) << awaited_from);
}
GGAS_DEVICE ggas_status plain_status(ggas_status s) { return static_cast<ggas_status>(s & ((1u << awaited_from) - 1)); }

// ------------------------------------------------------------------------------------------------ records

// This thread, as records name it.
GGAS_DEVICE uint64_t who_waits() { return uint64_t{block_rank()} << 32 | uint64_t{thread_rank()} << 1 | 1; }

GGAS_DEVICE wait_record* records() { return reinterpret_cast<wait_record*>(own_word(own_layout().wait_record_at(0))); }
// The record of this thread; null: it has none.
GGAS_DEVICE wait_record* own_record() {
  const uint64_t who = who_waits();
  wait_record* r = records();
  GGAS_NO_UNROLL
  for (unsigned left = layout::wait_records; left != 0; --left, ++r) {
    if (load_relaxed(&r->who) == who) return r;
  }
  return nullptr;
}

// The record of this thread, or a new one for it, with the fields that every record has; null if the program has set no
// context. The owner is written last, by end_record(), because the host reads records even while kernels still run.
GGAS_DEVICE wait_record* begin_record(waited_for kind, ggas_status s) {
  if (!device_context().local) return nullptr;
  const uint64_t number = add_gpu(own_word(own_layout().failed_waits()), uint64_t{1}) + 1;
  wait_record* const mine = own_record();
  wait_record* const at = mine ? mine : records() + (number - 1) % layout::wait_records;
  store_relaxed(&at->who, uint64_t{0});
  fence_acq_rel_system();
  store_relaxed(&at->at_ns, clock_ns());
  store_relaxed(&at->number, number);
  store_relaxed(&at->call, 0u);
  store_relaxed(&at->status, static_cast<uint32_t>(s));
  store_relaxed(&at->kind, static_cast<uint32_t>(kind));
  store_relaxed(&at->size, 0);
  store_relaxed(&at->missing_count, 0u);
  return at;
}
GGAS_DEVICE void end_record(wait_record* at) {
  fence_acq_rel_system();
  store_relaxed(&at->who, who_waits());
}

// ------------------------------------------------------------------------------------------------ of refused calls

// Begins the record of a call that was refused before any wait. `node`: the node whose call differs.
GGAS_DEVICE wait_record* begin_refusal(waited_for why, call_id call, int node) {
  wait_record* const at = begin_record(why, ggas_bad_argument);
  if (!at) return nullptr;
  store_relaxed(&at->call, static_cast<uint32_t>(call));
  store_relaxed(&at->missing[0], wait_record::missing_one(node));
  store_relaxed(&at->missing_count, 1u);
  return at;
}
GGAS_DEVICE void store_terms(wait_record* at, uint32_t offset, const call_terms& t) {
  auto* const words = reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(at) + offset);
  store_relaxed(words, t.n);
  store_relaxed(words + 1, t.how);
  store_relaxed(words + 2, t.team);
}
// A call of the block that the rules forbid. By all its threads. On a broken node nothing is worth a record.
GGAS_DEVICE_FUNCTION ggas_status refused_for(waited_for why, call_id call, uint64_t expected) {
  if (!device_context().local) return ggas_bad_argument;
  if (__syncthreads_or(glance(own_word(layout::broken)) != 0)) return ggas_broken;
  if (thread_rank() != 0) return ggas_bad_argument;
  wait_record* const at = begin_refusal(why, call, ggas_node());
  store_relaxed(&at->expected, expected);
  end_record(at);
  return ggas_bad_argument;
}

// ------------------------------------------------------------------------------------------------ of blocks

// The most severe status of the threads of a block, for all of them. Waits inside the library need not distinguish a
// time-out from an abort, because this function does.
constexpr unsigned gravest = ggas_aborted;
GGAS_DEVICE ggas_status gravest_of_block(ggas_status mine) {
  ggas_status all = ggas_ok;
  GGAS_NO_UNROLL
  for (unsigned s = ggas_timed_out; s <= gravest; ++s) {
    if (__syncthreads_or(plain_status(mine) == static_cast<ggas_status>(s))) all = static_cast<ggas_status>(s);
  }
  const bool by_host = __syncthreads_or(thread_rank() == 0 && aborted()) != 0;
  return all == ggas_timed_out && by_host ? ggas_aborted : all;
}
GGAS_DEVICE_FUNCTION ggas_status gravest_status(ggas_status mine) { return gravest_of_block(mine); }

// Combines the statuses of the threads of a block: ggas_ok only if all are ggas_ok, else one of the failures, the same
// for all threads. Contains a block barrier.
GGAS_DEVICE ggas_status block_status(ggas_status mine) {
  if (!__syncthreads_or(mine != ggas_ok)) [[likely]]
    return ggas_ok;
  return gravest_status(mine);
}

// For threads of a block of which one has failed.
GGAS_DEVICE ggas_status failed_somewhere(ggas_status mine) { return mine == ggas_ok ? ggas_timed_out : mine; }

// The least number above `after` that a thread of the block has; 0: none. By the whole block.
GGAS_DEVICE unsigned next_of_block(unsigned mine, unsigned after) {
  bool in_turn = mine > after;
  if (!__syncthreads_or(in_turn)) return 0;
  unsigned least = 0;
  GGAS_NO_UNROLL
  for (unsigned bit = 1u << (31 - awaited_from); bit != 0; bit >>= 1) {
    const bool is_less = in_turn && (mine & bit) == 0;
    if (__syncthreads_or(is_less))
      in_turn = is_less;
    else
      least |= bit;
  }
  return least;
}

// The first thread of the block writes a record of the members that the block's threads waited for. `counted`: the word
// of this node with the number of calls of this kind that have ended; this call was number `number`.
GGAS_DEVICE void record_missing(waited_for kind, ggas_status of_block, ggas_status mine, const uint64_t* counted,
                                uint64_t number) {
  wait_record* const at = thread_rank() == 0 ? begin_record(kind, of_block) : nullptr;
  unsigned count = 0;
  const unsigned key = static_cast<unsigned>(mine) >> awaited_from;
  GGAS_NO_UNROLL
  for (unsigned next = 0; (next = next_of_block(key, next | wait_record::missing_bits)) != 0; ++count)
    if (at && count < wait_record::most_missing) store_relaxed(&at->missing[count], next);
  if (!at) return;
  store_relaxed(&at->counted, static_cast<uint64_t>(reinterpret_cast<uintptr_t>(counted)) -
                                  reinterpret_cast<uintptr_t>(device_context().local));
  store_relaxed(&at->expected, number);
  store_relaxed(&at->missing_count, count);
  end_record(at);
}
GGAS_DEVICE_FUNCTION ggas_status failed_in_block(waited_for kind, ggas_status mine, const uint64_t* counted,
                                                 uint64_t number) {
  const ggas_status s = gravest_of_block(mine);
  if (wait_failed(s)) record_missing(kind, s, mine, counted, number);
  return s;
}
// Like block_status(), for threads that wait for others: members that did not arrive are recorded.
GGAS_DEVICE ggas_status block_status(ggas_status mine, waited_for kind, const uint64_t* counted, uint64_t number) {
  if (!__syncthreads_or(mine != ggas_ok)) [[likely]]
    return ggas_ok;
  return failed_in_block(kind, mine, counted, number);
}

// The first thread of a block failed in a wait that it made for all of them.
GGAS_DEVICE_FUNCTION ggas_status failed_alone(waited_for kind, uint64_t expected, uint64_t seen) {
  const ggas_status s = end_of_wait();
  wait_record* const at = begin_record(kind, s);
  if (!at) return s;
  store_relaxed(&at->expected, expected);
  store_relaxed(&at->seen, seen);
  end_record(at);
  return s;
}

// ------------------------------------------------------------------------------------------------ of threads

template <class T>
GGAS_DEVICE constexpr uint32_t type_of_word() {
  if constexpr (is_floating<T>)
    return sizeof(T) | wait_record::is_float;
  else if constexpr (is_integer<T>)
    return sizeof(T) | (has_sign<T> ? wait_record::is_signed : 0);
  else
    return sizeof(T);
}
template <class T>
GGAS_DEVICE uint64_t bits_of_word(const T& v) {
  uint64_t bits = 0;
  memcpy(&bits, &v, sizeof v);
  return bits;
}
GGAS_DEVICE uint64_t load_bits(const void* p, uint32_t bytes) {
  switch (bytes) {
    case 1:
      return load_relaxed(static_cast<const uint8_t*>(p));
    case 2:
      return load_relaxed(static_cast<const uint16_t*>(p));
    case 4:
      return load_relaxed(static_cast<const uint32_t*>(p));
    default:
      return load_relaxed(static_cast<const uint64_t*>(p));
  }
}

// A call's wait for a word of this node. With time-out 0 it was a test.
GGAS_DEVICE_FUNCTION void record_word(call_id call, ggas_status s, uint64_t timeout_ns, const void* word, uint32_t type,
                                      ggas_cmp cmp, uint64_t expected) {
  wait_record* const at = timeout_ns == 0 ? nullptr : begin_record(waited_for::word, s);
  if (!at) return;
  store_relaxed(&at->address, static_cast<uint64_t>(reinterpret_cast<uintptr_t>(word)));
  store_relaxed(&at->expected, expected);
  store_relaxed(&at->seen, load_bits(word, type % wait_record::is_signed));
  store_relaxed(&at->type, type);
  store_relaxed(&at->cmp, static_cast<uint32_t>(cmp));
  store_relaxed(&at->call, static_cast<uint32_t>(call));
  end_record(at);
}
template <class T>
GGAS_DEVICE void record_flag(call_id call, ggas_status s, uint64_t timeout_ns, const T* flag, ggas_cmp cmp,
                             const T& value) {
  record_word(call, s, timeout_ns, flag, type_of_word<T>(), cmp, bits_of_word(value));
}

// Something else that a thread waited for: `number` of it, of `whom`.
GGAS_DEVICE_FUNCTION void record_number(call_id call, ggas_status s, uint64_t timeout_ns, waited_for kind,
                                        uint64_t number, int whom) {
  wait_record* const at = timeout_ns == 0 ? nullptr : begin_record(kind, s);
  if (!at) return;
  store_relaxed(&at->expected, number);
  store_relaxed(&at->missing[0], wait_record::missing_one(whom));
  store_relaxed(&at->missing_count, 1u);
  store_relaxed(&at->call, static_cast<uint32_t>(call));
  end_record(at);
}

// ------------------------------------------------------------------------------------------------ calls

// What a barrier or collective was called with, as far as it has it.
struct call_arguments {
  ggas_team team;
  size_t n = 0;
  int root = wait_record::no_root;
  uint32_t method = 0, op = 0, bytes = 0;  // bytes of an element, 0: it moves none
};

// Completes the record of the calling block.
GGAS_DEVICE_FUNCTION void record_call(call_id call, call_arguments with) {
  if (thread_rank() != 0 || !device_context().local) return;
  wait_record* const mine = own_record();
  if (!mine || load_relaxed(&mine->call) != 0) return;
  store_relaxed(&mine->first, with.team.first);
  store_relaxed(&mine->stride, with.team.stride);
  store_relaxed(&mine->size, with.team.size);
  store_relaxed(&mine->team, with.team.id);
  store_relaxed(&mine->n, static_cast<uint64_t>(with.n));
  store_relaxed(&mine->root, with.root);
  store_relaxed(&mine->method, with.method);
  store_relaxed(&mine->op, with.op);
  store_relaxed(&mine->bytes, with.bytes);
  fence_acq_rel_system();
  store_relaxed(&mine->call, static_cast<uint32_t>(call));
}

}  // namespace ggas::detail

// The body of the public call `name`, made by `group`: returns the value of the expression. The call is traced if the
// node is traced; `failed` writes the record of a failed wait, with the status `s`.
#define GGAS_CALL(name, group, failed, ...)                  \
  {                                                          \
    constexpr ggas::call_id this_call = ggas::call_id::name; \
    const ggas::detail::traced_call traced(group);           \
    const ggas_status s = __VA_ARGS__;                       \
    if (ggas::detail::wait_failed(s)) [[unlikely]]           \
      failed;                                                \
    traced.end(this_call, group, s);                         \
    return s;                                                \
  }
