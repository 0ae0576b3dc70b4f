// SPDX-License-Identifier: Apache-2.0
// Device API: reduce and allreduce in lines and over peers' memory, for blocks, grids and teams: every method,
// operation and type, at lengths around those of lines, slots and chunks; slots used again and again; what goes wrong.
#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

class Allreduce : public api_test {
 protected:
  static constexpr uint64_t out_offset = 300 * 1024, guard = 64;

  // A call by `blocks` blocks of `threads` on each member; 0 blocks: the block form.
  struct call {
    ggas_method method = ggas_one_shot;
    ggas_op op = ggas_sum;
    size_t n = 1;
    unsigned blocks = 0, threads = 64;
    int root = -1;  // an allreduce
    bool in_place = false;
    uint64_t out = out_offset;
    std::function<uint64_t(int node)> shift = [](int) { return 0; };  // elements that vectors begin late
  };

  layout shape() const { return layout::of(static_cast<uint64_t>(nodes()), cluster_->device_context(0).reserved); }
  template <class T>
  size_t slot_elements() const {
    return shape().channel_bytes / 16 * 8 / sizeof(T);
  }
  // In the simulator peers' memory is no memory.
  std::vector<ggas_method> methods() const {
    if (simulated()) return {ggas_one_shot, ggas_two_shot, ggas_read, ggas_tree, ggas_auto};
    return {ggas_one_shot, ggas_two_shot, ggas_direct, ggas_push, ggas_read, ggas_tree, ggas_auto};
  }
  static bool to_all_only(ggas_method m) { return m == ggas_two_shot || m == ggas_push; }
  template <class T>
  std::vector<size_t> lengths() const {
    if (simulated()) return {1, 3, 40};
    const size_t slot = slot_elements<T>(), chunk = slot * static_cast<size_t>(nodes());
    if (GetParam().threads) return {1, 3, chunk + 1};  // slow
    if (!std::is_same_v<T, float>) return {1, 3, 2 * slot + 1, chunk + 5};
    return {1, 2, 3, 31, slot - 1, slot, slot + 1, chunk - 1, chunk, chunk + 1, 3 * chunk + 5, 2000};
  }

