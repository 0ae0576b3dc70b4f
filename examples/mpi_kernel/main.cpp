// SPDX-License-Identifier: Apache-2.0
// Host side: makes the ranks of MPI_COMM_WORLD, runs both programs and looks at pi.
//   mpi_kernel [provider] [nodes] [platform]      provider: shm (default), or another that it is linked with
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "ggas/cluster.hpp"
#include "ggas/messages.hpp"
#include "mpi_kernel.hpp"

int failed(const std::string& why) {
  std::fprintf(stderr, "mpi_kernel: %s\n", why.c_str());
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
  cfg.segment_bytes = 64 << 20;
  auto created = ggas::cluster::create(cfg);
  if (!created) return failed(created.error().text);
  ggas::cluster& c = **created;
  std::string why;
  const auto heap = ggas::heap::create(ggas::heap_of(c), why);
  if (!heap) return failed(why);

  // A message of a float takes three lines: those of all ranks of a node fit into the ring from it.
  ggas::message_space space(c, *heap);
  const ggas_messages world = space.make({.blocks = blocks, .threads = threads, .lines = 128}, why);
  const auto sum = heap->allocate(sizeof(float), why);
  if (why.empty()) why = space.use(world);
  if (!why.empty()) return failed(why);

  bool good = true;
  for (const auto& [name, kernel] : {std::pair{"messages", pi_point_to_point}, {"reduction", pi_collective}}) {
    for (int node : c.local_nodes())
      if (auto ok = ggas::launch_grid(c, node, blocks, threads, kernel, *sum); !ok) return failed(ok.error().text);
    if (auto ran = c.run(60'000'000'000); !ran) return failed(ran.error().text);
    float pi = 0;
    if (c.local(0))
      if (auto ok = c.read(0, *sum, &pi, sizeof pi); !ok) return failed(ok.error().text);
    const bool right = !c.local(0) || std::abs(pi - 3.14159265f) < 1e-5f;
    std::printf("%s by %s: %.7f\n", right ? "right" : "WRONG", name, static_cast<double>(pi));
    good = good && right;
  }
  return good ? 0 : 1;
}
