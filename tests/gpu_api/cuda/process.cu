// SPDX-License-Identifier: Apache-2.0
// One process for each node, on real GPUs: forked, sharing GPUs where there are fewer of them than processes. What they
// do together, what they say of settings that do not fit, and what is left when one of them dies.
// Exit status 77 without a GPU.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "benchmarks/kernels/common.cuh"
#include "ggas/cuda_cluster.hpp"
#include "ggas/launch.hpp"
#include "tests/support/processes.hpp"

namespace ggas::gpu_test {
namespace {

using bench::outcome;
using bench::own;
using bench::pattern;
using test::processes;
using test::voice;

constexpr uint64_t second = 1'000'000'000;
constexpr std::chrono::milliseconds soon{60'000};
constexpr size_t mebi = 1 << 20;
constexpr unsigned threads = 128;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The process that forks must not use CUDA: children cannot use it then. So a child counts.
int gpus() {
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

// ---------------------------------------------------------------------------------------------- kernels

struct places {
  uint64_t base, outcomes, data, copy;
};

// A round: data with a signal to the next node, a sum over all nodes, a barrier.
__device__ ggas_status one_round(const places& at, uint64_t round, uint64_t bytes, uint64_t timeout, uint64_t& errors) {
  const int me = ggas_node(), n = ggas_nodes(), next = (me + 1) % n, before = (me + n - 1) % n;
  const unsigned t = ggas::detail::thread_rank();
  auto* const data = own<uint64_t>(at.data);
  for (uint64_t i = t; i < bytes / 8; i += threads) data[i] = pattern(round, me, i);
  __syncthreads();
  ggas_status s =
      ggas_put_signal_nbi_block(ggas_pointer_of_node<char>(next, at.copy), own<char>(at.data), bytes,
                                ggas_pointer_of_node<uint64_t>(next, at.base), round, ggas_signal_set, timeout);
  if (s == ggas_ok) s = ggas_wait_until_block(own<uint64_t>(at.base), ggas_eq, round, timeout);
  if (s != ggas_ok) return s;
  for (uint64_t i = t; i < bytes / 8; i += threads)
    if (ggas_load(own<uint64_t>(at.copy) + i) != pattern(round, before, i)) ++errors;
  __syncthreads();
  if (t == 0) *own<uint64_t>(at.base + 64) = round * (me + 1);
  __syncthreads();
  s = ggas_allreduce_block(own<uint64_t>(at.base + 128), own<uint64_t>(at.base + 64), 1, ggas_sum, ggas_auto, timeout);
  if (s != ggas_ok) return s;
  if (ggas_load(own<uint64_t>(at.base + 128)) != round * n * (n + 1) / 2) ++errors;
  return ggas_barrier_block(timeout);
}

__global__ void work(places at, uint64_t first, uint64_t rounds, uint64_t bytes, uint64_t timeout) {
  outcome out{0, 0, 0, ggas_ok};
  for (uint64_t r = first; r < first + rounds && out.status == ggas_ok; ++r)
    out.status = one_round(at, r, bytes, timeout, out.errors);
  own<outcome>(at.outcomes)[ggas::detail::thread_rank()] = out;
}

enum class vain : int { barrier, grid_barrier, flag, allreduce };

// Waits for somebody who does not come. Node 0 stores to all before, so that memory of the lost is used.
__global__ void wait_in_vain(places at, vain what, uint64_t timeout) {
  outcome out{0, 0, 0, 0};
  if (ggas_node() == 0)
    for (int n = 0; n < ggas_nodes(); ++n) ggas_store(ggas_pointer_of_node<uint64_t>(n, at.base + 256), uint64_t{1});
  out.begin_ns = bench::time_ns();
  uint64_t* const sum = own<uint64_t>(at.base + 128);
  switch (what) {
    case vain::barrier:
      out.status = ggas_barrier_block(timeout);
      break;
    case vain::grid_barrier:
      out.status = ggas_barrier(timeout);
      break;
    case vain::flag:
      out.status = ggas_wait_until_block(own<uint64_t>(at.base), ggas_eq, ~uint64_t{1}, timeout);
      break;
    case vain::allreduce:
      out.status = ggas_allreduce_block(sum, sum, 1, ggas_sum, ggas_auto, timeout);
      break;
  }
  out.end_ns = bench::time_ns();
  own<outcome>(at.outcomes)[bench::global_thread()] = out;
}

// ---------------------------------------------------------------------------------------------- a process

struct member {
  std::unique_ptr<cuda_cluster> cluster;
  std::string why;
  int me;

  places at() const {
    const uint64_t base = cluster->device_context(me).reserved;
    return {base, base + 4096, base + mebi, base + 2 * mebi};
  }
  std::string bind() {
    cudaSetDevice(cluster->device(me));
    const cudaError_t e = set_device_context(cluster->device_context(me), cluster->stream(me));
    return e == cudaSuccess ? cluster->run(10 * second) : cudaGetErrorString(e);
  }
  template <class... P>
  std::string launch(unsigned blocks, void (*kernel)(P...), std::type_identity_t<P>... args) {
    const cudaError_t e = ggas::launch(*cluster, me, blocks, threads, kernel, args...);
    return e == cudaSuccess ? "" : cudaGetErrorString(e);
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

job job_of(int rank, int size, uint64_t timeout_ns = 30 * second) {
  static int number = 0;
  static const std::string name = "test." + std::to_string(getpid());
  if (rank < 0) ++number;
  return {rank, size, name + "." + std::to_string(number), timeout_ns};
}

// A process of `size`: makes the cluster, says "ready" or why not, does something and says how it went.
processes::body body(cuda_config cfg, int size, std::function<std::string(member&, const voice&)> then,
                     uint64_t timeout_ns = 30 * second) {
  job_of(-1, size);  // a new name
  return [=](int rank, const voice& parent) {
    member m;
    m.me = rank;
    cuda_config mine = cfg;
    mine.processes = job_of(rank, size, timeout_ns);
    m.cluster = cuda_cluster::create(mine, m.why);
    if (m.cluster) m.why = m.bind();
    parent.say(m.why.empty() ? "ready" : m.why);
    if (m.why.empty()) parent.say(then(m, parent));
  };
}

std::string ok_if(const std::string& wrong) { return wrong.empty() ? "ok" : wrong; }

// Free memory of all GPUs, from a process of its own. The driver takes a moment to collect what the dead held.
std::vector<size_t> free_memory() {
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

void expect_free_again(const std::vector<size_t>& before) {
  std::vector<size_t> now;
  for (int i = 0; i < 20; ++i) {
    now = free_memory();
    bool all = true;
    for (size_t g = 0; g < now.size(); ++g) all = all && now[g] + 8 * mebi >= before[g];
    if (all) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
  }
  for (size_t g = 0; g < now.size(); ++g) EXPECT_GE(now[g] + 8 * mebi, before[g]) << "GPU " << g;
}

// ---------------------------------------------------------------------------------------------- together

class together : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(processes, together, testing::Values(1, 2, 3, 4));

TEST_P(together, data_sums_and_barriers) {
  const int n = GetParam();
  processes all;
  all.start_all(n, body({.segment_bytes = 64 * mebi}, n, [](member& m, const voice&) {
                  const uint64_t rounds = m.cluster->shares_gpu(m.me) ? 5 : 50;
                  std::string wrong = m.launch(1, work, m.at(), 1, rounds, 100'000, 20 * second);
                  if (wrong.empty()) wrong = m.cluster->run(25 * second);
                  if (wrong.empty()) wrong = m.findings(threads, ggas_ok);
                  if (wrong.empty()) wrong = m.cluster->meet("the end");
                  return ok_if(wrong);
                }));
  for (int r = 0; r < n; ++r) {
    EXPECT_EQ(all.next(r, soon), "ready");
    EXPECT_EQ(all.next(r, soon), "ok") << "rank " << r;
    EXPECT_EQ(all.ending(r, soon), "0");
  }
}

TEST_P(together, segments_grow_and_keep_what_is_in_them) {
  const int n = GetParam();
  const auto before = free_memory();
  processes all;
  const cuda_config cfg{.segment_bytes = 16 * mebi, .most_segment_bytes = 200 * mebi};
  all.start_all(n, body(cfg, n, [](member& m, const voice&) -> std::string {
                  cuda_cluster& c = *m.cluster;
                  const uint64_t last = 16 * mebi - 4096;
                  std::vector<char> old(4096, static_cast<char>('a' + m.me)), now(4096);
                  if (cudaMemcpy(c.segment(m.me) + last, old.data(), 4096, cudaMemcpyHostToDevice) != cudaSuccess)
                    return "cannot write";
                  if (!has(c.grow(8 * mebi), "from 16777216 (segments now) to 209715200")) return "shrank";
                  if (!has(c.grow(300 * mebi), "to 209715200 (most_segment_bytes)")) return "grew too far";
                  if (c.nodes() > 1 && !has(c.grow((30 + m.me) * mebi), "all processes must ask for the same"))
                    return "different sizes";
                  for (size_t bytes : {17 * mebi, 18 * mebi, 100 * mebi, 200 * mebi}) {
                    if (std::string wrong = c.grow(bytes); !wrong.empty()) return wrong;
                    if (c.segment_bytes() != bytes) return "another size";
                    if (std::string wrong = m.bind(); !wrong.empty()) return wrong;
                    // What the kernel uses lies in the last megabytes.
                    places at = m.at();
                    at.copy = bytes - mebi;
                    std::string wrong = m.launch(1, work, at, bytes, 2, mebi / 2, 20 * second);
                    if (wrong.empty()) wrong = c.run(25 * second);
                    if (wrong.empty()) wrong = m.findings(threads, ggas_ok);
                    if (wrong.empty()) wrong = c.meet("next size");
                    if (!wrong.empty()) return wrong;
                  }
                  if (cudaMemcpy(now.data(), c.segment(m.me) + last, 4096, cudaMemcpyDeviceToHost) != cudaSuccess)
                    return "cannot read";
                  return now == old ? "ok" : "old contents are lost";
                }));
  for (int r = 0; r < n; ++r) {
    EXPECT_EQ(all.next(r, soon), "ready");
    EXPECT_EQ(all.next(r, soon), "ok") << "rank " << r;
    EXPECT_EQ(all.ending(r, soon), "0");
  }
  expect_free_again(before);
}

// ---------------------------------------------------------------------------------------------- what does not fit

TEST(process, different_settings_are_told_to_all) {
  const auto nothing = [](member&, const voice&) { return std::string(); };
  processes all;
  const auto a = body({.segment_bytes = 32 * mebi}, 2, nothing);
  auto b = [](int rank, const voice& parent) {
    std::string why;
    const cuda_config cfg{.segment_bytes = 64 * mebi, .processes = job_of(rank, 2)};
    parent.say(cuda_cluster::create(cfg, why) ? "ready" : why);
  };
  all.start(0, a);
  all.start(1, b);
  for (int r : {0, 1}) {
    const std::string text = all.next(r, soon);
    EXPECT_TRUE(
        has(text, "segment_bytes must be the same in all processes: rank 0 says 33554432, rank 1 says 67108864"))
        << text;
  }
}

TEST(process, one_without_enough_memory_is_told_to_all) {
  processes all;
  all.start_all(2, body({.segment_bytes = size_t{1} << 42}, 2, [](member&, const voice&) { return std::string(); }));
  for (int r : {0, 1}) {
    const std::string text = all.next(r, soon);
    EXPECT_TRUE(has(text, "a segment of 4398046511104 bytes on GPU") && has(text, "are free")) << text;
  }
}

TEST(process, one_that_never_comes_is_named) {
  processes all;
  const auto b = body(
      {}, 3, [](member&, const voice&) { return std::string(); }, second);
  all.start(0, b);
  all.start(2, b);
  for (int r : {0, 2}) {
    const std::string text = all.next(r, soon);
    EXPECT_TRUE(has(text, "rank 1 did not come within 1.0 s")) << text;
    EXPECT_EQ(all.ending(r, soon), "0");
  }
}

TEST(process, one_for_all_nodes_needs_a_gpu_for_each) {
  processes one;
  one.start(0, [](int, const voice& parent) {
    std::string why;
    cuda_cluster::create({.nodes = gpus() + 1}, why);
    parent.say(why);
  });
  const std::string text = one.next(0, soon);
  EXPECT_TRUE(has(text, "nodes share a GPU only as processes of their own")) << text;
}

TEST(process, clusters_can_be_made_one_after_the_other_and_beside_each_other) {
  processes one;
  one.start(0, [](int, const voice& parent) {
    std::string why;
    size_t before = 0, after = 0, total = 0;
    for (int i = 0; i < 5; ++i) {
      const auto a = cuda_cluster::create({.segment_bytes = 256 * mebi}, why);
      const auto b = cuda_cluster::create({.segment_bytes = 128 * mebi}, why);
      if (!a || !b) break;
      if (a->segment(0) == b->segment(0)) why = "the same memory";
    }
    if (why.empty()) cudaMemGetInfo(&before, &total);
    for (int i = 0; i < 20 && why.empty(); ++i) cuda_cluster::create({.segment_bytes = 256 * mebi}, why);
    cudaMemGetInfo(&after, &total);
    if (why.empty() && after + 8 * mebi < before) why = "memory is lost";
    parent.say(ok_if(why));
  });
  EXPECT_EQ(one.next(0, soon), "ok");
}

// ---------------------------------------------------------------------------------------------- faults

struct fault_case {
  vain what;
  bool in_kernel;  // the victim waits in a kernel itself when it is killed; else it has not launched one
  const char* name;
};
class killed : public testing::TestWithParam<fault_case> {};
INSTANTIATE_TEST_SUITE_P(in_the_middle, killed,
                         testing::Values(fault_case{vain::barrier, false, "barrier"},
                                         fault_case{vain::grid_barrier, false, "grid_barrier"},
                                         fault_case{vain::flag, true, "flag"},
                                         fault_case{vain::allreduce, false, "allreduce"}),
                         [](const auto& i) { return i.param.name; });

TEST_P(killed, every_wait_times_out_processes_end_and_memory_is_free) {
  const fault_case f = GetParam();
  const int n = std::max(2, std::min(gpus(), 4)), victim = n - 1;
  constexpr uint64_t timeout = 2 * second;
  const auto before = free_memory();
  processes all;
  all.start_all(n, body({.segment_bytes = 512 * mebi}, n, [=](member& m, const voice& parent) -> std::string {
                  if (m.me == victim && !f.in_kernel) {
                    parent.say("waiting");
                    std::this_thread::sleep_for(soon);
                  }
                  const unsigned blocks = f.what == vain::grid_barrier ? 4 : 1;
                  std::string wrong = m.launch(blocks, wait_in_vain, m.at(), f.what, timeout);
                  parent.say("waiting");
                  if (wrong.empty()) wrong = m.cluster->run(20 * second);
                  if (wrong.empty()) wrong = m.findings(blocks * threads, ggas_timed_out, timeout);
                  if (!wrong.empty()) return wrong;
                  const std::string text = m.cluster->meet("after the fault");
                  return has(text, "rank " + std::to_string(victim)) && has(text, "ended") ? "ok" : "told: " + text;
                }));
  for (int r = 0; r < n; ++r) ASSERT_EQ(all.next(r, soon), "ready");
  for (int r = 0; r < n; ++r) ASSERT_EQ(all.next(r, soon), "waiting");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  all.kill(victim);
  EXPECT_EQ(all.ending(victim, soon), "signal 9");
  for (int r = 0; r < n; ++r) {
    if (r == victim) continue;
    EXPECT_EQ(all.next(r, soon), "ok") << "rank " << r;
    EXPECT_EQ(all.ending(r, soon), "0") << "rank " << r;
  }
  expect_free_again(before);
}

// A process that has all it wants leaves in good order; the others store to it and wait for it.
TEST(process, one_that_leaves_early_takes_nothing_from_the_others) {
  const int n = std::max(2, std::min(gpus(), 4));
  const auto before = free_memory();
  processes all;
  all.start_all(n, body({.segment_bytes = 64 * mebi}, n, [=](member& m, const voice&) -> std::string {
                  if (m.me == n - 1) return "ok";
                  std::this_thread::sleep_for(std::chrono::milliseconds(500));
                  std::string wrong = m.launch(1, wait_in_vain, m.at(), vain::barrier, second);
                  if (wrong.empty()) wrong = m.cluster->run(20 * second);
                  if (wrong.empty()) wrong = m.findings(threads, ggas_timed_out, second);
                  return ok_if(wrong);
                }));
  for (int r = 0; r < n; ++r) {
    EXPECT_EQ(all.next(r, soon), "ready");
    EXPECT_EQ(all.next(r, soon), "ok") << "rank " << r;
    EXPECT_EQ(all.ending(r, soon), "0");
  }
  expect_free_again(before);
}

}  // namespace
}  // namespace ggas::gpu_test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (ggas::gpu_test::gpus() == 0) {
    std::printf("no GPU here: skipped\n");
    return 77;
  }
  return RUN_ALL_TESTS();
}
