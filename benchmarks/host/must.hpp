// SPDX-License-Identifier: Apache-2.0
// Calls of libggas that must succeed.
#pragma once

#include <string>

#include "benchmarks/host/means.hpp"
#include "ggas/ggas.h"

namespace ggas::host_bench {

inline void must(ggas_rc rc, const char* what) {
  if (rc != GGAS_OK) throw failure(std::string(what) + ": " + ggas_rc_text(rc) + ": " + ggas_error_text());
}

}  // namespace ggas::host_bench
