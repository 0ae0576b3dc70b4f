// SPDX-License-Identifier: Apache-2.0
// The NIC's unit for collectives (docs/coll.md), used by one thread or block: a command and the words of a contribution
// are stored to a block of the context's page, in any order; the result arrives in own memory, followed by a flag. One
// operation of the node at a time. Included by barrier.cuh and allreduce.cuh.
#pragma once

#include "ggas/detail/sync/wait.cuh"
#include "ggas/team.cuh"

namespace ggas::detail {

constexpr uint64_t unit_bytes = 256;  // of a contribution, at most

GGAS_DEVICE const collective_unit& nic_unit() { return device_context().collectives; }
// Its group has all nodes.
GGAS_DEVICE bool unit_serves(const ggas_team& t) { return nic_possible && t.id == 0 && nic_unit().block; }

// What a block has to know before it starts an operation.
enum unit_fact : unsigned { ops_ended, node_broken, queues_used, meetings_ended, unit_facts };
GGAS_DEVICE const uint64_t* place_of(unsigned fact) {
  if (fact == ops_ended) return nic_unit().flag;
  if (fact == node_broken) return own_word(layout::broken);
  return own_word(fact == queues_used ? layout::queues_used : layout::barrier_epoch(0));
}
// The last threads of the block load all facts at the same time. If a fence is required, the first thread makes it at
// the same time, too. A block barrier at the end gives the facts to all threads.
template <bool Fence>
GGAS_DEVICE void learn_facts(uint64_t* known) {
  const unsigned fact = thread_count() - 1 - thread_rank();
  const uint64_t found = fact < unit_facts ? load_relaxed(place_of(fact)) : 0;
  if (Fence && thread_rank() == 0) __threadfence_system();
  if (fact < unit_facts) known[fact] = found;
  for (unsigned f = fact + thread_count(); f < unit_facts; f += thread_count()) known[f] = load_relaxed(place_of(f));
  __syncthreads();
}

// Command: contribute only when the stores of the node that came before are visible.
constexpr uint64_t unit_fenced = uint64_t{1} << 18;
GGAS_DEVICE void start_unit(uint64_t command) { store_relaxed(nic_unit().block, command); }
// The status until the end of the next operation but one. All members get it if their commands differ, or if a member's
// stores before a fenced command may be lost.
constexpr uint64_t unit_disagreed = 10;  // ST_BAD
GGAS_DEVICE ggas_status await_unit(uint32_t ended_before, poll_deadline& end) {
  uint64_t flag;
  while (static_cast<uint32_t>(flag = load_spin(nic_unit().flag)) == ended_before) {
    if (end.over()) return end.status();
  }
  acquire_after_spin(nic_unit().flag);
  if (flag >> 32 == 0) return ggas_ok;
  return flag >> 32 == unit_disagreed ? ggas_bad_argument : ggas_peer_error;
}

}  // namespace ggas::detail
