// SPDX-License-Identifier: Apache-2.0
// Benchmarks of single calls: what they take of a GPU, and of a processor.
#pragma once

#include "benchmarks/cluster/runner.hpp"

namespace ggas::bench {

result<> run_post_and_poll(session& s);
result<> run_launching(session& s);

}  // namespace ggas::bench
