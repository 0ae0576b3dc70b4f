// SPDX-License-Identifier: Apache-2.0
#include "userlib/providers/sim/sim_cluster.hpp"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>

#include "ggas/detail/layout.hpp"
#include "sim/gpu/gpu.hpp"
#include "sim/system.hpp"
#include "userlib/providers/sim/reservation.hpp"
#include "userlib/src/providers.hpp"

namespace ggas::userlib {

namespace {

using clock = std::chrono::steady_clock;

template <class... A>
std::unexpected<error> fail(errc code, fmt::format_string<A...> f, A&&... a) {
  return std::unexpected(error{code, fmt::format(f, std::forward<A>(a)...)});
}

class gpu_endpoint final : public sim::endpoint {
 public:
  gpu_endpoint(const gpu::gpu_config& cfg, const sim::endpoint_slot& s)
      : gpu(fmt::format("node{}_gpu", s.node).c_str(), cfg, s.id, s.plat.pcie.gpu.device) {}
  pcie::port& port() override { return gpu.host.link; }
  std::map<std::string, uint64_t> counters() const override { return gpu.counters(); }

  gpu::gpu gpu;
};

class sim_cluster final : public cluster {
 public:
  static result<std::unique_ptr<cluster>> create(const cluster_config& cfg);

  const cluster_config& config() const override { return cfg_; }
  std::byte* segment(int node) override {
    return valid(node) ? segments_.base() + size_t(node) * cfg_.segment_bytes : nullptr;
  }
  const context& device_context(int node) const override { return contexts_.at(size_t(node)); }
  result<> launch(int node, simt::dim3 grid, simt::dim3 block, std::function<void()> kernel, std::string name) override;
  result<run_stats> run(uint64_t timeout_ns) override;
  uint64_t now_ns() const override { return system_->now_ps() / 1000; }
  std::map<std::string, uint64_t> counters(int node) const override {
    return valid(node) ? system_->counters(unsigned(node)) : std::map<std::string, uint64_t>{};
  }
  std::vector<std::string> events(int node) const override {
    return valid(node) ? system_->events(unsigned(node)) : std::vector<std::string>{};
  }

 private:
  explicit sim_cluster(const cluster_config& cfg) : cfg_(cfg), random_(cfg.seed) {}
  result<> reserve();
  result<> build(sim::platform plat, std::string faults);
  std::unique_ptr<sim::endpoint> make_gpu(const sim::endpoint_slot& slot);
  gpu::gpu& gpu_of(int node) const { return static_cast<gpu_endpoint*>(system_->gpu(unsigned(node)))->gpu; }
  bool valid(int node) const { return node >= 0 && node < cfg_.nodes; }
  bool settled() const;
  void report_progress();
  result<> verdict(bool in_time, uint64_t timeout_ns);

