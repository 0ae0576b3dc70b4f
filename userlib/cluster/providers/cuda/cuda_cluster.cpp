// SPDX-License-Identifier: Apache-2.0
// The life of a cluster: made, run, grown, left. Streams, events and copies: streams.cpp; after a failure: reset.cpp.
#include "userlib/cluster/providers/cuda/cuda_cluster.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "userlib/cluster/providers/cuda/parts.hpp"

namespace ggas {

using userlib::attempt;
using userlib::reported;

namespace {

using clock = std::chrono::steady_clock;

// Pause between two polls of the streams. At first there is none; later the processor is yielded, for a sixteenth of
// the elapsed time.
void wait_a_little(clock::duration waited) {
  constexpr clock::duration at_once = std::chrono::microseconds(500), most = std::chrono::milliseconds(1);
  if (waited < at_once)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(std::min(waited / 16, most));
}

// A new number for the constants of kernels: for each cluster, and each time that it grows.
uint64_t next_number() {
  static std::atomic<uint64_t> numbers = 0;
  return ++numbers;
}

}  // namespace

cuda_cluster::cuda_cluster(const cluster_config& cfg)
    : parts_(std::make_unique<parts>(*this, cfg)), number_(next_number()) {}

result<std::unique_ptr<cluster>> cuda_cluster::create(const cluster_config& cfg) {
  std::unique_ptr<cuda_cluster> c(new cuda_cluster(cfg));
  if (auto ok = c->open(); !ok) return std::move(ok.error());
  return c;
}

result<> cuda_cluster::open() {
  parts& p = *parts_;
  // Others first: then they learn what is wrong here.
  attempt<> ok = p.join();
  if (!ok) return reported(ok);
  ok = userlib::check(p.cfg);
  const errc code = ok ? errc::device_fault : errc::bad_argument;
  if (ok) ok = userlib::driver::load();
  if (ok) ok = p.choose_devices();
  if (ok) ok = p.open_devices();
  ok = p.agree("GPUs", ok);
  if (ok) ok = p.compare();
  if (ok) ok = p.open_target_sides();
  if (ok) ok = p.agree("addresses", p.reserve());
  if (ok) ok = p.add_memory(p.cfg.segment_bytes);
  if (ok) p.fill_contexts();
  if (ok) ok = p.agree("trace", p.start_trace());
  if (ok) p.watch_signals();
  return reported(ok, code);
}

const cluster_config& cuda_cluster::config() const { return parts_->cfg; }

uint64_t cuda_cluster::now_ns() const {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now().time_since_epoch()).count());
}

result<> cuda_cluster::start() {
  parts_->programs.start();
  return {};
}

// Ends those that have not ended; what went wrong in those that had.
result<> cuda_cluster::stop_programs() {
  return parts_->programs.finish(0, [] { return true; });
}

result<bool> cuda_cluster::poll() {
  const auto waiting = parts_->waiting();
  if (!waiting) {
    static_cast<void>(stop_programs());
    return reported(std::unexpected(waiting.error())).error();
  }
  if (waiting->empty() && parts_->programs.ended()) {
    if (auto ok = parts_->programs.finish(~uint64_t{0}, [] { return true; }); !ok) return std::move(ok.error());
    return true;
  }
  if (!parts_->cfg.cancelled || !parts_->cfg.cancelled()) return false;
  static_cast<void>(stop_programs());
  return error{errc::cancelled, waiting->empty() ? "cancelled" : "cancelled; kernels still run on nodes" + *waiting};
}

result<run_stats> cuda_cluster::run(uint64_t timeout_ns, host_sync) {
  const clock::time_point begin = clock::now();
  if (auto ok = start(); !ok) return std::move(ok.error());
  if (auto ok = wait_for_all(timeout_ns); !ok) return std::move(ok.error());
  const std::chrono::duration<double> took = clock::now() - begin;
  return run_stats{static_cast<uint64_t>(took.count() * 1e9), 0, took.count()};
}

// For what has begun.
result<> cuda_cluster::wait_for_all(uint64_t timeout_ns) {
  const clock::time_point begin = clock::now();
  const userlib::deadline end = userlib::after(timeout_ns);
  clock::time_point progress = begin;
  for (;;) {
    const auto ended = poll();
    if (!ended) return std::move(ended.error());
    if (*ended) return {};
    const clock::time_point now = clock::now();
    if (now >= end) return too_late(timeout_ns);
    if (parts_->cfg.on_progress && now >= progress) {
      progress = now + std::chrono::milliseconds(200);
      parts_->cfg.on_progress(now_ns());
    }
    wait_a_little(now - begin);
  }
}

// What still ran.
error cuda_cluster::too_late(uint64_t timeout_ns) {
  const auto waiting = parts_->waiting();
  const auto programs = stop_programs();
  const std::string after = " after " + std::to_string(timeout_ns) + " ns";
  std::string text;
  if (!waiting || !waiting->empty())
    text = "kernels still run" + after + " on nodes" + (waiting ? *waiting : waiting.error());
  if (!programs) text += (text.empty() ? "programs" + after + ": " : "; ") + programs.error().text;
  return {errc::timed_out, text.empty() ? "not ended" + after : text};
}

// For what may not happen next to kernels.
result<> cuda_cluster::idle(const char* what) {
  const auto ran = wait_for_all(0);
  if (ran) return {};
  return error{ran.error().code, std::string(what) + ": the streams must be idle: " + ran.error().text};
}

result<> cuda_cluster::meet(const std::string& where) { return reported(parts_->agree(where.c_str(), {})); }

result<> cuda_cluster::same(const std::string& mine) {
  return parts_->others ? reported(parts_->others->same("comparing", mine)) : result<>();
}

result<> cuda_cluster::grow(size_t bytes) {
  parts& p = *parts_;
  attempt<> ok = userlib::check_growth(bytes, segment_bytes(), p.cfg.most_segment_bytes);
  const errc code = ok ? errc::device_fault : errc::bad_argument;
  if (auto quiet = idle("grow"); ok && !quiet) ok = std::unexpected(quiet.error().text);
  ok = p.agree_on_growth(bytes, ok);
  if (ok && bytes > p.mapped) ok = p.add_memory(bytes - p.mapped);
  if (!ok) return reported(ok, code);
  for (context& c : contexts_) c.segment_bytes = bytes;
  number_ = next_number();
  return {};
}

cuda_cluster::~cuda_cluster() {
  parts_->on_signal.reset();
  static_cast<void>(stop_programs());
  if (const auto waiting = parts_->waiting(); waiting && !waiting->empty()) {
    parts_->others.reset();               // the others learn that this process has left
    static_cast<void>(parts_.release());  // a kernel uses it: it stays until the process ends
    return;
  }
  if (const auto traced = parts_->end_trace(); !traced) std::fprintf(stderr, "%s\n", traced.error().c_str());
  parts_->close_devices();
}

}  // namespace ggas

GGAS_PROVIDER(cuda, ggas::cuda_cluster::create);
