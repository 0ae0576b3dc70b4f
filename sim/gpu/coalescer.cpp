// SPDX-License-Identifier: Apache-2.0
#include "sim/gpu/coalescer.hpp"

#include <algorithm>

namespace ggas::gpu {

namespace {

using pieces = boost::container::small_vector<transaction, 64>;

// The lanes' bytes by address, cut at segment borders.
pieces cut(std::span<const lane_span> lanes, unsigned segment) {
  pieces out;
  bool sorted = true;
  for (const lane_span& l : lanes) {
    for (uint64_t at = l.addr, end = l.addr + l.bytes; at < end;) {
      const uint64_t stop = std::min(end, (at / segment + 1) * segment);
      sorted = sorted && (out.empty() || out.back().addr <= at);
      out.push_back({at, uint32_t(stop - at)});
      at = stop;
    }
  }
  if (!sorted) std::ranges::sort(out, {}, &transaction::addr);
  return out;
}

// Joins neighbours of one segment if they touch, or in any case.
transactions join(const pieces& sorted, unsigned segment, bool over_gaps) {
  transactions out;
  for (const transaction& p : sorted) {
    if (!out.empty()) {
      transaction& last = out.back();
      const bool same = last.addr / segment == p.addr / segment;
      if (same && (over_gaps || p.addr <= last.addr + last.bytes)) {
        last.bytes = uint32_t(std::max(last.addr + last.bytes, p.addr + p.bytes) - last.addr);
        continue;
      }
    }
    out.push_back(p);
  }
  return out;
}

}  // namespace

transactions coalesce_stores(std::span<const lane_span> lanes, unsigned segment_bytes) {
  return join(cut(lanes, segment_bytes), segment_bytes, false);
}

transactions coalesce_loads(std::span<const lane_span> lanes, unsigned segment_bytes) {
  return join(cut(lanes, segment_bytes), segment_bytes, true);
}

unsigned count_sectors(std::span<const lane_span> lanes, unsigned sector_bytes) {
  return unsigned(join(cut(lanes, sector_bytes), sector_bytes, true).size());
}

}  // namespace ggas::gpu
