// SPDX-License-Identifier: Apache-2.0
// Device API: query, pointers, loads, stores, copies, waits, order.
#include <cstring>

#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

// A load that releases or a store that acquires would be silently weaker than what was asked for: neither compiles.
template <class P, class Order>
concept loads = requires(P p, Order order) {
  ggas_load(p, order);
};
template <class P, class Order>
concept stores = requires(P p, Order order) {
  ggas_store(p, 1, order);
};
static_assert(loads<int*, ggas_relaxed_order> && loads<int*, ggas_acquire_order> && !loads<int*, ggas_release_order>);
static_assert(stores<int*, ggas_relaxed_order> && stores<int*, ggas_release_order> &&
              !stores<int*, ggas_acquire_order>);
using place = global_ptr<int>;
static_assert(loads<place, ggas_relaxed_order> && loads<place, ggas_acquire_order> &&
              !loads<place, ggas_release_order>);
static_assert(stores<place, ggas_relaxed_order> && stores<place, ggas_release_order> &&
              !stores<place, ggas_acquire_order>);

GGAS_API_SUITE(Access);

TEST_P(Access, QueriesAndPointers) {
  int ran = 0;
  on_all(1, 1, [&] {
    const context& c = cluster_->device_context(ggas_node());
    EXPECT_EQ(ggas_nodes(), nodes());
    EXPECT_EQ(ggas_segment_bytes(), cluster_->config().segment_bytes);
    EXPECT_EQ(ggas_reserved_bytes(), base());
    for (int n = 0; n < nodes(); ++n) {
      char* w = c.window + static_cast<uint64_t>(n) * c.stride;
      EXPECT_EQ(ggas_global_pointer(n, 8), w + 8);
      EXPECT_EQ(ggas_pointer_of_node(n, 8), n == ggas_node() ? c.local + 8 : w + 8);
    }
    EXPECT_EQ(ggas_pointer_of_others(8), nullptr) << "no NIC copies stores here";
    if (!GetParam().threads) ++ran;
  });
  run();
  if (!GetParam().threads) EXPECT_EQ(ran, nodes());
}

TEST_P(Access, PointersOutOfRangeAreNull) {
  on_all(1, 1, [&] {
    const uint64_t size = ggas_segment_bytes();
    EXPECT_EQ(ggas_pointer_of_node(-1), nullptr);
    EXPECT_EQ(ggas_pointer_of_node(nodes()), nullptr);
    EXPECT_EQ(ggas_pointer_of_node(0, size), nullptr);
    EXPECT_EQ(ggas_pointer_of_node<uint64_t>(0, size - 7), nullptr);
    EXPECT_NE(ggas_pointer_of_node<uint64_t>(0, size - 8), nullptr);
    EXPECT_EQ(ggas_global_pointer(0, ~uint64_t{0}), nullptr);
    EXPECT_EQ(ggas_global_pointer(nodes()), nullptr);
    EXPECT_NE(ggas_global_pointer(nodes() - 1, size - 1), nullptr);
  });
  run();
}

struct alignas(16) vec16 {
  uint64_t lo, hi;
  bool operator==(const vec16&) const = default;
};

template <class T>
T pattern(int i) {
  T v;
  std::memset(static_cast<void*>(&v), 0x11 * (i % 14 + 1), sizeof v);
  return v;
}

// Every node stores to its right neighbour, which reads its own memory, and loads back what it stored.
template <class T>
void store_and_load(uint64_t at) {
  const int right = (ggas_node() + 1) % ggas_nodes();
  T* p = ggas_global_pointer<T>(right, at);
  const T v = pattern<T>(ggas_node());
  ggas_store(p, v);
  EXPECT_EQ(ggas_quiet(), ggas_ok);
  EXPECT_TRUE(ggas_load(static_cast<const T*>(p)) == v);
}

TEST_P(Access, EverySizeOfLoadAndStore) {
  on_all(1, 1, [&] {
    store_and_load<uint8_t>(base() + 3);
    store_and_load<uint16_t>(base() + 6);
    store_and_load<float>(base() + 12);
    store_and_load<double>(base() + 24);
    store_and_load<vec16>(base() + 48);
  });
  run();
  for (int n = 0; n < nodes(); ++n) {
    const int left = (n + nodes() - 1) % nodes();
    EXPECT_EQ(*user<uint8_t>(n, 3), pattern<uint8_t>(left));
    EXPECT_EQ(*user<uint8_t>(n, 2), 0);
    EXPECT_EQ(*user<uint8_t>(n, 4), 0);
    EXPECT_EQ(*user<uint16_t>(n, 6), pattern<uint16_t>(left));
    EXPECT_EQ(*user<uint32_t>(n, 12), pattern<uint32_t>(left));
    EXPECT_EQ(*user<uint64_t>(n, 24), pattern<uint64_t>(left));
    EXPECT_EQ(*user<vec16>(n, 48), pattern<vec16>(left));
  }
}

