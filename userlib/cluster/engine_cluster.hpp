// SPDX-License-Identifier: Apache-2.0
// Shared by the providers whose kernels run on the host engine: one process, and memory that the host can access.
#pragma once

#include <optional>
#include <vector>

#include "gpu_api/simt/engine.hpp"
#include "userlib/cluster/providers.hpp"

namespace ggas::userlib {

class engine_cluster : public cluster {
 public:
  const cluster_config& config() const override { return cfg_; }
  std::span<const int> local_nodes() const override { return all_; }
  result<> abort() override;
  result<hang_report> report() override;
  result<> reset(uint64_t timeout_ns) override;
  result<graph> make_graph(const stream& s, const std::function<result<>()>& queue) override;
  result<> launch_graph(const graph& g, const stream& s) override;
  result<> drop_graph(const graph& g) override;

 protected:
  explicit engine_cluster(const cluster_config& cfg);
  bool valid(int node) const { return node >= 0 && node < cfg_.nodes; }
  // A launch on a stream of the cluster.
  result<> check_launch(const stream& s, const simt::launch& l) const;
  result<> check_block(const stream& s, extent block) const;
  result<> check_stream(const stream& s, const std::string& what) const;
  result<> check_event(const event& e, const std::string& what) const;
  result<> check_event(const event& e, const stream& s, const std::string& what) const;
  result<> check_copies(const stream& s, const void* to, const void* from, size_t bytes);

  // A step of a graph, for the stream on which the graph is launched.
  using graph_step = std::function<result<>(const stream&)>;
  // Whether a graph is made of what that stream gets; then each step is kept.
  bool recording(const stream& s) const { return recorded_ && recorded_->node == s.node && recorded_->id == s.id; }
  result<> keep(graph_step step);

  const cluster_config cfg_;
  // The node of each stream next to the nodes' own ones, and of each event; their ids count from 1.
  std::vector<int> stream_nodes_, event_nodes_;

 private:
  // What runs on a node may have died with it.
  virtual bool alive(int /*node*/) const { return true; }
  // Resets the NICs' collective units to the state of a new cluster.
  virtual result<> restart_collectives() { return {}; }

  result<std::vector<graph_step>*> steps_of(const graph& g, const std::string& what);

  std::vector<int> all_;
  std::optional<stream> recorded_;
  std::vector<std::vector<graph_step>> graphs_;  // ids count from 1; empty: dropped
};

}  // namespace ggas::userlib
