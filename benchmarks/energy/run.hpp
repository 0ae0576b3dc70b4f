// SPDX-License-Identifier: Apache-2.0
// A run of the energy benchmark, for any program that supplies loads: idle, the loads, idle again, with the same
// sensors.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "benchmarks/energy/meter.hpp"

namespace ggas::bench {

class energy_run {
 public:
  struct sink {
    std::function<void(const std::string& variant, const energy_figure& f, bool after)> emit;
    std::function<void(std::string line)> note;
  };
  energy_run(const std::vector<sensor_list>& lists, const window_plan& plan, sink s);

  bool has_sensors() const { return !sampler_.sensors().empty(); }

  // Runs the job for a second, uncounted: clocks that rise with the first kernel stay up, so idle is measured on a
  // machine that has worked. Returns false if the job failed.
  static bool warm_up(const std::function<bool(work_meter&)>& job);
  // Idle before the loads, which all of them are compared with, and idle after.
  void idle_before();
  void idle_after();
  // False: the job failed, and nothing is reported of it.
  bool measure(const std::string& variant, const work_metric& work, const std::function<bool(work_meter&)>& job);
  std::string power_csv() { return bench::power_csv(sampler_.sensors(), sampler_.samples()); }

 private:
  std::vector<energy_window> idle();
  void report(const std::string& variant, const std::vector<energy_window>& found, const work_metric& work,
              bool after = false);

  sampler sampler_;
  window_plan plan_;
  sink sink_;
  energy_summary summary_{sampler_.sensors()};
};

}  // namespace ggas::bench
