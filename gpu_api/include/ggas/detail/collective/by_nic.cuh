// SPDX-License-Identifier: Apache-2.0
// reduce and allreduce by the NIC's unit for collectives: one block stores its elements to the NIC and takes the result
// from own memory. Included by allreduce.cuh.
#pragma once

#include "ggas/detail/collective/reduction.cuh"
#include "ggas/detail/sync/nic_unit.cuh"

namespace ggas::detail {

// Fields of the command word (docs/coll.md).
constexpr unsigned unit_kind_none = 7;
template <class T>
GGAS_DEVICE constexpr unsigned unit_kind() {
  if constexpr (is_same<T, float>) return 4;
  if constexpr (is_same<T, double>) return 5;
  if constexpr (!is_integer<T> || sizeof(T) < 4) return unit_kind_none;
  return (sizeof(T) == 8 ? 2 : 0) + (has_sign<T> ? 0 : 1);
}
constexpr unsigned unit_op_none = 7;
GGAS_DEVICE unsigned unit_op(ggas_op op) {
  switch (op) {
    case ggas_sum:
      return 0;
    case ggas_min:
      return 1;
    case ggas_max:
      return 2;
    case ggas_and:
      return 3;
    case ggas_or:
      return 4;
    case ggas_xor:
      return 5;
    default:
      return unit_op_none;
  }
}
GGAS_DEVICE uint64_t unit_command(unsigned words, unsigned op, unsigned kind, bool wants) {
  return words | uint64_t{op} << 8 | uint64_t{kind} << 12 | uint64_t{1} << 16 | uint64_t{wants} << 17;
}

template <class T>
GGAS_DEVICE bool unit_can(const piece<T>& p, const ggas_team& team) {
  return unit_serves(team) && unit_kind<T>() != unit_kind_none && unit_op(p.op) != unit_op_none && p.n > 0;
}
template <class T>
GGAS_DEVICE bool goes_by_nic(const piece<T>& p, ggas_method method, const ggas_team& team) {
  if (method == ggas_by_nic) return unit_can(p, team) && p.n <= unit_bytes / sizeof(T);
  return method == ggas_auto && unit_can(p, team) && p.n * sizeof(T) <= device_context().tuned.by_nic;
}

// What one operation of the unit holds.
template <class T>
GGAS_DEVICE_FUNCTION ggas_status reduce_once_by_nic(piece<T> p, poll_deadline& end) {
  GGAS_SHARED_ARRAY(uint64_t, known, unit_facts);
  const auto words = static_cast<unsigned>((p.n * sizeof(T) + 7) / 8);
  const bool wants = p.goes_to(ggas_node());
  __syncthreads();
  const unsigned rank = thread_rank();
  const uint64_t first = rank < words ? load_elements(p.src, rank, p.n) : 0;  // next to the facts
  learn_facts<false>(known);
  if (known[node_broken] != 0) return ggas_broken;
  if (rank < words) store_relaxed(nic_unit().block + 1 + rank, first);
  for (unsigned i = rank + thread_count(); i < words; i += thread_count())
    store_relaxed(nic_unit().block + 1 + i, load_elements(p.src, i, p.n));
  const auto done = static_cast<uint32_t>(known[ops_ended]);
  ggas_status s = ggas_ok;
  if (rank == 0) {
    start_unit(unit_command(words, unit_op(p.op), unit_kind<T>(), wants));
    s = await_unit(done, end);
    if (wait_failed(s)) break_node();
  }
  s = block_status(s, waited_for::unit, nic_unit().flag, known[ops_ended] + 1);
  if (s != ggas_ok || !wants) return s;
  const auto* const result = reinterpret_cast<const uint64_t*>(nic_unit().results + (done % 2 == 0 ? 0 : unit_bytes));
  for (unsigned i = thread_rank(); i < words; i += thread_count())
    store_elements(p.dst, i, p.n, load_relaxed(result + i));
  __syncthreads();
  return ggas_ok;
}

// Block 0 does all of it, and the others need not wait, as in every reduction. Long vectors take one operation after
// the other. That is slow for few nodes, but this is the only method whose number of messages grows linearly with the
// nodes.
template <class T>
GGAS_DEVICE ggas_status reduce_by_nic(const piece<T>& p, unsigned block, uint64_t timeout_ns) {
  if (block != 0) return ggas_ok;
  constexpr size_t most = unit_bytes / sizeof(T);
  poll_deadline end(timeout_ns);
  ggas_status s = ggas_ok;
  for (size_t at = 0; at < p.n && s == ggas_ok; at += most)
    s = reduce_once_by_nic(p.part(at, p.n - at < most ? p.n - at : most), end);
  return s;
}

}  // namespace ggas::detail
