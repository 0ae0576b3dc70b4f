// SPDX-License-Identifier: Apache-2.0
// The trace of calls: every call a slice, on the track of who made it, with its status.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>

#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

struct slice {
  std::string name, status;
  int node, track;
  double begin, length;
};

std::vector<slice> slices_of(const std::filesystem::path& file) {
  static const std::regex form(R"re(.*"ph":"X","name":"(\w+)","pid":(\d+),"tid":(\d+),)re"
                               R"re("ts":([\d.]+),"dur":([\d.]+),"args":\{"status":"([^"]+)"\}\},?)re");
  std::vector<slice> all;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::smatch m;
    if (std::regex_match(line, m, form))
      all.push_back({m[1], m[6], std::stoi(m[2]), std::stoi(m[3]), std::stod(m[4]), std::stod(m[5])});
  }
  return all;
}

class CallTrace : public testing::Test {
 public:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("ggas_call_trace." + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    setenv("GGAS_TRACE", (folder_ / "calls.json").c_str(), 1);
    auto made = cluster::create(target{}.config());
    unsetenv("GGAS_TRACE");
    ASSERT_TRUE(made);
    cluster_ = std::move(*made);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  // Barriers of each block with the same block of the other node; then each thread waits for a value that is there.
  static void both() {
    for (int i = 0; i < 70; ++i)
      EXPECT_EQ(ggas_barrier_block(60'000'000'000, ggas_world(), detail::block_rank()), ggas_ok);
    auto* const flag = ggas_pointer_of_node<uint64_t>(ggas_node(), ggas_reserved_bytes());
    for (int i = 0; i < 3; ++i) EXPECT_EQ(ggas_wait_until(flag, ggas_eq, 0, 60'000'000'000), ggas_ok);
  }
  // Runs a kernel on both nodes, ends the cluster, and reads its trace.
  std::vector<slice> traced(dim3 grid, dim3 block, const std::function<void()>& kernel) {
    for (int n = 0; n < 2; ++n) EXPECT_TRUE(cluster_->launch(n, grid, block, kernel));
    EXPECT_TRUE(cluster_->run(60'000'000'000));
    cluster_.reset();
    for (const auto& file : std::filesystem::directory_iterator(folder_)) return slices_of(file);
    return {};
  }

  std::filesystem::path folder_;
  std::unique_ptr<cluster> cluster_;
};

TEST_F(CallTrace, EveryCallIsASliceOfItsCaller) {
  const auto all = traced(3, 64, [] {
    for (int i = 0; i < 4; ++i) EXPECT_EQ(ggas_barrier_grid(60'000'000'000), ggas_ok);
  });
  EXPECT_EQ(all.size(), 2u * 3 * 4) << "one of each block";
  for (const slice& s : all) {
    EXPECT_EQ(s.name, "ggas_barrier");
    EXPECT_EQ(s.status, "ok");
    EXPECT_GE(s.begin, 0);
    EXPECT_GT(s.length, 0);
    EXPECT_TRUE(s.track >= 1 && s.track <= 3);
  }
}

TEST_F(CallTrace, AFailedEndIsReported) {
  const auto all = traced(1, 32, [] {
    auto* const flag = ggas_pointer_of_node<uint64_t>(ggas_node(), ggas_reserved_bytes());
    static_cast<void>(ggas_wait_until_warp(flag, ggas_ge, 1, 1'000'000));
  });
  ASSERT_EQ(all.size(), 2u);
  for (const slice& s : all) {
    EXPECT_EQ(s.name, "ggas_wait_until");
    EXPECT_EQ(s.status, "timed out");
    EXPECT_GE(s.length, 1000) << "microseconds";
  }
  EXPECT_NE(all[0].node, all[1].node);
}

// Blocks keep places for their calls, threads take one for each: none is lost, in kernels after each other either.
TEST_F(CallTrace, BlocksAndThreadsLoseNoCall) {
  constexpr int kernels = 3, blocks = 5, threads = 64, meetings = 70, waits = 3;
  for (int i = 1; i < kernels; ++i)
    for (int n = 0; n < 2; ++n) ASSERT_TRUE(cluster_->launch(n, blocks, threads, both));
  const auto all = traced(blocks, threads, both);
  std::map<std::pair<int, int>, std::vector<slice>> tracks;
  std::map<std::string, int> calls;
  for (const slice& s : all) {
    tracks[{s.node, s.track}].push_back(s);
    ++calls[s.name];
  }
  EXPECT_EQ(calls["ggas_barrier"], 2 * kernels * blocks * meetings);
  EXPECT_EQ(calls["ggas_wait_until"], 2 * kernels * blocks * threads * waits);
  EXPECT_EQ(tracks.size(), 2u * blocks * threads);
  for (const auto& [who, its] : tracks)
    for (size_t i = 1; i < its.size(); ++i) EXPECT_GE(its[i].begin + 0.0005, its[i - 1].begin + its[i - 1].length);
}

// The places of the last calls.
TEST_F(CallTrace, ALongRunKeepsItsLastCalls) {
  constexpr int calls = 200'000;
  const auto all = traced(1, 1, [] {
    auto* const flag = ggas_pointer_of_node<uint64_t>(ggas_node(), ggas_reserved_bytes());
    for (int i = 0; i < calls; ++i) static_cast<void>(ggas_wait_until(flag, ggas_eq, 0, GGAS_FOREVER));
  });
  EXPECT_EQ(all.size(), 2u * (1 << 17));
}

}  // namespace
}  // namespace ggas::test
