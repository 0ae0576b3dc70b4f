// SPDX-License-Identifier: Apache-2.0
// Kernels in clusters whose links and nodes die: every wait ends in bounded time, survivors continue after new routes,
// and no result is wrong without an error.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ggas/cluster.hpp"
#include "ggas/ggas.cuh"

namespace ggas::test {
namespace {

constexpr uint64_t us = 1'000;  // ns
constexpr uint64_t timeout = 300 * us, second = 1'000'000 * us;
constexpr int turns = 60;

struct shape {
  const char* nic;
  int nodes;
  const char* topology;
  friend void PrintTo(const shape& s, std::ostream* os) { *os << s.nic << " " << s.nodes << " " << s.topology; }
};

class survivors : public testing::TestWithParam<shape> {
 protected:
  void make(const std::string& fault) {
    cluster_config c;
    c.nic = GetParam().nic, c.nodes = GetParam().nodes, c.topology = GetParam().topology;
    c.segment_bytes = 4u << 20, c.host_bytes = 64u << 10;
    c.overrides = {"rma.answer_timeout_ticks=60", "nic.load_timeout_ticks=30"};
    c.fault_lines = {fault};
    auto made = cluster::create(c);
    ASSERT_TRUE(made) << made.error().text;
    cluster_ = std::move(*made);
    begin_ns_ = cluster_->now_ns();
    base_ = cluster_->device_context(0).reserved;
  }
  int nodes() const { return GetParam().nodes; }
  size_t each() const { return size_t(nodes()); }
  int last() const { return nodes() - 1; }
  result<run_stats> on_all(int count, std::function<void()> kernel, int threads = 32) {
    for (int n = 0; n < count; ++n)
      if (auto ok = cluster_->launch(n, 1, unsigned(threads), kernel); !ok) return ok.error();
    return cluster_->run(second);
  }
  uint64_t word(int node, int i) const { return reinterpret_cast<const uint64_t*>(cluster_->segment(node) + base_)[i]; }
  // In each turn each node puts to one of `count` others; at the end to all, when packets are routed around the fault.
  struct outcome {
    int good = 0, failed = 0, failed_at_last = 0;
  };
  std::vector<outcome> put_in_turns(int count) {
    std::vector<outcome> out(each());
    const auto ran = on_all(nodes(), [&, count] {
      if (threadIdx.x != 0) return;
      const int me = ggas_node();
      outcome& o = out[size_t(me)];
      const ggas_queue q = ggas_default_queue();
      auto* const never = ggas_pointer_of_node<uint64_t>(me, base_ + 8 * 4096);
      const auto put = [&](int to, uint64_t value) {
        return ggas_put_value(ggas_global_pointer<uint64_t>(to, base_ + 8 * uint64_t(me)), value, timeout, q) ==
               ggas_ok;
      };
      for (int turn = 1; turn <= turns; ++turn) {
        const int to = (me + 1 + turn % (nodes() - 1)) % nodes();
        ++(put(to, uint64_t(turn)) ? o.good : o.failed);
        static_cast<void>(ggas_wait_until(never, ggas_ge, uint64_t{1}, 20 * us));
      }
      static_cast<void>(ggas_quiet(q, timeout));
      ggas_queue_forgive(q);
      for (int to = 0; to < count; ++to)
        if (to != me && me < count) o.failed_at_last += !put(to, 1000 + uint64_t(to));
    });
    EXPECT_TRUE(ran) << ran.error().text;
    return out;
  }
  void expect_all_arrived(int count) const {
    for (int from = 0; from < count; ++from)
      for (int to = 0; to < count; ++to)
        if (from != to) {
          EXPECT_EQ(word(to, from), 1000u + uint64_t(to)) << from << " to " << to;
        }
  }
  // Every member of the team has come and has the right sum.
  void expect_team_works(const std::function<ggas_team()>& make_team, int members) {
    std::vector<ggas_status> barriers(each(), ggas_bad_argument), sums = barriers;
    const uint64_t at = base_ + 8 * 8192;
    const auto number = [&](int node, size_t i) { return reinterpret_cast<float*>(cluster_->segment(node) + at) + i; };
    for (int n = 0; n < members; ++n) *number(n, 0) = float(n + 1);
    const auto ran = on_all(members, [&] {
      const ggas_team team = make_team();
      const int me = ggas_node();
      auto* const mine = ggas_pointer_of_node<float>(me, at);
      const ggas_status b = ggas_barrier_block(20'000 * us, team);
      const ggas_status s = ggas_allreduce_block(mine + 64, mine, 1, ggas_sum, ggas_auto, 20'000 * us, team);
      if (threadIdx.x == 0) barriers[size_t(me)] = b, sums[size_t(me)] = s;
    });
    ASSERT_TRUE(ran) << ran.error().text;
    for (int n = 0; n < members; ++n) {
      EXPECT_EQ(barriers[size_t(n)], ggas_ok) << "node " << n;
      EXPECT_EQ(sums[size_t(n)], ggas_ok) << "node " << n;
      EXPECT_EQ(*number(n, 64), float(members * (members + 1) / 2)) << "node " << n;
    }
  }

  std::unique_ptr<cluster> cluster_;
  uint64_t begin_ns_ = 0, base_ = 0;
};
INSTANTIATE_TEST_SUITE_P(sim, survivors,
                         testing::Values(shape{"rtl", 4, "ring"}, shape{"rtl", 8, "torus:2x2x2"},
                                         shape{"model", 8, "torus:2x2x2"}, shape{"model", 27, "torus:3x3x3"}));

TEST_P(survivors, puts_go_around_a_link_that_is_cut) {
  make("0->1 cut from 600");
  ASSERT_LT(begin_ns_, 600 * us);
  int failed = 0, good = 0;
  for (const outcome& o : put_in_turns(nodes())) {
    failed += o.failed;
    good += o.good;
    EXPECT_EQ(o.failed_at_last, 0);
  }
  EXPECT_GT(failed, 0);
  EXPECT_GT(good, 0);
  EXPECT_LT(cluster_->now_ns() - begin_ns_, turns * (20 * us + timeout) + 10'000 * us) << "every wait ends";
  expect_all_arrived(nodes());
  expect_team_works([] { return ggas_world(); }, nodes());
}

TEST_P(survivors, go_on_without_a_node_that_died) {
  make("node " + std::to_string(last()) + " dead from 600");
  ASSERT_LT(begin_ns_, 600 * us);
  int failed = 0;
  for (const outcome& o : put_in_turns(last())) {
    failed += o.failed;
    EXPECT_EQ(o.failed_at_last, 0);
  }
  EXPECT_GT(failed, 0);
  expect_all_arrived(last());
  // Towards the node that is dead: an error, in bounded time.
  ggas_status put = ggas_ok, stored = ggas_ok;
  ASSERT_TRUE(on_all(1, [&] {
    if (threadIdx.x != 0) return;
    const ggas_queue q = ggas_default_queue();
    put = ggas_put_value(ggas_global_pointer<uint64_t>(last(), base_), uint64_t{1}, 2'000 * us, q);
    ggas_queue_forgive(q);
    ggas_store(ggas_pointer_of_node<uint64_t>(last(), base_), uint64_t{1});
    stored = ggas_quiet();
  }));
  EXPECT_EQ(put, ggas_peer_error);
  EXPECT_EQ(stored, ggas_peer_error);
  expect_team_works([this] { return ggas_team_strided(1, 0, 1, last()); }, last());
  // Nothing is started there any more.
  const auto refused = cluster_->launch(last(), 1, 1, [] {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text.find("is dead"), std::string::npos);
}

// A barrier of all does not pass without the dead node: it fails on every survivor, and leaves it broken. A reset
// repairs them.
TEST_P(survivors, a_barrier_fails_on_all_and_reset_helps) {
  make("node " + std::to_string(last()) + " dead from 600");
  std::vector<ggas_status> ends(each(), ggas_ok);
  const auto ran = on_all(nodes(), [&] {
    ggas_status s = ggas_ok;
    auto* const never = ggas_pointer_of_node<uint64_t>(ggas_node(), base_ + 8 * 4096);
    for (int i = 0; i < 100 && s == ggas_ok; ++i) {
      s = ggas_barrier_block(timeout);
      static_cast<void>(ggas_wait_until(never, ggas_ge, uint64_t{1}, 20 * us));
    }
    if (threadIdx.x == 0) ends[size_t(ggas_node())] = s;
  });
  ASSERT_TRUE(ran) << ran.error().text;
  for (int n = 0; n < last(); ++n) EXPECT_NE(ends[size_t(n)], ggas_ok) << "node " << n;
  const auto whole = cluster_->reset(second);
  ASSERT_TRUE(whole) << whole.error().text;
  expect_team_works([this] { return ggas_team_strided(1, 0, 1, last()); }, last());
}

}  // namespace
}  // namespace ggas::test
