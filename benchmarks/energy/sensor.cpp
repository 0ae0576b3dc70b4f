// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/energy/sensor.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ggas::bench {

namespace {
// Upper limit of the power of a package, of memory or of a GPU. If a counter fell, and its wrap would mean more power
// than this, the counter has started again. Counters advance in steps, so a reading may contain the energy of a whole
// second.
constexpr double most_watts = 2'000, most_step_s = 1;
}  // namespace

std::optional<double> spent_energy::difference() const {
  if (!counter_j || !integral_j || *counter_j == 0) return {};
  return std::abs(*integral_j - *counter_j) / *counter_j;
}

void sensor_log::add(double at_s, std::optional<double> energy_j, std::optional<double> power_w) {
  count(at_s, energy_j);
  integrate(at_s, power_w);
  watts_ = power_w ? power_w : energy_j ? counted_w_ : std::nullopt;
}

void sensor_log::count(double at_s, std::optional<double> energy_j) {
  const auto before = std::exchange(last_j_, energy_j);
  if (!energy_j) {
    now_.counter_gaps += now_.counts;
    return;
  }
  const double seconds = at_s - moved_at_s_;
  if (!before) moved_at_s_ = at_s;
  now_.counts = true;
  if (!before || *before == *energy_j) return;
  moved_at_s_ = at_s;
  double step = *energy_j - *before;
  if (step < 0) step += range_j_;
  if (step < 0 || step > most_watts * std::max(seconds, most_step_s)) {
    ++now_.counter_gaps;
    return;
  }
  now_.counter_j += step;
  if (seconds > 0) counted_w_ = step / seconds;
}

// Trapezoids: a power holds for half of the time to its neighbours.
void sensor_log::integrate(double at_s, std::optional<double> power_w) {
  const auto before = std::exchange(last_w_, power_w);
  const double seconds = at_s - std::exchange(measured_at_s_, at_s);
  if (!power_w) {
    now_.power_gaps += now_.measures;
    return;
  }
  now_.measures = true;
  if (before) now_.integral_j += (*before + *power_w) / 2 * seconds;
}

spent_energy sensor_log::between(const mark& from, const mark& to) {
  spent_energy e;
  const double counted = to.counter_j - from.counter_j, integral = to.integral_j - from.integral_j;
  if (from.counts && to.counter_gaps == from.counter_gaps && counted > 0) e.counter_j = counted;
  if (from.measures && to.power_gaps == from.power_gaps) e.integral_j = integral;
  return e;
}

}  // namespace ggas::bench
