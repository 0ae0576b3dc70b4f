// SPDX-License-Identifier: Apache-2.0
// What a simulated cluster shall run: streams, events, kernels, programs of hosts.
#include "userlib/cluster/providers/sim/simulated_cluster.hpp"

namespace ggas::userlib {

result<stream> sim_cluster::make_stream(int node, int priority) {
  if (auto ok = check_node(*this, node, "make_stream"); !ok) return std::move(ok.error());
  stream_nodes_.push_back(node);
  if (owns(node)) gpu_of(node).set_priority(unsigned(stream_nodes_.size()), priority);
  return stream(node, stream_nodes_.size());
}

result<event> sim_cluster::make_event(int node) {
  if (auto ok = check_node(*this, node, "make_event"); !ok) return std::move(ok.error());
  if (sim::process_ranks()) return fail(errc::unsupported, "make_event: with ranks only one process would see it");
  event_nodes_.push_back(node);
  events_.emplace_back();
  return event{node, event_nodes_.size()};
}

result<> sim_cluster::record(const event& e, const stream& s) {
  if (auto ok = check_event(e, s, "record"); !ok) return ok;
  gpu_of(s.node).record(events_[e.id - 1] = std::make_shared<gpu::mark>(), unsigned(s.id));
  return {};
}

result<> sim_cluster::wait(const stream& s, const event& e) {
  if (auto ok = check_event(e, s, "wait"); !ok) return ok;
  if (const auto& last = events_[e.id - 1]) gpu_of(s.node).wait(last, unsigned(s.id));
  return {};
}

result<bool> sim_cluster::reached(const event& e) {
  if (auto ok = check_event(e, "reached"); !ok) return std::move(ok.error());
  const auto& last = events_[e.id - 1];
  return !last || last->reached;
}

result<> sim_cluster::launch(const stream& s, extent grid, const block_shape& block, std::function<void()> kernel,
                             std::string name) {
  simt::launch l{.grid = {grid.x, grid.y, grid.z},
                 .block = {block.x, block.y, block.z},
                 .kernel = std::move(kernel),
                 .name = std::move(name),
                 .shared_bytes = block.shared_bytes};
  if (auto ok = check_launch(s, l); !ok) return ok;
  if (auto ok = check_alive(s.node, fmt::format("kernel '{}'", l.name)); !ok) return ok;
  // With ranks all GPUs are alike.
  if (const auto wrong = gpu_of(owns(s.node) ? s.node : own_.front()).check(l.grid, l.block))
    return fail(errc::bad_argument, "node {}: kernel '{}': {}", s.node, l.name, *wrong);
  const auto queue = [this](const stream& to, simt::launch one) -> result<> {
    if (owns(to.node)) gpu_of(to.node).launch(std::move(one), unsigned(to.id));
    return {};
  };
  if (recording(s)) return keep([queue, l](const stream& to) { return queue(to, l); });
  return queue(s, std::move(l));
}

result<> sim_cluster::copy_on_stream(const stream& s, void* to, const void* from, size_t bytes) {
  if (auto ok = check_copies(s, to, from, bytes); !ok) return ok;
  if (auto ok = check_alive(s.node, "copy_on_stream"); !ok) return ok;
  if (recording(s)) return keep([=, this](const stream& later) { return copy_on_stream(later, to, from, bytes); });
  if (!owns(s.node) || gpu_of(s.node).copy(to, from, bytes, unsigned(s.id))) return {};
  return fail(errc::unsupported, "copy_on_stream: node {}: its GPU of model '{}' has no copy engine", s.node,
              parts_of(homes_.of(s.node).host).gpu.model);
}

result<block_room> sim_cluster::room_for(const stream& s, extent block) const {
  if (auto ok = check_block(s, block); !ok) return std::move(ok.error());
  const gpu::device& g = gpu_of(owns(s.node) ? s.node : own_.front());  // with ranks all GPUs are alike
  const simt::dim3 shape{block.x, block.y, block.z};
  if (const auto wrong = g.check(1, shape)) return fail(errc::bad_argument, "node {}: {}", s.node, *wrong);
  gpu::device::room r = g.room_for(shape);
  return block_room{r.blocks, std::move(r.limit)};
}

result<> sim_cluster::check_alive(int node, const std::string& what) const {
  if (alive(node)) return {};
  return fail(errc::device_fault, "{}: node {} is dead, by a fault", what, node);
}

result<> sim_cluster::launch_host(int node, std::function<void(host&)> program, std::string name) {
  if (auto ok = check_program(*this, node, program, name); !ok) return ok;
  if (sim::process_ranks())
    return fail(errc::unsupported,
                "program '{}' of node {}: not possible with ranks, because its results would stay in one of them", name,
                node);
  if (auto ok = check_alive(node, fmt::format("program '{}'", name)); !ok) return ok;
  programs_.add(node, std::move(program), std::move(name));
  return {};
}

}  // namespace ggas::userlib
