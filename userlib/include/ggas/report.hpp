// SPDX-License-Identifier: Apache-2.0
// Who hangs where: waits of kernels that ended in vain, and collectives that were refused, since the cluster was made
// or reset (docs/failures.md).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ggas/detail/platform/context.hpp"

namespace ggas {

struct wait_in_vain {
  int node;
  wait_record record;
  // Names the call, the node, the block and the thread; what was expected and what was there; who did not come.
  std::string text;
};

struct hang_report {
  std::vector<wait_in_vain> waits;  // by node, the first to end first; the last 64 of each node
  std::vector<int> missing;         // nodes that others waited for, and whose own kernels waited for nobody
  uint64_t dropped = 0;             // waits that there was no room for
  bool empty() const { return waits.empty(); }
  std::string text() const;  // a line for each wait, and one for `missing`; ends with a line feed
};

const char* name_of(call_id call);

// What the bytes of a node's reserved area from layout::waits_in_vain() on say, layout::wait_bytes of them. For
// providers; programs ask their cluster.
void add_waits(const context& node, std::span<const std::byte> area, hang_report& to);
// Behind the waits of all nodes.
void find_missing(hang_report& r);

}  // namespace ggas
