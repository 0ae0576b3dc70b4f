// SPDX-License-Identifier: Apache-2.0
// Packs of the layouts that GGAS packs (benchmarks/plans/typed_patterns.hpp) with what CUDA brings: cudaMemcpy2D and
// 3D, batched copies, cub::DeviceMemcpy::Batched, and a kernel by hand.
#include <cub/device/device_memcpy.cuh>

#include "benchmarks/compare/raw/rig.cuh"
#include "benchmarks/plans/typed_patterns.hpp"

namespace ggas::compare {

namespace {

constexpr unsigned threads = 256, calls = 20, units_ahead = 4;

__global__ void fill_words(uint64_t* to, uint64_t count) {
  for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    to[i] = i * 0x9e3779b97f4a7c15;
}

// Rows of 2^log2 elements, `stride` apart, or where a list says.
template <class T>
__global__ void pack_rows(T* to, const double* from, const int64_t* places, uint64_t stride, unsigned log2,
                          uint32_t units) {
  const uint32_t turn = gridDim.x * blockDim.x, mask = (1u << log2) - 1;
  for (uint32_t base = blockIdx.x * blockDim.x + threadIdx.x; base < units; base += units_ahead * turn) {
    T v[units_ahead];
#pragma unroll
    for (unsigned w = 0; w < units_ahead; ++w) {
      const uint32_t i = base + w * turn;
      if (i >= units) continue;
      const uint64_t row = i >> log2;
      v[w] = reinterpret_cast<const T*>(from + (places ? static_cast<uint64_t>(places[row]) : row * stride))[i & mask];
    }
#pragma unroll
    for (unsigned w = 0; w < units_ahead; ++w)
      if (base + w * turn < units) to[base + w * turn] = v[w];
  }
}

// Source, destination and length of each block of a pattern.
struct copies {
  std::vector<void*> from, to;
  std::vector<size_t> bytes;
  copies(const bench::typed_pattern& p, char* source, char* target) {
    uint64_t packed = 0;
    for (const bench::pattern_run& r : bench::runs_of(p)) {
      from.push_back(source + r.at);
      to.push_back(target + packed);
      bytes.push_back(r.bytes);
      packed += r.bytes;
    }
  }
};

template <class T>
T* on_gpu(const std::vector<T>& v) {
  T* p = nullptr;
  if (v.empty()) return p;
  COMPARE_CUDA(cudaMalloc(&p, v.size() * sizeof(T)));
  COMPARE_CUDA(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

class packs {
 public:
  packs(rig& r, const bench::typed_pattern& p)
      : r_(r), p_(p), source_(r.at(0).source), target_(r.seen_by(0).data[0]), all_(p, source_, target_) {
    COMPARE_CUDA(cudaSetDevice(0));
    fill_words<<<256, threads>>>(reinterpret_cast<uint64_t*>(source_), p_.extent / 8);
    COMPARE_CUDA(cudaDeviceSynchronize());
  }

  // Time of a call of several in a graph, as ours are; the data of the last one are looked at.
  template <class F>
  void measure(const char* by, F call) {
    cudaStream_t const s = r_.at(0).stream;
    cudaGraph_t graph{};
    cudaGraphExec_t made{};
    COMPARE_CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    for (unsigned i = 0; i < calls; ++i) call(s);
    COMPARE_CUDA(cudaStreamEndCapture(s, &graph));
    COMPARE_CUDA(cudaGraphInstantiate(&made, graph, 0));
    measure_starts(by, calls, [&] { COMPARE_CUDA(cudaGraphLaunch(made, s)); });
    COMPARE_CUDA(cudaGraphExecDestroy(made));
    COMPARE_CUDA(cudaGraphDestroy(graph));
  }

  void by_hand() {
    const bool pairs = p_.width % 2 == 0;
    const auto units = static_cast<uint32_t>(p_.bytes / (pairs ? 16 : 8));
    const unsigned blocks = std::min((units + threads - 1) / threads, 132u * 8);
    unsigned log2 = 0;
    while ((pairs ? 2u : 1u) << log2 < p_.width) ++log2;
    int64_t* const places = on_gpu(p_.places);
    measure("hand", [&](cudaStream_t s) {
      const auto* const from = reinterpret_cast<const double*>(source_);
      if (pairs) {
        pack_rows<<<blocks, threads, 0, s>>>(reinterpret_cast<double2*>(target_), from, places, p_.stride, log2, units);
      } else {
        pack_rows<<<blocks, threads, 0, s>>>(reinterpret_cast<double*>(target_), from, places, p_.stride, log2, units);
      }
    });
    COMPARE_CUDA(cudaFree(places));
  }
  void by_memcpy2d() {
    measure("memcpy2d", [&](cudaStream_t s) {
      COMPARE_CUDA(cudaMemcpy2DAsync(target_, p_.width * 8, source_, p_.stride * 8, p_.width * 8, p_.rows(),
                                     cudaMemcpyDeviceToDevice, s));
    });
  }
  // A face as a part of the cube: elements or rows of it, layer by layer.
  void by_memcpy3d() {
    const bool elements = p_.width == 1;
    const size_t n = elements ? p_.stride : p_.width, row = n * 8, width = elements ? 8 : row,
                 height = elements ? n : 1;
    cudaMemcpy3DParms m{};
    m.srcPtr = make_cudaPitchedPtr(source_, row, row, n);
    m.dstPtr = make_cudaPitchedPtr(target_, width, width, height);
    m.extent = make_cudaExtent(width, height, n);
    m.kind = cudaMemcpyDeviceToDevice;
    measure("memcpy3d", [&](cudaStream_t s) { COMPARE_CUDA(cudaMemcpy3DAsync(&m, s)); });
  }
  void by_batch() {
    cudaMemcpyAttributes a{};
    a.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    size_t first = 0;
    // No graph takes them.
    measure_starts("batch", 1, [&] {
      cudaStream_t const s = r_.at(0).stream;
      COMPARE_CUDA(cudaMemcpyBatchAsync(all_.to.data(), all_.from.data(), all_.bytes.data(), all_.bytes.size(), &a,
                                        &first, 1, s));
    });
  }
  void by_cub() {
    void **const from = on_gpu(all_.from), **const to = on_gpu(all_.to);
    size_t *const bytes = on_gpu(all_.bytes), room = 0;
    const auto count = static_cast<uint32_t>(all_.bytes.size());
    void* work = nullptr;
    COMPARE_CUDA(cub::DeviceMemcpy::Batched(nullptr, room, from, to, bytes, count));
    COMPARE_CUDA(cudaMalloc(&work, room));
    measure("cub_batched",
            [&](cudaStream_t s) { COMPARE_CUDA(cub::DeviceMemcpy::Batched(work, room, from, to, bytes, count, s)); });
    for (void* p : {static_cast<void*>(from), static_cast<void*>(to), static_cast<void*>(bytes), work})
      COMPARE_CUDA(cudaFree(p));
  }

 private:
  // `start` queues so many calls.
  template <class F>
  void measure_starts(const char* by, unsigned count, F start) {
    COMPARE_CUDA(cudaMemset(target_, 0, p_.bytes));
    const auto samples =
        repeat([&] { return 1e9 * static_cast<double>(p_.bytes) * count / r_.time(1, [&](int) { start(); }); });
    check(by);
    print(r_.from(), {"pack",
                      "raw",
                      "bandwidth",
                      "B/s",
                      {{"bytes", static_cast<int64_t>(p_.bytes)}, {"pattern", 0, p_.name}, {"method", 0, by}},
                      samples});
  }

  void check(const char* by) {
    std::vector<uint64_t> got(p_.bytes / 8);
    COMPARE_CUDA(cudaMemcpy(got.data(), target_, p_.bytes, cudaMemcpyDeviceToHost));
    size_t i = 0;
    for (const bench::pattern_run& r : bench::runs_of(p_))
      for (uint64_t at = r.at; at < r.at + r.bytes; at += 8, ++i)
        if (got[i] != at / 8 * 0x9e3779b97f4a7c15) {
          std::fprintf(stderr, "pack %s by %s: wrong data\n", p_.name.c_str(), by);
          std::exit(1);
        }
  }

  rig& r_;
  const bench::typed_pattern& p_;
  char *source_, *target_;
  copies all_;
};

}  // namespace

void measure_packs(rig& r) {
  constexpr uint64_t most_copies = 4096;  // of a batch: each is reported to the driver
  for (const uint64_t bytes : {512u << 10, 2u << 20, 16u << 20}) {
    for (const bench::typed_pattern& p : bench::typed_patterns(bytes, data_bytes, 1)) {
      const bool rows = p.kind == bench::layout_kind::rows;
      if (!rows && p.kind != bench::layout_kind::list) continue;
      packs one(r, p);
      one.by_hand();
      if (rows && p.width != p.stride) one.by_memcpy2d();
      if (p.name == "face_xz" || p.name == "face_yz") one.by_memcpy3d();
      if (rows && p.rows() <= most_copies) one.by_batch();
      if (!rows) one.by_cub();
    }
  }
}

}  // namespace ggas::compare
