// SPDX-License-Identifier: Apache-2.0
// Memory of GPUs by the driver's virtual memory management: physical memory, ranges of addresses, and mappings. Each
// object releases its resources.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "userlib/cluster/providers/cuda/driver.hpp"

namespace ggas::userlib {

// How a process passes memory on to others.
enum class passing : int { none, file, fabric };
// Who reads and writes memory: NICs of the computer too, or GPUs alone.
enum class reached_by : int { gpus, nics };

// What a GPU is able to do; `none`: it cannot pass memory on.
attempt<passing> passing_of(int device);
attempt<size_t> granularity_of(int device, passing p);

// Physical memory: of a GPU here, or taken over from another process.
class gpu_memory {
 public:
  static attempt<gpu_memory> make(int device, size_t bytes, passing p, reached_by by = reached_by::gpus);
  // What another process needs to take it over: a file descriptor or some bytes.
  struct ticket {
    file handle;
    std::string bytes;
  };
  attempt<ticket> pass_on(passing p) const;
  static attempt<gpu_memory> take_over(const ticket& t, passing p);

  gpu_memory(gpu_memory&& o) noexcept : handle_(std::exchange(o.handle_, 0)) {}
  gpu_memory& operator=(gpu_memory&&) = delete;
  ~gpu_memory();
  CUmemGenericAllocationHandle handle() const { return handle_; }

 private:
  explicit gpu_memory(CUmemGenericAllocationHandle h) : handle_(h) {}
  CUmemGenericAllocationHandle handle_;  // 0: none
};

// Addresses with nothing after them.
class address_range {
 public:
  static attempt<address_range> reserve(size_t bytes, size_t alignment);
  address_range(address_range&& o) noexcept : base_(std::exchange(o.base_, 0)), bytes_(o.bytes_) {}
  address_range& operator=(address_range&&) = delete;
  ~address_range();
  CUdeviceptr base() const { return base_; }

 private:
  address_range(CUdeviceptr base, size_t bytes) : base_(base), bytes_(bytes) {}
  CUdeviceptr base_;
  size_t bytes_;
};

// Memory at addresses, readable and writable by some GPUs. The range of addresses must outlive it.
class mapping {
 public:
  static attempt<mapping> map(gpu_memory memory, CUdeviceptr at, size_t bytes, std::span<const int> devices);
  mapping(mapping&& o) noexcept : memory_(std::move(o.memory_)), at_(std::exchange(o.at_, 0)), bytes_(o.bytes_) {}
  mapping& operator=(mapping&&) = delete;
  ~mapping();

 private:
  mapping(gpu_memory m, CUdeviceptr at, size_t bytes) : memory_(std::move(m)), at_(at), bytes_(bytes) {}
  gpu_memory memory_;
  CUdeviceptr at_;
  size_t bytes_;
};

}  // namespace ggas::userlib
