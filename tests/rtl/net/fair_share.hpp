// SPDX-License-Identifier: Apache-2.0
// Arrival times of messages of one length if every link is shared fairly: at each moment the rates are max-min fair,
// and a message that has ended leaves its share to the others. In units of the time of a message on an otherwise unused
// link.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "sim/fabric/topology.hpp"

namespace ggas::test {

struct flow_of {
  unsigned from, to;
};

class fair_share {
 public:
  fair_share(const fabric::topology& shape, const std::vector<flow_of>& flows) {
    for (const flow_of& f : flows) {
      auto& way = ways_.emplace_back();
      for (unsigned at = f.from; at != f.to;) {
        const unsigned port = shape.next(at, f.to).port;
        const auto [link, added] = number_.try_emplace({at, port}, number_.size());
        way.push_back(link->second);
        at = shape.across(at, port)->node;
      }
    }
  }
  // The number of flows on the link with the most of them: all flows together need at least this time.
  double bound() const {
    std::vector<unsigned> load(number_.size());
    for (const auto& way : ways_)
      for (const size_t link : way) ++load[link];
    return *std::ranges::max_element(load);
  }
  std::vector<double> arrivals() const {
    std::vector<double> left(ways_.size(), 1), at(ways_.size());
    double now = 0;
    while (std::ranges::any_of(left, [](double l) { return l > 0; })) {
      const auto rate = rates(left);
      double step = std::numeric_limits<double>::infinity();
      for (size_t f = 0; f < left.size(); ++f)
        if (left[f] > 0) step = std::min(step, left[f] / rate[f]);
      now += step;
      for (size_t f = 0; f < left.size(); ++f) {
        if (left[f] <= 0) continue;
        left[f] -= step * rate[f];
        if (left[f] < 1e-9) left[f] = 0, at[f] = now;
      }
    }
    return at;
  }

 private:
  // The link with the least for each of its flows settles them; then the next one.
  std::vector<double> rates(const std::vector<double>& left) const {
    std::vector<double> rate(left.size()), room(number_.size(), 1);
    std::vector<bool> open(left.size());
    for (size_t f = 0; f < left.size(); ++f) open[f] = left[f] > 0;
    for (;;) {
      std::vector<unsigned> load(number_.size());
      for (size_t f = 0; f < left.size(); ++f)
        for (const size_t link : ways_[f]) load[link] += open[f];
      size_t tight = load.size();
      for (size_t l = 0; l < load.size(); ++l)
        if (load[l] != 0 && (tight == load.size() || room[l] / load[l] < room[tight] / load[tight])) tight = l;
      if (tight == load.size()) return rate;
      const double share = room[tight] / load[tight];
      for (size_t f = 0; f < left.size(); ++f) {
        if (!open[f] || std::ranges::find(ways_[f], tight) == ways_[f].end()) continue;
        open[f] = false;
        rate[f] = share;
        for (const size_t link : ways_[f]) room[link] -= share;
      }
    }
  }
  std::map<std::pair<unsigned, unsigned>, size_t> number_;  // of a link, by node and port
  std::vector<std::vector<size_t>> ways_;                   // links of each flow
};

}  // namespace ggas::test
