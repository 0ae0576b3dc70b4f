// SPDX-License-Identifier: Apache-2.0
// The method of a collective, and blocks and threads of one on a stream: by the bytes of the vector, measured once for
// a platform and a number of nodes (docs/collectives.md). The same on every node. Host and device.
#pragma once

#include "ggas/detail/platform/integers.hpp"

#ifdef __CUDACC__
#define GGAS_TUNING_FN __host__ __device__ constexpr
#else
#define GGAS_TUNING_FN constexpr
#endif

namespace ggas {

struct tuning {
  // Limits for calls in a kernel. Vectors of up to `one_shot` bytes use the one-shot method, longer ones of up to
  // `two_shot` bytes the two-shot method, of up to `direct` bytes the direct method, and still longer ones push.
  // Through a NIC neither direct nor push is used.
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
  static constexpr int rows = 9;
  // Grow in bytes; the last row is for any.
  struct launches {
    launch row[rows];
    GGAS_TUNING_FN const launch& of(uint64_t bytes) const {
      int i = 0;
      while (i < rows - 1 && bytes > row[i].bytes) ++i;
      return row[i];
    }
  };

  limits block, grid;
  launches allreduce, reduce;  // on a stream
  launches broadcast, spread;  // the method is 0: the call chooses; spread: allgather and alltoall, by a part's bytes
  // The root of a broadcast stores to all leaves itself if this adds at most this number of bytes to the vector, for
  // all blocks of a grid. Otherwise leaves forward a part each (docs/collectives.md).
  uint64_t root_sends;
  // For calls in a kernel: vectors of up to this number of bytes go by the NIC, if it has the unit (256 at most; gain:
  // docs/coll.md).
  uint64_t by_nic;
  // Data of datatypes on a stream, by their bytes: at most so many blocks; the method is 0.
  launches typed;
  // Rows of at least so many bytes by the copy engine: to or from memory of the host, and between GPUs or in one.
  struct rows_by_engine {
    uint64_t host, gpu;
  };
  rows_by_engine engine;
  // Puts from layout to layout are packed, and unpacked by the target's GPU, from so many bytes on: by the length of
  // their runs, up to narrowest_staged << i bytes for entry i; longer ones never. Structs: items of a few runs of
  // different lengths on both sides, which go field by field otherwise.
  static constexpr int staged_widths = 4;
  static constexpr uint64_t narrowest_staged = 8;
  struct staged_puts {
    uint64_t least[staged_widths], structs;
    GGAS_TUNING_FN uint64_t of(uint64_t run, bool between_structs = false) const {
      for (int i = 0; i < staged_widths; ++i)
        if (run <= narrowest_staged << i) return between_structs ? structs : least[i];
      return any;
    }
  };
  staged_puts staged;

  // Where nothing was measured.
  static GGAS_TUNING_FN tuning usual() {
    constexpr launches reductions = {{{256, 2, 1, 32},
                                      {8 << 10, 2, 4, 256},
                                      {64 << 10, 2, 16, 512},
                                      {256 << 10, 3, 32, 512},
                                      {2 << 20, 4, 32, 512},
                                      {8 << 20, 4, 48, 512},
                                      {16 << 20, 4, 48, 512},
                                      {128 << 20, 4, 64, 512},
                                      {any, 4, 64, 512}}};
    // As many blocks as are needed to move each share in lines, which is faster than exchanging addresses of
    // destinations, as long as there are enough multiprocessors (2 x H200).
    constexpr launches moves = {{{128, 0, 1, 128},
                                 {1024, 0, 1, 256},
                                 {4096, 0, 4, 256},
                                 {16384, 0, 32, 256},
                                 {65536, 0, 64, 256},
                                 {262144, 0, 128, 512},
                                 {1 << 20, 0, 64, 256},
                                 {8 << 20, 0, 128, 512},
                                 {any, 0, 128, 512}}};
    // One thread for each unit, up to two blocks of 512 a multiprocessor, then several units for each thread.
    constexpr launches typed = {{{4 << 10, 0, 8, 128},
                                 {16 << 10, 0, 32, 128},
                                 {64 << 10, 0, 64, 128},
                                 {256 << 10, 0, 132, 256},
                                 {1 << 20, 0, 264, 256},
                                 {4 << 20, 0, 264, 512},
                                 {16 << 20, 0, 528, 512},
                                 {64 << 20, 0, 528, 512},
                                 {any, 0, 528, 512}}};
    return {{4 << 10, 4 << 10, any},
            {32 << 10, 256 << 10, 4 << 20},
            reductions,
            for_reduce(reductions),
            moves,
            moves,
            1 << 20,
            256,
            typed,
            {4 << 10, any},
            {{any, any, any, any}, any}};
  }
  // What a reduce does where an allreduce goes by those: not every method of one is one of a reduce.
  static GGAS_TUNING_FN launches for_reduce(launches all) {
    for (launch& l : all.row) l.method = l.method == 3 ? 2 : l.method == 5 ? 4 : l.method;  // two_shot, push
    return all;
  }
};

}  // namespace ggas
