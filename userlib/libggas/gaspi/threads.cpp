// SPDX-License-Identifier: Apache-2.0
// GASPI_Threads.h: a team of threads of this process.
#include <GASPI_Threads.h>
#include <sched.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "userlib/libggas/gaspi/self.hpp"

namespace {

using namespace ggas::library::gaspi;

constexpr unsigned most_threads = 1024;
constexpr const char* no_team = "there is no team: gaspi_threads_init has not been called";

std::mutex lock;
std::condition_variable changed;
struct {
  uint64_t number = 0;  // of teams until now: members of an earlier one are none of this
  unsigned size = 0;    // 0: there is no team
  unsigned members = 0, arrived = 0;
  uint64_t round = 0;
  bool closing = false;                    // all have arrived, and the last one is at work
  gaspi_return_t outcome = GASPI_SUCCESS;  // of the last round
} team;

thread_local struct {
  uint64_t team = 0;
  gaspi_int tid = -1;
} mine;

bool is_member() { return team.size > 0 && mine.team == team.number; }

// Waits until the round is over or the team has ended; false: time is up.
bool wait_for_others(std::unique_lock<std::mutex>& held, gaspi_timeout_t timeout_ms) {
  const auto over = [number = team.number, round = team.round] {
    return team.number != number || team.size == 0 || team.round != round;
  };
  if (nanoseconds(timeout_ms) == GGAS_BLOCK) {
    changed.wait(held, over);
    return true;
  }
  if (changed.wait_for(held, std::chrono::nanoseconds(nanoseconds(timeout_ms)), over)) return true;
  if (team.closing) changed.wait(held, over);  // the return code comes within the time of the last one
  return over();
}

// The last member that comes does `last`, whose return code all get.
template <class Last>
gaspi_return_t meet(gaspi_timeout_t timeout_ms, Last last) {
  std::unique_lock held(lock);
  if (!is_member()) return refuse("the thread is no member of a team: gaspi_threads_register makes it one");
  if (++team.arrived < team.size) {
    const uint64_t number = team.number;
    if (wait_for_others(held, timeout_ms))
      return team.number == number && team.size > 0 ? team.outcome : refuse("the team has ended");
    --team.arrived;
    return GASPI_TIMEOUT;
  }
  const uint64_t number = team.number;
  team.closing = true;
  held.unlock();  // a barrier may take long, and the team may be asked or ended meanwhile
  const gaspi_return_t rc = last();
  held.lock();
  if (team.number != number || team.size == 0) return rc;
  team.outcome = rc;
  team.arrived = 0;
  team.closing = false;
  ++team.round;
  changed.notify_all();
  return rc;
}

}  // namespace

gaspi_return_t gaspi_threads_get_num_cores(gaspi_int* cores) {
  cpu_set_t own;
  if (sched_getaffinity(0, sizeof own, &own) != 0) return refuse("the system does not say which cores there are");
  return give(cores, CPU_COUNT(&own));
}

gaspi_return_t gaspi_threads_init(gaspi_int* num) {
  if (const gaspi_return_t rc = gaspi_threads_get_num_cores(num); rc != GASPI_SUCCESS) return rc;
  return gaspi_threads_init_user(static_cast<unsigned>(*num));
}

gaspi_return_t gaspi_threads_init_user(unsigned threads) {
  const std::lock_guard held(lock);
  if (threads < 1 || threads > most_threads) return refuse("threads of a team: must be 1 to 1024");
  if (team.size > 0) return refuse("there is a team already: gaspi_threads_term ends it");
  team = {.number = team.number + 1, .size = threads};
  return GASPI_SUCCESS;
}

gaspi_return_t gaspi_threads_term() {
  const std::lock_guard held(lock);
  team.size = 0;
  changed.notify_all();
  return GASPI_SUCCESS;
}

gaspi_return_t gaspi_threads_run(void* (*function)(void*), void* arg) {
  {
    const std::lock_guard held(lock);
    if (team.size == 0) return refuse(no_team);
  }
  if (!function) return refuse("function is null");
  try {
    std::thread(function, arg).detach();
  } catch (const std::system_error&) {
    return refuse("the system cannot start a thread");
  }
  return GASPI_SUCCESS;
}

gaspi_return_t gaspi_threads_register(gaspi_int* tid) {
  const std::lock_guard held(lock);
  if (team.size == 0) return refuse(no_team);
  if (!tid) return refuse("a pointer is null");
  if (!is_member()) {
    if (team.members == team.size) return refuse("the team has all its members");
    mine = {team.number, static_cast<gaspi_int>(team.members++)};
  }
  return give(tid, mine.tid);
}

gaspi_return_t gaspi_threads_get_tid(gaspi_int* tid) {
  const std::lock_guard held(lock);
  return team.size > 0 ? give(tid, is_member() ? mine.tid : -1) : refuse(no_team);
}

gaspi_return_t gaspi_threads_get_total(gaspi_int* num) {
  const std::lock_guard held(lock);
  return team.size > 0 ? give(num, team.size) : refuse(no_team);
}

void gaspi_threads_sync() {
  meet(GASPI_BLOCK, [] { return GASPI_SUCCESS; });
}

gaspi_return_t gaspi_threads_sync_all(gaspi_group_t group, gaspi_timeout_t timeout_ms) {
  return meet(timeout_ms, [=] { return gaspi_barrier(group, timeout_ms); });
}
