// SPDX-License-Identifier: Apache-2.0
// What a device address means: the GPU's own memory, or a bus address on the other side of PCIe, or nothing that this
// GPU may touch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/gpu/device.hpp"

namespace ggas::gpu {

enum class region : uint8_t { local, remote, invalid };

class address_map {
 public:
  struct place {
    region where;
    uint64_t bus;  // remote: its bus address
  };
  // Own memory, at the addresses kernels use.
  void own(const void* base, uint64_t bytes) { own_.push_back({uint64_t(base), bytes, 0}); }
  // A range of addresses whose accesses go to `bus` and up over PCIe (NIC window, NIC pages, pinned host memory).
  void aperture(const void* base, uint64_t bytes, uint64_t bus) { remote_.push_back({uint64_t(base), bytes, bus}); }
  // Memory of other GPUs: mapped in this process, but not for this GPU.
  void forbid(const void* base, uint64_t bytes) { forbidden_.push_back({uint64_t(base), bytes, 0}); }

  // Everything else is other memory of the device (what a kernel got from elsewhere, for example results it captured).
  place find(uint64_t addr, uint32_t bytes) const {
    for (const range& r : own_)
      if (r.holds(addr, bytes)) return {region::local, 0};
    for (const range& r : remote_)
      if (r.holds(addr, bytes)) return {region::remote, r.bus + (addr - r.base)};
    if (addr < null_page) return {region::invalid, 0};
    for (const auto* list : {&forbidden_, &remote_})
      for (const range& r : *list)
        if (r.touches(addr, bytes)) return {region::invalid, 0};
    return {region::local, 0};
  }

 private:
  static constexpr uint64_t null_page = 65536;
  struct range {
    uint64_t base = 0, bytes = 0, bus = 0;
    bool holds(uint64_t a, uint32_t n) const { return a - base < bytes && n <= bytes - (a - base); }
    bool touches(uint64_t a, uint32_t n) const { return a < base + bytes && base < a + n; }
  };
  std::vector<range> own_, remote_, forbidden_;
};

// What the kernels of a GPU in its node reach.
inline void attach(address_map& addresses, const surroundings& s) {
  for (const own_memory& m : s.own) addresses.own(m.base, m.bytes);
  for (const mapping& m : s.apertures) addresses.aperture(m.base, m.bytes, m.bus);
  for (const auto& memory : s.forbidden) addresses.forbid(memory.data(), memory.size());
}

}  // namespace ggas::gpu
