// SPDX-License-Identifier: Apache-2.0
// Processes on real GPUs, one for each node: their start, and the state that they leave. For one .cu file: the constant
// memory of its kernels is filled here.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/kernels/common.cuh"
#include "ggas/cluster.hpp"
#include "ggas/launch.hpp"
#include "tests/support/processes.hpp"

namespace ggas::gpu_test {

using bench::outcome;
using bench::own;
using bench::pattern;
using test::processes;
using test::voice;

inline constexpr uint64_t second = 1'000'000'000;
inline constexpr std::chrono::milliseconds soon{60'000};
inline constexpr size_t mebi = 1 << 20;
inline constexpr unsigned threads = 128;

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The process that forks must not use CUDA: children cannot use it then. So a child counts.
inline int gpus() {
  static const int count = [] {
    processes one;
    one.start(0, [](int, const voice& parent) {
      int n = 0;
      if (cudaGetDeviceCount(&n) != cudaSuccess) n = 0;
      parent.say(std::to_string(n));
    });
    return std::atoi(one.next(0, soon).c_str());
  }();
  return count;
}

// Offsets in every segment.
struct places {
  uint64_t base, outcomes, data, copy;
};

struct member {
  std::unique_ptr<ggas::cluster> cluster;
  std::string why;
  int me;

  places at() const {
    const uint64_t base = cluster->device_context(me).reserved;
    return {base, base + 4096, base + mebi, base + 2 * mebi};
  }
  template <class... P>
  std::string launch(unsigned blocks, void (*kernel)(P...), std::type_identity_t<P>... args) {
    return text_of(ggas::launch(*cluster, me, blocks, threads, kernel, args...));
  }
  // Empty, or what threads of the kernel found; their status must be `want`.
  std::string findings(unsigned count, uint64_t want, uint64_t least_ns = 0) {
    std::vector<outcome> all(count);
    const cudaError_t e =
        cudaMemcpy(all.data(), cluster->segment(me) + at().outcomes, count * sizeof(outcome), cudaMemcpyDeviceToHost);
    if (e != cudaSuccess) return cudaGetErrorString(e);
    for (const outcome& o : all) {
      if (o.status != want || o.errors)
        return "status " + std::to_string(o.status) + ", " + std::to_string(o.errors) + " wrong values";
      if (o.end_ns - o.begin_ns < least_ns) return "ended too early";
    }
    return {};
  }
};

// A process for each node, or all GPUs.
inline cluster_config with(size_t segment_bytes, size_t most_segment_bytes = 0) {
  return {.provider = "cuda",
          .nodes = 0,
          .segment_bytes = segment_bytes,
          .most_segment_bytes = most_segment_bytes,
          .host_bytes = 0};
}

inline job job_of(int rank, int size, uint64_t timeout_ns = 30 * second) {
  static int number = 0;
  static const std::string name = "test." + std::to_string(getpid());
  if (rank < 0) ++number;
  return {rank, size, name + "." + std::to_string(number), timeout_ns};
}

// A process of `size`: makes the cluster, says "ready" or why not, does something and says how it went.
inline processes::body body(const cluster_config& cfg, int size, std::function<std::string(member&, const voice&)> then,
                            uint64_t timeout_ns = 30 * second) {
  job_of(-1, size);  // a new name
  return [=](int rank, const voice& parent) {
    member m;
    m.me = rank;
    cluster_config mine = cfg;
    mine.processes = job_of(rank, size, timeout_ns);
    if (auto made = cluster::create(mine)) {
      m.cluster = std::move(*made);
    } else {
      m.why = made.error().text;
    }
    parent.say(m.why.empty() ? "ready" : m.why);
    if (m.why.empty()) parent.say(then(m, parent));
  };
}

inline void expect_each_ok(processes& all, int count) {
  for (int r = 0; r < count; ++r) {
    EXPECT_EQ(all.next(r, soon), "ready") << "rank " << r;
    EXPECT_EQ(all.next(r, soon), "ok") << "rank " << r;
    EXPECT_EQ(all.ending(r, soon), "0") << "rank " << r;
  }
}

inline std::string ok_if(const std::string& wrong) { return wrong.empty() ? "ok" : wrong; }

// Free memory of all GPUs, as a process of its own sees it.
inline std::vector<size_t> free_memory() {
  processes one;
  one.start(0, [](int, const voice& parent) {
    for (int g = 0; g < gpus(); ++g) {
      size_t free = 0, total = 0;
      cudaSetDevice(g);
      cudaMemGetInfo(&free, &total);
      parent.say(std::to_string(free));
    }
  });
  std::vector<size_t> all;
  for (int g = 0; g < gpus(); ++g) all.push_back(std::strtoull(one.next(0, soon).c_str(), nullptr, 10));
  return all;
}

// No one holds memory any more. The driver may take a moment to collect what the dead had.
class memory_check : public testing::Environment {
 public:
  void SetUp() override { before() = free_memory(); }
  void TearDown() override { expect_free_again(); }
  static void expect_free_again() {
    std::vector<size_t> now;
    for (int i = 0; i < 8; ++i) {
      if (i) std::this_thread::sleep_for(std::chrono::milliseconds(250));
      now = free_memory();
      bool all = true;
      for (size_t g = 0; g < now.size(); ++g) all = all && now[g] + 8 * mebi >= before()[g];
      if (all) return;
    }
    for (size_t g = 0; g < now.size(); ++g) EXPECT_GE(now[g] + 8 * mebi, before()[g]) << "GPU " << g;
  }

 private:
  static std::vector<size_t>& before() {
    static std::vector<size_t> bytes;
    return bytes;
  }
};

}  // namespace ggas::gpu_test
