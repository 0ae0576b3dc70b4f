// SPDX-License-Identifier: Apache-2.0
// Writes, reads, notifications, atomics. Time-outs limit waits for other ranks; waits for the own NIC are limited by
// the NIC's time-outs.
#include <algorithm>
#include <cstring>
#include <utility>

#include "userlib/libggas/nic/nic.hpp"

namespace ggas::library::nic {

namespace {

constexpr uint64_t transfer_most = 1 << 23;  // bytes of a descriptor
constexpr uint64_t notes_late_ns = 10'000'000;

unsigned context_of(unsigned queue) { return queue % queue_contexts; }

}  // namespace

// A context may serve several queues: each learns of its own failures.
ggas_rc nic_transport::settle_queue(unsigned queue) {
  if (ggas_rc rc = drain(context_of(queue)); rc != GGAS_OK) return rc;
  take_failures(context_of(queue));
  return failures_of(queue);
}

ggas_rc nic_transport::failures_of(unsigned queue) const {
  const queue_state& q = queues_[queue];
  if (q.failures == 0) return GGAS_OK;
  return fail(GGAS_ERR_PEER, "queue ", queue, ": the NIC says that ", q.failures,
              " operations failed, the last one with status ", unsigned(q.last_status), " (docs/rma.md)");
}

// A note names the node that an operation was for, not its queue. node: -1: not known.
void nic_transport::record_failure(unsigned context, int node, uint8_t status) {
  for (unsigned queue = context; queue < GGAS_QUEUES; queue += queue_contexts) {
    queue_state& q = queues_[queue];
    bool its = false;
    for (unsigned r = 0; r < size(); ++r) its = its || (q.targets[r] && (node < 0 || peer(r).node == node));
    if (!its) continue;
    ++q.failures;
    q.last_status = status;
  }
}

// Operations that have failed since this was asked last. Their notes may come a little later than their number.
void nic_transport::take_failures(unsigned context) {
  ggas_rma_context& c = to_->context(context);
  const ggas_rma_status s = ggas_rma_read_status(&c);
  uint32_t missing = (s.errors - std::exchange(errors_seen_[context], s.errors)) & 0xffffffu;
  const limit until = limit::after(notes_late_ns);
  for (unsigned round = 0; missing; ++round) {
    ggas_rma_note note;
    for (; missing && ggas_rma_next_note(&c, &note); --missing)
      record_failure(context, note.kind == GGAS_RMA_NOTE_ERROR ? note.peer.node : -1,
                     note.status);  // else: some were lost
    if (!missing) return;
    if (until.passed()) return record_failure(context, -1, s.last_error);  // the ring was full
    const watched next[] = {{c.notifications + 16 * (c.notes & ((1u << c.notify_log2) - 1)), 16}};
    to_->pause(next, until.left(), round);
  }
}

void nic_transport::aim(unsigned queue, unsigned rank) { queues_[queue].targets[rank] = true; }

// A write overtakes the data of a read before it: not in a queue.
ggas_rc nic_transport::before_writes(unsigned queue) {
  if (!queues_[queue].reads) return GGAS_OK;
  queues_[queue].reads = false;
  return settle_queue(queue);
}

ggas_rc nic_transport::write(const place& to, const void* from, uint64_t bytes, unsigned queue, limit) {
  const turn mine(turns_);
  to_->call();
  view v;
  if (ggas_rc rc = look(to, bytes, v); rc != GGAS_OK) return rc;
  if (ggas_rc rc = begin_write(queue, to.rank); rc != GGAS_OK) return rc;
  if (to.rank == rank()) return gpus_.move(own_[to.segment].data.start + to.offset, from, bytes);  // parts may overlap
  const uint64_t nla = v.nla + to.offset;
  if (bytes <= GGAS_RMA_INLINE_MAX && !gpus_.holds(from)) {
    post(context_of(queue), ggas_rma_inline(peer(to.rank), from, nla, uint32_t(bytes), GGAS_RMA_ACK, to.rank));
    return GGAS_OK;
  }
  post_puts(to.rank, nla, to_->nla_of(from, bytes), bytes, queue);
  return GGAS_OK;
}

ggas_rc nic_transport::begin_write(unsigned queue, unsigned to) {
  const ggas_rc rc = before_writes(queue);
  if (rc == GGAS_OK) aim(queue, to);
  return rc;
}

void nic_transport::post_puts(unsigned to, uint64_t nla, uint64_t source, uint64_t bytes, unsigned queue) {
  for (uint64_t at = 0; at < bytes; at += transfer_most) {
    const auto n = uint32_t(std::min(bytes - at, transfer_most));
    post(context_of(queue), ggas_rma_put(peer(to), source + at, nla + at, n, GGAS_RMA_ACK, to));
  }
}

ggas_rc nic_transport::read(const place& from, void* to, uint64_t bytes, unsigned queue, limit) {
  const turn mine(turns_);
  to_->call();
  view v;
  if (ggas_rc rc = look(from, bytes, v); rc != GGAS_OK) return rc;
  aim(queue, from.rank);
  if (from.rank == rank()) return gpus_.move(to, own_[from.segment].data.start + from.offset, bytes);
  queues_[queue].reads = true;
  queues_[queue].lands = queues_[queue].lands || lies_elsewhere(to);
  const uint64_t target = to_->nla_of(to, bytes);
  for (uint64_t at = 0; at < bytes; at += transfer_most) {
    const auto n = uint32_t(std::min(bytes - at, transfer_most));
    post(context_of(queue), ggas_rma_get(peer(from.rank), v.nla + from.offset + at, target + at, n, 0, from.rank));
  }
  return GGAS_OK;
}

ggas_rc nic_transport::notify(const place& at, uint32_t value, unsigned queue, limit) {
  const turn mine(turns_);
  to_->call();
  view v;
  if (ggas_rc rc = look(at.rank, at.segment, v); rc != GGAS_OK) return rc;
  if (ggas_rc rc = begin_write(queue, at.rank); rc != GGAS_OK) return rc;
  if (at.rank == rank()) {
    auto* const slots = reinterpret_cast<uint32_t*>(own_[at.segment].slots.start);
    std::atomic_ref(slots[at.offset]).store(value);
    return GGAS_OK;
  }
  const aimed there = to_->aim(at.rank, context_of(queue));
  post(context_of(queue), ggas_rma_imm(there.to, value, v.slots + at.offset * sizeof value, sizeof value,
                                       GGAS_RMA_ACK | there.flags, at.rank));
  return GGAS_OK;
}

ggas_rc nic_transport::flush(unsigned queue, limit until) {
  turn mine(turns_);
  to_->call();
  ggas_rma_context& c = to_->context(context_of(queue));
  const watched status[] = {{c.status, 16}};
  const auto done = [&] { return ggas_rma_remotely_done(&c) != 0; };
  if (ggas_rc rc = wait(mine, status, until, done, [] { return GGAS_OK; }); rc != GGAS_OK) return rc;
  queue_state& q = queues_[queue];
  q.reads = false;
  take_failures(context_of(queue));
  if (ggas_rc rc = failures_of(queue); rc != GGAS_OK) return rc;
  if (std::exchange(q.lands, false))
    if (ggas_rc rc = land(); rc != GGAS_OK) return rc;
  look_out();
  for (unsigned r = 0; r < size(); ++r)
    if (q.targets[r] && known_[r] == GGAS_STATE_LOST) return expect(r);
  q.targets.assign(size(), false);
  return GGAS_OK;
}

void nic_transport::forget(unsigned queue) {
  const turn mine(turns_);
  to_->call();
  static_cast<void>(settle_queue(queue));  // what is under way fails for no process any more
  queues_[queue].targets.assign(size(), false);
  queues_[queue].failures = 0;
}

// The NIC of the owner does it, that of this rank for its own memory, too: else it would not be one step with others'.
ggas_rc nic_transport::atomic(const place& at, unsigned what, uint64_t operand, uint64_t compare, uint64_t& old) {
  const turn mine(turns_);
  to_->call();
  view v;
  if (ggas_rc rc = look(at, sizeof operand, v); rc != GGAS_OK) return rc;
  if (ggas_rc rc = expect(at.rank); rc != GGAS_OK) return rc;
  const uint64_t cookie = ++cookies_;
  post(answer_context, ggas_rma_atomic(peer(at.rank), what, v.nla + at.offset, sizeof operand, operand, compare,
                                       control_.nla + control_layout::result(), 0, cookie));
  if (ggas_rc rc = settle(answer_context); rc != GGAS_OK) return rc;
  const auto* const answer = control<result_record>(control_layout::result());
  const watched record[] = {{answer, sizeof *answer}};
  const limit until = limit::after(timeout_ns);
  for (unsigned round = 0; answer->cookie != cookie; ++round) {
    if (until.passed()) return fail(GGAS_ERR_SYSTEM, "the NIC has not written the answer of an atomic within 10 s");
    to_->pause(record, until.left(), round);
  }
  old = answer->old;
  return GGAS_OK;
}

ggas_rc nic_transport::fetch_add(const place& at, uint64_t add, uint64_t& old, limit) {
  return atomic(at, GGAS_RMA_ADD, add, 0, old);
}

ggas_rc nic_transport::compare_swap(const place& at, uint64_t expected, uint64_t desired, uint64_t& old, limit) {
  return atomic(at, GGAS_RMA_CAS, desired, expected, old);
}

ggas_rc nic_transport::waitsome(unsigned segment, unsigned first, unsigned count, unsigned& found, limit until) {
  turn mine(turns_);
  to_->call();
  own_segment* s;
  if (ggas_rc rc = own(segment, s); rc != GGAS_OK) return rc;
  const auto* const slots = reinterpret_cast<const volatile uint32_t*>(s->slots.start);
  const auto there = [&] {
    for (found = first; found < first + count; ++found)
      if (slots[found] != 0) return true;
    return false;
  };
  const watched range[] = {{slots + first, count * sizeof *slots, watched::writer::ranks}};
  // The rank that will notify is not known here, so the end of a process does not end the wait.
  const ggas_rc rc = wait(mine, range, until, there, [] { return GGAS_OK; });
  return rc == GGAS_OK && lies_elsewhere(own_[segment]) ? land() : rc;
}

ggas_rc nic_transport::reset(unsigned segment, unsigned slot, uint32_t& old) {
  const turn mine(turns_);
  to_->call();
  own_segment* s;
  if (ggas_rc rc = own(segment, s); rc != GGAS_OK) return rc;
  old = std::atomic_ref(reinterpret_cast<uint32_t*>(s->slots.start)[slot]).exchange(0);
  return old != 0 && lies_elsewhere(*s) ? land() : GGAS_OK;
}

}  // namespace ggas::library::nic
