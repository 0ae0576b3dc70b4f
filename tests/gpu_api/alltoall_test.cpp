// SPDX-License-Identifier: Apache-2.0
// Device API: allgather and alltoall, of all nodes and of teams, by a block and by a grid, at any length and alignment.
#include "tests/gpu_api/spread_rig.hpp"

namespace ggas::test {
namespace {

GGAS_SPREAD_SUITE(Alltoall);

constexpr uint32_t untouched = 0x5eed5eedu;

// The part of a block: it fills, calls and checks. In the grid form each block does all of it for its own words, so
// sources are filled by an earlier kernel.
struct job {
  bool gather;   // or alltoall
  size_t n;      // of a part, words
  size_t shift;  // of both vectors
  uint32_t round;
};

void fill(const spread_test& t, const job& j, const ggas_team& team) {
  const int me = ggas_node(), parts = j.gather ? 1 : team.size;
  for (int k = 0; k < parts; ++k) {
    for (size_t i = threadIdx.x; i < j.n; i += blockDim.x) {
      const int to = j.gather ? 0 : ggas_team_node(team, k);
      ggas_store(t.in(j.shift) + static_cast<size_t>(k) * j.n + i, value_of(j.round, me, to, i));
    }
  }
  const size_t all = static_cast<size_t>(team.size) * j.n;
  for (size_t i = threadIdx.x; i < all + 1; i += blockDim.x) ggas_store(t.out(j.shift) + i, untouched);
  __syncthreads();
}

void check(const spread_test& t, const job& j, const ggas_team& team) {
  const int me = ggas_node();
  for (int k = 0; k < team.size; ++k) {
    for (size_t i = threadIdx.x; i < j.n; i += blockDim.x) {
      const uint32_t want = value_of(j.round, ggas_team_node(team, k), j.gather ? 0 : me, i);
      ASSERT_EQ(ggas_load(t.out(j.shift) + static_cast<size_t>(k) * j.n + i), want)
          << (j.gather ? "allgather" : "alltoall") << " of " << j.n << " words, shift " << j.shift << ": node " << me
          << " from rank " << k << " word " << i;
    }
  }
  EXPECT_EQ(ggas_load(t.out(j.shift) + static_cast<size_t>(team.size) * j.n), untouched) << "written behind the end";
  __syncthreads();
}

ggas_status block_call(const spread_test& t, const job& j, const ggas_team& team) {
  return j.gather ? ggas_allgather_block(t.out(j.shift), t.in(j.shift), j.n, t.enough(), team)
                  : ggas_alltoall_block(t.out(j.shift), t.in(j.shift), j.n, t.enough(), team);
}

TEST_P(Alltoall, ByABlockOfEveryTeamAtEveryLength) {
  for (const size_t n : lengths()) {
    on_all(1, n % 2 ? 160 : 32, [=, this] {
      uint32_t round = 0;
      for (const auto& team : teams()) {
        for (const bool gather : {true, false}) {
          ++round;
          const job j{gather, n, round % 4, round};
          fill(*this, j, team());
          ASSERT_EQ(block_call(*this, j, team()), ggas_ok);
          check(*this, j, team());
        }
      }
    });
    run();
  }
}

// Blocks of members differ in size: some have a line a thread, others several, on the wire it is the same.
TEST_P(Alltoall, ByBlocksOfDifferentSizes) {
  for (const size_t n : lengths()) {
    if (n > 1100) continue;  // one thread takes long
    for (int node = 0; node < nodes(); ++node) {
      const unsigned threads = 1 + static_cast<unsigned>(node * 5 % 8) * 40;
      on(node, 1, threads, [=, this] {
        for (const bool gather : {true, false}) {
          const job j{gather, n, 1, gather ? 1u : 2u};
          fill(*this, j, ggas_world());
          ASSERT_EQ(block_call(*this, j, ggas_world()), ggas_ok);
          check(*this, j, ggas_world());
        }
      });
    }
    run();
  }
}

TEST_P(Alltoall, ByAGrid) {
  for (const unsigned blocks : {2u, 5u}) {
    for (const size_t n : lengths()) {
      for (const bool gather : {true, false}) {
        const job j{gather, n, 1, blocks};
        on_all(1, 64, [=, this] { fill(*this, j, ggas_world()); });
        run();
        on_all(blocks, 64, [=, this] {
          const ggas_status s =
              gather ? ggas_allgather_grid(out(1), in(1), n, enough()) : ggas_alltoall_grid(out(1), in(1), n, enough());
          EXPECT_EQ(s, ggas_ok);
        });
        run();
        on_all(1, 64, [=, this] { check(*this, j, ggas_world()); });
        run();
      }
    }
    if (simulated()) return;
  }
}

TEST_P(Alltoall, OfWideElements) {
  struct alignas(16) wide {
    uint32_t v[4];
  };
  for (const size_t n : {size_t{1}, size_t{9}, size_t{600}}) {
    on_all(1, 64, [=, this] {
      const auto me = static_cast<size_t>(ggas_node());
      wide* const from = ggas_pointer_of_node<wide>(ggas_node(), base() + in_offset) + me;
      wide* const to = ggas_pointer_of_node<wide>(ggas_node(), base() + out_offset) + 2 * me;
      for (size_t i = threadIdx.x; i < n; i += blockDim.x)
        ggas_store(from + i, wide{{1, static_cast<uint32_t>(me), static_cast<uint32_t>(i), 4}});
      __syncthreads();
      ASSERT_EQ(ggas_allgather_block(to, from, n, enough()), ggas_ok);
      for (size_t i = threadIdx.x; i < n * static_cast<size_t>(ggas_nodes()); i += blockDim.x) {
        const wide w = ggas_load(to + i);
        EXPECT_TRUE(w.v[0] == 1 && w.v[1] == i / n && w.v[2] == i % n && w.v[3] == 4) << i;
      }
      auto* const d = reinterpret_cast<double*>(to);
      if (threadIdx.x == 0) ggas_store(d, 1.5 + static_cast<double>(me));
      __syncthreads();
      ASSERT_EQ(ggas_allgather_block(d + 1, d, 1, enough()), ggas_ok);
      for (int k = 0; k < ggas_nodes(); ++k) EXPECT_EQ(ggas_load(d + 1 + k), 1.5 + k);
    });
    run();
  }
}

TEST_P(Alltoall, AllgatherInPlace) {
  for (const size_t n : lengths()) {
    on_all(1, 96, [=, this] {
      const job j{true, n, 2, 5};
      uint32_t* const mine = out(2) + static_cast<size_t>(ggas_node()) * n;
      for (size_t i = threadIdx.x; i < n; i += blockDim.x) ggas_store(mine + i, value_of(5, ggas_node(), 0, i));
      if (threadIdx.x == 0) ggas_store(out(2) + static_cast<size_t>(ggas_nodes()) * n, untouched);
      __syncthreads();
      ASSERT_EQ(ggas_allgather_block(out(2), static_cast<const uint32_t*>(mine), n, enough()), ggas_ok);
      check(*this, j, ggas_world());
    });
    run();
  }
}

TEST_P(Alltoall, RefusesBadArguments) {
  on_all(1, 40, [&] {
    uint32_t* const v = in();
    uint32_t* const none = nullptr;
    const ggas_team nobody = ggas_team_strided(1, 0, 0, 1);
    const ggas_team others{ggas_node() + 1, 1, 1, 1};
    auto* const odd = reinterpret_cast<uint32_t*>(reinterpret_cast<char*>(v) + 2);
    EXPECT_EQ(ggas_alltoall_block(none, v, 1, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_alltoall_block(v, none, 1, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_alltoall_block(odd, v, 1, enough()), ggas_bad_argument);
    uint32_t outside[8] = {};
    EXPECT_EQ(ggas_alltoall_block(v, outside, 1, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_allgather_block(v, outside, 1, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_allgather_block(v, v, 1, enough(), nobody), ggas_bad_argument);
    EXPECT_EQ(ggas_allgather_block(v, v, 1, enough(), others), ggas_bad_argument);
    EXPECT_EQ(ggas_allgather_block(v, v, 2 << 20, enough()), ggas_bad_argument) << "beyond the segment";
    EXPECT_EQ(ggas_allgather_block(v, v, ~0ull / 8, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_alltoall_block(none, none, 0, enough()), ggas_ok) << "nothing to do";
  });
  run();
}

TEST_P(Alltoall, WithoutAMemberTimesOutAndStaysBroken) {
  if (nodes() == 1) GTEST_SKIP() << "one node never waits";
  for (const size_t n : {size_t{5}, size_t{3000}}) {
    SetUp();
    for (int k = 1; k < nodes(); ++k) {
      on(k, 1, 64, [=, this] {
        EXPECT_EQ(ggas_alltoall_block(out(), in(), n, brief()), ggas_timed_out);
        EXPECT_EQ(ggas_alltoall_block(out(), in(), n, enough()), ggas_broken);
        EXPECT_EQ(ggas_broadcast_block(out(), in(), n, 0, enough()), ggas_broken);
      });
    }
    run();
  }
}

}  // namespace
}  // namespace ggas::test
