// SPDX-License-Identifier: Apache-2.0
// Shared by the kernel and the host program: where things lie after the reserved area of a segment.
#pragma once

#include <stdint.h>

#include "ggas/kernel.hpp"
#include "ggas/status.hpp"

constexpr unsigned greeting_values = 64;  // one a thread
constexpr uint64_t flag_offset = 1024;    // after the hello
constexpr uint64_t sum_offset = 2048;     // result, greeting_values floats
constexpr uint64_t status_offset = 4096 - 64;
constexpr uint64_t one_second = 1000000000;  // ns

// What the host program starts.
GGAS_KERNEL(greet, uint64_t base, ggas_status* status, float* sum);
