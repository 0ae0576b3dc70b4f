// SPDX-License-Identifier: Apache-2.0
// Kernels that hang: the cluster's report names the call and the member. On GPUs: cuda/hang.cu.
#include "tests/gpu_api/hangs_run.hpp"
#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

using namespace ggas::hangs;

class Hang : public api_test {
 protected:
  // The error in the report of hang `seed`; empty if there is none. On a busy machine a correct member can arrive after
  // a short time-out, and the report is then right to name it, too. So a wrong report counts only if a longer time-out
  // gives it again.
  std::string fault_of_hang(unsigned seed) {
    std::string fault;
    for (const uint64_t factor : {1u, 10u, 100u}) {
      const plan p = plan_of(seed, nodes(), base(), factor * (simulated() ? 4 : 1) * brief());
      for (int n = 0; n < nodes(); ++n) std::memset(user<char>(n), 0, 65536);
      EXPECT_TRUE(cluster_->report()->empty());
      on_all(hangs::blocks, hangs::threads, [=] { hang(p); });
      run();
      fault = fault_of(*cluster_->report(), p, nodes());
      reset();
      if (fault.empty() || simulated()) break;
    }
    return fault;
  }
};
std::vector<target> hang_targets() {
  std::vector<target> all;
  for (const target& t : targets())
    if (t.nodes > 1) all.push_back(t);
#ifdef GGAS_TEST_SIM
  all.push_back({.provider = "sim", .nodes = 3});
#endif
  return all;
}
INSTANTIATE_TEST_SUITE_P(Provider, Hang, testing::ValuesIn(hang_targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(Hang, EveryReportNamesCallAndCulprit) {
  const unsigned hangs = GetParam().threads ? kinds : seeds;
  for (unsigned seed = 0; seed < hangs; ++seed) {
    if (happens_with(plan_of(seed, nodes(), base(), brief()).what, nodes()))
      EXPECT_EQ(fault_of_hang(seed), "") << "seed " << seed;
  }
}

TEST_P(Hang, AnEndByTheHostIsReportedToo) {
  const plan p{kind::nobody_barrier, 0, 1, base(), GGAS_FOREVER};
  on_all(1, 64, [this, p] {
    if (ggas_node() == p.culprit) {
      if (threadIdx.x == 0) static_cast<void>(cluster_->abort());
      return;
    }
    hang(p);
  });
  run();
  const hang_report r = *cluster_->report();
  EXPECT_EQ(fault_of(r, p, nodes()), "");
  for (const failed_wait& w : r.waits) EXPECT_EQ(w.record.status, ggas_aborted);
  EXPECT_NE(r.text().find("look at node 0"), std::string::npos) << r.text();
}

// A wait with time-out 0 is a test, and a call that goes well leaves nothing.
TEST_P(Hang, TestsAreNoHangs) {
  on_all(1, 32, [this] {
    auto* const flag = ggas_pointer_of_node<uint64_t>(ggas_node(), base());
    EXPECT_EQ(ggas_wait_until(flag, ggas_ge, 1, 0), ggas_timed_out);
    EXPECT_FALSE(ggas_test_all(flag, 2, ggas_ge, 1));
    EXPECT_EQ(ggas_barrier_block(enough()), ggas_ok);
  });
  run();
  EXPECT_TRUE(cluster_->report()->empty()) << cluster_->report()->text();
}

// A thread has one record: its last wait that times out. What there is no room for is counted.
TEST_P(Hang, RecordsAreOfTheLastWaits) {
  on(0, 1, 128, [this] {
    auto* const flags = ggas_pointer_of_node<int>(ggas_node(), base());
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(ggas_wait_until(flags + threadIdx.x, ggas_lt, -i, simulated() ? 100 : 1000), ggas_timed_out);
  });
  run();
  const hang_report r = *cluster_->report();
  EXPECT_EQ(r.waits.size(), layout::wait_records);
  EXPECT_GE(r.dropped, 64u);
  for (const failed_wait& w : r.waits) {
    EXPECT_EQ(w.record.call, static_cast<uint32_t>(call_id::ggas_wait_until));
    EXPECT_NE(w.text.find("is 0, must be < "), std::string::npos) << w.text;
  }
}

}  // namespace
}  // namespace ggas::test
