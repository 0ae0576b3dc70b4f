// SPDX-License-Identifier: Apache-2.0
// Queues, notifications and passive messages of ggas.h.
#include "userlib/libggas/core/process.hpp"
#include "userlib/libggas/gpu/gpus.hpp"

using namespace ggas::library;

namespace {

ggas_rc check_target(const ggas_process* p, uint32_t rank, uint32_t queue) {
  return first_of([&] { return check_rank(p, rank); }, [&] { return check_queue(p, queue); });
}

// A part, both ends of which are checked before anything moves; null: without a text of its own.
ggas_rc check_part(const ggas_part& part) {
  if (part.bytes == 0) return fail(GGAS_ERR_SIZE, "bytes 0: a transfer has at least one");
  return first_of([&] { return check_segment(part.local_segment); },
                  [&] { return check_segment(part.remote_segment); });
}

void count_part(ggas_process* p, uint64_t bytes, uint32_t queue, bool writes) {
  tally::part& t = p->transfers.here();
  t.posted[queue].add(1);
  (writes ? t.writes : t.reads).add(1);
  (writes ? t.written_bytes : t.read_bytes).add(bytes);
}

// A write that is no more than a copy. False: it is not done, for whatever reason.
bool write_at_once(ggas_process* p, const ggas_part* part, uint32_t rank, uint32_t queue) {
  if (!p || !part || queue >= GGAS_QUEUES || !p->queues[queue].there) return false;
  if (!p->transport->write_at_once(*part, rank, queue)) return false;
  count_part(p, part->bytes, queue, true);
  return true;
}

// Finds both ends, has `carry` move the bytes, and counts.
template <class Carry>
ggas_rc move_by(ggas_process* p, const ggas_part& part, uint32_t rank, uint32_t queue, bool writes, Carry&& carry) {
  std::byte* here = nullptr;
  ggas_rc rc = check_part(part);
  if (rc == GGAS_OK) rc = p->transport->segment_here(part.local_segment, part.local_offset, part.bytes, here);
  if (rc == GGAS_OK) rc = carry(place{rank, part.remote_segment, part.remote_offset}, here);
  if (rc != GGAS_OK) return rc;
  count_part(p, part.bytes, queue, writes);
  return GGAS_OK;
}

ggas_rc move(ggas_process* p, const ggas_part& part, uint32_t rank, uint32_t queue, limit until, bool writes) {
  transport& t = *p->transport;
  return move_by(p, part, rank, queue, writes, [&](const place& there, std::byte* here) {
    return writes ? t.write(there, here, part.bytes, queue, until) : t.read(there, here, part.bytes, queue, until);
  });
}

// Not inline: what it prepares would be prepared for each write that is done at once, too.
[[gnu::noinline]] ggas_rc move_all(ggas_process* p, const ggas_part* parts, size_t count, uint32_t rank, uint32_t queue,
                                   uint64_t timeout_ns, bool writes) {
  return call(p, [&] {
    ggas_rc rc = check_pointer(parts, "parts");
    if (rc == GGAS_OK && count == 0) rc = fail(GGAS_ERR_SIZE, "count 0: a list has at least one part");
    if (rc == GGAS_OK) rc = check_target(p, rank, queue);
    const limit until = limit::after(timeout_ns);
    if (count > 1) until.begin();
    for (size_t i = 0; rc == GGAS_OK && i < count; ++i) rc = move(p, parts[i], rank, queue, until, writes);
    return rc;
  });
}

void forget(ggas_process* p, uint32_t queue) {
  p->transport->forget(queue);
  raise(p->queues[queue].waited, p->transfers.posted(queue));
}

}  // namespace

ggas_rc ggas_queue_create(ggas_process* p, uint32_t* queue) {
  return call(p, [&] {
    if (ggas_rc rc = check_pointer(queue, "queue"); rc != GGAS_OK) return rc;
    for (uint32_t i = 0; i < GGAS_QUEUES; ++i) {
      if (p->queues[i].there.exchange(true)) continue;
      forget(p, i);
      *queue = i;
      return GGAS_OK;
    }
    return fail(GGAS_ERR_QUEUE, "no queue is left: a rank has ", GGAS_QUEUES);
  });
}

