// SPDX-License-Identifier: Apache-2.0
// allreduce called in running kernels.
#include "benchmarks/cuda/rigs/allreduce_rig.cuh"

namespace ggas::bench {

fault run_allreduce(gpu_session& s) {
  GGAS_GPU_TRY(start(s, 16u << 20));
  for (const uint64_t elements : {1u, 16u, 64u, 1024u, 16384u, 65536u}) {
    for (const kernel_shape& k : kernel_shapes(s, elements)) {
      const bool grid = k.blocks > 1;
      std::vector<double> samples;
      GGAS_GPU_TRY(time_allreduce(s, {elements, grid, ggas_auto, k.blocks, k.threads, true}, s.runs(), samples));
      const uint64_t bytes = elements * sizeof(float);
      const double n = s.nodes();
      s.emit({.variant = grid ? "grid" : "block",
              .params = {{"elements", elements},
                         {"bytes", bytes},
                         {"blocks", k.blocks},
                         {"threads", k.threads},
                         {"method", grid ? "grid" : "block"}},
              .metric = "time",
              .unit = "ns",
              .samples = std::move(samples),
              .limit = s.limits().link_floor(1, 2 * (n - 1) / n * static_cast<double>(bytes))});
    }
  }
  return {};
}

}  // namespace ggas::bench
