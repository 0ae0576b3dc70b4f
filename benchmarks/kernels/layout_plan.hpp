// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ggas::bench {

// Hands out places in the segments after the reserved part; offsets count from the segment start, as kernels see them.
class layout_plan {
 public:
  explicit layout_plan(size_t start) : next_(start) {}
  // The next place is a multiple of `bytes`.
  void align(uint64_t bytes) { next_ = (next_ + bytes - 1) / bytes * bytes; }
  // Room for n objects, aligned to 256 bytes.
  template <class T>
  uint64_t place(size_t n) {
    const uint64_t at = next_;
    next_ = (next_ + n * sizeof(T) + 255) / 256 * 256;
    return at;
  }

 private:
  uint64_t next_;
};

}  // namespace ggas::bench
