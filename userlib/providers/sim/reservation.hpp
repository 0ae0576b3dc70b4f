// SPDX-License-Identifier: Apache-2.0
// A range of addresses of this process: memory that costs nothing until touched, or addresses without memory.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <utility>

namespace ggas::userlib {

class reservation {
 public:
  reservation() = default;
  // `accessible` false: a native access faults; such a range only names places elsewhere.
  reservation(size_t bytes, bool accessible) : bytes_(bytes) {
    void* p = mmap(nullptr, bytes, accessible ? PROT_READ | PROT_WRITE : PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    base_ = p == MAP_FAILED ? nullptr : static_cast<std::byte*>(p);
  }
  ~reservation() {
    if (base_) munmap(base_, bytes_);
  }
  reservation(reservation&& o) noexcept : base_(std::exchange(o.base_, nullptr)), bytes_(std::exchange(o.bytes_, 0)) {}
  reservation& operator=(reservation&& o) noexcept {
    std::swap(base_, o.base_);
    std::swap(bytes_, o.bytes_);
    return *this;
  }

  explicit operator bool() const { return base_ != nullptr; }
  std::byte* base() const { return base_; }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace ggas::userlib
