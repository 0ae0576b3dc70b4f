// SPDX-License-Identifier: Apache-2.0
// The testbed of UPC's collectives (benchmarks/kernels/upc_case.cuh): a late start and uneven computing appear in the
// time of the call, even computing does not, and wrong data are found. Times are those of the simulator, which repeat.
#include <algorithm>
#include <array>
#include <cstring>

#include "benchmarks/kernels/upc_case.cuh"
#include "benchmarks/plans/upc_plan.hpp"
#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

using namespace ggas::bench;

constexpr unsigned blocks = 3, threads = 32;
constexpr upc_kind broadcast{relocated::broadcast, "broadcast"}, exchange{relocated::exchange, "exchange"};

struct case_result {
  std::array<uint64_t, upc_times> slowest{};  // means of the slowest rank
  uint64_t errors = 0, failed = 0;
};

class UpcCase : public api_test {
 protected:
  upc_case_args plan(const upc_kind& k, relocated_by how = relocated_by::ranks, ggas_scheme scheme = ggas_dynamic) {
    layout_plan room(base());
    const ggas_ranks ranks = place_ranks(room, nodes(), blocks, scheme, how == relocated_by::buffers ? 8192 : 0);
    upc_case_args a{};
    a.call = place_upc(room, ranks, k, {how, ggas_in_all | ggas_out_all, ""}, 16, 4, threads);
    a.call.samples = room.place<uint64_t>(blocks * upc_times);
    a.call.seed = 3;
    a.call.timeout_ns = enough();
    a.warm_ups = 2;
    a.skewed = a.late = -1;
    for (int node = 0; node < nodes(); ++node)
      std::memset(cluster_->segment(node) + ranks.place, 0, ggas::detail::layout_of(ranks).bytes());
    return a;
  }
  case_result play(
      const upc_case_args& a, const std::function<void()>& before = [] {}) {
    on_all(blocks, threads, [=] {
      before();
      upc_case_loop(a);
    });
    run();
    case_result r;
    for (int node = 0; node < nodes(); ++node) {
      std::vector<uint64_t> means(blocks * upc_times);
      std::memcpy(means.data(), cluster_->segment(node) + a.call.samples, means.size() * sizeof(uint64_t));
      for (size_t i = 0; i < means.size(); ++i) r.slowest[i % upc_times] = std::max(r.slowest[i % upc_times], means[i]);
      std::vector<outcome> found(size_t{blocks} * threads);
      std::memcpy(found.data(), cluster_->segment(node) + a.call.outcomes, found.size() * sizeof(outcome));
      for (const outcome& o : found) {
        r.errors += o.errors;
        r.failed += o.status != ggas_ok;
      }
    }
    return r;
  }
};

std::vector<target> case_targets() {
  std::vector<target> all = {{.nodes = 2}, {.nodes = 3}};
#ifdef GGAS_TEST_SIM
  all.push_back({.provider = "sim", .nodes = 2, .label = "model", .nic = "model"});
#endif
  return all;
}
INSTANTIATE_TEST_SUITE_P(Provider, UpcCase, testing::ValuesIn(case_targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(UpcCase, EveryWayBringsTheData) {
  for (const auto& [how, scheme] :
       {std::pair{relocated_by::ranks, ggas_dynamic}, std::pair{relocated_by::buffers, ggas_dynamic},
        std::pair{relocated_by::buffers, ggas_static}, std::pair{relocated_by::push, ggas_dynamic},
        std::pair{relocated_by::pull, ggas_dynamic}, std::pair{relocated_by::naive_push, ggas_dynamic},
        std::pair{relocated_by::naive_pull, ggas_dynamic}})
    for (const upc_kind& k : upc_kinds) {
      const case_result r = play(plan(k, how, scheme));
      EXPECT_EQ(r.errors, 0u) << k.name << static_cast<int>(how);
      EXPECT_EQ(r.failed, 0u) << k.name << static_cast<int>(how);
    }
}

// All ranks of a node have one destination, so they overwrite each other's.
TEST_P(UpcCase, WrongDataAreFound) {
  upc_case_args a = plan(exchange);
  a.call.how = relocated_by::push;
  a.call.output.step = 0;
  EXPECT_GT(play(a).errors, 0u);
}

TEST_P(UpcCase, ALateStartAppears) {
  if (!simulated()) GTEST_SKIP() << "times of this computer";
  upc_case_args a = plan(broadcast);
  const uint64_t usual = play(a).slowest[upc_collective];
  a = plan(broadcast);
  a.late = nodes() * static_cast<int>(blocks) - 1;
  a.late_ns = 5'000'000;
  const uint64_t late = play(a).slowest[upc_collective] * a.call.rounds;
  EXPECT_GE(late, a.late_ns - usual);
  EXPECT_LE(late, a.late_ns + 2 * a.call.rounds * usual);
}

TEST_P(UpcCase, UnevenComputingRaisesTheTimeAndEvenDoesNot) {
  if (!simulated()) GTEST_SKIP() << "times of this computer";
  for (const upc_kind& k : {broadcast, exchange}) {
    upc_case_args a = plan(k);
    const auto none = play(a).slowest;
    a = plan(k);
    a.computing = 2;
    const auto even = play(a).slowest;
    a = plan(k);
    a.computing = 2;
    a.skewed = 1;
    const auto uneven = play(a).slowest;
    EXPECT_LT(even[upc_collective], none[upc_collective] * 5 / 4) << k.name;
    EXPECT_GE(even[upc_computing], 2 * none[upc_collective] * 3 / 4) << k.name;
    // All wait for nine more computations, in all rounds but the first.
    EXPECT_GE(uneven[upc_collective], 8 * even[upc_computing] * (a.call.rounds - 1) / a.call.rounds) << k.name;
  }
}

}  // namespace
}  // namespace ggas::test
