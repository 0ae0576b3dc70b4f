// SPDX-License-Identifier: Apache-2.0
// Device API: reduce and allreduce against a reference, by every method, at lengths around those of blocks and slots.
#include <algorithm>
#include <random>

#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

class Collective : public api_test {
 protected:
  static constexpr uint64_t out_offset = 256 * 1024;

  // Fills every node's source and returns the expected result, combined in the order of nodes.
  template <class T>
  std::vector<T> fill(size_t n, ggas_op op) {
    std::vector<T> want(n);
    for (int k = 0; k < nodes(); ++k) {
      for (size_t i = 0; i < n; ++i) {
        const T v = static_cast<T>(static_cast<int>(random_() % 20001) - 10000) / T{8};
        user<T>(k)[i] = v;
        want[i] = k == 0           ? v
                  : op == ggas_sum ? want[i] + v
                  : op == ggas_min ? std::min(want[i], v)
                                   : std::max(want[i], v);
      }
      std::fill_n(user<T>(k, out_offset), n + 1, T{77});
    }
    return want;
  }

  template <class T>
  void expect(int node, const std::vector<T>& want) {
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_EQ(user<T>(node, out_offset)[i], want[i]) << "node " << node << " element " << i;
    EXPECT_EQ(user<T>(node, out_offset)[want.size()], T{77}) << "written behind the end";
  }

  template <class T>
  T* source() {
    return ggas_pointer_of_node<T>(ggas_node(), base());
  }
  template <class T>
  T* result() {
    return ggas_pointer_of_node<T>(ggas_node(), base() + out_offset);
  }

  std::vector<size_t> lengths() const {
    if (simulated()) return {1, 40, 300};
    const size_t slot = layout::of(static_cast<uint64_t>(nodes()), cluster_->device_context(0).reserved).slot_bytes / 4;
    return {1, 2, 31, 33, 64, 100, slot - 1, slot, slot + 1, 3 * slot + 5, 5 * slot};
  }

  template <class T>
  void allreduce_everything(ggas_method method) {
    for (size_t n : lengths()) {
      if (n * sizeof(T) + sizeof(T) > out_offset) continue;
      for (ggas_op op : {ggas_sum, ggas_min, ggas_max}) {
        if (simulated() && op != ggas_sum) continue;
        const auto want = fill<T>(n, op);
        on_all(1, 64, [=, this] {
          EXPECT_EQ(ggas_allreduce_block(result<T>(), source<T>(), n, op, method, enough()), ggas_ok);
        });
        run();
        for (int k = 0; k < nodes(); ++k) expect(k, want);
      }
    }
  }

