// SPDX-License-Identifier: Apache-2.0
#include "userlib/providers/sim/sim_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <utility>

#include "ggas/detail/platform/layout.hpp"
#include "sim/gpu/gpu.hpp"
#include "sim/nic/coll_format.hpp"
#include "sim/system.hpp"
#include "userlib/providers/sim/coll_driver.hpp"
#include "userlib/providers/sim/host_sync.hpp"
#include "userlib/providers/sim/layout.hpp"
#include "userlib/providers/sim/programs.hpp"
#include "userlib/providers/sim/reservation.hpp"
#include "userlib/providers/sim/rma_driver.hpp"
#include "userlib/src/engine_cluster.hpp"

namespace ggas::userlib {

namespace {

using clock = std::chrono::steady_clock;

template <class... A>
error fail(errc code, fmt::format_string<A...> f, A&&... a) {
  return {code, fmt::format(f, std::forward<A>(a)...)};
}

class gpu_endpoint final : public sim::endpoint {
 public:
  gpu_endpoint(const gpu::gpu_config& cfg, const sim::endpoint_slot& s)
      : gpu(fmt::format("node{}_gpu", s.node).c_str(), cfg, s.id, s.plat.pcie.gpu.device) {}
  pcie::port& port() override { return gpu.host.link; }
  std::map<std::string, uint64_t> counters() const override { return gpu.counters(); }

  gpu::gpu gpu;
};

class sim_cluster final : public engine_cluster {
 public:
  static result<std::unique_ptr<cluster>> create(const cluster_config& cfg, sim::nic_factory make_nic);

  std::byte* segment(int node) override { return valid(node) ? nodes_[size_t(node)].segment.base() : nullptr; }
  const context& device_context(int node) const override { return nodes_.at(size_t(node)).seen; }
  host_region host_memory(int node) override {
    if (!valid(node)) return {};
    return {nodes_[size_t(node)].pinned.base(), cfg_.host_bytes, host_nla_};
  }
  std::span<const rma_queue> host_queues(int node) const override {
    if (!valid(node)) return {};
    return nodes_[size_t(node)].program_queues;
  }
  result<stream> make_stream(int node, int priority) override;
  result<event> make_event(int node) override;
  result<> record(const event& e, const stream& s) override;
  result<> wait(const stream& s, const event& e) override;
  result<bool> reached(const event& e) override;
  result<> launch(const stream& s, extent grid, extent block, std::function<void()> kernel, std::string name) override;
  result<> launch_host(int node, std::function<void(host&)> program, std::string name) override;
  result<> start() override;
  result<bool> poll() override;
  result<run_stats> run(uint64_t timeout_ns, host_sync how) override;
  uint64_t now_ns() const override { return system_->now_ps() / 1000; }
  std::map<std::string, uint64_t> counters(int node) const override {
    return valid(node) ? system_->counters(unsigned(node)) : std::map<std::string, uint64_t>{};
  }
  std::vector<std::string> events(int node) const override {
    return valid(node) ? system_->events(unsigned(node)) : std::vector<std::string>{};
  }
  result<> end_observation() override {
    if (auto whole = system_->end_observation(); !whole) return fail(errc::no_space, "{}", whole.error());
    return {};
  }

 private:
  // What a node owns in this process. Addresses are the same for kernels and host programs.
  struct node_memory {
    reservation segment, rings;  // GPU memory: for everybody; for the contexts of the NIC
    reservation pinned;          // host memory: for everybody, then for contexts
    reservation pages;           // of the NIC: addresses only
    std::vector<rma_queue> kernel_queues, program_queues;
    context seen;  // by kernels
    host_view host;
  };

