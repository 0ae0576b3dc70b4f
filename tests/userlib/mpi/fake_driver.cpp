// SPDX-License-Identifier: Apache-2.0
// The CUDA driver's functions that the library and its tests call, without a GPU: a libcuda.so.1. Its "memory of a GPU"
// is inaccessible except during calls of this driver, so an MPI that accesses it dies. Kernels are those of the
// library, run by one thread of the host. Other processes open its memory by handles (FAKE_DRIVER_IPC=none: by none).
// Threads need a context, and a copy from the host's memory is late, as with the real one.
#include <cuda.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "userlib/mpi/gpu/kernels.cuh"

// Accesses of the one thread that kernels have here, at once.
namespace ggas::simt {

static access one;
access& begin_access(op kind) {
  one.kind = kind;
  return one;
}
void perform() {
  if (one.kind == op::load) std::memcpy(one.data.data(), one.addr, one.size);
  if (one.kind == op::store) std::memcpy(one.addr, one.data.data(), one.size);
}
void sync_warp(uint32_t) {}

}  // namespace ggas::simt

namespace {

std::recursive_mutex lock;
std::map<uintptr_t, size_t> of_gpu, pinned;  // blocks of memory by their beginning

// What makes a block of the GPU: a file, which other processes find below /proc.
struct backing {
  int file;
  unsigned long long number;  // of the allocation
};
std::map<uintptr_t, backing> backings;  // of the own blocks
struct ipc_handle {
  int process, file;
  uint64_t bytes, inode;
};
static_assert(sizeof(ipc_handle) <= sizeof(CUipcMemHandle));

size_t most_pinned = 0;
size_t pinned_now() {
  size_t all = 0;
  for (const auto& [at, bytes] : pinned) all += bytes;
  return all;
}

char* block_of(const std::map<uintptr_t, size_t>& all, uintptr_t at) {
  auto b = all.upper_bound(at);
  if (b == all.begin()) return nullptr;
  --b;
  return at < b->first + b->second ? reinterpret_cast<char*>(b->first) : nullptr;
}

void protect(int how) {
  for (const auto& [at, bytes] : of_gpu) mprotect(reinterpret_cast<void*>(at), bytes, how);
}

// While one lives the processor plays the GPU.
struct within_reach {
  within_reach() { protect(PROT_READ | PROT_WRITE); }
  ~within_reach() { protect(PROT_NONE); }
  std::lock_guard<std::recursive_mutex> one_at_a_time{lock};
};

// Copies from pageable memory that have ended for the program but have not arrived: the default stream's next operation
// waits for them; streams that do not wait for it, and other processes, see the old bytes.
struct late_copy {
  CUdeviceptr to;
  std::string bytes;
};
std::vector<late_copy> late;
std::set<uintptr_t> sync_memops;  // blocks whose copies are never late

void end_late_copies() {
  const within_reach now;
  for (const late_copy& c : late) std::memcpy(reinterpret_cast<void*>(c.to), c.bytes.data(), c.bytes.size());
  late.clear();
}

thread_local CUcontext current_context = nullptr;
#define NEEDS_CONTEXT \
  if (!current_context) return CUDA_ERROR_INVALID_CONTEXT

CUresult copy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  const within_reach now;
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return CUDA_SUCCESS;
}

template <class T>
void places(void* m) {
  ggas::detail::move_places<T>(*static_cast<ggas::detail::place_move*>(m), {0, 1});
}
void walk(void* m) { ggas::mpi::walk(*static_cast<ggas::mpi::walk_move*>(m), {0, 1}); }

using kernel = void (*)(void*);
const std::map<std::string, kernel> kernels = {
    {"ggas_mpi_places_1", places<uint8_t>},
    {"ggas_mpi_places_2", places<uint16_t>},
    {"ggas_mpi_places_4", places<uint32_t>},
    {"ggas_mpi_places_8", places<uint64_t>},
    {"ggas_mpi_places_16", places<ggas::detail::word_pair>},
    {"ggas_mpi_walk", walk},
};

CUcontext const only = reinterpret_cast<CUcontext>(1);
constexpr size_t page = 4096;

}  // namespace

