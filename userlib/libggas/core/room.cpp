// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/core/room.hpp"

#include <algorithm>

namespace ggas::library {

std::optional<uint64_t> room::take(uint64_t bytes) {
  bytes = up(bytes);
  const std::lock_guard held(lock_);
  const auto fits = std::find_if(free_.begin(), free_.end(), [&](const auto& r) { return r.second >= bytes; });
  if (fits == free_.end()) return {};
  const auto [offset, there] = *fits;
  free_.erase(fits);
  if (there > bytes) free_[offset + bytes] = there - bytes;
  return offset;
}

void room::give(uint64_t offset, uint64_t bytes) {
  bytes = up(bytes);
  const std::lock_guard held(lock_);
  auto here = free_.emplace(offset, bytes).first;
  if (const auto next = std::next(here); next != free_.end() && here->first + here->second == next->first) {
    here->second += next->second;
    free_.erase(next);
  }
  if (here == free_.begin()) return;
  if (const auto before = std::prev(here); before->first + before->second == here->first) {
    before->second += here->second;
    free_.erase(here);
  }
}

}  // namespace ggas::library
