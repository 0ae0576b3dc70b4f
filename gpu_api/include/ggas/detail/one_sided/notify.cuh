// SPDX-License-Identifier: Apache-2.0
// Notifications: sending them, and taking them from the ring of a queue of the NIC (docs/rma.md), or, without a NIC,
// from the rings that the nodes have for a queue (docs/ring.md). Nothing is cleared: a record of the NIC is fresh when
// its phase bit fits the turn of the ring. Included by rma.cuh.
#pragma once

#include "ggas/detail/one_sided/signal.cuh"
#include "ggas/detail/ring.cuh"

namespace ggas::detail {

// ---- sending

// vpid of a queue at another node: the same everywhere. -1: there is none.
GGAS_DEVICE int vpid_of(int queue) {
  if (queue < 0 || queue >= ggas_queues()) return -1;
  return posts_descriptors() ? static_cast<int>(nic_queues()[queue].vpid) : queue;
}

GGAS_DEVICE ring_shape direct_ring(int queue) {
  return layout::direct_ring(static_cast<uint64_t>(ggas_nodes()), device_context().reserved,
                             static_cast<uint64_t>(queue));
}

// Without a NIC a record with the cookie follows the data that the group has copied. Its head has the number of bytes,
// below 2^24, and the sender's queue.
constexpr unsigned note_queue_at = 24;
template <class G>
GGAS_DEVICE ggas_status notify_directly(const G& g, int node, int to_queue, const ggas_queue& q, uint64_t cookie,
                                        uint32_t bytes, const deadline& end) {
  const ring_head head{sizeof cookie, bytes | static_cast<uint32_t>(q.index()) << note_queue_at};
  return ring_send(
      g, direct_ring(to_queue), node, head, [=](uint64_t) { return cookie; }, end);
}

template <class G>
requires(has_leader<G>) GGAS_DEVICE ggas_status notify(const G& g, int node, uint64_t cookie, int to_queue,
                                                       uint32_t bytes, const deadline& end, const ggas_queue& q) {
  const int vpid = vpid_of(to_queue);
  const bool posts = posts_to(q);
  if (!q.good() || vpid < 0 || node < 0 || node >= ggas_nodes()) return ggas_bad_argument;
  if (posts) {
    const slot d{first_word(desc_notify | notify_completer, node, 0, vpid), 0, 0, cookie};
    return post(
        g, q, 1, 1, [&](unsigned i) { return d.word(i); }, end);
  }
  return reaches_peers_directly() ? notify_directly(g, node, to_queue, q, cookie, bytes, end) : ggas_no_queue;
}

// What a record reports of a put.
GGAS_DEVICE uint32_t last_piece(uint64_t bytes) {
  return bytes == 0 ? 0 : static_cast<uint32_t>((bytes - 1) % largest_put + 1);
}

template <class G, class T>
requires(has_leader<G>) GGAS_DEVICE ggas_status
    put_notify(const G& g, T* remote, const T* local, size_t n, uint64_t cookie, int to_queue, const deadline& end,
               const ggas_queue& q) {
  transfer t = check_transfer(q, remote, local, n);
  const int vpid = vpid_of(to_queue);
  if (t.status != ggas_ok || vpid < 0) return ggas_bad_argument;
  if (!posts_descriptors() || t.bytes == 0) {
    const ggas_status s = posts_descriptors() ? ggas_ok : put_directly(g, q, remote, local, n);
    return s == ggas_ok ? notify(g, t.at.node, cookie, to_queue, last_piece(t.bytes), end, q) : s;
  }
  const auto* from = reinterpret_cast<const char*>(local);
  expose_source(g, t.bytes);
  const ggas_status s = post_pieces(g, q, t.at, from, t.bytes, end);
  if (s != ggas_ok) return s;
  const put_slots last = make_put(t.at, from, t.bytes, {notify_completer, static_cast<uint32_t>(vpid), cookie});
  return post(
      g, q, last.slots, 1, [&](unsigned i) { return last.word(i); }, end);
}

template <class G, class T>
requires(has_leader<G>) GGAS_DEVICE ggas_status
    put_value_notify(const G& g, T* remote, T value, uint64_t cookie, int to_queue, const deadline& end,
                     const ggas_queue& q) {
  const place at = locate(remote, sizeof(T));
  const int vpid = vpid_of(to_queue);
  const bool posts = posts_to(q);
  if (!q.good() || at.node < 0 || at.offset % sizeof(T) != 0 || vpid < 0) return ggas_bad_argument;
  if (posts) {
    const slot d{first_word(desc_imm | want_ack | notify_completer, at.node, sizeof(T), vpid), as_bits<uint64_t>(value),
                 nla(at), cookie};
    return post(
        g, q, 1, 1, [&](unsigned i) { return d.word(i); }, end);
  }
  if (g.rank() == 0) store_relaxed(remote, value);
  return notify(g, at.node, cookie, to_queue, sizeof(T), end, q);
}

// The record of a call that waited for room to inform a node, in the own queue or in the ring there.
GGAS_DEVICE void record_notifying(call_id call, ggas_status s, uint64_t timeout_ns, int node, int to_queue,
                                  const ggas_queue& q) {
  const bool posts = posts_descriptors();
  record_number(call, s, timeout_ns, posts ? waited_for::slot : waited_for::ring,
                static_cast<uint64_t>(posts ? q.index() : to_queue), posts ? ggas_node() : node);
}

// Records a call that waited for a notification.
GGAS_DEVICE void record_taking(call_id call, ggas_status s, uint64_t timeout_ns, const ggas_queue& q) {
  record_number(call, s, timeout_ns, waited_for::record, static_cast<uint64_t>(q.index()), ggas_node());
}

// ---- by a block, or several of its warps: all of them copy, their first warp reports

template <class G>
requires(!has_leader<G>) GGAS_DEVICE ggas_status notify(const G& g, int node, uint64_t cookie, int to_queue,
                                                        uint32_t bytes, const deadline& end, const ggas_queue& q) {
  return by_first_warp(g, [&](const warp_group& w) { return notify(w, node, cookie, to_queue, bytes, end, q); });
}
template <class G, class T>
requires(!has_leader<G>) GGAS_DEVICE ggas_status
    put_notify(const G& g, T* remote, const T* local, size_t n, uint64_t cookie, int to_queue, const deadline& end,
               const ggas_queue& q) {
  const transfer t = check_transfer(q, remote, local, n);
  if (posts_descriptors() || t.status != ggas_ok || vpid_of(to_queue) < 0)
    return by_first_warp(
        g, [&](const warp_group& w) { return put_notify(w, remote, local, n, cookie, to_queue, end, q); });
  const ggas_status s = put_directly(g, q, remote, local, n);
  return s == ggas_ok ? notify(g, t.at.node, cookie, to_queue, last_piece(t.bytes), end, q) : s;
}
template <class G, class T>
requires(!has_leader<G>) GGAS_DEVICE ggas_status
    put_value_notify(const G& g, T* remote, T value, uint64_t cookie, int to_queue, const deadline& end,
                     const ggas_queue& q) {
  return by_first_warp(
      g, [&](const warp_group& w) { return put_value_notify(w, remote, value, cookie, to_queue, end, q); });
}

// ---- taking

GGAS_DEVICE bool fresh(uint64_t w1, uint32_t position, uint32_t log2) {
  return (w1 >> 63 != 0) == ((position >> log2 & 1) == 0);
}

// The NIC writes a record at once, so it is read at once.
GGAS_DEVICE bool read_record(const ggas_queue& q, uint32_t position, word_pair& record) {
  const uint32_t size = 1u << q.at.notify_log2;
  record = load_poll(reinterpret_cast<const word_pair*>(q.at.notifications + (position & (size - 1)) * 16));
  return fresh(record.hi, position, q.at.notify_log2);
}

GGAS_DEVICE void tell_reader_position(const ggas_queue& q, uint32_t position) {
  store_relaxed(reinterpret_cast<uint32_t*>(q.at.page + at_notes_read), position);
}

constexpr uint64_t telling = uint64_t{1} << 63;  // bit of words[2] and words[5]: a thread is reporting

// From time to time reports to the NIC how far a ring was read, at a doorbell; `said` is the word of the last report.
// Only one thread reports at a time, so that the count never decreases. A thread that finds another one reporting does
// not report. Then the next thread reports, or a thread that waits and finds nothing.
GGAS_DEVICE void tell_as_one_of_many(const ggas_queue& q, uint64_t* said, unsigned doorbell, uint32_t position) {
  const uint64_t reported = load_relaxed(said);
  if ((reported & telling) || static_cast<int32_t>(position - static_cast<uint32_t>(reported)) <= 0) return;
  if (cas_gpu(said, reported, reported | telling) != reported) return;
  fence_acq_rel_gpu();  // after who reported before, and before who reports next
  store_relaxed(reinterpret_cast<uint32_t*>(q.at.page + doorbell), position);
  fence_acq_rel_gpu();
  store_relaxed(said, uint64_t{position});
}
GGAS_DEVICE uint32_t quarter_of_ring(const ggas_queue& q) { return 1u << (q.at.notify_log2 - 2); }
GGAS_DEVICE void tell_lazily(const ggas_queue& q, uint32_t position) {
  const uint32_t quarter = quarter_of_ring(q);
  if (q.exclusive) {
    if (position - q.reported < quarter) return;
    q.reported = position;
    tell_reader_position(q, position);
    store_relaxed(q.at.words + 2, uint64_t{position});
    return;
  }
  if (position % quarter == 0) tell_as_one_of_many(q, q.at.words + 2, at_notes_read, position);
}

// Takes the next record if there is one. The position in memory is needed only by later users. An exclusive user
// updates it while it waits (`ahead`), not between the arrival and the return.
GGAS_DEVICE bool take_exclusively(const ggas_queue& q, word_pair& record, bool& ahead) {
  const bool found = read_record(q, q.note, record);
  if (!ahead) store_relaxed(q.at.words + 1, uint64_t{q.note + 1});
  ahead = !found;
  if (!found) return false;
  ++q.note;
  tell_lazily(q, q.note);
  return true;
}

GGAS_DEVICE bool take_shared(const ggas_queue& q, word_pair& record) {
  for (;;) {
    const uint32_t position = q.note;
    uint64_t now = 0;
    if (read_record(q, position, record)) {
      fence_acq_rel_gpu();  // the thread that informs the writer of this place has the reading after it
      now = cas_gpu(q.at.words + 1, position, uint64_t{position + 1});
      if (now == position) break;
    } else {
      now = load_relaxed(q.at.words + 1);
      if (now == position) return false;
    }
    q.note = static_cast<uint32_t>(now);  // others took some
  }
  ++q.note;
  tell_lazily(q, q.note);
  return true;
}

struct note_source {
  uint32_t node, vpid;  // as if the node had a NIC of its own
};

GGAS_DEVICE note_source source_of(uint64_t w1) {
  const note_source said{static_cast<uint32_t>(w1 >> 32) & 0xffff, static_cast<uint32_t>(w1 >> 24) & 0xff};
  const nic_place* const all = nic_places();
  if (!all) return said;
  note_source found = said;
  const bool by_host = said.vpid >= all[0].host_vpid;
  for (int node = 0; node < ggas_nodes(); ++node) {
    const uint32_t first = by_host ? all[node].host_vpid : all[node].vpid;
    if (static_cast<uint32_t>(all[node].nic) != said.node || first > said.vpid) continue;
    found = {static_cast<uint32_t>(node), said.vpid - first + (by_host ? all[0].host_vpid : all[0].vpid)};
  }
  return found;
}

GGAS_DEVICE ggas_notification unpack(const word_pair& r) {
  const note_source from = source_of(r.hi);
  return {r.lo,
          static_cast<uint32_t>(r.hi) & 0xffffff,
          from.node,
          from.vpid,
          static_cast<uint32_t>(r.hi >> 60) & 7,
          static_cast<uint32_t>(r.hi >> 56) & 15,
          static_cast<uint32_t>(r.hi >> 48) & 0xff};
}

GGAS_DEVICE bool reports_failure(const ggas_notification& n) { return n.code != 0 || n.kind >= ggas_note_error; }

// By the NIC. At least `least` and at most `most`; how many.
GGAS_DEVICE size_t take_of_nic(ggas_notification* notes, size_t least, size_t most, const deadline& end,
                               const ggas_queue& q) {
  size_t n = 0;
  bool ahead = false;
  unsigned misses = 0;
  while (n < most) {
    word_pair record{};
    if (q.exclusive ? take_exclusively(q, record, ahead) : take_shared(q, record)) {
      notes[n++] = unpack(record);
    } else if (n >= least || end.over()) {
      break;
    } else if (!q.exclusive && ++misses % 16 == 0) {
      tell_lazily(q, q.note - q.note % quarter_of_ring(q));
    }
  }
  if (ahead) store_relaxed(q.at.words + 1, uint64_t{q.note});
  acquire_after_poll();
  return n;
}

// The same of the nodes' rings, one after the other.
GGAS_DEVICE size_t take_of_rings(ggas_notification* notes, size_t least, size_t most, const deadline& end,
                                 const ggas_queue& q) {
  const ring_shape ring = direct_ring(q.index());
  const ring_sharing sharing = q.exclusive ? ring_sharing::one_reader : ring_sharing::many_readers;
  size_t n = 0;
  while (n < most) {
    ring_head head{};
    uint64_t cookie = 0;
    int source = static_cast<int>(q.note);
    const ring_look look = ring_take_any(thread_group{}, ring, source, sharing, sizeof cookie, head,
                                         [&](uint64_t, uint64_t word) { cookie = word; });
    if (look == ring_look::taken) {
      const uint32_t bytes = head.word & ((1u << note_queue_at) - 1);
      notes[n++] = {cookie,
                    bytes,
                    static_cast<uint32_t>(source),
                    head.word >> note_queue_at,
                    ggas_note_arrived,
                    0,
                    static_cast<uint32_t>(bytes ? desc_put : desc_notify)};
      source = source + 1 < ggas_nodes() ? source + 1 : 0;
    }
    q.note = static_cast<uint32_t>(source);
    if (look != ring_look::taken && (n >= least || end.over())) break;
  }
  return n;
}

GGAS_DEVICE ggas_status take_notifications(ggas_notification* notes, size_t least, size_t most, size_t* taken,
                                           const deadline& end, const ggas_queue& q) {
  const bool posts = posts_to(q);
  if (!q.good() || !notes || !taken || most == 0 || ggas_nodes() == 0) return ggas_bad_argument;
  if (posts ? !q.at.notifications : !reaches_peers_directly()) return ggas_no_queue;
  const size_t n = posts ? take_of_nic(notes, least, most, end, q) : take_of_rings(notes, least, most, end, q);
  *taken = n;
  ggas_status s = ggas_ok;
  for (size_t i = 0; posts && i < n; ++i)
    if (reports_failure(notes[i])) s = ggas_peer_error;
  return n >= least ? s : end_of_wait();
}

// The leader takes a record for all.
GGAS_DEVICE ggas_status take_for_warp(ggas_notification* note, uint64_t timeout_ns, const ggas_queue& q) {
  const warp_group g;
  ggas_notification mine{};
  size_t taken = 0;
  int s = ggas_ok;
  if (g.rank() == 0) s = take_notifications(note ? &mine : nullptr, 1, 1, &taken, deadline(timeout_ns), q);
  s = g.of_leader(s);
  g.sync();  // what the leader acquired the others have too
  const ggas_notification all{g.of_leader(mine.cookie), g.of_leader(mine.size), g.of_leader(mine.node),
                              g.of_leader(mine.queue),  g.of_leader(mine.kind), g.of_leader(mine.code),
                              g.of_leader(mine.action)};
  if (note) *note = all;
  return static_cast<ggas_status>(s);
}

}  // namespace ggas::detail
