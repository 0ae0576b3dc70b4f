// SPDX-License-Identifier: Apache-2.0
// Bytes of a memory, allocated page by page when first written; unwritten bytes are zero. A part of it may be memory of
// the process, other parts may lie anywhere. Timing is left to the users of this class.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>

namespace ggas::mem {

// Bytes that are elsewhere, as in another process: they are touched when the simulation touches them.
class backing {
 public:
  virtual ~backing() = default;
  virtual void read(uint64_t at, std::span<std::byte> to) = 0;
  virtual void write(uint64_t at, std::span<const std::byte> from) = 0;
};

class sparse_memory {
 public:
  // Puts `window`, whole pages that outlive this object, at `offset`.
  void place(uint64_t offset, std::span<std::byte> window) {
    window_at_ = offset;
    window_ = window;
  }
  // Pages that lie elsewhere, also within the window, until they are taken away; they overlap no others of these.
  void lay(uint64_t offset, uint64_t pages, std::unique_ptr<backing> bytes) {
    parts_[offset] = {pages * page_bytes, std::move(bytes)};
  }
  void take_away(uint64_t offset) { parts_.erase(offset); }
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

  static constexpr uint64_t page_bytes = 4096;

 private:
  struct part {
    uint64_t bytes;
    std::unique_ptr<backing> at;
  };
  using page = std::array<std::byte, page_bytes>;
  bool in_window(uint64_t offset) const { return offset - window_at_ < window_.size(); }
  // What holds the byte, and its place there; null: nothing elsewhere.
  backing* elsewhere(uint64_t offset, uint64_t& at) const {
    const auto behind = parts_.upper_bound(offset);
    if (behind == parts_.begin()) return nullptr;
    const auto& [begin, p] = *std::prev(behind);
    at = offset - begin;
    return at < p.bytes ? p.at.get() : nullptr;
  }
  uint64_t window_at_ = 0;
  std::span<std::byte> window_;
  std::map<uint64_t, part> parts_;
  std::unordered_map<uint64_t, std::unique_ptr<page>> pages_;
};

}  // namespace ggas::mem
