// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of reduce and allreduce: calls of every method, operation and type by blocks, grids and teams,
// and their expected results.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "tests/gpu_api/targets.hpp"

namespace ggas::test {

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
  // Sums and products of such numbers are rounded: they report in which order they were made.
  template <class T>
  T number(ggas_op op) {
    if constexpr (std::is_unsigned_v<T>) return static_cast<T>(random_());
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<int>(random_() % 20001) % (op == ggas_prod ? 7 : 20001) - 3);
    if (op == ggas_prod) return static_cast<T>(0.5 + random_() % 1000 / 999.0);
    if (sizeof(T) == 2) return static_cast<T>(static_cast<int>(random_() % 2001) / 7.0 - 100);
    return static_cast<T>((random_() % 2000001) / T(7) - T(99999));
  }
  // By a tree the members from `place` on, `place` after the root, are combined in its order.
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

  // Fills every member's vectors, returns what must come out.
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
                           : ggas_allreduce_grid(dst, src, c.n, c.op, c.method, enough(), team);
    }
    T* const to = ggas_team_rank(team) == c.root ? dst : nullptr;
    return c.blocks == 0 ? ggas_reduce_block(to, src, c.n, c.op, c.root, c.method, enough(), team)
                         : ggas_reduce_grid(to, src, c.n, c.op, c.root, c.method, enough(), team);
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

}  // namespace ggas::test
