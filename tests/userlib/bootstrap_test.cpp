// SPDX-License-Identifier: Apache-2.0
// Processes that find each other: real ones, forked; some do not come, die, or are not what they should be.
#include <algorithm>
#include <random>
#include <thread>

#include "tests/userlib/bootstrap_rig.hpp"

namespace ggas::userlib {
namespace {

using namespace test_rig;

class bootstrap_test : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(sizes, bootstrap_test, testing::Values(1, 2, 3, 8));

TEST_P(bootstrap_test, everybody_gets_the_parts_of_all) {
  const int size = GetParam();
  processes all;
  all.start_all(size, member(size, 8000 * ms, [=](bootstrap& b) -> std::string {
                  for (int round = 0; round < 20; ++round) {
                    const auto text = [&](int r) {
                      return std::string(static_cast<size_t>(r * 900 + round), char('a' + r));
                    };
                    const auto parts = b.gather("words", text(b.rank()));
                    if (!parts) return parts.error();
                    if (parts->size() != static_cast<size_t>(size)) return "wrong number of parts";
                    for (int r = 0; r < size; ++r)
                      if ((*parts)[static_cast<size_t>(r)].bytes != text(r))
                        return "wrong part of " + std::to_string(r);
                  }
                  return reported(b.meet("the end"));
                }));
  expect_each(all, size);
}

// Each passes on a pipe; every member writes its rank into the pipes of all.
TEST_P(bootstrap_test, file_descriptors_reach_everybody) {
  const int size = GetParam();
  processes all;
  all.start_all(size, member(size, 8000 * ms, [=](bootstrap& b) -> std::string {
                  int ends[2];
                  if (pipe(ends) != 0) return "no pipe";
                  const file mine(ends[0]), to_pass_on(ends[1]);
                  const auto parts = b.gather("pipes", "", to_pass_on.fd());
                  if (!parts) return parts.error();
                  for (const auto& p : *parts) {
                    const char c = static_cast<char>(b.rank());
                    if (!p.handle || write(p.handle.fd(), &c, 1) != 1) return "a pipe did not arrive";
                  }
                  std::string seen(static_cast<size_t>(size), 0);
                  for (int i = 0; i < size; ++i) {
                    char c;
                    if (read(mine.fd(), &c, 1) != 1) return "nothing in the pipe";
                    ++seen[static_cast<size_t>(c)];
                  }
                  return seen == std::string(static_cast<size_t>(size), 1) ? "ok" : "somebody is missing";
                }));
  expect_each(all, size);
}

TEST_P(bootstrap_test, trouble_of_one_is_reported_to_all_and_breaks_nothing) {
  const int size = GetParam();
  processes all;
  all.start_all(size, member(size, 8000 * ms, [=](bootstrap& b) -> std::string {
                  const bool me = b.rank() == size - 1;
                  const auto a = b.agree("work", me ? attempt<>(std::unexpected("no memory")) : attempt<>());
                  return reported(a) + ", then " + reported(b.meet("later"));
                }));
  expect_each(all, size, "rank " + std::to_string(size - 1) + ": no memory, then ok");
}

// As many as GPUs hardly ever are; and barriers of one name follow each other at once.
TEST(bootstrap, many_processes_meet_again_and_again) {
  constexpr int size = 64;
  processes all;
  job_of(0, size);
  all.start_all(size, [](int rank, const voice& parent) {
    std::string wrong = "ok";
    const size_t files = open_files();
    for (int i = 0; i < 5 && wrong == "ok"; ++i) {
      const auto b = bootstrap::join(job_of(rank, size));
      wrong = b ? reported((*b)->gather("handles", "", 0)) : b.error();
    }
    parent.say(open_files() == files ? wrong : "files are open");
  });
  for (int r = 0; r < size; ++r) EXPECT_EQ(all.next(r, soon), "ok") << "rank " << r;
}

TEST(bootstrap, missing_ranks_are_named) {
  processes all;
  const auto b = member(4, 1500 * ms, [](bootstrap&) { return ""; });
  for (int r : {0, 3}) all.start(r, b);
  for (int r : {0, 3}) {
    const std::string text = all.next(r, soon);
    EXPECT_TRUE(has(text, "ranks 1, 2 did not arrive within 1.5 s")) << text;
    EXPECT_EQ(all.ending(r, soon), "0");
  }
}

TEST(bootstrap, a_missing_rank_0_is_named) {
  processes all;
  const auto b = member(3, 1500 * ms, [](bootstrap&) { return ""; });
  for (int r : {1, 2}) all.start(r, b);
  for (int r : {1, 2}) {
    const std::string text = all.next(r, soon);
    EXPECT_TRUE(has(text, "rank 0 of job") && has(text, "was not there")) << text;
  }
}

// A late process finds the others: all wait for each other, whichever is first.
TEST(bootstrap, the_order_of_coming_does_not_matter) {
  std::mt19937 random(5);
  for (int i = 0; i < 10; ++i) {
    processes all;
    const auto b = member(3, 8000 * ms, [](bootstrap& b) { return reported(b.meet("here")); });
    std::vector<int> order{0, 1, 2};
    std::shuffle(order.begin(), order.end(), random);
    for (int r : order) {
      all.start(r, b);
      std::this_thread::sleep_for(milliseconds(random() % 20));
    }
    expect_each(all, 3);
  }
}

class dying_rank : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(rank, dying_rank, testing::Values(0, 1, 2));

TEST_P(dying_rank, is_named_to_those_who_wait_and_later_calls_fail_alike) {
  const int victim = GetParam();
  processes all;
  all.start_all(3, member(3, 8000 * ms, [=](bootstrap& b) -> std::string {
                  if (b.rank() == victim) std::this_thread::sleep_for(soon);
                  const std::string first = reported(b.meet("work"));
                  return first == reported(b.meet("more")) ? first : "another text later";
                }));
  for (int r = 0; r < 3; ++r) EXPECT_EQ(all.next(r, soon), "joined");
  std::this_thread::sleep_for(milliseconds(50));
  const int pid = all.pid(victim);
  all.kill(victim);
  for (int r = 0; r < 3; ++r) {
    if (r == victim) continue;
    const std::string text = all.next(r, soon);
    EXPECT_TRUE(has(text, "rank " + std::to_string(victim)) && has(text, std::to_string(pid)) && has(text, "ended"))
        << text;
  }
  EXPECT_EQ(all.ending(victim, soon), "signal 9");
}

// A child that it has forked has its sockets too and lives on: workers that load data are such.
TEST_P(dying_rank, is_named_although_a_child_of_its_lives) {
  const int victim = GetParam();
  processes all;
  all.start_all(3, member(3, 8000 * ms, [=](bootstrap& b) -> std::string {
                  if (b.rank() != victim) return reported(b.meet("work"));
                  if (fork() == 0) {
                    for (int f : {0, 1, 2}) close(f);  // the one that runs this test does not wait for it
                    sleep(12);
                    _exit(0);
                  }
                  std::this_thread::sleep_for(soon);
                  return "";
                }));
  for (int r = 0; r < 3; ++r) EXPECT_EQ(all.next(r, soon), "joined");
  std::this_thread::sleep_for(milliseconds(50));
  all.kill(victim);
  for (int r = 0; r < 3; ++r) {
    if (r == victim) continue;
    const std::string text = all.next(r, soon);
    EXPECT_TRUE(has(text, "rank " + std::to_string(victim) + " (process") && has(text, "ended")) << text;
  }
}

// The others have said their part of the exchange, and rank 0 has not read it yet when it sees who has died.
TEST_P(dying_rank, is_named_to_those_whose_message_nobody_has_read) {
  const int victim = GetParam() + 1;
  processes all;
  int gate[2];
  ASSERT_EQ(pipe(gate), 0);
  all.start_all(4, member(4, 8000 * ms, [=](bootstrap& b) -> std::string {
                  char c;
                  close(gate[1]);
                  if (b.rank() == 0 || b.rank() == victim) (void)!read(gate[0], &c, 1);
                  return reported(b.meet("work"));
                }));
  for (int r = 0; r < 4; ++r) EXPECT_EQ(all.next(r, soon), "joined");
  all.kill(victim);
  EXPECT_EQ(all.ending(victim, soon), "signal 9");
  std::this_thread::sleep_for(milliseconds(50));
  close(gate[1]);
  for (int r = 0; r < 4; ++r) {
    if (r == victim) continue;
    const std::string text = all.next(r, soon);
    EXPECT_TRUE(text.starts_with("rank " + std::to_string(victim) + " (process")) << "rank " << r << ": " << text;
  }
  close(gate[0]);
}

// Rank 0 goes too and never comes to the exchange: who died first is the news.
TEST_P(dying_rank, is_named_when_rank_0_leaves_after_it) {
  const int victim = GetParam() + 1;
  processes all;
  int gate[2];
  ASSERT_EQ(pipe(gate), 0);
  all.start_all(4, member(4, 8000 * ms, [=](bootstrap& b) -> std::string {
                  char c;
                  close(gate[1]);
                  if (b.rank() == 0 || b.rank() == victim) (void)!read(gate[0], &c, 1);
                  return b.rank() == 0 ? "leaves" : reported(b.meet("work"));
                }));
  for (int r = 0; r < 4; ++r) EXPECT_EQ(all.next(r, soon), "joined");
  all.kill(victim);
  EXPECT_EQ(all.ending(victim, soon), "signal 9");
  close(gate[1]);
  for (int r = 1; r < 4; ++r) {
    if (r == victim) continue;
    const std::string text = all.next(r, soon);
    EXPECT_TRUE(text.starts_with("rank " + std::to_string(victim) + " (process")) << "rank " << r << ": " << text;
  }
  close(gate[0]);
}

TEST(bootstrap, who_dies_while_others_are_missing_is_named) {
  processes all;
  const auto b = member(3, 8000 * ms, [](bootstrap&) { return ""; });
  all.start(0, b);
  all.start(1, b);
  std::this_thread::sleep_for(milliseconds(100));
  all.kill(1);
  EXPECT_TRUE(has(all.next(0, soon), "ended while others were still missing"));
}

TEST(bootstrap, a_rank_that_does_not_come_to_an_exchange_is_named) {
  processes all;
  all.start_all(3, member(3, 1500 * ms, [](bootstrap& b) -> std::string {
                  if (b.rank() == 2) std::this_thread::sleep_for(milliseconds(5000));
                  return reported(b.meet("work"));
                }));
  expect_each(all, 3, "rank 2 did not arrive at 'work' within 1.5 s");
}

TEST(bootstrap, different_calls_are_reported) {
  processes all;
  all.start_all(2, member(2, 8000 * ms, [](bootstrap& b) { return reported(b.meet(b.rank() ? "grow" : "leave")); }));
  for (int r : {0, 1}) {
    EXPECT_EQ(all.next(r, soon), "joined");
    const std::string text = all.next(r, soon);
    EXPECT_TRUE(has(text, "is at 'grow' (exchange 1), rank 0 at 'leave' (exchange 1)")) << text;
  }
}

TEST(bootstrap, different_sizes_are_reported) {
  processes all;
  all.start(0, member(2, 8000 * ms, [](bootstrap&) { return ""; }));
  all.start(1, member(3, 8000 * ms, [](bootstrap&) { return ""; }));
  for (int r : {0, 1}) {
    const std::string text = all.next(r, soon);
    EXPECT_TRUE(has(text, "(rank 1) says that the job has 3 processes, rank 0 says 2")) << text;
  }
}

TEST(bootstrap, a_rank_taken_twice_is_turned_away_and_the_job_goes_on) {
  processes all, second;
  const auto b = member(3, 8000 * ms, [](bootstrap& b) { return reported(b.meet("here")); });
  all.start(0, b);
  all.start(1, b);
  std::this_thread::sleep_for(milliseconds(100));
  second.start(1, b);
  const std::string text = second.next(1, soon);
  EXPECT_TRUE(has(text, "rank 1") && has(text, "already")) << text;
  second.start(0, b);
  EXPECT_TRUE(has(second.next(0, soon), "has a rank 0 already"));
  all.start(2, b);
  expect_each(all, 3);
}

TEST(bootstrap, what_cannot_be_is_refused) {
  const auto refused = [](const job& j, const char* rule) {
    const auto b = bootstrap::join(j);
    EXPECT_TRUE(!b && has(b.error(), rule)) << reported(b);
  };
  refused({0, 0, "x"}, "size = 0: a job has 1 to 1024 processes");
  refused({2, 2, "x"}, "rank = 2: must be from 0 to 1");
  refused({-1, 2, "x"}, "rank = -1");
  refused({0, 2, ""}, "1 to 64 letters");
  refused({0, 2, std::string(65, 'x')}, "1 to 64 letters");
  auto alone = bootstrap::join({0, 1, "x"});
  ASSERT_TRUE(alone);
  EXPECT_EQ(reported((*alone)->gather("work", std::string(message::most_bytes + 1, 'x'))),
            "work: a part of 8193 bytes is too long");
  const std::string purpose(message::most_what + 1, 'x');
  EXPECT_EQ(reported((*alone)->gather(purpose, "")), "'" + purpose + "': must have at most 48 letters");
  EXPECT_TRUE((*alone)->gather("fits", std::string(message::most_bytes, 'x')));
}

}  // namespace
}  // namespace ggas::userlib
