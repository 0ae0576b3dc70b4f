// SPDX-License-Identifier: Apache-2.0
// Device API: what a call of a group, or of a handle that names its queue only later, leaves over for who comes next.
#include <algorithm>
#include <cstring>

#include "gpu_api/simt/native.hpp"
#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

GGAS_RMA_SUITE(Group);

// ------------------------------------------------------------------------------------------------ lanes of a warp

constexpr uint64_t value_at = 0, flag_at = 64, busy_at = 128;

// A late lane does not delay other lanes before the call, so the other lanes must wait for it in the call. Its accesses
// for the warp come before their next accesses.
void let_the_leader_be_late(const uint64_t* busy) {
  for (int i = 0; detail::lane_rank() == 0 && i < 50; ++i) ggas_load(busy);
}

template <class Call>
void behind_the_leader(api_test& t, Call call) {
  const auto kernel = [&] {
    const int me = ggas_node(), right = right_of(me);
    auto* value = ggas_global_pointer<uint64_t>(right, t.base() + value_at);
    let_the_leader_be_late(ggas_pointer_of_node<uint64_t>(me, t.base() + busy_at));
    EXPECT_EQ(call(value), ggas_ok);
    if (detail::lane_rank() == 31)
      ggas_store(ggas_global_pointer<uint64_t>(right, t.base() + flag_at), uint64_t{1}, ggas_release);
    ASSERT_EQ(
        ggas_wait_until_warp(ggas_pointer_of_node<uint64_t>(me, t.base() + flag_at), ggas_eq, uint64_t{1}, t.enough()),
        ggas_ok);
    EXPECT_EQ(ggas_load(ggas_pointer_of_node<uint64_t>(me, t.base() + value_at)), 7u);
  };
  t.on_all(1, 32, kernel);
  t.run();
}

TEST_P(Group, AValueOfAWarpIsBeforeWhatItsLanesStoreNext) {
  if (simulated()) GTEST_SKIP() << "puts and stores are not ordered behind a NIC";
  behind_the_leader(*this, [&](uint64_t* p) { return ggas_put_value_nbi_warp(p, uint64_t{7}, enough()); });
}

TEST_P(Group, AnAtomicOfAWarpIsBeforeWhatItsLanesStoreNext) {
  if (simulated()) GTEST_SKIP() << "atomics and stores are not ordered behind a NIC";
  behind_the_leader(*this, [&](uint64_t* p) {
    return ggas_atomic_fetch_warp(ggas_atomic_add, p, uint64_t{7}, uint64_t{0}, static_cast<uint64_t*>(nullptr),
                                  enough());
  });
}

// Lanes may want the old value, or not, each for itself.
TEST_P(Group, SomeLanesMayWantTheOldValue) {
  *user<uint64_t>(nodes() - 1) = 3;
  on(0, 1, 32, [&] {
    auto* word = ggas_global_pointer<uint64_t>(nodes() - 1, base());
    uint64_t old = 99;
    const bool wants = detail::lane_rank() % 2 == 1;
    EXPECT_EQ(ggas_atomic_fetch_warp(ggas_atomic_add, word, uint64_t{5}, uint64_t{0}, wants ? &old : nullptr, enough()),
              ggas_ok);
    EXPECT_EQ(old, wants ? 3u : 99u);
  });
  run();
  EXPECT_EQ(*user<uint64_t>(nodes() - 1), 8u);
}

TEST_P(Group, AWarpWithoutAPlaceForItsNotificationIsRefused) {
  on(0, 1, 32, [&] {
    const ggas_queue q = ggas_queue_of(1);
    EXPECT_EQ(ggas_notify_warp(0, 5, 1, enough(), q), ggas_ok);
    EXPECT_EQ(ggas_notification_wait_warp(nullptr, enough(), q), ggas_bad_argument);
    ggas_notification note{};
    EXPECT_EQ(ggas_notification_wait_warp(&note, enough(), q), ggas_ok);  // no one has taken it
    EXPECT_EQ(note.cookie, 5u);
  });
  run();
}

// ------------------------------------------------------------------------------------------------ waits

