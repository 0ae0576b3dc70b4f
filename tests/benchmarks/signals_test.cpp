// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/harness/signals.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

using namespace ggas::bench;

namespace {

// How a process ends that does this.
int wait_status(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(signals, the_first_is_noted_and_a_second_one_ends_the_process) {
  for (const int first : {SIGINT, SIGTERM}) {
    for (const int second : {SIGINT, SIGTERM}) {
      const int status = wait_status([&] {
        for (const int s : {SIGINT, SIGTERM}) std::signal(s, SIG_DFL);  // in the background of a shell they are ignored
        catch_signals();
        if (caught_signal() != 0) _exit(1);
        std::raise(first);
        if (caught_signal() != first) _exit(2);
        std::raise(second);
        _exit(3);
      });
      ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
      EXPECT_EQ(WTERMSIG(status), second);
    }
  }
}

TEST(signals, a_file_that_may_not_grow_is_no_reason_to_die) {
  EXPECT_EQ(wait_status([] {
              catch_signals();
              std::raise(SIGXFSZ);
            }),
            0);
}

}  // namespace