ggas_rc ggas_queue_delete(ggas_process* p, uint32_t queue) {
  return call(p, [&] {
    if (ggas_rc rc = check_queue(p, queue); rc != GGAS_OK) return rc;
    p->queues[queue].there = false;
    return GGAS_OK;
  });
}

ggas_rc ggas_queue_posted(const ggas_process* p, uint32_t queue, uint64_t* posted) {
  return call(p, [&] {
    const ggas_rc rc = first_of([&] { return check_pointer(posted, "posted"); }, [&] { return check_queue(p, queue); });
    if (rc == GGAS_OK) *posted = p->transfers.posted(queue) - p->queues[queue].waited.load(std::memory_order_relaxed);
    return rc;
  });
}

ggas_rc ggas_queue_write(ggas_process* p, const ggas_part* part, uint32_t rank, uint32_t queue, uint64_t timeout_ns) {
  if (write_at_once(p, part, rank, queue)) return GGAS_OK;
  return move_all(p, part, 1, rank, queue, timeout_ns, true);
}

ggas_rc ggas_gpu_write(ggas_process* p, const ggas_part* part, uint32_t rank, uint32_t queue, ggas_gpu_way way,
                       uint64_t timeout_ns) {
  return call(p, [&] {
    ggas_rc rc = check_pointer(part, "part");
    const unsigned asked = enum_number(way);
    if (rc == GGAS_OK && asked > GGAS_GPU_HYBRID)
      rc = fail(GGAS_ERR_ARGUMENT, "way ", asked, ": does not exist; ways are 0 to ", unsigned{GGAS_GPU_HYBRID});
    if (rc == GGAS_OK) rc = check_target(p, rank, queue);
    if (rc != GGAS_OK) return rc;
    const bool staged = way == GGAS_GPU_STAGED || (way == GGAS_GPU_HYBRID && part->bytes >= p->gpu_threshold.load());
    gpus* const g = p->transport->of_gpus();
    const limit until = limit::after(timeout_ns);
    if (!staged || !g) return move(p, *part, rank, queue, until, true);
    return move_by(p, *part, rank, queue, true, [&](const place& there, const std::byte* here) {
      return g->write_staged(there, here, part->bytes, queue, p->gpu_chunk.load(), until);
    });
  });
}

ggas_rc ggas_queue_read(ggas_process* p, const ggas_part* part, uint32_t rank, uint32_t queue, uint64_t timeout_ns) {
  return move_all(p, part, 1, rank, queue, timeout_ns, false);
}

ggas_rc ggas_queue_write_list(ggas_process* p, const ggas_part* parts, size_t count, uint32_t rank, uint32_t queue,
                              uint64_t timeout_ns) {
  return move_all(p, parts, count, rank, queue, timeout_ns, true);
}

ggas_rc ggas_queue_read_list(ggas_process* p, const ggas_part* parts, size_t count, uint32_t rank, uint32_t queue,
                             uint64_t timeout_ns) {
  return move_all(p, parts, count, rank, queue, timeout_ns, false);
}

ggas_rc ggas::library::notify(ggas_process* p, const place& at, uint32_t value, uint32_t queue, uint64_t timeout_ns,
                              bool follows) {
  return call(p, [&] {
    ggas_rc rc = first_of([&] { return check_segment(at.segment); }, [&] { return check_target(p, at.rank, queue); },
                          [&] { return check_slot(static_cast<uint32_t>(at.offset)); });
    if (rc == GGAS_OK && value == 0) rc = fail(GGAS_ERR_NOTIFICATION, "value 0: is an empty slot");
    if (rc == GGAS_OK) rc = p->transport->notify(at, value, queue, limit::after(timeout_ns));
    if (rc != GGAS_OK) return rc;
    tally::part& t = p->transfers.here();
    t.posted[queue].add(follows ? 0 : 1);
    t.notifications.add(1);
    return rc;
  });
}

