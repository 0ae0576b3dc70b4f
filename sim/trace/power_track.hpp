// SPDX-License-Identifier: Apache-2.0
// Power of the parts of each node over time, as counters of a trace.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/power/power.hpp"
#include "sim/trace/chrome.hpp"

namespace ggas::trace {

// Adds no events: samples are taken when something happens at a node, at most one each microsecond, and a value is the
// mean from one sample to the next. Idle time costs nothing.
class power_track {
 public:
  struct reading {
    uint64_t time_ps = 0;
    std::vector<power::part> parts;  // joules until then
  };
  using meter = std::function<reading(unsigned node)>;

  power_track(chrome_writer& out, meter m) : out_(out), meter_(std::move(m)) {}
  void seen(unsigned node, uint64_t now_ps);
  void finish();  // the time since the last samples

 private:
  void sample(unsigned node);

  chrome_writer& out_;
  meter meter_;
  std::vector<reading> last_;  // by node
};

}  // namespace ggas::trace
