// SPDX-License-Identifier: Apache-2.0
// A processor of ggas::runtime: a thread that runs messages, one after the other. Included by ggas/runtime.hpp.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "ggas/detail/runtime/message.hpp"

namespace ggas {
class runtime;
}

namespace ggas::detail {

// Work of processors in addition to messages: each processor calls it every `progress_period` messages, and repeatedly
// when there are no messages. Returns true if it waits for an event; then the processor does not sleep.
struct progress_hook {
  virtual ~progress_hook() = default;
  virtual bool progress(processor& by) = 0;
};

// A count that one thread advances and all read.
class own_count {
 public:
  void add() { n_.store(n_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  uint64_t get() const { return n_.load(std::memory_order_acquire); }

 private:
  std::atomic<uint64_t> n_ = 0;
};

class processor {
 public:
  processor(runtime& of, int number);
  ~processor();
  processor(const processor&) = delete;
  processor& operator=(const processor&) = delete;

  // The one that this thread is; null: a thread of the program.
  static processor* here() { return here_; }
  runtime& of() const { return runtime_; }
  int number() const { return number_; }

  void start() {
    thread_ = std::thread([this] { work(); });
  }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  void wake();
  bool in_hook() const { return in_hook_.load(std::memory_order_seq_cst); }

  // By its own thread.
  void queue(message* m) { queue_.push(m); }
  // By any thread.
  void push(message* m) {
    m->next = incoming_.load(std::memory_order_relaxed);
    while (!incoming_.compare_exchange_weak(m->next, m, std::memory_order_seq_cst, std::memory_order_relaxed)) {
    }
    if (sleeps_.load(std::memory_order_seq_cst)) wake();
  }

  // Memory of messages, by the own thread: what it frees it takes again.
  void* take(size_t bytes, uint32_t& size_class) {
    size_class = static_cast<uint32_t>((bytes + 63) / 64);
    if (size_class >= free_.size() || !free_[size_class].first) return ::operator new(bytes_of(size_class));
    pool& p = free_[size_class];
    --p.count;
    return std::exchange(p.first, p.first->next);
  }
  void give_back(message* m) {
    if (m->size_class >= free_.size() || free_[m->size_class].count >= most_kept) return ::operator delete(m);
    pool& p = free_[m->size_class];
    ++p.count;
    m->next = std::exchange(p.first, m);
  }
  static size_t bytes_of(uint32_t size_class) { return size_t{64} * size_class; }

  own_count sent, done, progress_calls, idle_times, forwarded, dropped;

 private:
  static constexpr unsigned most_kept = 4096;  // messages of a size; memory of more goes back
  struct pool {
    message* first = nullptr;
    unsigned count = 0;
  };

  void work();
  void run(message* m);
  bool take_incoming();
  bool progress();
  void idle();
  bool any_message();
  bool comes_soon();
  void sleep();

  static inline thread_local constinit processor* here_ = nullptr;

  runtime& runtime_;
  const int number_;
  const unsigned looks_;  // for messages, before it sleeps
  ranked_messages queue_;
  unsigned since_progress_ = 0;
  std::array<pool, 8> free_;
  alignas(64) std::atomic<message*> incoming_ = nullptr;  // the last to come first
  std::atomic<bool> sleeps_ = false, in_hook_ = false;
  std::mutex mutex_;
  std::condition_variable awake_;
  std::thread thread_;
};

// A message that runs `body(message, processor)`.
template <class Body>
message* make_message(processor* by, Body&& body) {
  using whole = message_with<std::decay_t<Body>>;
  static_assert(alignof(whole) <= alignof(std::max_align_t), "arguments of messages have usual alignments");
  uint32_t size_class = static_cast<uint32_t>((sizeof(whole) + 63) / 64);
  void* const at = by ? by->take(sizeof(whole), size_class) : ::operator new(processor::bytes_of(size_class));
  auto* const m = new (at) whole(std::decay_t<Body>(std::forward<Body>(body)));
  m->size_class = size_class;
  return m;
}

}  // namespace ggas::detail
