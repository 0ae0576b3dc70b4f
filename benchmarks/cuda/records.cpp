// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/cuda/records.hpp"

namespace ggas::bench {

record record_maker::make(const figure& f) {
  record r;
  r.benchmark = benchmark_.name;
  r.variant = f.variant;
  r.provider = "cuda";
  r.platform = platform_;
  r.nic = "none";
  r.nodes = options_.nodes;
  r.seed = options_.seed;
  r.run = options_.run;
  r.metric = f.metric;
  r.unit = f.unit;
  r.limit = f.limit;
  for (const param& p : f.params) std::visit([&](const auto& v) { r.params[p.key] = v; }, p.value);
  if (!f.samples.empty()) summarise(r, f.samples);
  if (r.p50) r.value = *r.p50;
  const auto now = clock::now();
  r.wall_s = std::chrono::duration<double>(now - before_).count();
  r.sim_ns = static_cast<uint64_t>(r.wall_s * 1e9);
  before_ = now;
  return r;
}

}  // namespace ggas::bench
