// SPDX-License-Identifier: Apache-2.0
// Himeno's benchmark in slices, kept in step in each way, against the same on one processor: the same bits.
#include "benchmarks/kernels/himeno/ways.cuh"
#include "benchmarks/kernels/layout_plan.hpp"
#include "benchmarks/plans/himeno_reference.hpp"
#include "tests/gpu_api/targets.hpp"

namespace ggas::bench {
namespace {

constexpr uint32_t steps = 6;

class himeno_suite : public ggas::test::api_test {
 public:
  // A grid with several tiles a plane, the last one not full; x, y and planes differ.
  void SetUp() override {
    grid_ = {.nx = 40, .ny = 17, .nz = static_cast<uint32_t>(3 * nodes() + 5)};
    timeout_ns_ = enough();
    start({});
  }
  void start(std::vector<std::string> overrides) {
    cluster_config cfg = GetParam().config();
    cfg.segment_bytes = 4u << 20;
    cfg.overrides.insert(cfg.overrides.end(), overrides.begin(), overrides.end());
    make(cfg);
  }

  himeno_args args(int n) const { return plan_himeno(grid_, seed, base(), n, nodes(), timeout_ns_); }
  himeno_node on_node(int n) { return {*cluster_, n, args(n)}; }
  template <class F>
  void all(F queue) {
    for (int n = 0; n < nodes(); ++n) {
      himeno_node node = on_node(n);
      const auto queued = queue(node);
      ASSERT_TRUE(queued) << queued.error().text;
    }
  }
  template <class F>
  void run_all(F queue) {
    all(queue);
    run();
  }

  void solve(himeno_way way) {
    run_all([](auto& n) { return n.fill(3); });
    if (way == himeno_way::host) {
      for (uint32_t s = 1; s <= steps; ++s) {
        run_all([&](auto& n) { return n.compute(s); });
        run_all([&](auto& n) { return n.exchange(s); });
      }
    } else {
      run_all([&](auto& n) { return n.run(way, steps, 5); });
    }
    run_all([](auto& n) { return n.gosa(); });
  }

  void expect_the_bits_of_one_processor(himeno_way way) {
    SCOPED_TRACE(name_of(way));
    const himeno_solution want = himeno_reference(grid_, seed, steps);
    solve(way);
    for (int n = 0; n < nodes(); ++n) {
      const himeno_args a = args(n);
      ASSERT_EQ(*at<uint64_t>(n, a.words + himeno_status * 8), ggas_ok) << "node " << n;
      const float* got = at<float>(n, a.pressure + a.copy_of(steps));
      const uint64_t first = a.plan.slice.begin * grid_.plane(), points = a.plan.slice.planes * grid_.plane();
      for (uint64_t i = 0; i < points; ++i) {
        ASSERT_EQ(got[grid_.index(0, 0, 1) + i], want.pressure[first + i]) << "node " << n << ", point " << i;
      }
      EXPECT_NEAR(at<double>(n, a.gosa)[a.plan.tiles()], want.gosa, 1e-6 * want.gosa);
    }
  }

  template <class T>
  T* at(int node, uint64_t offset) {
    return reinterpret_cast<T*>(cluster_->segment(node) + offset);
  }
  static constexpr uint64_t seed = 11;
  himeno_grid grid_;
  uint64_t timeout_ns_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Provider, himeno_suite, testing::ValuesIn(ggas::test::targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(himeno_suite, EveryWayGivesTheBitsOfOneProcessor) {
  for (const himeno_way way : all_himeno_ways) expect_the_bits_of_one_processor(way);
}

// Planes that are under way when their kernel could have ended: each takes 0.3 ms to be read.
TEST_P(himeno_suite, EveryWayWaitsForPlanesThatComeLate) {
  if (!simulated()) GTEST_SKIP() << "memory has no way that could be long";
  start({"root_complex.nic_to_gpu.read_bytes_per_s=1e7"});
  for (const himeno_way way : all_himeno_ways) expect_the_bits_of_one_processor(way);
}

// A node that never begins: the others say so, and none hangs.
TEST_P(himeno_suite, ALostNeighbourIsATimeOut) {
  if (nodes() == 1) GTEST_SKIP() << "no neighbour";
  for (const himeno_way way : {himeno_way::stream, himeno_way::in_kernel, himeno_way::device}) {
    SCOPED_TRACE(name_of(way));
    run_all([](auto& n) { return n.fill(1); });
    timeout_ns_ = brief();
    // A stream goes on after a wait that failed: it would send its next plane while the neighbour reads the last.
    const uint32_t few = way == himeno_way::stream ? 1 : 2;
    for (int n = 1; n < nodes(); ++n) ASSERT_TRUE(on_node(n).run(way, few, 5));
    run();
    EXPECT_EQ(*at<uint64_t>(1, args(1).words + himeno_status * 8), ggas_timed_out);
  }
}

}  // namespace
}  // namespace ggas::bench
