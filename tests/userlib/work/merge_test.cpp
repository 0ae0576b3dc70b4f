// SPDX-License-Identifier: Apache-2.0
// Requests of work that share a launch.
#include <numeric>

#include "tests/userlib/work/rig.hpp"

namespace ggas::test {
namespace {

// Requests that are ready together share a launch; each has its own data and end, and one that fails fails alone.
TEST_P(work, identical_requests_are_one_launch) {
  if (GetParam().how != executor::streams) {
    EXPECT_EQ(text_of(dispatcher::create(*rt_, {.how = GetParam().how, .merged = &test_work})),
              "merged: requests are merged by executor::streams only");
    return;
  }
  EXPECT_EQ(text_of(dispatcher::create(*rt_, {.merged = &test_work, .most_merged = 1})),
            "most_merged = 1: must be 2 ... 65536");
  make(1, {.in_flight = 2, .merged = &test_work, .most_merged = 64});
  if (!rt_) return;
  constexpr size_t n = 200;
  std::vector<uint64_t> x(n), sizes(n);
  std::vector<std::vector<uint32_t>> rw(n), ro(n), wo(n);
  std::vector<request> all;
  std::vector<std::string> ends(n + 5);
  for (size_t i = 0; i < n; ++i) {
    rw[i].assign(i % 7 * 30, static_cast<uint32_t>(i));
    ro[i].assign(rw[i].size(), 5);
    wo[i].resize(rw[i].size());
    all.emplace_back(0, 2, 32, mix, both(rw[i]), in(ro[i]), out(wo[i]), rw[i].size());
  }
  for (int i = 0; i < 5; ++i) all.emplace_back(0, 3, 32, fail_with, i == 2 ? 3 : 0);
  *pinned(0) = 0;
  std::vector<request> first;
  for (int i = 0; i < 2; ++i) first.emplace_back(0, 1, 1, wait_word, pinned(0), 1);
  rt_->post(0, [&] {
    for (const request& r : first) enqueue(r);
    for (size_t i = 0; i < all.size(); ++i) {
      all[i].then([&, i](const result<>& end) { ends[i] = text_of(end); });
      enqueue(all[i]);
    }
    __atomic_store_n(pinned(0), uint64_t{1}, __ATOMIC_RELEASE);
  });
  run();
  for (size_t i = 0; i < n; ++i) {
    EXPECT_EQ(ends[i], "");
    EXPECT_EQ(rw[i], std::vector<uint32_t>(rw[i].size(), static_cast<uint32_t>(3 * i + 5)));
    EXPECT_EQ(wo[i], std::vector<uint32_t>(rw[i].size(), static_cast<uint32_t>(3 * i + 5) ^ 5));
    EXPECT_EQ(ro[i], std::vector<uint32_t>(rw[i].size(), 5));
  }
  for (size_t i = 0; i < 5; ++i)
    EXPECT_EQ(ends[n + i], i == 2 ? "request 'fail_with' on node 0: its function returned: peer error" : "");
  const auto s = dispatcher_->statistics();
  EXPECT_EQ(s.launches + s.merged, n + 7);
  // Two that wait, the second maybe with the first; then 64 at a time.
  EXPECT_LE(s.launches, 2 + n / 64 + 1 + 2);
  EXPECT_EQ(s.failed, 1u);
  EXPECT_EQ(nothing_but_graphs(), "");
}

// Though they could begin one by one.
TEST_P(work, requests_of_one_method_are_one_launch) {
  if (GetParam().how != executor::streams || GetParam().provider == "sim") GTEST_SKIP() << "no merging, or long";
  make(1, {.merged = &test_work});
  if (!rt_) return;
  constexpr size_t n = 100;
  std::vector<std::vector<uint32_t>> rw(n, {7}), ro(n, {5}), wo(n, {0});
  std::vector<request> all;
  for (size_t i = 0; i < n; ++i) all.emplace_back(0, 1, 32, mix, both(rw[i]), in(ro[i]), out(wo[i]), size_t{1});
  rt_->post(0, [&] {
    for (const request& r : all) enqueue(r);
  });
  run();
  EXPECT_EQ(dispatcher_->statistics().launches, 1u);
  for (size_t i = 0; i < n; ++i) EXPECT_EQ(rw[i][0], 7u * 3 + 5) << i;
}

// No room for all of them at once: they run one by one.
TEST_P(work, requests_that_do_not_fit_together_are_not_merged) {
  if (GetParam().how != executor::streams || GetParam().provider == "sim") GTEST_SKIP() << "no merging, or long";
  make(1, {.in_flight = 1, .merged = &test_work});
  if (!rt_) return;
  std::vector<std::vector<uint64_t>> x(12, std::vector<uint64_t>(100'000, 1));
  *pinned(0) = 0;
  request first(0, 1, 1, wait_word, pinned(0), 1);
  rt_->post(0, [&] {
    enqueue(first);
    for (auto& one : x) enqueue(request(0, 1, 32, add_to, both(one), uint64_t{3}, uint64_t{1}));
    __atomic_store_n(pinned(0), uint64_t{1}, __ATOMIC_RELEASE);
  });
  run();
  for (const auto& one : x) EXPECT_EQ(std::accumulate(one.begin(), one.end(), uint64_t{0}), 100'003u);
  EXPECT_EQ(dispatcher_->statistics().failed, 0u);
}

}  // namespace
}  // namespace ggas::test
