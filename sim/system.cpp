// SPDX-License-Identifier: Apache-2.0
#include "sim/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <utility>

#include "ggas_reg_names.hpp"
#include "ggas_regs.h"
#include "sim/trace/recorder.hpp"

namespace ggas::sim {

namespace {

constexpr int max_nodes = 65'536;
constexpr unsigned port_cpu = 0, port_nic = 1, port_gpu = 2;  // of the root complex

std::unexpected<std::string> fail(std::string text) { return std::unexpected(std::move(text)); }

}  // namespace

system::system(system_config cfg) : cfg_(std::move(cfg)) {}

system::~system() {
  kernel_.enter();
  if (const auto whole = end_observation(); !whole) fmt::print(stderr, "{}\n", whole.error());
}

std::expected<void, std::string> system::end_observation() {
  std::string wrong;
  const auto add = [&wrong](const std::expected<void, std::string>& file) {
    if (!file) wrong += (wrong.empty() ? "" : "\n") + file.error();
  };
  if (recorder_) add(recorder_->finish());
  for (const auto& n : nodes_)
    if (n->bridge) add(n->bridge->core().close_waves());
  if (!wrong.empty()) return fail(std::move(wrong));
  return {};
}

std::expected<std::unique_ptr<system>, std::string> system::create(system_config cfg) {
  std::unique_ptr<system> s(new system(std::move(cfg)));
  try {
    if (auto r = s->check(); !r) return fail(r.error());
    if (auto r = s->build(); !r) return fail(r.error());
    if (auto r = s->program(); !r) return fail(r.error());
  } catch (const sc_core::sc_report& e) {
    return fail(fmt::format("SystemC: {}", e.what()));
  }
  return s;
}

std::expected<void, std::string> system::check() const {
  if (!cfg_.model_nics && cfg_.nodes != 1 && cfg_.nodes != 2)
    return fail(fmt::format("nodes = {}: the cycle-accurate NIC has one link, so a cluster has 1 node (no link) or 2",
                            cfg_.nodes));
  if (cfg_.nodes < 1 || cfg_.nodes > max_nodes)
    return fail(fmt::format("nodes = {}: 1 to {} are possible", cfg_.nodes, max_nodes));
  if (cfg_.model_nics && !(cfg_.faults.empty() && cfg_.waves.empty() && cfg_.trace.empty() && cfg_.pcap.empty()))
    return fail("the model of the NIC sends no flits: faults, waves, trace and pcap need the RTL");
  if (cfg_.segment_bytes < 4096 || cfg_.segment_bytes % 4096)
    return fail(fmt::format("segment_bytes = {}: must be a multiple of 4096, at least 4096", cfg_.segment_bytes));
  if (cfg_.segment_bytes > 1ull << 36)
    return fail(fmt::format("segment_bytes = {}: at most 64 GB a node", cfg_.segment_bytes));
  const uint64_t room = cfg_.plat.host.memory_bytes - host_segment_base;
  if (!cfg_.gpu && cfg_.segment_bytes > room)
    return fail(
        fmt::format("segment_bytes = {}: host memory has room for {} (host.memory_bytes)", cfg_.segment_bytes, room));
  if (cfg_.endpoint_bar_bytes &&
      (!std::has_single_bit(cfg_.endpoint_bar_bytes) || cfg_.endpoint_bar_bytes < cfg_.segment_bytes))
    return fail(
        fmt::format("endpoint_bar_bytes = {}: must be a power of two that holds the segment", cfg_.endpoint_bar_bytes));
  for (const auto& p : cfg_.pinned)
    if (cfg_.plat.host.memory_bytes < pinned_base || p.size() > cfg_.plat.host.memory_bytes - pinned_base)
      return fail(fmt::format("{} bytes of pinned memory: host memory has {} behind address {:#x} (host.memory_bytes)",
                              p.size(), cfg_.plat.host.memory_bytes, pinned_base));
  for (const double at : {cfg_.waves_from_us, cfg_.waves_to_us})
    if (!(at >= 0 && at <= 1e12))
      return fail(fmt::format("window of the waves, {} to {} us: must lie between 0 and 1e12", cfg_.waves_from_us,
                              cfg_.waves_to_us));
  if (cfg_.waves_to_us != 0 && cfg_.waves_to_us <= cfg_.waves_from_us)
    return fail(fmt::format("waves_to_us = {}: must be above waves_from_us = {}, or 0 for no end", cfg_.waves_to_us,
                            cfg_.waves_from_us));
  return {};
}

std::expected<void, std::string> system::build() {
  cfg_.pinned.resize(size_t(cfg_.nodes));
  if (cfg_.nodes > int(GGAS_INTERVAL_NUM)) cfg_.mask_mode = true;
  stride_ = std::bit_ceil(cfg_.segment_bytes);
  window_bytes_ = std::bit_ceil(stride_ * unsigned(cfg_.nodes));
  if (!cfg_.endpoint_bar_bytes) cfg_.endpoint_bar_bytes = stride_;
  clock_ = std::make_unique<nic::nic_clock>("clock", cfg_.plat.nic.hertz);
  if (auto r = build_network(); !r) return r;
  for (unsigned n = 0; n < unsigned(cfg_.nodes); ++n)
    if (auto r = build_node(n); !r) return r;
  if (auto r = wire_links(); !r) return r;
  if (auto r = observe(); !r) return r;
  return schedule_waves();
}

std::expected<void, std::string> system::build_node(unsigned n) {
  const platform& p = cfg_.plat;
  auto owned = std::make_unique<node>();
  node& it = *owned;
  nodes_.push_back(std::move(owned));
  const auto name = [n](const char* what) { return fmt::format("node{}_{}", n, what); };

  pcie::root_complex_config rc;
  rc.router.rule.latency_ps = p.root_complex.latency_ps;
  rc.mps = p.mps();
  rc.rcb = p.root_complex.rcb;
  rc.memory_bytes = p.host.memory_bytes;
  rc.memory_latency_ps = 2 * p.root_complex.latency_ps + p.host.memory_latency_ps;
  rc.memory_bytes_per_second = p.host.memory_bytes_per_second;
  it.root = std::make_unique<pcie::root_complex>(name("root").c_str(), rc, it.memory);
  it.root->add_port(name("root_cpu"));
  it.root->add_port(name("root_nic"), p.pcie.nic.root);

  it.cpu = std::make_unique<cpu::processor>(name("cpu").c_str(), cpu::cpu_config{.id = cpu_id,
                                                                                 .store_ps = p.cpu.store_ps,
                                                                                 .load_ps = p.cpu.load_ps,
                                                                                 .timeout_ps = p.cpu.timeout_ps,
                                                                                 .combine_bytes = p.cpu.combine_bytes});
  it.memory.place(pinned_base, cfg_.pinned[n]);
  it.cache = std::make_unique<cpu::cache>(pinned_base, cfg_.pinned[n].size());
  it.root->on_memory_write = [&c = *it.cache](uint64_t offset, uint64_t bytes) { c.device_wrote(offset, bytes); };
  pcie::port::connect(it.cpu->port(), it.root->at(port_cpu), p.cpu.link);
  it.root->attach(port_cpu, cpu_id);

  if (auto r = build_nic(n); !r) return r;
  it.nic->bars().add(0, bar0_base, bar0_bytes);
  it.nic->bars().add(2, window_base, window_bytes_);
  it.nic->bars().add(4, bar4_base, bar4_bytes);
  for (const auto& r : it.nic->bars().ranges()) it.root->map(port_nic, r.base, r.size);
  pcie::port::connect(it.nic->port(), it.root->at(port_nic), p.pcie.nic.link);
  it.root->attach(port_nic, nic_id);

  it.segment_bus = host_segment_base;
  if (cfg_.gpu) {
    it.root->add_port(name("root_gpu"), p.pcie.gpu.root);
    it.gpu = cfg_.gpu({.node = n,
                       .plat = cfg_.plat,
                       .sim = kernel_,
                       .id = endpoint_id,
                       .bar_base = endpoint_base,
                       .bar_bytes = cfg_.endpoint_bar_bytes,
                       .window_base = window_base,
                       .window_bytes = window_bytes_,
                       .stride = stride_,
                       .pages_address = bar4_base,
                       .pages_bytes = bar4_bytes,
                       .host_address = 0,
                       .mps = p.mps(),
                       .mrrs = p.mrrs()});
    if (!it.gpu) return fail(fmt::format("node {}: the endpoint could not be made", n));
    pcie::port::connect(it.gpu->port(), it.root->at(port_gpu), p.pcie.gpu.link);
    it.root->attach(port_gpu, endpoint_id);
    it.root->map(port_gpu, endpoint_base, cfg_.endpoint_bar_bytes);
    it.root->rule(port_gpu, port_nic, p.root_complex.gpu_to_nic);
    it.root->rule(port_nic, port_gpu, p.root_complex.nic_to_gpu);
    it.segment_bus = endpoint_base;
  }
  // Every event record raises this interrupt; the handler gives the ring's places back.
  it.root->on_msi = [this, n](uint64_t, uint32_t) { collect_events(n); };
  return {};
}

std::expected<void, std::string> system::build_nic(unsigned n) {
  const platform& p = cfg_.plat;
  node& it = *nodes_[n];
  const std::string name = fmt::format("node{}_nic", n);
  const nic::host_config host{.mps = uint16_t(p.mps()),
                              .mrrs = uint16_t(p.mrrs()),
                              .bus_id = nic_id,
                              .clock_khz = uint32_t(p.nic.hertz / 1000),
                              .serial = n + 1u};
  const nic::bridge_config b{.id = nic_id,
                             .rx_latency_ps = p.nic.rx_latency_ps,
                             .tx_latency_ps = p.nic.tx_latency_ps,
                             .port = p.pcie.nic.device};
  if (network_) {
    const nic::model_config model{
        .bridge = b, .host = host, .data_width = p.nic.data_width, .hertz = p.nic.hertz, .node = n};
    it.nic = std::make_unique<nic::nic_model>(name.c_str(), model, *network_);
    return {};
  }
  auto core = (cfg_.make_nic ? cfg_.make_nic : nic::make_nic_rtl)(p.nic.data_width, host, name.c_str());
  if (!core) return fail(fmt::format("nic.data_width = {}: this build has no NIC of that width", p.nic.data_width));
  auto bridge = std::make_unique<nic::nic_bridge>(name.c_str(), std::move(core), *clock_, b);
  it.bridge = bridge.get();
  it.nic = std::move(bridge);
  return {};
}

// A flit takes a cycle of the core where the line is quicker.
std::expected<void, std::string> system::build_network() {
  if (!cfg_.model_nics) return {};
  const platform& p = cfg_.plat;
  if (!nic::model_times::of(p.nic.data_width))
    return fail(fmt::format("nic.data_width = {}: there is no NIC of that width", p.nic.data_width));
  auto shape = fabric::topology::parse(cfg_.topology, unsigned(cfg_.nodes));
  if (!shape) return fail(shape.error());
  const uint64_t cycle_ps = 1'000'000'000'000 / p.nic.hertz;
  const auto line_ps = uint64_t(std::llround(p.nic.data_width * 1e12 / p.link.bits_per_second));
  network_ = std::make_unique<fabric::network>(
      "network", std::move(*shape),
      fabric::network_config{.latency_ps = p.link.latency_ps,
                             .flit_ps = std::max(cycle_ps, line_ps),
                             .flit_bits = p.nic.data_width,
                             .hop_ps = nic::hop_cycles * cycle_ps,
                             .units = nic::buffer_units,
                             .control_flits = nic::control_flits});
  return {};
}

std::expected<void, std::string> system::wire_links() {
  if (nodes_.size() < 2 || network_) return {};
  const platform& p = cfg_.plat;
  const auto rules = fabric::parse_faults(cfg_.faults, cfg_.faults_name);
  if (!rules) return fail(rules.error());
  for (const auto& r : *rules)
    if (r.wire != "*" && r.wire != "0->1" && r.wire != "1->0")
      return fail(fmt::format("{}: there is no wire '{}': 0->1, 1->0 or *", cfg_.faults_name, r.wire));
  const fabric::wire_config cfg{
      .latency_ps = p.link.latency_ps, .bits_per_second = p.link.bits_per_second, .flit_bits = p.nic.data_width};
  for (unsigned n = 0; n < 2; ++n) {
    const unsigned to = 1 - n;
    const std::string name = fmt::format("{}->{}", n, to);
    nodes_[n]->out = std::make_unique<fabric::wire>(name, cfg, *nodes_[to]->bridge);
    nodes_[n]->bridge->connect(*nodes_[n]->out);
    nodes_[to]->bridge->carrier(true, 0);
    auto faults = std::make_unique<fabric::fault_injector>(*rules, name, cfg_.seed);
    if (!faults->empty()) nodes_[n]->out->faults(std::move(faults));
  }
  return {};
}

std::expected<void, std::string> system::observe() {
  if (cfg_.trace.empty() && cfg_.pcap.empty()) return {};
  auto r = trace::recorder::open({.trace = cfg_.trace, .pcap = cfg_.pcap, .data_width = cfg_.plat.nic.data_width});
  if (!r) return fail(r.error());
  recorder_ = std::move(*r);
  for (unsigned n = 0; n < nodes_.size(); ++n) {
    node& it = *nodes_[n];
    recorder_->node(n, {.window_base = window_base,
                        .window_bytes = window_bytes_,
                        .stride = stride_,
                        .segment_base = it.segment_bus,
                        .segment_bytes = cfg_.segment_bytes});
    const auto tap = [this, n](trace::place where) {
      return [this, n, where](const pcie::tlp& t, uint64_t start, uint64_t end) {
        recorder_->tlp(n, where, t, start, end);
      };
    };
    it.nic->port().on_wire = tap(trace::place::nic_to_host);
    it.root->at(port_nic).on_wire = tap(trace::place::host_to_nic);
    if (it.gpu) {
      it.gpu->port().on_wire = tap(trace::place::gpu_to_host);
      it.root->at(port_gpu).on_wire = tap(trace::place::host_to_gpu);
    }
    if (it.out)
      it.out->on_flit = [this, n](const nic::flit& f, uint64_t start, uint64_t end) {
        recorder_->flit(n, 1 - n, f, start, end);
      };
  }
  return {};
}

std::expected<void, std::string> system::schedule_waves() {
  if (cfg_.waves.empty()) return {};
  // Known now, not when the window begins.
  for (unsigned n = 0; n < nodes_.size(); ++n)
    if (const std::string file = waves_file(n); !std::ofstream(file))
      return fail(fmt::format("{}: cannot be written: {}", file, std::strerror(errno)));
  for (unsigned n = 0; n < nodes_.size(); ++n) nodes_[n]->bridge->core().open_waves(waves_file(n));
  waves_ = std::make_unique<pcie::timed_queue<bool>>("waves", [this](bool&& on) {
    for (const auto& n : nodes_) n->bridge->core().waves(on);
  });
  waves_->push_at(uint64_t(cfg_.waves_from_us * 1e6), true);
  if (cfg_.waves_to_us != 0) waves_->push_at(uint64_t(cfg_.waves_to_us * 1e6), false);
  return {};
}

std::string system::waves_file(unsigned node) const {
  const auto stem = cfg_.waves.parent_path() / cfg_.waves.stem();
  return fmt::format("{}.node{}.fst", stem.string(), node);
}

// ------------------------------------------------------------------------------------------------ access

std::expected<uint64_t, std::string> system::load(unsigned n, uint64_t addr, unsigned bytes) {
  bool done = false;
  std::optional<uint64_t> value;
  kernel_.enter();
  nodes_[n]->cpu->load(addr, bytes, [&](std::optional<uint64_t> v) {
    value = v;
    done = true;
    kernel_.stop();
  });
  // The processor's own completion time-out ends it.
  if (!kernel_.run_until([&] { return done; }, 4 * cfg_.plat.cpu.timeout_ps + 1'000'000'000))
    return fail(fmt::format("node {}: load from {:#x}: no answer", n, addr));
  if (!value) return fail(fmt::format("node {}: load from {:#x}: error completion or time-out", n, addr));
  return *value;
}

void system::store(unsigned n, uint64_t addr, uint64_t value, unsigned bytes) {
  kernel_.enter();
  nodes_[n]->cpu->store(addr, value, bytes);
}

std::unique_ptr<cpu::core> system::make_program(unsigned n, std::function<void(cpu::core&)> body) {
  const auto& c = cfg_.plat.cpu;
  node& it = *nodes_[n];
  return std::make_unique<cpu::core>(*it.cpu, it.memory, *it.cache,
                                     cpu::core_config{.poll_ps = c.poll_ps,
                                                      .miss_ps = c.miss_ps,
                                                      .timer_slack_ps = c.timer_slack_ps,
                                                      .call_ps = c.call_ps,
                                                      .store_ps = c.store_ps},
                                     std::move(body));
}

// ------------------------------------------------------------------------------------------------ results

std::map<std::string, uint64_t> system::counters(unsigned n) {
  std::map<std::string, uint64_t> out;
  for (const auto& c : regs::counters)
    if (const auto v = read_register(n, c.value)) out[c.name] = *v;
  for (const auto& e : regs::events)
    if (const auto v = e.value ? read_register(n, regs::event_counter(e.value)) : 0)
      out[std::string("EVENT_") + e.name] = *v;
  out.erase("EVENT_NONE");
  const node& it = *nodes_[n];
  out.merge(it.nic->counters());
  out["root.unmapped"] = it.root->stats().unmapped;
  out["root.forbidden"] = it.root->stats().forbidden;
  out["root.lost_completions"] = it.root->stats().lost_cpl;
  out["cpu.load_errors"] = it.cpu->load_errors();
  out["cpu.mmio_stores"] = it.cpu->stores();
  out["cpu.mmio_loads"] = it.cpu->loads();
  out["cpu.accesses"] = it.cache->accesses();
  static constexpr const char* cls[] = {"posted", "non_posted", "completions"};
  for (unsigned c = 0; c < pcie::fc_classes; ++c) {
    out[fmt::format("pcie.nic.tx_{}", cls[c])] = it.nic->port().stats().tx_tlps[c];
    out[fmt::format("pcie.nic.rx_{}", cls[c])] = it.nic->port().stats().rx_tlps[c];
  }
  if (it.out) {
    out["wire.flits"] = it.out->stats().flits;
    out["wire.dropped"] = it.out->stats().dropped;
    out["wire.corrupted"] = it.out->stats().corrupted;
    out["wire.duplicated"] = it.out->stats().duplicated;
  }
  if (it.gpu) out.merge(it.gpu->counters());
  return out;
}

uint64_t system::nic_cycles() const {
  uint64_t sum = 0;
  for (const auto& n : nodes_) sum += n->nic->active_cycles();
  return sum;
}

// Records lie in host memory; the phase bit says which are new. Also the body of the interrupt handler.
void system::collect_events(unsigned n) {
  node& it = *nodes_[n];
  const uint32_t before = it.events_read;
  for (;; ++it.events_read) {
    const uint64_t at = event_ring_base + 16ull * (it.events_read & ((1u << event_ring_log2) - 1));
    const auto event = it.memory.load<uint64_t>(at), tail = it.memory.load<uint64_t>(at + 8);
    const uint64_t phase = ~(it.events_read >> event_ring_log2) & 1;
    if ((tail & 1) != phase) break;
    const unsigned code = unsigned(event >> 56);
    const auto known = std::ranges::find(regs::events, code, &regs::named::value);
    it.events.push_back(fmt::format("node {}: {} (remote node {}, info {:#x})", n,
                                    known == regs::events.end() ? fmt::format("event {}", code) : known->name,
                                    event >> 40 & 0xffff, event & 0xffffffffff));
  }
  if (it.events_read != before) it.cpu->store(bar0_base + GGAS_REG_EVQ_TAIL, it.events_read, 8);
}

std::vector<std::string> system::events(unsigned n) {
  kernel_.enter();
  collect_events(n);
  return nodes_[n]->events;
}

}  // namespace ggas::sim
