// SPDX-License-Identifier: Apache-2.0
// Which process started this one as a part of a job, where the launcher gives the job no name; and which ranks have
// ended.
#pragma once

#include <string>
#include <vector>

namespace ggas::userlib {

// A text that is the same in all processes of a job on this computer, and different in every other job. It is made of
// the number of the launcher's process and of its namespace. The launcher is the nearest ancestor that was started
// without `variable`: scripts between it and the program have the variable.
std::string launcher_without(const char* variable);

// One of these numbers of a job of `size` that ggas-run has reported as ended, by its rank there; -1: none. Rank r of
// simulated nodes has number r + 1, after the simulator. Without ggas-run no end is known.
int ended_of(const std::vector<int>& numbers, int size);

}  // namespace ggas::userlib
