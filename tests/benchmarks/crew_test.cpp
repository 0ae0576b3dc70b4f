// SPDX-License-Identifier: Apache-2.0
// The processes of comparison programs: what one shares all have; a process that fails or hangs ends the run.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

#include "benchmarks/compare/processes.hpp"

using ggas::compare::crew;
using ggas::compare::run_crew;

namespace {

double seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class crews : public testing::TestWithParam<int> {};

TEST_P(crews, rank_0_shares_and_the_largest_wins) {
  const int size = GetParam();
  EXPECT_EQ(0, run_crew(size, 10, [size](crew& c) {
              for (int round = 0; round < 100; ++round) {
                int number = c.rank() == 0 ? 1000 + round : -1;
                c.share(&number, sizeof(number));
                if (number != 1000 + round) return 1;
                // Another one has the largest value in every round.
                const double mine = (c.rank() + round) % size;
                if (c.largest(mine) != size - 1) return 1;
              }
              return c.size() == size ? 0 : 1;
            }));
}

INSTANTIATE_TEST_SUITE_P(sizes, crews, testing::Values(1, 2, 5, 8));

TEST(crew, a_failure_ends_those_that_wait) {
  const double took = seconds([] {
    EXPECT_EQ(1, run_crew(3, 30, [](crew& c) {
                if (c.rank() == 1) return 7;
                c.meet();  // never returns: rank 1 does not come
                return 0;
              }));
  });
  EXPECT_LT(took, 10);
}

TEST(crew, a_crash_ends_those_that_wait) {
  EXPECT_EQ(1, run_crew(2, 30, [](crew& c) {
              if (c.rank() == 1) abort();
              c.meet();
              return 0;
            }));
}

TEST(crew, time_is_limited) {
  const double took = seconds([] {
    EXPECT_EQ(1, run_crew(2, 1, [](crew& c) {
                if (c.rank() == 0) c.meet();
                for (;;) pause();
                return 0;
              }));
  });
  EXPECT_GE(took, 1);
  EXPECT_LT(took, 10);
}

TEST(crew, sizes_have_limits) {
  const auto nothing = [](crew&) { return 0; };
  EXPECT_EQ(1, run_crew(0, 1, nothing));
  EXPECT_EQ(1, run_crew(static_cast<int>(crew::most) + 1, 1, nothing));
}

}  // namespace