TEST_P(Access, GlobalPtrIsTheSameOnEveryNode) {
  const global_ptr<uint32_t> p(nodes() - 1, base());
  on_all(1, 1, [&] {
    (p + ggas_node()).store(100u + static_cast<uint32_t>(ggas_node()));
    EXPECT_EQ(ggas_quiet(), ggas_ok);
    EXPECT_EQ((p + ggas_node()).load(), 100u + static_cast<uint32_t>(ggas_node()));
  });
  run();
  for (int n = 0; n < nodes(); ++n) EXPECT_EQ(user<uint32_t>(nodes() - 1)[n], 100u + static_cast<uint32_t>(n));
}

// Copies by warp and by block, of lengths around the size of a warp and of a block, in a block with a short last warp.
TEST_P(Access, CopiesOfManyLengths) {
  const std::vector<size_t> lengths = simulated() ? std::vector<size_t>{0, 1, 33, 130}
                                                  : std::vector<size_t>{0, 1, 2, 31, 32, 33, 49, 50, 51, 100, 1000};
  for (size_t n : lengths) {
    const uint64_t out = 0, in = 16384, by_warp = 32768, back = 49152;
    for (int k = 0; k < nodes(); ++k) {
      std::memset(user<char>(k), 0, 65536);
      for (size_t i = 0; i < n; ++i) user<uint64_t>(k, out)[i] = static_cast<uint64_t>(k) << 32 | (i + 1);
    }
    on_all(1, 50, [&] {
      const int right = (ggas_node() + 1) % ggas_nodes();
      auto mine = [&](uint64_t o) { return ggas_pointer_of_node<uint64_t>(ggas_node(), base() + o); };
      auto its = [&](uint64_t o) { return ggas_global_pointer<uint64_t>(right, base() + o); };
      ggas_store_block(its(in), mine(out), n);
      if (threadIdx.x >= 32) ggas_store_warp(its(by_warp), mine(out), n);  // the short warp
      ggas_load_block(mine(back), its(out), n);
      if (threadIdx.x < 32) ggas_load_warp(mine(back) + 1024, its(out), n);
    });
    run();
    for (int k = 0; k < nodes(); ++k) {
      const uint64_t left = static_cast<uint64_t>((k + nodes() - 1) % nodes()) << 32;
      const uint64_t right = static_cast<uint64_t>((k + 1) % nodes()) << 32;
      for (size_t i = 0; i < n; ++i) {
        ASSERT_EQ(user<uint64_t>(k, in)[i], left | (i + 1));
        ASSERT_EQ(user<uint64_t>(k, by_warp)[i], left | (i + 1));
        ASSERT_EQ(user<uint64_t>(k, back)[i], right | (i + 1));
        ASSERT_EQ(user<uint64_t>(k, back)[i + 1024], right | (i + 1));
      }
      EXPECT_EQ(user<uint64_t>(k, in)[n], 0u);
      EXPECT_EQ(user<uint64_t>(k, by_warp)[n], 0u);
      EXPECT_EQ(user<uint64_t>(k, back)[n], 0u);
    }
  }
}

TEST_P(Access, WaitsCompareAndTimeOut) {
  *user<int32_t>(0) = -5;
  on(0, 1, 1, [&] {
    const int* flag = ggas_pointer_of_node<int>(0, base());
    EXPECT_EQ(ggas_wait_until(flag, ggas_eq, -5, 0), ggas_ok);
    EXPECT_EQ(ggas_wait_until(flag, ggas_ne, 0, 0), ggas_ok);
    EXPECT_EQ(ggas_wait_until(flag, ggas_lt, 0, 0), ggas_ok);
    EXPECT_EQ(ggas_wait_until(flag, ggas_le, -5, 0), ggas_ok);
    EXPECT_EQ(ggas_wait_until(flag, ggas_gt, -6, 0), ggas_ok);
    EXPECT_EQ(ggas_wait_until(flag, ggas_ge, -5, 0), ggas_ok);
    EXPECT_EQ(ggas_wait_until(flag, ggas_eq, 5, 0), ggas_timed_out);
    EXPECT_EQ(ggas_wait_until(flag, ggas_gt, -5, 0), ggas_timed_out);
    const uint64_t start = simt::now_ns();
    EXPECT_EQ(ggas_wait_until(flag, ggas_ne, -5, brief()), ggas_timed_out);
    EXPECT_GE(simt::now_ns() - start, brief());
  });
  run();
}