// The value that ended the wait, also if the word has moved on: what came before the next one is not known to be here.
TEST_P(Group, ASignalIsSeenAsItWasWhenTheWaitEnded) {
  on(0, 1, 64, [&] {
    auto* signal = ggas_pointer_of_node<uint64_t>(0, base() + value_at);
    if (threadIdx.x == 32)
      for (uint64_t i = 0; i <= 200; ++i) ggas_store(signal, 1 + i % 2);
    for (int i = 0; threadIdx.x == 0 && i < 30; ++i) {
      uint64_t seen = 0;
      EXPECT_EQ(ggas_signal_wait_until(signal, ggas_eq, 1, &seen, enough()), ggas_ok);
      EXPECT_EQ(seen, 1u);
    }
  });
  run();
}

// ------------------------------------------------------------------------------------------------ the block's queue

// A handle that nothing was posted with yet stands for the block's queue all the same.
TEST_P(Group, TheBlocksQueueIsKnownToEveryCall) {
  const size_t bytes = 65536;
  for (size_t i = 0; i < bytes; ++i) user<uint8_t>(nodes() - 1, 131072)[i] = static_cast<uint8_t>(i * 11 + 3);
  on(0, 1, 1, [&] {
    auto* here = ggas_pointer_of_node<uint8_t>(0, base());
    const auto* there = ggas_global_pointer<uint8_t>(nodes() - 1, base() + 131072);
    EXPECT_EQ(ggas_get_nbi(here, there, bytes, enough()), ggas_ok);
    EXPECT_EQ(ggas_quiet(ggas_queue::of_block(), enough()), ggas_ok);
    for (size_t i = 0; i < bytes; i += 4093) EXPECT_EQ(ggas_load(here + i), static_cast<uint8_t>(i * 11 + 3)) << i;
    EXPECT_EQ(ggas_notify(0, 17, 0, enough()), ggas_ok);
    ggas_notification note{};
    EXPECT_EQ(ggas_notification_wait(&note, enough(), ggas_queue::of_block()), ggas_ok);
    EXPECT_EQ(note.cookie, 17u);
  });
  run();
}

// ------------------------------------------------------------------------------------------------ a NIC of memory

