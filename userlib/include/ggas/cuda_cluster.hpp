// SPDX-License-Identifier: Apache-2.0
// The GPUs of this computer as one global address space: provider `cuda`, every GPU driven by this process. Each GPU is
// a node with a segment of its own memory; all segments lie in one reserved range of addresses, so that the window of
// the device API is plain memory (docs/cuda-provider.md). C++20, so that nvcc 12 can include it.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ggas/detail/context.hpp"

namespace ggas {

struct cuda_config {
  int nodes = 0;                     // GPUs to use, the first ones of CUDA's order; 0: all
  size_t segment_bytes = 64u << 20;  // of every node, a multiple of 4 KB
};

class cuda_cluster {
 public:
  // Null if it cannot be made; `why` then names the input or the GPUs and the rule.
  static std::unique_ptr<cuda_cluster> create(const cuda_config& cfg, std::string& why);
  ~cuda_cluster();
  cuda_cluster(const cuda_cluster&) = delete;
  cuda_cluster& operator=(const cuda_cluster&) = delete;

  int nodes() const { return static_cast<int>(contexts_.size()); }
  int device(int node) const { return node; }  // CUDA's number of the node's GPU
  cudaStream_t stream(int node) const { return streams_.at(static_cast<size_t>(node)); }
  // What kernels of a node see; hand it to set_device_context() of the translation unit with the kernels.
  const context& device_context(int node) const { return contexts_.at(static_cast<size_t>(node)); }
  // The segment of a node: device memory of that GPU, mapped for all.
  char* segment(int node) const { return contexts_.at(static_cast<size_t>(node)).local; }

  // Waits until every stream is idle. Empty: all is well; else what went wrong, or which nodes still run after
  // timeout_ns. Kernels that still run are not stopped: CUDA has no way to but ending the process.
  std::string run(uint64_t timeout_ns);

 private:
  explicit cuda_cluster(const cuda_config& cfg) : cfg_(cfg) {}
  std::string choose_devices();
  std::string reserve();
  std::string map(int node);
  std::string open_streams();

  cuda_config cfg_;
  uint64_t window_ = 0, stride_ = 0;             // the reserved range
  std::vector<unsigned long long> allocations_;  // CUmemGenericAllocationHandle, by node
  size_t mapped_ = 0;                            // segments mapped so far
  std::vector<cudaStream_t> streams_;
  std::vector<context> contexts_;
};

}  // namespace ggas
