// SPDX-License-Identifier: Apache-2.0
#include "sim/fabric/graph/up_down.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ggas::fabric {

up_down::up_down(std::vector<std::vector<link>> links, const std::vector<bool>& absent)
    : links_(std::move(links)), rank_(links_.size(), far) {
  for (unsigned n = 0; n < nodes(); ++n) {
    if ((!absent.empty() && absent[n]) || rank_[n] != far) continue;
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

// Distances of all nodes from one. far: not reached.
std::vector<unsigned> up_down::distances(unsigned from) const {
  std::vector<unsigned> out(nodes(), far), left{from};
  out[from] = 0;
  for (size_t next = 0; next < left.size(); ++next)
    for (const link& l : links_[left[next]])
      if (out[l.to] == far) {
        out[l.to] = out[left[next]] + 1;
        left.push_back(l.to);
      }
  return out;
}

// The root of a part is the node that is nearest to all others of it.
unsigned up_down::centre_of(const std::vector<unsigned>& part) const {
  const auto sum = [&](unsigned n) {
    const auto all = distances(n);
    return std::accumulate(part.begin(), part.end(), uint64_t{0}, [&](uint64_t s, unsigned m) { return s + all[m]; });
  };
  std::pair<uint64_t, unsigned> best{~uint64_t{0}, 0};
  for (const unsigned n : part) best = std::min(best, {sum(n), n});
  return best.second;
}

// Steps of the shortest route that only goes down. far: there is none.
std::vector<unsigned> up_down::steps_down(unsigned to) const {
  std::vector<unsigned> steps(nodes(), far), left{to};
  steps[to] = 0;
  for (size_t next = 0; next < left.size(); ++next)
    for (const link& l : links_[left[next]])
      if (up(left[next], l.to) && steps[l.to] == far) {
        steps[l.to] = steps[left[next]] + 1;
        left.push_back(l.to);
      }
  return steps;
}

// If a route down exists it is used, because a packet that came down may not go up again; otherwise one up.
std::vector<std::vector<unsigned>> up_down::towards(unsigned to) const {
  const std::vector<unsigned> down = steps_down(to);
  std::vector<unsigned> steps = down;
  std::vector<std::vector<unsigned>> out(nodes());
  for (const unsigned n : by_rank_) {
    if (n == to) continue;
    const bool goes_down = down[n] != far;
    unsigned best = far;
    for (const link& l : links_[n]) {
      const unsigned rest = up(n, l.to) == goes_down ? far : steps[l.to];
      if (rest == far || rest > best) continue;
      if (rest < best) out[n].clear();
      best = rest;
      out[n].push_back(l.port);
    }
    if (!goes_down && best != far) steps[n] = best + 1;
  }
  return out;
}

}  // namespace ggas::fabric
