// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the cuda provider on tests/support/fake_cuda: a process for each rank that makes the cluster
// and uses it, and a check that nothing is left when it has ended.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "ggas/cluster.hpp"
#include "tests/support/fake_cuda.hpp"
#include "tests/support/processes.hpp"

namespace ggas::test {

inline constexpr std::chrono::milliseconds soon{20'000};
inline constexpr size_t mebi = 1 << 20;
inline constexpr uint64_t second = 1'000'000'000;
// All GPUs, or a process for each node.
inline cluster_config with(size_t segment_bytes, int nodes = 0, size_t most_segment_bytes = 0) {
  return {.provider = "cuda",
          .nodes = nodes,
          .segment_bytes = segment_bytes,
          .most_segment_bytes = most_segment_bytes,
          .host_bytes = 8192};
}
inline const cluster_config small = with(4 * mebi, 0, 40 * mebi);

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// What is in the last page of a segment.
inline char* mark(cluster& c, int node) { return reinterpret_cast<char*>(c.segment(node)) + c.segment_bytes() - 4096; }

// Every local node writes into every segment, as kernels do, by the window; then all is there, and the rest is zero.
inline std::string exchange(cluster& c, char letter) {
  for (int node : c.local_nodes()) {
    const context& k = c.device_context(node);
    for (int to = 0; to < c.nodes(); ++to) k.window[to * k.stride + k.segment_bytes - 4096 + node] = letter;
  }
  if (std::string wrong = text_of(c.meet("written")); !wrong.empty()) return wrong;
  for (int node : c.local_nodes()) {
    const std::string seen(mark(c, node), static_cast<size_t>(c.nodes()) + 1);
    if (seen != std::string(static_cast<size_t>(c.nodes()), letter) + '\0') return "not all have written";
  }
  return text_of(c.meet("read"));
}

using body = std::function<std::string(int rank, cluster*, const std::string& why)>;

// Makes a cluster, does something with it, and says how that went; or what was kept of it.
inline std::string run_one(const cluster_config& cfg, int rank, const body& then) {
  fake_cuda& cuda = fake_cuda::here();
  const size_t files = open_files();
  std::string said;
  {
    const auto c = cluster::create(cfg);
    said = then(rank, c ? c->get() : nullptr, text_of(c));
  }
  if (cuda.busy || (cuda.falls && cuda.fails_at == 0)) return said;  // that cannot be given back
  if (!cuda.holds_nothing()) return "something is held: " + said;
  if (open_files() != files) return "files are open: " + said;
  return fake_cuda::last == cudaSuccess ? said : "CUDA's last error stays: " + said;
}

// A process for each rank: prepares what it sees of CUDA, then run_one().
inline void start(processes& all, int size, cluster_config cfg, std::function<void(int, fake_cuda&)> prepare, body then,
                  uint64_t timeout_ns = 10 * second) {
  static int number = 0;
  const std::string name = "fake." + std::to_string(getpid()) + "." + std::to_string(number++);
  all.start_all(size, [=](int rank, const voice& parent) {
    prepare(rank, fake_cuda::here());
    cluster_config mine = cfg;
    mine.processes = {rank, size, name, timeout_ns};
    parent.say(run_one(mine, rank, then));
  });
}

inline void as_it_is(int, fake_cuda&) {}
inline std::string why_not(int, cluster* c, const std::string& why) { return c ? "made" : why; }

// What a process says last; it then ends in good order.
inline std::string last_word(processes& all, int rank) {
  const std::string text = all.next(rank, soon);
  EXPECT_EQ(all.ending(rank, soon), "0") << "rank " << rank;
  return text;
}
inline void expect_each(processes& all, int size, const std::string& text) {
  for (int r = 0; r < size; ++r) EXPECT_EQ(last_word(all, r), text) << "rank " << r;
}

}  // namespace ggas::test
