// SPDX-License-Identifier: Apache-2.0
// Collectives of ranks: every byte of every destination, and what lies around it, as a serial model says.
#include <algorithm>
#include <atomic>
#include <random>
#include <set>

#include "tests/gpu_api/ranks_rig.hpp"

namespace ggas::test::ranks_test {
namespace {

constexpr std::byte untouched{0x5a};

template <class T>
void write_sources(rank_cluster& on, const rank_plan<T>& p, unsigned round) {
  for (int rank = 0; rank < on.count(); ++rank) {
    auto* const src = reinterpret_cast<T*>(on.memory(on.src, rank));
    for (size_t i = 0; i < source_elements(p, on.count()); ++i) src[i] = element<T>(round, rank, i);
  }
}

// Destinations with guard zones of whole places.
template <class T>
std::string compare(rank_cluster& on, const rank_plan<T>& p, unsigned round) {
  for (int rank = 0; rank < on.count(); ++rank) {
    std::vector<std::byte> want(on.step() - rank_cluster::guard, untouched);
    for (size_t i = 0; i < target_elements(p, on.count()); ++i) {
      T v{};
      if (expected(p, on.count(), round, rank, i, v)) std::memcpy(want.data() + i * sizeof(T), &v, sizeof v);
    }
    const std::byte* const got = on.memory(on.dst, rank);
    if (std::memcmp(got, want.data(), want.size()) != 0)
      return "rank " + std::to_string(rank) + ", byte " +
             std::to_string(std::mismatch(want.begin(), want.end(), got).first - want.begin());
    for (size_t i = 1; i <= rank_cluster::guard; ++i)
      if (got[-static_cast<ptrdiff_t>(i)] != untouched) return "before rank " + std::to_string(rank);
  }
  return {};
}

template <class T>
void play(rank_cluster& on, rank_plan<T> p, unsigned threads, unsigned round) {
  on.fill(untouched);
  write_sources(on, p, round);
  std::atomic<unsigned> failed = 0;
  on.run(threads, [&] {
    const ggas_status s = call_of_rank(on.ranks, p, on.as<T>(on.dst), on.as<T>(on.src), on.enough());
    failed += s != ggas_ok;
    // What was still under way, no one has waited for.
    if ((p.mode & ggas_out_none) != 0) failed += ggas_barrier(on.ranks, on.enough()) != ggas_ok;
  });
  EXPECT_EQ(failed, 0u) << static_cast<int>(p.kind) << ", n " << p.n << ", mode " << p.mode << ", root " << p.root;
  EXPECT_EQ(compare(on, p, round), "") << static_cast<int>(p.kind) << ", n " << p.n << ", mode " << p.mode << ", root "
                                       << p.root << ", threads " << threads;
}

std::vector<rank_target> small_targets() {
  std::vector<rank_target> all;
  for (int nodes : {1, 2, 3, 5, 7, 8, 16}) all.push_back({{.nodes = nodes}, 1});
  for (unsigned blocks : {2u, 3u, 6u, 16u}) all.push_back({{.nodes = 1}, blocks});
  all.push_back({{.nodes = 4}, 4});
  all.push_back({{.nodes = 3}, 4});
  all.push_back({{.nodes = 2, .threads = true}, 3});
#ifdef GGAS_TEST_SIM
  all.push_back({{.provider = "sim", .nodes = 2, .label = "model", .nic = "model"}, 8});
  all.push_back({{.provider = "sim", .nodes = 3, .label = "model", .nic = "model"}, 2});
#endif
  return all;
}

class Ranks : public testing::TestWithParam<rank_target> {};
INSTANTIATE_TEST_SUITE_P(On, Ranks, testing::ValuesIn(small_targets()), [](const auto& i) { return i.param.name(); });

// All kinds, all nine pairs of modes, sizes around those of lines, slots and copies; roots and permutations at random.
TEST_P(Ranks, EveryByteIsAsTheSerialModelSays) {
  const bool simulated = GetParam().on.simulated();
  const size_t sizes[] = {1, 7, 8, 127, 128, 129, 300, 1024};
  const size_t most = simulated ? 300 : 1024;
  const int ranks = GetParam().ranks();
  rank_cluster on(GetParam(), most * static_cast<size_t>(ranks), 256, 1);
  std::mt19937 rng(static_cast<unsigned>(ranks));
  unsigned round = 0;
  for (const rank_kind kind : rank_kinds) {
    for (unsigned mode = 0; mode < 9; ++mode) {
      const size_t n = sizes[(round + mode) % (simulated ? 7 : 8)];
      const int root = static_cast<int>(rng() % static_cast<unsigned>(ranks));
      const unsigned threads = std::array{1u, 32u, 40u, 96u}[rng() % 4];
      play<uint8_t>(on, {kind, n, root, static_cast<unsigned>(rng() % 64), ggas_max, mode_of(mode)}, threads, ++round);
    }
  }
}

// Calls back to back in one kernel, without anything between them: modes that promise enough.
TEST_P(Ranks, MixedCallsBackToBack) {
  const bool simulated = GetParam().on.simulated();
  const int ranks = GetParam().ranks();
  const size_t most = 96;
  const unsigned calls = simulated ? 20 : rounds(120);
  rank_cluster on(GetParam(), most * sizeof(uint32_t) * static_cast<size_t>(ranks), 64, 2);
  std::mt19937 rng(7 + static_cast<unsigned>(ranks));
  std::vector<rank_plan<uint32_t>> plans;
  for (unsigned i = 0; i < calls; ++i) {
    const ggas_sync_mode in = std::array{ggas_in_all, ggas_in_mine}[rng() % 2];
    const ggas_sync_mode out = std::array{ggas_out_all, ggas_out_mine}[rng() % 2];
    plans.push_back({rank_kinds[rng() % std::size(rank_kinds)], 1 + rng() % most,
                     static_cast<int>(rng() % static_cast<unsigned>(ranks)), static_cast<unsigned>(rng() % 64),
                     ggas_sum, in | out});
  }
  on.fill(untouched);
  std::atomic<unsigned> failed = 0, wrong = 0;
  on.run_rounds(33, calls, [&](unsigned first, unsigned last) {
    const int me = ggas_rank(on.ranks);
    auto* const src = ggas_pointer_of_rank(on.ranks, me, on.as<uint32_t>(on.src));
    auto* const dst = ggas_pointer_of_rank(on.ranks, me, on.as<uint32_t>(on.dst));
    for (unsigned round = first; round < last; ++round) {
      const auto& p = plans[round];
      for (size_t i = threadIdx.x; i < source_elements(p, ranks); i += blockDim.x)
        src[i] = element<uint32_t>(round, me, i);
      const auto s = call_of_rank(on.ranks, p, on.as<uint32_t>(on.dst), on.as<uint32_t>(on.src), on.enough());
      failed += s != ggas_ok;
      if (s != ggas_ok) return;
      for (size_t i = threadIdx.x; i < target_elements(p, ranks); i += blockDim.x) {
        uint32_t v = 0;
        if (expected(p, ranks, round, me, i, v)) wrong += ggas_load(dst + i) != v;
      }
    }
  });
  EXPECT_EQ(failed, 0u);
  EXPECT_EQ(wrong, 0u);
}

// Numbers of every type, in the order of ranks.
TEST_P(Ranks, SumsOfFloatsHaveTheBitsOfTheSerialSum) {
  const int ranks = GetParam().ranks();
  rank_cluster on(GetParam(), 200 * sizeof(double) * static_cast<size_t>(ranks));
  for (const rank_kind kind : {rank_kind::reducescatter, rank_kind::scan, rank_kind::prescan})
    for (const size_t n : {size_t{5}, size_t{200}}) {
      play<float>(on, {kind, n, 0, 0, ggas_sum, ggas_in_none | ggas_out_mine}, 32, 1);
      play<int64_t>(on, {kind, n, 0, 0, ggas_max, ggas_in_all | ggas_out_all}, 32, 2);
    }
}

// The shapes in which 1 ... 16 ranks come: of one, two and four nodes, and of a node each. With the long tests.
std::vector<rank_target> all_shapes() {
  std::vector<rank_target> all;
  for (int ranks = 1; is_long() && ranks <= 16; ++ranks)
    for (const int nodes : std::set{1, 2, 4, ranks})
      if (ranks % nodes == 0) all.push_back({{.nodes = nodes}, static_cast<unsigned>(ranks / nodes)});
  return all;
}

class RanksLong : public testing::TestWithParam<rank_target> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RanksLong);  // without rounds there are no shapes
INSTANTIATE_TEST_SUITE_P(On, RanksLong, testing::ValuesIn(all_shapes()), [](const auto& i) { return i.param.name(); });

// Two warps, one of which is a single thread.
TEST_P(RanksLong, EverySizeRootAndMode) {
  constexpr size_t small[] = {1, 7, 8, 127, 128, 129, 255, 256, 257, 2563}, large[] = {1024, 4095, 4096, 4097, 65536};
  const auto ranks = static_cast<unsigned>(GetParam().ranks());
  std::mt19937 rng(ranks);
  const auto all = [&](rank_cluster& on, size_t n, bool every_root) {
    for (const rank_kind kind : rank_kinds) {
      const bool rooted = kind <= rank_kind::gather;
      for (unsigned mode = 0; mode < 9; ++mode) {
        const unsigned first = every_root ? 0 : rng() % ranks;
        for (unsigned root = first; root < (rooted && every_root ? ranks : first + 1); ++root)
          play<uint8_t>(on,
                        {kind, n, static_cast<int>(root), static_cast<unsigned>(rng() % 64), ggas_max, mode_of(mode)},
                        33, static_cast<unsigned>(rng()));
      }
    }
  };
  rank_cluster few(GetParam(), 2563 * ranks);
  for (const size_t n : small) all(few, n, true);
  for (const size_t n : large) {
    rank_cluster many(GetParam(), n * ranks, 4096);
    all(many, n, false);
  }
}

}  // namespace
}  // namespace ggas::test::ranks_test
