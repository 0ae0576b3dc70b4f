// SPDX-License-Identifier: Apache-2.0
// A simulated cluster is made: memory, system, contexts of the NICs, collectives.
#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "ggas/detail/platform/layout.hpp"
#include "sim/nic/coll_format.hpp"
#include "userlib/cluster/providers/sim/rma_driver.hpp"
#include "userlib/cluster/providers/sim/sim_cluster.hpp"
#include "userlib/cluster/providers/sim/simulated_cluster.hpp"

namespace ggas::userlib {

namespace {

constexpr int most_gpus = 16, most_contexts = 128;

// Whether an override is for the NIC, its links or its protocol, which are the same on all computers.
bool of_network(std::string_view override_text) {
  return std::ranges::any_of(std::array{"nic.", "link.", "rma."},
                             [&](const char* table) { return override_text.starts_with(table); });
}

result<> check_hosts(const cluster_config& cfg) {
  int gpus = 0, most = 1;
  for (size_t i = 0; i < cfg.hosts.size(); ++i) {
    const int here = cfg.hosts[i].gpus;
    if (here < 1 || here > most_gpus)
      return fail(errc::bad_argument, "computer {}: gpus = {}: must be 1 ... {}", i, here, most_gpus);
    for (const std::string& o : cfg.hosts[i].overrides)
      if (of_network(o))
        return fail(errc::bad_argument, "computer {}: override '{}': NIC and links are those of the cluster", i, o);
    gpus += here;
    most = std::max(most, here);
  }
  if (!cfg.hosts.empty() && gpus != cfg.nodes)
    return fail(errc::bad_argument, "nodes = {}: the computers have {} GPUs together", cfg.nodes, gpus);
  for (const int contexts : {cfg.queues.count, cfg.queues.host_count})
    if (contexts * most > most_contexts)
      return fail(errc::bad_argument, "{} contexts a GPU: a NIC has {} for {} GPUs", contexts, most_contexts, most);
  return {};
}

result<> check(const cluster_config& cfg) {
  if (cfg.nic != "rtl" && cfg.nic != "model")
    return fail(errc::bad_argument, "nic '{}': provider sim has the NICs 'rtl' and 'model'", cfg.nic);
  if (auto ok = check_config(cfg); !ok) return ok;
  return check_hosts(cfg);
}

result<std::string> read_text(const std::filesystem::path& path) {
  std::error_code ignored;
  std::ifstream in(path);
  if (!in || std::filesystem::is_directory(path, ignored))  // a folder opens, and throws when it is read
    return fail(errc::no_file, "fault script '{}': cannot be read", path.string());
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// Collectives in lines send from every node to every other one. With many nodes long vectors go by the NICs' unit, too,
// if they have it.
constexpr int many_nodes = 64;
tuning tuned_for(int nodes) {
  tuning t = tuning::usual();
  if (nodes > many_nodes) t.by_nic = tuning::any;
  return t;
}

}  // namespace

result<sim_cluster::host_parts> sim_cluster::read_parts(const cluster_config& cfg, const host_config& host) {
  std::vector<std::string> overrides = cfg.overrides;
  if (!host.platform.empty()) std::erase_if(overrides, of_network);  // of a NIC that is not there
  overrides.insert(overrides.end(), host.overrides.begin(), host.overrides.end());
  auto plat = sim::load_platform(host.platform.empty() ? cfg.platform : host.platform, overrides);
  if (!plat) return fail(errc::bad_platform, "{}", plat.error());
  auto gpu = gpu::parse_gpu(plat->gpu, plat->file);
  if (!gpu) return fail(errc::bad_platform, "{}", gpu.error());
  const auto model = gpu::find_model(gpu->model);
  if (!model) return fail(errc::bad_platform, "{}: {}", plat->file, model.error());
  if (cfg.segment_bytes > gpu->memory_bytes)
    return fail(errc::bad_argument, "segment_bytes = {}: {} has {} bytes of memory", cfg.segment_bytes, gpu->name,
                gpu->memory_bytes);
  return host_parts{std::move(*plat), *gpu, *model};
}

// Takes the parts of the cluster's platform if all computers have this platform.
result<> sim_cluster::choose_parts() {
  const auto special = [](const host_config& h) { return !h.platform.empty() || !h.overrides.empty(); };
  const bool alike = std::ranges::none_of(cfg_.hosts, special);
  if (!alike && sim::process_ranks()) return fail(errc::unsupported, "several processes need computers that are alike");
  for (const host_config& h : alike ? std::vector<host_config>(1) : cfg_.hosts) {
    auto parts = read_parts(cfg_, h);
    if (!parts) return std::move(parts.error());
    parts_.push_back(std::move(*parts));
  }
  return {};
}

result<std::unique_ptr<cluster>> sim_cluster::create(const cluster_config& cfg, sim::nic_factory make_nic) {
  if (auto ok = check(cfg); !ok) return std::move(ok.error());
  std::unique_ptr<sim_cluster> c(new sim_cluster(cfg));
  if (auto ok = c->choose_parts(); !ok) return std::move(ok.error());
  std::string faults;
  if (!cfg.faults.empty()) {
    auto text = read_text(cfg.faults);
    if (!text) return std::move(text.error());
    faults = std::move(*text);
  }
  for (const std::string& line : cfg.fault_lines) faults += (faults.empty() ? "" : "\n") + line;
  if (auto ok = c->build(std::move(faults), std::move(make_nic)); !ok) return std::move(ok.error());
  return c;
}

result<> sim_cluster::reserve() {
  const size_t gpus = nodes_.size(), hosts = hosts_.size();
  const size_t of_gpus = gpus * (plan_.segment_bytes + plan_.gpu_rings_bytes + plan_.pinned_bytes(1));
  memory_ = arena(of_gpus + hosts * sim::bar4_bytes, 2 * gpus + 2 * hosts);
  bool good = bool(memory_);
  for (unsigned h = 0; good && h < hosts; ++h) {
    hosts_[h].pinned = memory_.take(plan_.pinned_bytes(homes_.gpus(h)), true);
    hosts_[h].pages = memory_.take(sim::bar4_bytes, false);
    good = hosts_[h].pinned && hosts_[h].pages;
  }
  for (size_t n = 0; good && n < gpus; ++n) {
    node_memory& it = nodes_[n];
    const home& at = homes_.of(int(n));
    it.segment = memory_.take(plan_.segment_bytes, true);
    it.rings = memory_.take(plan_.gpu_rings_bytes, true);
    it.pinned = hosts_[at.host].pinned + plan_.host_at(at.gpu);
    it.host_rings = hosts_[at.host].pinned + plan_.host_rings_at(homes_.gpus(at.host), at.gpu);
    it.pages = hosts_[at.host].pages;
    good = it.segment && it.rings;
  }
  if (good) return {};
  return fail(errc::out_of_memory, "{} nodes with segments of {} and host memory of {} bytes: no room", cfg_.nodes,
              cfg_.segment_bytes, cfg_.host_bytes);
}

sim::system_config sim_cluster::describe_system() const {
  sim::system_config s;
  s.plat = parts_[0].plat;
  s.nodes = int(homes_.hosts());
  if (homes_.shared() || parts_.size() > 1)
    for (unsigned h = 0; h < homes_.hosts(); ++h) s.each.push_back({parts_of(h).plat, homes_.gpus(h)});
  s.segment_bytes = cfg_.segment_bytes;
  s.endpoint_bar_bytes = plan_.bar_bytes();
  for (unsigned h = 0; h < homes_.hosts(); ++h)
    s.pinned.emplace_back(hosts_[h].pinned, plan_.pinned_bytes(homes_.gpus(h)));
  s.model_nics = cfg_.nic == "model";
  s.topology = cfg_.topology;
  s.seed = cfg_.seed;
  if (!cfg_.faults.empty()) s.faults_name = cfg_.faults.string();
  s.waves = cfg_.waves;
  s.trace = cfg_.trace;
  s.pcap = cfg_.pcap;
  s.toggles = cfg_.nic_toggles;
  s.waves_from_us = cfg_.waves_from_us;
  s.waves_to_us = cfg_.waves_to_us;
  s.all_ranks = sim::process_ranks();
  return s;
}

result<> sim_cluster::build(std::string faults, sim::nic_factory make_nic) {
  nodes_.resize(size_t(cfg_.nodes));
  kernels_launched_.resize(nodes_.size());
  hosts_.resize(homes_.hosts());
  if (auto ok = reserve(); !ok) return ok;
  sim::system_config s = describe_system();
  // NIC and links are the cluster's, whatever the first computer is.
  if (parts_.size() > 1) {
    auto common = sim::load_platform(cfg_.platform, cfg_.overrides);
    if (!common) return fail(errc::bad_platform, "{}", common.error());
    s.plat = std::move(*common);
  }
  s.gpu = [this](const sim::endpoint_slot& slot) { return make_gpu(slot); };
  s.make_nic = std::move(make_nic);
  s.faults = std::move(faults);
  s.on_death = [this](unsigned host) { end_all_of(host); };
  auto made = sim::system::create(std::move(s));
  if (!made) return fail(errc::bad_argument, "{}", made.error());
  system_ = std::move(*made);
  if (homes_.shared()) places_.resize(nodes_.size());
  for (int n = 0; n < cfg_.nodes; ++n) {
    describe_node(n);
    if (owns(n)) own_.push_back(n);
  }
  if (auto ok = set_up_contexts(); !ok) return ok;
  return set_up_collectives();
}

// Ranges that a GPU accesses over PCIe. The first one that contains an address is used: GPUs of the same computer are
// accessed by their BARs, the others through the NIC.
std::vector<gpu::mapping> sim_cluster::apertures(const sim::endpoint_slot& slot) const {
  std::vector<gpu::mapping> out;
  for (unsigned g = 0; g < homes_.gpus(slot.node); ++g) {
    const int node = homes_.node(slot.node, g);
    if (g != slot.index)
      out.push_back({window_.base() + uint64_t(node) * slot.stride, cfg_.segment_bytes, bar_of(node)});
  }
  const host_memory_map& host = hosts_[slot.node];
  out.push_back({window_.base(), slot.window_bytes, slot.window_base});
  out.push_back({host.pages, sim::bar4_bytes, slot.pages_address});
  out.push_back({host.pinned, plan_.pinned_bytes(homes_.gpus(slot.node)), sim::pinned_base});
  return out;
}

// Segment and rings lie in the GPU's BAR; window, pages and host memory are addresses that go over PCIe.
std::unique_ptr<sim::endpoint> sim_cluster::make_gpu(const sim::endpoint_slot& slot) {
  if (!window_) window_ = reservation(slot.window_bytes, false);
  if (!window_) return nullptr;
  const node_memory& own = nodes_[size_t(homes_.node(slot.node, slot.index))];
  const gpu::surroundings s{
      .node = unsigned(homes_.node(slot.node, slot.index)),
      .bus_id = slot.id,
      .port = slot.plat.pcie.gpu.device,
      .context = &own.seen,
      .own = {{own.segment, cfg_.segment_bytes, slot.bar_base, plan_.segment_bytes},
              {own.rings, plan_.gpu_rings_bytes, slot.bar_base + slot.bar_bytes / 2, plan_.gpu_rings_bytes}},
      .apertures = apertures(slot),
      .forbidden = {{window_.outer(), window_.outer_bytes()}, memory_.outer()},
      .flush_address = slot.host_address,
      .host_memory_bytes = slot.plat.host.memory_bytes,
      .mps = slot.mps,
      .mrrs = slot.mrrs,
      .on_idle = [&k = slot.sim] { k.stop(); },
  };
  const host_parts& parts = parts_of(slot.node);
  return std::make_unique<gpu_endpoint>(parts.make_gpu(parts.gpu, s));
}

void sim_cluster::describe_node(int node) {
  node_memory& n = nodes_[size_t(node)];
  const home& at = homes_.of(node);
  for (const context_plan& p : plan_.kernels) n.kernel_queues.push_back(queue(node, p));
  for (const context_plan& p : plan_.programs) n.program_queues.push_back(queue(node, p));
  n.host.ranges = {{hosts_[at.host].pinned, plan_.pinned_bytes(homes_.gpus(at.host)), sim::pinned_base},
                   {n.pages, sim::bar4_bytes, sim::bar4_base},
                   {n.segment, cfg_.segment_bytes, bar_of(node)}};
  n.seen = {
      .node = int32_t(node),
      .nodes = cfg_.nodes,
      .window = reinterpret_cast<char*>(window_.base()),
      .stride = system_->stride(),
      .local = reinterpret_cast<char*>(n.segment),
      .segment_bytes = cfg_.segment_bytes,
      .reserved = layout::reserved_bytes(uint64_t(cfg_.nodes), cfg_.segment_bytes),
      .quiet = reinterpret_cast<const volatile uint64_t*>(n.pages),
      .queues = n.kernel_queues.data(),
      .queue_count = int32_t(n.kernel_queues.size()),
      .segment_nla = 0,
      .places = homes_.shared() ? places_.data() : nullptr,
      .tuned = tuned_for(cfg_.nodes),
      .checked = checked_by_environment(),
      .no_peer_atomics = false,
      .trace = {},
      .collectives = {},
      .others = window_of_others(),
  };
}

// nullptr while groups take no stores.
char* sim_cluster::window_of_others() const {
  return system_->groups_work() ? reinterpret_cast<char*>(window_.base() + *system_->multicast_offset()) : nullptr;
}

// A context as its users find it.
rma_queue sim_cluster::queue(int node, const context_plan& p) const {
  const node_memory& n = nodes_[size_t(node)];
  const auto at = [&](const context_plan::part& part) -> char* {
    if (part.where == queue_config::place::none) return nullptr;
    return reinterpret_cast<char*>((part.where == queue_config::place::gpu ? n.rings : n.host_rings) + part.offset);
  };
  const unsigned vpid = vpid_of(node, p);
  return {
      .page = reinterpret_cast<char*>(n.pages + 2 * sim::bar4_page * vpid),
      .descriptors = reinterpret_cast<char*>(n.pages + 2 * sim::bar4_page * vpid + sim::bar4_page),
      .status = at(p.status),
      .notifications = at(p.notifications),
      .slots = at(p.work_queue),
      .mailbox = at(p.mailbox),
      .words = reinterpret_cast<uint64_t*>(at(p.words)),
      .notify_log2 = cfg_.queues.notify_log2,
      .slots_log2 = cfg_.queues.slots_log2,
      .mailbox_log2 = cfg_.queues.mailbox_log2,
      .vpid = vpid,
  };
}

// GPUs of a computer have their contexts in sequence.
unsigned sim_cluster::vpid_of(int node, const context_plan& p) const {
  const size_t each = p.vpid < first_program_vpid ? plan_.kernels.size() : plan_.programs.size();
  return p.vpid + unsigned(homes_.of(node).gpu * each);
}

// The memory of a computer, as its NIC's puts and gets know it.
void sim_cluster::map_memory(unsigned host) {
  rma_driver driver(*system_, host);
  const unsigned gpus = homes_.gpus(host);
  for (unsigned g = 0; g < gpus; ++g) {
    const int n = homes_.node(host, g);
    nodes_[size_t(n)].seen.segment_nla = driver.map(bar_of(n), plan_.segment_bytes, plan_.segment_class);
  }
  const uint64_t nla = driver.map(sim::pinned_base, gpus * plan_.host_bytes, plan_.host_class);
  for (unsigned g = 0; g < gpus; ++g) {
    const int n = homes_.node(host, g);
    node_memory& it = nodes_[size_t(n)];
    it.host_nla = nla + plan_.host_at(g);
    if (homes_.shared())
      places_[size_t(n)] = {.nla = it.seen.segment_nla,
                            .nic = int32_t(host),
                            .vpid = uint16_t(g * plan_.kernels.size()),
                            .host_vpid = uint16_t(first_program_vpid + g * plan_.programs.size())};
  }
  driver.set_tables();
}

result<> sim_cluster::set_up_contexts() {
  for (unsigned h = 0; h < homes_.hosts(); ++h) {
    map_memory(h);
    rma_driver driver(*system_, h);
    for (unsigned g = 0; g < homes_.gpus(h); ++g) {
      const int n = homes_.node(h, g);
      const rma_driver::areas rings{.gpu = bar_of(n) + plan_.bar_bytes() / 2,
                                    .host = sim::pinned_base + plan_.host_rings_at(homes_.gpus(h), g)};
      for (const auto* list : {&plan_.kernels, &plan_.programs})
        for (const context_plan& p : *list) driver.enable(p, vpid_of(n, p), cfg_.queues, rings);
    }
    if (auto ok = driver.finish(); !ok) return fail(errc::device_fault, "computer {}: {}", h, ok.error());
    for (unsigned g = 0; g < homes_.gpus(h); ++g) {
      node_memory& own = nodes_[size_t(homes_.node(h, g))];
      for (const rma_queue& q : own.program_queues) own.host.queues.push_back(started(q));
    }
  }
  return {};
}

// The unit serves a NIC, not the GPUs of one.
result<> sim_cluster::set_up_collectives() {
  if (homes_.shared()) return {};
  collectives_.emplace(*system_, sim::endpoint_base + plan_.bar_bytes() / 2 + plan_.collectives_at);
  const auto built = collectives_->built();
  if (!built) return fail(errc::device_fault, "{}", built.error());
  if (!*built) collectives_.reset();
  if (!*built) return {};
  for (node_memory& n : nodes_) {
    const std::byte* const results = n.rings + plan_.collectives_at;
    std::byte* const page = n.pages + 2 * sim::bar4_page * coll_driver::owner;
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
  for (node_memory& n : nodes_) std::ranges::fill_n(n.rings + plan_.collectives_at, collectives_bytes, std::byte{});
  return {};
}

result<std::unique_ptr<cluster>> make_sim_cluster(const cluster_config& cfg, sim::nic_factory make_nic) {
  return sim_cluster::create(cfg, std::move(make_nic));
}

}  // namespace ggas::userlib

GGAS_PROVIDER(sim, [](const ggas::cluster_config& cfg) { return ggas::userlib::make_sim_cluster(cfg); });
