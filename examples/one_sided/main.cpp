// SPDX-License-Identifier: Apache-2.0
// Host side: makes a cluster, starts the kernel on every node and checks what came back.
//   one_sided [provider] [nodes] [platform]      provider: shm (default), or another that it is linked with
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>

#include "one_sided.hpp"

int failed(const std::string& why) {
  std::fprintf(stderr, "one_sided: %s\n", why.c_str());
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

  const uint64_t base = cluster.device_context(0).reserved;
  for (int n = 0; n < cluster.nodes(); ++n) {
    if (auto ok = ggas::launch(cluster, n, 1, 64, ring, base); !ok) return failed(ok.error().text);
  }
  auto stats = cluster.run(10 * one_second);
  if (!stats) return failed(stats.error().text);

  bool good = true;
  for (int n = 0; n < cluster.nodes(); ++n) {
    const int left = (n + cluster.nodes() - 1) % cluster.nodes();
    double want = 0;
    for (unsigned step = 1; step <= steps; ++step) want += values * (left + step);
    uint64_t status = 0;
    double sum = 0;
    auto ok = cluster.read(n, base + status_at, &status, sizeof status);
    if (ok) ok = cluster.read(n, base + sum_at, &sum, sizeof sum);
    if (!ok) return failed(ok.error().text);
    std::printf("node %d: %s, sum %g\n", n, ggas_status_text(static_cast<ggas_status>(status)), sum);
    good = good && status == ggas_ok && sum == want;
  }
  uint64_t sent = 0;
  if (auto ok = cluster.read(0, base + counter_at, &sent, sizeof sent); !ok) return failed(ok.error().text);
  good = good && sent == uint64_t{values} * steps * static_cast<uint64_t>(cluster.nodes());
  std::printf("%s, %llu values sent; took %.2f us\n", good ? "right" : "WRONG", static_cast<unsigned long long>(sent),
              static_cast<double>(stats->sim_ns) / 1000);
  return good ? 0 : 1;
}
