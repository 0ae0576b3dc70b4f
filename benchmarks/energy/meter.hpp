// SPDX-License-Identifier: Apache-2.0
// Energy of a load. A load sets itself up and then repeats its job:
//   while (meter.more()) { ... one job of 10 to 200 ms ...; meter.add(work done by it); }
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/energy/sampler.hpp"

namespace ggas::bench {

class work_meter {
 public:
  virtual ~work_meter() = default;
  // True as long as another job is wanted. Nothing of the load runs when it is called.
  virtual bool more() = 0;
  // Work that a job did, on all nodes together: updates, reductions, calls of a collective, bytes, floating-point
  // operations.
  virtual void add(double work) = 0;
};

// Sensors see only a part of the time (A100, H100: 25 of 100 ms). So a window takes seconds, and a pause after each
// eighth of it shifts the jobs by an eighth of a sensor's period: no job runs in phase with the sensor.
struct window_plan {
  int windows = 5;
  double seconds = 5;
};

struct energy_window {
  double seconds, work;
  std::vector<spent_energy> of;  // by sensor
};

// Windows back to back after one job to warm up.
class window_meter : public work_meter {
 public:
  window_meter(sampler& s, const window_plan& plan) : sampler_(s), plan_(plan) {}
  bool more() override;
  void add(double work) override { work_ += work; }

  const std::vector<energy_window>& found() const { return found_; }

 private:
  void begin();
  void close();

  sampler& sampler_;
  window_plan plan_;
  std::vector<energy_window> found_;
  sampler::moment from_{};
  bool open_ = false, warm_ = false;
  double work_ = 0;
  int eighths_ = 0;
};

// A result as records have it: a metric with its samples, one a window.
struct energy_figure {
  std::string metric, unit, group;
  bool integrated;  // power over time, next to what the counters say
  std::vector<double> samples;
};

// What is said of a load's work: energy for a piece of it ("J") or work for a joule ("1/J").
struct work_metric {
  const char* name = nullptr;  // nullptr: the load does no work that is counted
  const char* unit = "";
};

// Groups of sensors, joules added up by group. Watts of idle are taken off where they are known.
class energy_summary {
 public:
  explicit energy_summary(const std::vector<sensor>& sensors) : sensors_(sensors) {}

  // What idle takes, the median of its windows, for the figures that follow.
  void idle(const std::vector<energy_window>& windows);
  // Lines about groups whose idle power after the loads is not that of before (3 %).
  std::vector<std::string> idle_again(const std::vector<energy_window>& windows) const;
  // Figures of a load: power in all and above idle, and the work's metric likewise; by group.
  std::vector<energy_figure> figures(const std::vector<energy_window>& windows, const work_metric& work) const;
  // Lines for people: sensors that gave nothing, and those whose counter and integral differ by more than 5 %.
  std::vector<std::string> remarks(const std::string& load, const std::vector<energy_window>& windows) const;

 private:
  using way = std::optional<double> (*)(const spent_energy&);
  std::vector<std::string> groups() const;
  // Joules of a group in each window; nothing if a sensor of it gave nothing in one of them.
  std::optional<std::vector<double>> joules(const std::vector<energy_window>& windows, const std::string& group,
                                            way how) const;

  const std::vector<sensor>& sensors_;
  std::map<std::string, double> idle_w_;
};

}  // namespace ggas::bench
