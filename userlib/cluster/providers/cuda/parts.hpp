// SPDX-License-Identifier: Apache-2.0
// What a cuda_cluster holds and how it is made, in the order of making.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "userlib/cluster/programs/programs.hpp"
#include "userlib/cluster/providers.hpp"
#include "userlib/cluster/providers/cuda/cuda_cluster.hpp"
#include "userlib/cluster/providers/cuda/green.hpp"
#include "userlib/cluster/providers/cuda/memory.hpp"
#include "userlib/cluster/providers/cuda/plan.hpp"
#include "userlib/cluster/providers/cuda/trace.hpp"
#include "userlib/cluster/report/on_signal.hpp"

namespace ggas {

namespace userlib {
// For failures that only have a text.
inline result<> reported(const attempt<>& a, errc code = errc::device_fault) {
  return a ? result<>() : error{code, a.error()};
}
}  // namespace userlib

struct cuda_cluster::parts {
  template <class T = void>
  using attempt = userlib::attempt<T>;
  using pieces = std::vector<userlib::gpu_memory>;  // one of each node
  using gpu_id = std::array<char, 16>;              // a UUID

  parts(cuda_cluster& owner, const cluster_config& c) : self(owner), cfg(c) {}

  attempt<> join();               // finds the other processes
  attempt<> choose_devices();     // which node runs on which GPU
  attempt<> open_devices();       // of this process: CUDA's contexts, streams, pinned memory
  attempt<> open_target_sides();  // of several nodes in this process
  void close_devices();
  attempt<std::string> waiting() const;
  // Next to kernels; done when it returns.
  attempt<> copy(int node, void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                 const std::string& what) const;
  attempt<> look(int node, void* to, uint64_t offset, size_t bytes) const;  // at any node's segment
  attempt<> compare();                                                      // settings and GPUs of all processes
  attempt<> reserve();                                                      // addresses
  attempt<> add_memory(size_t bytes);  // after what the segments have; on an error nothing has changed
  attempt<> make_zero(size_t from, size_t bytes) const;  // in the segments of the local nodes
  void fill_contexts();
  void watch_signals();
  attempt<> start_trace();  // where the variable GGAS_TRACE asks for one
  attempt<> end_trace();    // writes the file; streams are idle
  // How something went here becomes how it went everywhere.
  attempt<> agree(const char* what, const attempt<>& here);
  attempt<> agree_on_growth(size_t bytes, const attempt<>& here);

  cuda_cluster& self;
  cluster_config cfg;
  std::unique_ptr<userlib::bootstrap> others;  // null: this process runs all nodes
  std::vector<gpu_id> seen;                    // GPUs that this process sees, by CUDA's number
  std::vector<int> gpus;                       // those it uses: all of them reach all segments
  std::vector<stream> streams;                 // of the local nodes: their own ones, and those of make_stream()
  userlib::green_contexts green;               // of streams with multiprocessors of their own
  std::vector<event> events;
  std::vector<graph> graphs;         // ids are cudaGraphExec_t
  std::vector<cudaStream_t> aside;   // of each local node, by node: for copies, ahead of all other streams
  std::vector<target_side> targets;  // of each node; empty: none
  std::vector<void*> pinned;         // of each local node, by node; empty: none
  userlib::passing passing = userlib::passing::none;
  tuning tuned{};
  size_t granularity = 1;
  uint64_t stride = 0;
  std::optional<userlib::address_range> window;
  size_t mapped = 0;                           // bytes of every segment that have memory
  std::vector<userlib::mapping> segments;      // pieces of all nodes
  std::filesystem::path trace_file;            // empty: calls are not traced
  std::vector<userlib::traced_memory> traces;  // of the local nodes
  size_t used = 0;                             // of those; the rest is of an attempt that failed
  std::optional<userlib::report_on_signal> on_signal;
  host_programs programs;  // last: they use the rest

 private:
  attempt<> see_gpus();
  attempt<> open_aside(int node);
  attempt<> pin(int node);
  attempt<std::string> lacks_atomics(const std::vector<userlib::claim>& claims) const;
  attempt<> agree_on_atomics(const attempt<std::string>& lacks);
  std::vector<int> peers_of(const std::vector<userlib::claim>& claims) const;
  attempt<> reaches_all(const std::vector<userlib::claim>& claims) const;
  attempt<pieces> make_pieces(size_t bytes) const;     // memory of the local nodes
  attempt<pieces> exchange_pieces(pieces mine) const;  // of all nodes
  attempt<> map_pieces(pieces all, size_t bytes);
  void drop_unused();
};

}  // namespace ggas
