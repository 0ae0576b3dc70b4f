// SPDX-License-Identifier: Apache-2.0
// PCI configuration space of the NIC, 4 KB: header, power management, PCI Express (with function-level reset), MSI-X,
// advanced error reporting. On an FPGA a hard block provides it (docs/tlp-boundary.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace ggas::device {

inline constexpr uint16_t pci_vendor = 0x1209,
                          pci_device = 0x4747;  // pid.codes, for tests: no number is registered yet
inline constexpr unsigned msix_vectors = 16;

struct bar_sizes {
  uint64_t registers, window, pages;  // BAR0, BAR2, BAR4, bytes, powers of two
};

class config_space {
 public:
  static constexpr size_t bytes = 4096;

  explicit config_space(unsigned mps_bytes);

  // False: outside of the 4 KB.
  bool read(uint64_t offset, std::span<std::byte> to) const;
  bool write(uint64_t offset, std::span<const std::byte> from);
  // To the values of power-on. Not called by an access: see on_reset.
  void reset();

  bool bus_master() const;
  // A function-level reset was asked for.
  std::function<void()> on_reset;

 private:
  void set(unsigned at, uint64_t value, unsigned size, uint64_t writable = 0, uint64_t clear_by_one = 0);
  void header();
  void capabilities();

  unsigned mps_;
  std::array<uint8_t, bytes> value_{}, writable_{}, clear_by_one_{};
};

}  // namespace ggas::device
