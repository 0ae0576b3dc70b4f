// SPDX-License-Identifier: Apache-2.0
// Records of any size from node to node, one hop each: a ring for each pair of nodes (docs/ring.md). A record is a line
// with its head and a line for each 8 bytes. Every line carries the number of its lap, so nothing is cleared, no flag
// follows the data, and a record is complete when all of its lines have arrived. Writers claim lines in their own
// memory, and only free ones: a time-out claims nothing.
#pragma once

#include "ggas/detail/access/memory_words.cuh"
#include "ggas/detail/access/tagged_line.cuh"
#include "ggas/detail/platform/ring_shape.hpp"
#include "ggas/detail/sync/barrier.cuh"
#include "ggas/detail/sync/group.cuh"

namespace ggas::detail {

// What a record begins with: its size without the head, and a word that is the user's.
struct ring_head {
  uint32_t bytes, word;
};

GGAS_DEVICE uint64_t words_of_record(const ring_head& h) { return (uint64_t{h.bytes} + 7) / 8; }

GGAS_DEVICE ggas_tagged* ring_line(const ring_shape& r, int node, int source, uint64_t position) {
  return ggas_pointer_of_node<ggas_tagged>(node, r.line(source, position));
}

// Orders what was done before with stores to a node.
GGAS_DEVICE void release_to(bool own_node) {
  if (own_node)
    fence_release_gpu();
  else
    fence_release_system();
}

// ---- sending

// Whether the receiver has read the old contents of a quarter. Quarters are read in order, but their words may arrive
// out of order, so each word is checked.
GGAS_DEVICE bool is_quarter_free(const ring_shape& r, int node, uint64_t quarter) {
  return load_poll(own_word(r.released(node, quarter))) >= quarter / 4;
}
// The same of `count` lines from `position` on.
GGAS_DEVICE bool ring_has_room(const ring_shape& r, int node, uint64_t position, uint64_t count) {
  const uint32_t log2 = r.lines_log2 - 2;
  for (uint64_t quarter = position >> log2; quarter <= (position + count - 1) >> log2; ++quarter) {
    if (!is_quarter_free(r, node, quarter)) return false;
  }
  acquire_after_poll();
  return true;
}
// Up to where they are free; not beyond `position`: the first is not.
GGAS_DEVICE uint64_t ring_free_until(const ring_shape& r, int node, uint64_t position, uint64_t count) {
  const uint32_t log2 = r.lines_log2 - 2;
  uint64_t quarter = position >> log2;
  while (quarter <= (position + count - 1) >> log2 && is_quarter_free(r, node, quarter)) ++quarter;
  acquire_after_poll();
  return quarter << log2;
}

GGAS_DEVICE ggas_status claim_lines(const ring_shape& r, int node, uint64_t count, uint64_t& position,
                                    const deadline& end) {
  uint64_t* const claimed = own_word(r.claimed(node));
  position = load_relaxed(claimed);
  for (;;) {
    if (ring_has_room(r, node, position, count)) {
      const uint64_t found = cas_gpu(claimed, position, position + count);
      if (found == position) return ggas_ok;
      position = found;  // another one's success, so this needs no time-out
    } else {
      if (end.over()) return end_of_wait();
      position = load_relaxed(claimed);
    }
  }
}

// Sends a record with the words word(0), word(1) ... . Called by a thread, tile or warp; earlier stores of the group
// are visible to the reader of the record. `node` must exist. ggas_timed_out: there was no room, and nothing was sent.
// ggas_bad_argument: the record is larger than r.largest_record().
template <class G, class W>
requires(has_leader<G>) GGAS_DEVICE ggas_status
    ring_send(const G& g, const ring_shape& r, int node, const ring_head& head, W word, const deadline& end) {
  const uint64_t lines = 1 + words_of_record(head);
  if (lines > r.most_lines()) return ggas_bad_argument;
  g.sync();
  fence_acq_rel_system();  // of every lane: each stores lines
  uint64_t position = 0;
  int s = ggas_ok;
  if (g.rank() == 0) s = claim_lines(r, node, lines, position, end);
  s = g.of_leader(s);
  if (s != ggas_ok) return static_cast<ggas_status>(s);
  position = g.of_leader(position);
  g.sync();  // the lines are free for all lanes
  for (uint64_t i = g.rank(); i < lines; i += g.size()) {
    const uint64_t data = i == 0 ? uint64_t{head.word} << 32 | head.bytes : word(i - 1);
    store_relaxed(ring_line(r, node, ggas_node(), position + i), tagged_line(r.tag(position + i), data));
  }
  g.sync();
  return ggas_ok;
}

// The same of memory: registers, local, shared or global, at any address.
template <class G>
GGAS_DEVICE ggas_status ring_send_bytes(const G& g, const ring_shape& r, int node, uint32_t word, const void* data,
                                        uint32_t bytes, const deadline& end) {
  const ring_head head{bytes, word};
  if (are_whole(data, bytes)) {
    const whole_words<const uint64_t> from{static_cast<const uint64_t*>(data)};
    return ring_send(
        g, r, node, head, [=](uint64_t i) { return from.load(i); }, end);
  }
  const misaligned_words<const uint8_t> from{static_cast<const uint8_t*>(data), bytes};
  return ring_send(
      g, r, node, head, [=](uint64_t i) { return from.load(i); }, end);
}

// ---- taking

enum class ring_sharing { many_readers, one_reader };  // of the ring of a source
enum class ring_look { nothing, too_long, taken };

// One ring as its readers reach it.
struct ring_end {
  ggas_tagged* lines;
  uint64_t* taken;
  uint64_t* released;  // four words of the source
  uint32_t lines_log2;
  bool is_own = false;  // the source is the own node
  GGAS_DEVICE ggas_tagged* line(uint64_t position) const {
    return lines + (position & ((uint64_t{1} << lines_log2) - 1));
  }
  GGAS_DEVICE uint32_t tag(uint64_t position) const { return ring_shape{0, 0, lines_log2}.tag(position); }
};
GGAS_DEVICE ring_end end_of_ring(const ring_shape& r, int source) {
  return {ring_line(r, ggas_node(), source, 0), own_word(r.taken(source)), word_of(source, r.released(ggas_node(), 0)),
          r.lines_log2, source == ggas_node()};
}

// Reports each quarter that ends between two positions to the source. A quarter's word grows by one a lap. Data of the
// next lap are sent only after the source has seen the word of this one, so words of several readers arrive in order.
GGAS_DEVICE void release_lines(const ring_end& r, uint64_t from, uint64_t to) {
  const uint32_t log2 = r.lines_log2 - 2;
  uint64_t quarter = from >> log2;
  if (quarter == to >> log2) return;
  release_to(r.is_own);
  for (; quarter < to >> log2; ++quarter) store_relaxed(r.released + quarter % 4, quarter / 4 + 1);
}

// Takes the next record of a ring if all of it has arrived. store(i, word) gets its words, even those of a record that
// another reader takes first. too_long: it has more than `most` bytes, and stays in the ring. Called by a thread, tile
// or warp; all threads of the group see the earlier stores of the record's sender.
template <class G, class S>
requires(has_leader<G>) GGAS_DEVICE ring_look
    ring_take(const G& g, const ring_end& r, ring_sharing sharing, uint32_t most, ring_head& head, S store) {
  for (;;) {
    uint64_t position = 0, first = 0;
    int here = 0;
    if (g.rank() == 0) {
      position = load_relaxed(r.taken);
      const ggas_tagged l = load_spin(r.line(position));
      here = has_tag(l, r.tag(position));
      first = tagged_data(l);
    }
    if (!g.of_leader(here)) return ring_look::nothing;
    position = g.of_leader(position);
    first = g.of_leader(first);
    head = {static_cast<uint32_t>(first), static_cast<uint32_t>(first >> 32)};
    if (head.bytes > most) return ring_look::too_long;
    const uint64_t words = words_of_record(head), end = position + 1 + words;
    bool all = true;
    for (uint64_t i = g.rank(); i < words; i += g.size()) {
      const ggas_tagged l = load_spin(r.line(position + 1 + i));
      all &= has_tag(l, r.tag(position + 1 + i));
      store(i, tagged_data(l));
    }
    acquire_after_spin(reinterpret_cast<const uint64_t*>(r.line(position)));
    if (g.join(all ? ggas_ok : ggas_timed_out) != ggas_ok) return ring_look::nothing;
    int won = 1;
    if (g.rank() == 0) {
      if (sharing == ring_sharing::one_reader) {
        store_relaxed(r.taken, end);
      } else {
        fence_acq_rel_gpu();  // who releases these lines has their reading before
        won = cas_gpu(r.taken, position, end) == position;
      }
      if (won) release_lines(r, position, end);
    }
    won = g.of_leader(won);
    g.sync();
    if (won) return ring_look::taken;
  }
}
template <class G, class S>
requires(has_leader<G>) GGAS_DEVICE ring_look ring_take(const G& g, const ring_shape& r, int source,
                                                        ring_sharing sharing, uint32_t most, ring_head& head, S store) {
  return ring_take(g, end_of_ring(r, source), sharing, most, head, store);
}

// A source whose next record has begun to come, the first from `start` on; -1: there is none. Some are polled at once.
GGAS_DEVICE int find_record(const ring_shape& r, int start) {
  constexpr int at_once = 4;
  const int nodes = static_cast<int>(r.nodes);
  GGAS_NO_UNROLL
  for (int done = 0; done < nodes; done += at_once) {
    const auto source = [=](int k) {
      const int s = start + done + k;
      return s < nodes ? s : s - nodes;
    };
    uint64_t position[at_once]{};
    ggas_tagged l[at_once]{};
    GGAS_UNROLL
    for (int k = 0; k < at_once; ++k) {
      if (done + k < nodes) position[k] = load_relaxed(own_word(r.taken(source(k))));
    }
    GGAS_UNROLL
    for (int k = 0; k < at_once; ++k) {
      if (done + k < nodes) l[k] = load_spin(ring_line(r, ggas_node(), source(k), position[k]));
    }
    GGAS_UNROLL
    for (int k = 0; k < at_once; ++k) {
      if (done + k < nodes && has_tag(l[k], r.tag(position[k]))) return source(k);
    }
  }
  return -1;
}

// One look at the rings of all sources, from `source` on, which is then whose record was taken or is too long.
template <class G, class S>
GGAS_DEVICE ring_look ring_take_any(const G& g, const ring_shape& r, int& source, ring_sharing sharing, uint32_t most,
                                    ring_head& head, S store) {
  int found = 0;
  if (g.rank() == 0) found = find_record(r, source);
  found = g.of_leader(found);
  if (found < 0) return ring_look::nothing;
  source = found;
  const ring_look look = ring_take(g, r, found, sharing, most, head, store);
  // A record that has not come to its end holds up its own source only.
  if (look == ring_look::nothing) source = found + 1 < static_cast<int>(r.nodes) ? found + 1 : 0;
  return look;
}

// Waits for the next record of `source`, or of any source (`any_source`), of at most `most` bytes, and copies it to
// memory as in ring_send_bytes(). ggas_bad_argument: it is longer, as `head` says, and stays in the ring. If no record
// was taken the memory may contain a part of one.
constexpr int any_source = -1;
template <class G>
GGAS_DEVICE ggas_status ring_receive_bytes(const G& g, const ring_shape& r, int& source, ring_sharing sharing,
                                           ring_head& head, void* data, uint32_t most, const deadline& end) {
  const bool any = source == any_source;
  if (any) source = 0;
  for (;;) {
    const auto store = [&](uint64_t i, uint64_t v) {
      misaligned_words<uint8_t>{static_cast<uint8_t*>(data), head.bytes}.store(i, v);
    };
    const ring_look look = any ? ring_take_any(g, r, source, sharing, most, head, store)
                               : ring_take(g, r, source, sharing, most, head, store);
    if (look == ring_look::taken) return ggas_ok;
    if (look == ring_look::too_long) return ggas_bad_argument;
    int s = ggas_ok;
    if (g.rank() == 0 && end.over()) s = end_of_wait();
    s = g.of_leader(s);
    if (s != ggas_ok) return static_cast<ggas_status>(s);
  }
}

// ---- a launch that begins clean

constexpr uint64_t ring_laps_ahead = 2;  // beyond all that a receiver has released

// Called by a thread or warp of every node before this launch sends or takes anything. It discards everything that
// earlier launches left in the rings, also incomplete records of stopped kernels. Each node begins a new lap of its
// rings, reports this, and lets the other nodes write to its rings. This takes two hops. `launch`: not 0, the same on
// all nodes, another number each time. Kernels of earlier launches must have ended on the calling node.
template <class G>
requires(has_leader<G>) GGAS_DEVICE ggas_status
    ring_begin(const G& g, const ring_shape& r, uint32_t launch, const deadline& end) {
  const int nodes = static_cast<int>(r.nodes);
  for (int node = static_cast<int>(g.rank()); node < nodes; node += static_cast<int>(g.size())) {
    uint64_t* const claimed = own_word(r.claimed(node));
    const uint64_t lap = (load_relaxed(claimed) >> r.lines_log2) + ring_laps_ahead;
    store_relaxed(claimed, lap << r.lines_log2);
    store_relaxed(ggas_pointer_of_node<ggas_tagged>(node, r.beginning(ggas_node())), tagged_line(launch, lap));
  }
  ggas_status s = ggas_ok;
  for (int node = static_cast<int>(g.rank()); node < nodes && s == ggas_ok; node += static_cast<int>(g.size())) {
    const auto* const from = ggas_pointer_of_node<ggas_tagged>(ggas_node(), r.beginning(node));
    ggas_tagged l = load_spin(from);
    while (!has_tag(l, launch) && s == ggas_ok) {
      if (end.over()) s = end_of_wait();
      l = load_spin(from);
    }
    if (s != ggas_ok) break;
    store_relaxed(own_word(r.taken(node)), tagged_data(l) << r.lines_log2);
    for (uint64_t quarter = 0; quarter < 4; ++quarter)
      store_relaxed(word_of(node, r.released(ggas_node(), quarter)), tagged_data(l));
  }
  return g.join(s);
}

}  // namespace ggas::detail
