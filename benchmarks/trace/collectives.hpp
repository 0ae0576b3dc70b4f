// SPDX-License-Identifier: Apache-2.0
// One rank's part of a collective as sends and receives. Sums cost no time: a schedule has no data.
#pragma once

#include <span>

#include "benchmarks/trace/chakra_file.hpp"
#include "benchmarks/trace/schedule.hpp"

namespace ggas::bench {

// `later` begins when `first` has ended.
void after(std::vector<schedule_op>& ops, uint32_t first, uint32_t later);

// Where the part of a rank goes.
struct collective_part {
  std::vector<schedule_op>& ops;    // of the rank; the part is added
  std::span<const uint32_t> group;  // ranks, in order
  uint32_t me;                      // this rank's place in the group
  uint32_t tag;                     // of all its messages; no other one's
  uint64_t place;
  uint32_t begin, end;  // operations between which it runs
};

// `bytes`: what a rank puts in. Roots are the first of the group.
void add_collective(const collective_part& part, chakra_collective what, uint64_t bytes);

}  // namespace ggas::bench
