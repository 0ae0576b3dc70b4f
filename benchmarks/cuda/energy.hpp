// SPDX-License-Identifier: Apache-2.0
// How much energy a load takes. A load sets itself up and then does its job again and again:
//   while (meter.more()) { ... one job of 10 to 200 ms ...; meter.add(work done by it); }
#pragma once

#include "benchmarks/cuda/session.hpp"

namespace ggas::bench {

class work_meter {
 public:
  virtual ~work_meter() = default;
  // True as long as another job is wanted. Nothing runs on the GPUs when it is called.
  virtual bool more() = 0;
  // Work that a job did: updates, reductions, calls of a collective, bytes, floating-point operations; of all nodes
  // together.
  virtual void add(double work) = 0;
};

// The loads: updates, reductions of arrays of 4 MB, floating-point operations.
fault random_access_load(gpu_session& s, work_meter& meter);
fault global_reduction_load(gpu_session& s, work_meter& meter);
fault himeno_load(gpu_session& s, work_meter& meter);

// Calls in a running kernel. By one block: barriers, alltoalls (floats for each node) and allreduces of 1 Ki floats. By
// a grid: bytes put by every GPU to the next one.
fault barrier_load(gpu_session& s, work_meter& meter);
fault alltoall_load(gpu_session& s, work_meter& meter);
fault allreduce_load(gpu_session& s, work_meter& meter);
fault put_load(gpu_session& s, work_meter& meter);

}  // namespace ggas::bench
