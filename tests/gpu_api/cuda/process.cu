// SPDX-License-Identifier: Apache-2.0
// One process for each node, on real GPUs: forked, sharing GPUs where there are fewer of them than processes. What they
// do together, what they say of settings that do not fit, and what is left when one of them dies.
// Exit status 77 without a GPU.
#include <sstream>
#include <utility>

#include "process_rig.hpp"

namespace ggas::gpu_test {
namespace {

// ---------------------------------------------------------------------------------------------- kernels

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

enum class wait_kind : int { barrier, grid_barrier, flag, allreduce };

// Waits for someone who does not come. Node 0 stores to all before, so that memory of the lost is used.
__global__ void wait_without_success(places at, wait_kind what, uint64_t timeout) {
  outcome out{0, 0, 0, 0};
  if (ggas_node() == 0)
    for (int n = 0; n < ggas_nodes(); ++n) ggas_store(ggas_pointer_of_node<uint64_t>(n, at.base + 256), uint64_t{1});
  out.begin_ns = bench::time_ns();
  uint64_t* const sum = own<uint64_t>(at.base + 128);
  switch (what) {
    case wait_kind::barrier:
      out.status = ggas_barrier_block(timeout);
      break;
    case wait_kind::grid_barrier:
      out.status = ggas_barrier_grid(timeout);
      break;
    case wait_kind::flag:
      out.status = ggas_wait_until_block(own<uint64_t>(at.base), ggas_eq, ~uint64_t{1}, timeout);
      break;
    case wait_kind::allreduce:
      out.status = ggas_allreduce_block(sum, sum, 1, ggas_sum, ggas_auto, timeout);
      break;
  }
  out.end_ns = bench::time_ns();
  own<outcome>(at.outcomes)[bench::global_thread()] = out;
}

// Sums and barriers of a team of two: nodes 0 and 1, 2 and 3, ...
__global__ void pair_sums(places at, uint64_t rounds, uint64_t count, uint64_t timeout) {
  outcome out{0, 0, 0, ggas_ok};
  const int me = ggas_node(), first = me & ~1;
  const ggas_team pair = ggas_team_strided(1, first, 1, 2);
  auto *const mine = own<uint64_t>(at.data), *const sum = own<uint64_t>(at.copy);
  for (uint64_t r = 0; r < rounds && out.status == ggas_ok; ++r) {
    for (uint64_t i = threadIdx.x; i < count; i += threads) mine[i] = pattern(r, me, i);
    out.status = ggas_allreduce_block(sum, mine, count, ggas_sum, ggas_auto, timeout, pair);
    if (out.status == ggas_ok)
      for (uint64_t i = threadIdx.x; i < count; i += threads)
        if (sum[i] != pattern(r, first, i) + pattern(r, first + 1, i)) ++out.errors;
    if (out.status == ggas_ok) out.status = ggas_barrier_block(timeout, pair);
  }
  own<outcome>(at.outcomes)[threadIdx.x] = out;
}

// ---------------------------------------------------------------------------------------------- together

class together : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(processes, together, testing::Values(1, 2, 3, 4));

// Data, sums and barriers; then the same in segments that have grown.
std::string work_together(member& m, uint64_t first, uint64_t rounds, uint64_t bytes, const places& at) {
  std::string wrong = m.launch(1, work, at, first, rounds, bytes, 20 * second);
  if (wrong.empty()) wrong = text_of(m.cluster->run(25 * second));
  if (wrong.empty()) wrong = m.findings(threads, ggas_ok);
  return wrong.empty() ? text_of(m.cluster->meet("the end of a kernel")) : wrong;
}

// What must not be: growing to sizes out of bounds, or different ones. Nothing changes.
std::string refuse_to_grow(member& m) {
  cluster& c = *m.cluster;
  if (!has(text_of(c.grow(8 * mebi)), "from 16777216 (segments now) to 209715200")) return "shrank";
  if (!has(text_of(c.grow(300 * mebi)), "to 209715200 (most_segment_bytes)")) return "grew too far";
  if (c.nodes() > 1 && !has(text_of(c.grow((30 + m.me) * mebi)), "all processes must ask for the same"))
    return "grew to different sizes";
  return c.segment_bytes() == 16 * mebi ? "" : "changed its size";
}

std::string grow(member& m) {
  cluster& c = *m.cluster;
  const uint64_t last = 16 * mebi - 4096;
  const std::vector<char> old(4096, static_cast<char>('a' + m.me));
  std::vector<char> now(4096);
  if (cudaMemcpy(c.segment(m.me) + last, old.data(), 4096, cudaMemcpyHostToDevice) != cudaSuccess)
    return "cannot write";
  for (size_t bytes : {17 * mebi, 18 * mebi, 100 * mebi, 200 * mebi}) {
    std::string wrong = text_of(c.grow(bytes));
    places at = m.at();
    at.copy = bytes - mebi;  // in what is new
    if (wrong.empty()) wrong = work_together(m, bytes, 2, mebi / 2, at);
    if (!wrong.empty()) return wrong;
    if (c.segment_bytes() != bytes) return "another size than asked for";
  }
  if (cudaMemcpy(now.data(), c.segment(m.me) + last, 4096, cudaMemcpyDeviceToHost) != cudaSuccess) return "cannot read";
  return now == old ? "" : "old contents are lost";
}

TEST_P(together, data_sums_and_barriers_also_in_segments_that_have_grown) {
  const int n = GetParam();
  processes all;
  const cluster_config cfg = with(16 * mebi, 200 * mebi);
  all.start_all(n, body(cfg, n, [](member& m, const voice&) {
                  bool turns = false;
                  for (int node = 0; node < m.cluster->nodes(); ++node) turns = turns || m.cluster->shares_gpu(node);
                  std::string wrong = work_together(m, 1, turns ? 5 : 50, 100'000, m.at());
                  if (wrong.empty()) wrong = refuse_to_grow(m);
                  if (wrong.empty()) wrong = grow(m);
                  return ok_if(wrong);
                }));
  expect_each_ok(all, n);
}

// The name of a GPU among those that CUDA_VISIBLE_DEVICES lets this process see.
std::string name_of_gpu(int gpu) {
  const char* const seen = std::getenv("CUDA_VISIBLE_DEVICES");
  if (!seen) return std::to_string(gpu);
  std::istringstream names(seen);
  std::string name;
  for (int i = 0; i <= gpu; ++i) std::getline(names, name, ',');
  return name;
}

// As launchers' scripts do it: the memory of GPUs that a process does not see is mapped all the same.
TEST(process, each_sees_its_own_gpu_only) {
  const int n = std::max(2, std::min(gpus(), 4));
  processes all;
  const auto work =
      body(with(16 * mebi), n, [](member& m, const voice&) { return ok_if(work_together(m, 1, 5, 100'000, m.at())); });
  all.start_all(n, [=](int rank, const voice& parent) {
    setenv("CUDA_VISIBLE_DEVICES", name_of_gpu(rank % gpus()).c_str(), 1);
    work(rank, parent);
  });
  expect_each_ok(all, n);
}

// ---------------------------------------------------------------------------------------------- what does not fit

TEST(process, different_settings_are_reported_to_all) {
  const auto nothing = [](member&, const voice&) { return std::string(); };
  processes all;
  const auto a = body(with(32 * mebi), 2, nothing);
  auto b = [](int rank, const voice& parent) {
    std::string why;
    cluster_config cfg = with(64 * mebi);
    cfg.processes = job_of(rank, 2);
    const auto made = cluster::create(cfg);
    parent.say(made ? "ready" : made.error().text);
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

TEST(process, one_without_enough_memory_is_reported_to_all) {
  processes all;
  all.start_all(2, body(with(size_t{1} << 39), 2, [](member&, const voice&) { return std::string(); }));
  for (int r : {0, 1}) {
    const std::string text = all.next(r, soon);
    EXPECT_TRUE(has(text, "a segment of 549755813888 bytes on GPU") && has(text, "are free")) << text;
  }
}

TEST(process, one_that_never_comes_is_named) {
  processes all;
  const auto b = body(
      with(64 * mebi), 3, [](member&, const voice&) { return std::string(); }, second);
  all.start(0, b);
  all.start(2, b);
  for (int r : {0, 2}) {
    const std::string text = all.next(r, soon);
    EXPECT_TRUE(has(text, "rank 1 did not arrive within 1.0 s")) << text;
    EXPECT_EQ(all.ending(r, soon), "0");
  }
}

TEST(process, one_for_all_nodes_needs_a_gpu_for_each) {
  processes one;
  one.start(0, [](int, const voice& parent) {
    cluster_config cfg = with(64 * mebi);
    cfg.nodes = gpus() + 1;
    parent.say(text_of(cluster::create(cfg)));
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
      const auto a = cluster::create(with(256 * mebi));
      const auto b = cluster::create(with(128 * mebi));
      why = text_of(a) + text_of(b);
      if (!why.empty()) break;
      if ((*a)->segment(0) == (*b)->segment(0)) why = "the same memory";
    }
    if (why.empty()) cudaMemGetInfo(&before, &total);
    for (int i = 0; i < 20 && why.empty(); ++i) why = text_of(cluster::create(with(256 * mebi)));
    cudaMemGetInfo(&after, &total);
    if (why.empty() && after + 8 * mebi < before) why = "memory is lost";
    parent.say(ok_if(why));
  });
  EXPECT_EQ(one.next(0, soon), "ok");
}

// ---------------------------------------------------------------------------------------------- faults

// A wait for a flag and one of the kind, one after the other; both end by their time-outs. Then the node is broken.
std::string wait_for_the_lost(member& m, const voice& parent, wait_kind kind) {
  constexpr uint64_t timeout = second;
  struct {
    wait_kind what;
    ggas_status want;
    uint64_t least_ns;
  } const waits[] = {{wait_kind::flag, ggas_timed_out, timeout},
                     {kind, ggas_timed_out, timeout},
                     {wait_kind::barrier, ggas_broken, 0}};
  for (const auto& w : waits) {
    const unsigned blocks = w.what == wait_kind::grid_barrier ? 4 : 1;
    std::string wrong = m.launch(blocks, wait_without_success, m.at(), w.what, timeout);
    if (w.what == wait_kind::flag) parent.say("waiting");
    if (wrong.empty()) wrong = text_of(m.cluster->run(20 * second));
    if (wrong.empty()) wrong = m.findings(blocks * threads, w.want, w.least_ns);
    if (cudaGetLastError() != cudaSuccess)
      wrong = "run() has left an error behind";  // of its questions to busy streams
    if (!wrong.empty()) return "wait " + std::to_string(static_cast<int>(w.what)) + ": " + wrong;
  }
  return {};
}

void expect_each_ok_and_ended(processes& all, int count) {
  for (int r = 0; r < count; ++r) {
    EXPECT_EQ(all.next(r, soon), "ok") << "rank " << r;
    EXPECT_EQ(all.ending(r, soon), "0") << "rank " << r;
  }
}

// The wait of those that live, and how many of the highest ranks are killed.
class process_killed : public testing::TestWithParam<std::pair<wait_kind, int>> {};
INSTANTIATE_TEST_SUITE_P(in, process_killed,
                         testing::Values(std::pair{wait_kind::barrier, 1}, std::pair{wait_kind::grid_barrier, 1},
                                         std::pair{wait_kind::allreduce, 1}, std::pair{wait_kind::allreduce, 2}));

TEST_P(process_killed, every_wait_times_out_processes_end_and_memory_is_free) {
  const auto [wait, victims] = GetParam();
  const int n = std::max(2 * victims, std::min(gpus(), 4)), alive = n - victims;
  processes all;
  all.start_all(n, body(with(512 * mebi), n, [=](member& m, const voice& parent) {
                  const std::string wrong = wait_for_the_lost(m, parent, wait);
                  if (!wrong.empty()) return wrong;
                  const std::string text = text_of(m.cluster->meet("after the fault"));
                  bool named = false;
                  for (int victim = alive; victim < n; ++victim)
                    named = named || has(text, "rank " + std::to_string(victim));
                  return named && has(text, "ended") ? "ok" : "reported: " + text;
                }));
  for (int r = 0; r < n; ++r) ASSERT_EQ(all.next(r, soon), "ready");
  for (int r = 0; r < n; ++r) ASSERT_EQ(all.next(r, soon), "waiting");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (int victim = alive; victim < n; ++victim) all.kill(victim);
  for (int victim = alive; victim < n; ++victim) EXPECT_EQ(all.ending(victim, soon), "signal 9");
  expect_each_ok_and_ended(all, alive);
  memory_check::expect_free_again();
}

std::string work_in_pair(member& m, uint64_t rounds, uint64_t count) {
  std::string wrong = m.launch(1, pair_sums, m.at(), rounds, count, 20 * second);
  if (wrong.empty()) wrong = text_of(m.cluster->run(25 * second));
  return wrong.empty() ? m.findings(threads, ggas_ok) : wrong;
}

// Two disjoint teams of two at once, with different numbers of calls and lengths; then one of them is killed.
TEST(process, a_pair_that_is_killed_takes_nothing_from_the_other_pair) {
  constexpr int n = 4;
  processes all;
  all.start_all(n, body(with(64 * mebi), n, [=](member& m, const voice& parent) {
                  const bool dies = m.me >= 2;
                  std::string wrong = work_in_pair(m, dies ? 7 : 10, dies ? 1000 : 37);
                  parent.say(ok_if(wrong));
                  while (dies) pause();  // until the signal comes
                  for (int i = 0; i < 5 && wrong.empty(); ++i) wrong = work_in_pair(m, 10, 3000);
                  return ok_if(wrong);
                }));
  for (int r = 0; r < n; ++r) ASSERT_EQ(all.next(r, soon), "ready");
  for (int r = 0; r < n; ++r) ASSERT_EQ(all.next(r, soon), "ok");
  for (int victim : {2, 3}) all.kill(victim);
  expect_each_ok_and_ended(all, 2);
}

// One process ends the waits of all; then all of them reset, and barriers pass.
TEST(process, one_ends_the_waits_of_all_and_a_reset_repairs_what_was_broken) {
  const int n = std::max(2, std::min(gpus(), 4));
  processes all;
  all.start_all(n, body(with(64 * mebi), n, [=](member& m, const voice&) {
                  const wait_kind what =
                      m.me == 0 ? wait_kind::flag : wait_kind::grid_barrier;  // that of node 0 never comes
                  std::string wrong = m.launch(4, wait_without_success, m.at(), what, GGAS_FOREVER);
                  if (wrong.empty() && text_of(m.cluster->run(second / 10)).empty()) wrong = "nobody has ended it";
                  if (wrong.empty()) wrong = text_of(m.cluster->meet("all wait"));
                  if (wrong.empty() && m.me == n - 1) wrong = text_of(m.cluster->abort());
                  if (wrong.empty()) wrong = text_of(m.cluster->run(20 * second));
                  if (wrong.empty()) wrong = m.findings(4 * threads, ggas_aborted);
                  if (wrong.empty()) wrong = text_of(m.cluster->reset(0));
                  if (wrong.empty())
                    wrong = m.launch(4, wait_without_success, m.at(), wait_kind::grid_barrier, 20 * second);
                  if (wrong.empty()) wrong = text_of(m.cluster->run(30 * second));
                  if (wrong.empty()) wrong = m.findings(4 * threads, ggas_ok);
                  return ok_if(wrong);
                }));
  expect_each_ok(all, n);
}

// A process that has all it wants leaves in good order; the others store to it and wait for it.
TEST(process, one_that_leaves_early_takes_nothing_from_the_others) {
  const int n = std::max(2, std::min(gpus(), 4));
  processes all;
  all.start_all(n, body(with(64 * mebi), n, [=](member& m, const voice&) -> std::string {
                  if (m.me == n - 1) return "ok";
                  std::this_thread::sleep_for(std::chrono::milliseconds(500));
                  std::string wrong = m.launch(1, wait_without_success, m.at(), wait_kind::barrier, second);
                  if (wrong.empty()) wrong = text_of(m.cluster->run(20 * second));
                  if (wrong.empty()) wrong = m.findings(threads, ggas_timed_out, second);
                  return ok_if(wrong);
                }));
  expect_each_ok(all, n);
}

}  // namespace
}  // namespace ggas::gpu_test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (ggas::gpu_test::gpus() == 0) {
    std::printf("no GPU here: skipped\n");
    return 77;
  }
  testing::AddGlobalTestEnvironment(new ggas::gpu_test::memory_check);
  return RUN_ALL_TESTS();
}
