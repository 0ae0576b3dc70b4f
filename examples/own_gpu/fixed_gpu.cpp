// SPDX-License-Identifier: Apache-2.0
// An own GPU in the simulated cluster: every access to its memory takes the same time, there is room for every block,
// and each lane's access is a separate request on PCIe. docs/how-to/own-gpu.md.
//
//   ggas-bench-own-gpu store_latency --set 'gpu.model="fixed"'
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "sim/gpu/address_map.hpp"
#include "sim/gpu/device.hpp"
#include "sim/gpu/host_interface.hpp"
#include "sim/pcie/timer.hpp"

namespace {

using namespace ggas;
using gpu::mark;
using gpu::region;
using pcie::now_ps;

// What shall happen when; equal times in the order they were entered.
class timeline {
 public:
  void after(uint64_t ns, std::function<void()> what) {
    queue_.emplace(now_ps() + ns * 1000, std::move(what));
    notify();
  }
  void clear() { queue_.clear(); }

 private:
  void run() {
    while (!queue_.empty() && queue_.begin()->first <= now_ps()) queue_.extract(queue_.begin()).mapped()();
    if (!queue_.empty()) notify();
  }
  void notify() { event_.notify(sc_core::sc_time::from_value(queue_.begin()->first - now_ps())); }

  std::multimap<uint64_t, std::function<void()>> queue_;
  pcie::timer event_{[this] { run(); }};
};

class fixed_gpu final : public sc_core::sc_module, public gpu::device, public simt::environment {
 public:
  fixed_gpu(sc_core::sc_module_name name, const gpu::gpu_config& cfg, const gpu::surroundings& s)
      : sc_module(name), cfg_(cfg), on_idle_(s.on_idle), context_(s.context), host_("host", cfg, s.bus_id, s.port) {
    attach(host_, s);
    attach(addresses_, s);
    host_.on_room = [this] { send_waiting(); };
  }
  ~fixed_gpu() override { reset(); }

  pcie::port& port() override { return host_.link; }
  std::map<std::string, uint64_t> counters() const override {
    return {{"accesses", accesses_}, {"stores", host_.stats().stores}, {"reads", host_.stats().reads}};
  }
  std::optional<std::string> check(simt::dim3 grid, simt::dim3 block) const override {
    std::string wrong = simt::grid::check({.grid = grid, .block = block, .kernel = [] {}});
    return wrong.empty() ? std::nullopt : std::optional(std::move(wrong));
  }
  void launch(simt::launch l, unsigned stream) override { streams_[stream].queue.push_back({.work = std::move(l)}); }
  void record(std::shared_ptr<mark> m, unsigned stream) override { streams_[stream].queue.push_back({.reaches = m}); }
  void wait(std::shared_ptr<mark> m, unsigned stream) override { streams_[stream].queue.push_back({.waits = m}); }
  void set_priority(unsigned, int) override {}  // there is always room
  unsigned start(uint64_t delay_ps) override {
    for (auto& [number, s] : streams_) {
      if (s.busy || s.queue.empty()) continue;
      s.busy = true;
      ++running_;
      time_.after(delay_ps / 1000 + cfg_.launch_ns, [this, &s] { go_on(s); });
    }
    return 0;  // launching calls take the host no time
  }
  bool idle() const override { return running_ == 0; }
  const std::string& kernel_fault() const override { return kernel_fault_; }
  std::string blockage() const override {
    std::string text;
    for (const auto& [number, s] : streams_)
      for (const auto& b : s.blocks)
        if (!b->finished()) text += (text.empty() ? "" : "; ") + b->describe(2);
    return text;
  }
  void reset() override {
    ++epoch_;
    time_.clear();
    host_.forget();
    waiting_.clear();
    ended_.clear();
    streams_.clear();
    running_ = 0;
    kernel_fault_.clear();
  }
  fault take_fault() override { return std::exchange(fault_, {}); }

 private:
  struct queued {
    std::optional<simt::launch> work = {};
    std::shared_ptr<mark> reaches = {}, waits = {};
  };
  struct stream {
    std::deque<queued> queue;  // of a kernel that runs: what comes after it
    bool busy = false;
    std::optional<simt::grid> grid;
    std::vector<std::unique_ptr<simt::block>> blocks;
  };

  uint64_t now_ns() const override { return now_ps() / 1000; }
  const void* device_context() const override { return context_; }

  void go_on(stream& s) {
    while (!s.queue.empty()) {
      queued next = std::move(s.queue.front());
      s.queue.pop_front();
      if (next.work) return run(s, std::move(*next.work));
      if (next.waits && !next.waits->reached)
        return next.waits->waiters.push_back([this, &s, epoch = epoch_] {
          if (epoch == epoch_) go_on(s);
        });
      if (!next.reaches) continue;
      next.reaches->reached = true;
      for (const auto& wake : std::exchange(next.reaches->waiters, {})) wake();
    }
    s.busy = false;
    if (--running_ == 0) on_idle_();
  }

