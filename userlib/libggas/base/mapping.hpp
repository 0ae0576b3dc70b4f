// SPDX-License-Identifier: Apache-2.0
// Pages of a file or a dma-buf in this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "userlib/libggas/base/fail.hpp"

namespace ggas::library {

class mapping {
 public:
  mapping() = default;
  mapping(mapping&& m) noexcept : at_(std::exchange(m.at_, nullptr)), bytes_(m.bytes_) {}
  mapping& operator=(mapping&& m) noexcept {
    std::swap(at_, m.at_);
    std::swap(bytes_, m.bytes_);
    return *this;
  }
  ~mapping();
  // Bytes offset ... offset + bytes - 1, all of which are there.
  ggas_rc map(int fd, uint64_t offset, uint64_t bytes);
  void* at() const { return at_; }

 private:
  void* at_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace ggas::library
