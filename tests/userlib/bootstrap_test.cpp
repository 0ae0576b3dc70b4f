// SPDX-License-Identifier: Apache-2.0
// Processes that find each other: real ones, forked; some do not come, die, or are not what they should be.
#include "userlib/src/bootstrap/bootstrap.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <random>
#include <thread>

#include "tests/support/processes.hpp"

namespace ggas::userlib {
namespace {

using std::chrono::milliseconds;
using test::processes;
using test::voice;
constexpr milliseconds soon{10'000};
constexpr uint64_t ms = 1'000'000;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A job that no other test and no other run of this one has.
job job_of(int rank, int size, uint64_t timeout_ns = 8000 * ms) {
  const testing::TestInfo* t = testing::UnitTest::GetInstance()->current_test_info();
  static const int parent = getpid();
  return {rank, size, std::string(t->name()).substr(0, 40) + "." + std::to_string(parent), timeout_ns};
}

// What a process says of something it tried.
template <class T>
std::string told(const attempt<T>& a) {
  return a ? "ok" : a.error();
}

// Joins, then does something; says how each went.
processes::body member(int size, uint64_t timeout_ns, std::function<std::string(bootstrap&)> then) {
  job_of(0, size);  // the name is of the parent
  return [=](int rank, const voice& parent) {
    auto b = bootstrap::join(job_of(rank, size, timeout_ns));
    parent.say(b ? "joined" : b.error());
    if (b) parent.say(then(**b));
  };
}

// Each of the first `count` ranks joins, says how it went, and ends.
void expect_each(processes& all, int count, const std::string& outcome = "ok") {
  for (int r = 0; r < count; ++r) {
    EXPECT_EQ(all.next(r, soon), "joined") << "rank " << r;
    EXPECT_EQ(all.next(r, soon), outcome) << "rank " << r;
    EXPECT_EQ(all.ending(r, soon), "0") << "rank " << r;
  }
}

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
                  return told(b.meet("the end"));
                }));
  expect_each(all, size);
}

// Each passes on a pipe; everybody writes its rank into the pipes of all.
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

TEST_P(bootstrap_test, trouble_of_one_is_told_to_all_and_breaks_nothing) {
  const int size = GetParam();
  processes all;
  all.start_all(size, member(size, 8000 * ms, [=](bootstrap& b) -> std::string {
                  const bool me = b.rank() == size - 1;
                  const auto a = b.agree("work", me ? attempt<>(std::unexpected("no memory")) : attempt<>());
                  return told(a) + ", then " + told(b.meet("later"));
                }));
  expect_each(all, size, "rank " + std::to_string(size - 1) + ": no memory, then ok");
}

TEST(bootstrap, missing_ranks_are_named) {
  processes all;
  const auto b = member(4, 1500 * ms, [](bootstrap&) { return ""; });
  for (int r : {0, 3}) all.start(r, b);
  for (int r : {0, 3}) {
    const std::string text = all.next(r, soon);
    EXPECT_TRUE(has(text, "ranks 1, 2 did not come within 1.5 s")) << text;
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

// Who comes late finds the others: they wait for each other, whoever is first.
TEST(bootstrap, the_order_of_coming_does_not_matter) {
  std::mt19937 random(5);
  for (int i = 0; i < 10; ++i) {
    processes all;
    const auto b = member(3, 8000 * ms, [](bootstrap& b) { return told(b.meet("here")); });
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
                  const std::string first = told(b.meet("work"));
                  return first == told(b.meet("more")) ? first : "another text later";
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
                  return told(b.meet("work"));
                }));
  expect_each(all, 3, "rank 2 did not come to 'work' within 1.5 s");
}

TEST(bootstrap, different_calls_are_told) {
  processes all;
  all.start_all(2, member(2, 8000 * ms, [](bootstrap& b) { return told(b.meet(b.rank() ? "grow" : "leave")); }));
  for (int r : {0, 1}) {
    EXPECT_EQ(all.next(r, soon), "joined");
    const std::string text = all.next(r, soon);
    EXPECT_TRUE(has(text, "is at 'grow' (exchange 1), rank 0 at 'leave' (exchange 1)")) << text;
  }
}

TEST(bootstrap, different_sizes_are_told) {
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
  const auto b = member(3, 8000 * ms, [](bootstrap& b) { return told(b.meet("here")); });
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
    EXPECT_TRUE(!b && has(b.error(), rule)) << told(b);
  };
  refused({0, 0, "x"}, "size = 0: a job has 1 to 1024 processes");
  refused({2, 2, "x"}, "rank = 2: must be from 0 to 1");
  refused({-1, 2, "x"}, "rank = -1");
  refused({0, 2, ""}, "1 to 64 letters");
  refused({0, 2, std::string(65, 'x')}, "1 to 64 letters");
  auto alone = bootstrap::join({0, 1, "x"});
  ASSERT_TRUE(alone);
  EXPECT_FALSE((*alone)->gather("too long", std::string(message::most_bytes + 1, 'x')));
  EXPECT_FALSE((*alone)->gather(std::string(message::most_what + 1, 'x'), ""));
  EXPECT_TRUE((*alone)->gather("fits", std::string(message::most_bytes, 'x')));
}

// ---------------------------------------------------------------------------------------------- not of the job

