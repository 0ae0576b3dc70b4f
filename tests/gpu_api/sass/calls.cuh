// SPDX-License-Identifier: Apache-2.0
// A kernel that makes a call in a loop.
#pragma once

#include "ggas/ggas.cuh"

namespace {
constexpr uint64_t limit = 1000000000;
}  // namespace

// A kernel whose argument is the file's struct `arguments`, with a word for the result. `bounds`: or nothing.
#define CALL(name, bounds, ...)                                                          \
  extern "C" __global__ void bounds name(arguments a, int times) {                       \
    ggas_status s = ggas_ok;                                                             \
    _Pragma("unroll 1") for (int i = 0; i < times && s == ggas_ok; ++i) s = __VA_ARGS__; \
    if (threadIdx.x == 0) *a.result = s;                                                 \
  }
