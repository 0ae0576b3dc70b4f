// SPDX-License-Identifier: Apache-2.0
// Workers on every provider that this program is linked with: who gives them orders, how they share a request, how they
// end. What they have in common with the other executors: rig.hpp. Skipped for GPUs if there is none.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "ggas/work.hpp"
#include "tests/userlib/work/kernels.hpp"

namespace ggas::test {
namespace {

constexpr uint64_t second = 1'000'000'000, enough = 100 * second;

struct target {
  std::string provider, nic;
};

class workers : public testing::TestWithParam<target> {
 protected:
  result<> make(const workers_config& w, int in_flight = 8, size_t host_bytes = 4 << 20) {
    const std::string provider = GetParam().provider;
    cluster_config c{.provider = provider, .segment_bytes = 16 << 20, .host_bytes = host_bytes, .nic = GetParam().nic};
    c.nodes = provider == "cuda" ? 0 : 2;
    auto made = cluster::create(c);
    if (!made) return made.error();
    nodes_ = (*made)->nodes();
    work_.reset();
    auto rt = runtime::create({.processors = 2}, std::move(*made));
    if (!rt) return rt.error();
    rt_ = std::move(*rt);
    auto d = dispatcher::create(*rt_, {.how = executor::workers, .in_flight = in_flight, .workers = w});
    if (!d) return d.error();
    work_ = std::move(*d);
    return {};
  }
  void TearDown() override { work_.reset(); }
  // The end of one request.
  std::string end_of(request r) {
    std::string end = "no callback";
    r.then([&](const result<>& how) { end = text_of(how); });
    if (auto ok = work_->enqueue(r); !ok) return "refused: " + ok.error().text;
    const auto ran = rt_->run(enough);
    r.then(nullptr);  // `end` goes out of scope
    return ran ? end : ran.error().text;
  }
  bool on_gpus() const { return GetParam().provider == "cuda"; }

