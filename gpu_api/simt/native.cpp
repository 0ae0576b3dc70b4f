// SPDX-License-Identifier: Apache-2.0
#include "gpu_api/simt/native.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>

namespace ggas::simt {
namespace {

uint64_t clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

constexpr uint64_t progress_ns = 200'000'000;
constexpr uint32_t sleeping = 1;  // access::owner of a sleep whose end (access::b) is known

}  // namespace

class native_scheduler::stream : public environment {
 public:
  stream(const native_config& cfg, unsigned number) : cfg_(cfg), number_(number) {}

  uint64_t now_ns() const override { return clock_ns(); }
  const void* device_context() const override { return context_; }

  // What a thread runs is taken over from here by start().
  void enqueue(launch l, const void* context) { late_.push_back({std::move(l), context, {}}); }
  void enqueue_gate(std::function<bool()> passed) { late_.push_back({{}, nullptr, std::move(passed)}); }
  void start() {
    std::ranges::move(late_, std::back_inserter(queue_));
    late_.clear();
  }
  bool late() const { return !late_.empty(); }
  unsigned gpu() const { return number_; }

  void drop() {
    resident_.clear();
    grid_.reset();
    queue_.clear();
  }

  // Lets every warp that can run have one turn. False when none is left.
  bool turn() {
    moved_ = asleep_ = false;
    if (!fill()) return false;
    if (resident_.empty()) return true;  // at a gate
    for (auto& b : resident_) {
      for (auto& w : b->warps()) serve(*w);
      if (!b->fault().empty()) fault_ = b->fault();
    }
    if (!moved_ && !asleep_ && fault_.empty()) fault_ = "all threads wait at barriers: " + where();
    std::erase_if(resident_, [](const auto& b) { return b->finished(); });
    return true;
  }

  const std::string& fault() const { return fault_; }
  bool only_sleeps() const { return !moved_; }

  std::string where() const {
    if (!grid_ && !queue_.empty())
      return "a stream of GPU " + std::to_string(number_) + " waits for an event, " +
             std::to_string(queue_.size() - 1) + " behind it\n";
    if (!grid_) return {};
    std::string s = "kernel '" + grid_->config().name + "' on GPU " + std::to_string(number_) + ", " +
                    std::to_string(resident_.size()) + " of " + std::to_string(grid_->blocks()) + " blocks resident, " +
                    std::to_string(grid_->blocks() - next_) + " not started\n";
    for (size_t i = 0; i < resident_.size() && i < 4; ++i) s += resident_[i]->describe(4);
    return s;
  }

 private:
  struct item {
    launch l;
    const void* context;
    std::function<bool()> passed;  // a gate, no kernel
  };

  // Makes blocks while there is room, and continues with the next kernel when the last block of one has ended. False
  // when nothing is left.
  bool fill() {
    while (true) {
      while (grid_ && next_ < grid_->blocks() && (!cfg_.resident_blocks || resident_.size() < cfg_.resident_blocks)) {
        resident_.push_back(grid_->make_block(next_++));
      }
      if (!resident_.empty()) return true;
      grid_.reset();
      if (queue_.empty()) return false;
      if (queue_.front().passed) {
        if (!queue_.front().passed()) return true;
        queue_.pop_front();
        moved_ = true;
        continue;
      }
      context_ = queue_.front().context;
      grid_.emplace(std::move(queue_.front().l), *this);
      next_ = 0;
      queue_.pop_front();
    }
  }

  void serve(warp& w) {
    if (w.runnable()) {
      w.step();
      moved_ = true;
    }
    for (access* a : w.pending()) {
      if (a->kind == op::sleep && !wake(*a)) {
        asleep_ = true;
        continue;
      }
      apply(*a);
      w.complete(*a);
      moved_ = true;
    }
  }

  static bool wake(access& a) {
    const uint64_t now = clock_ns();
    if (a.owner != sleeping) {
      a.owner = sleeping;
      a.b = now + a.a;
    }
    return now >= a.b;
  }

  const native_config cfg_;
  const unsigned number_;
  std::deque<item> queue_;
  std::vector<item> late_;  // since the last start()
  std::optional<grid> grid_;
  const void* context_ = nullptr;
  unsigned next_ = 0;
  std::vector<std::unique_ptr<block>> resident_;
  bool moved_ = false, asleep_ = false;
  std::string fault_;
};

// A thread for each stream, until the stream is empty or all are asked to stop.
class native_scheduler::crew {
 public:
  explicit crew(const std::vector<std::unique_ptr<stream>>& streams)
      : streams_(streams), left_(streams.size()), errors_(streams.size()) {
    for (size_t i = 0; i < streams.size(); ++i) threads_.emplace_back([this, i] { run(i); });
  }

  // Whether all have ended, by then.
  bool ended_by(uint64_t deadline_ns) {
    std::unique_lock lock(mutex_);
    const uint64_t now = clock_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
    return done_.wait_for(lock, std::chrono::nanoseconds(std::min(left, progress_ns)), [&] { return left_ == 0; });
  }
  // Waits for the end of all; nothing is left in their streams if they were asked to stop.
  std::optional<native_error> end() {
    threads_.clear();
    std::optional<native_error> all;
    for (auto& e : errors_) {
      if (!e) continue;
      if (all) {
        all->text += e->text;
      } else {
        all = std::move(e);
      }
    }
    return all;
  }
  // What the streams stood at, and their end.
  std::string stop() {
    stop_ = true;
    threads_.clear();
    std::string all;
    for (const std::string& text : where_) all += text;
    return all;
  }

