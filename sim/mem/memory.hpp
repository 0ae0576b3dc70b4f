// SPDX-License-Identifier: Apache-2.0
// Bytes of a memory, allocated page by page when first written; unwritten bytes are zero. A part of it may be memory of
// the process. Timing belongs to whoever serves it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

namespace ggas::mem {

class sparse_memory {
 public:
  // From `offset` on the bytes are those of `window`, which outlives this; whole pages.
  void place(uint64_t offset, std::span<std::byte> window) {
    window_at_ = offset;
    window_ = window;
  }
  void write(uint64_t offset, std::span<const std::byte> bytes);
  void read(uint64_t offset, std::span<std::byte> bytes) const;

  template <class T>
  T load(uint64_t offset) const {
    T v;
    read(offset, std::as_writable_bytes(std::span(&v, 1)));
    return v;
  }
  template <class T>
  void store(uint64_t offset, T v) {
    write(offset, std::as_bytes(std::span(&v, 1)));
  }
  size_t pages() const { return pages_.size(); }

 private:
  static constexpr uint64_t page_bytes = 4096;
  using page = std::array<std::byte, page_bytes>;
  bool in_window(uint64_t offset) const { return offset - window_at_ < window_.size(); }
  uint64_t window_at_ = 0;
  std::span<std::byte> window_;
  std::unordered_map<uint64_t, std::unique_ptr<page>> pages_;
};

}  // namespace ggas::mem
