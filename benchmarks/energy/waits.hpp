// SPDX-License-Identifier: Apache-2.0
// How a thread of the processor waits for a word: what the waiting itself takes.
#pragma once

#include "benchmarks/energy/meter.hpp"

namespace ggas::bench {

enum class processor_wait {
  poll,      // loads, back to back
  back_off,  // pauses between loads that double up to some microseconds
  sleep,     // looks every 5 ms
};

// A thread waits like that, one wait of 100 ms a job.
void wait_load(processor_wait way, work_meter& meter);
// Nothing runs: jobs of 100 ms.
void idle_load(work_meter& meter);

}  // namespace ggas::bench
