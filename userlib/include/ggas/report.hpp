// SPDX-License-Identifier: Apache-2.0
// Report of hangs: waits of kernels that failed, and collectives that were refused, since the cluster was made or reset
// (docs/failures.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ggas/detail/platform/context.hpp"

namespace ggas {

struct failed_wait {
  int node;
  wait_record record;
  // Names the call, the node, the block and the thread; what was expected and what was there; who did not come.
  std::string text;
};

struct hang_report {
  std::vector<failed_wait> waits;  // by node, the first to end first; the last 64 of each node
  std::vector<int> suspects;       // nodes whose fault it is; none: `why` says why that cannot be known
  std::string why;
  uint64_t dropped = 0;  // waits that there was no room for
  bool empty() const { return waits.empty(); }
  std::string text() const;  // a line for each wait, and one for the suspects; ends with a line feed
};

const char* name_of(call_id call);

// ---- for providers; programs use cluster::report()

// Adds the records in the bytes of a node's reserved area from layout::failed_waits() on, layout::wait_bytes of them.
void add_waits(const context& node, std::span<const std::byte> area, hang_report& to);

// A word of a node's segment; nothing if it cannot be read.
using word_reader = std::function<std::optional<uint64_t>(int node, uint64_t offset)>;
// Finds the cause in the waits of all nodes, and in those of `elsewhere`, which the report does not list. `any`: any
// node.
void find_suspects(hang_report& r, const std::vector<failed_wait>& elsewhere, const context& any,
                   const word_reader& word);

}  // namespace ggas
