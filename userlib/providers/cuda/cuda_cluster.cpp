// SPDX-License-Identifier: Apache-2.0
#include "ggas/cuda_cluster.hpp"

#include <cuda.h>

#include <chrono>
#include <thread>

#include "ggas/detail/layout.hpp"

namespace ggas {

namespace {

std::string text(CUresult r) {
  const char* name = nullptr;
  const char* words = nullptr;
  cuGetErrorName(r, &name);
  cuGetErrorString(r, &words);
  return std::string(name ? name : "CUDA error") + ": " + (words ? words : "no description");
}

std::string text(cudaError_t e) { return std::string(cudaGetErrorName(e)) + ": " + cudaGetErrorString(e); }

template <class R>
std::string failed(const char* what, R r) {
  return std::string(what) + ": " + text(r);
}

CUmemAllocationProp memory_of(int device) {
  CUmemAllocationProp p{};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  p.location.id = device;
  return p;
}

std::string check(const cuda_config& cfg) {
  if (cfg.nodes < 0) return "nodes = " + std::to_string(cfg.nodes) + ": must be 0 (all GPUs) or more";
  if (cfg.segment_bytes % 4096 != 0)
    return "segment_bytes = " + std::to_string(cfg.segment_bytes) + ": must be a multiple of 4096";
  return {};
}

}  // namespace

std::unique_ptr<cuda_cluster> cuda_cluster::create(const cuda_config& cfg, std::string& why) {
  why = check(cfg);
  if (!why.empty()) return nullptr;
  std::unique_ptr<cuda_cluster> c(new cuda_cluster(cfg));
  why = c->choose_devices();
  if (why.empty()) why = c->reserve();
  for (int n = 0; why.empty() && n < c->cfg_.nodes; ++n) why = c->map(n);
  if (why.empty()) why = c->open_streams();
  return why.empty() ? std::move(c) : nullptr;
}

// Every GPU must be able to name the memory of every other one.
std::string cuda_cluster::choose_devices() {
  // Kernels are loaded now: loading one while another GPU spins in a kernel could wait for ever.
  if (CUresult r = cuInit(0); r != CUDA_SUCCESS) return failed("CUDA driver", r);
  int count = 0;
  if (cudaError_t e = cudaGetDeviceCount(&count); e != cudaSuccess) return failed("GPUs", e);
  if (cfg_.nodes == 0) cfg_.nodes = count;
  if (cfg_.nodes > count)
    return "nodes = " + std::to_string(cfg_.nodes) + ": this computer has " + std::to_string(count) + " GPUs";
  const auto least = layout::smallest_segment(static_cast<uint64_t>(cfg_.nodes));
  if (cfg_.segment_bytes < least)
    return "segment_bytes = " + std::to_string(cfg_.segment_bytes) + ": " + std::to_string(cfg_.nodes) +
           " nodes need at least " + std::to_string(least) + " (the library's reserved area and a page)";
  for (int a = 0; a < cfg_.nodes; ++a) {
    for (int b = 0; b < cfg_.nodes; ++b) {
      int can = a == b;
      if (cudaError_t e = a == b ? cudaSuccess : cudaDeviceCanAccessPeer(&can, a, b); e != cudaSuccess)
        return failed("peer access", e);
      if (!can)
        return "GPU " + std::to_string(a) + " cannot reach the memory of GPU " + std::to_string(b) +
               " (no NVLink or PCIe peer access between them)";
    }
    if (cudaError_t e = cudaSetDevice(a); e != cudaSuccess) return failed("GPU", e);
    if (cudaError_t e = cudaFree(nullptr); e != cudaSuccess) return failed("GPU", e);  // makes its context
  }
  return {};
}

std::string cuda_cluster::reserve() {
  size_t granularity = 1;
  for (int n = 0; n < cfg_.nodes; ++n) {
    const CUmemAllocationProp p = memory_of(device(n));
    size_t g = 0;
    if (CUresult r = cuMemGetAllocationGranularity(&g, &p, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED); r != CUDA_SUCCESS)
      return failed("virtual memory management (CUDA 11.2 or later)", r);
    if (g > granularity) granularity = g;
  }
  stride_ = (cfg_.segment_bytes + granularity - 1) / granularity * granularity;
  CUdeviceptr base = 0;
  if (CUresult r = cuMemAddressReserve(&base, stride_ * static_cast<size_t>(cfg_.nodes), granularity, 0, 0);
      r != CUDA_SUCCESS)
    return failed("addresses for all segments", r);
  window_ = base;
  return {};
}

// Segment `node`: memory of its GPU at its interval of the window, readable and writable by all GPUs.
std::string cuda_cluster::map(int node) {
  const CUmemAllocationProp p = memory_of(device(node));
  CUmemGenericAllocationHandle handle = 0;
  if (CUresult r = cuMemCreate(&handle, stride_, &p, 0); r != CUDA_SUCCESS)
    return failed(("a segment of " + std::to_string(stride_) + " bytes on GPU " + std::to_string(node)).c_str(), r);
  allocations_.push_back(handle);
  const CUdeviceptr at = window_ + stride_ * static_cast<uint64_t>(node);
  if (CUresult r = cuMemMap(at, stride_, 0, handle, 0); r != CUDA_SUCCESS) return failed("cuMemMap", r);
  ++mapped_;
  std::vector<CUmemAccessDesc> access(static_cast<size_t>(cfg_.nodes));
  for (int n = 0; n < cfg_.nodes; ++n)
    access[static_cast<size_t>(n)] = {{CU_MEM_LOCATION_TYPE_DEVICE, device(n)}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  if (CUresult r = cuMemSetAccess(at, stride_, access.data(), access.size()); r != CUDA_SUCCESS)
    return failed("access of all GPUs to a segment", r);

  context c{};
  c.node = node;
  c.nodes = cfg_.nodes;
  c.window = reinterpret_cast<char*>(window_);
  c.stride = stride_;
  c.local = reinterpret_cast<char*>(at);
  c.segment_bytes = cfg_.segment_bytes;
  c.tuned = tuning::usual();
  c.reserved = layout::reserved_bytes(static_cast<uint64_t>(cfg_.nodes), cfg_.segment_bytes);
  contexts_.push_back(c);
  return {};
}

std::string cuda_cluster::open_streams() {
  for (int n = 0; n < cfg_.nodes; ++n) {
    cudaStream_t s = nullptr;
    if (cudaError_t e = cudaSetDevice(device(n)); e != cudaSuccess) return failed("GPU", e);
    if (cudaError_t e = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); e != cudaSuccess)
      return failed("stream", e);
    streams_.push_back(s);
    if (cudaError_t e = cudaMemsetAsync(segment(n), 0, stride_, s); e != cudaSuccess) return failed("segment", e);
  }
  return run(60'000'000'000);
}

std::string cuda_cluster::run(uint64_t timeout_ns) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout_ns);
  for (;;) {
    std::string waiting;
    for (int n = 0; n < nodes(); ++n) {
      const cudaError_t e = cudaStreamQuery(stream(n));
      if (e == cudaErrorNotReady)
        waiting += " " + std::to_string(n);
      else if (e != cudaSuccess)
        return failed(("GPU " + std::to_string(n)).c_str(), e);
    }
    if (waiting.empty()) return {};
    if (std::chrono::steady_clock::now() >= end)
      return "kernels still run after " + std::to_string(timeout_ns) + " ns on nodes" + waiting;
    std::this_thread::yield();
  }
}

cuda_cluster::~cuda_cluster() {
  for (size_t n = 0; n < streams_.size(); ++n) {
    cudaSetDevice(device(static_cast<int>(n)));
    cudaStreamDestroy(streams_[n]);
  }
  for (size_t n = 0; n < mapped_; ++n) cuMemUnmap(window_ + stride_ * n, stride_);
  for (auto handle : allocations_) cuMemRelease(handle);
  if (window_) cuMemAddressFree(window_, stride_ * static_cast<size_t>(cfg_.nodes));
}

}  // namespace ggas
