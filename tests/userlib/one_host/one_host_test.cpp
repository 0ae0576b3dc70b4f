// SPDX-License-Identifier: Apache-2.0
// One host program on every provider that this program is linked with: launches, results, streams, events, pinned
// memory, start and poll, ends of waits, errors. Skipped for GPUs if there is none.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ggas/status.hpp"
#include "ggas/teams.hpp"
#include "tests/userlib/one_host/kernels.hpp"

namespace ggas::test {
namespace {

constexpr uint64_t us = 1000, second = 1'000'000'000, for_ever = ~uint64_t{0};

class one_host : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    cluster_config cfg{.provider = provider(), .segment_bytes = 8 << 20, .host_bytes = 1 << 20, .nic = "model"};
    cfg.nodes = on_gpus() ? 0 : 2;
    if (provider() != GetParam()) cfg.overrides = {"shm.threads=1"};
    auto made = cluster::create(cfg);
    if (!made && on_gpus()) GTEST_SKIP() << made.error().text;
    ASSERT_TRUE(made) << made.error().text;
    c_ = std::move(*made);
    base_ = c_->device_context(0).reserved;
  }
  // Offsets of words after the reserved area, zero at first.
  uint64_t word(uint64_t i) const { return base_ + 64 * i; }
  uint64_t read(int node, uint64_t i) {
    uint64_t v = ~uint64_t{0};
    EXPECT_EQ(text_of(c_->read(node, word(i), &v, sizeof v)), "");
    return v;
  }
  void run() { ASSERT_EQ(text_of(c_->run(enough())), ""); }
  std::string provider() const { return std::string(GetParam()).substr(0, std::string(GetParam()).find('_')); }
  bool simulated() const { return provider() == "sim"; }
  bool on_gpus() const { return provider() == "cuda"; }
  uint64_t enough() const { return simulated() ? 20'000 * us : 30 * second; }

  void kernels_meet() {
    for (const int n : c_->local_nodes())
      ASSERT_EQ(text_of(launch(*c_, n, 1, 64, greet, word(0), word(1), word(2), word(3), enough() / 4)), "");
    run();
    const auto nodes = static_cast<uint64_t>(c_->nodes());
    for (const int n : c_->local_nodes()) {
      EXPECT_EQ(read(n, 3), ggas_ok);
      EXPECT_EQ(read(n, 1), 100 + (static_cast<uint64_t>(n) + nodes - 1) % nodes);
      EXPECT_EQ(read(n, 2), 100 * nodes + nodes * (nodes - 1) / 2);
    }
  }

  std::unique_ptr<cluster> c_;
  uint64_t base_ = 0;
};

std::vector<const char*> linked() {
  std::vector<const char*> all;
  for (const char* name : {"shm", "sim", "cuda"}) {
    const auto made = cluster::create({.provider = name, .nodes = -1});
    if (made.error().text.find("linked with") == std::string::npos) all.push_back(name);
  }
  return all;
}
// And with a thread for each stream.
std::vector<const char*> targets() {
  auto all = linked();
  all.push_back("shm_threads");
  return all;
}
INSTANTIATE_TEST_SUITE_P(provider, one_host, testing::ValuesIn(targets()), [](const auto& i) { return i.param; });

TEST(one_host_program, learns_which_providers_it_has) {
  const auto made = cluster::create({.provider = "fpga"});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::bad_argument);
  for (const char* name : linked()) EXPECT_NE(made.error().text.find(name), std::string::npos) << made.error().text;
}

TEST_P(one_host, kernels_of_all_nodes_meet) { kernels_meet(); }

// More than kernels can make, side by side: all nodes, pairs, one node; freed and made again.
TEST_P(one_host, teams_of_the_host_take_turns) {
  std::string why;
  const auto memory = heap::create(heap_of(*c_, 1 << 20), why);
  ASSERT_TRUE(memory) << why;
  team_space space(*c_, *memory);
  const int nodes = c_->nodes();
  for (int round = 0; round < 2; ++round) {
    std::vector<ggas_team> teams = {space.make(0, 1, nodes, why), space.make(0, 1, nodes, why)};
    std::vector<int> colors;
    for (int n = 0; n < nodes; ++n) colors.push_back(n / 2);
    for (const ggas_team& t : space.split(teams[0], colors, why)) teams.push_back(t);
    teams.push_back(space.make(nodes - 1, 1, 1, why));
    ASSERT_EQ(why, "");
    for (const ggas_team& t : teams)
      for (int i = 0; i < t.size; ++i)
        ASSERT_EQ(text_of(launch_grid(*c_, t.first + i * t.stride, round == 0 ? 1 : 4, 64, use_team, t, 4, word(8),
                                      word(3), enough())),
                  "");
    run();
    for (int n = 0; n < nodes; ++n) EXPECT_EQ(read(n, 3), ggas_ok);
    for (const ggas_team& t : teams) EXPECT_EQ(space.free(t), "");
  }
}

