// SPDX-License-Identifier: Apache-2.0
// NCCL's collectives and messages as nodes of a CUDA graph, one process a GPU, NVLink multicast off. Prints a record a
// line: variant `nccl` for plain device memory, `nccl_window` for memory that was registered as a symmetric window
// (NCCL's fastest).
//
//   compare_nccl [GPUs [GROUP]]      GPUs 0 or nothing: all of them; collectives (as without a group), messages, or
//                                    energy: joules of calls, no times
#include "benchmarks/compare/nccl.cuh"

#include <algorithm>
#include <string_view>
#include <vector>

#include "benchmarks/compare/energy.hpp"

namespace ggas::compare {

namespace {

constexpr unsigned timeout_s = 150;
constexpr size_t most_elements = size_t{32} << 20, most_parts = size_t{16} << 20;

member join(crew& all) {
  int version = 0;
  COMPARE_NCCL(ncclGetVersion(&version));
  const std::string library = library_text("NCCL", version / 10000, version / 100 % 100, version % 100);
  member m{all, origin_of(all.size(), library)};
  ncclUniqueId id{};
  if (all.rank() == 0) COMPARE_NCCL(ncclGetUniqueId(&id));
  all.share(&id, sizeof(id));
  COMPARE_CUDA(cudaSetDevice(all.rank()));
  COMPARE_NCCL(ncclCommInitRank(&m.comm, all.size(), id, all.rank()));
  COMPARE_CUDA(cudaStreamCreateWithFlags(&m.stream, cudaStreamNonBlocking));
  COMPARE_CUDA(cudaEventCreate(&m.begin));
  COMPARE_CUDA(cudaEventCreate(&m.end));
  COMPARE_CUDA(cudaMallocHost(&m.found, sizeof(outcome)));
  *m.found = {0, 0};
  return m;
}

using collective = ncclResult_t (*)(const buffers&, size_t elements, const member&);

ncclResult_t allreduce(const buffers& b, size_t elements, const member& m) {
  return ncclAllReduce(b.in, b.out, elements, ncclFloat, ncclSum, m.comm, m.stream);
}
ncclResult_t reduce(const buffers& b, size_t elements, const member& m) {
  return ncclReduce(b.in, b.out, elements, ncclFloat, ncclSum, 0, m.comm, m.stream);
}
ncclResult_t broadcast(const buffers& b, size_t elements, const member& m) {
  return ncclBroadcast(b.in, b.out, elements, ncclFloat, 0, m.comm, m.stream);
}
ncclResult_t allgather(const buffers& b, size_t elements, const member& m) {
  return ncclAllGather(b.in, b.out, elements, ncclFloat, m.comm, m.stream);
}
ncclResult_t alltoall(const buffers& b, size_t elements, const member& m) {
  if (const ncclResult_t r = ncclGroupStart(); r != ncclSuccess) return r;
  for (int peer = 0; peer < m.all.size(); ++peer) {
    const size_t at = static_cast<size_t>(peer) * elements;
    if (const ncclResult_t r = ncclSend(b.in + at, elements, ncclFloat, peer, m.comm, m.stream); r != ncclSuccess)
      return r;
    if (const ncclResult_t r = ncclRecv(b.out + at, elements, ncclFloat, peer, m.comm, m.stream); r != ncclSuccess)
      return r;
  }
  return ncclGroupEnd();
}
ncclResult_t reducescatter(const buffers& b, size_t elements, const member& m) {
  return ncclReduceScatter(b.in, b.out, elements, ncclFloat, ncclSum, m.comm, m.stream);
}
ncclResult_t gather(const buffers& b, size_t elements, const member& m) {
  return ncclGather(b.in, b.out, elements, ncclFloat, 0, m.comm, m.stream);
}
ncclResult_t scatter(const buffers& b, size_t elements, const member& m) {
  return ncclScatter(b.in, b.out, elements, ncclFloat, 0, m.comm, m.stream);
}

// The calls of a measured graph in one that no one times: each with data of its own into a destination that was
// overwritten, all of which is looked at.
void check_graph(const member& m, moved what, collective call, const buffers& b, size_t elements, int nodes) {
  m.all.meet();
  cudaGraphExec_t graph = capture(m, nodes, [&](uint64_t i) {
    const vectors v{what, m.all.rank(), m.all.size(), elements, 1000 + i};
    give_vectors<<<check_blocks, check_threads, 0, m.stream>>>(v, b.in, b.out);
    COMPARE_NCCL(call(b, elements, m));
    check_vectors<<<check_blocks, check_threads, 0, m.stream>>>(v, b.out, m.found);
  });
  COMPARE_CUDA(cudaGraphLaunch(graph, m.stream));
  require_right(m, name_of(what));
  COMPARE_CUDA(cudaGraphExecDestroy(graph));
}

void measure(member& m, const char* variant, moved what, collective call, const buffers& b, size_t elements) {
  const int nodes = elements >= (4u << 20) ? 8 : 50;
  check_graph(m, what, call, b, elements, nodes);
  cudaGraphExec_t graph = capture(m, nodes, [&](uint64_t) { COMPARE_NCCL(call(b, elements, m)); });
  figure f{
      name_of(what), variant, "time", "ns", {{"elements", static_cast<int64_t>(elements)}, {"method", 0, "graph"}}, {}};
  for (uint64_t run = 0; run <= repetitions; ++run) {
    const vectors v{what, m.all.rank(), m.all.size(), elements, run};
    give_vectors<<<check_blocks, check_threads, 0, m.stream>>>(v, b.in, b.out);
    const double ns = launch(m, graph) / nodes;
    check_vectors<<<check_blocks, check_threads, 0, m.stream>>>(v, b.out, m.found);
    require_right(m, name_of(what));
    if (run > 0) f.samples.push_back(ns);
  }
  COMPARE_CUDA(cudaGraphExecDestroy(graph));
  if (m.all.rank() == 0) print(m.from, f);
}

void measure_all(member& m, const char* variant, const buffers& b) {
  for (const size_t elements :
       {size_t{1}, size_t{64}, size_t{1} << 10, size_t{1} << 14, size_t{1} << 18, size_t{1} << 22, most_elements})
    measure(m, variant, moved::allreduce, allreduce, b, elements);
  for (const unsigned k : {0, 10, 14, 16, 20, 22, 24}) {
    const size_t elements = size_t{1} << k;
    measure(m, variant, moved::reduce, reduce, b, elements);
    measure(m, variant, moved::broadcast, broadcast, b, elements);
    measure(m, variant, moved::allgather, allgather, b, elements);
    measure(m, variant, moved::alltoall, alltoall, b, elements);
    measure(m, variant, moved::reducescatter, reducescatter, b, elements);
    measure(m, variant, moved::gather, gather, b, elements);
    measure(m, variant, moved::scatter, scatter, b, elements);
  }
}

// For the longest vector, and for the longest parts of all.
size_t buffer_bytes(const member& m) {
  return std::max(most_elements, most_parts * static_cast<size_t>(m.all.size())) * sizeof(float);
}

buffers plain_buffers(const member& m) {
  buffers b{};
  COMPARE_CUDA(cudaMalloc(&b.in, buffer_bytes(m)));
  COMPARE_CUDA(cudaMalloc(&b.out, buffer_bytes(m)));
  return b;
}

// Memory at the same place of a window of every GPU: NCCL's kernels then store to peers directly.
buffers window_buffers(const member& m) {
  buffers b{};
  for (float** p : {&b.in, &b.out}) {
    ncclWindow_t window = nullptr;
    const size_t bytes = buffer_bytes(m);
    COMPARE_NCCL(ncclMemAlloc(reinterpret_cast<void**>(p), bytes));
    COMPARE_NCCL(ncclCommWindowRegister(m.comm, *p, bytes, &window, NCCL_WIN_COLL_SYMMETRIC));
  }
  return b;
}

// Calls of 1 Ki floats (for each GPU), as the loads of GGAS's benchmark `energy`; here they are nodes of a graph.
void measure_energy(member& m) {
  constexpr size_t elements = 1 << 10;
  static constexpr int nodes = 50, launches = 40;
  constexpr bench::work_metric per_call{"energy_per_call", "J"};
  const buffers b = window_buffers(m);
  const auto load_of = [&](moved what, collective call) {
    check_graph(m, what, call, b, elements, nodes);
    cudaGraphExec_t graph = capture(m, nodes, [&](uint64_t) { COMPARE_NCCL(call(b, elements, m)); });
    return energy_load{name_of(what), per_call, elements, nodes * launches, [&m, graph] {
                         for (int i = 0; i < launches; ++i) COMPARE_CUDA(cudaGraphLaunch(graph, m.stream));
                         COMPARE_CUDA(cudaStreamSynchronize(m.stream));
                       }};
  };
  const energy_load loads[] = {load_of(moved::allreduce, allreduce), load_of(moved::alltoall, alltoall)};
  crew_energy energy(m.all, m.from, "nccl_window");
  energy.idle(loads[0]);
  for (const energy_load& load : loads) energy.measure(load);
}

using group = void (*)(member& m, const char* variant, const buffers& b);

int work(crew& all, group measured) {
  member m = join(all);
  if (all.rank() == 0) std::fprintf(stderr, "%s\n", m.from.library.c_str());
  if (!measured) {
    measure_energy(m);
  } else {
    measured(m, "nccl", plain_buffers(m));
    measured(m, "nccl_window", window_buffers(m));
  }
  all.meet();
  return 0;
}

}  // namespace

}  // namespace ggas::compare

int main(int argc, char** argv) {
  using namespace ggas::compare;
  set_environment();
  const std::string_view name = argc == 3 ? argv[2] : "collectives";
  const group measured = name == "collectives" ? measure_all : name == "messages" ? measure_messages : nullptr;
  const bool known = measured || name == "energy";
  return run_on_gpus(known ? std::min(argc, 2) : argc, argv, timeout_s,
                     [measured](crew& all) { return work(all, measured); });
}