extern "C" {

CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int* n) { return *n = 1, CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* d, int) { return *d = 0, CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int* v, CUdevice_attribute, CUdevice) { return *v = 4, CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxRetain(CUcontext* c, CUdevice) { return *c = only, CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext c) { return current_context = c, CUDA_SUCCESS; }
thread_local std::vector<CUcontext> pushed;
CUresult cuCtxPushCurrent(CUcontext c) {
  pushed.push_back(std::exchange(current_context, c));
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext*) {
  if (pushed.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  current_context = pushed.back();
  pushed.pop_back();
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* d) { return *d = 0, CUDA_SUCCESS; }
CUresult cuGetErrorName(CUresult, const char** name) { return *name = "CUDA_ERROR_OF_A_TEST", CUDA_SUCCESS; }
CUresult cuStreamCreate(CUstream* s, unsigned) {
  NEEDS_CONTEXT;
  return *s = reinterpret_cast<CUstream>(0x10), CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream s) {
  NEEDS_CONTEXT;
  if (s == nullptr || s == CU_STREAM_LEGACY) end_late_copies();
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule* m, const void* image) {
  constexpr unsigned fatbin = 0xba55ed50;  // its first word
  unsigned first = 0;
  std::memcpy(&first, image, sizeof first);
  *m = reinterpret_cast<CUmodule>(1);
  return first == fatbin ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}
CUresult cuModuleGetFunction(CUfunction* f, CUmodule, const char* name) {
  const auto k = kernels.find(name);
  if (k == kernels.end()) return CUDA_ERROR_NOT_FOUND;
  *f = reinterpret_cast<CUfunction>(const_cast<kernel*>(&k->second));
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction f, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                        unsigned, CUstream, void** parameters, void**) {
  NEEDS_CONTEXT;
  if (blocks == 0 || threads == 0) return CUDA_ERROR_INVALID_VALUE;
  const within_reach now;
  (*reinterpret_cast<kernel*>(f))(parameters[0]);
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr* at, size_t bytes) {
  NEEDS_CONTEXT;
  const std::lock_guard one_at_a_time(lock);
  static unsigned long long allocations = 0;
  bytes = (bytes + page - 1) / page * page;
  const int file = memfd_create("memory of a GPU", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  void* const made = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, file, 0);
  if (made == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  *at = reinterpret_cast<CUdeviceptr>(made);
  of_gpu[*at] = bytes;
  backings[*at] = {file, ++allocations};
  return CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr at) {
  NEEDS_CONTEXT;
  const std::lock_guard one_at_a_time(lock);
  end_late_copies();
  sync_memops.erase(at);
  munmap(reinterpret_cast<void*>(at), of_gpu[at]);
  close(backings[at].file);
  of_gpu.erase(at);
  backings.erase(at);
  return CUDA_SUCCESS;
}
CUresult cuMemGetAddressRange(CUdeviceptr* first, size_t* bytes, CUdeviceptr at) {
  const std::lock_guard one_at_a_time(lock);
  char* const block = block_of(of_gpu, at);
  if (!block) return CUDA_ERROR_NOT_FOUND;
  *first = reinterpret_cast<CUdeviceptr>(block);
  *bytes = of_gpu[*first];
  return CUDA_SUCCESS;
}
CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr at) {
  const std::lock_guard one_at_a_time(lock);
  const char* const how = std::getenv("FAKE_DRIVER_IPC");
  const auto b = backings.find(at);
  struct stat file {};
  if ((how && std::strcmp(how, "none") == 0) || b == backings.end() || fstat(b->second.file, &file) != 0)
    return CUDA_ERROR_NOT_SUPPORTED;
  const ipc_handle made{getpid(), b->second.file, of_gpu[at], file.st_ino};
  std::memcpy(handle, &made, sizeof made);
  return CUDA_SUCCESS;
}
// Like the real driver: not in the process that made the handle, and not after the memory was freed.
CUresult cuIpcOpenMemHandle(CUdeviceptr* at, CUipcMemHandle handle, unsigned) {
  const std::lock_guard one_at_a_time(lock);
  ipc_handle h;
  std::memcpy(&h, &handle, sizeof h);
  if (h.process == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", h.process, h.file);
  const int file = open(path, O_RDWR | O_CLOEXEC);
  struct stat found {};
  if (file < 0 || fstat(file, &found) != 0 || found.st_ino != h.inode) return CUDA_ERROR_INVALID_VALUE;
  void* const made = mmap(nullptr, h.bytes, PROT_NONE, MAP_SHARED, file, 0);
  close(file);
  if (made == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  *at = reinterpret_cast<CUdeviceptr>(made);
  of_gpu[*at] = h.bytes;
  return CUDA_SUCCESS;
}
CUresult cuIpcCloseMemHandle(CUdeviceptr at) {
  const std::lock_guard one_at_a_time(lock);
  munmap(reinterpret_cast<void*>(at), of_gpu[at]);
  of_gpu.erase(at);
  return CUDA_SUCCESS;
}
CUresult cuMemHostAlloc(void** at, size_t bytes, unsigned) {
  NEEDS_CONTEXT;
  const std::lock_guard one_at_a_time(lock);
  *at = std::malloc(bytes);
  pinned[reinterpret_cast<uintptr_t>(*at)] = bytes;
  most_pinned = std::max(most_pinned, pinned_now());
  return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void* at) {
  const std::lock_guard one_at_a_time(lock);
  if (pinned.erase(reinterpret_cast<uintptr_t>(at)) == 0) return CUDA_ERROR_INVALID_VALUE;
  std::free(at);
  return CUDA_SUCCESS;
}
// Of the fake driver alone: bytes of pinned memory, now and the most that there were.
size_t fake_driver_pinned() {
  const std::lock_guard one_at_a_time(lock);
  return pinned_now();
}
size_t fake_driver_most_pinned() {
  const std::lock_guard one_at_a_time(lock);
  return most_pinned;
}
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  NEEDS_CONTEXT;
  const std::lock_guard one_at_a_time(lock);
  end_late_copies();
  const auto target = reinterpret_cast<uintptr_t>(block_of(of_gpu, to));
  const bool from_host = !block_of(of_gpu, from) && !block_of(pinned, from);
  if (!target || !from_host || sync_memops.contains(target)) return copy(to, from, bytes);
  late.push_back({to, std::string(reinterpret_cast<const char*>(from), bytes)});
  return CUDA_SUCCESS;
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream) {
  NEEDS_CONTEXT;
  return copy(to, from, bytes);
}
CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute which, CUdeviceptr at) {
  const std::lock_guard one_at_a_time(lock);
  const auto block = reinterpret_cast<uintptr_t>(block_of(of_gpu, at));
  if (!block || which != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return CUDA_ERROR_INVALID_VALUE;
  if (*static_cast<const unsigned*>(value))
    sync_memops.insert(block);
  else
    sync_memops.erase(block);
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttributes(unsigned n, CUpointer_attribute* which, void** values, CUdeviceptr at) {
  const std::lock_guard one_at_a_time(lock);
  const bool gpu = block_of(of_gpu, at) != nullptr, host = block_of(pinned, at) != nullptr;
  for (unsigned i = 0; i < n; ++i) {
    if (which[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
      *static_cast<unsigned*>(values[i]) = gpu    ? unsigned{CU_MEMORYTYPE_DEVICE}
                                           : host ? unsigned{CU_MEMORYTYPE_HOST}
                                                  : 0;
    if (which[i] == CU_POINTER_ATTRIBUTE_BUFFER_ID) {
      const auto b = backings.find(reinterpret_cast<CUdeviceptr>(block_of(of_gpu, at)));
      *static_cast<unsigned long long*>(values[i]) = b == backings.end() ? 0 : b->second.number;
    }
    if (which[i] == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
      *static_cast<bool*>(values[i]) = sync_memops.contains(reinterpret_cast<uintptr_t>(block_of(of_gpu, at)));
    if (which[i] == CU_POINTER_ATTRIBUTE_CONTEXT) *static_cast<CUcontext*>(values[i]) = gpu ? only : nullptr;
  }
  return CUDA_SUCCESS;
}
}
