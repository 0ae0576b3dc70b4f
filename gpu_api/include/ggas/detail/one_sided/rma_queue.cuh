// SPDX-License-Identifier: Apache-2.0
// Queues: places for descriptors are claimed only when they are free, so a call that times out has no effect. Included
// by rma.cuh.
//
// words[0] of a queue is its ticket: slots produced (63:32), descriptors issued (31:8), bit 1: a thread writes to the
// work queue, bit 0: a thread waits for completion, nothing may be posted. words[1]: notifications taken, words[2]:
// notifications reported to the NIC (bit 63: a thread is reporting), words[3]: failures forgiven. words[4], words[5]:
// as words[1] and words[2], of the messages in the mailbox.
#pragma once

#include "ggas/detail/one_sided/rma_descriptor.cuh"
#include "ggas/detail/sync/barrier.cuh"
#include "ggas/detail/sync/group.cuh"
#include "ggas/queue.cuh"

namespace ggas::detail {

constexpr uint64_t ticket_held = 1, ticket_locked = 2;
constexpr uint64_t quiet_limit_ns = 1'000'000'000;  // of calls without a time-out; the NIC gives up far earlier

GGAS_DEVICE uint32_t produced(uint64_t ticket) { return static_cast<uint32_t>(ticket >> 32); }
GGAS_DEVICE uint32_t issued(uint64_t ticket) { return static_cast<uint32_t>(ticket >> 8) & 0xffffff; }
GGAS_DEVICE uint64_t advance(uint64_t ticket, unsigned slots, unsigned descriptors) {
  return static_cast<uint64_t>(produced(ticket) + slots) << 32 |
         static_cast<uint64_t>((issued(ticket) + descriptors) & 0xffffff) << 8 | (ticket & 0xff);
}

// Whether calls become descriptors; otherwise the caller moves the data itself and a queue is only a name. A valid
// handle has the same information, but this call needs no handle.
GGAS_DEVICE bool posts_descriptors() { return nic_queues() != nullptr; }

// The same of a call with a queue, which is known from then on.
GGAS_DEVICE bool posts_to(const ggas_queue& q) {
  if (!posts_descriptors()) [[likely]]
    return false;
  if (q.of_block_) q.remember(ggas_default_queue());
  return true;
}

GGAS_DEVICE bool reaches_peers_directly() { return !posts_descriptors() && !nic_page(); }
// Between some GPUs, over PCIe, an atomic is a load and a store: what others did meanwhile is lost.
GGAS_DEVICE bool peers_take_atomics() { return reaches_peers_directly() && !device_context().no_peer_atomics; }

// ---- posting

enum class claim { good, again, full };

GGAS_DEVICE uint32_t read_consumed(const ggas_queue& q) {
  return static_cast<uint32_t>(load_poll(reinterpret_cast<const uint64_t*>(q.at.status)));
}

// One attempt to get room. A failed compare-and-swap means that another thread succeeded, so a repetition after `again`
// needs no time-out. Counts wrap, so a new handle must read them first.
GGAS_DEVICE claim try_claim(const ggas_queue& q, unsigned slots, unsigned descriptors) {
  if (!q.looked) {
    if (!q.exclusive) q.ticket = load_relaxed(q.at.words);
    q.consumed = read_consumed(q);
    q.looked = true;
  }
  const uint64_t t = q.ticket;
  const uint32_t room = q.at.slots ? 1u << q.at.slots_log2 : page_slots;
  if (!q.exclusive && (t & (ticket_held | ticket_locked))) {
    q.ticket = load_relaxed(q.at.words);
    return claim::full;
  }
  if (produced(t) + slots - q.consumed > room) {
    q.consumed = read_consumed(q);
    if (produced(t) + slots - q.consumed > room) {
      if (!q.exclusive) q.ticket = load_relaxed(q.at.words);
      return claim::full;
    }
  }
  const uint64_t next = advance(t, slots, descriptors);
  if (!q.exclusive) {
    const uint64_t old = cas_gpu(q.at.words, t, q.at.slots ? t | ticket_locked : next);
    if (old != t) {
      q.ticket = old;
      return claim::again;
    }
  }
  if (t == 0) store_relaxed(own_word(layout::queues_used), uint64_t{1});
  q.ticket = next;
  return claim::good;
}

// After the descriptor: rings the doorbell of a work queue and lets others post.
GGAS_DEVICE void publish(const ggas_queue& q, unsigned slots, unsigned descriptors) {
  const uint64_t next = q.ticket;
  if (q.at.slots) {
    ggas_fence();
    store_relaxed(reinterpret_cast<uint32_t*>(q.at.page + at_doorbell), produced(next));
  }
  if (q.exclusive) {
    store_relaxed(q.at.words, next);
  } else if (q.at.slots) {
    const uint64_t before = advance(next, 0u - slots, 0u - descriptors) | ticket_locked;
    add_gpu(q.at.words, next - before);
  }
}

GGAS_DEVICE char* slot_word(const ggas_queue& q, uint32_t position, unsigned word) {
  char* const ring = q.at.slots ? q.at.slots : q.at.descriptors;
  const uint32_t slots = q.at.slots ? 1u << q.at.slots_log2 : page_slots;
  return ring + ((position + word / slot_words) & (slots - 1)) * slot_bytes + word % slot_words * 8;
}

constexpr unsigned most_words = 24;  // of one post by a thread

// Waits for room; position of the first slot, or nothing in time.
template <class G>
GGAS_DEVICE bool claim_slots(const G& g, const ggas_queue& q, unsigned slots, unsigned descriptors, const deadline& end,
                             uint32_t& position) {
  uint64_t found = 0;  // position and a bit that says so
  if (g.rank() == 0) {
    for (bool waiting = true; waiting;) {
      const claim c = try_claim(q, slots, descriptors);
      if (c == claim::good) found = uint64_t{1} << 32 | (produced(q.ticket) - slots);
      waiting = c == claim::again || (c == claim::full && !end.over());
    }
  }
  found = g.of_leader(found);
  position = static_cast<uint32_t>(found);
  return found >> 32 != 0;
}

// A thread's stores, 16 bytes each.
template <class W>
GGAS_DEVICE ggas_status post(const thread_group& g, const ggas_queue& q, unsigned slots, unsigned descriptors, W word,
                             const deadline& end) {
  uint64_t w[most_words];
  for (unsigned i = 0; i < slots * slot_words; ++i) w[i] = word(i);
  uint32_t position = 0;
  if (!claim_slots(g, q, slots, descriptors, end, position)) return end_of_wait();
  for (unsigned i = 0; i < slots * slot_words; i += 2) {
    store_relaxed(reinterpret_cast<word_pair*>(slot_word(q, position, i)), word_pair{w[i], w[i + 1]});
  }
  publish(q, slots, descriptors);
  return ggas_ok;
}

// Posts slots whose words are word(0), word(1) ...: each lane writes one, so that they leave as one store. Words are
// computed first: they may have to be loaded, and a claimed slot delays those after it.
template <class G, class W>
GGAS_DEVICE ggas_status post(const G& g, const ggas_queue& q, unsigned slots, unsigned descriptors, W word,
                             const deadline& end) {
  const unsigned words = slots * slot_words, rank = g.rank();
  const uint64_t mine = rank < words ? word(rank) : 0;
  uint32_t position = 0;
  if (!claim_slots(g, q, slots, descriptors, end, position)) return end_of_wait();
  for (unsigned i = rank; i < words; i += g.size()) {
    store_relaxed(reinterpret_cast<uint64_t*>(slot_word(q, position, i)), i == rank ? mine : word(i));
  }
  g.sync();
  if (rank == 0) publish(q, slots, descriptors);
  g.sync();
  return ggas_ok;
}

// ---- completion

enum class completion { local, remote };

struct progress {
  uint32_t count;   // descriptors complete
  uint32_t errors;  // known with remote completion only
};

GGAS_DEVICE progress read_progress(const ggas_queue& q, completion what) {
  const auto* status = reinterpret_cast<const uint64_t*>(q.at.status);
  const uint64_t v = load_poll(what == completion::remote ? status + 1 : status);
  if (what == completion::local) return {static_cast<uint32_t>(v >> 32) & 0xffffff, 0};
  return {static_cast<uint32_t>(v) & 0xffffff, static_cast<uint32_t>(v >> 32) & 0xffffff};
}

// Whether all issued descriptors are complete. They may complete out of order, so counts are conclusive only when they
// are equal; `p` must have been read before.
GGAS_DEVICE bool nothing_open(const ggas_queue& q, const progress& p) {
  if (!q.exclusive) q.ticket = load_relaxed(q.at.words);
  return issued(q.ticket) == p.count;
}

// Others go on posting: keeps them out until the queue has run empty.
GGAS_DEVICE bool drain(const ggas_queue& q, completion what, const deadline& end, progress& p) {
  bool holding = false, empty = false;
  while (!empty) {
    p = read_progress(q, what);
    empty = nothing_open(q, p);
    if (empty || end.over()) break;
    const uint64_t t = q.ticket;
    if (!holding && !(t & ticket_held)) holding = cas_gpu(q.at.words, t, t | ticket_held) == t;
  }
  if (holding) and_gpu(q.at.words, ~ticket_held);
  return empty;
}

GGAS_DEVICE ggas_status check_failures(const ggas_queue& q, const progress& p) {
  if (p.errors == 0) return ggas_ok;
  return load_relaxed(q.at.words + 3) == p.errors ? ggas_ok : ggas_peer_error;
}

// Waits for what was issued up to `ticket`, and more if that cannot be distinguished.
GGAS_DEVICE ggas_status complete(const ggas_queue& q, completion what, uint64_t ticket, const deadline& end) {
  progress p = read_progress(q, what);
  while (static_cast<int32_t>((p.count - issued(ticket)) << 8) < 0) {
    if (end.over()) return end_of_wait();
    p = read_progress(q, what);
  }
  if (!nothing_open(q, p) && !drain(q, what, end, p)) return end_of_wait();
  acquire_after_poll();
  return check_failures(q, p);
}

// Waits for everything that any thread posted before.
GGAS_DEVICE ggas_status quiet(const ggas_queue& q, completion what, const deadline& end) {
  const bool posts = posts_to(q);
  if (!q.good()) return ggas_bad_argument;
  if (!posts) return what == completion::local ? ggas_ok : quiet_stores();
  return complete(q, what, q.exclusive ? q.ticket : load_relaxed(q.at.words), end);
}

template <class G>
GGAS_DEVICE ggas_status quiet(const G& g, const ggas_queue& q, completion what, const deadline& end) {
  g.sync();
  int s = ggas_ok;
  if (g.rank() == 0) s = quiet(q, what, end);
  g.sync();
  return static_cast<ggas_status>(g.of_leader(s));
}

// Puts and the like of all queues of this node.
GGAS_DEVICE ggas_status quiet_puts() {
  if (!posts_descriptors() || load_relaxed(own_word(layout::queues_used)) == 0) return ggas_ok;
  const deadline end(quiet_limit_ns);
  ggas_status all = ggas_ok;
  for (int i = 0; i < device_context().queue_count; ++i) {
    if (load_relaxed(nic_queues()[i].words) == 0) continue;  // never used
    const ggas_status s = quiet(ggas_queue_of(i), completion::remote, end);
    if (s > all) all = s;
  }
  return all;
}

}  // namespace ggas::detail

