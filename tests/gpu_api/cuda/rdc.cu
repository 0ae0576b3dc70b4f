// SPDX-License-Identifier: Apache-2.0
// A program of two files that nvlink links (-rdc=true): kernels have the launch bounds of the documentation, and
// those of both files know their node, whichever file prepared them. Exit status 77 without a GPU.
#include "rdc.hpp"

#include <cstdio>
#include <string>
#include <vector>

namespace {
constexpr size_t n = 20000;
constexpr uint64_t bytes = n * sizeof(float);

int fail(const std::string& why) {
  std::printf("FAILED: %s\n", why.c_str());
  return 1;
}

// Three sums of node + 1 over all nodes after each other, and a status.
int check(ggas::cluster& c, uint64_t base) {
  const float want = static_cast<float>(c.nodes() * (c.nodes() + 1) / 2);
  for (int node = 0; node < c.nodes(); ++node) {
    std::vector<float> got(3 * n);
    uint64_t status = 1;
    cudaMemcpy(got.data(), c.segment(node) + base + bytes, 3 * bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(&status, c.segment(node) + base + 4 * bytes, sizeof status, cudaMemcpyDeviceToHost);
    if (status != 0) return fail("node " + std::to_string(node) + ": status " + std::to_string(status));
    for (size_t i = 0; i < got.size(); ++i)
      if (got[i] != want) return fail("node " + std::to_string(node) + ": element " + std::to_string(i));
  }
  std::printf("right on %d nodes\n", c.nodes());
  return 0;
}
}  // namespace

int main() {
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::printf("no GPU here: skipped\n");
    return 77;
  }
  ggas::cluster_config cfg;
  cfg.provider = "cuda";
  cfg.nodes = 0;
  const auto made = ggas::cluster::create(cfg);
  if (!made) return fail(made.error().text);
  ggas::cluster& c = **made;
  const uint64_t base = c.device_context(0).reserved;
  for (int node = 0; node < c.nodes(); ++node) {
    const std::vector<float> mine(n, static_cast<float>(node + 1));
    if (auto ok = c.write(node, base, mine.data(), bytes); !ok) return fail(ok.error().text);
    // One file does it for both.
    if (auto ok = prepare_in_other_file(c, node); !ok) return fail(ok.error().text);
  }
  for (int node = 0; node < c.nodes(); ++node) {
    auto* const status = reinterpret_cast<uint64_t*>(c.segment(node) + base + 4 * bytes);
    auto ok = ggas::launch(c, node, 4, 512, sum_over_nodes<float>, base + bytes, base, n, status);
    if (ok) ok = sum_in_other_file(c, node, base + 2 * bytes, base, n, status);
    if (!ok) return fail(ok.error().text);
  }
  const auto ran = c.run(30'000'000'000);
  return ran ? check(c, base) : fail(ran.error().text);
}
