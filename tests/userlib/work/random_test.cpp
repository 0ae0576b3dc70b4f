// SPDX-License-Identifier: Apache-2.0
// Random requests of work, enqueued by objects on all processors, with the dependencies that their data need.
#include <atomic>
#include <cstdlib>
#include <random>
#include <set>

#include "tests/userlib/work/rig.hpp"

namespace ggas::test {
namespace {

struct random_plan {
  struct step {
    size_t a, b, c;
    int node;
    std::set<size_t> after;
  };
  std::vector<std::vector<uint32_t>> data;
  std::vector<step> steps;

  random_plan(size_t n, int nodes, unsigned seed) {
    std::mt19937 random(seed);
    data.resize(48);
    for (auto& d : data) {
      d.resize(random() % 5 == 0 ? 0 : random() % 200);
      for (auto& v : d) v = static_cast<uint32_t>(random());
    }
    std::vector<size_t> writer(data.size(), n);
    std::vector<std::set<size_t>> readers(data.size());
    for (size_t k = 0; k < n; ++k) {
      step s{random() % data.size(), random() % data.size(), 0, static_cast<int>(random()) % nodes, {}};
      s.node = s.node < 0 ? -s.node : s.node;
      while (s.b == s.a) s.b = random() % data.size();
      do s.c = random() % data.size();
      while (s.c == s.a || s.c == s.b);
      for (const size_t d : {s.a, s.b, s.c})
        if (writer[d] != n) s.after.insert(writer[d]);
      for (const size_t d : {s.b, s.c}) {
        s.after.insert(readers[d].begin(), readers[d].end());
        readers[d].clear();
        writer[d] = k;
      }
      readers[s.a].insert(k);
      steps.push_back(s);
    }
  }
  // The sums, and the data as they are in the end.
  std::vector<uint64_t> run_here() {
    std::vector<uint64_t> sums;
    for (size_t k = 0; k < steps.size(); ++k) {
      auto &a = data[steps[k].a], &b = data[steps[k].b], &c = data[steps[k].c];
      sums.push_back(
          random_step_of(a.data(), a.size(), b.data(), b.size(), c.data(), c.size(), static_cast<uint32_t>(k)));
    }
    return sums;
  }
};

TEST_P(work, random_requests_give_what_they_give_one_by_one) {
  if (blocking()) GTEST_SKIP() << "would wait for what is not enqueued yet";
  const char* const count = std::getenv("GGAS_TEST_REQUESTS");
  const size_t n = GetParam().provider == "sim" ? 150 : count ? std::strtoul(count, nullptr, 10) : 1500;
  random_plan plan(n, nodes(), 20261128);
  random_plan here = plan;
  const auto expected = here.run_here();
  std::vector<std::vector<uint64_t>> sums(n, std::vector<uint64_t>(1));
  std::vector<std::atomic<int>> times(n);
  std::atomic<int> wrong = 0;
  std::vector<request> all;
  for (size_t k = 0; k < n; ++k) {
    const auto& s = plan.steps[k];
    auto &a = plan.data[s.a], &b = plan.data[s.b], &c = plan.data[s.c];
    all.emplace_back(s.node, 1, 32, random_step, in(a), a.size(), both(b), b.size(), out(c), c.size(), out(sums[k]),
                     static_cast<uint32_t>(k));
    for (const size_t before : s.after) all[k].after(all[before]);
  }
  struct object {
    runtime& rt;
    dispatcher& d;
    object(runtime* r, dispatcher* w) : rt(*r), d(*w) {}
    void enqueue(request* r, std::function<void(const result<>&, int)> then) {
      r->then([then, at = rt.here()](const result<>& end) { then(end, at); });
      if (!d.enqueue(*r)) std::abort();
    }
  };
  const auto objects = rt_->make_array<object>(1000, {}, rt_.get(), dispatcher_.get());
  ASSERT_TRUE(objects);
  for (size_t k = 0; k < n; ++k)
    (*objects)[k % 1000].send<&object::enqueue>(&all[k], [&, k](const result<>& end, int at) {
      ++times[k];
      wrong += !end || rt_->here() != at || sums[k][0] != expected[k];
    });
  for (int i = 0; by_hand() && i < 100'000'000 && dispatcher_->statistics().ended < n; ++i) dispatcher_->poll();
  run();
  EXPECT_EQ(wrong, 0);
  for (size_t k = 0; k < n; ++k) ASSERT_EQ(times[k], 1) << k;
  EXPECT_EQ(plan.data, here.data);
  EXPECT_EQ(dispatcher_->statistics().launches, by_workers() ? static_cast<size_t>(nodes()) : n);
  EXPECT_EQ(nothing_but_graphs(), "");
}

}  // namespace
}  // namespace ggas::test
