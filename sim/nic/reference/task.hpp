// SPDX-License-Identifier: Apache-2.0
// Coroutines for models that wait without time: a task runs until it awaits an event, and continues when the scheduler
// runs after that event. One thread; tasks resume in the order of the events.
#pragma once

#include <coroutine>
#include <cstddef>
#include <deque>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace ggas::nic {

namespace detail {

struct promise_base {
  std::coroutine_handle<> parent = std::noop_coroutine();

  struct final_awaiter {
    bool await_ready() noexcept { return false; }
    template <class P>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) noexcept {
      return h.promise().parent;
    }
    void await_resume() noexcept {}
  };
  std::suspend_always initial_suspend() noexcept { return {}; }
  final_awaiter final_suspend() noexcept { return {}; }
  void unhandled_exception() { std::terminate(); }  // models do not throw
};

template <class T>
struct promise : promise_base {
  std::optional<T> value;
  auto get_return_object() { return std::coroutine_handle<promise>::from_promise(*this); }
  void return_value(T v) { value = std::move(v); }
};
template <>
struct promise<void> : promise_base {
  auto get_return_object() { return std::coroutine_handle<promise>::from_promise(*this); }
  void return_void() {}
};

}  // namespace detail

// A coroutine that returns T. Owns its frame; starts when awaited (or given to a scheduler).
template <class T = void>
class [[nodiscard]] task {
 public:
  using promise_type = detail::promise<T>;

  task(std::coroutine_handle<promise_type> h) : handle_(h) {}
  task(task&& o) noexcept : handle_(std::exchange(o.handle_, nullptr)) {}
  task& operator=(task&& o) noexcept {
    std::swap(handle_, o.handle_);
    return *this;
  }
  ~task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) noexcept {
    handle_.promise().parent = parent;
    return handle_;
  }
  T await_resume() {
    if constexpr (!std::is_void_v<T>) return std::move(*handle_.promise().value);
  }
  std::coroutine_handle<> handle() const { return handle_; }

 private:
  std::coroutine_handle<promise_type> handle_;
};

class scheduler {
 public:
  // Keeps the task, which lives as long as the scheduler; it begins with the next run.
  void start(task<> t) {
    ready_.push_back(t.handle());
    roots_.push_back(std::move(t));
  }
  void ready(std::coroutine_handle<> h) { ready_.push_back(h); }
  bool idle() const { return ready_.empty(); }
  // Resumes what can go on, until nothing can.
  void run() {
    while (!ready_.empty()) {
      const auto h = ready_.front();
      ready_.pop_front();
      h.resume();
    }
    forget_ended();
  }

 private:
  // Now and then, so that what is started again and again takes no memory for ever.
  void forget_ended() {
    if (roots_.size() < 2 * lasting_ + 64) return;
    std::erase_if(roots_, [](const task<>& t) { return t.handle().done(); });
    lasting_ = roots_.size();
  }

  size_t lasting_ = 0;
  std::vector<task<>> roots_;
  std::deque<std::coroutine_handle<>> ready_;
};

// `co_await s` waits for the next notify. The one that waits for a condition tests it again.
class signal {
 public:
  explicit signal(scheduler& s) : scheduler_(&s) {}
  void notify() {
    for (const auto h : std::exchange(waiting_, {})) scheduler_->ready(h);
  }
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) { waiting_.push_back(h); }
  void await_resume() noexcept {}

 private:
  scheduler* scheduler_;
  std::vector<std::coroutine_handle<>> waiting_;
};

}  // namespace ggas::nic
