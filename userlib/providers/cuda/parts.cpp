// SPDX-License-Identifier: Apache-2.0
// From settings to GPUs that fit each other, and addresses for their segments. Memory: segments.cpp.
#include "userlib/providers/cuda/parts.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "ggas/detail/layout.hpp"
#include "ggas/tuning_table.hpp"

namespace ggas {

namespace {

using userlib::attempt;
using userlib::claim;
using userlib::worked;

std::array<char, 16> id_of(int gpu) {
  std::array<char, 16> id{};
  cudaDeviceProp p{};
  if (cudaGetDeviceProperties(&p, gpu) == cudaSuccess) std::memcpy(id.data(), &p.uuid, id.size());
  return id;
}

// The number here of the GPU with an id; -1: this process does not see it.
int find(const std::array<char, 16>& id) {
  int count = 0;
  cudaGetDeviceCount(&count);
  for (int gpu = 0; gpu < count; ++gpu)
    if (id_of(gpu) == id) return gpu;
  return -1;
}

attempt<> reaches(int gpu, int peer) {
  int can = gpu == peer;
  if (can) return {};
  if (auto ok = worked("peer access", cudaDeviceCanAccessPeer(&can, gpu, peer)); !ok) return ok;
  if (can) return {};
  return std::unexpected("GPU " + std::to_string(gpu) + " cannot reach the memory of GPU " + std::to_string(peer) +
                         ": there is neither NVLink nor PCIe peer access between them; all GPUs of a cluster must "
                         "reach each other (CUDA_VISIBLE_DEVICES chooses some that do)");
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

attempt<> cuda_cluster::parts::choose_devices() {
  int count = 0;
  if (auto ok = worked("GPUs", cudaGetDeviceCount(&count)); !ok) return ok;
  if (!others && cfg.nodes > count)
    return std::unexpected("nodes = " + std::to_string(cfg.nodes) + ": this process sees " + std::to_string(count) +
                           " GPUs; nodes share a GPU only as processes of their own (./ggas run -n " +
                           std::to_string(cfg.nodes) + " program)");
  const int nodes = others ? others->size() : cfg.nodes ? cfg.nodes : count;
  if (auto ok = userlib::check_segment(cfg.segment_bytes, static_cast<uint64_t>(nodes)); !ok) return ok;
  const auto table = tuning_for(nodes);
  if (!table) return std::unexpected(table.error());
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
    if (auto ok = worked(name, cudaSetDevice(gpu)); !ok) return ok;
    if (auto ok = worked(name, cudaFree(nullptr)); !ok) return ok;  // makes CUDA's context
    auto& stream = self.streams_[static_cast<size_t>(node)];
    if (auto ok = worked("stream on " + name, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); !ok)
      return ok;
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

// What every process says, and that their GPUs reach each other.
attempt<> cuda_cluster::parts::compare() {
  const auto nodes = static_cast<int>(self.devices_.size());
  const claim mine{.passing = static_cast<int64_t>(passing),
                   .segment_bytes = cfg.segment_bytes,
                   .most_segment_bytes = cfg.most_segment_bytes,
                   .granularity = granularity,
                   .reserved = layout::reserved_bytes(static_cast<uint64_t>(nodes), cfg.segment_bytes),
                   .tuning = std::hash<std::string>{}(tuning_text(tuned, nodes)),
                   .gpu = id_of(gpus[0])};
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
  return agree("peer access", reaches_all(claims));
}

attempt<> cuda_cluster::parts::reaches_all(const std::vector<claim>& claims) const {
  std::vector<int> peers = gpus;
  for (const claim& c : claims) peers.push_back(find(c.gpu));
  for (int gpu : gpus) {
    for (int peer : peers) {
      if (peer < 0) continue;  // hidden from this process: mapping its memory will tell
      if (auto ok = reaches(gpu, peer); !ok) return ok;
    }
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
    self.contexts_.push_back(c);
  }
}

}  // namespace ggas
