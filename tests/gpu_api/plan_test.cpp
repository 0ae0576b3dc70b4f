// SPDX-License-Identifier: Apache-2.0
// Plans of collectives, by playing them: what each rank has at the end, and how many messages that took.
#include "ggas/detail/plan.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace ggas::detail {
namespace {

constexpr int most = 33;

int log2_up(int size) { return static_cast<int>(std::bit_width(static_cast<unsigned>(size - 1))); }

// Messages of a step, each noticed by both ends: by sender.
template <class Step>
std::map<int, int> messages_of(int size, Step step) {
  std::map<int, int> by_sender, by_receiver;
  for (int rank = 0; rank < size; ++rank) {
    const plan_step s = step(rank);
    EXPECT_TRUE(s.to >= no_rank && s.to < size && s.from >= no_rank && s.from < size) << rank;
    if (s.to != no_rank) by_sender[rank] = s.to;
    if (s.from != no_rank) by_receiver[rank] = s.from;
  }
  EXPECT_EQ(by_sender.size(), by_receiver.size());
  for (const auto& [from, to] : by_sender) EXPECT_EQ(by_receiver.at(to), from);
  return by_sender;
}

// A tree: who has it sends it on; no rank receives twice.
TEST(Plan, ABroadcastIsLog2OfItsRootAndOneMessageForEachOther) {
  for (int size = 1; size <= most; ++size) {
    for (int root = 0; root < size; ++root) {
      const binomial_plan plan{size, root};
      ASSERT_EQ(plan.steps(), log2_up(size));
      std::set<int> has{root};
      int of_root = 0, all = 0;
      for (int step = 0; step < plan.steps(); ++step) {
        std::set<int> now = has;
        for (const auto& [from, to] : messages_of(size, [&](int r) { return plan.at(r, step); })) {
          ASSERT_TRUE(has.contains(from)) << size << ", " << root << ": rank " << from;
          ASSERT_TRUE(now.insert(to).second) << size << ", " << root << ": rank " << to;
          ASSERT_EQ(plan.receives_in(to), step);
          of_root += from == root;
          ++all;
        }
        has = now;
      }
      ASSERT_EQ(static_cast<int>(has.size()), size);
      ASSERT_EQ(of_root, log2_up(size));
      ASSERT_EQ(all, size - 1);
    }
  }
}

// Every rank ends with its own part, and nothing is sent that the sender does not have.
TEST(Plan, AHalvingScatterBringsEveryPart) {
  for (int size = 1; size <= most; ++size) {
    for (int root = 0; root < size; ++root) {
      const binomial_plan plan{size, root};
      std::vector<std::set<int>> has(static_cast<size_t>(size));
      for (int part = 0; part < size; ++part) has[static_cast<size_t>(root)].insert(part);
      ASSERT_EQ(plan.parts_below(root).count, size);
      for (int step = 0; step < plan.steps(); ++step) {
        for (const auto& [from, to] : messages_of(size, [&](int r) { return plan.at(r, step); })) {
          const plan_parts parts = plan.parts_below(to);
          ASSERT_GE(parts.count, 1);
          ASSERT_LE(parts.count, 1 << (plan.steps() - 1 - step));
          ASSERT_LE(parts.count, (size + 1) / 2);
          for (int i = 0; i < parts.count; ++i) {
            const int part = (parts.first + i) % size;
            ASSERT_TRUE(has[static_cast<size_t>(from)].erase(part)) << size << ", " << root << ": part " << part;
            has[static_cast<size_t>(to)].insert(part);
          }
        }
      }
      for (int rank = 0; rank < size; ++rank) ASSERT_EQ(has[static_cast<size_t>(rank)], std::set<int>{rank});
    }
  }
}

TEST(Plan, ALinearPlanHasOneMessageForEachOther) {
  for (int size = 1; size <= most; ++size) {
    for (int root = 0; root < size; ++root) {
      const linear_plan plan{size, root};
      std::set<int> reached, heard;
      for (int step = 0; step < plan.steps(); ++step) {
        for (const auto& [from, to] : messages_of(size, [&](int r) { return plan.from_root(r, step); })) {
          ASSERT_EQ(from, root);
          ASSERT_TRUE(reached.insert(to).second);
        }
        for (const auto& [from, to] : messages_of(size, [&](int r) { return plan.to_root(r, step); })) {
          ASSERT_EQ(to, root);
          ASSERT_TRUE(heard.insert(from).second);
        }
      }
      ASSERT_EQ(static_cast<int>(reached.size()), size - 1);
      ASSERT_EQ(reached, heard);
      ASSERT_FALSE(reached.contains(root));
    }
  }
}

TEST(Plan, ARingSendsEachPartToTheNextRankAlone) {
  for (int size = 1; size <= most; ++size) {
    const ring_plan plan{size};
    std::vector<std::set<int>> has(static_cast<size_t>(size));
    std::vector<int> sent(static_cast<size_t>(size));
    for (int rank = 0; rank < size; ++rank) has[static_cast<size_t>(rank)].insert(rank);
    for (int step = 0; step < plan.steps(); ++step) {
      auto now = has;
      for (const auto& [from, to] : messages_of(size, [&](int r) { return plan.at(r, step); })) {
        ASSERT_EQ(to, (from + 1) % size);
        ASSERT_TRUE(has[static_cast<size_t>(from)].contains(plan.part(from, step)));
        ASSERT_TRUE(now[static_cast<size_t>(to)].insert(plan.part(from, step)).second);
        ++sent[static_cast<size_t>(from)];
      }
      has = now;
    }
    for (int rank = 0; rank < size; ++rank) {
      ASSERT_EQ(static_cast<int>(has[static_cast<size_t>(rank)].size()), size);
      ASSERT_EQ(sent[static_cast<size_t>(rank)], size - 1);
    }
  }
}

// For any number of ranks, not for powers of two alone.
TEST(Plan, XorBringsEveryPairTogetherOnce) {
  for (int size = 1; size <= most; ++size) {
    const xor_plan plan{size};
    std::set<std::pair<int, int>> pairs;
    for (int step = 0; step < plan.steps(); ++step) {
      for (const auto& [from, to] : messages_of(size, [&](int r) { return plan.at(r, step); })) {
        ASSERT_NE(from, to);
        ASSERT_TRUE(pairs.emplace(from, to).second) << size << ": " << from << ", " << to;
      }
    }
    ASSERT_EQ(static_cast<int>(pairs.size()), size * (size - 1)) << size;
  }
}

TEST(Plan, DisseminationTellsEveryRankOfAll) {
  for (int size = 1; size <= most; ++size) {
    const dissemination_plan plan{size};
    std::vector<std::set<int>> knows(static_cast<size_t>(size));
    for (int rank = 0; rank < size; ++rank) knows[static_cast<size_t>(rank)].insert(rank);
    int all = 0;
    for (int step = 0; step < plan.steps(); ++step) {
      auto now = knows;
      for (const auto& [from, to] : messages_of(size, [&](int r) { return plan.at(r, step); })) {
        now[static_cast<size_t>(to)].merge(std::set(knows[static_cast<size_t>(from)]));
        ++all;
      }
      knows = now;
    }
    for (const auto& one : knows) ASSERT_EQ(static_cast<int>(one.size()), size);
    ASSERT_EQ(all, size * log2_up(size));
  }
}

// Kernels and tables of the host may ask before they run.
static_assert(binomial_plan{16, 3}.at(3, 0).to == 11 && ring_plan{4}.at(3, 0).to == 0 && xor_plan{3}.steps() == 3 &&
              dissemination_plan{5}.steps() == 3 && linear_plan{5, 4}.partner(0) == 0);

}  // namespace
}  // namespace ggas::detail
