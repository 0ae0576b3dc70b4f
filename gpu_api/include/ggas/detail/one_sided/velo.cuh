// SPDX-License-Identifier: Apache-2.0
// Messages of VELO: sending them, and taking them from the mailbox of a queue (docs/rma.md#messages-velo). As with
// notifications nothing is cleared: a message is fresh when the phase bit of its last word fits the turn of the ring.
// Included by velo.cuh.
#pragma once

#include "ggas/detail/access/memory_words.cuh"
#include "ggas/detail/one_sided/notify.cuh"

namespace ggas::detail {

constexpr unsigned mail_bytes = 128, mail_cookie = 8, mail_note = 9;  // of an entry: its size, and words of it

template <class G>
requires(has_leader<G>) GGAS_DEVICE ggas_status
    velo_send(const G& g, int node, const void* data, unsigned bytes, uint64_t cookie, int to_queue,
              const deadline& end, const ggas_queue& q) {
  const int vpid = vpid_of(to_queue);
  const bool posts = posts_to(q);
  if (!q.good() || vpid < 0 || node < 0 || node >= ggas_nodes() || bytes > inline_most || (!data && bytes != 0))
    return ggas_bad_argument;
  if (!posts) return ggas_no_queue;
  const slot head{first_word(desc_send | want_ack, node, bytes, vpid), 0, 0, cookie};
  const misaligned_words<const uint8_t> from{static_cast<const uint8_t*>(data), bytes};
  g.sync();  // what the others wrote
  return post(
      g, q, 1 + (bytes + slot_bytes - 1) / slot_bytes, 1,
      [&](unsigned i) {
        const unsigned at = i - slot_words;
        return i < slot_words ? head.word(i) : 8 * at < bytes ? from.load(at) : 0;
      },
      end);
}
template <class G>
requires(!has_leader<G>) GGAS_DEVICE ggas_status
    velo_send(const G& g, int node, const void* data, unsigned bytes, uint64_t cookie, int to_queue,
              const deadline& end, const ggas_queue& q) {
  return by_first_warp(g,
                       [&](const warp_group& w) { return velo_send(w, node, data, bytes, cookie, to_queue, end, q); });
}

// The entry at a position, if it is fresh.
GGAS_DEVICE bool read_mail(const ggas_queue& q, uint32_t position, ggas_velo_message& m) {
  const uint32_t size = 1u << q.at.mailbox_log2;
  const auto* const entry = reinterpret_cast<const uint64_t*>(q.at.mailbox + (position & (size - 1)) * mail_bytes);
  const uint64_t note = load_poll(entry + mail_note);
  if (!fresh(note, position, q.at.mailbox_log2)) return false;
  acquire_after_poll();
  m.from = unpack({load_relaxed(entry + mail_cookie), note});
  for (unsigned i = 0; i < inline_most / 8; ++i) m.data[i] = 8 * i < m.from.size ? load_relaxed(entry + i) : 0;
  return true;
}
// Several threads may take: the entry belongs to the one that moves the position on.
GGAS_DEVICE bool take_mail(const ggas_queue& q, ggas_velo_message& m) {
  uint64_t* const taken = q.at.words + 4;
  for (uint64_t position = load_relaxed(taken);;) {
    if (!read_mail(q, static_cast<uint32_t>(position), m)) return false;
    fence_acq_rel_gpu();  // the thread that informs the NIC of this place has the reading after it
    const auto next = static_cast<uint32_t>(position + 1);
    const uint64_t found = cas_gpu(taken, position, uint64_t{next});
    if (found != position) {
      position = found;
      continue;
    }
    if (next % (1u << (q.at.mailbox_log2 - 2)) == 0) tell_as_one_of_many(q, q.at.words + 5, at_messages_read, next);
    return true;
  }
}
GGAS_DEVICE ggas_status velo_take(ggas_velo_message* message, const deadline& end, const ggas_queue& q) {
  constexpr unsigned between_reports = 16;  // of misses
  const bool posts = posts_to(q);
  if (!q.good() || !message || ggas_nodes() == 0) return ggas_bad_argument;
  if (!posts || !q.at.mailbox) return ggas_no_queue;
  for (unsigned misses = 0;;) {
    ggas_velo_message m;
    if (take_mail(q, m)) {
      *message = m;
      return reports_failure(m.from) ? ggas_peer_error : ggas_ok;
    }
    if (end.over()) return end_of_wait();
    // A report that another thread's prevented.
    if (++misses % between_reports != 0) continue;
    const auto position = static_cast<uint32_t>(load_relaxed(q.at.words + 4)), quarter = 1u << (q.at.mailbox_log2 - 2);
    tell_as_one_of_many(q, q.at.words + 5, at_messages_read, position - position % quarter);
  }
}

// A call that waited for a message.
GGAS_DEVICE void record_mail(call_id call, ggas_status s, uint64_t timeout_ns, const ggas_queue& q) {
  record_number(call, s, timeout_ns, waited_for::mail, static_cast<uint64_t>(q.index()), ggas_node());
}

}  // namespace ggas::detail
