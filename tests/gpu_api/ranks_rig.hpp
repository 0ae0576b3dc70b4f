// SPDX-License-Identifier: Apache-2.0
// Ranks of a cluster on the host engine.
#pragma once

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "ggas/ranks.hpp"
#include "tests/gpu_api/ranks_calls.cuh"
#include "tests/gpu_api/targets.hpp"
#include "tests/support/number_of.hpp"

namespace ggas::test {

// Rounds of a test: GGAS_TEST_ROUNDS with the long tests, else as many as say so.
inline bool is_long() { return std::getenv("GGAS_TEST_ROUNDS") != nullptr; }
inline unsigned rounds(unsigned usual) { return static_cast<unsigned>(number_of("GGAS_TEST_ROUNDS", usual)); }

// Nodes of some blocks each, and two places of every rank in the heap.
struct rank_target {
  target on;
  unsigned blocks = 1;
  int ranks() const { return on.nodes * static_cast<int>(blocks); }
  std::string name() const { return on.name() + "x" + std::to_string(blocks); }
  friend void PrintTo(const rank_target& t, std::ostream* os) { *os << t.name(); }
};

class rank_cluster {
 public:
  static constexpr size_t guard = 64;

  rank_cluster(const rank_target& t, size_t most_bytes, unsigned slot_bytes = 256, unsigned credits = 2,
               const std::vector<std::string>& overrides = {})
      : target_(t), step_((most_bytes + 2 * guard + 15) / 16 * 16) {
    cluster_config cfg = t.on.config();
    // The library's own words take up to a quarter of a segment.
    const size_t words = t.blocks * static_cast<size_t>(t.ranks()) * (256 + slot_bytes * credits);
    cfg.segment_bytes = ((2 * step_ * t.blocks + words + (1 << 20)) * 3 / 2 + 4095) / 4096 * 4096;
    cfg.overrides.insert(cfg.overrides.end(), overrides.begin(), overrides.end());
    auto c = make_cluster(t.on, cfg);
    EXPECT_TRUE(c) << c.error().text;
    cluster_ = std::move(*c);
    std::string why;
    heap_ = heap::create(heap_of(*cluster_), why);
    EXPECT_TRUE(heap_) << why;
    space_ = std::make_unique<rank_space>(*cluster_, *heap_);
    ranks = space_->make({.blocks = t.blocks, .slot_bytes = slot_bytes, .credits = credits}, why);
    EXPECT_EQ(why, "");
    dst = {*heap_->allocate(step_ * t.blocks, why) + guard, step_};
    src = {*heap_->allocate(step_ * t.blocks, why) + guard, step_};
    EXPECT_EQ(why, "");
  }

  std::byte* memory(ranked<char> at, int rank) const {
    const auto blocks = static_cast<int>(target_.blocks);
    return cluster_->segment(rank / blocks) + at.offset + static_cast<uint64_t>(rank % blocks) * at.step;
  }
  // Every byte of both places of all ranks.
  void fill(std::byte v) {
    for (int n = 0; n < target_.on.nodes; ++n)
      for (const auto& at : {dst, src})
        std::memset(cluster_->segment(n) + at.offset - guard, static_cast<int>(v), step_ * target_.blocks);
  }
  template <class T>
  ranked<T> as(ranked<char> at) const {
    return {at.offset, at.step};
  }
  void run(unsigned threads, const std::function<void()>& kernel) {
    for (int n = 0; n < target_.on.nodes; ++n) ASSERT_TRUE(cluster_->launch(n, target_.blocks, threads, kernel));
    const auto r = cluster_->run(4 * target_.on.enough_ns());
    ASSERT_TRUE(r) << r.error().text;
  }
  // Rounds first ... last - 1 of 0 ... total - 1, in kernels that end within the time-out of a run.
  void run_rounds(unsigned threads, unsigned total, const std::function<void(unsigned first, unsigned last)>& kernel) {
    constexpr unsigned most = 250;  // on a machine with much else to do, too
    for (unsigned first = 0; first < total && !testing::Test::HasFailure(); first += most)
      run(threads, [&] { kernel(first, total - first < most ? total : first + most); });
  }
  cluster& on() { return *cluster_; }
  heap& memory_heap() { return *heap_; }
  rank_space& space() { return *space_; }
  int count() const { return target_.ranks(); }
  uint64_t enough() const { return target_.on.enough_ns(); }
  uint64_t brief() const { return target_.on.short_ns(); }
  size_t step() const { return step_; }

  ggas_ranks ranks{};
  ranked<char> dst{}, src{};

 private:
  rank_target target_;
  size_t step_;
  std::unique_ptr<cluster> cluster_;
  std::unique_ptr<heap> heap_;
  std::unique_ptr<rank_space> space_;
};

}  // namespace ggas::test