  std::unique_ptr<runtime> rt_;
  std::unique_ptr<dispatcher> work_;
  int nodes_ = 0;
};

std::vector<target> targets() {
  std::vector<target> all;
  for (const target& t :
       {target{"shm", "model"}, target{"sim", "model"}, target{"sim", "rtl"}, target{"cuda", "model"}}) {
    const auto made = cluster::create({.provider = t.provider, .nodes = -1});
    if (made.error().text.find("linked with") == std::string::npos) all.push_back(t);
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(by, workers, testing::ValuesIn(targets()), [](const auto& i) {
  return i.param.provider == "sim" ? "sim_" + i.param.nic : i.param.provider;
});

#define MAKE(...)                                              \
  if (const auto made = make(__VA_ARGS__); !made && on_gpus()) \
    GTEST_SKIP() << text_of(made);                             \
  else                                                         \
    ASSERT_TRUE(made) << text_of(made)

TEST_P(workers, virtual_blocks_are_run_once_each_by_all_blocks_of_a_group) {
  MAKE({.table = &test_work, .blocks = 3});
  const size_t n = GetParam().provider == "sim" ? 100 : 1000;
  std::vector<uint64_t> virtual_blocks(n), real_blocks(3);
  EXPECT_EQ(end_of(request(0, {static_cast<unsigned>(n / 10), 5, 2}, 32, count_blocks, both(virtual_blocks),
                           both(real_blocks))),
            "");
  EXPECT_EQ(virtual_blocks, std::vector<uint64_t>(n, 1));
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(static_cast<double>(real_blocks[i]), static_cast<double>(n) / 3, 1);
  EXPECT_EQ(work_->statistics().launches, static_cast<uint64_t>(nodes_));
}

TEST_P(workers, functions_call_as_a_group_of_blocks) {
  MAKE({.table = &test_work, .groups = 2, .blocks = 3});
  std::vector<uint64_t> words(3), wrong(3);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(end_of(request(0, 3, 32, meet_often, both(words), uint64_t{10}, both(wrong))), "");
  EXPECT_EQ(words, std::vector<uint64_t>(3, 10));
  EXPECT_EQ(wrong, std::vector<uint64_t>(3));
}

// A request whose function rings the workers of the next node, which answer: from kernel to kernel, over the network.
TEST_P(workers, a_kernel_of_another_node_gives_orders) {
  MAKE({.table = &test_work, .groups = 2});
  const auto word = work_->allocate(nodes_ - 1, 8), own = work_->allocate(0, 8);
  ASSERT_TRUE(word && own);
  const auto offset = [&](const gpu_memory& m) {
    return rt_->with_cluster(
        [&](cluster& c) { return static_cast<uint64_t>(static_cast<std::byte*>(m.address()) - c.segment(m.node())); });
  };
  const uint64_t at = offset(*word), done = offset(*own);
  // Node 0 rings node 1; one node alone rings itself.
  ASSERT_LE(nodes_, 2);
  const uint64_t zero = 0, times = GetParam().provider == "sim" ? 20 : 1000;
  ASSERT_TRUE(rt_->with_cluster([&](cluster& c) { return c.write(nodes_ - 1, at, &zero, 8); }));
  std::vector<uint64_t> wrong(1);
  EXPECT_EQ(
      end_of(request(0, 1, 32, ring_others, work_->workers(), work_->function(add_one), at, done, times, both(wrong))),
      "");
  EXPECT_EQ(wrong[0], 0u);
  uint64_t found = 0;
  ASSERT_TRUE(rt_->with_cluster([&](cluster& c) { return c.read(nodes_ - 1, at, &found, 8); }));
  EXPECT_EQ(found, times);
  EXPECT_EQ(work_->function(not_in_the_table), -1);
}

// More requests than places, of more words than the ring has: it goes round often.
TEST_P(workers, many_requests_find_the_data_of_those_before) {
  MAKE({.table = &test_work, .groups = 2, .blocks = 1}, 64);
  const uint64_t n = GetParam().provider == "sim" ? 150 : 4000;
  std::vector<uint64_t> x(64);
  std::vector<request> all;
  uint64_t ended = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    all.emplace_back(0, 1, 32, add_to, both(std::span(&x[i], 1)), uint64_t{1}, uint64_t{1});
    all[i].then([&, i](const result<>& end) {
      ASSERT_TRUE(end) << end.error().text;
      if (++ended + x.size() <= n) {
        ASSERT_TRUE(work_->enqueue(all[i]));
      }
    });
  }
  rt_->post(0, [&] {
    for (const request& r : all) ASSERT_TRUE(work_->enqueue(r));
  });
  ASSERT_EQ(text_of(rt_->run(enough)), "");
  EXPECT_EQ(ended, n);
  EXPECT_EQ(std::accumulate(x.begin(), x.end(), uint64_t{0}), n);
}

// A function that fails ends its request alone; others of the group and later ones go on.
TEST_P(workers, a_failure_is_named_and_ends_its_request_alone) {
  MAKE({.table = &test_work, .blocks = 2});
  std::vector<uint64_t> x = {1};
  EXPECT_EQ(end_of(request(0, 5, 32, fail_with, 3).named("bad")),
            "request 'bad' on node 0: its function returned: peer error");
  EXPECT_EQ(end_of(request(0, 1, 32, add_to, both(x), uint64_t{1}, uint64_t{1})), "");
  EXPECT_EQ(x[0], 2u);
  std::string after;
  request bad(0, 1, 32, fail_with, 1), next(0, 1, 32, add_to, both(x), uint64_t{1}, uint64_t{1});
  next.after(bad).then([&](const result<>& end) { after = text_of(end); });
  ASSERT_TRUE(work_->enqueue(next));
  EXPECT_NE(end_of(bad).find("its function returned: timed out"), std::string::npos);
  EXPECT_NE(after.find("not run, as one before it failed"), std::string::npos);
  EXPECT_EQ(work_->statistics().failed, 3u);
}

// A block does not come. Its request ends with an error that says so, and the memory of the request is not given back
// before the late block has come. Another group continues meanwhile; in the end all do.
TEST_P(workers, a_block_that_does_not_come_ends_its_request_alone) {
  const uint64_t timeout = GetParam().provider == "sim" ? 100'000 : second / 2;
  MAKE({.table = &test_work, .groups = 2, .blocks = 3, .timeout_ns = timeout});
  const auto pinned = work_->allocate_pinned(0, 8);
  ASSERT_TRUE(pinned);
  auto* const word = reinterpret_cast<uint64_t*>(pinned->get());
  const uint64_t bytes = work_->statistics().pool_bytes;
  *word = 0;
  std::vector<uint64_t> x(3), y = {1};
  request late(0, 3, 32, end_late, word, 1, both(x)), other(0, 1, 32, add_to, both(y), uint64_t{1}, uint64_t{1});
  const std::string why = end_of(late);
  EXPECT_NE(why.find("its group of workers did not come together: timed out"), std::string::npos) << why;
  EXPECT_NE(why.find("workers timed out: only 2 of the 3 blocks of its group came to the end of function 5"),
            std::string::npos)
      << why;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(end_of(other), "");
  EXPECT_EQ(y[0], 4u);
  EXPECT_EQ(x, std::vector<uint64_t>(3));
  EXPECT_GT(work_->statistics().pool_bytes, bytes);
  __atomic_store_n(word, uint64_t{1}, __ATOMIC_RELEASE);
  while (work_->statistics().pool_bytes != bytes) ASSERT_EQ(end_of(other), "");
  EXPECT_EQ(end_of(late), "");
  EXPECT_EQ(x, std::vector<uint64_t>(3, 1));
  std::vector<request> both_groups(2, other);
  both_groups[1] = request(0, 1, 32, add_to, both(x), uint64_t{3}, uint64_t{1});
  for (const request& r : both_groups) ASSERT_TRUE(work_->enqueue(r));
  ASSERT_EQ(text_of(rt_->run(enough)), "");
  EXPECT_EQ(x, std::vector<uint64_t>(3, 2));
  // Workers stop while a block is late, and end when it does.
  *word = 0;
  EXPECT_NE(end_of(late).find("did not come together"), std::string::npos);
  rt_->post(1, [&] { __atomic_store_n(word, uint64_t{1}, __ATOMIC_RELEASE); });
  ASSERT_EQ(text_of(rt_->run(enough)), "");
  work_->stop();
  EXPECT_EQ(work_->statistics().pool_bytes, bytes);
}

// Pinned memory at any address, other memory, and lengths that are no multiple of a word.
TEST_P(workers, buffers_of_any_place_and_length_are_copied) {
  MAKE({.table = &test_work, .blocks = 2});
  auto* const pinned = rt_->with_cluster([](cluster& c) { return c.host_memory(0).base + (3 << 20); });
  for (const size_t bytes : {0, 1, 7, 8, 9, 100, 4999}) {
    std::vector<std::byte> other(bytes + 3), expected(bytes + 3);
    for (size_t i = 0; i < other.size(); ++i) {
      other[i] = pinned[i] = static_cast<std::byte>(i * 31 + bytes);
      expected[i] = i < 3 ? other[i] : other[i] ^ std::byte{1};
    }
    const std::span<std::byte> of_pinned(pinned + 3, bytes), of_other(other.data() + 3, bytes);
    EXPECT_EQ(end_of(request(0, 2, 32, flip, both(of_pinned), bytes)), "");
    EXPECT_EQ(end_of(request(0, 2, 32, flip, both(of_other), bytes)), "");
    EXPECT_EQ(other, expected) << bytes;
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), pinned)) << bytes;
  }
}

