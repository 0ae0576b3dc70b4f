// SPDX-License-Identifier: Apache-2.0
// Streams, events, pinned memory and copies of the local nodes. Copies go by a stream of their own, next to kernels.
#include <algorithm>
#include <cstring>

#include "userlib/cluster/providers/cuda/parts.hpp"

namespace ggas {

using userlib::attempt;
using userlib::reported;

namespace {

cudaEvent_t event_of(const event& e) { return reinterpret_cast<cudaEvent_t>(e.id); }

// Whether something still runs on a stream of a GPU.
attempt<bool> is_busy(cudaStream_t s, int gpu) {
  const cudaError_t e = cudaStreamQuery(s);
  if (e == cudaSuccess || e == cudaErrorNotReady) return e == cudaErrorNotReady;
  return std::unexpected(userlib::worked("GPU " + std::to_string(gpu), "cudaStreamQuery", e).error());
}

}  // namespace

// The nodes with streams that are not idle, each after a space.
attempt<std::string> cuda_cluster::parts::waiting() const {
  std::string nodes;
  for (const int n : self.local_) {
    bool busy = false;
    for (const stream& s : streams) {
      if (s.node != n || busy) continue;
      const auto now = is_busy(self.cuda_stream(s), self.device(n));
      if (!now) return std::unexpected(now.error());
      busy = *now;
    }
    if (busy) nodes.append(1, ' ').append(std::to_string(n));
  }
  return nodes;
}

void cuda_cluster::parts::close_devices() {
  for (const int n : self.local_) {
    static_cast<void>(GGAS_RUNTIME("GPU", cudaSetDevice, self.device(n)));
    for (const stream& s : streams)
      if (s.node == n) cudaStreamDestroy(self.cuda_stream(s));
    for (const event& e : events)
      if (e.node == n) cudaEventDestroy(event_of(e));
    for (const graph& g : graphs)
      if (g.node == n) cudaGraphExecDestroy(reinterpret_cast<cudaGraphExec_t>(g.id));
    const auto at = static_cast<size_t>(n);
    if (at < aside.size() && aside[at]) cudaStreamDestroy(aside[at]);
    if (at < pinned.size() && pinned[at]) cudaFreeHost(pinned[at]);
  }
  for (const target_side& t : targets)
    if (t.memory) cudaMemPoolDestroy(t.memory);
  green.destroy();
}

attempt<> cuda_cluster::parts::copy(int node, void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                    const std::string& what) const {
  const cudaStream_t s = aside[static_cast<size_t>(node)];
  // The caller may be capturing a graph on another stream: this is no part of it, and is done now.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  if (attempt<> ok = GGAS_RUNTIME(what, cudaThreadExchangeStreamCaptureMode, &mode); !ok) return ok;
  attempt<> ok = GGAS_RUNTIME(what, cudaSetDevice, self.device(node));
  if (ok) ok = GGAS_RUNTIME(what, cudaMemcpyAsync, to, from, bytes, kind, s);
  if (ok) ok = GGAS_RUNTIME(what, cudaStreamSynchronize, s);
  const attempt<> back = GGAS_RUNTIME(what, cudaThreadExchangeStreamCaptureMode, &mode);
  return ok ? back : ok;
}

int cuda_cluster::device(int node) const { return local(node) ? devices_[static_cast<size_t>(node)] : -1; }

cudaStream_t cuda_cluster::cuda_stream(const stream& s) const {
  if (!local(s.node)) return nullptr;
  return s.id ? reinterpret_cast<cudaStream_t>(s.id) : streams_[static_cast<size_t>(s.node)];
}

std::optional<cluster::target_side> cuda_cluster::at_target(int node) const {
  if (!local(node) || parts_->targets.empty()) return {};
  return parts_->targets[static_cast<size_t>(node)];
}

bool cuda_cluster::shares_gpu(int node) const {
  return node >= 0 && node < nodes() && shared_[static_cast<size_t>(node)];
}

std::byte* cuda_cluster::segment(int node) {
  return node >= 0 && node < nodes() ? reinterpret_cast<std::byte*>(device_context(node).local) : nullptr;
}

result<> cuda_cluster::write(int node, uint64_t offset, const void* from, size_t bytes) {
  if (auto ok = userlib::check_copy(*this, node, offset, bytes, "write"); !ok) return ok;
  return reported(parts_->copy(node, segment(node) + offset, from, bytes, cudaMemcpyHostToDevice,
                               "write to node " + std::to_string(node)));
}

result<> cuda_cluster::read(int node, uint64_t offset, void* to, size_t bytes) {
  if (auto ok = userlib::check_copy(*this, node, offset, bytes, "read"); !ok) return ok;
  return reported(parts_->copy(node, to, segment(node) + offset, bytes, cudaMemcpyDeviceToHost,
                               "read from node " + std::to_string(node)));
}

host_region cuda_cluster::host_memory(int node) {
  if (!local(node) || parts_->pinned.empty()) return {};
  return {static_cast<std::byte*>(parts_->pinned[static_cast<size_t>(node)]), parts_->cfg.host_bytes, 0};
}

result<> cuda_cluster::write_constants(int node, void* at) {
  if (auto ok = userlib::check_node(*this, node, "write_constants"); !ok) return ok;
  constants all{};
  if (!constants_of(device_context(node), all))
    return error{errc::bad_argument, "the window of node " + std::to_string(node) + " is none for GPUs"};
  return reported(
      parts_->copy(node, at, &all, sizeof all, cudaMemcpyHostToDevice, "constants of node " + std::to_string(node)));
}

result<stream> cuda_cluster::make_stream(int node, int priority) {
  if (auto ok = userlib::check_node(*this, node, "make_stream"); !ok) return std::move(ok.error());
  const std::string name = "stream of node " + std::to_string(node);
  int least = 0, greatest = 0;  // CUDA's are the more urgent the smaller they are
  cudaStream_t made = nullptr;
  attempt<> ok = GGAS_RUNTIME(name, cudaSetDevice, device(node));
  if (ok) ok = GGAS_RUNTIME(name, cudaDeviceGetStreamPriorityRange, &least, &greatest);
  const int cuda = priority >= 0 ? std::max(-priority, greatest) : least;
  if (ok) ok = GGAS_RUNTIME(name, cudaStreamCreateWithPriority, &made, cudaStreamNonBlocking, cuda);
  if (!ok) return reported(ok).error();
  return parts_->streams.emplace_back(node, reinterpret_cast<uintptr_t>(made));
}

result<stream> cuda_cluster::make_stream_on(int node, unsigned multiprocessors) {
  if (auto ok = userlib::check_node(*this, node, "make_stream_on"); !ok) return std::move(ok.error());
  const std::string name =
      "stream of node " + std::to_string(node) + " on " + std::to_string(multiprocessors) + " multiprocessors";
  if (multiprocessors == 0) return error{errc::bad_argument, name + ": must be 1 or more"};
  if (attempt<> ok = GGAS_RUNTIME(name, cudaSetDevice, device(node)); !ok) return reported(ok).error();
  const auto made = parts_->green.make_stream(device(node), multiprocessors, 0, name);
  if (!made) return error{errc::unsupported, made.error()};
  return parts_->streams.emplace_back(node, reinterpret_cast<uintptr_t>(*made));
}

unsigned cuda_cluster::multiprocessors(const stream& s) const { return parts_->green.multiprocessors(cuda_stream(s)); }

result<event> cuda_cluster::make_event(int node) {
  if (auto ok = userlib::check_node(*this, node, "make_event"); !ok) return std::move(ok.error());
  const std::string name = "event of node " + std::to_string(node);
  cudaEvent_t made = nullptr;
  attempt<> ok = GGAS_RUNTIME(name, cudaSetDevice, device(node));
  if (ok) ok = GGAS_RUNTIME(name, cudaEventCreateWithFlags, &made, cudaEventDisableTiming);
  if (!ok) return reported(ok).error();
  return parts_->events.emplace_back(event{node, reinterpret_cast<uintptr_t>(made)});
}

result<> cuda_cluster::record(const event& e, const stream& s) {
  if (auto ok = userlib::check_node(*this, s.node, "record"); !ok) return ok;
  const std::string name = "record in a stream of node " + std::to_string(s.node);
  if (e.node != s.node) return error{errc::bad_argument, name + ": an event of node " + std::to_string(e.node)};
  attempt<> ok = GGAS_RUNTIME(name, cudaSetDevice, device(s.node));
  if (ok) ok = GGAS_RUNTIME(name, cudaEventRecord, event_of(e), cuda_stream(s));
  return reported(ok);
}

result<> cuda_cluster::wait(const stream& s, const event& e) {
  if (auto ok = userlib::check_node(*this, s.node, "wait"); !ok) return ok;
  const std::string name = "wait in a stream of node " + std::to_string(s.node);
  attempt<> ok = GGAS_RUNTIME(name, cudaSetDevice, device(s.node));
  if (ok) ok = GGAS_RUNTIME(name, cudaStreamWaitEvent, cuda_stream(s), event_of(e), 0);
  return reported(ok);
}

result<bool> cuda_cluster::reached(const event& e) {
  if (auto ok = userlib::check_node(*this, e.node, "reached"); !ok) return std::move(ok.error());
  const cudaError_t now = cudaEventQuery(event_of(e));
  if (now == cudaSuccess || now == cudaErrorNotReady) return now == cudaSuccess;
  return reported(userlib::worked("event of node " + std::to_string(e.node), "cudaEventQuery", now)).error();
}

result<> cuda_cluster::copy_on_stream(const stream& s, void* to, const void* from, size_t bytes) {
  const std::string name = "copy_on_stream";
  if (auto ok = userlib::check_reach(*this, s.node, to, bytes, name + ", to"); !ok) return ok;
  if (auto ok = userlib::check_reach(*this, s.node, from, bytes, name + ", from"); !ok) return ok;
  if (bytes == 0) return {};
  attempt<> ok = GGAS_RUNTIME(name, cudaSetDevice, device(s.node));
  if (ok) ok = GGAS_RUNTIME(name, cudaMemcpyAsync, to, from, bytes, cudaMemcpyDefault, cuda_stream(s));
  return reported(ok);
}

result<> cuda_cluster::launch(const stream&, extent, const block_shape&, std::function<void()>, std::string name) {
  return error{errc::unsupported,
               "kernel '" + name + "' of the host engine: not with provider 'cuda': compile it with nvcc"};
}

// A processor does not reach the memory of its GPU: what a program reads and writes there is copied, next to kernels.
result<> cuda_cluster::launch_host(int node, std::function<void(host&)> program, std::string name) {
  if (auto ok = userlib::check_program(*this, node, program, name); !ok) return ok;
  const host_region pinned = host_memory(node);
  const auto copier = [this, node, what = "program '" + name + "'"](cudaMemcpyKind kind) {
    return [this, node, what, kind](void* to, const void* from, size_t bytes) -> std::string {
      const attempt<> ok = parts_->copy(node, to, from, bytes, kind, what);
      return ok ? "" : ok.error();
    };
  };
  parts_->programs.add(node,
                       {.near = {{pinned.base, pinned.bytes}},
                        .far = {segment(node), segment_bytes()},
                        .read = copier(cudaMemcpyDeviceToHost),
                        .write = copier(cudaMemcpyHostToDevice)},
                       std::move(program), std::move(name));
  return {};
}

}  // namespace ggas
