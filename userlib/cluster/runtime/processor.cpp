// SPDX-License-Identifier: Apache-2.0
#include "ggas/detail/runtime/processor.hpp"

#include <exception>

#include "ggas/runtime.hpp"

namespace ggas::detail {
namespace {

// Number of polls of a processor before it sleeps: longer than another one takes to answer, if each has its own core.
unsigned looks_for(int processors) {
  return std::thread::hardware_concurrency() > static_cast<unsigned>(processors) ? 2000 : 50;
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void drop(message* m) {
  m->act(*m, nullptr);
  ::operator delete(m);
}

}  // namespace

bool forward(message& m, processor& by, int to) {
  by.forwarded.add();
  by.of().forward(m, to);
  return false;
}

processor::processor(runtime& of, int number) : runtime_(of), number_(number), looks_(looks_for(of.processors())) {}

// Its thread has ended.
processor::~processor() {
  take_incoming();
  while (message* const m = queue_.pop()) drop(m);
  for (pool& p : free_)
    while (p.first) ::operator delete(std::exchange(p.first, p.first->next));
}

void processor::wake() {
  { const std::lock_guard lock(mutex_); }
  awake_.notify_one();
}

void processor::work() {
  here_ = this;
  while (!runtime_.stopping()) {
    take_incoming();
    message* const m = queue_.pop();
    if (!m) {
      idle();
      continue;
    }
    run(m);
    if (++since_progress_ < runtime_.config().progress_period) continue;
    progress();
  }
}

void processor::run(message* m) {
  bool ended = true;
  try {
    ended = m->act(*m, this);
  } catch (const std::exception& e) {
    m->act(*m, nullptr);
    runtime_.fail(std::string("an exception left a method: ") + e.what());
  } catch (...) {
    m->act(*m, nullptr);
    runtime_.fail("an exception of unknown type left a method");
  }
  if (!ended) return;
  give_back(m);
  done.add();
}

// In the order in which they came.
bool processor::take_incoming() {
  if (!incoming_.load(std::memory_order_relaxed)) return false;
  message* m = incoming_.exchange(nullptr, std::memory_order_acquire);
  message* first = nullptr;
  while (m) {
    message* const next = std::exchange(m->next, first);
    first = std::exchange(m, next);
  }
  while (first) queue_.push(std::exchange(first, first->next));
  return true;
}

// Whether there is something to wait for.
bool processor::progress() {
  since_progress_ = 0;
  if (!runtime_.hook_.load(std::memory_order_relaxed)) return false;
  in_hook_.store(true, std::memory_order_seq_cst);
  progress_hook* const hook = runtime_.hook_.load(std::memory_order_seq_cst);
  if (hook) progress_calls.add();
  const bool waits = hook && hook->progress(*this);
  in_hook_.store(false, std::memory_order_release);
  return waits;
}

void processor::idle() {
  idle_times.add();
  if (const auto& reported = runtime_.config().on_idle) reported(number_);
  while (!runtime_.stopping()) {
    const bool waits = progress();
    if (any_message()) return;
    if (waits)
      std::this_thread::yield();
    else if (comes_soon())
      return;
    else
      sleep();
  }
}

bool processor::any_message() { return take_incoming() || !queue_.empty(); }

bool processor::comes_soon() {
  for (unsigned i = 0; i < looks_; ++i) {
    if (any_message()) return true;
    pause();
  }
  return false;
}

void processor::sleep() {
  runtime_.tell_if_quiet();
  std::unique_lock lock(mutex_);
  sleeps_.store(true, std::memory_order_seq_cst);
  awake_.wait(lock, [this] { return incoming_.load(std::memory_order_seq_cst) || runtime_.stopping(); });
  sleeps_.store(false, std::memory_order_relaxed);
}

}  // namespace ggas::detail
