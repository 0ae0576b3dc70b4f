// SPDX-License-Identifier: Apache-2.0
// Queueing several launches, on whatever provider: the first one that fails ends it.
#pragma once

#include "ggas/on_stream.cuh"
#ifndef __CUDACC__
#include "ggas/cluster.hpp"
#endif

namespace ggas::bench {

// What a launch returns, and whether it says that all went well.
#ifdef __CUDACC__
using launched = cudaError_t;
inline bool good(launched e) { return e == cudaSuccess; }
inline launched all_launched() { return cudaSuccess; }
#else
using launched = result<>;
inline bool good(const launched& r) { return r.has_value(); }
inline launched all_launched() { return {}; }
#endif

#define GGAS_QUEUE(expression)                                             \
  do {                                                                     \
    if (auto launched_ = (expression); !good(launched_)) return launched_; \
  } while (0)

}  // namespace ggas::bench
