// SPDX-License-Identifier: Apache-2.0
// The work of a driver after reset, by MMIO of each node's processor: identity, segment, intervals or mask, time-outs,
// event ring; then it waits for the links and enables the units.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "ggas_regs.h"
#include "sim/driver/set_up.hpp"
#include "sim/system.hpp"

namespace ggas::sim {

namespace {
constexpr uint64_t link_up_timeout_ps = 10'000'000'000;
constexpr uint64_t cut_link_up_timeout_ps = 1'000'000'000;  // it may be cut from the beginning
constexpr uint64_t reroute_timeout_ps = 1'000'000'000'000;
// Each node exports its segments under these numbers and up, for this domain, and every window belongs to that domain.
constexpr unsigned segment_export = 0;
constexpr uint16_t window_domain = 1;
}  // namespace

std::expected<void, std::string> system::program() {
  std::vector<unsigned> all(nodes());
  std::iota(all.begin(), all.end(), 0u);
  if (multicast_offset())
    for (const unsigned root : all) trees_.push_back(shape_->tree(root, all));
  for (unsigned n = 0; n < nodes_.size(); ++n) {
    const auto id = read_register(n, GGAS_REG_ID);
    if (!id) return std::unexpected(fmt::format("node {}: NIC does not answer: {}", n, id.error()));
    if ((*id & GGAS_ID_MAGIC_MASK) != 0x53414747)
      return std::unexpected(fmt::format("node {}: NIC identity is {:#x}", n, *id));
    if (owns(n)) program_node(n);
  }
  if (auto r = wait_for_links(); !r) return r;
  // Enabled last: a packet never meets a node that is not set up.
  for (unsigned n = 0; n < nodes_.size(); ++n) enable_node(n);
  for (unsigned n = 0; n < nodes_.size(); ++n)
    if (auto r = read_register(n, GGAS_REG_SMFU_CTRL); !r) return std::unexpected(r.error());
  return route_around_dead_links();
}

// Those that were dead from the beginning.
std::expected<void, std::string> system::route_around_dead_links() {
  if (!manager_ || !may_break()) return {};
  kernel_.enter();
  for (unsigned n = 0; n < nodes_.size(); ++n) {
    const auto states = link_states(n);
    if (!states) return std::unexpected(states.error());
    for (unsigned port = 0, at = 0; port < shape_->ports(); ++port)
      if (shape_->across(n, port) && (*states)[at++] != GGAS_LINK_STATE_UP) manager_->found_dead(n, port);
  }
  if (!run_until([this] { return manager_->idle(); }, reroute_timeout_ps))
    return std::unexpected("the network manager did not finish within its time-out");
  return {};
}

void system::enable_node(unsigned n) {
  const auto& rma = cfg_.plat.rma;
  const uint64_t mode = cfg_.mask_mode ? GGAS_SMFU_MODE_MASK : GGAS_SMFU_MODE_INTERVAL;
  write_register(n, GGAS_REG_SMFU_CTRL,
                 GGAS_SMFU_CTRL_EGRESS_MASK | GGAS_SMFU_CTRL_INGRESS_MASK | mode << GGAS_SMFU_CTRL_MODE_SHIFT);
  const uint64_t mtu = uint64_t(std::countr_zero(rma.mtu_bytes / 64));
  write_register(n, GGAS_REG_RMA_CTRL,
                 GGAS_RMA_CTRL_REQUESTER_MASK | GGAS_RMA_CTRL_TARGET_MASK | mtu << GGAS_RMA_CTRL_MTU_SHIFT |
                     uint64_t(rma.retry_ticks) << GGAS_RMA_CTRL_RETRY_TICKS_SHIFT |
                     uint64_t(rma.retry_limit) << GGAS_RMA_CTRL_RETRY_LIMIT_SHIFT);
}

void system::program_node(unsigned n) {
  const platform& p = cfg_.plat;
  const auto set = [&](uint16_t offset, uint64_t value) { write_register(n, offset, value); };
  set(GGAS_REG_NODE, n);
  program_exports(n);
  set(GGAS_REG_SMFU_TIMEOUT, uint64_t(p.nic.load_timeout_ticks) << GGAS_SMFU_TIMEOUT_LOAD_SHIFT |
                                 uint64_t(p.nic.host_timeout_ticks) << GGAS_SMFU_TIMEOUT_HOST_SHIFT);
  set(GGAS_REG_RMA_TIMEOUT, uint64_t(p.rma.answer_timeout_ticks) << GGAS_RMA_TIMEOUT_ANSWER_SHIFT |
                                uint64_t(p.rma.host_timeout_ticks) << GGAS_RMA_TIMEOUT_HOST_SHIFT);
  set(GGAS_REG_LINK_CTRL, link_ctrl());
  program_routes(n);
  if (cfg_.mask_mode) {
    set(GGAS_REG_SMFU_MASK, (window_bytes_ - 1) & ~(stride_ - 1));
    set(GGAS_REG_SMFU_SHIFT, uint64_t(std::countr_zero(stride_)) |
                                 uint64_t(nodes_.size()) << GGAS_SMFU_SHIFT_NODES_SHIFT |
                                 uint64_t{segment_export} << GGAS_SMFU_SHIFT_EXPORT_NO_SHIFT |
                                 uint64_t{window_domain} << GGAS_SMFU_SHIFT_DOMAIN_SHIFT);
  } else {
    program_intervals(n);
  }
  set(uint16_t(GGAS_REG_MSIX_ADDR(0)), nodes_[n]->root->config().msi_base);
  set(uint16_t(GGAS_REG_MSIX_CTRL(0)), 0);
  driver::set_events(set, event_ring_base, event_ring_log2);
}

// A segment in each endpoint.
void system::program_exports(unsigned n) {
  for (unsigned g = 0; g < gpus(n); ++g)
    driver::set_export(registers_of(n), segment_export + g,
                       {.base = nodes_[n]->segment_bus + g * cfg_.endpoint_bar_bytes,
                        .bytes = cfg_.segment_bytes,
                        .domain = window_domain});
}

// One for each segment of the cluster, and one for the group of this node.
void system::program_intervals(unsigned n) {
  unsigned i = 0;
  const auto map = [&](uint64_t at, unsigned node, unsigned number, bool group) {
    driver::set_interval(registers_of(n), i++,
                         {.start = at,
                          .end = at + cfg_.segment_bytes,
                          .node = node,
                          .number = number,
                          .domain = window_domain,
                          .group = group});
  };
  for (unsigned to = 0; to < nodes(); ++to)
    for (unsigned g = 0; g < gpus(to); ++g) map(i * stride_, to, segment_export + g, false);
  if (multicast_offset()) map(*multicast_offset(), n, segment_export, true);
}

// This node's lines of all groups. The tables of simulated NICs begin empty.
void system::program_groups(unsigned n) {
  for (unsigned root = 0; root < trees_.size(); ++root) {
    for (const fabric::group_line& line : trees_[root]) {
      if (line.node == n) write_register(n, GGAS_REG_MULTICAST, group_register(root, line, true));
    }
  }
}

uint64_t system::link_ctrl() const {
  const auto& nic = cfg_.plat.nic;
  return uint64_t(nic.replay_limit) << GGAS_LINK_CTRL_REPLAY_LIMIT_SHIFT | uint64_t(nic.replay_timeout_cycles)
                                                                               << GGAS_LINK_CTRL_REPLAY_TIMEOUT_SHIFT;
}

// A NIC with one link has a neighbour, a NIC with several links has a table. The model's network knows the routes;
// where links may be cut it must be informed that there is a table.
void system::program_routes(unsigned n) {
  const unsigned all = unsigned(nodes_.size());
  program_groups(n);
  if (all < 2 || (network_ && !network_->may_break() && !multicast_offset())) return;
  if (shape_->links_of_nic() > 1 && !network_) {
    const fabric::routes whole(*shape_, fabric::damage(*shape_));
    for (unsigned to = 0; to < all; ++to)
      write_register(n, GGAS_REG_ROUTE, route_register(to, to == n ? fabric::routes::line{} : whole.of(n, to)));
  }
  const unsigned peer = shape_->links_of_nic() > 1 ? all - 1 : shape_->across(n, 0)->node;
  write_register(n, GGAS_REG_LINK_PEER, peer | GGAS_LINK_PEER_VALID_MASK);
}

std::expected<std::vector<uint64_t>, std::string> system::link_states(unsigned n) {
  const bool several = shape_->ports() > 1 && !shape_->switches() && (!network_ || network_->may_break());
  const auto r = read_register(n, several ? GGAS_REG_LINKS : GGAS_REG_LINK_STATUS);
  if (!r) return std::unexpected(r.error());
  std::vector<uint64_t> states;
  if (!several) states.push_back((*r & GGAS_LINK_STATUS_STATE_MASK) >> GGAS_LINK_STATUS_STATE_SHIFT);
  for (unsigned port = 0; several && port < shape_->ports(); ++port)
    if (shape_->across(n, port)) states.push_back(*r >> (GGAS_LINKS_STATES_SHIFT + 2 * port) & 3);
  return states;
}

std::expected<void, std::string> system::wait_for_links() {
  if (nodes_.size() < 2) return {};
  // A cluster may begin with a dead link when a fault script asks for it; programs then see it fail.
  const bool faulty = !cfg_.faults.empty();
  const auto settled = [&](uint64_t s) { return s == GGAS_LINK_STATE_UP || (faulty && s == GGAS_LINK_STATE_DEAD); };
  const uint64_t end = now_ps() + (may_break() ? cut_link_up_timeout_ps : link_up_timeout_ps);
  for (unsigned n = 0; n < nodes_.size(); ++n) {
    for (;;) {
      const auto states = link_states(n);
      if (!states) return std::unexpected(states.error());
      if (std::ranges::all_of(*states, settled)) break;
      if (now_ps() >= end) {
        if (faulty) break;
        return std::unexpected(fmt::format("node {}: a link is not up after 10 ms of simulated time (states {})", n,
                                           fmt::join(*states, ", ")));
      }
    }
  }
  return {};
}

}  // namespace ggas::sim