TEST_P(workers, bad_settings_are_named) {
  const auto why = [&](const workers_config& w, size_t host_bytes = 4 << 20) {
    return text_of(make(w, 8, host_bytes));
  };
  if (on_gpus() && !cluster::create({.provider = "cuda", .nodes = 0})) GTEST_SKIP() << "no GPU";
  EXPECT_EQ(why({}), "workers.table: the workers need a table of functions (GGAS_WORKERS)");
  EXPECT_EQ(why({.table = &test_work, .groups = 0}), "workers: 0 groups of 1 blocks: must be 1 or more");
  EXPECT_NE(why({.table = &test_work}, 0).find("workers on node 0: there is no pinned memory"), std::string::npos);
  EXPECT_NE(why({.table = &test_work, .threads = {5000}}), "");
  EXPECT_NE(why({.table = &unknown_work}).find("workers 'unknown_work': this program has them not for provider"),
            std::string::npos);
  if (GetParam().provider == "shm") return;  // holds any number of blocks
  EXPECT_NE(why({.table = &test_work, .groups = 100, .blocks = 1000}).find("blocks that wait for each other"),
            std::string::npos);
}

// Idle or in use; a dispatcher that ends gives back what it had.
TEST_P(workers, they_end_when_they_are_stopped) {
  for (const bool used : {false, true}) {
    MAKE({.table = &test_work, .groups = 3, .blocks = 2});
    std::vector<uint64_t> x = {1};
    EXPECT_EQ(used ? end_of(request(0, 1, 32, add_to, both(x), uint64_t{1}, uint64_t{1})) : "", "");
    work_->stop();
    EXPECT_NE(text_of(work_->enqueue(request(0, 1, 32, add_to, both(x), uint64_t{1}, uint64_t{1}))).find("was stopped"),
              std::string::npos);
    work_.reset();
    auto again = dispatcher::create(*rt_, {.how = executor::workers, .workers = {.table = &test_work, .groups = 2}});
    ASSERT_TRUE(again) << text_of(again);
    work_ = std::move(*again);
    EXPECT_EQ(end_of(request(0, 1, 32, add_to, both(x), uint64_t{1}, uint64_t{5})), "");
    EXPECT_EQ(x[0], used ? 7u : 6u);
  }
}

// On the host engine a fault ends all kernels: those under way get its text, and later requests find new workers.
TEST_P(workers, a_fault_reaches_the_callbacks) {
  if (on_gpus()) GTEST_SKIP() << "a GPU is lost by it";
  MAKE({.table = &test_work, .groups = 2, .blocks = 1});
  EXPECT_NE(end_of(request(0, 1, 32, break_gpu, 1)).find("request 'break_gpu' on node 0: "), std::string::npos);
  std::vector<uint64_t> x = {1};
  EXPECT_EQ(end_of(request(0, 1, 32, add_to, both(x), uint64_t{1}, uint64_t{1})), "");
  EXPECT_EQ(x[0], 2u);
  EXPECT_EQ(work_->statistics().launches, 2 * static_cast<uint64_t>(nodes_));
}

}  // namespace
}  // namespace ggas::test
