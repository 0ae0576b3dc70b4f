// SPDX-License-Identifier: Apache-2.0
// From settings to GPUs that fit each other, and addresses for their segments. Memory: segments.cpp.
#include "userlib/cluster/providers/cuda/parts.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "ggas/detail/platform/layout.hpp"
#include "ggas/tuning_table.hpp"

namespace ggas {

namespace {

using userlib::attempt;
using userlib::claim;

attempt<> reaches(int gpu, int peer) {
  int can = gpu == peer;
  if (can) return {};
  if (auto ok = GGAS_RUNTIME("peer access", cudaDeviceCanAccessPeer, &can, gpu, peer); !ok) return ok;
  if (can) return {};
  return std::unexpected("GPU " + std::to_string(gpu) + " cannot reach the memory of GPU " + std::to_string(peer) +
                         ": there is neither NVLink nor PCIe peer access between them; all GPUs of a cluster must "
                         "reach each other (CUDA_VISIBLE_DEVICES chooses some that do)");
}

// "": atomics of the one work on the other's memory.
attempt<std::string> lack_of_atomics(int gpu, int peer) {
  int native = gpu == peer;
  if (native) return "";
  const auto attribute = cudaDevP2PAttrNativeAtomicSupported;
  if (auto ok = GGAS_RUNTIME("peer atomics", cudaDeviceGetP2PAttribute, &native, attribute, gpu, peer); !ok)
    return std::unexpected(ok.error());
  if (native) return "";
  return "GPU " + std::to_string(gpu) + " and GPU " + std::to_string(peer) +
         " have no atomics on each other's memory, as over PCIe: remote atomics, signals that add and notifications "
         "return ggas_no_queue (CUDA_VISIBLE_DEVICES chooses GPUs that are joined by NVLink)";
}

}  // namespace

attempt<> cuda_cluster::parts::join() {
  if (cfg.processes.alone()) return {};
  auto joined = userlib::bootstrap::join(cfg.processes);
  if (!joined) return std::unexpected(joined.error());
  others = std::move(*joined);
  return {};
}

attempt<> cuda_cluster::parts::agree(const char* what, const attempt<>& here) {
  return others ? others->agree(what, here) : here;
}

attempt<> cuda_cluster::parts::see_gpus() {
  int count = 0;
  if (auto ok = GGAS_RUNTIME("GPUs", cudaGetDeviceCount, &count); !ok) return ok;
  for (int gpu = 0; gpu < count; ++gpu) {
    cudaDeviceProp p{};
    if (auto ok = GGAS_RUNTIME("GPU " + std::to_string(gpu), cudaGetDeviceProperties, &p, gpu); !ok) return ok;
    static_assert(sizeof p.uuid == sizeof(gpu_id));
    std::memcpy(seen.emplace_back().data(), &p.uuid, sizeof p.uuid);
  }
  return {};
}

attempt<> cuda_cluster::parts::choose_devices() {
  if (auto ok = see_gpus(); !ok) return ok;
  const int count = static_cast<int>(seen.size());
  if (!others && cfg.nodes > count)
    return std::unexpected("nodes = " + std::to_string(cfg.nodes) + ": this process sees " + std::to_string(count) +
                           " GPUs; nodes share a GPU only as processes of their own (./ggas run -n " +
                           std::to_string(cfg.nodes) + " program)");
  const int nodes = others ? others->size() : cfg.nodes ? cfg.nodes : count;
  if (auto ok = userlib::check_segment(cfg.segment_bytes, static_cast<uint64_t>(nodes)); !ok) return ok;
  const auto table = tuning_for(nodes);
  if (!table) return std::unexpected(table.error().text);
  tuned = *table;
  const auto n = static_cast<size_t>(nodes);
  self.devices_.assign(n, cudaInvalidDeviceId);
  self.streams_.assign(n, nullptr);
  self.shared_.assign(n, false);
  for (int node = 0; node < nodes; ++node) {
    if (others && node != others->rank()) continue;
    self.local_.push_back(node);
    self.devices_[static_cast<size_t>(node)] = node % count;
    gpus.push_back(node % count);
  }
  return {};
}

attempt<> cuda_cluster::parts::open_devices() {
  for (int node : self.local_) {
    const int gpu = self.device(node);
    const std::string name = "GPU " + std::to_string(gpu);
    if (auto ok = GGAS_RUNTIME(name, cudaSetDevice, gpu); !ok) return ok;
    if (auto ok = GGAS_RUNTIME(name, cudaFree, nullptr); !ok) return ok;  // makes CUDA's context
    auto& stream = self.streams_[static_cast<size_t>(node)];
    // In order with the default stream: a cudaMemcpy before a launch is there when the kernel begins.
    if (auto ok = GGAS_RUNTIME("stream on " + name, cudaStreamCreateWithFlags, &stream, cudaStreamDefault); !ok)
      return ok;
    streams.emplace_back(node);
    if (auto ok = open_aside(node); !ok) return ok;
    if (auto ok = pin(node); !ok) return ok;
    const auto can = userlib::passing_of(gpu);
    if (!can) return std::unexpected(can.error());
    if (others) passing = *can;
    const auto g = userlib::granularity_of(gpu, passing);
    if (!g) return std::unexpected(g.error());
    granularity = std::max(granularity, *g);
  }
  if (others && others->size() > 1 && passing == userlib::passing::none)
    return std::unexpected("GPU " + std::to_string(gpus[0]) +
                           " cannot pass memory on to other processes; let one process run all nodes");
  return {};
}

// Made now: later a GPU may be held up by what is to be ended.
attempt<> cuda_cluster::parts::open_aside(int node) {
  const std::string name = "stream on GPU " + std::to_string(self.device(node));
  int least = 0, greatest = 0;
  aside.resize(self.devices_.size());
  if (auto ok = GGAS_RUNTIME(name, cudaDeviceGetStreamPriorityRange, &least, &greatest); !ok) return ok;
  auto& made = aside[static_cast<size_t>(node)];
  return GGAS_RUNTIME(name, cudaStreamCreateWithPriority, &made, cudaStreamNonBlocking, greatest);
}

// Made now: later a program may be capturing a graph, or its kernels may run.
attempt<> cuda_cluster::parts::open_target_sides() {
  constexpr int most_urgent = 1000;  // more than CUDA has: its limit
  if (self.local_.size() < 2) return {};
  for (const int node : self.local_) {
    const std::string name = "memory for puts to node " + std::to_string(node);
    cudaMemPoolProps wanted{};
    wanted.allocType = cudaMemAllocationTypePinned;
    wanted.location = {cudaMemLocationTypeDevice, self.device(node)};
    std::vector<cudaMemAccessDesc> access;
    for (const int gpu : gpus) access.push_back({{cudaMemLocationTypeDevice, gpu}, cudaMemAccessFlagsProtReadWrite});
    uint64_t kept = ~uint64_t{0};
    const auto work = self.make_stream(node, most_urgent);
    if (!work) return std::unexpected(work.error().text);
    targets.push_back({*work, nullptr});
    cudaMemPool_t& memory = targets.back().memory;
    attempt<> ok = GGAS_RUNTIME(name, cudaMemPoolCreate, &memory, &wanted);
    if (ok) ok = GGAS_RUNTIME(name, cudaMemPoolSetAttribute, memory, cudaMemPoolAttrReleaseThreshold, &kept);
    if (ok) ok = GGAS_RUNTIME(name, cudaMemPoolSetAccess, memory, access.data(), access.size());
    if (!ok) return ok;
  }
  return {};
}

attempt<> cuda_cluster::parts::pin(int node) {
  if (cfg.host_bytes == 0) return {};
  pinned.resize(self.devices_.size());
  void*& made = pinned[static_cast<size_t>(node)];
  const std::string name = std::to_string(cfg.host_bytes) + " bytes of pinned memory of node " + std::to_string(node);
  if (auto ok = GGAS_RUNTIME(name, cudaHostAlloc, &made, cfg.host_bytes, cudaHostAllocPortable); !ok) return ok;
  std::memset(made, 0, cfg.host_bytes);
  return {};
}

// What every process says, and that their GPUs reach each other.
attempt<> cuda_cluster::parts::compare() {
  const auto nodes = static_cast<int>(self.devices_.size());
  const claim mine{.passing = static_cast<int64_t>(passing),
                   .segment_bytes = cfg.segment_bytes,
                   .most_segment_bytes = cfg.most_segment_bytes,
                   .granularity = granularity,
                   .reserved = layout::reserved_bytes(static_cast<uint64_t>(nodes), cfg.segment_bytes),
                   .tuning = std::hash<std::string>{}(tuning_text(tuned, nodes)),
                   .gpu = seen[static_cast<size_t>(gpus[0])]};
  std::vector<claim> claims(others ? static_cast<size_t>(others->size()) : 0);
  if (others) {
    const auto said = others->gather("settings", {reinterpret_cast<const char*>(&mine), sizeof mine});
    if (!said) return std::unexpected(said.error());
    for (size_t r = 0; r < claims.size(); ++r) {
      if ((*said)[r].bytes.size() != sizeof(claim))
        return std::unexpected("rank " + std::to_string(r) + " is another version of this program");
      std::memcpy(&claims[r], (*said)[r].bytes.data(), sizeof(claim));
      granularity = std::max<size_t>(granularity, claims[r].granularity);
    }
    if (auto ok = userlib::check(claims); !ok) return ok;
    for (size_t a = 0; a < claims.size(); ++a)
      for (size_t b = 0; b < claims.size(); ++b)
        if (a != b && claims[a].gpu == claims[b].gpu) self.shared_[a] = true;
  }
  if (auto ok = agree("peer access", reaches_all(claims)); !ok) return ok;
  return agree_on_atomics(lacks_atomics(claims));
}

// GPUs of all processes. One that is hidden from this process is not among them: mapping its memory will report.
std::vector<int> cuda_cluster::parts::peers_of(const std::vector<claim>& claims) const {
  std::vector<int> peers = gpus;
  for (const claim& c : claims) {
    const auto at = std::ranges::find(seen, c.gpu);
    if (at != seen.end()) peers.push_back(static_cast<int>(at - seen.begin()));
  }
  return peers;
}

attempt<> cuda_cluster::parts::reaches_all(const std::vector<claim>& claims) const {
  for (int gpu : gpus) {
    for (int peer : peers_of(claims)) {
      if (auto ok = reaches(gpu, peer); !ok) return ok;
    }
  }
  return {};
}

attempt<std::string> cuda_cluster::parts::lacks_atomics(const std::vector<claim>& claims) const {
  for (int gpu : gpus) {
    for (int peer : peers_of(claims)) {
      auto lack = lack_of_atomics(gpu, peer);
      if (!lack || !lack->empty()) return lack;
    }
  }
  return "";
}

// What one pair of GPUs lacks no node has: calls do the same everywhere.
attempt<> cuda_cluster::parts::agree_on_atomics(const attempt<std::string>& lacks) {
  if (auto ok = agree("peer atomics", lacks ? attempt<>{} : std::unexpected(lacks.error())); !ok) return ok;
  self.lacks_atomics_ = *lacks;
  if (!others) return {};
  const auto said = others->gather("peer atomics", *lacks);
  if (!said) return std::unexpected(said.error());
  for (size_t r = 0; r < said->size() && self.lacks_atomics_.empty(); ++r) {
    if (!(*said)[r].bytes.empty()) self.lacks_atomics_ = "rank " + std::to_string(r) + ": " + (*said)[r].bytes;
  }
  return {};
}

attempt<> cuda_cluster::parts::reserve() {
  const size_t most = std::max(cfg.most_segment_bytes, cfg.segment_bytes);
  stride = std::bit_ceil(std::max(most, granularity));
  auto range = userlib::address_range::reserve(stride * self.devices_.size(), granularity);
  if (!range) return std::unexpected(range.error());
  window.emplace(std::move(*range));
  return {};
}

attempt<> cuda_cluster::parts::agree_on_growth(size_t bytes, const attempt<>& here) {
  if (auto ok = agree("grow", here); !ok || !others) return ok;
  const auto said = others->gather("size to grow to", std::to_string(bytes));
  if (!said) return std::unexpected(said.error());
  for (size_t r = 1; r < said->size(); ++r) {
    if ((*said)[r].bytes != (*said)[0].bytes)
      return std::unexpected("grow: all processes must ask for the same: rank 0 says " + (*said)[0].bytes + ", rank " +
                             std::to_string(r) + " says " + (*said)[r].bytes);
  }
  return {};
}

void cuda_cluster::parts::fill_contexts() {
  const auto nodes = static_cast<uint64_t>(self.devices_.size());
  for (size_t node = 0; node < nodes; ++node) {
    context c{};
    c.node = static_cast<int32_t>(node);
    c.nodes = static_cast<int32_t>(nodes);
    c.window = reinterpret_cast<char*>(window->base());
    c.stride = stride;
    c.local = c.window + node * stride;
    c.segment_bytes = cfg.segment_bytes;
    c.reserved = layout::reserved_bytes(nodes, cfg.segment_bytes);
    c.tuned = tuned;
    c.checked = userlib::checked_by_environment();
    c.no_peer_atomics = !self.lacks_atomics_.empty();
    self.contexts_.push_back(c);
  }
}

}  // namespace ggas
