// SPDX-License-Identifier: Apache-2.0
// Sparse byte memory; never written bytes are a function of their address, so a read from the wrong place shows.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace ggas::test {

class memory {
 public:
  uint8_t load8(uint64_t addr) const {
    const auto it = pages_.find(addr >> 12);
    return it == pages_.end() ? background(addr) : (*it->second)[addr & 0xfff];
  }
  void store8(uint64_t addr, uint8_t v) { page(addr >> 12)[addr & 0xfff] = v; }
  uint32_t load32(uint64_t addr) const {
    uint32_t v = 0;
    for (unsigned i = 0; i < 4; ++i) v |= uint32_t{load8(addr + i)} << 8 * i;
    return v;
  }
  uint64_t load64(uint64_t addr) const { return load32(addr) | uint64_t{load32(addr + 4)} << 32; }
  void store32(uint64_t addr, uint32_t v, unsigned be) {
    for (unsigned i = 0; i < 4; ++i)
      if (be >> i & 1) store8(addr + i, uint8_t(v >> 8 * i));
  }

  static uint8_t background(uint64_t addr) { return uint8_t((addr * 0x9e3779b97f4a7c15ull) >> 56); }

  // Calls f(address of the page) for every page ever written.
  template <class F>
  void for_each_page(F&& f) const {
    for (const auto& [n, p] : pages_) f(n << 12);
  }

 private:
  using page_t = std::array<uint8_t, 4096>;
  page_t& page(uint64_t n) {
    auto& p = pages_[n];
    if (!p) {
      p = std::make_unique<page_t>();
      for (unsigned i = 0; i < 4096; ++i) (*p)[i] = background((n << 12) + i);
    }
    return *p;
  }
  std::unordered_map<uint64_t, std::unique_ptr<page_t>> pages_;
};

}  // namespace ggas::test
