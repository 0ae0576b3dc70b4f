// SPDX-License-Identifier: Apache-2.0
// Device API: stores that the NIC copies to all other nodes, and where there are none.
#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

class Others : public api_test {
 public:
  static constexpr uint64_t own_bytes = 4096;  // each node stores to a part of its own
  uint64_t part(int node) const { return base() + own_bytes * static_cast<uint64_t>(node); }
};
INSTANTIATE_TEST_SUITE_P(Provider, Others, testing::ValuesIn(copying_targets()),
                         [](const auto& i) { return i.param.name(); });

uint64_t value(int node, uint64_t i) { return static_cast<uint64_t>(node + 1) << 32 | i; }

// Every other node has a store when quiet returns, the one that stored has not.
TEST_P(Others, GetStoresThatQuietWaitsFor) {
  on_all(1, 64, [&] {
    const int me = ggas_node(), next = (me + 1) % ggas_nodes();
    const unsigned i = threadIdx.x;
    ggas_store(ggas_pointer_of_others<uint64_t>(part(me)) + i, value(me, i));
    EXPECT_EQ(ggas_quiet_block(), ggas_ok);
    EXPECT_EQ(ggas_load(ggas_pointer_of_node<uint64_t>(next, part(me)) + i), value(me, i));
  });
  run();
  for (int to = 0; to < nodes(); ++to)
    for (int from = 0; from < nodes(); ++from)
      for (uint64_t i = 0; i < 64; ++i)
        ASSERT_EQ(user<uint64_t>(to, part(from) - base())[i], to == from ? 0 : value(from, i)) << from << " to " << to;
}

// Tests every size of access, and copies. A flag after a fence means that the data have arrived, whether the flag goes
// to all nodes or to one.
TEST_P(Others, SeeWhatWasStoredBeforeAFlag) {
  constexpr size_t n = 301;
  const uint64_t data = base(), small = data + 4096, flags = small + 64;
  on_all(1, 64, [&, data, small, flags] {
    const bool to_all = ggas_nodes() % 2 != 0;
    auto* const mine = ggas_pointer_of_node<uint32_t>(ggas_node(), data);
    auto* const flag = ggas_pointer_of_node<uint32_t>(ggas_node(), flags);
    if (ggas_node() == 0) {
      for (size_t i = threadIdx.x; i < n; i += blockDim.x) mine[i] = static_cast<uint32_t>(3 * i + 1);
      __syncthreads();
      ggas_store_block(ggas_pointer_of_others<uint32_t>(data), mine, n);
      if (threadIdx.x != 0) return;
      ggas_store(ggas_pointer_of_others<uint8_t>(small + 3), uint8_t{5});
      ggas_store(ggas_pointer_of_others<uint16_t>(small + 6), uint16_t{6});
      ggas_store(ggas_pointer_of_others<double>(small + 8), 7.5);
      ggas_fence();
      if (to_all) ggas_store(ggas_pointer_of_others<uint32_t>(flags), 1u);
      for (int to = 1; to < ggas_nodes() && !to_all; ++to) ggas_store(ggas_pointer_of_node<uint32_t>(to, flags), 1u);
      return;
    }
    ASSERT_EQ(ggas_wait_until_block(flag, ggas_eq, 1u, enough()), ggas_ok);
    for (size_t i = threadIdx.x; i < n; i += blockDim.x) ASSERT_EQ(ggas_load(mine + i), 3 * i + 1);
    EXPECT_EQ(ggas_load(ggas_pointer_of_node<uint8_t>(ggas_node(), small + 3)), 5);
    EXPECT_EQ(ggas_load(ggas_pointer_of_node<uint16_t>(ggas_node(), small + 6)), 6);
    EXPECT_EQ(ggas_load(ggas_pointer_of_node<double>(ggas_node(), small + 8)), 7.5);
  });
  run();
}

