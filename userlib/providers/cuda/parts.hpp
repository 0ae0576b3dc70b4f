// SPDX-License-Identifier: Apache-2.0
// What a cuda_cluster holds and how it is made, in the order of making.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "ggas/cuda_cluster.hpp"
#include "userlib/providers/cuda/memory.hpp"
#include "userlib/providers/cuda/plan.hpp"
#include "userlib/providers/cuda/trace.hpp"
#include "userlib/src/report/on_signal.hpp"

namespace ggas {

struct cuda_cluster::parts {
  template <class T = void>
  using attempt = userlib::attempt<T>;
  using pieces = std::vector<userlib::gpu_memory>;  // one of each node
  using gpu_id = std::array<char, 16>;              // a UUID

  parts(cuda_cluster& owner, const cuda_config& c) : self(owner), cfg(c) {}

  attempt<> join();                    // finds the other processes
  attempt<> choose_devices();          // which node runs on which GPU
  attempt<> open_devices();            // of this process: CUDA's contexts, streams
  attempt<> compare();                 // settings and GPUs of all processes
  attempt<> reserve();                 // addresses
  attempt<> add_memory(size_t bytes);  // behind what the segments have; on an error nothing has changed
  attempt<> make_zero(size_t from, size_t bytes) const;  // in the segments of the local nodes
  void fill_contexts();
  void watch_signals();
  attempt<> start_trace();  // where the variable GGAS_TRACE asks for one
  attempt<> end_trace();    // writes the file; streams are idle
  // How something went here becomes how it went everywhere.
  attempt<> agree(const char* what, const attempt<>& here);
  attempt<> agree_on_growth(size_t bytes, const attempt<>& here);

  cuda_cluster& self;
  cuda_config cfg;
  std::unique_ptr<userlib::bootstrap> others;  // null: this process runs all nodes
  std::vector<gpu_id> seen;                    // GPUs that this process sees, by CUDA's number
  std::vector<int> gpus;                       // those it uses: all of them reach all segments
  cudaStream_t aborts = nullptr;               // of the first of them, ahead of all other streams
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

 private:
  attempt<> see_gpus();
  attempt<> open_aborts();
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
