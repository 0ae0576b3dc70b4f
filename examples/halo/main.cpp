// SPDX-License-Identifier: Apache-2.0
// Host side: takes memory from the symmetric heap, commits the faces, starts the kernel on every node, checks the
// cells.
//   halo [provider] [nodes] [stream]   provider: shm (default), or another that it is linked with; stream: the host
//                                      queues every step, else one kernel does all of them
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "ggas/committed_types.hpp"
#include "ggas/heap.hpp"
#include "ggas/status.hpp"
#include "halo.hpp"

int failed(const std::string& why) {
  std::fprintf(stderr, "halo: %s\n", why.c_str());
  return 1;
}

// The layer of cells at x, all y and z.
ggas::datatype layer(int64_t x) {
  const int64_t sizes[] = {width, width, width}, parts[] = {width, width, 1}, starts[] = {0, 0, x};
  return ggas::datatype::subarray(sizes, parts, starts, ggas::array_order::c, ggas::primitive::float64);
}

double first_value(int node, uint64_t cell) { return static_cast<double>(node * 1000 + static_cast<int>(cell % 97)); }

// The same steps without a cluster.
std::vector<std::vector<double>> expected(int nodes) {
  std::vector<std::vector<double>> all(static_cast<size_t>(nodes), std::vector<double>(cells));
  for (int n = 0; n < nodes; ++n)
    for (uint64_t i = 0; i < cells; ++i) all[static_cast<size_t>(n)][i] = first_value(n, i);
  for (uint64_t step = 0; step < steps; ++step) {
    const auto before = all;
    for (size_t n = 0; n < all.size(); ++n) {
      const size_t left = (n + all.size() - 1) % all.size(), right = (n + 1) % all.size();
      for (uint64_t row = 0; row < cells; row += width) {
        all[n][row] = before[left][row + inner];
        all[n][row + inner + 1] = before[right][row + 1];
        all[n][row + 1] += all[n][row];
        all[n][row + inner] += all[n][row + inner + 1];
      }
    }
  }
  return all;
}

int main(int argc, char** argv) {
  ggas::cluster_config cfg;
  cfg.provider = argc > 1 ? argv[1] : "shm";
  if (argc > 2) {
    const char* const end = argv[2] + std::strlen(argv[2]);
    if (const auto read = std::from_chars(argv[2], end, cfg.nodes); read.ec != std::errc{} || read.ptr != end)
      return failed("nodes = " + std::string(argv[2]) + ": must be 1 ... 65536");
  }
  cfg.segment_bytes = 1 << 20;
  auto created = ggas::cluster::create(cfg);
  if (!created) return failed(created.error().text);
  ggas::cluster& cluster = **created;

  std::string why;
  const auto memory = ggas::heap::create(ggas::heap_of(cluster), why);
  if (!memory) return failed(why);
  ggas::type_space types(*memory, ggas::writer_of(cluster));
  const auto grid = memory->allocate(cells * sizeof(double), why);
  const auto words = grid ? memory->allocate(5 * sizeof(uint64_t), why) : grid;
  if (!words) return failed(why);
  halo_plan plan{*grid, *words, *words + 32, {}, {}, {}, {}};
  int64_t x = 0;
  for (ggas_type* face : {&plan.left_ghost, &plan.first, &plan.last, &plan.right_ghost}) {
    *face = types.commit(layer(x), why);
    if (!why.empty()) return failed(why);
    x += x == 1 ? inner - 1 : 1;  // 0, 1, inner, inner + 1
  }

  for (int n = 0; n < cluster.nodes(); ++n) {
    std::vector<double> mine(cells);
    for (uint64_t i = 0; i < cells; ++i) mine[i] = first_value(n, i);
    if (auto ok = cluster.write(n, *grid, mine.data(), cells * 8); !ok) return failed(ok.error().text);
  }
  const bool by_host = argc > 3 && std::string(argv[3]) == "stream";
  if (argc > 3 && !by_host) return failed("'" + std::string(argv[3]) + "': must be stream");
  for (int n = 0; n < cluster.nodes(); ++n) {
    auto ok = by_host ? queue_halo(cluster, n, plan) : ggas::launch(cluster, n, 1, 64, halo, plan);
    if (!ok) return failed(ok.error().text);
  }
  auto stats = cluster.run(10 * one_second);
  if (!stats) return failed(stats.error().text);

  bool good = true;
  const auto want = expected(cluster.nodes());
  for (int n = 0; n < cluster.nodes(); ++n) {
    uint64_t status = 0;
    std::vector<double> mine(cells);
    auto ok = cluster.read(n, plan.status, &status, sizeof status);
    if (ok) ok = cluster.read(n, *grid, mine.data(), cells * 8);
    if (!ok) return failed(ok.error().text);
    const bool same = mine == want[static_cast<size_t>(n)];
    std::printf("node %d: %s, cells %s\n", n, ggas_status_text(static_cast<ggas_status>(status)),
                same ? "right" : "WRONG");
    good = good && status == ggas_ok && same;
  }
  std::printf("%s, took %.2f us\n", good ? "all right" : "WRONG", static_cast<double>(stats->sim_ns) / 1000);
  return good ? 0 : 1;
}
