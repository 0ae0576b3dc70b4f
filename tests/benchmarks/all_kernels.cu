// SPDX-License-Identifier: Apache-2.0
// Every benchmark kernel in one translation unit, to see that nvcc takes them.
#include "benchmarks/kernels/bandwidth.cuh"
#include "benchmarks/kernels/coalescing.cuh"
#include "benchmarks/kernels/collectives.cuh"
#include "benchmarks/kernels/latency.cuh"
#include "benchmarks/kernels/one_sided/latency.cuh"
#include "benchmarks/kernels/one_sided/stream.cuh"
#include "benchmarks/kernels/random_access/bucket.cuh"
#include "benchmarks/kernels/random_access/mailbox.cuh"
#include "benchmarks/kernels/random_access/many.cuh"
#include "benchmarks/kernels/random_stores.cuh"
