// SPDX-License-Identifier: Apache-2.0
// Layout of a node's memory: the segment, the areas of the NIC's contexts in GPU memory and in host memory, pinned host
// memory. The same on every node. GPUs of a computer have the same, in sequence: BARs on the bus, host memory of all
// and then rings of all, contexts of the NIC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ggas/cluster.hpp"

namespace ggas::userlib {

inline constexpr uint16_t cluster_domain = 1;  // all contexts and nodes of a cluster trust each other

// One context: places of its parts in the GPU's or the host's area of rings.
struct context_plan {
  struct part {
    queue_config::place where = queue_config::place::none;
    size_t offset = 0;
  };
  unsigned vpid;
  part notifications, status, work_queue, mailbox, words;
};

struct memory_plan {
  explicit memory_plan(const cluster_config& cfg);

  unsigned segment_class, host_class;  // of their network logical addresses (docs/rma.md)
  size_t segment_bytes, host_bytes;    // rounded up to their pages
  size_t gpu_rings_bytes;              // whole pages, also where there is none
  size_t collectives_at;               // of these: results of the NIC's unit for collectives, and their flag
  size_t host_rings_bytes;             // after host_bytes
  size_t bar_bytes() const;            // of the GPU: segment in the lower half, rings in the upper
  // In pinned memory of a computer with so many GPUs.
  size_t pinned_bytes(unsigned gpus) const { return gpus * (host_bytes + host_rings_bytes); }
  size_t host_at(unsigned gpu) const { return gpu * host_bytes; }
  size_t host_rings_at(unsigned gpus, unsigned gpu) const { return gpus * host_bytes + gpu * host_rings_bytes; }
  std::vector<context_plan> kernels, programs;
};

constexpr size_t page_bytes_of_class(unsigned c) { return size_t{1} << (c == 0 ? 12 : c == 1 ? 16 : c == 2 ? 21 : 30); }
inline constexpr unsigned first_program_vpid = 128;
inline constexpr size_t collectives_bytes = 1024;

}  // namespace ggas::userlib
