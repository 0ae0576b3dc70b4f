// SPDX-License-Identifier: Apache-2.0
// Device API: broadcast, allgather and alltoall with such lengths and so many blocks that the own part is copied
// together with that of the first peer (detail/collective/exchange.cuh). The host fills and checks.
#include "tests/gpu_api/spread_rig.hpp"

namespace ggas::test {
namespace {

using detail::blocks_together, detail::own_bytes_together;

class LongSpread : public api_test {
 public:
  // Words of a part, and by how much vectors are off an aligned place: all aligned; nothing, and a rest.
  struct shape {
    size_t words, shift;
  };
  static constexpr size_t least = blocks_together * (own_bytes_together / 4 + 4);
  static constexpr shape shapes[] = {{least, 0}, {least + 3, 1}};

  void SetUp() override {
    cluster_config cfg = GetParam().config();
    cfg.segment_bytes = uint64_t{64} << 20;
    make(cfg);
    const layout l = layout::of(static_cast<uint64_t>(nodes()), base());
    ASSERT_GE(l.channels, uint64_t{blocks_together}) << "a channel for each block";
  }
  uint64_t in(const shape& s) const { return base() + 4 * s.shift; }
  uint64_t out(const shape& s) const { return in(s) + 4 * static_cast<size_t>(nodes()) * (s.words + 64); }
  uint32_t* at(int node, uint64_t offset) { return reinterpret_cast<uint32_t*>(cluster_->segment(node) + offset); }

  void fill(uint32_t round, const shape& s) {
    for (int n = 0; n < nodes(); ++n) {
      for (int to = 0; to < nodes(); ++to)
        for (size_t i = 0; i < s.words; ++i)
          at(n, in(s))[static_cast<size_t>(to) * s.words + i] = value_of(round, n, to, i);
      std::fill_n(at(n, out(s)), static_cast<size_t>(nodes()) * s.words + 1, 0u);
    }
  }
  template <class F>
  void call(F collective) {
    for (int n = 0; n < nodes(); ++n)
      on(n, blocks_together, 32, [=] { EXPECT_EQ(collective(), ggas_ok) << "node " << ggas_node(); });
    run();
  }
  void expect_part(int node, size_t part, const shape& s, uint32_t round, int from, int to) {
    const uint32_t* const is = at(node, out(s)) + part * s.words;
    for (size_t i = 0; i < s.words; ++i)
      ASSERT_EQ(is[i], value_of(round, from, to, i)) << "node " << node << ", part " << part << ", word " << i;
  }
};

TEST_P(LongSpread, EveryPartArrives) {
  uint32_t round = 0;
  for (const shape& s : shapes) {
    const uint64_t from = in(s), to = out(s), limit = enough();
    const size_t words = s.words;
    const int root = nodes() - 1;
    const auto own = [](uint64_t offset) { return ggas_pointer_of_node<uint32_t>(ggas_node(), offset); };
    const auto expect_all = [&](bool gather) {
      for (int n = 0; n < nodes(); ++n) {
        for (int k = 0; k < nodes(); ++k) expect_part(n, static_cast<size_t>(k), s, round, k, gather ? 0 : n);
        EXPECT_EQ(at(n, to)[static_cast<size_t>(nodes()) * words], 0u) << "written behind the end";
      }
    };
    fill(++round, s);
    call([=] { return ggas_alltoall_grid(own(to), own(from), words, limit); });
    expect_all(false);
    fill(++round, s);
    call([=] { return ggas_allgather_grid(own(to), own(from), words, limit); });
    expect_all(true);
    fill(++round, s);
    call([=] { return ggas_broadcast_grid(own(to), own(from), words, root, limit); });
    for (int n = 0; n < nodes(); ++n) {
      expect_part(n, 0, s, round, root, 0);
      EXPECT_EQ(at(n, to)[words], 0u) << "written behind the end";
    }
  }
}

// In place: an own part that lies where it belongs is left there.
TEST_P(LongSpread, InPlace) {
  const size_t words = least;
  fill(1, shapes[0]);
  const uint64_t vector = in(shapes[0]), limit = enough();
  call([=] {
    auto* const v = ggas_pointer_of_node<uint32_t>(ggas_node(), vector);
    return ggas_broadcast_grid(v, v, words, 0, limit);
  });
  for (int n = 0; n < nodes(); ++n)
    for (size_t i = 0; i < words; ++i) ASSERT_EQ(at(n, vector)[i], value_of(1, 0, 0, i)) << n << ", word " << i;
}

INSTANTIATE_TEST_SUITE_P(Provider, LongSpread,
                         testing::Values(target{.nodes = 1}, target{.nodes = 2}, target{.nodes = 3}),
                         [](const auto& i) { return i.param.name(); });

}  // namespace
}  // namespace ggas::test
