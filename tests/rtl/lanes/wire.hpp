// SPDX-License-Identifier: Apache-2.0
// The wires of a link: a stream of bits for each lane. A receiver sees 66 bits a cycle at an offset that only it can
// change (slip); cables and receivers may lose it.
#pragma once

#include <array>
#include <cstdint>

#include "tests/rtl/harness/rng.hpp"

namespace ggas::test {

struct block {
  unsigned header = 0;  // 2 bits, the first on the wire
  uint64_t data = 0;
};

class lane_wire {
 public:
  static constexpr unsigned bits = 66, depth = 16;
  using wide = unsigned __int128;

  // Begins somewhere in a block, so many blocks late.
  void connect(unsigned offset, unsigned delay) {
    offset_ = offset % bits;
    delay_ = delay;
  }
  void slip() { offset_ = (offset_ + 1) % bits; }
  void push(const block& b) { ring_[++at_ % depth] = wide(b.data) << 2 | b.header; }
  block pop() const {
    const wide older = ring_[(at_ - delay_) % depth], newer = ring_[(at_ - delay_ + 1) % depth];
    const wide word = offset_ == 0 ? older : older >> offset_ | newer << (bits - offset_);
    return {unsigned(word & 3), uint64_t(word >> 2)};
  }

 private:
  std::array<wide, depth> ring_{};
  uint64_t at_ = depth;
  unsigned offset_ = 0, delay_ = 1;
};

}  // namespace ggas::test
