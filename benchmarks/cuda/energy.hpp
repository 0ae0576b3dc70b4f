// SPDX-License-Identifier: Apache-2.0
// Loads of GPUs whose energy is measured (benchmarks/energy/meter.hpp).
#pragma once

#include "benchmarks/cuda/session.hpp"
#include "benchmarks/energy/meter.hpp"

namespace ggas::bench {

// These loads make updates, reductions of arrays of 4 MB, or floating-point operations. himeno_load uses the method
// that is fastest on most GPUs; the other loads use the method of their name.
fault random_access_load(gpu_session& s, work_meter& meter);
fault global_reduction_load(gpu_session& s, work_meter& meter);
fault himeno_load(gpu_session& s, work_meter& meter);
fault himeno_host_load(gpu_session& s, work_meter& meter);
fault himeno_stream_load(gpu_session& s, work_meter& meter);
fault himeno_device_load(gpu_session& s, work_meter& meter);

// Loads of calls in a running kernel. One block makes barriers, alltoalls (floats for each node) and allreduces of 1 Ki
// floats. A grid makes puts of bytes from every GPU to the next one.
fault barrier_load(gpu_session& s, work_meter& meter);
fault alltoall_load(gpu_session& s, work_meter& meter);
fault allreduce_load(gpu_session& s, work_meter& meter);
fault put_load(gpu_session& s, work_meter& meter);

// Kernels that wait for a word, with loads back to back or with pauses between them. Either one block waits, or one
// block on each multiprocessor, as resident workers do.
fault wait_spin_load(gpu_session& s, work_meter& meter);
fault wait_back_off_load(gpu_session& s, work_meter& meter);
fault workers_spin_load(gpu_session& s, work_meter& meter);
fault workers_back_off_load(gpu_session& s, work_meter& meter);

}  // namespace ggas::bench
