// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/compare/processes.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <vector>

namespace ggas::compare {

struct crew::shared_memory {
  pthread_barrier_t gate;
  double values[most];
  unsigned char board[board_bytes];
};

void crew::meet() { pthread_barrier_wait(&memory_->gate); }

void crew::share(void* data, size_t bytes) {
  if (rank_ == 0) std::memcpy(memory_->board, data, std::min(bytes, board_bytes));
  meet();
  if (rank_ != 0) std::memcpy(data, memory_->board, std::min(bytes, board_bytes));
  meet();  // the board is free again
}

double crew::largest(double value) {
  memory_->values[rank_] = value;
  meet();
  const double top = *std::max_element(memory_->values, memory_->values + size_);
  meet();
  return top;
}

namespace {

// Waits for all; true if each of them ended with 0 in time.
bool all_end_well(std::vector<pid_t>& running, unsigned timeout_s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(timeout_s);
  while (!running.empty()) {
    int status = 0;
    for (auto p = running.begin(); p != running.end();) {
      if (waitpid(*p, &status, WNOHANG) != *p) {
        ++p;
        continue;
      }
      p = running.erase(p);
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
      if (WIFSIGNALED(status)) std::fprintf(stderr, "a process of the run died of signal %d\n", WTERMSIG(status));
      return false;
    }
    if (std::chrono::steady_clock::now() > end) {
      std::fprintf(stderr, "no end after %u s\n", timeout_s);
      return false;
    }
    usleep(1000);
  }
  return true;
}

}  // namespace

int run_crew(int size, unsigned timeout_s, const std::function<int(crew&)>& work) {
  if (size < 1 || size > static_cast<int>(crew::most)) {
    std::fprintf(stderr, "processes of a run: 1 ... %zu, not %d\n", crew::most, size);
    return 1;
  }
  void* const memory =
      mmap(nullptr, sizeof(crew::shared_memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    return 1;
  }
  crew self;
  self.size_ = size;
  self.memory_ = static_cast<crew::shared_memory*>(memory);
  pthread_barrierattr_t shared;
  pthread_barrierattr_init(&shared);
  pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&self.memory_->gate, &shared, static_cast<unsigned>(size));
  std::fflush(nullptr);  // what is buffered would be printed by every child
  std::vector<pid_t> running;
  for (int rank = 0; rank < size; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // a kernel that waits for others would keep its GPU busy for ever
      self.rank_ = rank;
      const int status = work(self);
      std::fflush(nullptr);
      _exit(status);  // libraries' destructors may wait for processes that are gone
    }
    if (child > 0) running.push_back(child);
  }
  const bool well = running.size() == static_cast<size_t>(size) && all_end_well(running, timeout_s);
  for (const pid_t p : running) {
    kill(p, SIGKILL);
    waitpid(p, nullptr, 0);
  }
  munmap(memory, sizeof(crew::shared_memory));
  return well ? 0 : 1;
}

}  // namespace ggas::compare