TEST_P(one_host, copies_are_checked) {
  uint64_t v = 42, back = 0;
  EXPECT_EQ(text_of(c_->write(0, word(5), &v, sizeof v)), "");
  EXPECT_EQ(text_of(c_->read(0, word(5), &back, sizeof back)), "");
  EXPECT_EQ(back, 42u);
  EXPECT_EQ(text_of(c_->write(0, (8 << 20) - 4, &v, sizeof v)),
            "write: 8 bytes at offset 8388604 do not lie in segments of 8388608");
  EXPECT_EQ(c_->read(c_->nodes(), 0, &v, sizeof v).error().code, errc::bad_argument);
  EXPECT_EQ(c_->read(-1, 0, &v, sizeof v).error().code, errc::bad_argument);
}

TEST_P(one_host, what_is_no_node_stream_or_event_is_refused) {
  EXPECT_EQ(launch(*c_, c_->nodes(), 1, 1, put_down, word(0), 1).error().code, errc::bad_argument);
  EXPECT_EQ(launch(*c_, 0, 1, 2000, put_down, word(0), 1).error().code, errc::bad_argument);
  EXPECT_EQ(c_->make_stream(-1).error().code, errc::bad_argument);
  EXPECT_EQ(c_->make_event(c_->nodes()).error().code, errc::bad_argument);
  const auto e = c_->make_event(0);
  ASSERT_TRUE(e);
  EXPECT_EQ(c_->record(*e, c_->nodes()).error().code, errc::bad_argument);
  EXPECT_EQ(c_->wait(-1, *e).error().code, errc::bad_argument);
  const auto r = launch(*c_, 0, 1, 1, missing, 1);
  EXPECT_EQ(r.error().code, errc::unsupported);
  EXPECT_TRUE(r.error().text.starts_with("kernel 'missing': this program has it not for provider '" + provider() +
                                         "': compile its file with "))
      << r.error().text;
  run();
}

TEST_P(one_host, streams_of_a_node_run_side_by_side) {
  const auto other = c_->make_stream(0), third = c_->make_stream(0, 1);
  ASSERT_TRUE(other && third);
  ASSERT_TRUE(launch(*c_, 0, 1, 1, wait_for, word(0), 1, word(1), enough() / 4));
  ASSERT_TRUE(launch(*c_, *other, 1, 1, wait_for, word(2), 1, word(3), enough() / 4));
  ASSERT_TRUE(launch(*c_, *other, 1, 1, put_down, word(0), 1));
  ASSERT_TRUE(launch(*c_, *third, 1, 1, put_down, word(2), 1));
  run();
  EXPECT_EQ(read(0, 1), ggas_ok);
  EXPECT_EQ(read(0, 3), ggas_ok);
}

// Random kernels on streams of all nodes, with events between them: each finds the mark of the one before it in its
// stream, and of the one that its stream waited for.
TEST_P(one_host, random_orders_by_streams_and_events_hold) {
  std::mt19937 random(20261123);
  std::vector<stream> streams;
  std::vector<event> events;
  for (const int n : c_->local_nodes()) {
    streams.emplace_back(n);
    for (int i = 0; i < 2; ++i) streams.push_back(*c_->make_stream(n, i - 1));
    events.push_back(*c_->make_event(n));
  }
  struct mark {
    int node = -1;
    uint64_t at = 0;
  };
  const unsigned kernels = simulated() ? 60 : 400;
  const uint64_t wrong = kernels + 1;
  std::vector<mark> last(streams.size()), waits(streams.size()), recorded(events.size());
  for (unsigned k = 0; k < kernels; ++k) {
    const size_t s = random() % streams.size();
    mark& before = last[s];
    mark& awaited = waits[s];
    // A stream's kernels run in order and may wait for what another one's wait has brought: the last is enough.
    ASSERT_TRUE(launch(*c_, streams[s], 1, 32, follow,
                       in_order{word(k), {before.node, awaited.node}, {before.at, awaited.at}, word(wrong + s)}));
    before = {streams[s].node, word(k)};
    if (const size_t e = random() % events.size(); events[e].node == streams[s].node) {
      ASSERT_EQ(text_of(c_->record(events[e], streams[s])), "");
      recorded[e] = before;
    }
    const size_t e = random() % events.size(), t = random() % streams.size();
    ASSERT_EQ(text_of(c_->wait(streams[t], events[e])), "");
    waits[t] = recorded[e];
  }
  run();
  for (size_t s = 0; s < streams.size(); ++s) EXPECT_EQ(read(streams[s].node, wrong + s), 0u) << "stream " << s;
  for (const event& e : events) EXPECT_TRUE(*c_->reached(e));
}

