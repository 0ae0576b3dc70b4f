// SPDX-License-Identifier: Apache-2.0
// Graphs that every node captures from its stream, launched together and timed on the GPUs. Included after rig.cuh.
#pragma once

#include <algorithm>
#include <vector>

#include "benchmarks/cuda/rigs/rig.cuh"
#include "ggas/on_stream.cuh"

namespace ggas::bench {
namespace {

// Each translation unit has its own class, because the kernels of on-stream calls and their device context belong to
// one.
class node_graphs {
 public:
  explicit node_graphs(gpu_session& s) : s_(s) {
    for (int node = 0; node < s_.nodes(); ++node) {
      use(node);
      for (cudaEvent_t* e : {&begin_.emplace_back(), &end_.emplace_back()}) s_.keep(cudaEventCreate(e), "event");
    }
  }
  ~node_graphs() {
    if (s_.stuck()) return;  // the graphs still run
    for (int node = 0; node < s_.nodes(); ++node) {
      use(node);
      for (cudaEvent_t e : {begin_[at(node)], end_[at(node)]}) cudaEventDestroy(e);
      if (at(node) < graphs_.size()) cudaGraphExecDestroy(graphs_[at(node)]);
    }
  }
  node_graphs(const node_graphs&) = delete;
  node_graphs& operator=(const node_graphs&) = delete;

  // queue(node) queues the work of a node and says whether it could. Graphs are uploaded here: no one waits yet.
  template <class F>
  void capture(F queue) {
    for (int node = 0; node < s_.nodes(); ++node) {
      use(node);
      cudaGraph_t graph{};
      s_.keep(cudaStreamBeginCapture(stream(node), cudaStreamCaptureModeThreadLocal), "capture");
      s_.keep(queue(node), "queue");
      s_.keep(cudaStreamEndCapture(stream(node), &graph), "capture");
      s_.keep(cudaGraphInstantiate(&graphs_.emplace_back(), graph, 0), "graph");
      s_.keep(cudaGraphUpload(graphs_.back(), stream(node)), "graph");
      s_.keep(cudaGraphDestroy(graph), "graph");
    }
  }

  // Launches the graphs of all nodes after a barrier. Gives the time of the slowest node in ns.
  fault run(const std::string& what, double& ns) {
    return timed(
        what, [&](int node) { return cudaGraphLaunch(graphs_[at(node)], stream(node)); }, ns);
  }
  // The same for work that is queued now.
  template <class F>
  fault timed(const std::string& what, F queue, double& ns) {
    for (int node = 0; node < s_.nodes(); ++node) {
      s_.keep(barrier_on_stream(s_.machine(), node, {s_.wait_ns(), nullptr}), "barrier");
      s_.keep(cudaEventRecord(begin_[at(node)], stream(node)), "event");
      s_.keep(queue(node), "queue");
      s_.keep(cudaEventRecord(end_[at(node)], stream(node)), "event");
    }
    GGAS_GPU_TRY(s_.run(what));
    ns = 0;
    for (int node = 0; node < s_.nodes(); ++node) {
      float ms = 0;
      s_.keep(cudaEventElapsedTime(&ms, begin_[at(node)], end_[at(node)]), "event");
      ns = std::max(ns, double{ms} * 1e6);
    }
    return {};
  }

  // Work of one node, in which the others take no part. Nothing precedes it, because a change from a kernel to a copy
  // engine would be part of the time.
  template <class F>
  fault timed_alone(int node, const std::string& what, F queue, double& ns) {
    use(node);
    s_.keep(cudaEventRecord(begin_[at(node)], stream(node)), "event");
    s_.keep(queue(), "queue");
    s_.keep(cudaEventRecord(end_[at(node)], stream(node)), "event");
    GGAS_GPU_TRY(s_.run(what));
    float ms = 0;
    s_.keep(cudaEventElapsedTime(&ms, begin_[at(node)], end_[at(node)]), "event");
    ns = double{ms} * 1e6;
    return {};
  }

 private:
  static size_t at(int node) { return static_cast<size_t>(node); }
  cudaStream_t stream(int node) { return s_.machine().cuda_stream(node); }
  void use(int node) { s_.keep(cudaSetDevice(s_.machine().device(node)), "cudaSetDevice"); }

  gpu_session& s_;
  std::vector<cudaEvent_t> begin_, end_;
  std::vector<cudaGraphExec_t> graphs_;
};

}  // namespace
}  // namespace ggas::bench
