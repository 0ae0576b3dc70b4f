// SPDX-License-Identifier: Apache-2.0
// How a cluster is put together: nodes, NICs, links or a network between them, and who looks on.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "ggas_regs.h"
#include "sim/fabric/switch_network.hpp"
#include "sim/nic/rtl/nic_rtl.hpp"
#include "sim/system.hpp"
#include "sim/trace/recorder.hpp"

namespace ggas::sim {

namespace {

constexpr unsigned port_cpu = 0, port_nic = 1, port_gpu = 2;  // of the root complex
constexpr uint16_t switch_id = 0x0180;
constexpr int most_breakable = 1024;  // nodes, as GGAS_NODES with several links

}  // namespace

std::expected<void, std::string> system::build() {
  cfg_.pinned.resize(size_t(cfg_.nodes));
  for (node_config& it : cfg_.each) {
    it.plat.nic = cfg_.plat.nic;
    it.plat.link = cfg_.plat.link;
    it.plat.rma = cfg_.plat.rma;
  }
  if (segments() > GGAS_INTERVAL_NUM) cfg_.mask_mode = true;
  stride_ = std::bit_ceil(cfg_.segment_bytes);
  if (!cfg_.endpoint_bar_bytes) cfg_.endpoint_bar_bytes = stride_;
  clock_ = std::make_unique<nic::nic_clock>("clock", cfg_.plat.nic.hertz);
  auto shape = fabric::topology::parse(cfg_.topology, unsigned(cfg_.nodes));
  if (!shape) return fail(shape.error());
  shape_ = std::move(*shape);
  if (shape_->switches() && !(cfg_.trace.empty() && cfg_.pcap.empty()))
    return fail(fmt::format("topology '{}': trace and pcap need NICs that are connected to each other", cfg_.topology));
  if (auto r = read_faults(); !r) return r;
  window_bytes_ = std::bit_ceil(stride_ * (segments() + (multicast_offset() ? 1 : 0)));
  if (auto r = build_network(); !r) return r;
  nodes_.resize(size_t(cfg_.nodes));
  for (unsigned n = 0; n < nodes(); ++n) {
    if (!owns(n)) continue;
    if (auto r = build_node(n); !r) return r;
  }
  wire_links();
  schedule_deaths();
  make_manager();
  if (auto r = observe(); !r) return r;
  if (auto r = count_toggles(); !r) return r;
  return schedule_waves();
}

std::expected<void, std::string> system::read_faults() {
  auto rules = fabric::parse_faults(cfg_.faults, cfg_.faults_name);
  if (!rules) return fail(rules.error());
  if (shape_->switches() && !rules->empty())
    return fail(fmt::format("{}: faults need NICs that are connected to each other: none of switches is modelled",
                            cfg_.faults_name));
  auto wires = fabric::faults_of_wires(*rules, *shape_, cfg_.faults_name);
  if (!wires) return fail(wires.error());
  faults_ = std::move(*rules);
  wire_faults_ = std::move(*wires);
  if (cfg_.model_nics)
    for (const fabric::fault_rule& r : wire_faults_)
      if (r.kind != fabric::fault_kind::cut)
        return fail(fmt::format("{}:{}: the model of the NIC sends no flits: drop, corrupt and duplicate need the RTL",
                                cfg_.faults_name, r.line));
  const bool dies = std::ranges::any_of(faults_, [](const auto& r) { return r.kind == fabric::fault_kind::dead_node; });
  if (cfg_.all_ranks && (dies || (may_break() && shape_->ports() > 1)))
    return fail(
        "faults: nodes and links that die need a single process, because the network manager receives from all nodes");
  if (cfg_.model_nics && may_break() && cfg_.nodes > most_breakable)
    return fail(
        fmt::format("faults: nodes = {}: the model keeps tables of {} nodes at most", cfg_.nodes, most_breakable));
  return {};
}

bool system::may_break() const {
  return std::ranges::any_of(wire_faults_, [](const auto& r) { return r.kind == fabric::fault_kind::cut; });
}

void system::schedule_deaths() {
  std::vector<std::pair<uint64_t, unsigned>> all;
  for (const fabric::fault_rule& r : faults_)
    if (r.kind == fabric::fault_kind::dead_node) all.emplace_back(r.from_ps, r.node);
  if (all.empty()) return;
  std::ranges::sort(all);
  deaths_ = std::make_unique<pcie::timed_queue<unsigned>>("deaths", [this](unsigned&& n) {
    if (!owns(n)) return;
    nodes_[n]->dead = true;
    if (cfg_.on_death) cfg_.on_death(n);
  });
  for (auto [at, n] : all) deaths_->push_at(at, std::move(n));
}

// Ways to choose from are with several links only, and where a driver can reach all nodes.
void system::make_manager() {
  if (nodes_.size() < 2 || shape_->ports() < 2 || shape_->switches() || cfg_.all_ranks || (network_ && !may_break()))
    return;
  manager_ = std::make_unique<network_manager>(
      *shape_, link_ctrl(),
      network_manager::drivers{
          .alive = [this](unsigned n) { return alive(n); },
          .write = [this](unsigned n, uint16_t offset,
                          uint64_t value) { nodes_[n]->cpu->store(bar0_base + offset, value, 8); },
          .read = [this](unsigned n, uint16_t offset,
                         auto done) { nodes_[n]->cpu->load(bar0_base + offset, 8, std::move(done)); },
          .set_group =
              [this](unsigned n, bool on) {
                for (const fabric::group_line& line : trees_.empty() ? std::vector<fabric::group_line>{} : trees_[n])
                  if (line.node == n)
                    nodes_[n]->cpu->store(bar0_base + GGAS_REG_MULTICAST, group_register(n, line, on), 8);
              }});
}

std::expected<void, std::string> system::build_node(unsigned n) {
  const platform& p = plat(n);
  nodes_[n] = std::make_unique<node>();
  node& it = *nodes_[n];
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
  if (cfg_.gpu)
    if (auto r = build_endpoints(n); !r) return r;
  // Every event record raises this interrupt; the handler gives the ring's places back.
  it.root->on_msi = [this, n](uint64_t, uint32_t) { collect_events(n); };
  return {};
}

// One at a port of the root complex; several below a switch at that port.
std::expected<void, std::string> system::build_endpoints(unsigned n) {
  const platform& p = plat(n);
  node& it = *nodes_[n];
  it.root->add_port(fmt::format("node{}_root_gpu", n), p.pcie.gpu.root);
  if (gpus(n) > 1) {
    const switch_slot& s = *p.pcie.switches;
    it.between = std::make_unique<pcie::packet_switch>(
        fmt::format("node{}_switch", n).c_str(),
        pcie::switch_config{
            .id = switch_id, .forward_ps = s.forward_ps, .queue_packets = s.queue_packets, .ports = s.ports});
    pcie::port::connect(it.between->root_side(), it.root->at(port_gpu), s.link);
  }
  for (unsigned g = 0; g < gpus(n); ++g) {
    const auto id = uint16_t(endpoint_id + g);
    const uint64_t bar = endpoint_base + g * cfg_.endpoint_bar_bytes;
    auto made = cfg_.gpu({.node = n,
                          .index = g,
                          .plat = p,
                          .sim = kernel_,
                          .id = id,
                          .bar_base = bar,
                          .bar_bytes = cfg_.endpoint_bar_bytes,
                          .window_base = window_base,
                          .window_bytes = window_bytes_,
                          .stride = stride_,
                          .pages_address = bar4_base,
                          .pages_bytes = bar4_bytes,
                          .host_address = 0,
                          .mps = p.mps(),
                          .mrrs = p.mrrs()});
    if (!made) return fail(fmt::format("node {}: the endpoint could not be made", n));
    const std::string port = fmt::format("node{}_switch_gpu{}", n, g);
    pcie::port& across =
        it.between ? it.between->add_device(port, id, bar, cfg_.endpoint_bar_bytes) : it.root->at(port_gpu);
    pcie::port::connect(made->port(), across, p.pcie.gpu.link);
    it.root->attach(port_gpu, id);
    it.gpus.push_back(std::move(made));
  }
  it.root->map(port_gpu, endpoint_base, gpus(n) * cfg_.endpoint_bar_bytes);
  it.root->rule(port_gpu, port_nic, p.root_complex.gpu_to_nic);
  it.root->rule(port_nic, port_gpu, p.root_complex.nic_to_gpu);
  it.segment_bus = endpoint_base;
  return {};
}

std::expected<void, std::string> system::build_nic(unsigned n) {
  const platform& p = plat(n);
  node& it = *nodes_[n];
  const std::string name = fmt::format("node{}_nic", n);
  const nic::host_config host{.mps = uint16_t(p.mps()),
                              .mrrs = uint16_t(p.mrrs()),
                              .bus_id = nic_id,
                              .clock_khz = uint32_t(p.nic.hertz / 1000),
                              .serial = n + 1u,
                              .links = shape_->links_of_nic()};
  const nic::bridge_config b{.id = nic_id,
                             .rx_latency_ps = p.nic.rx_latency_ps,
                             .tx_latency_ps = p.nic.tx_latency_ps,
                             .descriptor_ps = p.nic.descriptor_ps,
                             .port = p.pcie.nic.device};
  if (network_) {
    const nic::model_config model{
        .bridge = b, .host = host, .data_width = p.nic.data_width, .hertz = p.nic.hertz, .node = n};
    it.nic = std::make_unique<nic::nic_model>(name.c_str(), model, *network_);
    return {};
  }
  auto core = (cfg_.make_nic ? cfg_.make_nic : nic::make_nic_rtl)(p.nic.data_width, host, name.c_str());
  if (!core) return fail(core.error());
  auto bridge = std::make_unique<nic::nic_bridge>(name.c_str(), std::move(*core), *clock_, b, shape_->ports());
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
  const uint64_t cycle_ps = 1'000'000'000'000 / p.nic.hertz;
  if (shape_->switches()) {
    network_ = make_switches();
    return {};
  }
  const auto line_ps = uint64_t(std::llround(p.nic.data_width * 1e12 / p.link.bits_per_second));
  const unsigned control_gap = nic::model_times::of(p.nic.data_width)->limits().control_gap;
  auto made =
      std::make_unique<fabric::network>("network", *shape_,
                                        fabric::network_config{.latency_ps = p.link.latency_ps,
                                                               .flit_ps = std::max(cycle_ps, line_ps),
                                                               .flit_bits = p.nic.data_width,
                                                               .flits_ahead = nic::flits_ahead(p.nic.data_width),
                                                               .hop_ps = nic::hop_cycles * cycle_ps,
                                                               .beat_ps = cycle_ps,
                                                               .units = nic::buffer_units,
                                                               .control_gap = control_gap});
  if (may_break()) cut_network(*made);
  network_ = std::move(made);
  return {};
}

void system::cut_network(fabric::network& net) {
  std::vector<fabric::network::cut> cuts;
  for (unsigned n = 0; n < shape_->nodes(); ++n)
    for (unsigned port = 0; port < shape_->ports(); ++port) {
      const auto far = shape_->across(n, port);
      if (!far) continue;
      for (const auto& c : fabric::fault_injector(wire_faults_, fabric::wire_name(n, far->node), cfg_.seed).cuts())
        cuts.push_back({n, port, c.from_ps, c.to_ps});
    }
  net.cut_links(cuts);
}

void system::wire_links() {
  if (nodes_.size() < 2 || network_) return;
  if (shape_->switches()) return wire_switches();
  const platform& p = cfg_.plat;
  const fabric::wire_config cfg{
      .latency_ps = p.link.latency_ps, .bits_per_second = p.link.bits_per_second, .flit_bits = p.nic.data_width};
  const auto flit_ps = uint64_t(std::llround(cfg.flit_bits * 1e12 / cfg.bits_per_second));
  if (cfg_.all_ranks) join_ranks(cfg.latency_ps + flit_ps);
  for (unsigned n = 0; n < nodes_.size(); ++n) {
    for (unsigned port = 0; port < shape_->ports(); ++port) {
      const auto far = shape_->across(n, port);
      if (!far) continue;
      const std::string name = fabric::wire_name(n, far->node);
      if (owns(far->node)) nodes_[far->node]->bridge->link(far->port).carrier(true, 0);
      if (!owns(n)) continue;
      fabric::flit_sink& end =
          owns(far->node) ? nodes_[far->node]->bridge->link(far->port) : lockstep_->remote(far->node, far->port);
      auto& out = nodes_[n]->out[port];
      out = std::make_unique<fabric::wire>(name, cfg, end);
      nodes_[n]->bridge->connect(port, *out);
      auto faults = std::make_unique<fabric::fault_injector>(wire_faults_, name, cfg_.seed);
      if (!faults->empty()) out->faults(std::move(faults));
    }
  }
}

// A NIC sends at its edges. The clock knows the edges that are requested now. Input from PCIe passes through the NIC's
// PCIe core before it requests an edge.
void system::join_ranks(uint64_t flight_ps) {
  const auto find = [this](unsigned end, unsigned port) { return end_of_cable(end, port); };
  const auto next_send_ps = [this] {
    const uint64_t idle = kernel_.next_activity_ps(), by_pcie = cfg_.plat.nic.rx_latency_ps + kernel_.now_ps();
    if (!switch_ports_.empty()) return std::min(clock_->next_ps(), idle);  // ports of switches send at any time
    return std::min(clock_->next_ps(), idle > ~uint64_t{0} - by_pcie ? ~uint64_t{0} : by_pcie + idle);
  };
  lockstep_ = std::make_unique<lockstep>(*cfg_.all_ranks, kernel_, lockstep::config{find, next_send_ps, flight_ps});
}

std::expected<void, std::string> system::observe() {
  if (cfg_.trace.empty() && cfg_.pcap.empty()) return {};
  auto r = trace::recorder::open({.trace = cfg_.trace, .pcap = cfg_.pcap, .data_width = cfg_.plat.nic.data_width});
  if (!r) return fail(r.error());
  recorder_ = std::move(*r);
  recorder_->power([this](unsigned n) {
    const power::activity a = activity_of_parts(n);
    return trace::power_track::reading{kernel_.now_ps(), power::energy(plat(n).power, a)};
  });
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
    if (!it.gpus.empty()) {
      it.gpus[0]->port().on_wire = tap(trace::place::gpu_to_host);
      it.root->at(port_gpu).on_wire = tap(trace::place::host_to_gpu);
    }
    for (unsigned port = 0; port < fabric::max_ports; ++port)
      if (it.out[port])
        it.out[port]->on_flit = [this, n, to = shape_->across(n, port)->node](const nic::flit& f, uint64_t start,
                                                                              uint64_t end) {
          recorder_->flit(n, to, f, start, end);
        };
  }
  return {};
}

std::expected<void, std::string> system::count_toggles() {
  for (const auto& n : nodes_) {
    if (!cfg_.toggles || !n) continue;
    if (auto r = n->bridge->core().count_toggles(); !r) return fail(r.error());
  }
  return {};
}

std::expected<void, std::string> system::schedule_waves() {
  if (cfg_.waves.empty()) return {};
  // Known now, not when the window begins.
  for (unsigned n = 0; n < nodes_.size(); ++n) {
    auto file = trace::one_writer::of_file(waves_file(n));
    if (!file) return fail(file.error());
    wave_files_.push_back(std::move(*file));
  }
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

}  // namespace ggas::sim
