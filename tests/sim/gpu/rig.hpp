// SPDX-License-Identifier: Apache-2.0
// Two GPUs after root complexes, connected by a stand-in for the NIC that moves window accesses to the other node after
// a fixed time: tests of the GPU model without RTL.
#pragma once

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "gpu_api/simt/device.hpp"
#include "sim/gpu/gpu.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/pcie/root_complex.hpp"
#include "sim/pcie/timed_queue.hpp"

namespace ggas::test {

// Number of the calling thread in its grid.
inline uint64_t thread() { return uint64_t(simt::block_index().x) * simt::block_threads() + simt::thread_linear(); }

inline constexpr uint64_t window_bus = 0x10000000000, page_bus = 0xe0100000, bar1_bus = 0x8000000000;
inline constexpr uint16_t nic_id = 0x100, gpu_id = 0x200;

// Window offset n * stride + x becomes offset x of node n's aperture.
class mirror_nic {
 public:
  mirror_nic(const std::string& name, uint64_t latency_ps, uint64_t stride)
      : link(name.c_str()),
        reads_((name + "_reads").c_str(), link, {.id = nic_id, .tags = 256}),
        delay_((name + "_delay").c_str(), [this](pcie::tlp&& t) { forward(std::move(t)); }),
        latency_ps_(latency_ps),
        stride_(stride) {
    link.on_receive = [this](pcie::tlp& t) {
      if (t.completion()) return reads_.complete(t), true;
      seen.push_back(t);
      if (silent && t.non_posted()) return true;
      delay_.push_at(pcie::now_ps() + latency_ps_, std::move(t));
      return true;
    };
  }
  pcie::port link;
  std::vector<mirror_nic*> peers;
  std::vector<pcie::tlp> seen;  // requests from the host, in order
  bool silent = false;          // reads are never answered

 private:
  void forward(pcie::tlp&& t) {
    const uint64_t offset = t.addr - window_bus;
    if (t.addr < window_bus || offset / stride_ >= peers.size()) {
      if (t.non_posted()) link.send(pcie::error_completion(t, pcie::cpl_status::ur, nic_id));
      return;
    }
    mirror_nic& peer = *peers[offset / stride_];
    pcie::tlp moved = t;
    moved.addr = bar1_bus + offset % stride_;
    moved.requester = nic_id;
    if (t.posted()) return peer.link.send(std::move(moved));
    peer.reads_.read(std::move(moved), [this, t](pcie::read_result&& r) {
      pcie::tlp c = r.ok() ? pcie::read_completions(t, r.dws, 256, 64, nic_id).front()
                           : pcie::error_completion(t, r.status, nic_id);
      back_.push_back(std::move(c));
      answer();
    });
  }
  void answer() {
    for (; !back_.empty(); back_.pop_front()) link.send(std::move(back_.front()));
  }
  pcie::requester reads_;
  pcie::timed_queue<pcie::tlp> delay_;
  std::deque<pcie::tlp> back_;
  uint64_t latency_ps_, stride_;
};

struct rig_config {
  gpu::gpu_config gpu;
  uint64_t nic_ps = 500'000;
  uint64_t hop_ps = 100'000;
  size_t segment_bytes = 1 << 20;
  size_t exported_bytes = segment_bytes;  // of it, reachable through the BAR
  unsigned lanes = 16;
};

class rig {
 public:
  explicit rig(rig_config c = {}) : cfg(std::move(c)), segments_(2 * cfg.segment_bytes / sizeof(page_t)) {
    kernel_.enter();
    for (unsigned n = 0; n < 2; ++n) make_node(n);
    for (auto& n : nodes_)
      for (auto& peer : nodes_) n->nic.peers.push_back(&peer->nic);
  }
  ~rig() { kernel_.enter(); }