  template <class T>
  static T combined(ggas_op op, T a, T b) {
    if (op == ggas_prod) return static_cast<T>(a * b);
    return op == ggas_sum ? static_cast<T>(a + b) : op == ggas_min ? std::min(a, b) : std::max(a, b);
  }
  // Sums and products of such numbers are rounded: they tell in which order they were made.
  template <class T>
  T number(ggas_op op) {
    if constexpr (std::is_unsigned_v<T>) return static_cast<T>(random_());
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<int>(random_() % 20001) % (op == ggas_prod ? 7 : 20001) - 3);
    if (op == ggas_prod) return static_cast<T>(0.5 + random_() % 1000 / 999.0);
    if (sizeof(T) == 2) return static_cast<T>(static_cast<int>(random_() % 2001) / 7.0 - 100);
    return static_cast<T>((random_() % 2000001) / T(7) - T(99999));
  }
  // By a tree the members from `place` on, `place` behind the root, are combined in its order.
  template <class T>
  static T along_tree(ggas_op op, const std::vector<T>& v, size_t place) {
    T sum = v[place];
    for (size_t bit = 1; !(place & bit) && place + bit < v.size(); bit *= 2)
      sum = combined(op, sum, along_tree(op, v, place + bit));
    return sum;
  }
  template <class T>
  static T reduced(const call& c, std::vector<T> v) {
    if (c.method == ggas_tree) {
      std::rotate(v.begin(), v.begin() + std::max(c.root, 0), v.end());
      return along_tree(c.op, v, 0);
    }
    return std::accumulate(v.begin() + 1, v.end(), v[0], [&](T a, T b) { return combined(c.op, a, b); });
  }
  template <class T>
  T* at(int node, const call& c, uint64_t offset) {
    return user<T>(node, offset + guard) + c.shift(node);
  }

  // Fills everybody's vectors, returns what must come out.
  template <class T>
  std::vector<T> fill(const call& c, const ggas_team& team) {
    std::vector<std::vector<T>> numbers(c.n);
    for (int k = 0; k < team.size; ++k) {
      const int node = team.first + k * team.stride;
      T* const src = at<T>(node, c, 0);
      for (size_t i = 0; i < c.n; ++i) numbers[i].push_back(src[i] = number<T>(c.op));
      std::fill_n(at<T>(node, c, c.out) - 1, c.n + 2, T{77});
    }
    std::vector<T> want;
    for (auto& v : numbers) want.push_back(reduced(c, std::move(v)));
    return want;
  }

  template <class T>
  ggas_status make_call(const call& c, const ggas_team& team) {
    const int me = ggas_node();
    const T* const src = at<T>(me, c, 0);
    T* const dst = c.in_place ? const_cast<T*>(src) : at<T>(me, c, c.out);
    if (c.root < 0) {
      return c.blocks == 0 ? ggas_allreduce_block(dst, src, c.n, c.op, c.method, enough(), team)
                           : ggas_allreduce(dst, src, c.n, c.op, c.method, enough(), team);
    }
    T* const to = ggas_team_rank(team) == c.root ? dst : nullptr;
    return c.blocks == 0 ? ggas_reduce_block(to, src, c.n, c.op, c.root, c.method, enough(), team)
                         : ggas_reduce(to, src, c.n, c.op, c.root, c.method, enough(), team);
  }

  template <class T>
  void expect(const call& c, const ggas_team& team, const std::vector<T>& want) {
    for (int k = 0; k < team.size; ++k) {
      const int node = team.first + k * team.stride;
      const T* const dst = at<T>(node, c, c.in_place ? 0 : c.out);
      const bool gets = c.root < 0 || c.root == k;
      for (size_t i = 0; i < c.n; ++i) {
        ASSERT_EQ(dst[i], gets ? want[i] : T{77})
            << "node " << node << " element " << i << " of " << c.n << ", method " << c.method << ", operation " << c.op
            << ", " << c.blocks << " blocks, root " << c.root;
      }
      if (c.in_place) continue;
      EXPECT_EQ(dst[-1], T{77}) << "written before the start, n = " << c.n;
      EXPECT_EQ(dst[c.n], T{77}) << "written behind the end, n = " << c.n;
    }
  }

  ggas_team world() const { return {0, 1, nodes(), 0}; }

  template <class T>
  void check(const call& c) {
    check<T>(c, world());
  }
  template <class T>
  void check(const call& c, const ggas_team& team) {
    const auto want = fill<T>(c, team);
    for (int k = 0; k < team.size; ++k) {
      on(team.first + k * team.stride, std::max(c.blocks, 1u), c.threads,
         [=, this] { EXPECT_EQ(make_call<T>(c, team), ggas_ok); });
    }
    run();
    expect<T>(c, team, want);
  }

  template <class T>
  void everything() {
    unsigned turn = 0;
    for (ggas_method method : methods()) {
      for (size_t n : lengths<T>()) check<T>({.method = method, .op = static_cast<ggas_op>(turn++ % 4), .n = n});
      for (ggas_op op : {ggas_sum, ggas_min, ggas_max, ggas_prod})
        check<T>({.method = method, .op = op, .n = 5, .threads = 1});
    }
  }

  void set_numbers(uint64_t last) {  // of the exchanges of all channels
    for (int node = 0; node < nodes(); ++node) {
      for (uint64_t team = 0; team < layout::teams; ++team) {
        for (uint64_t channel = 0; channel < shape().channels; ++channel)
          *reinterpret_cast<uint64_t*>(cluster_->segment(node) + shape().channel_seq(team, channel)) = last;
      }
    }
  }

  std::mt19937 random_{4711};
};
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

// By every method everybody hears from everybody, also where it waits for few: a short broadcast relies on it.
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

// Calls that follow each other in one kernel, the same on every node.
struct random_calls {
  static constexpr size_t most = 500;  // elements
  uint32_t state = 7;
  size_t n = 0, from = 0;
  ggas_method method = ggas_one_shot;
  ggas_op op = ggas_sum;
  int root = -1;

  void next(const std::vector<ggas_method>& methods, int nodes, size_t longest) {
    state = state * 1664525 + 1013904223;
    n = 1 + state / 4096 % longest;
    from = state / 64 % most;
    method = methods[state / 256 % methods.size()];
    op = static_cast<ggas_op>(state / 1024 % 3);
    const bool to_root = state >> 31 && method != ggas_two_shot && method != ggas_push;
    root = to_root ? static_cast<int>(state / 16 % static_cast<unsigned>(nodes)) : -1;
  }
};

