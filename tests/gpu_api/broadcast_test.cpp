// SPDX-License-Identifier: Apache-2.0
// Device API: broadcast from every root, of all nodes and of teams, by a block and by a grid; mixed with other
// collectives on the same channels.
#include "tests/gpu_api/spread_rig.hpp"

namespace ggas::test {
namespace {

GGAS_SPREAD_SUITE(Broadcast);
INSTANTIATE_TEST_SUITE_P(Copied, Broadcast, testing::ValuesIn(copying_targets()),
                         [](const auto& i) { return i.param.name(); });

constexpr uint32_t untouched = 0x5eed5eedu;

void fill(const spread_test& t, size_t n, size_t shift, uint32_t round) {
  for (size_t i = threadIdx.x; i < n; i += blockDim.x) {
    ggas_store(t.in(shift) + i, value_of(round, ggas_node(), 0, i));
    ggas_store(t.out(0) + i, untouched);
  }
  if (threadIdx.x == 0) ggas_store(t.out(0) + n, untouched);
  __syncthreads();
}

void check(const uint32_t* got, size_t n, uint32_t round, int root) {
  for (size_t i = threadIdx.x; i < n; i += blockDim.x)
    ASSERT_EQ(ggas_load(got + i), value_of(round, root, 0, i))
        << "node " << ggas_node() << " word " << i << " of " << n << " from node " << root;
  __syncthreads();
}

// Long enough that leaves forward.
std::vector<size_t> lengths_of(const spread_test& t) {
  std::vector<size_t> all = t.lengths();
  if (!t.simulated()) all.insert(all.end(), {20001, 70001});
  return all;
}

TEST_P(Broadcast, FromEveryRootOfEveryTeam) {
  for (const size_t n : lengths_of(*this)) {
    on_all(1, 128, [=, this] {
      uint32_t kind = 0;
      for (const auto& make_team : teams()) {
        ++kind;
        const ggas_team team = make_team();
        for (int root = 0; root < team.size; ++root) {
          if (n > 1500 && root != 0 && root != team.size - 1) continue;
          const size_t shift = (n + static_cast<size_t>(root)) % 2;
          const uint32_t round = kind << 8 | static_cast<uint32_t>(root);
          fill(*this, n, shift, round);
          ASSERT_EQ(ggas_broadcast_block(out(), in(shift), n, root, enough(), team), ggas_ok);
          check(out(), n, round, ggas_team_node(team, root));
          EXPECT_EQ(ggas_load(out() + n), untouched) << "written behind the end";
        }
      }
    });
    run();
  }
}

// Long parts may be stored to all leaves at once where all name the same place.
TEST_P(Broadcast, ToTheSamePlaceEverywhere) {
  for (const size_t n : {1u, 300u, 1300u, 5003u}) {
    for (const unsigned blocks : {1u, 3u}) {
      for (const size_t shift : {0u, 1u}) {
        const int root = shift == 0 ? 0 : nodes() - 1;
        const auto at = [=, this](uint64_t offset) {
          return ggas_pointer_of_node<uint32_t>(ggas_node(), base() + offset) + shift;
        };
        on_all(blocks, 64, [=, this] {
          const size_t threads = size_t{gridDim.x} * blockDim.x;
          for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i <= n; i += threads) {
            ggas_store(at(in_offset) + i, value_of(static_cast<uint32_t>(n + blocks), ggas_node(), 0, i));
            ggas_store(at(out_offset) + i, untouched);
          }
        });
        run();
        on_all(blocks, 64, [=, this] {
          const ggas_status s = blocks == 1 ? ggas_broadcast_block(at(out_offset), at(in_offset), n, root, enough())
                                            : ggas_broadcast_grid(at(out_offset), at(in_offset), n, root, enough());
          ASSERT_EQ(s, ggas_ok);
          if (blocks == 1) check(at(out_offset), n, static_cast<uint32_t>(n + blocks), root);
        });
        run();
        on_all(1, 64, [=, this] {
          check(at(out_offset), n, static_cast<uint32_t>(n + blocks), root);
          EXPECT_EQ(ggas_load(at(out_offset) + n), untouched) << "written behind the end";
        });
        run();
      }
    }
  }
}

// Several calls after each other, so that roots run ahead of blocks with fewer threads.
TEST_P(Broadcast, ByBlocksOfDifferentSizes) {
  for (const size_t n : lengths()) {
    if (n > 1100) continue;  // one thread takes long
    const uint32_t rounds = n > 100 ? 2 : 6;
    for (int node = 0; node < nodes(); ++node) {
      const unsigned threads = 1 + static_cast<unsigned>(node * 5 % 8) * 40;
      on(node, 1, threads, [=, this] {
        for (uint32_t round = 1; round <= rounds; ++round) {
          const int root = static_cast<int>(round / 4) % ggas_nodes();
          fill(*this, n, 0, round);
          ASSERT_EQ(ggas_broadcast_block(out(), in(), n, root, enough()), ggas_ok);
          check(out(), n, round, root);
        }
      });
    }
    run();
  }
}

TEST_P(Broadcast, ByAGrid) {
  for (const size_t n : lengths_of(*this)) {
    for (const size_t shift : {0u, 2u}) {  // aligned as the destinations, and not
      const int root = shift == 0 ? 0 : nodes() - 1;
      const auto round = static_cast<uint32_t>(9 + shift);
      on_all(1, 64, [=, this] { fill(*this, n, shift, round); });
      run();
      on_all(3, 64, [=, this] { EXPECT_EQ(ggas_broadcast_grid(out(), in(shift), n, root, enough()), ggas_ok); });
      run();
      on_all(1, 64, [=, this] {
        check(out(), n, round, root);
        EXPECT_EQ(ggas_load(out() + n), untouched) << "written behind the end";
      });
      run();
    }
  }
}

TEST_P(Broadcast, InPlaceAtTheRootWhereOnlyTheRootNamesASource) {
  for (const size_t n : lengths_of(*this)) {
    on_all(1, 64, [=, this] {
      fill(*this, n, 0, 4);
      const bool root = ggas_node() == 0;
      ASSERT_EQ(ggas_broadcast_block(root ? in() : out(), root ? in() : nullptr, n, 0, enough()), ggas_ok);
      check(root ? in() : out(), n, 4, 0);
    });
    run();
  }
}

// One kernel, many calls back to back: slots are used again while slower nodes still read theirs. Some nodes are slow
// at times.
TEST_P(Broadcast, BackToBackAndMixed) {
  const uint32_t rounds = simulated() ? 5 : 150;
  on_all(1, 64, [&] {
    uint32_t state = 7;  // the same on every node
    for (uint32_t r = 1; r <= rounds; ++r) {
      state = state * 1664525 + 1013904223;
      const size_t n = 1 + (state >> 30 ? state / 65536 % 40 : state / 65536 % 1500);
      const int root = static_cast<int>(state / 256 % static_cast<unsigned>(ggas_nodes()));
      const unsigned kind = state / 16 % 5;
      if ((state / 4096 + static_cast<unsigned>(ggas_node())) % 3 == 0) __nanosleep(2000);
      fill(*this, n, 0, r);
      if (kind < 2) {
        ASSERT_EQ(ggas_broadcast_block(out(), in(), n, root, enough()), ggas_ok);
        check(out(), n, r, root);
      } else if (kind == 2) {
        ASSERT_EQ(ggas_allgather_block(out(), in(), n, enough()), ggas_ok);
        for (int k = 0; k < ggas_nodes(); ++k) check(out() + static_cast<size_t>(k) * n, n, r, k);
      } else if (kind == 3) {
        ASSERT_EQ(ggas_reduce_block(out(), in(), n, ggas_max, root, ggas_one_shot, enough()), ggas_ok);
      } else {
        ASSERT_EQ(ggas_allreduce_block(out(), in(), n, ggas_max, ggas_two_shot, enough()), ggas_ok);
        for (size_t i = threadIdx.x; i < n; i += blockDim.x) {
          uint32_t want = 0;
          for (int k = 0; k < ggas_nodes(); ++k) want = std::max(want, value_of(r, k, 0, i));
          ASSERT_EQ(ggas_load(out() + i), want);
        }
        __syncthreads();
      }
    }
  });
  run();
}

// Many calls in sequence, in which the root runs ahead of its leaves as far as possible. Each call has other data, and
// sizes that need one channel or several. One leaf after the other is late. Sometimes another member is the root.
TEST_P(Broadcast, TheRootRunsAhead) {
  const uint32_t rounds = simulated() ? 12 : 200;
  on_all(1, 256, [&] {
    for (uint32_t r = 1; r <= rounds; ++r) {
      const int root = static_cast<int>(r / 40 % static_cast<unsigned>(ggas_nodes()));
      const size_t n = r % 7 == 0 ? 700 : 1 + r % 50;
      if (ggas_node() == root) {
        for (size_t i = threadIdx.x; i < n; i += blockDim.x) ggas_store(in() + i, value_of(r, root, 0, i));
        __syncthreads();
      } else if ((r + static_cast<unsigned>(ggas_node())) % 11 == 0) {
        __nanosleep(5000);
      }
      ASSERT_EQ(ggas_broadcast_block(out(), in(), n, root, enough()), ggas_ok);
      check(out(), n, r, root);
    }
  });
  run();
}

// Without a leaf the root stops before it overwrites what the leaf has not read; the other leaves have what it sent.
TEST_P(Broadcast, WithoutALeafTimesOutAfterAFewCalls) {
  if (nodes() == 1) GTEST_SKIP() << "one node never waits";
  on(0, 1, 64, [&] {
    int passed = 0;
    while (passed < 10 && ggas_broadcast_block(out(), in(), 5, 0, brief()) == ggas_ok) ++passed;
    EXPECT_EQ(passed, 2);
    EXPECT_EQ(ggas_broadcast_block(out(), in(), 5, 0, enough()), ggas_broken);
  });
  run();
}

// The number of an exchange passes 2^30, where slots are refreshed, and 2^32, where lines begin again at 0.
TEST_P(Broadcast, NumbersOfExchangesWrap) {
  if (simulated() && GetParam().nic != "model") GTEST_SKIP() << "the same code, and slow";
  const layout l = layout::of(static_cast<uint64_t>(nodes()), cluster_->device_context(0).reserved);
  for (const uint64_t last : {(uint64_t{1} << 30) - 5, (uint64_t{1} << 32) - 5}) {
    for (int node = 0; node < nodes(); ++node) {
      for (uint64_t channel = 0; channel < l.channels; ++channel)
        *reinterpret_cast<uint64_t*>(cluster_->segment(node) + l.channel_seq(0, channel)) = last;
    }
    on_all(1, 64, [&] {
      for (uint32_t r = 1; r <= 16; ++r) {
        const size_t n = r % 2 ? 9 : l.channel_bytes / 8 + 3;  // one channel, two channels
        fill(*this, n, 0, r);
        if (r <= 4) {  // what the numbers say was before has not been: every member must have learned of it
          ASSERT_EQ(ggas_allgather_block(out(), in(), n, enough()), ggas_ok);
        } else {
          const int root = static_cast<int>(r) % ggas_nodes();
          ASSERT_EQ(ggas_broadcast_block(out(), in(), n, root, enough()), ggas_ok);
          check(out(), n, r, root);
        }
      }
    });
    run();
    for (int node = 0; node < nodes(); ++node) {
      for (int from = 0; from < nodes(); ++from) {
        for (uint64_t turn = 0; turn < layout::channel_depth && from != node; ++turn) {
          const uint64_t slot = l.channel_slot(0, 0, turn, static_cast<uint64_t>(from));
          const auto* const words = reinterpret_cast<const uint32_t*>(cluster_->segment(node) + slot);
          for (uint64_t i = 0; i < l.channel_bytes / 4; i += 2)
            ASSERT_LE(static_cast<uint32_t>(last) + 17 - words[i + 1], 24u) << "line " << i / 4 << " from " << from;
        }
      }
    }
  }
}

TEST_P(Broadcast, RefusesBadArguments) {
  on_all(1, 40, [&] {
    uint32_t* const none = nullptr;
    EXPECT_EQ(ggas_broadcast_block(out(), in(), 1, -1, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_broadcast_block(out(), in(), 1, ggas_nodes(), enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_broadcast_block(none, in(), 1, 0, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_broadcast_block(out(), none, 1, ggas_node(), enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_broadcast_block(out(), in(), 8 << 20, 0, enough()), ggas_bad_argument) << "beyond the segment";
    EXPECT_EQ(ggas_broadcast_block(none, none, 0, 0, enough()), ggas_ok) << "nothing to do";
  });
  run();
}

}  // namespace
}  // namespace ggas::test