TEST_P(Access, WaitsRefuseBadArguments) {
  on(0, 1, 33, [&] {
    const int* none = nullptr;
    const int* misaligned = reinterpret_cast<const int*>(ggas_pointer_of_node(0, base() + 2));
    const int* flag = ggas_pointer_of_node<int>(0, base());
    EXPECT_EQ(ggas_wait_until(none, ggas_eq, 0, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_wait_until(misaligned, ggas_eq, 0, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_wait_until(flag, static_cast<ggas_cmp>(6), 0, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_wait_until_warp(none, ggas_eq, 0, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_wait_until_block(none, ggas_eq, 0, enough()), ggas_bad_argument);
  });
  run();
}

TEST_P(Access, GroupsGetOneStatus) {
  const int peer = nodes() - 1;
  on(0, 1, 70, [&] {
    const uint32_t* flag = ggas_pointer_of_node<uint32_t>(0, base());
    EXPECT_EQ(ggas_wait_until_block(flag, ggas_eq, 1u, enough()), ggas_ok);
    if (threadIdx.x >= 64) EXPECT_EQ(ggas_wait_until_warp(flag, ggas_eq, 1u, enough()), ggas_ok);
    EXPECT_EQ(ggas_wait_until_warp(flag, ggas_eq, 2u, brief()), ggas_timed_out);
    EXPECT_EQ(ggas_wait_until_block(flag, ggas_eq, 2u, brief()), ggas_timed_out);
    EXPECT_EQ(ggas_wait_until_block(flag, ggas_eq, 1u, brief()), ggas_ok);
    EXPECT_EQ(ggas_quiet_block(), ggas_ok);
  });
  on(peer, 1, 1, [&] { ggas_store(ggas_global_pointer<uint32_t>(0, base()), 1u); });
  if (peer == 0) return;  // one GPU runs its kernels in turn: the flag would come too late
  run();
}

// Data, fence, flag along one pair of nodes: who sees the flag sees the data.
TEST_P(Access, DataIsThereBehindItsFlag) {
  const uint32_t rounds = simulated() ? 5 : 200;
  constexpr unsigned words = 64;
  on_all(1, words, [&] {
    const int right = (ggas_node() + 1) % ggas_nodes(), left = (ggas_node() + ggas_nodes() - 1) % ggas_nodes();
    uint32_t* to = ggas_global_pointer<uint32_t>(right, base());
    const uint32_t* here = ggas_pointer_of_node<uint32_t>(ggas_node(), base());
    uint32_t* flag_to = ggas_global_pointer<uint32_t>(right, base() + 4096);
    const uint32_t* flag = ggas_pointer_of_node<uint32_t>(ggas_node(), base() + 4096);
    uint32_t* ack_to = ggas_global_pointer<uint32_t>(left, base() + 4160);
    const uint32_t* ack = ggas_pointer_of_node<uint32_t>(ggas_node(), base() + 4160);
    for (uint32_t r = 1; r <= rounds; ++r) {
      ggas_store(to + threadIdx.x, r * 1000 + threadIdx.x);
      __syncthreads();
      if (threadIdx.x == 0) {
        ggas_fence();
        ggas_store(flag_to, r);
      }
      ASSERT_EQ(ggas_wait_until_block(flag, ggas_eq, r, enough()), ggas_ok);
      EXPECT_EQ(ggas_load(here + threadIdx.x), r * 1000 + threadIdx.x);
      __syncthreads();
      if (threadIdx.x == 0) ggas_store(ack_to, r);
      ASSERT_EQ(ggas_wait_until_block(ack, ggas_eq, r, enough()), ggas_ok);
    }
  });
  run();
}

// The kernel of the store latency benchmark at its largest: every thread stores one value and polls its own slot.
TEST_P(Access, EightThousandThreadsPingPong) {
  if (nodes() != 2) GTEST_SKIP() << "two nodes";
#ifdef GGAS_TSAN  // it follows at most 8128 threads
  const unsigned threads = 512;
#else
  const unsigned threads = simulated() ? 256 : 8192;
#endif
  for (int n = 0; n < 2; ++n) {
    on(n, threads / 64, 64, [&] {
      const uint64_t slot = base() + 8 * (blockIdx.x * uint64_t{64} + threadIdx.x);
      uint64_t* there = ggas_pointer_of_node<uint64_t>(1 - ggas_node(), slot);
      const uint64_t* here = ggas_pointer_of_node<uint64_t>(ggas_node(), slot);
      for (uint64_t r = 1; r <= 3; ++r) {
        if (ggas_node() == 0) ggas_store(there, r);
        ASSERT_EQ(ggas_wait_until(here, ggas_eq, r, enough()), ggas_ok);
        __syncwarp();
        if (ggas_node() == 1) ggas_store(there, r);
      }
    });
  }
  run();
  for (unsigned t = 0; t < threads; ++t) EXPECT_EQ(user<uint64_t>(1)[t], 3u);
}

TEST(Status, TextsDiffer) {
  EXPECT_STREQ(ggas_status_text(ggas_ok), "ok");
  EXPECT_STREQ(ggas_status_text(ggas_timed_out), "timed out");
  EXPECT_STREQ(ggas_status_text(ggas_bad_argument), "bad argument");
  EXPECT_STREQ(ggas_status_text(ggas_peer_error), "peer error");
  EXPECT_STREQ(ggas_status_text(ggas_broken), "broken by an earlier failure");
  EXPECT_STREQ(ggas_status_text(ggas_aborted), "aborted by the host");
  EXPECT_STREQ(ggas_status_text(static_cast<ggas_status>(99)), "unknown status");
}

}  // namespace
}  // namespace ggas::test
