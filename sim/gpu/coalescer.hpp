// SPDX-License-Identifier: Apache-2.0
// Makes memory transactions of one instruction of a warp. Stores: a run of consecutive bytes inside an aligned segment
// is one transaction, a gap breaks it. Loads: one transaction per distinct segment, holes included.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>

namespace ggas::gpu {

// What one lane touches.
struct lane_span {
  uint64_t addr = 0;
  uint32_t bytes = 0;
};

struct transaction {
  uint64_t addr = 0;
  uint32_t bytes = 0;
};

using transactions = boost::container::small_vector<transaction, 32>;

transactions coalesce_stores(std::span<const lane_span> lanes, unsigned segment_bytes);
// From the first to the last byte wanted of each segment.
transactions coalesce_loads(std::span<const lane_span> lanes, unsigned segment_bytes);
// Number of distinct aligned sectors touched: what an access costs L2.
unsigned count_sectors(std::span<const lane_span> lanes, unsigned sector_bytes);

}  // namespace ggas::gpu
