// SPDX-License-Identifier: Apache-2.0
// Queueing several launches, on whatever provider: the first one that fails ends it.
#pragma once

#include "ggas/on_stream.cuh"

#define GGAS_QUEUE(expression)                                       \
  do {                                                               \
    if (auto launched_ = (expression); !launched_) return launched_; \
  } while (0)
