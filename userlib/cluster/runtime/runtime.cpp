// SPDX-License-Identifier: Apache-2.0
#include "ggas/runtime.hpp"

#include <algorithm>
#include <chrono>

namespace ggas {

using detail::processor;

result<std::unique_ptr<runtime>> runtime::create(runtime_config cfg, std::unique_ptr<ggas::cluster> c) {
  if (cfg.processors < 1 || cfg.processors > 1024)
    return error{errc::bad_argument, "processors = " + std::to_string(cfg.processors) + ": must be 1 ... 1024"};
  if (cfg.progress_period == 0) return error{errc::bad_argument, "progress_period = 0: must be 1 or more"};
  return std::unique_ptr<runtime>(new runtime(std::move(cfg), std::move(c)));
}

runtime::runtime(runtime_config cfg, std::unique_ptr<ggas::cluster> c) : cfg_(std::move(cfg)), cluster_(std::move(c)) {
  for (int i = 0; i < cfg_.processors; ++i) processors_.push_back(std::make_unique<processor>(*this, i));
  for (auto& p : processors_) p->start();
}

runtime::~runtime() {
  stop_.store(true, std::memory_order_seq_cst);
  for (auto& p : processors_) p->wake();
  for (auto& p : processors_) p->join();
}

// Counts of ended work are read first, so that each is also among the started ones. If they are equal, nothing was
// pending at some time between the two (ended work had sent its messages before).
bool runtime::quiet() const {
  uint64_t done = outside_done_.load(std::memory_order_acquire);
  for (const auto& p : processors_) done += p->done.get();
  uint64_t sent = outside_sent_.load(std::memory_order_acquire);
  for (const auto& p : processors_) sent += p->sent.get();
  return sent == done;
}

// If several processors fall asleep at the same time, one of them sees the work of all.
void runtime::tell_if_quiet() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::vector<std::function<void()>> then;
  {
    // Checked under the lock, so messages that were sent before a function was added here are counted.
    const std::lock_guard lock(mutex_);
    if (!quiet()) return;
    then.swap(when_quiet_);
    ++telling_;
  }
  for (const auto& call : then) call();
  const std::lock_guard lock(mutex_);
  --telling_;
  changed_.notify_all();
}

result<> runtime::run(uint64_t timeout_ns) {
  constexpr uint64_t most_ns = uint64_t{1} << 60;
  const auto wait = std::chrono::nanoseconds(std::min(timeout_ns, most_ns));
  std::unique_lock lock(mutex_);
  const auto ended = [this] { return exit_ || !failure_.empty() || (when_quiet_.empty() && telling_ == 0 && quiet()); };
  const bool in_time = changed_.wait_for(lock, wait, ended);
  exit_ = false;
  if (!failure_.empty()) return error{errc::device_fault, failure_};
  if (in_time) return {};
  return error{errc::timed_out,
               "run: " + std::to_string(timeout_ns) + " ns are over, and messages or requests are left"};
}

void runtime::exit() {
  const std::lock_guard lock(mutex_);
  exit_ = true;
  changed_.notify_all();
}

void runtime::fail(std::string text) {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = std::move(text);
  changed_.notify_all();
}

void runtime::when_quiet(std::function<void()> then) {
  {
    const std::lock_guard lock(mutex_);
    when_quiet_.push_back(std::move(then));
  }
  post(0, [] {});  // whose end is looked at
}

processor_statistics runtime::statistics(int number) const {
  if (number < 0 || number >= processors()) return {};
  const processor& p = *processors_[static_cast<size_t>(number)];
  return {.messages = p.done.get(),
          .progress_calls = p.progress_calls.get(),
          .idle_times = p.idle_times.get(),
          .forwarded = p.forwarded.get(),
          .dropped = p.dropped.get()};
}

bool runtime::add(detail::progress_hook& h) {
  detail::progress_hook* none = nullptr;
  return hook_.compare_exchange_strong(none, &h, std::memory_order_seq_cst);
}

void runtime::remove(detail::progress_hook& h) {
  detail::progress_hook* mine = &h;
  if (!hook_.compare_exchange_strong(mine, nullptr, std::memory_order_seq_cst)) return;
  for (const auto& p : processors_)
    while (p->in_hook()) std::this_thread::yield();
}

void runtime::begin_work() {
  if (processor* const p = own())
    p->sent.add();
  else
    outside_sent_.fetch_add(1, std::memory_order_release);
}

void runtime::end_work() {
  if (processor* const p = own()) return p->done.add();
  outside_done_.fetch_add(1, std::memory_order_release);
  tell_if_quiet();
}

}  // namespace ggas
