// SPDX-License-Identifier: Apache-2.0
// The end of a unit's Verilated model. In coverage builds its counts go to a file in GGAS_COVERAGE_DIR, where
// coverage.py finds them.
#pragma once

#include <unistd.h>
#include <verilated.h>
#if VM_COVERAGE
#include <verilated_cov.h>
#endif

#include <cstdlib>
#include <string>

namespace ggas::test {

template <class V>
void end_model(V& v) {
  v.final();
#if VM_COVERAGE
  auto* counts = Verilated::threadContextp()->coveragep();
  if (const char* folder = std::getenv("GGAS_COVERAGE_DIR")) {
    static unsigned number = 0;
    const std::string path =
        std::string(folder) + "/" + std::to_string(getpid()) + ".u" + std::to_string(number++) + ".dat";
    counts->write(path.c_str());
  }
  counts->clear();  // they lie in the model
#endif
}

}  // namespace ggas::test
