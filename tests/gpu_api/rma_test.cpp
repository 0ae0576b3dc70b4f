// SPDX-License-Identifier: Apache-2.0
// Device API: put, get, strided copies, values; one queue from many blocks; completion and time-outs.
#include <atomic>
#include <cstring>
#include <numeric>

#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

GGAS_RMA_SUITE(Rma);

// Lengths around what the ways of a put are cut at: a word, the slots of a descriptor, a packet.
std::vector<size_t> lengths(bool simulated) {
  if (simulated) return {1, 8, 9, 64, 65, 300};
  return {1, 3, 7, 8, 9, 31, 32, 33, 63, 64, 65, 100, 255, 256, 257, 1000, 4097};
}

// Every node puts `n` bytes at `from` to its right neighbour at `to`; bytes next to them stay.
void check_put(api_test& t, size_t n, size_t from, size_t to, const std::function<ggas_status(char*, const char*)>& put,
               unsigned threads, unsigned blocks = 1) {
  for (int k = 0; k < t.nodes(); ++k) {
    std::memset(t.user<char>(k), 0x55, 16384);
    for (size_t i = 0; i < n; ++i) t.user<unsigned char>(k, from)[i] = static_cast<unsigned char>(i * 7 + 3 + k);
  }
  t.on_all(blocks, threads, [&] {
    char* there = ggas_global_pointer<char>(right_of(ggas_node()), t.base() + 8192 + to);
    const char* here = ggas_pointer_of_node<char>(ggas_node(), t.base() + from);
    EXPECT_EQ(put(there, here), ggas_ok);
  });
  t.run();
  for (int k = 0; k < t.nodes(); ++k) {
    const int left = (k + t.nodes() - 1) % t.nodes();
    const auto* got = t.user<unsigned char>(k, 8192 + to);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], static_cast<unsigned char>(i * 7 + 3 + left)) << i << " of " << n;
    if (to > 0) ASSERT_EQ(got[-1], 0x55);
    ASSERT_EQ(got[n], 0x55) << n;
  }
}

TEST_P(Rma, PutsOfManyLengthsByThreadWarpAndBlock) {
  for (size_t n : lengths(simulated())) {
    check_put(
        *this, n, 0, 0, [&](char* to, const char* from) { return ggas_put(to, from, n, enough()); }, 1);
    check_put(
        *this, n, 3, 6, [&](char* to, const char* from) { return ggas_put_warp(to, from, n, enough()); }, 20);
    check_put(
        *this, n, 8, 1, [&](char* to, const char* from) { return ggas_put_block(to, from, n, enough()); }, 70);
  }
}

