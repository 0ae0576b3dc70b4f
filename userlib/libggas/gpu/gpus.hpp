// SPDX-License-Identifier: Apache-2.0
// What the core needs of a transport for segments of GPUs. A transport without any has none of this.
#pragma once

#include "userlib/libggas/base/transport.hpp"
#include "userlib/libggas/gpu/device.hpp"

namespace ggas::library {

class gpus {
 public:
  virtual ~gpus() = default;
  // Called by all ranks, once: every rank gives memory of a GPU. The first `kept` bytes are never given out.
  virtual ggas_rc open(const job& j, const char* module, int number, uint64_t bytes, uint64_t kept) = 0;
  // Null before.
  virtual gpu::own_gpu* device() = 0;
  virtual uint64_t bytes() const = 0;
  virtual uint64_t kept() const = 0;
  // bound: memory of the user on the GPU; null: new memory, filled with 0.
  virtual ggas_rc segment_open(unsigned segment, uint64_t bytes, void* bound) = 0;
  // Where a segment begins in the memory of its rank.
  virtual ggas_rc segment_place(unsigned segment, unsigned rank, uint64_t& offset) = 0;
  // Its notification slots for kernels.
  virtual ggas_rc segment_slots(unsigned segment, unsigned rank, uint32_t*& slots) = 0;
  virtual ggas_rc write_staged(const place& to, const void* from, uint64_t bytes, unsigned queue, uint64_t chunk,
                               limit until) = 0;
  virtual bool holds(const void* at) const = 0;  // memory of a GPU, by address
};

}  // namespace ggas::library
