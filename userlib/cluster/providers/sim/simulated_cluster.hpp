// SPDX-License-Identifier: Apache-2.0
// The simulated cluster and its parts. set_up.cpp makes it, streams.cpp queues work, running.cpp runs it.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sim/gpu/device.hpp"
#include "sim/system.hpp"
#include "userlib/cluster/engine_cluster.hpp"
#include "userlib/cluster/providers/sim/coll_driver.hpp"
#include "userlib/cluster/providers/sim/homes.hpp"
#include "userlib/cluster/providers/sim/host_sync.hpp"
#include "userlib/cluster/providers/sim/layout.hpp"
#include "userlib/cluster/providers/sim/programs.hpp"
#include "userlib/cluster/providers/sim/reservation.hpp"

namespace ggas::userlib {

template <class... A>
error fail(errc code, fmt::format_string<A...> f, A&&... a) {
  return {code, fmt::format(f, std::forward<A>(a)...)};
}

class gpu_endpoint final : public sim::endpoint {
 public:
  explicit gpu_endpoint(std::unique_ptr<gpu::device> g) : gpu(std::move(g)) {}
  pcie::port& port() override { return gpu->port(); }
  std::map<std::string, uint64_t> counters() const override { return gpu->counters(); }

  std::unique_ptr<gpu::device> gpu;
};

class sim_cluster final : public engine_cluster, private driven_gpu {
 public:
  static result<std::unique_ptr<cluster>> create(const cluster_config& cfg, sim::nic_factory make_nic);

  std::byte* segment(int node) override { return valid(node) ? nodes_[size_t(node)].segment : nullptr; }
  const context& device_context(int node) const override { return nodes_.at(size_t(node)).seen; }
  host_region host_memory(int node) override {
    if (!valid(node)) return {};
    return {nodes_[size_t(node)].pinned, cfg_.host_bytes, nodes_[size_t(node)].host_nla};
  }
  std::span<const rma_queue> host_queues(int node) const override {
    if (!valid(node)) return {};
    return nodes_[size_t(node)].program_queues;
  }
  result<uint64_t> map_memory(int node, const void* at, size_t bytes) override;
  result<> unmap_memory(int node, uint64_t nla) override;
  result<stream> make_stream(int node, int priority) override;
  result<event> make_event(int node) override;
  result<> record(const event& e, const stream& s) override;
  result<> wait(const stream& s, const event& e) override;
  result<bool> reached(const event& e) override;
  result<> launch(const stream& s, extent grid, const block_shape& block, std::function<void()> kernel,
                  std::string name) override;
  result<> copy_on_stream(const stream& s, void* to, const void* from, size_t bytes) override;
  result<block_room> room_for(const stream& s, extent block) const override;
  result<> launch_host(int node, std::function<void(host&)> program, std::string name) override;
  result<> start() override;
  result<bool> poll() override;
  result<> reset(uint64_t timeout_ns) override;
  result<run_stats> run(uint64_t timeout_ns, host_sync how) override;
  uint64_t now_ns() const override { return system_->now_ps() / 1000; }
  std::map<std::string, uint64_t> counters(int node) const override {
    if (!valid(node)) return {};
    return system_->counters(homes_.of(node).host, homes_.of(node).gpu);
  }
  std::vector<energy_part> energy() const override {
    std::vector<energy_part> out;
    for (const power::part& p : system_->energy()) out.push_back({p.name, p.idle_j, p.above_j});
    return out;
  }
  std::map<std::string, uint64_t> nic_toggles() const override { return system_->nic_toggles(); }
  std::vector<std::string> events(int node) const override {
    return valid(node) ? system_->events(homes_.of(node).host) : std::vector<std::string>{};
  }
  result<> end_observation() override {
    if (auto whole = system_->end_observation(); !whole) return fail(errc::no_space, "{}", whole.error());
    return {};
  }

