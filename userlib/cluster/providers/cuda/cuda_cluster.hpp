// SPDX-License-Identifier: Apache-2.0
// Provider `cuda`: the GPUs of this computer as one global address space. A node is a GPU with a segment of its own
// memory; all segments lie in one range of addresses, so that the window of the device API is plain memory. One process
// drives all GPUs, or one process each (docs/cuda-provider.md).
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ggas/cluster.hpp"

namespace ggas {

class cuda_cluster final : public cluster {
 public:
  static result<std::unique_ptr<cluster>> create(const cluster_config& cfg);
  ~cuda_cluster() override;

  const cluster_config& config() const override;
  std::span<const int> local_nodes() const override { return local_; }
  const context& device_context(int node) const override { return contexts_.at(static_cast<size_t>(node)); }

  std::byte* segment(int node) override;
  result<> write(int node, uint64_t offset, const void* from, size_t bytes) override;
  result<> read(int node, uint64_t offset, void* to, size_t bytes) override;
  host_region host_memory(int node) override;
  result<> grow(size_t bytes) override;

  result<stream> make_stream(int node, int priority) override;
  result<stream> make_stream_on(int node, unsigned multiprocessors) override;
  unsigned multiprocessors(const stream& s) const override;
  result<event> make_event(int node) override;
  result<> record(const event& e, const stream& s) override;
  result<> wait(const stream& s, const event& e) override;
  result<bool> reached(const event& e) override;
  result<graph> make_graph(const stream& s, const std::function<result<>()>& queue) override;
  result<> launch_graph(const graph& g, const stream& s) override;
  result<> drop_graph(const graph& g) override;

  result<> launch(const stream& s, extent grid, const block_shape& block, std::function<void()> kernel,
                  std::string name) override;
  result<> copy_on_stream(const stream& s, void* to, const void* from, size_t bytes) override;
  result<> launch_host(int node, std::function<void(host&)> program, std::string name) override;
  result<> start() override;  // kernels that are queued have begun
  result<bool> poll() override;
  result<run_stats> run(uint64_t timeout_ns, host_sync how) override;

  result<> abort() override;
  result<hang_report> report() override;
  result<> reset(uint64_t timeout_ns) override;
  result<> meet(const std::string& where) override;
  result<> same(const std::string& text) override;

  int device(int node) const override;
  cudaStream_t cuda_stream(const stream& s) const override;
  std::optional<target_side> at_target(int node) const override;
  bool shares_gpu(int node) const override;
  const std::string& lacks_atomics() const override { return lacks_atomics_; }
  result<> write_constants(int node, void* at) override;
  uint64_t constants_number() const override { return number_; }
  uint64_t now_ns() const override;

 private:
  struct parts;
  explicit cuda_cluster(const cluster_config& cfg);
  result<> open();
  result<> wait_for_all(uint64_t timeout_ns);
  result<> stop_programs();
  error too_late(uint64_t timeout_ns);
  result<> idle(const char* what);

  std::unique_ptr<parts> parts_;
  std::vector<int> local_, devices_;
  std::vector<bool> shared_;
  std::vector<cudaStream_t> streams_;
  std::vector<context> contexts_;
  std::string lacks_atomics_;
  uint64_t number_ = 0;
};

}  // namespace ggas