  explicit sim_cluster(const cluster_config& cfg) : engine_cluster(cfg), plan_(cfg), random_(cfg.seed) {}
  result<> build(sim::platform plat, std::string faults, sim::nic_factory make_nic);
  result<> reserve();
  std::unique_ptr<sim::endpoint> make_gpu(const sim::endpoint_slot& slot);
  void describe_node(int node);
  rma_queue queue(const node_memory& it, const context_plan& p) const;
  result<> set_up_contexts();
  result<> set_up_collectives();
  result<> restart_collectives() override;
  gpu::gpu& gpu_of(int node) const { return static_cast<gpu_endpoint*>(system_->gpu(unsigned(node)))->gpu; }
  bool gpus_idle() const;
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
  memory_plan plan_;
  gpu::gpu_config gpu_cfg_;
  std::mt19937_64 random_;
  reservation window_;
  std::vector<node_memory> nodes_;
  uint64_t host_nla_ = 0;
  std::map<int, size_t> events_seen_;  // of each node, by verdicts
  std::vector<int> own_;                 // nodes that this process simulates
  std::unique_ptr<sim::system> system_;  // its blocks may refer to all of the above
  std::optional<coll_driver> collectives_;  // the NICs have the unit
  host_programs programs_;               // run on it
  clock::time_point next_progress_;
};

// ------------------------------------------------------------------------------------------------ set-up

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

result<std::unique_ptr<cluster>> sim_cluster::create(const cluster_config& cfg, sim::nic_factory make_nic) {
  if (auto ok = check(cfg); !ok) return std::move(ok.error());
  auto plat = sim::load_platform(cfg.platform, cfg.overrides);
  if (!plat) return fail(errc::bad_platform, "{}", plat.error());
  auto gpu = gpu::parse_gpu(plat->gpu, plat->file);
  if (!gpu) return fail(errc::bad_platform, "{}", gpu.error());
  std::string faults;
  if (!cfg.faults.empty()) {
    auto text = read_text(cfg.faults);
    if (!text) return std::move(text.error());
    faults = std::move(*text);
  }
  for (const std::string& line : cfg.fault_lines) faults += (faults.empty() ? "" : "\n") + line;
  std::unique_ptr<sim_cluster> c(new sim_cluster(cfg));
  c->gpu_cfg_ = *gpu;
  if (cfg.segment_bytes > gpu->memory_bytes)
    return fail(errc::bad_argument, "segment_bytes = {}: {} has {} bytes of memory", cfg.segment_bytes, gpu->name,
                gpu->memory_bytes);
  if (auto ok = c->build(std::move(*plat), std::move(faults), std::move(make_nic)); !ok)
    return std::move(ok.error());
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
  auto e = std::make_unique<gpu_endpoint>(gpu_cfg_, slot);
  gpu::gpu& g = e->gpu;
  const node_memory& own = nodes_[slot.node];
  g.host.export_memory(slot.bar_base, {own.segment.base(), own.segment.bytes()});
  g.host.export_memory(slot.bar_base + slot.bar_bytes / 2, {own.rings.base(), own.rings.bytes()});
  g.host.flush_address(slot.host_address);
  g.host.host_memory_end(slot.plat.host.memory_bytes);
  g.addresses.own(own.segment.base(), cfg_.segment_bytes);
  g.addresses.own(own.rings.base(), own.rings.bytes());
  g.addresses.aperture(window_.base(), slot.window_bytes, slot.window_base);
  g.addresses.aperture(own.pages.base(), own.pages.bytes(), slot.pages_address);
  g.addresses.aperture(own.pinned.base(), own.pinned.bytes(), sim::pinned_base);
  g.addresses.forbid(window_.outer(), window_.outer_bytes());
  for (const node_memory& n : nodes_)
    for (const reservation* r : {&n.segment, &n.rings, &n.pinned, &n.pages})
      g.addresses.forbid(r->outer(), r->outer_bytes());
  g.on_idle = [&k = slot.sim] { k.stop(); };
  g.context = &own.seen;
  return e;
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
      .trace = nullptr,
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
        .block = reinterpret_cast<uint64_t*>(page + nic::coll::blocks_offset +
                                             nic::coll::block_bytes * coll_driver::block),
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

// ------------------------------------------------------------------------------------------------ running

result<stream> sim_cluster::make_stream(int node, int priority) {
  if (auto ok = check_node(*this, node, "make_stream"); !ok) return std::move(ok.error());
  stream_nodes_.push_back(node);
  if (system_->owns(unsigned(node))) gpu_of(node).set_priority(unsigned(stream_nodes_.size()), priority);
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
  if (auto ok = check_event(e, "record"); !ok) return ok;
  if (auto ok = check_stream(s, "record"); !ok) return ok;
  gpu_of(s.node).record(events_[e.id - 1] = std::make_shared<gpu::mark>(), unsigned(s.id));
  return {};
}

result<> sim_cluster::wait(const stream& s, const event& e) {
  if (auto ok = check_stream(s, "wait"); !ok) return ok;
  if (auto ok = check_event(e, "wait"); !ok) return ok;
  if (const auto& last = events_[e.id - 1]) gpu_of(s.node).wait(last, unsigned(s.id));
  return {};
}

result<bool> sim_cluster::reached(const event& e) {
  if (auto ok = check_event(e, "reached"); !ok) return std::move(ok.error());
  const auto& last = events_[e.id - 1];
  return !last || last->reached;
}

result<> sim_cluster::launch(const stream& s, extent grid, extent block, std::function<void()> kernel,
                             std::string name) {
  simt::launch l{.grid = {grid.x, grid.y, grid.z},
                 .block = {block.x, block.y, block.z},
                 .kernel = std::move(kernel),
                 .name = std::move(name)};
  if (auto ok = check_launch(s, l); !ok) return ok;
  // All GPUs are alike.
  if (const auto wrong = gpu_of(own_.front()).check(l.grid, l.block))
    return fail(errc::bad_argument, "node {}: kernel '{}': {}", s.node, l.name, *wrong);
  if (system_->owns(unsigned(s.node))) gpu_of(s.node).launch(std::move(l), unsigned(s.id));
  return {};
}

result<> sim_cluster::launch_host(int node, std::function<void(host&)> program, std::string name) {
  if (auto ok = check_program(*this, node, program, name); !ok) return ok;
  if (sim::process_ranks())
    return fail(errc::unsupported, "program '{}' of node {}: with ranks what it finds would stay in one of them", name,
                node);
  programs_.add(node, std::move(program), std::move(name));
  return {};
}

bool sim_cluster::gpus_idle() const {
  return std::ranges::all_of(own_, [this](int n) { return gpu_of(n).idle(); });
}

bool sim_cluster::faulty() const {
  return programs_.failed() || std::ranges::any_of(own_, [this](int n) { return !gpu_of(n).kernel_fault().empty(); });
}

// Everything ended, or something failed.
bool sim_cluster::settled() const { return faulty() || (programs_.idle() && gpus_idle()); }

std::string sim_cluster::of_all(const std::string& mine) const {
  if (!sim::process_ranks()) return mine;
  std::string out;
  for (const std::string& text : sim::process_ranks()->gather(mine))
    if (!text.empty()) out += (out.empty() ? "" : "; ") + text;
  return out;
}

void sim_cluster::share_memory() {
  if (!sim::process_ranks()) return;
  for (int n = 0; n < cfg_.nodes; ++n) {
    const unsigned owner = system_->owner(unsigned(n));
    const node_memory& it = nodes_[size_t(n)];
    sim::process_ranks()->copy({it.segment.base(), cfg_.segment_bytes}, owner);
    sim::process_ranks()->copy({it.pinned.base(), cfg_.host_bytes}, owner);
  }
}

void sim_cluster::report_progress() {
  if (!cfg_.on_progress || clock::now() < next_progress_) return;
  next_progress_ = clock::now() + std::chrono::milliseconds(150);
  cfg_.on_progress(now_ns());
}

result<> sim_cluster::start() {
  system_->sim().enter();
  for (int n = 0; n < cfg_.nodes; ++n) {
    const uint64_t skew_ps = gpu_cfg_.launch_skew_ns ? random_() % (gpu_cfg_.launch_skew_ns * 1000ull) : 0;
    if (system_->owns(unsigned(n))) gpu_of(n).start(skew_ps);
  }
  const bool started = programs_.start(*system_, [this](int node) -> host_view& { return nodes_[size_t(node)].host; });
  if (started) return {};
  programs_.reset(*system_);
  return fail(errc::out_of_memory, "no memory for the stacks of host programs");
}

result<bool> sim_cluster::poll() {
  if (sim::process_ranks()) return fail(errc::unsupported, "poll: processes of ranks go on together, in run()");
  constexpr uint64_t slice_ps = 1'000'000;
  system_->sim().enter();
  report_progress();
  if (cfg_.cancelled && cfg_.cancelled()) return cancel();
  if (!settled() && !system_->run_until([&] { return settled(); }, slice_ps)) return false;
  if (auto ok = verdict(true, 0); !ok) return std::move(ok.error());
  return true;
}

result<run_stats> sim_cluster::run(uint64_t timeout_ns, host_sync how) {
  const auto wall = clock::now();
  const uint64_t begin_ps = system_->now_ps(), cycles = system_->nic_cycles();
  if (auto ok = start(); !ok) return std::move(ok.error());
  const bool kernels = !of_all(gpus_idle() ? "" : "kernels").empty();
  bool cancelled = false;
  const bool in_time = system_->run_until(
      [&] {
        report_progress();
        cancelled = cfg_.cancelled && cfg_.cancelled();
        return cancelled || settled();
      },
      ps_of(timeout_ns), [&] { return cancelled || faulty(); });
  cancelled = !of_all(cancelled ? "cancelled" : "").empty();
  share_memory();
  if (cancelled) return cancel();
  if (auto ok = verdict(in_time, timeout_ns); !ok) return std::move(ok.error());
  // The hosts learn of it.
  if (kernels) system_->run_for((sync_ns(gpu_cfg_, how) - gpu_cfg_.launch_ns) * 1000ull);
  return run_stats{.sim_ns = (system_->now_ps() - begin_ps) / 1000,
                   .nic_cycles = system_->nic_cycles() - cycles,
                   .wall_s = std::chrono::duration<double>(clock::now() - wall).count()};
}

void sim_cluster::reset_gpus() {
  for (const int n : own_) gpu_of(n).reset();
  for (auto& e : events_) e.reset();
}

error sim_cluster::cancel() {
  programs_.reset(*system_);
  reset_gpus();
  return fail(errc::cancelled, "cancelled after {} ns", now_ns());
}

// What the run came to. After anything but success no kernel is left on any GPU.
result<> sim_cluster::verdict(bool in_time, uint64_t timeout_ns) {
  std::string stuck, broken, failed;
  const auto add = [](std::string& to, int node, const std::string& text) {
    to += fmt::format("{}node {}: {}", to.empty() ? "" : "; ", node, text);
  };
  for (int n = 0; n < cfg_.nodes; ++n) {
    const auto log = system_->events(unsigned(n));
    if (!system_->owns(unsigned(n))) continue;
    gpu::gpu& g = gpu_of(n);
    if (!g.idle()) add(stuck, n, g.blockage());
    if (!g.kernel_fault().empty()) add(broken, n, g.kernel_fault());
    if (const auto f = g.take_fault(); f.count)
      add(failed, n, fmt::format("{} failed accesses, the first: {}", f.count, f.first));
    // The GPU cannot tell: the NIC answers loads that fail with all ones.
    const auto fresh = std::span(log).subspan(std::exchange(events_seen_[n], log.size()));
    const auto load = [](const std::string& e) { return e.find(": LOAD_") != e.npos; };
    if (const auto loads = std::ranges::count_if(fresh, load))
      add(failed, n, fmt::format("{} loads failed, the first: {}", loads, *std::ranges::find_if(fresh, load)));
  }
  if (!programs_.idle()) stuck += (stuck.empty() ? "" : "; ") + programs_.describe(false);
  if (programs_.failed()) broken += (broken.empty() ? "" : "; ") + programs_.describe(true);
  for (std::string* text : {&stuck, &broken, &failed}) *text = of_all(*text);
  programs_.reset(*system_);
  if (!in_time || !broken.empty()) reset_gpus();
  if (!broken.empty()) return fail(errc::device_fault, "{}", broken);
  if (!in_time)
    return fail(errc::timed_out, "not ended after {} ns: {}{}{}", timeout_ns, stuck, failed.empty() ? "" : "; ",
                failed);
  if (!failed.empty()) return fail(errc::device_fault, "{}", failed);
  return {};
}

}  // namespace

result<std::unique_ptr<cluster>> make_sim_cluster(const cluster_config& cfg, sim::nic_factory make_nic) {
  return sim_cluster::create(cfg, std::move(make_nic));
}

}  // namespace ggas::userlib

GGAS_PROVIDER(sim, [](const ggas::cluster_config& cfg) { return ggas::userlib::make_sim_cluster(cfg); });
