// SPDX-License-Identifier: Apache-2.0
// NVSHMEM's collectives on a stream, as nodes of a CUDA graph.
#include "benchmarks/compare/checked.cuh"
#include "benchmarks/compare/nvshmem/nvshmem.cuh"

namespace ggas::compare {

namespace {

struct operands {
  float *to, *from;
  size_t elements;
};
using collective = int (*)(const operands&, cudaStream_t);

int allreduce(const operands& o, cudaStream_t s) {
  return nvshmemx_float_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, o.to, o.from, o.elements, s);
}
int broadcast(const operands& o, cudaStream_t s) {
  return nvshmemx_float_broadcast_on_stream(NVSHMEM_TEAM_WORLD, o.to, o.from, o.elements, 0, s);
}
int allgather(const operands& o, cudaStream_t s) {
  return nvshmemx_float_fcollect_on_stream(NVSHMEM_TEAM_WORLD, o.to, o.from, o.elements, s);
}
int alltoall(const operands& o, cudaStream_t s) {
  return nvshmemx_float_alltoall_on_stream(NVSHMEM_TEAM_WORLD, o.to, o.from, o.elements, s);
}

using stream_call = std::function<int(cudaStream_t, uint64_t number)>;

// A graph of `length` calls, in sequence. One goes before: what a first call makes is no work for a graph.
cudaGraphExec_t capture(cudaStream_t stream, const stream_call& call, int length) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  int wrong = call(stream, 0);
  COMPARE_CUDA(cudaStreamSynchronize(stream));
  COMPARE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < length; ++i) wrong |= call(stream, static_cast<uint64_t>(i));
  COMPARE_CUDA(cudaStreamEndCapture(stream, &graph));
  if (wrong != 0) {
    std::fprintf(stderr, "NVSHMEM: a call on a stream failed\n");
    std::exit(1);
  }
  COMPARE_CUDA(cudaGraphInstantiate(&ready, graph, 0));
  COMPARE_CUDA(cudaGraphUpload(ready, stream));
  COMPARE_CUDA(cudaStreamSynchronize(stream));
  COMPARE_CUDA(cudaGraphDestroy(graph));
  return ready;
}

// Time of a call in a graph that is launched after itself, so that all GPUs begin together, in the stream of its own
// that every member's graphs have.
void measure_graph(processing_element& pe, const figure& f, int length, const stream_call& call, job j) {
  pe.all.meet();
  cudaGraphExec_t graph = capture(pe.stream, call, length);
  j.start = j.lead = [&](uint64_t) { COMPARE_CUDA(cudaGraphLaunch(graph, pe.stream)); };
  measure_events(
      pe, f, pe.count(), [&](double ns) { return ns / length; }, j);
  COMPARE_CUDA(cudaGraphExecDestroy(graph));
}

// The calls of such a graph in one that no one times: each with data of its own into a destination that was
// overwritten, all of which is looked at.
void check_graph(processing_element& pe, const figure& f, int length, const operands& o, collective call,
                 const vectors& first) {
  pe.all.meet();
  cudaGraphExec_t graph = capture(
      pe.stream,
      [&](cudaStream_t s, uint64_t number) {
        vectors v = first;
        v.run += number;
        give_vectors<<<check_blocks, check_threads, 0, s>>>(v, o.from, o.to);
        nvshmemx_barrier_all_on_stream(s);  // all destinations are overwritten
        const int wrong = call(o, s);
        check_vectors<<<check_blocks, check_threads, 0, s>>>(v, o.to, pe.found);
        return wrong;
      },
      length);
  check_rounds(pe, f, pe.count(), {[&](uint64_t) { COMPARE_CUDA(cudaGraphLaunch(graph, pe.stream)); }});
  COMPARE_CUDA(cudaGraphExecDestroy(graph));
}

void measure(processing_element& pe, moved what, collective call, size_t elements) {
  const operands o{reinterpret_cast<float*>(pe.target), reinterpret_cast<float*>(pe.source), elements};
  const auto seen = [&, what](uint64_t run) { return vectors{what, pe.me(), pe.count(), elements, run}; };
  const int length = elements > (1u << 18) ? 8 : 50;
  const figure f{name_of(what),
                 "nvshmem",
                 "time",
                 "ns",
                 {{"elements", static_cast<int64_t>(elements)}, {"method", 0, "graph"}},
                 {}};
  check_graph(pe, f, length, o, call, seen(1000));
  measure_graph(
      pe, f, length, [&](cudaStream_t s, uint64_t) { return call(o, s); },
      {.start = {},
       .prepare =
           [&](uint64_t run) { give_vectors<<<check_blocks, check_threads, 0, pe.stream>>>(seen(run), o.from, o.to); },
       .check =
           [&](uint64_t run) {
             check_vectors<<<check_blocks, check_threads, 0, pe.stream>>>(seen(run), o.to, pe.found);
           }});
}

void measure_meeting(processing_element& pe, const char* method, int (*call)(cudaStream_t)) {
  measure_graph(pe, {"barrier", "nvshmem", "latency", "ns", {{"method", 0, method}}, {}}, 50,
                [=](cudaStream_t s, uint64_t) { return call(s); }, {});
}

}  // namespace

void measure_on_stream(processing_element& pe) {
  for (const unsigned k : {0, 10, 14, 18, 22, 25}) measure(pe, moved::allreduce, allreduce, size_t{1} << k);
  for (const unsigned k : {0, 10, 14, 16, 20, 22, 24}) {
    measure(pe, moved::broadcast, broadcast, size_t{1} << k);
    measure(pe, moved::allgather, allgather, size_t{1} << k);
    measure(pe, moved::alltoall, alltoall, size_t{1} << k);
  }
  measure_meeting(pe, "barrier_graph", [](cudaStream_t s) {
    nvshmemx_barrier_all_on_stream(s);
    return 0;
  });
  measure_meeting(pe, "sync_graph", [](cudaStream_t s) {
    nvshmemx_sync_all_on_stream(s);
    return 0;
  });
}

}  // namespace ggas::compare
