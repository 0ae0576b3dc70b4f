// SPDX-License-Identifier: Apache-2.0
// Which process started this one as a part of a job, where the launcher gives the job no name.
#pragma once

#include <string>

namespace ggas::userlib {

// A text that is the same in all processes of a job on this computer, and different in every other job. It is made of
// the number of the launcher's process and of its namespace. The launcher is the nearest ancestor that was started
// without `variable`: scripts between it and the program have the variable.
std::string launcher_without(const char* variable);

}  // namespace ggas::userlib
