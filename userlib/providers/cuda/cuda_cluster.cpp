// SPDX-License-Identifier: Apache-2.0
#include "ggas/cuda_cluster.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "userlib/providers/cuda/parts.hpp"

namespace ggas {

namespace {

using clock = std::chrono::steady_clock;

// Between two looks at the streams. At first nobody is kept waiting; later the processor is left to others, for a
// sixteenth of the time that has passed.
void wait_a_little(clock::duration waited) {
  constexpr clock::duration at_once = std::chrono::microseconds(500), most = std::chrono::milliseconds(1);
  if (waited < at_once)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(std::min(waited / 16, most));
}

std::string text(const userlib::attempt<>& a) { return a ? "" : a.error(); }

// Whether something still runs on a stream of a GPU.
userlib::attempt<bool> is_busy(cudaStream_t s, int gpu) {
  const cudaError_t e = cudaStreamQuery(s);
  if (e == cudaSuccess || e == cudaErrorNotReady) return e == cudaErrorNotReady;
  return std::unexpected(userlib::worked("GPU " + std::to_string(gpu), "cudaStreamQuery", e).error());
}
}  // namespace

cuda_cluster::cuda_cluster(const cuda_config& cfg) : parts_(std::make_unique<parts>(*this, cfg)) {}

std::unique_ptr<cuda_cluster> cuda_cluster::create(const cuda_config& cfg, std::string& why) {
  std::unique_ptr<cuda_cluster> c(new cuda_cluster(cfg));
  why = c->open();
  return why.empty() ? std::move(c) : nullptr;
}

std::string cuda_cluster::open() {
  parts& p = *parts_;
  // Others first: then they hear what is wrong here.
  userlib::attempt<> ok = p.join();
  if (!ok) return ok.error();
  ok = userlib::check(p.cfg);
  if (ok) ok = userlib::driver::load();
  if (ok) ok = p.choose_devices();
  if (ok) ok = p.open_devices();
  ok = p.agree("GPUs", ok);
  if (ok) ok = p.compare();
  if (ok) ok = p.agree("addresses", p.reserve());
  if (ok) ok = p.add_memory(p.cfg.segment_bytes);
  if (ok) p.fill_contexts();
  if (ok) ok = p.agree("trace", p.start_trace());
  if (ok) p.watch_signals();
  return text(ok);
}

std::string cuda_cluster::run(uint64_t timeout_ns, const std::function<bool()>& cancelled) {
  const clock::time_point begin = clock::now();
  const userlib::deadline end = userlib::after(timeout_ns);
  for (;;) {
    std::string waiting;
    for (int n : local_) {
      const auto busy = is_busy(stream(n), device(n));
      if (!busy) return busy.error();
      if (*busy) waiting.append(1, ' ').append(std::to_string(n));
    }
    if (waiting.empty()) return {};
    if (cancelled && cancelled()) return "cancelled; kernels still run on nodes" + waiting;
    const clock::time_point now = clock::now();
    if (now >= end) return "kernels still run after " + std::to_string(timeout_ns) + " ns on nodes" + waiting;
    wait_a_little(now - begin);
  }
}

std::string cuda_cluster::meet(const std::string& where) { return text(parts_->agree(where.c_str(), {})); }

std::string cuda_cluster::write(uint64_t offset, const void* from, size_t bytes) {
  if (bytes > segment_bytes() || offset > segment_bytes() - bytes)
    return "write: " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
           " do not lie in segments of " + std::to_string(segment_bytes());
  for (const int n : local_) {
    userlib::attempt<> ok = GGAS_RUNTIME("node " + std::to_string(n), cudaSetDevice, device(n));
    if (ok)
      ok = GGAS_RUNTIME("node " + std::to_string(n), cudaMemcpy, segment(n) + offset, from, bytes,
                        cudaMemcpyHostToDevice);
    if (!ok) return ok.error();
  }
  return {};
}

std::string cuda_cluster::same(const std::string& mine) {
  return parts_->others ? text(parts_->others->same("comparing", mine)) : "";
}

size_t cuda_cluster::most_segment_bytes() const { return parts_->cfg.most_segment_bytes; }

std::string cuda_cluster::grow(size_t bytes) {
  parts& p = *parts_;
  userlib::attempt<> ok = userlib::check_growth(bytes, segment_bytes(), p.cfg.most_segment_bytes);
  if (std::string busy = run(0); ok && !busy.empty()) ok = std::unexpected("grow: the streams must be idle: " + busy);
  ok = p.agree_on_growth(bytes, ok);
  if (ok && bytes > p.mapped) ok = p.add_memory(bytes - p.mapped);
  if (!ok) return ok.error();
  for (context& c : contexts_) c.segment_bytes = bytes;
  return {};
}

cuda_cluster::~cuda_cluster() {
  parts_->on_signal.reset();
  bool busy = false;
  for (int n : local_) busy = busy || (stream(n) && is_busy(stream(n), device(n)).value_or(false));
  if (busy) {
    parts_->others.reset();               // the others hear that this process has left
    static_cast<void>(parts_.release());  // a kernel uses it: it stays until the process ends
    return;
  }
  if (const auto traced = parts_->end_trace(); !traced) std::fprintf(stderr, "%s\n", traced.error().c_str());
  for (int n : local_) {
    static_cast<void>(GGAS_RUNTIME("GPU", cudaSetDevice, device(n)));
    if (stream(n)) cudaStreamDestroy(stream(n));
  }
  if (!parts_->aborts) return;
  static_cast<void>(GGAS_RUNTIME("GPU", cudaSetDevice, parts_->gpus[0]));
  cudaStreamDestroy(parts_->aborts);
}

}  // namespace ggas
