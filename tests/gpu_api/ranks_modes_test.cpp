// SPDX-License-Identifier: Apache-2.0
// What the synchronisation modes of ranks promise, with ranks that are late; and what is refused, fails and is checked.
#include <array>
#include <atomic>
#include <cstdlib>
#include <random>

#include "tests/gpu_api/ranks_rig.hpp"

namespace ggas::test::ranks_modes_test {
namespace {

constexpr size_t n = 96;
constexpr std::byte untouched{0x5a};

// Others go on meanwhile.
void pause(unsigned turns) {
  for (unsigned i = 0; i < turns; ++i) __nanosleep(100);
}

class Modes : public testing::TestWithParam<rank_target> {
 protected:
  Modes() : on_(GetParam(), n * sizeof(uint32_t) * static_cast<size_t>(GetParam().ranks())) {}
  int ranks() const { return GetParam().ranks(); }

  rank_plan<uint32_t> plan_of(rank_kind kind, ggas_sync_mode mode, int root = 0) const {
    return {kind, n, root, 2, ggas_sum, mode};
  }
  void prepare(const rank_plan<uint32_t>& p) {
    on_.fill(untouched);
    for (int rank = 0; rank < ranks(); ++rank) {
      auto* const src = reinterpret_cast<uint32_t*>(on_.memory(on_.src, rank));
      for (size_t i = 0; i < source_elements(p, ranks()); ++i) src[i] = element<uint32_t>(1, rank, i);
    }
  }
  bool is_untouched(int rank) const {
    const std::byte* const dst = on_.memory(on_.dst, rank);
    return std::all_of(dst, dst + on_.step() - rank_cluster::guard, [](std::byte b) { return b == untouched; });
  }
  // Whether all that belongs to a rank is there; `late`: but what that one and itself bring.
  bool is_complete(const rank_plan<uint32_t>& p, int rank, int late) const {
    const auto* const dst = reinterpret_cast<const volatile uint32_t*>(on_.memory(on_.dst, rank));
    const bool parts = target_elements(p, ranks()) != n;
    for (size_t i = 0; i < target_elements(p, ranks()); ++i) {
      const int from = parts                          ? static_cast<int>(i / n)
                       : p.kind == rank_kind::permute ? p.source(rank, ranks())
                                                      : p.root;
      uint32_t v = 0;
      if (from != late && (late < 0 || from != rank) && expected(p, ranks(), 1, rank, i, v) && dst[i] != v)
        return false;
    }
    return true;
  }
  ggas_status call(const rank_plan<uint32_t>& p) {
    return call_of_rank(on_.ranks, p, on_.as<uint32_t>(on_.dst), on_.as<uint32_t>(on_.src), on_.enough());
  }
  // All ranks call; one of them first does `before`.
  void play(const rank_plan<uint32_t>& p, int late, const std::function<void()>& before) {
    prepare(p);
    std::atomic<unsigned> failed = 0;
    on_.run(32, [&] {
      if (ggas_rank(on_.ranks) == late) {
        if (threadIdx.x == 0) before();
        __syncthreads();
      }
      failed += call(p) != ggas_ok;
      failed += ggas_barrier(on_.ranks, on_.enough()) != ggas_ok;
    });
    EXPECT_EQ(failed, 0u);
    for (int rank = 0; rank < ranks(); ++rank) EXPECT_TRUE(is_complete(p, rank, -1)) << rank;
  }
  void expect_goes_on() {
    const auto p = plan_of(rank_kind::alltoall, ggas_in_mine | ggas_out_mine);
    play(p, -1, [] {});
  }

