// SPDX-License-Identifier: Apache-2.0
// Requests of work: what is refused, failures, faults, the end.
#include <algorithm>
#include <stdexcept>

#include "tests/userlib/work/rig.hpp"

namespace ggas::test {
namespace {

TEST_P(work, bad_input_is_named) {
  const auto refused = [&](const request& r) {
    const auto ok = dispatcher_->enqueue(r);
    return ok ? "" : ok.error().text;
  };
  std::vector<uint64_t> x(4);
  const std::span<uint64_t> nothing(static_cast<uint64_t*>(nullptr), 4);
  EXPECT_EQ(refused(request(nodes(), 1, 1, add_to, both(x), 4, 1)),
            "request 'add_to' on node " + std::to_string(nodes()) + ": nodes are 0 ... " + std::to_string(nodes() - 1));
  EXPECT_EQ(refused(request(0, 1, 1, add_to, both(nothing), 4, 1)), "request 'add_to', buffer 0: null, of 32 bytes");
  EXPECT_EQ(refused(request("none", 0, {})), "request 'none': nothing to launch");
  if (by_workers()) {
    EXPECT_EQ(refused(request(0, 1, 5000, add_to, both(x), 4, 1)),
              "request 'add_to': blocks of 5000 x 1 x 1 threads: those of the workers have 32 x 1 x 1");
    EXPECT_EQ(refused(request(0, 1, with_shared(32, 8), add_to, both(x), 4, 1)),
              "request 'add_to': 8 shared bytes: the workers have 0");
    EXPECT_EQ(refused(request(0, {3, 0, 1}, 32, add_to, both(x), 4, 1)),
              "request 'add_to': a grid of 3 x 0 x 1 blocks");
    EXPECT_EQ(refused(request(0, 1, 32, not_in_the_table, 4)),
              "request 'not_in_the_table': its kernel is not in the table 'test_work' of the workers");
    EXPECT_EQ(refused(request(0, 1, 32, add_one, 4).in_own_stream()), "request 'add_one': workers have no streams");
    EXPECT_EQ(
        refused(request("by hand", 0, [](cluster&, const stream&, std::span<void* const>) { return result<>(); })),
        "request 'by hand': workers run kernels of their table, no function that launches");
  }
  EXPECT_EQ(refused(request(0, 1, 1, add_to, kept<uint64_t>({}), 4, 1)),
            "request 'add_to', buffer 0: its memory of the GPU was freed, or never allocated");
  auto m = dispatcher_->allocate(0, 8);
  ASSERT_TRUE(m);
  EXPECT_EQ(refused(request(0, 1, 1, add_to, in(x).in_memory(*m), 4, 1)),
            "request 'add_to', buffer 0: 32 bytes in memory of 8");
  request late(0, 1, 1, add_to, kept<uint64_t>(*m), 1, 1);
  m->free();
  EXPECT_EQ(refused(late), "request 'add_to', buffer 0: its memory of the GPU was freed, or never allocated");
  EXPECT_FALSE(dispatcher_->allocate(0, 0));
  EXPECT_EQ(dispatcher_->allocate(0, size_t{1} << 40).error().code, errc::out_of_memory);
  EXPECT_EQ(dispatcher::create(*rt_, {.in_flight = 0}).error().text, "in_flight = 0: must be 1 ... 64");

  // By callbacks.
  std::vector<std::string> reported;
  const auto tell = [&](const result<>& end) { reported.push_back(text_of(end)); };
  const auto fails = [&](request r) {
    enqueue(r.then(tell));
    run();
    return reported.empty() ? "no callback" : reported.back();
  };
  if (!by_workers()) {
    EXPECT_NE(fails(request(0, 1, 5000, add_to, both(x), 4, 1)).find("request 'add_to' on node 0: "),
              std::string::npos);
    EXPECT_NE(fails(request(0, 1, with_shared(32, 1 << 20), add_to, both(x), 4, 1)), "");
  }
  std::vector<uint64_t> large((size_t{32} << 20) / 8);
  EXPECT_NE(fails(request(0, 1, 1, add_to, both(large), 1, 1)).find("no room for"), std::string::npos);
  EXPECT_EQ(x, std::vector<uint64_t>(4));
  EXPECT_EQ(dispatcher_->statistics().failed, by_workers() ? 1u : 3u);
  if (blocking()) return;
  request a(0, 1, 1, add_to, both(x), 4, 1), b(0, 1, 1, add_to, both(x), 4, 1);
  a.named("a").after(b).then(tell);
  b.named("b").after(a).then(tell);
  reported.clear();
  enqueue(a);
  EXPECT_NE(refused(a), "");
  enqueue(b);
  run();
  std::ranges::sort(reported);
  EXPECT_EQ(reported,
            (std::vector<std::string>{
                "request 'a' on node 0: not run, as one before it failed: request 'b' on node 0: the requests "
                "that it waits for wait for it",
                "request 'b' on node 0: the requests that it waits for wait for it"}));
}

// A kernel of the host engine that fails: all that is under way ends with the text, and what comes later works.
TEST_P(work, a_fault_reaches_the_callbacks) {
  if (by_workers()) GTEST_SKIP() << "workers.a_fault_reaches_the_callbacks";
  if (GetParam().provider == "cuda") GTEST_SKIP() << "a GPU is lost by it";
  std::vector<uint64_t> x = {1};
  std::string reported, after;
  request bad("bad", 0, [](cluster& c, const stream& s, std::span<void* const>) {
    return c.launch(
        s, 1, 1, [] { throw std::runtime_error("no more"); }, "bad");
  });
  bad.then([&](const result<>& end) { reported = text_of(end); });
  request next(0, 1, 1, add_to, both(x), 1, 1);
  next.after(bad).then([&](const result<>& end) { after = text_of(end); });
  enqueue(bad);
  enqueue(next);
  run();
  EXPECT_NE(reported.find("no more"), std::string::npos) << reported;
  // A graph fails as a whole, and so does all that is queued.
  const bool queued = goes_ahead() || GetParam().how == executor::graph;
  EXPECT_NE(after.find(queued ? "no more" : "not run, as one before it failed"), std::string::npos) << after;
  enqueue(request(0, 1, 1, add_to, both(x), 1, 1));
  run();
  EXPECT_EQ(x[0], 2u);
}

TEST_P(work, stopping_tells_all_that_waits) {
  if (blocking()) GTEST_SKIP() << "nothing waits";
  std::vector<uint64_t> x = {1};
  const request never(0, 1, 1, add_to, both(x), 1, 1);
  std::vector<std::string> reported;
  request a(0, 1, 1, add_to, both(x), 1, 1), b(0, 1, 1, add_to, both(x), 1, 1);
  a.after(never).then([&](const result<>& end) { reported.push_back(text_of(end)); });
  b.after(a).then([&](const result<>& end) { reported.push_back(text_of(end)); });
  enqueue(a);
  enqueue(b);
  dispatcher_->stop();
  EXPECT_EQ(text_of(dispatcher_->enqueue(never)), "request 'add_to': the dispatcher was stopped");
  ASSERT_EQ(text_of(rt_->run(enough)), "");
  ASSERT_EQ(reported.size(), 2u);
  for (const auto& text : reported) EXPECT_NE(text.find("the dispatcher was stopped"), std::string::npos) << text;
  EXPECT_EQ(x[0], 1u);
}

}  // namespace
}  // namespace ggas::test
