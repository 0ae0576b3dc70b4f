// SPDX-License-Identifier: Apache-2.0
// Which method a collective uses, and with how many blocks and threads one on a stream is launched: by the bytes of the
// vector, measured once for a platform and a number of nodes (docs/collectives.md). The same on every node. Host and
// device.
#pragma once

#include <stdint.h>

#ifdef __CUDACC__
#define GGAS_TUNING_FN __host__ __device__ constexpr
#else
#define GGAS_TUNING_FN constexpr
#endif

namespace ggas {

struct tuning {
  // Called in a kernel: vectors of up to `one_shot` bytes by that method, of up to `two_shot` and `direct` by those,
  // others by push. Where peers' memory is not memory (a NIC): never direct nor push.
  struct limits {
    uint64_t one_shot, two_shot, direct;
  };
  // A call on a stream, for vectors of up to `bytes`.
  struct launch {
    uint64_t bytes;
    uint32_t method;  // a ggas_method
    uint32_t blocks, threads;
  };
  static constexpr uint64_t any = ~uint64_t{0};
  static constexpr int rows = 8;

  limits block, grid;
  launch on_stream[rows];  // grow in bytes; the last one is for any

  // Where nothing was measured.
  static GGAS_TUNING_FN tuning usual() {
    return {{4 << 10, 4 << 10, any},
            {32 << 10, 256 << 10, 4 << 20},
            {{256, 2, 1, 32},
             {8 << 10, 2, 4, 256},
             {64 << 10, 2, 16, 512},
             {256 << 10, 3, 32, 512},
             {2 << 20, 4, 32, 512},
             {16 << 20, 4, 48, 512},
             {128 << 20, 4, 64, 512},
             {any, 4, 64, 512}}};
  }
  GGAS_TUNING_FN const launch& on_stream_for(uint64_t bytes) const {
    int i = 0;
    while (i < rows - 1 && bytes > on_stream[i].bytes) ++i;
    return on_stream[i];
  }
};

}  // namespace ggas
