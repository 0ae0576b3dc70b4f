// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/harness/seeds.hpp"

#include <algorithm>

namespace ggas::bench {

namespace {

double median(std::vector<double> v) {
  const size_t half = v.size() / 2;
  std::ranges::sort(v);
  return v.size() % 2 ? v[half] : (v[half - 1] + v[half]) / 2;
}

// The median of a figure that all seeds have.
std::optional<double> median(const std::vector<record>& all, std::optional<double> record::*figure) {
  std::vector<double> found;
  for (const record& r : all) {
    if (!(r.*figure)) return {};
    found.push_back(*(r.*figure));
  }
  return median(std::move(found));
}

record merge(const std::vector<record>& all) {
  record out = all.front();
  std::vector<double> values;
  for (const record& r : all) values.push_back(r.value);
  const auto [least, most] = std::ranges::minmax(values);
  out.seeds = seed_spread{all.size(), least, most};
  out.value = median(std::move(values));
  out.p50 = median(all, &record::p50);
  out.p99 = median(all, &record::p99);
  for (const record& r : std::span(all).subspan(1)) {
    out.n += r.n;
    out.cycles += r.cycles;
    out.sim_ns += r.sim_ns;
    out.wall_s += r.wall_s;
  }
  return out;
}

}  // namespace

void seed_records::add(record r) {
  const std::string point = r.variant + '\n' + r.metric + '\n' + r.params.dump();
  const auto [at, fresh] = places_.try_emplace(point, points_.size());
  if (fresh) points_.emplace_back();
  points_[at->second].push_back(std::move(r));
}

std::vector<record> seed_records::merged() const {
  std::vector<record> out;
  for (const auto& point : points_) out.push_back(merge(point));
  return out;
}

}  // namespace ggas::bench
