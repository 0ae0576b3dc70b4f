// SPDX-License-Identifier: Apache-2.0
// The collective creation of a segment, whatever its memory.
#pragma once

#include "userlib/libggas/core/process.hpp"

namespace ggas::library {

// Opens, lets all members in, and meets them. Called again after a time-out it goes on with the barrier.
template <class Open>
ggas_rc open_together(ggas_process* p, uint32_t segment, const ggas_process::creation& mine, uint64_t timeout_ns,
                      Open&& open) {
  const auto g = p->group(mine.group);
  if (!g || !g->committed()) return fail(GGAS_ERR_GROUP, "group ", mine.group, ": does not exist or is not committed");
  bool under_way;
  {
    const std::lock_guard held(p->lock);
    const auto begun = p->creations.find(segment);
    under_way = begun != p->creations.end() && begun->second == mine;
  }
  if (!under_way) {
    if (ggas_rc rc = open(); rc != GGAS_OK) return rc;
    for (unsigned r : g->members())
      if (ggas_rc rc = p->transport->segment_permit(segment, r); rc != GGAS_OK) return rc;
    const std::lock_guard held(p->lock);
    p->creations[segment] = mine;
  }
  const ggas_rc rc = g->barrier(limit::after(timeout_ns));
  if (rc != GGAS_TIMEOUT) {
    const std::lock_guard held(p->lock);
    p->creations.erase(segment);
  }
  return rc;
}

}  // namespace ggas::library
