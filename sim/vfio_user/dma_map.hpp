// SPDX-License-Identifier: Apache-2.0
// The guest's addresses that a device may access: windows that the client maps and unmaps. A window with a file
// descriptor is memory of this process, too; others are accessed by messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "sim/vfio_user/message.hpp"

namespace ggas::device {

class dma_map {
 public:
  struct window {
    uint64_t address, size;
    uint32_t flags;    // wire::dma_readable, wire::dma_writable
    std::byte* bytes;  // nullptr: by messages
  };
  static constexpr size_t window_limit = 65535;

  dma_map() = default;
  dma_map(const dma_map&) = delete;
  dma_map& operator=(const dma_map&) = delete;
  ~dma_map() { clear(); }

  // 0, or the errno that the protocol names: EINVAL, EEXIST (overlaps), ENOMEM, or why the file could not be mapped.
  int map(const wire::dma_map& request, const file* from);
  // Releases every window in a range: a client with an IOMMU maps page by page, and unmaps many at once. Returns 0;
  // ENOENT: there is no window in the range; EINVAL: the range cuts a window, and none is released.
  int unmap(uint64_t address, uint64_t size);
  void clear();

  // The window that holds all of these bytes and allows the access; nullptr: none.
  const window* find(uint64_t address, uint64_t bytes, bool write) const;
  size_t size() const { return windows_.size(); }

 private:
  std::map<uint64_t, window> windows_;  // by address, disjoint
};

// Copies to or from memory that a guest reads at the same time: whole aligned words of 8 bytes at once, in ascending
// order, so a word written last is seen last. Returns false if the client has shortened the file, so that the memory is
// gone.
bool copy_to_guest(std::byte* to, std::span<const std::byte> from);
bool copy_from_guest(std::span<std::byte> to, const std::byte* from);

}  // namespace ggas::device