  rank_cluster on_;
};
INSTANTIATE_TEST_SUITE_P(On, Modes,
                         testing::Values(rank_target{{.nodes = 5}, 1}, rank_target{{.nodes = 1}, 5},
                                         rank_target{{.nodes = 3}, 2}),
                         [](const auto& i) { return i.param.name(); });

constexpr rank_kind moves[] = {rank_kind::broadcast, rank_kind::scatter,  rank_kind::gather,
                               rank_kind::allgather, rank_kind::alltoall, rank_kind::permute};

TEST_P(Modes, InAllTouchesNothingBeforeAllHaveEntered) {
  for (const rank_kind kind : moves) {
    unsigned touched = 0;
    const auto p = plan_of(kind, ggas_in_all | ggas_out_mine, 1);
    play(p, ranks() - 1, [&] {
      pause(2000);
      for (int rank = 0; rank < ranks(); ++rank) touched += !is_untouched(rank);
    });
    EXPECT_EQ(touched, 0u) << static_cast<int>(kind);
  }
}

// The others' data arrive meanwhile. The last rank is a leaf of the tree.
TEST_P(Modes, InMineTouchesNothingOfARankThatIsLate) {
  const int late = ranks() - 1;
  for (const rank_kind kind : moves) {
    bool own = false, others = false;
    const auto p = plan_of(kind, ggas_in_mine | ggas_out_none);
    play(p, late, [&] {
      for (unsigned i = 0; i < 100000 && !others; ++i) {
        others = true;
        for (int rank = 0; rank < late; ++rank) others = others && is_complete(p, rank, late);
        pause(1);
      }
      pause(100);
      own = is_untouched(late);
    });
    EXPECT_TRUE(own && others) << static_cast<int>(kind) << own << others;
  }
}

TEST_P(Modes, InNoneWaitsForNoOne) {
  const int late = ranks() - 1;
  for (const rank_kind kind : moves) {
    const auto p = plan_of(kind, ggas_in_none | ggas_out_none);
    std::atomic<int> returned = 0;
    prepare(p);
    bool complete = false;
    on_.run(32, [&] {
      if (ggas_rank(on_.ranks) != late) {
        EXPECT_EQ(call(p), ggas_ok);
        if (threadIdx.x == 0) ++returned;
        return;
      }
      for (unsigned i = 0; i < 100000 && returned != late; ++i) pause(1);
      complete = is_complete(p, late, late);
      EXPECT_EQ(call(p), ggas_ok);
    });
    EXPECT_EQ(returned, late) << static_cast<int>(kind);
    EXPECT_TRUE(complete) << static_cast<int>(kind);
  }
}

// How a rank finds out that its data are complete, in rounds in which each writer is late at random.
using finish = std::function<ggas_status(unsigned round)>;
unsigned old_values(rank_cluster& on, ggas_sync_mode mode, unsigned rounds, const finish& end, bool of_all) {
  const int count = on.count();
  rank_plan<uint32_t> p{rank_kind::alltoall, 3, 0, 0, ggas_sum, mode};
  on.fill(untouched);
  std::atomic<unsigned> old = 0, failed = 0;
  on.run_rounds(16, rounds, [&](unsigned first, unsigned last) {
    const int me = ggas_rank(on.ranks);
    std::mt19937 rng(static_cast<unsigned>(me) + first);
    auto* const src = ggas_pointer_of_rank(on.ranks, me, on.as<uint32_t>(on.src));
    for (unsigned round = first + 1; round <= last; ++round) {
      for (size_t i = threadIdx.x; i < source_elements(p, count); i += blockDim.x)
        src[i] = element<uint32_t>(round, me, i);
      failed += ggas_barrier(on.ranks, on.enough()) != ggas_ok;
      const auto late = static_cast<unsigned>(rng());
      if (late % 4 == 0 && threadIdx.x == 0) pause(late / 4 % 64);
      failed += call_of_rank(on.ranks, p, on.as<uint32_t>(on.dst), on.as<uint32_t>(on.src), on.enough()) != ggas_ok;
      failed += end(round) != ggas_ok;
      for (int rank = of_all ? 0 : me; rank < (of_all ? count : me + 1); ++rank) {
        const auto* const dst = ggas_pointer_of_rank(on.ranks, rank, on.as<uint32_t>(on.dst));
        for (size_t i = threadIdx.x; i < target_elements(p, count); i += blockDim.x) {
          uint32_t v = 0;
          expected(p, count, round, rank, i, v);
          old += ggas_load(dst + i) != v;
        }
      }
      failed += ggas_barrier(on.ranks, on.enough()) != ggas_ok;
    }
  });
  EXPECT_EQ(failed, 0u);
  return old;
}

// The original's order: one rank informs all that it is done, then learns of them. No one learns of the other writers.
ggas_status tell_and_hear(rank_cluster& on, ranked<uint64_t> words, unsigned round) {
  const int me = ggas_rank(on.ranks), count = on.count();
  ggas_status s = ggas_ok;
  __syncthreads();
  if (threadIdx.x == 0 && me == 0) {
    for (int r = 1; r < count; ++r) ggas_store(ggas_pointer_of_rank(on.ranks, r, words), uint64_t{round}, ggas_release);
    for (int r = 1; r < count && s == ggas_ok; ++r)
      s = ggas_wait_until(ggas_pointer_of_rank(on.ranks, 0, words) + r, ggas_ge, round, on.enough());
  } else if (threadIdx.x == 0) {
    s = ggas_wait_until(ggas_pointer_of_rank(on.ranks, me, words), ggas_ge, round, on.enough());
    ggas_store(ggas_pointer_of_rank(on.ranks, 0, words) + me, uint64_t{round}, ggas_release);
  }
  __syncthreads();
  return s;
}

TEST(RankSkew, AReaderNeverSeesAnOldValueAndTheOriginalsOrderDoesNotSuffice) {
  for (const rank_target& t : {rank_target{{.nodes = 6}, 1}, rank_target{{.nodes = 2}, 3}}) {
    rank_cluster on(t, 4096);
    const auto nothing = [](unsigned) { return ggas_ok; };
    EXPECT_EQ(old_values(on, ggas_in_none | ggas_out_mine, rounds(200), nothing, false), 0u);
    EXPECT_EQ(old_values(on, ggas_in_none | ggas_out_all, rounds(200), nothing, true), 0u);
    std::string why;
    const uint64_t step = 256;
    const ranked<uint64_t> words{*on.memory_heap().allocate(step * t.blocks, why), step};
    const auto original = [&](unsigned round) { return tell_and_hear(on, words, round); };
    EXPECT_GT(old_values(on, ggas_in_none | ggas_out_none, 200, original, false), 0u);
  }
}

// Permutes in a row that wait for no one: a source that runs ahead is distinguished from that of this permute.
TEST(RankSkew, PermutesInARowKeepTheirSources) {
  for (const rank_target& t : {rank_target{{.nodes = 5}, 1}, rank_target{{.nodes = 2}, 3}}) {
    rank_cluster on(t, 64 * sizeof(uint32_t));
    const int count = on.count();
    std::atomic<unsigned> wrong = 0;
    on.run(8, [&] {
      const int me = ggas_rank(on.ranks);
      std::mt19937 rng(static_cast<unsigned>(me)), same(11);
      for (unsigned round = 0; round < 64; ++round) {
        // A place of its own for each round: nothing is overwritten.
        const ranked<uint32_t> src{on.src.offset + round * 4, on.src.step}, dst{on.dst.offset + round * 4, on.dst.step};
        const rank_plan<uint32_t> p{rank_kind::permute, 1, 0, static_cast<unsigned>(same())};
        if (threadIdx.x == 0) *ggas_pointer_of_rank(on.ranks, me, src) = element<uint32_t>(round, me, 0);
        if (threadIdx.x == 0 && rng() % 3 == 0) pause(static_cast<unsigned>(rng() % 200));
        const auto mode = round % 5 == 4 ? ggas_in_none | ggas_out_none : ggas_in_none | ggas_out_mine;
        wrong += ggas_permute(on.ranks, dst, src, 1, p.target(me, count), on.enough(), mode) != ggas_ok;
        if (round % 5 != 4)
          wrong +=
              ggas_load(ggas_pointer_of_rank(on.ranks, me, dst)) != element<uint32_t>(round, p.source(me, count), 0);
      }
    });
    EXPECT_EQ(wrong, 0u);
  }
}

// ------------------------------------------------------------------------------------------------ what is refused

TEST_P(Modes, BadInputIsRefusedAndStoresNothing) {
  prepare(plan_of(rank_kind::alltoall, ggas_in_all));
  const uint64_t end = on_.on().segment_bytes();
  std::atomic<unsigned> other = 0;
  on_.run(8, [&] {
    const auto dst = on_.as<uint32_t>(on_.dst), src = on_.as<uint32_t>(on_.src);
    const auto refused = [&](ggas_status s) { other += s != ggas_bad_argument; };
    const uint64_t t = on_.enough();
    const ggas_ranks& r = on_.ranks;
    refused(ggas_broadcast(r, dst, src, 0, 0, t));
    refused(ggas_broadcast(r, dst, src, n, -1, t));
    refused(ggas_gather(r, dst, src, n, ranks(), t));
    refused(ggas_scatter(r, ranked<uint32_t>{dst.offset + 2, dst.step}, src, n, 0, t));
    refused(ggas_scatter(r, dst, {end - 4, src.step}, n, 0, t));
    refused(ggas_scatter(r, dst, src, ~size_t{0} / 4, 0, t));
    refused(ggas_allgather(r, dst, {dst.offset + 4, dst.step}, n, t));
    refused(ggas_alltoall(r, dst, dst, n, t));
    refused(ggas_alltoall(r, dst, src, n, t, static_cast<ggas_sync_mode>(3)));
    refused(ggas_alltoall(r, dst, src, n, t, static_cast<ggas_sync_mode>(12)));
    refused(ggas_permute(r, dst, src, n, ranks(), t, ggas_in_mine));
    refused(ggas_permute(r, dst, src, n, ranks(), t));  // no rank of the last: found by all
    if (ranks() > 1) refused(ggas_permute(r, dst, src, n, ggas_rank(r) == 1 ? 0 : ggas_rank(r), t));
    refused(ggas_scan(r, dst, src, n, static_cast<ggas_op>(9), ggas_scan_inclusive, t));
    refused(ggas_scan(r, dst, src, n, ggas_sum, static_cast<ggas_scan_kind>(2), t));
    refused(ggas_reducescatter(r, dst, {dst.offset + 4, dst.step}, n, ggas_sum, t));
    if (r.blocks > 1) refused(ggas_broadcast(r, ranked<uint32_t>{dst.offset, 4}, src, n, 0, t));
    ggas_ranks none{};
    refused(ggas_broadcast(none, dst, src, n, 0, t));
    refused(ggas_barrier(none, t));
    none = r;
    none.place = end - 64;
    refused(ggas_alltoall(none, dst, src, n, t));
    none = r;
    none.first = 1;
    refused(ggas_alltoall(none, dst, src, n, t));
  });
  EXPECT_EQ(other, 0u);
  for (int rank = 0; rank < ranks(); ++rank) EXPECT_TRUE(is_untouched(rank)) << rank;
  expect_goes_on();
}

TEST_P(Modes, ARankThatStaysAwayIsATimeOutAndBreaksTheNode) {
  const int late = ranks() - 1;
  for (const auto mode : {ggas_in_all | ggas_out_all, ggas_in_mine | ggas_out_mine, ggas_in_none | ggas_out_mine}) {
    const auto p = plan_of(rank_kind::alltoall, mode);
    prepare(p);
    std::atomic<unsigned> other = 0;
    on_.run(32, [&] {
      if (ggas_rank(on_.ranks) == late) return;
      const auto dst = on_.as<uint32_t>(on_.dst), src = on_.as<uint32_t>(on_.src);
      const ggas_status s = call_of_rank(on_.ranks, p, dst, src, on_.brief());
      other += s != ggas_timed_out && s != ggas_broken;  // broken: another rank of the node was earlier
      other += call(p) != ggas_broken;
    });
    EXPECT_EQ(other, 0u) << mode;
    if (mode == (ggas_in_mine | ggas_out_mine)) {
      EXPECT_NE(on_.on().report()->text().find("rank " + std::to_string(late) + " did not arrive at call"),
                std::string::npos)
          << on_.on().report()->text();
    }
    const auto r = on_.on().reset(4 * on_.enough());
    ASSERT_TRUE(r) << r.error().text;
    expect_goes_on();
  }
}

TEST(RankSpace, NamesWhatIsWrongAndTakesWhatTheFormulaSays) {
  rank_cluster on({{.nodes = 3}, 2}, 64);
  std::string why;
  const rank_shape shape{.blocks = 2, .slot_bytes = 64, .credits = 3};
  EXPECT_EQ(on.space().bytes(shape), 256u + 2 * ((64 + 6 * 248 + 63) / 64 * 64 + 6 * 3 * 64));
  const uint64_t used = on.memory_heap().statistics().used;
  const ggas_ranks r = on.space().make(shape, why);
  EXPECT_EQ(why, "");
  EXPECT_EQ(on.memory_heap().statistics().used - used, (on.space().bytes(shape) + 255) / 256 * 256);
  EXPECT_EQ(on.space().free(r), "");
  EXPECT_EQ(on.memory_heap().statistics().used, used);
  EXPECT_NE(on.space().free(r).find("not made here"), std::string::npos);
  const auto refused = [&](const rank_shape& s, const std::string& rule) {
    EXPECT_EQ(on.space().make(s, why).blocks, 0u);
    EXPECT_NE(why.find(rule), std::string::npos) << why;
  };
  refused({.blocks = 0}, "must be 1 ... 1024");
  refused({.blocks = 1025}, "must be 1 ... 1024");
  refused({.slot_bytes = 24}, "multiple of 16");
  refused({.credits = 0}, "must be 1 ... 65536");
  refused({.nodes = ggas_team{1, 1, 3, 0}}, "nodes 0 ... 2");
  refused({.slot_bytes = 1u << 24}, "free");
}

// ------------------------------------------------------------------------------------------------ checked mode

TEST(RanksChecked, RanksThatCallDifferentlyAreAllRefusedAndNamed) {
  setenv("GGAS_CHECKED", "1", 1);
  const rank_target t{{.nodes = 2}, 3};
  rank_cluster on(t, 64 * sizeof(uint32_t) * 6);
  unsetenv("GGAS_CHECKED");
  const int count = on.count();
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 rng(seed);
    const auto kind = rank_kinds[rng() % std::size(rank_kinds)];
    rank_plan<uint32_t> usual{kind, 5, 1, 2, ggas_sum, mode_of(static_cast<unsigned>(rng() % 9))};
    rank_plan<uint32_t> other = usual;
    const auto culprit = static_cast<int>(rng() % static_cast<unsigned>(count));
    const bool rooted = kind == rank_kind::broadcast || kind == rank_kind::scatter || kind == rank_kind::gather;
    switch (rng() % 3) {
      case 0:
        other.n = 6;
        break;
      case 1:
        if (rooted)
          other.root = 2;
        else
          other.kind = kind == rank_kind::permute ? rank_kind::broadcast : rank_kind::permute;
        break;
      case 2:
        other.mode = static_cast<ggas_sync_mode>((usual.mode & 3u) | ((usual.mode & 12u) == 0 ? 4u : 0u));
        break;
    }
    std::atomic<unsigned> accepted = 0, failed = 0;
    on.run(16, [&] {
      const auto dst = on.as<uint32_t>(on.dst), src = on.as<uint32_t>(on.src);
      const auto& mine = ggas_rank(on.ranks) == culprit ? other : usual;
      accepted += call_of_rank(on.ranks, mine, dst, src, on.enough()) != ggas_bad_argument;
      failed += call_of_rank(on.ranks, usual, dst, src, on.enough()) != ggas_ok;
    });
    EXPECT_EQ(accepted, 0u) << seed;
    EXPECT_EQ(failed, 0u) << seed;
    const std::string text = on.on().report()->text();
    const std::string named = "but by rank " + std::to_string(culprit) + " as";
    EXPECT_NE(text.find(named), std::string::npos) << seed << "\n" << text;
    EXPECT_NE(text.find("of ranks, in "), std::string::npos) << text;
    ASSERT_TRUE(on.on().reset(4 * on.enough()));
  }
}

}  // namespace
}  // namespace ggas::test::ranks_modes_test
