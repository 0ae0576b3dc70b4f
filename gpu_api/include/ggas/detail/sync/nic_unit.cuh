// SPDX-License-Identifier: Apache-2.0
// The NIC's unit for collectives (docs/coll.md), from one thread or block: a command and the words of a contribution
// are stored to a block of the context's page, in any order; the result comes to own memory, and a flag behind it. One
// operation of the node at a time. Included by barrier.cuh and allreduce.cuh.
#pragma once

#include "ggas/detail/sync/wait.cuh"
#include "ggas/team.cuh"

namespace ggas::detail {

constexpr uint64_t unit_bytes = 256;  // of a contribution, at most

GGAS_DEVICE const collective_unit& nic_unit() { return device_context().collectives; }
// Its group is that of all nodes.
GGAS_DEVICE bool unit_serves(const ggas_team& t) { return nic_possible && t.id == 0 && nic_unit().block; }

// Operations that have ended here.
GGAS_DEVICE uint32_t unit_count() { return static_cast<uint32_t>(load_relaxed(nic_unit().flag)); }
GGAS_DEVICE void start_unit(uint64_t command) { store_relaxed(nic_unit().block, command); }
// Until the one behind those has ended. Members that ask for different things all get ggas_bad_argument.
GGAS_DEVICE ggas_status await_unit(uint32_t ended_before, patience& end) {
  uint64_t flag;
  while (static_cast<uint32_t>(flag = load_spin(nic_unit().flag)) == ended_before) {
    if (end.over()) return end.in_vain();
  }
  acquire_after_spin(nic_unit().flag);
  return flag >> 32 == 0 ? ggas_ok : ggas_bad_argument;
}

}  // namespace ggas::detail
