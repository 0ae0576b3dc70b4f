// SPDX-License-Identifier: Apache-2.0
// What a processor sees of requests while it works: when it notices an end, how busy the GPU is, memory and copies.
#include <functional>

#include "benchmarks/work/rig.hpp"

namespace ggas::bench {
namespace {

constexpr uint64_t message_ns = 2'000, kernel_ns = 100'000;

void work_for(uint64_t ns) {
  const auto begin = clock::now();
  while (ns_since(begin) < static_cast<double>(ns)) {
  }
}

// Requests one after the other on a processor whose methods follow each other without a pause, or which has none.
class noticing {
 public:
  noticing(const options& o, unsigned period, bool works)
      : samples_(o.quick ? 10 : 200),
        rt_(good(runtime::create({.processors = 1, .progress_period = period}, make_cluster(o)))),
        work_(good(dispatcher::create(*rt_, config_of(executor::fifo)))),
        works_(works) {
    request_.then([this](const result<>& end) {
      good(end);
      if (++ended_ > 0) waits_.push_back(ns_since(begin_));
      if (ended_ < samples_) enqueue();
    });
  }
  // From `enqueue` to the callback.
  std::vector<double> waits() {
    rt_->post(0, [this] {
      enqueue();
      if (works_) method();
    });
    const auto begin = clock::now();
    good(rt_->run(enough));
    if (methods_ > 0) method_ns_ = ns_since(begin) / static_cast<double>(methods_);
    return waits_;
  }
  double method_ns() const { return method_ns_; }  // with what lies between two of them

 private:
  void enqueue() {
    begin_ = clock::now();
    good(work_->enqueue(request_));
  }
  void method() {
    if (ended_ == samples_) return;
    ++methods_;
    work_for(message_ns);
    rt_->post(0, [this] { method(); });
  }

  const int samples_;
  const std::unique_ptr<runtime> rt_;
  const std::unique_ptr<dispatcher> work_;
  const bool works_;
  request request_{0, 1, 1, stay, kernel_ns};
  int ended_ = -10;  // the first ones do not count
  uint64_t methods_ = 0;
  double method_ns_ = 0;
  clock::time_point begin_;
  std::vector<double> waits_;
};

}  // namespace

// By `fifo`. A request begins with the next look at requests, and its end is noticed at the first look after it.
void noticed_ends(const options& o, results& out) {
  std::vector<double> idle = noticing(o, 10, false).waits();
  out.add("period", "no methods", "enqueue_to_callback", "ns", idle);
  std::ranges::sort(idle);
  for (const unsigned period : {1u, 10u, 100u}) {
    noticing one(o, period, true);
    const std::string variant = std::to_string(period) + " messages";
    out.add("period", variant, "enqueue_to_callback", "ns", one.waits());
    const double look = period * one.method_ns();
    out.add("period", variant, "by_model", "ns", {look * (1 + std::ceil(percentile(idle, 0.5) / look))});
  }
}

// Requests that depend on each other, of kernels of 100 us: the share of the time in which a kernel runs.
void busy_gpus(const options& o, results& out) {
  const int length = o.quick ? 20 : 500;
  for (const executor e : executors) {
    rig g(o, e);
    std::vector<request> all;
    for (int i = 0; i < length; ++i) {
      all.emplace_back(0, 1, 1, busy, kernel_ns);
      if (i > 0 && e != executor::blocking) all.back().after(all[static_cast<size_t>(i) - 1]);
    }
    std::vector<double> shares;
    for (int i = 0; i < 4; ++i) {
      const auto t = clock::now();
      g.run([&] {
        for (const request& one : all) good(g.work->enqueue(one));
        while (e == executor::by_hand && g.work->poll()) {
        }
      });
      if (i > 0) shares.push_back(length * static_cast<double>(kernel_ns) / ns_since(t));
    }
    out.add("busy", name_of(e), "busy_share", "fraction", shares);
  }
}

namespace {

void add_allocations(const options& o, results& out, const char* variant, const std::function<void()>& take) {
  std::vector<double> all;
  for (int i = -3; i < (o.quick ? 20 : 500); ++i) {
    const auto t = clock::now();
    take();
    if (i >= 0) all.push_back(ns_since(t));
  }
  out.add("memory", variant, "take_and_return", "ns", all);
}

// A copy between the segment and pinned memory, until its end is seen by a polled event.
void add_copies(const options& o, results& out) {
  const auto c = make_cluster(o);
  const auto s = good(c->make_stream(0));
  const auto e = good(c->make_event(0));
  std::byte* const pinned = c->host_memory(0).base;
  std::byte* const segment = c->segment(0);
  const size_t most = o.quick ? size_t{1} << 20 : copied_bytes;
  for (size_t bytes = 1; bytes <= most; bytes = bytes == most ? most + 1 : std::min(32 * bytes, most))
    for (const bool in : {true, false}) {
      std::vector<double> times;
      for (int i = -2; i < (o.quick ? 5 : 50); ++i) {
        stop_if_signalled();
        const auto t = clock::now();
        good(c->copy_on_stream(s, in ? segment : pinned, in ? pinned : segment, bytes));
        good(c->record(e, s));
        good(c->start());
        while (!good(c->reached(e)))
          if (c->device(0) < 0) good(c->poll());
        if (i >= 0) times.push_back(ns_since(t));
      }
      out.add("memory", std::string(in ? "in" : "out") + ", " + human(static_cast<double>(bytes), "B"), "copy", "ns",
              times);
    }
}

}  // namespace

void memory_of_requests(const options& o, results& out) {
  for (const size_t bytes : {size_t{1} << 10, size_t{64} << 20}) {
    rig g(o, executor::streams);
    const std::string size = human(static_cast<double>(bytes), "B");
    add_allocations(o, out, ("GPU, " + size).c_str(), [&] { (void)good(g.work->allocate(0, bytes)); });
    add_allocations(o, out, ("pinned, " + size).c_str(), [&] { (void)good(g.work->allocate_pinned(0, bytes)); });
  }
  add_copies(o, out);
}

}  // namespace ggas::bench
