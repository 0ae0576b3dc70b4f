// SPDX-License-Identifier: Apache-2.0
// Waiting for a store of another process: a process polls for a short time, then it sleeps. The writer makes a system
// call only if a process sleeps.
//
// The stores that a doorbell announces, the loads that poll for them, and those of the doorbell are sequentially
// consistent: a waiter that did not see the store has counted itself as a sleeper before, and the writer sees that.
#pragma once

#include <sched.h>

#include <atomic>
#include <utility>

#include "ggas/ggas.h"
#include "userlib/libggas/base/limit.hpp"

namespace ggas::library::shm {

struct alignas(64) doorbell {  // in shared memory, at first 0
  std::atomic<uint32_t> rings;
  std::atomic<uint32_t> sleepers;  // a killed one stays counted, which costs the writer a system call

  // Stores a word that waiters look for, and rings. The store is in flight before the sleepers are asked for.
  template <class T>
  void announce(std::atomic<T>& word, T value) {
#ifdef __SANITIZE_THREAD__  // knows no fences
    word.store(value);
#else
    word.store(value, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
    ring();
  }

  // Between a store of this thread's, with release, and a look at the sleepers.
  void order() {
#ifdef __SANITIZE_THREAD__
    sleepers.fetch_add(0);
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }

  void ring() {
    if (sleepers.load() == 0) return;
    rings.fetch_add(1);
    wake();
  }

 private:
  void wake();
};

// Until the doorbell has rung more than `rings` times, or that time is over.
void sleep_at(doorbell& b, uint32_t rings, uint64_t ns);

inline constexpr uint64_t nap_ns = 100'000'000;       // how often a sleeper looks whether it waits for a dead process
inline constexpr uint64_t kernel_nap_ns = 1'000'000;  // where a kernel may store what is waited for
inline constexpr unsigned looks_without_pause = 200, looks_with_pause = 32;  // before a look at the clock

// A rank yields before it sleeps. Waking a sleeper takes some 20 us, so it goes on while no other process wants the
// processor: 64 writes of 4 MB take 6 ms. A yield that takes long has given the processor to another process.
inline constexpr uint64_t yields_ns = 8'000'000, long_yield_ns = 50'000;

// How long to poll before the processor is yielded: 0 if a process has no core of its own. On a computer with other
// work a yield costs a whole time slice of another process, so it is delayed beyond the length of short waits.
inline constexpr uint64_t alone_ns = 300'000;
inline std::atomic<uint64_t> look_alone_ns{0};

inline void pause() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

// Waits until done() is true. check() is called from time to time: GGAS_OK, or an error to return.
template <class Done, class Check>
ggas_rc wait(doorbell& b, limit until, Done&& done, Check&& check, uint64_t nap = nap_ns) {
  if (done()) return GGAS_OK;
  if (until.no_wait()) return GGAS_TIMEOUT;
  if (const uint64_t alone = look_alone_ns.load(std::memory_order_relaxed)) {
    for (unsigned i = 0; i < looks_without_pause; ++i)
      if (done()) return GGAS_OK;
    for (const limit end = limit::after(alone).begin(); !end.passed();) {
      for (unsigned i = 0; i < looks_with_pause; ++i) {
        pause();
        if (done()) return GGAS_OK;
      }
      if (until.passed()) return GGAS_TIMEOUT;
    }
  }
  const uint64_t begin = now_ns();
  for (uint64_t now = begin, last = begin; now - begin < yields_ns && now - last < long_yield_ns;) {
    sched_yield();
    if (done()) return GGAS_OK;
    if (until.passed()) break;
    last = std::exchange(now, now_ns());
  }
  b.sleepers.fetch_add(1);
  ggas_rc outcome = GGAS_OK;
  for (;;) {
    const uint32_t rings = b.rings.load();
    if (done()) break;
    const ggas_rc sense = check();
    if (done()) break;  // what a process did before it ended counts
    if (sense != GGAS_OK) {
      outcome = sense;
      break;
    }
    const uint64_t left = until.left();
    if (left == 0) {
      outcome = GGAS_TIMEOUT;
      break;
    }
    sleep_at(b, rings, left < nap ? left : nap);
  }
  b.sleepers.fetch_sub(1);
  return outcome;
}

// A lock whose wait has an end; for threads of a process.
class lock {
 public:
  ggas_rc take(limit until) {
    return wait(
        freed_, until, [this] { return !held_.exchange(true); }, [] { return GGAS_OK; });
  }
  void give() {
    held_.store(false);
    freed_.ring();
  }

 private:
  std::atomic<bool> held_{false};
  doorbell freed_{};
};

}  // namespace ggas::library::shm
