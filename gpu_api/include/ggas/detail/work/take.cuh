// SPDX-License-Identifier: Apache-2.0
// How groups of workers get orders. One group at a time looks at the rings, the others wait for its turn: rings have
// one reader, and idle workers cost the bus one reader. Included by worker.cuh.
#pragma once

#include "ggas/detail/platform/worker_shape.hpp"
#include "ggas/detail/ring.cuh"

namespace ggas::detail {

enum worker_turn : uint64_t { turn_free, turn_taken, workers_stopped };

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

// Which ring has begun to get an order: of a node, or, by the number of nodes, of the host; -1: none. After an order of
// the host the nodes' come first.
GGAS_DEVICE int ring_with_order(const worker_launch& l, int last) {
  const int nodes = static_cast<int>(l.shape.nodes);
  const ring_end host = host_ring(l);
  const uint64_t position = load_relaxed(host.taken);
  const ggas_tagged first = load_spin(host.line(position));
  const bool of_host = has_tag(first, host.tag(position));
  if (of_host && last != nodes) return nodes;
  const int found = find_record(l.shape.ring(), last + 1 < nodes ? last + 1 : 0);
  return found < 0 && of_host ? nodes : found;
}

constexpr int no_more_orders = -2;

// Waits until a ring has begun to get an order, by one thread. no_more_orders: the host stops the workers. Its word is
// on its way while the rings are looked at; who finds both carries out this one order more.
GGAS_DEVICE int await_ring(const worker_launch& l, int last, bool& stop) {
  growing_pause pause(l.longest_pause_ns);
  for (;;) {
    const uint64_t word = load_relaxed(&l.host->stop);
    const int found = ring_with_order(l, last);
    stop = word != 0;
    if (found >= 0) return found;
    if (stop) return no_more_orders;
    pause.once();
  }
}

// Waits for an order, which store(i, word) gets; by the first warp of a group. False: the workers were stopped.
template <class S>
GGAS_DEVICE bool wait_for_order(const warp_group& g, const worker_launch& l, const S& store) {
  int may = 0, source = 0;
  if (g.leads()) may = get_turn(l);
  if (!g.of_leader(may)) return false;
  uint64_t* const last = own_word(l.shape.last_source());
  bool stop = false, taken = false;
  do {
    if (g.leads()) source = await_ring(l, static_cast<int>(load_relaxed(last)), stop);
    source = g.of_leader(source);
    if (source == no_more_orders) break;
    const ring_end r = source == static_cast<int>(l.shape.nodes) ? host_ring(l) : end_of_ring(l.shape.ring(), source);
    ring_head head{};
    taken = ring_take(g, r, ring_sharing::one_reader, ~0u, head, store) == ring_look::taken;
    if (g.leads()) store_relaxed(last, static_cast<uint64_t>(source));  // one that has not all come holds up no other
  } while (!taken);
  g.sync();
  if (g.leads()) {
    fence_acq_rel_gpu();
    store_relaxed(own_word(l.shape.turn()), stop ? uint64_t{workers_stopped} : uint64_t{turn_free});
  }
  return taken;
}

}  // namespace ggas::detail
