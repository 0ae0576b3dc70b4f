// SPDX-License-Identifier: Apache-2.0
// Random requests of work, enqueued by objects on all processors, with the dependencies that their data need.
#include <atomic>
#include <random>
#include <set>

#include "tests/support/number_of.hpp"
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

  // Each with data of its node only, or with any.
  random_plan(size_t n, int nodes, unsigned seed, bool near = false) {
    std::mt19937 random(seed);
    data.resize(48);
    for (auto& d : data) {
      d.resize(random() % 5 == 0 ? 0 : random() % 200);
      for (auto& v : d) v = static_cast<uint32_t>(random());
    }
    std::vector<size_t> writer(data.size(), n);
    std::vector<std::set<size_t>> readers(data.size());
    for (size_t k = 0; k < n; ++k) {
      const auto all = static_cast<size_t>(nodes);
      const size_t node = random() % all;
      const auto draw = [&] { return near ? random() % (data.size() / all) * all + node : random() % data.size(); };
      step s{draw(), draw(), 0, static_cast<int>(node), {}};
      while (s.b == s.a) s.b = draw();
      do s.c = draw();
      while (s.c == s.a || s.c == s.b);
      if (near && k > 0 && random() % 4 == 0) s.after.insert(random() % k);
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

constexpr size_t usual_count = 1500;
uint64_t enough_for(size_t n) { return n <= usual_count ? enough : enough * n / usual_count; }
size_t random_count() { return number_of("GGAS_TEST_REQUESTS", usual_count); }

TEST_P(work, random_requests_give_what_they_give_one_by_one) {
  if (blocking()) GTEST_SKIP() << "would wait for what is not enqueued yet";
  const size_t n = GetParam().provider == "sim" ? 150 : random_count();
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
      if (const auto ok = d.enqueue(*r); !ok) then(ok, rt.here());
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
  run(enough_for(n));
  EXPECT_EQ(wrong, 0);
  for (size_t k = 0; k < n; ++k) ASSERT_EQ(times[k], 1) << k;
  EXPECT_EQ(plan.data, here.data);
  EXPECT_EQ(dispatcher_->statistics().launches, by_workers() ? static_cast<size_t>(nodes()) : n);
  EXPECT_EQ(nothing_but_graphs(), "");
}

// The same for data that stay on the GPUs, half of them on each node, with further dependencies between nodes: the GPUs
// keep the order of what is queued.
TEST_P(work, random_requests_on_kept_memory_give_what_they_give_one_by_one) {
  if (blocking()) GTEST_SKIP() << "would wait for what is not enqueued yet";
  if (GetParam().how == executor::streams) make(4, {.most_in_run = 4});  // by_hand is the same without runs
  if (!rt_) return;
  const size_t n = GetParam().provider == "sim" ? 100 : random_count();
  const int nodes = this->nodes();
  random_plan plan(n, nodes, 20261129, true);
  random_plan here = plan;
  const auto expected = here.run_here();
  const auto node_of = [&](size_t data) { return static_cast<int>(data) % nodes; };
  std::vector<gpu_memory> memory;
  for (size_t d = 0; d < plan.data.size(); ++d) {
    memory.push_back(*dispatcher_->allocate(node_of(d), 4 * plan.data[d].size() + 4));
    move(memory[d], plan.data[d], true);
  }
  std::vector<std::shared_ptr<std::byte>> pinned;
  std::vector<request> all;
  for (int k = 0; k < nodes; ++k) pinned.push_back(*dispatcher_->allocate_pinned(k, 8 * n));
  const auto sum_of = [&](size_t k) {
    return reinterpret_cast<uint64_t*>(pinned[static_cast<size_t>(plan.steps[k].node)].get()) + k;
  };
  for (size_t k = 0; k < n; ++k) {
    const auto& s = plan.steps[k];
    const auto size = [&](size_t d) { return uint64_t{plan.data[d].size()}; };
    all.emplace_back(s.node, 1, 32, random_step, kept<const uint32_t>(memory[s.a]), size(s.a),
                     kept<uint32_t>(memory[s.b]), size(s.b), kept<uint32_t>(memory[s.c]), size(s.c),
                     out(std::span(sum_of(k), 1)), static_cast<uint32_t>(k));
    for (const size_t before : s.after) all[k].after(all[before]);
  }
  std::atomic<int> wrong = 0, ended = 0;
  for (size_t k = 0; k < n; ++k) {
    all[k].then([&, k](const result<>& end) {
      wrong += !end || *sum_of(k) != expected[k];
      ++ended;
    });
    rt_->post(static_cast<int>(k % 4), [&, k] { enqueue(all[k]); });
  }
  for (int i = 0; by_hand() && i < 100'000'000 && dispatcher_->statistics().ended < n; ++i) dispatcher_->poll();
  run(enough_for(n));
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(ended, static_cast<int>(n));
  for (size_t d = 0; d < plan.data.size(); ++d) move(memory[d], plan.data[d], false);
  EXPECT_EQ(plan.data, here.data);
}

}  // namespace
}  // namespace ggas::test
