// SPDX-License-Identifier: Apache-2.0
// Task-Aware GASPI over libggas: values go round a ring of ranks, by tasks that end when their operations have. Each
// task is a thread here, by the tasking interface (ALPI) that tagaspi looks for.
#include <TAGASPI.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

struct alpi_task {
  std::atomic<uint64_t> events{1};  // its body, and what it waits for
  std::function<void()> completed;
};

namespace {
thread_local alpi_task* current;

void decrease(alpi_task* task, uint64_t events) {
  if (task->events.fetch_sub(events) != events) return;
  task->completed();
  delete task;
}

void spawn(std::function<void()> body, std::function<void()> completed) {
  auto* const task = new alpi_task;
  task->completed = std::move(completed);
  std::thread([task, body = std::move(body)] {
    current = task;
    body();
    decrease(task, 1);
  }).detach();
}
}  // namespace

extern "C" {
const char* alpi_error_string(int) { return "error of a task"; }
int alpi_version_check(int major, int) { return major != 1; }
int alpi_version_get(int* major, int* minor) { return *major = 1, *minor = 0; }
int alpi_task_self(alpi_task** task) { return *task = current, 0; }
int alpi_task_waitfor_ns(uint64_t target_ns, uint64_t*) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(target_ns));
  return 0;
}
int alpi_task_events_increase(alpi_task* task, uint64_t by) { return task->events += by, 0; }
int alpi_task_events_decrease(alpi_task* task, uint64_t by) { return decrease(task, by), 0; }
struct alpi_attr;
int alpi_task_spawn(void (*body)(void*), void* argument, void (*completed)(void*), void* completed_argument,
                    const char*, const alpi_attr*) {
  spawn([=] { body(argument); }, [=] { completed(completed_argument); });
  return 0;
}
}

namespace {
constexpr gaspi_timeout_t timeout_ms = 20'000;

void require(gaspi_return_t rc, const char* what) {
  if (rc == GASPI_SUCCESS) return;
  std::fprintf(stderr, "%s: %d\n", what, int(rc));
  std::exit(EXIT_FAILURE);
}

// Runs a task and waits until it and its operations are complete.
void run(const std::function<void()>& body) {
  std::atomic<bool> completed{false};
  spawn(body, [&completed] { completed = true; });
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  while (!completed) {
    if (std::chrono::steady_clock::now() > end) require(GASPI_TIMEOUT, "a task");
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}
}  // namespace

int main() {
  constexpr int rounds = 50;
  constexpr gaspi_size_t word = sizeof(long);
  gaspi_rank_t me, all;
  gaspi_pointer_t at;
  require(tagaspi_proc_init(timeout_ms), "tagaspi_proc_init");
  gaspi_proc_rank(&me);
  gaspi_proc_num(&all);
  require(gaspi_segment_create(0, 4 * word, GASPI_GROUP_ALL, timeout_ms, GASPI_MEM_INITIALIZED), "segment");
  gaspi_segment_ptr(0, &at);
  auto* const words = static_cast<volatile long*>(at);
  const auto right = gaspi_rank_t((me + 1) % all);
  words[0] = me;
  for (int round = 0; round < rounds; ++round) {
    gaspi_notification_t value = 0;
    const auto number = gaspi_notification_t(round + 1);
    run([&] { require(tagaspi_write_notify(0, 0, right, 0, word, word, 1, number, 0), "write_notify"); });
    run([&] { require(tagaspi_notify_async_wait(0, 1, &value), "notify_async_wait"); });
    if (value != number) require(GASPI_ERROR, "the notification's value");
    run([&] { require(tagaspi_read(0, 2 * word, right, 0, 0, word, 1), "read"); });
    words[3] = words[1];
    require(gaspi_barrier(GASPI_GROUP_ALL, timeout_ms), "barrier");
    words[0] = words[3];
    require(gaspi_barrier(GASPI_GROUP_ALL, timeout_ms), "barrier");
  }
  const long expected = (me + long(all) * rounds - rounds) % all;
  if (words[0] != expected) require(GASPI_ERROR, "the value that has gone round");
  require(tagaspi_proc_term(timeout_ms), "tagaspi_proc_term");
}
