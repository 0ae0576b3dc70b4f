// SPDX-License-Identifier: Apache-2.0
// The GPU of a simulated node. Its memory is a part of the rank's file, which the NIC accesses by PCIe; its copy engine
// moves bytes between it and memory of the host.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "sim/gpu/device.hpp"
#include "sim/system.hpp"

namespace ggas::simulator {

// In the slot of the endpoint.
class node_gpu final : public sim::endpoint {
 public:
  // Null: the platform's GPU cannot be made. Its memory: from bus address slot.bar_base on. `host`: pinned memory.
  static std::unique_ptr<node_gpu> make(const sim::endpoint_slot& slot, const gpu::gpu_config& cfg,
                                        std::span<std::byte> memory, std::span<std::byte> host);
  pcie::port& port() override { return gpu_->port(); }
  std::map<std::string, uint64_t> counters() const override { return gpu_->counters(); }

  // Begins a copy between both memories, at the end of which the mark is reached. False: this GPU has no copy engine.
  bool copy(void* to, const void* from, uint64_t bytes, std::shared_ptr<gpu::mark> done);
  // What the call takes of the processor, and what it takes to learn the end.
  uint64_t call_ps() const { return cfg_.launch_call_ns * 1000ull; }
  uint64_t learns_ps() const {
    return cfg_.sync_stream_ns > cfg_.launch_ns ? (cfg_.sync_stream_ns - cfg_.launch_ns) * 1000ull : 0;
  }

 private:
  gpu::gpu_config cfg_;
  std::unique_ptr<gpu::device> gpu_;
};

}  // namespace ggas::simulator
