// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of calls with datatypes: clusters with a heap and committed datatypes, areas of memory in which
// every byte is known, and kernels that make a call in one of its forms.
#pragma once

#include <cstring>
#include <stdexcept>

#include "ggas/committed_types.hpp"
#include "ggas/type.cuh"
#include "tests/gpu_api/targets.hpp"
#include "tests/gpu_api/types/cases.hpp"

namespace ggas::types_test {

inline dim3 blocks_of(form f) { return {f == form::grid ? 3u : 1u}; }
inline dim3 threads_of(form f) { return {f == form::thread ? 1u : f == form::warp ? 32u : 40u}; }

class typed_rig : public test::api_test {
 public:
  static constexpr uint64_t statuses = 3 * 40;

  void SetUp() override {
    test::api_test::SetUp();
    std::string why;
    memory_ = heap::create(heap_of(*cluster_), why);
    ASSERT_TRUE(memory_) << why;
    types_ = std::make_unique<type_space>(*memory_, writer_of(*cluster_));
    for (uint64_t* at : {&items_, &target_, &packed_}) *at = take(area_bytes);
    status_ = take(statuses * 8);
    signal_ = take(16);
    before_.resize(static_cast<size_t>(nodes()));
  }
  void TearDown() override {
    if (types_) EXPECT_EQ(types_->uploads(), commits_);  // one each, whatever was packed
  }

  uint64_t take(uint64_t bytes) {
    std::string why;
    const auto at = memory_->allocate(bytes, why);
    EXPECT_TRUE(at) << why;
    return at.value_or(0);
  }
  ggas_type commit(const datatype& t, type_form how = type_form::automatic) {
    std::string why;
    const ggas_type h = types_->commit(t, why, how);
    if (!why.empty()) throw std::runtime_error(why);
    ++commits_;
    return h;
  }
  uint64_t segment_bytes() const { return cluster_->device_context(0).segment_bytes; }
  char* at(int node, uint64_t offset) { return reinterpret_cast<char*>(cluster_->segment(node)) + offset; }
  uint64_t& word(int node, uint64_t offset) { return *reinterpret_cast<uint64_t*>(at(node, offset)); }
  int right(int node) const { return (node + 1) % nodes(); }
  int left(int node) const { return (node + nodes() - 1) % nodes(); }

  // Fills all areas of all nodes with bytes that report where they are, and remembers them.
  void fill(std::mt19937_64& random) {
    for (int n = 0; n < nodes(); ++n) {
      before_[static_cast<size_t>(n)].clear();
      for (const uint64_t area : {items_, target_, packed_}) {
        std::string bytes(area_bytes, 0);
        for (size_t i = 0; i < area_bytes; i += 8) {
          const uint64_t v = random();
          std::memcpy(&bytes[i], &v, 8);
        }
        std::memcpy(at(n, area), bytes.data(), area_bytes);
        before_[static_cast<size_t>(n)].push_back(std::move(bytes));
      }
      std::memset(at(n, status_), 0xff, statuses * 8);
    }
  }
  std::string& was(int node, int area) { return before_[static_cast<size_t>(node)][static_cast<size_t>(area)]; }
  // All areas are as they were, with what a test has changed in them since.
  void expect_areas(const std::string& what) {
    for (int n = 0; n < nodes(); ++n) {
      int k = 0;
      for (const uint64_t area : {items_, target_, packed_}) {
        const std::string& want = was(n, k++);
        const auto wrong = std::mismatch(want.begin(), want.end(), at(n, area));
        ASSERT_TRUE(wrong.first == want.end())
            << what << ": node " << n << ", area " << k << ", byte " << wrong.first - want.begin();
      }
    }
  }

  // Runs a call on every node; every thread gets `want`.
  template <class F>
  void everywhere(form f, ggas_status want, const std::string& what, F call) {
    const uint64_t to = status_;
    on_all(blocks_of(f), threads_of(f), [=] {
      const ggas_status s = call();
      const unsigned i = detail::block_rank() * detail::thread_count() + detail::thread_rank();
      ggas_store(ggas_pointer_of_node<uint64_t>(ggas_node(), to) + i, static_cast<uint64_t>(s));
    });
    run();
    for (int n = 0; n < nodes(); ++n)
      for (uint64_t i = 0; i < blocks_of(f).x * threads_of(f).x; ++i)
        ASSERT_EQ(ggas_status_text(static_cast<ggas_status>(word(n, status_ + 8 * i))), ggas_status_text(want))
            << what << ": node " << n << ", thread " << i << ", form " << static_cast<int>(f);
  }

  std::unique_ptr<heap> memory_;
  std::unique_ptr<type_space> types_;
  uint64_t items_ = 0, target_ = 0, packed_ = 0, status_ = 0, signal_ = 0, commits_ = 0;

 private:
  std::vector<std::vector<std::string>> before_;
};

inline std::vector<test::target> typed_targets() {
  std::vector<test::target> all = {{.nodes = 1}, {.nodes = 2}, {.nodes = 3}, {.nodes = 2, .threads = true}};
#ifdef GGAS_TEST_SIM
  using place = queue_config::place;
  all.push_back({.provider = "sim", .nodes = 2});
  all.push_back({.provider = "sim", .nodes = 2, .reference = true, .label = "model"});
  all.push_back({.provider = "sim",
                 .nodes = 2,
                 .reference = true,
                 .queues = {.work_queue = place::gpu, .slots_log2 = 4},
                 .label = "workqueue"});
#endif
  return all;
}

}  // namespace ggas::types_test

#define GGAS_TYPED_SUITE(suite)                                                                   \
  class suite : public ggas::types_test::typed_rig {};                                            \
  INSTANTIATE_TEST_SUITE_P(Provider, suite, testing::ValuesIn(ggas::types_test::typed_targets()), \
                           [](const auto& i) { return i.param.name(); })
