// SPDX-License-Identifier: Apache-2.0
#include "sim/vfio_user/rig.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "sim/fabric/faults.hpp"
#include "sim/nic/rtl/nic_rtl.hpp"

namespace ggas::device {

namespace {

constexpr uint16_t root_id = 0x0001, nic_id = 0x0100;
constexpr uint64_t registers_bytes = 0x10000, pages_bytes = 256 * 2 * 0x1000;
constexpr uint64_t settle_ps = 20'000'000;      // far more than a TLP takes through a PCIe link
constexpr uint64_t reset_ps = 100'000'000'000;  // what PCIe gives a function

}  // namespace

std::expected<std::unique_ptr<rig>, std::string> rig::create(rig_config cfg, const std::vector<guest*>& guests) {
  if (cfg.nodes != 1 && cfg.nodes != 2)
    return std::unexpected(fmt::format("nodes = {}: the NIC has one link, so there are 1 (no link) or 2", cfg.nodes));
  if (!std::has_single_bit(cfg.window_bytes) || cfg.window_bytes < 4096)
    return std::unexpected(fmt::format("window of {} bytes: must be a power of two, at least 4096", cfg.window_bytes));
  std::unique_ptr<rig> r(new rig(std::move(cfg)));
  try {
    if (auto built = r->build(guests); !built) return std::unexpected(built.error());
    if (auto wired = r->wire_links(); !wired) return std::unexpected(wired.error());
  } catch (const sc_core::sc_report& e) {
    return std::unexpected(fmt::format("SystemC: {}", e.what()));
  }
  return r;
}

rig::~rig() { kernel_.enter(); }

bar_sizes rig_bars(const rig_config& cfg) { return {registers_bytes, cfg.window_bytes, pages_bytes}; }

nic::made_nic rig::make_core(unsigned n) const {
  const sim::platform& p = cfg_.plat;
  const nic::host_config host{.mps = uint16_t(p.mps()),
                              .mrrs = uint16_t(p.mrrs()),
                              .bus_id = nic_id,
                              .clock_khz = uint32_t(p.nic.hertz / 1000),
                              .serial = n + 1u};
  const auto name = fmt::format("node{}_nic", n);
  auto core = cfg_.make_nic ? cfg_.make_nic(p.nic.data_width, host, name.c_str())
                            : nic::make_nic_rtl(p.nic.data_width, host, name.c_str());
  if (!core) return core;
  (*core)->msix(true, false);  // the client masks vectors, by the eventfds it gives
  (*core)->bus_master(false);
  return core;
}

std::expected<void, std::string> rig::build(const std::vector<guest*>& guests) {
  const sim::platform& p = cfg_.plat;
  const bar_sizes sizes = rig_bars(cfg_);
  clock_ = std::make_unique<nic::nic_clock>("clock", p.nic.hertz);
  for (unsigned n = 0; n < cfg_.nodes; ++n) {
    auto core = make_core(n);
    if (!core) return std::unexpected(core.error());
    auto it = std::make_unique<node>();
    it->nic = std::make_unique<nic::nic_bridge>(fmt::format("node{}_nic", n).c_str(), std::move(*core), *clock_,
                                                nic::bridge_config{.id = nic_id,
                                                                   .rx_latency_ps = p.nic.rx_latency_ps,
                                                                   .tx_latency_ps = p.nic.tx_latency_ps,
                                                                   .port = p.pcie.nic.device});
    it->nic->bars().add(0, bar_address(0), sizes.registers);
    it->nic->bars().add(2, bar_address(2), sizes.window);
    it->nic->bars().add(4, bar_address(4), sizes.pages);
    const guest_port_config guest{.id = root_id,
                                  .nic_id = nic_id,
                                  .mps = p.mps(),
                                  .rcb = p.root_complex.rcb,
                                  .memory_latency_ps = 2 * p.root_complex.latency_ps + p.host.memory_latency_ps,
                                  .port = p.pcie.nic.root,
                                  .read_timeout_ps = p.cpu.timeout_ps};
    it->port = std::make_unique<guest_port>(fmt::format("node{}_guest", n).c_str(), guest, *guests[n]);
    pcie::port::connect(it->nic->port(), it->port->port(), p.pcie.nic.link);
    nodes_.push_back(std::move(it));
  }
  return {};
}

std::expected<void, std::string> rig::wire_links() {
  const auto rules = fabric::parse_faults(cfg_.faults, "faults");
  if (!rules) return std::unexpected(rules.error());
  for (const fabric::fault_rule& r : *rules)
    if (r.kind == fabric::fault_kind::dead_node)
      return std::unexpected(fmt::format("faults:{}: a virtual machine is ended by whoever runs it", r.line));
  if (nodes_.size() < 2) return {};
  const sim::platform& p = cfg_.plat;
  const fabric::wire_config cfg{
      .latency_ps = p.link.latency_ps, .bits_per_second = p.link.bits_per_second, .flit_bits = p.nic.data_width};
  for (unsigned n = 0; n < 2; ++n) {
    const std::string name = fmt::format("{}->{}", n, 1 - n);
    nodes_[n]->out = std::make_unique<fabric::wire>(name, cfg, nodes_[1 - n]->nic->link(0));
    nodes_[n]->nic->connect(0, *nodes_[n]->out);
    nodes_[1 - n]->nic->link(0).carrier(true, 0);
    auto faults = std::make_unique<fabric::fault_injector>(*rules, name, cfg_.seed);
    if (!faults->empty()) nodes_[n]->out->faults(std::move(faults));
  }
  return {};
}

void rig::reset(unsigned n) {
  const auto settle = [this] { kernel_.run_until([] { return false; }, settle_ps); };
  settle();
  kernel_.enter();
  nic::nic_bridge& nic = *nodes_[n]->nic;
  nic.reset_function();
  for (uint64_t passed = 0; nic.core().in_reset() && passed < reset_ps; passed += settle_ps) settle();
  settle();
}

void rig::bus_master(unsigned n, bool on) {
  kernel_.enter();
  nodes_[n]->nic->bus_master(on);
}

void rig::cable(bool in) {
  kernel_.enter();
  for (const auto& n : nodes_)
    if (n->out) n->out->plug(in, kernel_.now_ps());
}

void rig::record(tlp_log& log) {
  const unsigned width = cfg_.plat.nic.data_width;
  for (unsigned n = 0; n < nodes_.size(); ++n) {
    nodes_[n]->nic->on_tlp = [&log, n](const pcie::tlp& t, bool to_nic, uint64_t edge) { log.tlp(n, t, to_nic, edge); };
    nodes_[n]->nic->on_flit = [&log, n, width](const nic::flit& f, bool to_nic, uint64_t edge) {
      log.flit(n, f, to_nic, width, edge);
    };
  }
}

std::expected<void, std::string> rig::waves(const std::filesystem::path& stem) {
  for (unsigned n = 0; n < nodes_.size(); ++n) {
    const std::string path = fmt::format("{}.node{}.fst", stem.string(), n);
    auto file = trace::one_writer::of_file(path);
    if (!file) return std::unexpected(file.error());
    wave_files_.push_back(std::move(*file));
    nodes_[n]->nic->core().open_waves(path);
    nodes_[n]->nic->core().waves(true);
  }
  return {};
}

std::expected<void, std::string> rig::end_waves() {
  std::string wrong;
  for (const auto& n : nodes_)
    if (auto whole = n->nic->core().close_waves(); !whole) wrong += whole.error() + "\n";
  if (wrong.empty()) return {};
  return std::unexpected(wrong);
}

uint64_t rig::cycles() const {
  uint64_t sum = 0;
  for (const auto& n : nodes_) sum += n->nic->active_cycles();
  return sum;
}

}  // namespace ggas::device
