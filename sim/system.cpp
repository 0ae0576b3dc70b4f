// SPDX-License-Identifier: Apache-2.0
#include "sim/system.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <sstream>
#include <utility>

#include "ggas_reg_names.hpp"
#include "ggas_regs.h"
#include "sim/fabric/switch_port.hpp"
#include "sim/trace/recorder.hpp"

namespace ggas::sim {

namespace {

constexpr int max_nodes = 65'536;
constexpr int max_rtl_nodes = 64;   // MAX_NODES of the RTL that is built
constexpr unsigned most_gpus = 16;  // of a node

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
    if (n && n->bridge) add(n->bridge->core().close_waves());
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
  const int most = cfg_.model_nics ? max_nodes : max_rtl_nodes;
  if (cfg_.nodes < 1 || cfg_.nodes > most)
    return fail(fmt::format("nodes = {}: 1 to {} are possible with {}", cfg_.nodes, most,
                            cfg_.model_nics ? "the model of the NIC" : "the cycle-accurate NIC"));
  if (cfg_.model_nics && !(cfg_.waves.empty() && cfg_.trace.empty() && cfg_.pcap.empty()))
    return fail("the model of the NIC sends no flits: waves, trace and pcap need the RTL");
  if (cfg_.model_nics && cfg_.toggles) return fail("the model of the NIC has no signals: toggles need the RTL");
  if (cfg_.toggles && !cfg_.waves.empty()) return fail("a NIC's toggles are counted or its waves written, not both");
  if (cfg_.all_ranks && cfg_.all_ranks->count() > unsigned(cfg_.nodes))
    return fail(fmt::format("{} ranks: there are only {} nodes", cfg_.all_ranks->count(), cfg_.nodes));
  if (cfg_.all_ranks && cfg_.model_nics) return fail("ranks need the RTL: the model's network is one piece");
  if (cfg_.all_ranks && !(cfg_.waves.empty() && cfg_.trace.empty() && cfg_.pcap.empty()))
    return fail("waves, trace and pcap need a single process: ranks see only their own nodes");
  if (cfg_.segment_bytes < 4096 || cfg_.segment_bytes % 4096)
    return fail(fmt::format("segment_bytes = {}: must be a multiple of 4096, at least 4096", cfg_.segment_bytes));
  if (cfg_.segment_bytes > 1ull << 36)
    return fail(fmt::format("segment_bytes = {}: at most 64 GB a node", cfg_.segment_bytes));
  if (cfg_.endpoint_bar_bytes &&
      (!std::has_single_bit(cfg_.endpoint_bar_bytes) || cfg_.endpoint_bar_bytes < cfg_.segment_bytes))
    return fail(
        fmt::format("endpoint_bar_bytes = {}: must be a power of two that holds the segment", cfg_.endpoint_bar_bytes));
  if (auto r = check_each(); !r) return r;
  for (const double at : {cfg_.waves_from_us, cfg_.waves_to_us})
    if (!(at >= 0 && at <= 1e12))
      return fail(fmt::format("window of the waves, {} to {} us: must lie between 0 and 1e12", cfg_.waves_from_us,
                              cfg_.waves_to_us));
  if (cfg_.waves_to_us != 0 && cfg_.waves_to_us <= cfg_.waves_from_us)
    return fail(fmt::format("waves_to_us = {}: must be above waves_from_us = {}, or 0 for no end", cfg_.waves_to_us,
                            cfg_.waves_from_us));
  return {};
}

std::expected<void, std::string> system::check_each() const {
  if (!cfg_.each.empty() && cfg_.each.size() != size_t(cfg_.nodes))
    return fail(fmt::format("{} nodes are described, there are {}", cfg_.each.size(), cfg_.nodes));
  unsigned all = 0;
  for (unsigned n = 0; n < unsigned(cfg_.nodes); ++n) {
    const unsigned g = gpus(n);
    all += g;
    if (g < 1 || g > most_gpus) return fail(fmt::format("node {}: {} GPUs: 1 to {} are possible", n, g, most_gpus));
    if (g > 1 && !cfg_.gpu) return fail(fmt::format("node {}: {} GPUs: there is no model of one", n, g));
    if (g > 1 && !plat(n).pcie.switches)
      return fail(fmt::format("node {}: {} GPUs: {} has no table pcie.switch", n, g, plat(n).file));
    if (auto r = check_memory(n); !r) return r;
  }
  if (all == unsigned(cfg_.nodes)) return {};
  if (all > GGAS_INTERVAL_NUM)
    return fail(fmt::format("{} GPUs: nodes with several can have {} together, the intervals of the NIC's window", all,
                            GGAS_INTERVAL_NUM));
  if (cfg_.mask_mode) return fail("mask_mode: nodes with several GPUs need intervals");
  if (!(cfg_.trace.empty() && cfg_.pcap.empty())) return fail("trace and pcap need nodes with one GPU each");
  return {};
}

std::expected<void, std::string> system::check_memory(unsigned n) const {
  const uint64_t bytes = plat(n).host.memory_bytes, room = bytes - host_segment_base;
  if (!cfg_.gpu && cfg_.segment_bytes > room)
    return fail(
        fmt::format("segment_bytes = {}: host memory has room for {} (host.memory_bytes)", cfg_.segment_bytes, room));
  const uint64_t pinned = n < cfg_.pinned.size() ? cfg_.pinned[n].size() : 0;
  if (pinned && (bytes < pinned_base || pinned > bytes - pinned_base))
    return fail(fmt::format("{} bytes of pinned memory: host memory has {} from address {:#x} on (host.memory_bytes)",
                            pinned, bytes, pinned_base));
  return {};
}

const std::string& system::nic_fault(unsigned node) const {
  const std::string& own = nodes_[node]->nic->fault();
  const auto broken = std::ranges::find_if(switch_ports_, [](const auto& p) { return !p->fault().empty(); });
  return own.empty() && broken != switch_ports_.end() ? (*broken)->fault() : own;
}

unsigned system::segments() const {
  unsigned all = 0;
  for (unsigned n = 0; n < unsigned(cfg_.nodes); ++n) all += gpus(n);
  return all;
}

std::optional<uint64_t> system::multicast_offset() const {
  const bool there = shape_->ports() > 1 && !shape_->switches() && !cfg_.mask_mode &&
                     segments() == unsigned(cfg_.nodes) && segments() < GGAS_INTERVAL_NUM;
  return there ? std::optional(stride_ * segments()) : std::nullopt;
}

// ------------------------------------------------------------------------------------------------ running

bool system::run_until(const std::function<bool()>& done, uint64_t timeout_ps, const std::function<bool()>& broken) {
  return lockstep_ ? lockstep_->run_until(done, broken, timeout_ps) : kernel_.run_until(done, timeout_ps);
}

std::string system::share(unsigned node, const std::string& mine) {
  return cfg_.all_ranks ? cfg_.all_ranks->share(mine, owner(node)) : mine;
}

// ------------------------------------------------------------------------------------------------ access

std::expected<uint64_t, std::string> system::load(unsigned n, uint64_t addr, unsigned bytes) {
  bool done = !owns(n);
  std::optional<uint64_t> value;
  kernel_.enter();
  if (owns(n))
    nodes_[n]->cpu->load(addr, bytes, [&](std::optional<uint64_t> v) {
      value = v;
      done = true;
      kernel_.stop();
    });
  // The processor's own completion time-out ends it.
  if (!run_until([&] { return done; }, 4 * plat(n).cpu.timeout_ps + 1'000'000'000))
    return fail(fmt::format("node {}: load from {:#x}: no answer", n, addr));
  const std::string answer = share(n, value ? fmt::format("{}", *value) : "");
  if (answer.empty()) return fail(fmt::format("node {}: load from {:#x}: error completion or time-out", n, addr));
  return std::stoull(answer);
}

void system::store(unsigned n, uint64_t addr, uint64_t value, unsigned bytes) {
  kernel_.enter();
  if (owns(n)) nodes_[n]->cpu->store(addr, value, bytes);
}

std::unique_ptr<cpu::core> system::make_program(unsigned n, std::function<void(cpu::core&)> body) {
  const auto& c = plat(n).cpu;
  node& it = *nodes_[n];
  return std::make_unique<cpu::core>(*it.cpu, it.memory, *it.cache,
                                     cpu::core_config{.poll_ps = c.poll_ps,
                                                      .miss_ps = c.miss_ps,
                                                      .timer_slack_ps = c.timer_slack_ps,
                                                      .call_ps = c.call_ps,
                                                      .store_ps = c.store_ps,
                                                      .sleep_ps = c.sleep_ps},
                                     std::move(body));
}

// ------------------------------------------------------------------------------------------------ results

std::map<std::string, uint64_t> system::counters(unsigned n, unsigned endpoint) {
  std::map<std::string, uint64_t> out;
  for (const auto& c : regs::counters)
    if (const auto v = read_register(n, c.value)) out[c.name] = *v;
  for (const auto& e : regs::events)
    if (const auto v = e.value ? read_register(n, regs::event_counter(e.value)) : 0)
      out[std::string("EVENT_") + e.name] = *v;
  out.erase("EVENT_NONE");
  std::string text;
  if (owns(n))
    for (const auto& [name, value] : counters_of_parts(*nodes_[n], endpoint))
      text += fmt::format("{} {}\n", name, value);
  std::istringstream lines(share(n, text));
  std::string name;
  for (uint64_t value = 0; lines >> name >> value;) out[name] = value;
  return out;
}

std::vector<power::part> system::energy() {
  std::vector<power::part> sum;
  for (unsigned n = 0; n < nodes(); ++n) {
    const auto of_node = power::energy(plat(n).power, activity(n));
    sum.resize(of_node.size());
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] = {of_node[i].name, sum[i].idle_j + of_node[i].idle_j, sum[i].above_j + of_node[i].above_j};
  }
  return sum;
}

power::activity system::activity(unsigned n) { return shared(n, owns(n) ? activity_of_parts(n) : power::activity()); }

// All ranks get the activity that the owner of the node knows.
power::activity system::shared(unsigned n, const power::activity& own) {
  std::string text;
  for (const auto& [name, value] : own) text += fmt::format("{} {}\n", name, value);
  std::istringstream lines(share(n, text));
  power::activity out;
  std::string name;
  for (uint64_t value = 0; lines >> name >> value;) out[name] = value;
  return out;
}

std::map<std::string, uint64_t> system::nic_toggles() {
  std::map<std::string, uint64_t> sum;
  for (unsigned n = 0; n < nodes(); ++n) {
    power::activity own;
    if (owns(n) && cfg_.toggles)
      for (const auto& [unit, count] : nodes_[n]->bridge->core().toggles()) own[unit] = count;
    for (const auto& [unit, count] : shared(n, own)) sum[unit] += count;
  }
  return sum;
}

power::activity system::activity_of_parts(unsigned n) {
  kernel_.enter();
  const node& it = *nodes_[n];
  power::activity a;
  for (const auto& [name, value] : states_of(it)) a[name] = value;
  a["time_ps"] = kernel_.now_ps();
  const auto add_slot = [&a](const pcie::port& p) {
    constexpr uint64_t around = 24;  // header, sequence number, CRC and framing of a TLP
    a["pcie.lanes"] += p.link().lanes;
    for (unsigned c = 0; c < pcie::fc_classes; ++c)
      a["pcie.bytes"] +=
          p.stats().tx_bytes[c] + p.stats().rx_bytes[c] + around * (p.stats().tx_tlps[c] + p.stats().rx_tlps[c]);
  };
  add_slot(it.nic->port());
  if (it.between) add_slot(it.between->root_side());
  for (const auto& g : it.gpus) {
    ++a["gpus"];
    add_slot(g->port());
    for (const auto& [name, value] : g->counters()) a[name] += value;
  }
  for (unsigned port = 0; nodes() > 1 && port < shape_->ports(); ++port)
    a["link.ports"] += bool(shape_->across(n, port));
  if (network_) a["link.flits"] = network_->flits(n);
  for (const auto& w : it.out) a["link.flits"] += w ? w->stats().flits : 0;
  return a;
}

std::map<std::string, uint64_t> system::states_of(const node& it) {
  const cpu::thread_states& threads = it.cpu->states();
  return {{"cpu.working_ps", threads.ps(cpu::doing::working)},
          {"cpu.polling_ps", threads.ps(cpu::doing::polling)},
          {"cpu.asleep_ps", threads.ps(cpu::doing::asleep)},
          {"cpu.awake_ps", threads.awake_ps()},
          {"dram.bytes", it.root->memory_bytes()}};
}

std::map<std::string, uint64_t> system::counters_of_parts(const node& it, unsigned endpoint) const {
  std::map<std::string, uint64_t> out = it.nic->counters();
  out["root.unmapped"] = it.root->stats().unmapped;
  out["root.forbidden"] = it.root->stats().forbidden;
  out["root.lost_completions"] = it.root->stats().lost_cpl;
  out["cpu.load_errors"] = it.cpu->load_errors();
  out["cpu.mmio_stores"] = it.cpu->stores();
  out["cpu.mmio_loads"] = it.cpu->loads();
  out["cpu.accesses"] = it.cache->accesses();
  out.merge(states_of(it));
  static constexpr const char* cls[] = {"posted", "non_posted", "completions"};
  for (unsigned c = 0; c < pcie::fc_classes; ++c) {
    out[fmt::format("pcie.nic.tx_{}", cls[c])] = it.nic->port().stats().tx_tlps[c];
    out[fmt::format("pcie.nic.rx_{}", cls[c])] = it.nic->port().stats().rx_tlps[c];
  }
  for (const auto& w : it.out) {  // all of the node's
    if (!w) continue;
    out["wire.flits"] += w->stats().flits;
    out["wire.dropped"] += w->stats().dropped;
    out["wire.corrupted"] += w->stats().corrupted;
    out["wire.duplicated"] += w->stats().duplicated;
  }
  if (it.between) {
    out["switch.unmapped"] = it.between->stats().unmapped;
    out["switch.lost_completions"] = it.between->stats().lost_cpl;
    for (unsigned c = 0; c < pcie::fc_classes; ++c) {
      out[fmt::format("switch.up_{}", cls[c])] = it.between->root_side().stats().tx_tlps[c];
      out[fmt::format("switch.down_{}", cls[c])] = it.between->root_side().stats().rx_tlps[c];
    }
  }
  if (endpoint < it.gpus.size()) out.merge(it.gpus[endpoint]->counters());
  return out;
}

uint64_t system::nic_cycles() {
  uint64_t sum = 0;
  for (const auto& n : nodes_)
    if (n) sum += n->nic->active_cycles();
  if (!cfg_.all_ranks) return sum;
  uint64_t all = 0;
  for (const std::string& part : cfg_.all_ranks->gather(fmt::format("{}", sum))) all += std::stoull(part);
  return all;
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
    const bool up = code == GGAS_EV_LINK_UP;
    if (manager_ && (up || code == GGAS_EV_LINK_DEAD)) manager_->heard(n, up);
  }
  if (it.events_read != before) it.cpu->store(bar0_base + GGAS_REG_EVQ_TAIL, it.events_read, 8);
}

std::vector<std::string> system::events(unsigned n) {
  kernel_.enter();
  if (owns(n)) collect_events(n);
  if (!cfg_.all_ranks) return nodes_[n]->events;
  std::vector<std::string> out;
  std::istringstream lines(share(n, owns(n) ? fmt::format("{}", fmt::join(nodes_[n]->events, "\n")) : ""));
  for (std::string line; std::getline(lines, line);) out.push_back(line);
  return out;
}

}  // namespace ggas::sim