// Slots are used again while slower members still read theirs: two blocks make many calls of all kinds one after the
// other; now and then a block is late.
TEST_P(Allreduce, ManyCallsWithDelays) {
  constexpr size_t most = random_calls::most;
  const int rounds = simulated() ? 6 : 150;
  const size_t longest = simulated() ? 40 : most;
  const auto all = methods();
  for (int node = 0; node < nodes(); ++node) {
    for (size_t i = 0; i < 2 * most; ++i) user<float>(node)[i] = static_cast<float>(node + 1) * static_cast<float>(i);
    std::fill_n(user<float>(node, out_offset), most * static_cast<size_t>(rounds), 77.0f);
  }
  on_all(2, 32, [&] {
    random_calls c;
    const int n = ggas_nodes(), me = ggas_node();
    uint32_t late = 1 + static_cast<uint32_t>(me) * 31 + blockIdx.x;
    for (int r = 0; r < rounds; ++r) {
      c.next(all, n, longest);
      late = late * 1664525 + 1013904223;
      if (late >> 29 == 0) __nanosleep(late / 65536 % 20000);
      const float* const src = user<float>(me) + c.from;
      float* const dst = user<float>(me, out_offset) + static_cast<size_t>(r) * most;
      const ggas_status s = c.root < 0 ? ggas_allreduce(dst, src, c.n, c.op, c.method, enough())
                                       : ggas_reduce(dst, src, c.n, c.op, c.root, c.method, enough());
      ASSERT_EQ(s, ggas_ok) << "round " << r << " method " << c.method;
    }
  });
  run();
  random_calls c;
  for (int r = 0; r < rounds; ++r) {
    c.next(all, nodes(), longest);
    const int times = c.op == ggas_sum ? nodes() * (nodes() + 1) / 2 : c.op == ggas_min ? 1 : nodes();
    for (int node = 0; node < nodes(); ++node) {
      const bool gets = c.root < 0 || c.root == node;
      const float* const dst = user<float>(node, out_offset) + static_cast<size_t>(r) * most;
      for (size_t i = 0; i < most; ++i) {
        const float want = gets && i < c.n ? static_cast<float>(times) * static_cast<float>(c.from + i) : 77.0f;
        ASSERT_EQ(dst[i], want) << "round " << r << " node " << node << " element " << i << " method " << c.method;
      }
    }
  }
}

// Disjoint teams of one id at the same time, and teams that share nodes in turn.
TEST_P(Allreduce, Teams) {
  if (nodes() < 3) GTEST_SKIP() << "three nodes make teams that are worth it";
  const int odd = nodes() / 2, even = nodes() - odd;
  for (ggas_method method : methods()) {
    const call c{.method = method, .n = 77, .blocks = 2, .threads = 32};
    const ggas_team teams[] = {{0, 2, even, 1}, {1, 2, odd, 1}, {1, 1, nodes() - 1, 2}};
    const auto evens = fill<float>(c, teams[0]), odds = fill<float>(c, teams[1]);
    on_all(2, 32, [=, this] {
      const ggas_team mine = teams[ggas_node() % 2];
      EXPECT_EQ(make_call<float>(c, mine), ggas_ok);
    });
    run();
    expect<float>(c, teams[0], evens);
    expect<float>(c, teams[1], odds);
    for (int r = 0; r < 6; ++r) {
      check<float>(c);
      check<float>(c, teams[2]);
      check<double>({.method = method, .n = 9, .root = to_all_only(method) ? -1 : 1}, teams[2]);
    }
  }
}

