// SPDX-License-Identifier: Apache-2.0
// Graphs of launches and copies, by capturing what a stream gets.
#include <algorithm>

#include "userlib/cluster/providers/cuda/parts.hpp"

namespace ggas {

using userlib::attempt;
using userlib::reported;

namespace {

cudaGraphExec_t executable(const graph& g) { return reinterpret_cast<cudaGraphExec_t>(g.id); }

attempt<cudaGraphExec_t> instantiate(const std::string& name, cudaGraph_t captured) {
  cudaGraphExec_t made = nullptr;
  size_t steps = 0;
  attempt<> ok = GGAS_RUNTIME(name, cudaGraphGetNodes, captured, nullptr, &steps);
  if (ok && steps == 0) return std::unexpected("make_graph: nothing was queued on the stream");
  if (ok) ok = GGAS_RUNTIME(name, cudaGraphInstantiate, &made, captured, 0);
  if (!ok) return std::unexpected(ok.error());
  return made;
}

auto find(std::vector<graph>& all, const graph& g) {
  return std::ranges::find_if(all, [&](const graph& one) { return one.id == g.id && one.node == g.node; });
}

error no_graph(const std::string& what) {
  return {errc::bad_argument, what + ": not a graph, or one that was dropped"};
}

}  // namespace

result<graph> cuda_cluster::make_graph(const stream& s, const std::function<result<>()>& queue) {
  if (auto ok = userlib::check_node(*this, s.node, "make_graph"); !ok) return std::move(ok.error());
  const std::string name = "graph of node " + std::to_string(s.node);
  attempt<> ok = GGAS_RUNTIME(name, cudaSetDevice, device(s.node));
  // Relaxed: other threads go on with their calls.
  if (ok) ok = GGAS_RUNTIME(name, cudaStreamBeginCapture, cuda_stream(s), cudaStreamCaptureModeRelaxed);
  if (!ok) return reported(ok).error();
  const result<> queued = queue();
  cudaGraph_t captured = nullptr;
  ok = GGAS_RUNTIME(name, cudaStreamEndCapture, cuda_stream(s), &captured);
  attempt<cudaGraphExec_t> made = std::unexpected(ok ? std::string() : ok.error());
  if (queued && ok) made = instantiate(name, captured);
  if (captured) cudaGraphDestroy(captured);
  if (!queued) return queued.error();
  if (!made) return error{errc::device_fault, made.error()};
  return parts_->graphs.emplace_back(graph{s.node, reinterpret_cast<uintptr_t>(*made)});
}

result<> cuda_cluster::launch_graph(const graph& g, const stream& s) {
  if (auto ok = userlib::check_node(*this, s.node, "launch_graph"); !ok) return ok;
  if (find(parts_->graphs, g) == parts_->graphs.end()) return no_graph("launch_graph");
  const std::string name = "graph of node " + std::to_string(g.node);
  if (g.node != s.node)
    return error{errc::bad_argument, "launch_graph: a " + name + " on a stream of node " + std::to_string(s.node)};
  attempt<> ok = GGAS_RUNTIME(name, cudaSetDevice, device(s.node));
  if (ok) ok = GGAS_RUNTIME(name, cudaGraphLaunch, executable(g), cuda_stream(s));
  return reported(ok);
}

result<> cuda_cluster::drop_graph(const graph& g) {
  const auto at = find(parts_->graphs, g);
  if (at == parts_->graphs.end()) return no_graph("drop_graph");
  parts_->graphs.erase(at);
  return reported(GGAS_RUNTIME("graph of node " + std::to_string(g.node), cudaGraphExecDestroy, executable(g)));
}

}  // namespace ggas