  std::mt19937 random_{12345};
};
INSTANTIATE_TEST_SUITE_P(Provider, Collective, testing::ValuesIn(targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(Collective, AllreduceByGatherAndCast) { allreduce_everything<float>(ggas_by_gather); }
TEST_P(Collective, AllreduceByAllGather) { allreduce_everything<float>(ggas_by_all_gather); }
TEST_P(Collective, AllreduceOfDoubles) { allreduce_everything<double>(ggas_by_all_gather); }
TEST_P(Collective, AllreduceOfIntegers) { allreduce_everything<int32_t>(ggas_by_gather); }

TEST_P(Collective, ReduceToEveryRoot) {
  for (int root = 0; root < nodes(); ++root) {
    for (size_t n : lengths()) {
      if (n * 4 + 4 > out_offset) continue;
      const auto want = fill<float>(n, ggas_sum);
      on_all(1, 96, [=, this] {
        float* dst = ggas_node() == root ? result<float>() : nullptr;
        EXPECT_EQ(ggas_reduce_block(dst, source<float>(), n, ggas_sum, root, ggas_by_gather, enough()), ggas_ok);
      });
      run();
      expect(root, want);
      for (int k = 0; k < nodes(); ++k) {
        if (k != root) EXPECT_EQ(*user<float>(k, out_offset), 77.0f) << "a leaf was written";
      }
    }
  }
}

TEST_P(Collective, InPlace) {
  const size_t n = 200;
  for (ggas_method method : {ggas_by_gather, ggas_by_all_gather}) {
    const auto want = fill<float>(n, ggas_sum);
    on_all(1, 64, [=, this] {
      EXPECT_EQ(ggas_allreduce_block(source<float>(), source<float>(), n, ggas_sum, method, enough()), ggas_ok);
    });
    run();
    for (int k = 0; k < nodes(); ++k) {
      for (size_t i = 0; i < n; ++i) ASSERT_EQ(user<float>(k)[i], want[i]);
    }
  }
}

// One kernel, many calls back to back of all kinds: slots are reused while slower nodes still read theirs.
TEST_P(Collective, BackToBackAndMixed) {
  const int rounds = simulated() ? 4 : 150;
  on_all(1, 32, [&] {
    uint32_t state = 99;  // the same on every node
    const int me = ggas_node(), n = ggas_nodes();
    for (int r = 0; r < rounds; ++r) {
      state = state * 1664525 + 1013904223;
      const size_t length = 1 + state / 65536 % 50;
      const int root = static_cast<int>(state / 256 % static_cast<unsigned>(n));
      const unsigned kind = state >> 30;
      for (size_t i = threadIdx.x; i < length; i += 32)
        ggas_store(source<float>() + i, static_cast<float>(r + me + static_cast<int>(i)));
      __syncthreads();
      ggas_status s;
      if (kind < 2)
        s = ggas_reduce_block(result<float>(), source<float>(), length, ggas_sum, root, ggas_by_gather, enough());
      else
        s = ggas_allreduce_block(result<float>(), source<float>(), length, ggas_sum,
                                 kind == 2 ? ggas_by_gather : ggas_by_all_gather, enough());
      ASSERT_EQ(s, ggas_ok);
      if (kind < 2 && me != root) continue;
      for (size_t i = threadIdx.x; i < length; i += 32) {
        const float want = static_cast<float>(n * (r + static_cast<int>(i)) + n * (n - 1) / 2);
        ASSERT_EQ(ggas_load(result<float>() + i), want) << "round " << r << " kind " << kind;
      }
      __syncthreads();
    }
  });
  run();
}

TEST_P(Collective, RefusesBadArguments) {
  on_all(1, 40, [&] {
    float* v = source<float>();
    float* none = nullptr;
    float* misaligned = reinterpret_cast<float*>(reinterpret_cast<char*>(v) + 2);
    const auto t = enough();
    EXPECT_EQ(ggas_reduce_block(v, v, 1, ggas_sum, -1, ggas_by_gather, t), ggas_bad_argument);
    EXPECT_EQ(ggas_reduce_block(v, v, 1, ggas_sum, nodes(), ggas_by_gather, t), ggas_bad_argument);
    EXPECT_EQ(ggas_reduce_block(v, none, 1, ggas_sum, 0, ggas_by_gather, t), ggas_bad_argument);
    EXPECT_EQ(ggas_reduce_block(v, v, 1, static_cast<ggas_op>(ggas_xor + 1), 0, ggas_by_gather, t), ggas_bad_argument);
    EXPECT_EQ(ggas_allreduce_block(none, v, 1, ggas_sum, ggas_by_gather, t), ggas_bad_argument);
    EXPECT_EQ(ggas_allreduce_block(v, misaligned, 1, ggas_sum, ggas_by_gather, t), ggas_bad_argument);
    EXPECT_EQ(ggas_allreduce_block(v, v, 1, ggas_sum, static_cast<ggas_method>(ggas_auto + 1), t), ggas_bad_argument);
    EXPECT_EQ(ggas_allreduce_block(none, none, 0, ggas_sum, ggas_by_gather, t), ggas_ok);
    // None of these counts: the next one works.
    EXPECT_EQ(ggas_allreduce_block(v, v, 1, ggas_sum, ggas_by_all_gather, t), ggas_ok);
  });
  run();
}

TEST_P(Collective, AMissingNodeIsATimeOutAndThenAnError) {
  if (nodes() == 1) GTEST_SKIP() << "one node never waits";
  on(0, 1, 64, [&] {
    float* v = source<float>();
    EXPECT_EQ(ggas_allreduce_block(v, v, 10, ggas_sum, ggas_by_all_gather, brief()), ggas_timed_out);
    EXPECT_EQ(ggas_allreduce_block(v, v, 10, ggas_sum, ggas_by_all_gather, enough()), ggas_broken);
    EXPECT_EQ(ggas_reduce_block(v, v, 10, ggas_sum, 0, ggas_by_gather, enough()), ggas_broken);
  });
  run();
}

}  // namespace
}  // namespace ggas::test
