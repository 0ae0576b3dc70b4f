// SPDX-License-Identifier: Apache-2.0
// The earlier notifications between GPUs: one ring at the receiver for all senders, whose places are claimed by
// compare-and-swap over the link, after loads of two of its words. Today each node has a separate ring (docs/ring.md).
// The library does not use this code; the benchmark measures its cost.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::bench {

// A ring lies at `at` of every segment, zero at first: words claimed and read, then records.
struct claimed_notes {
  uint64_t at;
  static constexpr uint64_t records = 64, record_bytes = 16, bytes = 2 * 64 + records * record_bytes;

  GGAS_DEVICE uint64_t* claimed(int node) const { return ggas_pointer_of_node<uint64_t>(node, at); }
  GGAS_DEVICE uint64_t* read(int node) const { return ggas_pointer_of_node<uint64_t>(node, at + 64); }
  GGAS_DEVICE uint64_t* record(int node, uint64_t number) const {
    return ggas_pointer_of_node<uint64_t>(node, at + 128 + number % records * record_bytes);
  }
  // Top bit of the second word: in turn from lap to lap, so that nothing is cleared.
  static constexpr GGAS_HOST_DEVICE uint64_t phase(uint64_t number) { return (~(number / records) & 1) << 63; }
};

GGAS_DEVICE ggas_status send_claimed(const claimed_notes& ring, int node, uint64_t cookie, uint64_t timeout_ns) {
  const detail::deadline end(timeout_ns);
  uint64_t number = detail::load_relaxed(ring.claimed(node));
  for (;;) {
    if (number - detail::load_acquire(ring.read(node)) < claimed_notes::records) {
      const uint64_t found = detail::cas_system(ring.claimed(node), number, number + 1);
      if (found == number) break;
      number = found;
    } else {
      if (end.over()) return ggas_timed_out;
      number = detail::load_relaxed(ring.claimed(node));
    }
  }
  uint64_t* const record = ring.record(node, number);
  detail::store_relaxed(record, cookie);
  detail::store_release(record + 1, claimed_notes::phase(number) | static_cast<uint64_t>(ggas_node()));
  return ggas_ok;
}

// By the only reader, which has taken `number` records before.
GGAS_DEVICE ggas_status take_claimed(const claimed_notes& ring, uint64_t number, uint64_t& cookie,
                                     uint64_t timeout_ns) {
  const detail::deadline end(timeout_ns);
  uint64_t* const record = ring.record(ggas_node(), number);
  while ((detail::load_poll(record + 1) ^ claimed_notes::phase(number)) >> 63 != 0)
    if (end.over()) return ggas_timed_out;
  detail::acquire_after_poll();
  cookie = detail::load_relaxed(record);
  if ((number + 1) % (claimed_notes::records / 4) == 0) detail::store_release(ring.read(ggas_node()), number + 1);
  return ggas_ok;
}

}  // namespace ggas::bench
