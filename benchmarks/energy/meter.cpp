// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/energy/meter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>

namespace ggas::bench {

namespace {

constexpr int eighths = 8;
constexpr auto pause = std::chrono::microseconds(100'000 / eighths);  // of the longest period of a sensor
constexpr double most_difference = 0.05, most_drift = 0.03;

std::optional<double> best(const spent_energy& e) { return e.joules(); }
std::optional<double> integral(const spent_energy& e) { return e.integral_j; }
std::optional<double> counter(const spent_energy& e) { return e.counter_j; }

std::vector<double> per(std::vector<double> joules, const std::vector<energy_window>& windows,
                        double energy_window::*what) {
  for (size_t i = 0; i < joules.size(); ++i) joules[i] /= windows[i].*what;
  return joules;
}

// Power, and what the work took. Noise may leave nothing above idle: then there is no work for a joule.
void add_figures(std::vector<energy_figure>& to, const std::string& group, const std::string& tail,
                 const std::vector<double>& joules, const std::vector<energy_window>& windows,
                 const work_metric& work) {
  to.push_back({"power" + tail, "W", group, false, per(joules, windows, &energy_window::seconds)});
  if (!work.name) return;
  std::vector<double> share = per(joules, windows, &energy_window::work);
  if (std::string(work.unit) != "J") {
    if (std::ranges::any_of(share, [](double j) { return j <= 0; })) return;
    for (double& j : share) j = 1 / j;
  }
  to.push_back({work.name + tail, work.unit, group, false, share});
}

}  // namespace

bool window_meter::more() {
  if (!open_) {
    begin();
    return true;
  }
  if (!warm_) {  // what was set up by the first job is no part of a window
    warm_ = true;
    begin();
    return true;
  }
  const double share = sampler_.elapsed(from_) / plan_.seconds;
  if (share >= 1) {
    close();
    if (found_.size() >= static_cast<size_t>(plan_.windows)) return false;
    begin();
  } else if (share * eighths >= eighths_ + 1) {
    ++eighths_;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

void window_meter::begin() {
  open_ = true;
  work_ = 0;
  eighths_ = 0;
  from_ = sampler_.now();
}

void window_meter::close() {
  const sampler::moment to = sampler_.now();
  found_.push_back({to.at_s - from_.at_s, work_, sampler::between(from_, to)});
}

std::vector<std::string> energy_summary::groups() const {
  std::vector<std::string> all;
  for (const sensor& s : sensors_)
    if (std::ranges::find(all, s.group) == all.end()) all.push_back(s.group);
  return all;
}

std::optional<std::vector<double>> energy_summary::joules(const std::vector<energy_window>& windows,
                                                          const std::string& group, way how) const {
  std::vector<double> all;
  for (const energy_window& w : windows) {
    double sum = 0;
    for (size_t i = 0; i < sensors_.size(); ++i) {
      if (sensors_[i].group != group) continue;
      const auto j = how(w.of[i]);
      if (!j) return {};
      sum += *j;
    }
    all.push_back(sum);
  }
  return all;
}

void energy_summary::idle(const std::vector<energy_window>& windows) {
  for (const std::string& group : groups()) {
    const auto j = joules(windows, group, best);
    if (!j) continue;
    std::vector<double> watts = per(*j, windows, &energy_window::seconds);
    std::ranges::sort(watts);
    idle_w_[group] = watts[watts.size() / 2];
  }
}

std::vector<std::string> energy_summary::idle_again(const std::vector<energy_window>& windows) const {
  std::vector<std::string> all;
  energy_summary after(sensors_);
  after.idle(windows);
  for (const auto& [group, watts] : after.idle_w_) {
    const auto before = idle_w_.find(group);
    if (before == idle_w_.end() || std::abs(watts - before->second) <= most_drift * before->second) continue;
    all.push_back(fmt::format("idle: {} took {:.1f} W before and {:.1f} W after: above idle is as uncertain", group,
                              before->second, watts));
  }
  return all;
}

std::vector<energy_figure> energy_summary::figures(const std::vector<energy_window>& windows,
                                                   const work_metric& work) const {
  std::vector<energy_figure> all;
  for (const std::string& group : groups()) {
    const auto total = joules(windows, group, best);
    if (!total) continue;
    add_figures(all, group, "", *total, windows, work);
    const auto counted = joules(windows, group, counter), integrated = joules(windows, group, integral);
    if (counted && integrated)
      all.push_back({"power", "W", group, true, per(*integrated, windows, &energy_window::seconds)});
    const auto idle = idle_w_.find(group);
    if (idle == idle_w_.end()) continue;
    std::vector<double> above = *total;
    for (size_t i = 0; i < above.size(); ++i) above[i] -= idle->second * windows[i].seconds;
    add_figures(all, group, "_above_idle", above, windows, work);
  }
  return all;
}

std::vector<std::string> energy_summary::remarks(const std::string& load,
                                                 const std::vector<energy_window>& windows) const {
  std::vector<std::string> all;
  for (size_t i = 0; i < sensors_.size(); ++i) {
    const auto nothing = [&](const energy_window& w) { return !w.of[i].joules(); };
    double most = 0;
    for (const energy_window& w : windows) most = std::max(most, w.of[i].difference().value_or(0));
    if (std::ranges::any_of(windows, nothing))
      all.push_back(
          fmt::format("{}: {} n/a: its sensor stood still, began again or did not answer", load, sensors_[i].part));
    else if (most > most_difference)
      all.push_back(fmt::format("{}: {}: integrated power differs from the energy counter by {:.1f} %", load,
                                sensors_[i].part, 100 * most));
  }
  return all;
}

}  // namespace ggas::bench
