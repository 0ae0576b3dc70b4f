// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>

#include "gpu_api/simt/device.hpp"
#include "gpu_api/simt/lane.hpp"

namespace ggas::simt {
namespace {

// What blocks of all GPUs of the process have taken: begin, and end.
class taken_ranges {
 public:
  bool take(uintptr_t begin, uintptr_t end) {
    const std::lock_guard hold(mutex_);
    const auto next = ranges_.lower_bound(end);
    if (next != ranges_.begin() && std::prev(next)->second > begin) return false;
    ranges_.emplace(begin, end);
    return true;
  }
  void give(uintptr_t begin) {
    const std::lock_guard hold(mutex_);
    ranges_.erase(begin);
  }

 private:
  std::mutex mutex_;
  std::map<uintptr_t, uintptr_t> ranges_;
};

taken_ranges& taken() {
  static taken_ranges all;
  return all;
}

}  // namespace

// The first thread decides for all that come with it: another block may give the place back between two of them.
bool take_place(const void* place, size_t bytes) {
  block::impl& b = *current->parent->parent;
  const auto begin = reinterpret_cast<uintptr_t>(place);
  auto mine = std::ranges::find(b.places, begin, &place_of_block::begin);
  if (mine == b.places.end()) mine = b.places.insert(mine, {begin, taken().take(begin, begin + bytes), 0});
  const bool ours = mine->ours;
  if (++mine->threads == b.live && !ours) b.places.erase(mine);
  return ours;
}

void give_place(const void* place) {
  block::impl& b = *current->parent->parent;
  const auto mine = std::ranges::find(b.places, reinterpret_cast<uintptr_t>(place), &place_of_block::begin);
  if (--mine->threads != 0) return;
  taken().give(mine->begin);
  b.places.erase(mine);
}

void block::impl::give_places() {
  for (const place_of_block& p : places)
    if (p.ours) taken().give(p.begin);
  places.clear();
}

}  // namespace ggas::simt
