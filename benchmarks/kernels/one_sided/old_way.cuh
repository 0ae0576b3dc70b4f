// SPDX-License-Identifier: Apache-2.0
// Put and get as the GPU library of the original system did them, by one thread with rings in host memory: a descriptor
// of three stores in sequence; for every notification polls over PCIe, a read of its other word, clearing of the
// record, and an update of the read pointer in host memory. The NIC here needs neither clearing nor the pointer; both
// are done to measure their cost.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::bench {

constexpr uint64_t old_requester = 1u << 4, old_both = old_requester | detail::notify_completer;

// The handle's fields count as in the library; slots are free because every descriptor's notification was awaited.
GGAS_DEVICE void old_post(const ggas_queue& q, uint64_t op, int node, uint64_t bytes, uint64_t from, uint64_t to,
                          uint64_t cookie) {
  char* const at = detail::slot_word(q, detail::produced(q.ticket), 0);
  ggas_store(reinterpret_cast<uint64_t*>(at), detail::first_word(op, node, bytes, static_cast<int>(q.at.vpid)));
  ggas_store(reinterpret_cast<uint64_t*>(at + 8), from);
  ggas_store(reinterpret_cast<detail::word_pair*>(at + 16), detail::word_pair{to, cookie});
  q.ticket = detail::advance(q.ticket, 1, 1);
}

GGAS_DEVICE ggas_status old_consume(const ggas_queue& q, uint64_t* read_pointer, uint64_t timeout_ns) {
  const uint32_t log2 = q.at.notify_log2, size = 1u << log2;
  if (ggas_load(read_pointer) != q.note) return ggas_peer_error;  // the pointer lies in host memory
  auto* const record = reinterpret_cast<uint64_t*>(q.at.notifications + (q.note & (size - 1)) * 16);
  const detail::deadline end(timeout_ns);
  uint64_t w1 = detail::load_poll(record + 1);
  while (!detail::fresh(w1, q.note, log2)) {
    if (end.passed()) return ggas_timed_out;
    w1 = detail::load_poll(record + 1);
  }
  (void)ggas_load(record);
  ggas_store(record, uint64_t{0});
  ggas_store(record + 1, w1 >> 63 << 63);  // cleared, but for the phase
  ++q.note;
  ggas_store(read_pointer, uint64_t{q.note});
  if (q.note % (size / 4) == 0) detail::tell_reader_position(q, q.note);
  return (w1 >> 56 & 15) == 0 ? ggas_ok : ggas_peer_error;
}

// The next kernel goes on here.
GGAS_DEVICE void old_close(const ggas_queue& q) {
  ggas_store(q.at.words, q.ticket);
  ggas_store(q.at.words + 1, uint64_t{q.note});
  ggas_store(q.at.words + 2, uint64_t{q.note & ~((1u << q.at.notify_log2) / 4 - 1)});
}

}  // namespace ggas::bench