// Elements of 2, 4 and 8 bytes at multiples of 16, of every number up to more than a word of 16 bytes for each thread:
// all of them arrive, and adjacent memory is unchanged.
template <class T>
unsigned wrong_of_block(T* there, T* here, size_t most, uint64_t* signal, uint64_t timeout_ns) {
  unsigned wrong = 0;
  const unsigned me = threadIdx.x;
  for (size_t n = 0; n <= most; ++n) {
    for (size_t i = me; i < most + 8; i += blockDim.x) here[i] = static_cast<T>(i * 11 + n), there[i] = T{77};
    __syncthreads();
    const ggas_status s = n % 2 == 0
                              ? ggas_put_nbi_block(there, here, n, timeout_ns)
                              : ggas_put_signal_nbi_block(there, here, n, signal, n, ggas_signal_set, timeout_ns);
    wrong += s != ggas_ok || (n % 2 == 1 && *signal != n);
    for (size_t i = me; i < most + 8; i += blockDim.x) wrong += there[i] != (i < n ? here[i] : T{77});
    __syncthreads();
  }
  return wrong;
}
TEST(RmaOfBlocks, ElementsOfEveryNumber) {
  const auto c = make_cluster({.nodes = 1}, target{.nodes = 1}.config());
  ASSERT_TRUE(c);
  std::atomic<unsigned> wrong = 0;
  for (const unsigned threads : {32u, 61u}) {
    ASSERT_TRUE((*c)->launch(0, 1, threads, [&] {
      char* const base = ggas_pointer_of_node<char>(0, ggas_reserved_bytes());
      auto* const signal = reinterpret_cast<uint64_t*>(base);
      const auto at = [&](size_t i) { return base + 64 + i * 8192; };
      const uint64_t enough = 60'000'000'000;
      wrong +=
          wrong_of_block(reinterpret_cast<uint16_t*>(at(0)), reinterpret_cast<uint16_t*>(at(1)), 70, signal, enough);
      wrong += wrong_of_block(reinterpret_cast<float*>(at(0)), reinterpret_cast<float*>(at(1)), 280, signal, enough);
      wrong += wrong_of_block(reinterpret_cast<double*>(at(0)), reinterpret_cast<double*>(at(1)), 140, signal, enough);
      wrong +=
          wrong_of_block(reinterpret_cast<float*>(at(0)) + 1, reinterpret_cast<float*>(at(1)) + 3, 280, signal, enough);
    }));
    const auto ran = (*c)->run(60'000'000'000);
    ASSERT_TRUE(ran) << ran.error().text;
  }
  EXPECT_EQ(wrong, 0u);
}

// Each block of a grid moves its share.
TEST_P(Rma, PutsAndGetsOfGrids) {
  for (size_t n : lengths(simulated())) {
    check_put(
        *this, n, 5, 2,
        [&](char* to, const char* from) {
          EXPECT_EQ(ggas_put_nbi_grid(to, from, n, enough()), ggas_ok);
          return ggas_quiet_block();
        },
        40, 3);
    on_all(3, 40, [&] {
      char* here = ggas_pointer_of_node<char>(ggas_node(), base() + 16384);
      const char* there = ggas_global_pointer<char>(right_of(ggas_node()), base() + 5);
      EXPECT_EQ(ggas_get_nbi_grid(here, there, n, enough()), ggas_ok);
      EXPECT_EQ(ggas_quiet_block(), ggas_ok);
    });
    run();
    for (int k = 0; k < nodes(); ++k)
      ASSERT_EQ(std::memcmp(user<char>(k, 16384), user<char>((k + 1) % nodes(), 5), n), 0) << n;
  }
}

TEST_P(Rma, PutsAreThereAfterQuiet) {
  const size_t n = 200;
  check_put(
      *this, 3 * n, 0, 0,
      [&](char* to, const char* from) {
        const ggas_queue q = ggas_default_queue();
        for (size_t i = 0; i < 3 * n; i += n) EXPECT_EQ(ggas_put_nbi(to + i, from + i, n, enough(), q), ggas_ok);
        EXPECT_EQ(ggas_quiet_local(q, enough()), ggas_ok);
        return ggas_quiet(q, enough());
      },
      1);
  check_put(
      *this, n, 0, 0,
      [&](char* to, const char* from) {
        EXPECT_EQ(ggas_put_nbi_warp(to, from, n, enough()), ggas_ok);
        __syncwarp();
        return ggas_quiet_warp(ggas_default_queue(), enough());
      },
      32);
  check_put(
      *this, n, 0, 0,
      [&](char* to, const char* from) {
        EXPECT_EQ(ggas_put_nbi_block(to, from, n, enough()), ggas_ok);
        return ggas_quiet_block();
      },
      64);
}

TEST_P(Rma, GetsByThreadWarpAndBlock) {
  for (size_t n : lengths(simulated())) {
    for (int k = 0; k < nodes(); ++k) {
      std::memset(user<char>(k), 0x55, 32768);
      for (size_t i = 0; i < n; ++i) user<unsigned char>(k)[i] = static_cast<unsigned char>(i * 5 + 1 + k);
    }
    on_all(1, 64, [&] {
      const char* there = ggas_global_pointer<char>(right_of(ggas_node()), base());
      char* here = ggas_pointer_of_node<char>(ggas_node(), base() + 8192);
      EXPECT_EQ(ggas_get_block(here, there, n, enough()), ggas_ok);
      if (threadIdx.x < 32) EXPECT_EQ(ggas_get_warp(here + 8192 + 3, there, n, enough()), ggas_ok);
      if (threadIdx.x == 63) {
        const ggas_queue q = ggas_queue_of(1);
        EXPECT_EQ(ggas_get_nbi(here + 16384 + 1, there, n, enough(), q), ggas_ok);
        EXPECT_EQ(ggas_quiet(q, enough()), ggas_ok);
      }
    });
    run();
    for (int k = 0; k < nodes(); ++k) {
      for (uint64_t at : {8192, 8192 + 8192 + 3, 8192 + 16384 + 1}) {
        for (size_t i = 0; i < n; ++i)
          ASSERT_EQ(user<unsigned char>(k, at)[i], static_cast<unsigned char>(i * 5 + 1 + (k + 1) % nodes()));
        ASSERT_EQ(user<unsigned char>(k, at)[n], 0x55);
      }
    }
  }
}

TEST_P(Rma, ValuesOfEverySize) {
  on_all(1, 32, [&] {
    const int right = right_of(ggas_node());
    if (threadIdx.x == 0) {
      EXPECT_EQ(ggas_put_value(ggas_global_pointer<uint8_t>(right, base() + 3), uint8_t{0x12}, enough()), ggas_ok);
      EXPECT_EQ(ggas_put_value_nbi(ggas_global_pointer<uint16_t>(right, base() + 6), uint16_t{0x3456}, enough()),
                ggas_ok);
      EXPECT_EQ(ggas_put_value(ggas_global_pointer<float>(right, base() + 12), 1.5f, enough()), ggas_ok);
    }
    __syncwarp();
    EXPECT_EQ(ggas_put_value_nbi_warp(ggas_global_pointer<double>(right, base() + 24), -2.5, enough()), ggas_ok);
    EXPECT_EQ(ggas_quiet_block(), ggas_ok);
  });
  run();
  for (int k = 0; k < nodes(); ++k) {
    EXPECT_EQ(*user<uint8_t>(k, 3), 0x12);
    EXPECT_EQ(*user<uint16_t>(k, 6), 0x3456);
    EXPECT_EQ(*user<float>(k, 12), 1.5f);
    EXPECT_EQ(*user<double>(k, 24), -2.5);
    EXPECT_EQ(*user<uint8_t>(k, 2) + *user<uint8_t>(k, 4) + *user<uint8_t>(k, 8), 0);
  }
}

TEST_P(Rma, StridedCopies) {
  constexpr int n = 19;
  for (int k = 0; k < nodes(); ++k)
    for (uint32_t i = 0; i < 100; ++i) user<uint32_t>(k)[i] = 1000 * static_cast<uint32_t>(k) + i;
  on_all(1, 32, [&] {
    const int right = right_of(ggas_node());
    auto mine = [&](uint64_t o) { return ggas_pointer_of_node<uint32_t>(ggas_node(), base() + o); };
    auto its = [&](uint64_t o) { return ggas_global_pointer<uint32_t>(right, base() + o); };
    if (threadIdx.x == 0) {
      EXPECT_EQ(ggas_iput_nbi(its(4096), mine(0), 3, 2, n, enough()), ggas_ok);
      EXPECT_EQ(ggas_iget_nbi(mine(16384), its(0), 2, 5, n, enough()), ggas_ok);
    }
    __syncwarp();
    EXPECT_EQ(ggas_iput_nbi_warp(its(8192), mine(4 * (n - 1)), 2, -1, n, enough()), ggas_ok);
    EXPECT_EQ(ggas_iget_nbi_warp(mine(12288), its(0), 1, 3, n, enough()), ggas_ok);
    EXPECT_EQ(ggas_quiet_block(), ggas_ok);
  });
  run();
  for (int k = 0; k < nodes(); ++k) {
    const auto left = 1000 * static_cast<uint32_t>((k + nodes() - 1) % nodes());
    const auto right = 1000 * static_cast<uint32_t>((k + 1) % nodes());
    for (uint32_t i = 0; i < n; ++i) {
      EXPECT_EQ(user<uint32_t>(k, 4096)[3 * i], left + 2 * i);
      EXPECT_EQ(user<uint32_t>(k, 4096)[3 * i + 1], 0u);
      EXPECT_EQ(user<uint32_t>(k, 8192)[2 * i], left + n - 1 - i);
      EXPECT_EQ(user<uint32_t>(k, 12288)[i], right + 3 * i);
      EXPECT_EQ(user<uint32_t>(k, 16384)[2 * i], right + 5 * i);
      EXPECT_EQ(user<uint32_t>(k, 16384)[2 * i + 1], 0u);
    }
  }
}

// More blocks than slots, all on one queue, in every form at once.
TEST_P(Rma, ManyBlocksShareAQueue) {
  const unsigned blocks = simulated() ? 6 : 24, rounds = simulated() ? 3 : 20;
  on_all(blocks, 33, [&] {
    const ggas_queue q = ggas_queue_of(0);
    const int right = right_of(ggas_node());
    const uint64_t at = base() + 4096 * uint64_t{blockIdx.x};
    for (uint64_t r = 1; r <= rounds; ++r) {
      auto* mine = ggas_pointer_of_node<uint64_t>(ggas_node(), at);
      if (threadIdx.x < 16) ggas_store(mine + threadIdx.x, r * 100 + threadIdx.x);
      EXPECT_EQ(ggas_put_nbi_block(ggas_global_pointer<uint64_t>(right, at + 1024), mine, 16, enough(), q), ggas_ok);
      EXPECT_EQ(ggas_put_value_nbi(ggas_global_pointer<uint64_t>(right, at + 2048) + threadIdx.x, r, enough(), q),
                ggas_ok);
      EXPECT_EQ(ggas_quiet_block(q, enough()), ggas_ok);
    }
  });
  run();
  for (int k = 0; k < nodes(); ++k) {
    for (unsigned b = 0; b < blocks; ++b) {
      for (uint64_t i = 0; i < 16; ++i) ASSERT_EQ(user<uint64_t>(k, 4096 * b + 1024)[i], rounds * 100 + i);
      for (uint64_t i = 0; i < 33; ++i) ASSERT_EQ(user<uint64_t>(k, 4096 * b + 2048)[i], rounds);
    }
  }
}

TEST_P(Rma, AnExclusiveQueueGoesOnInTheNextKernel) {
  for (uint64_t round = 1; round <= 3; ++round) {
    on_all(1, 1, [&] {
      const ggas_queue q = ggas_queue_of(1, ggas_exclusive);
      for (uint64_t i = 0; i < 20; ++i) {
        auto* there = ggas_global_pointer<uint64_t>(right_of(ggas_node()), base());
        EXPECT_EQ(ggas_put_value_nbi(there + i, round * 100 + i, enough(), q), ggas_ok);
      }
      EXPECT_EQ(ggas_quiet(q, enough()), ggas_ok);
    });
    run();
    for (int k = 0; k < nodes(); ++k)
      for (uint64_t i = 0; i < 20; ++i) ASSERT_EQ(user<uint64_t>(k)[i], round * 100 + i);
  }
}

TEST_P(Rma, ABarrierCoversPuts) {
  on_all(1, 32, [&] {
    const int right = right_of(ggas_node());
    for (uint64_t r = 1; r <= 3; ++r) {
      auto* there = ggas_global_pointer<uint64_t>(right, base());
      EXPECT_EQ(ggas_put_value_nbi_warp(there, r, enough()), ggas_ok);
      EXPECT_EQ(ggas_barrier_block(enough()), ggas_ok);
      EXPECT_EQ(ggas_load(ggas_pointer_of_node<uint64_t>(ggas_node(), base())), r);
      EXPECT_EQ(ggas_barrier_block(enough()), ggas_ok);
    }
  });
  run();
}

TEST_P(Rma, BadArgumentsAreRefused) {
  on(0, 1, 1, [&] {
    uint64_t* here = ggas_pointer_of_node<uint64_t>(0, base());
    uint64_t* last = ggas_global_pointer<uint64_t>(nodes() - 1, ggas_segment_bytes() - 8);
    uint64_t* none = nullptr;
    EXPECT_EQ(ggas_put(none, here, 1, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_put(last, none, 1, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_put(last, here, 1, enough()), ggas_ok);
    EXPECT_EQ(ggas_put(last, here, 2, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_put_nbi(last + 1, here, 1, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_put(last, here, ~size_t{0}, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_get(here, last, 2, enough()), ggas_bad_argument);
    const size_t wrapped = ~size_t{0} / sizeof *here + 2;  // elements: as many bytes as one has
    EXPECT_EQ(ggas_put(last, here, wrapped, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_get(here, last, wrapped, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_put_signal(last, here, wrapped, last, 1, ggas_signal_set, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_put_notify(last, here, wrapped, 0, 0, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_put_value(last + 1, uint64_t{1}, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_iput_nbi(last, here, 1, 1, 2, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_iget_nbi(here, last, 1, 1, 2, enough()), ggas_bad_argument);
    auto* const between = reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(last) - 4);
    EXPECT_EQ(ggas_put_value(between, uint64_t{1}, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_put_value_notify(between, uint64_t{1}, 0, 0, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_iput_nbi(between, here, 1, 1, 1, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_iput_nbi(last, reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(here) + 4), 1, 1, 1, enough()),
              ggas_bad_argument);
    EXPECT_EQ(ggas_iput_nbi(last, none, 1, 1, 1, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_iget_nbi(none, last, 1, 1, 1, enough()), ggas_bad_argument);
    const ptrdiff_t round = ptrdiff_t{1} << 60;  // elements: two of them come back to where they began
    EXPECT_EQ(ggas_iput_nbi(last, here, round, 0, 3, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_iput_nbi(last, here, 0, -round, 3, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_put(last, here, 0, enough()), ggas_ok);
    EXPECT_EQ(ggas_iput_nbi(last, here, 1, 1, 0, enough()), ggas_ok);
    for (int index : {-1, ggas_queues()}) {
      const ggas_queue q = ggas_queue_of(index);
      EXPECT_FALSE(q.good());
      EXPECT_EQ(ggas_put(last, here, 1, enough(), q), ggas_bad_argument);
      EXPECT_EQ(ggas_get(here, last, 1, enough(), q), ggas_bad_argument);
      EXPECT_EQ(ggas_quiet(q, enough()), ggas_bad_argument);
    }
    EXPECT_EQ(ggas_queue_error(ggas_queue_of(0)).count, 0u);
  });
  run();
}

}  // namespace
}  // namespace ggas::test
