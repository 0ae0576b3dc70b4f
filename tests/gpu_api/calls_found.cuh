// SPDX-License-Identifier: Apache-2.0
// What a thread of a test kernel found: how many things were wrong, and the line of the first.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::calls {

class found {
 public:
  GGAS_DEVICE void want(bool good, int line) {
    if (!good && out_.errors++ == 0) out_.begin_ns = static_cast<uint64_t>(line);
  }
  GGAS_DEVICE void status(ggas_status got, ggas_status wanted, int line) {
    if (got == wanted) return;
    if (out_.errors == 0) out_.end_ns = static_cast<uint64_t>(got);
    want(false, line);
  }
  // By all threads of the block: nothing is wrong so far.
  GGAS_DEVICE bool all_good() const { return !__syncthreads_or(out_.errors != 0); }
  GGAS_DEVICE void write(uint64_t outcomes) const {
    bench::own<bench::outcome>(outcomes)[bench::global_thread()] = out_;
  }

 private:
  bench::outcome out_{0, 0, 0, ggas_ok};
};

}  // namespace ggas::calls
