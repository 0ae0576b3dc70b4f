// SPDX-License-Identifier: Apache-2.0
#include "sim/fabric/graph/graph.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ggas::fabric {

namespace {
constexpr uint16_t none = 0xffff;
}  // namespace

graph::graph(unsigned nics, unsigned switches)
    : nics_(nics), ports_(nics + switches), names_(nics + switches), spread_(nics + switches) {}

unsigned graph::ports_of_nics() const {
  unsigned most = 0;
  for (unsigned n = 0; n < nics_; ++n) most = std::max(most, ports(n));
  return most;
}

std::string graph::name(unsigned vertex) const {
  if (!names_[vertex].empty()) return fmt::format("'{}'", names_[vertex]);
  return is_nic(vertex) ? fmt::format("NIC {}", vertex) : fmt::format("switch {}", vertex - nics_);
}

void graph::connect(unsigned a, unsigned b, const cable& there, const cable& back) {
  const unsigned at_a = ports(a), at_b = ports(b) + (a == b);
  ports_[a].push_back({{b, at_b}, there});
  ports_[b].push_back({{a, at_a}, back});
}

void graph::set_cables(const cable& usual) {
  for (auto& of_vertex : ports_)
    for (port& p : of_vertex) {
      if (p.out.bits_per_second == 0) p.out.bits_per_second = usual.bits_per_second;
      if (!p.out.latency_ps && p.out.latency_flits == 0) p.out.latency_ps = usual.latency_ps;
    }
}

std::expected<void, std::string> graph::check() const {
  const auto fail = [](std::string text) { return std::unexpected(std::move(text)); };
  if (nics_ < 1) return fail("it has no NIC");
  if (vertices() > most_vertices) return fail(fmt::format("NICs and switches: {} are possible", most_vertices));
  for (unsigned v = 0; v < vertices(); ++v) {
    const unsigned most = is_nic(v) ? most_links_of_nic : most_ports;
    if (ports(v) > most) return fail(fmt::format("{} has {} cables: {} are possible", name(v), ports(v), most));
    for (const port& p : ports_[v]) {
      if (p.far.node == v) return fail(fmt::format("{} is connected to itself", name(v)));
      if (is_nic(v) && is_nic(p.far.node))
        return fail(fmt::format("{} is connected to {}: a NIC needs a switch", name(v), name(p.far.node)));
    }
  }
  std::vector<bool> seen(vertices());
  std::vector<unsigned> left{0};
  for (seen[0] = true; !left.empty();) {
    const unsigned v = left.back();
    left.pop_back();
    for (const port& p : ports_[v])
      if (!is_nic(v) || v == 0) {
        if (!seen[p.far.node]) left.push_back(p.far.node);
        seen[p.far.node] = true;
      }
  }
  for (unsigned v = 0; v < nics_; ++v)
    if (!seen[v]) return fail(fmt::format("no route joins {} and {}: all NICs must be connected", name(0), name(v)));
  return {};
}

route_step graph::next(unsigned vertex, unsigned nic) const {
  const unsigned e = table_[size_t{vertex} * nics_ + nic];
  return {e / lanes, e % lanes};
}

void graph::set_next(unsigned vertex, unsigned nic, route_step s) {
  if (table_.empty()) table_.assign(size_t{vertices()} * nics_, none);
  entry(vertex, nic) = uint16_t(s.port * lanes + s.lane);
}

unsigned graph::hops(unsigned from, unsigned to) const {
  unsigned n = 0;
  for (; from != to; ++n) from = across(from, next(from, to).port).node;
  return n;
}

}  // namespace ggas::fabric
