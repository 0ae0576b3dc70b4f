// SPDX-License-Identifier: Apache-2.0
// A range of addresses of this process: memory that costs nothing until it is used, or addresses without memory. A
// margin without memory is on both sides, so that an index just outside does not reach other memory.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <span>
#include <utility>

namespace ggas::userlib {

class reservation {
 public:
  reservation() = default;
  // `accessible` false: a native access faults; such a range only names places elsewhere.
  reservation(size_t bytes, bool accessible) : bytes_(bytes) {
    void* p = mmap(nullptr, outer_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return;
    outer_ = static_cast<std::byte*>(p);
    if (accessible && mprotect(base(), bytes, PROT_READ | PROT_WRITE) != 0) release();
  }
  ~reservation() { release(); }
  reservation(reservation&& o) noexcept
      : outer_(std::exchange(o.outer_, nullptr)), bytes_(std::exchange(o.bytes_, 0)) {}
  reservation& operator=(reservation&& o) noexcept {
    std::swap(outer_, o.outer_);
    std::swap(bytes_, o.bytes_);
    return *this;
  }

  explicit operator bool() const { return outer_ != nullptr; }
  std::byte* base() const { return outer_ + margin; }
  size_t bytes() const { return bytes_; }
  // With the margins.
  static constexpr size_t margin = 16 << 20;
  std::byte* outer() const { return outer_; }
  size_t outer_bytes() const { return bytes_ + 2 * margin; }

 private:
  void release() {
    if (outer_) munmap(outer_, outer_bytes());
    outer_ = nullptr;
  }
  std::byte* outer_ = nullptr;
  size_t bytes_ = 0;
};

// A range of addresses that many parts are taken of, each with margins.
class arena {
 public:
  arena() = default;
  // For `parts` parts of `bytes` bytes together.
  arena(size_t bytes, size_t parts) : all_(bytes + parts * (reservation::margin + page), false) {}
  explicit operator bool() const { return bool(all_); }
  // nullptr: no room, or no memory.
  std::byte* take(size_t bytes, bool accessible) {
    const size_t at = used_, whole = (bytes + page - 1) / page * page;
    if (!all_ || whole > all_.bytes() - at) return nullptr;
    used_ += whole + reservation::margin;
    std::byte* const p = all_.base() + at;
    return !accessible || mprotect(p, whole, PROT_READ | PROT_WRITE) == 0 ? p : nullptr;
  }
  // With the margins.
  std::span<std::byte> outer() const { return {all_.outer(), all_.outer_bytes()}; }

 private:
  static constexpr size_t page = 4096;
  reservation all_;
  size_t used_ = 0;
};

}  // namespace ggas::userlib
