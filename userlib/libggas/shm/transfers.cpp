// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "userlib/libggas/shm/shm.hpp"

namespace ggas::library::shm {

// Records that a queue has sent something to a rank: flush() reports if that rank is lost. Called after the copy, so a
// flush that finds this record checks the rank after the copy.
ggas_rc shm_transport::posted(unsigned queue, unsigned rank, ggas_rc outcome) {
  queue_notes& q = queues_[queue];
  // A flush of another thread that began meanwhile may have looked before the note was there: it gets the next number.
  uint64_t now = q.flushes.load();
  while (q.last[rank].load(std::memory_order_relaxed) != now) {
    q.last[rank].store(now);
    now = q.flushes.load();
  }
  return outcome;
}

ggas_rc shm_transport::write(const place& to, const void* from, uint64_t bytes, unsigned queue, limit until) {
  view v;
  if (ggas_rc rc = look(to, bytes, v); rc != GGAS_OK) return rc;
  return posted(queue, to.rank,
                v.start ? gpus_.move(v.start + to.offset, from, bytes)
                        : copy(to, v, const_cast<void*>(from), bytes, request::write, until));
}

// A place in an arena that this rank may reach now. Null: look() finds out what it is.
inline std::byte* shm_transport::in_arena(unsigned rank, unsigned segment, uint64_t offset, uint64_t bytes) const {
  const peer& p = peers_[rank];
  const segment_entry& e = p.head().segments[segment];
  const uint64_t generation = e.generation.load(), start = e.offset.load(), size = e.bytes.load();
  const uint64_t end = p.memory.bytes();
  const bool there = generation % 2 == 1 && e.made_of.load() == memory::arena && e.generation.load() == generation;
  const bool mine = rank == rank_ || has(e.permitted, rank_);
  const bool within =
      offset <= size && bytes <= size - offset && start >= room_begins_ && start <= end && size <= end - start;
  return there && mine && within ? p.memory.at(start + offset) : nullptr;
}

bool shm_transport::write_at_once(const ggas_part& part, unsigned rank, unsigned queue) {
  if (part.local_segment >= GGAS_SEGMENTS || part.remote_segment >= GGAS_SEGMENTS || rank >= size_ || part.bytes == 0)
    return false;
  const std::byte* const from = in_arena(rank_, part.local_segment, part.local_offset, part.bytes);
  std::byte* const to = in_arena(rank, part.remote_segment, part.remote_offset, part.bytes);
  if (!from || !to) return false;
  copy_bytes(to, from, part.bytes);
  posted(queue, rank, GGAS_OK);
  return true;
}

ggas_rc shm_transport::read(const place& from, void* to, uint64_t bytes, unsigned queue, limit until) {
  view v;
  if (ggas_rc rc = look(from, bytes, v); rc != GGAS_OK) return rc;
  return posted(
      queue, from.rank,
      v.start ? gpus_.move(to, v.start + from.offset, bytes) : copy(from, v, to, bytes, request::read, until));
}

ggas_rc shm_transport::notify(const place& at, uint32_t value, unsigned queue, limit) {
  view v;
  if (ggas_rc rc = look(at.rank, at.segment, v); rc != GGAS_OK) return rc;
  const peer& p = peers_[at.rank];
  p.head().segments[at.segment].notified.announce(p.memory.array<slot>(v.slots)[at.offset], value);
  return posted(queue, at.rank, GGAS_OK);
}

// Nothing is in flight. A flush removes no records before it has checked all of them, so two concurrent flushes both
// report a lost rank.
ggas_rc shm_transport::flush(unsigned queue, limit) {
  queue_notes& q = queues_[queue];
  const uint64_t now = q.flushes.fetch_add(1), well = q.well.load();
  look_out();
  for (unsigned r = 0; r < size_; ++r)
    if (q.last[r].load() > well && peers_[r].known.load(std::memory_order_relaxed) == GGAS_STATE_LOST) return expect(r);
  raise(q.well, now);
  return GGAS_OK;
}

void shm_transport::forget(unsigned queue) {
  queue_notes& q = queues_[queue];
  raise(q.well, q.flushes.fetch_add(1));
}

ggas_rc shm_transport::fetch_add(const place& at, uint64_t add, uint64_t& old, limit until) {
  view v;
  if (ggas_rc rc = look(at, sizeof add, v); rc != GGAS_OK) return rc;
  if (!v.start) return ask(at, request::fetch_add, nullptr, sizeof add, old = add, 0, until);
  return gpus_.fetch_add(v.start + at.offset, add, old);
}

ggas_rc shm_transport::compare_swap(const place& at, uint64_t expected, uint64_t desired, uint64_t& old, limit until) {
  view v;
  if (ggas_rc rc = look(at, sizeof desired, v); rc != GGAS_OK) return rc;
  if (!v.start) return ask(at, request::compare_swap, nullptr, sizeof desired, old = expected, desired, until);
  return gpus_.compare_swap(v.start + at.offset, expected, desired, old);
}

ggas_rc shm_transport::waitsome(unsigned segment, unsigned first, unsigned count, unsigned& found, limit until) {
  view v;
  if (ggas_rc rc = look(rank_, segment, v); rc != GGAS_OK) return rc;
  const slot* const slots = peers_[rank_].memory.array<slot>(v.slots);
  const auto there = [&] {
    for (unsigned i = first; i < first + count; ++i) {
      if (slots[i].load() == 0) continue;
      found = i;
      return true;
    }
    return false;
  };
  // The rank that will notify is not known here, so the end of a process does not end the wait. Kernels notify by a
  // store without a doorbell.
  const uint64_t nap = on_gpu(v.made_of) ? kernel_nap_ns : nap_ns;
  return wait(
      peers_[rank_].head().segments[segment].notified, until, there, [] { return GGAS_OK; }, nap);
}

ggas_rc shm_transport::reset(unsigned segment, unsigned number, uint32_t& old) {
  view v;
  if (ggas_rc rc = look(rank_, segment, v); rc != GGAS_OK) return rc;
  old = peers_[rank_].memory.array<slot>(v.slots)[number].exchange(0);
  return GGAS_OK;
}

// A message waits in the receiver's arena, one of each sender.
ggas_rc shm_transport::send(unsigned rank, const void* from, uint64_t bytes, limit until) {
  peer& p = peers_[rank];
  mailbox& box = p.memory.array<mailbox>(where_.mailboxes())[rank_];
  until.begin();
  if (ggas_rc rc = p.mail.take(until); rc != GGAS_OK) return rc;
  const auto empty = [&] { return box.full.load() == 0; };
  ggas_rc rc = expect(rank);
  if (rc == GGAS_OK) rc = wait(p.head().drained, until, empty, [&] { return expect(rank); });
  if (rc == GGAS_OK) {
    rc = gpus_.move(box.data, from, bytes);
  }
  if (rc == GGAS_OK) {
    box.bytes = static_cast<uint32_t>(bytes);
    box.full.store(1);
    p.head().arrived.ring();
  }
  p.mail.give();
  return rc;
}

ggas_rc shm_transport::receive(void* to, uint64_t room, unsigned& rank, limit until) {
  control& here = peers_[rank_].head();
  mailbox* const boxes = peers_[rank_].memory.array<mailbox>(where_.mailboxes());
  const auto taken = [&] {
    const unsigned begin = next_sender_.load(std::memory_order_relaxed);  // after the last one: no process starves
    for (unsigned i = 0; i < size_; ++i) {
      rank = (begin + i) % size_;
      uint32_t full = 1;
      if (boxes[rank].full.load() == 1 && boxes[rank].full.compare_exchange_strong(full, 2)) return true;
    }
    return false;
  };
  if (ggas_rc rc = wait(here.arrived, until, taken, [] { return GGAS_OK; }); rc != GGAS_OK) return rc;
  mailbox& box = boxes[rank];
  const uint32_t bytes =
      std::atomic_ref(box.bytes).load(std::memory_order_relaxed);  // once: the sender may be malformed
  if (bytes > room || bytes > sizeof box.data) {
    box.full.store(1);
    here.arrived.ring();
    return fail(GGAS_ERR_SIZE, "a message of rank ", rank, " has ", bytes, " bytes, the room has ", room);
  }
  const ggas_rc rc = gpus_.move(to, box.data, bytes);
  next_sender_.store((rank + 1) % size_, std::memory_order_relaxed);
  box.full.store(0);
  here.drained.ring();
  return rc;
}

}  // namespace ggas::library::shm
