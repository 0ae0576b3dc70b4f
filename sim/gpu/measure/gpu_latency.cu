// SPDX-License-Identifier: Apache-2.0
// Measures on a real GPU what a [gpu] table needs: latency of L2, of atomics and of fences, accesses to host memory,
// launches.
//   nvcc -O3 -arch=sm_90 -o gpu_latency sim/gpu/measure/gpu_latency.cu && ./gpu_latency
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void check(cudaError_t e, const char* what) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
  std::exit(1);
}
#define CHECK(call) check((call), #call)

constexpr int rounds = 1000;

enum class kind { load, poll, atomic, fence_gpu, fence_sys, store_fence_gpu, store_fence_sys, turn };

// One thread, `rounds` times; clock cycles for all of them.
template <kind K>
__global__ void measure(volatile unsigned long long* p, long long* out) {
  unsigned long long at = 0, sum = 0;
  const long long begin = clock64();
  for (int i = 0; i < rounds; ++i) {
    if constexpr (K == kind::load || K == kind::poll) at = p[at];  // zeros: each load needs the one before
    if constexpr (K == kind::atomic) at = atomicAdd(const_cast<unsigned long long*>(p) + at, 0ull);
    if constexpr (K == kind::store_fence_gpu || K == kind::store_fence_sys) p[0] = 0;
    if constexpr (K == kind::fence_gpu || K == kind::store_fence_gpu) __threadfence();
    if constexpr (K == kind::fence_sys || K == kind::store_fence_sys) __threadfence_system();
    if constexpr (K == kind::turn) {  // a wait loop with a time-out around the load
      unsigned long long now;
      asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
      if (p[at] != 0 || now == 1) at = 1;
    }
    sum += at;
  }
  out[0] = clock64() - begin;
  out[1] = static_cast<long long>(sum);
}

template <kind K>
double cycles(unsigned long long* p, long long* out) {
  std::vector<double> all;
  for (int i = 0; i < 20; ++i) {
    measure<K><<<1, 1>>>(p, out);
    CHECK(cudaDeviceSynchronize());
    long long host[2];
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    all.push_back(double(host[0]) / rounds);
  }
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

__global__ void nothing() {}

template <class F>
double median_us(F&& f) {
  std::vector<double> all;
  for (int i = 0; i < 200; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    f();
    all.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

}  // namespace

int main() {
  cudaDeviceProp prop;
  CHECK(cudaGetDeviceProperties(&prop, 0));
  int khz = 0;
  CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
  std::printf("%s: %d SMs, %d MHz, L2 %d MB, memory %zu bytes, blocks per SM %d\n", prop.name, prop.multiProcessorCount,
              khz / 1000, prop.l2CacheSize >> 20, prop.totalGlobalMem, prop.maxBlocksPerMultiProcessor);
  unsigned long long *device = nullptr, *host = nullptr;
  long long* out = nullptr;
  CHECK(cudaMalloc(&device, 1 << 20));
  CHECK(cudaMemset(device, 0, 1 << 20));
  CHECK(cudaMalloc(&out, 64));
  CHECK(cudaHostAlloc(&host, 4096, cudaHostAllocMapped));
  for (int i = 0; i < 512; ++i) host[i] = 0;
  const auto print = [&](const char* what, double c) {
    std::printf("%-40s %8.1f cycles %8.1f ns\n", what, c, c * 1e6 / khz);
  };
  print("volatile load, own memory (L2)", cycles<kind::load>(device, out));
  print("turn of a wait loop with time-out", cycles<kind::turn>(device, out));
  print("atomic add with result", cycles<kind::atomic>(device, out));
  print("fence, gpu scope", cycles<kind::fence_gpu>(device, out));
  print("store and fence, gpu scope", cycles<kind::store_fence_gpu>(device, out));
  print("fence, system scope", cycles<kind::fence_sys>(device, out));
  print("store and fence, system scope", cycles<kind::store_fence_sys>(device, out));
  print("volatile load, host memory", cycles<kind::load>(host, out));
  print("store to host memory and fence, system", cycles<kind::store_fence_sys>(host, out));
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  cudaEvent_t e, blocking;
  CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&blocking, cudaEventDisableTiming | cudaEventBlockingSync));
  const auto empty = [&] { nothing<<<1, 1, 0, s>>>(); };
  const auto us = [](const char* what, double v) { std::printf("%-40s %8.2f us\n", what, v); };
  us("empty launch, stream synchronisation", median_us([&] { empty(), cudaStreamSynchronize(s); }));
  us("empty launch, device synchronisation", median_us([&] { empty(), cudaDeviceSynchronize(); }));
  us("empty launch, event synchronisation",
     median_us([&] { empty(), cudaEventRecord(e, s), cudaEventSynchronize(e); }));
  us("the same, blocking event",
     median_us([&] { empty(), cudaEventRecord(blocking, s), cudaEventSynchronize(blocking); }));
  us("launch alone", median_us([&] { empty(); }));
  CHECK(cudaStreamSynchronize(s));
  us("each of 100 kernels of a stream", median_us([&] {
                                          for (int i = 0; i < 100; ++i) empty();
                                          cudaStreamSynchronize(s);
                                        }) / 100);
  return 0;
}
