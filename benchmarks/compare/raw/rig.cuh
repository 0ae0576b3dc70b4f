// SPDX-License-Identifier: Apache-2.0
// One process that drives all GPUs: their memory, and how a measurement becomes samples. For the files of compare_raw.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "benchmarks/compare/figure.hpp"
#include "benchmarks/compare/raw/device.cuh"

namespace ggas::compare {

inline constexpr uint64_t data_bytes = uint64_t{1} << 30;  // of a GPU: source, and what others store to

struct gpu {
  cudaStream_t stream;
  cudaEvent_t begin, end;
  outcome* found;  // of most_blocks blocks
  char* source;
};

// All GPUs of the run and their memory.
class rig {
 public:
  explicit rig(int count) : gpus_(static_cast<size_t>(count)) {
    all_.count = count;
    for (int i = 0; i < count; ++i) open(i);
    from_ = origin_of(count);
  }

  int count() const { return all_.count; }
  const origin& from() const { return from_; }
  gpu& at(int i) { return gpus_[static_cast<size_t>(i)]; }
  peers seen_by(int i) const {
    peers p = all_;
    p.me = i;
    return p;
  }
  // The last number that flags may hold; they only grow.
  uint64_t next_base(uint64_t used) { return (base_ += used) - used; }

  void synchronize() {
    for (int i = 0; i < count(); ++i) {
      COMPARE_CUDA(cudaSetDevice(i));
      COMPARE_CUDA(cudaStreamSynchronize(at(i).stream));
    }
  }
  // Starts work on the first `used` GPUs and returns the longest time in ns of their streams.
  double time(int used, const std::function<void(int)>& start) {
    synchronize();
    for (int i = 0; i < used; ++i) {
      COMPARE_CUDA(cudaSetDevice(i));
      COMPARE_CUDA(cudaEventRecord(at(i).begin, at(i).stream));
      start(i);
      COMPARE_CUDA(cudaGetLastError());
      COMPARE_CUDA(cudaEventRecord(at(i).end, at(i).stream));
    }
    synchronize();
    float longest = 0;
    for (int i = 0; i < used; ++i) {
      float ms = 0;
      COMPARE_CUDA(cudaEventElapsedTime(&ms, at(i).begin, at(i).end));
      longest = std::max(longest, ms);
    }
    return 1e6 * longest;
  }
  // The longest time in ns that a block of the kernels found; the process ends if one gave up. Outcomes are clear then.
  double found(int used, const char* what) {
    uint64_t longest = 0;
    for (int i = 0; i < used; ++i) {
      for (unsigned b = 0; b < most_blocks; ++b) {
        longest = std::max(longest, at(i).found[b].ns);
        if (at(i).found[b].failed == 0) continue;
        std::fprintf(stderr, "%s: GPU %d gave up waiting, or found wrong data\n", what, i);
        std::exit(1);
      }
      std::fill_n(at(i).found, most_blocks, outcome{0, 0});
    }
    return static_cast<double>(longest);
  }

 private:
  void open(int i) {
    COMPARE_CUDA(cudaSetDevice(i));
    for (int peer = 0; peer < count(); ++peer)
      if (peer != i) COMPARE_CUDA(cudaDeviceEnablePeerAccess(peer, 0));
    gpu& g = at(i);
    COMPARE_CUDA(cudaStreamCreateWithFlags(&g.stream, cudaStreamNonBlocking));
    COMPARE_CUDA(cudaEventCreate(&g.begin));
    COMPARE_CUDA(cudaEventCreate(&g.end));
    COMPARE_CUDA(cudaMallocHost(&g.found, most_blocks * sizeof(outcome)));
    std::fill_n(g.found, most_blocks, outcome{0, 0});
    COMPARE_CUDA(cudaMalloc(&g.source, data_bytes));
    COMPARE_CUDA(cudaMalloc(&all_.data[i], data_bytes));
    COMPARE_CUDA(cudaMalloc(&all_.flags[i], flag_words * sizeof(uint64_t)));
    COMPARE_CUDA(cudaMemset(g.source, 0, data_bytes));
    COMPARE_CUDA(cudaMemset(all_.data[i], 0, data_bytes));
    COMPARE_CUDA(cudaMemset(all_.flags[i], 0, flag_words * sizeof(uint64_t)));
    COMPARE_CUDA(cudaDeviceSynchronize());
  }

  std::vector<gpu> gpus_;
  peers all_{};
  origin from_;
  uint64_t base_ = 0;
};

// A warm-up, then a sample of `once` for each repetition.
inline std::vector<double> repeat(const std::function<double()>& once) {
  once();
  std::vector<double> samples;
  for (int i = 0; i < repetitions; ++i) samples.push_back(once());
  return samples;
}

void measure_puts_with_signal(rig& r);
void measure_collectives(rig& r);
void measure_packs(rig& r);

}  // namespace ggas::compare