TEST_P(Others, RefuseWhatIsNoStore) {
  on_all(1, 1, [&] {
    const uint64_t size = ggas_segment_bytes();
    EXPECT_NE(ggas_pointer_of_others<uint64_t>(size - 8), nullptr);
    for (const uint64_t outside : {size - 7, size, size + 64, ~uint64_t{0}})
      EXPECT_EQ(ggas_pointer_of_others<uint64_t>(outside), nullptr);
    auto* const all = ggas_pointer_of_others<uint64_t>(base());
    auto* const mine = ggas_pointer_of_node<uint64_t>(ggas_node(), base());
    uint64_t old = 0;
    EXPECT_EQ(ggas_put(all, mine, 1, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_put_value(all, uint64_t{1}, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_get(mine, all, 1, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_fetch_add(all, uint64_t{1}, &old, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_put_tagged(reinterpret_cast<ggas_tagged*>(all), mine, 1, 1), ggas_bad_argument);
  });
  run();
  for (int node = 0; node < nodes(); ++node) EXPECT_EQ(*user<uint64_t>(node), 0u);
  on(0, 1, 1, [&] { EXPECT_EQ(ggas_load(ggas_pointer_of_others<uint64_t>(base())), ~uint64_t{0}); });
  const auto r = cluster_->run(enough());
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().text.find("LOAD_UNMAPPED"), std::string::npos) << r.error().text;
}

// A link dies during broadcasts: each ends in time, with the right data or an error. While the network is broken there
// is no pointer, and the root stores to each; when the link is back the pointer exists again.
TEST_P(Others, AreReachedOneByOneWhileTheNetworkIsBroken) {
  constexpr uint64_t us = 1'000, timeout = 300 * us, cut_us = 600, back_us = 6'000;
  constexpr int rounds = 40;
  cluster_config c = GetParam().config();
  c.overrides = {"rma.answer_timeout_ticks=60", "nic.load_timeout_ticks=30"};
  for (const char* way : {"0->1", "1->0"})
    c.fault_lines.push_back(std::string(way) + " cut from " + std::to_string(cut_us) + " to " +
                            std::to_string(back_us));
  c.segment_bytes = 4u << 20;
  make(c);
  ASSERT_LT(cluster_->now_ns(), cut_us * us);
  std::vector<int> wrong(static_cast<size_t>(nodes()), 0);
  int pointers = 0, failed = 0;
  const auto broadcast = [&](size_t n, uint32_t round, uint64_t timeout_ns) {
    auto* const v = ggas_pointer_of_node<uint32_t>(ggas_node(), base());
    if (ggas_node() == 0)
      for (size_t i = threadIdx.x; i < n; i += blockDim.x) ggas_store(v + i, round + static_cast<uint32_t>(i));
    __syncthreads();
    const ggas_status s = ggas_broadcast_block(v, v, n, 0, timeout_ns);
    for (size_t i = threadIdx.x; i < n && s == ggas_ok; i += blockDim.x)
      wrong[static_cast<size_t>(ggas_node())] += ggas_load(v + i) != round + static_cast<uint32_t>(i);
    __syncthreads();
    return s;
  };
  const auto broadcast_rounds = [&](int times) {
    pointers = failed = 0;
    on_all(1, 64, [&, times] {
      auto* const never = ggas_pointer_of_node<uint32_t>(ggas_node(), base() + (1u << 20));
      ggas_status s = ggas_ok;
      for (int r = 1; r <= times && s == ggas_ok; ++r) {
        s = broadcast(r % 2 != 0 ? 7 : 1300, static_cast<uint32_t>(r) << 16, timeout);
        static_cast<void>(ggas_wait_until_block(never, ggas_eq, 1u, 10 * us));
      }
      if (threadIdx.x == 0) failed += s != ggas_ok, pointers += ggas_pointer_of_others() != nullptr;
    });
    run();
    EXPECT_EQ(wrong, std::vector<int>(static_cast<size_t>(nodes()), 0));
  };
  broadcast_rounds(rounds);
  EXPECT_EQ(pointers, nodes());
  EXPECT_GT(failed, 0);
  ASSERT_LT(cluster_->now_ns(), back_us * us);
  reset();
  broadcast_rounds(2);
  EXPECT_EQ(pointers, 0);
  EXPECT_EQ(failed, 0);
  on(0, 1, 1, [] {
    auto* const never = ggas_pointer_of_node<uint32_t>(0, ggas_segment_bytes() - 64);
    EXPECT_EQ(ggas_wait_until(never, ggas_eq, 1u, (back_us + 3'000) * us), ggas_timed_out);
  });
  run();
  reset();
  broadcast_rounds(2);
  EXPECT_EQ(pointers, nodes());
  EXPECT_EQ(failed, 0);
}

// GPUs of a computer share a NIC, which has no groups for them.
TEST(OthersNowhere, WhereComputersHaveSeveralGpus) {
#ifdef GGAS_TEST_SIM
  cluster_config c;
  c.provider = "sim", c.nodes = 6, c.nic = "model", c.segment_bytes = 1 << 20;
  c.hosts = std::vector<host_config>(3, host_config{.gpus = 2});
  c.platform = "modern";
  auto made = cluster::create(c);
  ASSERT_TRUE(made) << made.error().text;
  for (int n = 0; n < c.nodes; ++n) EXPECT_EQ((*made)->device_context(n).others, nullptr);
#endif
}

}  // namespace
}  // namespace ggas::test
