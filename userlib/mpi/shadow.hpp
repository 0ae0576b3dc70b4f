// SPDX-License-Identifier: Apache-2.0
// Memory of GPUs in collective calls: host memory of the same shape stands for it in the MPI below.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "userlib/mpi/memory.hpp"
#include "userlib/mpi/mpi.hpp"

namespace ggas::mpi {

// The bytes from the first to the last one that a call accesses, around an address.
class span {
 public:
  // `count` items, `displacement` bytes from the address.
  void add(MPI_Aint displacement, MPI_Count count, MPI_Datatype type);
  bool empty() const { return first_ == end_; }
  MPI_Aint first() const { return first_; }
  uint64_t bytes() const { return static_cast<uint64_t>(end_ - first_); }

 private:
  MPI_Aint first_ = 0, end_ = 0;
};

class shadow {
 public:
  shadow(memory& gpu, char* at, uint64_t bytes, bool written);
  // From the GPU, and back if the call writes it. The error or nothing.
  std::string load();
  std::string store();
  char* copy() const { return static_cast<char*>(copy_.get()); }

 private:
  memory& gpu_;
  char* at_;
  layout piece_;
  staging copy_;
  bool written_;
};

// Of one call. An address of the host stands for itself.
class shadows {
 public:
  shadows(const char* call, MPI_Comm comm) : call_(call), comm_(comm) {}

  void* reads(const void* buffer, const span& all) { return add(buffer, all, false); }
  void* writes(void* buffer, const span& all) { return add(buffer, all, true); }

  bool none() const { return all_.empty(); }
  // Before and after the MPI below works on the copies. MPI_SUCCESS, or an error that was reported.
  int load();
  int store();

 private:
  void* add(const void* buffer, const span& all, bool written);
  int reported(const std::string& wrong);

  const char* call_;
  MPI_Comm comm_;
  std::vector<std::unique_ptr<shadow>> all_;
};

}  // namespace ggas::mpi
