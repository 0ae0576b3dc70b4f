// SPDX-License-Identifier: Apache-2.0
#include "userlib/cluster/providers/sim/coll_driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ggas_regs.h"
#include "sim/nic/coll_format.hpp"
#include "userlib/cluster/providers/sim/layout.hpp"

namespace ggas::userlib {

namespace {
constexpr unsigned stop_reads = 10'000;
}  // namespace

// In the order in which nodes join: of two ways to the root the shorter one, then the process that still has no child.
coll_tree::coll_tree(const fabric::topology& shape)
    : parent(shape.nodes()), children(shape.nodes()), joined_(shape.nodes()) {
  std::vector<unsigned> order{0};
  joined_[0] = true;
  for (size_t i = 0; i < order.size(); ++i) {
    const unsigned up = order[i];
    for (unsigned port = 0; port < shape.ports(); ++port)
      if (const auto far = shape.across(up, port)) adopt(up, far->node, order);
  }
  // The rest: nodes whose neighbours all have the maximum of children.
  for (unsigned node = 0; node < shape.nodes(); ++node)
    for (unsigned up = 0; up < shape.nodes() && !joined_[node]; ++up)
      if (joined_[up]) adopt(up, node, order);
  deepest_last(0);
}

// The unit adds children in their order, and sends results to the last one first: the child with the most levels below
// it is added last and gets the result first. Returns the levels below a node.
unsigned coll_tree::deepest_last(unsigned node) {
  std::vector<std::pair<unsigned, unsigned>> below;
  for (unsigned c : children[node]) below.emplace_back(deepest_last(c), c);
  std::ranges::stable_sort(below, {}, &std::pair<unsigned, unsigned>::first);
  std::ranges::transform(below, children[node].begin(), &std::pair<unsigned, unsigned>::second);
  return below.empty() ? 0 : 1 + below.back().first;
}

void coll_tree::adopt(unsigned up, unsigned node, std::vector<unsigned>& order) {
  if (joined_[node] || children[up].size() == nic::coll::most_children) return;
  joined_[node] = true;
  parent[node] = up;
  children[up].push_back(node);
  order.push_back(node);
}

std::expected<bool, std::string> coll_driver::built() {
  for (unsigned n = 0; n < system_.nodes(); ++n) {
    const auto r = system_.read_register(n, GGAS_REG_BUILD);
    if (!r) return std::unexpected(fmt::format("node {}: {}", n, r.error()));
    if (!(*r & GGAS_BUILD_COLL_MASK)) return false;
  }
  return true;
}

uint64_t coll_driver::control(unsigned node) const {
  return uint64_t{node == 0} << GGAS_COLL_CTRL_ROOT_SHIFT |
         uint64_t(tree_.children[node].size()) << GGAS_COLL_CTRL_CHILDREN_SHIFT |
         uint64_t{block} << GGAS_COLL_CTRL_BLOCK_SHIFT | uint64_t{owner} << GGAS_COLL_CTRL_OWNER_SHIFT |
         uint64_t{epoch_} << GGAS_COLL_CTRL_EPOCH_SHIFT | uint64_t{cluster_domain} << GGAS_COLL_CTRL_DOMAIN_SHIFT;
}

std::expected<void, std::string> coll_driver::stop(unsigned node) {
  system_.write_register(node, uint16_t(GGAS_REG_COLL_CTRL(group)), 0);
  for (unsigned i = 0; i < stop_reads; ++i) {
    const auto r = system_.read_register(node, uint16_t(GGAS_REG_COLL_STATE(group)));
    if (!r) return std::unexpected(fmt::format("node {}: {}", node, r.error()));
    if (*r & GGAS_COLL_STATE_STOPPED_MASK) return {};
  }
  return std::unexpected(fmt::format("node {}: the NIC's collectives do not stop", node));
}

std::expected<void, std::string> coll_driver::start() {
  ++epoch_;
  for (unsigned n = 0; n < system_.nodes(); ++n)
    if (auto ok = stop(n); !ok) return ok;
  for (unsigned n = 0; n < system_.nodes(); ++n) {
    const auto set = [&](unsigned offset, uint64_t v) { system_.write_register(n, uint16_t(offset), v); };
    uint64_t children = 0;
    for (size_t c = 0; c < tree_.children[n].size(); ++c) children |= uint64_t{tree_.children[n][c]} << 16 * c;
    set(GGAS_REG_COLL_PARENT(group), tree_.parent[n]);
    set(GGAS_REG_COLL_CHILDREN(group), children);
    set(GGAS_REG_COLL_RESULT(group), result_bus_);
    set(GGAS_REG_COLL_CTRL(group), control(n) | GGAS_COLL_CTRL_ENABLE_MASK);
  }
  // No process starts an operation before every member takes part.
  for (unsigned n = 0; n < system_.nodes(); ++n)
    if (const auto r = system_.read_register(n, uint16_t(GGAS_REG_COLL_STATE(group))); !r)
      return std::unexpected(fmt::format("node {}: {}", n, r.error()));
  return {};
}

}  // namespace ggas::userlib
