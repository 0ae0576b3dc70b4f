// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_cuda.hpp"

#include <cuda_runtime.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <utility>
#include <vector>

using ggas::test::fake_cuda;

fake_cuda& fake_cuda::here() {
  static fake_cuda one;
  return one;
}

namespace {

constexpr size_t granularity = 2 << 20;

fake_cuda& cuda() { return fake_cuda::here(); }

// A call that may go wrong.
bool goes_wrong(const char* name) {
  if (cuda().fails_at < 0) return false;
  if (cuda().fails_at > 0) return cuda().fails_at--, false;
  if (!cuda().falls) cuda().fails_at = -1;
  if (cuda().dies) raise(SIGKILL);
  if (cuda().failed.empty()) cuda().failed = name;
  return true;
}
#define GGAS_FAKE_TRY(error)                            \
  const std::lock_guard one_at_a_time(fake_cuda::lock); \
  if (goes_wrong(__func__)) return error

// A call that gives something back goes wrong only when the GPU is lost.
#define GGAS_FAKE_LOST(error)                           \
  const std::lock_guard one_at_a_time(fake_cuda::lock); \
  if (cuda().falls && cuda().fails_at == 0) return error

// What a call of the runtime's says stays after as its last error.
cudaError_t says(cudaError_t e) {
  if (e != cudaSuccess) fake_cuda::last = e;
  return e;
}
#define GGAS_FAKE_TRY_RUNTIME GGAS_FAKE_TRY(says(cudaErrorUnknown))

// The copies of a graph; the one that is captured now.
using fake_graph = std::vector<std::function<void()>>;
struct {
  cudaStream_t of = nullptr;
  fake_graph* graph = nullptr;
} capture;

// Physical memory. It lives as long as someone has its handle or maps it.
struct piece {
  int file, gpu;  // of the computer
  size_t bytes;
  int users;
  bool own;
};
std::map<CUmemGenericAllocationHandle, piece>& pieces() {
  static std::map<CUmemGenericAllocationHandle, piece> all;
  return all;
}
std::map<CUdeviceptr, CUmemGenericAllocationHandle>& mapped() {
  static std::map<CUdeviceptr, CUmemGenericAllocationHandle> all;
  return all;
}

CUmemGenericAllocationHandle keep(piece p) {
  static CUmemGenericAllocationHandle last = 0;
  pieces().emplace(++last, p);
  ++cuda().pieces;
  return last;
}
void drop(CUmemGenericAllocationHandle h) {
  piece& p = pieces().at(h);
  if (--p.users) return;
  close(p.file);
  pieces().erase(h);
  --cuda().pieces;
}

// Which GPU's memory a file is: its name says so.
int gpu_of(int file) {
  char link[64], name[64] = {};
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  return readlink(link, name, sizeof name - 1) > 0 && std::strstr(name, "gpu") ? std::atoi(std::strstr(name, "gpu") + 3)
                                                                               : -1;
}

bool reach(int a, int b) { return !cuda().cut.contains(std::minmax(a, b)); }

cudaStream_t new_stream() {
  static char somewhere[64];  // what they point to is no one's
  return reinterpret_cast<cudaStream_t>(somewhere + cuda().streams++ % static_cast<int>(sizeof somewhere));
}

void* at(CUdeviceptr p) { return reinterpret_cast<void*>(p); }

}  // namespace

// ---------------------------------------------------------------------------------------------- driver

