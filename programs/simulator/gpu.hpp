// SPDX-License-Identifier: Apache-2.0
// The GPU of a simulated node: its memory is a part of the rank's file, which the NIC reaches by PCIe, and a copy
// engine moves bytes between it and memory of the host.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "sim/gpu/device.hpp"
#include "sim/gpu/gpu.hpp"
#include "sim/kernel/agenda.hpp"
#include "sim/mem/memory.hpp"
#include "sim/system.hpp"

namespace ggas::simulator {

// As cudaMemcpyAsync and a synchronisation do it: the call and the synchronisation cost what an empty launch does
// ([gpu] launch_ns, sync_stream_ns); between them the bytes go over PCIe in the sizes that were negotiated, beside what
// the NIC moves. One copy at a time.
class copy_engine final : public sim::task {
 public:
  copy_engine(gpu::host_interface& pcie, const gpu::gpu_config& cfg, std::span<std::byte> memory, unsigned mps,
              unsigned mrrs);
  struct side {
    bool on_gpu;
    uint64_t at;  // in memory of the GPU, or a bus address
  };
  // Begins that much later than now. `done` is called when the host may know that it is over. False: one is under way.
  bool start(sim::agenda& agenda, const side& to, const side& from, uint64_t bytes, std::function<void()> done);
  bool busy() const { return phase_ != phase::idle; }
  uint64_t call_ps() const { return cfg_.launch_call_ns * 1000ull; }

 private:
  enum class phase { idle, called, moving, over };
  void run() override;
  void push();   // to the host
  void fetch();  // from the host
  void moved();
  uint64_t piece(uint64_t bus, uint64_t most) const;

  gpu::host_interface& pcie_;
  gpu::gpu_config cfg_;
  std::span<std::byte> memory_;
  unsigned mps_, mrrs_;
  sim::agenda* agenda_ = nullptr;
  phase phase_ = phase::idle;
  side to_{}, from_{};
  uint64_t bytes_ = 0, begun_ = 0;  // begun: bytes that are on their way, or there
  unsigned reads_ = 0;              // on their way
  bool pushes_ = false;
  std::function<void()> done_;
};

// In the slot of the endpoint.
class node_gpu final : public sim::endpoint {
 public:
  // Null: the platform's GPU cannot be made. Its memory: from bus address slot.bar_base on.
  static std::unique_ptr<node_gpu> make(const sim::endpoint_slot& slot, const gpu::gpu_config& cfg,
                                        std::span<std::byte> memory);
  pcie::port& port() override { return gpu_->port(); }
  std::map<std::string, uint64_t> counters() const override { return gpu_->counters(); }
  // Null: a GPU of another model (gpu.model) has none.
  copy_engine* copies() { return copies_ ? &*copies_ : nullptr; }

 private:
  std::unique_ptr<gpu::device> gpu_;
  std::optional<copy_engine> copies_;
};

}  // namespace ggas::simulator