GGAS_DEVICE int ggas_queues() {
  if (ggas::detail::posts_descriptors()) return ggas::detail::device_context().queue_count;
  return ggas_nodes() > 0 ? static_cast<int>(ggas::layout::direct_queues) : 0;
}

GGAS_DEVICE ggas_queue ggas_queue_of(int index, ggas_sharing sharing) {
  using namespace ggas::detail;
  ggas_queue q;
  if (index < 0 || index >= ggas_queues()) return q;
  q.index_ = index;
  q.exclusive = sharing == ggas_exclusive;
  if (!posts_descriptors()) return q;
  q.at = nic_queues()[index];
  if (q.exclusive) {
    q.ticket = load_relaxed(q.at.words);
    q.note = static_cast<uint32_t>(load_relaxed(q.at.words + 1));
    q.reported = static_cast<uint32_t>(load_relaxed(q.at.words + 2));
  }
  return q;
}

GGAS_DEVICE ggas_queue ggas_default_queue() {
  const unsigned block = ggas::detail::block_rank();
  if (!ggas::detail::posts_descriptors()) return ggas_queue_of(static_cast<int>(block % ggas::layout::direct_queues));
  const int queues = ggas::detail::device_context().queue_count;
  return ggas_queue_of(queues == 0 ? -1 : static_cast<int>(block % static_cast<unsigned>(queues)));
}

