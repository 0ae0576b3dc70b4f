// SPDX-License-Identifier: Apache-2.0
// Host side of the first kernel: makes a cluster, starts the kernel on every node and prints the results.
//   first_kernel [provider] [nodes] [platform]      provider: shm (default), or another that it is linked with
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>

#include "first_kernel.hpp"

int failed(const std::string& why) {
  std::fprintf(stderr, "first_kernel: %s\n", why.c_str());
  return 1;
}

int main(int argc, char** argv) {
  ggas::cluster_config cfg;
  cfg.provider = argc > 1 ? argv[1] : "shm";
  if (argc > 2) {
    const char* const end = argv[2] + std::strlen(argv[2]);
    if (const auto read = std::from_chars(argv[2], end, cfg.nodes); read.ec != std::errc{} || read.ptr != end)
      return failed("nodes = " + std::string(argv[2]) + ": must be 1 ... 65536");
  }
  if (argc > 3) cfg.platform = argv[3];
  cfg.segment_bytes = 1 << 20;

  auto created = ggas::cluster::create(cfg);
  if (!created) return failed(created.error().text);
  ggas::cluster& cluster = **created;

  // The first bytes of every segment belong to the library; ours begin after them.
  const uint64_t base = cluster.device_context(0).reserved;
  for (int n = 0; n < cluster.nodes(); ++n) {
    std::byte* mine = cluster.segment(n) + base;
    auto* status = reinterpret_cast<ggas_status*>(mine + status_offset);
    auto* sum = reinterpret_cast<float*>(mine + sum_offset);
    if (auto ok = ggas::launch(cluster, n, 1, greeting_values, greet, base, status, sum); !ok)
      return failed(ok.error().text);
  }
  auto stats = cluster.run(2 * one_second);
  if (!stats) return failed(stats.error().text);

  const float want = static_cast<float>(cluster.nodes() * (cluster.nodes() + 1) / 2);
  bool good = true;
  for (int n = 0; n < cluster.nodes(); ++n) {
    ggas_status status{};
    float sum[greeting_values];
    auto ok = cluster.read(n, base + status_offset, &status, sizeof status);
    if (ok) ok = cluster.read(n, base + sum_offset, sum, sizeof sum);
    if (!ok) return failed(ok.error().text);
    std::printf("node %d: %s, sum %g\n", n, ggas_status_text(status), static_cast<double>(sum[0]));
    for (unsigned i = 0; i < greeting_values; ++i) good = good && status == ggas_ok && sum[i] == want;
  }
  std::printf("%s, every element should be %g; took %.2f us\n", good ? "right" : "WRONG", static_cast<double>(want),
              static_cast<double>(stats->sim_ns) / 1000);
  return good ? 0 : 1;
}
