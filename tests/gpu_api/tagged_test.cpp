// SPDX-License-Identifier: Apache-2.0
// Device API: tagged puts, whose data say themselves that they are there.
#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

GGAS_RMA_SUITE(Tagged);

constexpr uint64_t lines_at = 0, out_at = 16384, in_at = 20480, ack_at = 24576;
constexpr uint32_t guard = 0xabcdabcd;

// Rounds in a ring, by threads, warps and blocks. Each member takes the data that the left neighbour put,
// and then lets that neighbour put again.
// The words around the data are unchanged.
template <class T, class Value>
void ring(api_test& t, std::initializer_list<size_t> sizes, uint64_t shift, Value value) {
  const std::vector<size_t> all(sizes);
  const uint64_t base = t.base(), enough = t.enough(), rounds = t.simulated() ? 1 : 6;
  t.on_all(1, 64, [=] {
    const int me = ggas_node(), right = (me + 1) % ggas_nodes(), left = (me + ggas_nodes() - 1) % ggas_nodes();
    auto* const out = ggas_pointer_of_node<T>(me, base + out_at + shift);
    auto* const in = ggas_pointer_of_node<T>(me, base + in_at + shift);
    auto* const mine = ggas_pointer_of_node<ggas_tagged>(me, base + lines_at);
    auto* const theirs = ggas_global_pointer<ggas_tagged>(right, base + lines_at);
    auto* const ack = ggas_pointer_of_node<uint64_t>(me, base + ack_at);
    auto* const its_ack = ggas_global_pointer<uint64_t>(left, base + ack_at);
    uint32_t tag = 0;
    for (uint64_t r = 0; r < 3 * rounds; ++r) {
      for (const size_t n : all) {
        ++tag;
        for (size_t i = threadIdx.x; i < n + 2; i += 64) {
          ggas_store(out + i, value(me, tag, i));
          ggas_store(in + i, value(99, guard, i));
        }
        __syncthreads();
        ggas_status s = ggas_ok, taken = ggas_ok;
        if (r % 3 == 0 && threadIdx.x == 0) {
          s = ggas_put_tagged(theirs, out + 1, n, tag);
          taken = ggas_take_tagged(in + 1, mine, n, tag, enough);
        } else if (r % 3 == 1 && threadIdx.x < 32) {
          s = ggas_put_tagged_warp(theirs, out + 1, n, tag);
          taken = ggas_take_tagged_warp(in + 1, mine, n, tag, enough);
        } else if (r % 3 == 2) {
          s = ggas_put_tagged_block(theirs, out + 1, n, tag);
          taken = ggas_take_tagged_block(in + 1, mine, n, tag, enough);
        }
        EXPECT_EQ(s, ggas_ok);
        EXPECT_EQ(taken, ggas_ok);
        __syncthreads();
        for (size_t i = threadIdx.x; i < n + 2; i += 64) {
          const bool inside = i > 0 && i <= n;
          EXPECT_EQ(ggas_load(in + i), inside ? value(left, tag, i) : value(99, guard, i)) << n << ' ' << i;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
          ggas_store(its_ack, uint64_t{tag});
          EXPECT_EQ(ggas_wait_until(ack, ggas_eq, uint64_t{tag}, enough), ggas_ok);
        }
        __syncthreads();
      }
    }
  });
  t.run();
}

TEST_P(Tagged, WordsGoRound) {
  ring<uint64_t>(*this, {1, 2, 63, 64, 65, 300}, 0, [](int node, uint64_t tag, size_t i) -> uint64_t {
    return static_cast<uint64_t>(node) << 48 | tag << 16 | i;
  });
}

