// SPDX-License-Identifier: Apache-2.0
// The checked mode: members that call a collective differently are all refused, and the report names both calls.
#include <cstdlib>

#include "ggas/on_stream.cuh"
#include "tests/gpu_api/calls_that_differ.cuh"
#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

using differ::kind;

struct Checked : api_test {
  void SetUp() override {
    setenv("GGAS_CHECKED", "1", 1);
    cluster_config cfg = GetParam().config();
    cfg.segment_bytes = 4u << 20;
    make(cfg);
    unsetenv("GGAS_CHECKED");
  }
  differ::plan plan_of(kind what, int culprit) const { return {what, culprit, base(), enough()}; }
  int last() const { return nodes() - 1; }

  // A member that differs, and one that does not, name both calls.
  void expect_reported(kind what, int culprit) {
    const std::string text = cluster_->report()->text();
    const auto [usual, different] = differ::words_of(what);
    const std::string node = "node " + std::to_string(culprit);
    const auto named = [&](const std::string& begin, const std::string& rest) {
      for (size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
        const std::string line = text.substr(at, text.find('\n', at) - at);
        const size_t where = line.find(rest);
        if (where != std::string::npos && line.find(usual) != std::string::npos &&
            line.find(different) != std::string::npos)
          return true;
      }
      return false;
    };
    EXPECT_TRUE(named("node " + std::to_string(culprit == 0 ? 1 : 0) + ", block", "but by " + node + " as")) << text;
    EXPECT_TRUE(named(node + ", block", "but by node " + std::to_string(culprit == 0 ? 1 : 0) + " as")) << text;
  }
  void expect_goes_on() {
    on_all(1, 64, [this] {
      EXPECT_EQ(differ::call(ggas::block{}, plan_of(kind::nothing, 0)), ggas_ok);
      EXPECT_EQ(ggas_barrier_block(enough()), ggas_ok);
    });
    run();
  }
};
std::vector<target> checked_targets() {
  std::vector<target> all;
  for (const target& t : targets())
    if (t.nodes == 2 || t.nodes == 3 || t.nodes == 8) all.push_back(t);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Provider, Checked, testing::ValuesIn(checked_targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(Checked, AMemberThatCallsDifferentlyIsFoundByAll) {
  for (int k = 0; k < differ::kinds - 1; ++k) {
    const auto what = static_cast<kind>(k);
    const int culprit = k % nodes();
    on_all(1, 64,
           [=, this] { EXPECT_EQ(differ::call(ggas::block{}, plan_of(what, culprit)), ggas_bad_argument) << k; });
    run();
    expect_reported(what, culprit);
    expect_goes_on();
    reset();
  }
}

TEST_P(Checked, EveryBlockOfAGridFindsIt) {
  for (const kind what : {kind::length, kind::operation, kind::parts}) {
    on_all(3, 64, [=, this] { EXPECT_EQ(differ::call(ggas::grid{}, plan_of(what, last())), ggas_bad_argument); });
    run();
    expect_reported(what, last());
    on_all(3, 64, [this] { EXPECT_EQ(differ::call(ggas::grid{}, plan_of(kind::nothing, 0)), ggas_ok); });
    run();
    reset();
  }
}

// A grid of three blocks at one member, of one at the others: the two that no one answers learn of it, too.
TEST_P(Checked, GridsOfDifferentSizesAreFound) {
  for (int n = 0; n < nodes(); ++n)
    on(n, n == last() ? 3 : 1, 64,
       [this] { EXPECT_EQ(differ::call(ggas::grid{}, plan_of(kind::nothing, 0)), ggas_bad_argument); });
  run();
  const std::string text = cluster_->report()->text();
  EXPECT_NE(text.find("blocks 3"), std::string::npos) << text;
  on_all(3, 64, [this] { EXPECT_EQ(differ::call(ggas::grid{}, plan_of(kind::nothing, 0)), ggas_ok); });
  run();
  expect_goes_on();
}

TEST_P(Checked, CallsOnStreamsAreCompared) {
  for (const bool same : {false, true}) {
    for (int n = 0; n < nodes(); ++n) {
      *user<uint64_t>(n) = ggas_ok;
      const size_t count = same || n != last() ? 300 : 200;
      float* const src = user<float>(n, 64 * 1024);
      const auto queued = broadcast_on_stream(*cluster_, n, src + 1000, src, count, 0, {enough(), user<uint64_t>(n)});
      ASSERT_TRUE(queued) << queued.error().text;
    }
    run();
    for (int n = 0; n < nodes(); ++n) EXPECT_EQ(*user<uint64_t>(n), same ? ggas_ok : ggas_bad_argument) << n;
  }
}

// A member that does not come is no difference.
TEST_P(Checked, AnAbsentMemberIsWaitedFor) {
  on(0, 1, 64, [this] {
    differ::plan p = plan_of(kind::nothing, 0);
    p.timeout = brief();
    EXPECT_EQ(differ::call(ggas::block{}, p), ggas_timed_out);
  });
  run();
  reset();
  expect_goes_on();
}

// Where members inform each other of their vectors anyway.
struct NotChecked : api_test {};
INSTANTIATE_TEST_SUITE_P(Provider, NotChecked, testing::ValuesIn(checked_targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(NotChecked, MethodsOverMemoryNoticeADifference) {
  for (const ggas_method method : {ggas_read, ggas_direct, ggas_push}) {
    if (simulated() && method != ggas_read) continue;
    for (const int what : {0, 1}) {
      on_all(2, 64, [=, this] {
        const bool other = ggas_node() == 1;
        float* const src = ggas_pointer_of_node<float>(ggas_node(), base());
        float* const dst = ggas_pointer_of_node<float>(ggas_node(), base() + 128 * 1024);
        const size_t n = what == 0 && other ? 8000 : 6000;
        EXPECT_EQ(ggas_allreduce_grid(dst, src, n, what == 1 && other ? ggas_max : ggas_sum, method, enough()),
                  ggas_bad_argument);
      });
      run();
      const std::string text = cluster_->report()->text();
      EXPECT_NE(text.find("node 0, block 0"), std::string::npos) << text;
      EXPECT_NE(text.find("ggas_allreduce bad argument: node 1 calls with another n, operation or root"),
                std::string::npos)
          << text;
      reset();
    }
  }
}

TEST(CheckedMode, IsOffUnlessAskedFor) {
  cluster_config cfg;
  cfg.provider = "shm";
  for (const char* text : {"", "0"}) {
    setenv("GGAS_CHECKED", text, 1);
    EXPECT_FALSE((*cluster::create(cfg))->device_context(0).checked) << text;
  }
  unsetenv("GGAS_CHECKED");
  EXPECT_FALSE((*cluster::create(cfg))->device_context(0).checked);
}

}  // namespace
}  // namespace ggas::test