 private:
  // What a computer owns in this process. Addresses are the same for kernels and host programs.
  struct host_memory_map {
    std::byte* pinned = nullptr;          // for every node, then for contexts; of each GPU a part
    std::byte* pages = nullptr;           // of the NIC: addresses only
    std::map<uint64_t, uint64_t> mapped;  // of the table of 4 KB pages: first page, pages of each map_memory
    bool maps = false;                    // the NIC knows that table
  };
  struct node_memory {
    std::byte *segment = nullptr, *rings = nullptr;      // GPU memory: for every node; for the contexts of the NIC
    std::byte *pinned = nullptr, *host_rings = nullptr;  // the same of host memory
    std::byte* pages = nullptr;
    uint64_t host_nla = 0;
    std::vector<rma_queue> kernel_queues, program_queues;
    context seen;  // by kernels
    host_view host;
  };

  // What a computer is made of.
  struct host_parts {
    sim::platform plat;
    gpu::gpu_config gpu;
    gpu::maker make_gpu;
  };
  static result<host_parts> read_parts(const cluster_config& cfg, const host_config& host);

  explicit sim_cluster(const cluster_config& cfg) : engine_cluster(cfg), homes_(cfg), plan_(cfg), random_(cfg.seed) {}
  result<> choose_parts();
  const host_parts& parts_of(unsigned host) const { return parts_[parts_.size() == 1 ? 0 : host]; }
  sim::system_config describe_system() const;
  result<> build(std::string faults, sim::nic_factory make_nic);
  result<> reserve();
  std::unique_ptr<sim::endpoint> make_gpu(const sim::endpoint_slot& slot);
  std::vector<gpu::mapping> apertures(const sim::endpoint_slot& slot) const;
  uint64_t bar_of(int node) const { return sim::endpoint_base + homes_.of(node).gpu * plan_.bar_bytes(); }
  void describe_node(int node);
  void map_memory(unsigned host);
  char* window_of_others() const;
  rma_queue queue(int node, const context_plan& p) const;
  unsigned vpid_of(int node, const context_plan& p) const;
  result<> set_up_contexts();
  result<> set_up_collectives();
  result<> restart_collectives() override;
  bool alive(int node) const override { return system_->alive(homes_.of(node).host); }
  result<> check_alive(int node, const std::string& what) const;
  void end_all_of(unsigned host);
  bool owns(int node) const { return system_->owns(homes_.of(node).host); }
  gpu::device& gpu_of(int node) const {
    return *static_cast<gpu_endpoint*>(system_->gpu(homes_.of(node).host, homes_.of(node).gpu))->gpu;
  }
  bool gpus_idle() const;
  uint64_t start_streams_ps(int node) override;
  std::shared_ptr<gpu::mark> last_record(const event& e) const override;
  waiting waiting_for(int node, host_sync how) const override;
  // The threads of processors that wait for kernels, while it exists.
  class kernel_waits;
  bool faulty() const;
  bool settled() const;
  // What is said by all ranks, by node.
  std::string of_all(const std::string& mine) const;
  // All ranks see what every node has written.
  void share_memory();
  void report_progress();
  result<> verdict(bool in_time, uint64_t timeout_ns);
  // Nothing is left to run after it.
  error cancel();

  void reset_gpus();

  std::vector<std::shared_ptr<gpu::mark>> events_;  // their last records; null: there is none
  homes homes_;
  memory_plan plan_;
  std::vector<host_parts> parts_;  // of each computer, or of all of them
  std::mt19937_64 random_;
  reservation window_;
  arena memory_;  // all of the below
  std::vector<host_memory_map> hosts_;
  std::vector<node_memory> nodes_;
  std::vector<nic_place> places_;           // by node, if some share a NIC
  std::map<unsigned, size_t> events_seen_;  // of each computer, by verdict()
  std::vector<uint64_t> kernels_launched_;  // by node, in runs so far
  std::vector<int> own_;                    // nodes that this process simulates
  std::unique_ptr<sim::system> system_;     // its blocks may refer to all of the above
  std::optional<coll_driver> collectives_;  // the NICs have the unit
  host_programs programs_{*this};           // run on it
  std::chrono::steady_clock::time_point next_progress_;
};

}  // namespace ggas::userlib
