// SPDX-License-Identifier: Apache-2.0
// How groups of workers get orders. One group at a time looks at the rings, the others wait for its turn: rings have
// one reader, and idle workers cost the bus one reader. Included by worker.cuh.
#pragma once

#include "ggas/detail/platform/worker_shape.hpp"
#include "ggas/detail/ring.cuh"

namespace ggas::detail {

enum worker_turn : uint64_t { turn_free, turn_taken, workers_stopped };
constexpr int no_source = -1;

// Between two looks: twice as long each time.
class growing_pause {
 public:
  GGAS_DEVICE explicit growing_pause(uint32_t longest_ns) : longest_(longest_ns) {}
  GGAS_DEVICE void once() {
    if (longest_ == 0) return;
    ns_ = ns_ == 0 ? 16 : 2 * ns_ < longest_ ? 2 * ns_ : longest_;
    __nanosleep(ns_);
  }

 private:
  uint32_t longest_, ns_ = 0;
};

GGAS_DEVICE ring_end host_ring(const worker_launch& l) {
  return {reinterpret_cast<ggas_tagged*>(l.host->lines), own_word(l.shape.taken_of_host()), l.host->released,
          worker_shape::lines_log2};
}

// By one thread. False: the workers were stopped.
GGAS_DEVICE bool get_turn(const worker_launch& l) {
  growing_pause pause(l.longest_pause_ns);
  for (;;) {
    const uint64_t found = cas_gpu(own_word(l.shape.turn()), turn_free, turn_taken);
    if (found == workers_stopped) return false;
    if (found == turn_free) break;
    pause.once();
  }
  fence_acq_rel_gpu();
  return true;
}

// What a warp has read of the host's ring: a line in each lane, from the next record on. One trip over the bus both
// finds an order and brings it.
struct host_lines {
  uint64_t position;
  ggas_tagged mine;
  bool here;  // whether the lane's line has come
};
GGAS_DEVICE host_lines look_at_host(const warp_group& g, const ring_end& r, uint64_t position) {
  const uint64_t at = position + g.rank();
  const ggas_tagged mine = load_spin(r.line(at));
  return {position, mine, has_tag(mine, r.tag(at))};
}

// Takes the record that begins with these lines; false: it has not all come.
template <class S>
GGAS_DEVICE bool take_from_host(const warp_group& g, const ring_end& r, const host_lines& lines, const S& store) {
  const uint64_t first = g.of_leader(tagged_data(lines.mine));
  ring_head head{static_cast<uint32_t>(first), static_cast<uint32_t>(first >> 32)};
  const uint64_t words = words_of_record(head), end = lines.position + 1 + words;
  if (words >= g.size()) return ring_take(g, r, ring_sharing::one_reader, ~0u, head, store) == ring_look::taken;
  const bool needed = g.rank() <= words;
  if (needed && g.rank() != 0) store(uint64_t{g.rank()} - 1, tagged_data(lines.mine));
  if (g.join(lines.here || !needed ? ggas_ok : ggas_timed_out) != ggas_ok) return false;
  acquire_after_spin(reinterpret_cast<const uint64_t*>(r.line(lines.position)));
  if (g.leads()) {
    store_relaxed(r.taken, end);
    release_lines(r, lines.position, end);
  }
  return true;
}

// The first warp of a group waits for an order, and passes its words to store(i, word). Returns false if the workers
// were stopped. `next` is used by the leader: it is the next value of the turn, once the words of the order are visible
// to the GPU.
template <class S>
GGAS_DEVICE bool wait_for_order(const warp_group& g, const worker_launch& l, worker_turn& next, const S& store) {
  next = workers_stopped;
  int may = 0;
  if (g.leads()) may = get_turn(l);
  if (!g.of_leader(may)) return false;
  const int of_host = static_cast<int>(l.shape.nodes);
  const ring_end host = host_ring(l);
  uint64_t* const last_source = own_word(l.shape.last_source());
  int last = static_cast<int>(load_relaxed(last_source));
  const uint64_t position = load_relaxed(host.taken);
  growing_pause pause(l.longest_pause_ns);
  for (;;) {
    // The loads of the host's word and lines are in flight while the rings of nodes are polled. If both an order and
    // the word have arrived, this last order is still carried out.
    const uint64_t stop = g.leads() ? load_relaxed(&l.host->stop) : 0;
    const host_lines lines = look_at_host(g, host, position);
    int source = no_source;
    if (g.leads()) {
      source = find_record(l.shape.ring(), last + 1 < of_host ? last + 1 : 0);
      // After an order of the host those of nodes come first.
      if (lines.here && (last != of_host || source < 0)) source = of_host;
    }
    source = g.of_leader(source);
    bool taken = false;
    if (source == of_host) {
      taken = take_from_host(g, host, lines, store);
    } else if (source >= 0) {
      ring_head head{};
      taken = ring_take(g, end_of_ring(l.shape.ring(), source), ring_sharing::one_reader, ~0u, head, store) ==
              ring_look::taken;
    }
    if (source >= 0) last = source;  // one that has not all come holds up no other
    if (taken) {
      if (g.leads()) store_relaxed(last_source, static_cast<uint64_t>(last));
      next = stop != 0 ? workers_stopped : turn_free;
      return true;
    }
    if (g.of_leader(static_cast<int>(source < 0 && stop != 0)) != 0) return false;
    if (source < 0 && g.leads()) pause.once();
  }
}

}  // namespace ggas::detail
