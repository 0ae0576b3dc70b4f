// SPDX-License-Identifier: Apache-2.0
// broadcast. Methods: docs/collectives.md. Included by collective.cuh.
#pragma once

#include "ggas/detail/collective/exchange.cuh"

namespace ggas::detail {

template <class U>
struct broadcast_call {
  U* dst;
  const U* src;
  int root;
  uint64_t place;   // of dst in the own segment, bytes
  uint64_t source;  // of src in that of the root
};

// How data for all leaves leave the root: once for each leaf, or only once if the NIC copies the root's stores. A team
// of some of the nodes always sends once for each leaf, because other teams may use the same slots.
struct way_to_leaves {
  bool copied;
  GGAS_DEVICE explicit way_to_leaves(const ggas_team& t) : copied(t.id == 0 && window_of_others() != nullptr) {}
  GGAS_DEVICE int times(const channel& c) const { return copied ? 1 : c.team.size - 1; }
  GGAS_DEVICE channel_line* outbox(const channel& c, int hop) const {
    return copied ? c.outbox_of_others() : c.outbox(member_behind(c, hop));
  }
};

// The same as broadcast_in_lines; a thread has one line at most.
template <class U>
GGAS_DEVICE ggas_status broadcast_short(channel& c, const broadcast_call<U>& p, const slice& part, poll_deadline& end) {
  const size_t units = part.units();
  const unsigned lines = lines_of_part<U>(units), line = thread_rank();
  const U* const src = p.src + part.begin;
  U* const dst = p.dst + part.begin;
  if (c.rank == p.root) {
    const way_to_leaves way(c.team);
    const thread_line mine(lines, way.times(c) + 1);  // the last one for the own copy
    if (mine.any) {
      const bool own = mine.hop > way.times(c);
      const uint64_t data = load_line(src, mine.line, units);
      if (!own) send_line(c, way.outbox(c, mine.hop) + mine.line, data);
      if (own && src != dst) store_line(dst, mine.line, units, data);
    }
    refresh_slots(c, [=](int) { return lines; });
    const early_look earlier(c);
    look_for_failure(c);
    return earlier.hear(c, end);
  }
  send_empty_lines(c);
  const early_look earlier(c);
  look_for_failure(c);
  uint64_t data;
  if (line < lines) {
    if (!take_line(c, c.inbox(p.root) + line, data, end)) return no_line(c, c.inbox(p.root) + line);
    store_line(dst, line, units, data);
  }
  return earlier.hear(c, end);
}

// One that is not.
template <class U>
GGAS_LONG ggas_status broadcast_long(channel c, broadcast_call<U> p, channel_call<U> call, uint64_t timeout_ns);

template <class T>
GGAS_DEVICE ggas_status broadcast(T* dst, const T* src, size_t n, int root, const ggas_team& team, unsigned block,
                                  unsigned blocks, uint64_t timeout_ns) {
  if (!ggas_team_good(team) || root < 0 || root >= team.size) return ggas_bad_argument;
  if (n == 0) return ggas_ok;
  using U = unit_of<T>;
  broadcast_call<U> p{reinterpret_cast<U*>(dst), reinterpret_cast<const U*>(src), root, 0, 0};
  const bool good = (n <= ggas_segment_bytes() / sizeof(T)) & elements_good(dst) &
                    own_place(dst, n * sizeof(T), p.place) &
                    ((ggas_team_rank(team) != root) | (elements_good(src) & own_place(src, n * sizeof(T), p.source)));
  const channel_call<U> call(block, blocks, n * (sizeof(T) / sizeof(U)));
  if (call.mine.units() == 0) return good ? ggas_ok : ggas_bad_argument;
  channel c = find_channel(team, call.block);
  if (!good) return ggas_bad_argument;
  if (is_short<U>(call.mine.units(), team.size))
    return run_on(c, timeout_ns,
                  [&](channel& at, poll_deadline& end) { return broadcast_short(at, p, call.mine, end); });
  return broadcast_long(c, p, call, timeout_ns);
}

}  // namespace ggas::detail
