// SPDX-License-Identifier: Apache-2.0
// Where the data of a message lie, and what moves them between there and memory that the MPI below can send from and
// receive into.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "userlib/mpi/layout.hpp"

namespace ggas::mpi {

// Host memory for packed data; given back by its destructor.
using staging = std::unique_ptr<void, void (*)(void*)>;

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
};

memory& host_memory();
// The GPU whose memory the address is in; null: of none, or nobody in this process uses CUDA.
memory* gpu_memory(const void* at);

// Who moves these data; null: they are left to the MPI below. GGAS_MPI_TYPES=host: data in host memory are taken too,
// where they lie in pieces.
memory* mover_of(const items& i);

// GGAS_MPI_TYPES, looked at once: the error or nothing.
std::string setting_error();

}  // namespace ggas::mpi
