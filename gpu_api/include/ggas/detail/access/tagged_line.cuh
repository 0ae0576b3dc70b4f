// SPDX-License-Identifier: Apache-2.0
// Lines of 16 bytes in which 8 bytes of data travel with a tag next to each half: tagged puts and the channels of
// collectives. Each half is one access of 8 bytes, so a reader that sees the tag sees the data next to it.
#pragma once

#include "ggas/detail/platform/platform.cuh"

struct alignas(16) ggas_tagged {
  uint32_t low, low_tag, high, high_tag;
};

namespace ggas::detail {

GGAS_DEVICE ggas_tagged tagged_line(uint32_t tag, uint64_t data) {
  return {static_cast<uint32_t>(data), tag, static_cast<uint32_t>(data >> 32), tag};
}
GGAS_DEVICE bool has_tag(const ggas_tagged& l, uint32_t tag) { return l.low_tag == tag && l.high_tag == tag; }
GGAS_DEVICE uint64_t tagged_data(const ggas_tagged& l) { return uint64_t{l.high} << 32 | l.low; }

}  // namespace ggas::detail
