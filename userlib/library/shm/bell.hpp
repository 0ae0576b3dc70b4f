// SPDX-License-Identifier: Apache-2.0
// How a process waits for a store of another one: it looks for a short time, then it sleeps. The writer makes a
// system call only if somebody sleeps.
//
// The stores that a bell announces and the loads that look for them are sequentially consistent, as those of the bell
// are: a waiter that did not see the store has counted itself as a sleeper before, and the writer sees that.
#pragma once

#include <sched.h>

#include <atomic>

#include "ggas/ggas.h"
#include "userlib/library/core/limit.hpp"

namespace ggas::library::shm {

struct alignas(64) bell {  // in shared memory, at first 0
  std::atomic<uint32_t> rings;
  std::atomic<uint32_t> sleepers;  // a killed one stays counted, which costs the writer a system call

  void ring() {
    if (sleepers.load() == 0) return;
    rings.fetch_add(1);
    wake();
  }

 private:
  void wake();
};

// Until the bell has rung more than `rings` times, or that time is over.
void sleep_at(bell& b, uint32_t rings, uint64_t ns);

inline constexpr uint64_t nap_ns = 100'000'000;  // how often a sleeper looks whether it waits for a dead process
inline constexpr uint64_t yield_ns = 50'000;     // given to others before sleeping

// How often to look before the processor is given to others: 0 where a process has no core of its own.
inline std::atomic<unsigned> looks_alone{0};

inline void pause() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

// Until done() holds. check() says from time to time whether waiting still makes sense: GGAS_OK, or an error to
// return.
template <class Done, class Check>
ggas_rc wait(bell& b, limit until, Done&& done, Check&& check) {
  if (done()) return GGAS_OK;
  if (until.no_wait()) return GGAS_TIMEOUT;
  for (unsigned i = looks_alone.load(std::memory_order_relaxed); i > 0; --i) {
    pause();
    if (done()) return GGAS_OK;
  }
  const limit patience = limit::after(yield_ns);
  do {
    sched_yield();
    if (done()) return GGAS_OK;
  } while (!patience.passed() && !until.passed());
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
    sleep_at(b, rings, left < nap_ns ? left : nap_ns);
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
  bell freed_{};
};

}  // namespace ggas::library::shm
