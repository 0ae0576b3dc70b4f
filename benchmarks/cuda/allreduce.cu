// SPDX-License-Identifier: Apache-2.0
// allreduce called in running kernels.
#include "benchmarks/cuda/allreduce_rig.cuh"

namespace ggas::bench {

fault run_allreduce(gpu_session& s) {
  GGAS_GPU_TRY(start(s, 16u << 20));
  for (const uint64_t elements : {1u, 16u, 64u, 1024u, 16384u, 65536u}) {
    for (const allreduce_point& p :
         {allreduce_point{elements, false, ggas_auto, 1, 128}, allreduce_point{elements, false, ggas_auto, 1, 512},
          allreduce_point{elements, true, ggas_auto, 64, 128}, allreduce_point{elements, true, ggas_auto, 64, 512},
          allreduce_point{elements, true, ggas_auto, 128, 128}}) {
      std::vector<double> samples;
      GGAS_GPU_TRY(time_allreduce(s, p, s.runs(), samples));
      const uint64_t bytes = elements * sizeof(float);
      const double n = s.nodes();
      s.emit({.variant = p.grid ? "grid" : "block",
              .params = {{"elements", elements},
                         {"bytes", bytes},
                         {"threads", p.blocks * p.threads},
                         {"method", p.grid ? "grid" : "block"}},
              .metric = "time",
              .unit = "ns",
              .samples = std::move(samples),
              .limit = s.limits().link_floor(1, 2 * (n - 1) / n * static_cast<double>(bytes))});
    }
  }
  return {};
}

}  // namespace ggas::bench
