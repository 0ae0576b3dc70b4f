// SPDX-License-Identifier: Apache-2.0
// Where the data of the benchmark virtualization lie. Included after kernels/virtualization.cuh.
#pragma once

#include <string>

#include "benchmarks/kernels/layout_plan.hpp"

namespace ggas::bench {

// On one node. From x on all is zero at first.
inline micro_args place_micro(layout_plan& room, unsigned blocks) {
  const size_t threads = size_t{blocks} * micro_threads;
  micro_args a{};
  a.x = room.place<float>(threads);
  a.y = room.place<float>(threads);
  a.state = room.place<float>(threads * state_floats);
  a.blocks = {{0, 1, 1, 0}, blocks, 0, 0, 16, 1};
  a.blocks.place = room.place<char>(detail::layout_of(a.blocks).bytes());
  a.outcomes = room.place<outcome>(2 * threads);
  return a;
}
// The arguments of launch i: outcomes of its own.
inline micro_args launch_of(const micro_args& a, int i) {
  micro_args one = a;
  one.outcomes += static_cast<uint64_t>(i) * a.blocks.blocks * micro_threads * sizeof(outcome);
  return one;
}
// What is wrong with the first thread's numbers: where y was 1 all additions of a kernel are in x, or in its state.
inline std::string wrong_micro(const micro_args& a, float x, float state, bool of_state) {
  const float additions = static_cast<float>(a.iterations) * 10, wanted = of_state ? 2 * additions : 1.11f * additions,
              got = of_state ? state : x;
  if (got > 0.98f * wanted && got < 1.02f * wanted) return {};
  return "a sum is " + std::to_string(got) + ", not " + std::to_string(wanted);
}
inline size_t micro_bytes(unsigned blocks) {
  constexpr size_t reserved = 16u << 20;  // for what lies before the data
  layout_plan room(0);
  place_micro(room, blocks);
  return room.place<char>(0) + reserved;
}

}  // namespace ggas::bench
