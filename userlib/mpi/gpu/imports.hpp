// SPDX-License-Identifier: Apache-2.0
// Memory of GPUs that processes share: memory of other processes (opened once, and kept, because opening takes the
// driver a good part of a millisecond), and blocks of the library. A CUDA context is current in all calls.
#pragma once

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "userlib/mpi/gpu/driver.hpp"
#include "userlib/mpi/memory.hpp"

namespace ggas::mpi {

class imports {
 public:
  explicit imports(const driver& d) : d_(d) {}

  // Where an allocation of another process is here; the error or nothing. It stays there until the next call.
  std::string open(int process, const shared_block& b, CUdeviceptr& at);

 private:
  struct one {
    uint64_t allocation, used;
    CUdeviceptr at;
  };
  using map = std::map<std::pair<int, uint64_t>, one>;  // process, and the address there
  void close(map::iterator i);

  const driver& d_;
  uint64_t calls_ = 0;
  map open_;
};

class exports {
 public:
  explicit exports(const driver& d) : d_(d) {}

  // False: the driver does not give it to other processes.
  bool describe(const void* at, shared_block& b);
  void* borrow(uint64_t bytes);
  void give_back(void* at);

 private:
  const driver& d_;
  std::mutex lock_;
  std::map<uint64_t, std::pair<bool, shared_block>> known_;  // by the allocation's number
  std::map<void*, uint64_t> sizes_;                          // of the own blocks
  std::map<uint64_t, std::vector<void*>> unused_;            // by size, a power of two
};

}  // namespace ggas::mpi