  void run(stream& s, simt::launch work) {
    s.grid.emplace(std::move(work), *this);
    for (unsigned i = 0; i < s.grid->blocks(); ++i) {
      simt::block& b = *s.blocks.emplace_back(s.grid->make_block(i));
      b.on_runnable = [this, &s](simt::warp& w) { step_later(s, w); };
      for (const auto& w : b.warps()) step_later(s, *w);
    }
  }
  void step_later(stream& s, simt::warp& w) {
    time_.after(0, [this, &s, &w] { step(s, w); });
  }

  // Lanes run to their next access; those that are new are begun.
  void step(stream& s, simt::warp& w) {
    simt::block& block = w.parent();
    if (w.runnable()) w.step();
    if (!block.fault().empty() && kernel_fault_.empty()) {
      kernel_fault_ = block.fault();
      on_idle_();
    }
    for (simt::access* a : w.pending())
      if (std::exchange(a->owner, 1) == 0) begin(s, w, *a);
    if (!block.finished() || !ended_.insert(&block).second) return;
    if (std::ranges::all_of(s.blocks, [](const auto& b) { return b->finished(); }))
      time_.after(cfg_.kernel_gap_ns, [this, &s] { end(s); });
  }
  void end(stream& s) {
    for (const auto& b : s.blocks) ended_.erase(b.get());
    s.blocks.clear();
    s.grid.reset();
    go_on(s);
  }

  void begin(stream& s, simt::warp& w, simt::access& a) {
    ++accesses_;
    const auto done = [this, &s, &w, &a, epoch = epoch_] {
      if (epoch != epoch_) return;
      w.complete(a);
      step_later(s, w);
    };
    if (a.kind == simt::op::sleep) return time_.after(a.a, done);
    if (a.kind == simt::op::compute || (a.kind == simt::op::fence && a.sc != simt::scope::sys))
      return time_.after(cfg_.l2_latency_ns, done);
    if (a.kind == simt::op::fence) return host_.flush([done](bool) { done(); });
    const gpu::address_map::place at = addresses_.find(uint64_t(a.addr), a.size);
    if (at.where == region::local) {
      time_.after(cfg_.l2_latency_ns, [&a, done] {
        simt::apply(a);
        done();
      });
    } else if (at.where == region::remote && a.kind == simt::op::load) {
      host_.read(at.bus, a.size, [this, &a, done, epoch = epoch_](pcie::read_result&& r) {
        if (epoch == epoch_) answer(a, r);
        done();
      });
    } else if (at.where == region::remote && a.kind == simt::op::store) {
      waiting_.push_back({&a, at.bus, done});
      send_waiting();
    } else {
      fail(a);
      time_.after(cfg_.l2_latency_ns, done);
    }
  }

  // A read that failed leaves all ones.
  void answer(simt::access& a, const pcie::read_result& r) {
    if (!r.ok()) return fail(a);
    std::memcpy(a.data.data(), reinterpret_cast<const std::byte*>(r.dws.data()) + (uint64_t(a.addr) & 3), a.size);
  }
  void fail(simt::access& a) {
    if (fault_.count++ == 0) fault_.first = fmt::format("access of {} bytes at {:#x}", a.size, uint64_t(a.addr));
    a.data.fill(std::byte{0xff});
  }

  // Stores are posted: a lane goes on when the queue has taken its own.
  void send_waiting() {
    while (!waiting_.empty() && host_.room()) {
      const posted p = std::move(waiting_.front());
      waiting_.pop_front();
      host_.store(p.bus, std::span(p.what->data).first(p.what->size), nullptr);
      p.done();
    }
  }
  struct posted {
    simt::access* what;
    uint64_t bus;
    std::function<void()> done;
  };

  gpu::gpu_config cfg_;
  std::function<void()> on_idle_;
  const void* context_;
  gpu::host_interface host_;
  gpu::address_map addresses_;
  timeline time_;
  std::map<unsigned, stream> streams_;
  std::set<const simt::block*> ended_;
  std::deque<posted> waiting_;
  unsigned running_ = 0;  // streams with something to do
  uint64_t epoch_ = 0;    // of reset(): answers from before it find no reader
  uint64_t accesses_ = 0;
  fault fault_;
  std::string kernel_fault_;
};

const gpu::model fixed("fixed",
                       [](const gpu::gpu_config& cfg, const gpu::surroundings& s) -> std::unique_ptr<gpu::device> {
                         return std::make_unique<fixed_gpu>(fmt::format("node{}_gpu", s.node).c_str(), cfg, s);
                       });

}  // namespace
