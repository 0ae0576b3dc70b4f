// SPDX-License-Identifier: Apache-2.0
#include "userlib/cluster/report/on_signal.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

namespace ggas::userlib {
namespace {

constexpr int signals[] = {SIGTERM, SIGINT};

// Lives until the process ends: a signal may come at any time.
struct watcher {
  std::mutex mutex;
  std::map<int, report_on_signal::asked> clusters;  // by number
  int last_number = 0;
  int pipe[2] = {-1, -1};
  bool started = false;
};
watcher& all() {
  static watcher* const w = new watcher;
  return *w;
}

// Kernels poll the host's word every few microseconds; their reports may take longer on a busy machine. Ends when two
// reports are the same.
std::string ended_waits(const report_on_signal::asked& c) {
  using namespace std::chrono_literals;
  c.abort();
  hang_report last;
  for (auto waited = 0ms; waited < 1s; waited += 50ms) {
    std::this_thread::sleep_for(50ms);
    hang_report now = c.report();
    if (!now.empty() && now.waits.size() == last.waits.size()) break;
    last = std::move(now);
  }
  std::string text = last.text(), lines;
  for (size_t from = 0, to; (to = text.find('\n', from)) != std::string::npos; from = to + 1)
    lines += c.who + text.substr(from, to + 1 - from);
  return lines;
}

void watch() {
  int number = 0;
  while (read(all().pipe[0], &number, sizeof number) != sizeof number) {
  }
  {
    const std::lock_guard lock(all().mutex);
    for (const auto& [_, c] : all().clusters) std::fputs(ended_waits(c).c_str(), stderr);
  }
  signal(number, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  raise(number);
}

void on_signal(int number) {
  const auto written = write(all().pipe[1], &number, sizeof number);
  static_cast<void>(written);
}

// Once in a process.
void start_watching() {
  if (all().started || pipe2(all().pipe, O_CLOEXEC) != 0) return;
  all().started = true;
  sigset_t none, before;
  sigfillset(&none);
  pthread_sigmask(SIG_SETMASK, &none, &before);  // the thread itself takes no signal
  std::thread(watch).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  for (const int number : signals) {
    struct sigaction now;
    if (sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction mine {};
    mine.sa_handler = on_signal;
    mine.sa_flags = SA_RESTART;
    sigaction(number, &mine, nullptr);
  }
}

}  // namespace

report_on_signal::report_on_signal(asked what) {
  if (!std::getenv("GGAS_REPORT")) return;
  const std::lock_guard lock(all().mutex);
  start_watching();
  number_ = ++all().last_number;
  all().clusters.emplace(number_, std::move(what));
}

report_on_signal::~report_on_signal() {
  if (number_ == 0) return;
  const std::lock_guard lock(all().mutex);
  all().clusters.erase(number_);
}

}  // namespace ggas::userlib
