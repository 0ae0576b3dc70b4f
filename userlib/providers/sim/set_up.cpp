// SPDX-License-Identifier: Apache-2.0
// A simulated cluster is made: memory, system, contexts of the NICs, collectives.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "ggas/detail/platform/layout.hpp"
#include "sim/nic/coll_format.hpp"
#include "userlib/providers/sim/rma_driver.hpp"
#include "userlib/providers/sim/sim_cluster.hpp"
#include "userlib/providers/sim/simulated_cluster.hpp"

namespace ggas::userlib {

namespace {

result<> check(const cluster_config& cfg) {
  if (cfg.nic != "rtl" && cfg.nic != "model")
    return fail(errc::bad_argument, "nic '{}': provider sim has the NICs 'rtl' and 'model'", cfg.nic);
  return check_config(cfg);
}

result<std::string> read_text(const std::filesystem::path& path) {
  std::error_code ignored;
  std::ifstream in(path);
  if (!in || std::filesystem::is_directory(path, ignored))  // a folder opens, and throws when it is read
    return fail(errc::no_file, "fault script '{}': cannot be read", path.string());
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace

result<std::unique_ptr<cluster>> sim_cluster::create(const cluster_config& cfg, sim::nic_factory make_nic) {
  if (auto ok = check(cfg); !ok) return std::move(ok.error());
  auto plat = sim::load_platform(cfg.platform, cfg.overrides);
  if (!plat) return fail(errc::bad_platform, "{}", plat.error());
  auto gpu = gpu::parse_gpu(plat->gpu, plat->file);
  if (!gpu) return fail(errc::bad_platform, "{}", gpu.error());
  const auto model = gpu::find_model(gpu->model);
  if (!model) return fail(errc::bad_platform, "{}: {}", plat->file, model.error());
  std::string faults;
  if (!cfg.faults.empty()) {
    auto text = read_text(cfg.faults);
    if (!text) return std::move(text.error());
    faults = std::move(*text);
  }
  for (const std::string& line : cfg.fault_lines) faults += (faults.empty() ? "" : "\n") + line;
  std::unique_ptr<sim_cluster> c(new sim_cluster(cfg));
  c->gpu_cfg_ = *gpu;
  c->make_gpu_ = *model;
  if (cfg.segment_bytes > gpu->memory_bytes)
    return fail(errc::bad_argument, "segment_bytes = {}: {} has {} bytes of memory", cfg.segment_bytes, gpu->name,
                gpu->memory_bytes);
  if (auto ok = c->build(std::move(*plat), std::move(faults), std::move(make_nic)); !ok) return std::move(ok.error());
  return c;
}

result<> sim_cluster::reserve() {
  for (node_memory& n : nodes_) {
    n.segment = reservation(plan_.segment_bytes, true);
    n.rings = reservation(plan_.gpu_rings_bytes, true);
    n.pinned = reservation(plan_.pinned_bytes(), true);
    n.pages = reservation(sim::bar4_bytes, false);
    if (!n.segment || !n.rings || !n.pinned || !n.pages)
      return fail(errc::out_of_memory, "{} nodes with segments of {} and host memory of {} bytes: no room", cfg_.nodes,
                  cfg_.segment_bytes, cfg_.host_bytes);
  }
  return {};
}

result<> sim_cluster::build(sim::platform plat, std::string faults, sim::nic_factory make_nic) {
  nodes_.resize(size_t(cfg_.nodes));
  if (auto ok = reserve(); !ok) return ok;
  sim::system_config s;
  s.plat = std::move(plat);
  s.nodes = cfg_.nodes;
  s.segment_bytes = cfg_.segment_bytes;
  s.endpoint_bar_bytes = plan_.bar_bytes();
  s.gpu = [this](const sim::endpoint_slot& slot) { return make_gpu(slot); };
  for (const node_memory& n : nodes_) s.pinned.emplace_back(n.pinned.base(), n.pinned.bytes());
  s.model_nics = cfg_.nic == "model";
  s.topology = cfg_.topology;
  s.make_nic = std::move(make_nic);
  s.seed = cfg_.seed;
  s.faults = std::move(faults);
  if (!cfg_.faults.empty()) s.faults_name = cfg_.faults.string();
  s.waves = cfg_.waves;
  s.trace = cfg_.trace;
  s.pcap = cfg_.pcap;
  s.waves_from_us = cfg_.waves_from_us;
  s.waves_to_us = cfg_.waves_to_us;
  s.all_ranks = sim::process_ranks();
  auto made = sim::system::create(std::move(s));
  if (!made) return fail(errc::bad_argument, "{}", made.error());
  system_ = std::move(*made);
  for (int n = 0; n < cfg_.nodes; ++n) {
    describe_node(n);
    if (system_->owns(unsigned(n))) own_.push_back(n);
  }
  if (auto ok = set_up_contexts(); !ok) return ok;
  return set_up_collectives();
}

// Segment and rings lie in the GPU's BAR; window, pages and host memory are addresses that go over PCIe.
std::unique_ptr<sim::endpoint> sim_cluster::make_gpu(const sim::endpoint_slot& slot) {
  if (!window_) window_ = reservation(slot.window_bytes, false);
  if (!window_) return nullptr;
  const node_memory& own = nodes_[slot.node];
  gpu::surroundings s{
      .node = slot.node,
      .bus_id = slot.id,
      .port = slot.plat.pcie.gpu.device,
      .context = &own.seen,
      .own = {{own.segment.base(), cfg_.segment_bytes, slot.bar_base, own.segment.bytes()},
              {own.rings.base(), own.rings.bytes(), slot.bar_base + slot.bar_bytes / 2, own.rings.bytes()}},
      .apertures = {{window_.base(), slot.window_bytes, slot.window_base},
                    {own.pages.base(), own.pages.bytes(), slot.pages_address},
                    {own.pinned.base(), own.pinned.bytes(), sim::pinned_base}},
      .forbidden = {{window_.outer(), window_.outer_bytes()}},
      .flush_address = slot.host_address,
      .host_memory_bytes = slot.plat.host.memory_bytes,
      .on_idle = [&k = slot.sim] { k.stop(); },
  };
  for (const node_memory& n : nodes_)
    for (const reservation* r : {&n.segment, &n.rings, &n.pinned, &n.pages})
      s.forbidden.emplace_back(r->outer(), r->outer_bytes());
  return std::make_unique<gpu_endpoint>(make_gpu_(gpu_cfg_, s));
}

void sim_cluster::describe_node(int node) {
  node_memory& n = nodes_[size_t(node)];
  for (const context_plan& p : plan_.kernels) n.kernel_queues.push_back(queue(n, p));
  for (const context_plan& p : plan_.programs) n.program_queues.push_back(queue(n, p));
  n.host.ranges = {{n.pinned.base(), n.pinned.bytes(), sim::pinned_base},
                   {n.pages.base(), n.pages.bytes(), sim::bar4_base},
                   {n.segment.base(), cfg_.segment_bytes, sim::endpoint_base}};
  n.seen = {
      .node = int32_t(node),
      .nodes = cfg_.nodes,
      .window = reinterpret_cast<char*>(window_.base()),
      .stride = system_->stride(),
      .local = reinterpret_cast<char*>(n.segment.base()),
      .segment_bytes = cfg_.segment_bytes,
      .reserved = layout::reserved_bytes(uint64_t(cfg_.nodes), cfg_.segment_bytes),
      .quiet = reinterpret_cast<const volatile uint64_t*>(n.pages.base()),
      .queues = n.kernel_queues.data(),
      .queue_count = int32_t(n.kernel_queues.size()),
      .segment_nla = 0,
      .tuned = tuning::usual(),
      .no_peer_atomics = false,
      .trace = {},
      .collectives = {},
  };
}

// A context as its users find it.
rma_queue sim_cluster::queue(const node_memory& n, const context_plan& p) const {
  const auto at = [&](const context_plan::part& part) -> char* {
    if (part.where == queue_config::place::none) return nullptr;
    std::byte* const base =
        part.where == queue_config::place::gpu ? n.rings.base() : n.pinned.base() + plan_.host_bytes;
    return reinterpret_cast<char*>(base + part.offset);
  };
  return {
      .page = reinterpret_cast<char*>(n.pages.base() + 2 * sim::bar4_page * p.vpid),
      .descriptors = reinterpret_cast<char*>(n.pages.base() + 2 * sim::bar4_page * p.vpid + sim::bar4_page),
      .status = at(p.status),
      .notifications = at(p.notifications),
      .slots = at(p.work_queue),
      .mailbox = at(p.mailbox),
      .words = reinterpret_cast<uint64_t*>(at(p.words)),
      .notify_log2 = cfg_.queues.notify_log2,
      .slots_log2 = cfg_.queues.slots_log2,
      .mailbox_log2 = cfg_.queues.mailbox_log2,
      .vpid = p.vpid,
  };
}

result<> sim_cluster::set_up_contexts() {
  for (int n = 0; n < cfg_.nodes; ++n) {
    rma_driver driver(*system_, unsigned(n));
    nodes_[size_t(n)].seen.segment_nla = driver.map(sim::endpoint_base, plan_.segment_bytes, plan_.segment_class);
    host_nla_ = driver.map(sim::pinned_base, plan_.host_bytes, plan_.host_class);
    driver.set_tables();
    const rma_driver::areas rings{.gpu = sim::endpoint_base + plan_.bar_bytes() / 2,
                                  .host = sim::pinned_base + plan_.host_bytes};
    for (const auto* list : {&plan_.kernels, &plan_.programs})
      for (const context_plan& p : *list) driver.enable(p, cfg_.queues, rings);
    if (auto ok = driver.finish(); !ok) return fail(errc::device_fault, "node {}: {}", n, ok.error());
    node_memory& own = nodes_[size_t(n)];
    for (const rma_queue& q : own.program_queues) own.host.queues.push_back(started(q));
  }
  return {};
}

result<> sim_cluster::set_up_collectives() {
  collectives_.emplace(*system_, sim::endpoint_base + plan_.bar_bytes() / 2 + plan_.collectives_at);
  const auto built = collectives_->built();
  if (!built) return fail(errc::device_fault, "{}", built.error());
  if (!*built) collectives_.reset();
  if (!*built) return {};
  for (node_memory& n : nodes_) {
    const std::byte* const results = n.rings.base() + plan_.collectives_at;
    std::byte* const page = n.pages.base() + 2 * sim::bar4_page * coll_driver::owner;
    n.seen.collectives = {
        .block =
            reinterpret_cast<uint64_t*>(page + nic::coll::blocks_offset + nic::coll::block_bytes * coll_driver::block),
        .results = reinterpret_cast<const char*>(results),
        .flag = reinterpret_cast<const uint64_t*>(results + nic::coll::flag_offset),
    };
  }
  return restart_collectives();
}

result<> sim_cluster::restart_collectives() {
  if (!collectives_) return {};
  if (auto ok = collectives_->start(); !ok) return fail(errc::device_fault, "{}", ok.error());
  for (node_memory& n : nodes_)
    std::ranges::fill_n(n.rings.base() + plan_.collectives_at, collectives_bytes, std::byte{});
  return {};
}

result<std::unique_ptr<cluster>> make_sim_cluster(const cluster_config& cfg, sim::nic_factory make_nic) {
  return sim_cluster::create(cfg, std::move(make_nic));
}

}  // namespace ggas::userlib

GGAS_PROVIDER(sim, [](const ggas::cluster_config& cfg) { return ggas::userlib::make_sim_cluster(cfg); });
