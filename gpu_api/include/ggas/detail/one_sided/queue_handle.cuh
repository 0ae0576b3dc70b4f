// SPDX-License-Identifier: Apache-2.0
// What ggas_queue consists of. Included by rma.cuh.
#pragma once

#include "ggas/detail/sync/wait.cuh"

enum ggas_sharing {
  ggas_shared,     // others may use the queue at the same time
  ggas_exclusive,  // only this handle uses it, from one thread or from calls of one group: posting takes no atomic
};

// A thread's handle of a queue: the queue itself and what the thread last saw of it, which saves looking again.
class ggas_queue {
 public:
  // That of the block, which is found out when something is posted: where a queue is one by name only it costs nothing.
  GGAS_DEVICE static ggas_queue of_block() {
    ggas_queue q;
    q.index_ = 0;
    q.of_block_ = true;
    return q;
  }
  GGAS_DEVICE bool good() const { return index_ >= 0; }
  GGAS_DEVICE int index() const {
    return of_block_ ? static_cast<int>(ggas::detail::block_rank() % ggas::layout::direct_queues) : index_;
  }

  // For the library.
  mutable ggas::rma_queue at{};  // all zero without a NIC, where peers are reached directly; notifications fill it in
  mutable int index_ = -1;
  mutable bool of_block_ = false;
  bool exclusive = false;
  mutable uint64_t ticket = 0;    // last seen of words[0]
  mutable uint32_t consumed = 0;  // slots
  mutable bool looked = false;    // ticket and consumed are known
  mutable uint32_t note = 0;      // next notification; without a NIC: the node whose ring is looked at first
  mutable uint32_t reported = 0;  // exclusive: notifications the NIC was informed of
  // What a copy of this handle has seen.
  GGAS_DEVICE void remember(const ggas_queue& copy) const {
    at = copy.at;
    index_ = copy.index_;
    of_block_ = copy.of_block_;
    ticket = copy.ticket;
    consumed = copy.consumed;
    looked = copy.looked;
    note = copy.note;
    reported = copy.reported;
  }
};
