// SPDX-License-Identifier: Apache-2.0
// Requests of work that are queued back to back and share an event at their end.
#include <algorithm>

#include "tests/userlib/work/rig.hpp"

namespace ggas::test {
namespace {

// Both streams have a kernel that waits for the host. Requests of the same kernel are queued after it, as many as a run
// has; others wait for a free stream. A launch that is refused ends its request alone.
TEST_P(work, requests_of_a_kernel_share_streams_that_are_busy) {
  if (GetParam().how != executor::streams) GTEST_SKIP() << "makes no runs";
  make(1, {.in_flight = 2, .most_in_run = 4});
  if (!rt_) return;
  *pinned(0) = 0;
  std::vector<uint64_t> x = {1};
  std::vector<std::string> ends;
  std::vector<request> all;
  const auto note = [&](const result<>& end) { ends.push_back(text_of(end)); };
  for (int i = 0; i < 12; ++i) all.emplace_back(0, 1, i == 3 ? 5000 : 1, wait_word, pinned(0), 1).then(note);
  all.emplace_back(0, 1, 1, add_to, both(x), 1, 1).after(all[2]).then(note);
  all.emplace_back(0, 1, 1, add_to, both(x), 1, 1).after(all[12]).then(note);
  uint64_t queued = 0;
  rt_->post(0, [&] {
    for (const request& r : all) enqueue(r);
    queued = dispatcher_->statistics().launches;
    __atomic_store_n(pinned(0), uint64_t{1}, __ATOMIC_RELEASE);
  });
  run();
  EXPECT_EQ(queued, 9u);  // and the request after the first run
  EXPECT_EQ(ends.size(), all.size());
  EXPECT_EQ(std::ranges::count(ends, ""), static_cast<std::ptrdiff_t>(all.size()) - 1);
  EXPECT_EQ(x[0], 3u);
  EXPECT_EQ(nothing_but_graphs(), "");
}

// The first one finds a stream, the second one joins it; one of higher priority waits for a stream of its own.
TEST_P(work, requests_of_another_priority_join_no_run) {
  if (GetParam().how != executor::streams) GTEST_SKIP() << "makes no runs";
  make(1, {.in_flight = 1, .most_in_run = 4});
  if (!rt_) return;
  *pinned(0) = 0;
  std::vector<request> all;
  for (int i = 0; i < 3; ++i) all.emplace_back(0, 1, 1, wait_word, pinned(0), 1);
  all[2].priority(1);
  uint64_t queued = 0;
  rt_->post(0, [&] {
    for (const request& r : all) enqueue(r);
    queued = dispatcher_->statistics().launches;
    __atomic_store_n(pinned(0), uint64_t{1}, __ATOMIC_RELEASE);
  });
  run();
  EXPECT_EQ(queued, 2u);
  EXPECT_EQ(dispatcher_->statistics().ended, 3u);
}

TEST_P(work, runs_are_refused_where_none_can_be_made) {
  if (GetParam().provider != "shm") GTEST_SKIP() << "a rule of the settings";
  dispatcher_.reset();
  const auto why = [&](const dispatcher_config& c) { return text_of(dispatcher::create(*rt_, c)); };
  EXPECT_EQ(why({.how = executor::fifo, .most_in_run = 2}),
            "most_in_run: runs are made by executor::streams only, without merging");
  EXPECT_EQ(why({.most_in_run = 0}), "most_in_run = 0: must be 1 ... 256");
}

}  // namespace
}  // namespace ggas::test
