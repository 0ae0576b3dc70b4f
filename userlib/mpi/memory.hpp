// SPDX-License-Identifier: Apache-2.0
// The place of a message's data, and the object that moves them between there and memory from which the MPI below can
// send and into which it can receive.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "userlib/mpi/layout/layout.hpp"

namespace ggas::mpi {

// Host memory for packed data; given back by its destructor.
using staging = std::unique_ptr<void, void (*)(void*)>;

// An allocation in memory of a GPU, as another process of the host opens it. All of it is plain bytes.
struct shared_block {
  unsigned char handle[64];
  uint64_t allocation;    // no other one of its process has this number, also not one at the same place later
  uint64_t first, bytes;  // where it lies in the process that made it

  bool holds(uint64_t at, uint64_t n) const { return at >= first && n <= bytes && at - first <= bytes - n; }
};

// Items, or packed data (no layout), in memory of another process: `at` is their address there.
struct foreign_items {
  int process;
  shared_block in;
  const layout* of;
  uint64_t at, count;
};

class memory {
 public:
  virtual ~memory() = default;

  // Null: there is none.
  virtual staging stage(uint64_t bytes) = 0;
  // The first `bytes` of the packed data. Complete on return; the error or nothing.
  virtual std::string pack(const items& from, uint64_t bytes, void* to) = 0;
  virtual std::string unpack(const items& to, uint64_t bytes, const void* from) = 0;
  // Whether the MPI below cannot reach the data by itself, even where they lie in one piece.
  virtual bool apart() const = 0;

  // The following functions are for GPUs only; others return false. Finds the allocation that contains the address.
  // Returns false if it cannot be given to other processes.
  virtual bool share(const void*, shared_block&) { return false; }
  // Memory of its own, which can be shared; null: there is none.
  virtual void* borrow(uint64_t) { return nullptr; }
  virtual void give_back(void*) {}
  // Whether memory of another process is within reach.
  virtual bool reaches(int, const shared_block&) { return false; }
  // The first `bytes` of the data from there, straight to where they belong. Complete on return; the error or nothing.
  virtual std::string fetch(const items&, uint64_t, const foreign_items&) { return "memory of another process"; }
};

memory& host_memory();
// The GPU whose memory the address is in; null: of none, or no process in this process uses CUDA.
memory* gpu_memory(const void* at);

// The process has loaded the CUDA driver.
bool has_gpu_driver();
// GGAS_MPI_TYPES=host: noncontiguous data in host memory are moved, too.
bool moves_host_memory();

// GGAS_MPI_TYPES, looked at once: the error or nothing.
std::string setting_error();

}  // namespace ggas::mpi
