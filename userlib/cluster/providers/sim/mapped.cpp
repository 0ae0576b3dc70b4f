// SPDX-License-Identifier: Apache-2.0
// Translations that programs make: the table of 4 KB pages of a computer's NIC.
#include <iterator>

#include "userlib/cluster/providers/sim/rma_driver.hpp"
#include "userlib/cluster/providers/sim/simulated_cluster.hpp"

namespace ggas::userlib {

namespace {

// The first `pages` entries in a row that no one has.
std::optional<uint64_t> gap(const std::map<uint64_t, uint64_t>& mapped, uint64_t pages) {
  uint64_t at = 0;
  for (const auto& [first, count] : mapped) {
    if (first - at >= pages) break;
    at = first + count;
  }
  return pages <= rma_driver::small_pages - at ? std::optional(at) : std::nullopt;
}

}  // namespace

result<uint64_t> sim_cluster::map_memory(int node, const void* at, size_t bytes) {
  constexpr uint64_t page = rma_driver::small_page;
  if (auto ok = check_reach(*this, node, at, bytes, "map_memory"); !ok) return std::move(ok.error());
  if (bytes == 0) return fail(errc::bad_argument, "map_memory on node {}: 0 bytes", node);
  const home& home = homes_.of(node);
  const node_memory& own = nodes_[size_t(node)];
  const uint64_t in_segment = reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(own.segment),
                 in_pinned = reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(own.pinned);
  const uint64_t bus = in_segment < cfg_.segment_bytes ? bar_of(node) + in_segment
                                                       : sim::pinned_base + plan_.host_at(home.gpu) + in_pinned;
  const uint64_t pages = (bus % page + bytes + page - 1) / page;
  host_memory_map& host = hosts_[home.host];
  const auto first = gap(host.mapped, pages);
  if (!first)
    return fail(errc::out_of_memory, "map_memory on node {}: {} bytes: the NIC's table of {} pages has no room", node,
                bytes, rma_driver::small_pages);
  rma_driver driver(*system_, home.host);
  for (uint64_t i = 0; i < pages; ++i) driver.enter(*first + i, bus / page * page + i * page);
  if (!host.maps)
    if (auto ok = driver.open_small_pages(); !ok) return fail(errc::device_fault, "map_memory: {}", ok.error());
  host.maps = true;
  host.mapped.emplace(*first, pages);
  return *first * page + bus % page;
}

result<> sim_cluster::unmap_memory(int node, uint64_t nla) {
  if (auto ok = check_node(*this, node, "unmap_memory"); !ok) return ok;
  host_memory_map& host = hosts_[homes_.of(node).host];
  const auto range = host.mapped.find(nla / rma_driver::small_page);
  if (range == host.mapped.end())
    return fail(errc::bad_argument, "unmap_memory on node {}: address {:#x} is none of map_memory", node, nla);
  const uint64_t first = range->first, last = first + range->second - 1;
  host.mapped.erase(range);
  if (auto ok = rma_driver(*system_, homes_.of(node).host).drop(first, last); !ok)
    return fail(errc::device_fault, "unmap_memory on node {}: {}", node, ok.error());
  return {};
}

}  // namespace ggas::userlib
