// SPDX-License-Identifier: Apache-2.0
// Device API: reduce and allreduce in lines and over peers' memory, for blocks and grids: every method, operation and
// type, at lengths around those of lines, slots and chunks; arguments that are refused.
#include "tests/gpu_api/allreduce_rig.hpp"

namespace ggas::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Provider, Allreduce, testing::ValuesIn(targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(Allreduce, Floats) { everything<float>(); }
TEST_P(Allreduce, Doubles) { everything<double>(); }
TEST_P(Allreduce, Integers) { everything<int32_t>(); }
TEST_P(Allreduce, LongIntegers) { everything<uint64_t>(); }
TEST_P(Allreduce, HalfFloats) { everything<_Float16>(); }
TEST_P(Allreduce, Bytes) { everything<int8_t>(); }

TEST_P(Allreduce, Grids) {
  const auto channels = static_cast<unsigned>(shape().channels);
  for (ggas_method method : methods()) {
    for (size_t n : lengths<float>()) check<float>({.method = method, .n = n, .blocks = 3, .threads = 40});
    if (simulated()) continue;
    for (size_t n : lengths<double>()) {
      check<float>({.method = method, .n = 3 * n, .blocks = channels + 2, .threads = 32});  // more than channels
      check<double>({.method = method, .op = ggas_max, .n = n, .blocks = 2, .threads = 7});
    }
  }
}

TEST_P(Allreduce, InPlace) {
  for (ggas_method method : methods()) {
    for (size_t n : lengths<float>()) {
      check<float>({.method = method, .n = n, .in_place = true});
      if (!simulated()) check<float>({.method = method, .n = n, .blocks = 2, .threads = 33, .in_place = true});
    }
  }
}

// What is sent does not depend on the number of threads, nor on whether a member has enough of them for a short call.
TEST_P(Allreduce, ThreadsDifferFromMemberToMember) {
  for (ggas_method method : methods()) {
    for (size_t n : {size_t{1}, size_t{50}, size_t{simulated() ? 70u : 150u}}) {
      for (unsigned blocks : {1u, 2u}) {
        const call c{.method = method, .n = n, .blocks = blocks};
        const auto want = fill<float>(c, world());
        for (int node = 0; node < nodes(); ++node) {
          on(node, blocks, node % 2 ? 96u : 16u, [=, this] { EXPECT_EQ(make_call<float>(c, world()), ggas_ok); });
        }
        run();
        expect<float>(c, world(), want);
      }
    }
  }
}

// By every method every member receives from every member, also where it waits for few: a short broadcast relies on it.
TEST_P(Allreduce, BroadcastsFollowEveryMethod) {
  for (ggas_method method : methods()) {
    on_all(1, 32, [&] {
      float* const v = user<float>(ggas_node());
      EXPECT_EQ(ggas_allreduce_block(v, v, 3, ggas_max, method, enough()), ggas_ok) << "method " << method;
      for (int root : {0, ggas_nodes() - 1, 0})
        EXPECT_EQ(ggas_broadcast_block(v, v, 3, root, enough()), ggas_ok) << "behind method " << method;
    });
    run();
  }
}

// Vectors need not lie at the same place, nor be aligned alike to the lines and 16-byte accesses inside.
TEST_P(Allreduce, VectorsAnywhere) {
  const std::vector<std::function<uint64_t(int)>> shifts = {
      [](int) { return 1; }, [](int node) { return static_cast<uint64_t>(node); },
      [](int node) { return static_cast<uint64_t>(3 + 4 * node); }};
  for (ggas_method method : methods()) {
    for (const auto& shift : shifts) {
      for (size_t n : {size_t{1}, size_t{2}, size_t{5}, size_t{simulated() ? 9u : 1111u}}) {
        check<float>({.method = method, .n = n, .shift = shift});
        if (simulated()) continue;
        check<float>({.method = method, .n = n, .blocks = 3, .threads = 32, .shift = shift});
        check<double>({.method = method, .n = n, .in_place = true, .shift = shift});
      }
    }
  }
}

// Slices of many chunks, the last ones shorter, and elements that belong to no slice.
TEST_P(Allreduce, PushesChunks) {
  if (simulated()) GTEST_SKIP() << "peers' memory is no memory";
  cluster_config big = GetParam().config();
  big.segment_bytes = 8 << 20;
  make(big);
  const size_t chunk = detail::most_chunk / sizeof(float), members = static_cast<size_t>(nodes());
  constexpr uint64_t out = 3 << 20;
  for (size_t slice : {chunk - 4, chunk, 2 * chunk + 4}) {
    check<float>({.method = ggas_push, .n = slice * members + members - 1, .threads = 256, .out = out});
    check<float>({.method = ggas_push, .n = slice * members, .blocks = 2, .threads = 128, .out = out, .shift = [](int) {
                    return 3;
                  }});
  }
}

TEST_P(Allreduce, ReduceToEveryRoot) {
  for (ggas_method method : methods()) {
    if (to_all_only(method)) continue;
    for (int root = 0; root < nodes(); ++root) {
      for (size_t n : lengths<float>()) {
        check<float>({.method = method, .op = static_cast<ggas_op>(n % 4), .n = n, .root = root});
        if (!simulated() && n % 2) check<double>({.method = method, .n = n, .blocks = 3, .threads = 32, .root = root});
      }
    }
  }
}

// Element i is a NaN at member i. The element after those is a NaN at all members. In the former the values of the
// other members count; the latter stays a NaN. The last element is a zero, which is negative at every other member.
template <class T>
void reduce_nans(Allreduce& on, ggas_method method, ggas_op op) {
  const auto nodes = static_cast<size_t>(on.nodes());
  constexpr T none = std::numeric_limits<T>::quiet_NaN();
  for (size_t k = 0; k < nodes; ++k) {
    T* const v = on.user<T>(static_cast<int>(k));
    for (size_t i = 0; i <= nodes; ++i) v[i] = i == k || i == nodes ? none : static_cast<T>(op == ggas_min ? 9 - k : k);
    v[nodes + 1] = k % 2 ? -T{0} : T{0};
  }
  on.on_all(1, 32, [&] {
    T* const v = on.user<T>(ggas_node());
    EXPECT_EQ(ggas_allreduce_block(v + 32, v, nodes + 2, op, method, on.enough()), ggas_ok) << "method " << method;
  });
  on.run();
  for (size_t k = 0; k < nodes; ++k) {
    const T* const got = on.user<T>(static_cast<int>(k)) + 32;
    for (size_t i = 0; i < nodes; ++i) {
      const size_t last = i + 1 == nodes ? nodes - 2 : nodes - 1;  // of those that have a number there
      const T want = nodes == 1 ? none : static_cast<T>(op == ggas_min ? 9 - last : last);
      EXPECT_TRUE(got[i] == want || (nodes == 1 && got[i] != got[i])) << "method " << method << ", " << got[i];
    }
    EXPECT_TRUE(got[nodes] != got[nodes]) << "method " << method << ", " << got[nodes];
    EXPECT_EQ(std::signbit(got[nodes + 1]), op == ggas_min && nodes > 1) << "method " << method;
  }
}
TEST_P(Allreduce, NansAndZerosOfBothSigns) {
  std::vector<ggas_method> all = methods();
  all.insert(all.end(), {ggas_by_gather, ggas_by_all_gather});
  for (ggas_method method : all) {
    for (ggas_op op : {ggas_min, ggas_max}) {
      reduce_nans<float>(*this, method, op);
      reduce_nans<double>(*this, method, op);
    }
  }
}

TEST_P(Allreduce, RefusesBadArguments) {
  const size_t n = 4;
  on_all(1, 40, [&] {
    float* const v = user<float>(ggas_node());
    float* const none = nullptr;
    float* const misaligned = reinterpret_cast<float*>(reinterpret_cast<char*>(v) + 2);
    const auto t = enough();
    for (ggas_method m : methods()) {
      EXPECT_EQ(ggas_allreduce_block(none, v, n, ggas_sum, m, t), ggas_bad_argument);
      EXPECT_EQ(ggas_allreduce_block(v, none, n, ggas_sum, m, t), ggas_bad_argument);
      EXPECT_EQ(ggas_allreduce_block(v, misaligned, n, ggas_sum, m, t), ggas_bad_argument);
      EXPECT_EQ(ggas_allreduce_block(v, v, n, static_cast<ggas_op>(4), m, t), ggas_bad_argument);
      EXPECT_EQ(ggas_allreduce_block(v, v, n, ggas_sum, m, t, ggas_team{0, 1, 0, 1}), ggas_bad_argument);
      EXPECT_EQ(ggas_allreduce_grid(v, v, n, ggas_sum, m, t, ggas_team{ggas_node() + 1, 1, 1, 1}), ggas_bad_argument);
      EXPECT_EQ(ggas_reduce_block(v, v, n, ggas_sum, -1, m, t), ggas_bad_argument);
      EXPECT_EQ(ggas_reduce_grid(v, v, n, ggas_sum, nodes(), m, t), ggas_bad_argument);
      EXPECT_EQ(ggas_allreduce_block(none, none, 0, ggas_sum, m, t), ggas_ok);
      for (size_t all : {ggas_segment_bytes() / sizeof(float), ~size_t{0} / sizeof(float) + 2, ~size_t{0}}) {
        EXPECT_EQ(ggas_allreduce_block(v, v, all, ggas_sum, m, t), ggas_bad_argument) << "method " << m << ", " << all;
        EXPECT_EQ(ggas_reduce_grid(v, v, all, ggas_sum, 0, m, t), ggas_bad_argument) << "method " << m << ", " << all;
      }
    }
    for (ggas_method m : {ggas_two_shot, ggas_push})
      EXPECT_EQ(ggas_reduce_block(v, v, n, ggas_sum, 0, m, t), ggas_bad_argument);
    EXPECT_EQ(ggas_allreduce_block(v, v, n, ggas_sum, static_cast<ggas_method>(ggas_auto + 1), t), ggas_bad_argument);
    EXPECT_EQ(ggas_allreduce_block(v, v, n, ggas_sum, ggas_by_gather, t, ggas_team{ggas_node(), 1, 1, 1}),
              ggas_bad_argument);
    // Peers load from src: it lies in the segment, and the window is memory.
    float outside[4] = {};
    for (ggas_method m : {ggas_direct, ggas_push})
      EXPECT_EQ(ggas_allreduce_block(v, simulated() ? v : outside, n, ggas_sum, m, t), ggas_bad_argument);
    EXPECT_EQ(ggas_allreduce_block(v, outside, n, ggas_sum, ggas_read, t), ggas_bad_argument);
    // None of these counts: the next one works.
    EXPECT_EQ(ggas_allreduce_block(v, v, n, ggas_sum, ggas_one_shot, t), ggas_ok);
  });
  run();
}

}  // namespace
}  // namespace ggas::test
