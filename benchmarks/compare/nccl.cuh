// SPDX-License-Identifier: Apache-2.0
// What the files of the program for NCCL share.
#pragma once

#include <nccl.h>

#include <functional>

#include "benchmarks/compare/checked.cuh"
#include "benchmarks/compare/figure.hpp"
#include "benchmarks/compare/gpu.cuh"
#include "benchmarks/compare/processes.hpp"

#define COMPARE_NCCL(call) ggas::compare::require(call, #call)

namespace ggas::compare {

inline void require(ncclResult_t r, const char* what) {
  if (r == ncclSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, ncclGetErrorString(r));
  std::exit(1);
}

struct member {
  crew& all;
  origin from;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  outcome* found = nullptr;  // host memory that kernels write
};

struct buffers {
  float *in, *out;
};

// A graph of what queue(i) queues for i < `nodes`.
inline cudaGraphExec_t capture(const member& m, int nodes, const std::function<void(uint64_t i)>& queue) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  COMPARE_CUDA(cudaStreamBeginCapture(m.stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < nodes; ++i) queue(static_cast<uint64_t>(i));
  COMPARE_CUDA(cudaStreamEndCapture(m.stream, &graph));
  COMPARE_CUDA(cudaGraphInstantiate(&ready, graph, 0));
  COMPARE_CUDA(cudaGraphUpload(ready, m.stream));
  COMPARE_CUDA(cudaStreamSynchronize(m.stream));
  COMPARE_CUDA(cudaGraphDestroy(graph));
  return ready;
}

// Time in ns of a launch of the graph: of the slowest GPU. A launch before it makes all GPUs begin together.
inline double launch(member& m, cudaGraphExec_t graph) {
  m.all.meet();
  COMPARE_CUDA(cudaGraphLaunch(graph, m.stream));
  COMPARE_CUDA(cudaEventRecord(m.begin, m.stream));
  COMPARE_CUDA(cudaGraphLaunch(graph, m.stream));
  COMPARE_CUDA(cudaEventRecord(m.end, m.stream));
  COMPARE_CUDA(cudaStreamSynchronize(m.stream));
  float ms = 0;
  COMPARE_CUDA(cudaEventElapsedTime(&ms, m.begin, m.end));
  return 1e6 * m.all.largest(ms);
}

// Checks have found nothing wrong.
inline void require_right(const member& m, const char* what) {
  COMPARE_CUDA(cudaStreamSynchronize(m.stream));
  if (m.found->failed == 0) return;
  std::fprintf(stderr, "NCCL, %s: GPU %d found %llu wrong\n", what, m.all.rank(),
               static_cast<unsigned long long>(m.found->failed));
  std::exit(1);
}

void measure_messages(member& m, const char* variant, const buffers& b);  // nccl_messages.cu

}  // namespace ggas::compare