// Odd numbers of bytes at addresses that are multiples of nothing: words are put together and taken apart.
TEST_P(Tagged, BytesGoRound) {
  ring<uint8_t>(*this, {1, 7, 8, 9, 100, 517}, 3, [](int node, uint64_t tag, size_t i) -> uint8_t {
    return static_cast<uint8_t>(static_cast<size_t>(node) * 31 + tag * 7 + i);
  });
}
TEST_P(Tagged, FloatsGoRound) {
  ring<float>(*this, {1, 2, 3, 129}, 4, [](int node, uint64_t tag, size_t i) {
    return static_cast<float>(node) + 0.5f * static_cast<float>(tag % 1000) + static_cast<float>(i);
  });
}

// A line half of which has come is not taken, nor is one with an older tag.
TEST_P(Tagged, TakesOnlyWholeLines) {
  on(0, 1, 1, [&] {
    auto* const line = ggas_pointer_of_node<ggas_tagged>(0, base() + lines_at);
    auto* const got = ggas_pointer_of_node<uint64_t>(0, base() + out_at);
    ggas_store(got, uint64_t{7});
    EXPECT_EQ(ggas_take_tagged(got, line, 1, 5, 0), ggas_timed_out);
    ggas_store(reinterpret_cast<uint64_t*>(line), uint64_t{5} << 32 | 0x11);
    EXPECT_EQ(ggas_take_tagged(got, line, 1, 5, brief()), ggas_timed_out);
    EXPECT_EQ(ggas_load(got), 7u);
    ggas_store(reinterpret_cast<uint64_t*>(line) + 1, uint64_t{5} << 32 | 0x22);
    EXPECT_EQ(ggas_take_tagged(got, line, 1, 5, enough()), ggas_ok);
    EXPECT_EQ(ggas_load(got), uint64_t{0x22} << 32 | 0x11);
    EXPECT_EQ(ggas_take_tagged(got, line, 1, 6, brief()), ggas_timed_out);
  });
  run();
}

TEST_P(Tagged, RefusesWhatCannotWork) {
  on(0, 1, 32, [&] {
    auto* const lines = ggas_pointer_of_node<ggas_tagged>(0, base() + lines_at);
    auto* const word = ggas_pointer_of_node<uint64_t>(0, base() + out_at);
    auto* const misaligned = reinterpret_cast<ggas_tagged*>(ggas_pointer_of_node<char>(0, base() + 8));
    auto* const last = ggas_global_pointer<ggas_tagged>(ggas_nodes() - 1, ggas_segment_bytes() - sizeof(ggas_tagged));
    ggas_tagged nowhere{};
    const auto put = [&](ggas_tagged* to, const uint64_t* from, size_t n, uint32_t tag) {
      const ggas_status by_thread = threadIdx.x == 0 ? ggas_put_tagged(to, from, n, tag) : ggas_bad_argument;
      EXPECT_EQ(by_thread, ggas_bad_argument);
      EXPECT_EQ(ggas_put_tagged_warp(to, from, n, tag), ggas_bad_argument);
      EXPECT_EQ(ggas_put_tagged_block(to, from, n, tag), ggas_bad_argument);
    };
    put(nullptr, word, 1, 1);
    put(lines, nullptr, 1, 1);
    put(lines, word, 1, 0);
    put(misaligned, word, 1, 1);
    put(last, word, 2, 1);
    put(&nowhere, word, 1, 1);
    put(lines, word, ~size_t{0} / 8, 1);
    const auto take = [&](uint64_t* to, const ggas_tagged* from, size_t n, uint32_t tag) {
      EXPECT_EQ(ggas_take_tagged_block(to, from, n, tag, enough()), ggas_bad_argument);
    };
    take(nullptr, lines, 1, 1);
    take(word, nullptr, 1, 1);
    take(word, lines, 1, 0);
    take(word, misaligned, 1, 1);
    EXPECT_EQ(ggas_put_tagged_block(lines, word, 0, 1), ggas_ok);
    EXPECT_EQ(ggas_take_tagged_block(word, lines, 0, 1, 0), ggas_ok);
  });
  run();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(user<uint64_t>(0, lines_at)[i], 0u);
}

}  // namespace
}  // namespace ggas::test
