// SPDX-License-Identifier: Apache-2.0
#include "sim/mem/memory.hpp"

#include <algorithm>

namespace ggas::mem {

void sparse_memory::write(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const uint64_t at = offset % page_bytes;
    const size_t n = std::min<size_t>(bytes.size(), page_bytes - at);
    uint64_t inside = 0;
    if (backing* const b = elsewhere(offset, inside)) {
      b->write(inside, bytes.first(n));
    } else if (in_window(offset)) {
      std::ranges::copy(bytes.first(n), window_.begin() + ptrdiff_t(offset - window_at_));
    } else {
      auto& p = pages_[offset / page_bytes];
      if (!p) p = std::make_unique<page>();
      std::copy_n(bytes.begin(), n, p->begin() + at);
    }
    bytes = bytes.subspan(n);
    offset += n;
  }
}

void sparse_memory::read(uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const uint64_t at = offset % page_bytes;
    const size_t n = std::min<size_t>(bytes.size(), page_bytes - at);
    const auto p = pages_.find(offset / page_bytes);
    uint64_t inside = 0;
    if (backing* const b = elsewhere(offset, inside))
      b->read(inside, bytes.first(n));
    else if (in_window(offset))
      std::ranges::copy(window_.subspan(offset - window_at_, n), bytes.begin());
    else if (p == pages_.end())
      std::fill_n(bytes.begin(), n, std::byte{0});
    else
      std::copy_n(p->second->begin() + at, n, bytes.begin());
    bytes = bytes.subspan(n);
    offset += n;
  }
}

}  // namespace ggas::mem
