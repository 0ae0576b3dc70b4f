// SPDX-License-Identifier: Apache-2.0
// Host side: allocates the shared objects, starts the UPC programs on every node and compares with the result of one
// processor.
//   upc [provider] [nodes] [platform]      provider: shm (default), or another that it is linked with
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "ggas/upc_memory.hpp"
#include "upc.hpp"

int failed(const std::string& why) {
  std::fprintf(stderr, "upc: %s\n", why.c_str());
  return 1;
}

std::vector<double> product() {
  std::vector<double> c(n);
  for (uint64_t i = 0; i < n; ++i)
    for (uint64_t j = 0; j < n; ++j) c[i] += static_cast<double>((i * n + j) % 7) * (1.0 + static_cast<double>(j));
  return c;
}

std::vector<double> heat(uint64_t all) {
  std::vector<double> old(all), next(all);
  old[all - 1] = next[all - 1] = 100;
  for (uint64_t step = 0; step < steps; ++step, old.swap(next))
    for (uint64_t i = 1; i + 1 < all; ++i) next[i] = (old[i - 1] + 2 * old[i] + old[i + 1]) / 4;
  return old;
}

// How many elements are not what they have to be; -1: they could not be read.
template <class Array>
int wrong(ggas::cluster& c, const Array& a, const std::vector<double>& want) {
  int count = 0;
  for (uint64_t i = 0; i < a.elements; ++i) {
    double v = 0;
    if (!c.read(static_cast<int>((a + i).thread()), (a + i).offset(), &v, sizeof v)) return -1;
    if (v != want[i]) ++count;
  }
  return count;
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
  cfg.host_bytes = 1 << 20;
  auto created = ggas::cluster::create(cfg);
  if (!created) return failed(created.error().text);
  ggas::cluster& c = **created;
  std::string why;
  const auto heap = ggas::heap::create(ggas::heap_of(c), why);
  if (!heap) return failed(why);

  ggas::upc::memory memory(*heap, c.nodes());
  const uint64_t all = cells * static_cast<uint64_t>(c.nodes());
  const auto a = memory.array<double, n>(n * n, why);
  const auto b = memory.array<double>(n, why), product_at = memory.array<double>(n, why);
  const rods r{{memory.array<double, cells>(all, why), memory.array<double, cells>(all, why)}};
  const auto report = memory.array<uint64_t>(2 * static_cast<uint64_t>(c.nodes()), why);
  if (!why.empty()) return failed(why);

  for (int node : c.local_nodes()) {
    auto ok = ggas::launch(c, node, 1, 32, multiply, a, b, product_at, report);
    if (ok) ok = ggas::launch(c, node, 1, 32, conduct, r, report);
    if (!ok) return failed(ok.error().text);
  }
  if (auto ran = c.run(10 * one_second); !ran) return failed(ran.error().text);
  bool good = true;
  for (uint64_t i = 0; i < report.elements; ++i) {
    uint64_t status = 0;
    const auto at = report + i;
    if (auto ok = c.read(static_cast<int>(at.thread()), at.offset(), &status, sizeof status); !ok)
      return failed(ok.error().text);
    good = good && status == ggas_ok;
  }
  int products = wrong(c, product_at, product());
  const int temperatures = wrong(c, r.u[steps % 2], heat(all));
  if (cfg.provider != "cuda") {  // programs of the processor do not reach other GPUs' memory
    const auto again = memory.array<double>(n, why);
    if (again.at != 0) why = multiply_on_processors(c, *heap, a, b, again);
    if (!why.empty()) return failed(why);
    products += wrong(c, again, product());
  }
  std::printf("%s: %d wrong products, %d wrong temperatures\n", good && !products && !temperatures ? "right" : "WRONG",
              products, temperatures);
  return good && products == 0 && temperatures == 0 ? 0 : 1;
}
