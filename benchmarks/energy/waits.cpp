// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/energy/waits.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace ggas::bench {

namespace {

using namespace std::chrono_literals;
constexpr auto job = 100ms, turn = 5ms;
constexpr unsigned most_pauses = 1024;  // of some 40 cycles each: 10 to 20 us

void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

void wait_for(const std::atomic<bool>& word, processor_wait way) {
  for (unsigned pauses = 1; !word.load(std::memory_order_acquire);) {
    if (way == processor_wait::sleep) std::this_thread::sleep_for(turn);
    if (way != processor_wait::back_off) continue;
    for (unsigned i = 0; i < pauses; ++i) pause_processor();
    pauses = std::min(2 * pauses, most_pauses);
  }
}

}  // namespace

void wait_load(processor_wait way, work_meter& meter) {
  while (meter.more()) {
    std::atomic<bool> word = false;
    std::thread waiter([&] { wait_for(word, way); });
    std::this_thread::sleep_for(job);
    word.store(true, std::memory_order_release);
    waiter.join();
    meter.add(1);
  }
}

void idle_load(work_meter& meter) {
  while (meter.more()) std::this_thread::sleep_for(job);
}

}  // namespace ggas::bench
