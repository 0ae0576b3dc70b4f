// SPDX-License-Identifier: Apache-2.0
// UPC's pointers to shared on the host: their arithmetic compared with elements counted one by one, for every block
// size and number of threads, packing, comparison, casts.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ggas/upc.hpp"

namespace ggas::upc {
namespace {

struct pair_of_words {
  double a, b;
};

// Where the language puts element i of shared [B] T a[], by counting.
template <class T, uint64_t B>
std::vector<shared_ptr<T, B>> counted(uint64_t at, uint64_t n, uint64_t threads) {
  std::vector<shared_ptr<T, B>> all;
  std::vector<uint64_t> used(threads);
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t thread = B == 0 ? 0 : i / B % threads;
    all.emplace_back(thread, B == 0 ? 0 : i % B, at + used[thread]++ * sizeof(T));
  }
  return all;
}

template <class T, uint64_t B>
void check(uint64_t threads) {
  SCOPED_TRACE("block " + std::to_string(B) + ", " + std::to_string(threads) + " threads");
  constexpr uint64_t at = 4096, n = 64;
  const auto all = counted<T, B>(at, n, threads);
  const shared_array<T, B> a{at, n, static_cast<uint32_t>(threads)};
  for (uint64_t i = 0; i < n; ++i) {
    ASSERT_EQ((a + i).bits(), all[i].bits()) << i;
    ASSERT_LT(all[i].offset() - at, (shared_array<T, B>::bytes(n, threads)));
    for (uint64_t k = 0; k < n; ++k) {
      const auto step = static_cast<int64_t>(k) - static_cast<int64_t>(i);
      ASSERT_EQ(all[i].advance(step, threads).bits(), all[k].bits()) << i << " " << k;
      ASSERT_EQ(all[k].distance(all[i], threads), step);
      ASSERT_EQ(all[i] == all[k], i == k);
      ASSERT_EQ(all[i] < all[k], i < k);
      ASSERT_EQ(all[i] >= all[k], i >= k);
    }
  }
}
template <class T>
void check_blocks() {
  for (const uint64_t threads : {1, 2, 3, 7, 16}) {
    check<T, 0>(threads);
    check<T, 1>(threads);
    check<T, 2>(threads);
    check<T, 3>(threads);
    check<T, 5>(threads);
    check<T, 64>(threads);
  }
}

TEST(upc_pointer, arithmetic_is_that_of_elements_counted) {
  check_blocks<char>();
  check_blocks<int>();
  check_blocks<pair_of_words>();
}

TEST(upc_pointer, packs_thread_phase_and_address) {
  static_assert(sizeof(shared_ptr<double, 1000>) == 8);
  using pointer = shared_ptr<double, 1000>;
  constexpr pointer p(16383, 999, pointer::largest);
  static_assert(p.thread() == 16383 && p.phase() == 999 && p.offset() == pointer::largest);
  static_assert(shared_ptr<double, 0>::phase_bits == 0 && shared_ptr<double, 1>::phase_bits == 0);
  static_assert(shared_ptr<double, 2>::phase_bits == 1 && shared_ptr<double, 1024>::phase_bits == 10);
  static_assert(shared_ptr<double, 1 << 20>::largest == (uint64_t{8} << 30) - 8);
  EXPECT_FALSE(pointer());
  EXPECT_TRUE(p);
}

TEST(upc_pointer, casts_keep_the_place) {
  const shared_ptr<int, 4> p(3, 2, 8192 + 8);
  EXPECT_EQ(p.cast<unsigned>().phase(), 0u);  // another block
  const auto alike = p.cast<float, 4>();      // as large, as many in a block
  EXPECT_EQ(alike.phase(), 2u);
  const auto bytes = p.cast<char, 4>();
  EXPECT_EQ(bytes.phase(), 0u);
  EXPECT_EQ(bytes.offset(), p.offset());
  const shared_void v = p;
  const shared_const_void c = v;
  EXPECT_EQ(c.thread(), 3u);
  EXPECT_EQ(c.offset(), 8200u);
  EXPECT_EQ(c.phase(), 2u);
  EXPECT_EQ((v.cast<char, 5>().phase()), 2u);  // as it came from another type
  EXPECT_EQ(v.cast<int>().phase(), 0u);
  EXPECT_EQ((v.cast<int, 0>().phase()), 0u);
  EXPECT_EQ((p.cast<void, 0>().phase()), 2u);
  EXPECT_EQ(resetphase(v).phase(), 0u);
  EXPECT_EQ(shared_void(shared_ptr<char, 4096>(1, 1023, 4096)).phase(), 1023u);
  const shared_void beyond = shared_ptr<char, 4096>(16383, 1024, (uint64_t{1} << 30) + 4096);
  EXPECT_EQ(beyond.phase(), 0u);  // no room for it
  EXPECT_EQ(beyond.thread(), 16383u);
  EXPECT_EQ(beyond.offset(), (uint64_t{1} << 30) + 4096);
  EXPECT_EQ(resetphase(p).phase(), 0u);
  EXPECT_EQ(resetphase(p), p);
}

TEST(upc_pointer, star_and_affinity) {
  EXPECT_EQ(star(10, 4), 3u);
  EXPECT_EQ(star(8, 4), 2u);
  for (const uint64_t threads : {1, 3, 4})
    for (const uint64_t block : {1, 8, 13})
      for (uint64_t bytes = 0; bytes < 130; ++bytes) {
        std::vector<uint64_t> want(threads);
        for (uint64_t i = 0; i < bytes; ++i) ++want[i / block % threads];
        for (uint64_t t = 0; t < threads; ++t) ASSERT_EQ(affinity_bytes(bytes, block, t, threads), want[t]);
      }
  EXPECT_EQ(affinity_bytes(100, 0, 0, 4), 100u);
  EXPECT_EQ(affinity_bytes(100, 0, 1, 4), 0u);
}

}  // namespace
}  // namespace ggas::upc