ggas_rc ggas_queue_notify(ggas_process* p, uint32_t segment, uint32_t rank, uint32_t slot, uint32_t value,
                          uint32_t queue, uint64_t timeout_ns) {
  return notify(p, {rank, segment, slot}, value, queue, timeout_ns, false);
}

ggas_rc ggas_queue_wait(ggas_process* p, uint32_t queue, uint64_t timeout_ns) {
  return call(p, [&] {
    if (ggas_rc rc = check_queue(p, queue); rc != GGAS_OK) return rc;
    const uint64_t posted = p->transfers.posted(queue);
    const ggas_rc rc = p->transport->flush(queue, limit::after(timeout_ns));
    if (rc == GGAS_OK) raise(p->queues[queue].waited, posted);  // of two that wait the later one may be here first
    return rc;
  });
}

ggas_rc ggas_queue_purge(ggas_process* p, uint32_t queue) {
  return call(p, [&] {
    if (ggas_rc rc = check_queue(p, queue); rc != GGAS_OK) return rc;
    forget(p, queue);
    return GGAS_OK;
  });
}

ggas_rc ggas_notification_waitsome(ggas_process* p, uint32_t segment, uint32_t first, uint32_t count, uint32_t* found,
                                   uint64_t timeout_ns) {
  return call(p, [&] {
    ggas_rc rc = first_of([&] { return check_pointer(found, "found"); }, [&] { return check_segment(segment); },
                          [&] { return check_slot(first); });
    if (rc != GGAS_OK) return rc;
    if (count == 0 || count > GGAS_NOTIFICATIONS - first)
      return fail(GGAS_ERR_NOTIFICATION, "count ", count, ": must be 1 ... ", GGAS_NOTIFICATIONS - first);
    return p->transport->waitsome(segment, first, count, *found, limit::after(timeout_ns));
  });
}

ggas_rc ggas_notification_reset(ggas_process* p, uint32_t segment, uint32_t slot, uint32_t* value) {
  return call(p, [&] {
    const ggas_rc rc = first_of([&] { return check_pointer(value, "value"); }, [&] { return check_segment(segment); },
                                [&] { return check_slot(slot); });
    return rc == GGAS_OK ? p->transport->reset(segment, slot, *value) : rc;
  });
}

ggas_rc ggas_passive_send(ggas_process* p, uint32_t segment, uint64_t offset, uint32_t rank, uint64_t bytes,
                          uint64_t timeout_ns) {
  return call(p, [&] {
    ggas_rc rc = first_of([&] { return check_segment(segment); }, [&] { return check_rank(p, rank); });
    if (rc == GGAS_OK && (bytes == 0 || bytes > GGAS_PASSIVE_MOST))
      rc = fail(GGAS_ERR_SIZE, "bytes ", bytes, ": a message has 1 ... ", GGAS_PASSIVE_MOST);
    std::byte* from = nullptr;
    if (rc == GGAS_OK) rc = p->transport->segment_here(segment, offset, bytes, from);
    if (rc == GGAS_OK) rc = p->transport->send(rank, from, bytes, limit::after(timeout_ns));
    if (rc == GGAS_OK) p->count.passive_sent.add(1);
    return rc;
  });
}

ggas_rc ggas_passive_receive(ggas_process* p, uint32_t segment, uint64_t offset, uint32_t* rank, uint64_t bytes,
                             uint64_t timeout_ns) {
  return call(p, [&] {
    ggas_rc rc = first_of([&] { return check_pointer(rank, "rank"); }, [&] { return check_segment(segment); });
    if (rc == GGAS_OK && bytes == 0) rc = fail(GGAS_ERR_SIZE, "bytes 0: a message has at least one");
    std::byte* to = nullptr;
    if (rc == GGAS_OK) rc = p->transport->segment_here(segment, offset, bytes, to);
    if (rc == GGAS_OK) rc = p->transport->receive(to, bytes, *rank, limit::after(timeout_ns));
    if (rc == GGAS_OK) p->count.passive_received.add(1);
    return rc;
  });
}
