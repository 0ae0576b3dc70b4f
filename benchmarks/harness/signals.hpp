// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM end a run of benchmarks early, and keep all results so far. A second one ends the process at once.
#pragma once

#include <cstdint>
#include <string>

namespace ggas::bench {

// Starts to record signals. A signal that is ignored stays ignored (nohup, background jobs of a shell). SIGXFSZ is
// ignored: a file that may not grow is an error of the write.
void catch_signals();
// The number of the signal that came, 0: none. Quick, from any thread.
int caught_signal();
// Reports on standard error which signal ended the run, which points were cut short and which were not run (both lists
// may be empty). Returns the exit status of a program that a signal ended: 128 + number.
int ended_by_signal(const std::string& cut, const std::string& not_run);

// For tests: raises the signal that GGAS_SIGNAL_AT (number:ns) names, once so much time has been simulated.
void raise_when_due(uint64_t sim_ns);

}  // namespace ggas::bench
