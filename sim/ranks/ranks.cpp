// SPDX-License-Identifier: Apache-2.0
#include "sim/ranks/ranks.hpp"

namespace ggas::sim {

namespace {
ranks* the_ranks = nullptr;
}

ranks* process_ranks() { return the_ranks; }
void process_ranks(ranks* all) { the_ranks = all; }

}  // namespace ggas::sim
