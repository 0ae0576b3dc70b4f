// SPDX-License-Identifier: Apache-2.0
#include "ggas/teams.hpp"

#include <algorithm>

#include "ggas/cluster.hpp"
#include "ggas/detail/platform/layout.hpp"
#include "userlib/cluster/teams/zeroed.hpp"

namespace ggas {

namespace {

constexpr ggas_team no_team{0, 1, 0, 0};

layout layout_of(const cluster& c) {
  return layout::of(static_cast<uint64_t>(c.nodes()), c.device_context(c.local_nodes()[0]).reserved);
}

std::string text(const ggas_team& t) {
  return "first " + std::to_string(t.first) + ", stride " + std::to_string(t.stride) + ", size " +
         std::to_string(t.size);
}

// What is wrong with the numbers of a team.
std::string check(const ggas_team& t, int nodes) {
  if (t.stride < 1) return "the stride must be 1 or more";
  if (t.size < 1) return "the size must be 1 or more";
  if (t.first < 0 || t.first >= nodes || (nodes - 1 - t.first) / t.stride < t.size - 1)
    return "members must be nodes 0 ... " + std::to_string(nodes - 1);
  return {};
}

bool same_members(const ggas_team& a, const ggas_team& b) {
  return a.first == b.first && a.stride == b.stride && a.size == b.size;
}

// Adds a node after those of a team that is made; false: not at its distance.
bool add(ggas_team& t, int node) {
  if (t.size == 0) {
    t.first = node;
  } else if (t.size == 1) {
    t.stride = node - t.first;
  } else if (node != t.first + t.size * t.stride) {
    return false;
  }
  ++t.size;
  return true;
}

}  // namespace

team_space::team_space(cluster& c, heap& memory) : cluster_(c), memory_(memory) {}

team_space::~team_space() {
  for (const auto& [id, at] : placed_) memory_.free(layout::place(id));
}

uint64_t team_space::bytes() const { return layout_of(cluster_).placed_bytes(); }

uint64_t team_space::teams() const {
  uint64_t n = 0;
  for (const auto& [id, at] : placed_) n += at.teams.size();
  return n;
}

std::string team_space::place(std::vector<ggas_team>& teams, const std::string& call) {
  static_assert(layout::team_unit == heap::unit, "an id names any offset of a heap");
  std::string why;
  auto at = userlib::allocate_zeroed(cluster_, memory_, bytes(), call, why);
  if (!at) return why;
  if (at->offset / layout::team_unit > UINT32_MAX) {
    memory_.free(at->offset);
    return call + ": offset " + std::to_string(at->offset) + " is too large for a team";
  }
  const auto id = static_cast<unsigned>(at->offset / layout::team_unit);
  for (ggas_team& t : teams) t.id = id;
  placed_[id] = {teams, std::move(at->kept)};
  return {};
}

ggas_team team_space::make(int first, int stride, int size, std::string& why) {
  std::vector<ggas_team> one{{first, stride, size, 0}};
  const std::string call = "team (" + text(one[0]) + ")";
  why = check(one[0], cluster_.nodes());
  why = why.empty() ? place(one, call) : call + ": " + why;
  return why.empty() ? one[0] : no_team;
}

std::vector<ggas_team> team_space::split(const ggas_team& parent, const std::vector<int>& colors, std::string& why) {
  const std::string call = "split of team (" + text(parent) + ")";
  why = check(parent, cluster_.nodes());
  if (why.empty() && colors.size() != static_cast<size_t>(parent.size))
    why = std::to_string(colors.size()) + " colors: there must be one for each member";
  std::map<int, ggas_team> of_color;
  for (int rank = 0; why.empty() && rank < parent.size; ++rank) {
    const int color = colors[static_cast<size_t>(rank)], node = parent.first + rank * parent.stride;
    if (color < 0 || add(of_color.emplace(color, no_team).first->second, node)) continue;
    why = "color " + std::to_string(color) + ": node " + std::to_string(node) +
          " is not as far from the one before as the others";
  }
  if (why.empty() && of_color.empty()) why = "no member has a color of 0 or more";
  std::vector<ggas_team> teams;
  for (const auto& [color, team] : of_color) teams.push_back(team);
  why = why.empty() ? place(teams, call) : call + ": " + why;
  if (!why.empty()) teams.clear();
  return teams;
}

std::string team_space::free(const ggas_team& t) {
  const auto at = placed_.find(t.id);
  if (at != placed_.end()) {
    auto& teams = at->second.teams;
    const auto it = std::ranges::find_if(teams, [&](const ggas_team& other) { return same_members(t, other); });
    if (it != teams.end()) {
      teams.erase(it);
      if (!teams.empty()) return {};
      placed_.erase(at);
      return memory_.free(layout::place(t.id));
    }
  }
  return "free of team (" + text(t) + ", id " + std::to_string(t.id) + "): not made here, or freed before";
}

}  // namespace ggas
