// SPDX-License-Identifier: Apache-2.0
// Two UPC programs carried over, by one block on every node; docs/upc.md has them line by line.
#include "upc.hpp"

#include "ggas/launch.hpp"
#include "ggas/upc.cuh"

using namespace ggas::upc;
using reports = shared_array<uint64_t>;

// c = a b. Row i of the matrix, and element i of c, are thread i % THREADS's.
static __global__ void multiply_rows(matrix a, vector b, vector c, reports report) {
  forall(0, n, b, [&](uint64_t i) { b[i] = 1.0 + static_cast<double>(i); });
  forall(0, n * n, a, [&](uint64_t k) { a[k] = static_cast<double>(k % 7); });
  ggas_status s = upc_barrier(one_second);
  forall(0, n, c, [&](uint64_t i) {
    double sum = 0;
    for (uint64_t j = 0; j < n; ++j) sum += a[i * n + j] * b[j];
    c[i] = sum;
  });
  const ggas_status end = upc_barrier(one_second);
  if (threadIdx.x == 0) report[MYTHREAD] = static_cast<uint64_t>(s == ggas_ok ? end : s);
}
GGAS_DEFINE_KERNEL(multiply, multiply_rows);

// Heat in a rod whose ends are kept at 0 and 100 degrees. While the threads meet, each computes the cells that need no
// neighbour.
static __global__ void conduct_heat(rods r, reports report) {
  const uint64_t first = MYTHREAD * cells, all = cells * THREADS;
  const auto set = [&](const rod& u) { forall(0, all, u, [&](uint64_t i) { u[i] = i == all - 1 ? 100.0 : 0.0; }); };
  set(r.u[0]);
  set(r.u[1]);
  ggas_status s = ggas_ok;
  for (uint64_t step = 0; step < steps && s == ggas_ok; ++step) {
    const rod &old = r.u[step % 2], &next = r.u[(step + 1) % 2];
    double *const mine = local(old + first), *const out = local(next + first);
    ggas_arrival notified = upc_notify();
    for (uint64_t i = 1 + threadIdx.x; i < cells - 1; i += blockDim.x)
      out[i] = (mine[i - 1] + 2 * mine[i] + mine[i + 1]) / 4;
    s = upc_wait(notified, one_second);
    if (threadIdx.x == 0 && s == ggas_ok) {
      if (first > 0) next[first] = (old[first - 1] + 2 * mine[0] + mine[1]) / 4;
      const uint64_t last = first + cells - 1;
      if (last < all - 1) next[last] = (mine[cells - 2] + 2 * mine[cells - 1] + old[last + 1]) / 4;
    }
  }
  const ggas_status end = upc_barrier(one_second);
  if (threadIdx.x == 0) report[THREADS + MYTHREAD] = static_cast<uint64_t>(s == ggas_ok ? end : s);
}
GGAS_DEFINE_KERNEL(conduct, conduct_heat);
