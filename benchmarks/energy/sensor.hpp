// SPDX-License-Identifier: Apache-2.0
// Readings of a machine's sensors for the energy of its parts. A sensor that is missing, refuses, does not change or
// has started again gives no value for that time, never 0.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ggas::bench {

// One sensor of one part. Both functions return nothing if the sensor does not answer; either may be empty.
struct sensor {
  std::string part;                                      // "gpu-0", "package-0", "dram-0"
  std::string group;                                     // "gpus", "processors", "dram": what records add up
  std::function<std::optional<double>()> energy_j = {};  // a counter, from any start
  std::function<std::optional<double>()> power_w = {};   // now
  double range_j = 0;                                    // the counter begins again at 0 there; 0: it never does
};

// Sensors of a kind, and the reason if there are none.
struct sensor_list {
  std::vector<sensor> found;
  std::string missing;
};

// Energy spent between two moments, by each way to measure it.
struct spent_energy {
  std::optional<double> counter_j, integral_j;

  // The counter's where there is one.
  std::optional<double> joules() const { return counter_j ? counter_j : integral_j; }
  // Part of the counter's energy by which the integral differs from it; nothing without both.
  std::optional<double> difference() const;
};

// What a sensor reported from its first reading on.
class sensor_log {
 public:
  explicit sensor_log(double range_j) : range_j_(range_j) {}

  // A reading at `at_s`, later than the one before.
  void add(double at_s, std::optional<double> energy_j, std::optional<double> power_w);

  // State after some reading; differences of two are energies.
  struct mark {
    double counter_j = 0, integral_j = 0;
    uint64_t counter_gaps = 0, power_gaps = 0;  // readings that leave unknown what was spent before them
    bool counts = false, measures = false;      // there was a reading of the kind
  };
  const mark& now() const { return now_; }
  // A counter that did not move says nothing: in a window of seconds every part takes energy.
  static spent_energy between(const mark& from, const mark& to);

  // Watts by the last reading: the sensor's own, or the counter's between its last two moves.
  std::optional<double> watts() const { return watts_; }

 private:
  void count(double at_s, std::optional<double> energy_j);
  void integrate(double at_s, std::optional<double> power_w);

  double range_j_;
  mark now_;
  std::optional<double> last_j_, last_w_, counted_w_, watts_;
  double moved_at_s_ = 0, measured_at_s_ = 0;
};

}  // namespace ggas::bench
