// SPDX-License-Identifier: Apache-2.0
// After a failure: reports the waits, ends waits, and resets the reserved areas of all nodes to those of a new cluster.
// All of it is memory of the nodes.
#include "userlib/cluster/engine_cluster.hpp"

#include <cstring>
#include <numeric>

#include "ggas/ggas.cuh"

namespace ggas::userlib {
namespace {

void clear(std::byte* segment, uint64_t from, uint64_t to) { std::memset(segment + from, 0, to - from); }

// Everything except the state that the NIC continues to use: whether its queues were used, and records to which answers
// of atomics may still be written. No process waits for these answers.
void clear_reserved(std::byte* segment, const context& c) {
  const layout l = layout::of(static_cast<uint64_t>(c.nodes), c.reserved);
  clear(segment, 0, layout::queues_used);
  clear(segment, layout::queues_used + layout::word, l.results_taken(0));
  clear(segment, l.failed_waits(), c.reserved);
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

// Whether the bytes lie in one segment of the window, at the addresses that the node's kernels use.
bool in_window(const context& c, const void* p, size_t bytes) {
  const uint64_t place = reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(c.window);
  if (!c.window || place / c.stride >= static_cast<uint64_t>(c.nodes)) return false;
  const uint64_t offset = place % c.stride;
  return offset <= c.segment_bytes && bytes <= c.segment_bytes - offset;
}

bool known(const std::vector<int>& nodes, int node, uintptr_t id) {
  return id > 0 && id <= nodes.size() && nodes[id - 1] == node;
}

}  // namespace

engine_cluster::engine_cluster(const cluster_config& cfg) : cfg_(cfg), all_(static_cast<size_t>(cfg.nodes)) {
  std::iota(all_.begin(), all_.end(), 0);
}

result<> engine_cluster::check_stream(const stream& s, const std::string& what) const {
  if (auto ok = check_node(*this, s.node, what); !ok) return ok;
  if (s.id == 0 || known(stream_nodes_, s.node, s.id)) return {};
  return error{errc::bad_argument, what + ": not a stream of node " + std::to_string(s.node)};
}

result<> engine_cluster::check_event(const event& e, const std::string& what) const {
  if (known(event_nodes_, e.node, e.id)) return {};
  return error{errc::bad_argument, what + ": not an event of node " + std::to_string(e.node)};
}

result<> engine_cluster::check_event(const event& e, const stream& s, const std::string& what) const {
  if (auto ok = check_event(e, what); !ok) return ok;
  if (auto ok = check_stream(s, what); !ok) return ok;
  if (recording(s))
    return error{errc::bad_argument, what + ": a graph is being made of the stream; it holds no events"};
  return {};
}

result<> engine_cluster::check_launch(const stream& s, const simt::launch& l) const {
  if (auto ok = check_stream(s, "launch of '" + l.name + "'"); !ok) return ok;
  if (std::string why = simt::grid::check(l); !why.empty()) return error{errc::bad_argument, std::move(why)};
  return {};
}

result<> engine_cluster::check_block(const stream& s, extent block) const {
  return check_launch(s, {.grid = 1, .block = {block.x, block.y, block.z}, .kernel = [] {}});
}

result<> engine_cluster::check_copies(const stream& s, const void* to, const void* from, size_t bytes) {
  if (auto ok = check_stream(s, "copy_on_stream"); !ok) return ok;
  for (const auto& [p, what] :
       {std::pair{static_cast<const void*>(to), "copy_on_stream, to"}, {from, "copy_on_stream, from"}})
    if (auto ok = check_reach(*this, s.node, p, bytes, what); !ok && !in_window(device_context(s.node), p, bytes))
      return ok;
  return {};
}

result<hang_report> engine_cluster::report() {
  hang_report all;
  for (const int n : all_) {
    const context& c = device_context(n);
    const uint64_t at = layout::of(static_cast<uint64_t>(c.nodes), c.reserved).failed_waits();
    add_waits(c, {segment(n) + at, layout::wait_bytes}, all);
  }
  find_suspects(all, {}, device_context(0), [this](int node, uint64_t offset) -> std::optional<uint64_t> {
    if (offset > cfg_.segment_bytes - sizeof(uint64_t)) return {};
    return __atomic_load_n(reinterpret_cast<const uint64_t*>(segment(node) + offset), __ATOMIC_RELAXED);
  });
  return all;
}

result<> engine_cluster::abort() {
  for (const int n : all_) {
    auto* const word = reinterpret_cast<uint64_t*>(segment(n) + layout::aborted);
    __atomic_store_n(word, uint64_t{1}, __ATOMIC_RELAXED);
  }
  return {};
}

result<> engine_cluster::reset(uint64_t timeout_ns) {
  const auto settle = [] { static_cast<void>(detail::quiet_stores()); };
  for (const int n : all_) {
    if (!alive(n)) continue;
    if (auto ok = launch(n, 1, 1, settle, "reset"); !ok) return ok;
  }
  if (auto ran = run(timeout_ns); !ran) return std::move(ran.error());
  if (auto ok = restart_collectives(); !ok) return ok;
  for (const int n : all_) {
    clear_reserved(segment(n), device_context(n));
    for (const auto& [begin, end] : of_teams()) clear(segment(n), begin, end);
    free_queues(device_context(n));
  }
  return {};
}

}  // namespace ggas::userlib