// Queue 0 of node 0 lies in plain memory: what a NIC would get can be looked at, and its counts be set.
class MemoryQueue : public testing::Test {
 protected:
  void SetUp() override {
    auto c = cluster::create(target{.nodes = 1}.config());
    ASSERT_TRUE(c) << c.error().text;
    cluster_ = std::move(*c);
    context_ = cluster_->device_context(0);
    queue_.page = page_;
    queue_.descriptors = page_ + 4096;
    queue_.status = reinterpret_cast<const char*>(status_);
    queue_.words = words_;
    context_.queues = &queue_;
    context_.queue_count = 1;
  }
  void set(uint32_t produced, uint32_t consumed) {
    std::memset(page_, 0, sizeof page_);
    words_[0] = uint64_t{produced} << 32 | uint64_t{produced & 0xffffff} << 8;
    status_[0] = uint64_t{consumed} << 32 | consumed;
    status_[1] = consumed;
  }
  void run(std::function<void()> kernel) {
    simt::native_scheduler s({}, 1);
    s.enqueue(0, {1, 1, std::move(kernel)}, &context_);
    const auto r = s.run(10'000'000'000);
    ASSERT_TRUE(r) << r.error().text;
  }
  bool page_is_clear() const {
    return std::all_of(std::begin(page_), std::end(page_), [](char c) { return c == 0; });
  }
  uint64_t* word() const { return ggas_global_pointer<uint64_t>(0, context_.reserved); }

  alignas(64) char page_[8192] = {};
  alignas(16) uint64_t status_[2] = {}, words_[8] = {};
  rma_queue queue_ = {};
  std::unique_ptr<cluster> cluster_;
  context context_{};
};

// Counts of slots have 32 bits and go round; a handle that has not looked yet knows nothing.
TEST_F(MemoryQueue, ANewHandleFindsAFullRingFullAlsoWhereCountsBeginAgain) {
  for (const uint32_t produced : {0u, 4u, 16u, 17u, 1000u}) {
    set(produced, produced - detail::page_slots);
    run([&] {
      for (const ggas_sharing how : {ggas_shared, ggas_exclusive})
        EXPECT_EQ(ggas_put_value_nbi(word(), uint64_t{1}, 0, ggas_queue_of(0, how)), ggas_timed_out) << produced;
    });
    EXPECT_TRUE(page_is_clear()) << produced;
    set(produced, produced - detail::page_slots + 1);
    run([&] { EXPECT_EQ(ggas_put_value_nbi(word(), uint64_t{1}, 0), ggas_ok) << produced; });
    EXPECT_FALSE(page_is_clear()) << produced;
    EXPECT_EQ(detail::produced(words_[0]), produced + 1);
  }
}

// Answers that come after their calls have given up: their records serve again, and the late answers no one.
TEST_F(MemoryQueue, RecordsOfAnswersThatCameLateServeAgain) {
  uint64_t answered = 0;
  const auto record = [&](uint64_t nla) { return reinterpret_cast<uint64_t*>(context_.local + nla); };
  const auto* const slots = reinterpret_cast<const uint64_t*>(queue_.descriptors);
  for (uint64_t i = 0; i < 3 * layout::results; ++i) {
    const auto at = static_cast<uint32_t>(2 * i);
    set(at, at);
    run([&] {
      uint64_t old = 0;
      ASSERT_EQ(ggas_fetch_add(word(), uint64_t{1}, &old, 0, ggas_queue_of(0)), ggas_timed_out);
    });
    ASSERT_EQ(detail::produced(words_[0]), at + 2) << "call " << i << " found no record";
    const uint64_t* const d = slots + at % detail::page_slots * detail::slot_words;
    record(d[5])[0] = i;
    record(d[5])[1] = d[3];
    ++answered;
  }
  EXPECT_EQ(answered, 3 * layout::results);
}

static_assert(detail::is_atomic_word<int32_t>() && detail::is_atomic_word<uint64_t>());
static_assert(detail::is_atomic_word<float>() && detail::is_atomic_word<double>() && !detail::is_atomic_word<short>());

// Threads of the largest grids: numbers of 32 bits hold eight times as many.
static_assert(uint64_t{detail::grid_group::working(1u << 30)} * 1024 * 8 <= uint64_t{1} << 32);
static_assert(detail::grid_group::working(7) == 7);

// ------------------------------------------------------------------------------------------------ tiles, some warps

constexpr uint64_t from_at = 1024, to_at = 16384, part = 2048;

// Group number g of a node moves its part of 100 words to the right neighbour, informs it, and adds to a word there.
template <class G>
void use_group(api_test& t, const G& group, unsigned number) {
  const int me = ggas_node(), right = right_of(me);
  auto* const mine = ggas_pointer_of_node<uint32_t>(me, t.base() + from_at);
  auto* const theirs = ggas_pointer_of_node<uint32_t>(right, t.base() + to_at + number * part);
  auto* const flag = ggas_pointer_of_node<uint64_t>(right, t.base() + number * 8);
  auto* const sum = ggas_pointer_of_node<uint64_t>(right, t.base() + 512);
  EXPECT_EQ(ggas_put_signal(group, theirs, mine, 100, flag, 1, ggas_signal_set, t.enough()), ggas_ok);
  EXPECT_EQ(ggas_wait_until(group, ggas_pointer_of_node<uint64_t>(me, t.base() + number * 8), ggas_eq, 1, t.enough()),
            ggas_ok);
  const auto* const here = ggas_pointer_of_node<uint32_t>(me, t.base() + to_at + number * part);
  for (unsigned i = group.rank(); i < 100; i += group.size()) EXPECT_EQ(ggas_load(here + i), i * 3 + 1);
  EXPECT_EQ(ggas_atomic_fetch(group, ggas_atomic_add, sum, 1, 0, static_cast<uint64_t*>(nullptr), t.enough()), ggas_ok);
}

void fill_sources(api_test& t) {
  for (int n = 0; n < t.nodes(); ++n)
    for (uint32_t i = 0; i < 100; ++i) t.user<uint32_t>(n, from_at)[i] = i * 3 + 1;
}
void expect_sums(api_test& t, uint64_t groups) {
  for (int n = 0; n < t.nodes(); ++n) EXPECT_EQ(*t.user<uint64_t>(n, 512), groups);
}

template <unsigned Lanes>
void use_tiles(api_test& t) {
  fill_sources(t);
  t.on_all(1, 64, [&] { use_group(t, ggas::tile<Lanes>{}, threadIdx.x / Lanes); });
  t.run();
  expect_sums(t, 64 / Lanes);
}
TEST_P(Group, TilesOfTwoLanesWorkOnTheirOwn) { use_tiles<2>(*this); }
TEST_P(Group, TilesOfFourLanesWorkOnTheirOwn) { use_tiles<4>(*this); }
TEST_P(Group, TilesOfEightLanesWorkOnTheirOwn) { use_tiles<8>(*this); }
TEST_P(Group, TilesOfSixteenLanesWorkOnTheirOwn) { use_tiles<16>(*this); }

// Two groups of two and three warps; the sixth goes its own way, and the block meets after them.
TEST_P(Group, SomeWarpsOfABlockWorkOnTheirOwn) {
  fill_sources(*this);
  on_all(1, 192, [&] {
    const unsigned warp = threadIdx.x / 32;
    if (warp < 2) use_group(*this, ggas::warps{1, 0, 2}, 0);
    if (warp >= 2 && warp < 5) use_group(*this, ggas::warps{2, 2, 3}, 1);
    if (warp == 5) use_group(*this, ggas::warp{}, 2);
    __syncthreads();
  });
  run();
  expect_sums(*this, 3);
}

// A status covers all lanes of a tile, and no other lane.
TEST_P(Group, AStatusIsThatOfTheGroup) {
  on_all(1, 64, [&] {
    auto* const flag = ggas_pointer_of_node<uint64_t>(ggas_node(), base());
    const unsigned number = threadIdx.x / 8;
    const auto* const waits_for = number % 2 ? flag : nullptr;
    EXPECT_EQ(ggas_wait_until(ggas::tile<8>{}, waits_for, ggas_eq, 0, enough()),
              number % 2 ? ggas_ok : ggas_bad_argument);
    const unsigned second = threadIdx.x / 32;
    EXPECT_EQ(ggas_wait_until(ggas::warps{1 + second, second, 1}, second ? flag : nullptr, ggas_eq, 0, enough()),
              second ? ggas_ok : ggas_bad_argument);
  });
  run();
}

TEST_P(Group, EveryGroupNotifies) {
  for (int n = 0; n < nodes(); ++n)
    for (uint32_t i = 0; i < 100; ++i) user<uint32_t>(n, from_at)[i] = i * 3 + 1;
  on_all(1, 64, [&] {
    const int me = ggas_node(), right = right_of(me);
    auto* const theirs = ggas_pointer_of_node<uint32_t>(right, base() + to_at);
    const auto* const mine = ggas_pointer_of_node<uint32_t>(me, base() + from_at);
    EXPECT_EQ(ggas_put_notify_block(theirs, mine, 100, 7, 0, enough()), ggas_ok);
    EXPECT_EQ(ggas_put_value_notify(ggas::block{}, theirs + 100, 9, 8, 0, enough()), ggas_ok);
    EXPECT_EQ(ggas_notify_block(right, 9, 0, enough()), ggas_ok);
    EXPECT_EQ(ggas_notify(ggas::warps{1, 0, 2}, right, 10, 0, enough()), ggas_ok);
    if (threadIdx.x < 8) {
      EXPECT_EQ(ggas_notify(ggas::tile<8>{}, right, 11, 0, enough()), ggas_ok);
    }
    if (threadIdx.x != 0) return;
    ggas_notification notes[5];
    size_t taken = 0;
    ASSERT_EQ(ggas_notification_wait_all(notes, 5, &taken, enough(), ggas_queue_of(0)), ggas_ok);
    for (uint64_t i = 0; i < 5; ++i) EXPECT_EQ(notes[i].cookie, 7 + i);
    for (uint32_t i = 0; i < 100; ++i)
      EXPECT_EQ(ggas_load(ggas_pointer_of_node<uint32_t>(me, base() + to_at) + i), i * 3 + 1);
    EXPECT_EQ(ggas_load(ggas_pointer_of_node<uint32_t>(me, base() + to_at) + 100), 9u);
  });
  run();
}

}  // namespace
}  // namespace ggas::test