  cluster_config cfg_;
  gpu::gpu_config gpu_cfg_;
  std::mt19937_64 random_;
  reservation segments_, window_, quiet_;
  std::vector<context> contexts_;
  std::unique_ptr<sim::system> system_;  // last: its blocks may refer to all of the above
  clock::time_point next_progress_;
};

// ------------------------------------------------------------------------------------------------ set-up

result<> check(const cluster_config& cfg) {
  if (cfg.nic != "rtl") return fail(errc::bad_argument, "nic '{}': provider sim has the NIC 'rtl'", cfg.nic);
  if (cfg.nodes < 1 || cfg.nodes > 2)
    return fail(errc::bad_argument,
                "nodes = {}: provider sim takes 1 node or 2 joined by a link (more need a crossbar in the NIC)",
                cfg.nodes);
  return check_config(cfg);
}

result<std::string> read_text(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in) return fail(errc::no_file, "fault script '{}': cannot be read", path.string());
  return std::string(std::istreambuf_iterator<char>(in), {});
}

result<std::unique_ptr<cluster>> sim_cluster::create(const cluster_config& cfg) {
  if (auto ok = check(cfg); !ok) return std::unexpected(ok.error());
  auto plat = sim::load_platform(cfg.platform, cfg.overrides);
  if (!plat) return fail(errc::bad_platform, "{}", plat.error());
  auto gpu = gpu::parse_gpu(plat->gpu, plat->file);
  if (!gpu) return fail(errc::bad_platform, "{}", gpu.error());
  std::string faults;
  if (!cfg.faults.empty()) {
    auto text = read_text(cfg.faults);
    if (!text) return std::unexpected(text.error());
    faults = std::move(*text);
  }
  std::unique_ptr<sim_cluster> c(new sim_cluster(cfg));
  c->gpu_cfg_ = *gpu;
  if (cfg.segment_bytes > gpu->memory_bytes)
    return fail(errc::bad_argument, "segment_bytes = {}: {} has {} bytes of memory", cfg.segment_bytes, gpu->name,
                gpu->memory_bytes);
  if (auto ok = c->build(std::move(*plat), std::move(faults)); !ok) return std::unexpected(ok.error());
  return c;
}

result<> sim_cluster::build(sim::platform plat, std::string faults) {
  segments_ = reservation(size_t(cfg_.nodes) * cfg_.segment_bytes, true);
  quiet_ = reservation(4096, false);
  if (!segments_ || !quiet_)
    return fail(errc::out_of_memory, "{} segments of {} bytes: no room in the address space", cfg_.nodes,
                cfg_.segment_bytes);

  sim::system_config s;
  s.plat = std::move(plat);
  s.nodes = cfg_.nodes;
  s.segment_bytes = cfg_.segment_bytes;
  s.gpu = [this](const sim::endpoint_slot& slot) { return make_gpu(slot); };
  s.seed = cfg_.seed;
  s.faults = std::move(faults);
  if (!cfg_.faults.empty()) s.faults_name = cfg_.faults.string();
  s.waves = cfg_.waves;
  s.trace = cfg_.trace;
  s.pcap = cfg_.pcap;
  s.waves_from_us = cfg_.waves_from_us;
  s.waves_to_us = cfg_.waves_to_us;
  contexts_.resize(size_t(cfg_.nodes));
  auto made = sim::system::create(std::move(s));
  if (!made) return fail(errc::bad_argument, "{}", made.error());
  system_ = std::move(*made);
  return {};
}

// The segment lies at the start of the GPU's BAR; window and quiet page are addresses a kernel may name and nothing
// else.
std::unique_ptr<sim::endpoint> sim_cluster::make_gpu(const sim::endpoint_slot& slot) {
  if (!window_) window_ = reservation(slot.window_bytes, false);
  if (!window_) return nullptr;
  auto e = std::make_unique<gpu_endpoint>(gpu_cfg_, slot);
  gpu::gpu& g = e->gpu;
  const size_t bytes = cfg_.segment_bytes;
  std::byte* const own = segments_.base() + slot.node * bytes;
  g.host.export_memory(slot.bar_base, {own, bytes});
  g.host.flush_address(slot.host_address);
  g.addresses.own(own, bytes);
  g.addresses.aperture(window_.base(), slot.window_bytes, slot.window_base);
  g.addresses.aperture(quiet_.base(), quiet_.bytes(), slot.quiet_address);
  for (const reservation* r : {&segments_, &window_, &quiet_}) g.addresses.forbid(r->outer(), r->outer_bytes());
  g.on_idle = [&k = slot.sim] { k.stop(); };
  context& c = contexts_[slot.node];
  c.node = int32_t(slot.node);
  c.nodes = cfg_.nodes;
  c.window = reinterpret_cast<char*>(window_.base());
  c.stride = slot.stride;
  c.local = reinterpret_cast<char*>(own);
  c.segment_bytes = bytes;
  c.reserved = layout::reserved_bytes(uint64_t(cfg_.nodes), bytes);
  c.quiet = reinterpret_cast<const volatile uint64_t*>(quiet_.base());
  g.context = &c;
  return e;
}

// ------------------------------------------------------------------------------------------------ running

result<> sim_cluster::launch(int node, simt::dim3 grid, simt::dim3 block, std::function<void()> kernel,
                             std::string name) {
  simt::launch l{.grid = grid, .block = block, .kernel = std::move(kernel), .name = std::move(name)};
  if (auto ok = check_launch(cfg_, node, l); !ok) return ok;
  if (const auto wrong = gpu_of(node).check(grid, block))
    return fail(errc::bad_argument, "node {}: kernel '{}': {}", node, l.name, *wrong);
  gpu_of(node).launch(std::move(l));
  return {};
}

bool sim_cluster::settled() const {
  bool idle = true;
  for (int n = 0; n < cfg_.nodes; ++n) {
    if (!gpu_of(n).kernel_fault().empty()) return true;
    idle = idle && gpu_of(n).idle();
  }
  return idle;
}

void sim_cluster::report_progress() {
  if (!cfg_.on_progress || clock::now() < next_progress_) return;
  next_progress_ = clock::now() + std::chrono::milliseconds(150);
  cfg_.on_progress(now_ns());
}

result<run_stats> sim_cluster::run(uint64_t timeout_ns) {
  const auto wall = clock::now();
  const uint64_t begin_ps = system_->now_ps(), cycles = system_->nic_cycles();
  system_->sim().enter();
  for (int n = 0; n < cfg_.nodes; ++n)
    gpu_of(n).start(gpu_cfg_.launch_skew_ns ? random_() % (gpu_cfg_.launch_skew_ns * 1000ull) : 0);
  const bool in_time = system_->run_until(
      [this] {
        report_progress();
        return settled();
      },
      timeout_ns * 1000);
  if (auto ok = verdict(in_time, timeout_ns); !ok) return std::unexpected(ok.error());
  // The hosts learn of it.
  system_->run_for((gpu_cfg_.sync_stream_ns - gpu_cfg_.launch_ns) * 1000ull);
  return run_stats{.sim_ns = (system_->now_ps() - begin_ps) / 1000,
                   .nic_cycles = system_->nic_cycles() - cycles,
                   .wall_s = std::chrono::duration<double>(clock::now() - wall).count()};
}

// What the run came to. After anything but success no kernel is left on any GPU.
result<> sim_cluster::verdict(bool in_time, uint64_t timeout_ns) {
  std::string stuck, broken, failed;
  const auto add = [](std::string& to, int node, const std::string& text) {
    to += fmt::format("{}node {}: {}", to.empty() ? "" : "; ", node, text);
  };
  for (int n = 0; n < cfg_.nodes; ++n) {
    gpu::gpu& g = gpu_of(n);
    if (!g.idle()) add(stuck, n, g.blockage());
    if (!g.kernel_fault().empty()) add(broken, n, g.kernel_fault());
    if (const auto f = g.take_fault(); f.count)
      add(failed, n, fmt::format("{} failed accesses, the first: {}", f.count, f.first));
  }
  if (!in_time || !broken.empty())
    for (int n = 0; n < cfg_.nodes; ++n) gpu_of(n).reset();
  if (!broken.empty()) return fail(errc::device_fault, "{}", broken);
  if (!in_time)
    return fail(errc::timed_out, "kernels still run after {} ns: {}{}{}", timeout_ns, stuck, failed.empty() ? "" : "; ",
                failed);
  if (!failed.empty()) return fail(errc::device_fault, "{}", failed);
  return {};
}

}  // namespace

result<std::unique_ptr<cluster>> make_sim_cluster(const cluster_config& cfg) { return sim_cluster::create(cfg); }

}  // namespace ggas::userlib
