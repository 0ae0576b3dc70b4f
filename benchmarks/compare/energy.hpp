// SPDX-License-Identifier: Apache-2.0
// Energy of the same work by other libraries: one process a GPU does the jobs, rank 0 reads the sensors of all GPUs.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "benchmarks/compare/figure.hpp"
#include "benchmarks/compare/processes.hpp"
#include "benchmarks/energy/meter.hpp"

namespace ggas::compare {

// A record's variant is the library; its params are `load`, as GGAS's benchmark `energy` calls it, and `elements`.
struct energy_load {
  const char* name;
  bench::work_metric work;
  int64_t elements = 0;       // floats of a call; 0: says nothing
  double work_of_a_job;       // of all GPUs together
  std::function<void()> job;  // 10 to 200 ms on this rank's GPU; returns when it is done
};

// All ranks make one, with their GPU chosen, and call the same functions in the same order.
class crew_energy {
 public:
  crew_energy(crew& all, const origin& from, const char* library);
  ~crew_energy();

  // Idle after a second of the job, which raises the clocks; what is measured afterwards is compared with it.
  void idle(const energy_load& warm_up);
  void measure(const energy_load& load);

 private:
  class sensors;
  void repeat(bench::work_meter* meter, const energy_load& load);

  crew& all_;
  std::unique_ptr<sensors> sensors_;  // of rank 0
};

}  // namespace ggas::compare
