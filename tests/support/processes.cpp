// SPDX-License-Identifier: Apache-2.0
#include "tests/support/processes.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

// LeakSanitizer's; null without it.
extern "C" int __lsan_do_recoverable_leak_check() __attribute__((weak));

namespace ggas::test {

size_t open_files() {
  size_t n = 0;
  for ([[maybe_unused]] const auto& f : std::filesystem::directory_iterator("/proc/self/fd")) ++n;
  return n;
}

using clock = std::chrono::steady_clock;

void voice::say(const std::string& line) const {
  const std::string text = line + "\n";
  if (write(fd_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
}

void processes::start(int rank, const body& b) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  std::fflush(nullptr);
  const int pid = fork();
  if (pid < 0) std::abort();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    b(rank, voice(ends[1]));
    std::fflush(nullptr);
    const bool leaks = __lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check();
    _exit(leaks ? 23 : 0);
  }
  close(ends[1]);
  all_.push_back({rank, pid, ends[0], {}});
}

void processes::start_all(int count, const body& b) {
  for (int r = 0; r < count; ++r) start(r, b);
}

processes::child& processes::of(int rank) {
  return *std::find_if(all_.begin(), all_.end(), [&](const child& c) { return c.rank == rank; });
}

int processes::pid(int rank) const { return const_cast<processes*>(this)->of(rank).pid; }

void processes::kill(int rank) { ::kill(of(rank).pid, SIGKILL); }

std::string processes::next(int rank, duration timeout) {
  child& c = of(rank);
  const auto end = clock::now() + timeout;
  for (;;) {
    if (const size_t n = c.heard.find('\n'); n != std::string::npos) {
      const std::string line = c.heard.substr(0, n);
      c.heard.erase(0, n + 1);
      return line;
    }
    pollfd p{c.pipe, POLLIN, 0};
    const auto left = std::chrono::ceil<duration>(end - clock::now());
    if (left.count() <= 0 || poll(&p, 1, static_cast<int>(left.count())) <= 0) return "(silent)";
    char data[4096];
    const ssize_t n = read(c.pipe, data, sizeof data);
    if (n <= 0) return "";
    c.heard.append(data, static_cast<size_t>(n));
  }
}

std::string processes::ending(int rank, duration timeout) {
  child& c = of(rank);
  const auto end = clock::now() + timeout;
  int status = 0;
  while (waitpid(c.pid, &status, WNOHANG) == 0) {
    if (clock::now() >= end) return "(still there)";
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  c.pid = 0;
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) ? "exit " + std::to_string(WEXITSTATUS(status)) : "0";
}

processes::~processes() {
  for (const child& c : all_) {
    if (c.pid) {
      ::kill(c.pid, SIGKILL);
      waitpid(c.pid, nullptr, 0);
    }
    close(c.pipe);
  }
}

}  // namespace ggas::test
