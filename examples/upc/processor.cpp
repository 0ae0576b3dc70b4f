// SPDX-License-Identifier: Apache-2.0
// The product of upc.cu as a program of the processor of every node; docs/upc.md.
#include "ggas/upc_host.hpp"
#include "upc.hpp"

std::string multiply_on_processors(ggas::cluster& cluster, ggas::heap& heap, matrix a, vector b, vector c) {
  std::string why;
  const auto program = ggas::upc::program::create(cluster, heap, why);
  if (!program) return why;
  const auto launched = program->launch([=](ggas::upc::thread& t) {
    t.forall(0, n, b, [&](uint64_t i) { t[b + i] = 1.0 + static_cast<double>(i); });
    t.forall(0, n * n, a, [&](uint64_t k) { t[a + k] = static_cast<double>(k % 7); });
    t.barrier();
    t.forall(0, n, c, [&](uint64_t i) {
      double sum = 0;
      for (uint64_t j = 0; j < n; ++j) sum += t[a + (i * n + j)] * t[b + j];
      t[c + i] = sum;
    });
    t.barrier();
  });
  if (!launched) return launched.error().text;
  const auto ran = cluster.run(10 * one_second);
  return ran ? "" : ran.error().text;
}