TEST_P(Allreduce, RefusesBadArguments) {
  const size_t n = 4;
  on_all(1, 40, [&] {
    float* const v = user<float>(ggas_node());
    float* const none = nullptr;
    float* const crooked = reinterpret_cast<float*>(reinterpret_cast<char*>(v) + 2);
    const auto t = enough();
    for (ggas_method m : methods()) {
      EXPECT_EQ(ggas_allreduce_block(none, v, n, ggas_sum, m, t), ggas_bad_argument);
      EXPECT_EQ(ggas_allreduce_block(v, none, n, ggas_sum, m, t), ggas_bad_argument);
      EXPECT_EQ(ggas_allreduce_block(v, crooked, n, ggas_sum, m, t), ggas_bad_argument);
      EXPECT_EQ(ggas_allreduce_block(v, v, n, static_cast<ggas_op>(4), m, t), ggas_bad_argument);
      EXPECT_EQ(ggas_allreduce_block(v, v, n, ggas_sum, m, t, ggas_team{0, 1, 0, 1}), ggas_bad_argument);
      EXPECT_EQ(ggas_allreduce(v, v, n, ggas_sum, m, t, ggas_team{ggas_node() + 1, 1, 1, 1}), ggas_bad_argument);
      EXPECT_EQ(ggas_reduce_block(v, v, n, ggas_sum, -1, m, t), ggas_bad_argument);
      EXPECT_EQ(ggas_reduce(v, v, n, ggas_sum, nodes(), m, t), ggas_bad_argument);
      EXPECT_EQ(ggas_allreduce_block(none, none, 0, ggas_sum, m, t), ggas_ok);
    }
    for (ggas_method m : {ggas_two_shot, ggas_push})
      EXPECT_EQ(ggas_reduce_block(v, v, n, ggas_sum, 0, m, t), ggas_bad_argument);
    EXPECT_EQ(ggas_allreduce_block(v, v, n, ggas_sum, static_cast<ggas_method>(ggas_auto + 1), t), ggas_bad_argument);
    EXPECT_EQ(ggas_allreduce_block(v, v, n, ggas_sum, ggas_gather, t, ggas_team{ggas_node(), 1, 1, 1}),
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

TEST_P(Allreduce, AMissingMemberIsATimeOutAndThenAnError) {
  if (nodes() == 1) GTEST_SKIP() << "one node never waits";
  for (ggas_method method : methods()) {
    if (method != methods().front()) make(GetParam().config());
    on(0, 2, 64, [=, this] {
      float* const v = user<float>(0);
      EXPECT_EQ(ggas_allreduce(v, v, 1000, ggas_sum, method, brief()), ggas_timed_out);
    });
    run();
    on(0, 2, 64, [=, this] {
      float* const v = user<float>(0);
      EXPECT_EQ(ggas_allreduce(v, v, 1000, ggas_sum, method, enough()), ggas_peer_error);
      EXPECT_EQ(ggas_reduce(v, v, 1000, ggas_sum, 0, ggas_one_shot, enough()), ggas_peer_error);
      const ggas_team other{0, 1, nodes(), 3};  // its channels have not failed, the node has
      EXPECT_EQ(ggas_allreduce(v, v, 1000, ggas_sum, method, enough(), other), ggas_peer_error);
    });
    run();
  }
}

// The number of an exchange passes 2^30, where slots are refreshed, and 2^32, where lines begin again at 0.
TEST_P(Allreduce, NumbersOfExchangesWrap) {
  if (simulated()) GTEST_SKIP() << "the same code, and slow";
  for (uint64_t last : {(uint64_t{1} << 30) - 7, (uint64_t{1} << 32) - 7, (uint64_t{5} << 32) - 2}) {
    set_numbers(last);
    for (int i = 0; i < 5; ++i) {
      for (ggas_method method : methods()) {
        check<float>({.method = method, .n = 7, .threads = 32});
        check<float>({.method = method, .n = slot_elements<float>() * 2, .blocks = 2, .threads = 32});
      }
    }
  }
}

// A line is written at least once in 2^30 exchanges, so none is left that could look new 2^32 exchanges later.
TEST_P(Allreduce, SlotsAreRefreshed) {
  if (simulated()) GTEST_SKIP() << "the same code, and slow";
  constexpr uint64_t period = uint64_t{1} << 30;
  for (ggas_method method : {ggas_one_shot, ggas_two_shot, ggas_direct, ggas_push, ggas_read, ggas_tree}) {
    set_numbers(period - 3);
    on_all(1, 32, [=, this] {
      float* const v = user<float>(ggas_node());
      for (int i = 0; i < 12; ++i) ASSERT_EQ(ggas_allreduce_block(v, v, 1, ggas_max, method, enough()), ggas_ok);
    });
    run();
    const layout l = shape();
    for (int node = 0; node < nodes(); ++node) {
      for (int from = 0; from < nodes(); ++from) {
        for (uint64_t turn = 0; turn < layout::channel_depth && from != node; ++turn) {
          const uint64_t slot = l.channel_slot(0, 0, turn, static_cast<uint64_t>(from));
          const auto* const words = reinterpret_cast<const uint32_t*>(cluster_->segment(node) + slot);
          for (uint64_t i = 0; i < l.channel_bytes / 4; i += 4) {
            ASSERT_GE(words[i + 1], period) << "line " << i / 4 << " from " << from << " to " << node;
            ASSERT_EQ(words[i + 1], words[i + 3]);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ggas::test
