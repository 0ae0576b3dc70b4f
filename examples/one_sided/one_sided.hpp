// SPDX-License-Identifier: Apache-2.0
// Shared by the kernel and the host program: where things lie after the reserved area of a segment.
#pragma once

#include <stdint.h>

#include "ggas/kernel.hpp"
#include "ggas/status.hpp"

constexpr unsigned values = 512;  // doubles a node sends in each step: 4 KB
constexpr unsigned steps = 4;
constexpr uint64_t out_at = 0;          // what a node sends
constexpr uint64_t in_at = 8192;        // what arrives: two buffers in turn
constexpr uint64_t arrived_at = 24576;  // signal: steps that have arrived
constexpr uint64_t counter_at = 24832;  // on node 0: values sent by all
constexpr uint64_t sum_at = 25088;      // result: sum of all that arrived
constexpr uint64_t status_at = 25096;
constexpr uint64_t one_second = 1000000000;  // ns

// What the host program starts.
GGAS_KERNEL(ring, uint64_t base);