namespace {

CUresult cuGetErrorName(CUresult e, const char** name) {
  *name = e == CUDA_ERROR_OUT_OF_MEMORY    ? "CUDA_ERROR_OUT_OF_MEMORY"
          : e == CUDA_ERROR_INVALID_DEVICE ? "CUDA_ERROR_INVALID_DEVICE"
                                           : "CUDA_ERROR_UNKNOWN";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "words of the driver";
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute a, CUdevice) {
  GGAS_FAKE_TRY(CUDA_ERROR_UNKNOWN);
  if (a == CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED && !cuda().knows_fabric) return CUDA_ERROR_INVALID_VALUE;
  *value = a == CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED ? cuda().files
           : a == CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED              ? cuda().fabric
                                                                                : cuda().virtual_memory;
  return CUDA_SUCCESS;
}
CUresult cuMemGetAllocationGranularity(size_t* bytes, const CUmemAllocationProp*, CUmemAllocationGranularity_flags) {
  GGAS_FAKE_TRY(CUDA_ERROR_UNKNOWN);
  *bytes = granularity;
  return CUDA_SUCCESS;
}
CUresult cuMemAddressReserve(CUdeviceptr* base, size_t bytes, size_t alignment, CUdeviceptr, unsigned long long) {
  GGAS_FAKE_TRY(CUDA_ERROR_OUT_OF_MEMORY);
  void* const p = mmap(nullptr, bytes + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto raw = reinterpret_cast<CUdeviceptr>(p);
  *base = (raw + alignment - 1) / alignment * alignment;
  munmap(p, *base - raw);
  munmap(at(*base + bytes), alignment - (*base - raw));
  ++cuda().addresses;
  return CUDA_SUCCESS;
}
CUresult cuMemAddressFree(CUdeviceptr base, size_t bytes) {
  GGAS_FAKE_LOST(CUDA_ERROR_UNKNOWN);
  if (!mapped().empty() && mapped().lower_bound(base) != mapped().lower_bound(base + bytes))
    std::abort();  // the range must outlive what is mapped into it
  munmap(at(base), bytes);
  --cuda().addresses;
  return CUDA_SUCCESS;
}
CUresult cuMemCreate(CUmemGenericAllocationHandle* h, size_t bytes, const CUmemAllocationProp* p, unsigned long long) {
  GGAS_FAKE_TRY(CUDA_ERROR_OUT_OF_MEMORY);
  const int gpu = cuda().first_gpu + p->location.id;
  size_t used = bytes;
  for (const auto& [handle, one] : pieces()) used += one.own && one.gpu == gpu ? one.bytes : 0;
  if (bytes % granularity) return CUDA_ERROR_INVALID_VALUE;
  if (used > cuda().memory) return CUDA_ERROR_OUT_OF_MEMORY;
  const int file = memfd_create(("gpu" + std::to_string(gpu)).c_str(), MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) return CUDA_ERROR_UNKNOWN;
  *h = keep({file, gpu, bytes, 1, true});
  return CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle h) {
  GGAS_FAKE_LOST(CUDA_ERROR_UNKNOWN);
  drop(h);
  return CUDA_SUCCESS;
}
CUresult cuMemMap(CUdeviceptr to, size_t bytes, size_t, CUmemGenericAllocationHandle h, unsigned long long) {
  GGAS_FAKE_TRY(CUDA_ERROR_UNKNOWN);
  piece& p = pieces().at(h);
  if (bytes != p.bytes || mmap(at(to), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, p.file, 0) == MAP_FAILED)
    return CUDA_ERROR_INVALID_VALUE;
  ++p.users;
  mapped()[to] = h;
  ++cuda().mappings;
  return CUDA_SUCCESS;
}
CUresult cuMemUnmap(CUdeviceptr from, size_t bytes) {
  GGAS_FAKE_LOST(CUDA_ERROR_UNKNOWN);
  mmap(at(from), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  drop(mapped().at(from));
  mapped().erase(from);
  --cuda().mappings;
  return CUDA_SUCCESS;
}
CUresult cuMemSetAccess(CUdeviceptr to, size_t bytes, const CUmemAccessDesc* who, size_t count) {
  GGAS_FAKE_TRY(CUDA_ERROR_UNKNOWN);
  for (size_t i = 0; i < count; ++i)
    if (!reach(cuda().first_gpu + who[i].location.id, pieces().at(mapped().at(to)).gpu))
      return CUDA_ERROR_INVALID_DEVICE;
  return mprotect(at(to), bytes, PROT_READ | PROT_WRITE) == 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}
// A handle of the fabric is the name of the file in the process that has it.
CUresult cuMemExportToShareableHandle(void* to, CUmemGenericAllocationHandle h, CUmemAllocationHandleType type,
                                      unsigned long long) {
  GGAS_FAKE_TRY(CUDA_ERROR_UNKNOWN);
  const int file = pieces().at(h).file;
  if (type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    *static_cast<int*>(to) = fcntl(file, F_DUPFD_CLOEXEC, 0);
  else
    std::snprintf(static_cast<char*>(to), sizeof(CUmemFabricHandle), "/proc/%d/fd/%d", getpid(), file);
  return CUDA_SUCCESS;
}
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* h, void* from, CUmemAllocationHandleType type) {
  GGAS_FAKE_TRY(CUDA_ERROR_UNKNOWN);
  const int file = type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
                       ? fcntl(static_cast<int>(reinterpret_cast<intptr_t>(from)), F_DUPFD_CLOEXEC, 0)
                       : open(static_cast<const char*>(from), O_RDWR | O_CLOEXEC);
  if (file < 0 || gpu_of(file) < 0) return CUDA_ERROR_INVALID_VALUE;
  *h = keep({file, gpu_of(file), static_cast<size_t>(lseek(file, 0, SEEK_END)), 1, false});
  return CUDA_SUCCESS;
}

// Its memory is no dma-buf.
CUresult cuMemGetHandleForAddressRange(void*, CUdeviceptr, size_t, CUmemRangeHandleType, unsigned long long) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

// Green contexts of a GPU with 132 multiprocessors, which are given out by eights.
CUresult cuDeviceGetDevResource(CUdevice, CUdevResource* r, CUdevResourceType) {
  GGAS_FAKE_TRY(CUDA_ERROR_UNKNOWN);
  r->sm.smCount = 132;
  return CUDA_SUCCESS;
}
CUresult cuDevSmResourceSplitByCount(CUdevResource* parts, unsigned* count, const CUdevResource* all,
                                     CUdevResource* rest, unsigned, unsigned least) {
  GGAS_FAKE_TRY(CUDA_ERROR_UNKNOWN);
  if (all->sm.smCount != 132) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;  // what a split left
  const unsigned each = (least + 7) / 8 * 8, there = all->sm.smCount / each;
  *count = parts ? std::min(*count, there) : there;
  for (unsigned i = 0; parts && i < *count; ++i) parts[i].sm.smCount = each;
  rest->sm.smCount = all->sm.smCount - *count * each;
  return CUDA_SUCCESS;
}
CUresult cuDevResourceGenerateDesc(CUdevResourceDesc*, CUdevResource*, unsigned) {
  GGAS_FAKE_TRY(CUDA_ERROR_UNKNOWN);
  return CUDA_SUCCESS;
}
CUresult cuGreenCtxCreate(CUgreenCtx*, CUdevResourceDesc, CUdevice, unsigned) {
  GGAS_FAKE_TRY(CUDA_ERROR_UNKNOWN);
  ++cuda().contexts;
  return CUDA_SUCCESS;
}
CUresult cuGreenCtxDestroy(CUgreenCtx) {
  GGAS_FAKE_LOST(CUDA_ERROR_UNKNOWN);
  --cuda().contexts;
  return CUDA_SUCCESS;
}
CUresult cuGreenCtxStreamCreate(CUstream* s, CUgreenCtx, unsigned, int) {
  GGAS_FAKE_TRY(CUDA_ERROR_UNKNOWN);
  *s = new_stream();
  return CUDA_SUCCESS;
}

void* function(const std::string& name) {
#define GGAS_FAKE(f) \
  if (name == #f) return reinterpret_cast<void*>(&f);
  GGAS_FAKE(cuGetErrorName)
  GGAS_FAKE(cuGetErrorString)
  GGAS_FAKE(cuDeviceGetAttribute)
  GGAS_FAKE(cuMemGetAllocationGranularity)
  GGAS_FAKE(cuMemAddressReserve)
  GGAS_FAKE(cuMemAddressFree)
  GGAS_FAKE(cuMemCreate)
  GGAS_FAKE(cuMemRelease)
  GGAS_FAKE(cuMemMap)
  GGAS_FAKE(cuMemUnmap)
  GGAS_FAKE(cuMemSetAccess)
  GGAS_FAKE(cuMemExportToShareableHandle)
  GGAS_FAKE(cuMemImportFromShareableHandle)
  GGAS_FAKE(cuMemGetHandleForAddressRange)
  GGAS_FAKE(cuDeviceGetDevResource)
  GGAS_FAKE(cuDevSmResourceSplitByCount)
  GGAS_FAKE(cuDevResourceGenerateDesc)
  GGAS_FAKE(cuGreenCtxCreate)
  GGAS_FAKE(cuGreenCtxDestroy)
  GGAS_FAKE(cuGreenCtxStreamCreate)
#undef GGAS_FAKE
  return nullptr;
}

}  // namespace

// ---------------------------------------------------------------------------------------------- runtime

extern "C" {

cudaError_t cudaDriverGetVersion(int* v) {
  *v = cuda().driver_version;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* v) {
  *v = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* n) {
  GGAS_FAKE_TRY_RUNTIME;
  *n = cuda().gpus;
  return says(cuda().driver_version < CUDART_VERSION / 1000 * 1000 ? cudaErrorInsufficientDriver
              : cuda().gpus == 0                                   ? cudaErrorNoDevice
                                                                   : cudaSuccess);
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** f, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  GGAS_FAKE_TRY_RUNTIME;
  *f = name == cuda().missing ? nullptr : function(name);
  *result = *f ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
const char* cudaGetErrorName(cudaError_t e) {
  return e == cudaErrorNoDevice ? "cudaErrorNoDevice" : "cudaErrorUnknown";
}
const char* cudaGetErrorString(cudaError_t) { return "words of the runtime"; }
cudaError_t cudaGetLastError() { return std::exchange(fake_cuda::last, cudaSuccess); }
cudaError_t cudaSetDevice(int gpu) {
  GGAS_FAKE_TRY_RUNTIME;
  return says(gpu < cuda().gpus ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaMalloc(void** p, size_t bytes) {
  GGAS_FAKE_TRY_RUNTIME;
  *p = std::malloc(bytes);
  ++cuda().blocks;
  return cudaSuccess;
}
cudaError_t cudaFree(void* p) {
  GGAS_FAKE_TRY_RUNTIME;
  if (p) --cuda().blocks;
  std::free(p);
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int gpu) {
  GGAS_FAKE_TRY_RUNTIME;
  std::memset(p, 0, sizeof *p);
  p->uuid.bytes[0] = static_cast<char>(1 + cuda().first_gpu + gpu);
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int gpu, int peer) {
  GGAS_FAKE_TRY_RUNTIME;
  *can = reach(cuda().first_gpu + gpu, cuda().first_gpu + peer);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr a, int gpu, int peer) {
  GGAS_FAKE_TRY_RUNTIME;
  const int one = cuda().first_gpu + gpu, other = cuda().first_gpu + peer;
  *value = a == cudaDevP2PAttrNativeAtomicSupported && !cuda().plain.contains(std::minmax(one, other));
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  *total = cuda().memory;
  *free = cuda().memory / 2;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned flags) {
  GGAS_FAKE_TRY_RUNTIME;
  cuda().stream_flags = flags;
  *s = new_stream();
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  GGAS_FAKE_TRY_RUNTIME;
  thread_local cudaStreamCaptureMode now = cudaStreamCaptureModeGlobal;
  std::swap(now, *mode);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  GGAS_FAKE_TRY_RUNTIME;
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** p, size_t bytes, unsigned) {
  GGAS_FAKE_TRY_RUNTIME;
  *p = std::malloc(bytes);
  ++cuda().pinned;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* p) {
  GGAS_FAKE_LOST(cudaErrorUnknown);
  std::free(p);
  --cuda().pinned;
  return cudaSuccess;
}
// An event is how often it was recorded.
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) {
  GGAS_FAKE_TRY_RUNTIME;
  *e = reinterpret_cast<cudaEvent_t>(new int(0));
  ++cuda().events;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  GGAS_FAKE_LOST(cudaErrorUnknown);
  delete reinterpret_cast<int*>(e);
  --cuda().events;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t) {
  GGAS_FAKE_TRY_RUNTIME;
  ++*reinterpret_cast<int*>(e);
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t e) {
  GGAS_FAKE_TRY_RUNTIME;
  return cuda().busy && *reinterpret_cast<int*>(e) ? cudaErrorNotReady : cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  GGAS_FAKE_TRY_RUNTIME;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* s, unsigned, int priority) {
  GGAS_FAKE_TRY_RUNTIME;
  cuda().priority = priority;
  *s = new_stream();
  return cudaSuccess;
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
  GGAS_FAKE_TRY_RUNTIME;
  *pool = reinterpret_cast<cudaMemPool_t>(new int(0));
  ++cuda().pools;
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  GGAS_FAKE_TRY_RUNTIME;
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc* access, size_t count) {
  GGAS_FAKE_TRY_RUNTIME;
  cuda().pool_users.clear();
  for (size_t i = 0; i < count; ++i) cuda().pool_users.insert(access[i].location.id);
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  GGAS_FAKE_LOST(cudaErrorUnknown);
  delete reinterpret_cast<int*>(pool);
  --cuda().pools;
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t s) {
  GGAS_FAKE_TRY_RUNTIME;
  const auto copy = [=] { std::memcpy(to, from, bytes); };
  if (capture.graph && capture.of == s)
    capture.graph->push_back(copy);
  else
    copy();
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode) {
  GGAS_FAKE_TRY_RUNTIME;
  capture = {s, new fake_graph};
  ++cuda().graphs;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* g) {
  GGAS_FAKE_TRY_RUNTIME;
  *g = reinterpret_cast<cudaGraph_t>(std::exchange(capture, {}).graph);
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t g, cudaGraphNode_t*, size_t* count) {
  GGAS_FAKE_TRY_RUNTIME;
  *count = reinterpret_cast<fake_graph*>(g)->size();
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t g, unsigned long long) {
  GGAS_FAKE_TRY_RUNTIME;
  *made = reinterpret_cast<cudaGraphExec_t>(new fake_graph(*reinterpret_cast<fake_graph*>(g)));
  ++cuda().graphs;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t g, cudaStream_t) {
  GGAS_FAKE_TRY_RUNTIME;
  for (const auto& step : *reinterpret_cast<fake_graph*>(g)) step();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t g) {
  GGAS_FAKE_LOST(cudaErrorUnknown);
  delete reinterpret_cast<fake_graph*>(g);
  --cuda().graphs;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t g) { return cudaGraphDestroy(reinterpret_cast<cudaGraph_t>(g)); }
cudaError_t cudaStreamDestroy(cudaStream_t) {
  GGAS_FAKE_LOST(cudaErrorUnknown);
  --cuda().streams;
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t) {
  GGAS_FAKE_TRY_RUNTIME;
  return cuda().busy ? cudaErrorNotReady : cudaSuccess;  // does not stay after
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}
cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  GGAS_FAKE_TRY_RUNTIME;
  std::memset(to, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  GGAS_FAKE_TRY_RUNTIME;
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t) {
  GGAS_FAKE_TRY_RUNTIME;
  std::memset(to, value, bytes);
  if (cuda().slow) cuda().busy = true;
  return cudaSuccess;
}
}
