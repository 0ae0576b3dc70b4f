// SPDX-License-Identifier: Apache-2.0
// Results of Himeno on simulated nodes compared with those of one processor.
#pragma once

#include <algorithm>

#include "benchmarks/cluster/suite/outcomes.hpp"
#include "benchmarks/kernels/himeno/himeno.cuh"
#include "benchmarks/plans/himeno_reference.hpp"

namespace ggas::bench {

// Whether the pressure of a node's slice after so many steps is the same, bit for bit, but for `apart` planes next to
// each other slice.
inline bool same_pressure(session& s, int node, const himeno_args& a, const himeno_solution& want, uint32_t steps,
                          uint32_t apart = 0) {
  const himeno_slice& slice = a.plan.slice;
  const uint32_t below = slice.begin > 0 ? std::min(apart, slice.planes) : 0;
  const uint32_t above = slice.begin + slice.planes < a.grid.nz ? std::min(apart, slice.planes - below) : 0;
  const uint32_t planes = slice.planes - below - above;
  const float* const got = at_offset<float>(s, node, a.pressure + a.copy_of(steps)) + a.grid.index(0, 0, 1 + below);
  return std::equal(got, got + planes * a.grid.plane(),
                    want.pressure.begin() + static_cast<ptrdiff_t>((slice.begin + below) * a.grid.plane()));
}

}  // namespace ggas::bench