file connect_to(const job& j) {
  const std::string name = "ggas." + std::to_string(getuid()) + "." + j.name;
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  name.copy(a.sun_path + 1, sizeof a.sun_path - 1);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  for (int i = 0; i < 1000; ++i) {
    file s(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (connect(s.fd(), reinterpret_cast<const sockaddr*>(&a), length) == 0) return s;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return {};
}

// Strangers say nothing, noise of any length, noise behind the right first letters, or leave; the job comes about.
TEST(bootstrap, garbage_at_the_door_harms_nobody) {
  processes all;
  const auto b = member(2, 8000 * ms, [](bootstrap& b) { return told(b.meet("here")); });
  all.start(0, b);
  std::mt19937 random(11);
  std::vector<file> strangers;
  for (int i = 0; i < 200; ++i) {
    file s = connect_to(job_of(1, 2));
    ASSERT_TRUE(s) << "rank 0 is not there any more";
    std::string noise(random() % 300, 0);
    for (char& c : noise) c = static_cast<char>(random());
    if (i % 3 == 0 && noise.size() > 6) std::memcpy(noise.data(), "GGAS\1\0", 6);
    if (i % 7) ::send(s.fd(), noise.data(), noise.size(), MSG_NOSIGNAL);
    if (i % 2) strangers.push_back(std::move(s));
  }
  all.start(1, b);
  expect_each(all, 2);
}

// Somebody who has said hello properly, and then noise: that breaks the job, with a text.
TEST(bootstrap, garbage_of_a_member_is_told) {
  processes all;
  const auto b = member(2, 8000 * ms, [](bootstrap& b) { return told(b.meet("here")); });
  all.start(0, b);
  const file s = connect_to(job_of(1, 2));
  ASSERT_TRUE(s);
  const auto until = std::chrono::steady_clock::now() + soon;
  ASSERT_EQ(send(s, {.type = message::kind::hello, .rank = 1, .size = 2}, -1, until), io::ok);
  EXPECT_EQ(all.next(0, soon), "joined");
  ::send(s.fd(), "noise", 5, MSG_NOSIGNAL);
  EXPECT_TRUE(has(all.next(0, soon), "sent something that is no message"));
}

// ---------------------------------------------------------------------------------------------- environment

class environment : public testing::Test {
 protected:
  environment() {
    for (const char* v : {"GGAS_RANK", "GGAS_SIZE", "GGAS_JOB", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                          "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS",
                          "SLURM_STEP_NUM_NODES", "SLURM_JOB_ID", "SLURM_STEP_ID", "PMI_RANK", "PMI_SIZE", "PMI_JOBID",
                          "MPI_LOCALNRANKS"})
      unsetenv(v);
  }
  static void set(const char* variable, const char* value) { setenv(variable, value, 1); }
  static void is(int rank, int size, const std::string& name) {
    std::string why;
    const job j = job::from_environment(why);
    EXPECT_EQ(why, "");
    EXPECT_EQ(j.rank, rank);
    EXPECT_EQ(j.size, size);
    EXPECT_EQ(j.name, name);
  }
  static void is_wrong(const std::string& text) {
    std::string why;
    EXPECT_TRUE(job::from_environment(why).alone());
    EXPECT_EQ(why, text);
  }
};

TEST_F(environment, without_a_launcher_a_process_is_alone) {
  std::string why = "x";
  EXPECT_TRUE(job::from_environment(why).alone());
  EXPECT_EQ(why, "");
}

TEST_F(environment, launchers_are_understood) {
  set("PMI_RANK", "1");
  set("PMI_SIZE", "2");
  is(1, 2, "PMI.parent." + std::to_string(getppid()));
  set("SLURM_PROCID", "2");  // of a batch script, without srun: no step
  is(1, 2, "PMI.parent." + std::to_string(getppid()));
  set("SLURM_STEP_NUM_TASKS", "3");
  set("SLURM_JOB_ID", "77");
  set("SLURM_STEP_ID", "5");
  set("SLURM_STEP_NUM_NODES", "1");
  is(2, 3, "SLURM.77.5");
  set("OMPI_COMM_WORLD_RANK", "0");
  set("OMPI_COMM_WORLD_SIZE", "4");
  set("OMPI_COMM_WORLD_LOCAL_SIZE", "4");
  set("PMIX_NAMESPACE", "prterun-9@1");
  is(0, 4, "OMPI.prterun-9@1");
  set("GGAS_RANK", "7");
  set("GGAS_SIZE", "8");
  set("GGAS_JOB", "mine");
  is(7, 8, "GGAS.mine");
}

TEST_F(environment, wrong_numbers_are_told) {
  set("GGAS_RANK", "2");
  is_wrong("GGAS_SIZE = '': must be a number from 1 to 1024");
  set("GGAS_SIZE", "2");
  is_wrong("GGAS_RANK = '2': must be a number from 0 to 1");
  set("GGAS_RANK", "one");
  is_wrong("GGAS_RANK = 'one': must be a number from 0 to 1");
  set("GGAS_SIZE", "1025");
  is_wrong("GGAS_SIZE = '1025': must be a number from 1 to 1024");
}

TEST_F(environment, jobs_on_several_computers_are_refused) {
  set("OMPI_COMM_WORLD_RANK", "0");
  set("OMPI_COMM_WORLD_SIZE", "8");
  set("OMPI_COMM_WORLD_LOCAL_SIZE", "4");
  is_wrong("OMPI_COMM_WORLD_SIZE = 8: the processes of the job are on several computers; they must all be on one");
  unsetenv("OMPI_COMM_WORLD_RANK");
  set("SLURM_PROCID", "0");
  set("SLURM_STEP_NUM_TASKS", "8");
  set("SLURM_STEP_NUM_NODES", "2");
  is_wrong("SLURM_STEP_NUM_TASKS = 8: the processes of the job are on several computers; they must all be on one");
}

}  // namespace
}  // namespace ggas::userlib
