// SPDX-License-Identifier: Apache-2.0
// After a failure: says who waited for what, ends waits, and makes the reserved areas of all nodes those of a new cluster. For every provider of
// ggas::cluster, as all of it is memory of the nodes.
#include <cstring>

#include "ggas/cluster.hpp"
#include "ggas/ggas.cuh"

namespace ggas {
namespace {

void clear(std::byte* segment, uint64_t from, uint64_t to) { std::memset(segment + from, 0, to - from); }

// All but what the NIC goes on with: whether its queues were used, and records that answers to atomics may still come
// to. Nobody waits for those any more.
void clear_reserved(std::byte* segment, const context& c) {
  const layout l = layout::of(static_cast<uint64_t>(c.nodes), c.reserved);
  clear(segment, 0, layout::queues_used);
  clear(segment, layout::queues_used + layout::word, l.results_taken(0));
  clear(segment, l.direct_notes(0), c.reserved);
  for (uint64_t group = 0; group < layout::results / 64; ++group)
    std::memcpy(segment + l.results_left(group), segment + l.results_taken(group), layout::word);
}

// Kernels that were stopped may have held a queue of the NIC.
void free_queues(const context& c) {
  for (int i = 0; c.queues && i < c.queue_count; ++i) {
    c.queues[i].words[0] &= ~(detail::ticket_held | detail::ticket_locked);
    c.queues[i].words[2] &= ~detail::telling;
  }
}

}  // namespace

hang_report cluster::report() {
  hang_report all;
  for (int n = 0; n < config().nodes; ++n) {
    const context& c = device_context(n);
    const uint64_t at = layout::of(static_cast<uint64_t>(c.nodes), c.reserved).waits_in_vain();
    add_waits(c, {segment(n) + at, layout::wait_bytes}, all);
  }
  find_missing(all);
  return all;
}

void cluster::abort() {
  for (int n = 0; n < config().nodes; ++n) {
    auto* const word = reinterpret_cast<uint64_t*>(segment(n) + layout::aborted);
    __atomic_store_n(word, uint64_t{1}, __ATOMIC_RELAXED);
  }
}

result<> cluster::reset(uint64_t timeout_ns) {
  const auto settle = [] { static_cast<void>(detail::quiet_stores()); };
  for (int n = 0; n < config().nodes; ++n)
    if (auto ok = launch(n, 1, 1, settle, "reset"); !ok) return ok;
  if (auto ran = run(timeout_ns); !ran) return std::unexpected(std::move(ran.error()));
  if (auto ok = restart_collectives(); !ok) return ok;
  for (int n = 0; n < config().nodes; ++n) {
    clear_reserved(segment(n), device_context(n));
    free_queues(device_context(n));
  }
  return {};
}

}  // namespace ggas
