// SPDX-License-Identifier: Apache-2.0
// Requests of work: what is copied, what stays on the GPU, shapes of launches, callbacks, memory.
#include <algorithm>
#include <numeric>

#include "tests/userlib/work/rig.hpp"

namespace ggas::test {
namespace {

TEST_P(work, buffers_are_copied_as_their_kind_says) {
  for (const size_t n : {size_t{0}, size_t{1}, size_t{37}, size_t{1001}}) {
    std::vector<uint32_t> rw(n), ro(n), wo(n, 7);
    std::iota(rw.begin(), rw.end(), 1u);
    std::iota(ro.begin(), ro.end(), 1000u);
    const auto rw0 = rw, ro0 = ro;
    enqueue(request(0, 2, 32, mix, both(rw), in(ro), out(wo), n));
    run();
    EXPECT_EQ(ro, ro0);
    for (size_t i = 0; i < n; ++i) {
      ASSERT_EQ(rw[i], 3 * rw0[i] + ro0[i]);
      ASSERT_EQ(wo[i], rw[i] ^ ro0[i]);
    }
  }
  EXPECT_EQ(nothing_but_graphs(), "");
}

TEST_P(work, launches_have_the_shape_that_was_asked_for) {
  if (by_workers()) GTEST_SKIP() << "have blocks of their own";
  std::vector<uint32_t> found(7), small(7);
  enqueue(request(0, {3, 2}, with_shared({16, 4}, 5000), note_shape, out(found), 5000));
  enqueue(request(0, 1, 1, note_shape, out(small), 0));
  run();
  EXPECT_EQ(found, (std::vector<uint32_t>{3, 2, 1, 16, 4, 1, 5000}));
  EXPECT_EQ(small, (std::vector<uint32_t>{1, 1, 1, 1, 1, 1, 0}));
}

// What a kernel left on the GPU the next one finds; what the host changes between is not seen.
TEST_P(work, memory_that_is_kept_stays_on_the_gpu) {
  const auto m = dispatcher_->allocate(0, 80);
  ASSERT_TRUE(m) << text_of(m);
  std::vector<uint64_t> x(10, 5);
  request first(0, 1, 32, add_to, in(x).in_memory(*m), 10, 1), second(0, 1, 32, add_to, kept<uint64_t>(*m), 10, 10),
      third(0, 1, 32, add_to, out(x).in_memory(*m), 10, 100);
  enqueue(first);
  run();
  std::ranges::fill(x, 1000);
  enqueue(second);
  run();
  enqueue(third);
  run();
  EXPECT_EQ(x, std::vector<uint64_t>(10, 116));
  EXPECT_EQ(dispatcher_->statistics().copies, by_workers() ? 0u : 2u);  // workers copy themselves
}

TEST_P(work, callbacks_come_once_after_the_copies_on_the_owner) {
  struct object {
    size_t index;
    runtime& rt;
    dispatcher& d;
    std::vector<uint64_t> x = std::vector<uint64_t>(33);
    int times = 0, wrong = 0;
    object(size_t i, runtime* r, dispatcher* w) : index(i), rt(*r), d(*w) {}
    void go() {
      request r(0, 1, 32, add_to, both(x), x.size(), index);
      r.then([this, at = rt.here()](const result<>& end) {
        wrong += !end || rt.here() != at || std::ranges::count(x, index * static_cast<size_t>(times + 1)) != 33;
        if (++times < 5) go();
      });
      wrong += !d.enqueue(r);
    }
  };
  const auto all = rt_->make_array<object>(40, {}, rt_.get(), dispatcher_.get());
  ASSERT_TRUE(all);
  all->broadcast<&object::go>();
  for (int i = 0; by_hand() && i < 100'000'000 && dispatcher_->statistics().ended < 200; ++i) dispatcher_->poll();
  run();
  for (size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(all->look_at(i)->times, 5);
    EXPECT_EQ(all->look_at(i)->wrong, 0);
  }
}

TEST_P(work, memory_of_pools_is_used_again) {
  std::vector<uint64_t> x(1000);
  request r(0, 1, 32, add_to, both(x), x.size(), 1);
  for (int i = 0; i < 50; ++i) {
    enqueue(r);
    run();
  }
  EXPECT_EQ(x, std::vector<uint64_t>(1000, 50));
  EXPECT_EQ(nothing_but_graphs(), "");
  // Kept and pinned: no allocation at all.
  const auto m = dispatcher_->allocate(0, 8);
  ASSERT_TRUE(m);
  *pinned(1) = 1;
  const auto before = dispatcher_->statistics().allocations;
  const std::span<uint64_t> word(pinned(1), 1);
  request again(0, 1, 1, add_to, both(word).in_memory(*m), 1, 1);
  for (int i = 0; i < 50; ++i) {
    enqueue(again);
    run();
  }
  EXPECT_EQ(*pinned(1), 51u);
  EXPECT_EQ(dispatcher_->statistics().allocations, before);
}

}  // namespace
}  // namespace ggas::test
