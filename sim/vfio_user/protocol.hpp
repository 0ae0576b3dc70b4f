// SPDX-License-Identifier: Apache-2.0
// The vfio-user protocol on the wire (version 0.0, QEMU's docs/interop/vfio-user): a header of 16 bytes, then a body by
// command. Little endian, as every supported host. Structures of Linux' VFIO keep their indices.
#pragma once

#include <cstdint>

namespace ggas::device::wire {

enum class command : uint16_t {
  version = 1,
  dma_map = 2,
  dma_unmap = 3,
  device_get_info = 4,
  region_get_info = 5,
  region_get_io_fds = 6,
  irq_get_info = 7,
  set_irqs = 8,
  region_read = 9,
  region_write = 10,
  dma_read = 11,   // server to client
  dma_write = 12,  // server to client
  device_reset = 13,
  region_write_multi = 15,
};

// Bits of header::flags.
inline constexpr uint32_t type_mask = 0xf, type_command = 0, type_reply = 1, no_reply = 1 << 4, error_bit = 1 << 5;

struct header {
  uint16_t id;
  uint16_t command;
  uint32_t bytes;  // of the whole message
  uint32_t flags;
  uint32_t error;  // errno, in replies with error_bit
};

inline constexpr uint32_t data_limit = 1 << 20;  // bytes of data in one message: max_data_xfer_size
inline constexpr uint32_t message_limit = sizeof(header) + 64 + data_limit;
inline constexpr unsigned file_limit = 16;  // file descriptors in one message: max_msg_fds

struct version {
  uint16_t major, minor;  // then JSON with its terminating zero
};

inline constexpr uint32_t dma_readable = 1, dma_writable = 2, dma_by_mmap = 4, dma_by_file = 8;
struct dma_map {
  uint32_t argsz, flags;
  uint64_t offset, address, size;
};
struct dma_unmap {
  uint32_t argsz, flags;
  uint64_t address, size;
};

inline constexpr uint32_t device_resets = 1, device_is_pci = 2;
struct device_info {
  uint32_t argsz, flags, regions, irqs;
};

// Regions and interrupts of a PCI device, as VFIO numbers them.
inline constexpr uint32_t region_bar0 = 0, region_rom = 6, region_config = 7, region_count = 9;
inline constexpr uint32_t irq_msix = 2, irq_count = 5;

inline constexpr uint32_t region_readable = 1, region_writable = 2;
struct region_info {
  uint32_t argsz, flags, index, cap_offset;
  uint64_t size, offset;
};

inline constexpr uint32_t irq_by_eventfd = 1, irq_no_resize = 8;
struct irq_info {
  uint32_t argsz, flags, index, count;
};

inline constexpr uint32_t irq_data_none = 1, irq_data_bool = 2, irq_data_eventfd = 4;
inline constexpr uint32_t irq_mask = 8, irq_unmask = 16, irq_trigger = 32;
struct irq_set {
  uint32_t argsz, flags, index, start, count;  // then a byte for each with irq_data_bool
};

struct region_access {
  uint64_t offset;
  uint32_t region, count;  // then the data
};
struct region_write_multi {
  uint64_t offset;
  uint32_t region, count;
  uint8_t data[8];
};
struct dma_access {
  uint64_t address, count;  // then the data
};

}  // namespace ggas::device::wire
