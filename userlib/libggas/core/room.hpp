// SPDX-License-Identifier: Apache-2.0
// Which parts of a memory are in use.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace ggas::library {

class room {
 public:
  // What is given out begins at multiples of the unit. Bytes begin ... end - 1 are free at first.
  explicit room(uint64_t unit) : unit_(unit) {}
  void add(uint64_t begin, uint64_t end) { free_[begin] = end - begin; }
  uint64_t up(uint64_t bytes) const { return (bytes + unit_ - 1) / unit_ * unit_; }
  // The first that fits; empty: there is no room.
  std::optional<uint64_t> take(uint64_t bytes);
  void give(uint64_t offset, uint64_t bytes);

 private:
  uint64_t unit_;
  std::mutex lock_;
  std::map<uint64_t, uint64_t> free_;  // offset and bytes
};

}  // namespace ggas::library
