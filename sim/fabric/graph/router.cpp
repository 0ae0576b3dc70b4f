// SPDX-License-Identifier: Apache-2.0
#include "sim/fabric/graph/router.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "sim/fabric/graph/up_down.hpp"

namespace ggas::fabric {

// ---------------------------------------------------------------------------------------------- waits

waits_of_channels::waits_of_channels(const graph& g) : graph_(g) {
  for (unsigned v = 0; v < g.vertices(); ++v) {
    first_.push_back(unsigned(vertex_.size()));
    vertex_.insert(vertex_.end(), size_t{graph::lanes} * g.ports(v), v);
  }
  after_.resize(vertex_.size());
  state_.resize(vertex_.size());
}

// Along the routes of all NICs, each channel once: the rest of a route depends only on where a packet is.
std::vector<std::pair<unsigned, unsigned>> waits_of_channels::waits_to(unsigned nic) const {
  std::vector<std::pair<unsigned, unsigned>> out;
  std::vector<bool> seen(graph_.vertices());
  for (unsigned from = 0; from < graph_.nics(); ++from)
    for (unsigned at = from; at != nic && !seen[at];) {
      seen[at] = true;
      const route_step s = graph_.next(at, nic);
      const unsigned there = graph_.across(at, s.port).node;
      if (there != nic) out.emplace_back(channel(at, s), channel(there, graph_.next(there, nic)));
      at = there;
    }
  return out;
}

bool waits_of_channels::add(unsigned nic) {
  std::vector<std::pair<unsigned, unsigned>> fresh;
  for (const auto& [from, to] : waits_to(nic)) {
    if (std::ranges::find(after_[from], to) != after_[from].end()) continue;
    after_[from].push_back(to);
    fresh.emplace_back(from, to);
  }
  if (!finds_cycle(fresh)) return true;
  for (const auto& [from, to] : fresh) std::erase(after_[from], to);
  return false;
}

// A cycle has one of the new waits.
bool waits_of_channels::finds_cycle(const std::vector<std::pair<unsigned, unsigned>>& from) {
  std::ranges::fill(state_, uint8_t{0});
  return std::ranges::any_of(from, [this](const auto& wait) { return reaches_itself(wait.first); });
}

bool waits_of_channels::reaches_itself(unsigned start) {
  enum : uint8_t { fresh, open, closed };
  if (state_[start] != fresh) return false;
  std::vector<unsigned> path{start};
  std::vector<size_t> next{0};
  for (state_[start] = open; !path.empty();) {
    const unsigned at = path.back();
    if (next.back() == after_[at].size()) {
      state_[at] = closed;
      path.pop_back();
      next.pop_back();
      continue;
    }
    const unsigned to = after_[at][next.back()++];
    if (state_[to] == open) {
      describe(path, to);
      return true;
    }
    if (state_[to] == closed) continue;
    state_[to] = open;
    path.push_back(to);
    next.push_back(0);
  }
  return false;
}

void waits_of_channels::describe(const std::vector<unsigned>& path, unsigned again) {
  std::vector<std::string> names;
  for (auto at = std::ranges::find(path, again); at != path.end(); ++at) names.push_back(graph_.name(vertex_[*at]));
  names.push_back(names.front());
  cycle_ = fmt::format("{}", fmt::join(names, " -> "));
}

// ---------------------------------------------------------------------------------------------- tables

// Among equal steps takes the one that the generator prefers, else the one that the fewest pairs of NICs use. `order`
// has the vertices that are farther away first, so that the number of pairs that come through a vertex is known.
void router::choose(unsigned nic, const std::vector<std::vector<unsigned>>& steps, const std::vector<unsigned>& order) {
  std::vector<uint64_t> pairs(graph_.vertices());
  for (const unsigned v : order) {
    if (v == nic || steps[v].empty()) continue;
    if (graph_.is_nic(v)) pairs[v] = 1;
    const unsigned by = graph_.spread_[v];
    const auto loaded = [&](unsigned port) { return load_[v][port]; };
    const unsigned port =
        by != 0 ? steps[v][nic / by % steps[v].size()] : *std::ranges::min_element(steps[v], {}, loaded);
    load_[v][port] += pairs[v];
    pairs[graph_.across(v, port).node] += pairs[v];
    graph_.set_next(v, nic, {port, 0});
  }
}

// NICs forward nothing, so a search stops at them.
void router::shortest_to(unsigned nic) {
  std::vector<unsigned> far(graph_.vertices(), up_down::far), order{nic};
  std::vector<std::vector<unsigned>> steps(graph_.vertices());
  far[nic] = 0;
  for (size_t next = 0; next < order.size(); ++next) {
    const unsigned v = order[next];
    for (unsigned port = 0; port < graph_.ports(v) && (v == nic || !graph_.is_nic(v)); ++port) {
      const end_of_link there = graph_.across(v, port);
      if (far[there.node] == up_down::far) {
        far[there.node] = far[v] + 1;
        order.push_back(there.node);
      }
      if (far[there.node] == far[v] + 1) steps[there.node].push_back(there.port);
    }
  }
  for (auto& s : steps) std::ranges::sort(s);
  std::ranges::reverse(order);
  choose(nic, steps, order);
}

void router::set_lane(unsigned nic, unsigned lane) {
  for (unsigned v = 0; v < graph_.vertices(); ++v)
    if (v != nic) graph_.set_next(v, nic, {graph_.next(v, nic).port, lane});
}

bool router::layered() {
  waits_of_channels waits(graph_);
  unsigned most = 0;
  for (unsigned nic = 0; nic < graph_.nics(); ++nic) {
    shortest_to(nic);
    unsigned lane = 0;
    while (lane < graph::lanes && (set_lane(nic, lane), !waits.add(nic))) ++lane;
    cycle_ = waits.cycle();
    if (lane == graph::lanes) return false;
    most = std::max(most, lane + 1);
  }
  graph_.routes(fmt::format("shortest, {} lane{}", most, most > 1 ? "s" : ""));
  return true;
}

// The tree has only switches: NICs are its leaves, and forward nothing. Loads are counted on the ways up; a pair on its
// way down is counted where it turns.
void router::up_and_down() {
  std::vector<std::vector<up_down::link>> links(graph_.vertices());
  std::vector<bool> absent(graph_.vertices());
  for (unsigned v = 0; v < graph_.vertices(); ++v) {
    absent[v] = graph_.is_nic(v);
    for (unsigned port = 0; port < graph_.ports(v) && !absent[v]; ++port)
      if (const unsigned to = graph_.across(v, port).node; !graph_.is_nic(to)) links[v].push_back({port, to});
  }
  const up_down tree(std::move(links), absent);
  std::vector<unsigned> order(graph_.nics());
  std::iota(order.begin(), order.end(), 0u);
  order.insert(order.end(), tree.by_rank().rbegin(), tree.by_rank().rend());
  for (unsigned nic = 0; nic < graph_.nics(); ++nic) {
    const end_of_link home = graph_.across(nic, 0);
    auto steps = tree.towards(home.node);
    steps[home.node] = {home.port};
    for (unsigned n = 0; n < graph_.nics(); ++n) steps[n] = {0};
    choose(nic, steps, order);
  }
  graph_.routes("up*/down*");
}

std::expected<void, std::string> router::find(routing how) {
  for (unsigned v = 0; v < graph_.vertices(); ++v) load_.emplace_back(graph_.ports(v));
  if (how != routing::up_down && layered()) return {};
  if (how == routing::shortest)
    return std::unexpected(fmt::format(
        "shortest routes have a cycle of waits in {} lanes, {}: take routing = \"up-down\"", graph::lanes, cycle_));
  for (auto& of_vertex : load_) std::ranges::fill(of_vertex, 0);
  up_and_down();
  return {};
}

std::expected<void, std::string> graph::find_routes(routing how) {
  constexpr size_t most_entries = size_t{1} << 26;
  if (size_t{vertices()} * nics_ > most_entries)
    return std::unexpected(fmt::format("tables of {} NICs and switches for {} NICs: {} entries are possible",
                                       vertices(), nics_, most_entries));
  if (nics_ > 1 && table_.empty())
    if (auto found = router(*this).find(how); !found) return found;
  waits_of_channels waits(*this);
  for (unsigned nic = 0; nic < nics_; ++nic)
    if (!waits.add(nic)) return std::unexpected(fmt::format("the routing has a cycle of waits, {}", waits.cycle()));
  return {};
}

}  // namespace ggas::fabric