TEST_P(one_host, an_event_is_reached_when_what_is_before_it_has_ended) {
  const auto e = c_->make_event(0);
  EXPECT_TRUE(*c_->reached(*e));
  ASSERT_TRUE(launch(*c_, 0, 1, 1, wait_for, word(0), 1, word(1), for_ever));
  ASSERT_TRUE(c_->record(*e, 0));
  ASSERT_TRUE(c_->start());
  for (int i = 0; i < 10; ++i) ASSERT_FALSE(*c_->poll());
  EXPECT_FALSE(*c_->reached(*e));
  ASSERT_TRUE(c_->abort());
  run();
  EXPECT_TRUE(*c_->reached(*e));
  EXPECT_EQ(read(0, 1), ggas_aborted);
}

TEST_P(one_host, start_returns_at_once_and_poll_tells_the_end) {
  for (const int n : c_->local_nodes()) ASSERT_TRUE(launch(*c_, n, 1, 32, wait_for, word(0), 7, word(1), for_ever));
  ASSERT_TRUE(c_->start());
  for (int i = 0; i < 10; ++i) ASSERT_FALSE(*c_->poll());
  // What comes later takes its turn.
  const int other = c_->local_nodes()[0];
  ASSERT_TRUE(launch(*c_, other, 1, 32, put_down, word(2), 9));
  ASSERT_TRUE(c_->abort());
  ASSERT_TRUE(c_->start());
  auto ended = c_->poll();
  for (int i = 0; ended && !*ended && i < 100'000'000; ++i) ended = c_->poll();
  ASSERT_TRUE(ended) << ended.error().text;
  EXPECT_TRUE(*ended);
  for (const int n : c_->local_nodes()) EXPECT_EQ(read(n, 1), ggas_aborted);
  EXPECT_EQ(read(other, 2), 9u);
  const auto why = c_->report();
  ASSERT_TRUE(why);
  EXPECT_EQ(why->waits.size(), c_->local_nodes().size());
  ASSERT_EQ(text_of(c_->reset(enough())), "");
  EXPECT_TRUE(c_->report()->empty());
  kernels_meet();
}

TEST_P(one_host, a_run_that_is_too_long_is_timed_out) {
  ASSERT_TRUE(launch(*c_, 0, 1, 1, wait_for, word(0), 1, word(1), enough()));
  const auto r = c_->run(simulated() ? 50 * us : second / 20);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, errc::timed_out);
  ASSERT_TRUE(c_->abort());
  run();
}

TEST_P(one_host, pinned_memory_has_one_address_for_host_and_kernels) {
  for (const int n : c_->local_nodes()) {
    const host_region m = c_->host_memory(n);
    ASSERT_EQ(m.bytes, size_t{1} << 20);
    auto* const numbers = reinterpret_cast<uint64_t*>(m.base);
    for (uint64_t i = 0; i < 100; ++i) numbers[i] = i;
    ASSERT_TRUE(launch(*c_, n, 1, 32, double_all, numbers, 100));
  }
  run();
  for (const int n : c_->local_nodes())
    for (uint64_t i = 0; i < 100; ++i)
      ASSERT_EQ(reinterpret_cast<const uint64_t*>(c_->host_memory(n).base)[i], 2 * i) << "node " << n;
  EXPECT_EQ(c_->host_memory(-1).base, nullptr);
}

