// SPDX-License-Identifier: Apache-2.0
#include "userlib/cluster/programs/programs.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace ggas {
namespace {

struct stopped {};

template <class T>
void load_as(std::byte* to, std::byte* from) {
  const T v = std::atomic_ref(*reinterpret_cast<T*>(from)).load(std::memory_order_acquire);
  std::memcpy(to, &v, sizeof(T));
}
template <class T>
void store_as(std::byte* to, const std::byte* from) {
  T v;
  std::memcpy(&v, from, sizeof(T));
  std::atomic_ref(*reinterpret_cast<T*>(to)).store(v, std::memory_order_release);
}

// The largest naturally aligned piece at the start of a range.
size_t piece(const std::byte* at, size_t bytes) {
  for (size_t n = 8; n > 1; n /= 2)
    if (bytes >= n && reinterpret_cast<uintptr_t>(at) % n == 0) return n;
  return 1;
}

}  // namespace

uint64_t host_programs::clock_ns() {
  return uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

struct host_programs::runner final : host {
  runner(program p, const std::atomic<bool>& stop)
      : host({}), what(std::move(p)), stop(stop), thread([this] { run(); }) {}
  ~runner() override { thread.join(); }

  void run() {
    try {
      what.body(*this);
    } catch (const stopped&) {
      what.fault = "still runs";
    } catch (const std::exception& e) {
      what.fault = std::string("exception: ") + e.what();
    } catch (...) {
      what.fault = "exception";
    }
    const std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
  }
  bool wait_for_end(uint64_t deadline_ns) {
    std::unique_lock lock(mutex);
    const uint64_t now = clock_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
    constexpr uint64_t most = ~uint64_t{0} / 4;  // of the library's clock, which has a sign
    return changed.wait_for(lock, std::chrono::nanoseconds(std::min(left, most)), [this] { return ended; });
  }

  int node() const override { return what.node; }
  uint64_t now_ns() const override { return clock_ns(); }
  void sleep(uint64_t ns) override {
    const uint64_t end = after(clock_ns(), ns);
    constexpr uint64_t most = 1'000'000;  // until it looks whether it is to stop
    for (uint64_t now; check(), (now = clock_ns()) < end;)
      std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(most, end - now)));
  }
  void library_call() override { check(); }
  void read(void* to, const void* from, size_t bytes) override {
    check();
    if (is_far(from, bytes)) return done(what.reach.read(to, from, bytes));
    auto* out = static_cast<std::byte*>(to);
    for (auto* in = reach(from, bytes); bytes;) {
      const size_t n = piece(in, bytes);
      n == 8   ? load_as<uint64_t>(out, in)
      : n == 4 ? load_as<uint32_t>(out, in)
      : n == 2 ? load_as<uint16_t>(out, in)
               : load_as<uint8_t>(out, in);
      in += n, out += n, bytes -= n;
    }
  }
  void write(void* to, const void* from, size_t bytes) override {
    check();
    if (is_far(to, bytes)) return done(what.reach.write(to, from, bytes));
    const auto* in = static_cast<const std::byte*>(from);
    for (auto* out = reach(to, bytes); bytes;) {
      const size_t n = piece(out, bytes);
      n == 8   ? store_as<uint64_t>(out, in)
      : n == 4 ? store_as<uint32_t>(out, in)
      : n == 2 ? store_as<uint16_t>(out, in)
               : store_as<uint8_t>(out, in);
      in += n, out += n, bytes -= n;
    }
  }
  bool wait_until(const std::function<bool()>& done, uint64_t timeout_ns) override {
    const uint64_t end = after(clock_ns(), timeout_ns);
    while (!done()) {
      check();
      if (clock_ns() >= end) return false;
      std::this_thread::yield();
    }
    return true;
  }

  void check() const {
    if (stop.load(std::memory_order_relaxed)) throw stopped();
  }
  std::byte* reach(const void* at, size_t bytes) const {
    for (const auto& m : what.reach.near)
      if (lies_in(m, at, bytes)) return static_cast<std::byte*>(const_cast<void*>(at));
    throw std::out_of_range("access outside of pinned host memory and segments");
  }
  bool is_far(const void* at, size_t bytes) const { return lies_in(what.reach.far, at, bytes); }
  static bool lies_in(std::span<const std::byte> m, const void* at, size_t bytes) {
    const auto* const p = static_cast<const std::byte*>(at);
    return p >= m.data() && bytes <= m.size() && size_t(p - m.data()) <= m.size() - bytes;
  }
  static void done(const std::string& why_not) {
    if (!why_not.empty()) throw std::runtime_error(why_not);
  }

  program what;
  const std::atomic<bool>& stop;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::thread thread;  // last: it uses the rest
};

host_programs::host_programs() = default;
host_programs::~host_programs() = default;

void host_programs::add(int node, memory m, std::function<void(host&)> body, std::string name) {
  queued_.push_back({node, std::move(m), std::move(body), std::move(name)});
}

void host_programs::start() {
  stop_ = false;
  for (program& p : queued_) running_.push_back(std::make_unique<runner>(std::move(p), stop_));
  queued_.clear();
}

bool host_programs::ended() const {
  return std::ranges::all_of(running_, [](const auto& r) { return r->wait_for_end(0); });
}

result<> host_programs::finish(uint64_t deadline_ns, const std::function<bool()>& go_on) {
  constexpr uint64_t between_questions_ns = 200'000'000;
  bool in_time = true, cancelled = false;
  for (const auto& r : running_) {
    while (in_time && !cancelled && !r->wait_for_end(std::min(deadline_ns, after(clock_ns(), between_questions_ns)))) {
      in_time = clock_ns() < deadline_ns;
      cancelled = !go_on();
    }
  }
  stop_ = true;
  std::string text;
  for (const auto& r : running_) {
    r->wait_for_end(~uint64_t{0});
    if (!r->what.fault.empty())
      text += (text.empty() ? "" : "; ") + ("node " + std::to_string(r->node())) + ": program '" + r->what.name +
              "': " + r->what.fault;
  }
  running_.clear();
  if (cancelled) return error{errc::cancelled, "cancelled"};
  if (text.empty()) return {};
  return error{in_time ? errc::device_fault : errc::timed_out, std::move(text)};
}

}  // namespace ggas