 private:
  void run(size_t i) {
    stream& s = *streams_[i];
    // Where threads share cores, a kernel of many turns would give its core away as often.
    constexpr unsigned turns_of_a_core = 32;
    unsigned turns = 0;
    while (!stop_.load(std::memory_order_relaxed) && s.turn()) {
      if (!s.fault().empty()) {
        errors_[i] = native_error{native_error::kind::failed, s.fault()};
        stop_ = true;
      }
      if (s.only_sleeps() || ++turns % turns_of_a_core == 0) std::this_thread::yield();
    }
    if (stop_) {
      where_[i] = s.where();
      s.drop();  // fibers end on the thread that ran them
    }
    std::lock_guard lock(mutex_);
    if (--left_ == 0) done_.notify_one();
  }

  const std::vector<std::unique_ptr<stream>>& streams_;
  std::atomic<bool> stop_ = false;
  size_t left_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::vector<std::optional<native_error>> errors_;
  std::vector<std::string> where_ = std::vector<std::string>(errors_.size());
  std::vector<std::jthread> threads_;  // last: they use the rest
};

native_scheduler::native_scheduler(const native_config& cfg, unsigned gpus) : cfg_(cfg) {
  for (unsigned i = 0; i < gpus; ++i) add_stream(i);
}
native_scheduler::~native_scheduler() { stop(); }

unsigned native_scheduler::add_stream(unsigned gpu) {
  streams_.push_back(std::make_unique<stream>(cfg_, gpu));
  return static_cast<unsigned>(streams_.size()) - 1;
}

void native_scheduler::enqueue(unsigned s, launch l, const void* context) {
  streams_.at(s)->enqueue(std::move(l), context);
}
void native_scheduler::enqueue_gate(unsigned s, std::function<bool()> passed) {
  streams_.at(s)->enqueue_gate(std::move(passed));
}

// Threads take what is queued while they run when all of them have ended.
void native_scheduler::start() {
  if (crew_) return;
  bool any = false;
  for (auto& s : streams_) {
    any = any || s->late();
    s->start();
  }
  if (cfg_.thread_per_stream && any) crew_ = std::make_unique<crew>(streams_);
}

std::expected<bool, native_error> native_scheduler::poll(uint64_t slice_ns) {
  return cfg_.thread_per_stream ? watch(0, {}) : turns(clock_ns() + slice_ns, {}, true);
}

std::expected<void, native_error> native_scheduler::run(uint64_t timeout_ns, const std::function<bool()>& go_on) {
  const uint64_t begin = clock_ns();
  const uint64_t deadline = timeout_ns > UINT64_MAX - begin ? UINT64_MAX : begin + timeout_ns;
  start();
  const auto ended = work(deadline, go_on);
  if (!ended) return std::unexpected(ended.error());
  if (*ended) return {};
  return std::unexpected(stopped(native_error::kind::timed_out, where()));
}

void native_scheduler::stop() { static_cast<void>(stopped(native_error::kind::cancelled, {})); }

// Whether nothing is left, at the deadline at the latest.
std::expected<bool, native_error> native_scheduler::work(uint64_t deadline, const std::function<bool()>& go_on) {
  return cfg_.thread_per_stream ? watch(deadline, go_on) : turns(deadline, go_on, false);
}

native_error native_scheduler::stopped(native_error::kind why, std::string text) {
  if (crew_) text = crew_->stop();
  crew_.reset();
  for (auto& s : streams_) s = std::make_unique<stream>(cfg_, s->gpu());
  return {why, why == native_error::kind::cancelled ? "cancelled" : std::move(text)};
}

std::string native_scheduler::where() const {
  std::string all;
  if (crew_) return all;  // their threads report when they stop
  for (const auto& s : streams_) all += s->where();
  return all;
}

std::expected<bool, native_error> native_scheduler::turns(uint64_t deadline, const std::function<bool()>& go_on,
                                                          bool until_idle) {
  uint64_t next_progress = clock_ns() + progress_ns;
  while (true) {
    bool more = false, idle = true;
    for (auto& s : streams_) {
      if (!s->turn()) continue;
      more = true;
      idle = idle && s->only_sleeps();
      if (!s->fault().empty()) return std::unexpected(stopped(native_error::kind::failed, s->fault()));
    }
    if (!more) return true;
    const uint64_t now = clock_ns();
    if (now > deadline) return false;
    if (go_on && now > next_progress) {
      if (!go_on()) return std::unexpected(stopped(native_error::kind::cancelled, {}));
      next_progress = now + progress_ns;
    }
    if (!idle) continue;
    if (until_idle) return false;
    std::this_thread::yield();
  }
}

std::expected<bool, native_error> native_scheduler::watch(uint64_t deadline, const std::function<bool()>& go_on) {
  while (crew_) {
    if (crew_->ended_by(deadline)) {
      auto wrong = crew_->end();
      crew_.reset();
      if (wrong) return std::unexpected(stopped(wrong->why, std::move(wrong->text)));
      start();  // what came meanwhile
      continue;
    }
    if (clock_ns() >= deadline) return false;
    if (go_on && !go_on()) return std::unexpected(stopped(native_error::kind::cancelled, {}));
  }
  return true;
}

}  // namespace ggas::simt