  gpu::gpu& operator[](unsigned n) { return nodes_[n]->gpu; }
  mirror_nic& nic(unsigned n) { return nodes_[n]->nic; }
  template <class T = uint64_t>
  T* local(unsigned n, size_t offset = 0) {
    return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(segments_.data()) + n * cfg.segment_bytes + offset);
  }
  // Address of host memory of the own node.
  template <class T = uint64_t>
  static T* host(size_t offset = 0) {
    return reinterpret_cast<T*>(pinned + offset);
  }
  mem::sparse_memory& host_memory(unsigned n) { return nodes_[n]->memory; }
  // Address of node n's memory in the window; never touched by the host.
  template <class T = uint64_t>
  T* remote(unsigned n, size_t offset = 0) {
    return reinterpret_cast<T*>(window + n * cfg.segment_bytes + offset);
  }
  void launch(unsigned n, unsigned grid, unsigned block, std::function<void()> f, unsigned stream = 0) {
    (*this)[n].launch({.grid = {grid}, .block = {block}, .kernel = std::move(f)}, stream);
  }
  bool run(uint64_t timeout_us = 10000) {
    for (auto& n : nodes_) n->gpu.start(0);
    return kernel_.run_until([this] { return nodes_[0]->gpu.idle() && nodes_[1]->gpu.idle(); }, timeout_us * 1'000'000);
  }
  // Lets what is in flight arrive.
  void settle(uint64_t us = 20) {
    kernel_.run_until([] { return false; }, us * 1'000'000);
  }
  uint64_t now_ns() { return kernel_.now_ps() / 1000; }

  rig_config cfg;
  static constexpr uint64_t window = 0x7000'0000'0000, page = 0x6fff'0000'0000, pinned = 0x6ffe'0000'0000;
  static constexpr uint64_t pinned_bus = 0x100000, pinned_bytes = 0x10000;

 private:
  struct node {
    node(const std::string& name, const rig_config& c)
        : root((name + "_root").c_str(), rc(c), memory),
          nic(name + "_nic", c.nic_ps, c.segment_bytes),
          gpu((name + "_gpu").c_str(), c.gpu, gpu_id) {}
    static pcie::root_complex_config rc(const rig_config& c) {
      pcie::root_complex_config r;
      r.router.rule.latency_ps = c.hop_ps;
      r.memory_latency_ps = 300'000;
      return r;
    }
    mem::sparse_memory memory;
    pcie::root_complex root;
    mirror_nic nic;
    gpu::gpu gpu;
  };
  void make_node(unsigned n) {
    nodes_.push_back(std::make_unique<node>("node" + std::to_string(n), cfg));
    node& it = *nodes_.back();
    const pcie::link_config link{.generation = 2, .lanes = cfg.lanes, .latency_ps = 50'000, .tlps_per_ack = 2};
    it.root.add_port("nic" + std::to_string(n));
    it.root.add_port("gpu" + std::to_string(n));
    pcie::port::connect(it.nic.link, it.root.at(0), link);
    pcie::port::connect(it.gpu.host.link, it.root.at(1), link);
    it.root.attach(0, nic_id);
    it.root.attach(1, gpu_id);
    it.root.map(0, window_bus, 4 * cfg.segment_bytes);
    it.root.map(0, page_bus, 4096);
    it.root.map(1, bar1_bus, cfg.segment_bytes);
    it.gpu.host.export_memory(bar1_bus, {local<std::byte>(n), cfg.exported_bytes});
    it.gpu.host.flush_address(0x1000);
    it.gpu.addresses.own(local(n), cfg.segment_bytes);
    it.gpu.addresses.aperture(reinterpret_cast<void*>(window), 3 * cfg.segment_bytes, window_bus);
    it.gpu.addresses.aperture(reinterpret_cast<void*>(page), 4096, page_bus);
    it.gpu.addresses.aperture(reinterpret_cast<void*>(pinned), pinned_bytes, pinned_bus);
    it.gpu.host.host_memory_end(1ull << 30);
    it.gpu.addresses.forbid(segments_.data(), 2 * cfg.segment_bytes);
    it.gpu.on_idle = [this] { kernel_.stop(); };
  }

  sim::kernel kernel_;
  struct alignas(4096) page_t {
    std::byte b[4096];
  };
  std::vector<page_t> segments_;  // at pages, as of clusters: what L2 counts follows from addresses
  std::vector<std::unique_ptr<node>> nodes_;
};

}  // namespace ggas::test
