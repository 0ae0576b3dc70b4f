// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/harness/signals.hpp"

#include <errno.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace ggas::bench {

namespace {

constexpr int ends[] = {SIGINT, SIGTERM};
std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free);

struct appointment {
  int number = 0;
  uint64_t at_ns = ~uint64_t{0};
};

appointment read_appointment() {
  appointment a;
  const char* text = std::getenv("GGAS_SIGNAL_AT");
  if (!text) return a;
  char* colon = nullptr;
  a.number = static_cast<int>(std::strtol(text, &colon, 10));
  if (*colon == ':') a.at_ns = std::strtoull(colon + 1, nullptr, 10);
  return a;
}

void note(int number) {
  caught = number;
  for (const int s : ends) std::signal(s, SIG_DFL);  // the next one ends the process
}

}  // namespace

void catch_signals() {
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int s : ends) {
    struct sigaction now {};
    sigaction(s, nullptr, &now);
    if (now.sa_handler == SIG_IGN) continue;
    now = {};
    now.sa_handler = note;
    now.sa_flags = SA_RESTART;
    sigaction(s, &now, nullptr);
  }
}

int caught_signal() { return caught.load(std::memory_order_relaxed); }

int ended_by_signal(const std::string& cut, const std::string& not_run) {
  const int number = caught_signal();
  std::string text = number == SIGINT ? "SIGINT" : "SIGTERM";
  if (!cut.empty()) text += "; cut short: " + cut;
  if (!not_run.empty()) text += "; not run:" + not_run;
  std::fprintf(stderr, "%s: ended by %s\n", program_invocation_short_name, text.c_str());
  return 128 + number;
}

void raise_when_due(uint64_t sim_ns) {
  static appointment next = read_appointment();
  if (sim_ns < next.at_ns) return;
  next.at_ns = ~uint64_t{0};
  std::raise(next.number);
}

}  // namespace ggas::bench