GGAS_DEVICE ggas_queue_failures ggas_queue_error(const ggas_queue& q) {
  if (!ggas::detail::posts_to(q) || !q.good()) return {0, 0};
  const uint64_t v = ggas::detail::load_poll(reinterpret_cast<const uint64_t*>(q.at.status) + 1);
  return {static_cast<uint32_t>(v >> 32) & 0xffffff, static_cast<uint32_t>(v >> 56)};
}

GGAS_DEVICE void ggas_queue_forgive(const ggas_queue& q) {
  const uint64_t failures = ggas_queue_error(q).count;
  if (q.at.status) ggas::detail::store_relaxed(q.at.words + 3, failures);
}

GGAS_DEVICE ggas_status ggas_quiet() {
  const ggas_status puts = ggas::detail::quiet_puts(), stores = ggas::detail::quiet_stores();
  return puts == ggas_ok ? stores : puts;
}

GGAS_DEVICE ggas_status ggas_quiet(const ggas_queue& q, uint64_t timeout_ns) {
  using namespace ggas::detail;
  return quiet(q, completion::remote, deadline(timeout_ns));
}
GGAS_DEVICE ggas_status ggas_quiet_warp(const ggas_queue& q, uint64_t timeout_ns) {
  using namespace ggas::detail;
  return quiet(warp_group{}, q, completion::remote, deadline(timeout_ns));
}
GGAS_DEVICE ggas_status ggas_quiet_block(const ggas_queue& q, uint64_t timeout_ns) {
  using namespace ggas::detail;
  return by_first_warp(block_group{},
                       [&](const warp_group& g) { return quiet(g, q, completion::remote, deadline(timeout_ns)); });
}
GGAS_DEVICE ggas_status ggas_quiet_local(const ggas_queue& q, uint64_t timeout_ns) {
  using namespace ggas::detail;
  return quiet(q, completion::local, deadline(timeout_ns));
}
GGAS_DEVICE ggas_status ggas_quiet_local_warp(const ggas_queue& q, uint64_t timeout_ns) {
  using namespace ggas::detail;
  return quiet(warp_group{}, q, completion::local, deadline(timeout_ns));
}
GGAS_DEVICE ggas_status ggas_fence(const ggas_queue& q, uint64_t timeout_ns) {
  const ggas_status s = ggas_quiet(q, timeout_ns);
  ggas_fence();
  return s;
}

GGAS_DEVICE ggas_status ggas_quiet_block() {
  __syncthreads();
  ggas_status s = ggas_ok;
  if (ggas::detail::thread_rank() == 0) s = ggas_quiet();
  return ggas::detail::block_status(s);
}
