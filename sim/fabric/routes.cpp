// SPDX-License-Identifier: Apache-2.0
#include "sim/fabric/routes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ggas::fabric {

namespace {
constexpr unsigned far = ~0u;
}  // namespace

void damage::set_link(unsigned node, unsigned port, bool dead) {
  const auto set = [&](const topology::end& e) {
    const auto bit = uint8_t(1u << e.port);
    dead_links_[e.node] = uint8_t(dead ? dead_links_[e.node] | bit : dead_links_[e.node] & ~bit);
  };
  const auto there = shape_->across(node, port);
  if (!there) return;
  set({node, port});
  set(*there);
}

bool damage::any() const {
  return std::ranges::any_of(dead_links_, [](uint8_t bits) { return bits != 0; }) ||
         std::ranges::find(dead_nodes_, true) != dead_nodes_.end();
}

std::optional<topology::end> damage::across(unsigned node, unsigned port) const {
  const auto there = shape_->across(node, port);
  if (!there || dead_links_[node] >> port & 1 || dead_nodes_[node] || dead_nodes_[there->node]) return std::nullopt;
  return there;
}

routes::routes(const topology& shape, const damage& dead) : shape_(&shape), dead_(dead) {
  if (!dead.any()) return;
  number_survivors();
  ways_.assign(size_t{nodes()} * nodes(), {none, none});
  for (const unsigned to : by_rank_) find_ways(to);
}

std::optional<routes::line> routes::of(unsigned at, unsigned to) const {
  if (at == to) return std::nullopt;
  if (ways_.empty()) return line{shape_->next(at, to), shape_->second(at, to)};
  const ports& way = ways_[size_t{to} * nodes() + at];
  if (way[0] == none) return std::nullopt;
  line l{{way[0], 0}, std::nullopt};
  if (way[1] != none) l.second = topology::step{way[1], 0};
  return l;
}

// Distances of all nodes from one. far: not reached.
std::vector<unsigned> routes::distances(unsigned from) const {
  std::vector<unsigned> out(nodes(), far), left{from};
  out[from] = 0;
  for (size_t next = 0; next < left.size(); ++next)
    for (unsigned port = 0; port < shape_->ports(); ++port)
      if (const auto there = dead_.across(left[next], port); there && out[there->node] == far) {
        out[there->node] = out[left[next]] + 1;
        left.push_back(there->node);
      }
  return out;
}

// The root of a part is the node that is nearest to all others of it.
unsigned routes::centre_of(const std::vector<unsigned>& part) const {
  const auto sum = [&](unsigned n) {
    const auto all = distances(n);
    return std::accumulate(part.begin(), part.end(), uint64_t{0}, [&](uint64_t s, unsigned m) { return s + all[m]; });
  };
  std::pair<uint64_t, unsigned> best{~uint64_t{0}, 0};
  for (const unsigned n : part) best = std::min(best, {sum(n), n});
  return best.second;
}

void routes::number_survivors() {
  rank_.assign(nodes(), far);
  for (unsigned n = 0; n < nodes(); ++n) {
    if (dead_.node(n) || rank_[n] != far) continue;
    const auto near = distances(n);
    std::vector<unsigned> part;
    for (unsigned m = 0; m < nodes(); ++m)
      if (near[m] != far) part.push_back(m);
    const auto level = distances(centre_of(part));
    std::ranges::stable_sort(part, {}, [&](unsigned m) { return level[m]; });
    for (const unsigned m : part) {
      rank_[m] = unsigned(by_rank_.size());
      by_rank_.push_back(m);
    }
  }
}

// If a route down exists it is used, because a packet that came down may not go up again; otherwise one up. Among
// routes of the same length the lowest port is the first choice and the next one the second.
void routes::find_ways(unsigned to) {
  const auto each_link = [&](unsigned n, auto&& take) {
    for (unsigned port = 0; port < shape_->ports(); ++port)
      if (const auto there = dead_.across(n, port)) take(port, there->node);
  };
  std::vector<unsigned> steps(nodes(), far), left{to};
  steps[to] = 0;
  for (size_t next = 0; next < left.size(); ++next)
    each_link(left[next], [&](unsigned, unsigned above) {
      if (!up(left[next], above) || steps[above] != far) return;
      steps[above] = steps[left[next]] + 1;
      left.push_back(above);
    });
  const std::vector<unsigned> down = steps;
  for (const unsigned n : by_rank_) {
    if (n == to) continue;
    ports& way = ways_[size_t{to} * nodes() + n];
    const bool goes_down = down[n] != far;
    unsigned best = far;
    each_link(n, [&](unsigned port, unsigned there) {
      const unsigned rest = goes_down ? (up(n, there) ? far : down[there]) : (up(n, there) ? steps[there] : far);
      if (rest < best) {
        best = rest;
        way = {uint8_t(port), none};
      } else if (rest != far && rest == best && way[1] == none) {
        way[1] = uint8_t(port);
      }
    });
    if (!goes_down && best != far) steps[n] = best + 1;
  }
}

}  // namespace ggas::fabric
