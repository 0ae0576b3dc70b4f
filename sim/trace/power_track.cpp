// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/power_track.hpp"

#include <fmt/format.h>

namespace ggas::trace {

namespace {

constexpr uint64_t interval_ps = 1'000'000;

double joules(const power::part& p) { return p.idle_j + p.above_j; }

// The inside of a JSON object: watts by part.
std::string watts(const power_track::reading& from, const power_track::reading& to) {
  const double seconds = 1e-12 * static_cast<double>(to.time_ps - from.time_ps);
  std::string all;
  for (size_t i = 0; i < to.parts.size(); ++i) {
    const double before = i < from.parts.size() ? joules(from.parts[i]) : 0;
    all += fmt::format(R"({}"{}":{:.6g})", i ? "," : "", to.parts[i].name, (joules(to.parts[i]) - before) / seconds);
  }
  return all;
}

}  // namespace

void power_track::seen(unsigned node, uint64_t now_ps) {
  if (node >= last_.size()) last_.resize(node + 1);
  if (now_ps >= last_[node].time_ps + interval_ps) sample(node);
}

void power_track::finish() {
  for (unsigned node = 0; node < last_.size(); ++node) sample(node);
}

void power_track::sample(unsigned node) {
  reading now = meter_(node);
  reading& last = last_[node];
  if (now.time_ps <= last.time_ps) return;
  out_.counter(node, "power in W", last.time_ps, watts(last, now));
  last = std::move(now);
}

}  // namespace ggas::trace
