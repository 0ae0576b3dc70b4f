// SPDX-License-Identifier: Apache-2.0
// Graphs on the host engine: a list of launches and copies that are queued again.
#include "userlib/cluster/engine_cluster.hpp"

namespace ggas::userlib {

result<> engine_cluster::keep(graph_step step) {
  graphs_.back().push_back(std::move(step));
  return {};
}

result<graph> engine_cluster::make_graph(const stream& s, const std::function<result<>()>& queue) {
  if (auto ok = check_stream(s, "make_graph"); !ok) return std::move(ok.error());
  if (recorded_) return error{errc::bad_argument, "make_graph: another graph is being made"};
  graphs_.emplace_back();
  recorded_ = s;
  const auto queued = queue();
  recorded_.reset();
  if (queued && !graphs_.back().empty()) return graph{s.node, graphs_.size()};
  graphs_.pop_back();
  return queued ? error{errc::bad_argument, "make_graph: nothing was queued on the stream"} : queued.error();
}

result<std::vector<engine_cluster::graph_step>*> engine_cluster::steps_of(const graph& g, const std::string& what) {
  if (g.id > 0 && g.id <= graphs_.size() && !graphs_[g.id - 1].empty()) return &graphs_[g.id - 1];
  return error{errc::bad_argument, what + ": not a graph, or one that was dropped"};
}

result<> engine_cluster::launch_graph(const graph& g, const stream& s) {
  if (auto ok = check_stream(s, "launch_graph"); !ok) return ok;
  const auto steps = steps_of(g, "launch_graph");
  if (!steps) return steps.error();
  if (g.node != s.node)
    return error{errc::bad_argument, "launch_graph: a graph of node " + std::to_string(g.node) +
                                         " on a stream of node " + std::to_string(s.node)};
  for (const graph_step& step : **steps)
    if (auto ok = step(s); !ok) return ok;
  return {};
}

result<> engine_cluster::drop_graph(const graph& g) {
  const auto steps = steps_of(g, "drop_graph");
  if (!steps) return steps.error();
  (*steps)->clear();
  return {};
}

}  // namespace ggas::userlib