// Beyond 48 KB a GPU gives it on demand only.
TEST_P(one_host, blocks_get_dynamic_shared_memory) {
  for (const uint64_t n : {uint64_t{100}, uint64_t{8000}}) {
    std::vector<uint64_t> numbers(n);
    for (uint64_t i = 0; i < n; ++i) numbers[i] = i;
    ASSERT_EQ(text_of(c_->write(0, word(0), numbers.data(), 8 * n)), "");
    ASSERT_EQ(text_of(launch(*c_, 0, 1, with_shared(64, 8 * n), reverse, word(0), n)), "");
    run();
    ASSERT_EQ(text_of(c_->read(0, word(0), numbers.data(), 8 * n)), "");
    for (uint64_t i = 0; i < n; ++i) ASSERT_EQ(numbers[i], n - 1 - i);
  }
  EXPECT_EQ(launch(*c_, 0, 1, with_shared(64, 1 << 20), reverse, word(0), 1).error().code, errc::bad_argument);
  run();
}

// Pinned memory to the segment, a kernel, and back; of any length and alignment; inside the pinned memory, too.
TEST_P(one_host, copies_take_their_turn_in_a_stream) {
  std::string why;
  const auto pinned = heap::create(host_heap_of(*c_, 0), why);
  ASSERT_TRUE(pinned) << why;
  EXPECT_EQ(heap::create(host_heap_of(*c_, 0), why), nullptr);
  std::byte* const base = c_->host_memory(0).base;
  constexpr uint64_t n = 500;
  const auto there = pinned->allocate(8 * n, why), back = pinned->allocate(8 * n, why),
             odd = pinned->allocate(100, why);
  ASSERT_TRUE(there && back && odd) << why;
  auto* const from = reinterpret_cast<uint64_t*>(base + *there);
  for (uint64_t i = 0; i < n; ++i) from[i] = i;
  const stream s = *c_->make_stream(0);
  const auto copy = [&](void* to, const void* what, size_t bytes) {
    return text_of(c_->copy_on_stream(s, to, what, bytes));
  };
  ASSERT_EQ(copy(c_->segment(0) + word(0), from, 8 * n), "");
  ASSERT_EQ(text_of(launch(*c_, s, 1, with_shared(32, 8 * n), reverse, word(0), n)), "");
  ASSERT_EQ(copy(base + *back, c_->segment(0) + word(0), 8 * n), "");
  ASSERT_EQ(copy(base + *odd + 1, base + *back + 3, 13), "");
  ASSERT_EQ(copy(base + *odd, from, 0), "");
  run();
  for (uint64_t i = 0; i < n; ++i) ASSERT_EQ(reinterpret_cast<uint64_t*>(base + *back)[i], n - 1 - i);
  EXPECT_TRUE(std::equal(base + *odd + 1, base + *odd + 14, base + *back + 3));
  EXPECT_EQ(base[*odd], std::byte{0});
  EXPECT_EQ(base[*odd + 14], std::byte{0});
  uint64_t elsewhere = 0;
  EXPECT_EQ(copy(&elsewhere, base, 8),
            "copy_on_stream, to on node 0: 8 bytes lie neither in its segment nor in its host_memory");
  EXPECT_NE(copy(base, c_->segment(0) + c_->segment_bytes() - 4, 8), "");
  EXPECT_NE(text_of(c_->copy_on_stream(c_->nodes(), base, base, 0)), "");
}

// Blocks of a higher priority start before waiting blocks that were launched earlier with a lower one.
TEST_P(one_host, blocks_of_a_higher_priority_start_first) {
  if (provider() == "shm") GTEST_SKIP() << "takes no notice of priorities";
  const auto low = c_->make_stream(0), high = c_->make_stream(0, 5);
  const unsigned all = on_gpus() ? 4000 : 80, urgent = 8;  // more than a GPU holds
  ASSERT_TRUE(launch(*c_, *low, all, 1024, note_start, word(0), 20'000));
  ASSERT_TRUE(launch(*c_, *high, urgent, 1024, note_start, word(0) + 8 * all, 1000));
  run();
  std::vector<uint64_t> times(all + urgent);
  ASSERT_EQ(text_of(c_->read(0, word(0), times.data(), 8 * times.size())), "");
  const auto begin = times.begin(), behind = begin + all;
  EXPECT_LT(*std::max_element(behind, times.end()), *std::max_element(begin, behind));
}

TEST_P(one_host, a_grid_meets) {
  for (const int n : c_->local_nodes()) ASSERT_EQ(text_of(launch_grid(*c_, n, 4, 64, meet, word(0), enough() / 4)), "");
  run();
  for (const int n : c_->local_nodes()) EXPECT_EQ(read(n, 0), ggas_ok);
}

}  // namespace
}  // namespace ggas::test
