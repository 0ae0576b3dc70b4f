// SPDX-License-Identifier: Apache-2.0
// Collectives of a trace: whose data have reached whom when a rank's part has ended, and how many bytes that took.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>

#include "benchmarks/trace/collectives.hpp"

namespace ggas::bench {
namespace {

using enum chakra_collective;
using kind = schedule_op::kind;

schedule plan(chakra_collective what, uint32_t size, uint64_t bytes) {
  schedule s;
  std::vector<uint32_t> group;
  for (uint32_t r = 0; r < size; ++r) group.push_back(r);
  for (uint32_t r = 0; r < size; ++r) {
    auto& ops = s.ranks.emplace_back(2);
    add_collective({ops, group, r, 1, 0, 0, 1}, what, bytes);
  }
  return s;
}

// Runs it without time. A message carries every member's data that its sender has at its begin.
struct outcome {
  std::vector<std::set<uint32_t>> reached;  // by rank: whose data
  size_t left = 0;                          // operations that never ended
};

outcome run(const schedule& s) {
  outcome out;
  std::vector<std::vector<uint32_t>> waits;
  std::deque<std::pair<uint32_t, uint32_t>> ready;  // rank, operation
  std::map<std::pair<uint32_t, uint32_t>, std::deque<std::set<uint32_t>>> sent;
  std::map<std::pair<uint32_t, uint32_t>, std::deque<uint32_t>> receiving;
  for (uint32_t r = 0; r < s.ranks.size(); ++r) {
    out.reached.push_back({r});
    out.left += s.ranks[r].size();
    auto& w = waits.emplace_back();
    for (uint32_t i = 0; i < s.ranks[r].size(); ++i)
      if (w.emplace_back(s.ranks[r][i].waits) == 0) ready.push_back({r, i});
  }
  const auto end = [&](uint32_t r, uint32_t i) {
    --out.left;
    for (const uint32_t next : s.ranks[r][i].at_end)
      if (--waits[r][next] == 0) ready.push_back({r, next});
  };
  const auto deliver = [&](uint32_t from, uint32_t to) {
    auto& data = sent[{from, to}];
    auto& list = receiving[{from, to}];
    for (; !data.empty() && !list.empty(); data.pop_front(), list.pop_front()) {
      out.reached[to].merge(data.front());
      end(to, list.front());
    }
  };
  for (; !ready.empty(); ready.pop_front()) {
    const auto [r, i] = ready.front();
    const schedule_op& op = s.ranks[r][i];
    if (op.what == kind::recv) {
      receiving[{op.peer, r}].push_back(i);
      deliver(op.peer, r);
      continue;
    }
    if (op.what == kind::send) {
      sent[{r, op.peer}].push_back(out.reached[r]);
      deliver(r, op.peer);
    }
    end(r, i);
  }
  return out;
}

class collectives : public testing::TestWithParam<uint32_t> {};

TEST_P(collectives, data_reach_whom_they_must) {
  const uint32_t size = GetParam();
  for (const uint64_t bytes : {1u, 8u, 100'000u})
    for (const auto what : {all_reduce, reduce, all_gather, gather, scatter, broadcast, all_to_all, reduce_scatter,
                            reduce_scatter_block, barrier}) {
      SCOPED_TRACE(testing::Message() << "collective " << int(what) << ", " << bytes << " bytes");
      schedule s = plan(what, size, bytes);
      const auto fault = check_schedule(s);
      ASSERT_FALSE(fault) << fault->rule;
      const outcome o = run(s);
      EXPECT_EQ(o.left, 0u);
      const bool to_root = what == reduce || what == gather, from_root = what == broadcast || what == scatter;
      for (uint32_t r = 0; r < size; ++r) {
        const bool from_all = to_root ? r == 0 : !from_root;
        EXPECT_TRUE(!from_root || o.reached[r].contains(0)) << "rank " << r;
        EXPECT_TRUE(!from_all || o.reached[r].size() == size) << "rank " << r;
      }
    }
}

TEST_P(collectives, bytes_are_those_of_the_algorithm) {
  const uint64_t n = GetParam(), bytes = 1024 * 1024 * n;
  const auto moved = [&](chakra_collective what) {
    schedule s = plan(what, uint32_t(n), bytes);
    check_schedule(s);
    return s.bytes;
  };
  EXPECT_EQ(moved(all_reduce), 2 * (n - 1) * bytes);
  EXPECT_EQ(moved(reduce_scatter), (n - 1) * bytes);
  EXPECT_EQ(moved(all_gather), n * (n - 1) * bytes);
  EXPECT_EQ(moved(all_to_all), (n - 1) * bytes);
  EXPECT_EQ(moved(scatter), (n - 1) * bytes / n);
  for (const auto what : {reduce, gather, broadcast}) EXPECT_EQ(moved(what), (n - 1) * bytes);
}

INSTANTIATE_TEST_SUITE_P(sizes, collectives, testing::Values(1, 2, 3, 4, 5, 7, 8, 13, 16));

}  // namespace
}  // namespace ggas::bench
