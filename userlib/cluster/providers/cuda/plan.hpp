// SPDX-License-Identifier: Apache-2.0
// What all processes must have in common before they share memory: what each one says, and what follows from it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ggas/cluster_config.hpp"
#include "userlib/start/bootstrap.hpp"

namespace ggas::userlib {

// What a process says; travels as it is.
struct claim {
  int64_t passing = 0;  // how its GPU can pass memory on
  uint64_t segment_bytes = 0, most_segment_bytes = 0, granularity = 0;
  uint64_t reserved = 0;       // bytes of a segment that the library keeps: its version's
  uint64_t tuning = 0;         // of collectives: of its text
  std::array<char, 16> gpu{};  // its UUID
};

// The first rule that the settings break.
attempt<> check(const cluster_config& cfg);
attempt<> check_segment(uint64_t bytes, uint64_t nodes);
attempt<> check_growth(uint64_t bytes, uint64_t now, uint64_t most);

// Claims by rank: they fit each other, or who says what.
attempt<> check(std::span<const claim> claims);

}  // namespace ggas::userlib
