// SPDX-License-Identifier: Apache-2.0
// Tests of libggas: forks the ranks of a job and receives from each how it went.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "ggas/ggas.h"
#include "tests/support/processes.hpp"

namespace ggas::library_test {

using std::chrono::milliseconds;
using test::processes;
using test::voice;

inline constexpr uint64_t ms = 1'000'000, second = 1000 * ms;
inline constexpr uint64_t timeout = 20 * second;  // of calls that are to succeed
inline constexpr milliseconds soon{40'000};

// A rank that has started.
struct rank {
  ggas_process* p;
  uint32_t me, size;
  const voice& parent;

  template <class T = std::byte>
  T* memory(uint32_t segment) const {
    void* at = nullptr;
    return ggas_segment_pointer(p, segment, &at) == GGAS_OK ? static_cast<T*>(at) : nullptr;
  }
  ggas_rc create(uint32_t segment, uint64_t bytes) const {
    return ggas_segment_create(p, segment, bytes, GGAS_GROUP_ALL, timeout);
  }
  ggas_rc barrier() const { return ggas_group_barrier(p, GGAS_GROUP_ALL, timeout); }
  ggas_rc put(uint32_t segment, uint64_t from, uint32_t to, uint64_t at, uint64_t bytes) const {
    const ggas_part part{segment, segment, from, at, bytes};
    return ggas_queue_write(p, &part, to, 0, timeout);
  }
  ggas_rc get(uint32_t segment, uint64_t to, uint32_t from, uint64_t at, uint64_t bytes) const {
    const ggas_part part{segment, segment, to, at, bytes};
    return ggas_queue_read(p, &part, from, 0, timeout);
  }
  ggas_rc notify(uint32_t segment, uint32_t to, uint32_t slot, uint32_t value) const {
    return ggas_queue_notify(p, segment, to, slot, value, 0, timeout);
  }
};

// What a rank does: "ok", or what went wrong.
using program = std::function<std::string(const rank&)>;

// In a program: a call that has to return a code, a condition that has to hold.
#define MUST(call, code)                                                                                 \
  if (const ggas_rc rc_ = (call); rc_ != (code))                                                         \
  return std::string(#call " returned ") + std::to_string(rc_) + " (" + ggas_error_text() + "), line " + \
         std::to_string(__LINE__)
#define MUST_HOLD(condition) \
  if (!(condition)) return std::string(#condition " does not hold, line ") + std::to_string(__LINE__)

inline void be(int rank, int size, const std::string& job) {
  setenv("GGAS_RANK", std::to_string(rank).c_str(), 1);
  setenv("GGAS_SIZE", std::to_string(size).c_str(), 1);
  setenv("GGAS_JOB", job.c_str(), 1);
  setenv("GGAS_SECRET", "000102030405060708090a0b0c0d0e0f", 1);
}

inline std::string job_name() {
  static const int parent = getpid();
  static int count = 0;
  return "libggas." + std::to_string(parent) + "." + std::to_string(++count);
}

inline bool simulated() {
  const char* const transport = std::getenv("GGAS_TRANSPORT");
  return transport && std::string(transport) == "sim";
}

// The simulator of a job with GGAS_TRANSPORT=sim; for other jobs it does nothing.
class simulator {
 public:
  static inline int last = -1;  // process of the last one made
  simulator(int size, const std::string& job) {
    if (!simulated()) return;
    pid_ = fork();
    last = pid_;
    if (pid_ != 0) return;
    be(0, size, job);
    const char* const program = std::getenv("GGAS_SIMULATOR");
    if (program) execl(program, program, nullptr);
    std::abort();
  }
  ~simulator() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  simulator(const simulator&) = delete;

 private:
  int pid_ = -1;
};

inline processes::body member(int size, program what) {
  const std::string job = job_name();
  static std::unique_ptr<simulator> nodes;  // until the next job
  nodes = std::make_unique<simulator>(size, job);
  return [size, what = std::move(what), job](int r, const voice& parent) {
    be(r, size, job);
    ggas_process* p = nullptr;
    if (ggas_process_start(&p, timeout) != GGAS_OK) return parent.say(std::string("start: ") + ggas_error_text());
    uint32_t me = 99, n = 99;
    ggas_process_rank(p, &me);
    ggas_process_size(p, &n);
    parent.say(what({p, me, n, parent}));
    ggas_process_stop(p);
  };
}

// Runs a program on ranks; each has to say "ok" within a time.
inline void run(int size, const program& what, milliseconds time = soon) {
  processes all;
  all.start_all(size, member(size, what));
  for (int r = 0; r < size; ++r) EXPECT_EQ(all.next(r, time), "ok") << "rank " << r << " of " << size;
  for (int r = 0; r < size; ++r) EXPECT_EQ(all.ending(r, soon), "0") << "rank " << r << " of " << size;
}

}  // namespace ggas::library_test
