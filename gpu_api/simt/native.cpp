// SPDX-License-Identifier: Apache-2.0
#include "gpu_api/simt/native.hpp"

#include <chrono>
#include <condition_variable>
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
const native_error cancelled{native_error::kind::cancelled, "cancelled"};
constexpr uint32_t sleeping = 1;  // access::owner of a sleep whose end (access::b) is known

}  // namespace

class native_scheduler::stream : public environment {
 public:
  stream(const native_config& cfg, unsigned number) : cfg_(cfg), number_(number) {}

  uint64_t now_ns() const override { return clock_ns(); }
  const void* device_context() const override { return context_; }

  void enqueue(launch l, const void* context) { queue_.push_back({std::move(l), context}); }

  void drop() {
    resident_.clear();
    grid_.reset();
    queue_.clear();
  }

  // One turn for every warp that can run. False when nothing is left.
  bool turn() {
    if (!fill()) return false;
    moved_ = asleep_ = false;
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
  };

  // Makes blocks while there is room, moving on to the next kernel when the last block of one has ended.
  bool fill() {
    while (true) {
      while (grid_ && next_ < grid_->blocks() && (!cfg_.resident_blocks || resident_.size() < cfg_.resident_blocks)) {
        resident_.push_back(grid_->make_block(next_++));
      }
      if (!resident_.empty()) return true;
      grid_.reset();
      if (queue_.empty()) return false;
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
  std::optional<grid> grid_;
  const void* context_ = nullptr;
  unsigned next_ = 0;
  std::vector<std::unique_ptr<block>> resident_;
  bool moved_ = false, asleep_ = false;
  std::string fault_;
};

native_scheduler::native_scheduler(const native_config& cfg, unsigned streams) : cfg_(cfg) {
  for (unsigned i = 0; i < streams; ++i) streams_.push_back(std::make_unique<stream>(cfg_, i));
}
native_scheduler::~native_scheduler() = default;

void native_scheduler::enqueue(unsigned s, launch l, const void* context) {
  streams_.at(s)->enqueue(std::move(l), context);
}

std::expected<void, native_error> native_scheduler::run(uint64_t timeout_ns, const std::function<bool()>& go_on) {
  const uint64_t start = clock_ns();
  const uint64_t deadline = timeout_ns > UINT64_MAX - start ? UINT64_MAX : start + timeout_ns;
  auto r = cfg_.thread_per_stream ? run_threads(deadline, go_on) : run_turns(deadline, go_on);
  if (!r) {
    for (unsigned i = 0; i < streams_.size(); ++i) streams_[i] = std::make_unique<stream>(cfg_, i);
  }
  return r;
}

std::expected<void, native_error> native_scheduler::run_turns(uint64_t deadline, const std::function<bool()>& go_on) {
  uint64_t next_progress = clock_ns() + progress_ns;
  while (true) {
    bool more = false, idle = true;
    for (auto& s : streams_) {
      if (!s->turn()) continue;
      more = true;
      idle = idle && s->only_sleeps();
      if (!s->fault().empty()) return std::unexpected(native_error{native_error::kind::failed, s->fault()});
    }
    if (!more) return {};
    const uint64_t now = clock_ns();
    if (now > deadline) {
      std::string text;
      for (auto& s : streams_) text += s->where();
      return std::unexpected(native_error{native_error::kind::timed_out, std::move(text)});
    }
    if (go_on && now > next_progress) {
      if (!go_on()) return std::unexpected(cancelled);
      next_progress = now + progress_ns;
    }
    if (idle) std::this_thread::yield();
  }
}

std::expected<void, native_error> native_scheduler::run_threads(uint64_t deadline, const std::function<bool()>& go_on) {
  std::atomic<bool> stop = false;
  std::atomic<size_t> left = streams_.size();
  std::mutex mutex;
  std::condition_variable done;
  std::vector<std::optional<native_error>> errors(streams_.size());
  bool ended_early = false;
  auto work = [&](unsigned i) {
    stream& s = *streams_[i];
    while (!stop.load(std::memory_order_relaxed) && s.turn()) {
      if (!s.fault().empty()) errors[i] = native_error{native_error::kind::failed, s.fault()};
      if (!errors[i] && clock_ns() > deadline) errors[i] = native_error{native_error::kind::timed_out, s.where()};
      if (errors[i]) stop = true;
      std::this_thread::yield();
    }
    if (stop) s.drop();  // fibers end on the thread that ran them
    std::lock_guard lock(mutex);
    if (--left == 0) done.notify_one();
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < streams_.size(); ++i) threads.emplace_back(work, i);
    std::unique_lock lock(mutex);
    while (!done.wait_for(lock, std::chrono::nanoseconds(progress_ns), [&] { return left == 0; })) {
      if (!go_on || go_on()) continue;
      ended_early = true;
      stop = true;
    }
  }
  if (ended_early) return std::unexpected(cancelled);
  std::expected<void, native_error> r;
  for (auto& e : errors) {  // a failure says more than the time-outs it causes
    if (!e) continue;
    if (r || e->why < r.error().why) {
      r = std::unexpected(*e);
    } else if (e->why == r.error().why) {
      r.error().text += e->text;
    }
  }
  return r;
}

}  // namespace ggas::simt
