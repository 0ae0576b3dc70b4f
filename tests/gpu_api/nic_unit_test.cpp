// SPDX-License-Identifier: Apache-2.0
// Barriers and reductions by the NIC's unit for collectives, in clusters of more than two nodes: the RTL and its model.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <utility>

#include "ggas/cluster.hpp"
#include "ggas/ggas.cuh"
#include "ggas/report.hpp"
#include "sim/fabric/topology.hpp"
#include "userlib/cluster/providers/sim/coll_driver.hpp"

namespace ggas::test {
namespace {

constexpr uint64_t barrier_ns = 10'000'000, second_ns = 1'000'000'000;

struct shape {
  const char* nic;
  int nodes;
  const char* topology;
  friend void PrintTo(const shape& s, std::ostream* os) { *os << s.nic << " " << s.nodes << " " << s.topology; }
};
class nic_unit_suite : public testing::TestWithParam<shape> {
 protected:
  void SetUp() override { make({}); }
  void make(std::vector<std::string> faults) {
    cluster_config c;
    c.fault_lines = std::move(faults);
    c.nic = GetParam().nic, c.nodes = GetParam().nodes, c.topology = GetParam().topology;
    c.segment_bytes = 4u << 20, c.host_bytes = 64u << 10;
    auto made = cluster::create(c);
    ASSERT_TRUE(made) << made.error().text;
    cluster_ = std::move(*made);
  }
  int nodes() const { return cluster_->config().nodes; }
  std::vector<ggas_status> all_of(ggas_status s) const { return std::vector<ggas_status>(size_t(nodes()), s); }
  template <class T>
  T* words(int node, size_t offset = 0) const {
    return reinterpret_cast<T*>(cluster_->segment(node) + cluster_->device_context(node).reserved + offset);
  }
  void on_all(std::function<void(int)> kernel, int threads = 64, uint64_t timeout_ns = second_ns) {
    for (int n = 0; n < nodes(); ++n)
      ASSERT_TRUE(cluster_->launch(n, 1, unsigned(threads), [n, kernel] { kernel(n); }));
    const auto ran = cluster_->run(timeout_ns);
    ASSERT_TRUE(ran) << ran.error().text;
  }
  std::unique_ptr<cluster> cluster_;
};
INSTANTIATE_TEST_SUITE_P(sim, nic_unit_suite,
                         testing::Values(shape{"rtl", 3, "ring"}, shape{"rtl", 8, "torus:2x2x2"},
                                         shape{"model", 8, "torus:2x2x2"}, shape{"model", 13, "ring"}));

template <class T>
T element(int node, size_t i) {
  if constexpr (std::is_floating_point_v<T>) return T(node + 1) / T(i + 3) - T(i % 5);
  return T(T(node + 1) * T(7 * i + 1)) - T(i % 3);
}
// In the order of the NIC's tree: own first, then child by child.
template <class T>
T expected(const userlib::coll_tree& tree, unsigned node, size_t i, ggas_op op) {
  T sum = element<T>(int(node), i);
  for (unsigned c : tree.children[node]) sum = detail::combine(op, sum, expected<T>(tree, c, i, op));
  return sum;
}

// Every node is informed of every round by all others before anyone goes on.
TEST_P(nic_unit_suite, NobodyLeavesABarrierBeforeAllHaveCome) {
  constexpr int rounds = 6;
  std::vector<int> wrong(size_t(nodes()), 0);
  const int all = nodes();
  const uint64_t at = cluster_->device_context(0).reserved;
  on_all([&wrong, all, at](int n) {
    for (int r = 1; r <= rounds; ++r) {
      const int to = (n + r) % all;
      if (detail::thread_rank() == 0) ggas_store(ggas_global_pointer<uint64_t>(to, at + 8 * uint64_t(n)), uint64_t(r));
      if (ggas_barrier_block(barrier_ns) != ggas_ok) wrong[size_t(n)] += 1000;
      const int from = (n + all - r % all) % all;
      if (detail::thread_rank() == 0 &&
          ggas_load(ggas_global_pointer<uint64_t>(n, at + 8 * uint64_t(from))) != uint64_t(r))
        ++wrong[size_t(n)];
      if (ggas_barrier_block(barrier_ns) != ggas_ok) wrong[size_t(n)] += 1000;
    }
  });
  EXPECT_EQ(wrong, std::vector<int>(size_t(all), 0));
}

// The unit itself names no member: the report finds the one that does not wait.
TEST_P(nic_unit_suite, TheReportNamesTheNodeThatDidNotArrive) {
  constexpr uint64_t brief_ns = 200'000;
  for (const int late : {0, nodes() - 1}) {
    make({});
    std::vector<ggas_status> found(size_t(nodes()), ggas_ok);
    on_all([&found, late](int n) {
      if (n == late) return;
      const ggas_status s = ggas_barrier_block(brief_ns);
      if (detail::thread_rank() == 0) found[size_t(n)] = s;
    });
    std::vector<ggas_status> wanted = all_of(ggas_timed_out);
    wanted[size_t(late)] = ggas_ok;
    EXPECT_EQ(found, wanted);
    const auto report = cluster_->report();
    ASSERT_TRUE(report) << report.error().text;
    const std::string text = report->text(), culprit = "look at node " + std::to_string(late);
    EXPECT_NE(text.find("ggas_barrier"), std::string::npos) << text;
    EXPECT_NE(text.find(culprit), std::string::npos) << text;
    EXPECT_EQ(report->waits.size(), size_t(nodes()) - 1) << text;
  }
}

template <class T>
void reduce_all(cluster& c, const userlib::coll_tree& tree, ggas_op op, size_t n, ggas_method method, int root,
                std::function<T*(int)> at) {
  const int all = c.config().nodes;
  std::vector<ggas_status> statuses(size_t(all), ggas_timed_out);
  for (int k = 0; k < all; ++k) {
    for (size_t i = 0; i < n; ++i) at(k)[i] = element<T>(k, i), at(k)[n + i] = T(99);
    const auto kernel = [&, k] {
      const ggas_status s = root < 0 ? ggas_allreduce_block(at(k) + n, at(k), n, op, method, barrier_ns)
                                     : ggas_reduce_block(at(k) + n, at(k), n, op, root, method, barrier_ns);
      if (detail::thread_rank() == 0) statuses[size_t(k)] = s;
    };
    ASSERT_TRUE(c.launch(k, 1, 48, kernel));
  }
  const auto ran = c.run(second_ns);
  ASSERT_TRUE(ran) << ran.error().text;
  EXPECT_EQ(statuses, std::vector<ggas_status>(size_t(all), ggas_ok));
  for (int k = 0; k < all; ++k)
    for (size_t i = 0; i < n; ++i) {
      const T want = root < 0 || root == k ? expected<T>(tree, 0, i, op) : T(99);
      const T got = at(k)[n + i];
      EXPECT_EQ(std::memcmp(&got, &want, sizeof got), 0)
          << "node " << k << " element " << i << ": " << got << ", not " << want;
    }
}

TEST_P(nic_unit_suite, ReductionsOfEveryKind) {
  const auto shape = fabric::topology::parse(GetParam().topology, unsigned(nodes()));
  ASSERT_TRUE(shape) << shape.error();
  const userlib::coll_tree tree(*shape);
  const auto with = [&]<class T>(T, ggas_op op, size_t n, ggas_method m, int root) {
    reduce_all<T>(*cluster_, tree, op, n, m, root, [&](int k) { return words<T>(k); });
  };
  with(float{}, ggas_sum, 64, ggas_by_nic, -1);
  with(float{}, ggas_sum, 1, ggas_auto, -1);
  with(double{}, ggas_sum, 32, ggas_by_nic, nodes() - 1);
  with(float{}, ggas_max, 7, ggas_auto, 1);
  with(double{}, ggas_min, 3, ggas_by_nic, -1);
  with(int32_t{}, ggas_sum, 5, ggas_auto, -1);
  with(uint32_t{}, ggas_xor, 64, ggas_by_nic, -1);
  with(int64_t{}, ggas_max, 9, ggas_by_nic, -1);
  with(uint64_t{}, ggas_and, 2, ggas_auto, 0);
  with(int32_t{}, ggas_or, 33, ggas_by_nic, -1);
}

// With the tuning of many nodes: operation after operation.
TEST_P(nic_unit_suite, LongVectorsInParts) {
  const auto shape = fabric::topology::parse(GetParam().topology, unsigned(nodes()));
  ASSERT_TRUE(shape) << shape.error();
  const userlib::coll_tree tree(*shape);
  for (int k = 0; k < nodes(); ++k) const_cast<context&>(cluster_->device_context(k)).tuned.by_nic = tuning::any;
  const auto with = [&]<class T>(T, size_t n, int root) {
    reduce_all<T>(*cluster_, tree, ggas_sum, n, ggas_auto, root, [&](int k) { return words<T>(k); });
  };
  with(float{}, 65, -1);
  with(float{}, 300, nodes() - 1);
  with(double{}, 97, -1);
}

// What the unit cannot do is refused by name, and done by others if no one asked for it.
TEST_P(nic_unit_suite, WhatItCannotDo) {
  std::vector<ggas_status> named = all_of(ggas_ok), chosen = named, products = named;
  for (int k = 0; k < nodes(); ++k) std::fill_n(words<float>(k), 200, 1.0f);
  on_all([&](int k) {
    float* const v = words<float>(k);
    const auto keep = [&](std::vector<ggas_status>& to, ggas_status s) {
      if (detail::thread_rank() == 0) to[size_t(k)] = s;
    };
    keep(named, ggas_allreduce_block(v + 100, v, 65, ggas_sum, ggas_by_nic, barrier_ns));
    keep(products, ggas_allreduce_block(v + 100, v, 4, ggas_prod, ggas_by_nic, barrier_ns));
    keep(chosen, ggas_allreduce_block(v + 100, v, 65, ggas_sum, ggas_auto, barrier_ns));
  });
  EXPECT_EQ(named, all_of(ggas_bad_argument));
  EXPECT_EQ(products, all_of(ggas_bad_argument));
  EXPECT_EQ(chosen, all_of(ggas_ok));
  EXPECT_EQ(words<float>(0)[100 + 64], float(nodes()));
}

// If members disagree, all of them are informed. If one member does not arrive, the others time out, and a reset makes
// the unit work again, whatever state was left in it.
TEST_P(nic_unit_suite, DisagreementAbsenceAndReset) {
  std::vector<ggas_status> s = all_of(ggas_ok);
  const auto sums = [&](int k, size_t n, uint64_t timeout_ns) {
    const ggas_status r =
        ggas_allreduce_block(words<float>(k) + 64, words<float>(k), n, ggas_sum, ggas_auto, timeout_ns);
    if (detail::thread_rank() == 0) s[size_t(k)] = r;
  };
  for (int k = 0; k < nodes(); ++k) std::fill_n(words<float>(k), 64, 2.0f);
  on_all([&](int k) { sums(k, k == 1 ? 3 : 8, barrier_ns); });
  EXPECT_EQ(s, all_of(ggas_bad_argument));
  on_all([&](int k) { sums(k, 8, barrier_ns); });
  EXPECT_EQ(s, all_of(ggas_ok));
  on_all([&](int k) {
    if (k != 2) sums(k, 8, 50'000);
  });
  EXPECT_EQ(std::ranges::count(s, ggas_timed_out), nodes() - 1);
  ASSERT_TRUE(cluster_->reset(second_ns));
  on_all([&](int k) { sums(k, 8, barrier_ns); });
  EXPECT_EQ(s, all_of(ggas_ok));
  EXPECT_EQ(words<float>(nodes() - 1)[64 + 7], 2.0f * float(nodes()));
}

// A ring of three nodes of which 0 is the root: the tree does not use the link from node 1 to node 2, on which stores
// are delayed. Node 1 stores there before each barrier; `met` is called after the barrier on every node. Returns the
// status of the last barrier of each node.
std::vector<ggas_status> store_beside_the_tree(const char* faults, unsigned rounds, uint64_t timeout,
                                               const std::function<void(int node, uint64_t round, ggas_status)>& met) {
  const auto script = std::filesystem::path(testing::TempDir()) / "ggas_beside_the_tree.faults";
  std::ofstream(script) << faults;
  cluster_config c;
  c.nodes = 3, c.topology = "ring", c.segment_bytes = 4u << 20, c.host_bytes = 64u << 10, c.faults = script;
  auto made = cluster::create(c);
  EXPECT_TRUE(made) << made.error().text;
  if (!made) return {};
  std::vector<ggas_status> last(3);
  cluster& net = **made;
  const uint64_t at = net.device_context(0).reserved;
  for (int n = 0; n < 3; ++n) {
    const auto kernel = [=, &last] {
      ggas_status s = ggas_ok;
      for (uint64_t i = 1; i <= rounds && s == ggas_ok; ++i) {
        if (n == 1 && detail::thread_rank() == 0) ggas_store(ggas_global_pointer<uint64_t>(2, at), i);
        s = ggas_barrier_block(timeout);
        if (detail::thread_rank() == 0) met(n, i, s);
        if (s == ggas_ok) s = ggas_barrier_block(timeout);
      }
      if (detail::thread_rank() == 0) last[size_t(n)] = s;
    };
    EXPECT_TRUE(net.launch(n, 1, 32, kernel));
  }
  const auto ran = net.run(second_ns);
  EXPECT_TRUE(ran) << ran.error().text;
  return last;
}

// A store of a node before a barrier is visible after it, even if the store takes longer than the barrier: its link
// damages every tenth flit, and many stores are sent again.
TEST(NicUnitFault, BarriersWaitForSlowStores) {
  unsigned wrong = 0, failed = 0, rounds = 0;
  store_beside_the_tree("1->2 corrupt rate 0.1\n", 60, barrier_ns, [&](int n, uint64_t round, ggas_status s) {
    failed += s != ggas_ok;
    if (n != 2) return;
    ++rounds;
    const context& c = detail::device_context();
    wrong += ggas_load(reinterpret_cast<const uint64_t*>(c.local + c.reserved)) != round;
  });
  EXPECT_EQ(rounds, 60u);
  EXPECT_EQ(failed, 0u);
  EXPECT_EQ(wrong, 0u);
}

// Stores that may be lost after a dead link end the barrier of every member with an error: that of the fence, or of
// contributions that were in flight when the network manager stopped the NICs.
TEST(NicUnitFault, LostStoresAreReportedToAllMembers) {
  const auto last = store_beside_the_tree("1->2 cut from 60\n2->1 cut from 60\n", 100, 10 * barrier_ns,
                                          [](int, uint64_t, ggas_status) {});
  EXPECT_EQ(last, std::vector<ggas_status>(3, ggas_peer_error));
}

// A link of the tree is cut during barriers and sums: all members are informed long before their time-out, good results
// are right, no member is more than one call ahead, and after a reset they continue over other links.
TEST_P(nic_unit_suite, ACutLinkEndsTheOperationOfAllMembers) {
  const auto shape = fabric::topology::parse(GetParam().topology, unsigned(nodes()));
  ASSERT_TRUE(shape) << shape.error();
  const unsigned child = userlib::coll_tree(*shape).children[0].back();
  make({"0->" + std::to_string(child) + " cut from 600"});
  ASSERT_LT(cluster_->now_ns(), 600'000u);
  std::vector<ggas_status> last = all_of(ggas_bad_argument);
  std::vector<int> good(size_t(nodes()), 0);
  // Barriers and sums in turns, each with a place of its own for its result.
  const auto meet = [&](int k, int rounds) {
    float* const v = words<float>(k);
    ggas_status s = ggas_ok;
    int met = 0;
    for (int r = 0; r < rounds && s == ggas_ok; ++r) {
      s = r % 2 ? ggas_allreduce_block(v + 8 * r, v, 8, ggas_sum, ggas_by_nic, barrier_ns)
                : ggas_barrier_block(barrier_ns);
      met += s == ggas_ok;
    }
    if (detail::thread_rank() == 0) last[size_t(k)] = s, good[size_t(k)] = met;
  };
  const auto expect_sums = [&] {
    for (int k = 0; k < nodes(); ++k)
      for (int r = 1; r < good[size_t(k)]; r += 2)
        EXPECT_EQ(std::exchange(words<float>(k)[8 * r + 7], 0.0f), 2.0f * float(nodes())) << "node " << k << " " << r;
  };
  for (int k = 0; k < nodes(); ++k) std::fill_n(words<float>(k), 8, 2.0f);
  on_all([&](int k) { meet(k, 2000); });
  EXPECT_EQ(last, all_of(ggas_peer_error));
  EXPECT_LT(cluster_->now_ns(), 600'000u + barrier_ns / 2);
  const auto [least, most] = std::ranges::minmax(good);
  EXPECT_GT(least, 10);
  EXPECT_LE(most - least, 1);
  expect_sums();
  ASSERT_TRUE(cluster_->reset(second_ns));
  on_all([&](int k) { meet(k, 10); });
  EXPECT_EQ(last, all_of(ggas_ok));
  expect_sums();
}

TEST(NicUnitTree, EveryNodeIsInItOnce) {
  for (const auto& [text, nodes] : {std::pair{"full", 7u}, {"ring", 12u}, {"torus:4x4x4", 64u}, {"mesh:3x5", 15u}}) {
    const userlib::coll_tree tree(*fabric::topology::parse(text, nodes));
    std::vector<unsigned> seen(nodes, 0);
    for (unsigned n = 0; n < nodes; ++n) {
      EXPECT_LE(tree.children[n].size(), 4u);
      for (unsigned c : tree.children[n]) {
        ++seen[c];
        EXPECT_EQ(tree.parent[c], n);
      }
    }
    EXPECT_EQ(seen[0], 0u);
    EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0u), nodes - 1) << text;
    unsigned far = 0;
    for (unsigned n = 1; n < nodes; ++n) {
      unsigned up = n, steps = 0;
      for (; up != 0 && steps <= nodes; ++steps) up = tree.parent[up];
      far = std::max(far, steps);
    }
    EXPECT_LE(far, nodes / 2) << text;
    const auto levels = [&tree](auto& self, unsigned n) -> unsigned {
      unsigned most = 0;
      for (unsigned c : tree.children[n]) {
        EXPECT_LE(most, 1 + self(self, c)) << "the deepest child comes last";
        most = std::max(most, 1 + self(self, c));
      }
      return most;
    };
    EXPECT_EQ(levels(levels, 0), far) << text;
  }
}

}  // namespace
}  // namespace ggas::test
