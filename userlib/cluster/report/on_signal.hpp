// SPDX-License-Identifier: Apache-2.0
// A report of a cluster's waits when SIGTERM or SIGINT ends the program, if the variable GGAS_REPORT is set, as ./ggas
// run does. Signals for which the program has handlers are left to it.
#pragma once

#include <functional>
#include <string>

#include "ggas/report.hpp"

namespace ggas::userlib {

// While an object of this class lives, a signal ends the waits of its cluster, writes the report to standard error, and
// then ends the program as it would without this object.
class report_on_signal {
 public:
  // Called by a thread of their own. `who` begins each line.
  struct asked {
    std::string who;
    std::function<void()> abort;
    std::function<hang_report()> report;
  };
  explicit report_on_signal(asked what);
  ~report_on_signal();
  report_on_signal(const report_on_signal&) = delete;
  report_on_signal& operator=(const report_on_signal&) = delete;

 private:
  int number_ = 0;  // 0: the variable is not set
};

}  // namespace ggas::userlib
