// SPDX-License-Identifier: Apache-2.0
#include "userlib/cluster/providers/cuda/memory.hpp"

#include <fcntl.h>

#include <cstring>
#include <vector>

namespace ggas::userlib {

namespace {

CUmemAllocationHandleType handle_type(passing p) {
  return p == passing::file     ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
         : p == passing::fabric ? CU_MEM_HANDLE_TYPE_FABRIC
                                : CU_MEM_HANDLE_TYPE_NONE;
}

CUmemAllocationProp memory_of(int device, passing p) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = device;
  prop.requestedHandleTypes = handle_type(p);
  return prop;
}

// "; of its 151000000000 bytes 12000000000 are free"
std::string free_memory(int device) {
  size_t free = 0, total = 0;
  if (!GGAS_RUNTIME("", cudaSetDevice, device) || !GGAS_RUNTIME("", cudaMemGetInfo, &free, &total)) return {};
  return "; of its " + std::to_string(total) + " bytes " + std::to_string(free) + " are free";
}

// Before an error of the driver's, when GPUs were hidden from those who asked whether they reach each other.
std::string not_reached(std::span<const int> devices) {
  std::string text = "GPU";
  for (int d : devices) text.append(1, ' ').append(std::to_string(d));
  return text + " cannot reach this memory, neither by NVLink nor by PCIe peer access: ";
}

}  // namespace

attempt<passing> passing_of(int device) {
  const auto has = [&](CUdevice_attribute a) -> attempt<bool> {
    int value = 0;
    const CUresult r = driver::get().cuDeviceGetAttribute(&value, a, device);
    if (r == CUDA_ERROR_INVALID_VALUE) return false;  // the driver is older than the attribute
    if (auto ok = worked("what GPU " + std::to_string(device) + " is able to do", "cuDeviceGetAttribute", r); !ok)
      return std::unexpected(ok.error());
    return value != 0;
  };
  const auto vmm = has(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
  if (!vmm) return std::unexpected(vmm.error());
  if (!*vmm) return std::unexpected("GPU " + std::to_string(device) + " has no virtual memory management");
  const auto by_file = has(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
  if (!by_file) return std::unexpected(by_file.error());
  if (*by_file) return passing::file;
  const auto by_fabric = has(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED);
  if (!by_fabric) return std::unexpected(by_fabric.error());
  return *by_fabric ? passing::fabric : passing::none;
}

attempt<size_t> granularity_of(int device, passing p) {
  const CUmemAllocationProp prop = memory_of(device, p);
  size_t bytes = 0;
  if (auto ok = GGAS_DRIVER("granularity of memory", cuMemGetAllocationGranularity, &bytes, &prop,
                            CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
      !ok)
    return std::unexpected(ok.error());
  return bytes;
}

// ---------------------------------------------------------------------------------------------- physical memory

attempt<gpu_memory> gpu_memory::make(int device, size_t bytes, passing p, reached_by by) {
  CUmemAllocationProp prop = memory_of(device, p);
  prop.allocFlags.gpuDirectRDMACapable = by == reached_by::nics;
  CUmemGenericAllocationHandle handle = 0;
  const CUresult r = driver::get().cuMemCreate(&handle, bytes, &prop, 0);
  if (auto ok =
          worked("a segment of " + std::to_string(bytes) + " bytes on GPU " + std::to_string(device), "cuMemCreate", r);
      !ok)
    return std::unexpected(ok.error() + (r == CUDA_ERROR_OUT_OF_MEMORY ? free_memory(device) : ""));
  return gpu_memory(handle);
}

attempt<gpu_memory::ticket> gpu_memory::pass_on(passing p) const {
  ticket t;
  int fd = -1;
  CUmemFabricHandle fabric{};
  void* const to = p == passing::file ? static_cast<void*>(&fd) : &fabric;
  if (auto ok = GGAS_DRIVER("passing memory on", cuMemExportToShareableHandle, to, handle_, handle_type(p), 0); !ok)
    return std::unexpected(ok.error());
  t.handle = file(fd);
  // A program that another thread starts meanwhile would keep the memory for as long as it runs.
  if (p == passing::file) fcntl(fd, F_SETFD, FD_CLOEXEC);
  if (p == passing::fabric) t.bytes.assign(reinterpret_cast<const char*>(&fabric), sizeof fabric);
  return t;
}

attempt<gpu_memory> gpu_memory::take_over(const ticket& t, passing p) {
  CUmemFabricHandle fabric{};
  if (p == passing::file ? !t.handle : t.bytes.size() != sizeof fabric)
    return std::unexpected(std::string("there is no handle of another process's memory"));
  std::memcpy(&fabric, t.bytes.data(), t.bytes.size() == sizeof fabric ? sizeof fabric : 0);
  // A file descriptor is passed as the pointer itself.
  void* const from =
      p == passing::file ? reinterpret_cast<void*>(static_cast<intptr_t>(t.handle.fd())) : static_cast<void*>(&fabric);
  CUmemGenericAllocationHandle handle = 0;
  if (auto ok = GGAS_DRIVER("taking over another process's memory", cuMemImportFromShareableHandle, &handle, from,
                            handle_type(p));
      !ok)
    return std::unexpected(ok.error());
  return gpu_memory(handle);
}

gpu_memory::~gpu_memory() {
  if (handle_) driver::get().cuMemRelease(handle_);
}

// ---------------------------------------------------------------------------------------------- addresses

attempt<address_range> address_range::reserve(size_t bytes, size_t alignment) {
  CUdeviceptr base = 0;
  if (auto ok = GGAS_DRIVER(std::to_string(bytes) + " bytes of addresses for all segments", cuMemAddressReserve, &base,
                            bytes, alignment, 0, 0);
      !ok)
    return std::unexpected(ok.error());
  return address_range(base, bytes);
}

address_range::~address_range() {
  if (base_) driver::get().cuMemAddressFree(base_, bytes_);
}

attempt<mapping> mapping::map(gpu_memory memory, CUdeviceptr at, size_t bytes, std::span<const int> devices) {
  if (auto ok = GGAS_DRIVER("mapping of a segment", cuMemMap, at, bytes, 0, memory.handle(), 0); !ok)
    return std::unexpected(ok.error());
  mapping m(std::move(memory), at, bytes);
  std::vector<CUmemAccessDesc> access;
  for (int d : devices) {
    CUmemAccessDesc& a = access.emplace_back();
    a.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    a.location.id = d;
    a.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  }
  const CUresult r = driver::get().cuMemSetAccess(at, bytes, access.data(), access.size());
  if (auto ok = worked("access to a segment", "cuMemSetAccess", r); !ok)
    return std::unexpected(r == CUDA_ERROR_INVALID_DEVICE ? not_reached(devices) + ok.error() : ok.error());
  return m;
}

mapping::~mapping() {
  if (at_) driver::get().cuMemUnmap(at_, bytes_);
}

}  // namespace ggas::userlib
