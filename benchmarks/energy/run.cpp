// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/energy/run.hpp"

#include <chrono>
#include <utility>

#include "benchmarks/energy/waits.hpp"

namespace ggas::bench {

namespace {

std::vector<sensor> together(const std::vector<sensor_list>& lists) {
  std::vector<sensor> all;
  for (const sensor_list& l : lists) all.insert(all.end(), l.found.begin(), l.found.end());
  return all;
}

class warm_up_meter : public work_meter {
 public:
  bool more() override { return std::chrono::steady_clock::now() < end_; }
  void add(double) override {}

 private:
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
};

}  // namespace

energy_run::energy_run(const std::vector<sensor_list>& lists, const window_plan& plan, sink s)
    : sampler_(together(lists)), plan_(plan), sink_(std::move(s)) {
  for (const sensor_list& l : lists)
    if (!l.missing.empty()) sink_.note("n/a: " + l.missing);
}

bool energy_run::warm_up(const std::function<bool(work_meter&)>& job) {
  warm_up_meter m;
  return job(m);
}

std::vector<energy_window> energy_run::idle() {
  window_meter m(sampler_, plan_);
  sampler_.activity("idle");
  idle_load(m);
  return m.found();
}

void energy_run::idle_before() {
  const auto found = idle();
  report("idle", found, {});
  summary_.idle(found);
}

void energy_run::idle_after() {
  const auto found = idle();
  for (std::string& line : summary_.idle_again(found)) sink_.note(std::move(line));
  report("idle", found, {}, true);
}

bool energy_run::measure(const std::string& variant, const work_metric& work,
                         const std::function<bool(work_meter&)>& job) {
  window_meter m(sampler_, plan_);
  sampler_.activity(variant);
  if (!job(m)) return false;
  report(variant, m.found(), work);
  return true;
}

void energy_run::report(const std::string& variant, const std::vector<energy_window>& found, const work_metric& work,
                        bool after) {
  for (std::string& line : summary_.remarks(variant, found)) sink_.note(std::move(line));
  for (const energy_figure& f : summary_.figures(found, work))
    if (!after || f.metric == "power") sink_.emit(variant, f, after);
}

}  // namespace ggas::bench
